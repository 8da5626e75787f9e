"""Differential privacy of one epsilon, and the stronger kinds of one epsilon.

A first answer states one of these kinds and no more; conversions are imported when they are asked for. For proofs,
see docs/explanation/composition.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from ..base.lazy_names import ModuleOnUse
from ..base.messages import Message
from ..base.numbers import Number, positive
from ..sampling.enclosures import ball
from .base import SteppedGuarantee
from .contract import Approximate, Guarantee, equals
from .sensitivity import Neighbors, read_neighbors

if TYPE_CHECKING:
    from flint import arb

    from . import conversions, dominating
else:
    conversions = ModuleOnUse(f"{__package__}.conversions")
    dominating = ModuleOnUse(f"{__package__}.dominating")


@dataclass(frozen=True, slots=True)
class ByEpsilon(SteppedGuarantee):
    """The base of the kinds of one epsilon: all imply epsilon-DP, and more by their dominating pair.

    `BoundedRange`, `MixedRange`, `SummedRange`, `LogisticDP`, `LaplaceDP`, `PureDP`: a kind implies those after it.
    They have no fields of their own, so the methods of this dataclass serve them.
    """

    epsilon: Fraction
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str]
    pair: ClassVar[str]
    words: ClassVar[Message]
    slack: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    @property
    def worst(self) -> dominating.DominatingPair:
        """The dominating pair, called `pair` in its module."""
        pair: dominating.DominatingPair = getattr(dominating, self.pair)
        return pair

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
        return self.worst.delta(self.epsilon, conversions.read_epsilon(epsilon))

    def approx(self, delta: Number) -> Approximate:
        """Return (epsilon, delta)-DP with the least epsilon that follows."""
        share = conversions.read_delta(delta)
        # Its core is a kind of this module, so it lies above; nothing may have imported it before.
        kind = import_module(f"{__package__}.approx_dp").ApproxDP
        guarantee: Approximate = kind(self.worst.target(self.epsilon, share), share, self.neighbors)
        return guarantee

    def renyi(self, excess: arb) -> arb:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""
        return self.worst.divergence(self.epsilon, excess)

    def ceiling(self, chance: arb) -> arb:
        """Return a bound on the probability of an event, given its probability on a neighbour."""
        return self.worst.ceiling(ball(self.epsilon), chance)

    def _apart(self, size: int, neighbors: Neighbors) -> Guarantee:
        """Return so many times epsilon."""
        # Coq: Range.private_groups, Range.range_groups
        return type(self)(size * self.epsilon, neighbors)

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return self.words.fill(epsilon=equals("ε", self.epsilon))


class PureDP(ByEpsilon):
    """epsilon-differential privacy: no probability differs by more than a factor exp(epsilon).

    Attributes:
        epsilon: ε, a positive number without a unit. It is read exactly, so 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "pure_dp"
    pair: ClassVar[str] = "RESPONSE"
    words: ClassVar[Message] = Message("{epsilon}")


class BoundedRange(ByEpsilon):
    """epsilon-bounded range: the log-ratios of two answers differ by at most epsilon. So epsilon-DP.

    Attributes:
        epsilon: ε, a positive number without a unit. It is read exactly, so 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "bounded_range"
    pair: ClassVar[str] = "RANGE"
    words: ClassVar[Message] = Message("{epsilon}, bounded range")


class MixedRange(ByEpsilon):
    """epsilon-bounded range given public random numbers, earlier answers, or answers about other records.

    Between datasets that are k steps apart, it implies `SummedRange(k * epsilon)`, because the steps may fall on
    several of its answers.

    Attributes:
        epsilon: ε, a positive number without a unit. It is read exactly, so 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "mixed_range"
    pair: ClassVar[str] = "RANGE"
    words: ClassVar[Message] = Message("{epsilon}, mixed range")

    def _apart(self, size: int, neighbors: Neighbors) -> Guarantee:
        return (MixedRange if size == 1 else SummedRange)(size * self.epsilon, neighbors)


class SummedRange(ByEpsilon):
    """Bounded ranges of successive answers that add up to epsilon. So epsilon-DP.

    Their number, and how they share epsilon, may depend on earlier answers. Two steps of a `MixedRange` have this
    guarantee, and so does the composition of several mixed ranges.

    Attributes:
        epsilon: ε, a positive number without a unit. It is read exactly, so 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "summed_range"
    pair: ClassVar[str] = "RANGE"
    words: ClassVar[Message] = Message("{epsilon}, summed range")


class LogisticDP(ByEpsilon):
    """No easier to attack than a number with logistic noise of scale 1 / epsilon. So epsilon-DP.

    No event's log-odds differ by more than epsilon between neighbours.

    Attributes:
        epsilon: ε, a positive number without a unit. It is read exactly, so 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "logistic_dp"
    pair: ClassVar[str] = "LOGISTIC"
    words: ClassVar[Message] = Message("{epsilon}, as logistic noise")


class LaplaceDP(ByEpsilon):
    """No easier to attack than a number with Laplace noise of scale 1 / epsilon. So epsilon-DP.

    Attributes:
        epsilon: ε, a positive number without a unit. It is read exactly, so 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    __slots__ = ()
    kind: ClassVar[str] = "laplace_dp"
    pair: ClassVar[str] = "LAPLACE"
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
