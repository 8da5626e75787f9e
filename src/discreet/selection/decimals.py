"""Decimals: the possible answers where no bounds are known."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.error_boundary import error_boundaries
from ..base.numbers import count, nearest_double
from ..errors import preview
from ..sampling.vectors import ExactArray, Integers
from .candidates import BLOCK_OF_VALUES, position
from .question_sentences import Facts

_NEXT_TO_ZERO = Decimal("1e-100")
"""A decimal below it says no more than that, among all decimals, one next to 0 was chosen."""

_MOST_DIGITS = 9
"""With so many there are 10**12 points, and doubles still tell between which two of them a number is."""

LEAST_POWER = -307
"""All decimals from 10**-307 to below 10**308 are in the range of doubles, and none of them is subnormal."""

POWERS = 615
"""The powers of ten from there to 10**307."""

_ROUND_DIGITS = 3
"""Round numbers begin with one of so many digits: 1, 2 and 5."""

_PLAIN = 21
"""Points below 10**21 are written without an exponent."""

_ROUNDINGS = 2.0**-50
"""Six roundings of a double, and more: see `Decimals._place`."""


@error_boundaries
class Decimals:
    """Zero and all decimals with so many digits in the range of doubles, for columns without known bounds.

    With three digits, these are 0 and ±m · 10**e for 100 <= m <= 999 and -309 <= e <= 305. They are about 1.1
    million and are never listed. Neighbours differ by at most 1 %, so a number differs from its nearest point by at
    most half a per cent. One more digit gives ten times as many points, ten times as close.

    Args:
        digits: the number of significant digits, from 1 to 9.

    A point is a `decimal.Decimal`. A record halfway between two points belongs to the larger.
    """

    __slots__ = ("digits", "per_power", "size", "zero")

    def __init__(self, digits: int = 3) -> None:
        """Keep the number of digits.

        Raises:
            InvalidNumber: if it is no whole number from 1 to 9.
        """
        self.digits: int = count(digits, "digits", most=_MOST_DIGITS)
        self.per_power: int = 9 * 10 ** (self.digits - 1)
        """How many points are between two powers of ten, the lower one counted."""
        self.zero: int = self.per_power * POWERS
        """The index of zero."""
        self.size = 2 * self.zero + 1

    def __getitem__(self, index: int) -> Decimal:
        index = position(index)
        if not 0 <= index < self.size:
            raise IndexError(f"there are {self.size:,} decimals, got the index {preview(index)}")
        return spelled_decimal(*self._parts(index))

    def point(self, index: int) -> Fraction:
        """Return a point, exactly."""
        mantissa, exponent = self._parts(index)
        unit: Fraction = Fraction(10) ** exponent
        return mantissa * unit

    def border(self, index: int) -> Fraction:
        """Return the least number with at least that index, which is halfway to the previous point."""
        numerator, denominator = self.border_ratio(index)
        return Fraction(numerator, denominator)

    def border_ratio(self, index: int) -> tuple[int, int]:
        """Return the border as a numerator and a denominator, which may have common factors."""
        if index <= self.zero:
            numerator, denominator = self.border_ratio(self.size - index)
            return -numerator, denominator
        mantissa, exponent = self._parts(index)
        if index == self.zero + 1:  # half of the least point above zero
            digits, exponent = 5 * mantissa, exponent - 1
        elif mantissa == self.per_power // 9:  # below it is the last point of fewer tens
            digits, exponent = 100 * mantissa - 5, exponent - 2
        else:
            digits, exponent = 10 * mantissa - 5, exponent - 1
        return (digits * 10**exponent, 1) if exponent >= 0 else (digits, 10**-exponent)

    @property
    def cells(self) -> "PointCells":
        """The points, and the borders between them."""
        return PointCells(self)

    @property
    def places(self) -> NDArray[np.int64]:
        """The indices of all points: those of an array may be long."""
        return np.arange(self.size)

    def total(self, index: int) -> Fraction:
        """Return the sum of the points below an index, of which those below and above zero cancel each other."""
        # The points from the first to the one before `index` sum up to minus those from there to the last.
        above = max(index - self.zero - 1, self.zero - index)
        power, further = divmod(above, self.per_power)
        least = self.per_power // 9
        full = least * (99 * least - 9) // 2
        unit: Fraction = Fraction(10) ** (LEAST_POWER - self.digits + 1)
        # The digits of all points up to a power of ten, and of the further ones.
        below = full * sum(10**i for i in range(power))
        rest = 10**power * (further * least + further * (further - 1) // 2)
        last = full * sum(10**i for i in range(POWERS))
        steps: int = below + rest - last
        return steps * unit

    def nearest(self, values: ExactArray) -> Integers:
        """Return the indices of the points nearest to the values. Values beyond all points go to the ends.

        An index is that of the last point with a border at or below the exact value. It depends only on that value,
        not on the type that other values give the array. The values must not be NaN.
        """
        indices = np.empty(len(values), dtype=np.int64)
        for start in range(0, len(values), BLOCK_OF_VALUES):
            block = slice(start, start + BLOCK_OF_VALUES)
            self._place(values[block], indices[block])
        return indices

    def cells_of(self, values: ExactArray) -> Integers:
        """Return for every value twice the number of points below it, and one more where it is a point itself.

        The values must not be NaN. A cell depends on the exact value alone, as `nearest` does.
        """
        near = self.nearest(values)
        points, doubles = self._nearly(near), _as_doubles(values)
        sides = np.sign(np.subtract(doubles, points))
        # The point is rounded three times, and the value once.
        close = np.abs(doubles - points) <= np.abs(points) * _ROUNDINGS
        if values.dtype.kind == "O":
            close |= near == self.zero
        places = np.flatnonzero(close)
        sides[places] = _for_each_value(
            lambda value, index: _side(value, self.point(index)), values[places], near[places]
        )
        cells: NDArray[np.int64] = 2 * near + 1 + sides.astype(np.int64)
        return cells

    def are_near(self, values: ExactArray) -> bool:
        """Return whether doubles do not tell values from the points next to them."""
        doubles = _as_doubles(values)
        _, parts = self._guess(doubles)
        return bool(((np.abs(parts - 0.5) <= self._error) | (doubles == 0)).all())

    def _nearly(self, indices: Any) -> NDArray[np.float64]:
        """Return points as doubles, rounded a few times."""
        offsets = indices - self.zero
        power, further = np.divmod(np.maximum(np.abs(offsets) - 1, 0), self.per_power)
        least = self.per_power // 9
        points: NDArray[np.float64] = np.sign(offsets) * ((least + further) / least)
        return points * _powers()[power]

    def _place(self, values: ExactArray, indices: NDArray[np.int64]) -> None:
        """Write the nearest indices of a block: by doubles, and by exact arithmetic where those leave a doubt.

        One rounding each happens to the value, the power of ten, the quotient, the product and the sum: together
        less than 6 * 2**-53 of a sum of at most 10**digits + 1. A double that is beside a power of ten, where the
        value is on the other side, gives a quotient beside 1 or 10 by one rounding, and the index is the same.
        """
        doubles = _as_doubles(values)
        indices[:], parts = self._guess(doubles)
        sizes = np.abs(doubles)
        is_small = (sizes > 0) & (sizes < 2 * _powers()[0])
        doubtful = np.flatnonzero((np.abs(parts - 0.5) >= 0.5 - self._error) | is_small)
        indices[doubtful] = _for_each_value(self._index, values[doubtful], indices[doubtful])

    @property
    def _error(self) -> float:
        """A bound on the error of a guess: see `_place`."""
        error: float = 10**self.digits * _ROUNDINGS
        return error

    def _guess(self, doubles: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the nearest indices, and how far each is above the border, in points: 1/2 at the point itself."""
        powers, sizes = _powers(), np.abs(doubles)
        inside = np.clip(sizes, powers[0], float(self.point(self.size - 1)))
        power = np.searchsorted(powers, inside, side="right") - 1
        steps = np.copysign(inside / powers[power] * (self.per_power // 9), doubles) + 0.5
        whole = np.floor(steps)
        steps -= whole
        above = power * self.per_power + np.abs(whole).astype(np.int64) - self.per_power // 9 + 1
        signed = np.where(sizes == 0, 0, np.where(doubles < 0, -above, above))
        return self.zero + signed, steps

    def _index(self, value: int | float | Fraction, guess: int) -> int:
        """Return the nearest index of a number, which is that of the guess or next to it."""
        numerator, denominator = value.as_integer_ratio()
        for index in (guess + 1, guess) if guess + 1 < self.size else (guess,):
            border, unit = self.border_ratio(index)
            if border * denominator <= numerator * unit:
                return index
        return guess - 1

    def _parts(self, index: int) -> tuple[int, int]:
        """Return the digits of a point, with its sign, and the exponent of the last of them."""
        above = abs(index - self.zero)
        if above == 0:
            return 0, 0
        power, further = divmod(above - 1, self.per_power)
        mantissa: int = self.per_power // 9 + further
        return mantissa if index > self.zero else -mantissa, LEAST_POWER + power - self.digits + 1

    @property
    def description(self) -> dict[str, int]:
        """How many digits they have."""
        return {"decimals": self.digits}

    @property
    def facts(self) -> Facts:
        """How many digits they have."""
        return {"digits": self.digits}

    def __repr__(self) -> str:
        digits = "1 digit" if self.digits == 1 else f"{self.digits} digits"
        return f"Decimals({digits}; {self.size:,} points)"


def spelled_decimal(mantissa: int, exponent: int) -> Decimal:
    """Return a decimal with all digits of the mantissa, without an exponent where that is not long."""
    if exponent > 0 and len(str(abs(mantissa))) + exponent <= _PLAIN:
        return Decimal(mantissa * 10**exponent)
    return Decimal(mantissa).scaleb(exponent)


@dataclass(frozen=True, slots=True)
class PointCells:
    """The points of decimals, and the numbers between two of them, as cells in order: see `Decimals.cells_of`.

    An engine counts all of them at once, and not parts of them.
    """

    decimals: Decimals

    @property
    def size(self) -> int:
        """How many cells there are."""
        size: int = 2 * self.decimals.size + 1
        return size

    def nearest(self, values: ExactArray) -> Integers:
        """Return the cells of values."""
        return self.decimals.cells_of(values)


@dataclass(frozen=True, slots=True)
class RoundNumbers:
    """Zero and ±1, 2 and 5 times a power of ten, in the range of doubles: 3,691 numbers."""

    @property
    def size(self) -> int:
        """How many there are."""
        size: int = 2 * _ROUND_DIGITS * POWERS + 1
        return size

    @property
    def cells(self) -> PointCells:
        """The decimals of one digit, which round numbers are among, and the borders between them."""
        return Decimals(1).cells

    @property
    def places(self) -> NDArray[np.int64]:
        """The indices of the round numbers among the decimals of one digit."""
        return _round_places()

    @property
    def description(self) -> dict[str, str]:
        """The first digits."""
        return {"round_numbers": "1, 2, 5"}

    @property
    def facts(self) -> Facts:
        """That the numbers are round."""
        return {"round": True}

    def __getitem__(self, index: int) -> Decimal:
        return Decimals(1)[int(_round_places()[index])]

    def __repr__(self) -> str:
        return f"round numbers (1, 2 and 5 times powers of ten; {self.size:,} points)"


@lru_cache(maxsize=1)
def _round_places() -> NDArray[np.int64]:
    """Return the indices of the round numbers among the decimals of one digit."""
    decimals = Decimals(1)
    above = [9 * power + digit for power in range(POWERS) for digit in (1, 2, 5)]
    places = [decimals.zero - i for i in reversed(above)]
    return np.array([*places, decimals.zero, *(decimals.zero + i for i in above)])


def next_to_zero(answer: Any) -> Any:
    """Return a number or a date as it is, and 0 for a decimal that is nearer to it than 1e-100."""
    is_near = isinstance(answer, Decimal) and abs(answer) < _NEXT_TO_ZERO
    return 0 if is_near else answer


def _for_each_value(
    function: Callable[[Any, int], int], values: ExactArray, indices: Integers
) -> list[int] | NDArray[np.int64]:
    """Return a function of the values and their indices, which is called once for all that are equal."""
    if values.dtype.kind == "O":  # which numpy cannot compare
        return [*map(function, values.tolist(), indices.tolist())]
    _, firsts, inverse = np.unique(values, return_index=True, return_inverse=True)
    results = map(function, values[firsts].tolist(), indices[firsts].tolist())
    return np.fromiter(results, np.int64, len(firsts))[inverse]


def _side(value: int | float | Fraction, point: Fraction) -> int:
    """Return 1 for a number above a point, -1 for one below it, and 0 for the point itself."""
    return (value > point) - (value < point)


def _as_doubles(values: ExactArray) -> NDArray[np.float64]:
    """Return numbers as doubles, all rounded once."""
    if values.dtype.kind == "O":
        return np.array([_signed_double(value) for value in values], dtype=np.float64)
    return values.astype(np.float64)


def _signed_double(value: int | Fraction) -> float:
    """Return the double nearest to a number, or an infinity."""
    return nearest_double(value) if value >= 0 else -nearest_double(-value)


@lru_cache(maxsize=1)
def _powers() -> NDArray[np.float64]:
    """Return the powers of ten, as doubles, all rounded once."""
    return np.array([float(f"1e{LEAST_POWER + i}") for i in range(POWERS)])
