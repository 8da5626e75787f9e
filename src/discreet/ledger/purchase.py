"""Charge, commit, then draw: the only way from a bill to an answer.

For the proof and the crash table, see docs/how-to/ledger.md.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from traceback import walk_tb
from types import TracebackType
from typing import NamedTuple, TypeVar
from uuid import uuid4

from ..base.arguments import read_name
from ..base.digests import is_current
from ..base.doors import spelling
from ..errors import (
    DiscreetError,
    LedgerCorrupt,
    LedgerUnwritable,
    RequestConflict,
    UnknownBudget,
    preview,
)
from ..privacy.contract import Guarantee
from ..privacy.sensitivity import Unit
from ..selection.payment import About, Bill, Indices, PaidAnswer
from ..selection.question_sentences import facts_of
from . import queries
from .bindings import read_bindings, record
from .budget import Amount, Budget
from .charge_checks import check_charge, set_check, why_unanswered
from .delays import READINGS, Delay, GivenUp, Timing, given_up, new_delay, no_more_readings
from .events import Event, decode, encode, read_indices, unit_field
from .failed_questions import (
    Allowance,
    QuestionFailed,
    check_open,
    new_failure,
    stored_failure,
    why_closed,
)
from .store import FollowUp, Store
from .transaction import NewEvent, Transaction

_T = TypeVar("_T")
_Error = TypeVar("_Error", bound=BaseException)


class Payment(NamedTuple):
    """The payment of a release: its costs, and the budgets after it.

    Attributes:
        before: the budgets of the dataset, and of the analyst if there is one, before it.
        costs: the costs to the budgets that the release must fit.
        after: those budgets after it.
        states: the budgets whose states an event records: of the dataset, and of the share if there is one.
    """

    before: list[Budget]
    costs: list[Amount]
    after: list[Budget]
    states: list[Budget]

    @property
    def fields(self) -> dict[str, object]:
        """The entries of the event's body."""
        costs = [cost.as_dict() for cost in self.costs]
        return {"costs": costs, **queries.budget_states(*self.states)}

    def store(self, transaction: Transaction) -> None:
        """Update the sums."""
        queries.charge_budgets(transaction, self.after, self.states)


def paying(budgets: list[Budget]) -> list[Budget]:
    """Return the budgets that a release must fit, of those of a dataset and an analyst.

    A share that was paid for when it was opened is all that its analyst's releases must fit: sums that others have
    spent plays no part. For the proof, see docs/how-to/ledger.md.
    """
    return budgets[-1:] if budgets[0].shares == "reserved" else budgets


@dataclass(frozen=True, slots=True)
class ChargeTerms:
    """The terms of the caller for the payment, in addition to the budgets.

    Attributes:
        at: the time of the charge, where it must not tell when that was written. None for the clock.
        timing: the public times of its reading, at a service; None elsewhere.
        check: called in the transaction that charges; raises if the caller may not pay any more.
        allowance: the limits that the owner sets to an analyst. None for no limits.
        charges_first: whether the data are read after the charge, so that one transaction looks and charges.
    """

    at: str | None = None
    timing: Timing | None = None
    check: Callable[[], object] = lambda: None
    allowance: Allowance | None = None
    charges_first: bool = False


