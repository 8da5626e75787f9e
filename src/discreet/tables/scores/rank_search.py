"""The points near a rank, found from counts alone in a few passes over the data.

The first pass counts the records in at most `FIRST` cells of the grid. A later pass divides the cell of
the wanted rank, its two neighbours, and the cells that lie `width` ranks beyond these on either side, until
a cell is a point. A last one fetches the points between, or the last pass of counting does where rows are indexed
one by one. So the number of passes depends on the size of the
grid only, and the size of an engine's answers on that and on `width`. For the proof, see
docs/explanation/out_of_core.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...errors import UnreadableData
from ...sampling.vectors import Integers

if TYPE_CHECKING:
    from ..engines.cells import CellSource

FIRST = 2**14
"""Most cells of the first pass."""

FURTHER = 2**13
"""Most cells that a later pass divides a cell into."""

_LONG = 2**62
"""Indices of grids below it are words."""


@runtime_checkable
class RowSource(Protocol):
    """Counts on a grid where every row's index is computed: passes are few, and the last one gives all points."""

    @property
    def widths(self) -> list[int]:
        """The sizes of the cells, pass by pass, in points: public."""

    def resolve(
        self, parts: Sequence[range], between: Sequence[range], most: int
    ) -> tuple[list[NDArray[np.int64]], Integers]:
        """Return the number of records at every index of some parts, and the indices of the records in others.

        All in one pass. The parts do not overlap, and are three at most, in order; those between are two, in which
        `most` records are.
        """


@dataclass(frozen=True, slots=True)
class Bracket:
    """The points with records from one index up to another. Private.

    Attributes:
        points: their indices, in order.
        counts: the numbers of their records.
        below: how many records are lower.
        total: how many records there are in all.
        bounds: the first index, and the one after the last.
    """

    points: Integers
    counts: NDArray[np.int64]
    below: int
    total: int
    bounds: tuple[int, int]

    @property
    def outside(self) -> NDArray[np.int64]:
        """How many records are below the bracket, and how many are not above it."""
        return np.array([self.below, self.below + int(self.counts.sum())])


def bracket(source: "CellSource", size: int, rank: Callable[[int], int], width: int) -> Bracket:
    """Return all points at most `width` records away from those next to the wanted one.

    The wanted point c is that of the record which has `rank(total)` records before it. Unless the bracket
    reaches the end of the grid, at least `width` records are between its ends and the points from c - 1
    to c + 1, those at its outermost points counted.
    """
    # Invariant of every pass: the cell of the wanted record, its neighbours, and the cells `width` records beyond
    # are known with their counts, and so is the number of records below them. Dividing them keeps it.
    rows = source if isinstance(source, RowSource) else None
    steps = cell_widths(size) if rows is None else rows.widths
    whole = range(0, size, steps[0])
    [records] = source.histogram([whole])
    cells = _Cells.of(whole, records)
    if cells.total == 0:
        return Bracket(_no_indices(size), np.zeros(0, dtype=np.int64), 0, 0, (0, size))
    # Only now is the number of records known, and with it the rank that is wanted.
    target = _Target(rank(cells.total), width)
    tally = target.near([cells])
    for step, finer in pairwise(steps):
        edges = tally.cut(target, range(0, size, step))
        if finer == 1 and rows is not None:
            tally = tally.resolve(rows, target, edges, size)
        else:
            parts = [range(part.start, part.stop, finer) for part in edges.coarse]
            tally = tally.divide(target, parts, source.histogram(parts))
    edges = tally.cut(target, range(size))
    if rows is None and steps[0] > 1:
        return tally.fetch_between(source, edges, size)
    return tally.bracket(edges, size)


def everything(source: "CellSource", size: int) -> tuple[Integers, NDArray[np.int64]]:
    """Return all points that have records, and how many: as large as the data may be."""
    return distinct_indices(*source.points([range(0, size, size)]))


