"""A session: charges releases to the budgets of one dataset and perhaps one analyst."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from operator import add
from typing import Any, Generic, TypeVar

from ..base.arguments import read_sequence
from ..base.error_boundary import error_boundaries
from ..base.messages import Message
from ..base.text_tables import fact_table, listing
from ..errors import Exhausted, InvalidArgument, LedgerError, preview
from ..mechanisms.accuracy import ErrorBound
from ..mechanisms.count_noise import NoiseChoice
from ..privacy.contract import Guarantee
from ..privacy.sensitivity import read_unit
from ..selection.payment import Bill, BilledPart, Indices, PaidAnswer
from ..selection.releases import Release
from ..selection.verb_calls import bill_of
from . import paid_verbs as verbs
from .budget import Amount, Budget
from .charge import Charge, charge_external, mark_done
from .purchase import Payer, purchase
from .purchase_batch import buy_batch

_Verb = TypeVar("_Verb", bound=Callable[..., object])

_NO_COST = Amount(Fraction(0), Fraction(0))
_OF_AN_ORDER = 2


@dataclass(frozen=True, slots=True, repr=False)
class Quote:
    """The price of releases, in the budget that limits them. It was not charged.

    Attributes:
        cost: the cost of the releases in the units of that budget.
        spent: the amount it has spent so far.
        remaining: the amount it has left now.
        fits: whether all budgets could pay now.
        name: the budget: the analyst's share, or the dataset's budget. If the budget is oversubscribed, both must
            pay, and this is the first that cannot.
        worst_error: how far off the answers may be, for all data. None if no bound is known.
        closed: why it accepts no more charges, because its period has ended or it was renewed. Otherwise None.
        answers_after: the seconds from the start of the reading to the reply of a service, or 2, 4, 8 … times as
            long. None if answers leave when they are ready.
        parts: the questions, if several are answered at this price.
        noise: the noise that the numbers will have, and why, if there is a choice. Otherwise None.
    """

    cost: Amount
    spent: Amount
    remaining: Amount
    fits: bool
    name: str
    worst_error: ErrorBound | None = None
    closed: str | None = None
    answers_after: float | None = None
    parts: tuple[BilledPart, ...] = ()
    noise: NoiseChoice | None = None

    @property
    def after(self) -> Amount | None:
        """The amount that would remain, or None if the releases do not fit."""
        return self.remaining - self.cost if self.fits else None

    def check(self) -> None:
        """Raise if a budget cannot pay.

        Raises:
            Exhausted: with the amounts requested, spent and remaining.
        """
        if not self.fits:
            why = self.closed or f"spent {self.spent}, remaining {self.remaining}"
            raise Exhausted(
                f"the budget of {self.name} cannot pay {self.cost}: {why}",
                requested=self.cost,
                spent=self.spent,
                remaining=self.remaining,
            )

    def as_dict(self) -> dict[str, object]:
        """Return the quote in plain values, exact numbers as text, ready for JSON."""
        after = self.after
        return {
            "budget": self.name, "fits": self.fits, "cost": self.cost.as_dict(),
            "spent": self.spent.as_dict(), "remaining": self.remaining.as_dict(),
            "after": None if after is None else after.as_dict(), "closed": self.closed,
            "worst_error": None if self.worst_error is None else self.worst_error.as_dict(),
            **({} if self.noise is None else {"noise": self.noise.as_dict()}),
            **({} if self.answers_after is None else {"answers_after": self.answers_after}),
            **({"parts": [part.as_dict() for part in self.parts]} if self.parts else {}),
        }  # fmt: skip

    def _repr_html_(self) -> str:
        facts = {
            "budget": self.name, "cost": self.cost, "spent": self.spent, "remaining": self.remaining,
            "would remain": self._verdict if self.after is None else self.after,
            "worst error": self.worst_error, "noise": self.noise, "answer": self.wait,
            **{part.name: part for part in self.parts},
        }  # fmt: skip
        return fact_table("Quote: nothing was charged", facts).html()

    def __repr__(self) -> str:
        return f"Quote({self})"

    def __str__(self) -> str:
        verdict = Message("would leave {rest}", rest=self.after) if self.fits else self._verdict
        quote = Message(
            "costs {cost} of {budget}: spent {spent}, remaining {remaining}; {verdict}",
            cost=self.cost, budget=self.name, spent=self.spent, remaining=self.remaining, verdict=verdict,
        )  # fmt: skip
        if self.worst_error is not None:
            quote = Message("{quote}; worst error: {error}", quote=quote, error=self.worst_error)
        if self.noise is not None:
            quote = Message("{quote}; {noise}", quote=quote, noise=self.noise)
        for part in self.parts:
            quote = Message("{quote}\n  {part}", quote=quote, part=part)
        return (
            quote if self.wait is None else Message("{quote}; {wait}", quote=quote, wait=self.wait)
        )

    @property
    def wait(self) -> Message | None:
        """How long an answer takes, in words. None if it is sent as soon as it is ready."""
        if self.answers_after is None:
            return None
        return Message(
            "an answer leaves {seconds} s after its reading began, or 2, 4, 8 … times as long",
            seconds=f"{self.answers_after:g}",
        )

    @property
    def _verdict(self) -> Message:
        """Why it does not fit."""
        if self.closed is None:
            return Message("does not fit")
        return Message("cannot be charged: {reason}", reason=self.closed)


class _PaidVerb(Generic[_Verb]):
    """A verb as a method: `session.mode(...)` is `mode(..., ledger=session)`."""

    def __init__(self, verb: _Verb) -> None:
        self._verb = verb
        self.__doc__ = verb.__doc__

    def __get__(self, session: "Session | None", owner: type) -> _Verb:
        if session is None:
            return self._verb
        return partial(self._verb, ledger=session)  # type: ignore[return-value]


@error_boundaries
class Session:
    """An account to which releases are charged: pass it as `ledger=`, or call the verbs as its methods.

        with ledger.session("adult") as private:
            private.mode(people, "drink", candidates=["tea", "coffee"], epsilon="1/2")

    Made by `Ledger.session`. Every release is charged and committed by itself, so you don't have to close a
    session. It is a context manager only for readability.
    """

    best_price = _PaidVerb(verbs.best_price)
    bounds = _PaidVerb(verbs.bounds)
    check = _PaidVerb(verbs.check)
    count = _PaidVerb(verbs.count)
    count_distinct = _PaidVerb(verbs.count_distinct)
    counts = _PaidVerb(verbs.counts)
    geometric = _PaidVerb(verbs.geometric)
    keys = _PaidVerb(verbs.keys)
    laplace = _PaidVerb(verbs.laplace)
    maximum = _PaidVerb(verbs.maximum)
    mean = _PaidVerb(verbs.mean)
    median = _PaidVerb(verbs.median)
    minimum = _PaidVerb(verbs.minimum)
    mode = _PaidVerb(verbs.mode)
    profile = _PaidVerb(verbs.profile)
    quantile = _PaidVerb(verbs.quantile)
    quantiles = _PaidVerb(verbs.quantiles)
    randomized_response = _PaidVerb(verbs.randomized_response)
    select = _PaidVerb(verbs.select)
    select_by = _PaidVerb(verbs.select_by)
    select_generalized = _PaidVerb(verbs.select_generalized)
    select_rows = _PaidVerb(verbs.select_rows)
    select_top_k = _PaidVerb(verbs.select_top_k)
    selector = _PaidVerb(verbs.selector)
    standard_deviation = _PaidVerb(verbs.standard_deviation)
    sum = _PaidVerb(verbs.sum)
    sql = _PaidVerb(verbs.sql)
    top_k = _PaidVerb(verbs.top_k)
    variance = _PaidVerb(verbs.variance)

    def __init__(self, payer: Payer) -> None:
        self._payer = payer

    @property
    def dataset(self) -> str:
        """The dataset of the budget that is charged."""
        return self._payer.dataset

    @property
    def analyst(self) -> str | None:
        """The analyst of the share that is charged too, or None."""
        return self._payer.analyst

    @property
    def currency(self) -> str | None:
        """The unit that the budgets count: "epsilon", "epsilon and delta", "rho", or "several"."""
        kinds = {budget.currency for budget in self._payer.paying()}
        return kinds.pop() if len(kinds) == 1 else "several"

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        """Charge for a release, commit, then draw. For a repeated request, return the earlier draw.

        Args:
            bill: the release and its cost.
            prepare: computes the private scores, and returns the function that draws from them. It is called
                only if the budgets can pay, or the request was charged before.

        Raises:
            Exhausted: if a budget cannot pay. No private data were read.
            InvalidArgument: if a budget cannot count this guarantee, or has another privacy unit. No private
                data were read.
            RequestConflict: if the request was another question. No private data were read.
            LedgerError: if the ledger fails. No answer is returned. An answer that cannot be stored is discarded,
                and the error explains how to retry at no cost.

        Side channels: the response time of the database. The ledger records the charge, its time and the answer.
        """
        return self.bought(bill, prepare).indices

    def bought(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> PaidAnswer:
        """Do the same as `buy`, and also return whether this call charged. Repeated requests are free.

        Args:
            bill: the release and its cost.
            prepare: computes the private scores, as for `buy`.
        """
        return purchase(self._payer, bill).complete(prepare)

    def buy_batch(
        self, orders: Iterable[tuple[Bill, Callable[[], Callable[[], Indices]]]]
    ) -> list[PaidAnswer]:
        """Charge for several releases, commit, then draw all of them, as `Batch.run` does.

        Args:
            orders: the bill of every release, and its `prepare`, as for `buy`.

        Raises:
            InvalidArgument: if an order is no such pair.
            Exhausted: if a budget cannot pay for all. Nothing was charged, and no private data were read.
            RequestConflict: if a request was another question. No private data were read.
            LedgerError: if the ledger fails. The error explains how to retry at no cost.
        """
        all_orders = read_sequence(orders, "orders")
        for one in all_orders:
            if not isinstance(one, tuple) or len(one) != _OF_AN_ORDER:
                raise InvalidArgument(
                    "orders must be pairs of a bill and the function that prepares its draw, got "
                    f"{preview(one)}"
                )
        try:
            return buy_batch(self._payer, all_orders)
        except Exhausted:
            self.quoted([bill for bill, _ in all_orders]).check()  # raises for all of them together
            raise

    def charge(
        self,
        guarantee: Guarantee,
        *,
        description: str,
        request: str,
        privacy_unit: str | Sequence[str] | None = None,
    ) -> Charge:
        """Charge for a release made by other software (OpenDP, a script, a training run) before it is made.

        The charge is as durable and exact as for a release of this library, and counts against the same
        budgets. If the returned charge `is_new`, make the release once. Call this again before every further
        attempt. After a crash, the same call tells you that the release was already charged, but not whether it was
        made. See `Charge` and docs/how-to/ledger.md. An interactive mechanism is charged once, before its first
        answer.

        Args:
            guarantee: the guarantee of the release. It must hold for an adaptively chosen question. For an
                interactive mechanism, it must also hold for adaptive queries that run concurrently with other
                releases. The ledger does not verify it.
            description: the release in words. Together with the guarantee and the privacy unit, it identifies the
                release. If a request of the same name has other values, it is rejected. rejected.
            request: the name of the release, which is charged once per dataset and analyst, no matter how often you
                call this. Choose a name that you still know after a crash, such as that of the output file.
            privacy_unit: the column that identifies the privacy unit, or a list of columns. It must match the
                budget.

        Raises:
            Exhausted: if a budget cannot pay. Do not make the release.
            InvalidArgument: if a budget cannot count this guarantee, or has another privacy unit, or if an
                argument cannot be accepted.
            RequestConflict: if the request was another question.
            LedgerError: if the ledger fails. Do not make the release, and try again.
        """
        return charge_external(
            self._payer, guarantee, description, request, read_unit(privacy_unit)
        )

    def done(self, request: str, note: str = "made") -> Charge:
        """Record that a charged release of other software was made, by its name, as `Charge.done` does.

        Args:
            request: the name under which it was charged.
            note: its outcome, such as the name of its file. "made" by default.

        Raises:
            RequestConflict: if no such release was charged, or it was recorded with another note.
        """
        return mark_done(self._payer, request, note)

    def quote(self, verb: Callable[..., Release], *args: Any, **kwargs: Any) -> Quote:
        """Return the cost of verb(*args, **kwargs), without charging it or reading private data.

        Args:
            verb: a verb, such as `discreet.mode`.
            *args: the arguments of the verb, in order.
            **kwargs: its keyword arguments.

        Raises:
            InvalidArgument: if the call would be rejected, or a budget cannot count its guarantee.
        """
        return self.quoted([bill_of(verb, *args, **{"ledger": self, **kwargs})])

    def quoted(self, bills: Iterable[Bill]) -> Quote:
        """Return the cost of these bills together.

        Args:
            bills: the bills, as `Batch` and the command line make them.
        """
        all_bills = list(bills)
        paying, closed = self._payer.paying_about([bill.about for bill in all_bills])
        quotes = [_quote(budget, all_bills) for budget in paying]
        short = [quote for quote in quotes if not quote.fits]
        limiting = short[0] if short else quotes[-1]
        return limiting if closed is None else replace(limiting, fits=False, closed=closed)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _repr_html_(self) -> str:
        return listing(self._payer.paying(), "Session: releases are charged to").html()

    def __repr__(self) -> str:
        """Name the account and the remainders of its budgets, as far as they can be read."""
        share = "" if self.analyst is None else f", analyst={self.analyst!r}"
        try:
            remainders = " and ".join(f"{b.remaining} of {b.total}" for b in self._payer.paying())
        except LedgerError:
            return f"Session({self.dataset!r}{share})"
        return f"Session({self.dataset!r}{share}: {remainders} left)"


def _quote(budget: Budget, bills: list[Bill]) -> Quote:
    """Return the quote of one budget for the bills, charged one after the other."""
    costs, after, fits = [budget.cost(bill.guarantee, bill.unit) for bill in bills], budget, True
    for cost in costs:
        fits = fits and after.fits(cost)
        after = replace(after, spent=after.spent + cost)
    quote = Quote(reduce(add, costs, _NO_COST), budget.spent, budget.remaining, fits, budget.name)
    return quote if len(bills) > 1 else about_bill(quote, bills[0])


def about_bill(quote: Quote, bill: Bill) -> Quote:
    """Return a quote with the error, the parts and the noise of a bill."""
    return replace(quote, worst_error=bill.worst_error, parts=bill.parts, noise=bill.noise)
