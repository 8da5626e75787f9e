"""SQL queries of a ledger: events and budgets, from rows and to rows. Unreadable rows are corrupt."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import Connection, bindparam, select

from ..errors import LedgerCorrupt
from ..privacy.sensitivity import read_neighbors
from ..privacy.units import read_stored_unit, stored_unit
from .budget import Budget, budget_order, read_amount, read_rule, read_use
from .events import Event, canonical_json, chain_hash
from .schema import BUDGET_ROWS, EVENTS
from .statements import Statement

_P = ParamSpec("_P")
_T = TypeVar("_T")

_AT_ONCE = 1000
_COLUMNS = ("dataset", "analyst", "neighbors", "total", "spent", "unit", "shares", "delta_for")

_EVENTS = select(EVENTS).order_by(EVENTS.c.number)
_EVENTS_OF = _EVENTS.where(EVENTS.c.dataset == bindparam("dataset"))
_EVENTS_AFTER = _EVENTS.where(EVENTS.c.number > bindparam("after")).limit(bindparam("most"))
_ALL = select(*(BUDGET_ROWS.c[name] for name in _COLUMNS))
_OF = _ALL.where(BUDGET_ROWS.c.dataset == bindparam("of"))
_BUDGETS, _BUDGETS_OF = Statement(_ALL), Statement(_OF)
_PAYING = Statement(_OF.where(BUDGET_ROWS.c.analyst.in_(["", bindparam("share")])))
_INSERT = Statement(BUDGET_ROWS.insert(), _COLUMNS)
_UPDATE = Statement(
    BUDGET_ROWS.update().where(
        BUDGET_ROWS.c.dataset == bindparam("of"), BUDGET_ROWS.c.analyst == bindparam("share")
    ),
    ["total", "spent", "shares"],
)


def all_events(connection: Connection, dataset: str | None = None) -> Iterator[Event]:
    """Yield all events in order, or those of one dataset."""
    statement = _EVENTS if dataset is None else _EVENTS_OF
    options = {"yield_per": _AT_ONCE}
    return map(
        event_of, connection.execute(statement, {"dataset": dataset}, execution_options=options)
    )


def events_after(connection: Connection, number: int, limit: int) -> list[Event]:
    """Return up to so many events after one of them, in order."""
    return list(map(event_of, connection.execute(_EVENTS_AFTER, {"after": number, "most": limit})))


def event_of(row: Any) -> Event:
    """Return the event of a row."""
    number, at, kind, dataset, analyst, request, body, head = row
    fields = _readable(f"event {number}", _parse_json, body)
    return Event(number, at, kind, dataset, analyst or None, request, fields, head)


def _parse_json(text: Any) -> Any:
    """Return parsed JSON; a TypeError for bytes."""
    return json.loads("" + text)


def is_chained(event: Event, previous: str) -> bool:
    """Return whether the event's hash follows from its columns and the previous hash."""
    return _readable(f"event {event.number}", _hash, event, previous) == event.head


def stored_budgets(connection: Connection, dataset: str | None = None) -> list[Budget]:
    """Return all budgets, or those of one dataset, its own before those of its analysts."""
    parameters = {} if dataset is None else {"of": dataset}
    rows = (_BUDGETS_OF if parameters else _BUDGETS).run(connection, **parameters)
    return _readable("a budget", _read_budgets, rows)


def paying_budgets(connection: Connection, dataset: str, analyst: str | None) -> list[Budget]:
    """Return the budgets of a dataset and of an analyst on it, as far as they were opened."""
    rows = _PAYING.run(connection, of=dataset, share=analyst or "")
    return _readable("a budget", _read_budgets, rows)


def _read_budgets(rows: Iterable[Any]) -> list[Budget]:
    budgets = [
        Budget(dataset, analyst or None, read_neighbors(neighbors),
               read_amount(json.loads(total)), read_amount(json.loads(spent)), read_stored_unit("" + unit),
               shares=read_rule(shares), delta_for=read_use(delta_for))
        for dataset, analyst, neighbors, total, spent, unit, shares, delta_for in rows
    ]  # fmt: skip
    return sorted(budgets, key=budget_order)


def insert_budget(connection: Connection, budget: Budget) -> None:
    """Insert a new budget."""
    names = {
        "dataset": budget.dataset,
        "analyst": budget.analyst or "",
        "neighbors": budget.neighbors,
        "unit": stored_unit(budget.unit),
        "delta_for": budget.delta_for or "",
    }
    _INSERT.run(connection, **names, **_amount_columns(budget))


def update_budget(connection: Connection, budget: Budget) -> None:
    """Update the amounts of a budget."""
    this = {"of": budget.dataset, "share": budget.analyst or ""}
    _UPDATE.run(connection, **this, **_amount_columns(budget))


def _amount_columns(budget: Budget) -> dict[str, str]:
    return {
        "total": canonical_json(budget.total.as_dict()),
        "spent": canonical_json(budget.spent.as_dict()),
        "shares": budget.shares or "",
    }


def _readable(name: str, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Return read(*args, **kwargs); any error of parsing means that the row is corrupt."""
    try:
        return function(*args, **kwargs)
    except (ValueError, TypeError, KeyError, ArithmeticError, AttributeError, RecursionError):
        pass
    raise LedgerCorrupt(f"{name} cannot be read")


def event_columns(event: Event) -> list[Any]:
    """Return the columns of an event without its hash."""
    return [event.number, event.at, event.kind, event.dataset, event.analyst or "", event.request,
            canonical_json(event.body)]  # fmt: skip


def _hash(event: Event, previous: str) -> str:
    return chain_hash(previous, event_columns(event))
