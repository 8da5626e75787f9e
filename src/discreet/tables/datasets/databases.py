"""The database of a described query: a public URL, opened when a question is asked and not before."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.arguments import file_path
from ...errors import InvalidArgument, UnreadableFile
from ..engines.reach import (
    DuckCatalogue,
    PostgreSQLCatalogue,
    ReachCheck,
    SQLiteCatalogue,
    verbatim,
)
from ..engines.server_session import ServerRows, driver_rows
from ..engines.sql_queries import columns_of_rows, server_rows
from .declarations import KeyPath, wrong

if TYPE_CHECKING:
    from ..engines.reach import Catalogue

PASSWORD = "a description is public: leave the password out, and set PGPASSWORD or ~/.pgpass"
_WATCH_CLIENT = (
    "SELECT pg_catalog.set_config(name, '1000', true) FROM pg_catalog.pg_settings "
    "WHERE name OPERATOR(pg_catalog.=) 'client_connection_check_interval'"
)
"""Lets PostgreSQL look once a second whether whoever asks is still there: a reader that outlasts its place is
killed, and its query must not go on. Versions below 14 have no such setting, and end it when they send rows."""

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
        from sqlalchemy import URL, NullPool, create_engine

        _check_file(self.file)
        # The file that was checked, without options of the URL.
        url = self.public if self.file is None else URL.create("sqlite", database=self.file)
        # A pool on the way to a server would give statements with names to others.
        options: dict[str, Any] = {} if self.file is not None else {"prepare_threshold": None}
        # Closed with its block: no pool keeps it for a question that comes later.
        return create_engine(
            url, hide_parameters=True, poolclass=NullPool, connect_args=options
        ).connect()

    def fetch(
        self, query: str, table: str | None, check: ReachCheck | None
    ) -> ServerRows | dict[str, list[object]]:
        """Return the rows of a query on a server that counts them, or their columns, once the catalogue was asked.

        Raises:
            InvalidArgument: if the source is not as on record.
        """
        rows = None if self.file is not None else self._server_rows(query, table, check)
        if rows is not None:
            return rows
        with self._snapshot() as (connection, catalogue):
            if check is None:
                catalogue.lock(query)  # which is one statement
            else:
                query = check.ask(catalogue, query, table)
            rows = connection.execute(verbatim(query))
            columns = columns_of_rows([*rows.keys()], driver_rows(rows))
            if check is not None:
                check.confirm(catalogue)
            return columns

    def _server_rows(
        self, query: str, table: str | None, check: ReachCheck | None
    ) -> ServerRows | None:
        """Return the rows of a query; None if the server does not count them, whatever they hold.

        The transaction that asked the catalogue stays open as long: it keeps tables and views as they were then.
        """
        stack, confirm = ExitStack(), None
        try:
            if check is not None:
                _, catalogue = stack.enter_context(self._snapshot())
                query = check.ask(catalogue, query, table)
            connection = stack.enter_context(self.connect())
            if check is not None:
                confirm = partial(check.confirm, PostgreSQLCatalogue(connection))
            return server_rows(connection, query, stack.close, confirm)
        except BaseException:
            stack.close()
            raise

    def uncounted(self, query: str) -> list[str] | None:
        """Return the columns that come to this process, by their types; None if all do. No row is read."""
        rows = None if self.file is not None else self._server_rows(query, None, None)
        return None if rows is None else [one.name for one in rows.description if one.type is None]

    def ask(self, query: str, table: str | None, check: ReachCheck) -> None:
        """Ask the catalogue for the reach of a source; no row is read."""
        with self._snapshot() as (_, catalogue):
            check.ask(catalogue, query, table)

    @contextmanager
    def _snapshot(self) -> "Iterator[tuple[Any, Catalogue]]":
        """Yield a connection and its catalogue, in a transaction that only reads.

        A server cancels its queries soon after this process has ended.
        """
        with self.connect() as connection:
            if self.file is None:
                # What others commit is seen, so that a table is as it was when its lock was taken.
                connection.exec_driver_sql(
                    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY"
                )
                connection.exec_driver_sql(_WATCH_CLIENT)
                yield connection, PostgreSQLCatalogue(connection)
            else:
                # Python's module begins no transaction for what only reads.
                connection.exec_driver_sql("BEGIN")
                driver = connection.connection.driver_connection
                yield connection, SQLiteCatalogue(driver, _file_number(self.file))
            connection.rollback()


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
        return self._open().sql(query)

    def fetch(self, query: str, table: str | None, check: ReachCheck | None) -> Any:
        """Return the relation of a query, once the catalogue was asked: the file has no writer while it is open.

        Raises:
            InvalidArgument: if the source is not as on record; no row was read.
        """
        connection = self._open()
        if check is not None:
            query = check.ask(self._catalogue(connection), query, table)
        return connection.sql(query)

    def ask(self, query: str, table: str | None, check: ReachCheck) -> None:
        """Ask the catalogue for the reach of a source; no row is read."""
        connection = self._open()
        try:
            check.ask(self._catalogue(connection), query, table)
        finally:
            connection.close()

    def _open(self) -> Any:
        from ..engines.database import connect_file

        _check_file(self.file)
        return connect_file(self.file)

    def _catalogue(self, connection: Any) -> DuckCatalogue:
        return DuckCatalogue(connection, _file_number(self.file))


def _file_number(file: str) -> str:
    """Return the device and the inode of a file, as a ledger keeps them."""
    status = os.stat(file)
    return f"{status.st_dev}:{status.st_ino}"


def _check_file(file: str | None) -> None:
    """Raise unless the file of a database is a regular file: others would be made, or waited for."""
    if file is not None and not Path(file).is_file():
        raise UnreadableFile(f"{file} is not a file of a database")


def holds_password(url: Any) -> bool:
    """Return whether a URL, as SQLAlchemy reads it, holds a password."""
    return url.password is not None or bool({"password", "sslpassword"} & set(url.query))


def read_database(url: str, folder: Path, place: KeyPath) -> Database | DuckFile:
    """Return the database of a URL; the file of a database is found from a folder.

    Raises:
        InvalidDescription: if it is of another kind, or holds a password.
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        address = None
    kind = "" if address is None else address.get_backend_name()
    if address is None or kind not in ("duckdb", "sqlite", "postgresql"):
        raise wrong(
            place,
            f"it must be {_FORMS}. For other databases make a Dataset of "
            "discreet.scan_query(query, connection) in Python",
        )
    if holds_password(address):
        raise wrong(place, PASSWORD)
    if kind == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
        return Database(address.render_as_string(hide_password=False))
    file = _file_of(address.database, folder, place)
    public = address.set(database=file).render_as_string(hide_password=False)
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
