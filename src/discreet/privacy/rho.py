"""Zero-concentrated privacy: the least rho by kind and epsilon, and its inverse.

For proofs, see docs/explanation/composition.md.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from ..base.numbers import root_below, short_up
from ..sampling.enclosures import ball, precision, upper

if TYPE_CHECKING:
    from flint import arb

RhoOf = Callable[[Fraction], Fraction]
"""From epsilon to the rho that follows, rounded up."""

_RHO_BITS = 256

_SMALL = Fraction(1, 2**24)
"""Below it, epsilon**2 / 8 is the least rho of a bounded range, epsilon**2 / 6 that of logistic noise, but
for a factor 1 + 2**-48."""

_TINY = Fraction(1, 2**48)
"""Below it, epsilon**2 / 2 is the least rho of Laplace noise but for a factor 1 + 2**-48."""

_DIAL_BITS = 48

_RHO_STEPS = 100
"""Bisections to the point of contact: more than the 64 bits of a rho need."""


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
def response_rho(epsilon: Fraction, answers: int) -> Fraction:
    """Return a rho for randomised response among so many answers, the least but for rounding.

    The divergence of order a, over a, is the slope of a chord of g(u) = ln(cosh(v) + c), from u = 1/4 to u =
    (a - 1/2)**2, where v**2 = epsilon**2 * u. g is concave, or convex first and then concave. If it is concave from
    the start, the steepest chord is the tangent there. Else it touches g further on, and the slope of g at any
    point of the concave part before that contact is a bound.
    """
    if epsilon < _TINY and answers == 2:
        return pure_rho(epsilon)
    with precision(_RHO_BITS):
        e = ball(epsilon)
        c = (answers - 2) * (-e / 2).exp() / 2
        start = epsilon / 2
        if c <= 2 or _is_concave(ball(start), c):
            least = e * -(-e).expm1() / (1 + (answers - 1) * (-e).exp())
        else:
            before = _before_contact(start, c)
            least = e if before is None else e**2 / 2 * _slope(ball(before), c)
        return min(short_up(upper(least)), pure_rho(epsilon))


def _before_contact(start: Fraction, c: arb) -> Fraction | None:
    """Return a v before the point of contact, as near as bisection comes, or None if none is certain."""

    def is_beyond(v: arb) -> bool:
        return _is_concave(v, c) and not _is_before(v, ball(start), c)

    low, high, certain = start, max(2 * start, Fraction(1)), None
    while not is_beyond(ball(high)):
        high *= 2
    for _ in range(_RHO_STEPS):
        middle = (low + high) / 2
        v = ball(middle)
        if is_beyond(v):
            high = middle
            continue
        low = middle
        if _is_concave(v, c):
            certain = middle
    return certain


def _is_concave(v: arb, c: arb) -> bool:
    """Return whether g is certainly concave at v, and so beyond: coth v - 1 / v <= sinh v / (cosh v + c)."""
    return bool(v.coth() - 1 / v <= v.sinh() / (v.cosh() + c))


def _is_before(v: arb, start: arb, c: arb) -> bool:
    """Return whether the chord from the start to v is certainly less steep than the tangent at v."""
    rise = ((v.cosh() + c) / (start.cosh() + c)).log()
    return bool(_slope(v, c) * (v**2 - start**2) / 2 > rise)


def _slope(v: arb, c: arb) -> arb:
    """Return twice the slope of g at v, by v**2."""
    return v.sinh() / (v * (v.cosh() + c))


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
