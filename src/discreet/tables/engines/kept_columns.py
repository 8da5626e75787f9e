"""Some columns of files, read once and kept by the engine: all counts of them are of the same records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...errors import DiscreetError
from ...privacy.sensitivity import Unit, columns_of_unit
from ..formats.file_paths import FileNames
from ..formats.text_form import CellUse
from ..values.kinds import CELL, ColumnType
from .engine_errors import missing_column, quietly
from .files import FileColumns, native_columns, open_columns
from .in_duckdb import ROWS, InDuckDB, TempTable, select_list
from .records import COMMENT, SPANS, UNREAD, is_of_unit, unit_aliases

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
        uses: what the columns in the table are called that have what cells spell, by the name and the use.
        has_comments: whether there are rows for comments, which are no records.
    """

    names: Mapping[str, str]
    native: InDuckDB
    table: TempTable
    kind: str
    failure: DiscreetError
    uses: Mapping[tuple[str, CellUse], str] = field(default_factory=dict)
    has_comments: bool = False

    def open(self, columns: Mapping[str, str]) -> InDuckDB:
        """Return some of the columns under other names, those of the unit under theirs."""
        for alias, name in columns.items():
            if not is_of_unit(alias) and name not in self.names:
                raise missing_column(name, [*self.names], "the data", alias)
        connection = self.native.connection
        assert connection is not None, "that of files is known"

        def used(uses: Mapping[str, CellUse]) -> FileColumns:
            places = {
                alias: alias if is_of_unit(alias) else self._place(name, uses.get(alias))
                for alias, name in columns.items()
            }
            if self.kind == "JSON":
                places[UNREAD] = places[CELL] + UNREAD
            own = self.native.types  # of text alone
            types = {alias: own[place] for alias, place in places.items() if place in own}
            rows = self.table.rows
            rows = rows.filter(f"{COMMENT} = ''") if self.has_comments else rows
            rows = rows.project(select_list(places))
            return FileColumns(rows, self.kind, self.failure, types=types)

        return native_columns(used({}), connection, used)

    def _place(self, name: str, use: CellUse | None) -> str:
        """Return the name of a column in the table, for one use of it."""
        of_use = None if use is None else self.uses.get((name, use))
        return self.names[name] if of_use is None else of_use

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
    wanted = {**columns, **dict.fromkeys(own, _NAMELESS), **of_unit}
    native, failure = open_columns(data, wanted)
    uses = _uses_besides({alias: native.types[alias] for alias in columns if native.types})
    besides = {alias: columns[of] for alias, (of, _) in uses.items()} | _unread_besides(
        columns, native.types
    )
    if besides:
        used = {alias: use for alias, (_, use) in uses.items()}
        native, failure = open_columns(data, {**wanted, **besides}, uses=used)
    table = quietly(TempTable, failure, native.relation, f"FROM {ROWS}", native.ask)
    # Text has no type in the engine.
    kind = next((of.name for of in native.types.values()), "Parquet")
    names_there = {name: alias for alias, name in columns.items()}
    by_use = {(columns[of], use): alias for alias, (of, use) in uses.items()}
    return KeptColumns(names_there, native, table, kind, failure, by_use, comments)


def _unread_besides(columns: Mapping[str, str], types: Mapping[str, ColumnType]) -> dict[str, str]:
    """Return the columns that say which cells of JSON cannot be read: null is no sign there."""
    of_json = [alias for alias in columns if alias in types and types[alias].name == "JSON"]
    return {alias + UNREAD: columns[alias] for alias in of_json}


def _uses_besides(types: Mapping[str, ColumnType]) -> dict[str, tuple[str, CellUse]]:
    """Return other uses than their own that columns have a form for, by aliases beside theirs."""
    uses: dict[str, tuple[str, CellUse]] = {}
    for alias, of in types.items():
        clock = None if of.cells.dates is None else of.cells.dates.clock
        for use in ("number", clock):
            reading = of.cells.reading(use)
            if use is not None and reading not in (None, of.reading):
                uses[f"{alias}_{use}"] = alias, use
    return uses
