"""Narwhals' expressions as SQL of PostgreSQL: the few that `expressions`, `grid_counts`, `filters` and others use.

Every part of an expression has a type, and a constant is written in the type of the other part. So the server looks
for no operator of a user, and rounds nothing. Arithmetic of doubles raises for no record: see `__mul__`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias

SqlType: TypeAlias = Literal[
    "boolean", "integer", "bigint", "numeric", "double", "text", "date", "timestamp", "instant", "uuid"
]  # fmt: skip

TYPE_WORDS: Mapping[SqlType, str] = {
    "boolean": "boolean",
    "integer": "integer",
    "bigint": "bigint",
    "numeric": "numeric",
    "double": "double precision",
    "text": "pg_catalog.text",
    "date": "pg_catalog.date",
    "timestamp": "timestamp without time zone",
    "instant": "timestamp with time zone",
    "uuid": "pg_catalog.uuid",
}
"""The types in SQL. Words of the grammar mean the server's own types whatever the search path, others say where."""

_WIDTHS: Sequence[SqlType] = ("integer", "bigint", "numeric", "double")
"""Types of numbers: of two that meet, both become the later one."""

_LEAST_NORMAL = 2.0**-1021


def sql_text(text: str) -> str:
    """Return a text as a constant of SQL, whatever the server takes a backslash for."""
    inner = text.replace("'", "''")
    return f"E'{inner}'".replace("\\", "\\\\") if "\\" in text else f"'{inner}'"


def in_type(text: str, of: SqlType) -> str:
    """Return an expression as one of a type; texts are compared byte by byte."""
    return f"CAST({text} AS {TYPE_WORDS[of]}){_byte_order(of)}"


def type_words(of: SqlType) -> str:
    """Return the type of a column of such expressions."""
    return TYPE_WORDS[of] + _byte_order(of)


def _byte_order(of: SqlType) -> str:
    return ' COLLATE "C"' if of == "text" else ""


def sql_constant(cell: Any, of: SqlType) -> str:
    """Return a value as a constant of a type, every digit of it."""
    if of == "boolean":
        return "true" if cell else "false"
    if of == "text":
        return in_type(sql_text(cell.decode() if isinstance(cell, bytes) else cell), of)
    return in_type(sql_text(number_text(cell, of)), of)


def number_text(number: Any, of: SqlType) -> str:
    """Return the text of a number that the server reads as the same number of a type.

    Raises:
        TypeError: if the type has no such number.
    """
    if of == "double":
        if float(number) != number:
            raise TypeError("a double would round the constant")
        return repr(float(number))
    if of == "numeric" and isinstance(number, Decimal):
        return f"{number:f}"
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError("the constant is of another type")
    return str(number)


def _type_of(literal: object) -> SqlType:
    """Return the type of a constant that stands alone."""
    types: Mapping[type, SqlType] = {
        bool: "boolean", int: "bigint", float: "double", Decimal: "numeric", str: "text", bytes: "text",
    }  # fmt: skip
    return types[type(literal)]


