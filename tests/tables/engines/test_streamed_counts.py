"""Rows counted by the kernel as Arrow hands them over are those that the engine counts by groups."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet import Grid
from discreet.errors import UnreadableData
from discreet.sampling.kernel_library import open_library
from discreet.tables.engines import streamed_counts
from discreet.tables.engines.cells import GridThresholds
from discreet.tables.engines.column import Source
from discreet.tables.engines.index_counts import IndexCounts
from discreet.tables.engines.streamed_counts import StreamedCounts
from discreet.tables.formats.arrow_streams import ARROW_FORMATS, RowBatch

pytestmark = pytest.mark.skipif(isinstance(open_library(), str), reason="there is no kernel")

GRIDS = (
    Grid(0, 10),
    Grid(-7, "12.5", "0.01"),
    Grid(-(10**6), 10**6, "0.000002"),
    Grid("1/3", "40/3", "1/7"),
)
ROWS: Sequence[Any] = (
    None, 0, 1, 2, 2, 3, 9, 10, 11, -7, -8, 5, None, 6, 6, 6, -(2**31), 2**31 - 1, 4, 12,
)  # fmt: skip
DOUBLES = (
    0.5,
    -0.0,
    1.5,
    2.4999999999999996,
    9.995,
    math.nan,
    math.inf,
    -math.inf,
    1e300,
    5e-324,
    1 / 3,
    0.005,
)


def source(kind: str, rows: Sequence[Any], grid: Grid[Any]) -> StreamedCounts:
    relation = duckdb.from_arrow(table(kind, rows))
    counts = Source(relation, "number").groups[0].on_grid(grid)
    assert isinstance(counts, IndexCounts)  # of short numbers; its edges are counted in too
    return counts.edges


def table(kind: str, rows: Sequence[Any]) -> pa.Table:
    of = {
        "DOUBLE": pa.float64(),
        "FLOAT": pa.float32(),
        "BIGINT": pa.int64(),
        "INTEGER": pa.int32(),
    }
    return pa.table({"number": pa.array(rows, of[kind])})


def rows_of(kind: str) -> list[Any]:
    rows = [*ROWS, *(DOUBLES if kind in ("DOUBLE", "FLOAT") else ())] * 300
    if kind != "FLOAT":
        return rows
    with np.errstate(over="ignore"):
        return [None if row is None else float(np.float32(row)) for row in rows]


def parts(size: int, middle: int) -> list[list[range]]:
    """Parts as the passes of a median ask for them: all, a few far from each other, and neighbours."""
    wide = -(-size // 50)
    near = range(max(0, middle - 6), min(size, middle + 7))
    several = [range(min(3, near.start)), near, range(max(near.stop, size - 4), size, 2)]
    touching = [range(near.start, middle), range(middle, near.stop)]
    return [[range(0, size, wide)], [one for one in several if len(one)], touching, [near]]


@pytest.mark.parametrize("kind", ARROW_FORMATS)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_counts_are_those_of_the_engine(kind: str, grid: Grid[Any]) -> None:
    if grid.size > 2**30 and kind != "DOUBLE":
        pytest.skip("it is too fine for the type")
    ours = source(kind, rows_of(kind), grid)
    middle = int(grid.nearest(np.array([5.0]))[0])
    for some in parts(grid.size, middle):
        for mine, theirs in zip(ours.histogram(some), ours.engine.histogram(some), strict=True):
            assert mine.tolist() == theirs.tolist()


@pytest.mark.parametrize("kind", ARROW_FORMATS)
def test_indices_are_those_of_the_engine(kind: str) -> None:
    grid = GRIDS[1]
    ours = source(kind, rows_of(kind), grid)

    def tally(counts: Any) -> dict[int, int]:
        totals = dict[int, int]()
        for index, count in zip(*(one.tolist() for one in counts), strict=True):
            totals[index] = totals.get(index, 0) + count
        return totals

    assert tally(ours.occupancy(grid.nearest)) == tally(ours.engine.occupancy(grid.nearest))


def test_a_grid_of_long_numbers_is_counted_by_its_edges() -> None:
    relation = duckdb.from_arrow(table("DOUBLE", [0.1, 0.2, 5.0]))
    counts = Source(relation, "number").groups[0].on_grid(Grid(-9, 9, "0.000000000000001"))
    assert isinstance(counts, StreamedCounts)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_thresholds_at_once_are_those_one_by_one(grid: Grid[Any]) -> None:
    of = Source(duckdb.from_arrow(table("DOUBLE", [1.0])), "number").bounded.of
    thresholds = GridThresholds(grid, of)
    step = -(-grid.size // 500)
    indices = range(1, grid.size, step)
    assert thresholds.least(indices) == thresholds.least(list(indices))
    for index, least in zip(indices, thresholds.least(indices), strict=True):
        assert least is not None
        assert Fraction(least) >= thresholds.border(index)
        assert Fraction(math.nextafter(least, -math.inf)) < thresholds.border(index)


@pytest.mark.parametrize("kind", ARROW_FORMATS)
def test_numbers_are_the_rows_without_null_and_nan(kind: str) -> None:
    rows = rows_of(kind) * 40  # of several batches
    numbers = source(kind, rows, GRIDS[0]).numbers()
    assert numbers is not None
    assert numbers.dtype == (np.float64 if kind in ("DOUBLE", "FLOAT") else np.int64)
    assert len(rows) > 2**17
    assert sorted(numbers.tolist()) == sorted(one for one in rows if one is not None and one == one)


def test_a_batch_that_begins_later_has_its_own_nulls() -> None:
    numbers, there = np.arange(40.0), np.arange(40) % 3 > 0
    bitmap = np.packbits(there, bitorder="little")
    for offset in range(17):
        batch = RowBatch(numbers.ctypes.data, bitmap.ctypes.data, offset, 20, -1)
        rows = slice(offset, offset + 20)
        some = streamed_counts.batch_numbers(batch, np.float64)
        assert some.tolist() == numbers[rows][there[rows]].tolist()


def test_more_numbers_than_memory_is_set_aside_for_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [2.5, None, math.nan, 3.5, 9.0]
    monkeypatch.setattr(streamed_counts, "MOST_IN_MEMORY", 5)
    numbers = source("DOUBLE", rows, GRIDS[0]).numbers()
    assert numbers is not None
    assert numbers.tolist() == [2.5, 3.5, 9.0]
    assert source("DOUBLE", [*rows, None], GRIDS[0]).numbers() is None


def test_an_engine_that_fails_midway_says_no_more_than_that() -> None:
    relation = duckdb.sql(
        "SELECT CASE WHEN i < 200000 THEN i::DOUBLE ELSE error('row ' || i)::DOUBLE END AS number"
        " FROM range(300000) t(i)"
    )
    counts: Any = Source(relation, "number").groups[0].on_grid(GRIDS[0])
    with pytest.raises(UnreadableData) as caught:
        counts.numbers()
    assert "row 2" not in str(caught.value)
