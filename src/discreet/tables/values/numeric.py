"""Numbers in rows: an array, a list, or a column, as one numpy array.

Null, NaN and values that are no numbers are left out, row by row: of lists, of arrays and of pandas columns of
Python objects. Columns of text, dates and nested ones are refused by their type, which is public.

Integers stand for truths and times, so that engines count and add them up as numbers. Truths are 0 and 1. A column
of times has microseconds from 1970-01-01, by its clock or in UTC; nanoseconds where it has those, and where Python
has objects. Dates are midnights. Times before the year 1 or after 9999, infinite ones among them, are brought to
the ends of those years, beyond which no grid reaches.
"""

import datetime as dt
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import compress, islice
from numbers import Integral, Rational, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument, UnreadableData
from ...sampling.vectors import FLOATS, INTEGERS, ExactArray, in_one_array, objects, types_of
from ...selection.candidates import is_missing
from ...selection.date_grid import ClockKind, TimeUnit, clock_of, microseconds
from .kinds import UNITS_PER_SECOND, ColumnType, is_written

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation


NO_NUMBERS = frozenset({type(None), bool, str})
"""Common types none of whose values is a number."""

ONLY_NUMBERS = (FLOATS, INTEGERS, {int, float})
"""Types all of whose values are numbers, or NaN, as Python or one array has them."""

MOST_DECIMAL_DIGITS = 10_000
"""Decimals beyond it are left out: written out they would fill the memory."""


def numeric_values(data: Any) -> ExactArray:
    """Return the numbers in an array, a series or a list: float64, int64, uint64, or int, float and Fraction.

    Raises:
        UnreadableData: The data is no rows of numbers.

    Side channels: time and memory depend on the number of rows.
    """
    if isinstance(data, str | os.PathLike):
        raise InvalidArgument("a file needs the name of a column: give it after the file")
    if hasattr(data, "columns"):
        raise InvalidArgument("a table needs the name of a column: give it after the table")
    if isinstance(data, Mapping | np.ma.MaskedArray) or not isinstance(data, Iterable):
        raise UnreadableData(f"the data must be numbers in rows, got a {type(data).__name__}")
    for without_nulls in ("drop_nulls", "drop_null", "dropna"):
        if hasattr(data, without_nulls):  # before they turn integers into doubles
            data = getattr(data, without_nulls)()
            break
    return clean(np.asarray(data)) if hasattr(data, "__array__") else from_list(as_list(data))


def clean(array: ExactArray) -> ExactArray:
    """Return the numbers of the array without those that are missing."""
    if array.ndim != 1:
        raise UnreadableData(
            f"the data must be one-dimensional, got an array of {array.ndim} dimensions"
        )
    kind = array.dtype.kind
    if kind == "f" and array.dtype.itemsize <= 8:
        doubles = widen(array)
        # The largest of numbers is NaN if one of them is.
        has_nan = np.isnan(doubles.max(initial=-math.inf))
        return doubles[~np.isnan(doubles)] if has_nan else doubles
    if kind in ("i", "u"):
        return widen(array)
    if kind in ("f", "O"):
        return from_list(list(array))
    raise UnreadableData(f"the data must be numbers, got an array of type {array.dtype}")


def widen(array: ExactArray) -> ExactArray:
    """Return integers and doubles in 64 bits: arithmetic in fewer would round them."""
    return array.astype(f"{array.dtype.kind}8", copy=False)


def as_list(data: Iterable[object]) -> list[object]:
    """Return the values in a list, without asking for a length that may be a lie."""
    return list(data) if type(data) is list else [*islice(data, None)]


def from_list(values: Sequence[object]) -> ExactArray:
    """Return the numbers of a list as an array, none of them rounded."""
    return present(values)[1]


def present(values: Sequence[object]) -> tuple[NDArray[np.bool_], ExactArray]:
    """Return which values of a list are numbers, and the numbers as an array, none of them rounded."""
    there, numbers = np.ones(len(values), dtype=np.bool_), values
    types = types_of(values)
    if types & NO_NUMBERS:
        there = np.array([type(value) not in NO_NUMBERS for value in values], dtype=np.bool_)
        numbers, types = [*compress(values, there)], types - NO_NUMBERS
    if not any(types <= types_of_numbers for types_of_numbers in ONLY_NUMBERS):
        plain_numbers = [python_number(value) for value in numbers]
        there[there] = [number is not None for number in plain_numbers]
        numbers = [number for number in plain_numbers if number is not None]
        types = types_of(numbers)
    array = in_one_array(numbers, types)
    array = objects(numbers) if array is None else array
    if float in types or np.float64 in types:  # of which some may be NaN
        equal = np.asarray(array == array, dtype=np.bool_)
        there[there], array = equal, array if equal.all() else array[equal]
    return there, array


