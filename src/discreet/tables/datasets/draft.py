"""A draft of discreet.toml from the schema of a file or of a table in a database. No row is read."""

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...base.doors import spelling
from ...base.error_boundary import replacing
from ...errors import InvalidArgument, InvalidDescription, UnreadableData, UnreadableFile
from ..engines.csv_files import read_head
from ..engines.reach import query_of_table
from ..formats.byte_blocks import check_bytes
from ..formats.file_paths import FileNames, file_format, format_of, listed_files, start_of
from ..formats.first_bytes import marked_encoding, told_format
from ..formats.text_form import CsvFile, TextForm
from .databases import Database, DuckFile, read_database
from .declarations import (
    LARGEST,
    LEAST,
    STEP,
    TO_FILL_IN,
    key_lines,
    quote_key,
    quote_value,
    table_head,
)

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

_ID = re.compile(
    r"(?i:(^|[^a-z])(id|uuid|guid|ssn|iban|e-?mail|phone|passport|social security)s?($|[^a-z]))"
    r"|(?<=[a-z])(Id|ID|Uuid|UUID)($|[^a-z])|身份证|学号|工号|编号|卡号|手机|邮箱"
)
"""The name of a column that holds ids, or what names a person as well as one."""

_UUID = "UUID"
"""The type of a column of ids in the engines that have one."""

_OF_IDS = """\
# A column of ids, by its name: an answer about ids reveals people. Delete it, or name it as the privacy_unit if it
# says which person a row is about."""

_HEAD = """\
# Drafted from the names {what} in {file}. No row was read.
# Replace what is marked by what you know from the form, the codebook or the law. Do not look at the rows.
# Delete columns that are not to be asked about.

ledger = "budget.db"

[datasets.{name}]
{where}privacy_unit = "{fill}: the column that says who a row is about{ids}, or no line if every row is a record"
budget = {{ epsilon = "{fill}: the most that all answers may cost together" }}
# To publish values that nobody can list: budget = {{ epsilon = "3", delta = "1e-6", delta_for = "questions" }}
"""

