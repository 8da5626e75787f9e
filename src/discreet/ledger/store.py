"""The database of a ledger: transactions that are durable when they return, and errors of our own."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Concatenate, Generic, NamedTuple, ParamSpec, TypeVar
from weakref import finalize

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool, Pool, StaticPool

from ..base.warning import warn
from ..errors import (
    DiscreetError,
    LedgerBusy,
    LedgerCorrupt,
    LedgerError,
    LedgerUnwritable,
    MissingPackage,
)
from .checkpoints import Checkpoint, CheckpointLog, Checkpoints
from .interrupts import StopRequest, run_uninterrupted
from .ledger_file import KEEPS_OPEN, PAUSE, TURN, FileLock, FilePlace, OpenFile, run_exclusively
from .location import make_file, name_of, read_url
from .schema import check_journal, driver_of, is_newest, migrate, version_of
from .transaction import KnownState, LastSeen, NeedsDatabase, Transaction, Version
from .verification import verify_chain

_P = ParamSpec("_P")
_T = TypeVar("_T")

LOCK_TIMEOUT = 30.0
"""Seconds to wait for other transactions."""

_SETTINGS = (
    "synchronous = EXTRA",
    "fullfsync = ON",
    "cell_size_check = ON",
    "trusted_schema = OFF",
)

_OPENING = 0x6469736372656574
"""PostgreSQL's advisory lock under which tables are created."""


_Meaning = tuple[type[LedgerError], str]

_BUSY: _Meaning = LedgerBusy, "was locked by others for too long. Retry"
_UNWRITABLE: _Meaning = (
    LedgerUnwritable,
    "cannot be reached, read or written: is the disk full, or the file read-only?",
)
_UNREACHABLE: _Meaning = (
    LedgerUnwritable,
    "cannot be reached, read or written: does the server run, with space left, and may you write there?",
)
_CORRUPT: _Meaning = (
    LedgerCorrupt,
    "is not what was written: verify it, and restore a copy with the head you noted",
)
_NO_LEDGER: _Meaning = (
    LedgerCorrupt,
    "cannot be read as one: see that the name is right, or restore a copy with the head you noted",
)
_OTHER: _Meaning = LedgerError, "cannot be used"

_SQLITE: dict[int | None, _Meaning] = {
    None: _CORRUPT,  # raised by Python's driver: text that is no text
    sqlite3.SQLITE_ERROR: _CORRUPT,  # a table or column that is not there
    sqlite3.SQLITE_CORRUPT: _CORRUPT,
    sqlite3.SQLITE_NOTADB: _NO_LEDGER,
    sqlite3.SQLITE_CONSTRAINT: _CORRUPT,
    sqlite3.SQLITE_MISMATCH: _CORRUPT,
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_AUTH: _UNWRITABLE,
    sqlite3.SQLITE_IOERR: _UNWRITABLE,
    sqlite3.SQLITE_FULL: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: _UNWRITABLE,
}
_POSTGRESQL: dict[str, _Meaning] = {
    "55P03": _BUSY, "57014": _BUSY, "40001": _BUSY, "40P01": _BUSY, "25P03": _BUSY,
    "25006": _UNREACHABLE, "42501": _UNREACHABLE, "53": _UNREACHABLE, "08": _UNREACHABLE, "57P": _UNREACHABLE,
    "58": _UNREACHABLE, "28": _UNREACHABLE, "3D": _UNREACHABLE,
    "XX": _CORRUPT, "42": _CORRUPT, "23": _CORRUPT, "22": _CORRUPT, "P0001": _CORRUPT,
}  # fmt: skip
"""Meanings by prefix of the SQLSTATE. The longest matching prefix decides."""


_COMMITS = "PRAGMA data_version"

_MOMENT = 1.0
"""Seconds for which SQLite itself waits for other programs, in which it hears of no interrupt."""

_Again = Callable[[], None]
"""Called after every failed attempt. It raises when that was the last one."""


class FollowUp(Generic[_T]):
    """Work in a transaction that relies on the reads of an earlier one, unless the database has changed since.

    Other transactions on a file read it again, as if it had just been opened.

    Args:
        work: a function of the transaction.
    """

    __slots__ = ("_work",)

    def __init__(self, work: Callable[[Transaction], _T]) -> None:
        self._work = work

    def __call__(self, transaction: Transaction) -> _T:
        """Do the work."""
        return self._work(transaction)


class _Course(NamedTuple):
    """How a transaction is run.

    Attributes:
        writing: whether it may write.
        anew: whether it reads the file as if that had just been opened.
        patience: the seconds for which it waits for others.
        is_short: whether an interrupt can wait for it: it reads or writes some rows.
    """

    writing: bool
    anew: bool
    patience: float
    is_short: bool = True


