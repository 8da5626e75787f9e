"""Events and budgets of a ledger, from rows and to rows. Unreadable rows are corrupt.

See docs/how-to/ledger.md, "The chain".

The row of a budget is derived from events, and the latest event about it holds its state. That event is found by
an index, so an edited row is detected whenever a release relies on it, and not only by `verify`.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import Connection, bindparam, func, select, text

from ..errors import LedgerCorrupt
from ..privacy.sensitivity import read_neighbors, read_stored_unit, stored_unit
from .budget import Budget, budget_order, read_amount, read_rule, read_use
from .delays import Delay, read_delay
from .events import ChainHead, Event, canonical_json, chain_hash, event_columns, genesis
from .schema import BUDGET_ROWS, EVENTS, STATES_BUDGETS, TELLS_DELAYS, TELLS_FAILURES, Statement
from .transaction import Transaction

AnyConnection = Connection | sqlite3.Connection
"""A connection that runs statements: see `Transaction.database`."""

_P = ParamSpec("_P")
_T = TypeVar("_T")

_AT_ONCE = 1000

_REMEMBERED = 64
"""How many rows are remembered with what was read from them: a few for each budget in use."""

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
    ["total", "spent", "shares", "delta_for"],
)
_SPEND = Statement(
    BUDGET_ROWS.update().where(
        BUDGET_ROWS.c.dataset == bindparam("of"), BUDGET_ROWS.c.analyst == bindparam("share")
    ),
    ["spent"],
)


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


def _latest_of_analyst(condition: str) -> Statement:
    """Return the statement for the latest event of a condition about an analyst and a dataset."""
    is_theirs = EVENTS.c.dataset == bindparam("of"), EVENTS.c.analyst == bindparam("share")
    number = select(func.max(EVENTS.c.number)).where(text(condition), *is_theirs).correlate(None)
    return Statement(_LINKED.where(EVENTS.c.number == number.scalar_subquery()))


_FAILURES, _DELAYS = _latest_of_analyst(TELLS_FAILURES), _latest_of_analyst(TELLS_DELAYS)
_DESCRIBED = Statement(
    # By the plain number SQLite would go through all events in order, and not through the index of these.
    _LINKED.where(text("discreet_events.kind = 'described'")).order_by(
        text("+discreet_events.number")
    )
)


def all_events(connection: Connection, dataset: str | None = None) -> Iterator[Event]:
    """Yield all events in order, or those of one dataset."""
    statement = _EVENTS if dataset is None else _EVENTS_OF
    options = {"yield_per": _AT_ONCE}
    return map(
        event_of, connection.execute(statement, {"dataset": dataset}, execution_options=options)
    )


def chain_and_events(
    transaction: Transaction, number: int, limit: int
) -> tuple[ChainHead, list[Event]]:
    """Return where the chain ends, and up to so many events after one of them."""
    rows = transaction.connection.execute(_EVENTS_AFTER, {"after": number, "most": limit})
    return transaction.chain, list(map(event_of, rows))


def event_of(row: Any) -> Event:
    """Return the event of a row."""
    number, at, kind, dataset, analyst, request, body, head = row
    fields = _readable(f"event {number}", _parse_json, body)
    return Event(number, at, kind, dataset, analyst or None, request, fields, head)


def _parse_json(text: Any) -> Any:
    """Return parsed JSON. Bytes are a TypeError."""
    return json.loads("" + text)


def is_chained(event: Event, previous: str) -> bool:
    """Return whether the event's hash follows from its columns and the previous hash."""
    return _readable(f"event {event.number}", _hash, event, previous) == event.head


def stored_budgets(connection: AnyConnection, dataset: str | None = None) -> list[Budget]:
    """Return all budgets, or those of one dataset, its own before those of its analysts."""
    parameters = {} if dataset is None else {"of": dataset}
    rows = (_BUDGETS_OF if parameters else _BUDGETS).run(connection, **parameters)
    return _readable("a budget", _read_budgets, rows)


def _read_budgets(rows: Iterable[Any]) -> list[Budget]:
    return sorted((_read_budget(*row) for row in rows), key=budget_order)


@lru_cache(maxsize=_REMEMBERED, typed=True)
def _read_budget(*row: Any) -> Budget:
    """Return the budget of a row: always the same one, so it is remembered."""
    dataset, analyst, neighbors, total, spent, unit, shares, delta_for = row
    return Budget(
        dataset, analyst or None, read_neighbors(neighbors),
        read_amount(json.loads(total)), read_amount(json.loads(spent)), read_stored_unit("" + unit),
        shares=read_rule(shares), delta_for=read_use(delta_for),
    )  # fmt: skip


def insert_budget(connection: AnyConnection, budget: Budget) -> None:
    """Insert a new budget."""
    names = {
        "dataset": budget.dataset,
        "analyst": budget.analyst or "",
        "neighbors": budget.neighbors,
        "unit": stored_unit(budget.unit),
    }
    _INSERT.run(connection, **names, **_amount_columns(budget))


