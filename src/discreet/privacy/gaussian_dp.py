"""The guarantees of Gaussian noise: on a number, on whole numbers, and on sums of groups under replacement.

For proofs, see docs/explanation/composition.md and docs/reference/mechanisms/gaussian_noise.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar, Protocol

from flint import arb

from ..base.messages import Message
from ..base.numbers import Number, exact, positive, root_above
from ..errors import InvalidNumber, preview
from ..sampling.enclosures import ball, lower, precision, probability_above
from .approx_dp import ApproxDP
from .base import SteppedGuarantee
from .contract import Guarantee, equals
from .conversions import epsilon_of_gaussian, gaussian_delta, read_delta, read_epsilon, read_whole
from .gaussian_cells import (
    Cases,
    Cells,
    cases_of_sums,
    delta_of_cases,
    delta_of_cells,
    rho_of_cases,
)
from .pld import LossDistribution
from .renyi_dp import ZCDP
from .sensitivity import Neighbors, read_neighbors

_GAUSSIAN_BITS, _CURVE_BITS = 512, 256

_MOST_CELLS = _MOST_GROUPS = 2**63
_MOST_STEPS = 10**300


class _OfRho(Guarantee, Protocol):
    """A guarantee with a rho."""

    @property
    def rho(self) -> Fraction:
        """The rho."""

    def renyi(self, excess: arb) -> arb:
        """Return the Rényi divergence of order 1 + excess."""


class _Gaussian(SteppedGuarantee):
    """The base of kinds of Gaussian noise. Their Rényi divergence is that of their rho."""

    __slots__ = ()
    pure: ClassVar[None] = None
    slack: ClassVar[Fraction] = Fraction(0)

    def approx(self: _OfRho, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon that follows, up to a relative error of 2**-40.

        Raises:
            InvalidNumber: if delta is zero.
        """
        share = read_delta(delta)
        epsilon = epsilon_of_gaussian(self.delta_at, self.renyi, share)
        return ApproxDP(epsilon, share, self.neighbors)

    def renyi(self: _OfRho, excess: arb) -> arb:
        """Return the Rényi divergence of order 1 + excess."""
        return ball(self.rho) * (1 + excess)


@dataclass(frozen=True, slots=True)
class GaussianDP(_Gaussian):
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


@dataclass(frozen=True, slots=True)
class DiscreteGaussianDP(_Gaussian):
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


@dataclass(frozen=True, slots=True)
class ReplacedSumsDP(_Gaussian):
    """No easier to attack than sums of groups with discrete Gaussian noise when a record is replaced.

    The record is in up to `groups` of the groups before and after, and in at least `common` of them both times.

    Args:
        sigma_squared: σ², the parameter of the noise in squared steps, above zero.
        groups: the most groups that it is in, 1 or more.
        common: the fewest of them that it is in both times, from 0 to `groups`.
        steps: by how many steps a sum moves where a record comes or goes, 1 or more.
        shift: by how many it moves where the record is there both times, `steps` or more.
        neighbors: the neighbouring relation, "replace_one" (the default) or "add_remove".

    Source: Canonne, Kamath and Steinke, The discrete Gaussian for differential privacy, 2020.
    """

    sigma_squared: Fraction
    groups: int
    common: int
    steps: int
    shift: int
    neighbors: Neighbors = "replace_one"
    kind: ClassVar[str] = "replaced_sums_dp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma_squared", positive(self.sigma_squared, "sigma_squared"))
        for name, most in (("groups", _MOST_GROUPS), ("shift", _MOST_STEPS)):
            object.__setattr__(self, name, read_whole(getattr(self, name), name, most))
        object.__setattr__(self, "steps", read_whole(self.steps, "steps", self.shift))
        common = exact(self.common, "common")
        if common not in range(self.groups + 1):
            raise InvalidNumber(
                f"common must be a whole number from 0 to {self.groups}, got {preview(self.common)}"
            )
        object.__setattr__(self, "common", int(common))
        object.__setattr__(self, "neighbors", read_neighbors(self.neighbors))

    @property
    def cases(self) -> Cases:
        """The ways in which the sums may move."""
        return cases_of_sums(self.sigma_squared, self.groups, self.common, self.steps, self.shift)

    @property
    def rho(self) -> Fraction:
        """The least rho for which rho-zCDP follows, the largest of all cases."""
        return rho_of_cases(self.cases)

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the largest delta of all cases, rounded up: with it (epsilon, delta)-DP follows."""
        return delta_of_cases(self.cases, read_epsilon(epsilon))

    def ceiling(self, chance: arb) -> arb:
        """Return a bound on the probability of an event, given its probability on a neighbour."""
        return ceiling_of_gaussian(self.rho, self.delta_at, chance)

    def losses(self, step: Fraction) -> LossDistribution:
        """Return a bound on the privacy losses on a grid of a step. Those of a delta below 2**-100 are infinite."""
        return losses_of_cases(self.cases, positive(step, "step"))

    def _apart(self, size: int, neighbors: Neighbors) -> Guarantee:
        """Return, of two or more steps, zCDP of `size` squared times rho."""
        return self if size == 1 else ZCDP(size**2 * self.rho, neighbors)

    @property
    def statement(self) -> str:
        """The numbers and the kind, without the neighbouring relation."""
        return Message(
            "{rho}, as discrete Gaussian noise of {sigma_squared} on the sums of {groups} groups before and after",
            rho=equals("ρ", self.rho), sigma_squared=equals("σ²", self.sigma_squared), groups=f"{self.groups:,}",
        )  # fmt: skip
