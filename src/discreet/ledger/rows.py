"""Rows as values, and values as rows. What cannot be read back is corrupt."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, bindparam, select

from ..errors import LedgerCorrupt
from ..privacy.sensitivity import read_neighbors
from .budget import Budget, read_amount
from .events import Event, canonical, link
from .guards import check_guards
from .schema import BUDGETS, EVENTS, LEDGER, check_newest

T = TypeVar("T")

_AT_ONCE = 1000

# Statements are built once: building them takes longer than running them.
_TIP = select(LEDGER)
_TIP_ALONE = _TIP.with_for_update()
_HEAD = select(EVENTS.c.head).where(EVENTS.c.number == bindparam("number"))
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
class Tip:
    """Who a ledger is, and where its chain ends."""

    identity: str
    born: int
    events: int
    head: str


def tip_of(connection: Connection, *, alone: bool = False) -> Tip:
    """Return the end of the chain; with `alone`, nobody else can write until this transaction ends.

    Raises:
        LedgerTooNew: if a newer version has renewed the ledger meanwhile.
        LedgerCorrupt: if the last event is not the one that is noted, the schema not the one it was opened
            with; or, with `alone`, if nothing keeps events from being changed.
    """
    rows = list(connection.execute(_TIP_ALONE if alone else _TIP))
    if len(rows) != 1:
        raise LedgerCorrupt(f"a ledger says once who it is, and this one {len(rows)} times")
    row = rows[0]
    check_newest(row.version)
    if alone:
        check_guards(connection)
    last = connection.execute(_HEAD, {"number": row.events}).scalar()
    if row.events and last != row.head:
        raise LedgerCorrupt(f"event {row.events} is not the last one that was written")
    return Tip(row.id, row.born, row.events, row.head)


def append(connection: Connection, tip: Tip, news: "News") -> None:
    """Write an event at the end of the chain."""
    number, at = tip.events + 1, datetime.now(UTC).isoformat(timespec="microseconds")
    event = Event(number, at, news.kind, news.dataset, news.analyst, news.request, news.body, "")
    columns = _columns(event)
    head = link(tip.head, columns)
    connection.execute(_APPEND, dict(zip(EVENTS.c.keys(), [*columns, head], strict=True)))
    connection.execute(_ADVANCE, {"events": number, "head": head})


@dataclass(frozen=True, slots=True)
class News:
    """What is to become an event."""

    kind: str
    dataset: str
    analyst: str | None
    request: str | None
    body: dict[str, Any]


def events(connection: Connection, dataset: str | None = None) -> Iterator[Event]:
    """Yield all events in their order, or those of one dataset."""
    asked = _EVENTS if dataset is None else _EVENTS_OF
    options = {"yield_per": _AT_ONCE}
    return map(event_of, connection.execute(asked, {"dataset": dataset}, execution_options=options))


def event_of(row: Any) -> Event:
    """Return the event of a row."""
    number, at, kind, dataset, analyst, request, body, head = row
    read = _readable(lambda: json.loads("" + body), f"event {number}")  # text only, no bytes
    return Event(number, at, kind, dataset, analyst or None, request, read, head)


def chained(event: Event, previous: str) -> bool:
    """Return whether the event is what was written after the event with that hash."""
    return _readable(lambda: _link(event, previous) == event.head, f"event {event.number}")


def budgets(connection: Connection, dataset: str | None = None) -> list[Budget]:
    """Return all budgets, or those of one dataset, its own before those of its analysts."""
    asked = _BUDGETS if dataset is None else _BUDGETS_OF
    return _readable(lambda: _budgets(connection.execute(asked, {"of": dataset})), "a budget")


def paying(connection: Connection, dataset: str, analyst: str | None) -> list[Budget]:
    """Return the budgets of a dataset and of an analyst on it, as far as they were opened."""
    found = connection.execute(_PAYING, {"of": dataset, "share": analyst or ""})
    return _readable(lambda: _budgets(found), "a budget")


def _budgets(found: Iterable[Any]) -> list[Budget]:
    known = [
        Budget(row.dataset, row.analyst or None, read_neighbors(row.neighbors),
               read_amount(json.loads(row.total)), read_amount(json.loads(row.spent)),
               "" + row.unit or None)
        for row in found
    ]  # fmt: skip
    return sorted(known, key=lambda budget: (budget.dataset, budget.analyst or ""))


def insert(connection: Connection, budget: Budget) -> None:
    """Write a budget that is new."""
    named = {
        "dataset": budget.dataset,
        "analyst": budget.analyst or "",
        "neighbors": budget.neighbors,
        "unit": budget.unit or "",
    }
    connection.execute(_INSERT, {**named, **_amounts(budget)})


def update(connection: Connection, budget: Budget) -> None:
    """Write a budget again."""
    this = {"of": budget.dataset, "share": budget.analyst or ""}
    connection.execute(_UPDATE, {**this, **_amounts(budget)})


def _amounts(budget: Budget) -> dict[str, str]:
    return {"total": canonical(budget.total.as_dict()), "spent": canonical(budget.spent.as_dict())}


def _readable(read: Callable[[], T], what: str) -> T:
    """Return what `read` returns; whatever it stumbles over is corrupt."""
    try:
        return read()
    except (ValueError, TypeError, KeyError, ArithmeticError, AttributeError, RecursionError):
        pass
    raise LedgerCorrupt(f"{what} cannot be read")


def _columns(event: Event) -> list[Any]:
    """Return the columns of an event, all but its hash."""
    return [event.number, event.at, event.kind, event.dataset, event.analyst or "", event.request,
            canonical(event.body)]  # fmt: skip


def _link(event: Event, previous: str) -> str:
    return link(previous, _columns(event))
