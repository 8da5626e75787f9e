"""Zero-concentrated differential privacy. Proofs: docs/explanation/composition.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from ..errors import InvalidNumber
from ..messages import Message
from ..numbers import Number, count, positive
from ..sampling.enclosures import ball
from .base import BaseGuarantee
from .contract import equals, steps
from .conversions import delta_of_curve, epsilon_of_curve, read_delta, read_epsilon
from .epsilon_dp import ApproxDP
from .sensitivity import Neighbors, read_neighbors


@dataclass(frozen=True, slots=True)
class ZCDP(BaseGuarantee):
    """rho-zCDP: the Rényi divergence of order a is at most rho * a, for every a above 1.

    Attributes:
        rho: ρ, a positive number without a unit; exact: 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    rho: Fraction
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "zcdp"
    pure: ClassVar[None] = None
    slack: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", positive(self.rho, "rho"))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta known for which (epsilon, delta)-DP follows."""
        return delta_of_curve(self.renyi, read_epsilon(epsilon))

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon known.

        Raises:
            InvalidNumber: if delta is zero.
        """
        share = read_delta(delta)
        if share == 0:
            raise InvalidNumber("delta must be above zero: zCDP does not imply epsilon-DP")
        return ApproxDP(epsilon_of_curve(self.renyi, share), share, self.neighbors)

    def renyi(self, excess: arb) -> arb:
        """Return a ball whose upper end bounds the Rényi divergence of order 1 + excess."""
        return ball(self.rho) * (1 + excess)

    def ceiling(self, chance: arb) -> None:
        """Return None: probabilities of single events are bounded by no closed form."""

    def group(self, size: int) -> "ZCDP":
        """Return the guarantee `size` steps away: size**2 * rho."""
        return ZCDP(count(size, "size") ** 2 * self.rho, self.neighbors)

    def under(self, neighbors: str) -> "ZCDP":
        """Return the guarantee that follows under another neighbouring relation."""
        relation = read_neighbors(neighbors)
        return ZCDP(self.group(steps(self, relation)).rho, relation)

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return Message("{rho}, zCDP", rho=equals("ρ", self.rho))
