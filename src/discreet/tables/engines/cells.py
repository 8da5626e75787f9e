"""The records of one column as counts on a grid: the queries to an engine, and the checks of its answers.

Only counts leave the engine, with the least and the greatest record of every group that was counted. An engine
groups by arithmetic in doubles, which decides nothing: a group is counted in a cell of the grid if its
least and its greatest record are in that cell, by exact comparison with thresholds of the column's own type.
Should they not be, the distinct records of that group are fetched. Proof: docs/explanation/out_of_core.md.
"""

import math
import struct
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...sampling.vectors import ExactArray, Integers
from ...selection.candidates import Grid
from ...selection.decimals import Decimals
from ..values.kinds import ColumnType

BLUR = 2.0**-30
"""So near a border, in cells, records are grouped by themselves. Guesses are off by less than half of it."""

_GUESSED = 2.0**-44
"""The same, for each cell of all decimals."""

_ROUGH = 2.0**-50
"""The same, for each cell of a long part."""

FINEST_KEYS = 2**46
"""Grids beyond it have no key for each cell; their records are fetched by distinct number."""

_MOST_POINTS_BETWEEN = 2**16
"""Grids with that many points between two neighbours of the column's type are left to memory."""

_EXACT_BELOW = 2**53
"""Integers below it are doubles."""

_SPLIT = 2.0**27 + 1
"""A double times it leaves the double in two halves."""

_MOST_BITS = 126
"""Integers between the ends of a grid have at most that many bits; engines count with 128."""

_AMPLE = Context(prec=100)

CellNumber = int | float
"""A number of a column: an integer, the digits of a decimal as an integer, or a double."""


class CellSource(Protocol):
    """Counts on a grid, wherever the records are. Null and NaN are left out; records outside count at the ends."""

    def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]]:
        """Return the number of records in every cell of the parts, in one pass.

        A cell of `range(first, end, width)` is `width` indices of the grid, the last one those that are
        left. The parts are in order and do not overlap.
        """
        ...

    def points(self, parts: Sequence[range]) -> tuple[Integers, NDArray[np.int64]]:
        """Return, in order, the indices in the parts that have records, and how many, in one pass.

        One row per distinct number is fetched, so let them be few.
        """
        ...


class GridSource(CellSource, Protocol):
    """The same, and which indices have records at all."""

    def occupancy(self, index: "Index") -> tuple[Integers, NDArray[np.int64]]:
        """Return indices that records have, and how many, some of them perhaps more than once, in one pass.

        At most two rows are fetched per cell of the grid with records, besides the distinct
        numbers at its borders; on a grid beyond 2**46 points, one per distinct number.

        Args:
            index: the indices of an array of numbers; it must not fall where numbers rise.
        """
        ...

    def numbers(self) -> ExactArray | None:
        """Return the numbers in one array; None if they are too many for it, or only an engine has them."""
        ...


Index = Callable[[ExactArray], Integers]
"""What gives the index of each number."""


