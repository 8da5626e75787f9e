"""Columns of files: CSV, JSON lines, Parquet and Arrow are read by DuckDB out of core."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from ...base.warning import warn
from ...errors import DiscreetError, UnreadableFile
from ...selection.bins import CellColumns
from ..conditions.conditions import Condition, ConstantKind, kinds_of_columns
from ..formats.file_paths import (
    File,
    FileNames,
    format_of,
    kind_and_start,
    listed_files,
    names_files,
    path_in_words,
    path_list,
)
from ..formats.text_form import CELL_WORDS, NO_FORM, CellUse, ColumnForm, CsvFile, TextForm
from ..values.kinds import CELL, ColumnType
from ..values.meanings import check_one_kind, use_of_cells
from ..values.numeric import StandIn, sql_of_texts, sql_of_truths
from .cell_columns import with_cells
from .csv_files import can_be_name, open_csv, open_json_lines, read_head
from .database import connect_memory
from .engine_errors import needing, quietly
from .filters import condition_columns, matching
from .in_duckdb import (
    ROWS,
    InDuckDB,
    TempTable,
    by_position,
    double_in_text,
    select_columns,
    select_list,
)
from .records import UNREAD, is_of_unit
from .value_counts import RowQuery, parameter_number

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


def uses_of(data: object, values: Mapping[str, Sequence[object]]) -> dict[str, CellUse]:
    """Return the use of columns of files, by the values that they are compared with, where a form is declared.

    Args:
        data: whatever was given for a table.
        values: the values by the aliases of the columns; for texts nothing is used.

    Raises:
        InvalidCandidates: for numbers or dates beside other values.
    """
    files = path_list(cast(FileNames, data)) if names_files(data) else []
    if all(not isinstance(one, CsvFile) or one.form.cells == NO_FORM for one in files):
        return {}
    cells = [one.form.cells for one in files if isinstance(one, CsvFile)]
    if any(one.numbers is not None or one.dates is not None for one in cells):
        for several in values.values():
            check_one_kind(several)
    uses = {alias: use_of_cells(several) for alias, several in values.items()}
    return {alias: use for alias, use in uses.items() if use is not None}


@dataclass(frozen=True)
class FileColumns:
    """Some columns of a file."""

    rows: "DuckDBPyRelation | Callable[[], DuckDBPyRelation]"
    kind: str
    failure: DiscreetError
    """What is raised when the rows cannot be read."""
    query: RowQuery | None = None
    """The rows as a query, of a file of text, or of Parquet that holds all columns itself."""
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    """The types of its columns, of a file of text."""

    @cached_property
    def relation(self) -> "DuckDBPyRelation":
        """The rows as a relation, which is opened once, where it is needed."""
        return self.rows() if callable(self.rows) else self.rows


def open_columns(
    data: FileNames,
    columns: Mapping[str, str],
    condition: Condition | None = None,
    uses: Mapping[str, CellUse] | None = None,
    cells: Mapping[str, CellColumns] = MappingProxyType({}),
) -> tuple[InDuckDB, DiscreetError]:
    """Return columns of files under other names, and the error to raise when the rows cannot be read.

    Args:
        data: a path, or several, whose files are one table. One that is no file but has wildcards stands for
            all files that match; a folder for all in it, its subfolders `name=value` being columns of text.
            The names of files and their schemas are public.
        columns: a mapping from the other names to those of the columns; of none the rows alone.
        condition: the condition of which the rows must be; None for all rows.
        uses: what some columns of files of text are used as, by their other names: what their cells spell is read.
        cells: columns that are put together, by the name of the whole.
    """
    files = listed_files(data)
    _warn_of_lines(files, columns)
    connection = connect_memory()
    rows = _Rows(data, files, columns, condition, connection, uses or {}, cells)
    whole = rows.used({})
    return native_columns(whole, connection, rows.used), whole.failure


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of files of which a condition is true."""

    paths: FileNames
    files: Sequence[File]
    columns: Mapping[str, str]
    condition: Condition | None
    connection: "DuckDBPyConnection"
    uses: Mapping[str, CellUse]
    cells: Mapping[str, CellColumns]

    def used(self, uses: Mapping[str, CellUse]) -> FileColumns:
        """Return the columns, some of them as they are used."""
        columns, uses = self.columns, {**self.uses, **uses}
        if self.condition is None:
            whole = self._together(columns, uses)
            if not self.cells:
                return whole
            native: Any = native_columns(whole, self.connection)
        else:
            tests = condition_columns(self.condition)
            uses = {**_uses_in_tests(self.condition, tests), **uses}
            whole = self._together({**columns, **tests}, uses)
            native = native_columns(whole, self.connection)
            test = partial(matching, native, self.condition, tests, columns or tests)
            native = native.with_rows(quietly(test, whole.failure))
        native = quietly(with_cells, whole.failure, native, self.cells)
        some = native.relation if columns else native.relation.project(select_list({}))
        return FileColumns(some, whole.kind, whole.failure, types=native.types)

    def _together(self, columns: Mapping[str, str], uses: Mapping[str, CellUse]) -> FileColumns:
        """Return columns of all rows."""
        parts = [open_file(file, columns, uses, self.connection) for file in self.files]
        if len(parts) == 1:
            return parts[0]
        for file, one in zip(self.files, parts, strict=True):
            self._check_alike(file, one, parts[0])
        several = UnreadableFile(f"a file of {path_in_words(self.paths)} cannot be read to its end")
        relation = _union([one.relation for one in parts])
        return FileColumns(relation, parts[0].kind, several, types=parts[0].types)

    def _check_alike(self, file: File, one: FileColumns, first: FileColumns) -> None:
        """Raise unless a file has the types and the form of cells of the first one."""
        whole = self.files[0].path
        if one.kind != first.kind or one.relation.types != first.relation.types:
            raise UnreadableFile(f"{file.path} has columns of other types than {whole}")
        if one.types != first.types:
            raise UnreadableFile(
                f"{file.path} has another form of numbers or dates than {whole}. Say the same words "
                f"for all files: {', '.join(CELL_WORDS)}"
            )


