"""The public side of several quantiles: their alphas, their costs, and how they are drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ..arguments import exact_text, read_sequence
from ..candidates import Grid
from ..errors import InvalidArgument, InvalidNumber, preview
from ..mechanisms.contract import Calibrated, PrivacyParameter, calibrate
from ..mechanisms.exponential import Exponential
from ..numbers import Number, exact, spell
from ..privacy.calibration import largest_share
from ..privacy.guarantees import ApproxDP, BoundedRange, Guarantee, MixedRange, SummedRange
from ..privacy.sensitivity import Neighbors
from ..sampling.bits import SystemBits
from ..sampling.runs import Runs
from ..scores.rank import Rank
from ..scores.sorted_records import Slice, SortedRecords, fitted_share
from ..selection import ask
from ..tables.column import NOTHING
from ..terms import Terms

_MOST_QUANTILES = 1000
"""More quantiles than that are better asked as a histogram."""


@lru_cache(maxsize=256)
def _share(
    kind: Callable[[Fraction, Neighbors], Guarantee],
    answers: int,
    together: ApproxDP,
    *,
    adaptive: bool,
) -> Fraction:
    """Return the epsilon of one of so many answers of a kind, kept for the next call."""

    def guarantee(share: Fraction) -> Guarantee:
        return kind(share, together.neighbors)

    return largest_share(guarantee, answers, together.epsilon, together.delta, adaptive=adaptive)


@dataclass(frozen=True, slots=True)
class Levels:
    """The public side of the recursion: the alphas, the epsilon of all answers, and the neighbouring relation."""

    alphas: tuple[Fraction, ...]
    total: Fraction
    neighbors: Neighbors
    delta: Fraction | None = None
    share: Fraction | None = None
    """The epsilon of a level (or of a value, if they are independent) that a delta allows."""

    def allowing(self, delta: Fraction, method: str) -> "Levels":
        """Return the levels with the share that a delta allows."""
        recursive = method == "recursive"
        together = ApproxDP(self.total, delta, self.neighbors)
        kind: Any = self._kind if recursive else BoundedRange
        answers = self.depth if recursive else len(self.alphas)
        share = _share(kind, answers, together, adaptive=recursive)
        return replace(self, delta=delta, share=share)

    @property
    def depth(self) -> int:
        """How many levels there are."""
        return len(self.alphas).bit_length()

    @property
    def epsilon(self) -> Fraction:
        """The epsilon of one answer, under add_remove.

        A record replaced may leave one part and enter another, so one part may cost half of the level.
        """
        level = self.total / self.depth if self.share is None else self.share
        return level / (2 if self.neighbors == "replace_one" else 1)

    @property
    def guarantee(self) -> Guarantee:
        """A bounded range per level, composed adaptively; or (epsilon, delta)-DP at a given delta."""
        if self.delta is not None:
            return ApproxDP(self.total, self.delta, self.neighbors)
        return self._kind(self.total / self.depth, self.neighbors).repeated(self.depth)

    @property
    def guarantee_of_each(self) -> Guarantee:
        """A bounded range per value, all of the same records; or (epsilon, delta)-DP at a given delta."""
        if self.delta is not None:
            return ApproxDP(self.total, self.delta, self.neighbors)
        return BoundedRange(self._one_of_all, self.neighbors).repeated(len(self.alphas))

    @property
    def _kind(self) -> type[MixedRange | SummedRange]:
        """The kind of the guarantee of a level.

        A record replaced may change two parts of a level: two ranges, one after the other.
        """
        is_parted = self.neighbors == "replace_one" and self.depth > 1
        return SummedRange if is_parted else MixedRange

    @property
    def _one_of_all(self) -> Fraction:
        """The epsilon of one of several independent values."""
        return self.total / len(self.alphas) if self.share is None else self.share

    @classmethod
    def read(cls, alphas: Sequence[Number], candidates: object, terms: Terms) -> "Levels":
        """Return the levels for the arguments of a caller.

        Raises:
            InvalidArgument: if it cannot be accepted.
        """
        shares = tuple(
            exact(alpha, "alpha") for alpha in read_sequence(alphas, "alphas", _MOST_QUANTILES)
        )
        rising = all(a < b for a, b in pairwise(shares))
        if not shares or not rising or shares[0] < 0 or shares[-1] > 1:
            raise InvalidNumber(
                f"alphas must rise from 0 to 1, got {', '.join(map(spell, shares[:9]))}"
            )
        if not isinstance(candidates, Grid):
            raise InvalidArgument(
                f"candidates of several quantiles must be a Grid, got {preview(candidates)}"
            )
        if (
            exact_text(terms.get("mechanism", "exponential")) != "exponential"
            or terms.get("size") is not None
        ):
            raise InvalidArgument(
                "several quantiles take the exponential mechanism; leave out mechanism and size"
            )
        question = ask(Rank(NOTHING, candidates, Fraction(1, 2)), terms)
        if terms.get("epsilon") is None:
            raise InvalidArgument("several quantiles take epsilon, not rho or scale")
        guarantee: Any = question.calibrated.guarantee
        return cls(shares, guarantee.epsilon, guarantee.neighbors)

    def recursive(self, size: int, records: SortedRecords) -> list[int]:
        """Return the quantiles by recursion."""
        return _release(self.branches, records.whole(size), 0, len(self.alphas))

    def independent(self, size: int, records: SortedRecords) -> list[int]:
        """Return the quantiles one by one at equal shares of epsilon, in ascending order."""
        whole = records.whole(size)
        each = _values(tuple(map(fitted_share, self.alphas)), self._one_of_all, self.neighbors)
        return sorted(value.draw(whole.rank_scores) for value in each)

    @property
    def branches(self) -> "tuple[_Value, ...]":
        """How the value of an alpha is drawn from its part of the records."""
        return _values(_shares(self.alphas), self.epsilon, "add_remove")


@dataclass(frozen=True, slots=True)
class _Value:
    """How one value is drawn: the quantile of a slice, and the exponential mechanism for it. Public."""

    share: Fraction
    calibrated: Calibrated

    def draw(self, scores: Callable[[Fraction, Fraction], Runs]) -> int:
        """Return a draw of the mechanism from the scores for its share of the records."""
        return self.calibrated.law(scores(self.share, self.calibrated.cutoff_gap)).draw(
            SystemBits()
        )


def _release(values: Sequence[_Value], part: Slice, lowest: int, highest: int) -> list[int]:
    """Return the values for alphas[lowest:highest], from their part of the records."""
    if lowest == highest:
        return []
    middle = (lowest + highest) // 2
    if highest - lowest == 1:
        return [part.first + values[middle].draw(part.rank_scores)]
    before, after = part.cut(values[middle].draw(part.cut_scores))
    return [
        *_release(values, before, lowest, middle),
        after.first,
        *_release(values, after, middle + 1, highest),
    ]


@lru_cache(maxsize=256)
def _shares(alphas: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Return all alphas relative to the alphas on either side of its part, kept for the next call."""
    around, shares = (Fraction(0), *alphas, Fraction(1)), list(alphas)
    parts = [(0, len(alphas))]
    for lowest, highest in parts:
        if lowest < highest:
            middle = (lowest + highest) // 2
            below, above = around[lowest], around[highest + 1]
            shares[middle] = fitted_share((alphas[middle] - below) / (above - below))
            parts += [(lowest, middle), (middle + 1, highest)]
    return tuple(shares)


@lru_cache(maxsize=256)
def _values(
    shares: tuple[Fraction, ...], epsilon: Fraction, neighbors: Neighbors
) -> tuple[_Value, ...]:
    """Return how the values of some shares are drawn at that epsilon, kept for the next call."""
    parameter = PrivacyParameter("epsilon", epsilon)
    return tuple(
        _Value(
            share,
            calibrate(
                Exponential(), Rank(NOTHING, Grid(0, 0), share).sensitivity(neighbors), parameter
            ),
        )
        for share in shares
    )
