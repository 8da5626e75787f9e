"""A draft of discreet.toml from the schema of a file or of a table in a database. No row is read."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..doors import spelling
from ..error_boundary import replacing
from ..errors import InvalidArgument, InvalidDescription, UnreadableData, UnreadableFile
from ..tables.csv_files import CsvFile
from ..tables.files import FileNames, file_format, start_of
from ..tables.first_bytes import told_format
from ..tables.text_form import TextForm
from .databases import Database, DuckFile, read_database
from .declarations import LARGEST, LEAST, STEP, TO_FILL_IN
from .sources import table_query

_BARE = re.compile(r"[A-Za-z0-9_-]+")

_TYPES = (
    (r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?", "integer"),
    (r"FLOAT|DOUBLE( PRECISION)?|REAL|(DECIMAL|NUMERIC)(\(.*\))?", "number"),
    (r"(VAR)?CHAR(\(.*\))?|TEXT|ENUM\(.*\)", "string"),
    (r"BOOLEAN", "boolean"),
    (r"DATE", "date"),
    (r"TIMESTAMP.*|DATETIME", "datetime"),
)
"""The type of Table Schema for a type that an engine tells, as a pattern."""

_MINIMUM, _MAXIMUM = ("minimum", LEAST), ("maximum", LARGEST)
_BLANKS: Mapping[str, tuple[tuple[str, object], ...]] = {
    "integer": (_MINIMUM, _MAXIMUM),
    "number": (
        _MINIMUM,
        _MAXIMUM,
        ("step", STEP),
    ),
    "string": (("enum", [f"{TO_FILL_IN}: all values there can be, or delete this line"]),),
    "boolean": (),
    "date": (_MINIMUM, _MAXIMUM),
    "datetime": (_MINIMUM, _MAXIMUM),
}
"""What has to be filled in for a type."""

_HEAD = """\
# Drafted from the names {what} in {file}. No row was read.
# Replace what is marked by what you know from the form, the codebook or the law. Do not look at the rows.
# Delete columns about which nobody may ask.

ledger = "budget.db"

[datasets.{name}]
{where}privacy_unit = "{fill}: the column that says whose a row is, or delete this line if every row is a record"
budget = {{ epsilon = "{fill}: the most that all answers may cost together" }}
# To publish values that nobody can list: budget = {{ epsilon = "3", delta = "1e-6", delta_for = "questions" }}
"""

_COMMENTS = {
    "csv.multiline": """\
# A quoted cell may hold line ends, as programs write them. If others append lines to the file, say false: then
# every line is a record, and without a privacy unit the promise is about one line, not one person.
"""
}
"""What is said above a key."""


def draft(  # noqa: PLR0913  # what is said of the source
    source: str,
    name: str | None = None,
    *,
    header: bool = False,
    names: Sequence[str] = (),
    table: str | None = None,
    form: TextForm | None = None,
) -> str:
    """Return a draft of discreet.toml for a file or a table; all that it cannot know is marked, to be filled in.

    Args:
        source: the path of a file, a pattern or a folder; the first file stands for all. Or a database: a file of
            DuckDB or SQLite, or a URL.
        name: the name of the dataset; that of the file or the table if not given.
        header: whether the first line of a CSV file holds the names of its columns, as its owner says.
        names: the names of the columns of a CSV file whose first line is a row.
        table: the table of a database.
        form: the form of a CSV file, where it is said.

    Raises:
        InvalidArgument: if the file has no schema, and the names of its columns are not given; or there is no such
            table.
        UnreadableData: if it is missing, or not of the format of its name.
    """
    url = database_url(source) if form is None else None
    if url is not None:
        types: Mapping[str, str | None] = columns_of_table(url, table)
        where: dict[str, object] = {"connection": _without_password(url), "table": table}
        label = str(table) if name is None else name
    else:
        types, where = _types_and_place(source, names, form, header=header)
        label = name_of_source(source) if name is None else name
    parts = {
        "what": "and types of the columns" if any(types.values()) else "of the columns",
        "file": Path(source).name,
        "name": _quote_key(label),
        "where": "".join(
            f"{_COMMENTS.get(key, '')}{key} = {_quote_toml(value)}\n"
            for key, value in where.items()
        ),
        "fill": TO_FILL_IN,
    }
    return "\n".join(
        [_HEAD.format(**parts), *(_draft_column(label, *one) for one in types.items())]
    )


def _types_and_place(
    source: str, names: Sequence[str], form: TextForm | None, *, header: bool
) -> tuple[Mapping[str, str | None], dict[str, object]]:
    """Return the columns of files with their types, and the keys of the place and the form of the files."""
    kind = file_format(Path(source))
    if form is not None and kind not in ("", "CSV", "Excel"):
        raise InvalidArgument("--csv is of a CSV file, and {source} is none", source=source)
    if form is not None and form.names is not None and names:
        raise InvalidArgument("the names are given twice: leave out --names")
    words = {} if form is None else form.given
    if names:
        words["names"] = list(names)
    data = source if form is None else CsvFile(Path(source), form)
    types = dict.fromkeys(names) if names else _types_of_files(data, source, header=header)
    is_csv = kind == "CSV" or (not kind and bool(words))
    form_keys = {"multiline": True, **words} if is_csv else words
    # The one with a comment is the last.
    in_order = sorted(form_keys.items(), key=lambda one: one[0] == "multiline")
    return types, {"source": source, **{f"csv.{key}": value for key, value in in_order}}


def _without_password(url: str) -> str:
    """Return the URL of a database without its driver and a password."""
    from sqlalchemy import make_url

    address = make_url(url)
    return address.set(drivername=address.get_backend_name(), password=None).render_as_string()


def _types_of_files(data: "FileNames", source: str, *, header: bool) -> Mapping[str, str | None]:
    """Return the columns of files, with their types where they have any."""
    from ..tables.files import schema

    types = schema(data, header=header)
    if types is not None:
        return types
    raise InvalidArgument(
        "{source} has no schema: if it is CSV and its first line holds the names of its "
        "columns, say {header}; if that is a row, give them: {names}. Of JSON lines give "
        "the keys so too",
        source=source,
        header=spelling(header=True),
        names=spelling(names=["a", "b", "c"]),
    )


def _draft_column(dataset: str, column: str, word: str | None) -> str:
    """Return the part of a column."""
    kind = _table_schema_type(word)
    if word is not None and kind is None:
        return (
            f"# {_quote_toml(column)} has the type {word}, about which no question can be asked\n"
        )
    if not column.isprintable() or column != column.strip() or not column:
        return f"# {_quote_toml(column)} is no name that can be described; rename the column\n"
    lines = [f"[datasets.{_quote_key(dataset)}.columns.{_quote_key(column)}]"]
    if kind is None:
        lines.append(
            f'type = "{TO_FILL_IN}: integer, number, string, boolean, date or datetime; then its bounds"'
        )
    else:
        lines.append(f'type = "{kind}"')
        lines += [f"{key} = {_quote_toml(value)}" for key, value in _BLANKS[kind]]
    return "\n".join(lines) + "\n"


def _table_schema_type(word: str | None) -> str | None:
    """Return the type of Table Schema for a type of an engine, or None."""
    kinds = (kind for pattern, kind in _TYPES if word is not None and re.fullmatch(pattern, word))
    return next(kinds, None)


def _quote_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quote_toml(name)


def _quote_toml(value: object) -> str:
    """Return a text, or a list of one, as TOML: as in JSON, with the one sign that only TOML forbids."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def name_of_source(source: str) -> str:
    """Return the name of a dataset by the name of its file or folder."""
    parts = [part for part in Path(source).parts if not set(part) & set("*?[")]
    stem = parts[-1].partition(".")[0] if parts else ""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-") or "data"