def _uses_in_tests(condition: Condition, tests: Mapping[str, str]) -> dict[str, CellUse]:
    """Return the uses of the columns of a condition, by their aliases: its constants decide them."""
    kinds = kinds_of_columns(condition)
    return {
        alias: _USES[kind] for alias, name in tests.items() if (kind := kinds.get(name)) in _USES
    }


_USES: Mapping[ConstantKind | None, CellUse] = {
    "number": "number",
    "time": "naive",
    "instant": "zoned",
}


def _warn_of_lines(files: Sequence[File], columns: Mapping[str, str]) -> None:
    """Warn if a line is a record, and no privacy unit names its person."""
    forms = [file.form for file in files if file.form is not None]
    if not all(form.multiline for form in forms) and not any(map(is_of_unit, columns)):
        warn("multiline is false and there is no privacy unit: the promise is about one line")


def _union(relations: list["DuckDBPyRelation"]) -> "DuckDBPyRelation":
    """Return the rows of all relations, put together by halves: a chain of thousands would be too deep."""
    while len(relations) > 1:
        pairs = itertools.zip_longest(relations[::2], relations[1::2])
        relations = [a if b is None else a.union(b) for a, b in pairs]
    return relations[0]


def native_columns(
    file_columns: FileColumns,
    connection: "DuckDBPyConnection",
    used: Callable[[Mapping[str, CellUse]], FileColumns] | None = None,
) -> InDuckDB:
    """Return the columns of files for DuckDB to count; fields of text are parsed when numbers are asked for.

    Args:
        file_columns: the columns of the files.
        connection: the connection that reads them.
        used: returns the same columns, with what some cells spell; None where numbers are not asked for.
    """
    query, types, rows = file_columns.query, file_columns.types, lambda: file_columns.relation
    if file_columns.kind not in ("CSV", "JSON"):
        return InDuckDB(rows, types, query=query, connection=connection)
    parser = None if used is None else partial(parse_cells, file_columns, used, connection)
    return InDuckDB(rows, types, numeric_form=parser, query=query, connection=connection)


def parse_cells(
    file_columns: FileColumns,
    used: Callable[[Mapping[str, CellUse]], FileColumns],
    connection: "DuckDBPyConnection",
    stand_in: StandIn | None = None,
) -> InDuckDB:
    """Return all rows with the number, the time of a clock or the truth that CELL spells, if it does.

    They are kept: a file is parsed once.
    """
    of = file_columns.types[CELL]
    uses: Mapping[str, CellUse] = {} if stand_in == "truth" else {CELL: stand_in or "number"}
    if of.reading != (of.cells.reading(uses[CELL]) if uses else None):
        file_columns = used(uses)
    cells = _sql_of_cells(of, stand_in)
    relation = file_columns.relation
    query = f"SELECT * REPLACE ({cells} AS {CELL}) FROM {ROWS}"
    table = TempTable(relation, query, connection.sql)
    number = replace(of, kind="float", layout="<d")
    if stand_in is not None:
        number = replace(of, kind="integer", low=-(2**63), high=2**63 - 1)
    types = {**file_columns.types, CELL: number}
    return InDuckDB(table.rows, types, connection=connection, _tables=[table])


