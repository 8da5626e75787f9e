"""CSV files and JSON lines, as DuckDB reads them: every column is text.

Guessing types would look at the rows, so that one row could change how all others are read. For the same
reason the dialect is taken from the header line alone, or given. An empty field, or one that a short row lacks,
equals the candidate '' and nothing else. A field that is no UTF-8, and a row longer than `LONGEST_LINE`, is left
out by itself.
"""

import gzip
import os
import zlib
from collections.abc import Mapping, Sequence
from csv import reader
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..arguments import file_path, read_sequence
from ..error_boundary import error_boundary
from ..errors import InvalidArgument, MissingColumn, UnreadableFile, preview
from .engine_errors import missing_column, quietly
from .ids import sql_json_id
from .in_duckdb import select_list
from .records import is_of_unit
from .value_counts import RowQuery, parameter_number

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

DELIMITERS = (",", ";", "\t", "|")
LONGEST_HEADER = 1 << 20
LONGEST_LINE = 1 << 24
"""In bytes, with its end. DuckDB 2.0 reads one more byte if a buffer begins with the row:
docs/reference/tables.md."""
DIALECT: dict[str, object] = {
    "auto_detect": False,
    "quote": '"',
    "escape": '"',
    "null_padding": True,
    "ignore_errors": True,
    "strict_mode": False,
    # In parallel, a line break in quotes would be an error, and so depend on the rows.
    "parallel": False,
    "max_line_size": LONGEST_LINE,
    # DuckDB's own choice is sixteen lines, several times.
    "buffer_size": 2 * LONGEST_LINE,
    "hive_partitioning": False,
}
"""What DuckDB is told of every CSV file, so that it guesses nothing."""


_MOST_COLUMNS = 10_000


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A text file of rows in a form that is given rather than read from its first line."""

    path: Path
    delimiter: str | None
    names: tuple[str, ...] | None


@error_boundary
def scan_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
) -> CsvFile:
    """Return a CSV file as data that every verb over tables takes, where its form must be said.

    Args:
        path: the file, whatever its ending; one that ends with `.gz` is compressed.
        delimiter: the character between fields. Without it, the one of comma, semicolon, tab and bar by
            which the first line has most of the wanted columns; a comma if `names` are given.
        names: the names of the columns, if the first line is a row already.

    Raises:
        InvalidArgument: if no file can have the path, the delimiter is no single character, or the names are not
            distinct texts.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidArgument("path must be that of a file, got {path}", path=preview(path))
    file = file_path(path, "path")
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter.encode()) != 1):
        raise InvalidArgument(
            "delimiter must be one character of ASCII, got {delimiter}",
            delimiter=preview(delimiter),
        )
    if delimiter is not None and delimiter in '"\r\n':
        raise InvalidArgument("delimiter must not be a quote or the end of a line")
    labels = None if names is None else tuple(read_sequence(names, "names", _MOST_COLUMNS))
    if labels is not None and (
        not all(isinstance(name, str) for name in labels)
        or len({*labels}) < len(labels)
        or not labels
    ):
        raise InvalidArgument("names must be a list of distinct texts, one for each column")
    return CsvFile(file, delimiter, labels)


def open_csv(
    file: Path,
    columns: Mapping[str, str],
    start: bytes,
    form: CsvFile | None,
    connection: "DuckDBPyConnection",
) -> "TextRows":
    """Return columns of a CSV file; only its header has been read."""
    is_gzip = file.suffix.lower() == ".gz"
    if start == b"PAR1":
        raise UnreadableFile("{file} holds Parquet: name it .parquet", file=file)
    if start.startswith(b"\x1f\x8b") and not is_gzip:
        raise UnreadableFile("{file} is compressed with gzip: name it .csv.gz", file=file)
    delimiter, names, header = read_form(file, columns, form, is_gzip=is_gzip)
    expressions = {alias: f"c{names.index(name)}" for alias, name in columns.items()}
    expressions |= {
        a: f"nullif({of}, '')" for a, of in expressions.items() if is_of_unit(a)
    }  # empty is nobody
    options = {"delim": delimiter, "header": header}
    query = CsvQuery(file, len(names), expressions, options)
    return TextRows(query.rows(connection), not_csv(file))


def open_json_lines(
    file: Path, columns: Mapping[str, str], connection: "DuckDBPyConnection"
) -> "TextRows":
    """Return columns of a file with one JSON object per line, as text, without reading it.

    A line that is no JSON is left out by itself. A field that a line lacks is null: there is no schema. An id is a
    text or a number, and numbers are told apart by value.
    """
    pointers = {
        alias: "/" + name.replace("~", "~0").replace("/", "~1") for alias, name in columns.items()
    }
    line = "CASE WHEN json_valid(c0) THEN c0 END"
    expressions = {
        alias: sql_json_id(line, f"$pointer_{alias}")
        if is_of_unit(alias)
        else f"json_extract_string({line}, $pointer_{alias})"
        for alias in pointers
    }
    # No text in JSON holds this character, so it ends no field of a line that is JSON.
    options = {"delim": "\x01", "header": False, "quote": "", "escape": ""}
    parameters = {f"pointer_{alias}": pointer for alias, pointer in pointers.items()}
    failure = UnreadableFile("{file} cannot be opened", file=file)
    query = CsvQuery(file, 1, expressions, options, parameters)
    return TextRows(query.rows(connection), failure)


@dataclass(frozen=True, slots=True)
class TextRows:
    """The rows of a file of text.

    Attributes:
        query: the rows as a query.
        failure: the error to raise when the file cannot be opened.
    """

    query: RowQuery
    failure: UnreadableFile

    def relation(self) -> "DuckDBPyRelation":
        """Return the rows as a relation, which takes longer to make than to count a small file."""
        query = self.query
        return quietly(query.connection.sql, self.failure, query.text, params=query.parameters)


