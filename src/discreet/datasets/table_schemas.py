"""The names and types of the columns of a table in a database, for a draft. No row is read."""

from functools import partial
from pathlib import Path
from typing import Any

from ..error_boundary import replacing
from ..errors import InvalidArgument, InvalidDescription, UnreadableData
from .databases import Database, DuckFile, read_database
from .sources import table_query

SUFFIXES = {".duckdb": "duckdb", ".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite"}
"""The kinds of databases, by the endings of their files."""

_STORED = {"DATE": "TEXT", "DATETIME": "TEXT", "TIMESTAMP": "TEXT", "BOOLEAN": "INTEGER"}
"""What SQLite has in a column of a type that it does not know."""


def database_url(source: str) -> str | None:
    """Return the URL of a database, given so or as a file; None for anything else."""
    kind = SUFFIXES.get(Path(source).suffix.lower())
    if "://" in source:
        return source
    return None if kind is None else f"{kind}:///{source}"


def columns_of_table(url: str, table: str | None) -> dict[str, str]:
    """Return the types of the columns of a table by their names, as the database tells them.

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


def _column_types(database: Database | DuckFile, table: str | None) -> dict[str, str]:
    tables = (
        _duckdb_tables(database)
        if isinstance(database, DuckFile)
        else _tables_by_inspection(database)
    )
    if table not in tables:
        names = ", ".join(sorted(tables)) or "none"
        raise InvalidArgument(f"which table is it? give --table; there are {names}")
    if isinstance(database, DuckFile):
        relation = database.sql(table_query(table))
        return {name: str(of) for name, of in zip(relation.columns, relation.types, strict=True)}
    with database.connect() as connection:
        types = {one["name"]: str(one["type"]) for one in _inspector(connection).get_columns(table)}
    return {name: _STORED.get(of, of) if database.file else of for name, of in types.items()}


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
