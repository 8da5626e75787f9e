"""One transaction on a ledger: its connection, the rows that are known, and the end of the chain, where it appends.

Rows that a connection has read and checked hold until the database changes. SQLite tells by a number, `PRAGMA
data_version`, whether another connection has committed, and counts the rows that this one has changed. While both
are as they were, every row is as it was read, and none need be read, hashed and compared again. For the proof, see
docs/how-to/ledger.md, "One at a time".
"""

import os
import sqlite3
import time
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from functools import lru_cache
from threading import Lock
from typing import Any, Literal, NamedTuple, TypeVar

from sqlalchemy import Connection, bindparam, select

from ..errors import LedgerCorrupt
from .checkpoints import Checkpoint
from .events import (
    BUDGET_EVENTS,
    DELAY_EVENTS,
    FAILURE_EVENTS,
    ChainHead,
    Event,
    chain_hash,
    event_columns,
)
from .schema import EVENTS, LEDGER, Statement, check_append_only, check_newest, database_of

_T = TypeVar("_T")

_SELECTED = select(LEDGER.c.id, LEDGER.c.born, LEDGER.c.version, LEDGER.c.events, LEDGER.c.head)
_LEDGER, _LOCKED = Statement(_SELECTED), Statement(_SELECTED.with_for_update())
_ENDING = Statement(
    select(EVENTS.c.at, EVENTS.c.head).where(EVENTS.c.number == bindparam("number"))
)
_APPEND = Statement(EVENTS.insert(), EVENTS.c.keys())
_ADVANCE = Statement(LEDGER.update(), ["events", "head"])


def time_text(time: datetime) -> str:
    """Return a time in UTC as events have it."""
    in_utc = time if time.tzinfo is UTC else time.astimezone(UTC)
    return in_utc.isoformat(timespec="microseconds")