def _sql_of_cells(of: ColumnType, stand_in: StandIn | None) -> str:
    """Return the expression of the number, the time or the truth that CELL spells."""
    if stand_in is None:
        return double_in_text(CELL, of)
    if stand_in == "truth":
        return f"CAST({sql_of_truths(CELL)} AS BIGINT)"
    return sql_of_texts(CELL, stand_in, of)


def open_file(
    one: File,
    columns: Mapping[str, str],
    uses: Mapping[str, CellUse],
    connection: "DuckDBPyConnection",
) -> FileColumns:
    """Return columns of one file, those that its folders name among them."""
    file = one.path
    own = {alias: name for alias, name in columns.items() if name not in one.partition}
    failure = UnreadableFile(
        f"{file} cannot be read to its end: it is damaged, or has times beyond the year 294247, "
        "which DuckDB cannot read"
    )
    kind, start = kind_and_start(one)
    if kind == "Parquet":
        rows = parquet_rows(file, start, connection)
        relation = parquet_relation(file, rows)
        if own == columns:
            some = by_position(relation.columns, columns, str(file))
            there = dict(zip(relation.columns, relation.types, strict=True))
            query = rows.select(some, {alias: there[name] for alias, name in columns.items()})
            return FileColumns(partial(relation.project, some), kind, failure, query)
    elif kind == "Arrow":
        relation = arrow_relation(file, connection)
    else:
        types = _types_of_text(one, kind, columns, uses)
        return _open_text(one, kind, types, start, connection)
    return FileColumns(_with_partition(relation, one, columns), kind, failure)


def _open_text(
    one: File,
    kind: str,
    types: Mapping[str, ColumnType],
    start: bytes,
    connection: "DuckDBPyConnection",
) -> FileColumns:
    """Return columns of a file of text, those that its folders name among them."""
    columns = {alias: of.column for alias, of in types.items()}
    own = {alias: of for alias, of in types.items() if of.column not in one.partition}
    text = (
        open_json_lines(one, {alias: columns[alias] for alias in own}, connection)
        if kind == "JSON"
        else open_csv(one, own, start, connection)
    )
    failure = UnreadableFile(
        f"{one.path} cannot be read to its end: it is damaged, or another program changed it while "
        "it was read"
    )
    if len(own) == len(types):
        return FileColumns(text.relation, kind, failure, text.query, types)
    with_folders = partial(_text_with_partition, text.relation, one, columns)
    return FileColumns(with_folders, kind, failure, types=types)


def _types_of_text(
    one: File, kind: str, columns: Mapping[str, str], uses: Mapping[str, CellUse]
) -> dict[str, ColumnType]:
    """Return the types of columns of a file of text, with the readings of their cells.

    Of a column with a declared form it is what they spell. Ids are texts: of two persons none may become one.
    """
    form, types = one.form or TextForm(), dict[str, ColumnType]()
    for alias, name in columns.items():
        own = ColumnForm(NO_FORM) if name in one.partition else form.column(name)
        use = None if is_of_unit(alias) else uses.get(alias, own.use)
        reading = own.cells.reading(use)
        types[alias] = ColumnType(name, "text", kind, cells=own.cells, reading=reading)
    return types


def _text_with_partition(
    rows: "Callable[[], DuckDBPyRelation]", one: File, columns: Mapping[str, str]
) -> "DuckDBPyRelation":
    """Return rows of text under their aliases with the columns that folders name; an empty text is missing."""
    from duckdb import ConstantExpression, StarExpression
    from duckdb.sqltypes import VARCHAR

    texts = {
        alias: ""
        if alias.endswith(UNREAD)
        else one.partition[name] or (None if is_of_unit(alias) else "")
        for alias, name in columns.items()
        if name in one.partition
    }
    there = [ConstantExpression(text).cast(VARCHAR).alias(a) for a, text in texts.items()]
    own = [] if len(texts) == len(columns) else [StarExpression()]
    return rows().select(*own, *there).project(", ".join(columns))


def _with_partition(
    relation: "DuckDBPyRelation", one: File, columns: Mapping[str, str]
) -> "DuckDBPyRelation":
    """Return columns of a relation, those that its folders name as text."""
    from duckdb import ConstantExpression, StarExpression
    from duckdb.sqltypes import VARCHAR

    own = {alias: name for alias, name in columns.items() if name not in one.partition}
    there = [
        ConstantExpression(one.partition[name]).cast(VARCHAR).alias(alias)
        for alias, name in columns.items()
        if alias not in own
    ]
    if not there:
        return select_columns(relation, own, str(one.path))
    whole = relation.select(*there)
    if own:
        whole = select_columns(relation, own, str(one.path)).select(StarExpression(), *there)
    return whole.project(", ".join(columns))


