"""Sums of numbers that are rounded to a grid, one by one: whole numbers, and exact."""

import numpy as np

from ...sampling.vectors import Integers
from ...selection.candidates import Grid
from .column import Numeric

_BLOCK = 2**20
_HALF_WORD = 31


def total_on_grid(column: Numeric, grid: Grid) -> tuple[int, int]:
    """Return how many numbers there are, and the sum of the indices of their nearest points. Private.

    A number is rounded half up, by itself and exactly; one outside the grid counts as its end. Engines count the
    records of each point, so what leaves them grows with the points that records have, and not with the records.
    """
    nearest, multiplicities = _nearest_points(column, grid)
    if multiplicities is None:
        return len(nearest), exact_sum(nearest)
    times = multiplicities.tolist()
    pairs = zip(nearest.tolist(), times, strict=True)
    return sum(times), sum(index * many for index, many in pairs)


def squares_on_grid(column: Numeric, grid: Grid, middle: int) -> tuple[int, int, int]:
    """Return how many numbers there are, their sum, and that of their squares, in steps from a point. Private."""
    nearest, multiplicities = _nearest_points(column, grid)
    is_counted = multiplicities is not None
    counted = (nearest, multiplicities) if is_counted else np.unique(nearest, return_counts=True)
    points, times = (one.tolist() for one in counted if one is not None)
    pairs = [(index - middle, many) for index, many in zip(points, times, strict=True)]
    number = sum(many for _, many in pairs)
    return number, sum(x * many for x, many in pairs), sum(x * x * many for x, many in pairs)


def _nearest_points(column: Numeric, grid: Grid) -> tuple[Integers, Integers | None]:
    """Return the indices of the nearest points of numbers, and how often each occurs; None for once."""
    source = column.on_grid(grid)
    if source is not None:
        return source.occupancy(grid.nearest)
    values, multiplicities = column.numbers()
    return grid.nearest(values), multiplicities


def exact_sum(indices: Integers) -> int:
    """Return the sum of integers from 0 on, which no word need hold."""
    if indices.dtype == object:
        return sum(indices.tolist())
    total = 0
    for start in range(0, len(indices), _BLOCK):
        # Halves of 31 bits: the sum of a block of them is below 2**51.
        block = indices[start : start + _BLOCK]
        high, low = block >> _HALF_WORD, block & ((1 << _HALF_WORD) - 1)
        total += (int(np.add.reduce(high)) << _HALF_WORD) + int(np.add.reduce(low))
    return total
