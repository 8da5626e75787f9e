"""How many rows hold a candidate, from any table, exactly and without leaking.

A table is a pandas or Polars frame (eager or lazy), a PyArrow table, a DuckDB relation, or the path
of a CSV or Parquet file. Types are decided from the schema, never from rows; CSV columns are text.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from ...errors import DiscreetError
from ...selection.any_column import AnyColumn
from .engine_errors import quietly

if TYPE_CHECKING:
    from ...sampling.vectors import ExactArray
    from .expressions import OpenedTable

__all__ = [
    "Table",
    "count",
    "declared_categories",
    "declares_truths",
    "distinct",
    "numbers",
    "parse_candidates",
    "shows_types",
]

Table: TypeAlias = object
"""A table: whatever `engine.open_table` takes."""


def count(data: Table, column: AnyColumn, candidates: Sequence[object]) -> list[int]:
    """Return the number of rows that hold a candidate in `column`, for all candidates in order.

    Nulls, NaN and values that are no candidates are ignored. Equality is exact: no number is
    rounded, `0.0` equals `-0.0`, text is compared code point by code point, and a number in a
    Float32 column equals its binary value, so 0.5 may be found there and 0.1 never. In a pandas
    `object` or categorical column values equal candidates as in Python, but True is not 1. In a CSV
    file they are compared as text, and '' stands for an empty field.

    Args:
        data: The table, or the path of a file.
        column: The name of the column.
        candidates: Public values of the column's type; integers, floats, Decimals and Fractions
            compare with any column of numbers.

    Raises:
        MissingColumn: There is no such column.
        InvalidCandidates: A candidate cannot be compared with the column's type.
        UnreadableFile: The file is missing or not of the format of its name.
        UnreadableData: The data is no table, or its engine failed.

    Side channels: time and memory depend on the number of rows, on how they are stored, on how many
    hold a candidate, on how many values are distinct and on the engine, which may write to logs,
    caches and temporary files of its own.
    """
    return _open(data, column, candidates).tally(candidates)[0]


def numbers(data: Table, column: str | None = None) -> "ExactArray":
    """Return the numbers in the rows as one numpy array: float64, int64, uint64 or Python's own.

    Null, NaN and values that are no numbers are left out, row by row, where there is no type: in lists and
    pandas columns of Python objects. Columns of text, dates and nested ones are refused by their type, which is
    public.

    Args:
        data: numbers in an array, a series or a list; or a table, with `column`.
        column: the column of the table.

    Raises:
        As for `count`.

    Side channels: time and memory depend on the number of rows; an engine sends every distinct number once.
    """
    import numpy as np

    from .column import Source

    values, counts = Source(data, column).groups[0].numbers()
    return values if counts is None else cast("ExactArray", np.repeat(values, counts))


def declared_categories(data: Table, column: AnyColumn) -> list[str] | None:
    """Return the categories that the schema declares, or None when it declares none.

    Only a Polars `Enum` counts: its categories are chosen by whoever wrote the schema. Those of a
    pandas or Polars `Categorical`, of Arrow's dictionaries and of a DuckDB ENUM usually come from
    the rows, so that publishing them could leak.

    Side channels: time depends on the schema, or for a file on its header, and on nothing else.
    """
    categories = _open(data, column).type().enum_categories
    return None if categories is None else list(categories)


def declares_truths(table: object, column: object) -> bool:
    """Return whether the schema declares a column of truths; not of data that no engine shows before it reads them.

    Side channels: time depends on the schema, or for a file on its header, and on nothing else.
    """
    from .engine import has_truths

    try:
        return isinstance(column, str) and has_truths(table, column)
    except DiscreetError:  # the verb refuses it, when what is public about it was read
        return False


def shows_types(data: Table) -> bool:
    """Return whether the types of its columns can be seen without opening anything: a Polars frame in memory."""
    kind = type(data)
    return kind.__module__.partition(".")[0] == "polars" and kind.__name__ == "DataFrame"


def distinct(data: Table, column: AnyColumn) -> list[object]:
    """Return the values found in the column, without nulls and NaN, in a deterministic order.

    **This is not private**: it serves `unsafe_candidates_from_data=True`.

    Side channels: everything, for the values themselves are returned.
    """
    from ..values.kinds import is_written
    from ..values.meanings import in_order

    table = _open(data, column)
    of = table.type()
    cells = quietly(table.native.values, table.failure, of)
    return in_order(value for value in cells if not is_written(of) or value)


def parse_candidates(data: Table, column: str, texts: Sequence[str]) -> list[object]:
    """Parse the texts of a command line as values of the column's type.

    A column of a CSV file, and one of Python objects, is taken as text. Where the form of the file says how
    it writes numbers or dates, and all texts are some, they are taken as these.

    Raises:
        InvalidCandidates: A text is no value of the column's type.

    Side channels: time depends on the schema and the texts, which are public.
    """
    from ..values.meanings import parse_all

    return parse_all(texts, _open(data, column).type())


def _open(data: object, column: AnyColumn, candidates: Sequence[object] = ()) -> "OpenedTable":
    """Return the column, by whichever engine can read it."""
    from .engine import open_table

    return open_table(data, column, None, candidates)
