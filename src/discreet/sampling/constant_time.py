"""Exponentials of many numbers up to 0 by the same operations for any of them: a C library takes others for others.

A number is split into the nearest multiple of 1/32, whose value is in a table, and a rest that a series serves. The
bounds of the errors are proved in docs/explanation/draw.md, *By the same operations*.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

MULTIPLES = 32
"""How many multiples there are from one whole number to the next."""

SERIES = (1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2)

_LENGTH = 2**11

LOWEST = -(_LENGTH - 1) / MULTIPLES
"""Numbers below it count as it: it is the last multiple in the tables."""

_ROUNDING = 1.5 * 2.0**52 / MULTIPLES
"""Added to a number of at most 2**45 it leaves the nearest multiple in the lowest bits."""


@cache
def _tables() -> NDArray[np.float64]:
    """Return exp(k) and exp(k) - 1 of the multiples k, by the lowest bits of their numbers."""
    multiples = (-(-np.arange(_LENGTH) % _LENGTH) / MULTIPLES).tolist()
    return np.array([[*map(math.exp, multiples)], [*map(math.expm1, multiples)]])


def replace_by_exp(
    numbers: NDArray[np.float64], places: NDArray[np.int64], room: NDArray[np.float64]
) -> None:
    """Replace numbers x up to 0 by exp(x).

    Args:
        numbers: the numbers.
        places: as many integers, which are written over.
        room: as many doubles, which are written over.
    """
    _split(numbers, places, room)
    room += 1.0
    _tables()[0].take(places, out=numbers, mode="clip")
    numbers *= room


def replace_by_expm1(
    numbers: NDArray[np.float64], places: NDArray[np.int64], room: NDArray[np.float64]
) -> None:
    """Replace numbers x up to 0 by exp(x) - 1. The arguments are those of `replace_by_exp`."""
    _split(numbers, places, room)
    # exp(k + r) - 1 is (exp(k) - 1) + (exp(r) - 1) + their product.
    _tables()[1].take(places, out=numbers, mode="clip")
    products = np.multiply(numbers, room, out=places.view(np.float64))
    numbers += room
    numbers += products


def _split(
    numbers: NDArray[np.float64], places: NDArray[np.int64], room: NDArray[np.float64]
) -> None:
    """Write the places of the nearest multiples in tables, and exp(r) - 1 of the rests r into `room`."""
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
