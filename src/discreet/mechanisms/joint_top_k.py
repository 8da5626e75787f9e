"""The joint mechanism: one draw from all ordered lists of k candidates (Gillenwater et al. 2022)."""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..errors import InvalidArgument
from ..numbers import count
from ..privacy.sensitivity import Sensitivity
from ..sampling.bits import Bits
from ..sampling.runs import Runs
from ..sampling.vectors import Vector, read_vector
from .contract import Calibrated, Mechanism, PrivacyParameter, identified
from .lists import Lists, skipping

_Loss = int | Fraction

MOST = 1_000_000
"""Largest number of candidates times k: as many different losses may have to be listed."""


@dataclass(frozen=True, slots=True)
class JointTopK:
    """Answer an ordered list of k candidates at once; its score is -max over i of (best[i] - score[list[i]]).

    Here best[i] is the i-th best score of all. The lists are not enumerated: those of the same loss are
    one class, and the sizes of the classes are whole numbers, counted exactly.

    Args:
        mechanism: a mechanism that takes runs, such as the exponential.
        k: how many.
        counts: whether a score is a number of rows, one row being one record. Then one record replaced
            changes the difference of two lists by at most 3.

    Guarantee: that of the mechanism, for scores of twice the spread (if k is above 1).

    Side channels: time and memory depend on how many different losses there are.

    Source: Gillenwater, Joseph, Muñoz Medina and Ribero, ICML 2022, https://arxiv.org/abs/2201.12333.
    Proof: docs/reference/mechanisms/joint_top_k.md.
    """

    mechanism: Mechanism
    k: int
    counts: bool = False
    worst_case: ClassVar[None] = None
    options: ClassVar[Mapping[str, Callable[[str], object]]] = {}

    @property
    def name(self) -> str:
        """The name, with that of the mechanism in brackets."""
        return f"joint_top_k({self.mechanism.name})"

    @property
    def parameters(self) -> dict[str, object]:
        """The mechanism over lists, their length, and whether a score is a number of rows."""
        return {"mechanism": identified(self.mechanism), "k": self.k, "counts": self.counts}

    @property
    def takes_runs(self) -> bool:
        """Never: it makes the runs itself, from one score per candidate."""
        return False

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism over lists at the largest eta that keeps the wanted guarantee.

        Raises:
            InvalidArgument: if the mechanism takes no runs.
        """
        k = count(self.k, "k")
        if not self.mechanism.takes_runs:
            raise InvalidArgument(
                f'method="joint" needs a mechanism over classes, such as the exponential; '
                f"{self.mechanism.name} needs candidates one by one"
            )
        spread = self._spread(sensitivity)
        calibrated = self.mechanism.calibrate(Sensitivity(spread, sensitivity.neighbors), parameter)

        def law(scores: Vector) -> Any:
            return OrderedLists(scores, k, calibrated)

        return replace(calibrated, law=law)

    def _spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the most that the difference between the scores of two lists can change."""
        if self.k == 1:
            return sensitivity.spread
        if self.counts and sensitivity.neighbors == "replace_one":
            return Fraction(3)
        return 2 * sensitivity.spread