@dataclass(frozen=True, slots=True)
class CsvQuery:
    """Expressions over the columns c0, c1, ... of a file.

    Attributes:
        file: the file.
        width: how many columns it has.
        chosen: the expressions, by their aliases.
        options: how the file is read, beside `DIALECT`.
        given: the parameters of the expressions.
    """

    file: Path
    width: int
    expressions: Mapping[str, str]
    options: Mapping[str, object]
    parameters: Mapping[str, str] = field(default_factory=dict)

    def rows(self, connection: "DuckDBPyConnection") -> RowQuery:
        """Return the query; the file has not been opened."""
        names = [f"c{i}" for i in range(self.width)]
        settings: dict[str, object] = {
            "columns": dict.fromkeys(names, "VARCHAR"),
            # All of them: where one column is read, DuckDB 2.0 looks up this list by wrong positions.
            "force_not_null": names,
            "compression": "gzip" if self.file.suffix.lower() == ".gz" else "none",
            **DIALECT,
            **self.options,
        }
        values = {**settings, **self.parameters, "path": literal_path(self.file)}
        i = parameter_number(repr(values))
        spelling = ", ".join(f"{name}=${name}_{i}" for name in settings)
        columns = select_list(self.expressions)
        for name in self.parameters:
            columns = columns.replace(f"${name}", f"${name}_{i}")
        text = f"SELECT {columns} FROM read_csv($path_{i}, {spelling})"
        parameters = {f"{name}_{i}": value for name, value in values.items()}
        return RowQuery(connection, text, parameters, is_text=True)


def literal_path(file: Path) -> str:
    """Return the path so that DuckDB takes no character of it for a wildcard."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(file))


def read_form(
    file: Path, columns: Mapping[str, str], form: CsvFile | None, *, is_gzip: bool
) -> tuple[str, list[str], bool]:
    """Return the delimiter, the names of the columns, and whether the first line has them."""
    delimiter = None if form is None else form.delimiter
    if form is None or form.names is None:
        choices = DELIMITERS if delimiter is None else (delimiter,)
        return *split_header(read_header(file, is_gzip), columns, file, choices), True
    for alias, column in columns.items():
        if column not in form.names:
            raise missing_column(column, form.names, str(file), alias)
    return delimiter or ",", [*form.names], False


def not_csv(file: Path) -> UnreadableFile:
    """Return the error for a file that is no CSV file."""
    return UnreadableFile("{file} is not a CSV file: its first line is not UTF-8 text", file=file)


def read_header(file: Path, is_gzip: bool) -> str:
    """Return the first line of a CSV file, without its end."""
    try:
        with gzip.open(file) if is_gzip else file.open("rb") as stream:
            line = stream.readline(LONGEST_HEADER)
    except (OSError, EOFError, zlib.error):
        line = b""
    text = line.splitlines()[0] if line else b""
    if is_gzip and not line:
        raise UnreadableFile("{file} is not compressed with gzip, or it is empty", file=file)
    if len(text) >= LONGEST_HEADER:
        raise UnreadableFile(
            "{file} has a first line of more than {longest_header} bytes",
            file=file,
            longest_header=LONGEST_HEADER,
        )
    try:
        header = text.decode("utf-8-sig")
    except UnicodeDecodeError:
        header = "\0"
    if "\0" in header:
        raise not_csv(file)
    if not header.strip():
        raise UnreadableFile(
            "{file} has an empty first line. Accepted: the columns' names", file=file
        )
    return header


def split_header(
    header: str, columns: Mapping[str, str], file: Path, delimiters: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the delimiter and the columns' names, of the delimiters that show the most wanted columns."""
    if header.count('"') % 2:
        raise UnreadableFile(
            "{file} has a quote in its first line that is not closed there", file=file
        )
    choices = [(d, next(reader([header], delimiter=d))) for d in delimiters]
    question_columns = set(columns.values())

    def columns_shown(choice: tuple[str, list[str]]) -> tuple[int, int]:
        return len(question_columns & set(choice[1])), len(choice[1])

    delimiter, names = max(choices, key=columns_shown)
    for alias, column in columns.items():
        if names.count(column) > 1:
            raise UnreadableFile(
                "{file} has {words} columns named {column}",
                file=file,
                words=names.count(column),
                column=repr(column),
            )
        if column not in names:
            raise _no_such_column(column, names, file, alias)
    return delimiter, names


def header_names(file: Path, form: CsvFile | None) -> list[str]:
    """Return the fields of the first line, by the delimiter that is given or the one that shows the most."""
    given = None if form is None else form.delimiter
    header = read_header(file, is_gzip=file.suffix.lower() == ".gz")
    choices = DELIMITERS if given is None else (given,)
    return split_header(header, {}, file, choices)[1]


def can_be_name(field: str) -> bool:
    """Return whether a field of a first line looks like a name, and not like a cell of a row.

    The first line is the header, and public. Of a file without one it is a row, so no error shows a line with other
    fields.
    """
    return bool(field) and field[0] not in "+-.0123456789"


def _no_such_column(column: str, names: list[str], file: Path, alias: str) -> MissingColumn:
    """Return the error for a column that a CSV file has not."""
    if not all(map(can_be_name, names)):  # it may be a row, which must not be shown
        where = (
            f"the first line of {file}, which is not shown, as it may be a row. If it holds the names, check how "
            "yours is spelled; if it is a row, say the names: discreet.scan_csv(path, names=[...])"
        )
        return missing_column(column, [], where, alias)
    return missing_column(column, names, str(file), alias)
