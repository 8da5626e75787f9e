"""A ledger's file, open between transactions: to open it anew took longer than all else that a release does.

A connection in no transaction is kept, which holds no lock. It is used again while the path leads to the
very file that it opened, and forgets all that it has read before. Proof: docs/how-to/ledger.md, "One at a time".
"""

import os
import sqlite3
from pathlib import Path

from .locks import FORK_LOCK

KEEPS_OPEN = hasattr(os, "register_at_fork")
"""Elsewhere an open file could not be renamed or removed, so it is closed after each transaction."""

_Identity = tuple[int, int]


class OpenFile:
    """The connection to one file, by one store. Use it within `exclusive` only.

    Args:
        path: where the ledger is.
        patience: seconds to wait for other programs.
    """

    def __init__(self, path: str, patience: float) -> None:
        self._path, self._patience = path, patience
        self._connection: sqlite3.Connection | None = None
        self._identity: _Identity | None = None
        FORK_LOCK.closes_before(self)

    def open(self) -> sqlite3.Connection:
        """Open an existing file: a deleted ledger must not come back empty."""
        path = os.path.realpath(self._path)
        # Asked first: should the path lead elsewhere by now, the next transaction opens what it leads to then.
        self._identity = _identity(path)
        # With an isolation level of None the driver begins nothing by itself. Every transaction has its own thread.
        self._connection = sqlite3.connect(
            f"{Path(path).as_uri()}?mode=rw", uri=True, isolation_level=None,
            timeout=self._patience, check_same_thread=False,
        )  # fmt: skip
        return self._connection

    def resume(self) -> bool:
        """Return whether the open file can be used: it is where the path leads, and was left in no transaction."""
        if self._connection is None or self._identity is None:
            return False
        if self._connection.in_transaction or _identity(self._path) != self._identity:
            return False
        # Pages are read again, as from a file just opened.
        self._connection.execute("PRAGMA shrink_memory")
        return True

    def rests(self) -> bool:
        """Return whether the connection holds no lock after a transaction: with a write-ahead log it does."""
        connection = self._connection
        if connection is None or connection.in_transaction:
            return False
        [(mode,)] = connection.execute("PRAGMA journal_mode").fetchall()
        return bool(mode != "wal")

    def close(self) -> None:
        """Close it; the next transaction opens it again."""
        connection, self._connection, self._identity = self._connection, None, None
        if connection is not None:
            connection.close()


def _identity(path: str) -> _Identity | None:
    """Return the device and inode of a file, which identify it while it is open; None if it does not exist."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
