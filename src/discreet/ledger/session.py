"""A session: one dataset, and perhaps one analyst, paying for releases."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, ParamSpec

from ..doors import doors
from ..errors import Exhausted
from ..payment import Bill, Indices
from ..privacy.contract import Guarantee
from ..releases import Release
from ..selection import bill_of
from ..verbs.generalized import generalized
from ..verbs.mode import mode
from ..verbs.noise import geometric, laplace, randomized_response
from ..verbs.price import price
from ..verbs.quantile import maximum, median, minimum, quantile
from ..verbs.quantiles import quantiles
from ..verbs.select import select
from ..verbs.select_by import select_by
from ..verbs.top_k import top_k
from .budget import Amount, Budget
from .charge import Charge, charge, done
from .paid import Paid
from .purchase import Buyer, purchase

P = ParamSpec("P")

_NOTHING = Amount(Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Quote:
    """What releases would cost. Nothing was paid.

    Attributes:
        cost: what they cost in the units of the budget that decides.
        spent: what that budget has spent.
        remaining: what it has left now.
        fits: whether all budgets could pay now.
        name: the budget that decides.
    """

    cost: Amount
    spent: Amount
    remaining: Amount
    fits: bool
    name: str

    @property
    def after(self) -> Amount | None:
        """What would remain, or None if it does not fit."""
        return self.remaining - self.cost if self.fits else None

    def check(self) -> None:
        """Raise if a budget cannot pay.

        Raises:
            Exhausted: with what is asked for, spent, and left.
        """
        if not self.fits:
            raise Exhausted(
                f"the budget of {self.name} cannot pay {self.cost}: spent {self.spent}, "
                f"remaining {self.remaining}",
                requested=self.cost, spent=self.spent, remaining=self.remaining,
            )  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Return the quote in plain values, exact numbers as text, ready for JSON."""
        after = self.after
        return {
            "budget": self.name, "fits": self.fits, "cost": self.cost.as_dict(),
            "spent": self.spent.as_dict(), "remaining": self.remaining.as_dict(),
            "after": None if after is None else after.as_dict(),
        }  # fmt: skip

    def __str__(self) -> str:
        verdict = f"would leave {self.after}" if self.fits else "does not fit"
        return f"costs {self.cost} of {self.name}: spent {self.spent}, remaining {self.remaining}; {verdict}"


@doors
class Session:
    """Who pays for releases: `ledger=` of every verb takes one, and every verb is a method.

        with ledger.session("adult") as private:
            private.mode(people, "drink", ["tea", "coffee"], epsilon="1/2")

    Made by `Ledger.session`. Each release is paid by itself; leaving the block ends nothing that has to be
    ended.
    """

    generalized = Paid(generalized)
    geometric = Paid(geometric)
    laplace = Paid(laplace)
    maximum = Paid(maximum)
    median = Paid(median)
    minimum = Paid(minimum)
    mode = Paid(mode)
    price = Paid(price)
    quantile = Paid(quantile)
    quantiles = Paid(quantiles)
    randomized_response = Paid(randomized_response)
    select = Paid(select)
    select_by = Paid(select_by)
    top_k = Paid(top_k)

    def __init__(self, buyer: Buyer) -> None:
        self._buyer = buyer

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
            InvalidArgument: if a budget cannot count this guarantee, or protects others than it; nothing
                private was looked at.
            RequestConflict: if the request was another question; nothing private was looked at.
            LedgerError: if the ledger fails. No answer was given; an answer that cannot be stored is
                thrown away, and the error says how to ask again without paying.

        Side channels: the time of the database. That a release was paid, when, and its answer are in
        the ledger.
        """
        return purchase(self._buyer, bill).complete(prepare)

    def charge(
        self,
        guarantee: Guarantee,
        *,
        description: str,
        request: str,
        privacy_unit: str | None = None,
    ) -> Charge:
        """Charge for a release that is made elsewhere, before it is made: by OpenDP, a script, a training run.

        The charge is as durable and exact as for releases of ours, and counts against the same budgets. When
        this returns a charge that is new, make the release, once; before each attempt ask again. After a crash the
        same call says that it was charged already, and not whether the release was made: see `Charge` and
        docs/ledger.md. Something interactive is charged once, before its first answer.

        Args:
            guarantee: what the release promises to neighbours, however the question was chosen; of something
                interactive, also whoever asks it, with other releases in between. The ledger takes your word.
            description: what is released, in words; with the guarantee and the privacy unit, what makes two
                requests the same.
            request: the name of this release: for one dataset and analyst it is charged once, however often
                and by whomever it is asked. A name that a crash leaves known, such as that of the output.
            privacy_unit: whom the guarantee protects: the column that says whose a row is; it must be whom
                the budget protects.

        Raises:
            Exhausted: if a budget cannot pay. Do not make the release.
            InvalidArgument: if a budget cannot count this guarantee, or protects others than it; or if an
                argument cannot be accepted.
            RequestConflict: if the request was another question.
            LedgerError: if the ledger fails; do not make the release, and ask again.
        """
        return charge(self._buyer, guarantee, description, request, privacy_unit)

    def done(self, request: str, note: str = "made") -> Charge:
        """Note that a release made elsewhere was made, as `Charge.done` does, by its name.

        Raises:
            RequestConflict: if no such release was charged, or it was noted as made with another note.
        """
        return done(self._buyer, request, note)

    def quote(self, verb: Callable[P, Release], *args: P.args, **kwargs: P.kwargs) -> Quote:
        """Return what verb(*args, **kwargs) would cost, without paying or looking at anything private.

        Raises:
            InvalidArgument: if it could not be asked, or a budget cannot count its guarantee.
        """
        return self.quoted([bill_of(verb, *args, **kwargs)])

    def quoted(self, bills: Iterable[Bill]) -> Quote:
        """Return what these bills would cost together.

        The budget that decides is the first that cannot pay, or else the analyst's, or the dataset's.
        """
        paying, listed = self._buyer.paying(), list(bills)
        quotes = [_quote(budget, listed) for budget in paying]
        short = [quote for quote in quotes if not quote.fits]
        return short[0] if short else quotes[-1]

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __repr__(self) -> str:
        share = "" if self.analyst is None else f", analyst={self.analyst!r}"
        return f"Session({self.dataset!r}{share})"


def _quote(budget: Budget, bills: list[Bill]) -> Quote:
    """Return what the bills would cost this budget, one after the other."""
    costs, after, fits = [budget.cost(bill.guarantee, bill.unit) for bill in bills], budget, True
    for cost in costs:
        fits = fits and after.fits(cost)
        after = replace(after, spent=after.spent + cost)
    return Quote(reduce(add, costs, _NOTHING), budget.spent, budget.remaining, fits, budget.name)