@dataclass(frozen=True, slots=True)
class GridThresholds:
    """The least number of a column's type at the indices of a grid."""

    grid: Grid | Decimals
    of: ColumnType
    shift: float = 0.0
    """Of decimals: by how many indices the guess is moved, where an index of another kind is asked for."""

    @property
    def serves(self) -> bool:
        """Whether the grid can be told apart in the engine. Public: the data are not looked at."""
        if self.of.kind not in ("integer", "decimal", "float"):
            return False
        if isinstance(self.grid, Decimals):
            return True
        far = max(abs(self.grid.lo), abs(self.grid.hi))
        if max(far, self.grid.step, 1 / self.grid.step) >= 2**900:
            return False
        if self.of.kind == "float":
            digits = {"<e": 11, "<f": 24, "<d": 53}[self.of.layout]
            return bool(far < self.grid.step * 2**digits * _MOST_POINTS_BETWEEN)
        scale = _scale(self.of)
        fine = self.grid.step * scale * _MOST_POINTS_BETWEEN > 1
        return bool(fine and (self.grid.hi - self.grid.lo) * scale < 2**_MOST_BITS)

    def border(self, index: int) -> Fraction:
        """Return the real number from which on a record has at least that index."""
        # b(i) of "Counting on a grid" in docs/explanation/out_of_core.md; the lemmas below are of that page.
        if isinstance(self.grid, Decimals):
            return self.grid.border(index)
        return self.grid.lo + (index - Fraction(1, 2)) * self.grid.step

    def least(self, indices: Sequence[int]) -> list[CellNumber | None]:
        """Return the least numbers at or above the borders of some indices; None where there is no number."""
        # t(i) of "Counting on a grid": x has an index of at least i if and only if x >= t(i).
        if isinstance(self.grid, Decimals):
            decimals = self.grid
            return [self._least_decimal(decimals, index) for index in indices]
        first, step = self.border(0), self.grid.step
        below = math.lcm(first.denominator, step.denominator)
        start, by = int(first * below), int(step * below)
        if isinstance(indices, range) and len(indices) > 1 and self.of.layout == "<d":
            numerators = range(
                start + indices[0] * by, start + indices[-1] * by + 1, indices.step * by
            )
            if (
                max(-numerators[0], numerators[-1], below) < _EXACT_BELOW
                and self.of.kind == "float"
            ):
                return _least_doubles(numerators, below)
        return [least_number(start + index * by, below, self.of) for index in indices]

    def _least_decimal(self, decimals: Decimals, index: int) -> CellNumber | None:
        """Return the least number at or above the border of an index; none has an index beyond the last point."""
        if not 0 < index < decimals.size:
            return self.ends[0] if index <= 0 else None
        return least_number(*decimals.border_ratio(index), self.of)

    def unit(self, value: CellNumber | Fraction) -> CellNumber:
        """Return a number that an engine gave as this class counts it."""
        return value if isinstance(value, float) else int(Fraction(value) * _scale(self.of))

    @property
    def ends(self) -> tuple[CellNumber, CellNumber]:
        """The least and the greatest finite number of the type."""
        if self.of.kind != "float":
            return self.of.low, self.of.high
        return -_largest(self.of.layout), _largest(self.of.layout)


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of records, as an engine counted them: arrays with one place per group.

    Attributes:
        keys: their keys in the engine.
        records: the numbers of their records.
        least: the least of them, as `numbers` has it: 64 bits, or Python's exact numbers.
        greatest: the greatest of them.
    """

    keys: NDArray[np.int64]
    records: NDArray[np.int64]
    least: ExactArray
    greatest: ExactArray

    @classmethod
    def of(cls, columns: Sequence[ExactArray]) -> "Groups":
        """Return the groups of four columns, in the order of the attributes."""
        keys, records, least, greatest = columns
        return cls(_integer_words(keys), _integer_words(records), least, greatest)

    @classmethod
    def single(cls, columns: Sequence[ExactArray]) -> "Groups":
        """Return one group per distinct number, from the numbers and their counts."""
        values, records = columns
        return cls(np.zeros(len(values), dtype=np.int64), _integer_words(records), values, values)

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Piece:
    """One part as an engine is asked for it.

    With place = (x - ends[0]) * rate + shift in doubles, a record x has the key
    key + floor(place + BLUR) + floor(place - BLUR): odd steps inside a cell, even ones around a border.

    BLUR is `blur`.

    Attributes:
        start: the least record of the part; None if it begins with the grid.
        stop: the least record beyond it; None if it ends with the grid, or with the type.
        ends: records below the first have the first key, records from the second on the last; None for decimals,
            whose place is counted from a guess of the index.
        rate: cells per unit of value.
        shift: by how many cells `ends[0]` is above the border of the part.
        keys: the first key and the last.
        even: where all cells have the same number of units of the type, the first unit of the first cell, and
            that number: a record in cell j has the key key + 2 j.
    """

    start: CellNumber | None
    stop: CellNumber | None
    ends: tuple[CellNumber, CellNumber] | None
    rate: float
    shift: float
    keys: tuple[int, int]
    blur: float = BLUR
    even: tuple[int, int] | None = None


class GridHistogram:
    """The query for the counts of some parts, and the counts so far.

    An engine may group records as it likes: a group whose least and greatest record are in one cell is
    counted there. The keys are such that hardly any group is in two.
    """

    def __init__(self, thresholds: GridThresholds, parts: Sequence[range]) -> None:
        self.pieces = list[Piece]()
        self.counts = [np.zeros(len(part), dtype=np.int64) for part in parts]
        self._thresholds = thresholds
        self.lows = list[CellNumber]()
        self.parts, self.cells = list[int](), list[int]()  # of each threshold in `lows`
        for p, part in enumerate(parts):
            self._add(p, part)

    def _add(self, p: int, part: range) -> None:
        """Add one part; one that no number can be in is left out."""
        grid, least = self._thresholds.grid, self._thresholds.least
        [start, stop] = least([part.start, part.stop])
        if part.start > 0 and start is None:
            return
        lows = [-math.inf if part.start == 0 else start, *least(part[1:])]
        there = [i for i, low in enumerate(lows) if low is not None]
        self.lows += [low for low in lows if low is not None]
        self.parts += [p] * len(there)
        self.cells += there
        outer = None if part.start == 0 else start, stop if part.stop < grid.size else None
        first = self.pieces[-1].keys[1] + 4 if self.pieces else 1
        self.pieces.append(_piece(self._thresholds, part, outer, first))

    def add(self, groups: Groups) -> list[int]:
        """Count groups of records, and return the keys of those that are in more than one cell."""
        ambiguous = list[int]()
        columns = (groups.keys, groups.records, groups.least, groups.greatest)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for key, records, least, greatest in rows:
            # "The guess decides nothing": with both ends in one cell the whole group is in it.
            place = self._place(least)
            if place == self._place(greatest):
                self.counts[self.parts[place]][self.cells[place]] += records
            else:
                ambiguous.append(key)
        return ambiguous

    def _place(self, value: CellNumber | Fraction) -> int:
        """Return the place of the cell that a record of the parts is in.

        Of several cells that begin with the same threshold, it is the last: the others can have no records.
        """
        # "Counting on a grid": of equal thresholds only the last has a cell with records, hence `right`.
        return bisect_right(self.lows, self._thresholds.unit(value)) - 1


class Occupancy:
    """The query for the indices that have records, and those found so far.

    A group whose least and greatest record have one index is counted there, for the index does not fall where
    records rise.
    """

    def __init__(self, thresholds: GridThresholds, index: Index) -> None:
        whole = range(thresholds.grid.size)
        self.pieces = [_piece(thresholds, whole, (None, None), 1)]
        self._index = index
        self._tallies = list[tuple[Integers, NDArray[np.int64]]]()

    def add(self, groups: Groups) -> list[int]:
        """Count groups of records, and return the keys of those that have more than one index."""
        indices = self._index(groups.least)
        # "All at once": an index that does not fall is that of the whole group if both ends have it.
        # Equal numbers have one index, which need not be found twice.
        apart = np.flatnonzero(groups.least != groups.greatest)
        ambiguous = np.zeros(len(groups), dtype=np.bool_)
        ambiguous[apart] = indices[apart] != self._index(groups.greatest[apart])
        self._tallies.append((indices[~ambiguous], groups.records[~ambiguous]))
        keys: list[int] = groups.keys[ambiguous].tolist()
        return keys

    @property
    def tally(self) -> tuple[Integers, NDArray[np.int64]]:
        """The indices that records have, and how many."""
        indices, counts = zip(*self._tallies, strict=True)
        return np.concatenate(indices), np.concatenate(counts)


def _least_doubles(numerators: range, below: int) -> list[CellNumber | None]:
    """Return the least doubles at or above fractions of integers below 2**53.

    A quotient of two doubles is rounded once, so it is the nearest double; whether it is below the fraction is told
    by its product with the denominator, which is the sum of two doubles exactly (Dekker 1971).
    """
    exact = np.arange(numerators.start, numerators.stop, numerators.step, dtype=np.int64).astype(
        float
    )
    quotients = exact / below
    product = quotients * below
    high = quotients * _SPLIT
    high -= high - quotients
    spread = below * _SPLIT
    top = spread - (spread - below)
    rest, tail = quotients - high, below - top
    error = ((high * top - product) + high * tail + rest * top) + rest * tail
    is_below = (product - exact) + error < 0
    least: list[CellNumber | None] = np.where(
        is_below, np.nextafter(quotients, np.inf), quotients
    ).tolist()
    return least


def _scale(of: ColumnType) -> int:
    """Return how many units a number of 1 has."""
    return 10**of.scale if of.kind == "decimal" else 1


def least_number(numerator: int, denominator: int, of: ColumnType) -> CellNumber | None:
    """Return the least number of a type at or above a fraction; None if there is none."""
    if of.kind != "float":
        units = -(-numerator * _scale(of) // denominator)
        return None if units > of.high else max(units, of.low)
    try:
        nearest = numerator / denominator  # rounded once
    except OverflowError:
        return math.inf if numerator > 0 else -_largest(of.layout)
    over, under = nearest.as_integer_ratio()
    if over * denominator < numerator * under:
        nearest = math.nextafter(nearest, math.inf)
    return nearest if of.layout == "<d" else _narrow_up(nearest, of.layout)


def following(unit: CellNumber, of: ColumnType) -> CellNumber | None:
    """Return the next number of a type after a finite one; None if there is none."""
    if of.kind != "float":
        return int(unit) + 1 if unit < of.high else None
    return math.nextafter(unit, math.inf) if of.layout == "<d" else _next_up(unit, of.layout)


def value_of(unit: CellNumber, of: ColumnType) -> Fraction:
    """Return the exact value of a finite number."""
    return Fraction(unit) / _scale(of)


def constant(unit: CellNumber, of: ColumnType) -> int | float | Decimal:
    """Return a number as Python has it, of the column's type and every digit of it."""
    return Decimal(unit).scaleb(-of.scale, _AMPLE) if of.kind == "decimal" else unit


