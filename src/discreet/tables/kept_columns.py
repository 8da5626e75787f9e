"""Some columns of files, read once and kept by the engine: all counts of them are of the same records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import DiscreetError
from ..privacy.units import Unit, columns_of_unit
from .engine_errors import missing_column, quietly
from .files import FileColumns, FileNames, native_columns, open_columns
from .in_duckdb import ROWS, InDuckDB, TempTable, select_list
from .number_texts import NumberForm
from .records import COMMENT, SPANS, is_of_unit, unit_aliases

_NAMELESS = "\0"
"""What no column of a folder is called."""


@dataclass(frozen=True, slots=True, repr=False)
class KeptColumns:
    """Columns of files in a table of the engine, which is gone with this object. Private.

    Attributes:
        names: what the columns are called in the table, by their names; those of the unit as everywhere.
        native: the columns as they were opened.
        table: the table.
        kind: the format of the files.
        failure: the error to raise when the rows cannot be read.
        numbers: how text spells numbers, where the form of the files says it.
        has_comments: whether there are rows for comments, which are no records.
    """

    names: Mapping[str, str]
    native: InDuckDB
    table: TempTable
    kind: str
    failure: DiscreetError
    numbers: NumberForm | None = None
    has_comments: bool = False

    def open(self, columns: Mapping[str, str]) -> InDuckDB:
        """Return some of the columns under other names, those of the unit under theirs."""
        for alias, name in columns.items():
            if not is_of_unit(alias) and name not in self.names:
                raise missing_column(name, [*self.names], "the data", alias)
        places = {
            alias: alias if is_of_unit(alias) else self.names[name]
            for alias, name in columns.items()
        }
        rows, near = self.table.rows, self.native.near
        rows = rows.filter(f"{COMMENT} = ''") if self.has_comments else rows
        rows = rows.project(select_list(places))
        assert near is not None, "files are opened with a row beside them"
        kept = FileColumns(rows, self.kind, self.failure, numbers=self.numbers)
        return native_columns(kept, columns, near)

    def spanning(self) -> "KeptColumns":
        """Return the column, called SPANS, of whether a record spans several lines; it was asked for."""
        return replace(self, names={SPANS: SPANS})

    def comments(self) -> "KeptColumns":
        """Return the column, called COMMENT, of whether a row is a comment; it was asked for."""
        return replace(self, names={COMMENT: COMMENT}, has_comments=False)


def keep_columns(
    data: FileNames,
    names: Sequence[str],
    unit: Unit | None,
    *,
    spans: bool = False,
    comments: bool = False,
) -> KeptColumns:
    """Return some columns of files, and those of a privacy unit, which have been read.

    Args:
        data: the files.
        names: the names of the columns.
        unit: the privacy unit, or None.
        spans: whether to keep, too, which records span several lines.
        comments: whether to keep, too, how many comments there are.

    Raises:
        MissingColumn: if there is no such column.
        UnreadableFile: if a file is missing, or cannot be read to its end.

    Side channels: time, and memory or a temporary file for as many cells as the files have.
    """
    columns = {f"c{place}": name for place, name in enumerate(names)}
    own = [SPANS] * spans + [COMMENT] * comments
    of_unit = dict(zip(unit_aliases(unit), columns_of_unit(unit), strict=True))
    native, failure = open_columns(data, {**columns, **dict.fromkeys(own, _NAMELESS), **of_unit})
    near = None if native.near is None else native.near()
    table = quietly(TempTable, failure, native.relation, f"FROM {ROWS}", near=near)
    # Text has no type in the engine.
    kinds = {(of.name, of.numbers) for of in native.types.values()}
    kind, numbers = kinds.pop() if kinds else ("Parquet", None)
    names_there = {name: alias for alias, name in columns.items()}
    return KeptColumns(names_there, native, table, kind, failure, numbers, comments)
