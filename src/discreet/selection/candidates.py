"""Candidates: the possible answers, public and fixed before the data are read."""

import datetime as dt
import math
import operator
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Generic, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from ..base.arguments import MOST_LISTED, exact_text, read_sequence, refuse_one_shot
from ..base.doors import spelling
from ..base.error_boundary import error_boundaries
from ..base.numbers import Number, exact, fits, float_up, positive
from ..base.warning import warn
from ..errors import InvalidCandidates, InvalidNumber, preview
from ..sampling.quotients import Quotients, read_quotients
from ..sampling.vectors import ExactArray, Integers, by_type, types_of
from .candidate_types import T
from .question_sentences import Facts

BLOCK_OF_VALUES = 2**15

_MOST_POINTS = 10**300
"""More than a double can count serve nobody."""

_EXACT_BORDERS = 2**52
"""Whole numbers below it are doubles, and so are their halves."""

_TABLE_LIBRARIES = {"numpy", "pandas", "polars", "pyarrow"}
"""The libraries whose columns have methods that return the values in them."""

_DATE = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Answers(Protocol):
    """The candidates of a release, by index."""

    @property
    def size(self) -> int:
        """How many answers there are, which may be more than `len` can say."""

    @property
    def description(self) -> object:
        """Plain values that tell these answers from all others: see `digests`."""

    def __getitem__(self, index: int, /) -> object: ...


class Labels(Sequence[object]):
    """A list of distinct answers, in the order in which they were given.

    Args:
        labels: the answers.
        is_declared: whether its numbers are declared as those of a column. Such a number is exact, a float being
            the decimal that it prints as, and means the number of the column's type that is nearest to it:
            docs/reference/tables.md.
        are_all: whether an owner declares that a column has no other values.
        null: whether one may stand for records without a value: None, NaN and the like, which are None here.
        argument: the argument that they are given as, for errors.
    """

    __slots__ = ("_labels", "are_all", "are_finite", "is_declared", "quotients")

    are_finite: bool
    """Whether all are finite numbers that were looked at together: else they are looked at one by one."""
    quotients: Quotients | None
    """The labels over one denominator, where there are decimals or fractions among them, and they are such."""

    def __init__(
        self,
        labels: Iterable[object],
        *,
        is_declared: bool = False,
        are_all: bool = False,
        null: bool = False,
        argument: str = "candidates",
    ) -> None:
        """Keep the labels.

        Raises:
            InvalidCandidates: if there are none, or two are equal, or one is unhashable, or missing where none
                may be.
            InvalidArgument: if they can be read once only.
        """
        refuse_one_shot(labels, argument)
        self.is_declared, self.are_all = is_declared, are_all
        self._labels: tuple[Any, ...] = tuple(plain_values(labels, argument))
        if null and not types_of(self._labels) <= {str, int}:
            self._labels = tuple(None if is_missing(one) else one for one in self._labels)
        if not self._labels:
            raise InvalidCandidates(
                f"{argument} must not be empty: there must be something to answer"
            )
        types = types_of(self._labels)
        are_plain = types <= {int, float}
        self.quotients = None if are_plain else read_quotients(self._labels, types)
        self.are_finite = self.quotients is not None or (are_plain and _are_finite(self._labels))
        if not self._are_distinct(types):
            check_distinct_labels(self._labels, argument, null=null)

    def _are_distinct(self, types: set[type]) -> bool:
        """Return whether the labels are distinct numbers or texts, if they can be compared all together."""
        if self.quotients is not None:
            return self.quotients.are_distinct()
        can_be_told = self.are_finite or (types == {str} and all(map(str.isascii, self._labels)))
        return can_be_told and len(set(self._labels)) == len(self._labels)

    @classmethod
    def of(
        cls, candidates: Iterable[object], argument: str = "candidates", *, null: bool = False
    ) -> "Labels":
        """Return labels as they are, and of another list those of its values.

        Raises:
            InvalidCandidates: as the constructor does.
        """
        if isinstance(candidates, Labels):
            return candidates
        return cls(candidates, argument=argument, null=null)

    @classmethod
    def read(
        cls, candidates: Iterable[object], argument: str = "candidates", *, null: bool = False
    ) -> "Labels":
        """Return the labels that a user gives, as `of` does; warn if they look as if they were taken from data.

        Raises:
            InvalidCandidates: as the constructor does, without a value that looks as if it were taken from data.
        """
        library = table_library(candidates)
        if library is None:
            return cls.of(candidates, argument, null=null)
        warn(
            f"{argument} are public and fixed before the data are read. Yours are a {library} "
            "object, which looks like a column. If they are public, say so with a list: "
            f"{argument}=list(...)"
        )
        with suppress(InvalidCandidates):
            return cls.of(candidates, argument, null=null)
        raise InvalidCandidates(
            f"{argument} must be distinct simple values, one to {MOST_LISTED:,} of them, and none "
            f"missing. These are not, and values of a {library} object are not shown. Give a list "
            "of the public ones"
        )

    def in_order(self, places: Iterable[int]) -> "Labels":
        """Return the same labels in another order.

        Args:
            places: the places of all labels here, in that order.
        """
        labels = object.__new__(Labels)
        labels._labels = tuple([self._labels[place] for place in places])
        labels.is_declared, labels.are_all = self.is_declared, self.are_all
        labels.are_finite, labels.quotients = self.are_finite, None  # those are of the other order
        return labels

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def size(self) -> int:
        """How many labels there are."""
        return len(self._labels)

    @property
    def description(self) -> tuple[object, ...]:
        """All labels."""
        return self._labels

    @property
    def facts(self) -> Facts:
        """How many labels there are."""
        return {"candidates": self.size}

    def __getitem__(self, index: Any) -> Any:
        return self._labels[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._labels)

    def __repr__(self) -> str:
        beginning = ", ".join(map(repr, self._labels[:5]))
        return f"Labels([{beginning}{', ...' if len(self) > 5 else ''}], {len(self)} in all)"