@dataclass(frozen=True, slots=True)
class Payer:
    """The dataset, and perhaps the analyst on it, of the budgets that are charged.

    Attributes:
        store: the database of the ledger.
        dataset: the dataset.
        analyst: the analyst, or None.
        terms: the terms of the caller.
    """

    store: Store
    dataset: str
    analyst: str | None
    terms: ChargeTerms = field(default_factory=ChargeTerms)

    def __post_init__(self) -> None:
        """Read the names as exact text.

        Raises:
            InvalidArgument: if one of them is no name.
        """
        object.__setattr__(self, "dataset", read_name(self.dataset, "dataset"))
        if self.analyst is not None:
            object.__setattr__(self, "analyst", read_name(self.analyst, "analyst"))

    def paying(self) -> list[Budget]:
        """Return the budgets that a release must fit, in a transaction of its own."""
        return paying(self.store.read(self.budgets))

    def budgets(self, transaction: Transaction) -> list[Budget]:
        """Return the budget of the dataset, and the analyst's share after it if there is an analyst.

        Args:
            transaction: where they are read.

        Raises:
            UnknownBudget: if one of them was never opened.
            LedgerCorrupt: if one of them differs from its state in the latest event about it.
        """
        both = queries.checked_paying_budgets(transaction, self.dataset, self.analyst)
        holders = {budget.analyst for budget in both}
        if None not in holders:
            stored = queries.stored_budgets(transaction.database)
            raise UnknownBudget(
                f"no budget was opened for the dataset {preview(self.dataset)}. There are "
                f"{', '.join(sorted({budget.dataset for budget in stored})) or 'none'}"
            )
        if self.analyst in holders:
            return both
        shares = [
            budget.analyst for budget in queries.stored_budgets(transaction.database, self.dataset)
        ]
        raise UnknownBudget(
            f"the analyst {preview(self.analyst)} has no share of {self.dataset}. These have one: "
            f"{', '.join(filter(None, shares)) or 'none'}"
        )

    def paying_about(self, data: Iterable[About | None]) -> tuple[list[Budget], str | None]:
        """Return the budgets, and the reason if they are closed, or None, in one transaction.

        Args:
            data: the datasets that the releases are about.

        Raises:
            InvalidArgument: if the budget belongs to another described dataset than one of them.
        """
        return self.store.read(self._paying_about, data)

    def _paying_about(
        self, transaction: Transaction, data: Iterable[About | None]
    ) -> tuple[list[Budget], str | None]:
        budgets = paying(self.budgets(transaction))
        why = why_unanswered(read_bindings(transaction), self.dataset, list(data))
        return budgets, why or self._closed_by_failures(transaction)

    def _closed_by_failures(self, transaction: Transaction) -> str | None:
        """Return why the dataset is closed after failures, or None."""
        if self.terms.allowance is None:
            return None
        return why_closed(transaction, self.dataset, self.terms.allowance)

    def check_open(self, transaction: Transaction) -> None:
        """Raise if questions of the analyst have failed, or were given up, too often: another one is not read.

        Raises:
            Exhausted: if they have.
        """
        if self.terms.allowance is not None:
            check_open(transaction, self.dataset, self.terms.allowance)

    def check_source(self, transaction: Transaction, about: About | None) -> About | None:
        """Return the description to be recorded with a charge: see `charge_checks.check_charge`."""
        if about is None and not queries.described_events(transaction):
            return None
        return check_charge(transaction, self.dataset, about)

    def payment(self, budgets: list[Budget], guarantee: Guarantee, unit: Unit | None) -> Payment:
        """Return the payment of a release from budgets as they are, or as earlier payments leave them.

        Raises:
            Exhausted: if a budget cannot pay.
            InvalidArgument: if it costs less than the least that is allowed.
        """
        limits = paying(budgets)
        costs = [budget.cost(guarantee, unit) for budget in limits]
        if self.terms.allowance is not None:
            self.terms.allowance.check_cost(costs[-1])
        after = [budget.charged(cost) for cost, budget in zip(costs, limits, strict=True)]
        return Payment(budgets, costs, after, [*budgets[: -len(after)], *after])