SUFFIXES = {".duckdb": "duckdb", ".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite"}
"""The kinds of databases, by the endings of their files."""

_STORED = (
    ("INT|BOOL|^BIT$", "INTEGER"),
    ("CHAR|CLOB|TEXT|STR|ENUM|UUID|GUID|DATE|TIME", "TEXT"),
    ("BLOB|BINARY|BYTE", "BLOB"),
    ("REAL|FLOA|DOUB|NUM|DEC|MONEY|CURRENCY", "DOUBLE"),
)
"""What SQLite has in a column whose type holds a word, which is any text that its writer chose."""


def database_url(source: str) -> str | None:
    """Return the URL of a database, given so or as a file; None for anything else."""
    if "://" in source:
        return source
    kind = _database_by_bytes(source) or SUFFIXES.get(Path(source).suffix.lower())
    return None if kind is None else f"{kind}:///{source}"


def _database_by_bytes(source: str) -> str | None:
    """Return the kind of a database in a file by its first bytes; None for all other files."""
    try:
        signature = told_format(start_of(Path(source)))
    except (UnreadableFile, ValueError):
        return None
    return (
        None if signature is None else {"SQLite": "sqlite", "DuckDB": "duckdb"}.get(signature.kind)
    )


def columns_of_table(url: str, table: str | None) -> dict[str, str | None]:
    """Return the types of the columns of a table by their names, as the database says; None where it says none.

    Raises:
        InvalidArgument: if it is no database that a description can name, or has no such table.
        UnreadableData: if the database cannot be opened.
    """
    try:
        database = read_database(url, Path(), ())
    except InvalidDescription as error:
        message = str(error)
    else:
        failure = UnreadableData(
            "{url} cannot be opened as a database, or its tables not be listed", url=url
        )
        work, passing = partial(_column_types, database, table), (InvalidArgument, UnreadableData)
        return replacing(work, lambda _: failure, passing=passing)
    raise InvalidArgument(message)


def _column_types(database: Database | DuckFile, table: str | None) -> dict[str, str | None]:
    tables = (
        _duckdb_tables(database)
        if isinstance(database, DuckFile)
        else _tables_by_inspection(database)
    )
    if table not in tables:
        names = ", ".join(sorted(tables)) or "none"
        raise InvalidArgument(
            "which table is it? give {table}; there are {names}",
            table=spelling(table="NAME"),
            names=names,
        )
    if isinstance(database, DuckFile):
        relation = database.sql(table_query(table))
        return {name: str(of) for name, of in zip(relation.columns, relation.types, strict=True)}
    with database.connect() as connection:
        if database.file is None:
            columns = _inspector(connection).get_columns(table)
            return {one["name"]: str(one["type"]) for one in columns}
        query = "SELECT name, type FROM pragma_table_xinfo(?)"
        return {name: _stored(of) for name, of in connection.exec_driver_sql(query, (table,))}


def _stored(declared: str) -> str | None:
    """Return the type of what a column of SQLite holds, by its declared one; None if that says nothing."""
    words = declared.upper().partition("(")[0].strip()
    return next((kind for pattern, kind in _STORED if re.search(pattern, words)), None)


def _duckdb_tables(database: DuckFile) -> list[str]:
    rows = database.sql("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()
    return [name for (name,) in rows]


def _tables_by_inspection(database: Database) -> list[str]:
    with database.connect() as connection:
        inspector = _inspector(connection)
        return [*inspector.get_table_names(), *inspector.get_view_names()]


def _inspector(connection: Any) -> Any:
    from sqlalchemy import inspect

    return inspect(connection)
