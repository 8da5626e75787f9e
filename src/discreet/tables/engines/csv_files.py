"""CSV files and JSON lines: every column is text, and the library reads the records itself.

Guessing types would look at the rows, so that one row could change how all others are read. For the same
reason the form is said, or told by the first bytes and the header: docs/how-to/files.md#the-form-of-a-file.
"""

import codecs
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...base.doors import fix
from ...errors import MissingColumn, UnreadableFile
from ..formats.archives import DamagedFile
from ..formats.byte_blocks import check_bytes, name_of_text, open_bytes
from ..formats.file_paths import File
from ..formats.first_bytes import (
    BY_MARK,
    EXAMPLES,
    SIGNATURE,
    refuse_other_text,
    refuse_utf_16,
    told_encoding,
)
from ..formats.json_arrays import BEGIN
from ..formats.text_form import TextForm
from ..formats.text_records import (
    COMMENTS,
    NOWHERE,
    SEVERAL_LINES,
    TextRecords,
    is_strict,
    records_of,
)
from ..values.ids import sql_json_id
from ..values.kinds import ColumnType
from .database import run_query
from .engine_errors import missing_column, quietly
from .in_duckdb import select_list
from .progress import BAR
from .records import COMMENT, SPANS, UNREAD, is_of_unit
from .value_counts import RowQuery, parameter_number

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

DELIMITERS = (",", ";", "\t", "|")
LONGEST_HEADER = 1 << 20
"""In bytes."""

_SEPARATOR = re.compile(r"\"?sep=([\t -~])\"?[\t ]*(\r\n?|\n)")
"""The line by which a spreadsheet says the delimiter, above the header."""

JSON_LINES = (".jsonl", ".ndjson")
"""The endings of files in which each line is an object, whatever the first one is."""

OF_ONE_OBJECT = rb"(\xef\xbb\xbf)?\s*\{[ \t]*\r?\n"
"""How a file begins that is one object, written for people to read."""

_FIRST = 1 << 12
"""Bytes in which most headers end."""


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
        sql = query.connection.sql
        return quietly(
            run_query, self.failure, query.connection, sql, query.text, params=query.parameters
        )


def open_csv(
    one: File,
    types: Mapping[str, ColumnType],
    start: bytes,
    connection: "DuckDBPyConnection",
) -> TextRows:
    """Return columns of a CSV file, some as numbers and dates; only its header has been read."""
    file, form = one.path, one.form
    if form is not None and form.names is not None and form.encoding is None:
        refuse_utf_16(file, start)
    columns = {alias: of.column for alias, of in types.items()}
    head = read_head(file, TextForm() if form is None else form)
    where = {
        alias: _NAMELESS.get(alias) or _place_of(name, head.names, file, alias)
        for alias, name in columns.items()
    }
    readings = {alias: of.reading for alias, of in types.items()}
    kept = {(place, readings[alias]): "" for alias, place in where.items()} or {(NOWHERE, None): ""}
    wanted = sorted(kept, key=itemgetter(0))
    cells = {
        alias: _present(f"c{wanted.index((place, readings[alias]))}", types[alias])
        for alias, place in where.items()
    }
    expressions = {
        alias: f"nullif({of}, '')" if is_of_unit(alias) else of for alias, of in cells.items()
    }  # empty is nobody
    skip = int(head.form.names is None)
    places, kinds = zip(*wanted, strict=True)
    records = TextRecords(
        file, head.form, head.encoding, head.mark, places, skip, readings=kinds, state=one.state
    )
    return _text_rows(records, expressions, connection, {})


_NAMELESS = {SPANS: SEVERAL_LINES, COMMENT: COMMENTS}
"""The places of columns that a file does not name."""


