"""Rounds of bounded range, all together but for a delta. For proofs, see docs/explanation/composition.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from ..base.messages import Message
from ..base.numbers import Number, count, exact, positive, short_up
from ..errors import InvalidNumber, preview
from .approx_dp import ApproxDP, read_larger_delta
from .base import SteppedGuarantee
from .contract import Guarantee, equals
from .conversions import read_delta
from .epsilon_dp import BoundedRange, MixedRange
from .sensitivity import Neighbors, read_neighbors


@dataclass(frozen=True, slots=True)
class ApproxRange(SteppedGuarantee):
    """Successive rounds of epsilon-bounded range, except for an event of total probability delta.

    For several rounds, no mixture is known, so their δ is added to the guarantee of the ranges: P(S) <= e**t Q(S) +
    C(t) + δ, with C as the curve of the rounds. This implies (rounds * ε, δ)-DP, and more. For one round, the range
    is also known to hold except with probability δ.

    Attributes:
        epsilon: the ε of a round, a positive number without a unit. It is read exactly, so 0.1 is one tenth.
        rounds: the largest number of rounds.
        delta: the δ of all rounds together, a probability above 0 and below 1.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    epsilon: Fraction
    rounds: Fraction
    delta: Fraction
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "approx_range"
    pure: ClassVar[None] = None
    rho: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        rounds = exact(self.rounds, "rounds")
        whole = rounds.numerator if rounds.denominator == 1 else rounds
        object.__setattr__(self, "rounds", Fraction(count(whole, "rounds")))
        share = read_delta(self.delta)
        if share == 0:
            raise InvalidNumber(f"delta must be above zero, got {preview(self.delta)}")
        object.__setattr__(self, "delta", share)
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    @property
    def slack(self) -> Fraction:
        """The delta."""
        return self.delta

    @property
    def extra_delta(self) -> Fraction:
        """The delta that is added to that of the core. It is 0 for one round."""
        return self.delta if self.rounds > 1 else Fraction(0)

    @property
    def core(self) -> Guarantee:
        """The ranges."""
        if self.rounds == 1:
            return BoundedRange(self.epsilon, self.neighbors)
        return MixedRange(self.epsilon, self.neighbors).repeated(int(self.rounds))

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta known for which (epsilon, delta)-DP follows."""
        rest = self.core.delta_at(epsilon)
        weight = 1 - self.delta if self.rounds == 1 else Fraction(1)
        return min(short_up(self.delta + weight * rest) if rest else self.delta, Fraction(1))

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon known.

        Raises:
            InvalidNumber: if there is none because that delta is too small.
        """
        share = read_larger_delta(delta, self)
        rest = share - self.delta
        rest = rest / (1 - self.delta) if self.rounds == 1 else rest
        return ApproxDP(self.core.approx(rest).epsilon, share, self.neighbors)

    def renyi(self, excess: arb) -> None:
        """Return None, because an event of probability delta may be certain."""

    def ceiling(self, chance: arb) -> arb | None:
        """Return a bound on the probability of an event, given its probability on a neighbour."""
        return self._plain.ceiling(chance)

    def _apart(self, size: int, neighbors: Neighbors) -> Guarantee:
        """Return, of two or more steps, that of (epsilon, delta)-DP."""
        return self if size == 1 else self._plain._apart(size, neighbors)

    @property
    def _plain(self) -> ApproxDP:
        return ApproxDP(self.rounds * self.epsilon, self.delta, self.neighbors)

    @property
    def brief(self) -> str:
        """The epsilon and the delta."""
        return self._plain.statement

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        numbers = {
            "epsilon": equals("ε", self.rounds * self.epsilon), "delta": equals("δ", self.delta),
        }  # fmt: skip
        if self.rounds == 1:
            return Message("{epsilon}, {delta}, bounded range", **numbers)
        rounds = int(self.rounds)
        return Message(
            "{epsilon}, {delta}, bounded range in {rounds:,} rounds", **numbers, rounds=rounds
        )
