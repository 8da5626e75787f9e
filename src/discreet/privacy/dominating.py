"""Dominating pairs: the worst pair of distributions for a kind of guarantee.

Proofs: docs/explanation/composition.md.
"""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ..numbers import short_up
from ..sampling.enclosures import ball, laplace_quantile, precision, probability_above, upper
from .renyi_curves import RenyiCurve, divergence, of_laplace, of_logistic, of_pure, of_range
from .rho import RhoOf, laplace_rho, logistic_rho, pure_rho, range_rho

_PAIR_BITS = 512


@dataclass(frozen=True, slots=True)
class DominatingPair:
    """A dominating pair of distributions, parametrised by epsilon.

    Attributes:
        rho: from epsilon to the least rho.
        curve: from epsilon and an order to the Rényi divergence.
        excess: from epsilon and the target's distance from it to delta.
        left: from epsilon and delta to exp(target - epsilon); zero or less if every target will do.
        ceiling: from epsilon and the probability of an event to the most it can be on a neighbour.
    """

    rho: RhoOf
    curve: RenyiCurve
    excess: RenyiCurve
    left: RenyiCurve
    ceiling: RenyiCurve

    def delta(self, epsilon: Fraction, target: Fraction) -> Fraction:
        """Return the least delta for which (target, delta)-DP follows, rounded up."""
        if target >= epsilon:
            return Fraction(0)
        with precision(_PAIR_BITS):
            return probability_above(self.excess(ball(epsilon), ball(epsilon - target)))

    def target(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """Return the least target for which (target, delta)-DP follows, rounded up."""
        with precision(_PAIR_BITS):
            excess = self.left(ball(epsilon), ball(delta))
            if excess <= 0:
                return Fraction(0)
            if not excess > 0:  # too close to tell
                return epsilon
            target = short_up(upper(ball(epsilon) + excess.log()))
        return min(epsilon, max(target, Fraction(0)))

    def divergence(self, epsilon: Fraction, excess: arb) -> arb:
        """Return a ball with an upper end that bounds the Rényi divergence of order 1 + excess."""
        return divergence(self.curve, epsilon, self.rho(epsilon), excess)


def _odds_shifted(epsilon: arb, chance: arb) -> arb:
    """Return the probability with log-odds larger by epsilon."""
    return chance / (chance + (1 - chance) * (-epsilon).exp())


def _place_shifted(epsilon: arb, chance: arb) -> arb:
    """Return the probability with a Laplace quantile larger by epsilon."""
    place = laplace_quantile(chance) + epsilon
    return place.exp() / 2 if place < 0 else 1 - (-place).exp() / 2


def _factor_away(epsilon: arb, chance: arb) -> arb:
    """Return min(e**epsilon p, 1 - e**-epsilon (1 - p))."""
    rising, falling = chance * epsilon.exp(), 1 - (1 - chance) * (-epsilon).exp()
    return rising.min(falling)


def _response_excess(epsilon: arb, gap: arb) -> arb:
    return -(-gap).expm1() / (1 + (-epsilon).exp())


def _response_left(epsilon: arb, delta: arb) -> arb:
    return 1 - delta * (1 + (-epsilon).exp())


def _range_excess(epsilon: arb, gap: arb) -> arb:
    return (-gap / 2).expm1() ** 2 / -(-epsilon).expm1()


def _range_left(epsilon: arb, delta: arb) -> arb:
    return (1 - (delta * -(-epsilon).expm1()).sqrt()) ** 2


def _laplace_excess(_epsilon: arb, gap: arb) -> arb:
    return -(-gap / 2).expm1()


def _laplace_left(_epsilon: arb, delta: arb) -> arb:
    return (1 - delta) ** 2


RESPONSE = DominatingPair(
    rho=pure_rho,
    curve=of_pure,
    excess=_response_excess,
    left=_response_left,
    ceiling=_factor_away,
)
"""Randomised response, for epsilon-DP."""

RANGE = DominatingPair(
    rho=range_rho,
    curve=of_range,
    excess=_range_excess,
    left=_range_left,
    ceiling=_odds_shifted,
)
"""For epsilon-bounded range: two losses that are epsilon apart, the worst two for the wanted quantity."""

LOGISTIC = DominatingPair(
    rho=logistic_rho,
    curve=of_logistic,
    excess=RANGE.excess,  # its curve is the largest of two losses, at each target another pair
    left=RANGE.left,
    ceiling=_odds_shifted,
)
"""A number with logistic noise of scale 1 / epsilon."""

LAPLACE = DominatingPair(
    rho=laplace_rho,
    curve=of_laplace,
    excess=_laplace_excess,
    left=_laplace_left,
    ceiling=_place_shifted,
)
"""A number with Laplace noise of scale 1 / epsilon."""
