"""Rows of a ledger that a connection has read and checked: they hold until the database changes.

SQLite tells by a number, `PRAGMA data_version`, whether another connection has committed, and counts the rows that
this one has changed. While both are as they were, every row is as it was read, and none need be read, hashed and
compared again. For the proof, see docs/how-to/ledger.md, "One at a time".
"""

import sqlite3
from collections.abc import Callable, Hashable
from typing import Any, Literal, NamedTuple, TypeVar

from .events import ChainHead

_T = TypeVar("_T")

Subject = Literal["bindings", "budgets", "delays", "failures", "requests"]
"""The kinds of rows that are remembered: descriptions, sums, failures, delays, and events of a request."""

_CAPACITY = 256
"""So many answers about a subject are remembered: one or two for every release that is being bought."""

_UNKNOWN, _NONE = object(), dict[Hashable, object]()


class Version(NamedTuple):
    """The state of an SQLite database, as one connection tells it.

    Attributes:
        driver: the connection.
        commits: a number that changes when another connection commits.
        changes: the rows that this connection has changed so far.
    """

    driver: sqlite3.Connection
    commits: int
    changes: int

    @property
    def is_current(self) -> bool:
        """Whether this connection has changed no row since, as no other can in memory."""
        return self.driver.total_changes == self.changes


class NeedsDatabase(Exception):
    """Raised where work on a known state asks for a row that is not known."""


class KnownState:
    """Rows that were read at one version of the database, with the outcome of their checks.

    Args:
        version: of the database. None if it cannot be told: then nothing is known later.
        is_protected: whether events were found to be protected from changes.

    Attributes:
        chain: the end of the chain, once it was checked.
        is_protected: see above.
    """

    __slots__ = ("_answers", "chain", "is_protected", "version")

    def __init__(self, version: Version | None = None, *, is_protected: bool = False) -> None:
        self.version, self.is_protected = version, is_protected
        self.chain: ChainHead | None = None
        self._answers: dict[Subject, dict[Hashable, object]] = {}

    @property
    def is_read_again(self) -> bool:
        """Whether the next release reads rows again: those of a file, which other connections change."""
        return self.version is not None and self.version.commits > 0

    def copy(self) -> "KnownState":
        """Return a copy for a transaction, which may fail."""
        other = KnownState(self.version, is_protected=self.is_protected)
        other.chain = self.chain
        other._answers = {subject: answers.copy() for subject, answers in self._answers.items()}
        return other

    def for_next_release(self) -> "KnownState":
        """Return a state that has the descriptions of datasets alone, and whether events are protected.

        There may be many of them, and they change when an owner writes, who leaves another version.
        """
        other = KnownState(self.version, is_protected=self.is_protected)
        other._answers = {"bindings": self._answers.get("bindings", {}).copy()}
        return other

    def settle(self) -> None:
        """Note that all changes of this connection so far are known: they were made here."""
        if self.version is not None:
            driver, commits, changes = self.version
            if driver.total_changes != changes:
                self.version = Version(driver, commits, driver.total_changes)

    def recall(self, subject: Subject, key: Hashable, read: Callable[[], _T]) -> _T:
        """Return an answer that is known, or read it and remember it. It must not be changed."""
        answer = self._answers.get(subject, _NONE).get(key, _UNKNOWN)
        if answer is _UNKNOWN:
            answer = read()
            self.learn(subject, key, answer)
        return answer  # type: ignore[return-value]

    def learn(self, subject: Subject, key: Hashable, answer: object) -> None:
        """Remember an answer that was read or written."""
        answers = self._answers.setdefault(subject, {})
        if len(answers) >= _CAPACITY:
            answers.clear()
        answers[key] = answer

    def find(self, subject: Subject, key: Hashable) -> Any:
        """Return an answer if it is known, or None."""
        return self._answers.get(subject, _NONE).get(key)

    def forget(self, subject: Subject) -> None:
        """Forget all answers about a subject."""
        self._answers.pop(subject, None)
