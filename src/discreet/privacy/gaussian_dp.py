"""Gaussian differential privacy as a frozen value. For proofs, see docs/explanation/composition.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from ..base.messages import Message
from ..base.numbers import Number, positive, root_above
from ..sampling.enclosures import ball, precision, probability_above
from .approx_dp import ApproxDP
from .base import SteppedGuarantee
from .contract import equals
from .conversions import epsilon_of_gaussian, gaussian_delta, read_delta, read_epsilon
from .sensitivity import Neighbors, read_neighbors

_GAUSSIAN_BITS = 512


@dataclass(frozen=True, slots=True)
class GaussianDP(SteppedGuarantee):
    """mu-GDP: no easier to attack than a number that moves by mu, with Gaussian noise of scale 1.

    So noise of standard deviation sigma on a value of sensitivity s has mu = s / sigma. Several compose into one
    with mu as the root of the sum of mu**2, which `Composition.bounds` uses.

    Args:
        mu: the shift in units of the noise, above zero.
        neighbors: the neighbouring relation.

    Source: Dong, Roth and Su, Gaussian differential privacy, 2022.
    """

    mu: Fraction
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "gaussian_dp"
    pure: ClassVar[None] = None
    slack: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", positive(self.mu, "mu"))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    @property
    def rho(self) -> Fraction:
        """mu**2 / 2, the smallest rho for which it is zCDP."""
        return self.mu**2 / 2

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta for which (epsilon, delta)-DP follows, rounded up."""
        target = read_epsilon(epsilon)
        with precision(_GAUSSIAN_BITS):
            return probability_above(gaussian_delta(ball(self.mu), ball(target)))

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon that follows, up to a relative error of 2**-40.

        Raises:
            InvalidNumber: if delta is zero.
        """
        share = read_delta(delta)
        epsilon = epsilon_of_gaussian(self.delta_at, self.renyi, share)
        return ApproxDP(epsilon, share, self.neighbors)

    def renyi(self, excess: arb) -> arb:
        """Return the Rényi divergence of order 1 + excess."""
        return ball(self.rho) * (1 + excess)

    def ceiling(self, chance: arb) -> arb:
        """Return the probability with a normal quantile larger by mu."""
        root = arb(2).sqrt()
        place = (2 * chance).erfcinv()  # -1 / sqrt(2) of the quantile
        return (place - ball(self.mu) / root).erfc() / 2

    def _apart(self, size: int, neighbors: Neighbors) -> "GaussianDP":
        """Return so many times mu."""
        return GaussianDP(size * self.mu, neighbors)

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return Message("{mu}, as Gaussian noise", mu=equals("μ", self.mu))


def together(squares: Fraction, neighbors: Neighbors) -> GaussianDP:
    """Return the composition of several with that sum of mu**2: mu is the root, rounded up."""
    return GaussianDP(root_above(squares), neighbors)
