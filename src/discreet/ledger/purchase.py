"""Charge, commit, then draw: the only way from a bill to an answer.

Proof and crash table: docs/how-to/ledger.md.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from uuid import uuid4

from ..arguments import read_name
from ..descriptions import is_current
from ..errors import (
    DiscreetError,
    LedgerCorrupt,
    LedgerUnwritable,
    RequestConflict,
    UnknownBudget,
    shown,
)
from ..payment import About, Bill, Indices, Purchased
from ..privacy.contract import Guarantee
from ..privacy.units import Unit
from . import integrity, queries
from .budget import Amount, Budget
from .descriptions import (
    WHY_OVERLAPPING,
    check_about,
    check_charge,
    read_bindings,
    record,
    set_check,
)
from .events import Event, decode, encode, read_drawn, unit_field
from .queries import update_budget
from .store import Store
from .tracebacks import without_frames
from .transaction import NewEvent, Transaction


@dataclass(frozen=True, slots=True)
class Payment:
    """The payment of a release: what it costs, and what it leaves budgets as.

    Attributes:
        costs: the cost to each budget that the release must fit.
        paid: those budgets after it.
        states: the budgets whose states an event records: of the dataset, and of the share if there is one.
    """

    costs: list[Amount]
    paid: list[Budget]
    states: list[Budget]

    @property
    def fields(self) -> dict[str, object]:
        """The entries of the event's body."""
        costs = [cost.as_dict() for cost in self.costs]
        return {"costs": costs, **integrity.budget_states(*self.states)}

    def store(self, transaction: Transaction) -> None:
        """Update the sums."""
        for budget in self.paid:
            update_budget(transaction.connection, budget)


def paying(found: list[Budget]) -> list[Budget]:
    """Return the budgets that a release must fit, of those of a dataset and an analyst.

    A share that was paid for when it was opened is all that its analyst's releases must fit: what others have
    spent plays no part. Proof: docs/how-to/ledger.md.
    """
    return found[-1:] if found[0].shares == "reserved" else found


@dataclass(frozen=True, slots=True)
class Payer:
    """A dataset, and perhaps an analyst on it, whose budgets are charged.

    Attributes:
        store: the database of the ledger.
        dataset: the dataset.
        analyst: the analyst, or None.
        at: the time that events of its releases have, where it must not tell when they were charged.
    """

    store: Store
    dataset: str
    analyst: str | None
    at: str | None = None

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
        found = integrity.checked_paying_budgets(transaction, self.dataset, self.analyst)
        known = {budget.analyst for budget in found}
        if None not in known:
            raise UnknownBudget(f"no budget was opened for the dataset {shown(self.dataset)}")
        if self.analyst in known:
            return found
        shares = [
            budget.analyst
            for budget in queries.stored_budgets(transaction.connection, self.dataset)
        ]
        raise UnknownBudget(
            f"the analyst {shown(self.analyst)} has no share of {self.dataset}; those who have: "
            f"{', '.join(filter(None, shares)) or 'nobody'}"
        )

    def paying_about(self, data: Iterable[About | None]) -> tuple[list[Budget], str | None]:
        """Return the budgets, and why nothing may be charged to them any more, or None, in one transaction.

        Args:
            data: the datasets that the releases are about.

        Raises:
            InvalidArgument: if the budget belongs to another described dataset than one of them.
        """
        return self.store.read(self._paying_about, data)

    def _paying_about(
        self, transaction: Transaction, data: Iterable[About | None]
    ) -> tuple[list[Budget], str | None]:
        budgets, bindings = paying(self.budgets(transaction)), read_bindings(transaction)
        for about in data:
            check_about(bindings, self.dataset, about)
        why = WHY_OVERLAPPING if bindings.overlaps(self.dataset) else None
        return budgets, bindings.closed(self.dataset) or why

    def payment(self, transaction: Transaction, guarantee: Guarantee, unit: Unit | None) -> Payment:
        """Return the payment of a release.

        Raises:
            Exhausted: if a budget cannot pay.
        """
        budgets = self.budgets(transaction)
        limits = paying(budgets)
        costs = [budget.cost(guarantee, unit) for budget in limits]
        paid = [budget.charged(cost) for cost, budget in zip(costs, limits, strict=True)]
        return Payment(costs, paid, [*budgets[: -len(paid)], *paid])


