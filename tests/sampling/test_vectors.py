"""Exact vectors: nothing is rounded, nothing is shown."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import discreet
from discreet.base.numbers import nearest_double
from discreet.errors import InvalidScores
from discreet.sampling.enclosures import overflowing
from discreet.sampling.vectors import objects, read_vector
from discreet.selection.candidates import Grid
from discreet.tables.engines import count
from discreet.tables.engines.memory import _in_order
from discreet.tables.scores.list_counts import count_beside
from discreet.tables.scores.revenue import _highest_paid, places
from discreet.tables.values.meanings import Rungs
from discreet.tables.values.numeric import from_list, present, python_number

finite = st.floats(allow_nan=False, allow_infinity=False)
wide_integers = st.integers(-(2**63), 2**63 - 1)


def wrapping() -> Fraction:
    """Return a fraction whose parts are numpy's, and wrap when multiplied."""
    parts: list[Any] = [np.int64(2**40 + 1), np.int64(2**40 - 1)]
    return Fraction(*parts)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], [1, 2]),
        ([2**53 + 1, 0.5], [2**53 + 1, Fraction(1, 2)]),
        ([2**64, -1], [2**64, -1]),
        ([0.1], [Fraction(0.1)]),
        ([Fraction(1, 3), Decimal("0.1")], [Fraction(1, 3), Fraction(1, 10)]),
        ((1, 2), [1, 2]),
        (range(3), [0, 1, 2]),
        (np.array([1, 2], dtype=np.int8), [1, 2]),
        (np.array([2**64 - 1, 0], dtype=np.uint64), [2**64 - 1, 0]),
        (np.array([0.1], dtype=np.float32), [Fraction(float(np.float32(0.1)))]),
        (np.array([1 / np.longdouble(3)]), [Fraction(*(1 / np.longdouble(3)).as_integer_ratio())]),
        (np.array([10**30, Fraction(1, 2)], dtype=object), [10**30, Fraction(1, 2)]),
        (pd.Series([1.5, 2.0]), [Fraction(3, 2), 2]),
        (pl.Series([1, 2**62 + 1]), [1, 2**62 + 1]),
        (np.arange(10)[::3], [0, 3, 6, 9]),
        ([wrapping()], [Fraction(2**40 + 1, 2**40 - 1)]),
        ([Decimal("1e400"), 0], [10**400, 0]),
        ([Decimal("0e-100000"), Decimal("-0e100000"), Decimal(1)], [0, 0, 1]),
        (np.array([1.5], dtype=">f8"), [Fraction(3, 2)]),
        (np.array([7], dtype=">i8"), [7]),
    ],
)
def test_every_number_is_kept_exactly(values: Any, expected: list[Any]) -> None:
    vector = read_vector(values)
    assert [vector.exact(i) for i in range(len(vector))] == expected
    assert read_vector(vector) is vector


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "must not be empty"),
        (np.array([]), "must not be empty"),
        (3.0, "one for each candidate, got a single float"),
        ("12", "one for each candidate, got a single str"),
        (np.array(3.0), "0 dimensions"),
        ([[1, 2], [3, 4]], "There is one of type list"),
        (np.ones((2, 2)), "2 dimensions"),
        (["a", "b"], "There is one of type str"),
        ([1, None], "There is one of type NoneType"),
        ([1, True], "There is one of type bool"),
        (np.array([True]), "array of type bool"),
        (np.array([1j]), "array of type complex128"),
        (np.array(["a"]), "array of type <U1"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "array of type datetime64"),
        ([1, float("nan")], "a NaN or an infinity"),
        ([Decimal("Infinity"), 1], "a NaN or an infinity"),
        ([Decimal("sNaN"), 1], "a NaN or an infinity"),
    ],
)
def test_what_is_no_row_of_numbers_is_refused(values: Any, message: str) -> None:
    with pytest.raises(InvalidScores, match=message):
        read_vector(values)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_best_refuses_floats_that_are_not_finite(bad: float) -> None:
    for values in ([bad], [bad, 1.0], [1.0, bad]):
        with pytest.raises(InvalidScores, match="a NaN or an infinity"):
            read_vector(values).best()


@given(
    st.lists(finite, min_size=1)
    | st.lists(wide_integers, min_size=1)
    | st.lists(st.fractions(), min_size=1)
)
def test_gaps_are_exact_to_one_rounding(values: list[Any]) -> None:
    vector = read_vector(values)
    best = vector.best()
    top = max(map(Fraction, values))
    with overflowing():
        gaps = vector.gaps(best)
    for i, gap in enumerate(gaps):
        exact = vector.exact_gap(i, best)
        assert exact == top - Fraction(values[i])
        if gap == np.inf:
            assert exact > Fraction(np.finfo(float).max)
        else:
            assert abs(Fraction(float(gap)) - exact) <= exact / 2**53