def parquet_rows(file: Path, start: bytes, connection: "DuckDBPyConnection") -> RowQuery:
    """Return the query of the rows of a Parquet file; it has not been opened.

    DuckDB is told that any column may hold NaN: the statistics in a file leave NaN out, and a filter
    that they seem to settle is not evaluated, so that one row would decide whether others count.
    """
    if not start.startswith(b"PAR1"):
        raise UnreadableFile(f"{file} is not a Parquet file, although its name says so")
    path = literal_path(file)
    name = f"path{parameter_number(path)}"
    query = f"SELECT * FROM read_parquet(${name}, hive_partitioning=false, can_have_nan=true)"
    return RowQuery(connection, query, {name: path})


def literal_path(file: Path) -> str:
    """Return the path so that DuckDB takes no character of it for a wildcard."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(file))


def parquet_relation(file: Path, rows: RowQuery) -> "DuckDBPyRelation":
    """Return the relation of a Parquet file; only its schema has been read."""
    failure = UnreadableFile(f"{file} starts like a Parquet file but has no schema: it is damaged")
    return quietly(rows.connection.sql, failure, rows.text, params=rows.parameters)


def arrow_relation(file: Path, connection: "DuckDBPyConnection") -> "DuckDBPyRelation":
    """Return the relation of a file in Arrow's own format; only its schema has been read."""
    dataset = needing("pyarrow.dataset", "arrow")

    def relation() -> "DuckDBPyRelation":
        return connection.from_arrow(dataset.dataset(str(file), format="ipc"))

    return quietly(
        relation, UnreadableFile(f"{file} is not an Arrow file, although its name says so")
    )


def column_names(data: FileNames) -> list[str]:
    """Return the names of the columns of files, those that their folders name among them.

    A column without a name, as the index that pandas and R write, is left out.

    Args:
        data: a path, a pattern or a folder. The first file of several stands for all. JSON lines have no schema,
            and of a CSV file none are told whose first line begins like a row.

    Raises:
        UnreadableFile: if the file is missing, or not in the format of its name.

    Side channels: time depends on the header or the schema, and on nothing else.
    """
    first = listed_files(data)[0]
    names = [name for name in column_types_of(first) if name]
    return names if is_named(first) or all(map(can_be_name, names[:1])) else [*first.partition]


def shown_names(data: FileNames) -> list[str]:
    """Return the names of the columns of files that may be shown: those of a first line like data may not.

    Args:
        data: as for `column_names`.

    Raises:
        UnreadableFile: as `column_names` does.
    """
    first = listed_files(data)[0]
    names = [*column_types_of(first)]
    return names if is_named(first) or all(map(can_be_name, names)) else [*first.partition]


def is_named(file: File) -> bool:
    """Return whether the columns of a file have names by declaration or by a schema, and not by a first line."""
    return format_of(file) != "CSV" or (file.form is not None and file.form.names is not None)


def column_types_of(file: File) -> dict[str, str | None]:
    """Return the names of all columns of a file, with their types if there are any; of JSON lines none are known.

    Nothing else asks a file for names, so a form that is given holds for all: a file with names is not opened.
    """
    path, form = file.path, file.form
    folders = dict.fromkeys(file.partition, "VARCHAR")
    if form is not None and form.names is not None:
        return {**dict.fromkeys(form.names), **folders}
    kind, start = kind_and_start(file)
    if kind == "JSON":
        return {**folders}
    if kind == "CSV":
        return {**dict.fromkeys(read_head(path, form or TextForm()).names), **folders}
    rows = (
        parquet_relation(path, parquet_rows(path, start, connect_memory()))
        if kind == "Parquet"
        else arrow_relation(path, connect_memory())
    )
    own = {name: str(of) for name, of in zip(rows.columns, rows.types, strict=True)}
    return {**own, **folders}


def schema(data: FileNames, *, header: bool) -> dict[str, str | None] | None:
    """Return the names of the columns of files with the types that DuckDB tells; None where there is no schema.

    Args:
        data: a path, a pattern or a folder. The first file of several stands for all.
        header: whether the first line of a CSV file holds names; they have no types.

    Raises:
        UnreadableFile: if the file is missing, or not in the format of its name.
    """
    first = listed_files(data)[0]
    kind = format_of(first)
    if kind == "JSON" or (not header and not is_named(first)):
        return None
    return column_types_of(first)
