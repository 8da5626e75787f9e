"""SQL queries of a ledger: events and budgets, from rows and to rows. Unreadable rows are corrupt."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import Connection, bindparam, select

from ..errors import LedgerCorrupt
from ..privacy.sensitivity import read_neighbors
from .append_only import check_append_only
from .budget import Budget, budget_order, read_amount
from .events import Event, canonical_json, chain_hash
from .schema import BUDGETS, EVENTS, LEDGER, check_newest

_P = ParamSpec("_P")
_T = TypeVar("_T")

_AT_ONCE = 1000

# Statements are built once: building them takes longer than running them.
_HEAD = select(LEDGER)
_HEAD_LOCKED = _HEAD.with_for_update()
_LAST_HASH = select(EVENTS.c.head).where(EVENTS.c.number == bindparam("number"))
_APPEND = EVENTS.insert()
_ADVANCE = LEDGER.update()
_EVENTS = select(EVENTS).order_by(EVENTS.c.number)
_EVENTS_OF = _EVENTS.where(EVENTS.c.dataset == bindparam("dataset"))
_BUDGETS = select(BUDGETS)
_BUDGETS_OF = _BUDGETS.where(BUDGETS.c.dataset == bindparam("of"))
_PAYING = _BUDGETS_OF.where(BUDGETS.c.analyst.in_(["", bindparam("share")]))
_INSERT = BUDGETS.insert()
_UPDATE = BUDGETS.update().where(
    BUDGETS.c.dataset == bindparam("of"), BUDGETS.c.analyst == bindparam("share")
)


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The identity of a ledger and the end of its chain.

    Attributes:
        identity: the random id of the ledger.
        born: the schema it was created with.
        events: how many events it has.
        head: the hash of the last one.
    """

    identity: str
    born: int
    events: int
    head: str


def chain_head(connection: Connection, *, exclusive: bool = False) -> ChainHead:
    """Return the end of the chain; with `exclusive`, lock out other writers until this transaction ends.

    Raises:
        LedgerTooNew: if a newer version has upgraded the ledger meanwhile.
        LedgerCorrupt: if the last event does not match the recorded head, or the schema has changed; or, with
            `exclusive`, if events are not protected from changes.
    """
    rows = list(connection.execute(_HEAD_LOCKED if exclusive else _HEAD))
    if len(rows) != 1:
        raise LedgerCorrupt(f"a ledger says once who it is, and this one {len(rows)} times")
    row = rows[0]
    check_newest(row.version)
    if exclusive:
        check_append_only(connection)
    last = connection.execute(_LAST_HASH, {"number": row.events}).scalar()
    if row.events and last != row.head:
        raise LedgerCorrupt(f"event {row.events} is not the last one that was written")
    return ChainHead(row.id, row.born, row.events, row.head)


def append_event(connection: Connection, chain: ChainHead, new: "NewEvent") -> None:
    """Append an event to the chain."""
    number, at = chain.events + 1, datetime.now(UTC).isoformat(timespec="microseconds")
    event = Event(number, at, new.kind, new.dataset, new.analyst, new.request, new.body, "")
    columns = _columns(event)
    head = chain_hash(chain.head, columns)
    connection.execute(_APPEND, dict(zip(EVENTS.c.keys(), [*columns, head], strict=True)))
    connection.execute(_ADVANCE, {"events": number, "head": head})


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to be appended, without number, time and hash."""

    kind: str
    dataset: str
    analyst: str | None
    request: str | None
    body: dict[str, object]


def all_events(connection: Connection, dataset: str | None = None) -> Iterator[Event]:
    """Yield all events in order, or those of one dataset."""
    asked = _EVENTS if dataset is None else _EVENTS_OF
    options = {"yield_per": _AT_ONCE}
    return map(event_of, connection.execute(asked, {"dataset": dataset}, execution_options=options))


def event_of(row: Any) -> Event:
    """Return the event of a row."""
    number, at, kind, dataset, analyst, request, body, head = row
    read = _readable(f"event {number}", _json, body)
    return Event(number, at, kind, dataset, analyst or None, request, read, head)


def _json(text: Any) -> Any:
    """Return parsed JSON; a TypeError for bytes."""
    return json.loads("" + text)


def is_chained(event: Event, previous: str) -> bool:
    """Return whether the event's hash follows from its columns and the previous hash."""
    return _readable(f"event {event.number}", _hash, event, previous) == event.head


def stored_budgets(connection: Connection, dataset: str | None = None) -> list[Budget]:
    """Return all budgets, or those of one dataset, its own before those of its analysts."""
    asked = _BUDGETS if dataset is None else _BUDGETS_OF
    return _readable("a budget", _budgets, connection.execute(asked, {"of": dataset}))


def paying_budgets(connection: Connection, dataset: str, analyst: str | None) -> list[Budget]:
    """Return the budgets of a dataset and of an analyst on it, as far as they were opened."""
    found = connection.execute(_PAYING, {"of": dataset, "share": analyst or ""})
    return _readable("a budget", _budgets, found)


def _budgets(found: Iterable[Any]) -> list[Budget]:
    known = [
        Budget(row.dataset, row.analyst or None, read_neighbors(row.neighbors),
               read_amount(json.loads(row.total)), read_amount(json.loads(row.spent)),
               "" + row.unit or None)
        for row in found
    ]  # fmt: skip
    return sorted(known, key=budget_order)


def insert_budget(connection: Connection, budget: Budget) -> None:
    """Insert a new budget."""
    named = {
        "dataset": budget.dataset,
        "analyst": budget.analyst or "",
        "neighbors": budget.neighbors,
        "unit": budget.unit or "",
    }
    connection.execute(_INSERT, {**named, **_amounts(budget)})


def update_budget(connection: Connection, budget: Budget) -> None:
    """Update the amounts of a budget."""
    this = {"of": budget.dataset, "share": budget.analyst or ""}
    connection.execute(_UPDATE, {**this, **_amounts(budget)})


def _amounts(budget: Budget) -> dict[str, str]:
    return {
        "total": canonical_json(budget.total.as_dict()),
        "spent": canonical_json(budget.spent.as_dict()),
    }


def _readable(name: str, read: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Return read(*args, **kwargs); any error of parsing means that the row is corrupt."""
    try:
        return read(*args, **kwargs)
    except (ValueError, TypeError, KeyError, ArithmeticError, AttributeError, RecursionError):
        pass
    raise LedgerCorrupt(f"{name} cannot be read")


def _columns(event: Event) -> list[Any]:
    """Return the columns of an event without its hash."""
    return [event.number, event.at, event.kind, event.dataset, event.analyst or "", event.request,
            canonical_json(event.body)]  # fmt: skip


def _hash(event: Event, previous: str) -> str:
    return chain_hash(previous, _columns(event))
