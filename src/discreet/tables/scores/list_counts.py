"""How many records are below and above the numbers of a list: exactly, and all numbers at once.

An engine counts the records of a long list in one pass, if its numbers have few digits: in groups by a guess of
their place among all decimals of so many digits, which decides nothing. The list itself is compared with the least
and the greatest record of every group.
"""

from bisect import bisect_left, bisect_right
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...base.numbers import float_up
from ...sampling.quotients import Quotients
from ...sampling.vectors import ExactArray, Integers, by_type
from ...selection.decimals import Decimals, PointCells

if TYPE_CHECKING:
    from ..engines.cells import GridSource
    from ..values.meanings import Rungs

_WHOLE = 2**53
"""Integers up to it, either way, are doubles."""

_LONG = 2**10
"""Of shorter lists an engine compares the records with all numbers, in one query."""

_FEWEST_DIGITS, _MOST_DIGITS = 3, 6
"""With more digits there would be a group for nearly every record."""

RecordPlaces = tuple[NDArray[Any], NDArray[Any]]
"""For each number the place of the first record that is not below it, and of the first one above it."""


def count_beside(
    values: ExactArray, counts: Integers | None, ladder: "Rungs"
) -> tuple[Integers, Integers, int]:
    """Return how many records are below the numbers of a list, how many above, and how many there are.

    Args:
        values: the records, in any order.
        counts: how often they occur; None where all do once.
        ladder: the numbers, as doubles and all others are compared with them.
    """
    if values.dtype.kind != "O":
        numbers = ladder.floating if values.dtype.kind == "f" else ladder.exact
        return _count_alike(values, counts, numbers)
    size = len(ladder.exact)
    less, more, total = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64), 0
    for places, part in by_type(values):
        multiplicities = None if counts is None else counts[places]
        numbers = ladder.floating if part.dtype.kind == "f" else ladder.exact
        below, above, several = _count_alike(part, multiplicities, numbers)
        less, more, total = less + below, more + above, total + several
    return less, more, total


def cells_around(numbers: ExactArray) -> PointCells | None:
    """Return decimals that the numbers of a long list are among, nearly; None if it is short, or of more digits."""
    if len(numbers) < _LONG:
        return None
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        decimals = Decimals(digits)
        if decimals.are_near(numbers):
            return decimals.cells
    return None


def count_around(source: "GridSource", numbers: ExactArray) -> tuple[Integers, Integers, int]:
    """Return the same as `count_beside`, counted by an engine in one pass."""
    ladder: ExactArray
    ladder, places = np.unique(numbers, return_inverse=True)  # type: ignore[assignment]
    indices, counts = source.occupancy(partial(_cells_between, ladder))
    sums = np.zeros(2 * len(ladder) + 1, dtype=np.int64)
    np.add.at(sums, indices.astype(np.int64, copy=False), counts)
    up_to = np.cumsum(sums)
    total = int(up_to[-1])
    return up_to[2 * places], total - up_to[2 * places + 1], total


def _cells_between(ladder: ExactArray, values: ExactArray) -> Integers:
    """Return for every value how many rising numbers are below it, twice, and one more if it is one of them."""
    order = np.argsort(values, kind="stable")
    size, cells = len(values), np.zeros(len(values), dtype=np.int64)
    for first in _places(values[order], ladder):
        cells[order] += np.cumsum(np.bincount(first, minlength=size + 1))[:size]
    return cells


def _count_alike(
    values: ExactArray, counts: Integers | None, numbers: ExactArray | Quotients
) -> tuple[Integers, Integers, int]:
    """Return the same for records of one type."""
    totals: Integers
    if counts is None:
        ascending, totals = np.sort(values), np.arange(len(values) + 1)
    else:
        order = np.argsort(values, kind="stable")
        ascending, totals = values[order], np.concatenate(([0], np.cumsum(counts[order])))
    first, last = _places(ascending, numbers)
    return totals[first], totals[-1] - totals[last], int(totals[-1])


def _places(ascending: Any, numbers: Any) -> RecordPlaces:
    """Return the places of numbers among ascending records. No number is rounded."""
    if isinstance(numbers, Quotients):
        return _of_quotients(ascending, numbers)
    kinds = ascending.dtype.kind + numbers.dtype.kind
    if kinds == "fi" and bool((np.abs(numbers.clip(-_WHOLE - 1, _WHOLE + 1)) <= _WHOLE).all()):
        kinds, numbers = "ff", numbers.astype(np.float64)
    if kinds in ("ff", "ii"):
        return ascending.searchsorted(numbers), ascending.searchsorted(numbers, side="right")
    if kinds == "if":
        return _among_integers(ascending, numbers)
    return (
        _among_doubles(ascending, numbers) if kinds[0] == "f" else _one_by_one(ascending, numbers)
    )


def _of_quotients(ascending: Any, numbers: Quotients) -> RecordPlaces:
    """Return the places of numbers over one denominator: the least of the records' type divide them as they do."""
    kind = ascending.dtype.kind
    if kind not in "fiu":
        return _one_by_one(ascending, numbers.fractions())
    up, is_equal = numbers.doubles_up() if kind == "f" else numbers.integers_up()
    if kind == "u":  # none of which is negative
        up, is_equal = up.clip(0).astype(np.uint64), is_equal & (up >= 0)
    first = ascending.searchsorted(up)
    return first, np.where(is_equal, ascending.searchsorted(up, side="right"), first)


def _among_integers(ascending: NDArray[np.int64], numbers: NDArray[np.float64]) -> RecordPlaces:
    """Return the places of doubles among integers: an integer is below a double if it is below the next one up."""
    up = np.ceil(numbers)
    beyond, within = up >= 2.0**63, (up >= -(2.0**63)) & (up < 2.0**63)
    words = np.where(within, up, -(2.0**63)).astype(np.int64)
    first = np.where(beyond, len(ascending), ascending.searchsorted(words))
    last = ascending.searchsorted(words, side="right")
    return first, np.where(within & (up == numbers), last, first)


def _among_doubles(ascending: NDArray[np.float64], numbers: ExactArray) -> RecordPlaces:
    """Return the places of any numbers among doubles: the least double at or above one divides them as it does."""
    exact = numbers.tolist()
    doubles = np.array([float_up(number) for number in exact])
    is_equal = np.array(
        [
            isfinite(double) and double.as_integer_ratio() == (number.numerator, number.denominator)
            for double, number in zip(doubles.tolist(), exact, strict=True)
        ]
    )
    first = ascending.searchsorted(doubles)
    return first, np.where(is_equal, ascending.searchsorted(doubles, side="right"), first)


def _one_by_one(ascending: ExactArray, numbers: ExactArray) -> RecordPlaces:
    """Return the places of any numbers among any records, in Python's own arithmetic, which is exact."""
    rows, exact = ascending.tolist(), numbers.tolist()
    return (
        np.array([bisect_left(rows, number) for number in exact]),
        np.array([bisect_right(rows, number) for number in exact]),
    )