@dataclass(frozen=True, slots=True)
class Purchase:
    """The purchase of one release: looks up its request, charges, draws and stores the answer."""

    payer: Payer
    bill: Bill

    def complete(self, prepare: Callable[[], Callable[[], Indices]]) -> Purchased:
        """Return the stored answer, or a new one after it was charged and stored."""
        store = self.payer.store
        if (known := store.read(self._look)) is not None:
            store.cover(known.number)
            return Purchased(_given(known), charged=False)
        return self._bought(prepare())

    def _bought(self, draw: Callable[[], Indices]) -> Purchased:
        """Charge, draw and store. Errors from here on lose their frames, which hold drawn answers."""
        paid = False
        try:
            known, charged = without_frames(partial(self.payer.store.write, self._pay))
            if known is not None:
                return Purchased(_given(known), charged)
            paid = True
            return Purchased(without_frames(partial(self._drawn, draw)), charged)
        except BaseException as error:
            was_charged = True if paid else self._was_charged(error)
            if was_charged is not False:
                said = "this is paid" if was_charged else "if this was paid"
                error.add_note(f"{said}: request={self.bill.request!r} asks again at no cost")
            if isinstance(error, DiscreetError):
                error.charged = was_charged
            raise
        finally:
            del draw  # it holds the private scores

    def _was_charged(self, error: BaseException) -> bool | None:
        """Return whether a charge that failed with this error was committed; None if that cannot be read."""
        if not _in_doubt(error):
            return False
        if not isinstance(
            error, DiscreetError
        ):  # somebody stops the program, who is not kept waiting
            return None
        try:
            return self.payer.store.read_settled(self._found)[0] is not None
        except DiscreetError:
            return None

    def _drawn(self, draw: Callable[[], Indices]) -> Indices:
        """Draw an answer, store it and return it; or return the answer stored meanwhile.

        Raises:
            InvalidArgument: if it is no index, as the stored answer would differ from it.
        """
        return self.payer.store.write(partial(self._keep, drawn=read_drawn(draw())))

    def _look(self, transaction: Transaction) -> Event | None:
        """Return the event with the stored answer, if any; raise if a new one could not be charged."""
        charged, answered = self._found(transaction)
        if answered is None:
            set_check(transaction, self.payer.dataset, self.bill.about)
        if charged is None:
            check_charge(transaction, self.payer.dataset, self.bill.about)
            self.payer.payment(transaction, self.bill.guarantee, self.bill.unit)
        return answered

    def _pay(self, transaction: Transaction) -> tuple[Event | None, bool]:
        """Charge the budgets unless the request was charged already.

        Returns:
            The event with its answer, if there is one, and whether this call charged.
        """
        charged, answered = self._found(transaction)
        if charged is None:
            self._charge(transaction)
        return answered, charged is None

    def _charge(self, transaction: Transaction) -> None:
        bill = self.bill
        changed = check_charge(transaction, self.payer.dataset, bill.about)
        if changed is not None:
            record(transaction, self.payer.dataset, changed, at=self.payer.at)
        payment = self.payer.payment(transaction, bill.guarantee, bill.unit)
        body = {
            "query": bill.query, "mechanism": bill.mechanism, "guarantee": bill.guarantee.as_dict(),
            "digest": bill.digest, **unit_field(bill.unit), **payment.fields,
        }  # fmt: skip
        transaction.append(self._event("charged", body))
        payment.store(transaction)

    def _keep(self, transaction: Transaction, drawn: Indices) -> Indices:
        """Store the answer unless the request was answered meanwhile; return the stored answer."""
        _, answered = self._found(transaction)
        if answered is not None:
            return _given(answered)
        transaction.append(self._event("answered", {"answer": encode(drawn)}))
        return drawn

    def _found(self, transaction: Transaction) -> tuple[Event | None, Event | None]:
        """Return the events that charged and answered this request, if any.

        Raises:
            RequestConflict: if the request was another question.
        """
        payer, request = self.payer, str(self.bill.request)
        found = integrity.events_of_request(transaction, payer.dataset, payer.analyst, request)
        if "charged_outside" in found:
            raise RequestConflict(
                f"request {shown(request)} was charged for a release made elsewhere (event "
                f"{found['charged_outside'].number}); give this question a name of its own"
            )
        charged, answered = found.get("charged"), found.get("answered")
        if charged is not None and charged.body.get("digest") != self.bill.digest:
            raise RequestConflict(self._conflict(charged))
        return charged, answered

    def _conflict(self, charged: Event) -> str:
        """Return the message for a request that was charged for another question."""
        request = shown(self.bill.request)
        if is_current(charged.body.get("digest")):
            return (
                f"request {request} was another question (event {charged.number}); "
                "give this one a name of its own"
            )
        return (
            f"request {request} was charged by another version of discreet (event {charged.number}), which "
            "describes questions in another way, so nobody can tell whether this one is the same. It is not "
            "drawn again: its answer stays in the history; give a new question a name of its own"
        )

    def _event(self, kind: str, body: dict[str, object]) -> NewEvent:
        payer = self.payer
        return NewEvent(kind, payer.dataset, payer.analyst, self.bill.request, body, payer.at)


def purchase(payer: Payer, bill: Bill) -> Purchase:
    """Return the purchase of a bill, under a random request name if it has none."""
    request = str(uuid4()) if bill.request is None else read_name(bill.request, "request")
    return Purchase(payer, replace(bill, request=request))


def _in_doubt(error: BaseException) -> bool:
    """Return whether a charge that failed with this error may be committed: an interrupt, a lost server."""
    return isinstance(error, LedgerUnwritable) or not isinstance(error, DiscreetError)


def _given(answered: Event) -> Indices:
    """Return the stored answer."""
    try:
        return decode(answered.body["answer"])
    except (KeyError, TypeError, ValueError):
        pass
    raise LedgerCorrupt(f"the answer in event {answered.number} cannot be read")
