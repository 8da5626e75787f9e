"""The joint mechanism: one draw from all ordered lists of k candidates (Gillenwater et al. 2022)."""

import math
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import groupby, permutations
from operator import itemgetter
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...base.doors import spelling
from ...base.numbers import count
from ...errors import InvalidArgument
from ...privacy.sensitivity import Sensitivity
from ...sampling.bits import Bits
from ...sampling.runs import Runs
from ...sampling.vectors import Vector, read_vector
from ..contract import Calibrated, Mechanism, PrivacyParameter, calibrate, identity_of, spread_of
from ..lists import Lists, skipping

MOST_BYTES = 2**31
"""The most memory that the classes of lists may need in the worst case: scores without ties, all within reach."""

_LITTLE_MEMORY = 2**26
"""Bytes that are little memory."""

_Loss = int | Fraction

_SMALL = 2**62
"""Gaps below are listed by numpy: their sums and differences are 64-bit integers."""

_FINEST_UNIT = 2**512
"""Scores are taken as integers in the largest unit that serves all of them, down to its reciprocal."""


@dataclass(frozen=True, slots=True)
class JointTopK:
    """Answer an ordered list of k candidates at once. Its score is -max over i of (best[i] - score[list[i]]).

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
    For the proof, see docs/reference/mechanisms/top_k.md#joint_top_k.
    """

    mechanism: Mechanism
    k: int
    counts: bool = False

    @property
    def name(self) -> str:
        """The name, with that of the mechanism in brackets."""
        return f"joint_top_k({self.mechanism.name})"

    @property
    def parameters(self) -> dict[str, object]:
        """The mechanism over lists, their length, and whether a score is a number of rows."""
        return {"mechanism": identity_of(self.mechanism), "k": self.k, "counts": self.counts}

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
                f"{spelling(method='joint')} needs a mechanism over classes, such as the "
                f"exponential. {self.mechanism.name} needs candidates one by one"
            )
        spread = self._spread(sensitivity)

        def calibrate_for(unit: int) -> Calibrated:
            """Calibrate for scores times `unit`: the same mechanism."""
            wide = Sensitivity(spread * unit, sensitivity.neighbors)
            return calibrate(self.mechanism, wide, _in_units(parameter, unit))

        calibrated = calibrate_for(1)

        def law(scores: Vector) -> Any:
            memory = _memory(len(scores), count(k, "k", most=len(scores)))
            if memory > MOST_BYTES:
                raise InvalidArgument(
                    f"{spelling(method='joint')} may need {memory / 2**30:.1f} GiB for "
                    f"{len(scores):,} candidates and k = {k}, more than {MOST_BYTES / 2**30:g}. "
                    f"{spelling(method='peeling')} takes any number"
                )
            gaps, unit = _whole_gaps(scores)
            return OrderedLists(gaps, k, calibrated if unit == 1 else calibrate_for(unit))

        return Calibrated(calibrated.guarantee, law, list_length=k)

    def is_quick(self, candidates: int) -> bool:
        """Return whether the lists of so many candidates are counted in little memory, for all scores."""
        return _memory(candidates, self.k) <= _LITTLE_MEMORY

    def error_below(
        self,
        candidates: int,
        sensitivity: Sensitivity,
        parameter: PrivacyParameter,
        probability: Fraction,
    ) -> Fraction | None:
        """Return how far a place of the list is behind by less than, with at least that probability.

        Behind the candidate that should be there: that is the score of a list, and all lists are the candidates.
        None if the mechanism states no worst case.
        """
        worst = getattr(self.mechanism, "worst_case", None)
        wide = Sensitivity(self._spread(sensitivity), sensitivity.neighbors)
        epsilon = calibrate(self.mechanism, wide, parameter).guarantee.pure
        if worst is None or epsilon is None:
            return None
        lists = math.perm(candidates, self.k)
        behind: Fraction = worst.below(lists, probability) * wide.spread / epsilon
        return behind

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the spread that a scale divides: that of the lists."""
        wide = Sensitivity(self._spread(sensitivity), sensitivity.neighbors)
        return spread_of(self.mechanism, wide)

    def _spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the most that the difference between the scores of two lists can change."""
        # Coq: JointTopK.joint_top_one_spread, JointTopK.joint_top_k_spread, JointTopK.joint_top_k_replace_one
        if self.k == 1:
            return sensitivity.spread
        # *One row replaced* in top_k.md#joint_top_k: changes lie in [-2, 1] or in [-1, 2].
        if self.counts and sensitivity.neighbors == "replace_one":
            return Fraction(3)
        # *Proof* in top_k.md#joint_top_k: every v(S) moves by at most D either way.
        return 2 * sensitivity.spread


