"""No guarantee, for a stated reason."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from ..base.arguments import text
from ..base.messages import Message
from ..base.numbers import Number
from ..errors import InvalidArgument
from .approx_dp import ApproxDP
from .base import BaseGuarantee
from .conversions import read_epsilon
from .sensitivity import Neighbors, read_neighbors

if TYPE_CHECKING:
    from flint import arb


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
