"""A distribution of privacy losses as a guarantee. For proofs, see docs/explanation/losses.md."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb, arb_poly, fmpz_poly

from ..base.error_boundary import error_boundary
from ..base.messages import Message
from ..base.numbers import Number, short_up
from ..errors import InvalidArgument, preview
from ..sampling.enclosures import ball, precision
from .approx_dp import ApproxDP
from .base import SteppedGuarantee
from .contract import Guarantee
from .conversions import read_delta
from .pld import UNIT, LossDistribution
from .rho import pure_rho
from .sensitivity import Neighbors, read_neighbors

_PLACES = 512
"""Places at which the curve of several steps is computed."""

_LONGEST, _FURTHEST = 2**17, Fraction(2**20)
"""The most steps of that curve, of which there are fewer with a coarser step, and the largest loss on it."""

_LOSS_BITS = 320

_ROUNDING = Fraction(1, 2**64)
"""The mass that another library may have lost by rounding."""


@dataclass(frozen=True, slots=True)
class LossDP(SteppedGuarantee):
    """A privacy loss distribution as a guarantee. It bounds the privacy curve in both orders of neighbours.

    Args:
        losses: the distribution of the losses ln P/Q, weighted by P, for the worst neighbours or rounded up. Its
            masses must add up to at least one, and its delta at ln gamma must be at least 1 - gamma, as for every
            curve.
        neighbors: the neighbouring relation.

    Raises:
        InvalidArgument: if it is not a distribution of losses, or cannot bound the curve of any answer.
    """

    losses: LossDistribution
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "loss_dp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "losses", _read_losses(self.losses))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    @property
    def pure(self) -> Fraction | None:
        """The largest loss, if no mass is at infinity."""
        losses = self.losses
        if losses.infinite:
            return None
        return max((losses.lowest + len(losses.masses) - 1) * losses.step, Fraction(0))

    @property
    def rho(self) -> Fraction | None:
        """The rho that follows from the largest loss."""
        return pure_rho(self.pure) if self.pure else self.pure

    @property
    def slack(self) -> Fraction:
        """The mass at infinity."""
        return min(Fraction(self.losses.infinite, UNIT), Fraction(1))

    @property
    def core(self) -> Guarantee | None:
        """The distribution without the mass at infinity."""
        if self.slack == 0:
            return self
        if self.slack == 1:
            return None
        masses = tuple(math.ceil(mass / (1 - self.slack)) for mass in self.losses.masses)
        # These are losses against Q / (1 - slack), which may have a mass above one: they stand beside the
        # slack only, and are not read as losses of P against Q.
        core = object.__new__(LossDP)
        object.__setattr__(core, "losses", replace(self.losses, masses=masses, infinite=0))
        object.__setattr__(core, "neighbors", self.neighbors)
        return core

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta for which (epsilon, delta)-DP follows."""
        return short_up(self.losses.delta(epsilon))

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon that follows.

        Raises:
            InvalidArgument: if there is none, because the mass at infinity is larger than delta.
        """
        share = read_delta(delta)
        epsilon = self.losses.epsilon(share)
        if epsilon is None:
            raise InvalidArgument(f"delta must be above the mass at infinity, got {preview(delta)}")
        return ApproxDP(epsilon, share, self.neighbors)

    def renyi(self, excess: arb) -> arb | None:
        """Return a ball with upper end at least the Rényi divergence of order 1 + excess if no loss is infinite."""
        losses, most = self.losses, self.pure
        if most is None:
            return None
        growth = (excess * ball(losses.step)).exp()
        moment = arb_poly(fmpz_poly(list(losses.masses)))(growth) / UNIT
        divergence = (moment.log() + excess * ball(losses.lowest * losses.step)) / excess
        return divergence.min(ball(most)) if divergence.is_finite() else ball(most)

    def ceiling(self, chance: arb) -> None:
        """Return None, because no closed form bounds the probabilities of single events."""

    def _apart(self, size: int, neighbors: Neighbors) -> "LossDP":
        """Return the one of which delta at s is delta(s / size) * sum e**(i s / size), i < size."""
        losses = self.losses
        if size == 1:
            return self

        def delta(at: Fraction) -> arb:
            times = ball(at).expm1() / ball(at / size).expm1() if at else arb(size)
            return (ball(losses.delta(at / size)) * times).min(arb(1))

        most = size * max((losses.lowest + len(losses.masses)) * losses.step, losses.step)
        top = min(most, _FURTHEST)  # what is beyond counts as infinite
        step = losses.step * max(1, math.ceil(top / losses.step / _LONGEST))
        every = max(1, math.ceil(top / step / _PLACES))
        return LossDP(LossDistribution.of_curve(delta, top, step, every), neighbors)

    def as_dict(self) -> dict[str, object]:
        """Return the kind, the distribution as integers in text, and the neighbouring relation."""
        distribution = self.losses
        losses = {
            "step": str(distribution.step), "lowest": distribution.lowest, "infinite": str(distribution.infinite),
            "masses": [str(mass) for mass in distribution.masses],
        }  # fmt: skip
        return {"kind": self.kind, "losses": losses, "neighbors": self.neighbors}

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return Message("{losses:,} privacy losses", losses=len(self.losses.masses))


@error_boundary
def _read_losses(losses: object) -> LossDistribution:
    """Return a distribution of losses, or that which `as_dict` wrote down."""
    if isinstance(losses, Mapping):
        losses = _read_plain_losses(losses)
    if not isinstance(losses, LossDistribution):
        raise InvalidArgument(
            "losses must be a LossDistribution, such as LossDistribution.gaussian(1, '1/64'), got "
            f"{preview(losses)}"
        )
    whole = (losses.lowest, losses.infinite, *losses.masses)
    if not isinstance(losses.step, Fraction) or not all(isinstance(mass, int) for mass in whole):
        raise InvalidArgument(
            "losses must have a step that is a Fraction, and whole numbers as lowest, masses (of "
            "2**-128) and infinite"
        )
    negative = min((*losses.masses, losses.infinite)) < 0 or losses.step <= 0
    if negative or sum(losses.masses) + losses.infinite < UNIT:
        raise InvalidArgument(
            "losses must have masses of at least zero that add up to at least one"
        )
    if _bounds_nothing(losses):
        raise InvalidArgument(
            "losses must be those of P/Q, weighted by P: these have a delta below 1 - gamma at an "
            "epsilon of ln gamma below zero, as no answer has. For masses of one in all, mass * "
            "exp(-loss) must add up to at most one"
        )
    return losses


def _bounds_nothing(losses: LossDistribution) -> bool:
    """Return whether the curve H of the losses is certainly below 1 - gamma somewhere, by more than 2**-64.

    H + gamma is convex, at least 1 at gamma = 0, and straight between the points exp(j * step): the points
    below 1 decide. There H is the sum of the masses above, less those times exp(j * step - loss).
    """
    with precision(_LOSS_BITS):
        decay = ball(-losses.step).exp()
        above, less = losses.infinite, arb(0)  # from the largest loss down
        for j in range(losses.lowest + len(losses.masses) - 1, losses.lowest - 1, -1):
            if j < 0 and (above - less) / UNIT + ball(j * losses.step).exp() < 1 - ball(_ROUNDING):
                return True
            mass = losses.masses[j - losses.lowest]
            above, less = above + mass, (less + mass) * decay
    return False


def _read_plain_losses(losses: Mapping[str, Any]) -> LossDistribution | None:
    """Return the distribution that was written down, or None if it cannot be read."""
    try:
        step, lowest, infinite = Fraction(losses["step"]), losses["lowest"], losses["infinite"]
        masses = tuple(int(mass) for mass in losses["masses"])
        return LossDistribution(step, int(lowest), masses, int(infinite))
    except (KeyError, TypeError, ValueError):
        return None
