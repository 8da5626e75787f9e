"""(epsilon, delta)-differential privacy, and the stronger kinds of one epsilon.

Proofs: docs/explanation/composition.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from ..errors import InvalidNumber, preview
from ..messages import AND, Message, join
from ..numbers import Number, count, exact, positive
from ..sampling.enclosures import ball, precision, probability_above
from .base import BaseGuarantee
from .contract import Guarantee, equals, steps
from .conversions import read_delta, read_epsilon
from .dominating import LAPLACE, LOGISTIC, RANGE, RESPONSE, DominatingPair
from .sensitivity import Neighbors, read_neighbors

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, slots=True)
class ApproxDP(BaseGuarantee):
    """(epsilon, delta)-DP: no probability is above exp(epsilon) times the neighbour's, plus delta.

    Attributes:
        epsilon: ε, a number without a unit, zero or more; exact: 0.1 is one tenth.
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
            InvalidNumber: if there is none, as that delta is smaller.
        """
        share = read_delta(delta)
        if share < self.delta:
            raise InvalidNumber(
                "delta must be at least that of {guarantee}, got {delta}",
                guarantee=self,
                delta=preview(delta),
            )
        rest = (share - self.delta) / (1 - self.delta)
        return ApproxDP(RESPONSE.target(self.epsilon, rest), share, self.neighbors)

    def renyi(self, excess: arb) -> arb | None:
        """Return a bound on the Rényi divergence of order 1 + excess, if delta is zero."""
        return RESPONSE.divergence(self.epsilon, excess) if self.delta == 0 else None

    def ceiling(self, chance: arb) -> arb:
        """Return min(e**epsilon p + delta, 1 - e**-epsilon (1 - delta - p))."""
        e, share = ball(self.epsilon), ball(self.delta)
        return (chance * e.exp() + share).min(1 - (1 - share - chance) * (-e).exp())

    def group(self, size: int) -> ApproxDP:
        """Return the guarantee `size` steps away: size * epsilon, and the sum of e**(i epsilon) delta."""
        steps_, e = count(size, "size"), self.epsilon
        if steps_ == 1:
            return self
        with precision(256):
            sum_ = (ball(steps_ * e)).expm1() / ball(e).expm1() if e else ball(Fraction(steps_))
            delta = probability_above(ball(self.delta) * sum_)
        return ApproxDP(steps_ * e, delta, self.neighbors)

    def under(self, neighbors: str) -> ApproxDP:
        """Return the guarantee that follows under another neighbouring relation."""
        relation = read_neighbors(neighbors)
        farther = self.group(steps(self, relation))
        return ApproxDP(farther.epsilon, farther.delta, relation)

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return join(AND, (equals("ε", self.epsilon), equals("δ", self.delta)))


@dataclass(frozen=True, slots=True)
class ByEpsilon(BaseGuarantee):
    """The base of the kinds of one epsilon: all imply epsilon-DP, and more by their dominating pair.

    `BoundedRange`, `MixedRange`, `SummedRange`, `LogisticDP`, `LaplaceDP`, `PureDP`: a kind implies those after it.
    They have no fields of their own, so the methods of this dataclass serve them.
    """

    epsilon: Fraction
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str]
    worst: ClassVar[DominatingPair]
    words: ClassVar[Message]
    slack: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    @property
    def pure(self) -> Fraction:
        """The epsilon of epsilon-DP that follows."""
        return self.epsilon

    @property
    def rho(self) -> Fraction:
        """The least rho for which rho-zCDP follows, rounded up to 64 bits."""
        return self.worst.rho(self.epsilon)

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta for which (epsilon, delta)-DP follows."""
        return self.worst.delta(self.epsilon, read_epsilon(epsilon))

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon that follows."""
        share = read_delta(delta)
        return ApproxDP(self.worst.target(self.epsilon, share), share, self.neighbors)

    def renyi(self, excess: arb) -> arb:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""
        return self.worst.divergence(self.epsilon, excess)

    def ceiling(self, chance: arb) -> arb:
        """Return a bound on the probability of an event, given its probability on a neighbour."""
        return self.worst.ceiling(ball(self.epsilon), chance)

    def group(self, size: int) -> Guarantee:
        """Return the guarantee `size` steps away: size * epsilon."""
        return self._apart(count(size, "size"), self.neighbors)

    def under(self, neighbors: str) -> Guarantee:
        """Return the guarantee that follows under another neighbouring relation."""
        relation = read_neighbors(neighbors)
        return self._apart(steps(self, relation), relation)

    def _apart(self, size: int, neighbors: Neighbors) -> Guarantee:
        # Coq: Range.private_groups, Range.range_groups
        return type(self)(size * self.epsilon, neighbors)

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return self.words.fill(epsilon=equals("ε", self.epsilon))


class PureDP(ByEpsilon):
    """epsilon-differential privacy: no probability differs by more than a factor exp(epsilon).

    Attributes:
        epsilon: ε, a positive number without a unit; exact: 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "pure_dp"
    worst: ClassVar[DominatingPair] = RESPONSE
    words: ClassVar[Message] = Message("{epsilon}")


