"""How many records are beside the numbers of a list: exactly, whatever the types are, and all at once."""

import cProfile
import math
import pstats
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.sampling.vectors import objects
from discreet.selection.candidates import Labels
from discreet.tables.engines.column import Source
from discreet.tables.scores.list_counts import cells_around, count_around, count_beside
from discreet.tables.scores.rank import Rank
from discreet.tables.values.kinds import ColumnType
from discreet.tables.values.meanings import rungs

from ...engines import ENGINES

NEAR = [2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 3, -3, 0, 7]
WORDS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(NEAR) | st.integers(-9, 9)
DOUBLES = (
    st.floats(allow_nan=False)
    | st.sampled_from([2.0**63, -(2.0**63), 2.0**53, 0.1, 0.5, -0.0, 9.3e18])
    | st.integers(-9, 9).map(lambda k: k / 2)
)
FINITE = DOUBLES.filter(math.isfinite)
DECIMALS = st.decimals(-(2**56), 2**56, places=3) | st.integers(-9, 9).map(lambda k: Decimal(k) / 8)
LISTS = {
    "doubles": st.lists(FINITE, min_size=1, max_size=12, unique=True),
    "words": st.lists(WORDS, min_size=1, max_size=12, unique=True),
    "both": st.lists(FINITE | st.integers(-9, 9), min_size=1, max_size=12, unique=True),
    "long": st.lists(st.integers(-(2**70), 2**70) | FINITE, min_size=1, max_size=9, unique=True),
    "fractions": st.lists(st.fractions(-9, 9), min_size=1, max_size=9, unique=True),
    "decimals": st.lists(DECIMALS, min_size=1, max_size=9, unique=True),
    "of all types": st.lists(
        DECIMALS | st.fractions(-9, 9) | st.integers(-9, 9).map(lambda k: k / 4) | WORDS,
        min_size=1,
        max_size=9,
        unique_by=lambda one: Fraction(one),
    ),
}
RECORDS: dict[str, st.SearchStrategy[Any]] = {
    "doubles": st.lists(DOUBLES, max_size=20).map(np.array),
    "words": st.lists(WORDS, max_size=20).map(lambda xs: np.array(xs, dtype=np.int64)),
    "long words": st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=20).map(
        lambda xs: np.array(xs, dtype=np.uint64)
    ),
    "objects": st.lists(st.integers(-(2**70), 2**70) | st.fractions(-9, 9), max_size=20).map(
        objects
    ),
}


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("numbers", LISTS)
@given(data=st.data())
def test_counts_are_those_of_comparing_one_by_one(records: str, numbers: str, data: Any) -> None:
    values, listed = data.draw(RECORDS[records]), data.draw(LISTS[numbers])
    weights = data.draw(st.none() | st.just(np.arange(len(values)) + 1))
    less, more, total = count_beside(values, weights, rungs(Labels(listed)))
    times = [1] * len(values) if weights is None else weights.tolist()
    rows = list(zip(values.tolist(), times, strict=True))
    exact = [Fraction(one) for one in listed]
    assert less.tolist() == [sum(t for x, t in rows if x < one) for one in exact]
    assert more.tolist() == [sum(t for x, t in rows if x > one) for one in exact]
    assert total == sum(times)


@pytest.mark.parametrize("layout", ["<d", "<f"])
@given(listed=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9, unique=True))
def test_declared_numbers_mean_the_nearest_of_their_type(layout: str, listed: list[float]) -> None:
    ladder = rungs(
        Labels(listed, is_declared=True), ColumnType("x", "float", "float", layout=layout)
    )
    if layout == "<d":
        assert [*ladder.floating] == [Fraction(one) for one in listed]
    else:
        expected = [Fraction(float(np.float32(repr(one)))) for one in listed]
        assert [*ladder.floating] == expected
    among_integers = rungs(Labels(listed, is_declared=True), ColumnType("x", "integer", "int"))
    assert [*among_integers.exact] == [Fraction(repr(one)) for one in listed]


EIGHTHS: dict[str, list[Any]] = {
    "floats": [k / 8 for k in range(50_000)],
    "decimals": [Decimal(k) / 8 for k in range(50_000)],
    "of all types": [
        k // 8 if k % 8 == 0 else (k / 8, Decimal(k) / 8, Fraction(k, 8))[k % 3]
        for k in range(50_000)
    ],
}


