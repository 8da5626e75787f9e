"""Where a ledger is kept: transactions that are durable when they return, and errors of our own."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from weakref import finalize

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool, Pool, StaticPool

from ..errors import DiscreetError, LedgerCorrupt, LedgerError, MissingPackage
from .checkpoints import Checkpoint, Checkpoints, Sink
from .failures import busy, translated
from .locks import alone
from .places import make_file, name_of, read_url
from .renewal import renew
from .schema import MIGRATIONS, version_of
from .seen import Seen, compared
from .shielding import Stop, shielded

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
    Each transaction runs to its end in a thread of its own, so that no interrupt is raised in the middle.
    """

    def __init__(
        self, where: str | os.PathLike[str] | None, checkpoints: Checkpoints | None = None
    ) -> None:
        """Open it, and make or renew its tables if need be.

        Raises:
            InvalidArgument: if `where` is no path and no URL that is known, or `checkpoints` no place.
            LedgerError: if it cannot be opened, or is not the ledger of these checkpoints.
        """
        self.url = read_url(where)
        self.in_memory = self._is_sqlite and self.url.database is None
        self.name = name_of(self.url)
        self.sink = Sink(checkpoints)
        self._patience = PATIENCE
        self._process = os.getpid()
        self._memory = Lock()  # in memory all threads share one connection
        self._engine = self._connecting()
        finalize(self, _close, self._engine, self._process)
        self._seen = Seen(self.name)
        self._open()

    def _open(self) -> None:
        if self._is_sqlite and not self.in_memory:
            make_file(Path(self.name))
        if self._transact(version_of, self._begin_reading) < len(MIGRATIONS):
            self._transact(self._renew, self._begin_opening)
        if self.sink.last is not None:
            self._seen.remember(self.sink.last)
        self.read(lambda _: None)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns from one consistent view.

        Raises:
            LedgerCorrupt: if the ledger does not go on from where this process has last seen it.
        """
        return self._watched(work, self._begin_reading)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns, alone at writing. When this returns, what it wrote is durable.

        Raises:
            LedgerCorrupt: if the ledger does not go on from where this process has last seen it.
            LedgerUnwritable: if a checkpoint cannot be written: before anything was done, or after it was.
        """
        self.cover()
        done = self._watched(work, self._begin_writing)
        self.cover()
        return done

    def cover(self) -> None:
        """Return when what this process has seen of the ledger is in a checkpoint.

        Raises:
            LedgerUnwritable: if it cannot be written.
        """
        self.sink.cover(self._seen.last)

    def end(self) -> Checkpoint:
        """Return where the ledger ends now."""
        return self.read(lambda connection: compared(connection, None, self.name))

    def _watched(self, work: Callable[[Connection], T], begin: Callable[[Connection], None]) -> T:
        """Run a transaction on the ledger that this process has seen, and remember how far it goes."""

        def watching(connection: Connection) -> T:
            end = compared(connection, last, self.name)
            done = work(connection)
            if begin == self._begin_writing:
                end = compared(connection, None, self.name)
            ends.append(end)
            return done

        def remembering() -> None:
            self._seen.remember(ends.pop())

        # Taken before the view is: what others commit afterwards may not be in it.
        last, ends = self._seen.last, list[Checkpoint]()
        return self._transact(watching, begin, remembering)

    def _transact(
        self,
        work: Callable[[Connection], T],
        begin: Callable[[Connection], None],
        committed: Callable[[], None] = lambda: None,
    ) -> T:
        """Run one transaction, and then `committed`, where no interrupt reaches them."""

        def transaction(stop: Stop) -> T:
            done = self._run(work, begin, stop)
            committed()
            return done

        return shielded(transaction)

    def _run(
        self, work: Callable[[Connection], T], begin: Callable[[Connection], None], stop: Stop
    ) -> T:
        """Run one transaction. Foreign errors stay inside: they quote answers nobody has been given."""
        engine = self._here()
        try:
            with self._alone(begin, stop), engine.connect() as connection, connection.begin():
                begin(connection)
                return work(connection)
        except DiscreetError:
            raise
        except (SQLAlchemyError, sqlite3.Error, UnicodeError, OSError) as error:
            failure: DiscreetError = translated(error, self.name)
        raise failure

    def _alone(self, begin: Any, stop: Stop) -> AbstractContextManager[None]:
        """Keep others out of the memory or the file; a server does that itself."""
        if self.in_memory:
            return self._alone_in_memory()
        if not self._is_sqlite:
            return nullcontext()
        until = time.monotonic() + self._patience

        def again() -> None:
            if stop.asked or time.monotonic() > until:
                raise busy(self.name)

        writing = begin != self._begin_reading
        return alone(Path(os.path.realpath(self.name)), writing=writing, again=again)

    @contextmanager
    def _alone_in_memory(self) -> Iterator[None]:
        if not self._memory.acquire(timeout=self._patience):
            raise busy(self.name)
        try:
            yield
        finally:
            self._memory.release()

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
            self._inherited = self._engine  # kept, as nobody here may close what the parent uses
            self._engine = self._connecting()
            self._process = os.getpid()
        return self._engine

    def _connecting(self) -> Engine:
        """Return an engine that opens nothing yet."""
        if not self._is_sqlite:
            return _postgresql(self.url)
        if self.in_memory:
            return _sqlite(_open_memory, StaticPool)
        return _sqlite(partial(_open_file, self.name, self._patience), NullPool)

    def _begin_reading(self, connection: Connection) -> None:
        if self._is_sqlite:
            connection.exec_driver_sql("BEGIN")
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def _begin_writing(self, connection: Connection) -> None:
        if self._is_sqlite:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            patience = int(self._patience * 1000)
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


def _sqlite(creator: Callable[[], sqlite3.Connection], pool: type[Pool]) -> Engine:
    engine = create_engine("sqlite://", creator=creator, poolclass=pool, hide_parameters=True)
    event.listen(engine, "connect", _settle)
    return engine


# With an isolation level of None the driver begins nothing by itself.
def _open_memory() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


def _open_file(path: str, patience: float) -> sqlite3.Connection:
    """Open a file that is there: one that was deleted does not come back empty."""
    url = f"{Path(os.path.realpath(path)).as_uri()}?mode=rw"
    return sqlite3.connect(url, uri=True, isolation_level=None, timeout=patience)


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
