"""The purchase of several releases: charge all, commit, then draw all. For the proof, see docs/how-to/ledger.md."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Union
from uuid import UUID, uuid4

from ..errors import RequestConflict, preview
from ..selection.payment import Bill, Indices, PaidAnswer, PrepareDraw
from .charge_checks import set_check
from .events import Event, read_indices
from .failed_questions import QuestionFailed
from .purchase import (
    Payer,
    Payment,
    Purchase,
    answer_of_event,
    charged_error,
    note_charge,
    purchase,
    without_frames,
)
from .store import FollowUp
from .transaction import Transaction

Outcome = Union[Indices, QuestionFailed]  # noqa: UP007  # an alias in quotes
"""A stored answer, or a stored failure that stands for it."""


@dataclass(frozen=True, slots=True)
class PurchaseBatch:
    """The purchases of several releases by one payer, under different requests, in three transactions.

    One looks all requests up and checks that all can be paid. One charges all. One stores all answers. A process
    that dies between the last two leaves charges without answers, and never an answer without its charge.
    """

    payer: Payer
    purchases: Sequence[Purchase]

    def complete(self, prepares: Sequence[PrepareDraw]) -> list[PaidAnswer]:
        """Return the stored answers, and new ones after all were charged and stored.

        A failure among them is raised after all the others were stored.

        Args:
            prepares: the functions that compute the private scores, called before anything is charged.
        """
        store = self.payer.store
        endings, payments = store.read(self._look)
        draws = {
            place: prepare() for place, prepare in enumerate(prepares) if endings[place] is None
        }
        if draws:
            return _answers(*self._buy(draws, payments))
        store.cover(max((ending.number for ending in endings if ending is not None), default=0))
        return _answers(list(map(_outcome, endings)), [False] * len(endings))

    def _buy(
        self, draws: dict[int, Callable[[], Indices]], payments: Sequence[Payment]
    ) -> tuple[list[Outcome | None], list[bool]]:
        """Charge, draw and store. Errors from here on lose their frames, which hold drawn answers."""
        purchases = [self.purchases[place] for place in draws]
        is_paid = False
        try:
            endings, is_new = without_frames(
                partial(self.payer.store.write, FollowUp(partial(self._pay, earlier=payments)))
            )
            is_paid = True
            for place, ending in enumerate(endings):
                if ending is not None:
                    draws.pop(place, None)
            new = without_frames(partial(self._draw, draws))
        except BaseException as error:
            was_charged = True if is_paid else _were_charged(purchases, error)
            names = ", ".join(repr(one.request) for one in purchases)
            note_charge(error, was_charged, f"the requests {names}")
            raise
        finally:
            draws.clear()  # they hold the private scores
        earlier = [_outcome(ending) for ending in endings]
        return [new.get(place, outcome) for place, outcome in enumerate(earlier)], is_new

    def _look(self, transaction: Transaction) -> tuple[list[Event | None], Sequence[Payment]]:
        """Return the events with stored answers or failures, and the payments that the others need.

        Raises:
            Exhausted: if they could not be charged.
        """
        events = self._events(transaction)
        self._check_open(transaction, events)
        for one, (_, ending) in zip(self.purchases, events, strict=True):
            if ending is None and one.bill.about is not None:
                set_check(transaction, self.payer.dataset, one.bill.about)
        unpaid = self._unpaid(events)
        for one in _by_dataset(unpaid):
            self.payer.check_source(transaction, one.bill.about)
        payments = self._payments(transaction, unpaid)
        return [ending for _, ending in events], payments

    def _pay(
        self, transaction: Transaction, earlier: Sequence[Payment] = ()
    ) -> tuple[list[Event | None], list[bool]]:
        """Charge for all requests that were not charged already.

        Args:
            transaction: where they are charged.
            earlier: the payments as they were found before, from the budgets of that time.

        Returns:
            For each request the event with its answer or failure, if there is one, and whether this call charged.
        """
        events = self._events(transaction)
        self._check_open(transaction, events)
        unpaid = self._unpaid(events)
        if unpaid:
            self.payer.terms.check()
        for one in _by_dataset(unpaid):
            one.describe(transaction)
        payments = earlier
        is_as_before = len(earlier) == len(unpaid) and all(
            one.before is self.payer.budgets(transaction) for one in earlier[:1]
        )
        if not is_as_before:
            payments = self._payments(transaction, unpaid)
        for place, (one, payment) in enumerate(zip(unpaid, payments, strict=True), 1):
            batch = {"batch": {"place": place, "of": len(unpaid)}} if len(unpaid) > 1 else {}
            one.append_charge(transaction, payment, **batch)
        for payment in payments[-1:]:
            payment.store(transaction)
        return [ending for _, ending in events], [charge is None for charge, _ in events]

    def _events(self, transaction: Transaction) -> list[tuple[Event | None, Event | None]]:
        """Return the events that charged, and that answered or failed, every request."""
        for one in self.purchases:
            one.note_new(transaction)
        return [one.events(transaction) for one in self.purchases]

    def _check_open(
        self, transaction: Transaction, events: Iterable[tuple[Event | None, Event | None]]
    ) -> None:
        if any(ending is None for _, ending in events):
            self.payer.check_open(transaction)

    def _unpaid(self, events: Iterable[tuple[Event | None, Event | None]]) -> list[Purchase]:
        """Return the purchases that were not charged."""
        pairs = zip(self.purchases, events, strict=True)
        return [one for one, (charge, _) in pairs if charge is None]

    def _payments(self, transaction: Transaction, unpaid: Iterable[Purchase]) -> list[Payment]:
        """Return the payments of purchases, one after the other.

        Raises:
            Exhausted: if a budget cannot pay for all.
        """
        payments: list[Payment] = []
        for one in unpaid:
            budgets = payments[-1].states if payments else self.payer.budgets(transaction)
            payments.append(self.payer.payment(budgets, one.bill.guarantee, one.bill.unit))
        return payments

    def _draw(self, draws: dict[int, Callable[[], Indices]]) -> dict[int, Outcome]:
        """Draw all answers, store them and return them, or return those stored meanwhile."""
        outcomes: dict[int, Outcome] = {}
        for place, draw in draws.items():
            try:
                outcomes[place] = read_indices(draw())
            except QuestionFailed as failure:
                outcomes[place] = failure
        return self.payer.store.write(FollowUp(partial(self._keep, outcomes=outcomes)))

    def _keep(self, transaction: Transaction, outcomes: dict[int, Outcome]) -> dict[int, Outcome]:
        """Store answers and failures, of requests that have none, and return those that are stored."""
        endings: dict[int, Outcome] = {}
        for place, outcome in outcomes.items():
            one = self.purchases[place]
            try:
                if isinstance(outcome, QuestionFailed):
                    ending = one.keep_failure(transaction, outcome)
                    endings[place] = outcome if ending is None else answer_of_event(ending)
                else:
                    endings[place] = one.keep(transaction, outcome)
            except QuestionFailed as failure:
                endings[place] = failure
        return endings


def _by_dataset(purchases: Iterable[Purchase]) -> list[Purchase]:
    """Return one purchase about each dataset, and all about queries, with tables that are checked one by one."""
    distinct: list[Purchase] = []
    for one in purchases:
        about = one.bill.about
        is_query = about is not None and about.check is not None
        if is_query or about not in [other.bill.about for other in distinct]:
            distinct.append(one)
    return distinct


def _were_charged(purchases: Iterable[Purchase], error: BaseException) -> bool | None:
    """Return whether a charge of all that failed with this error was committed, or None if that cannot be read."""
    answers = {one.was_charged(error) for one in purchases}
    return next((answer for answer in (False, None) if answer in answers), True)


def _outcome(ending: Event | None) -> Outcome | None:
    """Return the stored answer or failure of an event, or None without an event."""
    if ending is None:
        return None
    try:
        return answer_of_event(ending)
    except QuestionFailed as failure:
        return failure


def _answers(outcomes: Sequence[Outcome | None], is_new: Sequence[bool]) -> list[PaidAnswer]:
    """Return the answers.

    Raises:
        BaseException: the first stored failure.
    """
    answers = []
    for outcome, charges in zip(outcomes, is_new, strict=True):
        assert outcome is not None
        if isinstance(outcome, QuestionFailed):
            raise charged_error(outcome)
        answers.append(PaidAnswer(outcome, charges))
    return answers


def _random_names() -> Iterator[str]:
    """Yield random names that follow one another: their rows lie on one page of an index, and not on one each."""
    first = uuid4().int
    for place in count():
        yield str(UUID(int=first ^ place))


def buy_batch(payer: Payer, orders: Iterable[tuple[Bill, PrepareDraw]]) -> list[PaidAnswer]:
    """Return the answers to several bills, all charged before the first bit is drawn.

    A bill that comes twice under one request is bought once.

    Raises:
        RequestConflict: if two bills of one request are different questions.
    """
    purchases: dict[str, Purchase] = {}
    prepares: dict[str, PrepareDraw] = {}
    requests: list[str] = []
    for (bill, prepare), name in zip(orders, _random_names(), strict=False):
        one = purchase(payer, bill, name)
        request = one.request
        if purchases.setdefault(request, one).bill.digest != bill.digest:
            raise RequestConflict(
                f"request {preview(request)} is another question of this batch. Give this one "
                "another name"
            )
        prepares.setdefault(request, prepare)
        requests.append(request)
    batch = PurchaseBatch(payer, list(purchases.values()))
    answers = dict(zip(purchases, batch.complete(list(prepares.values())), strict=True))
    places = {request: place for place, request in reversed(list(enumerate(requests)))}
    return [
        answers[request] if places[request] == place else answers[request]._replace(charged=False)
        for place, request in enumerate(requests)
    ]
