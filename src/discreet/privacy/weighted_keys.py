"""The exact delta of keys to which a unit adds the more, the fewer keys it has.

For proofs, see docs/reference/mechanisms/private_keys.md#weighted_keys.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ..sampling.enclosures import ball, precision, probability_above
from .approx_dp import ApproxDP
from .gaussian_dp import GaussianDP, together
from .gaussian_keys import GaussianThreshold
from .renyi_dp import ZCDP

_CHANCE_BITS = 256

_GRAIN = Fraction(2)
"""The parameter of the noise by which continuous noise is rounded, in the proof of the parts."""

_LEAST_SMOOTH = 50 * _GRAIN
"""Below this parameter of the noise rho tells more of many releases than rounded noise does."""


@dataclass(frozen=True)
class WeightedThreshold:
    """Keys that are shown where y = s + X reaches `least`, for the sum s of the weights of its units.

    A key without units is not shown. The relation is "add_remove".

    Attributes:
        sigma_squared: the parameter of the noise X, fresh for every key.
        least: the least noisy sum that is shown.
        weights: those of units of 1, 2, ... keys, as many as one may have. They do not rise.
    """

    sigma_squared: Fraction
    least: int
    weights: tuple[int, ...]

    @property
    def even(self) -> int:
        """The least number of units that show their key with one half or more, however many keys they have."""
        return -(-self.least // self.weights[-1])

    @property
    def even_of_single(self) -> int:
        """The same of units that have that key alone."""
        return -(-self.least // self.weights[0])

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return the least delta at an epsilon of zero or more, rounded up: the largest of all numbers of keys."""
        return max(one.delta_at(epsilon) for one in self._cases())

    def keeps(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Return whether it is (epsilon, delta)-DP for certain, as far as a few hundred bounds tell."""
        return all(one.keeps(epsilon, delta) for one in self._cases())

    @property
    def parts(self) -> tuple[ApproxDP, GaussianDP | ZCDP]:
        """Both promises of the parts: a delta for own keys that are shown, and the sums of all keys."""
        # *Many releases*: for either part the worst number of keys.
        both = [one.parts for one in self._cases()]
        own, rho = max(own.delta for own, _ in both), max(sums.rho for _, sums in both)
        if self.sigma_squared < _LEAST_SMOOTH:
            return ApproxDP(Fraction(0), own), ZCDP(rho)
        # *Rounded noise*: sums with continuous noise of a parameter less by _GRAIN, but for a small chance.
        wider = self.sigma_squared / (self.sigma_squared - _GRAIN)
        sums = together(2 * rho * wider, "add_remove")
        return ApproxDP(Fraction(0), own + len(self.weights) * chance_of_uneven(_GRAIN)), sums

    def _cases(self) -> Iterator[GaussianThreshold]:
        """Yield the moves of a unit of every weight, with the most keys. Units of fewer keys are covered."""
        keys = len(self.weights)
        for keys, weight in enumerate(self.weights, 1):
            if keys == len(self.weights) or self.weights[keys] < weight:
                yield GaussianThreshold(self.sigma_squared, self.least, keys, "add_remove", weight)


def chance_of_uneven(spread: Fraction) -> Fraction:
    """Return a bound on the probability that a number tells more than continuous noise that is rounded."""
    # *Rounded noise*: 1 - (1 - r) / (1 + r), r = 2 exp(-2 pi**2 v) / (1 - exp(-6 pi**2 v)).
    with precision(_CHANCE_BITS):
        v = 2 * arb.pi() ** 2 * ball(spread)
        r = 2 * (-v).exp() / -(-3 * v).expm1()
        return probability_above(2 * r / (1 + r))
