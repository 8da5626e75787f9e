"""Verification of a ledger: the chain and all sums are recomputed from the first event on."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache

from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import StaticPool

from ..base.arguments import exact_text
from ..base.messages import Message, join
from ..errors import DiscreetError, InvalidArgument, LedgerCorrupt, preview
from ..privacy.guarantees import ZCDP, read_guarantee
from ..privacy.sensitivity import Unit, read_neighbors, read_unit
from .budget import Amount, Budget, budget_order, new_budget, read_amount, read_rule, read_use
from .delays import READINGS, Delay, read_delay
from .events import BUDGET_EVENTS, ChainHead, Event, canonical_json, decode, genesis
from .queries import all_events, is_chained, stored_budgets
from .schema import check_append_only, migrate
from .shares import check_share, shrink, with_changed_share, with_rule, with_share
from .transaction import Transaction


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of verifying a consistent ledger.

    Attributes:
        events: the number of events.
        head: the hash of the last event, which covers all before it. Note it elsewhere for the next `verify`.
        notes: notes for the owner about single budgets, such as the information that rejections may reveal.
    """

    events: int
    head: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        end = Message("{events} events, head {head}", events=self.events, head=self.head)
        return join(Message("{first}\n{then}"), [end, *self.notes])


def notes_on(budgets: Iterable[Budget]) -> tuple[str, ...]:
    """The notes for the owner of budgets: in which of them one analyst's refusals tell of others."""
    return tuple(
        Message(
            "{budget}: oversubscribed. Questions are tested against the share and against what "
            "all analysts have spent, so rejections reveal to analysts what others spend",
            budget=budget.name,
        )
        for budget in budgets
        if budget.shares == "oversubscribed"
    )


def read_noted_head(head: object) -> str | None:
    """Return a head noted elsewhere, or None.

    Raises:
        InvalidArgument: if it is no hash: a truncated or mistyped head must not look like tampering.
    """
    text = exact_text(head)
    if head is None or (text is not None and re.fullmatch("[0-9a-f]{64}", text)):
        return text
    raise InvalidArgument(f"a head is the 64 digits that verify returned, got {preview(head)}")


def verify_chain(connection: Connection, old_head: str | None) -> Verified:
    """Return the end of the chain after recomputing all hashes and sums.

    Args:
        connection: the database.
        old_head: a head that must be on the chain, or None.

    Raises:
        LedgerCorrupt: if events, sums, tables or triggers differ from those that were written.
    """
    check_append_only(connection)
    if connection.dialect.name == "sqlite":
        _check_file(connection)
    chain = Transaction(connection).chain
    budgets = stored_budgets(connection)
    if verify_events(chain, all_events(connection), old_head) != budgets:
        raise LedgerCorrupt("the budgets are not what the events add up to")
    return Verified(chain.events, chain.head, notes_on(budgets))


def verify_events(chain: ChainHead, events: Iterable[Event], old_head: str | None) -> list[Budget]:
    """Return the budgets that events add up to, after recomputing all hashes and sums: see `verify_chain`.

    Raises:
        LedgerCorrupt: if they are not the events of the chain up to its end, or a noted head is not on it.
    """
    replay = Replay()
    has_head = old_head is None
    for head in _heads(chain, events, replay):
        has_head = has_head or head == old_head
    replay.check_complete()
    if not has_head:
        raise LedgerCorrupt(
            f"the head {preview(old_head)} is not in this ledger: it is an older copy, or was "
            "rewritten"
        )
    return replay.budgets()


def _heads(chain: ChainHead, events: Iterable[Event], replay: "Replay") -> Iterator[str]:
    """Follow the chain from its beginning to its recorded end, and yield all hashes on it."""
    number, head = 0, genesis(chain.identity, chain.first_schema)
    yield head
    for event in events:
        number += 1
        if event.number != number or not is_chained(event, head):
            raise LedgerCorrupt(f"event {number} is not what was written")
        replay.follow(event)
        head = event.head
        yield head
    if (number, head) != (chain.events, chain.head):
        raise LedgerCorrupt(
            f"the ledger ends after event {number}, and should after {chain.events}"
        )


