"""exp(x) - 1 of many numbers up to 0 by the same operations for any of them: a C library takes others for others.

A number is split into the nearest multiple of 1/32, whose value is in a table, and a rest that a series serves. The
bound of its error is proved in docs/explanation/draw.md, *By the same operations*.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

MULTIPLES = 32
"""How many multiples there are from one whole number to the next."""

LOWEST = -40.0
"""Numbers below it count as it: exp(x) - 1 differs by less than half a unit in the last place."""

SERIES = (1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2)

_LENGTH = 2**11
"""Modulo it, multiples from `LOWEST` to 0 are different."""

_ROUNDING = 1.5 * 2.0**52 / MULTIPLES
"""Added to a number of at most 2**45 it leaves the nearest multiple in the lowest bits."""


@cache
def _table() -> NDArray[np.float64]:
    """Return exp(x) - 1 of the multiples, by the lowest bits of their numbers."""
    return np.expm1(-(-np.arange(_LENGTH) % _LENGTH) / MULTIPLES)


def replace_by_expm1(
    numbers: NDArray[np.float64], places: NDArray[np.int64], room: NDArray[np.float64]
) -> None:
    """Replace numbers x up to 0 by exp(x) - 1.

    Args:
        numbers: the numbers.
        places: as many integers, which are written over.
        room: as many doubles, which are written over.
    """
    np.maximum(numbers, LOWEST, out=numbers)
    np.add(numbers, _ROUNDING, out=room)
    np.bitwise_and(room.view(np.int64), _LENGTH - 1, out=places)
    room -= _ROUNDING
    numbers -= room  # exact: *By the same operations* in draw.md
    np.multiply(numbers, SERIES[0], out=room)
    for coefficient in SERIES[1:]:
        room += coefficient
        room *= numbers
    room += 1.0
    room *= numbers
    # exp(k + r) - 1 is (exp(k) - 1) + (exp(r) - 1) + their product.
    _table().take(places, out=numbers, mode="clip")
    products = np.multiply(numbers, room, out=places.view(np.float64))
    numbers += room
    numbers += products
