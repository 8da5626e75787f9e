"""Pay, commit, then draw: the one way from a bill to an answer. Proof and crash table: docs/ledger.md."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection

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
from ..payment import Bill, Indices
from ..privacy.contract import Guarantee
from . import checked, rows
from .budget import Amount, Budget
from .events import Event, indices, per, plain, read_indices
from .frames import bare
from .rows import News, Tip, append, tip_of, update
from .store import Store


@dataclass(frozen=True, slots=True)
class Buyer:
    """Whose budgets pay: those of a dataset, and of an analyst on it."""

    store: Store
    dataset: str
    analyst: str | None

    def __post_init__(self) -> None:
        """Keep the names as plain text.

        Raises:
            InvalidArgument: if one of them is none.
        """
        object.__setattr__(self, "dataset", read_name(self.dataset, "dataset"))
        if self.analyst is not None:
            object.__setattr__(self, "analyst", read_name(self.analyst, "analyst"))

    def paying(self) -> list[Budget]:
        """Return the budgets that a release must fit, read in a transaction of their own."""
        return self.store.read(lambda connection: self.budgets(connection, tip_of(connection)))

    def budgets(self, connection: Connection, tip: Tip) -> list[Budget]:
        """Return the budgets that a release must fit, that of the dataset first.

        Raises:
            UnknownBudget: if one of them was never opened.
            LedgerCorrupt: if one is not what the events left it as.
        """
        found = checked.paying(connection, tip, self.dataset, self.analyst)
        known = {budget.analyst for budget in found}
        if None not in known:
            raise UnknownBudget(f"no budget was opened for the dataset {shown(self.dataset)}")
        if self.analyst in known:
            return found
        shares = [budget.analyst for budget in rows.budgets(connection, self.dataset)]
        raise UnknownBudget(
            f"the analyst {shown(self.analyst)} has no share of {self.dataset}; those who have: "
            f"{', '.join(filter(None, shares)) or 'nobody'}"
        )

    def priced(
        self, connection: Connection, tip: Tip, guarantee: Guarantee, unit: str | None
    ) -> list[tuple[Amount, Budget]]:
        """Return what each budget pays for a release, and the budget after it.

        Raises:
            Exhausted: if one of them cannot.
        """
        paying = self.budgets(connection, tip)
        costs = [budget.cost(guarantee, unit) for budget in paying]
        return [(c, budget.charged(c)) for c, budget in zip(costs, paying, strict=True)]


@dataclass(frozen=True, slots=True)
class Purchase:
    """One bill on its way to an answer."""

    buyer: Buyer
    bill: Bill

    def complete(self, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        """Return the answer: the one that is stored, or a new one that is paid, and stored, first."""
        store = self.buyer.store
        if (known := store.read(self._look)) is not None:
            store.cover()
            return _given(known)
        return self._bought(prepare())

    def _bought(self, draw: Callable[[], Indices]) -> Indices:
        """Pay, draw and store. What fails from here on is raised without its frames: they hold draws."""
        paid = False
        try:
            if (known := bare(partial(self.buyer.store.write, self._pay))) is not None:
                return _given(known)
            paid = True
            return bare(partial(self._drawn, draw))
        except BaseException as error:
            if paid or _in_doubt(error):
                said = "this is paid" if paid else "if this was paid"
                error.add_note(f"{said}: request={self.bill.request!r} asks again at no cost")
            raise
        finally:
            del draw  # it holds the private scores

    def _drawn(self, draw: Callable[[], Indices]) -> Indices:
        """Draw, store the answer and return it, or the one that is stored by then.

        Raises:
            InvalidArgument: if it is no index: the stored answer would be another than this one.
        """
        return self.buyer.store.write(partial(self._keep, drawn=read_indices(draw())))

    def _look(self, connection: Connection) -> Event | None:
        """Return the stored answer if there is one, and refuse what cannot be paid."""
        tip = tip_of(connection)
        charged, answered = self._found(connection, tip)
        if charged is None:
            self.buyer.priced(connection, tip, self.bill.guarantee, self.bill.unit)
        return answered

    def _pay(self, connection: Connection) -> Event | None:
        """Charge the budgets, unless somebody else did meanwhile; return the answer if there is one."""
        tip = tip_of(connection, alone=True)
        charged, answered = self._found(connection, tip)
        if charged is None:
            self._charge(connection, tip)
        return answered

    def _charge(self, connection: Connection, tip: Tip) -> None:
        bill = self.bill
        priced = self.buyer.priced(connection, tip, bill.guarantee, bill.unit)
        body = {
            "query": bill.query, "mechanism": bill.mechanism, "guarantee": bill.guarantee.as_dict(),
            "digest": bill.digest, "costs": [cost.as_dict() for cost, _ in priced],
            **per(bill.unit), **checked.stated(*(paid for _, paid in priced)),
        }  # fmt: skip
        append(connection, tip, self._news("charged", body))
        for _, paid in priced:
            update(connection, paid)

    def _keep(self, connection: Connection, drawn: Indices) -> Indices:
        """Store the answer, unless somebody else answered meanwhile; return the one that is stored."""
        tip = tip_of(connection, alone=True)
        _, answered = self._found(connection, tip)
        if answered is not None:
            return _given(answered)
        append(connection, tip, self._news("answered", {"answer": plain(drawn)}))
        return drawn

    def _found(self, connection: Connection, tip: Tip) -> tuple[Event | None, Event | None]:
        """Return how this request was charged, and how it was answered.

        Raises:
            RequestConflict: if it was another question.
        """
        buyer, request = self.buyer, str(self.bill.request)
        found = checked.of_request(connection, tip, buyer.dataset, buyer.analyst, request)
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
        """Return why a charge does not serve this question."""
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

    def _news(self, kind: str, body: dict[str, Any]) -> News:
        return News(kind, self.buyer.dataset, self.buyer.analyst, self.bill.request, body)


def purchase(buyer: Buyer, bill: Bill) -> Purchase:
    """Return the purchase, with a name of its own if the caller gave none."""
    request = str(uuid4()) if bill.request is None else read_name(bill.request, "request")
    return Purchase(buyer, replace(bill, request=request))


def _in_doubt(error: BaseException) -> bool:
    """Return whether a payment that failed like this may have been made: an interrupt, a lost server."""
    return isinstance(error, LedgerUnwritable) or not isinstance(error, DiscreetError)


def _given(answered: Event) -> Indices:
    """Return the stored answer."""
    try:
        return indices(answered.body["answer"])
    except (KeyError, TypeError, ValueError):
        pass
    raise LedgerCorrupt(f"the answer in event {answered.number} cannot be read")