@dataclass(slots=True)
class Replay:
    """The budgets and requests that follow from the events so far."""

    _batch: Event | None = None  # the latest charge of a batch that is not complete
    _budgets: dict[tuple[str, str | None], Budget] = field(default_factory=dict)
    _requests: dict[tuple[str, str | None, str], str] = field(default_factory=dict)
    _direct: dict[str, Amount] = field(default_factory=dict)
    _failures: dict[tuple[str, str | None], int] = field(default_factory=dict)
    _readings: Counter[tuple[str, str | None, str]] = field(default_factory=Counter)
    _delays: dict[tuple[str, str | None], Delay] = field(default_factory=dict)

    def budgets(self) -> list[Budget]:
        """Return the budgets in the order of `queries.stored_budgets`."""
        return sorted(self._budgets.values(), key=budget_order)

    def follow(self, event: Event) -> None:
        """Apply one more event.

        Raises:
            LedgerCorrupt: if it cannot follow the events before it.
        """
        steps = {"opened": self._open, "extended": self._change,
                 "shrunk": self._change, "recounted": self._recount,
                 "charged": self._charge, "answered": self._answer,
                 "charged_outside": self._charge, "released_outside": self._release,
                 "failed": self._fail, "reopened": self._reopen,
                 "second_reading": self._read_again, "third_reading": self._read_again,
                 "delayed": self._delay, "given_up": self._delay, "reset": self._delay,
                 "described": self._describe}  # fmt: skip
        try:
            self._follow_batch(event)
            steps[event.kind](event)
            if event.kind in BUDGET_EVENTS:
                self._compare(event)
        except (DiscreetError, ValueError, TypeError, KeyError, ArithmeticError, AttributeError):
            pass
        else:
            return
        raise LedgerCorrupt(f"event {event.number} cannot follow those before it")

    def check_complete(self) -> None:
        """Raise if the events end in the middle of a batch.

        Raises:
            LedgerCorrupt: if they do.
        """
        if self._batch is not None:
            raise LedgerCorrupt(f"the batch of event {self._batch.number} is not complete")

    def _follow_batch(self, event: Event) -> None:
        """Check that the charges of a batch follow one another, from the first to the last."""
        before, batch = self._batch, event.body.get("batch")
        if batch is None:
            if before is not None:
                raise ValueError("an event in the middle of a batch")
            return
        place, size = batch["place"], batch["of"]
        if event.kind != "charged" or len(batch) != 2 or size < 2:
            raise ValueError("a batch of something else")
        last = 0 if before is None else before.body["batch"]["place"]
        if (
            place != last + 1
            or place > size
            or (before is not None and _batch_of(before) != _batch_of(event))
        ):
            raise ValueError("a charge at another place of its batch")
        self._batch = event if place < size else None

    def _open(self, event: Event) -> None:
        key = event.dataset, event.analyst
        if key in self._budgets or (event.analyst and (event.dataset, None) not in self._budgets):
            raise ValueError("opened twice, or a share of nothing")
        neighbors, unit = read_neighbors(event.body["neighbors"]), _unit_of(event)
        terms = event.body
        budget = new_budget(
            *key, neighbors, read_amount(terms["total"]), unit,
            delta_for=read_use(terms.get("delta_for", "")), shares=read_rule(terms.get("shares", "")),
        )  # fmt: skip
        _check_total(budget)
        if (budget.shares is None) != (event.analyst is not None):
            raise ValueError(
                "a budget that does not say how its shares are paid for, or a share that does"
            )
        if event.analyst is None:
            self._direct[event.dataset] = budget.spent
        else:
            self._add_share(budget)
        self._budgets[key] = budget

    def _add_share(self, share: Budget) -> None:
        """Let the dataset's budget pay for a share."""
        whole = self._budgets[share.dataset, None]
        check_share(share, whole)
        self._budgets[share.dataset, None] = with_share(whole, share)

    def _change(self, event: Event) -> None:
        """Give a budget or a share another total."""
        key, total = (event.dataset, event.analyst), read_amount(event.body["total"])
        before = self._budgets[key]
        use = read_use(event.body.get("delta_for", ""))
        after = before.extended(total, use) if event.kind == "extended" else shrink(before, total)
        _check_total(after)
        if event.analyst is not None:
            whole = self._budgets[event.dataset, None]
            self._budgets[event.dataset, None] = with_changed_share(whole, before, after)
        self._budgets[key] = after

    def _recount(self, event: Event) -> None:
        """Count the budget of a dataset by another rule for its shares."""
        if event.analyst is not None:
            raise ValueError("a rule of a share")
        shares = [b for (of, who), b in self._budgets.items() if of == event.dataset and who]
        whole = self._budgets[event.dataset, None]
        rule = read_rule(event.body["shares"])
        after = with_rule(whole, shares, self._direct[event.dataset], rule)
        self._budgets[event.dataset, None] = after

    def _describe(self, event: Event) -> None:
        """Check that a description is of a budget, and has its privacy unit."""
        if self._budgets[event.dataset, None].unit != _unit_of(event):
            raise ValueError("a description that protects others than its budget")
        if event.analyst is not None or not isinstance(event.body["digest"], str):
            raise TypeError("a description of a share, or without a digest")

    def _compare(self, event: Event) -> None:
        """Compare the states in the event with those that follow from all events so far."""
        follows = [self._budgets[key].state for key in _budget_keys(event)]
        if event.body["after"] != follows:
            raise ValueError("a budget that is not what the events add up to")

    def _charge(self, event: Event) -> None:
        self._pass(event, None)
        guarantee = canonical_json(event.body["guarantee"])
        costs, keys = list(map(read_amount, event.body["costs"])), _budget_keys(event)
        if self._budgets[keys[0]].shares == "reserved":
            keys = keys[-1:]
        for key, cost in zip(keys, costs, strict=True):
            if self._budgets[key].unit != _unit_of(event):
                raise ValueError("a release that protects others than its budget")
            _check_cost(self._budgets[key], cost, guarantee)
            self._budgets[key] = self._budgets[key].charged(cost)
        if event.analyst is None:
            self._direct[event.dataset] += costs[0]

    def _answer(self, event: Event) -> None:
        self._pass(event, "charged")
        decode(event.body["answer"])

    def _release(self, event: Event) -> None:
        self._pass(event, "charged_outside")
        if not isinstance(event.body["note"], str):
            raise TypeError("a note that is not a text")

    def _fail(self, event: Event) -> None:
        self._pass(event, "charged")
        self._count_failures(event, self._failures.get((event.dataset, event.analyst), 0) + 1)

    def _read_again(self, event: Event) -> None:
        """Count the readings of a request that has no outcome yet."""
        key = event.dataset, event.analyst, str(event.request)
        self._readings[key] += 1
        is_next = READINGS.index(event.kind) == self._readings[key]
        if self._requests.get(key) != "charged" or not is_next or event.body:
            raise ValueError("read again after its outcome, or out of order")

    def _delay(self, event: Event) -> None:
        """Check that a delay follows from the one before: it doubles, or a reset was between."""
        new = read_delay(event.body, event.number)
        old = self._delays.get((event.dataset, event.analyst), Delay())
        before = old.after_reset(new.since)
        if event.kind == "reset":
            is_next = new == Delay(since=new.since) and old != new
        else:
            key = event.dataset, event.analyst, str(event.body["request"])
            is_given_up = event.kind == "given_up"
            is_next = self._requests.get(key) == "charged" and new.factor >= before.factor
            is_next &= new.given_up == before.given_up + is_given_up
            is_next &= is_given_up or new.factor > before.factor
        if event.request is not None or new.since < old.since or not is_next:
            raise ValueError("a delay that does not follow from the one before")
        self._delays[event.dataset, event.analyst] = new

    def _reopen(self, event: Event) -> None:
        """Count the failures of an analyst again."""
        if event.analyst is None or event.request is not None:
            raise ValueError("opened again for a request, or without an analyst")
        if not self._failures.get((event.dataset, event.analyst)):
            raise ValueError("opened again without a failure")
        self._count_failures(event, 0)

    def _count_failures(self, event: Event, failures: int) -> None:
        """Record how many questions have failed, and compare that with the event."""
        reason = event.body.get("reason") if event.kind == "failed" else None
        more = {} if reason is None else {"reason": str(reason)}
        if event.body != {"failures": failures, **more}:
            raise ValueError("a failure that is counted in another way")
        self._failures[event.dataset, event.analyst] = failures

    def _pass(self, event: Event, before: str | None) -> None:
        """Record the state of the request, which is charged once, and then answered or failed once."""
        key = event.dataset, event.analyst, str(event.request)
        if event.request is None or self._requests.get(key) != before:
            raise ValueError("charged or answered twice, or answered before it was charged")
        self._requests[key] = event.kind