class BoundedRange(ByEpsilon):
    """epsilon-bounded range: the log-ratios of two answers differ by at most epsilon. So epsilon-DP.

    Attributes:
        epsilon: ε, a positive number without a unit; exact: 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "bounded_range"
    worst: ClassVar[DominatingPair] = RANGE
    words: ClassVar[Message] = Message("{epsilon}, bounded range")


class MixedRange(ByEpsilon):
    """epsilon-bounded range given public random numbers, earlier answers, or answers about other records.

    Between datasets that are k steps apart it implies `SummedRange(k * epsilon)`, as the steps may fall on
    several of the answers that are put together in it.

    Attributes:
        epsilon: ε, a positive number without a unit; exact: 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "mixed_range"
    worst: ClassVar[DominatingPair] = RANGE
    words: ClassVar[Message] = Message("{epsilon}, mixed range")

    def _apart(self, size: int, neighbors: Neighbors) -> Guarantee:
        return (MixedRange if size == 1 else SummedRange)(size * self.epsilon, neighbors)


class SummedRange(ByEpsilon):
    """Bounded ranges, one answer after the other, that add up to epsilon. So epsilon-DP.

    How many there are, and how they share epsilon, may depend on the answers before. Two steps of
    a `MixedRange` have this guarantee, and so does the composition of several mixed ranges.

    Attributes:
        epsilon: ε, a positive number without a unit; exact: 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "summed_range"
    worst: ClassVar[DominatingPair] = RANGE
    words: ClassVar[Message] = Message("{epsilon}, summed range")


class LogisticDP(ByEpsilon):
    """No easier to attack than a number with logistic noise of scale 1 / epsilon. So epsilon-DP.

    No event's log-odds differ by more than epsilon between neighbours.

    Attributes:
        epsilon: ε, a positive number without a unit; exact: 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "logistic_dp"
    worst: ClassVar[DominatingPair] = LOGISTIC
    words: ClassVar[Message] = Message("{epsilon}, as logistic noise")


class LaplaceDP(ByEpsilon):
    """No easier to attack than a number with Laplace noise of scale 1 / epsilon. So epsilon-DP.

    Attributes:
        epsilon: ε, a positive number without a unit; exact: 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "laplace_dp"
    worst: ClassVar[DominatingPair] = LAPLACE
    words: ClassVar[Message] = Message("{epsilon}, as Laplace noise")


# Coq: Rounds.range_is_summed, Rounds.mixed_range_is_summed, Rounds.summed_range_is_logistic
# Coq: Laplace.logistic_is_laplace, Laplace.laplace_is_private
CHAIN = (BoundedRange, MixedRange, SummedRange, LogisticDP, LaplaceDP, PureDP)
"""The kinds of one epsilon. Every kind implies those after it."""


def mix_range(guarantee: Guarantee) -> Guarantee:
    """Return a guarantee where questions depend on answers of other parts: a bounded range is a mixed one."""
    if isinstance(guarantee, BoundedRange):
        return MixedRange(guarantee.epsilon, guarantee.neighbors)
    return guarantee
