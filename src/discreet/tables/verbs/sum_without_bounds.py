"""Sums and means between bounds that are bought first, from the same records, at a part of epsilon."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from ...base.numbers import Number, exact
from ...errors import InvalidArgument, InvalidNumber, preview
from ...mechanisms.contract import PrivacyParameter
from ...mechanisms.noisy_counts import NoisyCounts
from ...privacy.composition import compose
from ...privacy.guarantees import Guarantee, PureDP
from ...sampling.bits import Bits, SystemBits
from ...selection.answers import Answer
from ...selection.decimals import RoundNumbers, next_to_zero
from ...selection.question import Query
from ...selection.releases import Release
from ...selection.scores.distance import Lattice
from ..engines.column import Numeric
from .bounds import BothEnds
from .mean_noise import ReplacedMean, mean_noises, name_of_mean
from .noisy_numbers import ListNoise, NoisePrice
from .sum_bounds import (
    SumBounds,
    bounds_between,
    error_of_sum,
    size_noise,
    sum_noise,
)
from .units import UnitQuery, columns_of

_THRESHOLDS = RoundNumbers()
_Q = Fraction(99, 100)


@dataclass(frozen=True, slots=True)
class SumWithoutBounds:
    """A sum or a mean between bounds that are drawn first, with everything public settled.

    Attributes:
        verb: "sum" or "mean".
        unit_query: the privacy unit.
        epsilon: the privacy parameter of bounds and answer together.
        share: the part of it that buys the bounds.
    """

    verb: Literal["sum", "mean"]
    unit_query: UnitQuery
    epsilon: Fraction
    share: Fraction

    @property
    def ends(self) -> BothEnds:
        """How the bounds are drawn."""
        rows = self.unit_query.records.rows or 1
        return BothEnds(_THRESHOLDS, _Q, self.epsilon * self.share, self.unit_query.neighbors, rows)

    @property
    def guarantee(self) -> Guarantee:
        """That of the bounds, of the count of a mean, and of the sum: epsilon-DP whatever bounds were drawn."""
        total = PureDP(self._each.value, self.unit_query.neighbors)
        if self.verb == "sum" or self._is_replaced:
            return compose(self.ends.guarantee, total)
        size = size_noise(self.unit_query, self._price).calibrated.guarantee
        return compose(self.ends.guarantee, size, total)

    def draw(self, column: Numeric, draw_ends: Callable[[], list[int]], bits: Bits) -> list[int]:
        """Return the indices of drawn bounds, and the noisy numbers between them, which are read now."""
        low, high = draw_ends()
        bounds = bounds_between(*_values(low, high))
        is_sum = self.verb == "sum"
        lists = [bounds.total(column)] if is_sum else bounds.size_and_total(column)
        pairs = zip(self._noises(bounds), lists, strict=True)
        return [low, high, *(n for noise, numbers in pairs for n in noise.draw(numbers, bits))]

    def name(self, numbers: Sequence[int]) -> Answer:
        """Return the answer of drawn numbers, with its bounds."""
        low, high, *noisy = numbers
        ends = _values(low, high)
        bounds = bounds_between(*ends)
        if self.verb == "mean":
            return replace(name_of_mean(bounds, self._noises(bounds))(noisy), bounds=list(ends))
        [noise] = self._noises(bounds)
        error = error_of_sum(bounds, noise)
        return Answer(Lattice(bounds.step)[noisy[0]], bounds=list(ends), error=error)

    @property
    def _each(self) -> PrivacyParameter:
        """The privacy parameter of the sum, and of the count of a mean; that of both if they share it."""
        rest = self.epsilon * (1 - self.share)
        is_whole = self.verb == "sum" or self._is_replaced
        return PrivacyParameter("epsilon", rest if is_whole else rest / 2)

    @property
    def _is_replaced(self) -> bool:
        """Whether count and sum of a mean share epsilon as `ReplacedMean` says."""
        return self.verb == "mean" and self.unit_query.neighbors == "replace_one"

    @property
    def _price(self) -> NoisePrice:
        return NoisePrice(self._each, self.unit_query.neighbors)

    def _noises(self, bounds: SumBounds) -> list[ListNoise]:
        """Return the noise of the numbers between bounds."""
        if self.verb == "sum":
            return [sum_noise(bounds, self.unit_query, self._price)]
        if self._is_replaced:
            both = ReplacedMean(bounds.from_middle(), self.unit_query, self._each.value)
            return both.noises
        return mean_noises(bounds, self.unit_query, self._price)


def release_without_bounds(
    question: SumWithoutBounds, table: object, column: str | None
) -> Release:
    """Charge, draw the bounds and then the answer between them."""
    question.ends.say_needs(column)
    [records] = columns_of(question.unit_query, table, column)

    def prepare() -> Callable[[], list[int]]:
        draw_ends = question.ends.prepare(records)
        return lambda: question.draw(records, draw_ends, SystemBits())

    def details() -> Mapping[str, object]:
        return {"thresholds": _THRESHOLDS.description, "q": _Q, "epsilon": question.epsilon}

    share = question.share
    facts = {"column": column, "bounds_share": str(share)}
    query = Query(question.verb, facts, {"column": column, "bounds_share": share})
    order = question.unit_query.order(query, question.guarantee, NoisyCounts.name, details)
    return order.deliver(prepare, question.name)


def refuse_delta(delta: object) -> None:
    """Raise if there is a delta, which bounds that are bought do not use."""
    if delta is not None:
        raise InvalidArgument(
            "bounds_share buys bounds and answer with epsilon alone: leave out delta, or give minimum and maximum"
        )


def read_sum_question(
    verb: Literal["sum", "mean"],
    share: Number,
    ends: Sequence[object],
    unit_query: UnitQuery,
    parameter: PrivacyParameter,
) -> SumWithoutBounds:
    """Return a sum or a mean between bounds that are drawn.

    Args:
        verb: its name.
        share: the part of epsilon that buys the bounds.
        ends: all bounds and the step, of which none may be known.
        unit_query: the privacy unit.
        parameter: the privacy parameter of all.

    Raises:
        InvalidArgument: if there are bounds, a step or groups, or no epsilon, or the share is no share.
    """
    if any(end is not None for end in ends):
        raise InvalidArgument(
            "bounds_share buys bounds where none are known: leave it out, or every bound and the step"
        )
    if unit_query.records.by is not None:
        raise InvalidArgument(
            "bounds_share is for one answer: ask for bounds first, and give them to all groups as minimum and "
            "maximum"
        )
    if parameter.kind != "epsilon":
        raise InvalidArgument(f"bounds are bought with epsilon, not {parameter.kind}")
    part = exact(share, "bounds_share")
    if not 0 < part < 1:
        raise InvalidNumber(
            f"bounds_share must be between 0 and 1, such as 0.1, got {preview(share)}"
        )
    return SumWithoutBounds(verb, unit_query, parameter.value, part)


def _values(low: int, high: int) -> tuple[Any, Any]:
    """Return the bounds of drawn indices, of which those next to 0 are 0: a step below them has no use."""
    return next_to_zero(_THRESHOLDS[low]), next_to_zero(_THRESHOLDS[high])