def _batch_of(event: Event) -> tuple[object, ...]:
    """Return the fields that are the same in all charges of a batch."""
    return event.dataset, event.analyst, event.body["batch"]["of"]


def _check_total(budget: Budget) -> None:
    """Raise if a total has a delta without a use, or its rho does not certify its epsilon and delta."""
    epsilon, rho, delta = budget.total.epsilon, budget.total.rho, budget.total.delta
    if delta and budget.delta_for is None:
        raise ValueError("a delta that is for nothing")
    if budget.delta_for != "composition":
        return
    if epsilon is None or rho is None or _implied_epsilon(rho, delta) > epsilon:
        raise ValueError("a rho that is more than epsilon and delta allow")


@cache
def _implied_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """Return the epsilon that follows from a rho at a delta. The relation plays no part."""
    return ZCDP(rho, "add_remove").approx(delta).epsilon if rho else Fraction(0)


def _check_cost(budget: Budget, cost: Amount, guarantee: str) -> None:
    """Raise if a charge is less than its guarantee costs in epsilon or delta. A rho may be rounded otherwise."""
    due_costs = _cost(replace(budget, spent=Amount()), guarantee)
    pairs = (cost.epsilon, due_costs.epsilon), (cost.delta, due_costs.delta)
    if any(amount is not None and (due is None or amount < due) for amount, due in pairs):
        raise ValueError("a charge that is less than its guarantee")


