"""A session: one dataset, and perhaps one analyst, paying for releases."""

from collections.abc import Callable
from dataclasses import dataclass

from ..privacy.bills import Bill, Indices
from .budget import Amount
from .purchase import Buyer, purchase
from .store import Store


@dataclass(frozen=True, slots=True)
class Quote:
    """What a release would cost. Nothing was paid.

    Attributes:
        cost: what it costs in the units of the budget that decides.
        spent: what that budget has spent.
        remaining: what it has left.
        fits: whether all budgets could pay now.
    """

    cost: Amount
    spent: Amount
    remaining: Amount
    fits: bool

    def __str__(self) -> str:
        verdict = "fits" if self.fits else "does not fit"
        return f"costs {self.cost}: {verdict}, spent {self.spent}, remaining {self.remaining}"


class Session:
    """Who pays for releases: `ledger=` of every verb takes one.

    Made by `Ledger.session`.
    """

    def __init__(self, store: Store, dataset: str, analyst: str | None) -> None:
        self._buyer = Buyer(store, dataset, analyst)

    @property
    def dataset(self) -> str:
        """The dataset whose budget pays."""
        return self._buyer.dataset

    @property
    def analyst(self) -> str | None:
        """The analyst whose share pays too, or None."""
        return self._buyer.analyst

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        """Return what is drawn: pay, commit, then draw; or what the same request drew before.

        Args:
            bill: what it costs.
            prepare: computes the private scores, and returns what draws from them. It is called only
                if the budgets can pay, or the request was paid before.

        Raises:
            Exhausted: if a budget cannot pay; nothing private was looked at.
            InvalidArgument: if a budget cannot count this guarantee; nothing private was looked at.
            RequestConflict: if the request was another question; nothing private was looked at.
            LedgerError: if the ledger fails. No answer was given; an answer that cannot be stored is
                thrown away, and the error says how to ask again without paying.

        Side channels: the time of the database. That a release was paid, when, and its answer are in
        the ledger.
        """
        return purchase(self._buyer, bill).complete(prepare)

    def quote(self, bill: Bill) -> Quote:
        """Return what a release would cost, without paying or looking at anything private.

        The budget that decides is the first that cannot pay, or else the analyst's, or the dataset's.

        Raises:
            InvalidArgument: if a budget cannot count this guarantee.
        """
        paying = self._buyer.store.read(self._buyer.budgets)
        costs = [budget.cost(bill.guarantee) for budget in paying]
        short = [i for i, cost in enumerate(costs) if not paying[i].fits(cost)]
        i = short[0] if short else -1
        return Quote(costs[i], paying[i].spent, paying[i].remaining, not short)

    def __repr__(self) -> str:
        share = "" if self.analyst is None else f", analyst={self.analyst!r}"
        return f"Session({self.dataset!r}{share})"