def table_library(candidates: object) -> str | None:
    """Return the library of candidates that are a column or an array, and may be private; None for others."""
    library = type(candidates).__module__.partition(".")[0]
    return library if library in _TABLE_LIBRARIES else None


class LabelsFromData(Sequence[object]):
    """Labels that are read from the data, when the first of them is needed and not before. Not public.

    Args:
        read_values: returns the values in the data; called once.
    """

    def __init__(self, read_values: Callable[[], Iterable[object]]) -> None:
        self._read = read_values

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self._read())

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def size(self) -> int:
        """How many labels there are, which tells about the data."""
        return len(self)

    @property
    def description(self) -> str:
        """Words that are the same for all data."""
        return repr(self)

    @property
    def facts(self) -> Facts:
        """Where they are from, and not how many there are."""
        return {"unsafe": True}

    def __getitem__(self, index: object) -> Any:
        return self._labels[index]

    def __repr__(self) -> str:
        return "candidates from the data"


@error_boundaries
class Grid(Generic[T]):
    """The numbers lo, lo + step, lo + 2 step, ... up to hi. They are exact, unlimited in number, and never listed.

    Args:
        lo: the least answer.
        hi: the largest, so that hi - lo is a multiple of the step.
        step: the distance between neighbouring points, above zero.

    A point is an int if lo and step are integers, a Decimal if they have finitely many digits, and otherwise a
    Fraction.
    """

    __slots__ = ("_digits", "_whole", "hi", "lo", "size", "step")

    @overload
    def __init__(self: "Grid[int]", lo: int, hi: int, step: int = 1) -> None: ...

    @overload
    def __init__(self: "Grid[Any]", lo: Number, hi: Number, step: Number = 1) -> None: ...

    def __init__(self, lo: Number, hi: Number, step: Number = 1) -> None:
        """Keep the three numbers, exactly.

        Raises:
            InvalidNumber: if one is no finite number, or the step is not above zero.
            InvalidCandidates: if hi is below lo, or not a whole number of steps above it.
        """
        end: object = lo
        if isinstance(end, dt.date) or _DATE.match(exact_text(end) or ""):
            raise InvalidNumber(
                f"lo must be a number, got {preview(lo)}. For dates give a DateGrid"
            )
        self.lo, self.hi, self.step = exact(lo, "lo"), exact(hi, "hi"), positive(step, "step")
        steps = (self.hi - self.lo) / self.step
        if steps < 0 or steps.denominator != 1:
            order = ". Swap them: the lower end comes first" if steps < 0 else ""
            raise InvalidCandidates(
                "hi must be lo plus a whole number of steps, got "
                f"{spelling(lo=lo, hi=hi, step=step)}{order}"
            )
        self.size = int(steps) + 1
        every = math.lcm(self.lo.denominator, self.step.denominator)
        if self.size > _MOST_POINTS or not fits(self.lo * every, self.hi * every, every):
            raise InvalidCandidates(
                "a grid must have at most 1e300 points, of at most 4,200 digits each"
            )
        self._digits = decimal_places(self.lo, self.step)
        self._whole = every, int(self.lo * every), int(self.step * every)

    def __getitem__(self, index: int) -> T:
        index = position(index)
        if not 0 <= index < self.size:
            raise IndexError(f"the grid has {self.size:,} points, got the index {preview(index)}")
        every, lo, step = self._whole
        point: Any = _quotient(lo + index * step, every, self._digits)
        return point  # type: ignore[no-any-return]

    def nearest(self, values: ExactArray) -> Integers:
        """Return the indices of the points nearest to the values. Values outside the grid go to its ends.

        An index is floor((value - lo) / step + 1/2) for the exact value, clipped to the grid. It depends only on
        that value, not on the type that other values give the array. The values must not be NaN. The indices are
        int64 if the grid has fewer than 2**62 points, otherwise Python integers.
        """
        short = self._digits == 0 and max(abs(self.lo), abs(self.hi), self.step) < 2**62
        if values.dtype.kind in "iu" and short:
            return self._nearest_integers(values.astype(f"{values.dtype.kind}8", copy=False))
        if values.dtype.kind == "O":
            return self._nearest_by_type(values)
        error = self._double_error()
        if error is None:
            return self._nearest_exactly(values)
        indices, scratch = np.empty(len(values), dtype=np.int64), np.empty((2, BLOCK_OF_VALUES))
        for start in range(
            0, len(values), BLOCK_OF_VALUES
        ):  # temporary arrays of a block stay in the cache
            block = slice(start, start + BLOCK_OF_VALUES)
            self._nearest_doubles(values[block], error, indices[block], scratch)
        return indices

    def _nearest_by_type(self, values: ExactArray) -> Integers:
        """Return the nearest indices for Python's numbers, those of one type together."""
        indices = np.empty(len(values), dtype=object if self.size >= 2**62 else np.int64)
        for places, part in by_type(values):
            alike = part.dtype.kind != "O"
            indices[places] = self.nearest(part) if alike else self._nearest_exactly(part)
        return indices

    def _nearest_doubles(
        self, values: ExactArray, error: float, indices: NDArray[np.int64], scratch: NDArray[Any]
    ) -> None:
        """Write the nearest indices of a block: by doubles, and by exact arithmetic where those leave a doubt."""
        steps, whole = scratch[:, : len(values)]
        # Cut before the subtraction, which might overflow. Then the indices are on the grid, or in doubt.
        with np.errstate(all="ignore"):
            np.maximum(values, -float_up(-self.lo), out=steps)
            np.minimum(steps, float_up(self.hi), out=steps)
            steps -= float(self.lo)
            steps *= float(1 / self.step)
            steps += 0.5
        np.floor(steps, out=whole)
        indices[:] = whole
        steps -= whole
        doubtful = _doubtful(steps, error)
        if len(doubtful):
            distinct, places = np.unique(values[doubtful], return_inverse=True)
            indices[doubtful] = self._nearest_exactly(distinct)[places]

    def _double_error(self) -> float | None:
        """Return a bound on the error of (value - lo) / step + 1/2 in doubles, None if they cannot serve.

        With u = 2**-53, one rounding happens to the value if it is an integer, to lo, the difference, 1 / step,
        the product and the sum; the value is at most |lo| + size * step, and the difference at most size * step:
        u * (2 * |lo| / step + 5 * size + 1) bounds it. There is room for products of errors.
        """
        far = max(abs(self.lo), abs(self.hi), self.step, 1 / self.step)
        error = (
            float(abs(self.lo) / self.step + 5 * self.size + 5) * 2.0**-52 if far < 2**900 else 1.0
        )
        return error if error < 0.125 else None

    def _nearest_exactly(self, values: NDArray[np.generic]) -> Integers:
        """Return the nearest indices by exact arithmetic; infinities go to the ends."""
        indices = [self._index(value) for value in values.tolist()]
        array = np.empty(len(indices), dtype=object if self.size >= 2**62 else np.int64)
        array[:] = indices
        return array

    def _index(self, value: int | float | Fraction) -> int:
        if isinstance(value, float) and math.isinf(value):
            return self.size - 1 if value > 0 else 0
        # In integers: fractions would be reduced at each step.
        every, lo, step = self._whole
        numerator, denominator = value.as_integer_ratio()
        twice = 2 * (numerator * every - lo * denominator) + step * denominator
        return min(max(twice // (2 * step * denominator), 0), self.size - 1)

    def _nearest_integers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the nearest index for integers, with integer arithmetic only."""
        lo, hi, step = int(self.lo), int(self.hi), int(self.step)
        limits = np.iinfo(values.dtype)
        low, high = min(max(lo, limits.min), limits.max), max(min(hi, limits.max), limits.min)
        # Modulo 2**64 the distance from lo is exact, and it is below 2**64.
        above = np.clip(values, low, high).astype(np.uint64) - np.uint64(lo % 2**64)
        indices = above // np.uint64(step) + (above % np.uint64(step) > np.uint64((step - 1) // 2))
        return np.minimum(indices, np.uint64(self.size - 1)).astype(np.int64)  # type: ignore[no-any-return]

    @property
    def description(self) -> dict[str, Fraction]:
        """The two ends and the step."""
        return {"lo": self.lo, "hi": self.hi, "step": self.step}

    @property
    def facts(self) -> Facts:
        """The two ends and the step."""
        return {"range": (str(self.lo), str(self.hi), str(self.step))}

    def __repr__(self) -> str:
        return f"Grid({self.lo}, {self.hi}, step {self.step}; {self.size:,} points)"


@lru_cache(maxsize=64)
def nearest_doubles(grid: object) -> NDArray[np.float64] | None:
    """Return a grid as `nearest_places` of the kernel takes it; None where doubles do not hold its borders.

    Those are (lo - step / 2 + index * step) * 2 * every, for the multiple `every` that makes lo and step whole.
    It is found once for a grid, and not to be changed.
    """
    if not isinstance(grid, Grid) or grid._double_error() is None:
        return None
    every, lo, step = grid._whole
    if 2 * max(abs(lo) + step * (grid.size + 1), every) >= _EXACT_BORDERS:
        return None
    doubles = np.array([*map(float, (grid.lo, grid.hi, 1 / grid.step, lo, step, every))])
    doubles.flags.writeable = False
    return doubles


def _doubtful(parts: NDArray[Any], error: float) -> NDArray[np.intp]:
    """Return where doubles do not settle the floor: the fractional part is within the error of 0 or of 1."""
    if parts.min() > error and parts.max() < 1 - error:
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(np.abs(parts - 0.5) >= 0.5 - error)


def plain_number(point: Fraction, places: int | None) -> int | Decimal | Fraction:
    """Return a point as an integer, as a decimal with that many places, or as it is where none do."""
    return _quotient(point.numerator, point.denominator, places)


def plain_text(number: int | Fraction | Decimal) -> str:
    """Return a number in full, without zeros at its end: a decimal where one is exact, or else a fraction."""
    if isinstance(number, Fraction):
        number = plain_number(number, decimal_places(number))
    text = str(number) if isinstance(number, int | Fraction) else f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _quotient(numerator: int, denominator: int, places: int | None) -> int | Decimal | Fraction:
    """Return the same of a quotient of integers."""
    if places == 0:
        return numerator // denominator
    if places is None:
        return Fraction(numerator, denominator)
    digits = numerator.bit_length() * 31 // 100 + 1  # no fewer than it has: log10(2) is below .31
    context = Context(prec=digits + places + 5)
    return context.divide(Decimal(numerator), Decimal(denominator))


def decimal_places(*numbers: Fraction) -> int | None:
    """Return how many decimal places write all numbers exactly, or None if none do."""
    for places in range(64):
        if all((number * 10**places).denominator == 1 for number in numbers):
            return places
    return None


def position(index: Any) -> int:
    """Return an index as Python's own integer.

    Raises:
        TypeError: if it is none, as of any sequence.
    """
    try:
        return operator.index(index)
    except Exception:  # of the object's own methods
        pass
    raise TypeError(f"an index must be an integer, got {preview(index)}")


_LONGER = {"candidates": ". For numbers give a Grid, else a CandidateTable"}
"""What holds more than a list, by the argument."""


def plain_values(labels: Iterable[object], argument: str) -> Iterable[object]:
    """Return the labels as Python values, out of the arrays and scalars of numpy and PyArrow."""
    single = isinstance(labels, str | bytes) or not isinstance(labels, Iterable)
    if single or hasattr(type(labels), "columns"):
        raise InvalidCandidates(f"{argument} must be a list, got {preview(labels)}")
    if isinstance(labels, Sized) and _length(labels) > MOST_LISTED:
        raise InvalidCandidates(
            f"{argument} in a list must be at most {MOST_LISTED:,}{_LONGER.get(argument, '')}"
        )
    for to_list in ("tolist", "to_pylist", "to_list"):
        if hasattr(labels, to_list):
            labels = getattr(labels, to_list)()
            break
    plain_labels = read_sequence(labels, argument)
    if not any(issubclass(one, np.generic) for one in types_of(plain_labels)):
        return plain_labels
    return [label.item() if isinstance(label, np.generic) else label for label in plain_labels]


def is_missing(value: object) -> bool:
    """Return whether a value is a null or NaN, which equal no value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and bool(value != value)  # NaN


def check_distinct_labels(labels: tuple[object, ...], argument: str, *, null: bool = False) -> None:
    """Raise unless all labels are distinct and hashable, and equal themselves but for None, if that may be one."""
    first_of: dict[object, object] = {}
    for label in labels:
        if not isinstance(label, Hashable):
            raise InvalidCandidates(
                f"{argument} must be simple values such as text, numbers or dates, got "
                f"{preview(label)}"
            )
        if is_missing(label) and not null:
            raise InvalidCandidates(f"{argument} must not be missing or NaN, got {preview(label)}")
        if not _can_be_told(label):
            raise InvalidCandidates(
                f"{argument} must be text in UTF-8, numbers of at most 4,200 digits ..., got "
                f"{preview(label)}"
            )
        for form in _forms(label, argument):
            if form in first_of:
                raise InvalidCandidates(
                    f"{argument} must be distinct, {_twice(first_of[form], label)}"
                )
            first_of[form] = label


def _are_finite(labels: Sequence[Any]) -> bool:
    """Return whether Python's own integers and floats are all finite, and none is beyond all doubles.

    They are looked at together: one by one, a long list of them would take longer than any draw from it.
    """
    try:
        doubles = np.array(labels, dtype=np.float64)
    except OverflowError:
        return False
    return bool(np.isfinite(doubles).all())


def _length(labels: Sized) -> int:
    try:
        return len(labels)
    except TypeError:  # an array without dimensions
        return 0
    except OverflowError:  # a range of more than Python counts
        return sys.maxsize


def _can_be_told(label: Any) -> bool:
    """Return whether a text can be written, and a number spelled: one of them may be the answer."""
    if isinstance(label, str):
        return exact_text(label) is not None
    return fits(label) if type(label) in (int, Fraction) else True


def _forms(label: object, argument: str) -> set[object]:
    """Return the values that equal a label: itself, and the instant of a time with a zone."""
    try:
        return {label, instant(label)}
    except TypeError:  # a tuple of lists
        pass
    raise InvalidCandidates(
        f"{argument} must be simple values such as text, numbers or dates, got {preview(label)} "
        "that cannot be hashed"
    )


def _twice(first: object, second: object) -> str:
    """Return how two labels are the same: for Python, True equals 1, and 0.0 equals -0.0."""
    same = preview(first) == preview(second)
    return (
        f"{preview(first)} is there twice" if same else f"{preview(first)} equals {preview(second)}"
    )


def instant(value: object) -> object:
    """Return a time with an offset in UTC, and anything else as it is.

    Python compares two times of one zone by their clocks, and holds one in an hour that clocks repeat unequal
    to all of other zones. In UTC, equal are those of the same instant.
    """
    if not isinstance(value, dt.datetime) or value.tzinfo is None or value.utcoffset() is None:
        return value
    try:
        return value.astimezone(dt.UTC)
    except OverflowError:  # a year that Python cannot write in UTC
        return value
