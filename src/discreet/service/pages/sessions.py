"""Sessions of people at the pages, in a file beside discreet.toml that only its owner can read and write.

A browser holds a random name of 256 bits. The file holds its hash, the id of the token it was begun with, and when
it ends. All workers of a service read the one file.
"""

import hashlib
import hmac
import json
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from ...base.file_permissions import is_writable_by_others, private_opener
from ...errors import UnreadableFile

LASTING = 8 * 3600
"""Seconds after which a session ends, if it is not ended before."""

_BYTES = 32
_NAME = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_SECONDS_FOR_THE_FILE = 30
_TABLES = """
CREATE TABLE IF NOT EXISTS sessions (hashed TEXT PRIMARY KEY, token TEXT NOT NULL, ends REAL NOT NULL);
CREATE TABLE IF NOT EXISTS asked (
  analyst TEXT NOT NULL, request TEXT NOT NULL, fields TEXT NOT NULL, PRIMARY KEY (analyst, request)
);
"""

Fields = Mapping[str, str]
"""The texts of a form, by the names of its fields."""


class Sessions:
    """The sessions of a description, and the questions asked at the pages, by request. None of it is private.

    Args:
        path: the file. It is made with the first session.
        now: returns the seconds since 1970.
    """

    __slots__ = ("_now", "_path")

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._path, self._now = path, now

    def begin(self, token: str) -> str:
        """Begin a session for the id of a token, and return the name that the browser keeps."""
        name, now = random_name(), self._now()
        with self._transaction() as file:
            file.execute("DELETE FROM sessions WHERE ends <= ?", (now,))
            file.execute(
                "INSERT INTO sessions VALUES (?, ?, ?)", (_hash_name(name), token, now + LASTING)
            )
        return name

    def token_of(self, name: str) -> str | None:
        """Return the id of the token that a session was begun with. None if there is no such session any more."""
        if not self._path.exists():
            return None
        with self._transaction() as file:
            query = "SELECT token FROM sessions WHERE hashed = ? AND ends > ?"
            row = file.execute(query, (_hash_name(name), self._now())).fetchone()
        return None if row is None else str(row[0])

    def end(self, name: str) -> None:
        """End a session."""
        with self._transaction() as file:
            file.execute("DELETE FROM sessions WHERE hashed = ?", (_hash_name(name),))

    def end_all(self, token: str) -> None:
        """End the sessions of a token."""
        with self._transaction() as file:
            file.execute("DELETE FROM sessions WHERE token = ?", (token,))

    def remember(self, analyst: str, request: str, fields: Fields) -> None:
        """Keep the form of a question under the name of its request, so that it can be shown again."""
        with self._transaction() as file:
            row = (analyst, request, json.dumps(dict(fields)))
            file.execute("INSERT OR IGNORE INTO asked VALUES (?, ?, ?)", row)

    def forms_of(self, analyst: str) -> dict[str, Fields]:
        """Return the forms of an analyst's questions by their requests. The owner is the analyst ""."""
        if not self._path.exists():
            return {}
        with self._transaction() as file:
            query = "SELECT request, fields FROM asked WHERE analyst = ?"
            rows = file.execute(query, (analyst,)).fetchall()
        try:
            return {request: json.loads(fields) for request, fields in rows}
        except (TypeError, ValueError):
            pass
        raise UnreadableFile(f"{self._path} holds what is no form")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction, and make it if it is not there."""
        self._check()
        try:
            with closing(sqlite3.connect(self._path, timeout=_SECONDS_FOR_THE_FILE)) as file:
                file.executescript(_TABLES)
                with file:
                    yield file
        except sqlite3.Error:
            pass
        else:
            return
        raise UnreadableFile(f"{self._path} cannot be read, or is not a file of sessions")

    def _check(self) -> None:
        """Make the file for its owner alone, and raise if others could write sessions into it."""
        try:
            with open(self._path, "ab", opener=private_opener) as file:
                if not is_writable_by_others(file):
                    return
        except OSError as error:
            failure = UnreadableFile(f"{self._path} cannot be opened: {error.strerror}")
        else:
            failure = UnreadableFile(
                f"{self._path} can be written by others, who could make sessions: chmod 600 it"
            )
        raise failure


def sessions_beside(description: Path) -> Sessions:
    """Return the sessions of a description: discreet.sessions beside discreet.toml."""
    return Sessions(description.absolute().with_suffix(".sessions"))


def random_name(size: int = _BYTES) -> str:
    """Return a random name of so many bytes, for a session or for a request."""
    return secrets.token_urlsafe(size)


def is_random_name(text: str) -> bool:
    """Return whether a text could be a name that was drawn here."""
    return _NAME.fullmatch(text) is not None


def form_secret(session: str) -> str:
    """Return the secret in every form of a session: a function of its name that does not reveal the name."""
    return hmac.new(session.encode(), b"form", hashlib.sha256).hexdigest()


def is_same(first: str, second: str) -> bool:
    """Return whether two secrets are the same, in constant time."""
    return hmac.compare_digest(first.encode(), second.encode())


def _hash_name(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