_COMMENTS = {
    "csv.delimiter": "# The header shows the delimiter.\n",
    "csv.encoding": "# The first bytes show the encoding.\n",
    "csv.names": """\
# The header has a name twice, or one that cannot be written here. So it is skipped, and these are the names.
""",
    "csv.multiline": """\
# A quoted cell may hold line ends, as programs write them. If others append lines to the file, say false: then
# every line is a record, and without a privacy unit the promise is about one line, not one person.
""",
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
        counting = _words_on_counting(url, str(table))
        where: dict[str, object] = {"connection": _without_password(url), "table": table}
        label = str(table) if name is None else name
    else:
        counting = ""
        types, where = _types_and_place(source, names, form, header=header)
        label = name_of_source(source) if name is None else name
    parts = {
        "what": "and types of the columns" if any(types.values()) else "of the columns",
        "file": Path(source).name,
        "name": quote_key(label),
        "where": counting
        + _place_in_toml(where, [*(form.given if form else ()), *(["names"] if names else ())]),
        "fill": TO_FILL_IN,
        "ids": _such_as([name for name, word in types.items() if _is_id(name) or word == _UUID]),
    }
    return "\n".join(
        [_HEAD.format(**parts), *(_draft_column(label, *one) for one in types.items())]
    )


def _place_in_toml(where: Mapping[str, object], said: Collection[str]) -> str:
    """Return the keys of a place, below their comments; words that the owner said have none."""
    words = {f"csv.{word}" for word in said}
    return "".join(
        f"{'' if key in words else _COMMENTS.get(key, '')}{key} = {quote_value(value)}\n"
        for key, value in where.items()
    )


def _types_and_place(
    source: str, names: Sequence[str], form: TextForm | None, *, header: bool
) -> tuple[Mapping[str, str | None], dict[str, object]]:
    """Return the columns of files with their types, and the keys of the place and the form of the files."""
    kind = file_format(Path(source))
    _check_form(source, kind, names, form)
    words = {} if form is None else form.given
    data = source if form is None else CsvFile(Path(source), form)
    is_json = bool(names) and format_of(listed_files(data)[0]) == "JSON"  # its keys are names
    if names and not is_json:
        words["names"] = list(names)
    types = dict.fromkeys(names) if names else _types_of_files(data, source, header=header)
    if "names" not in words:
        words |= _form_in_bytes(data)
        if "names" in words:
            types = {**dict.fromkeys(words["names"]), **_of_folders(data)}
    if kind == "CSV" or (not kind and words):
        words.setdefault("multiline", True)
    return types, {"source": source, **{f"csv.{key}": value for key, value in words.items()}}


def _check_form(source: str, kind: str, names: Sequence[str], form: TextForm | None) -> None:
    """Raise if the files have no form that can be said, or names that are given twice."""
    if form is not None and kind not in ("", "CSV", "Excel"):
        raise InvalidArgument(f"--csv is of a CSV file, and {source} is none")
    if form is not None and form.names is not None and names:
        raise InvalidArgument("the names are given twice: leave out --names")


def _of_folders(data: "FileNames") -> dict[str, str | None]:
    """Return the columns that the folders of files name, with their type."""
    return dict.fromkeys(listed_files(data)[0].partition, "VARCHAR")


def _form_in_bytes(data: "FileNames") -> dict[str, Any]:
    """Return the words that the first bytes and the header of a CSV file say; of a workbook, which says all, none.

    A header with a name twice, or with one that no description can have, is skipped, and its names are numbered.
    """
    first = listed_files(data)[0]
    if format_of(first) != "CSV" or check_bytes(first.path, first.form or TextForm()):
        return {}
    head = read_head(first.path, first.form or TextForm())
    words: dict[str, Any] = {"delimiter": head.form.delimiter}
    if head.mark and head.form.encoding is None:
        words["encoding"] = marked_encoding(head.encoding)
    names = [_describable(name) for name in head.names]
    if names != [*head.names] or len({*names}) < len(names):
        words |= {"skip": head.lines, "names": _numbered(names)}
    return words


def _describable(name: str) -> str:
    """Return a name as a description can have it."""
    return "".join(one if one.isprintable() else " " for one in name).strip()


def _numbered(names: Sequence[str]) -> list[str]:
    """Return distinct names: one that is there before has a number behind it."""
    distinct: dict[str, None] = {}
    for name in names:
        first = name or "column"
        others = (f"{first}_{i}" for i in itertools.count(2))
        free = (one for one in others if one not in distinct and one not in names)
        distinct.setdefault(first if first not in distinct else next(free))
    return [*distinct]


def _without_password(url: str) -> str:
    """Return the URL of a database without its driver and a password."""
    from sqlalchemy import make_url

    address = make_url(url)
    return address.set(drivername=address.get_backend_name(), password=None).render_as_string()


def _types_of_files(data: "FileNames", source: str, *, header: bool) -> Mapping[str, str | None]:
    """Return the columns of files, with their types where they have any."""
    from ..engines.files import schema

    types = schema(data, header=header)
    if types is not None:
        return types
    raise InvalidArgument(
        f"{source} has no schema: if it is CSV and its first line holds the names of its columns, "
        f"say {spelling(header=True)}. If that is a row, give them: "
        f"{spelling(names=['a', 'b', 'c'])}. For JSON lines give the keys this way too"
    )


def _is_id(name: str) -> bool:
    """Return whether a column is one of ids by its name."""
    return _describable(name) == name and _ID.search(name) is not None


def _such_as(names: Sequence[str]) -> str:
    """Return a name as an example in a text of TOML."""
    return f", such as {quote_value(names[0])[1:-1]}" if names else ""


def _draft_column(dataset: str, column: str, word: str | None) -> str:
    """Return the part of a column."""
    kind = _table_schema_type(word)
    if word == _UUID:
        return (
            f"# {quote_value(column)} has the type UUID: its values are ids. Name it as the "
            "privacy_unit if it says which person a row is about\n"
        )
    if word is not None and kind is None:
        return (
            f"# {quote_value(column)} has the type {word}, about which no question can be asked\n"
        )
    if not column.isprintable() or column != column.strip() or not column:
        return (
            f"# {quote_value(column)} cannot be used as a name here. To ask about this column, "
            "rename all columns\n"
        )
    lines = [_OF_IDS] if _is_id(column) else []
    lines += [table_head("datasets", dataset, "columns", column)]
    if kind is None:
        lines.append(
            f'type = "{TO_FILL_IN}: integer, number, string, boolean, date or datetime, then its '
            'bounds"'
        )
    else:
        lines.append(f'type = "{kind}"')
        lines += key_lines(dict(_BLANKS[kind]))
    return "\n".join(lines) + "\n"


def _table_schema_type(word: str | None) -> str | None:
    """Return the type of Table Schema for a type of an engine, or None."""
    kinds = (kind for pattern, kind in _TYPES if word is not None and re.fullmatch(pattern, word))
    return next(kinds, None)


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
            f"{url} cannot be opened as a database, or its tables not be listed"
        )
        work, passing = partial(_column_types, database, table), (InvalidArgument, UnreadableData)
        return replacing(work, lambda _: failure, passing=passing)
    raise InvalidArgument(message)