@dataclass(frozen=True, slots=True)
class Purchase:
    """The purchase of one release: looks up its request, charges, draws and stores the answer.

    Attributes:
        payer: the account.
        bill: the release and its cost.
        request: its name, which is never charged or drawn twice.
        is_new: whether that was made for it just now, at random.
    """

    payer: Payer
    bill: Bill
    request: str
    is_new: bool = False

    @property
    def key(self) -> tuple[str, str | None, str]:
        """The dataset, the analyst and the request, by which its events are found."""
        return self.payer.dataset, self.payer.analyst, self.request

    def complete(self, prepare: Callable[[], Callable[[], Indices]]) -> PaidAnswer:
        """Return the stored answer, or a new one after it was charged and stored.

        A stored failure stands for the answer: it is raised, and nothing is read.
        """
        try:
            if self.payer.terms.charges_first:
                return self._buy(prepare(), self._look_and_pay)
            ending, payment = self.payer.store.read(self._look)
            if ending is None:
                return self._buy(prepare(), FollowUp(partial(self._pay, earlier=payment)))
            self.payer.store.cover(ending.number)
            return PaidAnswer(answer_of_event(ending), charged=False)
        except QuestionFailed as failure:
            error = charged_error(failure)
        raise error

    def _buy(
        self,
        draw: Callable[[], Indices],
        pay: Callable[[Transaction], tuple[Event | None, bool]],
    ) -> PaidAnswer:
        """Charge, draw and store. Errors from here on lose their frames, which hold drawn answers."""
        is_paid = False
        try:
            ending, is_new = without_frames(partial(self.payer.store.write, pay))
            if ending is not None:
                return PaidAnswer(answer_of_event(ending), is_new)
            is_paid = True
            return PaidAnswer(without_frames(partial(self._draw, draw)), is_new)
        except QuestionFailed:
            raise
        except BaseException as error:
            was_charged = True if is_paid else self.was_charged(error)
            note_charge(error, was_charged, f"with {spelling(request=self.request)}")
            raise
        finally:
            del draw  # it holds the private scores

    def was_charged(self, error: BaseException) -> bool | None:
        """Return whether a charge that failed with this error was committed, or None if that cannot be read."""
        if not _may_have_committed(error):
            return False
        if not isinstance(
            error, DiscreetError
        ):  # somebody stops the program, who is not kept waiting
            return None
        try:
            return self.payer.store.read_settled(self.events)[0] is not None
        except DiscreetError:
            return None

    def _draw(self, draw: Callable[[], Indices]) -> Indices:
        """Draw an answer, store it and return it, or return the answer stored meanwhile.

        Raises:
            QuestionFailed: if the draw does, after the failure was stored.
            Unanswerable: if it was given up, after that was stored.
            InvalidArgument: if it is no index, as the stored answer would differ from it.
        """
        failure: QuestionFailed | GivenUp
        try:
            indices = read_indices(draw())
        except (QuestionFailed, GivenUp) as error:
            failure = error
        else:
            return self.payer.store.write(FollowUp(partial(self.keep, indices=indices)))
        keep = partial(self.keep_failure, failure=failure)
        ending = self.payer.store.write(FollowUp(keep))
        if ending is not None:
            return answer_of_event(ending)
        raise failure if isinstance(failure, QuestionFailed) else given_up()

    def _look(self, transaction: Transaction) -> tuple[Event | None, Payment | None]:
        """Return the event with the stored answer or failure, if any, and the payment that a new one needs.

        Raises:
            Exhausted: if it could not be charged.
        """
        self.note_new(transaction)
        payment = None
        charge, ending = self.events(transaction)
        if ending is None:
            self.payer.check_open(transaction)
            if self.bill.about is not None:
                set_check(transaction, self.payer.dataset, self.bill.about)
        timing = self.payer.terms.timing
        if charge is not None and ending is None and not (timing and timing.is_record):
            self._check_readings(transaction)
        if charge is None:
            self.payer.check_source(transaction, self.bill.about)
            budgets = self.payer.budgets(transaction)
            payment = self.payer.payment(budgets, self.bill.guarantee, self.bill.unit)
        return ending, payment

    def _look_and_pay(self, transaction: Transaction) -> tuple[Event | None, bool]:
        """Charge the budgets unless the request was charged already, with all that is checked before."""
        _, payment = self._look(transaction)
        return self._pay(transaction, earlier=payment)

    def _pay(
        self, transaction: Transaction, earlier: Payment | None = None
    ) -> tuple[Event | None, bool]:
        """Charge the budgets unless the request was charged already.

        Args:
            transaction: where they are charged.
            earlier: the payment as it was found before, from the budgets of that time.

        Returns:
            The event with its answer or failure, if there is one, and whether this call charged.
        """
        self.note_new(transaction)
        charge, ending = self.events(transaction)
        if ending is None:
            self.payer.check_open(transaction)
        if charge is None:
            self._charge(transaction, earlier)
        timing = self.payer.terms.timing
        if timing is not None and ending is None:
            self._begin_reading(transaction, timing, is_again=charge is not None)
        return ending, charge is None

    def _begin_reading(self, transaction: Transaction, timing: Timing, *, is_again: bool) -> None:
        """Count another reading of a question that was charged before, and note the delay."""
        if timing.is_record:
            return
        if is_again:
            kind = READINGS[self._check_readings(transaction)]
            transaction.append(self._event(kind, {}, self.payer.terms.at))
        timing.factor = self._delay(transaction, timing).factor

    def _check_readings(self, transaction: Transaction) -> int:
        """Return how often a question was read.

        Raises:
            Unanswerable: if it may not be read again.
        """
        events = queries.events_of_request(transaction, *self.key)
        readings = sum(kind in events for kind in READINGS)
        if readings == len(READINGS):
            raise no_more_readings(self.request)
        return readings

    def _delay(self, transaction: Transaction, timing: Timing) -> Delay:
        """Return the delay of the analyst, as it is recorded."""
        stored = queries.delay_of(transaction, self.payer.dataset, self.payer.analyst)
        return stored.after_reset(timing.since)

    def _charge(self, transaction: Transaction, earlier: Payment | None) -> None:
        bill = self.bill
        self.payer.terms.check()
        self.describe(transaction)
        budgets, payment = self.payer.budgets(transaction), earlier
        if payment is None or payment.before is not budgets:
            payment = self.payer.payment(budgets, bill.guarantee, bill.unit)
        self.append_charge(transaction, payment)
        payment.store(transaction)

    def describe(self, transaction: Transaction) -> None:
        """Check that the budget is the one of the dataset, and record a description that has changed."""
        payer = self.payer
        description = payer.check_source(transaction, self.bill.about)
        if description is not None:
            record(transaction, payer.dataset, description, at=payer.terms.at)

    def append_charge(
        self, transaction: Transaction, payment: Payment, **fields: dict[str, int]
    ) -> None:
        """Append the event that charges.

        Args:
            transaction: where it is appended.
            payment: the payment.
            **fields: further entries of its body: the place in a batch.
        """
        bill = self.bill
        body = {
            "asked": facts_of(bill.query), "mechanism": bill.mechanism, "guarantee": bill.guarantee.as_dict(),
            "digest": bill.digest, **unit_field(bill.unit), **payment.fields, **fields,
        }  # fmt: skip
        transaction.append(self._event("charged", body, self.payer.terms.at))

    def keep(self, transaction: Transaction, indices: Indices) -> Indices:
        """Store the answer unless the request was answered or failed meanwhile, and return the stored answer."""
        _, ending = self.events(transaction)
        if ending is not None:
            return answer_of_event(ending)
        body = {"answer": encode(indices)}
        self._note_delay(transaction)
        transaction.append(self._event("answered", body, self._stored_at))
        return indices

    def keep_failure(
        self, transaction: Transaction, failure: QuestionFailed | GivenUp
    ) -> Event | None:
        """Store that the question failed or was given up, unless it has an outcome; return the event of that."""
        _, ending = self.events(transaction)
        if ending is not None:
            return ending
        if isinstance(failure, GivenUp):
            self._note_delay(transaction, failure)
            return None
        self._note_delay(transaction)
        transaction.append(new_failure(transaction, self.key, failure.reason, self._stored_at))
        return None

    def _note_delay(self, transaction: Transaction, given_up: GivenUp | None = None) -> None:
        """Record a delay that has doubled, or a question that was given up."""
        timing = self.payer.terms.timing
        if timing is None:
            return
        before, who = self._delay(transaction, timing), (self.payer.dataset, self.payer.analyst)
        after = before._replace(
            factor=max(before.factor, timing.factor),
            given_up=before.given_up + (given_up is not None),
            since=max(before.since, timing.since),
        )
        more = {"request": self.request}
        if given_up is not None:
            more["reason"] = given_up.reason
        if after.factor > before.factor or given_up is not None:
            kind = "delayed" if given_up is None else "given_up"
            new_delay(transaction, kind, who, after, at=timing.stored_at, **more)

    def note_new(self, transaction: Transaction) -> None:
        """Note that a random name, made for this purchase just now, has no charge yet."""
        if self.is_new:
            transaction.state.learn("requests", self.key, {})

    def events(self, transaction: Transaction) -> tuple[Event | None, Event | None]:
        """Return the events that charged, and that answered or failed, this request, if any.

        Raises:
            RequestConflict: if the request was another question.
        """
        events = queries.events_of_request(transaction, *self.key)
        if "charged_outside" in events:
            raise RequestConflict(
                f"request {preview(self.request)} was charged for a release made elsewhere (event "
                f"{events['charged_outside'].number}). Give this question another name"
            )
        charge = events.get("charged")
        if charge is not None and charge.body.get("digest") != self.bill.digest:
            raise RequestConflict(self._conflict(charge))
        return charge, events.get("answered") or events.get("failed")

    def _conflict(self, charged: Event) -> str:
        """Return the message for a request that was charged for another question."""
        request = preview(self.request)
        if is_current(charged.body.get("digest")):
            return (
                f"request {request} was another question (event {charged.number}). Give this one "
                "another name"
            )
        return (
            f"request {request} was charged by another version of discreet (event "
            f"{charged.number}), which describes questions differently, so it is not known whether "
            "this is the same question. Its answer stays in the history. Give a new question "
            "another name"
        )

    @property
    def _stored_at(self) -> str | None:
        """The time of the answer or the failure."""
        timing = self.payer.terms.timing
        return (timing and timing.stored_at) or self.payer.terms.at

    def _event(self, kind: str, body: dict[str, object], at: str | None) -> NewEvent:
        return NewEvent(kind, *self.key, body, at)


