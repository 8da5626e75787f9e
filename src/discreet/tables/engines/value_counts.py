"""Counting the rows of a file by value in one statement of SQL, where a relation of DuckDB is bound at every step.

Which form it has depends on the type of the column, its declaration and the number of values, which are public. In
no form does memory grow with the values that are in the column, unless these are few by type or declaration.
How long it takes depends on the rows, as for any query: on how many hold one of the values, too.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..values.kinds import CELL
from .database import connect_memory
from .native import POSITION, SIZE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, Expression, Statement
    from duckdb.sqltypes import DuckDBPyType


MOST_IN_A_LIST = 64
"""In a list of so many values one is found in less time than by a join, where rows were counted by value before."""

MOST_TEXTS = 8
"""So many texts are found in a list sooner than by a join where the column has few of them, and in less than 1.3
times the time where it has millions. Numbers are joined sooner, however few are asked for.
"""

_REMEMBERED = 64
"""How many statements, and sets of parameters, are remembered: those of the questions that are asked again."""


class ValueTexts(NamedTuple):
    """Values as one text, which DuckDB splits and casts exactly.

    Attributes:
        together: the values, one after the other.
        between: what is between two of them.
        native: the type that they are cast to.
    """

    together: str
    between: str
    native: "DuckDBPyType | str"


@dataclass(frozen=True, slots=True)
class RowQuery:
    """The rows of a file as a query, on a connection of its own.

    Attributes:
        connection: the connection; nothing else reads a result from it at the same time.
        text: the query, of a column CELL among others.
        parameters: the parameters of the query, by name.
        is_text: whether the file is text, in which every row is parsed, and none is counted by a dictionary.
        types: DuckDB's types of its columns, where the file has a schema.
    """

    connection: "DuckDBPyConnection"
    text: str
    parameters: Mapping[str, Any] = field(repr=False)
    is_text: bool = False
    types: Mapping[str, "DuckDBPyType"] = field(default_factory=dict)

    def select(self, columns: str, types: Mapping[str, "DuckDBPyType"]) -> "RowQuery":
        """Return the query of some columns of the rows, by a list of SQL, with their types."""
        return replace(self, text=f"SELECT {columns} FROM ({self.text})", types=types)

    def count_values(
        self, cell: str, values: ValueTexts, number: int, *, has_few: bool
    ) -> list[tuple[int | None, int]]:
        """Return places among the values, from 1, and how many rows have them; others are at 0 or None.

        Args:
            cell: the expression of CELL as it is compared.
            values: the values.
            number: how many there are.
            has_few: whether the column has few values, by its type or its declaration.
        """
        native = str(values.native)
        if self.is_text and number <= MOST_IN_A_LIST and not has_few:
            place = f"list_position({_list_of_values(native)}, {cell})"
            text = f"SELECT {place}, count(*) FROM ({self.text}) GROUP BY ALL"
        else:
            text = count_statement(self.text, cell, native, number, has_few=has_few)
        parameters = {**self.parameters, "together": values.together, "between": values.between}
        statement = parse_statement(text)
        counts: list[tuple[int | None, int]]
        counts = self.connection.execute(statement, parameters).fetchall()
        return counts


@lru_cache(maxsize=_REMEMBERED)
def parse_statement(text: str) -> "Statement":
    """Return a statement as DuckDB has parsed it, for any connection: to parse takes a quarter of a small count."""
    [statement] = connect_memory().extract_statements(text)
    return statement


@lru_cache(maxsize=_REMEMBERED)
def parameter_number(values: str) -> int:
    """Return a number for the names of parameters with these values, which are written out; others have another.

    Relations that are put together must not share names, unless they stand for the same. So the statement of a
    question that is asked again has the same text, and is parsed once.
    """
    return next(_numbers)


_numbers = itertools.count()


def count_statement(rows: str, cell: str, native: str, number: int, *, has_few: bool) -> str:
    """Return the query of places among values, from 1, and the numbers of rows with them.

    Args:
        rows: the query of the rows.
        cell: the expression of CELL as it is compared.
        native: the type of the values.
        number: how many values there are.
        has_few: whether the column has few values, by its type or its declaration.
    """
    values, size = _list_of_values(native), "count(*)"
    place = f"list_position({values}, {cell})"
    if has_few:
        rows = f"SELECT {CELL}, count(*) AS {SIZE} FROM ({rows}) GROUP BY {CELL}"
        size = f"sum({SIZE})::BIGINT"
    if number <= MOST_IN_A_LIST and has_few:
        return f"SELECT {place}, {SIZE} FROM ({rows})"
    if number <= MOST_TEXTS and native == "BLOB":
        # By the text and not by its place: DuckDB counts texts of a dictionary without looking at each.
        subquery = f"SELECT {CELL} FROM ({rows}) WHERE {place} > 0"
        return f"SELECT {place}, {SIZE} FROM (SELECT {CELL}, count(*) AS {SIZE} FROM ({subquery}) GROUP BY {CELL})"
    subquery = f"SELECT unnest(v) AS {CELL}, generate_subscripts(v, 1) AS {POSITION} FROM (SELECT {values} AS v)"
    compared = f"SELECT * REPLACE ({cell} AS {CELL}) FROM ({rows})"
    return f"SELECT {POSITION}, {size} FROM ({compared}) JOIN ({subquery}) USING ({CELL}) GROUP BY {POSITION}"


def _list_of_values(native: str) -> str:
    """Return the expression of the list of values."""
    return f"CAST(string_split($together, $between) AS {native}[])"


def constants(values: Iterable[object], native: "DuckDBPyType | str") -> "Expression":
    """Return a list of values of one type.

    As one text: DuckDB reads it exactly, while it would find a common type for Python's values, and it
    takes a list of Python's values one by one, a hundred times as slowly.
    """
    return values_in(value_texts(values, native))


def value_texts(values: Iterable[object], native: "DuckDBPyType | str") -> ValueTexts:
    """Return values of one type as one text."""
    are_integers = native == "BIGINT"  # of which there may be a million, as places of keys
    literals = list(map(str if are_integers else _literal, values))
    commas = [","] if are_integers else map(",{}".format, itertools.count())
    comma = next(c for c in commas if are_integers or not any(c in x for x in literals))
    return ValueTexts(comma.join(literals), comma, native)


def values_in(texts: ValueTexts) -> "Expression":
    """Return the list of the values."""
    import duckdb
    from duckdb import ConstantExpression, FunctionExpression

    both = ConstantExpression(texts.together), ConstantExpression(texts.between)
    return FunctionExpression("string_split", *both).cast(duckdb.list_type(texts.native))


def _literal(value: object) -> str:
    """Return the value in the text that DuckDB casts to it."""
    if isinstance(value, bytes):
        return "\\x" * bool(value) + value.hex("x").replace("x", "\\x")
    if isinstance(value, Decimal):
        return f"{value:f}"  # of 1E-9 DuckDB makes a double first
    return repr(value) if isinstance(value, float) else str(value)
