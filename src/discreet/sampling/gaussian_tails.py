"""Tails of the discrete Gaussian law, as certified intervals.

P(X = j) is exp(-j**2 / (2 s)) / Z for all whole j. Z is the sum of these weights, and s the parameter, a rational
number above zero, written `sigma_squared`. The variance is s but for a hair, and less where s is small. For proofs,
see docs/reference/mechanisms/gaussian_noise.md.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import flint
from flint import arb

from .enclosures import ball

_GUARD = 16
"""Bits by which what is left out is smaller than the precision in force."""

_FAR = 4
"""Tails below 2 to the minus so many times the precision in force are enclosed from above alone."""


def tail(k: int, sigma_squared: Fraction) -> arb:
    """Return a ball around P(X >= k), at the precision in force."""
    if k < 1:
        return 1 - tail(1 - k, sigma_squared)
    digits = flint.ctx.prec
    depth = int(
        k * k / sigma_squared * Fraction(3, 4)
    )  # about the bits by which the tail is below one
    if digits + depth > 4 * sigma_squared:
        return tail_weight(k, sigma_squared) / total_weight(sigma_squared)
    if depth > _FAR * digits:
        most = weight(k, sigma_squared) / -ball(-k / sigma_squared).expm1()
        return _up_to(most) / total_weight(sigma_squared)
    return _smooth_tail(k, sigma_squared, digits + depth + _GUARD)


def weight(j: int, sigma_squared: Fraction) -> arb:
    """Return a ball around exp(-j**2 / (2 s)), at the precision in force."""
    return ball(-j * j / (2 * sigma_squared)).exp()


def weights(first: int, sigma_squared: Fraction) -> Iterator[arb]:
    """Yield balls around the weights of first, first + 1 and so on."""
    now = weight(first, sigma_squared)
    ratio = ball(-(2 * first + 1) / (2 * sigma_squared)).exp()
    fall = ball(-1 / sigma_squared).exp()
    while True:
        yield now
        now *= ratio
        ratio *= fall


def rest_of_weights(first: int, heaviest: arb, sigma_squared: Fraction) -> arb:
    """Return a ball around the sum of the weights from `first` >= 1 on, of which `heaviest` is the first."""
    # They fall at least as fast as by exp(-first / s) a step.
    return _up_to(heaviest / -ball(-first / sigma_squared).expm1())


def tail_weight(k: int, sigma_squared: Fraction) -> arb:
    """Return a ball around the sum of the weights from k >= 1 on, at the precision in force."""
    sum_, negligible = arb(0), arb(2) ** -(flint.ctx.prec + _GUARD)
    for j, one in enumerate(weights(k, sigma_squared), k):
        if not one > negligible * sum_:
            return sum_ + rest_of_weights(j, one, sigma_squared)
        sum_ += one
    raise AssertionError("weights have no end")


def tail_weights(last: int, sigma_squared: Fraction) -> list[arb]:
    """Return balls around the sums of the weights from k on, for k = 1, ..., last: each weight is added once."""
    falling = weights(1, sigma_squared)
    heavy = [next(falling) for _ in range(last)]
    sum_ = rest_of_weights(last + 1, next(falling), sigma_squared)
    sums = []
    for one in reversed(heavy):
        sum_ += one
        sums.append(sum_)
    return sums[::-1]


def total_weight(sigma_squared: Fraction) -> arb:
    """Return a ball around Z, the sum of all weights, at the precision in force."""
    if flint.ctx.prec > 4 * sigma_squared:
        return 1 + 2 * tail_weight(1, sigma_squared)
    # By Poisson's formula, Z = sqrt(2 pi s) * (1 + 2 * sum exp(-2 pi**2 s j**2)), which falls faster.
    decay = (-2 * arb.pi() ** 2 * ball(sigma_squared)).exp()
    return (2 * arb.pi() * ball(sigma_squared)).sqrt() * (1 + _up_to(4 * decay))


def _up_to(most: arb) -> arb:
    """Return a ball around all numbers from zero to the upper end of a ball."""
    half = most.upper() / 2
    return arb(half.mid(), half.upper())


def _smooth_tail(k: int, sigma_squared: Fraction, bits: int) -> arb:
    """Return the tail by the formula of Euler and Maclaurin, off by less than 2**-bits beside rounding."""
    # *Wide noise*: t = k / sigma, and the terms are B[2r] / (2r)! * sigma**(1 - 2r) * He[2r - 1](t).
    order = _order(sigma_squared, bits)
    sigma = ball(sigma_squared).sqrt()
    t = k / sigma
    below, here = arb(1), t  # Hermite polynomials of the orders 2r - 2 and 2r - 1
    sum_, power = arb(0.5), 1 / sigma
    for r in range(1, order + 1):
        sum_ += arb(flint.fmpq.bernoulli(2 * r) / flint.fmpz(math.factorial(2 * r))) * power * here
        even = t * here - (2 * r - 1) * below
        below, here = even, t * even - 2 * r * here
        power /= ball(sigma_squared)
    integral = sigma * (arb.pi() / 2).sqrt() * (t / arb(2).sqrt()).erfc()
    error = (
        arb("2.2") * arb(math.factorial(2 * order)).sqrt() / (2 * arb.pi() * sigma) ** (2 * order)
    )
    inside = integral + (-t * t / 2).exp() * sum_
    return inside / total_weight(sigma_squared) + arb(0, error.upper())


def _order(sigma_squared: Fraction, bits: int) -> int:
    """Return how many terms keep the error of the formula below 2**-bits, two at least."""
    whole = int(sigma_squared)  # the formula is for parameters above 1
    step = 2 * math.log2(2 * math.pi) + math.log2(whole)
    order, left = 0, bits + 2.0
    while order < 2 or left > 0:
        order += 1
        left -= step - math.log2(2 * order * (2 * order - 1)) / 2
    return order
