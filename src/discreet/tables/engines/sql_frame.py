"""A lazy frame of Narwhals that is a text of SQL. A server is asked for its rows when they are fetched.

Narwhals takes any object with these methods, as its `from_native` says. It has those that the counting uses.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .sql_expressions import (
    TYPE_WORDS,
    SqlExpression,
    SqlNamespace,
    SqlType,
    in_type,
    number_text,
    sql_text,
)


def in_quotes(names: Iterable[str]) -> str:
    """Return names of columns as SQL."""
    return ", ".join(f'"{name}"' for name in names)


@dataclass(frozen=True, slots=True)
class SqlFrame:
    """A query and the types of its columns.

    Attributes:
        text: a SELECT.
        columns_of: the types of its columns, by their names.
        _version: the version of the promises of Narwhals.
    """

    text: str
    columns_of: Mapping[str, SqlType]
    _version: Any = field(default=None, repr=False, compare=False)

    @property
    def _native_frame(self) -> "SqlFrame":
        """The frame itself."""
        return self

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [*self.columns_of]

    def __narwhals_lazyframe__(self) -> "SqlFrame":
        return self

    def __narwhals_namespace__(self) -> SqlNamespace:
        return SqlNamespace(self.columns_of)

    def _with_version(self, version: object) -> "SqlFrame":
        return replace(self, _version=version)

    def _with(self, text: str, columns_of: Mapping[str, SqlType]) -> "SqlFrame":
        return replace(self, text=text, columns_of=columns_of)

    def _of(self, columns: Iterable[SqlExpression], rest: str) -> "SqlFrame":
        """Return expressions of the rows, with the rest of the SELECT."""
        every = {one.name: one for one in columns}
        cells = ", ".join(f'{one.text} AS "{name}"' for name, one in every.items())
        types = {name: one.of for name, one in every.items()}
        return self._with(f"SELECT {cells} FROM ({self.text}) AS t{rest}", types)

    def _all(self) -> list[SqlExpression]:
        return [self.__narwhals_namespace__().col(name) for name in self.columns_of]

    def filter(self, predicate: SqlExpression) -> "SqlFrame":
        """Return the rows of which an expression is true."""
        return self._of(self._all(), f" WHERE {predicate.text}")

    def simple_select(self, *names: str) -> "SqlFrame":
        """Return some columns."""
        return self._of(map(self.__narwhals_namespace__().col, names), "")

    def select(self, *expressions: SqlExpression) -> "SqlFrame":
        """Return some expressions of the rows."""
        return self._of(expressions, "")

    aggregate = select

    def with_columns(self, *expressions: SqlExpression) -> "SqlFrame":
        """Return the rows with more columns, or others in place of some."""
        return self._of([*self._all(), *expressions], "")

    def drop(self, columns: Iterable[str], *, strict: bool) -> "SqlFrame":
        """Return the rows without some columns."""
        without = {*columns}
        return self.simple_select(*(name for name in self.columns_of if name not in without))

    def head(self, number: int) -> "SqlFrame":
        """Return the first rows."""
        return self._with(f"{self.text} LIMIT {number:d}", self.columns_of)

    def sort(self, *by: str, descending: bool | Sequence[bool], nulls_last: bool) -> "SqlFrame":
        """Return the rows in an order."""
        down = [descending] * len(by) if isinstance(descending, bool) else descending
        order = (f'"{name}"{" DESC" * is_down}' for name, is_down in zip(by, down, strict=True))
        return self._of(self._all(), f" ORDER BY {', '.join(order)}")

    def with_row_index(self, name: str, order_by: Sequence[str]) -> "SqlFrame":
        """Return the rows with their places in an order, from 0."""
        place = (
            f"(pg_catalog.row_number() OVER (ORDER BY {in_quotes(order_by)}) - CAST('1' AS bigint))"
        )
        return self._of([SqlExpression(place, "bigint", name), *self._all()], "")

    def join(
        self,
        other: "SqlFrame",
        *,
        how: str,
        left_on: Sequence[str],
        right_on: Sequence[str],
        suffix: str,
    ) -> "SqlFrame":
        """Return the rows that match those of another frame, or all, with its columns; or those that match none."""
        on = " AND ".join(
            f'l."{one}" = r."{another}"' for one, another in zip(left_on, right_on, strict=True)
        )
        own = ", ".join(f'l."{name}" AS "{name}"' for name in self.columns_of)
        if how == "anti":
            matches = f"SELECT FROM ({other.text}) AS r WHERE {on}"
            text = f"SELECT {own} FROM ({self.text}) AS l WHERE NOT EXISTS ({matches})"
            return self._with(text, self.columns_of)
        word = {"inner": "JOIN", "left": "LEFT JOIN"}[how]
        more = {name: of for name, of in other.columns_of.items() if name not in right_on}
        others = "".join(f', r."{name}" AS "{name}"' for name in more)
        text = f"SELECT {own}{others} FROM ({self.text}) AS l {word} ({other.text}) AS r ON {on}"
        return self._with(text, {**self.columns_of, **more})

    def group_by(self, keys: Sequence[str], *, drop_null_keys: bool) -> "SqlGroups":
        """Return the rows by group."""
        return SqlGroups(self, [*keys])


@dataclass(frozen=True, slots=True)
class SqlGroups:
    """The rows of a frame by group."""

    frame: SqlFrame
    keys: list[str]

    def agg(self, *expressions: SqlExpression) -> SqlFrame:
        """Return one row for a group."""
        columns = map(self.frame.__narwhals_namespace__().col, self.keys)
        return self.frame._of([*columns, *expressions], f" GROUP BY {in_quotes(self.keys)}")


_MARK = "="
"""What stands before every value in a text of many, lest an empty one be none."""


def table_of_constants(
    values: Sequence[Any], of: SqlType, alias: str, places: Mapping[str, Sequence[int]]
) -> SqlFrame:
    """Return a table of some values of one type, and of integers beside them.

    All values are one text, which the server splits and casts.
    """
    columns = {alias: [_element(one, of) for one in values]}
    columns |= {name: [str(place) for place in column] for name, column in places.items()}
    types: dict[str, SqlType] = {alias: of, **dict.fromkeys(places, "bigint")}
    lists = ", ".join(f'{_split(texts)} AS "{name}"' for name, texts in columns.items())
    texts = {name: f'pg_catalog.substr("{name}", 2)' for name in columns}
    cells = ", ".join(f'{in_type(text, types[name])} AS "{name}"' for name, text in texts.items())
    return SqlFrame(f"SELECT {cells} FROM (SELECT {lists}) AS c", types)


def array_of_constants(numbers: Sequence[object], of: SqlType) -> str:
    """Return the expression of an array of numbers of one type."""
    together = ",".join(_element(number, of) for number in numbers)
    return f"CAST({sql_text('{' + together + '}')} AS {TYPE_WORDS[of]}[])"


def _element(cell: object, of: SqlType) -> str:
    """Return the text that the server casts to a value."""
    if of in ("integer", "bigint", "numeric", "double"):
        return number_text(cell, of)
    return str(cell)


def _split(texts: Sequence[str]) -> str:
    """Return the expression of a column of texts."""
    comma = next(comma for comma in _commas() if not any(comma in text for text in texts))
    together = sql_text(comma.join(_MARK + text for text in texts))
    return f"pg_catalog.unnest(pg_catalog.string_to_array({together}, {sql_text(comma)}))"


def _commas() -> Iterable[str]:
    yield ","
    number = 0
    while True:
        yield f",{number}"
        number += 1