def _integer_words(integers: ExactArray) -> NDArray[np.int64]:
    """Return keys or counts as words; a column without rows may have any type."""
    if len(integers) and integers.dtype.kind not in "iu":
        raise TypeError("keys and counts are integers")
    return integers.astype(np.int64, copy=False)


def _piece(
    thresholds: GridThresholds,
    part: range,
    outer: tuple[CellNumber | None, CellNumber | None],
    first: int,
) -> Piece:
    """Return how an engine is asked for one part, with keys from `first` on."""
    if isinstance(thresholds.grid, Decimals):
        return _piece_of_decimals(thresholds.grid, thresholds.shift, part, outer, first)
    least, greatest = thresholds.ends
    border = thresholds.least([part.start, part.stop])
    low, high = (greatest if b is None else min(max(b, least), greatest) for b in border)
    width = part.step * thresholds.grid.step
    # "How rarely a group does not pass": the first end is within one unit of the type from the border.
    shift = (value_of(low, thresholds.of) - thresholds.border(part.start)) / width
    cells = -(-(part.stop - part.start) // part.step)  # `len` counts no further than a word
    # "All at once": with N points the place is off by less than N * 2**-51, so N * 2**-50 is room enough.
    keys, blur = (first, first + 2 * cells), max(BLUR, cells * _ROUGH)
    even = _even_cells(thresholds.border(part.start), width, thresholds.of)
    return Piece(*outer, (low, high), float(1 / width), float(shift), keys, blur, even)


def _even_cells(border: Fraction, width: Fraction, of: ColumnType) -> tuple[int, int] | None:
    """Return the first unit of a type from a border on, and the units of a width if that is a whole number."""
    first, units = border * _scale(of), width * _scale(of)
    # The least number from border + j * width on is j * width above the one from the border on.
    is_even = of.kind != "float" and units.denominator == 1
    return (-(-first.numerator // first.denominator), int(units)) if is_even else None


def _piece_of_decimals(
    decimals: Decimals,
    shift: float,
    part: range,
    outer: tuple[CellNumber | None, CellNumber | None],
    first: int,
) -> Piece:
    """Return the same for decimals, of which an engine guesses the index: the place is counted in indices."""
    cells = -(-(part.stop - part.start) // part.step) + (shift > 0)
    shift = (0.5 + shift - part.start) / part.step
    # An index is guessed by a few operations on doubles, so that it is off by less than its share of 2**-44.
    blur = max(BLUR, decimals.size / part.step * _GUESSED)
    return Piece(*outer, None, 1 / part.step, shift, (first, first + 2 * cells), blur)


def _narrow_up(number: float, layout: str) -> float:
    """Return the least number of a shorter format that is no less than a double."""
    try:
        [nearest] = struct.unpack(layout, struct.pack(layout, number))
    except OverflowError:
        return math.inf if number > 0 else -_largest(layout)
    return nearest if nearest >= number else _next_up(nearest, layout)


def _largest(layout: str) -> float:
    return {"<e": 65504.0, "<f": (2 - 2.0**-23) * 2.0**127, "<d": sys.float_info.max}[layout]


def _next_up(number: float, layout: str) -> float:
    """Return the next number of the format, for one that is not infinite."""
    word = {"<e": "<H", "<f": "<I"}[layout]
    [bits] = struct.unpack(word, struct.pack(layout, number + 0.0))
    [following] = struct.unpack(layout, struct.pack(word, bits - 1 if number < 0 else bits + 1))
    return float(following)
