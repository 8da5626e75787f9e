"""Keys: the values of a column that may be answered without a list of candidates.

A key is a function of its own row and of the column's type, which is public: no other row decides whether a cell is
a key, or which. Cells that are none are left out without a word.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ...base.doors import fix
from ...errors import UnreadableData
from ...selection.candidates import is_missing
from ...selection.released_values import ReleasedValue
from .ids import decimal_text
from .kinds import ColumnType, plain, represent
from .numeric import DAY, FIRST_DAY, LAST_DAY

KeyValue: TypeAlias = str | int | bool | Decimal | dt.date | dt.datetime | UUID | tuple[Any, ...]
"""A key as Python has it. Columns of text files have texts alone; times with an offset are in UTC.

Of several columns it is a tuple of keys.
"""

MOST_KEY_BYTES = 256
"""A text of more bytes in UTF-8 is no key, so that answers have a length that is public."""

FIRST_INSTANT, LAST_INSTANT = FIRST_DAY * DAY, (LAST_DAY + 1) * DAY - 1
"""The first and the last microsecond, from 1970, of the years that Python's times have."""

_KINDS_OF_TIMES = ("date", "timestamp", "timestamp with time zone")

KEY_KINDS = (
    "text",
    "integer",
    "decimal",
    "boolean",
    *_KINDS_OF_TIMES,
    "uuid",
    "anything",
    "nothing",
)


def check_keys(of: ColumnType) -> None:
    """Raise unless values of this type can be keys.

    Raises:
        UnreadableData: from the type alone.
    """
    if of.kind not in KEY_KINDS:
        raise UnreadableData(
            f"{of.words}, has no keys: rounded numbers cannot be told apart reliably. Accepted: "
            "text, integers, decimals, truths, dates, times and UUIDs. Cast the column, such as "
            "integers with missing values in pandas to Int64"
        )


def key_order(key: KeyValue) -> tuple[str, Any]:
    """Return the order of keys: those of one type by value, text by its code points, and types by their names."""
    if isinstance(key, tuple):
        return "tuple", tuple(map(key_order, key))
    is_instant = isinstance(key, dt.datetime) and key.tzinfo is not None
    return "instant" if is_instant else type(key).__name__, key


@dataclass(frozen=True, slots=True, repr=False)
class KeyColumn:
    """The keys of a column as its engine has them, and as Python has them. Private.

    Attributes:
        of: the type of the column.
        objects: for a column of Python objects: its keys in their order, for which their places stand.
    """

    of: ColumnType
    objects: Sequence[KeyValue] | None = None

    def key(self, cell: Any) -> KeyValue:
        """Return the key that a cell of the engine is."""
        if self.objects is not None:
            of_object: Any = self.objects[cell]
            return self._of_parts(of_object) if self.of.parts else of_object
        if self.of.parts:
            return self._of_parts(bytes(cell).decode())
        if self.of.kind == "text":
            return bytes(cell).decode()
        if self.of.kind == "timestamp with time zone":
            return _EPOCH + dt.timedelta(microseconds=cell)
        key: Any = represent(cell, self.of) if self.of.kind == "decimal" else cell
        return key  # type: ignore[no-any-return]

    def _of_parts(self, text: str) -> KeyValue:
        """Return the key that is a cell of several columns, or of one."""
        keys = read_cell(text, self.of.parts)
        return keys if len(keys) > 1 else keys[0]

    def places(self, keys: Sequence[KeyValue]) -> dict[object, int]:
        """Return the places of some keys of this column in their list, by the cells of the engine that are keys."""
        if self.objects is not None:
            cells: Any = map(self._cell, keys)
            place_of = {key_order(key): place for place, key in enumerate(cells)}
            orders = map(key_order, self.objects)
            return {cell: place_of[order] for cell, order in enumerate(orders) if order in place_of}
        return {self._cell(key): place for place, key in enumerate(keys)}

    def _cell(self, key: Any) -> object:
        """Return the cell of the engine that is a key; of objects, the object that is one."""
        if self.of.parts:
            several = key if len(self.of.parts) > 1 else (key,)
            return cell_text([*map(part_word, several, self.of.parts)])
        if self.objects is not None:
            return key
        if self.of.kind == "timestamp with time zone":
            return (key - _EPOCH) // dt.timedelta(microseconds=1)
        return key


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

PART_KINDS = ("text", "integer", "decimal", "boolean", "date", "uuid", "anything", "nothing")
"""The kinds of columns that may be one of several of a cell: equal values have one text in every engine."""


def check_part(of: ColumnType) -> None:
    """Raise unless a column of this type may be one of several.

    Raises:
        UnreadableData: from the type alone.
    """
    if of.kind not in PART_KINDS:
        raise UnreadableData(
            f"{of.words}, cannot be one of several columns as it is. Put it in bins, such as "
            f"{fix('bins', column=of.column)}"
        )


