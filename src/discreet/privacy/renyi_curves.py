"""The Rényi curves of the kinds of one epsilon, in ball arithmetic. Proofs: docs/explanation/composition.md.

Orders are given by how much they exceed 1, which keeps the digits of those close to it.
"""

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from ..sampling.enclosures import ball

RenyiCurve = Callable[[arb, arb], arb]
"""From epsilon and the excess of the order over 1 to the divergence."""


def of_range(epsilon: arb, excess: arb) -> arb:
    """Return the largest divergence of an epsilon-bounded-range mechanism.

    The worst losses are t and t - epsilon, with exp(-t) = a (e**-epsilon - e**(-a epsilon)) /
    ((a - 1) (1 - e**(-a epsilon))) for the order a.
    """
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
