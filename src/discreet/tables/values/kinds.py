"""The types of columns, and the candidates that are comparable with them.

Everything here is decided from the schema and the candidates, which are public.
"""

import datetime as dt
import struct
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, nextafter
from typing import Any
from uuid import UUID

from ...errors import InvalidCandidates, NotCountable, preview
from ...selection.candidates import instant, is_missing
from ..formats.text_form import NO_FORM, CellForm, CellReading

CELL = "cell"
"""The name of the only column of a table once it has been opened."""

ONLY = "the only one"
"""The name of the column of data of one dimension."""

CellKey = tuple[object, object]
"""What tells a value from all that do not equal it: in which way it is compared, and the value."""

_EXACT_TYPES = (str, int, float, Decimal, Fraction, dt.datetime, dt.date, UUID)
"""Types of which equal values are equal to the same values, one type with the other."""

NUMBERS = frozenset({"integer", "decimal", "fraction", "float"})
COMPARABLE = {"integer": NUMBERS, "decimal": NUMBERS, "float": NUMBERS}
"""The kinds of candidates for a kind of column, where it is not just the same kind."""

UNITS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True)
class ColumnType:
    """The type of a column as far as candidates are concerned."""

    column: str
    kind: str
    """text, integer, float, decimal, boolean, date, timestamp, timestamp with time zone, uuid,
    anything (a Python object per row) or nothing (a column of nulls)."""
    name: str
    """The engine's own word for the type."""
    low: int = 0
    high: int = 0
    """Least and greatest integer: of the value, of a decimal's digits, of a timestamp's units."""
    scale: int = 0
    unit: str = "us"
    layout: str = "<d"
    categories: tuple[str, ...] | None = None
    enum_categories: tuple[str, ...] | None = None
    """The categories, where whoever wrote the schema chose them: those of a Polars Enum."""
    has_order: bool = False
    """Whether its values have an order of their own, which is not that of their texts: ordered categories."""
    cells: CellForm = NO_FORM
    """How text writes numbers and dates, where the form of its file says it."""
    reading: CellReading | None = None
    """What was read in its cells, in place of their texts."""
    parts: "tuple[ColumnType, ...]" = ()
    """The types of the columns of a cell that is the `cell_text` of theirs."""
    has_null: bool = False
    """Whether it is a column of such a cell in which no value is one of the values."""

    @property
    def words(self) -> str:
        """The column and its type, for messages; data of one dimension are the column."""
        column = "the data" if self.column == ONLY else f"column {self.column!r}"
        return f"{column}, of type {self.name}"


INTEGER_TYPE = ColumnType("", "integer", "")
"""The type of counts and positions, which are in no column of a table."""


WRITTEN = ("CSV", "JSON")


def is_written(of: ColumnType) -> bool:
    """Return whether a column has text because its file has no other type."""
    return of.name in WRITTEN


def column_type(column: str, dtype: Any, word: str) -> ColumnType:
    """Return the type of `column`, given its Narwhals data type and the engine's own word."""
    name = type(dtype).__name__
    if dtype.is_integer():
        bits, signed = int(name.lstrip("UInt")), name.startswith("Int")
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return ColumnType(column, "integer", name, low, high)
    if dtype.is_float():
        layout = {"Float16": "<e", "Float32": "<f", "Float64": "<d"}[name]
        return ColumnType(column, "float", name, layout=layout)
    if name == "Decimal":
        top = 10**dtype.precision - 1
        words = f"Decimal({dtype.precision}, {dtype.scale})"
        return ColumnType(column, "decimal", words, -top, top, dtype.scale)
    if name == "Datetime":
        return timestamp(column, dtype.time_unit, dtype.time_zone)
    if name in ("Enum", "Categorical", "String"):
        return ColumnType(column, "text", name)
    if name in ("Boolean", "Date"):
        return ColumnType(column, name.lower(), name)
    raise not_countable(column, word)


def timestamp(column: str, unit: str, zone: str | None) -> ColumnType:
    """Return the type of a column of timestamps, which engines keep as 64-bit integers."""
    kind = "timestamp with time zone" if zone else "timestamp"
    name = f"Datetime({unit}, {zone})" if zone else f"Datetime({unit})"
    return ColumnType(column, kind, name, -(2**63) + 1, 2**63 - 1, unit=unit)


def not_countable(column: str, name: str) -> NotCountable:
    """Return the error for a column of a type that no argument accepts."""
    return NotCountable(
        f"column {column!r} has the type {name}, which cannot be used for candidates, groups or a "
        "privacy_unit. Accepted: text, integers, floats, decimals, booleans, dates, timestamps, "
        "categories and UUIDs, and for privacy_unit text, integers, decimals and UUIDs"
    )


def kind_of(candidate: object) -> str:
    """Return the kind of a candidate."""
    if isinstance(candidate, dt.datetime):
        return "timestamp" if candidate.utcoffset() is None else "timestamp with time zone"
    kinds: Iterable[tuple[type, str]] = (
        (bool, "boolean"),
        (int, "integer"),
        (float, "float"),
        (Decimal, "decimal"),
        (Fraction, "fraction"),
        (str, "text"),
        (dt.date, "date"),
        (UUID, "uuid"),
    )
    return next((kind for of, kind in kinds if isinstance(candidate, of)), type(candidate).__name__)


