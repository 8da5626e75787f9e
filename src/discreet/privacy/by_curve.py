"""The base of guarantees that a curve of Rényi divergences states. Proofs: docs/explanation/composition.md."""

from fractions import Fraction
from typing import ClassVar, Protocol

from flint import arb

from ..errors import InvalidNumber
from ..numbers import Number
from .base import BaseGuarantee
from .contract import Guarantee
from .conversions import delta_of_curve, epsilon_of_curve, read_delta, read_epsilon
from .epsilon_dp import ApproxDP
from .sensitivity import Neighbors


class CurveGuarantee(Guarantee, Protocol):
    """A guarantee with a curve, and the reason that no epsilon follows from it at a delta of zero."""

    without_delta: ClassVar[str]

    def renyi(self, excess: arb) -> arb:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""
        ...


class ByCurve(BaseGuarantee):
    """The base of `ZCDP` and `RenyiDP`: epsilon and delta follow from the curve alone.

    Attributes:
        without_delta: why no epsilon follows at a delta of zero.
    """

    __slots__ = ()
    neighbors: Neighbors
    without_delta: ClassVar[str]
    pure: ClassVar[None] = None
    slack: ClassVar[Fraction] = Fraction(0)

    def delta_at(self: CurveGuarantee, epsilon: Number) -> Fraction:
        """Return the least delta known for which (epsilon, delta)-DP follows."""
        return delta_of_curve(self.renyi, read_epsilon(epsilon))

    def approx(self: CurveGuarantee, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon known.

        Raises:
            InvalidNumber: if delta is zero.
        """
        share = read_delta(delta)
        if share == 0:
            raise InvalidNumber(f"delta must be above zero: {self.without_delta}")
        return ApproxDP(epsilon_of_curve(self.renyi, share), share, self.neighbors)

    def ceiling(self, chance: arb) -> None:
        """Return None: probabilities of single events are bounded by no closed form."""