def _words_on_counting(url: str, table: str) -> str:
    """Return a comment on the columns of a table that come to this process; no row is read."""
    database = read_database(url, Path(), ())
    if isinstance(database, DuckFile):
        return ""
    others = database.uncounted(query_of_table(*table.split(".")))
    if others is None:
        return "# A question loads its columns into this process.\n"
    if not others:
        return "# The server counts these columns: their rows stay there.\n"
    names = ", ".join(map(quote_value, others))
    return f"# The server counts these columns. But a question loads these into this process: {names}.\n"


def _column_types(database: Database | DuckFile, table: str | None) -> dict[str, str | None]:
    tables = (
        _duckdb_tables(database)
        if isinstance(database, DuckFile)
        else _tables_by_inspection(database)
    )
    if table not in tables:
        names = ", ".join(sorted(tables)) or "none"
        raise InvalidArgument(
            f"which table is it? give {spelling(table='NAME')}. There are {names}"
        )
    if isinstance(database, DuckFile):
        relation = database.sql(query_of_table(*table.split(".")))
        return {name: str(of) for name, of in zip(relation.columns, relation.types, strict=True)}
    schema, name = tables[table]
    with database.connect() as connection:
        if database.file is None:
            columns = _inspector(connection).get_columns(name, schema=schema)
            return {one["name"]: str(one["type"]) for one in columns}
        query = "SELECT name, type FROM pragma_table_xinfo(?)"
        return {name: _stored(of) for name, of in connection.exec_driver_sql(query, (table,))}


def _stored(declared: str) -> str | None:
    """Return the type of a column of SQLite, by its declared one; None if that is no known type."""
    words = declared.upper().partition("(")[0].strip()
    return next((kind for pattern, kind in _STORED if re.search(pattern, words)), None)


def _duckdb_tables(database: DuckFile) -> dict[str, tuple[str | None, str]]:
    """Return the schemas and names of tables by their labels, which have a schema if it is another one."""
    rows = database.sql(
        "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
    ).fetchall()
    return {name if of == "main" else f"{of}.{name}": (of, name) for of, name in rows}


def _tables_by_inspection(database: Database) -> dict[str, tuple[str | None, str]]:
    """Return the schemas and names of tables and views, likewise."""
    with database.connect() as connection:
        inspector = _inspector(connection)
        own = inspector.default_schema_name
        schemas = [] if database.file else inspector.get_schema_names()
        others = [one for one in schemas if one != own and not one.startswith(_OF_SERVERS)]
        return {
            name if schema is None else f"{schema}.{name}": (schema, name)
            for schema in (None, *others)
            for list_names in (inspector.get_table_names, inspector.get_view_names)
            for name in list_names(schema=schema)
        }


_OF_SERVERS = ("pg_", "information_schema")
"""How the names of schemas begin that a server keeps for itself."""


def _inspector(connection: Any) -> Any:
    from sqlalchemy import inspect

    return inspect(connection)
