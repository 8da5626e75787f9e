"""What the workers of a service count together: requests for its metrics, and those of a token for its limit.

It is a small SQLite file beside the tokens, which nothing is lost with: a file that cannot be read is made anew.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from ..private_files import private_opener

_TABLES = """
CREATE TABLE IF NOT EXISTS counted (name TEXT, labels TEXT, number INTEGER, PRIMARY KEY (name, labels));
CREATE TABLE IF NOT EXISTS asked (key TEXT, at REAL);
CREATE INDEX IF NOT EXISTS asked_by ON asked (key, at);
"""
_COUNT = """
INSERT INTO counted VALUES (?, ?, ?) ON CONFLICT (name, labels) DO UPDATE SET number = number + excluded.number
"""
_PATIENCE = 5.0


class RequestCounts:
    """Counters and times that several processes share.

    Args:
        path: the file; None for this process alone.
    """

    __slots__ = ("_connection", "_lock", "_path")

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._lock = path, Lock()
        self._connection: sqlite3.Connection | None = None

    def begin(self) -> None:
        """Count anew from zero."""
        with self._writing() as connection:
            connection.execute("DELETE FROM counted")
            connection.execute("DELETE FROM asked")

    def add(self, name: str, labels: str = "", number: int = 1) -> None:
        """Add to a counter."""
        with self._writing() as connection:
            connection.execute(_COUNT, (name, labels, number))

    def read(self, name: str) -> Mapping[str, int]:
        """Return the counters of a name by their labels."""
        with self._writing() as connection:
            found = connection.execute(
                "SELECT labels, number FROM counted WHERE name = ? ORDER BY labels", (name,)
            )
            return dict(found.fetchall())

    def admits(self, key: str, most: int, seconds: float, now: float) -> bool:
        """Count what somebody asks at a time, unless it was asked `most` times in so many seconds before."""
        with self._writing() as connection:
            # After the machine was started again its clock begins anew: times to come are of before.
            connection.execute("DELETE FROM asked WHERE at <= ? OR at > ?", (now - seconds, now))
            of_key = "SELECT count(*) FROM asked WHERE key = ?"
            if connection.execute(of_key, (key,)).fetchone()[0] >= most:
                return False
            connection.execute("INSERT INTO asked VALUES (?, ?)", (key, now))
            return True

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Return a connection in an exclusive transaction."""
        with self._lock:
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        """Return the connection, to a file that is readable for its owner alone."""
        if self._connection is None:
            try:
                self._connection = _connected(self._path)
            except sqlite3.DatabaseError:
                if self._path is None:
                    raise
                self._path.unlink(missing_ok=True)
                self._connection = _connected(self._path)
        return self._connection


def _connected(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        with open(path, "ab", opener=private_opener):
            pass
    connection = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA journal_mode = WAL")  # a killed process leaves no half of a page
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(_TABLES)
    return connection


def kept_counts(description: Path) -> RequestCounts:
    """Return the counts of a service: discreet.counts beside discreet.toml."""
    return RequestCounts(description.absolute().with_suffix(".counts"))
