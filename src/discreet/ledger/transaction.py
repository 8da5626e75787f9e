"""One transaction on a ledger: its connection, and the end of the chain, to which it appends events."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Connection, bindparam, select

from ..errors import LedgerCorrupt
from .checkpoints import Checkpoint
from .events import Event, chain_hash, event_columns
from .schema import EVENTS, LEDGER, Statement, check_append_only, check_newest

_SELECTED = select(LEDGER.c.id, LEDGER.c.born, LEDGER.c.version, LEDGER.c.events, LEDGER.c.head)
_LEDGER, _LOCKED = Statement(_SELECTED), Statement(_SELECTED.with_for_update())
_ENDING = Statement(
    select(EVENTS.c.at, EVENTS.c.head).where(EVENTS.c.number == bindparam("number"))
)
_EVENT_COLUMNS = tuple(EVENTS.c.keys())
_APPEND = Statement(EVENTS.insert(), _EVENT_COLUMNS)
_ADVANCE = Statement(LEDGER.update(), ["events", "head"])


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The identity of a ledger and the end of its chain.

    Attributes:
        identity: the random id of the ledger.
        first_schema: the schema it was created with.
        events: how many events it has.
        at: the time of the last one.
        head: the hash of the last one.
    """

    identity: str
    first_schema: int
    events: int
    at: str | None
    head: str

    @property
    def checkpoint(self) -> Checkpoint:
        """The end of the chain, to be kept elsewhere."""
        return Checkpoint(self.identity, self.events, self.at, self.head)


def time_text(time: datetime) -> str:
    """Return a time in UTC as events have it."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to be appended, without number and hash.

    Attributes:
        kind: see `Event`, as the others.
        dataset: the dataset whose budget it concerns.
        analyst: the analyst whose share it concerns.
        request: the name of the request.
        body: everything else.
        at: its time, where that must not tell when it was written; None for the clock of this machine.
    """

    kind: str
    dataset: str
    analyst: str | None
    request: str | None
    body: dict[str, object]
    at: str | None = None


class Transaction:
    """A transaction, and the end of the chain after the events that it has appended.

    Args:
        connection: where it was begun.
        writing: whether it may append. Then other writers are locked out until it ends.

    Raises:
        LedgerCorrupt: if the ledger does not say where it ends.
    """

    __slots__ = ("_end", "_is_checked", "_last", "_version", "_writing", "connection")

    def __init__(self, connection: Connection, *, writing: bool = False) -> None:
        self.connection = connection
        self._writing, self._is_checked = writing, False
        rows = (_LOCKED if writing else _LEDGER).run(connection)
        if len(rows) != 1:
            raise LedgerCorrupt(
                "a ledger says once who it is, and this one {number_of_rows} times",
                number_of_rows=len(rows),
            )
        identity, first_schema, self._version, events, head = rows[0]
        if not isinstance(events, int) or not isinstance(head, str):
            raise LedgerCorrupt("the ledger does not say where it ends")
        at, self._last = self._ending(events)
        self._end = ChainHead(identity, first_schema, events, at, head)

    @property
    def end(self) -> Checkpoint:
        """The end of the chain, as the ledger records it."""
        return self._end.checkpoint

    @property
    def chain(self) -> ChainHead:
        """The end of the chain, checked, on which a release relies.

        Raises:
            LedgerTooNew: if a newer version has upgraded the ledger meanwhile.
            LedgerCorrupt: if the last event does not match the recorded head, or the schema has changed; or, in
                a transaction that may append, if events are not protected from changes.
        """
        if not self._is_checked:
            check_newest(self._version)
            if self._writing:
                check_append_only(self.connection)
            if self._end.events and self._last != self._end.head:
                raise LedgerCorrupt(
                    "event {events} is not the last one that was written", events=self._end.events
                )
            self._is_checked = True
        return self._end

    def append(self, new: NewEvent) -> None:
        """Append an event to the chain."""
        number, at = self.chain.events + 1, new.at or time_text(datetime.now(UTC))
        event = Event(number, at, new.kind, new.dataset, new.analyst, new.request, new.body, "")
        columns = event_columns(event)
        head = chain_hash(self.chain.head, *columns)
        row = dict(zip(_EVENT_COLUMNS, [*columns, head], strict=True))
        _APPEND.run(self.connection, **row)
        _ADVANCE.run(self.connection, events=number, head=head)
        self._end = replace(self._end, events=number, at=at, head=head)

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
                "the ledger {name} was replaced by another one; the one that was used here has the "
                "id {ledger}",
                name=name,
                ledger=last.ledger,
            )
        if not self._continues(last):
            raise LedgerCorrupt(
                "the ledger {name} was replaced by an older copy, or written anew: event {number} "
                "with the head {last_head} was seen, and is not in it",
                name=name,
                number=last.number,
                last_head=last.head,
            )

    def _ending(self, number: int) -> tuple[str | None, str | None]:
        """Return the time and the hash of an event; None for both without it."""
        at, head = next(iter(_ENDING.run(self.connection, number=number)), (None, None))
        return at, head