class OrderedLists(Lists):
    """The distribution of an ordered list of k different candidates, by the largest loss of its places.

    The lists are numbered, those of smaller loss first, and the number is drawn.
    """

    def __init__(self, scores: Vector, k: int, calibrated: Calibrated) -> None:
        """Check the scores and count the lists of each loss; no bit is read before `draw`.

        Raises:
            InvalidScores: if a score is not finite.
            InvalidArgument: if there are fewer than k candidates, or too many.
        """
        n = len(scores)
        if count(k, "k", most=n) * n > MOST:
            raise InvalidArgument(
                f'method="joint" takes up to {MOST:,} candidates times k, got {n:,} times {k}; '
                'method="peeling" takes any number'
            )
        gaps = _exact_gaps(scores)
        self._order = sorted(range(n), key=gaps.__getitem__)
        self._gaps = [gaps[j] for j in self._order]
        self._k, self._everything = k, math.perm(n, k)
        self._firsts, self._losses = list[int](), list[_Loss]()
        bits = self._everything.bit_length()
        self._law = calibrated.law(
            self._runs(math.ceil(calibrated.cutoff_gap * (1 + Fraction(bits, 160))))
        )

    def draw(self, bits: Bits) -> list[int]:
        """Return one list, an exact sample of this distribution."""
        return self._list(int(self._law.draw(bits)))

    def _runs(self, cutoff_gap: int | None) -> Runs:
        """Return the classes of lists of equal loss; those of a loss above `cutoff_gap` are only counted."""
        changes = self._changes(cutoff_gap)
        self._losses, self._firsts = sorted(changes), []
        options, reached, sizes = [1] * self._k, 0, list[int]()
        lists = 1
        for loss in self._losses:
            for i, new in changes[loss]:
                lists = lists // options[i] * new
                options[i] = new
            self._firsts.append(reached)
            sizes.append(lists - reached)
            reached = lists
        tops = [-loss for loss in self._losses]
        if cutoff_gap is None or reached == self._everything:
            return Runs(self._firsts, sizes, read_vector(tops))
        starts, sizes = [*self._firsts, reached], [*sizes, self._everything - reached]
        summary = np.arange(len(sizes)) == len(tops)
        everything = partial(self._runs, None)
        return Runs(
            starts, sizes, read_vector([*tops, -cutoff_gap]), summaries=summary, whole=everything
        )

    def _changes(self, cutoff_gap: int | None) -> dict[_Loss, list[tuple[int, int]]]:
        """Return, by loss, the places that get more candidates there, and how many they have then.

        Place i may hold whoever is at most the loss behind the i-th best, less the i candidates that
        the places before it took: these may hold no one else.
        """
        gaps, changes = self._gaps, dict[_Loss, list[tuple[int, int]]]()
        different = sorted(set(gaps))
        counted = {gap: bisect_right(gaps, gap) for gap in different}
        for i, own in enumerate(gaps[: self._k]):
            end = (
                len(different) if cutoff_gap is None else bisect_right(different, own + cutoff_gap)
            )
            for gap in different[bisect_left(different, own) : end]:
                changes.setdefault(gap - own, []).append((i, counted[gap] - i))
        return changes

    def _list(self, number: int) -> list[int]:
        """Return the list of that number."""
        c = bisect_right(self._firsts, number) - 1
        number -= self._firsts[c]
        first, choices, number = self._first_place(self._losses[c], number)
        start = bisect_left(self._gaps, self._gaps[first] + self._losses[c])
        taken, found = list[int](), list[int]()
        for i, choice in enumerate(choices):
            number, digit = divmod(number, choice)
            place = start + digit if i == first else skipping(digit, taken)
            insort(taken, place)
            found.append(self._order[place])
        return found

    def _first_place(self, loss: _Loss, number: int) -> tuple[int, list[int], int]:
        """Return the first place whose loss is not smaller, how many choices each place has, and the rest.

        Lists of one loss are numbered by that place: the places before it lose less, it loses that much, the
        places after it lose at most that.
        """
        ends = [own + loss for own in self._gaps[: self._k]]
        closer = [bisect_left(self._gaps, end) - i for i, end in enumerate(ends)]
        within = [bisect_right(self._gaps, end) - i for i, end in enumerate(ends)]
        for first in range(self._k):
            choices = [*closer[:first], within[first] - closer[first], *within[first + 1 :]]
            lists = math.prod(choices)
            if number < lists:
                break
            number -= lists
        return first, choices, number


def _exact_gaps(scores: Vector) -> list[_Loss]:
    """Return best - score for all scores, as integers or fractions."""
    scores.best()  # refuses what is not finite
    numbers = scores.values.tolist()
    if scores.values.dtype.kind == "f":
        numbers = [Fraction(number) for number in numbers]
    best = max(numbers)
    return [best - number for number in numbers]
