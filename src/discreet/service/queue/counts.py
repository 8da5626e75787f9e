"""Counts of requests and refusals, for the metrics of a service. Several workers share them.

They are in a small SQLite file beside the tokens, which nothing is lost with. A worker that is alone counts in its
memory, and so does each one while the file cannot be used.
"""

import sqlite3
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock

from ...base.file_permissions import private_opener

_TABLE = """
CREATE TABLE IF NOT EXISTS counted (name TEXT, labels TEXT, number INTEGER, PRIMARY KEY (name, labels))
"""
_COUNT = """
INSERT INTO counted VALUES (?, ?, ?) ON CONFLICT (name, labels) DO UPDATE SET number = number + excluded.number
"""
_PATIENCE = 1.0


class RequestCounts:
    """Counters that several processes share.

    Args:
        path: the file. None for this process alone.
    """

    __slots__ = ("_lock", "_new", "_path", "_unwritten")

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._lock = path, Lock()
        self._new: deque[tuple[str, str]] = deque()
        self._unwritten: Counter[tuple[str, str]] = Counter()

    def begin(self) -> None:
        """Count anew from zero.

        Raises:
            OSError: if the file cannot be made.
            sqlite3.Error: if it cannot be written.
        """
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            with _opened(self._path):
                pass

    def add(self, name: str, labels: str) -> None:
        """Add one to a counter, without waiting for a lock or a disk; `write` tells the other workers."""
        self._new.append((name, labels))

    def write(self) -> bool:
        """Write the counts for the other workers, and return whether that was possible."""
        with self._lock:
            while self._new:
                self._unwritten[self._new.popleft()] += 1
            if self._path is None:
                return True
            try:
                with _opened(self._path) as file:
                    rows = ((*key, number) for key, number in self._unwritten.items())
                    file.executemany(_COUNT, rows)
            except (OSError, sqlite3.Error):
                return False
            self._unwritten.clear()
            return True

    def read(self, name: str) -> Mapping[str, int]:
        """Return the counters of a name by their labels: of all workers, if the file can be used."""
        numbers = Counter[str]()
        if self.write() and self._path is not None:
            with suppress(OSError, sqlite3.Error), _opened(self._path) as file:
                rows = file.execute("SELECT labels, number FROM counted WHERE name = ?", (name,))
                numbers.update(dict(rows.fetchall()))
        with self._lock:
            numbers.update({at: n for (one, at), n in self._unwritten.items() if one == name})
        return dict(sorted(numbers.items()))


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file, which is readable for its owner alone, for one transaction."""
    with open(path, "ab", opener=private_opener):
        pass
    with closing(sqlite3.connect(path, timeout=_PATIENCE)) as file:
        file.execute("PRAGMA synchronous = OFF")
        with file:
            file.execute(_TABLE)
            yield file


def kept_counts(description: Path) -> RequestCounts:
    """Return the counts of a service: discreet.counts beside discreet.toml."""
    return RequestCounts(description.absolute().with_suffix(".counts"))