def test_gaps_of_unsigned_and_huge_integers() -> None:
    vector = read_vector(np.array([2**64 - 1, 0], dtype=np.uint64))
    assert vector.gaps(vector.best()).tolist() == [0, 2.0**64]
    vector = read_vector([10**400, 0])
    assert vector.gaps(vector.best()).tolist() == [0, np.inf]


def test_the_repr_shows_no_number() -> None:
    assert repr(read_vector([271828, 314159])) == "<Vector of 2 private numbers>"


def test_whether_numbers_are_integers_is_told_by_their_type() -> None:
    assert read_vector([1, 2]).integral
    assert not read_vector([1.0, 2.0]).integral
    assert not read_vector([Fraction(1)]).integral


def test_fractions_of_numpy_integers_do_not_wrap() -> None:
    near = [wrapping(), Fraction(1), Fraction(0)]
    vector = read_vector(near)
    assert np.allclose(vector.gaps(vector.best()), [0, 2**-39, 1], atol=1e-15)


def test_gaps_of_large_integers_are_subtracted_before_they_are_rounded() -> None:
    for values in (
        [2**62, 2**62 + 1],
        [-(2**63), 1 - 2**63],
        np.array([2**64 - 1, 2**64 - 2], np.uint64),
    ):
        vector = read_vector(values)
        assert sorted(vector.gaps(vector.best()).tolist()) == [0, 1]


@pytest.mark.parametrize(
    "values",
    [
        [0.1, -0.0, 5e-324],
        [2**53 + 1, -(2**53) - 1, 2**63 - 1],
        [2**64 - 1, 0],
        [Fraction(1, 3), 0, 10**400, -(10**400)],
        [2**200 + 1, Fraction(1, 10**400)],
    ],
)
def test_doubles_are_rounded_once(values: list[Any]) -> None:
    found = read_vector(values).doubles()
    assert found.dtype == np.float64
    assert found.tolist() == [nearest_double(Fraction(value)) for value in values]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "i"),
        ([2**64 - 1, 0], "O"),
        ([1.0, 2.5], "f"),
        ([1, 2.5], "f"),
        ([-(2**53), 0.5, 2**53], "f"),
        ([2**53 + 1, 0.5], "O"),
        ([-(2**53) - 1, 0.5], "O"),
        ([2**70, 0.5], "O"),
        ([2**64, 1], "O"),
        ([Fraction(1, 3), 1], "O"),
    ],
)
def test_numbers_are_stored_as_doubles_only_where_none_is_rounded(
    values: list[Any], kind: str
) -> None:
    stored = read_vector(values).values
    assert stored.dtype.kind == kind
    assert [*map(Fraction, stored.tolist())] == [*map(Fraction, values)]


FLOATS = st.floats(allow_nan=False) | st.sampled_from([0.5, -0.0, 1e17, 2.0**53, 3.01, math.inf])
LONG = [10**17 + 1, 2**63, -(2**63), -(2**63) - 1, 2**53 + 1, 3]
INTEGERS = st.integers(-(2**70), 2**70) | st.sampled_from(LONG)
OTHERS = st.sampled_from(
    [
        Decimal("0.1"),
        Decimal("-Infinity"),
        Fraction(1, 3),
        np.float64(0.25),
        np.float32(0.1),
        np.int64(7),
        np.uint64(2**64 - 1),
        np.int8(-3),
    ]
)
NOTHING = st.sampled_from(
    [None, True, False, math.nan, "1", Decimal("NaN"), np.float64("nan"), np.bool_(1), 1j, b""]
)
MIXED = FLOATS | INTEGERS | OTHERS
VALUES = st.one_of(
    st.lists(FLOATS),
    st.lists(INTEGERS),
    st.lists(st.integers(-(2**63), 2**63 - 1)),
    st.lists(FLOATS | INTEGERS),
    st.lists(st.floats().map(np.float64)),
    st.lists(FLOATS | NOTHING),
    st.lists(MIXED | NOTHING),
)
GRIDS = [
    Grid(-3, 3, "0.5"),
    Grid(10**17, 10**17 + 9),
    Grid(0, 10**30, Fraction(1, 3)),
    Grid(-(2**63), 2**63, 2**16),
]


def read(values: list[Any]) -> list[Any]:
    """Return the numbers of a list as they were read before there were types: one by one."""
    return [number for value in values if (number := python_number(value)) is not None]


@given(VALUES)
@example([np.float64("nan"), np.float64(1)])
@example([1, math.nan, 0.5])
def test_the_same_as_one_by_one(values: list[Any]) -> None:
    found, expected = from_list(values), read(values)
    assert found.tolist() == expected
    assert [*map(type, found.tolist())] == [*map(type, expected)]
    there = [python_number(value) is not None for value in values]
    assert present(values)[0].tolist() == there