def _present(cell: str, of: ColumnType) -> str:
    """Return the expression of a cell in which a text that stands for a missing one is empty, as that is."""
    if of.reading is not None or not of.cells.missing:  # it was read before
        return cell
    markers = ", ".join("'" + one.replace("'", "''") + "'" for one in of.cells.missing)
    return f"CASE WHEN {cell} IN ({markers}) THEN '' ELSE {cell} END"


def open_json_lines(
    one: File, columns: Mapping[str, str], connection: "DuckDBPyConnection"
) -> TextRows:
    """Return columns of a file of JSON objects, one a line or in an array, as text, without reading it.

    What is no JSON is a record without a field. A field that a record lacks is null: there is no schema. So is one
    that holds an object or an array. An id is a text or a number, and numbers are told apart by value.
    """
    pointers = {
        alias: "/" + name.replace("~", "~0").replace("/", "~1") for alias, name in columns.items()
    }
    line = "CASE WHEN starts_with(ltrim(c0, ' \t'), '{') AND json_valid(c0) THEN c0 END"
    expressions = {alias: _in_json(line, alias, f"$pointer_{alias}") for alias in pointers}
    parameters = {f"pointer_{alias}": pointer for alias, pointer in pointers.items()}
    file = one.path
    check_bytes(file, TextForm())
    start = start_bytes(file, SIGNATURE)
    code_and_mark = told_encoding(None, start[:4], has_header=True)
    encoding, mark = (
        code_and_mark if code_and_mark is not None and code_and_mark[0] == "utf-8" else ("utf-8", 0)
    )
    lines = TextForm(delimiter=None, quote="", multiline=False)
    records = TextRecords(
        file, lines, encoding, mark, (0,), 0, _is_array(file, start), state=one.state
    )
    return _text_rows(records, expressions, connection, parameters)


def _is_array(file: Path, start: bytes) -> bool:
    """Return whether a file of JSON is an array, by its name and its first bytes: `.jsonl` says that it is none.

    Raises:
        UnreadableFile: if it is one object of several lines, so that no line is a record.
    """
    if name_of_text(file).suffix.lower() in JSON_LINES:
        return False
    if re.match(OF_ONE_OBJECT, start):
        raise UnreadableFile(
            f"{file} is one JSON object of several lines. Read are an array of objects, or one "
            f"object a line. If its rows are in a key, such as data: jq '.data' {file} > rows.json"
        )
    return BEGIN.match(start) is not None


def _in_json(line: str, alias: str, pointer: str) -> str:
    """Return the expression of a cell of JSON, at a place of the object; null for objects and arrays."""
    if is_of_unit(alias):
        return sql_json_id(line, pointer)
    kind = f"json_type({line}, {pointer})"
    if alias.endswith(UNREAD):
        return f"CASE WHEN {line} IS NULL OR {kind} IN ('OBJECT', 'ARRAY') THEN '1' ELSE '' END"
    plain = f"json_extract_string({line}, {pointer})"
    return f"CASE WHEN {kind} NOT IN ('OBJECT', 'ARRAY') THEN {plain} END"


def _text_rows(
    records: TextRecords,
    expressions: Mapping[str, str],
    connection: "DuckDBPyConnection",
    values: Mapping[str, str],
) -> TextRows:
    """Return expressions over the cells c0, c1, ... of records; the file has not been opened.

    Args:
        records: the records.
        expressions: the expressions, by their aliases.
        connection: a connection, which knows the records from now on.
        values: the parameters of the expressions.
    """
    i = parameter_number(repr((records, values)))
    columns = select_list(expressions)
    for name in values:  # of which one may begin as another does
        columns = re.sub(rf"\${re.escape(name)}\b", f"${name}_{i}", columns)
    failure = UnreadableFile(f"{records.file} cannot be opened")
    bar = BAR.get()
    if bar is not None:
        records = replace(records, shown=bar.watch_file(records.file))
    # In a thread that no signal reaches: DuckDB reads the schema, and an interrupt in what C calls would be lost.
    quietly(run_query, failure, connection, connection.register, f"records_{i}", records)
    text = f"SELECT {columns} FROM records_{i}"
    parameters = {f"{name}_{i}": value for name, value in values.items()}
    return TextRows(RowQuery(connection, text, parameters, is_text=True), failure)


