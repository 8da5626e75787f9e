"""How many records a table has, by group: rows, or privacy units."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InvalidArgument, NotCountable
from ...privacy.sensitivity import columns_of_unit
from ...selection.any_column import AnyColumn
from ...selection.bins import CellColumns
from ..formats.file_paths import names_files, refuse_mixture
from .engine import open_table, unwrap_table
from .engine_errors import quietly
from .expressions import OpenedTable
from .files import open_columns
from .fits import DeclaredCells
from .records import Records
from .server_session import ServerRows


@dataclass(frozen=True, slots=True, repr=False)
class RecordCounts:
    """The numbers of records of a table. Private; no data are opened before a call.

    Attributes:
        data: the table.
        column: the column in which a record must have a value: a row that is neither null nor NaN there, nor an
            empty field of a text file; a unit has one such row. None if every record counts.
        records: the privacy unit and the groups.
    """

    data: object
    column: AnyColumn
    records: Records

    def by_group(self) -> list[int]:
        """Return the numbers of records by group."""
        return sizes_of(self._open(), present=self.column is not None)

    def _open(self) -> OpenedTable:
        """Return the table with the column, or with any one where none is named."""
        data = unwrap_table(self.data)
        by = self.records.by
        parts = by.columns if isinstance(by, CellColumns) else [by]
        columns = [self.column, *columns_of_unit(self.records.unit), *parts]
        name = next((column for column in columns if column is not None), None)
        if name is not None:
            return open_table(data, name, self.records)
        return _open_any(data, self.records)


def sizes_of(table: OpenedTable, *, present: bool) -> list[int]:
    """Return the numbers of records by group; with `present` of those with a value in the column alone."""
    rows = DeclaredCells(table).present_rows() if present else table.record_rows()
    return quietly(table.sizes, table.failure, rows)


def _open_any(data: Any, records: Records) -> OpenedTable:
    """Return a table with the first column that its engine counts; files, and data of one dimension, as they are.

    Raises:
        InvalidArgument: if its schema names no column.
    """
    refuse_mixture(data)
    if names_files(data):
        native, failure = open_columns(data, {}, records.where)
        return OpenedTable(native, {}, records, failure)
    names = _names_of(data)
    if names is None:
        if records.where is not None:
            raise InvalidArgument("where needs a table: name its column")
        return open_table(data, None, records)
    if isinstance(data, ServerRows):  # columns of other types would come to memory
        names = sorted(names, key=lambda name: not data.counts([name]))
    for name in (name for name, times in Counter(names).items() if times == 1):
        try:
            table = open_table(data, name, records)
            table.type()
        except NotCountable:
            continue
        return table
    raise InvalidArgument(
        "the data name no column that can be counted: name one, as in count(data, column), which counts the "
        "records with a value there"
    )


def _names_of(data: Any) -> Sequence[Any] | None:
    """Return the names of the columns by the schema; None for data of one dimension."""
    if isinstance(data, Mapping):
        return list(data)
    if isinstance(data, np.ndarray):
        names_of_fields: Sequence[Any] | None = data.dtype.names
        return names_of_fields
    if hasattr(data, "collect_schema"):
        names: Sequence[Any] = data.collect_schema().names()
        return names
    if hasattr(data, "columns"):
        # Those of Arrow's tables are the columns themselves.
        return list(data.column_names if hasattr(data, "column_names") else data.columns)
    schema: Any = getattr(data, "schema", None)
    return list(schema.names) if hasattr(schema, "names") else None
