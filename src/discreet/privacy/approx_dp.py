"""(epsilon, delta)-differential privacy, and no guarantee. For proofs, see docs/explanation/composition.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from ..base.arguments import text
from ..base.messages import AND, Message, join
from ..base.numbers import Number, exact
from ..errors import InvalidArgument, InvalidNumber, preview
from ..sampling.enclosures import ball, precision, probability_above
from .base import BaseGuarantee, SteppedGuarantee
from .contract import Approximate, Guarantee, equals
from .conversions import read_delta, read_epsilon
from .dominating import RESPONSE
from .epsilon_dp import PureDP
from .sensitivity import Neighbors, read_neighbors

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, slots=True)
class ApproxDP(SteppedGuarantee):
    """(epsilon, delta)-DP: no probability exceeds exp(epsilon) times the neighbour's, plus delta.

    Attributes:
        epsilon: ε, a number without a unit, zero or more. It is read exactly, so 0.1 is one tenth.
        delta: δ, a probability, from 0 to 1.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "approx_dp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(self.epsilon))
        share = exact(self.delta, "delta")  # up to 1, which is no guarantee
        object.__setattr__(self, "delta", share if share == 1 else read_delta(share))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    @property
    def slack(self) -> Fraction:
        """The delta."""
        return self.delta

    @property
    def core(self) -> Guarantee | None:
        """Pure differential privacy, which holds except with probability delta."""
        return PureDP(self.epsilon, self.neighbors) if self.epsilon else None

    @property
    def pure(self) -> Fraction | None:
        """epsilon, if delta is zero."""
        return self.epsilon if self.delta == 0 else None

    @property
    def rho(self) -> Fraction | None:
        """The zero-concentrated privacy that follows, if delta is zero."""
        return RESPONSE.rho(self.epsilon) if self.delta == 0 else None

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta for which (epsilon, delta)-DP follows at another epsilon."""
        rest = RESPONSE.delta(self.epsilon, read_epsilon(epsilon))
        return self.delta + (1 - self.delta) * rest

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon that follows at another delta.

        Raises:
            InvalidNumber: if there is none because that delta is too small.
        """
        share = read_larger_delta(delta, self)
        rest = (share - self.delta) / (1 - self.delta)
        return ApproxDP(RESPONSE.target(self.epsilon, rest), share, self.neighbors)

    def renyi(self, excess: arb) -> arb | None:
        """Return a bound on the Rényi divergence of order 1 + excess, if delta is zero."""
        return RESPONSE.divergence(self.epsilon, excess) if self.delta == 0 else None

    def ceiling(self, chance: arb) -> arb:
        """Return min(e**epsilon p + delta, 1 - e**-epsilon (1 - delta - p))."""
        e, share = ball(self.epsilon), ball(self.delta)
        return (chance * e.exp() + share).min(1 - (1 - share - chance) * (-e).exp())

    def _apart(self, size: int, neighbors: Neighbors) -> ApproxDP:
        """Return so many times epsilon, and the sum of e**(i epsilon) delta."""
        e = self.epsilon
        if size == 1:
            return self
        with precision(256):
            sum_ = (ball(size * e)).expm1() / ball(e).expm1() if e else ball(Fraction(size))
            delta = probability_above(ball(self.delta) * sum_)
        return ApproxDP(size * e, delta, neighbors)

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return join(AND, (equals("ε", self.epsilon), equals("δ", self.delta)))


def read_larger_delta(delta: Number, guarantee: Approximate) -> Fraction:
    """Return a delta of at least that of a guarantee.

    Raises:
        InvalidNumber: if it is smaller.
    """
    share = read_delta(delta)
    if share < guarantee.delta:
        raise InvalidNumber(f"delta must be at least that of {guarantee}, got {preview(delta)}")
    return share


@dataclass(frozen=True, slots=True)
class NoGuarantee(BaseGuarantee):
    """No privacy guarantee, for the stated reason.

    Attributes:
        reason: the reason, in words.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    reason: str
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "none"
    slack: ClassVar[Fraction] = Fraction(1)
    core: ClassVar[None] = None
    pure: ClassVar[None] = None
    rho: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", text(self.reason, "reason"))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return 1, which is no guarantee."""
        read_epsilon(epsilon)
        return Fraction(1)

    def approx(self, delta: Number) -> ApproxDP:
        """Raise, because there is no epsilon.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument(f"no epsilon holds at any delta: {self}")

    def renyi(self, excess: arb) -> None:
        """Return None."""

    def ceiling(self, chance: arb) -> None:
        """Return None."""

    def repeated(self, n: int) -> NoGuarantee:
        """Return itself."""
        return self

    def group(self, size: int) -> NoGuarantee:
        """Return itself."""
        return self

    def under(self, neighbors: str) -> NoGuarantee:
        """Return no promise under that relation."""
        return NoGuarantee(self.reason, read_neighbors(neighbors))

    def __str__(self) -> str:
        return Message("no privacy guarantee: {reason}", reason=Message(self.reason))