@lru_cache(maxsize=4096)
def _cost(budget: Budget, guarantee: str) -> Amount:
    return budget.cost(read_guarantee(json.loads(guarantee)), budget.unit)


def _budget_keys(event: Event) -> list[tuple[str, str | None]]:
    """Return the keys of the event's budgets: the dataset's, and the analyst's if there is one."""
    return list(dict.fromkeys([(event.dataset, None), (event.dataset, event.analyst)]))


def _unit_of(event: Event) -> Unit | None:
    """Return the privacy unit of the event's budget or release."""
    return read_unit(event.body.get("privacy_unit"))


def _check_file(connection: Connection) -> None:
    """Let SQLite check its pages, and compare tables and triggers with those of a new ledger."""
    findings = list(connection.exec_driver_sql("PRAGMA integrity_check").scalars())
    if findings != ["ok"]:
        raise LedgerCorrupt("SQLite finds the file damaged")
    fresh = create_engine("sqlite://", poolclass=StaticPool)
    with fresh.begin() as other:
        migrate(other)
        original = _catalog(other)
    fresh.dispose()
    if _catalog(connection) != original:
        raise LedgerCorrupt("the tables or triggers are not those that a ledger has")


def _catalog(connection: Connection) -> set[tuple[str, ...]]:
    rows = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master")
    return {tuple(map(str, row)) for row in rows}