def _now() -> str:
    """Return the same for this moment."""
    second, microseconds = divmod(time.time_ns() // 1000, 10**6)
    return f"{_second_text(second)}.{microseconds:06d}+00:00"


@lru_cache(maxsize=1)
def _second_text(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).replace(tzinfo=None).isoformat()


class NewEvent(NamedTuple):
    """An event to be appended, without number and hash.

    Attributes:
        kind: see `Event`, as the others.
        dataset: the dataset with the budget that it concerns.
        analyst: the analyst whose share it concerns.
        request: the name of the request.
        body: everything else.
        at: its time, where that must not tell when it was written. None for the clock of this machine.
    """

    kind: str
    dataset: str
    analyst: str | None
    request: str | None
    body: dict[str, object]
    at: str | None = None


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


class Transaction:
    """A transaction, and the end of the chain after the events that it has appended.

    Args:
        connection: where it was begun. None if all that it needs is known.
        writing: whether it may append. Then other writers are locked out until it ends.
        state: the rows that are known at its beginning. Those that it reads are added.
        driver: the driver below the connection, where it is known.

    Attributes:
        last_row: the row of the last event that it has appended, with the hash before it. None without one.
        state: see above.
        compared: the budgets whose files have been compared with those of others: once in a transaction.

    Raises:
        LedgerCorrupt: if the ledger does not say where it ends.
    """

    __slots__ = (
        "_connection",
        "_database",
        "_end",
        "_is_behind",
        "_is_checked",
        "_last",
        "_version",
        "_writing",
        "compared",
        "last_row",
        "state",
    )

    def __init__(
        self,
        connection: Connection | None,
        *,
        writing: bool = False,
        state: KnownState | None = None,
        driver: sqlite3.Connection | None = None,
    ) -> None:
        self.state = KnownState() if state is None else state
        self.last_row: tuple[object, ...] | None = None
        self.compared = set[str]()
        self._connection, self._writing, self._is_behind = connection, writing, False
        self._database: Connection | sqlite3.Connection | None = driver
        if driver is None and connection is not None:
            self._database = database_of(connection)
        self._last: str | None
        chain = self.state.chain
        if chain is not None:
            self._end, self._last = chain, chain.head
            self._is_checked = self.state.is_protected or not writing
            self._version: object = None
            return
        self._is_checked = False
        rows = (_LOCKED if writing else _LEDGER).run(self.database)
        if len(rows) != 1:
            raise LedgerCorrupt(f"a ledger says once who it is, and this one {len(rows)} times")
        identity, first_schema, self._version, events, head = rows[0]
        if not isinstance(events, int) or not isinstance(head, str):
            raise LedgerCorrupt("the ledger does not say where it ends")
        at, self._last = self._ending(events)
        self._end = ChainHead(identity, first_schema, events, at, head)

    @property
    def connection(self) -> Connection:
        """The connection of its transaction.

        Raises:
            NeedsDatabase: if it has none.
        """
        if self._connection is None:
            raise NeedsDatabase
        return self._connection

    @property
    def database(self) -> Connection | sqlite3.Connection:
        """The connection that runs its statements: SQLite's driver where there is one.

        Raises:
            NeedsDatabase: if it has none.
        """
        if self._database is None:
            raise NeedsDatabase
        return self._database

    @property
    def end(self) -> Checkpoint:
        """The end of the chain, as the ledger records it."""
        identity, _, events, at, head = self._end
        return Checkpoint(identity, events, at, head)

    @property
    def chain(self) -> ChainHead:
        """The end of the chain, checked, on which a release relies.

        Raises:
            LedgerTooNew: if a newer version has renewed the ledger meanwhile.
            LedgerCorrupt: if the last event does not match the recorded head, or the schema has changed; or, in
                a transaction that may append, if events are not protected from changes.
        """
        if not self._is_checked:
            self._check()
        return self._end

    def _check(self) -> None:
        """Check the end of the chain, and the protection of events if it may append."""
        if self.state.chain is None:
            check_newest(self._version)
        if self._writing and not self.state.is_protected:
            check_append_only(self.connection)
            self.state.is_protected = True
        if self._end.events and self._last != self._end.head:
            raise LedgerCorrupt(f"event {self._end.events} is not the last one that was written")
        self.state.chain = self._end
        self._is_checked = True

    def append(self, new: NewEvent) -> None:
        """Append an event to the chain."""
        identity, first_schema, before, _, previous = self.chain
        number, at = before + 1, new.at or _now()
        event = Event(number, at, new.kind, new.dataset, new.analyst, new.request, new.body, "")
        columns = event_columns(event)
        head = chain_hash(previous, *columns)
        row = *columns, head
        _APPEND.run_on(self.database, row)
        self._is_behind = True
        self._end = self.state.chain = ChainHead(identity, first_schema, number, at, head)
        self.last_row = (*row, previous)
        self._note(event)

    def store_end(self) -> None:
        """Record the end of the chain, once for all events that were appended, before the commit."""
        if self._is_behind:
            _ADVANCE.run_on(self.database, (self._end.events, self._end.head))
            self._is_behind = False

    def _note(self, event: Event) -> None:
        """Bring the known state up to date with an event."""
        state, kind = self.state, event.kind
        if kind in BUDGET_EVENTS:
            state.forget("budgets")
        if kind in FAILURE_EVENTS:
            state.forget("failures")
        if kind in DELAY_EVENTS:
            state.forget("delays")
        if kind == "described":
            state.forget("bindings")
        if event.request is not None:
            key = event.dataset, event.analyst, event.request
            before = state.find("requests", key)
            if before is not None:
                state.learn("requests", key, {**before, kind: event})

    def _continues(self, last: Checkpoint) -> bool:
        """Return whether an event seen before is still in the chain."""
        if not last.number:
            return True
        same = self._end.events == last.number
        past = self._last if same else self._ending(last.number)[1]
        return self._end.events >= last.number and past == last.head

    def check_continues(self, last: Checkpoint, name: str) -> None:
        """Check that the chain of the ledger of this name continues from where it was last seen.

        Raises:
            LedgerCorrupt: if it is another ledger, or the last event seen is gone.
        """
        if self._end.identity != last.ledger:
            raise LedgerCorrupt(
                f"the ledger {name} was replaced by another one. The one that was used here has "
                f"the id {last.ledger}"
            )
        if not self._continues(last):
            raise LedgerCorrupt(
                f"the ledger {name} was replaced by an older copy, or rewritten: event "
                f"{last.number} with the head {last.head} was seen, and is not in it"
            )

    def _ending(self, number: int) -> tuple[str | None, str | None]:
        """Return the time and the hash of an event, or None for both without it."""
        at, head = next(iter(_ENDING.run(self.database, number=number)), (None, None))
        return at, head


class LastSeen:
    """The last event of one ledger that any transaction of this process has seen."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._last: Checkpoint | None = None

    @property
    def last(self) -> Checkpoint | None:
        """The end of the chain when it was last seen, or None."""
        if self._last is None:
            return None
        return _SEEN.get((self._place, self._last.ledger), self._last)

    def remember(self, end: Checkpoint) -> None:
        """Store the end of the chain."""
        key = self._place, end.ledger
        with _CHANGING[-1]:
            if key not in _SEEN or _SEEN[key].number < end.number:
                _SEEN[key] = end
        self._last = end


_SEEN: dict[tuple[str, str], Checkpoint] = {}
"""By location and id, so that all `Ledger` objects of this process share it."""

_CHANGING = [Lock()]

if hasattr(os, "register_at_fork"):
    # A thread that holds the lock in the parent is not in the child.
    os.register_at_fork(after_in_child=lambda: _CHANGING.append(Lock()))