class OrderedLists(Lists):
    """The distribution of an ordered list of k different candidates, by the largest loss of its places.

    The lists are numbered, those of smaller loss first, and the number is drawn.
    """

    def __init__(self, gaps: list[_Loss], k: int, calibrated: Calibrated) -> None:
        """Count the lists of every loss; no bit is read before `draw`.

        Args:
            gaps: the distances of the candidates behind the best.
            k: the length of the lists.
            calibrated: the mechanism over lists, for losses in the units of the gaps.
        """
        n = len(gaps)
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

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all lists."""
        classes = self._law.probabilities()  # lists all losses first
        place = [0] * len(self._order)
        for rank, j in enumerate(self._order):
            place[j] = rank
        losses = [
            max(self._gaps[place[j]] - own for j, own in zip(members, self._gaps, strict=False))
            for members in permutations(range(len(place)), self._k)
        ]
        tally = Counter(losses)
        each = {x: ball / tally[x] for x, ball in zip(self._losses, classes, strict=True)}
        return [each[loss] for loss in losses]

    def _runs(self, cutoff_gap: int | None) -> Runs:
        """Return the classes of lists of equal loss. Those of a loss above `cutoff_gap` are only counted."""
        self._losses, self._firsts = list[_Loss](), list[int]()
        options, smaller, sizes, lists = [1] * self._k, 0, list[int](), 1
        for loss, changes in groupby(self._changes(cutoff_gap), key=itemgetter(0)):
            for _, i, new in changes:
                # *How lists are counted*: N(v) is the product over i of n_i(v) - (i - 1); one factor changes.
                lists = lists // options[i] * new
                options[i] = new
            self._losses.append(loss)
            self._firsts.append(smaller)
            sizes.append(lists - smaller)
            smaller = lists
        tops = [-loss for loss in self._losses]
        if cutoff_gap is None or smaller == self._everything:
            return Runs(self._firsts, sizes, read_vector(tops))
        starts, sizes = [*self._firsts, smaller], [*sizes, self._everything - smaller]
        summary = np.arange(len(sizes)) == len(tops)
        everything = partial(self._runs, None)
        return Runs(
            starts, sizes, read_vector([*tops, -cutoff_gap]), summaries=summary, whole=everything
        )

    def _changes(self, cutoff_gap: int | None) -> Iterator[tuple[_Loss, int, int]]:
        """Return, by loss, the places that get more candidates there, and how many they have then.

        Place i may hold whoever is at most the loss behind the i-th best, less the i candidates that
        the places before it took: these may hold no one else.
        """
        small = self._gaps[-1] < _SMALL and set(map(type, self._gaps)) == {int}
        kind = np.int64 if small else object
        gaps = np.array(self._gaps, dtype=kind)
        different, totals = np.unique(gaps, return_counts=True)
        totals = totals.cumsum()
        reach = self._gaps[-1] if cutoff_gap is None else min(cutoff_gap, self._gaps[-1])
        columns = list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]()
        for i, own in enumerate(gaps[: self._k]):
            low, high = (
                different.searchsorted([own]),
                different.searchsorted([own + reach], "right"),
            )
            losses = different[low[0] : high[0]] - own
            columns.append((losses, np.full(len(losses), i), totals[low[0] : high[0]] - i))
        losses, places, options = (np.concatenate(column) for column in zip(*columns, strict=True))
        order = losses.argsort(kind="stable")
        return zip(*(column[order].tolist() for column in (losses, places, options)), strict=True)

    def _list(self, number: int) -> list[int]:
        """Return the list of that number."""
        c = bisect_right(self._firsts, number) - 1
        number -= self._firsts[c]
        first, choices, number = self._first_place(self._losses[c], number)
        start = bisect_left(self._gaps, self._gaps[first] + self._losses[c])
        positions, answers = list[int](), list[int]()
        for i, choice in enumerate(choices):
            number, digit = divmod(number, choice)
            place = start + digit if i == first else skipping(digit, positions)
            insort(positions, place)
            answers.append(self._order[place])
        return answers

    def _first_place(self, loss: _Loss, number: int) -> tuple[int, list[int], int]:
        """Return the first place of no smaller loss, the number of choices at every place, and the rest.

        Lists of one loss are numbered by that place: the places before it lose less, it loses that much, the
        places after it lose at most that.
        """
        ends = [own + loss for own in self._gaps[: self._k]]
        closer = [bisect_left(self._gaps, end) - i for i, end in enumerate(ends)]
        within = [bisect_right(self._gaps, end) - i for i, end in enumerate(ends)]
        for first in range(self._k):
            # *How lists are counted*: closer before the first place of that loss, at it there, within it after.
            choices = [*closer[:first], within[first] - closer[first], *within[first + 1 :]]
            lists = math.prod(choices)
            if number < lists:
                break
            number -= lists
        return first, choices, number


def _whole_gaps(scores: Vector) -> tuple[list[_Loss], int]:
    """Return best - score for all scores as integers, and the factor that makes them so.

    Fractions of too many denominators stay as they are.
    """
    scores.best()  # refuses what is not finite
    numbers = scores.values.tolist()
    parts = [] if scores.values.dtype.kind in "iu" else [n.as_integer_ratio() for n in numbers]
    unit = _common_unit({denominator for _, denominator in parts})
    if unit > _FINEST_UNIT:
        numbers, unit = [scores.exact(i) for i in range(len(scores))], 1
    elif parts:
        numbers = [numerator * (unit // denominator) for numerator, denominator in parts]
    best = max(numbers)
    return [best - number for number in numbers], unit


def _common_unit(denominators: set[int]) -> int:
    """Return the least common multiple, or one that is too large."""
    unit = 1
    for denominator in denominators:
        unit = math.lcm(unit, denominator)
        if unit > _FINEST_UNIT:
            break
    return unit


def _in_units(parameter: PrivacyParameter | None, unit: int) -> PrivacyParameter | None:
    """Return the parameter for scores times `unit`: a scale grows with them."""
    if parameter is None or parameter.kind != "scale":
        return parameter
    return parameter._replace(value=parameter.value * unit)


def _memory(n: int, k: int) -> int:
    """Return about how many bytes the classes need at most: for every one a loss, and two numbers of lists."""
    return n * k * (200 + k * n.bit_length() // 4)
