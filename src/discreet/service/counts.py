"""Counts that the workers of a service share: requests for its metrics, and those of a token for its limit.

It is a small SQLite file beside the tokens, which nothing is lost with: a file that cannot be read is made anew.
While there is none that can be used, every worker counts in its memory, and so does a worker that is alone.
"""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TypeVar

from ..file_permissions import private_opener

_TABLES = """
CREATE TABLE IF NOT EXISTS counted (name TEXT, labels TEXT, number INTEGER, PRIMARY KEY (name, labels));
CREATE TABLE IF NOT EXISTS admitted (key TEXT, until REAL);
CREATE INDEX IF NOT EXISTS admitted_by ON admitted (key, until);
DROP TABLE IF EXISTS asked;
"""
_COUNT = """
INSERT INTO counted VALUES (?, ?, ?) ON CONFLICT (name, labels) DO UPDATE SET number = number + excluded.number
"""
_PATIENCE = 1.0

_REST = 10.0
"""Seconds for which a file that failed is left alone."""

_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)

_T = TypeVar("_T")


class RequestCounts:
    """Counters and times that several processes share.

    While the file cannot be used this process counts for itself: a limit then holds for every worker by itself.

    Args:
        path: the file; None for this process alone.
    """

    __slots__ = (
        "_connection", "_is_shared", "_lock", "_memory", "_path", "_rests_until", "_unwritten",
    )  # fmt: skip

    def __init__(self, path: Path | None = None) -> None:
        self._unwritten: list[tuple[str, str, int]] = []
        self._path, self._lock = path, Lock()
        self._connection: sqlite3.Connection | None = None
        self._memory: sqlite3.Connection | None = None
        self._rests_until, self._is_shared = float("-inf"), True

    def begin(self) -> None:
        """Count anew from zero.

        Raises:
            OSError: if the file cannot be made.
            sqlite3.Error: if it cannot be written.
        """

        def empty(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM counted")
            connection.execute("DELETE FROM admitted")

        with self._lock:
            _transact(self._open(), empty)

    def add(self, name: str, labels: str = "", number: int = 1) -> None:
        """Add to a counter."""
        self._do(lambda connection: connection.execute(_COUNT, (name, labels, number)))

    def add_later(self, name: str, labels: str = "") -> bool:
        """Add one to a counter with the next transaction; return whether it is the first that waits for one.

        So a request that is counted and one that is admitted are one transaction. It waits for no lock and no disk.
        """
        self._unwritten.append((name, labels, 1))
        return len(self._unwritten) == 1

    def write(self) -> None:
        """Write the counts that wait."""
        while self._unwritten:  # others may have come during a transaction
            self._do(lambda connection: None)

    def read(self, name: str) -> Mapping[str, int]:
        """Return the counters of a name by their labels."""

        def counters(connection: sqlite3.Connection) -> dict[str, int]:
            rows = connection.execute(
                "SELECT labels, number FROM counted WHERE name = ? ORDER BY labels", (name,)
            )
            return dict(rows.fetchall())

        return self._do(counters)

    def admits(self, key: str, most: int, seconds: float, now: Callable[[], float]) -> bool:
        """Count a request of a caller and return True; False after `most` of them in so many seconds.

        Args:
            key: who asks.
            most: how often in so many seconds.
            seconds: how many.
            now: returns the time; called while nobody else counts, so that times are in the order of the counts.
        """

        def admit(connection: sqlite3.Connection) -> bool:
            at = now()
            # One that ends later is of before the machine was started again, when its clock began anew.
            over = "DELETE FROM admitted WHERE until <= ? OR (key = ? AND until > ?)"
            connection.execute(over, (at, key, at + seconds))
            of_key = "SELECT count(*) FROM admitted WHERE key = ?"
            if connection.execute(of_key, (key,)).fetchone()[0] >= most:
                return False
            connection.execute("INSERT INTO admitted VALUES (?, ?)", (key, at + seconds))
            return True

        return self._do(admit)

    def are_shared(self) -> bool:
        """Return whether the workers count together, as far as is known."""
        self.read("")
        return self._is_shared

    def _do(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Return the result of work in an exclusive transaction: of the file, or of memory while it is unusable."""
        with self._lock:
            number = len(self._unwritten)  # others may come meanwhile
            rows = self._unwritten[:number]

            def write_and_work(connection: sqlite3.Connection) -> _T:
                connection.executemany(_COUNT, rows)
                return work(connection)

            outcome = self._transact(write_and_work if rows else work)
            del self._unwritten[:number]
            return outcome

    def _transact(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Return the result of work in a transaction of the file, or of memory while that is unusable."""
        if monotonic() >= self._rests_until:
            with suppress(sqlite3.Error, OSError):
                outcome = _transact(self._open(), work)
                self._is_shared = True
                return outcome
            self._rest()
        if self._memory is None:
            self._memory = _connect(None)
        return _transact(self._memory, work)

    def _rest(self) -> None:
        """Leave the file alone for a while, and open it anew then."""
        self._rests_until, self._is_shared = monotonic() + _REST, False
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        """Return the connection, to a file that is readable for its owner alone."""
        if self._connection is None:
            try:
                self._connection = _connect(self._path)
            except sqlite3.DatabaseError as error:
                if self._path is None or error.sqlite_errorcode not in _DAMAGED:
                    raise
                self._path.unlink(missing_ok=True)
                self._connection = _connect(self._path)
        return self._connection


def _transact(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], _T]) -> _T:
    """Return the result of work in an exclusive transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        outcome = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return outcome


class _SelfClosingConnection(sqlite3.Connection):
    """A connection that is closed with its holder: since Python 3.13 one that is left open gives a warning."""

    def __del__(self) -> None:
        self.close()


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        with open(path, "ab", opener=private_opener):
            pass
    connection = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
        factory=_SelfClosingConnection,
    )
    # A killed process leaves no half of a page. WAL would need shared memory, at which every process ends whose
    # file is cut short.
    connection.execute("PRAGMA journal_mode = PERSIST")
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(_TABLES)
    return connection


def kept_counts(description: Path) -> RequestCounts:
    """Return the counts of a service: discreet.counts beside discreet.toml."""
    return RequestCounts(description.absolute().with_suffix(".counts"))