def update_budget(connection: AnyConnection, budget: Budget) -> None:
    """Update the amounts of a budget."""
    this = {"of": budget.dataset, "share": budget.analyst or ""}
    _UPDATE.run(connection, **this, **_amount_columns(budget))


def _amount_columns(budget: Budget) -> dict[str, str]:
    return {
        "total": canonical_json(budget.total.as_dict()),
        "spent": canonical_json(budget.spent.as_dict()),
        "shares": budget.shares or "",
        "delta_for": budget.delta_for or "",
    }


def _readable(name: str, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Return read(*args, **kwargs); any error of parsing means that the row is corrupt."""
    try:
        return function(*args, **kwargs)
    except (ValueError, TypeError, KeyError, ArithmeticError, AttributeError, RecursionError):
        pass
    raise LedgerCorrupt(f"{name} cannot be read")


def _hash(event: Event, previous: str) -> str:
    return chain_hash(previous, *event_columns(event))


def described_events(transaction: Transaction) -> tuple[Event, ...]:
    """Return the events with descriptions of datasets, in order.

    Raises:
        LedgerCorrupt: if the hash of one of them does not match.
    """

    def read() -> tuple[Event, ...]:
        chain, rows = transaction.chain, _rows(_DESCRIBED.run(transaction.database))
        return _described_in(chain.identity, chain.first_schema, rows)

    return transaction.state.recall("bindings", "events", read)


@lru_cache(maxsize=4)
def _described_in(identity: str, first_schema: int, rows: "_Rows") -> tuple[Event, ...]:
    """Return the events of rows after recomputing their hashes: always the same, so they are remembered."""
    chain = ChainHead(identity, first_schema, 0, None, "")
    return tuple(_checked_events(rows, chain, _checked_description))


def checked_paying_budgets(
    transaction: Transaction, dataset: str, analyst: str | None
) -> list[Budget]:
    """Return the budgets of a dataset and of an analyst on it, as far as they were opened.

    Raises:
        LedgerCorrupt: if one of them differs from its state in the latest event about it.
    """

    def read() -> list[Budget]:
        names = {"of": dataset, "share": analyst or ""}
        rows = _rows(_PAYING.run(transaction.database, **names))
        if not rows:
            return []
        return _budgets_in(transaction, rows, _rows(_STATES.run(transaction.database, **names)))

    return transaction.state.recall("budgets", (dataset, analyst), read)


def charge_budgets(transaction: Transaction, budgets: list[Budget], states: list[Budget]) -> None:
    """Update the sums of budgets after a charge.

    Args:
        transaction: where the charge was appended.
        budgets: those whose sums have changed.
        states: the budgets of the dataset and of the analyst, if there is one, as the charge records them.
    """
    for budget in budgets:
        spent = canonical_json(budget.spent.as_dict())
        this = {"of": budget.dataset, "share": budget.analyst or ""}
        _SPEND.run(transaction.database, spent=spent, **this)
    transaction.state.learn("budgets", (states[-1].dataset, states[-1].analyst), states)
    if transaction.state.is_read_again and transaction.last_row is not None:
        rows = tuple(map(_row_of, states))
        _remember_budgets(transaction.chain, rows, (transaction.last_row,), states)


_Rows = tuple[tuple[Any, ...], ...]

_BUDGETS_IN: dict[tuple[str, int, _Rows, _Rows], list[Budget]] = {}
"""Budgets by the rows that they follow from: the ledger's identity, their own, and of the latest events about them.

Whoever charges knows the rows that the next release reads from the file. If it reads the same ones, they have the
same budgets: they need not be parsed, hashed and compared again.
"""


def _budgets_in(transaction: Transaction, rows: _Rows, latest: _Rows) -> list[Budget]:
    """Return the budgets of rows after comparing them with the latest events about them."""
    chain = transaction.chain
    budgets = _BUDGETS_IN.get((chain.identity, chain.first_schema, rows, latest))
    if budgets is None:
        budgets = _readable("a budget", _read_budgets, rows)
        _check_states(budgets, _checked_events(latest, chain))
        _remember_budgets(chain, rows, latest, budgets)
    return budgets


def _remember_budgets(chain: ChainHead, rows: _Rows, latest: _Rows, budgets: list[Budget]) -> None:
    """Remember the budgets of rows that were checked, or written together with the latest event."""
    if len(_BUDGETS_IN) >= _REMEMBERED:
        _BUDGETS_IN.clear()
    _BUDGETS_IN[chain.identity, chain.first_schema, rows, latest] = budgets


def _rows(rows: Iterable[Any]) -> _Rows:
    return tuple(map(tuple, rows))


def _row_of(budget: Budget) -> tuple[str, ...]:
    """Return the row of a budget, with its columns in the order of `_COLUMNS`."""
    amounts = _amount_columns(budget)
    return (
        budget.dataset, budget.analyst or "", budget.neighbors, amounts["total"], amounts["spent"],
        stored_unit(budget.unit), amounts["shares"], amounts["delta_for"],
    )  # fmt: skip


def checked_budgets(transaction: Transaction, dataset: str | None = None) -> list[Budget]:
    """Return all budgets, or those of one dataset, its own before those of its analysts.

    Raises:
        LedgerCorrupt: if one of them differs from its state in the latest event about it.
    """
    budgets = stored_budgets(transaction.connection, dataset)
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

    def read() -> dict[str, Event]:
        rows = _REQUEST.run(transaction.database, of=dataset, share=analyst or "", request=request)
        return {event.kind: event for event in _checked_events(rows, transaction.chain)}

    return transaction.state.recall("requests", (dataset, analyst, request), read)


def failures_of(transaction: Transaction, dataset: str, analyst: str | None) -> int:
    """Return how many questions of an analyst to a budget have failed since it was last opened again.

    Raises:
        LedgerCorrupt: if the hash of the event that says so does not match.
    """

    def read() -> int:
        return _failures_of(transaction, dataset, analyst)

    return transaction.state.recall("failures", (dataset, analyst), read)


def _failures_of(transaction: Transaction, dataset: str, analyst: str | None) -> int:
    """Read the number of failures."""
    rows = _FAILURES.run(transaction.database, of=dataset, share=analyst or "")
    for event in _checked_events(rows, transaction.chain):
        failures = event.body.get("failures")
        if not isinstance(failures, int) or failures < 0:
            raise LedgerCorrupt(f"event {event.number} cannot be read")
        return failures
    return 0


def delay_of(transaction: Transaction, dataset: str, analyst: str | None) -> Delay:
    """Return the delay of an analyst about a budget, as it was recorded last.

    Raises:
        LedgerCorrupt: if the hash of the event that says so does not match.
    """

    def read() -> Delay:
        rows = _DELAYS.run(transaction.database, of=dataset, share=analyst or "")
        events = _checked_events(rows, transaction.chain)
        return read_delay(events[0].body, events[0].number) if events else Delay()

    return transaction.state.recall("delays", (dataset, analyst), read)


def budget_states(*budgets: Budget) -> dict[str, object]:
    """Return the entry of an event's body for the states of its budgets after it."""
    return {"after": [budget.state for budget in budgets]}


def _latest(transaction: Transaction, dataset: str, analyst: str | None) -> list[Event]:
    """Return the latest events with the states of a dataset's budget and of a share."""
    rows = _STATES.run(transaction.database, of=dataset, share=analyst or "")
    return _checked_events(rows, transaction.chain)


def _checked_events(
    rows: Iterable[Any], chain: ChainHead, check: Callable[..., Event] | None = None
) -> list[Event]:
    """Return the events of these rows after recomputing their hashes."""
    check = _checked_event if check is None else check
    events = []
    for *columns, previous in rows:
        first = columns[0] == 1
        before = genesis(chain.identity, chain.first_schema) if first else previous
        events.append(check(before, *columns))
    return events


@lru_cache(maxsize=_REMEMBERED, typed=True)
def _checked_event(previous: str, *columns: Any) -> Event:
    """Return the event of a row after recomputing its hash.

    A release reads the same rows in all of its transactions, and the charge of the one before. An event follows
    from its row and the hash before it, so it is remembered. Nobody changes its body.
    """
    return _checked_anew(previous, *columns)


def _checked_anew(previous: str, *columns: Any) -> Event:
    """Return the event of a row after recomputing its hash."""
    event = event_of(columns)
    head_of_row = _readable(f"event {event.number}", chain_hash, previous, *columns[:-1])
    if head_of_row != event.head and not is_chained(event, previous):
        raise LedgerCorrupt(f"event {event.number} is not what was written")
    return event


_checked_description = lru_cache(maxsize=4096, typed=True)(_checked_anew)
"""Descriptions are remembered apart: all of them are read together, where one was added too."""


def _check_states(budgets: list[Budget], latest: list[Event]) -> None:
    """Raise if a budget differs from its state in the latest event about it."""
    for budget in budgets:
        about = [event for event in latest if budget.analyst in {None, event.analyst}][-1:]
        if not about or not _leaves(about[0], budget):
            raise LedgerCorrupt(
                f"the budget of {budget.name} is not what the latest event about it left it as"
            )


@lru_cache(maxsize=_REMEMBERED)
def _leaves(event: Event, budget: Budget) -> bool:
    """Return whether the event records that it left the budget as it is."""
    states = event.body.get("after")
    place = 0 if budget.analyst is None else 1
    return isinstance(states, list) and len(states) > place and states[place] == budget.state