def python_number(value: object) -> int | float | Fraction | None:
    """Return a number as Python has it, with its exact value; None for a missing value or no number."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Decimal):
        if value.is_nan() or value.is_infinite():
            return None if value.is_nan() else math.copysign(math.inf, value)
        return Fraction(value) if abs(value.adjusted()) < MOST_DECIMAL_DIGITS else None
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    real: Any = value
    if np.isnan(real) or np.isinf(real) or isinstance(real, float):
        return None if np.isnan(real) else float(real)
    return Fraction(*map(int, real.as_integer_ratio()))


def from_series(series: Any) -> ExactArray:
    """Return a Narwhals series of numbers without nulls; decimals as fractions."""
    if series.dtype.is_decimal():
        return from_list(series.to_list())
    array = np.asarray(series.to_numpy())
    return widen(array) if array.dtype.kind in "iuf" else array


def from_relation(relation: "DuckDBPyRelation", of: Any) -> list[ExactArray]:
    """Return the columns of a relation without nulls, of which some have the type `of`, the others integers.

    Numbers that no word holds are fetched one by one: arrays of DuckDB would round them.
    """
    if of.kind == "decimal" or (of.kind == "integer" and of.high >= 2**64):
        rows = relation.fetchall()
        return [from_list([row[i] for row in rows]) for i in range(len(relation.columns))]
    columns = relation.fetchnumpy()
    return [widen(np.asarray(columns[name])) for name in relation.columns]


FIRST_DAY, LAST_DAY = (
    day.toordinal() - dt.date(1970, 1, 1).toordinal() for day in (dt.date.min, dt.date.max)
)

_MOST = 2**63 - 1

_COARSE = ("TIMESTAMP_S", "TIMESTAMP_MS")
"""Types of DuckDB whose times are coarser than a microsecond."""

FIRST, LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"
"""The ends of the years that grids are in, as engines read them."""

DAY = 86_400_000_000
"""Microseconds of a day."""

TYPES_OF_CLOCKS: dict[ClockKind, tuple[str, ...]] = {
    "naive": ("date", "timestamp"),
    "zoned": ("timestamp with time zone",),
}
"""The kinds of columns whose cells are times of a clock, or instants."""

_DAY_PATTERN = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_CLOCK_PATTERN = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
TIME_PATTERNS: dict[ClockKind, str] = {
    "naive": f"{_DAY_PATTERN}([T ]{_CLOCK_PATTERN})?",
    "zoned": rf"{_DAY_PATTERN}[T ]{_CLOCK_PATTERN}(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])",
}
"""How text files write dates and times, all of a field: ISO 8601 with at most six digits of a second."""

_KINDS_IN_WORDS = {"naive": "dates, or times without an offset", "zoned": "times with an offset"}
_EXAMPLES = {"naive": "2024-12-31 or 2024-12-31T06:00", "zoned": "2024-12-31T06:00+01:00"}


def unit_of(of: ColumnType) -> TimeUnit:
    """Return the unit of the integers that stand for the times of a column, from its type."""
    return "ns" if of.kind == "anything" or of.unit == "ns" else "us"


def check_times(of: ColumnType, clock: ClockKind) -> None:
    """Raise unless a column holds times, as a grid of them does: with an offset, or without.

    Raises:
        UnreadableData: from its type alone.
    """
    if (
        (is_written(of) and (of.cells.dates is None or of.cells.dates.clock == clock))
        or (of.kind == "anything" and of.name == "object")
        or of.kind in TYPES_OF_CLOCKS[clock]
    ):
        return
    other: ClockKind = "naive" if clock == "zoned" else "zoned"
    if is_written(of) or of.kind in TYPES_OF_CLOCKS[other]:
        raise UnreadableData(
            f"{of.words}, has {_KINDS_IN_WORDS[other]}, and the ends that you gave are "
            f"{_KINDS_IN_WORDS[clock]}. Give ends such as {_EXAMPLES[other]}"
        )
    raise UnreadableData(
        f"{of.words}, is not a column of dates or times. Accepted: dates and timestamps, ISO dates "
        "in text files, and Python's dates as objects. For a column of numbers give numbers"
    )


def present_times(
    values: Sequence[object], clock: ClockKind
) -> tuple[NDArray[np.bool_], ExactArray]:
    """Return whether the values of a list are times of that clock, and the times in nanoseconds."""
    numbers = [_nanoseconds(value, clock) for value in values]
    there = np.array([number is not None for number in numbers], dtype=np.bool_)
    present = [number for number in numbers if number is not None]
    try:
        return there, np.array(present, dtype=np.int64)
    except OverflowError:
        return there, objects(present)


def _nanoseconds(value: Any, clock: ClockKind) -> int | None:
    """Return a time in nanoseconds; None for a missing value, one of another clock, or none at all."""
    try:
        if is_missing(value):
            return None
        if isinstance(value, np.datetime64):
            return _of_numpy(value) if clock == "naive" else None
        if not isinstance(value, dt.date) or clock_of(value) != clock:
            return None
        return microseconds(value) * 1000 + int(getattr(value, "nanosecond", 0))
    except Exception:  # objects in a table may do anything
        return None


def _of_numpy(value: "np.datetime64") -> int | None:
    """Return a time of numpy in nanoseconds; None for NaT."""
    if np.isnat(value):
        return None
    unit = np.datetime_data(value.dtype)[0]
    if unit not in UNITS_PER_SECOND:
        unit, value = "s", value.astype("M8[s]")
    number = int(value.astype(f"M8[{unit}]").astype(np.int64)) * (10**9 // UNITS_PER_SECOND[unit])
    first, last = FIRST_DAY * DAY * 1000, ((LAST_DAY + 1) * DAY - 1) * 1000
    return min(max(number, first), last)


def sql_of_times(cell: str, native: str, of: ColumnType) -> str:
    """Return the expression in DuckDB of the integers that stand for the times of a column.

    Args:
        cell: the column.
        native: its type in DuckDB.
        of: its type.
    """
    if of.unit == "ns":
        # The ends of nanoseconds are infinite in DuckDB, which has no integers for these.
        start = f"CAST(make_timestamp_ns(0) AS {native})"
        ends = f"CASE WHEN {cell} > {start} THEN {_MOST} WHEN {cell} < {start} THEN {-_MOST} END"
        return f"coalesce(epoch_ns({cell}), {ends})"
    offset = "+00" if "TIME ZONE" in native else ""
    first, last = (
        f"CAST('{(end[:10] if native == 'DATE' else end) + offset}' AS {native})"
        for end in (FIRST, LAST)
    )
    ends = f"WHEN {cell} < {first} THEN {first} WHEN {cell} > {last} THEN {last}"
    # DuckDB 2.0.1 casts coarse times to microseconds before it looks at the ends, which fails beyond them.
    inner = f"TRY_CAST({cell} AS TIMESTAMP)" if native in _COARSE else cell
    return f"epoch_us(CASE {ends} ELSE {inner} END)"


def sql_of_texts(cell: str, clock: ClockKind, of: ColumnType) -> str:
    """Return the expression in DuckDB of the integers that stand for times in text, null for other text."""
    native, dates = "TIMESTAMPTZ" if clock == "zoned" else "TIMESTAMP", of.cells.dates
    if dates is not None:  # what it spells was read before
        return f"epoch_us(TRY_CAST({cell} AS {native}))" if dates.clock == clock else _NO_TIME
    whole = (
        f"regexp_full_match({cell}, '{TIME_PATTERNS[clock]}') AND NOT starts_with({cell}, '0000')"
    )
    return f"epoch_us(TRY_CAST(CASE WHEN {whole} THEN {cell} END AS {native}))"


_NO_TIME = "CAST(NULL AS BIGINT)"


TRUTHS = {True: ("true", "True", "TRUE", "1"), False: ("false", "False", "FALSE", "0")}
"""How files write truths: those words that Frictionless Table Schema reads unless told otherwise."""

StandIn = ClockKind | Literal["truth"]
"""The meaning of integers in a column: the times of a clock, or truths."""


def check_stand_in(of: ColumnType, stand_in: StandIn) -> None:
    """Raise unless a column holds times of that clock, or truths; or text or objects of Python that may be some.

    Raises:
        UnreadableData: from its type alone.
    """
    if stand_in != "truth":
        check_times(of, stand_in)
        return
    if of.kind == "boolean" or is_written(of) or (of.kind, of.name) == ("anything", "object"):
        return
    raise UnreadableData(
        f"{of.words}, is not a column of truths. For numbers give bounds that are numbers"
    )


def present_as(
    values: Sequence[object], stand_in: StandIn | None
) -> tuple[NDArray[np.bool_], ExactArray]:
    """Return which values of a list are numbers, times of a clock or truths, and the numbers for these."""
    if stand_in is None:
        return present(values)
    return _present_truths(values) if stand_in == "truth" else present_times(values, stand_in)


def _present_truths(values: Sequence[object]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which values of a list are truths, and the truths as 0 and 1."""
    there = np.array([isinstance(one, bool | np.bool_) for one in values], dtype=np.bool_)
    truths = [bool(one) for one in compress(values, there)]
    return there, np.array(truths, dtype=np.int64)


def sql_of_truths(cell: str) -> str:
    """Return the expression in DuckDB of the truths that text of a file spells, null for other text."""
    whens = (f"WHEN {cell} IN {words} THEN {truth}" for truth, words in TRUTHS.items())
    return f"CASE {' '.join(whens)} END"
