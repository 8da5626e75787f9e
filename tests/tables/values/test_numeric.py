"""Columns of numbers."""

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Grid
from discreet.tables.engines import cells
from discreet.tables.engines.in_duckdb import InDuckDB
from discreet.tables.scores.rank_search import distinct_indices
from discreet.tables.scores.revenue import _highest_paid, places
from discreet.tables.values.kinds import ColumnType
from discreet.tables.values.numeric import from_list, from_relation

WORD = 2**63


NUMBERS: dict[str, st.SearchStrategy[Any]] = {
    "words": st.integers(-WORD, WORD - 1) | st.integers(WORD - 9, WORD - 1),
    "unsigned": st.integers(0, 2 * WORD - 1) | st.integers(WORD - 9, WORD + 9),
    "huge": st.integers(-(2**127), 2**127 - 1) | st.integers(WORD - 9, WORD + 9),
    "doubles": st.floats(allow_nan=False) | st.floats(WORD - 4096, WORD + 4096),
    "fractions": st.integers(-(10**20), 10**20).map(lambda n: Fraction(n, 100)),
}


WIDE = [
    Grid(0, 700),
    Grid(WORD - 6, WORD + 6, "1/2"),
    Grid(-2 * WORD, 2 * WORD, 2**40),
    Grid(0, 2**63),
]


def array_of(kind: str, values: list[Any]) -> Any:
    return np.array(values, dtype=np.uint64) if kind == "unsigned" else from_list(values)


@pytest.mark.parametrize("kind", NUMBERS)
@given(grid=st.sampled_from(WIDE), pay=st.booleans(), data=st.data())
def test_groups_of_any_numbers_add_up(
    kind: str, grid: Grid, pay: bool, data: st.DataObject
) -> None:
    """Whatever the groups: records are counted where each number is, up to counts of 2^63 - 1."""
    values = sorted(data.draw(st.sets(NUMBERS[kind], min_size=1, max_size=12)))
    most = (WORD - 1) // len(values)
    weights = [data.draw(st.integers(1, most) | st.just(most)) for _ in values]
    cuts = data.draw(st.sets(st.integers(1, len(values)), max_size=5)) | {0, len(values)}
    stretches = [range(*ends) for ends in pairwise(sorted(cuts))]

    index: Any = partial(places, grid) if pay else grid.nearest
    asked = cells.Occupancy(thresholds(grid), index)
    mixed = asked.add(
        cells.Groups.of(
            [
                np.arange(len(stretches)) + 7,
                from_list([sum(weights[i] for i in one) for one in stretches]),
                array_of(kind, [values[one[0]] for one in stretches]),
                array_of(kind, [values[one[-1]] for one in stretches]),
            ]
        )
    )
    left = [i for key in mixed for i in stretches[key - 7]]
    again = [array_of(kind, [values[i] for i in left]), from_list([weights[i] for i in left])]
    assert asked.add(cells.Groups.single(again)) == []

    one_by_one = _highest_paid if pay else Grid._index
    expected = Counter[int]()
    for value, weight in zip(values, weights, strict=True):
        expected[max(-1, one_by_one(grid, value))] += weight
    points, counts = distinct_indices(*asked.tally)
    assert counts.dtype == np.int64
    assert dict(zip(points.tolist(), counts.tolist(), strict=True)) == expected


def thresholds(grid: Grid) -> cells.GridThresholds:
    return cells.GridThresholds(grid, ColumnType("v", "integer", "HUGEINT", -(2**127), 2**127 - 1))


def test_what_is_no_integer_is_no_count() -> None:
    for counts in ([2.0], [Fraction(2)], [2**63]):
        with pytest.raises(TypeError):
            cells.Groups.single([np.array([1.5]), from_list(counts)])
    assert len(cells.Groups.single([from_list([]), from_list([])])) == 0


IN_DUCKDB: dict[str, st.SearchStrategy[Any]] = {
    "TINYINT": st.integers(-128, 127),
    "BIGINT": NUMBERS["words"],
    "UBIGINT": NUMBERS["unsigned"],
    "HUGEINT": NUMBERS["huge"],
    "UHUGEINT": st.integers(0, 2**128 - 1) | st.integers(WORD - 9, WORD + 9),
    "DECIMAL(18,2)": st.integers(-(10**18) + 1, 10**18 - 1).map(lambda n: Decimal(n) / 100),
    "DECIMAL(38,0)": NUMBERS["huge"].map(lambda n: Decimal(n // 2)),
    "FLOAT": st.floats(width=32, allow_nan=False),
    "DOUBLE": NUMBERS["doubles"],
}


@pytest.mark.parametrize("of", IN_DUCKDB)
@given(data=st.data())
@pytest.mark.one_in(3)
def test_what_is_fetched_is_not_rounded(of: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(IN_DUCKDB[of], max_size=8))
    texts = ", ".join(f"(CAST('{value}' AS {of}), {WORD - 1})" for value in values)
    rows = f"VALUES {texts}" if values else f"SELECT CAST(NULL AS {of}), 0 LIMIT 0"
    table = duckdb.connect().sql(f"SELECT * FROM ({rows}) AS rows(cell, records)")
    found, counts = from_relation(table, InDuckDB(table).type("cell", "cell"))
    assert [Fraction(x) if math.isfinite(x) else x for x in found.tolist()] == [
        Fraction(x) if math.isfinite(x) else x for x in values
    ]
    assert counts.tolist() == [WORD - 1] * len(values)
    assert found.dtype in (np.int64, np.uint64, np.float64, np.object_)
