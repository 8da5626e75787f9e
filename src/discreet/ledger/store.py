"""Where a ledger is kept: transactions that are durable when they return, and errors of our own."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar
from weakref import finalize

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool, StaticPool

from ..errors import (
    DiscreetError,
    InvalidArgument,
    LedgerCorrupt,
    LedgerError,
    MissingPackage,
    shown,
)
from .failures import translated
from .renewal import renew
from .schema import MIGRATIONS, version_of

T = TypeVar("T")

PATIENCE = 30.0
"""Seconds to wait for others who write."""

_SETTINGS = (
    "synchronous = EXTRA",
    "fullfsync = ON",
    "cell_size_check = ON",
    "trusted_schema = OFF",
)

_OPENING = 0x6469736372656574
"""The advisory lock of PostgreSQL under which tables are made."""


class Store:
    """A database with a ledger in it.

    Nothing is shared between processes: a file is opened anew for each transaction, a process that was
    forked connects to the server itself, and a ledger in memory refuses to be in two processes at once.
    """

    def __init__(self, where: str | os.PathLike[str] | None) -> None:
        """Open it, and make or renew its tables if need be.

        Raises:
            InvalidArgument: if `where` is no path and no URL that is known.
            LedgerError: if it cannot be opened.
        """
        self.url = read_url(where)
        self.in_memory = self._is_sqlite and self.url.database is None
        self.name = self.url.render_as_string(hide_password=True)
        if self._is_sqlite:
            self.name = self.url.database or "in memory"
        self._process = os.getpid()
        # In memory all threads share one connection; elsewhere each transaction has its own.
        self._alone: Any = RLock() if self.in_memory else nullcontext()
        self._engine = _engine(self.url, self.in_memory)
        finalize(self, _close, self._engine, self._process)
        if self.read(version_of) < len(MIGRATIONS):
            self._transact(self._renew, self._begin_opening)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns from one consistent view."""
        return self._transact(work, self._begin_reading)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns, alone at writing. When this returns, what it wrote is durable."""
        return self._transact(work, self._begin_writing)

    def _transact(self, work: Callable[[Connection], T], begin: Callable[[Connection], None]) -> T:
        """Run one transaction. Foreign errors stay inside: they quote answers nobody has been given."""
        engine = self._here()
        try:
            with self._alone, engine.connect() as connection, connection.begin():
                begin(connection)
                return work(connection)
        except (SQLAlchemyError, sqlite3.Error, UnicodeError) as error:
            failure: DiscreetError = translated(error, self.name)
        raise failure

    def _renew(self, connection: Connection) -> None:
        """Make or renew the tables. A file that has lost its beginning looks empty, and is not."""
        fresh = self._is_sqlite and not self.in_memory and version_of(connection) == 0
        if fresh and Path(self.name).stat().st_size:
            raise LedgerCorrupt(f"the file {self.name} is not empty, and there is no ledger in it")
        renew(connection)

    def _here(self) -> Engine:
        """Return the engine, which has no connection that belongs to another process."""
        if self._process != os.getpid():
            if self.in_memory:
                raise LedgerError(
                    "a ledger in memory cannot be used after a fork: both would spend it"
                )
            self._engine.dispose(close=False)
            self._process = os.getpid()
        return self._engine

    def _begin_reading(self, connection: Connection) -> None:
        if self._is_sqlite:
            connection.exec_driver_sql("BEGIN")
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def _begin_writing(self, connection: Connection) -> None:
        if self._is_sqlite:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            patience = int(PATIENCE * 1000)
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {patience}")
            # A client that is gone without a word must not hold the lock for hours.
            connection.exec_driver_sql(
                f"SET LOCAL idle_in_transaction_session_timeout = {patience}"
            )
            connection.exec_driver_sql("SET LOCAL synchronous_commit = on")

    def _begin_opening(self, connection: Connection) -> None:
        self._begin_writing(connection)
        if not self._is_sqlite:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_OPENING})")

    @property
    def _is_sqlite(self) -> bool:
        return self.url.drivername == "sqlite"


def read_url(where: str | os.PathLike[str] | None) -> URL:
    """Return the URL of a path, of a URL as text, or of memory if nothing is given.

    Raises:
        InvalidArgument: if it is neither, or the URL of a database that is not known here.
    """
    if where is None:
        return URL.create("sqlite")
    if not isinstance(where, str | os.PathLike) or not str(where):
        raise InvalidArgument(
            f"a ledger is a path, a URL, or nothing for memory, got {shown(where)}"
        )
    if "://" not in str(where):
        return URL.create("sqlite", database=str(Path(where).absolute()))
    url = _parsed(str(where))
    kind, _, driver = url.drivername.partition("+")
    if kind in {"postgresql", "postgres"} and driver in {"", "psycopg"}:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername == "sqlite" and not url.query:
        memory = url.database in {None, "", ":memory:"}
        return read_url(None if memory else url.database)
    raise InvalidArgument(
        f"a ledger is kept by sqlite, without options, or by postgresql, not by {url.drivername}"
    )


def _parsed(where: str) -> URL:
    """Return the URL. One that cannot be read is not quoted: it may hold a password."""
    try:
        return make_url(where)
    except (ArgumentError, ValueError):
        pass
    raise InvalidArgument(
        "this URL cannot be read; it has the form postgresql://user@host/database"
    )


def _engine(url: URL, in_memory: bool) -> Engine:
    """Return an engine for this URL that opens nothing yet."""
    if url.drivername != "sqlite":
        return _postgresql(url)
    shared: dict[str, Any] = {"poolclass": StaticPool} if in_memory else {"poolclass": NullPool}
    # With an isolation level of None the driver begins nothing by itself.
    arguments = {"isolation_level": None, "timeout": PATIENCE, "check_same_thread": not in_memory}
    engine = create_engine(url, connect_args=arguments, hide_parameters=True, **shared)
    event.listen(engine, "connect", _settle)
    return engine


def _postgresql(url: URL) -> Engine:
    try:
        return create_engine(url, hide_parameters=True, pool_pre_ping=True)
    except ImportError:
        pass
    raise MissingPackage("PostgreSQL needs psycopg: pip install 'discreet[postgres]'")


def _close(engine: Engine, process: int) -> None:
    """Close what is open, unless it belongs to the process that this one was forked from."""
    if process == os.getpid():
        engine.dispose()


def _settle(connection: sqlite3.Connection, _: Any) -> None:
    """Make commits durable, the removal of the journal and the caches of disks included."""
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
