"""The audit by sampling: a lower bound on the epsilon of any callable."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from ...base.arguments import read_sequence
from ...base.error_boundary import error_boundary, foreign_function
from ...base.messages import Message
from ...base.numbers import Number, count, exact, positive
from ...errors import InvalidArgument, InvalidNumber, preview
from ...privacy.conversions import read_delta
from ...sampling.enclosures import ball, lower, precision
from .binomial import at_least, at_most

_Data = TypeVar("_Data")

_Z = 2.0
"""Standard deviations that the choice of an event allows for. It decides nothing."""


@dataclass(frozen=True, slots=True)
class SamplingAudit:
    """A lower bound on epsilon. It can refute a claim, but never prove one.

    Attributes:
        epsilon: with the given confidence, the mechanism is not (e, delta)-differentially private for any
            e below this. 0 says nothing.
        event: the answers that distinguish the two datasets, chosen on separate samples.
        toward_neighbor: whether the event is likelier for the neighbour than for the data.
        draws: the number of samples per dataset.
        confidence: the least probability that the bound is true.
        delta: the delta that the mechanism was allowed.
    """

    epsilon: Fraction
    event: frozenset[Hashable]
    toward_neighbor: bool
    draws: int
    confidence: Fraction
    delta: Fraction

    def refutes(self, epsilon: Number) -> bool:
        """Return whether a claim of this epsilon is refuted."""
        return self.epsilon > exact(epsilon, "epsilon")

    def as_dict(self) -> dict[str, object]:
        """Return the audit in plain values, ready for JSON."""
        return {
            "epsilon_at_least": float(self.epsilon), "confidence": str(self.confidence),
            "delta": str(self.delta), "draws": self.draws,
            "event": sorted(map(str, self.event)), "toward_neighbor": self.toward_neighbor,
        }  # fmt: skip

    def __str__(self) -> str:
        return Message(
            "ε ≥ {epsilon:.4g} with confidence {confidence:g} ({draws:,} draws each; a lower bound, no proof "
            "of privacy)",
            epsilon=float(self.epsilon), confidence=float(self.confidence), draws=self.draws,
        )  # fmt: skip


@error_boundary
def sampling(  # noqa: PLR0913  # two databases, and how to draw and judge
    mechanism: Callable[[_Data], Hashable],
    data: _Data,
    neighbor: _Data,
    *,
    n: int = 10_000,
    confidence: Number = "0.95",
    delta: Number = 0,
) -> SamplingAudit:
    """Return a lower bound on epsilon from draws of any callable.

    Half of the draws choose an event by the ratio of its frequencies. The other half test it, so the choice costs
    nothing. Both directions are tried, with two Clopper-Pearson bounds per direction, and every bound fails with a
    quarter of the risk. Draws must be independent. The result is about these two datasets and this number of draws,
    so a claim that it doesn't refute may still be false.

    Args:
        mechanism: accepts a dataset and returns one answer. Only repeated answers are informative, so round or
            group answers that rarely repeat.
        data: the one dataset.
        neighbor: the other.
        n: the number of samples per dataset.
        confidence: how likely the bound must be true.
        delta: the delta to allow.

    Raises:
        InvalidArgument: if a number is invalid. Nothing was drawn.
    """
    risk, exact_delta, size = _risk(confidence), read_delta(delta), count(n, "n")
    if size < 2:
        raise InvalidNumber(f"n must be at least 2, got {size}")
    ask = foreign_function(mechanism, "mechanism")
    pairs = [(ask(data), ask(neighbor)) for _ in range(size)]
    return _bound([a for a, _ in pairs], [b for _, b in pairs], risk, exact_delta)


@error_boundary
def samples(
    drawn: Iterable[Hashable],
    drawn_from_neighbor: Iterable[Hashable],
    *,
    confidence: Number = "0.95",
    delta: Number = 0,
) -> SamplingAudit:
    """Return the same bound from answers that were drawn elsewhere, independently and in that order.

    Args:
        drawn: answers of the mechanism on the data.
        drawn_from_neighbor: as many on its neighbour.
        confidence: as for `sampling`.
        delta: as for `sampling`.
    """
    risk, exact_delta = _risk(confidence), read_delta(delta)
    first, second = (
        read_sequence(drawn, "drawn"),
        read_sequence(drawn_from_neighbor, "drawn_from_neighbor"),
    )
    if len(first) != len(second) or len(first) < 2:
        raise InvalidArgument(
            f"give as many answers for the one as for the other, at least 2, got {len(first)} and "
            f"{len(second)}"
        )
    return _bound(first, second, risk, exact_delta)


def _bound(
    first: list[Hashable], second: list[Hashable], risk: Fraction, delta: Fraction
) -> SamplingAudit:
    """Return the better of the bounds in the two directions, at half the risk apiece."""
    half = len(first) // 2
    rest = len(first) - half
    best: tuple[Fraction, frozenset[Hashable], bool] = (Fraction(0), frozenset(), False)
    for toward, (likely, rare) in enumerate(((first, second), (second, first))):
        event = _choose(Counter(likely[:half]), Counter(rare[:half]), half)
        p = at_least(sum(a in event for a in likely[half:]), rest, risk / 4)
        q = at_most(sum(a in event for a in rare[half:]), rest, risk / 4)
        if p - delta > q:
            with precision(128):
                epsilon = lower(ball((p - delta) / q).log())
            if epsilon > best[0]:
                best = (epsilon, event, bool(toward))
    return SamplingAudit(*best, len(first), 1 - risk, delta)


def _choose(likely: Counter[Hashable], rare: Counter[Hashable], n: int) -> frozenset[Hashable]:
    """Return the event that looks best: those of largest ratio, as many as pay (Neyman and Pearson)."""
    order = sorted(likely, key=lambda a: (likely[a] + 0.5) / (rare[a] + 0.5), reverse=True)
    best, length, hits, misses = 0.0, 0, 0, 0
    for size, answer in enumerate(order, start=1):
        hits, misses = hits + likely[answer], misses + rare[answer]
        ratio = _wilson(hits, n, -_Z) / _wilson(misses, n, _Z)
        if ratio > best and misses < n:  # a certain event distinguishes nothing
            best, length = ratio, size
    return frozenset(order[:length])


def _wilson(hits: int, n: int, z: float) -> float:
    """Return about the bound, `z` standard deviations away, on a probability with that many hits."""
    share = hits / n
    middle = share + z * z / (2 * n)
    spread: float = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max((middle + spread) / (1 + z * z / n), 0.0)


def _risk(confidence: object) -> Fraction:
    """Return how likely a bound may be wrong."""
    level = positive(confidence, "confidence")
    if level >= 1:
        raise InvalidNumber(f"confidence must be below 1, got {preview(confidence)}")
    return 1 - level