class Head(NamedTuple):
    """The form, code and names of a CSV file, by its header.

    Attributes:
        form: its form, with the delimiter.
        encoding: its character code.
        mark: how many bytes its mark has.
        names: the names of its columns.
        lines: how many lines there are above the first row.
    """

    form: TextForm
    encoding: str
    mark: int
    names: Sequence[str]
    lines: int


def read_head(file: Path, form: TextForm) -> Head:
    """Return the head of a CSV file; with given names its first bytes decide only a mark that was declared.

    Raises:
        UnreadableFile: if its header cannot be read.
    """
    is_book = check_bytes(file, form)
    if is_book:
        form = replace(form, delimiter=",")
    is_given = form.names is not None
    start = b"" if is_given and form.encoding not in BY_MARK else start_bytes(file, _FIRST, form)
    code_and_mark = told_encoding(form.encoding, start[:4], has_header=not is_given)
    if code_and_mark is None:
        raise UnreadableFile(
            f"{file} does not begin with the mark of {form.encoding}. Leave out the encoding, or "
            "say it without a mark, as utf-8, utf-16-le or utf-16-be"
        )
    if form.names is not None:
        return Head(
            replace(form, delimiter=form.delimiter or ","), *code_and_mark, form.names, form.skip
        )
    if not form.skip:
        refuse_other_text(file, start)
    header = _header_in(start, form, *code_and_mark, is_all=len(start) < _FIRST)
    if header is None:
        start = start_bytes(file, LONGEST_HEADER, form)
        header = _header_in(start, form, *code_and_mark, is_all=len(start) < LONGEST_HEADER)
    if header is None:
        raise UnreadableFile(f"{file} has a first line of more than {LONGEST_HEADER} bytes")
    _check_header(header, file, code_and_mark[0], is_book=is_book)
    return Head(header.form, *code_and_mark, header.names, header.lines)


class _Header(NamedTuple):
    """The first record by one delimiter.

    Attributes:
        form: the form, with the delimiter.
        names: its cells.
        is_closed: whether its quotes are closed.
        lines: how many lines there are up to its end.
    """

    form: TextForm
    names: list[str]
    is_closed: bool
    lines: int

    @property
    def rank(self) -> tuple[bool, int]:
        """How well the delimiter does: quotes are where they belong, and it shows many columns."""
        quote, escape = self.form.quote, self.form.escape
        is_clean = not quote or escape is not None or not any(quote in name for name in self.names)
        return self.is_closed and is_clean, len(self.names)


def start_bytes(file: Path, size: int, form: TextForm | None = None) -> bytes:
    """Return the first bytes of a file, unpacked, up to where it is damaged; none if it cannot be opened.

    Raises:
        UnreadableFile: if it is damaged at its beginning.
    """
    start, is_damaged = b"", False
    try:
        with open_bytes(file, form) as stream:
            while len(start) < size and (more := stream.read(min(size - len(start), _FIRST))):
                start += more
    except UnreadableFile:
        raise
    except OSError:
        return b""
    except DamagedFile:
        is_damaged = not start
    if is_damaged:
        raise UnreadableFile(f"{file} cannot be read: it is damaged at its beginning")
    return start


