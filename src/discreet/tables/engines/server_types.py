"""The types of a PostgreSQL server's columns: as candidates see them, and as their cells are counted.

The server describes a query without rows, and its catalogue has the rest. Columns of a type that is not here
are not counted on the server: their rows come to memory, whatever they hold.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..values.kinds import ColumnType
from .sql_expressions import SqlType, in_type

TEXT_TYPE = 25
"""The number of the type of text."""

_PADDED = 1042
"""The number of char(n)."""

_MOST_DIGITS = 100
"""Decimals of more digits are left to memory."""


@dataclass(frozen=True, slots=True)
class ServerColumn:
    """A column of a query, as the server describes it.

    Attributes:
        name: its name.
        number: the number of its type in the catalogue.
        precision: the digits of a numeric, if its type says how many.
        scale: those behind the point.
        labels: the labels of an enum, in their order.
    """

    name: str
    number: int
    precision: int | None = None
    scale: int | None = None
    labels: tuple[str, ...] | None = None

    @property
    def type(self) -> ColumnType | None:
        """The type as candidates see it; None for one that is not counted on the server."""
        if self.labels is not None:
            return ColumnType(self.name, "text", "Enum", categories=self.labels, has_order=True)
        make = _COLUMN_TYPES.get(self.number)
        return None if make is None else make(self)

    @property
    def sql_type(self) -> SqlType:
        """The type of its cells where they are counted."""
        of = self.type
        assert of is not None, "its type is one of those that are counted"
        return _SQL_TYPES[of.kind]

    def cell(self, text: str) -> str:
        """Return the expression of a cell as it is counted: NaN is null, and text is compared byte by byte."""
        of = self.sql_type
        if (
            self.number == _PADDED or self.labels is not None
        ):  # blanks would go, or a user's cast decide
            text = f"CASE WHEN {text} IS NOT NULL THEN pg_catalog.concat({text}) END"
        cell, missing = in_type(text, of), in_type("'NaN'", of)
        return f"NULLIF({cell}, {missing})" if of in ("numeric", "double") else cell


def _integer(bits: int) -> Callable[[ServerColumn], ColumnType]:
    def make(column: ServerColumn) -> ColumnType:
        top = 1 << bits - 1
        return ColumnType(column.name, "integer", f"Int{bits}", -top, top - 1)

    return make


def _simple_type(kind: str, word: str, layout: str = "<d") -> Callable[[ServerColumn], ColumnType]:
    return lambda column: ColumnType(column.name, kind, word, layout=layout)


def _timestamp(kind: str, word: str) -> Callable[[ServerColumn], ColumnType]:
    return lambda column: ColumnType(column.name, kind, word, -(2**63) + 1, 2**63 - 1)


def _decimal(column: ServerColumn) -> ColumnType | None:
    """Return the type of a numeric; None for one without a precision, or with a negative scale."""
    digits, scale = column.precision, column.scale
    if digits is None or scale is None or not 0 <= scale <= digits <= _MOST_DIGITS:
        return None
    top = 10**digits - 1
    return ColumnType(column.name, "decimal", f"Decimal({digits}, {scale})", -top, top, scale)


_COLUMN_TYPES: Mapping[int, Callable[[ServerColumn], ColumnType | None]] = {
    16: _simple_type("boolean", "Boolean"),
    19: _simple_type("text", "String"),  # name
    20: _integer(64),
    21: _integer(16),
    23: _integer(32),
    TEXT_TYPE: _simple_type("text", "String"),
    700: _simple_type("float", "Float32", "<f"),
    701: _simple_type("float", "Float64"),
    _PADDED: _simple_type("text", "String"),
    1043: _simple_type("text", "String"),
    1082: _simple_type("date", "Date"),
    1114: _timestamp("timestamp", "Datetime(us)"),
    1184: _timestamp("timestamp with time zone", "Datetime(us, UTC)"),
    1700: _decimal,
    2950: _simple_type("uuid", "UUID"),
}
"""The types that are counted, by the numbers that all servers give them."""

_SQL_TYPES: Mapping[str, SqlType] = {
    "boolean": "boolean",
    "integer": "bigint",
    "float": "double",
    "decimal": "numeric",
    "text": "text",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp with time zone": "instant",
    "uuid": "uuid",
}