def part_text(cell: Any, of: ColumnType) -> str | None:
    """Return the text of a value of a column in a cell, as its engine writes it; None for a value without one.

    Of a column of Python objects it begins with the kind of the value, so that 1 and "1" differ.
    A truth among objects is 0 or 1.
    """
    if of.kind == "anything":
        is_truth = type(cell).__name__ in (
            "bool",
            "bool_",
        )  # True equals 1, and both would be one key of a dict
        key = int(cell) if is_truth else key_of_object(cell)
        if key is None:
            return None
        as_text = ReleasedValue.of(key)
        return f"{as_text.kind}:{as_text.text}"
    if of.kind == "decimal":
        return decimal_text(cell)
    if of.kind == "boolean":
        return str(cell).lower()
    text = cell.isoformat() if of.kind == "date" else str(cell)
    return text if len(text.encode()) <= MOST_KEY_BYTES else None


NO_VALUE = "-"
"""What stands in a cell for a column without a value, where that is one of its values; all others have a length."""


def part_word(cell: Any, of: ColumnType) -> str | None:
    """Return the text of a value of a column in a cell after its length; None for a value without one."""
    if of.has_null and (is_missing(cell) or (of.name == "CSV" and cell == "")):
        return NO_VALUE
    return word_of_text(part_text(cell, of))


def word_of_text(text: str | None) -> str | None:
    """Return a text after its length in bytes."""
    return None if text is None else f"{len(text.encode())}:{text}"


def cell_text(words: Sequence[str | None]) -> str | None:
    """Return the text of a cell of several columns, given the words of its values; None where one has none.

    A word is a text after its length in bytes, or `NO_VALUE`, so no two lists of them are put together alike.
    """
    several = [word for word in words if word is not None]
    return "".join(several) if len(several) == len(words) else None


def read_cell(text: str, parts: Sequence[ColumnType]) -> tuple[KeyValue, ...]:
    """Return the values of the columns of a cell, given its text."""
    rest, keys = text.encode(), list[Any]()
    for of in parts:
        if rest.startswith(NO_VALUE.encode()):
            keys.append(None)
            rest = rest[len(NO_VALUE) :]
            continue
        length, _, rest = rest.partition(b":")
        keys.append(_read_part(rest[: int(length)].decode(), of))
        rest = rest[int(length) :]
    return tuple(keys)


def _read_part(text: str, of: ColumnType) -> KeyValue:
    """Return the value of a column that a text in a cell stands for."""
    if of.kind == "anything":
        kind, _, rest = text.partition(":")
        of_object: KeyValue = ReleasedValue(kind, rest).value
        return of_object
    read: Any = _PART_READERS.get(of.kind, str)
    key: Any = represent(read(text), of) if of.kind == "decimal" else read(text)
    return key  # type: ignore[no-any-return]


_PART_READERS: dict[str, Callable[[str], KeyValue]] = {
    "integer": int,
    "decimal": Decimal,
    "boolean": lambda text: text == "true",
    "date": dt.date.fromisoformat,
    "uuid": UUID,
}


def order_objects(
    cells: Sequence[object], codes: NDArray[np.int64]
) -> tuple[list[KeyValue], NDArray[np.int64]]:
    """Return the keys among objects in their order, and the places of the keys by row, -1 for no key.

    Args:
        cells: the distinct objects.
        codes: their positions by row.
    """
    keys = [key_of_object(cell) for cell in cells]
    distinct = {key_order(key): key for key in keys if key is not None}
    places = {order: place for place, order in enumerate(sorted(distinct))}
    by_cell = [-1 if key is None else places[key_order(key)] for key in keys]
    return [distinct[order] for order in places], np.array([*by_cell, -1], dtype=np.int64)[codes]


def key_of_object(cell: object) -> KeyValue | None:
    """Return the key that a Python object is; None for one that is no key.

    Objects that are equal have one key: whole decimals are integers, and times with an offset are in UTC. A truth
    is none, for True equals 1; a float is none, as in a column of floats.
    """
    try:
        value = plain(cell)
        if isinstance(value, bool) or isinstance(cell, np.datetime64 | np.timedelta64):
            return None  # of nanoseconds numpy makes integers
        readers = [reader for kind, reader in _READERS.items() if isinstance(value, kind)]
        return readers[0](value) if readers else None
    except Exception:  # objects in a table may do anything
        return None


def _read_text(value: str) -> str | None:
    text = str.__str__(value)
    return text if len(text.encode()) <= MOST_KEY_BYTES else None


def _read_integer(value: int) -> int | None:
    number = int.__int__(value)
    return number if len(str(number)) <= MOST_KEY_BYTES else None


def _read_decimal(value: Decimal) -> KeyValue | None:
    text = decimal_text(value)
    if text is None or len(text) > MOST_KEY_BYTES:
        return None
    return Decimal(text) if "." in text else int(text)


def _read_time(value: dt.datetime) -> dt.datetime | None:
    if getattr(value, "nanosecond", 0) or value != value:  # NaT is one, and equals nothing
        return None
    has_zone = value.utcoffset() is not None
    moment = value.astimezone(dt.UTC) if has_zone else value.replace(fold=0)
    return dt.datetime.combine(moment.date(), moment.timetz())


_READERS: dict[type, Callable[[Any], KeyValue | None]] = {
    str: _read_text,
    int: _read_integer,
    Decimal: _read_decimal,
    dt.datetime: _read_time,
    dt.date: lambda value: dt.date(value.year, value.month, value.day),
    UUID: lambda value: UUID(int=value.int),
}
"""What reads an object as a key, by its type: a time is also a date, so it comes first."""
