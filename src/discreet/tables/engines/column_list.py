"""The names and kinds of the columns of a table, from its header or its schema alone: no row is read."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

from ...errors import InvalidArgument
from ..formats.file_paths import names_files
from ..values.kinds import ColumnType, is_written
from .engine import failure_of, open_table, unwrap_table
from .engine_errors import quietly
from .files import column_names, shown_names
from .records import Records
from .server_session import ServerRows
from .sql_queries import SqlQuery

ColumnKind = Literal["numbers", "dates", "instants", "texts"]
"""The kinds of columns, as far as questions differ: instants have an offset, texts are truths and ids too."""

_KINDS: Mapping[str, ColumnKind] = {
    **dict.fromkeys(("integer", "float", "decimal"), "numbers"),
    **dict.fromkeys(("date", "timestamp"), "dates"),
    "timestamp with time zone": "instants",
    **dict.fromkeys(("text", "boolean", "uuid", "anything", "nothing"), "texts"),
}

NamesOf = Callable[[Any], Sequence[object]]

_NAMES: Mapping[str, NamesOf] = {
    "polars": lambda data: data.lazy().collect_schema().names(),
    "pyarrow": lambda data: data.schema.names,
    "numpy": lambda data: data.dtype.names or (),
}
"""Functions that return the names of columns, by package, where the attribute `columns` does not."""


def list_columns(data: Any) -> list[str]:
    """Return the names of the columns of a table; none where no header and no schema tells them.

    Raises:
        UnreadableFile: if a file is missing, or not of the format of its name.
        UnreadableData: if an engine fails.

    Side channels: time depends on the header or the schema, and on nothing else.
    """
    if names_files(data, column=True):
        return column_names(data)
    table = _with_schema(data)
    if table is None:
        return []  # its rows would be read
    table = unwrap_table(table)
    names = quietly(_names, failure_of(table), table)
    return [name for name in names if isinstance(name, str)]


def shown_columns(data: Any) -> list[str]:
    """Return the names of the columns of a table that a message may show: no first line that may be a row.

    Raises:
        UnreadableFile, UnreadableData: as `list_columns` does.
    """
    return shown_names(data) if names_files(data) else list_columns(data)


def _with_schema(source: Any) -> Any | None:
    """Return a table of which the schema is known and no row was read; None for a query without one."""
    if isinstance(source, SqlQuery) and not callable(getattr(source.connection, "sql", None)):
        return source.on_server()
    return source


def _type(source: Any, column: str) -> ColumnType | None:
    """Return the type of a column; None if it cannot be told without reading rows."""
    table = _with_schema(source)
    if isinstance(table, ServerRows) and column in table.columns and not table.counts([column]):
        return None  # its cells would come to memory
    return None if table is None else open_table(table, column, Records()).type()


def _names(table: Any) -> Sequence[object]:
    """Return the names of the columns of a table that is no file."""
    names = _NAMES.get(type(table).__module__.partition(".")[0].lstrip("_"))
    if names is not None and not isinstance(table, Mapping | list):
        return names(table)
    if isinstance(table, Mapping):
        return [*table]
    return cast("Sequence[object]", getattr(table, "columns", ()))


def column_kind(data: Any, column: str) -> ColumnKind | None:
    """Return the kind of a column by its type; None for a column of a text file, which has no types.

    Raises:
        UnreadableData: if it is of a type about which no question can be asked, or holds nothing but nulls.
        MissingColumn: if there is no such column.
        InvalidArgument: if the type cannot be told without reading rows.

    Side channels: time depends on the header or the schema, and on nothing else.
    """
    of = _type(data, column)
    if of is None:
        raise InvalidArgument(
            "the types of a query are known once its rows are read: say which columns hold numbers, dates and texts"
        )
    return None if is_written(of) else _KINDS[of.kind]


def holds_integers(table: Any, column: str) -> bool:
    """Return whether a column is of a type of whole numbers, from the schema alone; a text file has none."""
    of = _type(table, column)
    return of is not None and of.kind == "integer"