@dataclass(slots=True)
class SqlExpression:
    """An expression with its type and its name, as Narwhals asks of an engine.

    Attributes:
        text: the SQL; of a constant the one it has alone.
        of: the type.
        name: the name of its column.
        literal: a constant itself, in a list; empty for anything else.
        order: the order of a rank.
    """

    text: str
    of: SqlType
    name: str = "literal"
    literal: tuple[Any, ...] = ()
    order: str = ""
    _opt_metadata: Any = field(default=None, repr=False)

    @property
    def _metadata(self) -> Any:
        return self._opt_metadata

    def broadcast(self) -> "SqlExpression":
        """Return this: constants have a value in every row."""
        return replace(self)

    def alias(self, name: str) -> "SqlExpression":
        """Return the same under another name."""
        return replace(self, name=name)

    def as_type(self, of: SqlType) -> str:
        """Return the SQL in the type of the part beside it."""
        if self.literal:
            return sql_constant(self.literal[0], of)
        return self.text if of == self.of else in_type(self.text, of)

    def cast(self, dtype: Any) -> "SqlExpression":
        """Return the same in another type of numbers; doubles are whole numbers before."""
        name = dtype.__name__ if isinstance(dtype, type) else type(dtype).__name__
        words: Mapping[str, SqlType] = {"Int32": "integer", "Int64": "bigint", "Float64": "double"}
        return self._as(self.as_type(words[name]), words[name])

    def _as(self, text: str, of: SqlType) -> "SqlExpression":
        return SqlExpression(text, of, self.name)

    def _meet(self, other: "SqlExpression") -> tuple[str, str, SqlType]:
        """Return both in one type, and that type."""
        if self.literal and not other.literal:
            of = other.of
        elif other.literal or self.of == other.of:
            of = self.of
        else:
            of = max(self.of, other.of, key=_WIDTHS.index)
        return self.as_type(of), other.as_type(of), of

    def _comparison(self, other: "SqlExpression", operator: str) -> "SqlExpression":
        if other.literal and self.of == "text":
            operator, other = _without_nul(operator, other)
        one, another, _ = self._meet(other)
        return self._as(f"({one} {operator} {another})", "boolean")

    def _arithmetic(self, other: "SqlExpression", operator: str) -> "SqlExpression":
        one, another, of = self._meet(other)
        return self._as(f"({one} {operator} {another})", of)

    def __eq__(self, other: Any) -> Any:
        return self._comparison(other, "=")

    def __ne__(self, other: Any) -> Any:
        return self._comparison(other, "<>")

    def __lt__(self, other: "SqlExpression") -> "SqlExpression":
        return self._comparison(other, "<")

    def __le__(self, other: "SqlExpression") -> "SqlExpression":
        return self._comparison(other, "<=")

    def __gt__(self, other: "SqlExpression") -> "SqlExpression":
        return self._comparison(other, ">")

    def __ge__(self, other: "SqlExpression") -> "SqlExpression":
        return self._comparison(other, ">=")

    def __add__(self, other: "SqlExpression") -> "SqlExpression":
        return self._arithmetic(other, "+")

    def __sub__(self, other: "SqlExpression") -> "SqlExpression":
        return self._arithmetic(other, "-")

    def __mul__(self, other: "SqlExpression") -> "SqlExpression":
        """Return the product. Of a double and a constant below 1 it is 0 where it would be too small for a double.

        The server ends a query at such a product, so one record would decide whether there is an answer.
        """
        one, another, of = self._meet(other)
        if of == "double" and other.literal and abs(other.literal[0]) < 1:
            least = _LEAST_NORMAL / abs(other.literal[0]) if other.literal[0] else 0.0
            edge = sql_constant(least, "double")
            is_large, nothing = f"pg_catalog.abs({one}) >= {edge}", sql_constant(0.0, of)
            return self._as(f"(CASE WHEN {is_large} THEN {one} * {another} ELSE {nothing} END)", of)
        return self._as(f"({one} * {another})", of)

    def __truediv__(self, other: "SqlExpression") -> "SqlExpression":
        return self._arithmetic(other, "/")

    def __floordiv__(self, other: "SqlExpression") -> "SqlExpression":
        return self._arithmetic(other, "/")  # of integers that are never below 0

    def __mod__(self, other: "SqlExpression") -> "SqlExpression":
        return self._arithmetic(other, "%")  # of what is never below 0

    def __rpow__(self, other: "SqlExpression") -> "SqlExpression":
        return self._as(f"pg_catalog.power({other.as_type('double')}, {self.text})", "double")

    def __and__(self, other: "SqlExpression") -> "SqlExpression":
        return self._as(f"({self.text} AND {other.text})", "boolean")

    def __or__(self, other: "SqlExpression") -> "SqlExpression":
        return self._as(f"({self.text} OR {other.text})", "boolean")

    def __invert__(self) -> "SqlExpression":
        return self._as(f"(NOT {self.text})", "boolean")

    def __neg__(self) -> "SqlExpression":
        return self._as(f"(- {self.text})", self.of)

    def __hash__(self) -> int:
        return id(self)

    def is_null(self) -> "SqlExpression":
        """Return whether it is null."""
        return self._as(f"({self.text} IS NULL)", "boolean")

    def fill_null(self, constant: "SqlExpression", **_: None) -> "SqlExpression":
        """Return a constant in place of null."""
        return self._as(f"COALESCE({self.text}, {constant.as_type(self.of)})", self.of)

    def is_in(self, other: Sequence[Any]) -> "SqlExpression":
        """Return whether it is one of some constants."""
        some = ", ".join(sql_constant(one, self.of) for one in other)
        return self._as(f"({self.text} IN ({some}))" if some else "false", "boolean")

    def clip(self, lower_bound: "SqlExpression", upper_bound: "SqlExpression") -> "SqlExpression":
        """Return the nearest value between two bounds, of a value that is not null."""
        low, high = lower_bound.as_type(self.of), upper_bound.as_type(self.of)
        return self._as(f"LEAST(GREATEST({self.text}, {low}), {high})", self.of)

    def floor(self) -> "SqlExpression":
        """Return the greatest whole number that is not above it."""
        return self._as(f"pg_catalog.floor({self.text})", self.of)

    def abs(self) -> "SqlExpression":
        """Return its size."""
        return self._as(f"pg_catalog.abs({self.text})", self.of)

    def log(self, base: float) -> "SqlExpression":
        """Return its logarithm, by ten."""
        if base != 10:
            raise ValueError("logarithms are by ten")
        return self._as(f"pg_catalog.log({self.as_type('double')})", "double")

    def min(self) -> "SqlExpression":
        """Return the least of a group."""
        return self._as(f"pg_catalog.min({self.text})", self.of)

    def max(self) -> "SqlExpression":
        """Return the greatest of a group."""
        return self._as(f"pg_catalog.max({self.text})", self.of)

    def sum(self) -> "SqlExpression":
        """Return the sum of a group of integers."""
        return self._as(f"pg_catalog.sum({self.text})", "numeric")

    def rank(self, method: str, *, descending: bool) -> "SqlExpression":
        """Return the place in a block, from 1: of equal values any order, or one place."""
        function = {"ordinal": "row_number", "dense": "dense_rank"}[method]
        return SqlExpression(
            f"pg_catalog.{function}()", "bigint", self.name, order=f"ORDER BY {self.text}"
        )

    def over(self, partition_by: Sequence[Any], order_by: Sequence[Any]) -> "SqlExpression":
        """Return the same in its block."""
        names = ", ".join(
            one if isinstance(one, str) else one.text for one in map(_quoted_name, partition_by)
        )
        block = f"PARTITION BY {names}" if names else ""
        window = " ".join(part for part in (block, self.order) if part)
        return self._as(f"{self.text} OVER ({window})", self.of)


