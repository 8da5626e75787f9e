"""How many rows hold each candidate, from any table, exactly and without leaking.

A table is a pandas or Polars frame (eager or lazy), a PyArrow table, a DuckDB relation, or the path
of a CSV or Parquet file. Types are decided from the schema, never from rows; CSV columns are text.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from .kinds import CELL, ColumnType
from .values import in_order, parse

if TYPE_CHECKING:
    from ..candidates import Grid
    from .cells import GridSource
    from .records import Recorded, Records

__all__ = [
    "Table",
    "count",
    "declared_categories",
    "distinct",
    "numbers",
    "on_grid",
    "parse_candidates",
    "recorded",
    "shows_types",
]

Table: TypeAlias = object
"""A table: whatever `narwhals.from_native` takes, or a path."""


class Column(Protocol):
    """One column of a table, whatever engine holds it."""

    @property
    def type(self) -> ColumnType: ...

    def count(self, candidates: Sequence[object]) -> list[int]: ...

    def values(self) -> list[Any]: ...

    def declared(self) -> list[str] | None: ...


def count(data: Table, column: str, candidates: Sequence[object]) -> list[int]:
    """Return, for each candidate, the number of rows whose `column` equals it.

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
        UnreadableFile: The file is missing or is not what its name says.
        UnreadableData: The data is no table, or its engine failed.

    Side channels: time and memory depend on the number of rows, on how they are stored, on how many
    hold a candidate, on how many values are distinct and on the engine, which may write to logs,
    caches and temporary files of its own.
    """
    return _open(data, column).count(candidates)


def recorded(data: Any, column: str, records: "Records") -> "Recorded":
    """Return the rows of a table with the columns of persons and groups, to be bounded and counted.

    Raises:
        As for `count`; MissingColumn for any of the columns.

    Side channels: those of `count`; memory depends on the number of persons too, and for a frame in
    memory on the number of rows.
    """
    wanted = {CELL: column, "person": records.unit, "part": records.by}
    columns = {alias: name for alias, name in wanted.items() if name is not None}
    if isinstance(data, str | os.PathLike):
        from .files import open_columns
        from .relation_records import RelationRecords

        opened = open_columns(data, columns)
        return RelationRecords(opened.relation, columns, records, opened.failure, opened.csv)
    from .frame_records import open_records

    return open_records(data, columns, records)


def numbers(data: Table, column: str | None = None) -> Any:
    """Return the numbers in the rows as one numpy array; see `numeric.numbers`."""
    from .numeric import numbers

    return numbers(data, column)


def on_grid(data: Table, column: str | None, grid: "Grid") -> "GridSource | None":
    """Return the column as counts on a grid, None where it must be brought into memory.

    The engine counts files, DuckDB relations, Spark and Dask tables and lazy frames of Polars. Only the
    schema is read here.
    """
    if column is None:
        return None
    from .relation_cells import open_cells

    found = open_cells(data, column, grid)
    if found is not None or isinstance(data, str | os.PathLike):
        return found
    from .lazy_cells import open_lazy_cells

    return open_lazy_cells(data, column, grid)


def declared_categories(data: Table, column: str) -> list[str] | None:
    """Return the categories that the schema declares, or None when it declares none.

    Only a Polars `Enum` counts: its categories are chosen by whoever wrote the schema. Those of a
    pandas or Polars `Categorical`, of Arrow's dictionaries and of a DuckDB ENUM usually come from
    the rows, so that publishing them could leak.

    Side channels: time depends on the schema, or for a file on its header, and on nothing else.
    """
    return _open(data, column).declared()


def shows_types(data: Table) -> bool:
    """Return whether the types of its columns can be seen without opening anything: a Polars frame in memory."""
    kind = type(data)
    return kind.__module__.partition(".")[0] == "polars" and kind.__name__ == "DataFrame"


def distinct(data: Table, column: str) -> list[object]:
    """Return the values found in the column, without nulls and NaN, in a deterministic order.

    **This is not private**: it is what `unsafe_candidates_from_data=True` stands for.

    Side channels: everything, for the values themselves are returned.
    """
    return in_order(_open(data, column).values())


def parse_candidates(data: Table, column: str, texts: Sequence[str]) -> list[object]:
    """Return what a command line typed, as values of the column's type.

    A column of a CSV file, and one of Python objects, is taken as text.

    Raises:
        InvalidCandidates: A text is no value of the column's type.

    Side channels: time depends on the schema and the texts, which are public.
    """
    of = _open(data, column).type
    return [parse(text, of) for text in texts]


def _open(data: Any, column: str) -> Column:
    """Return the column, by whichever engine can read it."""
    if isinstance(data, str | os.PathLike):
        from .files import open_file

        return open_file(data, column)
    from .frames import open_frame

    return open_frame(data, column)