class Store:
    """The database that holds a ledger.

    Processes share no connection: a file that is open between transactions is closed before a fork, a forked
    process connects to the server itself, and a ledger in memory cannot be used after a fork. Transactions run
    in threads of their own, so that no interrupt is raised in the middle of one.
    """

    def __init__(
        self, where: str | os.PathLike[str] | None, checkpoints: Checkpoints | None = None
    ) -> None:
        """Open the database, and create or renew its tables if need be.

        Raises:
            InvalidArgument: if `where` is no path or supported URL, or `checkpoints` no path or function.
            LedgerError: if it cannot be opened, or does not match the checkpoints.
        """
        self.url = read_url(where)
        self._is_sqlite = self.url.drivername == "sqlite"
        self.in_memory = self._is_sqlite and self.url.database is None
        self.name = name_of(self.url)
        self.checkpoints = CheckpointLog(checkpoints)
        self._patience = LOCK_TIMEOUT
        self._process = os.getpid()
        self._file: OpenFile | None = None
        self._lock: FileLock | None = None
        self._connection: Connection | None = None
        self._driver: sqlite3.Connection | None = None  # below that one
        self._memory = Lock()  # in memory all threads share one connection
        self._state = KnownState()  # when the last transaction ended
        self._has_no_log = False  # as the transaction that runs has found
        self._engine = self._connecting()
        finalize(self, _close, self._engine, self._process)
        self._last_end = LastSeen(self.name)
        self._open()

    def _open(self) -> None:
        if self._is_sqlite and not self.in_memory:
            make_file(Path(self.name))
        if not is_newest(self._transact(version_of, self._course(writing=False))):
            self._transact(self._renew, self._course(writing=True))
        if self.checkpoints.last is not None:
            self._last_end.remember(self.checkpoints.last)
        self.end()  # the chain must continue from the checkpoints

    def read(
        self,
        work: Callable[Concatenate[Transaction, _P], _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        """Return work(transaction, *args, **kwargs) in a transaction that reads one consistent state.

        Raises:
            LedgerCorrupt: if the chain does not continue from where this process last saw it.
        """
        bound = _bind(work, *args, **kwargs)
        if self.in_memory and self._process == os.getpid():
            state = self._state
            if state.version is not None and state.version.is_current:
                with suppress(NeedsDatabase):  # then it is read
                    return bound(Transaction(None, state=state.copy()))
        return self._run_watched(bound, self._course(writing=False))

    def write(
        self,
        work: Callable[Concatenate[Transaction, _P], _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        """Return work(transaction, *args, **kwargs) in an exclusive transaction, durable when this returns.

        Raises:
            LedgerCorrupt: if the chain does not continue from where this process last saw it.
            LedgerUnwritable: if a checkpoint cannot be written, before the transaction or after its commit.
        """
        outcome = self._commit(_bind(work, *args, **kwargs), anew=not isinstance(work, FollowUp))
        self.cover()
        return outcome

    def change(
        self, work: Callable[Concatenate[Transaction, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Return work(transaction, *args, **kwargs) as `write` does. No error is raised after a commit.

        A checkpoint that cannot be written after the commit is a warning, and is written before the next commit.

        Raises:
            LedgerCorrupt: if the chain does not continue from where this process last saw it.
            LedgerUnwritable: if a checkpoint cannot be written before the transaction.
        """
        outcome = self._commit(_bind(work, *args, **kwargs), anew=True)
        try:
            self.cover()
        except LedgerUnwritable:
            warn(
                "this has taken effect. Its checkpoint cannot be written, and is written first of "
                "all next time"
            )
        return outcome

    def _commit(self, work: Callable[[Transaction], _T], *, anew: bool) -> _T:
        """Return work(transaction) in an exclusive transaction, once the end of the chain is recorded."""
        self.cover()
        return self._run_watched(work, self._course(writing=True, anew=anew))

    def read_copy(
        self,
        work: Callable[Concatenate[Connection, _P], _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        """Return work(connection, *args, **kwargs) on one consistent state, for however long. Writers go on.

        While a transaction reads an SQLite file, no other can commit to it. So its pages are copied as they are,
        which takes milliseconds for tens of thousands of events, to a temporary database. PostgreSQL keeps
        snapshots by itself.
        """
        copy = self._run_watched(_copy, self._course(writing=False)._replace(is_short=False))
        if copy is None:
            return self.read(lambda transaction: work(transaction.connection, *args, **kwargs))
        try:
            with copy.connect() as connection:
                return work(connection, *args, **kwargs)
        except (SQLAlchemyError, sqlite3.Error, UnicodeError) as error:
            failure = _ledger_error(error, self.name)
        finally:
            copy.dispose()
        raise failure

    def read_settled(self, work: Callable[[Transaction], _T]) -> _T:
        """Return work(transaction) in a transaction that sees whether one that failed was committed.

        A file is read by one transaction at a time. A server may still commit for a client that it has lost, so
        there the transaction waits for those that write.
        """
        return self._run_watched(work, self._course(writing=not self._is_sqlite))

    def look(self) -> None:
        """Raise unless the ledger can be read now. Whoever holds it shows that it is there, and is not waited for.

        Raises:
            LedgerError: if it cannot be read, or is not the one that was used here before.
        """

        def looking(connection: Connection) -> None:
            if (last := self._last_end.last) is not None:
                Transaction(connection).check_continues(last, self.name)

        with suppress(LedgerBusy):
            self._transact(looking, self._course(writing=False)._replace(patience=0))

    def cover(self, number: int | None = None) -> None:
        """Record the end of the chain, as this process last saw it, in a checkpoint.

        Args:
            number: that of an event. If a checkpoint is known to cover it, none is written.

        Raises:
            LedgerUnwritable: if it cannot be written.
        """
        if self.checkpoints.where is None:
            return
        last = self.checkpoints.last
        if number is None or last is None or last.number < number:
            self.checkpoints.cover(self._last_end.last)

    def end(self) -> Checkpoint:
        """Return the current end of the chain."""

        def end(transaction: Transaction) -> Checkpoint:
            return transaction.end

        return self.read(end)

    def _course(self, *, writing: bool, anew: bool = True) -> _Course:
        """Return the usual way to run a transaction."""
        return _Course(writing, anew and not self.in_memory, self._patience)

    def _run_watched(self, work: Callable[[Transaction], _T], course: _Course) -> _T:
        """Run a transaction after checking that the chain continues, and remember its new end."""

        def watching(again: _Again, connection: Connection) -> _T:
            state = self._state_at(again, anew=course.anew)
            transaction = Transaction(
                connection, writing=course.writing, state=state, driver=self._driver
            )
            if last is not None:
                transaction.check_continues(last, self.name)
            outcome = work(transaction)
            transaction.store_end()
            state.settle()
            self._has_no_log = state.is_protected
            ends.append(transaction)
            return outcome

        def remembering(stop: StopRequest) -> _T:
            again = self._waiting(course, stop)
            outcome = self._run(partial(watching, again), course, again)
            transaction = ends.pop()
            self._last_end.remember(transaction.end)
            self._state = transaction.state
            return outcome

        # Read before the transaction begins: it may not see later commits of others.
        last, ends = self._last_end.last, list[Transaction]()
        return run_uninterrupted(remembering, is_short=self._is_short(course))

    def _state_at(self, again: _Again, *, anew: bool) -> KnownState:
        """Return the rows that are known in a transaction that has begun."""
        driver = self._driver
        if driver is None:
            return KnownState()
        commits = 0
        if not self.in_memory:
            commits = _patiently(again, driver.execute, _COMMITS).fetchone()[0]
        version = Version(driver, commits, driver.total_changes)
        if self._state.version != version or (self._file is not None and self._file.is_changed):
            return KnownState(version)
        # A copy: the transaction may fail, and in memory other threads read this one meanwhile.
        return self._state.for_next_release() if anew else self._state.copy()

    def _transact(
        self,
        work: Callable[[Connection], _T],
        course: _Course,
    ) -> _T:
        """Run one transaction without interrupts."""

        def run(stop: StopRequest) -> _T:
            return self._run(work, course, self._waiting(course, stop))

        return run_uninterrupted(run, is_short=self._is_short(course))

    def _is_short(self, course: _Course) -> bool:
        """Return whether an interrupt can wait for a transaction: not for a server, or while a file is opened."""
        return course.is_short and self._driver is not None

    def _waiting(self, course: _Course, stop: StopRequest) -> _Again:
        """Return the function to call after every attempt in vain to get a lock, from now on."""
        return partial(self._wait_again, stop, time.monotonic() + course.patience)

    def _run(self, work: Callable[[Connection], _T], course: _Course, again: _Again) -> _T:
        """Run one transaction. Database errors are replaced, as they may quote answers not released."""
        engine = self._here()
        try:
            if self._lock is not None:
                on_file = partial(self._transaction_on_file, engine, course, work, again)
                return run_exclusively(self._lock, on_file, writing=course.writing, again=again)
            if not self.in_memory:
                return self._transaction(engine, course, work, again)
            while not self._memory.acquire(timeout=TURN):
                again()
            try:
                return self._transaction(engine, course, work, again)
            finally:
                self._memory.release()
        except DiscreetError:
            raise
        except (SQLAlchemyError, sqlite3.Error, UnicodeError, OSError) as error:
            failure: DiscreetError = _ledger_error(error, self.name)
        raise failure

    def _transaction(
        self,
        engine: Engine,
        course: _Course,
        work: Callable[[Connection], _T],
        again: _Again,
    ) -> _T:
        """Begin a transaction, do the work in it, and end it.

        On an SQLite file that stays open, by its driver: the layers above connect, begin and commit in 100 µs, and
        the driver in 5.
        """
        begin = self._begin_writing if course.writing else self._begin_reading
        if not self._stays_connected:
            with engine.connect() as connection, connection.begin():
                begin(connection)
                return work(connection)
        connection, driver = self._connected(engine)
        try:
            _patiently(again, begin, connection)
            outcome = work(connection)
            _patiently(again, driver.commit)
        except BaseException:
            driver.rollback()
            raise
        finally:
            if connection.in_transaction():  # as the layers above understand it, if they were used
                connection.rollback()
        return outcome

    def _connected(self, engine: Engine) -> tuple[Connection, sqlite3.Connection]:
        """Return the connection that serves all transactions, and the driver below it."""
        if self._connection is None or self._driver is None:
            self._connection = engine.connect()
            self._driver = driver_of(self._connection)
            moment = int(1000 * min(self._patience, _MOMENT))
            self._driver.execute(f"PRAGMA busy_timeout = {moment}")
        return self._connection, self._driver

    def _disconnect(self, engine: Engine) -> None:
        """Close the connection. The next transaction opens it again."""
        connection, self._connection, self._driver = self._connection, None, None
        self._state = KnownState()
        if connection is not None:
            connection.close()
        engine.dispose()

    def _wait_again(self, stop: StopRequest, until: float) -> None:
        """Raise if others hold the file for too long, or the caller waits no more."""
        if stop.is_set or time.monotonic() > until:
            raise _busy_error(self.name)

    def _transaction_on_file(
        self,
        engine: Engine,
        course: _Course,
        work: Callable[[Connection], _T],
        again: _Again,
        place: FilePlace,
    ) -> _T:
        """Run a transaction on a file: opened again if it cannot be used again, closed if it cannot stay open."""
        file, stays_open, self._has_no_log = self._file, False, False
        try:
            if file is not None and not file.resume(place, anew=course.anew):
                self._disconnect(engine)
            outcome = self._transaction(engine, course, work, again)
            stays_open = file is None or file.rests(has_no_log=self._has_no_log)
        finally:
            if file is not None and not stays_open:
                self._disconnect(engine)
                file.close()
        return outcome

    def _renew(self, connection: Connection) -> None:
        """Create or renew the tables, unless the file lost its beginning and only looks empty.

        A ledger is verified from its first event on before the renewal is committed.
        """
        if not self._is_sqlite:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_OPENING})")
        is_older = version_of(connection) > 0
        is_file = self._is_sqlite and not self.in_memory
        if is_file and not is_older and Path(self.name).stat().st_size:
            raise LedgerCorrupt(f"the file {self.name} is not empty, and there is no ledger in it")
        migrate(connection)
        if is_older:
            verify_chain(connection, None)

    def _here(self) -> Engine:
        """Return an engine without connections inherited from another process."""
        if self._process != os.getpid():
            if self.in_memory:
                raise LedgerError(
                    "a ledger in memory cannot be used after a fork: both would spend it"
                )
            # Kept, as nobody here may close what the parent uses.
            self._of_parent = self._engine, self._connection
            self._engine = self._connecting()
            self._connection = self._driver = None
            self._state = KnownState()
            self._process = os.getpid()
        return self._engine

    def _connecting(self) -> Engine:
        """Return a new engine, not connected yet."""
        if not self._is_sqlite:
            return _postgresql(self.url)
        if self.in_memory:
            return _sqlite(_open_memory, StaticPool)
        self._lock = FileLock(self.name)
        file = OpenFile(self.name, self._patience)
        if not KEEPS_OPEN:
            return _sqlite(file.open, NullPool)
        self._file = file
        return _sqlite(file.open, StaticPool)

    def _begin_reading(self, connection: Connection) -> None:
        if self._is_sqlite:
            (self._driver or driver_of(connection)).execute("BEGIN")
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            self._limit_waiting(connection)

    def _begin_writing(self, connection: Connection) -> None:
        if self._is_sqlite:
            (self._driver or driver_of(connection)).execute("BEGIN IMMEDIATE")
        else:
            patience = self._limit_waiting(connection)
            # A client that is gone without a word must not hold the lock for hours.
            connection.exec_driver_sql(
                f"SET LOCAL idle_in_transaction_session_timeout = {patience}"
            )
            connection.exec_driver_sql("SET LOCAL synchronous_commit = on")

    def _limit_waiting(self, connection: Connection) -> int:
        """Let a server's transaction wait for locks no longer than others do, and return that in milliseconds."""
        patience = int(self._patience * 1000)
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {patience}")
        return patience

    @property
    def _stays_connected(self) -> bool:
        """Whether one connection of SQLite serves all transactions."""
        return self.in_memory or self._file is not None


def _patiently(again: _Again, step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Do a step of a transaction, which waits a moment for other programs, until they let the file go."""
    while True:
        try:
            return step(*args, **kwargs)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        again()
        time.sleep(PAUSE)


def _bind(
    work: Callable[Concatenate[Transaction, _P], _T], *args: _P.args, **kwargs: _P.kwargs
) -> Callable[[Transaction], _T]:
    """Return `work` with all arguments but the transaction."""
    if not args and not kwargs:
        return work

    def bound(transaction: Transaction) -> _T:
        return work(transaction, *args, **kwargs)

    return bound


def _sqlite(creator: Callable[[], sqlite3.Connection], pool: type[Pool]) -> Engine:
    engine = create_engine(
        "sqlite://",
        creator=creator,
        poolclass=pool,
        hide_parameters=True,
        pool_reset_on_return=None,
    )
    event.listen(engine, "connect", _settle)
    return engine


# With an isolation level of None the driver begins nothing by itself.
def _open_memory() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


def _postgresql(url: URL) -> Engine:
    try:
        return create_engine(url, hide_parameters=True, pool_pre_ping=True)
    except ImportError:
        pass
    raise MissingPackage("PostgreSQL needs psycopg: pip install 'discreet[postgres]'")


def _close(engine: Engine, process: int) -> None:
    """Close connections, unless they belong to the process this one was forked from."""
    if process == os.getpid():
        engine.dispose()


def _settle(connection: sqlite3.Connection, _: object) -> None:
    """Make commits durable, beyond the end of the journal and the caches of disks.

    The journal's file stays, with a header of zeros after a commit: to remove it and to sync the folder takes as
    long as all else. A file in write-ahead mode is left in it, and refused later.
    """
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        if connection.execute("PRAGMA journal_mode").fetchall() == [("delete",)]:
            connection.execute("PRAGMA journal_mode = PERSIST")
    except BaseException:
        connection.close()
        raise


def _copy(transaction: Transaction) -> Engine | None:
    """Return an engine on a copy of all pages, damaged ones too, or None for PostgreSQL."""
    connection = transaction.connection
    if connection.dialect.name != "sqlite":
        return None
    check_journal(connection)
    source = driver_of(connection)
    # Without a name it is a file that SQLite keeps in memory while it is small, and that nobody else can open.
    copy = sqlite3.connect("", check_same_thread=False, isolation_level=None)
    try:
        source.backup(copy)
        copy.execute("PRAGMA cell_size_check = ON")
        copy.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        copy.close()
        raise
    return create_engine(
        "sqlite://", creator=lambda: copy, poolclass=StaticPool, hide_parameters=True
    )


def _busy_error(name: str) -> LedgerError:
    """Return the error for a ledger that other writers hold for too long."""
    kind, meaning = _BUSY
    return kind(f"the ledger {name} {meaning}")


def _ledger_error(error: Exception, name: str) -> LedgerError:
    """Return the `LedgerError` for an error of SQLAlchemy, sqlite3 or psycopg."""
    cause: object = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, OSError):  # the file beside the ledger
        kind, meaning = _UNWRITABLE
    elif isinstance(cause, UnicodeError):  # what a damaged file makes of SQLite's own messages
        kind, meaning = _CORRUPT
    elif isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", None)
        kind, meaning = _SQLITE.get(code if code is None else code & 0xFF, _OTHER)
    else:
        kind, meaning = _by_state(getattr(cause, "sqlstate", None), isinstance(error, DBAPIError))
    return kind(f"the ledger {name} {meaning} ({type(cause).__name__})")


def _by_state(state: str | None, is_database: bool) -> _Meaning:
    """Return the meaning of an SQLSTATE. A lost connection has none."""
    if state is None:
        return _UNREACHABLE if is_database else _OTHER
    fitting = [start for start in _POSTGRESQL if state.startswith(start)]
    return _POSTGRESQL[max(fitting, key=len)] if fitting else _OTHER