def _without_nul(operator: str, constant: SqlExpression) -> tuple[str, SqlExpression]:
    """Return a comparison of texts that is true of the same texts, with a constant that the server can hold.

    No text of the server has the character of number 0, the least of all. So of those texts the ones below a
    constant with it are those up to its part before that character, and none equals it.
    """
    cell = constant.literal[0]
    before, nul, _ = (cell if isinstance(cell, bytes) else cell.encode()).partition(b"\0")
    if not nul:
        return operator, constant
    if operator in ("=", "<>"):
        operator, before = {"=": "<", "<>": ">="}[operator], b""  # of no text, of every text
    else:
        operator = "<=" if operator in ("<", "<=") else ">"
    return operator, replace(constant, literal=(before,))


def _quoted_name(name: Any) -> Any:
    return f'"{name}"' if isinstance(name, str) else name


@dataclass(frozen=True, slots=True)
class SqlNamespace:
    """The root of expressions for Narwhals: the columns of a frame, constants and choices."""

    columns: Mapping[str, SqlType]

    def col(self, name: str) -> SqlExpression:
        """Return a column."""
        return SqlExpression(f'"{name}"', self.columns[name], name)

    def lit(self, value: object, dtype: None) -> SqlExpression:
        """Return a constant."""
        of = _type_of(value)
        return SqlExpression(sql_constant(value, of), of, literal=(value,))

    def concat(self, frames: Sequence[Any], *, how: str) -> Any:
        """Return the rows of some frames with the same columns, one after the other."""
        one = frames[0]
        return replace(one, text=" UNION ALL ".join(frame.text for frame in frames))

    def len(self) -> SqlExpression:
        """Return the number of rows."""
        return SqlExpression("pg_catalog.count(*)", "bigint", "len")

    def when_then(
        self, predicate: SqlExpression, then: SqlExpression, otherwise: SqlExpression | None = None
    ) -> SqlExpression:
        """Return one of two expressions, which become one type."""
        if otherwise is None:
            return SqlExpression(
                f"(CASE WHEN {predicate.text} THEN {then.text} END)", then.of, then.name
            )
        yes, no, of = then._meet(otherwise)
        return SqlExpression(
            f"(CASE WHEN {predicate.text} THEN {yes} ELSE {no} END)", of, then.name
        )

    def all_horizontal(self, *parts: SqlExpression, ignore_nulls: bool) -> SqlExpression:
        """Return whether all are true."""
        return SqlExpression(" AND ".join(part.text for part in parts), "boolean", parts[0].name)

    def min_horizontal(self, *parts: SqlExpression) -> SqlExpression:
        """Return the least of some expressions of one type."""
        return SqlExpression(
            f"LEAST({', '.join(part.text for part in parts)})", parts[0].of, parts[0].name
        )
