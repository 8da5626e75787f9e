"""Reads of budgets and requests, compared with the hashed events behind them.

Docs: docs/how-to/ledger.md, "The chain".

The row of a budget is derived from events, and the latest event about it holds its state. That event is found by
an index, so an edited row is detected whenever a release relies on it, and not only by `verify`.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import bindparam, func, select, text

from ..errors import LedgerCorrupt
from . import queries
from .budget import Budget
from .events import Event, genesis
from .schema import EVENTS, STATES_BUDGETS
from .statements import Statement
from .transaction import ChainHead, Transaction

_BEFORE = EVENTS.alias("before")
_LINKED = select(EVENTS, _BEFORE.c.head.label("linked")).select_from(
    EVENTS.outerjoin(_BEFORE, _BEFORE.c.number == EVENTS.c.number - 1)
)
"""Events with the hashes of their predecessors."""

_LAST = (
    select(func.max(EVENTS.c.number))
    .where(text(STATES_BUDGETS), EVENTS.c.dataset == bindparam("of"))
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
_STATES = Statement(_LATEST)
_REQUEST = Statement(
    _LINKED.where(
        EVENTS.c.dataset == bindparam("of"),
        EVENTS.c.analyst == bindparam("share"),
        EVENTS.c.request == bindparam("request"),
    )
)
_DESCRIBED = Statement(
    _LINKED.where(text("discreet_events.kind = 'described'")).order_by(EVENTS.c.number)
)


def described_events(transaction: Transaction) -> list[Event]:
    """Return the events with descriptions of datasets, in order.

    Raises:
        LedgerCorrupt: if the hash of one of them does not match.
    """
    return _checked_events(_DESCRIBED.run(transaction.connection), transaction.chain)


def checked_paying_budgets(
    transaction: Transaction, dataset: str, analyst: str | None
) -> list[Budget]:
    """Return the budgets of a dataset and of an analyst on it, as far as they were opened.

    Raises:
        LedgerCorrupt: if one of them differs from its state in the latest event about it.
    """
    budgets = queries.paying_budgets(transaction.connection, dataset, analyst)
    if budgets:
        _check_states(budgets, _latest(transaction, dataset, analyst))
    return budgets


def checked_budgets(transaction: Transaction, dataset: str | None = None) -> list[Budget]:
    """Return all budgets, or those of one dataset, its own before those of its analysts.

    Raises:
        LedgerCorrupt: if one of them differs from its state in the latest event about it.
    """
    budgets = queries.stored_budgets(transaction.connection, dataset)
    for budget in budgets:
        _check_states([budget], _latest(transaction, budget.dataset, budget.analyst))
    return budgets


def whole_budget(transaction: Transaction, dataset: str) -> Budget:
    """Return the budget of a dataset, which has one."""
    budgets = checked_budgets(transaction, dataset)
    return next(budget for budget in budgets if budget.analyst is None)


def events_of_request(
    transaction: Transaction, dataset: str, analyst: str | None, request: str
) -> dict[str, Event]:
    """Return the events of a request, by kind.

    Raises:
        LedgerCorrupt: if the hash of one of them does not match.
    """
    rows = _REQUEST.run(transaction.connection, of=dataset, share=analyst or "", request=request)
    return {event.kind: event for event in _checked_events(rows, transaction.chain)}


def budget_states(*budgets: Budget) -> dict[str, object]:
    """Return the entry of an event's body for the states of its budgets after it."""
    return {"after": [budget.state for budget in budgets]}


def _latest(transaction: Transaction, dataset: str, analyst: str | None) -> list[Event]:
    """Return the latest events with the states of a dataset's budget and of a share."""
    rows = _STATES.run(transaction.connection, of=dataset, share=analyst or "")
    return _checked_events(rows, transaction.chain)


def _checked_events(rows: Iterable[Any], chain: ChainHead) -> list[Event]:
    """Return the events of these rows after recomputing their hashes."""
    events = []
    for *columns, previous in rows:
        event = queries.event_of(columns)
        before = genesis(chain.identity, chain.first_schema) if event.number == 1 else previous
        if not queries.is_chained(event, before):
            raise LedgerCorrupt(f"event {event.number} is not what was written")
        events.append(event)
    return events


def _check_states(budgets: list[Budget], latest: list[Event]) -> None:
    """Raise if a budget differs from its state in the latest event about it."""
    for budget in budgets:
        about = [e for e in latest if budget.analyst in {None, e.analyst}][-1:]
        if [_state_after(event, budget) for event in about] != [budget.state]:
            raise LedgerCorrupt(
                f"the budget of {budget.name} is not what the latest event about it left it as"
            )


def _state_after(event: Event, budget: Budget) -> object:
    """Return the state of the budget after an event, as the event records it."""
    states = event.body.get("after")
    place = 0 if budget.analyst is None else 1
    return states[place] if isinstance(states, list) and len(states) > place else None
