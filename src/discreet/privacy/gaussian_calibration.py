"""The least discrete Gaussian noise for an epsilon and a delta: every parameter returned is one that was checked.

Proofs: docs/reference/mechanisms/gaussian_noise.md.
"""

from fractions import Fraction
from functools import lru_cache

from .gaussian_cells import delta_of_cells

_GRID_BITS = 12
"""Significant bits of a parameter: at most one part in 2,048 too much variance."""


@lru_cache(maxsize=256)
def least_sigma_squared(epsilon: Fraction, delta: Fraction, cells: int, steps: int) -> Fraction:
    """Return a parameter with which `cells` numbers that move by `steps` each are (epsilon, delta)-DP.

    It is the least of 12 significant bits that bisection finds, from the power of two that it starts at.
    """

    def keeps(place: int) -> bool:
        return delta_of_cells(_parameter(place), cells, steps, epsilon) <= delta

    octave = 1 << (_GRID_BITS - 1)
    # The first power of two is that above the squared distance, in all versions: the result depends on it.
    high = octave * (cells * steps**2).bit_length()
    while not keeps(high):
        high += octave
    while keeps(high - octave):
        high -= octave
    low = high - octave
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return _parameter(high)


def _parameter(place: int) -> Fraction:
    """Return the parameter at a place of the grid: that of 2**e is e * 2**11."""
    exponent, rest = divmod(place, 1 << (_GRID_BITS - 1))
    significand = (1 << (_GRID_BITS - 1)) + rest
    return significand * Fraction(2) ** (exponent - _GRID_BITS + 1)
