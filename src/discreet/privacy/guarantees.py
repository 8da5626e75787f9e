"""All kinds of guarantees, as immutable values in exact rationals.

Proofs: docs/explanation/privacy.md, docs/explanation/composition.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from ..arguments import text
from ..errors import InvalidArgument, preview
from ..messages import Message
from ..numbers import Number
from .approx_range import ApproxRange
from .base import BaseGuarantee
from .composition import Composition
from .contract import Guarantee
from .conversions import read_epsilon
from .epsilon_dp import (
    CHAIN,
    ApproxDP,
    BoundedRange,
    LaplaceDP,
    LogisticDP,
    MixedRange,
    PureDP,
    SummedRange,
)
from .gaussian_dp import GaussianDP
from .geometric_dp import GeometricDP
from .loss_dp import LossDP
from .renyi_dp import ZCDP, RenyiDP
from .sensitivity import Neighbors, read_neighbors

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ApproxRange",
    "BoundedRange",
    "GaussianDP",
    "GeometricDP",
    "Guarantee",
    "LaplaceDP",
    "LogisticDP",
    "LossDP",
    "MixedRange",
    "NoGuarantee",
    "PureDP",
    "RenyiDP",
    "SummedRange",
    "read_guarantee",
]


@dataclass(frozen=True, slots=True)
class NoGuarantee(BaseGuarantee):
    """No privacy guarantee, for the stated reason.

    Attributes:
        reason: why there is none, in words.
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
        """Raise: there is no epsilon.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument("no epsilon holds at any delta: {guarantee}", guarantee=self)

    def renyi(self, excess: arb) -> None:
        """Return None."""

    def ceiling(self, chance: arb) -> None:
        """Return None."""

    def repeated(self, n: int) -> "NoGuarantee":
        """Return itself: no promise, n times."""
        return self

    def group(self, size: int) -> "NoGuarantee":
        """Return itself."""
        return self

    def under(self, neighbors: str) -> "NoGuarantee":
        """Return no promise under that relation."""
        return NoGuarantee(self.reason, read_neighbors(neighbors))

    def __str__(self) -> str:
        return Message("no privacy guarantee: {reason}", reason=Message(self.reason))


def read_guarantee(plain_values: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee of which `plain_values` is the `as_dict` form.

    Raises:
        InvalidArgument: if it is none.
    """
    try:
        kind, neighbors = plain_values["kind"], read_neighbors(plain_values["neighbors"])
        if kind == Composition.kind:
            parts = [(read_guarantee(p["guarantee"]), p["count"]) for p in plain_values["parts"]]
            return Composition(tuple(parts))
        make = _GUARANTEE_KINDS[kind]
        guarantee: Guarantee = make(*(plain_values[n] for n in make.__match_args__[:-1]), neighbors)
    except (KeyError, TypeError) as error:
        raise InvalidArgument(
            "a guarantee must be what as_dict() returns, got {plain_values}",
            plain_values=preview(plain_values),
        ) from error
    return guarantee


_GUARANTEE_KINDS: dict[str, Any] = {
    make.kind: make
    for make in (
        *CHAIN,
        ZCDP,
        ApproxDP,
        ApproxRange,
        GaussianDP,
        GeometricDP,
        RenyiDP,
        LossDP,
        NoGuarantee,
    )
}