def purchase(payer: Payer, bill: Bill, name: str | None = None) -> Purchase:
    """Return the purchase of a bill, under a random request name if it has none.

    Args:
        payer: the account.
        bill: the release and its cost.
        name: that random name, where it is drawn already.
    """
    is_new = bill.request is None
    request = (name or str(uuid4())) if is_new else read_name(bill.request, "request")
    return Purchase(payer, bill, request, is_new)


def _may_have_committed(error: BaseException) -> bool:
    """Return whether a charge that failed with this error may be committed: an interrupt, a lost server."""
    return isinstance(error, LedgerUnwritable) or not isinstance(error, DiscreetError)


def answer_of_event(ending: Event) -> Indices:
    """Return the stored answer.

    Raises:
        QuestionFailed: if a failure was stored.
    """
    if ending.kind == "failed":
        raise stored_failure()
    try:
        return decode(ending.body["answer"])
    except (KeyError, TypeError, ValueError):
        pass
    raise LedgerCorrupt(f"the answer in event {ending.number} cannot be read")


def charged_error(failure: QuestionFailed) -> Exception:
    """Return the error of a question that was charged and failed, for the caller."""
    error = without_traceback(failure.error)
    if isinstance(error, DiscreetError):
        error.charged = True
    return error


def note_charge(error: BaseException, was_charged: bool | None, requests: str) -> None:
    """Note on an error whether it was charged, or may have been, and that these requests may be asked again."""
    if was_charged is not False:
        prefix = "this is paid" if was_charged else "if this was paid"
        error.add_note(f"{prefix}: retry {requests} at no cost")
    if isinstance(error, DiscreetError):
        error.charged = was_charged


def without_frames(work: Callable[[], _T]) -> _T:
    """Return `work()`, or raise its error without the frames below this one.

    The error, an interrupt too, loses its traceback, cause and context. A note on errors of other libraries
    lists the files and functions that it passed through, without variables.
    """
    try:
        try:
            return work()
        except BaseException as error:  # raised below
            failure = without_traceback(error)
    except BaseException as another:  # a second interrupt, while the first was bared
        failure = without_traceback(another)
    del work
    try:
        raise failure
    finally:
        del failure


def without_traceback(error: _Error) -> _Error:
    """Return the error without traceback, cause and context, with a note on its origin."""
    came = _places(error.__traceback__)
    error.__traceback__ = error.__cause__ = error.__context__ = None
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            without_traceback(part)
    if isinstance(error, Exception) and not isinstance(error, DiscreetError):
        error.add_note(f"it came from {came}. Its frames are left out, as they may hold answers")
    return error


def _places(trace: TracebackType | None) -> str:
    """Return the places that an error passed through, the innermost first."""
    places = [
        f"{os.path.basename(frame.f_code.co_filename)}:{line} in {frame.f_code.co_name}"
        for frame, line in walk_tb(trace)
    ]
    return " < ".join(reversed(places[2:])) or "here"