@pytest.mark.parametrize("kind", EIGHTHS)
def test_a_long_list_is_looked_at_as_a_whole_and_not_number_by_number(kind: str) -> None:
    listed = EIGHTHS[kind]
    data = np.arange(1000.0)
    discreet.median(data, candidates=listed, epsilon=1)
    profile = cProfile.Profile()
    profile.enable()
    discreet.median(data, candidates=listed, epsilon=1)
    profile.disable()
    calls: Any = pstats.Stats(profile)
    assert calls.total_calls < 40_000, "of fractions Python itself calls two methods"


LONG_LISTS: dict[str, list[Any]] = {
    "floats": [k / 8 for k in range(-700, 700)],
    "integers": list(range(-50, 1200)),
    "decades": [m * 10.0**e for e in range(-3, 3) for m in range(100, 1000, 4)],
    "more digits": [k / 7 for k in range(1100)],
    "decimals": [Decimal(k) / 8 for k in range(-700, 700)],
}
COLUMNS: dict[str, pa.Array] = {
    "doubles": pa.array([0.125, 0.1, 3.0, 3.0, -2.5, 1e9, -1e9, 77.0, 0.30000000000000004, None]),
    "singles": pa.array([0.125, 0.1, 3.0, -87.5, 1e9], pa.float32()),
    "integers": pa.array([3, 3, -2, 99, 10**15, -(10**15), 100, None]),
    "decimals": pa.array([Decimal("0.10"), Decimal("3.00"), Decimal("87.38"), None]),
}


@pytest.mark.parametrize("engine", ["polars-lazy", "duckdb", "csv"])
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("listed", LONG_LISTS)
@pytest.mark.one_in(3)
def test_engines_count_beside_long_lists(
    listed: str, column: str, engine: str, tmp_path: Path
) -> None:
    numbers, values = LONG_LISTS[listed], COLUMNS[column]
    group = Source(ENGINES[engine](pa.table({"x": values}), tmp_path), "x").groups[0]
    score = Rank(group, Labels(numbers), Fraction(1, 2))
    ladder = group.rungs(Labels(numbers))
    less, more, total = score._beside(ladder)
    rows = [Fraction(one) for one in values.to_pylist() if one is not None]
    if engine == "csv" and column == "singles":
        rows = [Fraction(repr(float(one))) for one in rows]
    exact = [Fraction(one) for one in numbers]
    expected = sum(row < exact[0] for row in rows)
    assert (less[0], total) == (expected, len(rows))
    assert less.tolist() == [sum(row < one for row in rows) for one in exact]
    assert more.tolist() == [sum(row > one for row in rows) for one in exact]


def test_a_long_list_of_few_digits_is_counted_in_one_pass() -> None:
    values = np.random.default_rng(2).lognormal(2, 1, 5_000)
    numbers = np.array(LONG_LISTS["decades"])
    cells = cells_around(numbers)
    assert cells is not None
    source: Any = Source(pl.LazyFrame({"x": values}), "x").groups[0].on_grid(cells)
    passes: list[int] = []
    fetch = source.fetch

    def counting(frame: Any, of: Any) -> Any:
        columns = fetch(frame, of)
        passes.append(len(columns[0]))
        return columns

    object.__setattr__(source, "fetch", counting)
    less, more, total = count_around(source, numbers)
    assert (len(passes), total) == (1, 5_000)
    assert less.tolist() == [int((values < one).sum()) for one in numbers]
    assert more.tolist() == [int((values > one).sum()) for one in numbers]


def test_equal_numbers_of_a_list_have_equal_counts() -> None:
    numbers = np.array([1.0, 2.0, 2.0, 3.0] * 300)
    cells = cells_around(numbers)
    assert cells is not None
    source: Any = Source(pl.LazyFrame({"x": [0.5, 2.0, 2.5, 9.0]}), "x").groups[0].on_grid(cells)
    less, more, _ = count_around(source, numbers)
    assert less.tolist() == [1, 1, 1, 3] * 300
    assert more.tolist() == [3, 2, 2, 1] * 300


def test_lists_that_are_short_or_of_many_digits_are_counted_in_other_ways() -> None:
    assert cells_around(np.arange(1000.0)) is None
    assert cells_around(np.array(LONG_LISTS["more digits"])) is None
    digits = {name: cells_around(np.array(LONG_LISTS[name])) for name in ("floats", "decades")}
    assert {name: cells.decimals.digits for name, cells in digits.items() if cells} == {
        "floats": 5,
        "decades": 3,
    }
