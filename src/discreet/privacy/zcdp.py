"""Zero-concentrated differential privacy. Proofs: docs/explanation/composition.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from ..messages import Message
from ..numbers import count, positive
from ..sampling.enclosures import ball
from .by_curve import ByCurve
from .contract import equals, steps
from .sensitivity import Neighbors, read_neighbors


@dataclass(frozen=True, slots=True)
class ZCDP(ByCurve):
    """rho-zCDP: the Rényi divergence of order a is at most rho * a, for every a above 1.

    Attributes:
        rho: ρ, a positive number without a unit; exact: 0.1 is one tenth.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
    """

    rho: Fraction
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "zcdp"
    without_delta: ClassVar[str] = "zCDP does not imply epsilon-DP"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", positive(self.rho, "rho"))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    def renyi(self, excess: arb) -> arb:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""
        return ball(self.rho) * (1 + excess)

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
