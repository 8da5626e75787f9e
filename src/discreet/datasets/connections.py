"""The database of a described query: a public URL, opened when a question is asked and not before."""

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..arguments import file_path
from ..errors import InvalidArgument, UnreadableFile
from .declarations import KeyPath, wrong

_FORMS = "duckdb:///file.duckdb, sqlite:///file.db or postgresql://host/database"


@dataclass(frozen=True, slots=True)
class Database:
    """A database by its URL, without a password.

    Attributes:
        public: the URL.
        file: the file of the database; None if it is a server's.
    """

    public: str
    file: str | None = None

    def connect(self) -> AbstractContextManager[Any]:
        """Return a new connection.

        Raises:
            UnreadableFile: if there is no such file, which SQLite would make.
        """
        from sqlalchemy import create_engine

        _check_file(self.file)
        return create_engine(self.public, hide_parameters=True).connect()


@dataclass(frozen=True, slots=True)
class DuckFile:
    """A file of DuckDB, by its URL.

    Attributes:
        public: the URL.
        file: the file.
    """

    public: str
    file: str

    def sql(self, query: str) -> Any:
        """Return the relation of a query; it holds the file open, to be read only, as long as it lives.

        Raises:
            UnreadableFile: if there is no such file.
        """
        from ..tables.database import connect_file

        _check_file(self.file)
        return connect_file(self.file).sql(query)


def _check_file(file: str | None) -> None:
    """Raise unless the file of a database is a regular file: others would be made, or waited for."""
    if file is not None and not Path(file).is_file():
        raise UnreadableFile(f"{file} is no file of a database")


def read_database(url: str, folder: Path, place: KeyPath) -> Database | DuckFile:
    """Return the database of a URL; the file of a database is found from a folder.

    Raises:
        InvalidDescription: if it is of another kind, or holds a password.
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        read = make_url(url)
    except (ArgumentError, ValueError):
        read = None
    kind = "" if read is None else read.get_backend_name()
    if read is None or kind not in ("duckdb", "sqlite", "postgresql"):
        raise wrong(
            place,
            f"it must be {_FORMS}; of other databases make a Dataset of discreet.sql(query, connection) in Python",
        )
    if read.password is not None or {"password", "sslpassword"} & set(read.query):
        raise wrong(
            place,
            "a description is public: leave the password out, and set PGPASSWORD or ~/.pgpass",
        )
    if kind == "postgresql":
        read = read.set(drivername="postgresql+psycopg")
        return Database(read.render_as_string(hide_password=False))
    file = _file_of(read.database, folder, place)
    public = read.set(database=file).render_as_string(hide_password=False)
    return DuckFile(public, file) if kind == "duckdb" else Database(public, file)


def _file_of(name: str | None, folder: Path, place: KeyPath) -> str:
    """Return the file of a database, links followed."""
    if not name or name == ":memory:":
        raise wrong(place, "it must name a file, such as duckdb:///people.duckdb")
    try:
        return os.path.realpath(file_path(folder / name, "connection"))
    except InvalidArgument:
        pass
    raise wrong(place, "no file can have this name")
