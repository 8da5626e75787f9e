"""The least discrete Gaussian noise for an epsilon and a delta: every parameter returned is one that was checked.

For proofs, see docs/reference/mechanisms/gaussian_noise.md.
"""

from fractions import Fraction
from functools import lru_cache

from .gaussian_cells import Cases, Cells, Moves, delta_of_moves, rho_of_cases

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
