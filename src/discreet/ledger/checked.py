"""What a release relies on, compared with the hashed events that say it. Docs: docs/ledger.md, "The chain".

A budget's row is derived from events. The latest event about it holds what it was left as, and that event is
read by an index; so a row that was edited is found when somebody relies on it, and not only by `verify`.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, text

from ..errors import LedgerCorrupt
from . import rows
from .budget import Budget
from .events import Event, genesis
from .rows import Tip
from .schema import EVENTS, STATING

_BEFORE = EVENTS.alias("before")
_LINKED = select(EVENTS, _BEFORE.c.head.label("linked")).select_from(
    EVENTS.outerjoin(_BEFORE, _BEFORE.c.number == EVENTS.c.number - 1)
)
"""Events, each with the hash of the event before it."""

_LAST = (
    select(func.max(EVENTS.c.number))
    .where(text(STATING), EVENTS.c.dataset == bindparam("of"))
    .correlate(None)
)
_LATEST = _LINKED.where(
    EVENTS.c.number.in_(
        [
            _LAST.scalar_subquery(),
            _LAST.where(EVENTS.c.analyst == bindparam("share")).scalar_subquery(),
        ]
    )
).order_by(EVENTS.c.number)
_REQUEST = _LINKED.where(
    EVENTS.c.dataset == bindparam("of"),
    EVENTS.c.analyst == bindparam("share"),
    EVENTS.c.request == bindparam("request"),
)


def paying(connection: Connection, tip: Tip, dataset: str, analyst: str | None) -> list[Budget]:
    """Return the budgets of a dataset and of an analyst on it, as far as they were opened.

    Raises:
        LedgerCorrupt: if one of them is not what the latest event about it left it as.
    """
    found = rows.paying(connection, dataset, analyst)
    if found:
        asked = {"of": dataset, "share": analyst or ""}
        _check(found, _linked(connection.execute(_LATEST, asked), tip))
    return found


def budgets(connection: Connection, tip: Tip, dataset: str | None = None) -> list[Budget]:
    """Return all budgets, or those of one dataset, its own before those of its analysts.

    Raises:
        LedgerCorrupt: if one of them is not what the latest event about it left it as.
    """
    found = rows.budgets(connection, dataset)
    for budget in found:
        asked = {"of": budget.dataset, "share": budget.analyst or ""}
        _check([budget], _linked(connection.execute(_LATEST, asked), tip))
    return found


def of_request(
    connection: Connection, tip: Tip, dataset: str, analyst: str | None, request: str
) -> dict[str, Event]:
    """Return what happened to a request, by kind.

    Raises:
        LedgerCorrupt: if one of these events is not what was written.
    """
    asked = {"of": dataset, "share": analyst or "", "request": request}
    return {event.kind: event for event in _linked(connection.execute(_REQUEST, asked), tip)}


def stated(*left: Budget) -> dict[str, Any]:
    """Return what the body of an event says of the budgets it touches: what it leaves them as."""
    return {"after": [budget.state for budget in left]}


def _linked(found: Iterable[Any], tip: Tip) -> list[Event]:
    """Return the events of these rows, each with its hash computed anew."""
    events = []
    for *columns, linked in found:
        event = rows.event_of(columns)
        before = genesis(tip.identity, tip.born) if event.number == 1 else linked
        if not rows.chained(event, before):
            raise LedgerCorrupt(f"event {event.number} is not what was written")
        events.append(event)
    return events


def _check(found: list[Budget], latest: list[Event]) -> None:
    """Raise if a budget is not what the latest event about it says."""
    for budget in found:
        about = [e for e in latest if budget.analyst in {None, e.analyst}][-1:]
        if [_left(event, budget) for event in about] != [budget.state]:
            raise LedgerCorrupt(
                f"the budget of {budget.name} is not what the latest event about it left it as"
            )


def _left(event: Event, budget: Budget) -> Any:
    """Return what the event says it left the budget as."""
    states = event.body.get("after")
    place = 0 if budget.analyst is None else 1
    return states[place] if isinstance(states, list) and len(states) > place else None
