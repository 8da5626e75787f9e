"""The exact delta of whole numbers with discrete Gaussian noise, and the least noise for an epsilon and a delta.

So many of the numbers move by so many steps each. Every parameter returned is one that was checked. For proofs, see
docs/reference/mechanisms/gaussian_noise.md.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, reduce
from typing import NamedTuple

from flint import arb

from ..sampling.enclosures import ball, precision, probability_above, upper
from ..sampling.gaussian_tails import tail, total_weight, weight
from .conversions import delta_of_curve
from .pld import UNIT, LossDistribution

_DELTA_BITS = 512

_SMOOTH = Fraction(2)
"""The least spread at which a sum has the law of one number, but for a factor of 1 + 2**-54 each."""

_ROUGH = Fraction(1, 4)
"""Below this spread rho alone tells the delta of numbers that are too many or too unlike."""

_MOST_CONVOLVED = 2**16
"""The most numbers with less noise whose laws are convolved, and the most losses of all of them."""

_MOST_CASES = 64
"""The most cases that are compared; of more, neighbouring ones are taken together."""

_NATS = 95
"""Noise of a probability below exp(-_NATS), which is below 2**-136, counts as infinite loss."""


class Cells(NamedTuple):
    """Numbers with equal noise that move equally far.

    Attributes:
        sigma_squared: the parameter of their noise.
        cells: how many they are.
        steps: by how much each of them moves.
    """

    sigma_squared: Fraction
    cells: int
    steps: int

    @property
    def rho(self) -> Fraction:
        """Half of the variance of their loss."""
        return self.cells * self.steps**2 / (2 * self.sigma_squared)

    @property
    def rate(self) -> Fraction:
        """By how much the loss grows where the noise of one number does by 1."""
        return self.steps / self.sigma_squared


Moves = tuple[Cells, ...]
"""Numbers that move together, by kind."""


Cases = tuple[Moves, ...]
"""The ways in which neighbours may differ, of which the worst counts at every epsilon."""


def rho_of_cases(cases: Cases) -> Fraction:
    """Return the largest rho of some cases."""
    return max(sum((one.rho for one in moves), Fraction(0)) for moves in cases)


def delta_of_cases(cases: Cases, epsilon: Fraction, digits: int = _DELTA_BITS) -> Fraction:
    """Return the largest delta of some cases."""
    return max(delta_of_moves(moves, epsilon, digits) for moves in cases)


def cases_of_sums(
    sigma_squared: Fraction, groups: int, common: int, steps: int, shift: int
) -> Cases:
    """Return the ways in which the sums of groups move where a record is replaced.

    It is in t groups both times, t from `common` to `groups`. These sums move by up to `shift`, and `groups` - t
    before it and as many after it by up to `steps`. Of many cases neighbouring ones are one, no better than any.
    """
    every = range(common, groups + 1)
    size = -(-len(every) // _MOST_CASES)
    ends = [(every[i], every[min(i + size, len(every)) - 1]) for i in range(0, len(every), size)]
    return tuple(
        tuple(
            Cells(sigma_squared, cells, by)
            for cells, by in ((last, shift), (2 * (groups - first), steps))
            if cells
        )
        for first, last in ends
    )


def delta_of_cells(
    sigma_squared: Fraction, cells: int, steps: int, epsilon: Fraction, digits: int = _DELTA_BITS
) -> Fraction:
    """Return `delta_of_moves` of numbers of one kind."""
    return delta_of_moves((Cells(sigma_squared, cells, steps),), epsilon, digits)


def delta_of_moves(moves: Moves, epsilon: Fraction, digits: int = _DELTA_BITS) -> Fraction:
    """Return the least delta at an epsilon of zero or more, rounded up.

    Args:
        moves: the numbers that move.
        epsilon: the epsilon.
        digits: the precision of the balls.
    """
    spread = min(_spreads(moves), default=_SMOOTH)
    if spread < _SMOOTH and _is_short(moves):
        return _sum_of_losses(moves).delta(epsilon)
    if spread >= _ROUGH:
        return _by_one_law(moves, epsilon, digits)
    rho = sum((one.rho for one in moves), Fraction(0))
    return delta_of_curve(lambda excess: ball(rho) * (1 + excess), epsilon)


def _by_one_law(moves: Moves, epsilon: Fraction, digits: int) -> Fraction:
    """Return a bound on delta by the law of one number, and how far that of the sum may be from it."""
    # *Unlike numbers*: the loss is unit * T + rho, and T falls by 2 * rho / unit on the other side.
    unit, rho = _common_rate(moves), sum((one.rho for one in moves), Fraction(0))
    parameter = sum(
        (one.cells * one.sigma_squared * (one.rate / unit) ** 2 for one in moves), Fraction(0)
    )
    first, fall = math.floor((epsilon - rho) / unit) + 1, int(2 * rho / unit)
    with precision(digits):
        factors = _off(moves, digits)
        here = _tail(first, parameter, digits) * factors
        there = _tail(first + fall, parameter, digits) * factors
        return probability_above(here - ball(epsilon).exp() * there)


@lru_cache(maxsize=4096)
def _tail(k: int, parameter: Fraction, _digits: int) -> arb:
    """Return a ball around P(X >= k) of one number, at the precision in force."""
    return tail(k, parameter)


def _common_rate(moves: Moves) -> Fraction:
    """Return the largest number of which all rates are multiples."""
    return reduce(_common_divisor, (one.rate for one in moves))


def _common_divisor(a: Fraction, b: Fraction) -> Fraction:
    """Return the largest number of which both are multiples."""
    bottom = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * bottom), int(b * bottom)), bottom)


def _spreads(moves: Moves) -> Iterator[Fraction]:
    """Yield the least parameter of the noise that is left where numbers of a kind, and kinds, are added."""
    for one in moves:
        if one.cells > 1:
            yield one.sigma_squared / 2
    rate, parameter = moves[0].rate, moves[0].cells * moves[0].sigma_squared
    for one in moves[1:]:
        both = _common_divisor(rate, one.rate)
        mine, theirs, other = rate / both, one.rate / both, one.cells * one.sigma_squared
        yield 1 / (theirs**2 / parameter + mine**2 / other)
        rate, parameter = both, mine**2 * parameter + theirs**2 * other


@lru_cache(maxsize=256)
def _off(moves: Moves, _digits: int) -> arb:
    """Return a ball around all factors from the law of one number to that of the sum, at the precision in force."""
    # *Sums*: H adds up h(v) = ln((1 + r) / (1 - r)), r = 2 exp(-2 pi**2 v) / (1 - exp(-6 pi**2 v)).
    several = [one.cells - 1 for one in moves if one.cells > 1]
    numbers = [*several, *[1] * (len(moves) - 1)]
    off = arb(0)
    for number, spread in zip(numbers, _spreads(moves), strict=True):
        v = 2 * arb.pi() ** 2 * ball(spread)
        r = 2 * (-v).exp() / -(-3 * v).expm1()
        off += number * ((1 + r) / (1 - r)).log()
    return arb(0, off.upper()).exp() if numbers else arb(1)


def _is_short(moves: Moves) -> bool:
    """Return whether the losses of all numbers together are few enough to be worked out."""
    unit = _common_rate(moves)
    losses = sum(
        (2 * _last(one.sigma_squared) + 1) * (one.rate / unit) for one in moves if len(moves) > 1
    )
    return sum(one.cells for one in moves) <= _MOST_CONVOLVED and losses <= _MOST_CONVOLVED


@lru_cache(maxsize=64)
def _sum_of_losses(moves: Moves) -> LossDistribution:
    """Return the losses of all numbers together."""
    step = _common_rate(moves) / 2
    return reduce(LossDistribution.combined, (_losses_on(one, step) for one in moves))


@lru_cache(maxsize=64)
def _losses_on(moves: Cells, step: Fraction) -> LossDistribution:
    """Return the losses of numbers of one kind: that of one is (2 j + d) d / (2 sigma**2) at a noise of j."""
    sigma_squared, cells, steps = moves
    last = _last(sigma_squared)
    with precision(_DELTA_BITS):
        whole = total_weight(sigma_squared)
        chances = [_units(weight(j, sigma_squared) / whole) for j in range(-last, last + 1)]
        rest = _units(tail(last + 1, sigma_squared))
    pace = moves.rate / 2 / step
    masses = [0] * (int(2 * pace) * (len(chances) - 1) + 1)
    masses[:: int(2 * pace)] = chances
    masses[0] += rest  # mass that moves to a higher loss leads above
    lowest = int(pace) * (steps - 2 * last)
    return LossDistribution(step, lowest, tuple(masses), rest).composed(cells)


def _last(sigma_squared: Fraction) -> int:
    """Return the largest noise that has a mass of its own."""
    return math.isqrt(int(2 * _NATS * sigma_squared)) + 1


def _units(chance: arb) -> int:
    """Return a probability in units of loss distributions, rounded up."""
    return math.ceil(upper(chance) * UNIT)


_GRID_BITS = 12
"""Significant bits of a parameter: at most one part in 2,048 too much variance."""


@lru_cache(maxsize=256)
def least_sigma_squared(epsilon: Fraction, delta: Fraction, cells: int, steps: int) -> Fraction:
    """Return `least_common_parameter` of numbers of one kind."""
    return least_common_parameter(epsilon, delta, ((Cells(Fraction(1), cells, steps),),))


@lru_cache(maxsize=256)
def least_common_parameter(epsilon: Fraction, delta: Fraction, cases: Cases) -> Fraction:
    """Return a factor for all parameters of noise with which every one of these cases is (epsilon, delta)-DP.

    It is the least of 12 significant bits that bisection finds, from the power of two that it starts at.

    Args:
        epsilon: the epsilon.
        delta: the delta.
        cases: the numbers that may move together, with their noise before the factor.
    """

    def keeps(place: int) -> bool:
        factor = _parameter(place)
        return all(delta_of_moves(_wider(moves, factor), epsilon) <= delta for moves in cases)

    octave = 1 << (_GRID_BITS - 1)
    # The first power of two is that above the squared distance, in all versions: the result depends on it.
    high = octave * int(2 * rho_of_cases(cases)).bit_length()
    while not keeps(high):
        high += octave
    while keeps(high - octave):
        high -= octave
    low = high - octave
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return _parameter(high)


def _wider(moves: Moves, factor: Fraction) -> Moves:
    """Return numbers with noise of a larger parameter."""
    return tuple(one._replace(sigma_squared=factor * one.sigma_squared) for one in moves)


def _parameter(place: int) -> Fraction:
    """Return the parameter at a place of the grid: that of 2**e is e * 2**11."""
    exponent, rest = divmod(place, 1 << (_GRID_BITS - 1))
    significand = (1 << (_GRID_BITS - 1)) + rest
    return significand * Fraction(2) ** (exponent - _GRID_BITS + 1)