def plain(value: object) -> object:
    """Return the value as standard Python has it: without NumPy's scalars or pandas' Timestamp."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return value.item()
    if hasattr(value, "to_pydatetime") and not getattr(value, "nanosecond", 0):
        return value.to_pydatetime()
    return value


def key(value: object) -> CellKey:
    """Return a key that only equal values share: for Python, True equals 1.

    Times with an offset are told apart as instants, whatever the zone. Objects of all other types, and of those
    that bring an equality of their own, equal at most those of their type: one that equals two values, as a double
    of NumPy equals all long integers that it may be rounded from, made one value of both in all other rows.
    """
    is_time = type(value).__name__ in ("datetime64", "timedelta64")  # a number for `plain`
    one = value if is_time else plain(value)
    return _comparison_of(type(one)), instant(one)


def _comparison_of(of: type) -> object:
    """Return the kind that values of a type share with all that they may equal: False, or a type."""
    base = next((one for one in _EXACT_TYPES if of is not bool and issubclass(of, one)), None)
    own: tuple[object, ...] = of.__eq__, of.__hash__
    is_exact = base is not None and own == (base.__eq__, base.__hash__)
    return False if is_exact else of


def check_candidates(
    candidates: Sequence[object], of: ColumnType, name: str = "candidate"
) -> list[object]:
    """Return the candidates in plain Python, all of them comparable with the column's type."""
    if isinstance(candidates, str | bytes):
        raise InvalidCandidates(f"candidates must be a list of values, not {preview(candidates)}")
    plain_candidates = []
    for label in candidates:
        candidate = single(label)
        kind = kind_of(candidate)
        if of.kind not in ("anything", "nothing") and kind not in COMPARABLE.get(
            of.kind, {of.kind}
        ):
            raise InvalidCandidates(
                f"the {name} {preview(candidate)} is of the kind {kind}, so it cannot be compared "
                f"with {of.words}: give one of the kind "
                f"{'number' if of.kind in COMPARABLE else of.kind}"
            )
        plain_candidates.append(candidate)
    return plain_candidates


def single(label: object) -> object:
    """Return a candidate in plain Python, if some value can equal it."""
    if is_missing(label):
        raise InvalidCandidates(f"{preview(label)} equals no value, so it cannot be a candidate")
    if not isinstance(label, Hashable):
        raise InvalidCandidates(f"{preview(label)} is not a single value")
    candidate = plain(label)
    if getattr(candidate, "nanosecond", 0):
        raise InvalidCandidates(f"{preview(label)} is finer than a microsecond")
    return candidate


def represent(candidate: object, of: ColumnType) -> object | None:
    """Return the value of the column's type that equals the candidate; None if there is none."""
    exact: dict[str, Callable[[Any, ColumnType], Any | None]] = {
        "integer": _integer,
        "float": _float,
        "decimal": _decimal,
        "timestamp": _instant,
        "timestamp with time zone": _instant,
        "text": _text,
    }
    if of.enum_categories is not None and candidate not in of.enum_categories:
        return None
    return exact[of.kind](candidate, of) if of.kind in exact else candidate


def _multiple(number: int | float | Decimal | Fraction, scale: int, of: ColumnType) -> int | None:
    """Return number * 10**scale if that is an integer in the column's range."""
    if isinstance(number, float) and number in (float("inf"), float("-inf")):
        return None
    if isinstance(number, Decimal) and (not number.is_finite() or number.adjusted() > 100):
        return None  # beyond every type, and its digits could fill the memory
    exact = Fraction(number) * 10**scale
    fits = exact.denominator == 1 and of.low <= exact.numerator <= of.high
    return exact.numerator if fits else None


def _integer(number: int | float | Decimal | Fraction, of: ColumnType) -> int | None:
    return _multiple(number, 0, of)


def _decimal(number: int | float | Decimal | Fraction, of: ColumnType) -> Decimal | None:
    units = _multiple(number, of.scale, of)
    if units is None:
        return None
    digits = tuple(map(int, str(abs(units))))
    return Decimal((int(units < 0), digits, -of.scale))  # no context, so nothing is rounded


def nearest_float(number: Fraction, of: ColumnType) -> float | None:
    """Return the number of the column's floating-point format that is nearest to one; None beyond the format.

    Rounded once: a double between two numbers of a shorter format is made odd first, so that it cannot become one
    that is half way between them.
    """
    try:
        double = float(number)
        if of.layout != "<d" and number != double:
            double = _odd(double, number)
        return rounded_float(double, of)
    except OverflowError:
        return None


def _odd(double: float, number: Fraction) -> float:
    """Return the double with the last bit 1 of the two beside a number, given the nearest."""
    [word] = struct.unpack("<q", struct.pack("<d", double))
    return double if word & 1 else nextafter(double, inf if number > double else -inf)


def _float(number: int | float | Decimal | Fraction, of: ColumnType) -> float | None:
    try:
        nearest_float = rounded_float(float(number), of)
    except OverflowError:
        return None
    return nearest_float if nearest_float == number else None


def rounded_float(number: float, of: ColumnType) -> float:
    """Return the nearest number of the column's floating-point format."""
    [nearest_float] = struct.unpack(of.layout, struct.pack(of.layout, number))
    return float(nearest_float)


def _instant(moment: dt.datetime, of: ColumnType) -> dt.datetime | None:
    has_zone = moment.utcoffset() is not None
    try:
        naive = (moment.astimezone(dt.UTC) if has_zone else moment).replace(tzinfo=None)
    except OverflowError:  # a year that Python cannot write in UTC
        return None
    micros = (naive - EPOCH) // dt.timedelta(microseconds=1)
    units, rest = divmod(micros * UNITS_PER_SECOND[of.unit], 10**6)
    if rest or not of.low <= units <= of.high:
        return None
    return naive.replace(tzinfo=dt.UTC) if has_zone else naive


def _text(text: str, of: ColumnType) -> str | None:
    if of.categories is not None and text not in of.categories:
        return None
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which no engine can store
        return None
    return str(text)
