"""Records on a grid, sorted once, and the rank scores of any slice of them.

A slice holds the records of consecutive ranks on consecutive points, so that it is two numbers and two
numbers whatever it holds. Of the scores only those near the wanted rank are computed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...sampling.runs import Runs
from ...sampling.vectors import Integers, Vector
from .rank import DENSE, WIDER, add_summaries, count_points, stretches

_MOST_IN_ARRAY = 2**20
"""On larger grids records are sorted, and not counted point by point."""

PARTS = 2**32
"""Into how many parts a point is divided where a cut is drawn: public, and a power of two."""

_FINEST_SHARE = 2**40
"""Shares with larger denominators are rounded to a multiple of the inverse, so that scores fit in 64 bits."""

_WORD = 2**62


@dataclass(frozen=True, slots=True, repr=False)
class SortedRecords:
    """The distinct points with records, ascending, and how many records are below them and in all. Private."""

    points: Integers
    totals: Integers

    @classmethod
    def of(cls, points: Integers, counts: NDArray[Any]) -> "SortedRecords":
        """Return the records on ascending distinct points, by their numbers."""
        return cls(points, np.concatenate((np.zeros(1, dtype=counts.dtype), np.cumsum(counts))))

    @classmethod
    def at(cls, indices: Integers, size: int) -> "SortedRecords":
        """Return the records with these indices, in any order, on a grid of so many points."""
        if size <= min(_MOST_IN_ARRAY, DENSE * len(indices)):
            return cls.of(*count_points(indices, size))
        # Half as many bytes are sorted in half the time; the copy is sorted in place.
        ascending: Any = indices.astype(np.int32 if size < 2**31 else indices.dtype)
        ascending.sort()
        return cls.of_ascending(ascending, indices.dtype)

    @classmethod
    def of_ascending(cls, ascending: Integers, dtype: Any) -> "SortedRecords":
        """Return the records with these indices, in order, as indices of a type."""
        # A point begins where an index differs from the one before, and one more would begin after the last.
        new = np.ones(len(ascending) + 1, dtype=bool)
        np.not_equal(ascending[1:], ascending[:-1], out=new[1:-1])
        begins = np.flatnonzero(new) if len(ascending) else np.zeros(1, dtype=np.int64)
        points = ascending if len(begins) == len(new) else ascending[new[:-1]]
        return cls(points.astype(dtype, copy=False), begins)

    @property
    def counts(self) -> NDArray[Any]:
        """The numbers of records of the points."""
        return np.diff(self.totals)

    def whole(self, size: int) -> "Slice":
        """Return all of them, on a grid of so many points."""
        return Slice(self, 0, int(self.totals[-1]), 0, size)


@dataclass(frozen=True, slots=True, repr=False)
class Slice:
    """The records with ranks from `low` up to `high`, all on points from `first` up to `end`. Private.

    Of the records at one point, some may be in the slice and the others not.
    """

    records: SortedRecords
    low: int
    high: int
    first: int
    end: int

    def rank_scores(self, share: Fraction, cutoff_gap: Fraction) -> Runs:
        """Return the scores of the points, the first of them as 0: how deep the wanted rank is among their records.

        q * min(share * n - L, L + E - share * n), where n is the number of records in the slice, L of them are
        below the point and E at it, and q is the denominator of the share.
        """
        target, size = _Target.of(self, share), self.end - self.first
        low, high = target.window(self, cutoff_gap, size)
        first, end = self._touching(low, high)
        totals = np.clip(self.records.totals[first : end + 1], self.low, self.high)
        points = self.records.points[first:end] - self.first
        # A point that reaches beyond the window is inside; what is farther out is at most as good as its end.
        bounds = (
            0 if low == self.low else int(points[0]),
            size if high == self.high else int(points[-1]) + 1,
        )
        below = int(totals[0]) if len(points) else self.low
        starts, sizes, less, not_more = stretches(points, np.diff(totals), below, bounds)
        runs = Runs(starts, sizes, Vector(target.scores(less, not_more), integral=True))
        again = partial(self.rank_scores, share)
        return target.add_summaries(runs, (low, high), size, again, cutoff_gap)

    def cut_scores(self, share: Fraction, cutoff_gap: Fraction) -> Runs:
        """Return the scores of the parts of the points, `PARTS` each: how far the wanted rank is from their cuts.

        A part cuts the slice in two; see `cut`. Its score is -q * |rank of the cut - share * n|. Parts with the
        same cut are neighbours, so there is one run a rank.
        """
        target, size = _Target.of(self, share), (self.end - self.first) * PARTS
        low, high = target.window(self, cutoff_gap, size)
        ranks = _consecutive(low, high - low + 2, self.records.totals.dtype)
        ends = self._begins(ranks, size)
        sizes = np.diff(ends)
        there = sizes > 0
        again = partial(self.cut_scores, share)
        if not there.any():  # more records at a point than it has parts
            return again(WIDER * cutoff_gap)
        scores = target.scores(ranks[:-1], ranks[:-1])
        runs = Runs(ends[:-1][there], sizes[there], Vector(scores[there], integral=True))
        return target.add_summaries(runs, (low - 1, high + 1), size, again, cutoff_gap)

    def cut(self, part: int) -> tuple["Slice", "Slice"]:
        """Return the slices below and above a part, both of which keep its point.

        Part k of a point with E records cuts off floor(k * (E + 1) / PARTS) of them: from none to all of them.
        """
        records, step = self.records, part % PARTS
        point = self.first + part // PARTS
        i = int(np.searchsorted(records.points, point))
        there = i < len(records.points) and int(records.points[i]) == point
        below, up_to = (
            min(max(int(records.totals[j]), self.low), self.high) for j in (i, i + there)
        )
        # Coq: Rank.cut_parts, Rank.cut_add_remove, Rank.cut_at_the_ends
        rank = below + step * (up_to - below + 1) // PARTS
        return (
            Slice(records, self.low, rank, self.first, point + 1),
            Slice(records, rank, self.high, point, self.end),
        )

    def _touching(self, low: int, high: int) -> tuple[int, int]:
        """Return the first place of the points with records of ranks from `low` up to `high`, and the end."""
        totals = self.records.totals
        if low == high:
            return 0, 0
        first = int(np.searchsorted(totals, low, side="right")) - 1
        return first, int(np.searchsorted(totals, high, side="left"))

    def _begins(self, ranks: Integers, size: int) -> Integers:
        """Return the first parts that cut at the ranks or above them; `size` where none does."""
        records = self.records
        inside = (ranks > self.low) & (ranks <= self.high)
        i = np.searchsorted(records.totals, ranks[inside], side="left") - 1
        below = np.maximum(records.totals[i], self.low)
        ties = np.minimum(records.totals[i + 1], self.high) - below + 1
        points, cuts = records.points[i] - self.first, ranks[inside] - below
        if size >= _WORD or self.high - self.low >= _WORD // PARTS:
            points, cuts = points.astype(object), cuts.astype(object)
        starts = points * PARTS - (-cuts * PARTS // ties)  # rounded up
        begins = np.zeros(len(ranks), dtype=object if size >= _WORD else np.int64)
        begins[ranks > self.high] = size
        begins[inside] = starts
        return begins


@dataclass(frozen=True, slots=True)
class _Target:
    """The wanted rank, base + numerator / denominator with a numerator below the denominator. Private."""

    base: int
    numerator: int
    denominator: int

    @classmethod
    def of(cls, part: Slice, share: Fraction) -> "_Target":
        """Return the rank below which that share of the records is."""
        p, q = share.as_integer_ratio()
        base, numerator = divmod(p * (part.high - part.low), q)
        return cls(part.low + base, numerator, q)

    def window(self, part: Slice, cutoff_gap: Fraction, size: int) -> tuple[int, int]:
        """Return the least and the greatest rank that may matter among so many candidates, or the slice's ends.

        At `cutoff_gap` a weight is exp(-160), and nothing even among 2**150. Among 2**b, exp(-0.7 * (b + 40)) is.
        """
        p, q = cutoff_gap.as_integer_ratio()
        tenths = min(7 * (size.bit_length() + 40), 1600)
        width = -(-p * tenths // (1600 * q * self.denominator)) + 1
        return max(part.low, self.base - width), min(part.high, self.base + 1 + width)

    def scores(self, less: Integers, not_more: Integers) -> Integers:
        """Return denominator * (how far inside an interval of ranks the wanted rank is; negative outside)."""
        over, under = less - self.base, self.base - not_more
        # The ranks ascend, so that the farthest are at the ends.
        q, farthest = self.denominator, max(abs(over[[0, -1]]).max(), abs(under[[0, -1]]).max())
        if q * (int(farthest) + 1) >= _WORD:
            over, under = over.astype(object), under.astype(object)
        scores: Integers = -np.maximum(over * q - self.numerator, under * q + self.numerator)
        return scores

    def add_summaries(
        self,
        runs: Runs,
        outside: tuple[int, int],
        size: int,
        again: Callable[[Fraction], Runs],
        cutoff_gap: Fraction,
    ) -> Runs:
        """Return the runs with summaries beyond them, at most as good as two ranks, which `again` can tell."""
        first, last = int(runs.starts[0]), int(runs.starts[-1]) + int(runs.sizes[-1])
        if (first, last) == (0, size):
            return runs
        ranks = np.array(outside, dtype=np.int64 if max(outside) < _WORD else object)
        beyond = add_summaries(
            runs, self.scores(ranks, ranks), size, lambda: again(cutoff_gap * 2**200)
        )
        return replace(beyond, wider=lambda: again(WIDER * cutoff_gap))


def fitted_share(share: Fraction) -> Fraction:
    """Return the share, or the multiple of 2**-40 next to it if its denominator is above 2**40."""
    if share.denominator <= _FINEST_SHARE:
        return share
    return Fraction(round(share * _FINEST_SHARE), _FINEST_SHARE)


def _consecutive(first: int, number: int, dtype: Any) -> Integers:
    """Return so many consecutive ranks."""
    steps: Integers = np.arange(number).astype(dtype)
    return steps + first
