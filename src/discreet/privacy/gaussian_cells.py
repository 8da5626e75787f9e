"""The exact delta of whole numbers with discrete Gaussian noise, of which so many move by so many steps each.

Proofs: docs/reference/mechanisms/gaussian_noise.md.
"""

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from ..sampling.enclosures import ball, precision, probability_above, upper
from ..sampling.gaussian_tails import tail, total_weight, weight
from .conversions import delta_of_curve
from .pld import UNIT, LossDistribution

_DELTA_BITS = 512

_SMOOTH = 4
"""The least parameter at which the sum of cells has the law of one, but for a factor of 1 + 2**-54 a cell."""

_MOST_CONVOLVED = 2**16
"""The most cells with less noise of which the law of the sum is worked out. Of more only rho tells delta."""

_NATS = 95
"""Noise of a probability below exp(-_NATS), which is below 2**-136, counts as infinite loss."""


def delta_of_cells(
    sigma_squared: Fraction, cells: int, steps: int, epsilon: Fraction, digits: int = _DELTA_BITS
) -> Fraction:
    """Return the least delta at an epsilon of zero or more, rounded up.

    Args:
        sigma_squared: the parameter of the noise.
        cells: how many numbers move.
        steps: by how much each of them moves.
        epsilon: the epsilon.
        digits: the precision of the balls.
    """
    if cells > _MOST_CONVOLVED and sigma_squared < _SMOOTH:
        rho = cells * steps**2 / (2 * sigma_squared)
        return delta_of_curve(lambda excess: ball(rho) * (1 + excess), epsilon)
    if cells > 1 and sigma_squared < _SMOOTH:
        return _sum_of_losses(sigma_squared, cells, steps).delta(epsilon)
    # The loss at a sum of s is (2 s d + m d**2) / (2 sigma**2): the first s at which it is above epsilon.
    first = math.floor(epsilon * sigma_squared / steps - Fraction(cells * steps, 2)) + 1
    with precision(digits):
        here = _tail_of_sum(first, sigma_squared, cells, digits)
        there = _tail_of_sum(first + cells * steps, sigma_squared, cells, digits)
        return probability_above(here - ball(epsilon).exp() * there)


@lru_cache(maxsize=4096)
def _tail_of_sum(k: int, sigma_squared: Fraction, cells: int, _digits: int) -> arb:
    """Return a ball around P(S >= k) of the sum S of so many cells, at the precision in force."""
    return tail(k, cells * sigma_squared) * _off(sigma_squared, cells)


def _off(sigma_squared: Fraction, cells: int) -> arb:
    """Return a ball around all factors from the law of one cell of the summed parameter to that of the sum."""
    # *Sums*: H <= (m - 1) h(v) at v = sigma**2 / 2, h(v) = ln((1 + r) / (1 - r)),
    # r = 2 exp(-2 pi**2 v) / (1 - exp(-6 pi**2 v)).
    if cells == 1:
        return arb(1)
    v = arb.pi() ** 2 * ball(sigma_squared)
    r = 2 * (-v).exp() / -(-3 * v).expm1()
    off = (cells - 1) * ((1 + r) / (1 - r)).log()
    return arb(0, off.upper()).exp()


@lru_cache(maxsize=64)
def _sum_of_losses(sigma_squared: Fraction, cells: int, steps: int) -> LossDistribution:
    """Return the losses of so many cells: that of one is (2 j + d) * d / (2 sigma**2) where its noise is j."""
    last = math.isqrt(int(2 * _NATS * sigma_squared)) + 1
    with precision(_DELTA_BITS):
        whole = total_weight(sigma_squared)
        chances = [_units(weight(j, sigma_squared) / whole) for j in range(-last, last + 1)]
        rest = _units(tail(last + 1, sigma_squared))
    masses = [0] * (2 * len(chances) - 1)
    masses[::2] = chances
    masses[0] += rest  # mass that moves to a higher loss leads above
    step = steps / (2 * sigma_squared)
    return LossDistribution(step, steps - 2 * last, tuple(masses), rest).composed(cells)


def _units(chance: arb) -> int:
    """Return a probability in units of loss distributions, rounded up."""
    return math.ceil(upper(chance) * UNIT)
