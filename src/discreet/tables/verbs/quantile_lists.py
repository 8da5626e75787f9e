"""Certified probabilities of several quantiles together, list by list, for study on small grids."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from flint import arb

from ...mechanisms.contract import Calibrated
from ...sampling.runs import Runs
from ...selection.answers import ListedAnswers
from ..scores.sorted_records import PARTS, Slice

AnswerIndices = tuple[int, ...]


@dataclass(frozen=True)
class QuantileLists(ListedAnswers):
    """The lists of quantiles that are drawn one by one from their parts of the records. Private.

    Attributes:
        values: by quantile its share of the records of its part, and its mechanism.
        whole: all records.
        is_recursive: whether a quantile cuts the records of those below and above it; else all are drawn from all
            records, and sorted.
    """

    values: Sequence[Any]
    whole: Slice
    is_recursive: bool

    def _number(self, most: int) -> int:
        """Return how many lists never descend."""
        points, k = self.whole.end, len(self.values)
        return math.comb(points + k - 1, k)

    def _chances(self) -> Mapping[AnswerIndices, arb]:
        together: dict[AnswerIndices, arb] = defaultdict(arb)
        lists = self._below(self.whole, 0, len(self.values)) if self.is_recursive else self._apart()
        for one, chance in lists:
            together[one] += chance
        return together

    def _apart(self) -> Iterator[tuple[AnswerIndices, arb]]:
        """Yield the sorted lists of independent values."""
        points = [list(_points(one, self.whole)) for one in self.values]
        for some in product(*points):
            yield (
                tuple(sorted(point for point, _ in some)),
                math.prod((p for _, p in some), start=arb(1)),
            )

    def _below(self, part: Slice, lowest: int, highest: int) -> Iterator[tuple[AnswerIndices, arb]]:
        """Yield the values for alphas[lowest:highest] from their part of the records, by recursion."""
        if lowest == highest:
            yield (), arb(1)
            return
        middle = (lowest + highest) // 2
        if highest - lowest == 1:
            yield from (((point,), chance) for point, chance in _points(self.values[middle], part))
            return
        for (before, after), chance in _cuts(self.values[middle], part):
            firsts = list(self._below(before, lowest, middle))
            lasts = list(self._below(after, middle + 1, highest))
            for (first, p), (last, q) in product(firsts, lasts):
                yield (*first, after.first, *last), chance * p * q


def _points(value: Any, part: Slice) -> Iterator[tuple[int, arb]]:
    """Yield the points of a part, with the probability that a quantile is there."""
    runs = _whole_runs(part.rank_scores(value.share, value.calibrated.cutoff_gap))
    for start, size, mass in _masses(runs, value.calibrated):
        for point in range(start, start + size):
            yield part.first + point, mass / size


def _cuts(value: Any, part: Slice) -> Iterator[tuple[tuple[Slice, Slice], arb]]:
    """Yield the cuts of a part, with their probabilities; the parts of one point in a run cut alike."""
    runs = _whole_runs(part.cut_scores(value.share, value.calibrated.cutoff_gap))
    for start, size, mass in _masses(runs, value.calibrated):
        end = start + size
        for point in range(start // PARTS, (end - 1) // PARTS + 1):
            first, last = max(start, point * PARTS), min(end, (point + 1) * PARTS)
            yield part.cut(first), mass * (last - first) / size


def _whole_runs(runs: Runs) -> Runs:
    return runs if runs.whole is None else runs.whole()


def _masses(runs: Runs, calibrated: Calibrated) -> Iterator[tuple[int, int, arb]]:
    """Yield the starts, the sizes and the probabilities of runs."""
    masses = calibrated.law(runs).probabilities()
    for start, size, mass in zip(runs.starts, runs.sizes, masses, strict=True):
        yield int(start), int(size), mass