def _header_in(
    start: bytes, form: TextForm, encoding: str, mark: int, *, is_all: bool
) -> _Header | None:
    """Return the header by the delimiter that shows most columns; None where it may go on behind these bytes."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    text, form = _below_separator(decoder.decode(start[mark:], is_all), form)
    other_signs = {form.quote, form.escape, form.comment}
    choices = [one for one in DELIMITERS if one not in other_signs]
    if form.delimiter is not None:
        choices = [form.delimiter]
    headers = [_first_record(text, replace(form, delimiter=one), is_all=is_all) for one in choices]
    ended = [header for header in headers if header is not None]
    return max(ended, key=lambda one: one.rank) if len(ended) == len(headers) else None


def _below_separator(text: str, form: TextForm) -> tuple[str, TextForm]:
    """Return the text from the header on, and the form with the word of the line above it."""
    lines = StringIO(text, newline="")
    deque(islice(iter(lines.readline, ""), form.skip), maxlen=0)
    text = text[lines.tell() :]
    separator = _SEPARATOR.match(text)
    if separator is None or separator[1] == form.quote:
        return text, form
    delimiter = form.delimiter or separator[1]
    return text[separator.end() :], replace(form, delimiter=delimiter, skip=form.skip + 1)


def _first_record(text: str, form: TextForm, *, is_all: bool) -> _Header | None:
    """Return the first record of a text; None where it may go on."""
    lines = StringIO(text, newline="")
    names = next(records_of(iter(lines.readline, ""), form), [])
    if not is_all and lines.tell() == len(text):
        return None
    is_one_line = not any("\n" in name or "\r" in name for name in names)
    is_closed = is_one_line or is_strict(StringIO(text, newline=""), form)
    above = StringIO(text[: lines.tell()], newline="")
    return _Header(form, names, is_closed, form.skip + len([*above]))


def _check_header(header: _Header, file: Path, encoding: str, *, is_book: bool) -> None:
    """Raise for a header with names that cannot be read; it is not shown, for it may be a row."""
    text = "".join(header.names)
    if is_book and "\ufffd" in text:
        raise UnreadableFile(
            f"{file} has a first row with a cell that is an error. Accepted: the columns' names"
        )
    if "\ufffd" in text:
        raise UnreadableFile(
            f"{file} has a first line that is not text in {encoding}. Give its encoding: "
            f"{fix('an encoding', encoding='cp1252')}. Codes are {EXAMPLES}"
        )
    if "\0" in text:
        raise UnreadableFile(
            f"{file} is not a CSV file in {encoding}: its first line has a character 0. If it is "
            'UTF-16, say csv.encoding = "utf-16-le"'
        )
    if not header.is_closed:
        raise UnreadableFile(
            f"{file} has a quote in its first line that is not closed. If its quotes are signs "
            'like others, say csv.quote = ""'
        )
    if len(header.names) < 2 and not text.strip():
        raise UnreadableFile(f"{file} has an empty first line. Accepted: the columns' names")


def _place_of(column: str, names: Sequence[str], file: Path, alias: str) -> int:
    """Return the place of a column.

    Raises:
        MissingColumn: if there is no such column.
        UnreadableFile: if there are several.
    """
    if names.count(column) > 1:
        raise UnreadableFile(
            f"{file} has {names.count(column)} columns named {column!r}. Give all of them other "
            f"names instead of the header: {fix('names in place of a header')}"
        )
    if column not in names:
        raise _no_such_column(column, names, file, alias)
    return names.index(column)


def can_be_name(field: str) -> bool:
    """Return whether a field of a first line looks like a name, and not like a cell of a row.

    The first line is the header, and public. Of a file without one it is a row, so no error shows a line with other
    fields.
    """
    is_one_line = "\n" not in field and "\r" not in field  # or a quote was closed by a row
    return bool(field) and is_one_line and field[0] not in "+-.0123456789"


def _no_such_column(column: str, names: Sequence[str], file: Path, alias: str) -> MissingColumn:
    """Return the error for a column that a CSV file has not."""
    if not all(map(can_be_name, names)):  # it may be a row, which must not be shown
        where = (
            f"the first line of {file}, which is not shown, as it may be a row. If it holds the "
            "names, check how yours is spelled. If it is a row, say the names: "
            + fix("names of columns")
        )
        return missing_column(column, [], where, alias)
    return missing_column(column, names, str(file), alias)
