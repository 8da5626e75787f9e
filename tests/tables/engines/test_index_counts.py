"""Indices that the kernel computes are those of exact numbers, whatever the rows, the grid and the parts are."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import discreet
from discreet import Grid
from discreet.errors import UnreadableData
from discreet.mechanisms.testing import SeededBits
from discreet.sampling.kernel_library import open_library
from discreet.tables.engines import index_counts
from discreet.tables.engines.cells import GridThresholds
from discreet.tables.engines.column import Source
from discreet.tables.engines.index_counts import IndexCounts, StreamedCounts
from discreet.tables.formats.arrow_streams import ARROW_FORMATS, RowBatch
from discreet.tables.scores.rank_search import RowSource, bracket

pytestmark = pytest.mark.skipif(isinstance(open_library(), str), reason="there is no kernel")

TYPES = {"DOUBLE": pa.float64(), "FLOAT": pa.float32(), "BIGINT": pa.int64(), "INTEGER": pa.int32()}
GRIDS = (
    Grid(0, 10),
    Grid(5, 5),
    Grid(-7, "12.5", "0.01"),
    Grid("1/3", "40/3", "1/7"),
    Grid(-(10**6), 10**6, "0.000002"),
    Grid(-(2**30), 2**30, 2**15),
    Grid("-0.0000001", "0.0000001", "0.000000000001"),
    Grid(10**9, 10**9 + 1, "0.00001"),
)
EXTREMES = (
    0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e300, -1e300, math.inf, -math.inf, math.nan, 2.0**53, -(2.0**63), None
)  # fmt: skip


def rows_near(grid: Grid[Any], kind: str) -> list[Any]:
    """Return rows at borders, beside them and far from all."""
    source = Random(4)
    places = [0, 1, 2, grid.size - 1, grid.size, *(source.randrange(grid.size) for _ in range(40))]
    borders = [grid.lo + (place - Fraction(1, 2)) * grid.step for place in places]
    if kind in ("BIGINT", "INTEGER"):
        bits = 63 if kind == "BIGINT" else 31
        whole = [math.floor(border) + more for border in borders for more in (-1, 0, 1, 2)]
        ends = (-(2**bits), 2**bits - 1, -(2 ** (bits - 9)), 2 ** (bits - 9) + 1)
        return [*(n for n in whole if -(2**bits) <= n < 2**bits), *ends, None, 0]
    near = [float(border) for border in borders]
    if kind == "FLOAT":
        with np.errstate(over="ignore"):
            single = [np.float32(n) for n in (*near, *(n for n in EXTREMES if n is not None))]
        beside = [np.nextafter(n, np.float32(side)) for n in single for side in (-9e9, 9e9)]
        return [None, *map(float, single), *map(float, beside)]
    beside = [math.nextafter(n, side) for n in near for side in (-math.inf, math.inf)]
    return [*near, *beside, *EXTREMES]


def source(kind: str, rows: Sequence[Any], grid: Grid[Any]) -> IndexCounts:
    """Return rows as counts by index."""
    relation = duckdb.from_arrow(pa.table({"number": pa.array(rows, TYPES[kind])}))
    counts = Source(relation, "number").groups[0].on_grid(grid)
    assert isinstance(counts, IndexCounts)
    assert isinstance(counts, RowSource)
    return counts


def indices(rows: Sequence[Any], grid: Grid[Any]) -> list[int]:
    """Return the indices of rows by the definition, in order."""
    numbers = [row for row in rows if row is not None and row == row]
    finite = [max(min(row, 1e308), -1e308) if isinstance(row, float) else row for row in numbers]
    places = [math.floor((Fraction(x) - grid.lo) / grid.step + Fraction(1, 2)) for x in finite]
    return sorted(max(0, min(place, grid.size - 1)) for place in places)


def counted(every: Sequence[int], part: range) -> dict[int, int]:
    """Return how many indices are in each cell of a part, of those that have any."""
    cells: dict[int, int] = {}
    for index in every:
        if part.start <= index < part.stop:
            cell = (index - part.start) // part.step
            cells[cell] = cells.get(cell, 0) + 1
    return cells


def cells_of(counts: NDArray[Any]) -> dict[int, int]:
    return {int(place): int(counts[place]) for place in np.flatnonzero(counts)}


@pytest.mark.parametrize("kind", ARROW_FORMATS)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_cells_hold_the_rows_of_their_indices(kind: str, grid: Grid[Any]) -> None:
    if kind != "DOUBLE" and grid.step * 2**16 < 1:
        pytest.skip("it is too fine for the type")
    rows = rows_near(grid, kind) * 3
    ours, every = source(kind, rows, grid), indices(rows, grid)
    assert len(every) > 20
    first = range(0, grid.size, ours.widths[0])
    [counts] = ours.histogram([first])
    assert cells_of(counts) == counted(every, first)
    # Parts as the last pass and those between have them, at records and beside each other.
    length = max(1, min(grid.size // 9, 2**10))
    starts = sorted({every[i] // length * length for i in (0, len(every) // 2, -1)})
    for step in (1, 1 << (length.bit_length() // 2)):
        starts = [start // step * step for start in starts]
        ends = [min(start + length, grid.size) for start in starts]
        parts = [range(a, b, step) for a, b in zip(starts, ends, strict=True) if a < b]
        parts = [
            parts[0],
            *(q for p, q in pairwise(parts) if p.stop <= q.start),
        ]
        for part, counts in zip(parts, ours.histogram(parts), strict=True):
            assert cells_of(counts) == counted(every, part)


@pytest.mark.parametrize("kind", ["DOUBLE", "BIGINT"])
def test_the_last_pass_gives_the_indices_between_besides(kind: str) -> None:
    grid = GRIDS[4] if kind == "DOUBLE" else Grid(-(2**30), 2**30)
    rows = rows_near(grid, kind) * 2
    ours, every = source(kind, rows, grid), indices(rows, grid)
    low, high = every[len(every) // 3], every[len(every) // 2]
    parts = [range(low, low + 5), range(high, high + 9)]
    between = [range(low + 5, high), range(high + 9, high + 9)]
    counts, more = ours.resolve(parts, between, len(every))
    for part, histogram in zip(parts, counts, strict=True):
        assert cells_of(histogram) == counted(every, part)
    assert sorted(more.tolist()) == [i for i in every if low + 5 <= i < high] != []
    with pytest.raises(UnreadableData, match="changed"):
        ours.resolve(parts, between, len(more) - 1)


def test_parts_of_another_form_are_counted_by_their_edges() -> None:
    rows = rows_near(GRIDS[2], "DOUBLE")
    ours, every = source("DOUBLE", rows, GRIDS[2]), indices(rows, GRIDS[2])
    for parts in ([range(0, 1951, 3)], [range(1, 1951, 4)], [range(0, 4, 2), range(4, 1951, 1)]):
        for part, counts in zip(parts, ours.histogram(parts), strict=True):
            assert cells_of(counts) == counted(every, part)


@pytest.mark.parametrize(("size", "passes"), [
    (1, 1), (2, 1), (2**14 + 1, 1), (2**20, 1), (2**20 + 1, 2), (2**40, 2), (10**12 + 1, 2),
    (2**40 + 1, 3), (2**48, 3),
])  # fmt: skip
def test_the_number_of_passes_is_public(size: int, passes: int) -> None:
    ours = source("DOUBLE", [1.0], Grid(0, size - 1))
    assert len(ours.widths) == passes
    assert -(-size // ours.widths[0]) <= 2**20
    assert all(
        wide // fine <= 2**20 for wide, fine in zip(ours.widths, ours.widths[1:], strict=False)
    )
    assert ours.widths[-1] == 1


@pytest.mark.parametrize("bits", [2, 3, 20])
@pytest.mark.parametrize("width", [1, 4, 60])
def test_brackets_have_all_that_is_near(bits: int, width: int) -> None:
    """With few cells a pass, so that there are many passes; rows close together, equal, far apart, at the ends."""
    chance = Random(bits * 100 + width)
    grid = Grid(0, 1999)
    datasets = [
        [chance.randrange(2000) for _ in range(700)],
        [int(chance.gauss(1000, 15)) for _ in range(700)],
        [77] * 300,
        [0] * 50 + [1999] * 51,
        [chance.choice((3, 1500)) for _ in range(99)],
        [1234],
    ]
    for rows in datasets:
        with patch.object(index_counts, "MOST_BITS", bits):
            ours = source("BIGINT", rows, grid)
            passes = len(ours.widths)
            for wanted in {0, len(rows) // 3, len(rows) // 2, len(rows) - 1}:
                with patch.object(IndexCounts, "points", side_effect=AssertionError):
                    near = bracket(ours, 2000, lambda n, wanted=wanted: wanted, width)  # type: ignore[misc]
                assert passes == -(-11 // bits)
                ordered = sorted(rows)
                first, end = near.bounds
                inside = [i for i in ordered if first <= i < end]
                c = ordered[wanted]
                assert np.repeat(near.points, near.counts).tolist() == inside
                assert near.below == bisect_right(ordered, first - 1)
                assert near.total == len(rows)
                assert first <= max(c - 1, 0) <= min(c + 2, 2000) <= end
                if first > 0:
                    assert near.below <= bisect_right(ordered, c - 2) - width
                if end < 2000:
                    assert near.below + len(inside) >= bisect_right(ordered, c + 1) + width


@pytest.mark.parametrize("alpha", ["1/2", "1/10", "1"])
def test_answers_are_those_of_rows_in_memory(alpha: str) -> None:
    numbers = np.random.default_rng(3).normal(size=200_000) * 1e5
    relation = duckdb.from_arrow(pa.table({"number": numbers}))
    ask = partial(discreet.quantile, alpha=alpha, candidates=GRIDS[4], epsilon=1)
    for seed in range(6):
        with patch("discreet.selection.question.SystemBits", partial(SeededBits, seed)):
            answer = ask(relation, "number")
        with patch("discreet.selection.question.SystemBits", partial(SeededBits, seed)):
            assert answer.value == ask(numbers).value


def test_counts_of_32_bits_do_not_run_over() -> None:
    with patch.object(index_counts, "MOST_IN_A_WORD", 130_000):
        rows = [1.0] * 400_000 + [2.0] * 7
        [counts] = source("DOUBLE", rows, GRIDS[0]).histogram([range(11)])
    assert cells_of(counts) == {1: 400_000, 2: 7}
    short = index_counts._ShortCounts(2)
    short.with_room_for(2**32 - 1)[0] += 2**32 - 1
    short.with_room_for(2**32 - 1)[0] += 2**32 - 1
    assert short.all.tolist() == [2 * (2**32 - 1), 0]


def test_data_that_change_are_refused() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT random() * 1e6 AS number FROM range(5000)")
    ours: Any = Source(connection.table("t"), "number").groups[0].on_grid(GRIDS[4])
    histogram = type(ours).histogram

    def counting(self: Any, parts: Sequence[range]) -> Any:
        answer = histogram(self, parts)
        connection.execute("UPDATE t SET number = number / 2")
        return answer

    with patch.object(IndexCounts, "histogram", counting), pytest.raises(UnreadableData):
        bracket(ours, GRIDS[4].size, lambda n: n // 2, 3)


EDGE_GRIDS = (
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


def edges(kind: str, rows: Sequence[Any], grid: Grid[Any]) -> StreamedCounts:
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
@pytest.mark.parametrize("grid", EDGE_GRIDS, ids=str)
def test_counts_are_those_of_the_engine(kind: str, grid: Grid[Any]) -> None:
    if grid.size > 2**30 and kind != "DOUBLE":
        pytest.skip("it is too fine for the type")
    ours = edges(kind, rows_of(kind), grid)
    middle = int(grid.nearest(np.array([5.0]))[0])
    for some in parts(grid.size, middle):
        for mine, theirs in zip(ours.histogram(some), ours.engine.histogram(some), strict=True):
            assert mine.tolist() == theirs.tolist()


@pytest.mark.parametrize("kind", ARROW_FORMATS)
def test_indices_are_those_of_the_engine(kind: str) -> None:
    grid = EDGE_GRIDS[1]
    ours = edges(kind, rows_of(kind), grid)

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


@pytest.mark.parametrize("grid", EDGE_GRIDS, ids=str)
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
    numbers = edges(kind, rows, EDGE_GRIDS[0]).numbers()
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
        some = index_counts.batch_numbers(batch, np.float64)
        assert some.tolist() == numbers[rows][there[rows]].tolist()


def test_more_numbers_than_memory_is_set_aside_for_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [2.5, None, math.nan, 3.5, 9.0]
    monkeypatch.setattr(index_counts, "MOST_IN_MEMORY", 5)
    numbers = edges("DOUBLE", rows, EDGE_GRIDS[0]).numbers()
    assert numbers is not None
    assert numbers.tolist() == [2.5, 3.5, 9.0]
    assert edges("DOUBLE", [*rows, None], EDGE_GRIDS[0]).numbers() is None


def test_an_engine_that_fails_midway_says_no_more_than_that() -> None:
    relation = duckdb.sql(
        "SELECT CASE WHEN i < 200000 THEN i::DOUBLE ELSE error('row ' || i)::DOUBLE END AS number"
        " FROM range(300000) t(i)"
    )
    counts: Any = Source(relation, "number").groups[0].on_grid(EDGE_GRIDS[0])
    with pytest.raises(UnreadableData) as caught:
        counts.numbers()
    assert "row 2" not in str(caught.value)
