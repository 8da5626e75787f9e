"""Zero-concentrated privacy: the least rho by kind and epsilon, and its inverse.

Proofs: docs/explanation/composition.md.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from ..base.numbers import root_below, short_up
from ..sampling.enclosures import ball, precision, upper

RhoOf = Callable[[Fraction], Fraction]
"""From epsilon to the rho that follows, rounded up."""

_RHO_BITS = 256

_SMALL = Fraction(1, 2**24)
"""Below it, epsilon**2 / 8 is the least rho of a bounded range, epsilon**2 / 6 that of logistic noise, but
for a factor 1 + 2**-48."""

_TINY = Fraction(1, 2**48)
"""Below it, epsilon**2 / 2 is the least rho of Laplace noise but for a factor 1 + 2**-48."""

_DIAL_BITS = 48


@lru_cache(maxsize=1024)
def range_rho(epsilon: Fraction) -> Fraction:
    """Return the least rho for epsilon-bounded range: k - 1 - ln k, with k = epsilon / (e**epsilon - 1)."""
    # Coq: Kappa.kappa_below_hoeffding, Rho.range_is_concentrated, Rho.kappa_is_least
    if epsilon < _SMALL:
        return short_up(epsilon**2 / 8)
    with precision(_RHO_BITS):
        e = ball(epsilon)
        rest = -(-e).expm1()  # 1 - e**-epsilon
        k = e * (-e).exp() / rest
        return min(short_up(upper(k - 1 - e.log() + e + rest.log())), epsilon)


@lru_cache(maxsize=1024)
def pure_rho(epsilon: Fraction) -> Fraction:
    """Return the least rho for epsilon-DP: epsilon * tanh(epsilon / 2)."""
    with precision(_RHO_BITS):
        e = ball(epsilon)
        return min(short_up(upper(e * (e / 2).tanh())), epsilon)


@lru_cache(maxsize=1024)
def geometric_rho(epsilon: Fraction, steps: int) -> Fraction:
    """Return the least rho for geometric noise of rate eta = epsilon / steps on a number that moves by `steps`.

    That is epsilon - eta * (1 - e**-epsilon) / sinh(eta).
    """
    if epsilon < _TINY:
        return pure_rho(epsilon)
    with precision(_RHO_BITS):
        e = ball(epsilon)
        eta = e / steps
        return min(short_up(upper(e + eta * (-e).expm1() / eta.sinh())), pure_rho(epsilon))


@lru_cache(maxsize=1024)
def logistic_rho(epsilon: Fraction) -> Fraction:
    """Return the least rho for logistic noise of scale 1 / epsilon: epsilon / tanh(epsilon / 2) - 2."""
    if epsilon < _SMALL:
        return short_up(epsilon**2 / 6)
    with precision(_RHO_BITS):
        e = ball(epsilon)
        return min(short_up(upper(e / (e / 2).tanh() - 2)), epsilon)


@lru_cache(maxsize=1024)
def laplace_rho(epsilon: Fraction) -> Fraction:
    """Return the least rho for Laplace noise of scale 1 / epsilon: epsilon - 1 + e**-epsilon."""
    if epsilon < _TINY:
        return short_up(epsilon**2 / 2)
    with precision(_RHO_BITS):
        e = ball(epsilon)
        return min(short_up(upper(e + (-e).expm1())), epsilon)


def largest_epsilon(rho_of: RhoOf, rho: Fraction) -> Fraction:
    """Return the largest epsilon of 48 significant bits with rho_of(epsilon) <= rho."""
    root = root_below(2 * rho)  # no rho_of exceeds epsilon**2 / 2
    low = Fraction(2) ** (root.numerator.bit_length() - root.denominator.bit_length() - 2)
    while rho_of(2 * low) <= rho:
        low *= 2
    step = low
    for _ in range(_DIAL_BITS - 1):
        step /= 2
        if rho_of(low + step) <= rho:
            low += step
    return low