def cell_widths(size: int) -> list[int]:
    """Return the sizes of the cells, pass by pass, in points: the number of passes is public."""
    # -(-a // b) rounds up, so that no cell has more parts than the pass may count.
    widths = [-(-size // FIRST)]
    while widths[-1] > 1:
        widths.append(-(-widths[-1] // FURTHER))
    return widths


def distinct_indices(
    indices: Integers, counts: NDArray[np.int64] | None = None
) -> tuple[Integers, NDArray[np.int64]]:
    """Return the distinct indices in order, and the numbers of their records, which is one if not said."""
    ascending: Any
    if counts is None:
        ascending, weights = np.sort(indices), None
    else:
        order = np.argsort(indices, kind="stable")
        ascending, weights = indices[order], counts[order]
    if not len(ascending):
        return ascending, np.zeros(0, dtype=np.int64)
    # A new index begins where it differs from the one before; counts are summed from there to the next.
    firsts = np.flatnonzero(ascending[1:] != ascending[:-1])
    firsts = np.concatenate(([0], np.add(firsts, 1, out=firsts)))
    if weights is None:
        return ascending[firsts], np.diff(firsts, append=len(ascending))
    return ascending[firsts], np.add.reduceat(weights, firsts)


_BLOCK = 1024
"""So many cells are added up at once."""


@dataclass(frozen=True, slots=True)
class _Cells:
    """The numbers of records in all cells of a part. Work depends on how many cells there are, and on `width`.

    Attributes:
        part: the cells.
        records: the number of records in every one.
        below: how many records are below the part.
        up_to: how many are up to the end of every block of cells, those below the part among them.
    """

    part: range
    records: Integers
    below: int
    up_to: NDArray[np.int64]

    @classmethod
    def of(cls, part: range, records: Integers, below: int = 0) -> "_Cells":
        """Return the cells of a part."""
        blocks, rest = np.split(records, [len(records) // _BLOCK * _BLOCK])
        sums = blocks.reshape(-1, _BLOCK).sum(axis=1, dtype=np.int64)
        up_to = below + np.cumsum(np.append(sums, rest.sum(dtype=np.int64)))
        return cls(part, records, below, up_to)

    @property
    def total(self) -> int:
        """How many records there are in the part."""
        return int(self.up_to[-1]) - self.below

    def before(self, place: int) -> int:
        """Return how many records are before the cell at a place, those below the part among them."""
        block = place // _BLOCK
        start = int(self.up_to[block - 1]) if block else self.below
        return start + int(self.records[block * _BLOCK : place].sum(dtype=np.int64))

    def holding(self, rank: int) -> int:
        """Return the place of the cell of the record which has `rank` before it; where it is not here, an end."""
        block = int(np.searchsorted(self.up_to, rank, side="right"))
        if rank < self.below or block == len(self.up_to):
            return 0 if rank < self.below else len(self.records)
        start = block * _BLOCK
        inside = np.cumsum(self.records[start : start + _BLOCK], dtype=np.int64)
        return start + int(np.searchsorted(inside, rank - self.before(start), side="right"))

    def between(self, low: int, high: int) -> "_Tally":
        """Return the cells between the records of two ranks, one for all before, one for all behind."""
        length, part = len(self.records), self.part
        first = self.holding(low)
        last = max(first, min(self.holding(high) + 1, length) if high >= self.below else 0)
        # Of truths numpy finds the places several times as fast as of numbers.
        places: Integers = first + np.flatnonzero(self.records[first:last] != 0)
        before, behind = self.before(first) - self.below, int(self.up_to[-1]) - self.before(last)
        counts = np.concatenate(([before], self.records[places], [behind])).astype(np.int64)
        if part.stop >= _LONG:
            places = places.astype(object)
        starts = part.start + np.concatenate(([0], places, [last])) * part.step
        stops = part.start + np.concatenate(([first], places + 1, [length])) * part.step
        return _Tally(starts, np.minimum(stops, part.stop), counts)[counts > 0]


@dataclass(frozen=True, slots=True)
class _Target:
    """The record that is sought, by the number of those before it, and how many records beside it are."""

    rank: int
    width: int

    def near(self, parts: Sequence[_Cells]) -> "_Tally":
        """Return the cells of some parts, those that no cut may need put together."""
        for cells in parts:
            if cells.below <= self.rank < cells.below + cells.total:
                place = cells.holding(self.rank)
                low = cells.before(max(place - 1, 0)) - self.width
                high = cells.before(min(place + 2, len(cells.records))) + self.width - 1
                return _Tally.join([some.between(low, high) for some in parts])
        raise UnreadableData("the data changed while they were read")


@dataclass(frozen=True, slots=True)
class _Cut:
    """A cut of the grid: the cells beyond which all is summarised, and the points in the middle."""

    lower: int | None
    zone: range
    upper: int | None
    tally: "_Tally"
    width: int

    @property
    def coarse(self) -> list[range]:
        """The cells that the next pass divides. Outer cells with few records may stay as they are."""
        # *The outer cells*: one of at most w records is not divided.
        cells = (*self.outer(self.lower), self.zone, *self.outer(self.upper))
        return [cell for cell in cells if _length(cell) > 1]

    def outer(self, place: int | None) -> list[range]:
        """Return the outer cell at a place of the tally if it has more than `width` records."""
        if place is None or self.tally.counts[place] <= self.width:
            return []
        return [self.tally.cell(place)]

    def ends(self, size: int) -> tuple[int, int]:
        """Return where the lower cell begins and where the upper one ends; the ends of the grid where none is."""
        first = 0 if self.lower is None else self.tally.cell(self.lower).start
        return first, size if self.upper is None else self.tally.cell(self.upper).stop


@dataclass(frozen=True, slots=True)
class _Tally:
    """The counts so far: where cells with records start and stop, in order, and the numbers of their records."""

    starts: Integers
    stops: Integers
    counts: NDArray[np.int64]

    @classmethod
    def of_points(cls, points: Integers, counts: NDArray[np.int64]) -> "_Tally":
        """Return points with their counts as cells."""
        return cls(points, points + 1, counts)

    @classmethod
    def join(cls, tallies: Sequence["_Tally"]) -> "_Tally":
        """Return the cells of several tallies, one after another."""
        columns = zip(
            *((tally.starts, tally.stops, tally.counts) for tally in tallies), strict=True
        )
        return cls(*map(np.concatenate, columns))

    def __getitem__(self, places: Any) -> "_Tally":
        return _Tally(self.starts[places], self.stops[places], self.counts[places])

    def cell(self, place: int) -> range:
        """Return the cell at a place."""
        return range(int(self.starts[place]), int(self.stops[place]))

    @property
    def total(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    def below(self, index: int) -> int:
        """Return how many records are in cells that begin below an index."""
        return int(self.counts[: self._first(index)].sum())

    def _first(self, index: int) -> int:
        """Return the place of the first cell that begins at an index or after it."""
        return int(np.searchsorted(self.starts, index))

    def _holding(self, rank: int) -> int:
        """Return the place of the cell of the record which has `rank` records before it."""
        return int(np.searchsorted(np.cumsum(self.counts), rank, side="right"))

    def cut(self, target: _Target, grid: range) -> _Cut:
        """Return where to cut `width` records beyond the wanted cell, of `grid.step`, and its neighbours."""
        # The candidates next to the wanted point may lie in the neighbouring cells, hence the zone of three. Cells
        # of the zone may be empty: then they are not in the tally, and add nothing to any count.
        cell, step, width = self.cell(self._holding(target.rank)), grid.step, target.width
        zone = range(max(0, cell.start - step), min(grid.stop, cell.start + 2 * step))
        # The ranks of the records `width` before the zone and `width` after it; beyond the data there is no cut.
        # *The outer cells* in out_of_core.md: sought anew at each pass, w records beyond the three in the middle.
        low, high = self.below(zone.start) - width, self.below(zone.stop) + width - 1
        lower = self._holding(low) if low >= 0 else None
        return _Cut(lower, zone, self._holding(high) if high < self.total else None, self, width)

    def divide(
        self, target: _Target, parts: Sequence[range], histogram: Sequence[Integers]
    ) -> "_Tally":
        """Return the counts with these parts counted in finer cells."""
        pairs = zip(parts, histogram, strict=True)
        cells = [_Cells.of(part, records, self.below(part.start)) for part, records in pairs]
        return self._with(target.near(cells), parts)

    def resolve(self, source: "RowSource", target: _Target, edges: _Cut, size: int) -> "_Tally":
        """Return the counts with all near the wanted record as points, in one pass."""
        lower, upper = edges.outer(edges.lower), edges.outer(edges.upper)
        first, end = edges.ends(size)
        low, high = lower[0].stop if lower else first, upper[0].start if upper else end
        parts = [*lower, edges.zone, *upper]
        between = [range(low, edges.zone.start), range(edges.zone.stop, high)]
        # At most w records are in an outer cell that is not counted by points, and less between it and the zone.
        histogram, indices = source.resolve(parts, between, 4 * edges.width)
        points = _Tally.of_points(*distinct_indices(indices))
        tally = self.divide(target, parts, histogram)
        return tally._with(points, [part for part in between if part])

    def _with(self, finer: "_Tally", parts: Sequence[range]) -> "_Tally":
        """Return these cells with some parts exchanged for finer cells."""
        # A merge of two sorted lists, part by part. The records of a part are the same however finely counted;
        # else the data are not those of the pass before, and no rank can be trusted.
        tallies, last = list[_Tally](), 0
        for part in parts:
            first, end = self._first(part.start), self._first(part.stop)
            inside = finer[finer._first(part.start) : finer._first(part.stop)]
            if self[first:end].total != inside.total:
                raise UnreadableData("the data changed while they were read")
            tallies += [self[last:first], inside]
            last = end
        return _Tally.join([*tallies, self[last:]])

    def fetch_between(self, source: "CellSource", edges: _Cut, size: int) -> Bracket:
        """Return the bracket; the points between its ends and the middle are fetched, in one pass."""
        lower, upper = (None if i is None else self.cell(i) for i in (edges.lower, edges.upper))
        # An outermost cell of one point is known, and all other points outside the zone are fetched.
        first, end = edges.ends(size)
        low = lower.stop if lower and _length(lower) == 1 else first
        high = upper.start if upper and _length(upper) == 1 else end
        inner = [range(low, edges.zone.start), range(edges.zone.stop, high)]
        parts = [range(part.start, part.stop, _length(part)) for part in inner if part]
        points = _Tally.of_points(*distinct_indices(*source.points(parts)))
        return self._with(points, parts).bracket(edges, size)

    def bracket(self, edges: _Cut, size: int) -> Bracket:
        """Return the bracket from one outer cell of a cut to the other, in which all cells are points."""
        first, end = edges.ends(size)
        inside = self[self._first(first) : self._first(end)]
        points: Any = inside.starts.astype(_no_indices(size).dtype, copy=False)
        return Bracket(points, inside.counts, self.below(first), self.total, (first, end))


def _length(cell: range) -> int:
    """Return how many indices there are; `len` counts no further than a word."""
    return cell.stop - cell.start


def _no_indices(size: int) -> Integers:
    """Return an array for indices of a grid of that size, without any."""
    return np.zeros(0, dtype=object if size >= _LONG else np.int64)