@pytest.mark.parametrize("grid", GRIDS)
@given(values=st.lists(MIXED))
def test_the_nearest_points(grid: Grid[Any], values: list[Any]) -> None:
    numbers = objects(read(values))
    assert grid.nearest(numbers).tolist() == [grid._index(number) for number in numbers]


@pytest.mark.parametrize("prices", [Grid(0, 4, "0.01"), Grid(1, 2**60), Grid(0, 1, Fraction(1, 3))])
@given(values=st.lists(MIXED))
def test_the_highest_prices(prices: Grid[Any], values: list[Any]) -> None:
    numbers = objects(read(values))
    expected = [max(-1, _highest_paid(prices, number)) for number in numbers]
    assert places(prices, numbers).tolist() == expected


@given(st.lists(MIXED), st.lists(st.integers(0, 3), min_size=50, max_size=50), st.booleans())
def test_below_and_above(values: list[Any], weights: list[int], counted: bool) -> None:
    ladder = [Fraction(-3), Fraction(1, 3), Fraction(0.5), Fraction(3), *map(Fraction, LONG)]
    numbers = read(values)[:50]
    times = weights[: len(numbers)] if counted else [1] * len(numbers)
    below = [sum(t for x, t in zip(numbers, times, strict=True) if x < rung) for rung in ladder]
    above = [sum(t for x, t in zip(numbers, times, strict=True) if x > rung) for rung in ladder]
    counts = np.array(times, dtype=np.int64) if counted else None
    rungs = Rungs(objects(ladder), objects(ladder))
    less, more, total = count_beside(objects(numbers), counts, rungs)
    assert (less.tolist(), more.tolist(), total) == (below, above, sum(times))


@given(st.lists(MIXED, min_size=1) | st.lists(FLOATS | INTEGERS, min_size=1))
def test_scores_keep_their_values(values: list[Any]) -> None:
    if any(isinstance(v, float | Decimal) and math.isinf(v) for v in values):
        with pytest.raises(InvalidScores, match="infinity"):
            read_vector(values).best()
        return
    vector = read_vector(values)
    expected = [Fraction(*v.as_integer_ratio()) if v % 1 else Fraction(int(v)) for v in values]
    assert [vector.exact(i) for i in range(len(values))] == expected


def test_integers_among_floats_are_not_rounded() -> None:
    values = [10**17 + 1] * 60 + [0.5, 1e18]
    assert float(10**17 + 1) == 10**17
    grid = Grid(10**17, 10**17 + 4)
    assert discreet.median(values, candidates=grid, epsilon=1000).value == 10**17 + 1
    listed = [grid[i] for i in range(grid.size)]
    assert discreet.median(values, candidates=listed, epsilon=1000).value == 10**17 + 1
    assert discreet.select(values, sensitivity=1, epsilon=1).value == 61
    for long in (10**17 + 1, 2**53 + 1, -(2**53) - 1):
        assert read_vector([long, 0.5]).exact(0) == long


@given(
    st.lists(st.sampled_from([1, 2, 0, None]))
    | st.lists(st.sampled_from([1.0, 0.5, -0.0, 0.0, math.nan, None]))
    | st.lists(st.sampled_from(["a", "", "1", None]))
    | st.lists(st.just(True))
)
def test_objects_of_one_type_are_counted_as_any_others(values: list[Any]) -> None:
    candidates = [0, 1, 2, 0.5, True, "a", "1"]
    expected = [
        sum(v == c and isinstance(v, bool) == isinstance(c, bool) for v in values)
        for c in candidates
    ]
    assert count(values, None, candidates) == expected
    assert count([*values, ("of", "another type"), True], None, candidates) == [
        n + (c is True) for n, c in zip(expected, candidates, strict=True)
    ]


@given(VALUES)
def test_the_order_of_the_numbers_in_a_column(values: list[Any]) -> None:
    codes, numbers = _in_order(*present(values))
    assert numbers.tolist() == sorted({*read(values)})
    found = [None if code < 0 else numbers[code] for code in codes.tolist()]
    assert found == [python_number(value) for value in values]


def test_common_lists_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_by_one(*_: object) -> None:
        raise AssertionError("a number was read by itself")

    monkeypatch.setattr("discreet.tables.values.numeric.python_number", one_by_one)
    monkeypatch.setattr("discreet.sampling.vectors._score", one_by_one)
    monkeypatch.setattr(Grid, "_index", one_by_one)
    monkeypatch.setattr("discreet.tables.scores.revenue._highest_paid", one_by_one)
    grid = Grid(0, 3, "0.3")
    for values in ([0.5, 2.2], [1, 2], [1, 0.5], [None, 0.5, 1, math.nan], [np.float64(0.5), 1.0]):
        assert discreet.median(values, candidates=grid, epsilon=1).value <= 3
        assert discreet.best_price(values, candidates=grid, epsilon=1).value >= 0
    assert discreet.select([1, 0.5], sensitivity=1, epsilon=1).value < 2
