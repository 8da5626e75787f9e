"""The guarantee of discrete Gaussian noise on the sums of groups, of which a replaced record leaves some.

For proofs, see docs/reference/mechanisms/gaussian_noise.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from ..base.messages import Message
from ..base.numbers import Number, exact, positive
from ..errors import InvalidNumber, preview
from ..sampling.enclosures import ball
from .approx_dp import ApproxDP
from .base import SteppedGuarantee
from .contract import Guarantee, equals
from .conversions import epsilon_of_gaussian, read_delta, read_epsilon, read_whole
from .discrete_gaussian_dp import ceiling_of_gaussian, losses_of_cases
from .gaussian_cells import Cases, cases_of_sums, delta_of_cases, rho_of_cases
from .pld import LossDistribution
from .renyi_dp import ZCDP
from .sensitivity import Neighbors, read_neighbors

_MOST_GROUPS, _MOST_STEPS = 2**63, 10**300


@dataclass(frozen=True, slots=True)
class ReplacedSumsDP(SteppedGuarantee):
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
    pure: ClassVar[None] = None
    slack: ClassVar[Fraction] = Fraction(0)

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

    def approx(self, delta: Number) -> ApproxDP:
        """Return (epsilon, delta)-DP with the least epsilon that follows, up to a relative error of 2**-40.

        Raises:
            InvalidNumber: if delta is zero.
        """
        share = read_delta(delta)
        epsilon = epsilon_of_gaussian(self.delta_at, self.renyi, share)
        return ApproxDP(epsilon, share, self.neighbors)

    def renyi(self, excess: arb) -> arb:
        """Return the Rényi divergence of order 1 + excess, the largest of all cases."""
        return ball(self.rho) * (1 + excess)

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
