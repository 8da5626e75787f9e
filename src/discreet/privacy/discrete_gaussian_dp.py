"""The guarantee of discrete Gaussian noise on whole numbers, of which several move by several steps.

For proofs, see docs/reference/mechanisms/gaussian_noise.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar

from flint import arb

from ..base.messages import Message
from ..base.numbers import Number, positive, root_above
from ..sampling.enclosures import ball, lower
from .approx_dp import ApproxDP
from .base import SteppedGuarantee
from .contract import equals
from .conversions import epsilon_of_gaussian, read_delta, read_epsilon, read_whole
from .gaussian_cells import Cases, Cells, delta_of_cases, delta_of_cells, rho_of_cases
from .pld import LossDistribution
from .sensitivity import Neighbors, read_neighbors

_MOST_CELLS, _MOST_STEPS = 2**63, 10**300

_CURVE_BITS = 256


@dataclass(frozen=True, slots=True)
class DiscreteGaussianDP(SteppedGuarantee):
    """No easier to attack than `cells` integers that move by `steps` each, with discrete Gaussian noise.

    The noise has P(X = k) proportional to exp(-k**2 / (2 * sigma_squared)). Its delta is exact. It differs from
    that of `GaussianDP`, because on integers it is a little larger or smaller.

    Args:
        sigma_squared: σ², the parameter of the noise in squared steps, above zero. The variance is a hair less.
        cells: the number of integers that move, 1 or more.
        steps: the number of whole steps by which each of them moves, 1 or more.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".

    Source: Canonne, Kamath and Steinke, The discrete Gaussian for differential privacy, 2020.
    """

    sigma_squared: Fraction
    cells: int = 1
    steps: int = 1
    neighbors: Neighbors = "add_remove"
    kind: ClassVar[str] = "discrete_gaussian_dp"
    pure: ClassVar[None] = None
    slack: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma_squared", positive(self.sigma_squared, "sigma_squared"))
        for name, most in (("cells", _MOST_CELLS), ("steps", _MOST_STEPS)):
            object.__setattr__(self, name, read_whole(getattr(self, name), name, most))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    @property
    def rho(self) -> Fraction:
        """The least rho for which rho-zCDP follows: cells * steps**2 / (2 σ²)."""
        return self.cells * self.steps**2 / (2 * self.sigma_squared)

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the least delta for which (epsilon, delta)-DP follows, rounded up."""
        return delta_of_cells(self.sigma_squared, self.cells, self.steps, read_epsilon(epsilon))

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
        """Return a bound on the probability of an event, given its probability on a neighbour."""
        return ceiling_of_gaussian(self.rho, self.delta_at, chance)

    def losses(self, step: Fraction) -> LossDistribution:
        """Return a bound on the privacy losses on a grid. Losses with a delta below 2**-100 count as infinite."""
        cells = Cells(self.sigma_squared, self.cells, self.steps)
        return losses_of_cases(((cells,),), positive(step, "step"))

    def _apart(self, size: int, neighbors: Neighbors) -> "DiscreteGaussianDP":
        """Return that of the same cells, each moved so many times as far."""
        # *Groups of records*: the best test of one step is the best of the next one too.
        return DiscreteGaussianDP(self.sigma_squared, self.cells, size * self.steps, neighbors)

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return Message(
            "{rho}, as discrete Gaussian noise of {sigma_squared} on {cells} × {steps} steps",
            rho=equals("ρ", self.rho), sigma_squared=equals("σ²", self.sigma_squared),
            cells=f"{self.cells:,}", steps=f"{self.steps:,}",
        )  # fmt: skip


def ceiling_of_gaussian(
    rho: Fraction, delta_at: Callable[[Fraction], Fraction], chance: arb
) -> arb:
    """Return e**ε times a probability and delta at ε, for the ε that is best for Gaussian noise without steps."""
    mu = (2 * ball(rho)).sqrt()
    loss = mu * (arb(2).sqrt() * (2 * chance).erfcinv() - mu / 2)
    epsilon = max(lower(loss.mid()), Fraction(0)) if loss.is_finite() else Fraction(0)
    return (ball(epsilon).exp() * chance + ball(delta_at(epsilon))).min(arb(1))


@lru_cache(maxsize=64)
def losses_of_cases(cases: Cases, step: Fraction) -> LossDistribution:
    """Return a bound on the losses of the worst of some cases on a grid."""
    mu = root_above(2 * rho_of_cases(cases))
    top = mu * (mu / 2 + 12)  # beyond it the sum of the noise would have to exceed 12 deviations
    delta = partial(delta_of_cases, cases, digits=_CURVE_BITS)
    return LossDistribution.of_curve(delta, top, step)
