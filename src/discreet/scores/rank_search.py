"""The points near a rank, found from counts alone in a few passes over the data.

The first pass counts the records in at most `FIRST` cells of the grid. A later pass divides the cell of
the wanted rank, its two neighbours, and the cells that lie `width` ranks beyond these on either side, until
a cell is a point. A last one fetches the points between. So the number of passes depends on the size of the
grid only, and the size of an engine's answers on that and on `width`. Proof: docs/explanation/out_of_core.md.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnreadableData
from ..sampling.vectors import Integers

if TYPE_CHECKING:
    from ..tables.cells import CellSource

FIRST = 2**14
"""Most cells of the first pass."""

FURTHER = 2**13
"""Most cells that a later pass divides a cell into."""


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
    steps = cell_widths(size)
    tally = _Tally.read([range(0, size, steps[0])], source.histogram([range(0, size, steps[0])]))
    if tally.total == 0:
        return Bracket(_indices([], size), tally.counts, 0, 0, (0, size))
    # Only now is the number of records known, and with it the rank that is wanted.
    target = rank(tally.total)
    for step, finer in pairwise(steps):
        parts = tally.cut(target, width, range(0, size, step)).coarse(width)
        tally = tally.divide(source, [range(part.start, part.stop, finer) for part in parts])
    return tally.bracket(source, tally.cut(target, width, range(size)), size)


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


@dataclass(frozen=True, slots=True)
class _Cut:
    """A cut of the grid: the cells beyond which all is summarised, and the points in the middle."""

    lower: int | None
    zone: range
    upper: int | None
    tally: "_Tally"

    def coarse(self, width: int) -> list[range]:
        """Return the cells that the next pass divides. Outer cells with few records may stay as they are."""
        lower, upper = (
            # *The outer cells*: one of at most w records is not divided.
            [self.tally.cells[i]] if i is not None and self.tally.counts[i] > width else []
            for i in (self.lower, self.upper)
        )
        return [cell for cell in (*lower, self.zone, *upper) if _length(cell) > 1]


@dataclass(frozen=True, slots=True)
class _Tally:
    """The counts so far: the cells that have records, in order, and the numbers of their records."""

    cells: list[range]
    counts: NDArray[np.int64]

    @classmethod
    def read(cls, parts: Sequence[range], histogram: Iterable[NDArray[np.int64]]) -> "_Tally":
        """Return the cells of some parts that have records."""
        cells, counts = list[range](), list[int]()
        for part, records in zip(parts, histogram, strict=True):
            for i in np.flatnonzero(records).tolist():
                first = part.start + i * part.step
                cells.append(range(first, min(first + part.step, part.stop)))
                counts.append(int(records[i]))
        return cls(cells, np.array(counts, dtype=np.int64))

    @property
    def total(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    def below(self, index: int) -> int:
        """Return how many records are in cells that begin below an index."""
        return int(self.counts[: self._first(index)].sum())

    def _first(self, index: int) -> int:
        """Return the place of the first cell that begins at an index or after it."""
        return bisect_left(self.cells, index, key=lambda cell: cell.start)

    def _holding(self, rank: int) -> int:
        """Return the place of the cell of the record which has `rank` records before it."""
        return int(np.searchsorted(np.cumsum(self.counts), rank, side="right"))

    def cut(self, target: int, width: int, grid: range) -> _Cut:
        """Return where to cut `width` records beyond the wanted cell, of `grid.step`, and its neighbours."""
        # The candidates next to the wanted point may lie in the neighbouring cells, hence the zone of three. Cells
        # of the zone may be empty: then they are not in `cells`, and add nothing to any count.
        cell, step = self.cells[self._holding(target)], grid.step
        zone = range(max(0, cell.start - step), min(grid.stop, cell.start + 2 * step))
        # The ranks of the records `width` before the zone and `width` after it; beyond the data there is no cut.
        # *The outer cells* in out_of_core.md: sought anew at each pass, w records beyond the three in the middle.
        low, high = self.below(zone.start) - width, self.below(zone.stop) + width - 1
        return _Cut(
            self._holding(low) if low >= 0 else None,
            zone,
            self._holding(high) if high < self.total else None,
            self,
        )

    def divide(self, source: "CellSource", parts: Sequence[range]) -> "_Tally":
        """Return the counts with these parts counted in finer cells, in one pass."""
        return self._with(_Tally.read(parts, source.histogram(parts)), parts)

    def _with(self, finer: "_Tally", parts: Sequence[range]) -> "_Tally":
        """Return these cells with some parts exchanged for finer cells."""
        # A merge of two sorted lists, part by part. The records of a part are the same however finely counted;
        # else the data are not those of the pass before, and no rank can be trusted.
        cells, counts, last = list[range](), list[NDArray[np.int64]](), 0
        for part in parts:
            first, end = self._first(part.start), self._first(part.stop)
            start, stop = finer._first(part.start), finer._first(part.stop)
            if self.counts[first:end].sum() != finer.counts[start:stop].sum():
                raise UnreadableData("the data changed while they were read")
            cells += [*self.cells[last:first], *finer.cells[start:stop]]
            counts += [self.counts[last:first], finer.counts[start:stop]]
            last = end
        return _Tally([*cells, *self.cells[last:]], np.concatenate([*counts, self.counts[last:]]))

    def bracket(self, source: "CellSource", edges: _Cut, size: int) -> Bracket:
        """Return the bracket; the points between its ends and the middle are fetched, in one pass."""
        lower, upper = (None if i is None else self.cells[i] for i in (edges.lower, edges.upper))
        first, end = lower.start if lower else 0, upper.stop if upper else size
        tally = self._between(first, end)
        # On small grids the first pass had cells of one point, so all points are known. Else an outermost cell of
        # one point is known too, and all other points outside the zone are fetched.
        if size > FIRST:
            low = lower.stop if lower and _length(lower) == 1 else first
            high = upper.start if upper and _length(upper) == 1 else end
            inner = [range(low, edges.zone.start), range(edges.zone.stop, high)]
            parts = [range(part.start, part.stop, _length(part)) for part in inner if part]
            tally = tally._with(_fetch(source, parts), parts)
        points = _indices([cell.start for cell in tally.cells], size)
        return Bracket(points, tally.counts, self.below(first), self.total, (first, end))

    def _between(self, first: int, end: int) -> "_Tally":
        start, stop = self._first(first), self._first(end)
        return _Tally(self.cells[start:stop], self.counts[start:stop])


def _length(cell: range) -> int:
    """Return how many indices there are; `len` counts no further than a word."""
    return cell.stop - cell.start


def _fetch(source: "CellSource", parts: Sequence[range]) -> _Tally:
    """Return the points in some parts, as cells of one point."""
    points, counts = distinct_indices(*source.points(parts))
    return _Tally([range(i, i + 1) for i in points.tolist()], counts)


def _indices(points: list[int], size: int) -> Integers:
    """Return indices of a grid as an array."""
    array = np.empty(len(points), dtype=object if size >= 2**62 else np.int64)
    array[:] = points
    return array
