"""The worst pair of distributions for a kind of guarantee, and the Rényi curves of these pairs, in ball arithmetic.

Orders are given by how much they exceed 1, which keeps the digits of those close to it. For proofs, see
docs/explanation/composition.md.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..base.numbers import short_up
from ..sampling.enclosures import ball, laplace_quantile, precision, probability_above, upper
from .rho import RhoOf, laplace_rho, logistic_rho, pure_rho, range_rho

if TYPE_CHECKING:
    from flint import arb

RenyiCurve: TypeAlias = "Callable[[arb, arb], arb]"
"""From epsilon and the excess of the order over 1 to the divergence."""


def of_range(epsilon: arb, excess: arb) -> arb:
    """Return the largest divergence of an epsilon-bounded-range mechanism.

    The worst losses are t and t - epsilon, with exp(-t) = a (e**-epsilon - e**(-a epsilon)) /
    ((a - 1) (1 - e**(-a epsilon))) for the order a.
    """
    # Coq: Rho.range_renyi, Outcomes.curve_is_attained
    a = 1 + excess
    whole, part = _missing(a * epsilon), _missing(excess * epsilon)
    t = epsilon + (excess * whole / (a * part)).log()
    return (a * t - epsilon + (part / (excess * _missing(epsilon))).log()) / excess


def of_pure(epsilon: arb, excess: arb) -> arb:
    """Return the divergence of randomised response, the largest of an epsilon-DP mechanism."""
    ratio = (1 + (-(1 + 2 * excess) * epsilon).exp()) / (1 + (-epsilon).exp())
    return epsilon + ratio.log() / excess


def of_logistic(epsilon: arb, excess: arb) -> arb:
    """Return the divergence of logistic noise of scale 1 / epsilon."""
    twice = 1 + 2 * excess
    ratio = _missing(twice * epsilon) / (twice * _missing(epsilon))
    return epsilon + ratio.log() / excess


def of_laplace(epsilon: arb, excess: arb) -> arb:
    """Return the divergence of Laplace noise of scale 1 / epsilon."""
    twice = 1 + 2 * excess
    ratio = (1 + excess + excess * (-twice * epsilon).exp()) / twice
    return epsilon + ratio.log() / excess


def divergence(curve: RenyiCurve, epsilon: Fraction, rho: Fraction, excess: arb) -> arb:
    """Return the curve at that order, or the bound by epsilon or rho if that is less or precision is short."""
    simple = ball(rho) * (1 + excess)
    simple = ball(epsilon) if simple > ball(epsilon) else simple
    exact = curve(ball(epsilon), excess)
    return exact if exact.is_finite() and exact.upper() < simple.upper() else simple


def _missing(x: arb) -> arb:
    """Return 1 - exp(-x)."""
    return -(-x).expm1()


_PAIR_BITS = 512


class DominatingPair(NamedTuple):
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
    # Coq: Range.range_is_logistic, Rounds.summed_range_is_logistic
    return chance / (chance + (1 - chance) * (-epsilon).exp())


def _place_shifted(epsilon: arb, chance: arb) -> arb:
    """Return the probability with a Laplace quantile larger by epsilon."""
    # Coq: Laplace.laplace_of_quantile, FlipLaplace.pf_is_laplace
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
