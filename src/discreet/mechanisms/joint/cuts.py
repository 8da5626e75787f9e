"""Which cuts of the records a tuple of grid points stands for, and how far they are from the wanted ones.

A cut is a number of records from 0 to n, halves included. A point with L records below it and E records at it
satisfies the cut L if E = 0, and every cut from L + 1/2 to L + E - 1/2 if it has records. So the cuts of
different points never overlap but where no record lies between them, and tied records may be cut anywhere.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

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


class Cuts:
    """The cuts of all places, and the wanted ones, in steps in which all of them are whole. Private."""

    def __init__(self, places: GridPlaces, alphas: Sequence[Fraction]) -> None:
        n = int(places.high[-1] + 1) // 2  # the last place ends at n, or half a record below
        targets = [Fraction(0), *(n * alpha for alpha in alphas), Fraction(n)]
        self.steps = lcm(2, *(target.denominator for target in targets))
        """How many steps a record has."""
        self.targets = [int(target * self.steps) for target in targets]
        """The wanted cuts, between 0 and n."""
        dtype = np.dtype(np.int64 if self.targets[-1] < 2**60 else object)
        self.low, self.high = (
            ends.astype(dtype) * (self.steps // 2) for ends in (places.low, places.high)
        )
        self.places = places
        self.single = np.flatnonzero(self.low == self.high)
        """The places of one cut: stretches without records, and points with one."""
        self.cuts, self.sizes = self.low[self.single], places.sizes[self.single]
        """Their cuts, and how many points they have."""
        self.ties = np.flatnonzero(self.low < self.high)
        """The points with several records."""
        self.bottoms, self.tops = self.low[self.ties], self.high[self.ties]
        """Their least and largest cuts."""

    @property
    def quantiles(self) -> int:
        """How many quantiles there are."""
        return len(self.targets) - 2

    @property
    def size(self) -> int:
        """How many points the grid has."""
        return int(self.places.starts[-1]) + int(self.places.sizes[-1])

    def is_single(self, state: int) -> bool:
        """Return whether a cut is the only one of its place."""
        place = self.place(state)
        return bool(self.low[place] == self.high[place])

    def is_within(self, state: int) -> bool:
        """Return whether a cut is strictly between the least and the largest of its place."""
        place = self.place(state)
        return bool(self.low[place] < state < self.high[place])

    def place(self, state: int) -> int:
        """Return the place of a cut."""
        # *The state*: cuts of different places differ, so a cut tells its place.
        return int(self.high.searchsorted(state))

    def points(self, j: int, reach: int) -> int:
        """Return how many points there are in the places within reach of the cut that quantile j wants."""
        starts, sizes = self.places.starts, self.places.sizes
        first = int(self.high.searchsorted(self.targets[j] - reach))
        last = int(self.low.searchsorted(self.targets[j] + reach, "right")) - 1
        return int(starts[last]) + int(sizes[last]) - int(starts[first]) if first <= last else 0


def score(cuts: Sequence[tuple[Fraction, Fraction]], targets: Sequence[Fraction]) -> Fraction:
    """Return minus the least sum |cell - wanted cell| over all cuts c[j] from cuts[j][0] to cuts[j][1].

    With e[j] = c[j] - wanted[j] that sum is the way that e goes from 0 by all e[j] to 0. To move as late and as
    little as possible makes it shortest.
    """
    way = e = Fraction(0)
    for (low, high), target in zip(cuts, targets, strict=True):
        # *The best cuts* in joint_quantiles.md: the offset stays, or goes to the nearest end of what is satisfied.
        nearest = min(max(e, low - target), high - target)
        way += abs(nearest - e)
        e = nearest
    return -(way + abs(e))
