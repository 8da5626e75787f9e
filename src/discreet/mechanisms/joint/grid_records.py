"""Records on a grid, in order: by their ranks, and as places of the grid."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...sampling.vectors import Integers


class GridPlaces(NamedTuple):
    """The grid in places, in order: a point with records, or a stretch of points without. Private."""

    starts: Integers
    """The index of the first point."""
    sizes: Integers
    """How many points there are."""
    low: Integers
    """The least cut that each of them satisfies, in half records."""
    high: Integers
    """The largest."""

    @classmethod
    def of(cls, points: Integers, counts: NDArray[np.int64], size: int) -> "GridPlaces":
        """Return the places of a grid of that size, from distinct points with the numbers of their records."""
        dtype = np.dtype(np.int64 if size < 2**62 else object)
        starts = np.zeros(2 * len(points) + 1, dtype=dtype)
        starts[1::2] = points
        starts[2::2] = starts[1::2] + 1
        sizes = np.append(starts[1:], np.array([size], dtype=dtype)) - starts
        # *Distribution* in joint_quantiles.md: the cut L without records, L + 1/2 to L + E - 1/2 with E of them.
        ends = np.concatenate(([0], 2 * np.cumsum(counts, dtype=np.int64)))
        low = np.repeat(ends, 2)[:-1]
        high = low.copy()
        low[1::2] += 1
        high[1::2] = ends[1:] - 1
        there = sizes > 0
        return cls(starts[there], sizes[there], low[there], high[there])


class GridRecords:
    """The points of records on a grid, in order. Private."""

    def __init__(self, points: NDArray[Any], size: int, totals: NDArray[Any] | None = None) -> None:
        """Keep the points of all records, or distinct ones.

        Args:
            points: the points, in order.
            size: how many points the grid has.
            totals: how many records are up to each of them. None if every point is that of one record.
        """
        self._points, self._totals, self.size = points, totals, size
        self.number = len(points) if totals is None else int(totals[-1]) if len(totals) else 0
        """How many records there are."""

    @classmethod
    def of(cls, points: Integers, counts: NDArray[Any], size: int) -> "GridRecords":
        """Return the records at distinct points, by their numbers."""
        return cls(points, size, np.cumsum(counts, dtype=np.int64))

    def between(self, first: int, stop: int) -> Integers:
        """Return the points of records by rank; around them are one below the grid, and those above it in order."""
        dtype = np.dtype(np.int64 if self.size < 2**62 else object)
        low, high = max(first, 0), min(stop, self.number)
        if self._totals is None:
            points = self._points[low:high]
        else:
            points = self._points[self._totals.searchsorted(np.arange(low, high), "right")]
        before = np.arange(first - low, 0).astype(dtype)
        after = np.arange(max(first - self.number, 0), stop - high).astype(dtype) + self.size
        return np.concatenate((before, points.astype(dtype, copy=False), after))

    def numbers(self) -> NDArray[np.int64]:
        """Return how many records there are at all points of the grid, by point."""
        counts = np.zeros(self.size, dtype=np.int64)
        if self._totals is None:
            counts[:] = np.bincount(self._points.astype(np.int64), minlength=self.size)
        else:
            counts[self._points.astype(np.int64)] = np.diff(self._totals, prepend=0)
        return counts

    def point(self, rank: int) -> int:
        """Return the point of a record by rank: -1 before all of them, and the size of the grid after."""
        if not 0 <= rank < self.number:
            return -1 if rank < 0 else self.size
        if self._totals is not None:
            rank = int(self._totals.searchsorted(rank, "right"))
        return int(self._points[rank])

    def place(self, slot: int) -> tuple[int, int]:
        """Return the first point of the place that satisfies a cut, in half records, and how many points it has.

        None if no place does: the points on both sides have records.
        """
        after = self.point(slot // 2)
        if slot % 2:
            return after, 1
        before = self.point(slot // 2 - 1)
        return (after, 1) if before == after else (before + 1, after - before - 1)

    @cached_property
    def places(self) -> GridPlaces:
        """The grid in places."""
        if self._totals is None:
            distinct: Any = np.unique(self._points, return_counts=True)
            points, counts = distinct
        else:
            points, counts = self._points, np.diff(self._totals, prepend=0)
        return GridPlaces.of(points, counts, self.size)
