"""The operations of an owner, an analyst or an auditor on datasets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NoReturn

from ...base.error_boundary import public_errors
from ...errors import (
    DiscreetError,
    Exhausted,
    InvalidArgument,
    NotAllowed,
    UnknownBudget,
    UnknownName,
    preview,
)
from ...ledger import Budget, Quote, Session
from ...ledger.delays import Timing
from ...ledger.failed_questions import Allowance
from ...ledger.purchase import ChargeTerms
from ...selection.any_column import AnyColumn
from ...selection.payment import Bill
from ...selection.releases import Release
from ...tables.datasets import Dataset
from ...tables.datasets.columns import Column
from ...tables.datasets.configuration import Configuration
from ..queue.lengths import longest_release, with_most
from ..queue.padding import LENGTH
from ..queue.promises import AnswerTimes, answer_times
from ..queue.request_parts import request_parts
from .allowed_questions import AllowedQuestion
from .checkout import Checkout, Inquiry, Prepare, UnreadError, charge_failures, share_error
from .datasets import Datasets
from .free_questions import check_number_of_cells, check_number_of_values, read_free
from .own_rights import OwnRights
from .past_releases import PastRelease, past_releases

AUDITORS_ASK_NOTHING = "an auditor asks nothing. Use the token of an analyst"


@dataclass(frozen=True, slots=True, repr=False)
class Rights:
    """The operations of one caller. Results for an analyst concern the analyst's own shares alone.

    Attributes:
        datasets: all datasets that are held.
        own: who asks, and the free questions that are allowed.
        dataset_names: the names of the datasets that the description allows to the caller.
        asks: whether the caller may ask at all; an auditor only sees the history.
        longest: the most characters that a release may have, for all data; None: any number.
        wrap: returns the function to call in place of the one that reads the data.
        is_unread: whether an `UnreadError` is raised where an answer needs the data.
        beginning: the public time at which the question starts, which events of the ledger have; None: the time at
            which they are written, which follows the reading of the data.
        timing: the public times of the reading, in a process that reads for a service, after the charge. None
            elsewhere.
        times: the public times of answers, by dataset, or none if answers leave when they are ready.
        check_again: raises if the caller may do nothing any more; called in the transaction that charges.
    """

    datasets: Datasets
    own: OwnRights
    dataset_names: tuple[str, ...]
    asks: bool = True
    longest: int | None = None
    wrap: Callable[[Prepare], Prepare] = charge_failures
    is_unread: bool = False
    beginning: str | None = None
    timing: Timing | None = None
    times: Mapping[str, AnswerTimes] = field(default_factory=dict)
    check_again: Callable[[], object] = lambda: None

    @property
    def analyst(self) -> str | None:
        """The analyst who asks. None for the owner, who is charged no share, and for an auditor."""
        return self.own.analyst

    @property
    def are_the_owners(self) -> bool:
        """Whether the caller is the owner: every error may be seen."""
        return self.analyst is None and self.asks

    def names(self) -> list[str]:
        """Return the datasets that the caller may ask about: for an analyst, those with a share."""
        return list(self.dataset_names if self.analyst is None else self.charged())

    def charged(self) -> dict[str, Budget]:
        """Return the open budgets that are charged first, by the names of the datasets: an analyst's shares."""
        return self.datasets.charged(self.analyst, self.dataset_names)

    def check(self) -> None:
        """Raise unless there is something that the caller may ask about."""
        if self.analyst is not None and not self.names():
            with public_errors():
                raise UnknownBudget(
                    f"no share was opened for {self.analyst}. The owner of the data opens it: "
                    f"discreet ledger open {self.dataset_names[0]} --analyst {self.analyst}, or "
                    f"open_budget(..., analyst={self.analyst!r}) in Python"
                )

    def questions(self) -> list[AllowedQuestion]:
        """Return the named questions."""
        whose = self.analyst or ""
        return [one for name in self.names() for one in self.datasets.questions(name, whose)]

    def own_rights(self) -> OwnRights:
        """Return the name of the caller, and the free questions that are allowed."""
        return self.own

    def columns(self, dataset: str) -> Mapping[str, Column]:
        """Return the declared columns of a dataset; none of data without a description."""
        self._budgets(dataset)
        data = self.datasets.find(dataset).data
        return MappingProxyType(dict(data.columns) if isinstance(data, Dataset) else {})

    def quote(self, question: str, dataset: str | None) -> Quote:
        """Return the price of a named question."""
        return self._quote(self._find_question(question, dataset))

    def quote_free(
        self, verb: str, dataset: str, column: AnyColumn, terms: Mapping[str, object]
    ) -> Quote:
        """Return the price of a free question."""
        return self._quote(self._read_free_question(verb, dataset, column, terms))

    def ask(
        self, question: str, dataset: str | None, request: str | None, max_cost: Any
    ) -> Release:
        """Answer a named question."""
        inquiry = self._find_question(question, dataset)
        return self._answer(replace(inquiry, request=request, max_cost=max_cost))

    def ask_free(  # noqa: PLR0913  # a question, and what is paid for it
        self, verb: str, dataset: str, column: AnyColumn, terms: Mapping[str, object], request: str | None,
        max_cost: Any,
    ) -> Release:  # fmt: skip
        """Answer a free question."""
        inquiry = self._read_free_question(verb, dataset, column, terms)
        return self._answer(replace(inquiry, request=request, max_cost=max_cost))

    def budgets(self) -> list[Budget]:
        """Return the budgets of the caller: the shares of an analyst, or all of the datasets for the owner."""
        return self.datasets.budgets_for(self.analyst, *self.dataset_names)

    def releases(self) -> list[PastRelease]:
        """Return earlier releases: to an analyst, or to all for the owner."""
        events = {e.number: e for name in self.names() for e in self.datasets.history(name)}
        return past_releases((events[number] for number in sorted(events)), self.analyst)

    def _find_question(self, question: str, dataset: str | None) -> Inquiry:
        """Return a named question with its dataset."""
        budgets = self._budgets(dataset)
        name, permission = self.datasets.find_question(question, budgets)
        budget = budgets[name] or self.datasets.whole(name)
        data = self.datasets.find(name).data
        return Inquiry(name, data, permission.question, budget, permission)

    def _read_free_question(
        self, verb: str, dataset: str, column: AnyColumn, terms: Mapping[str, object]
    ) -> Inquiry:
        """Return a free question, if the verb is allowed."""
        if self.longest is not None:
            check_number_of_values(terms)
        budgets = self._budgets(dataset)
        question = read_free(verb, column, terms)
        self.own.check(verb, question)
        budget = budgets[dataset] or self.datasets.whole(dataset)
        question = question._replace(terms={**question.terms, "neighbors": budget.neighbors})
        data = self.datasets.find(dataset).data
        with public_errors():
            if isinstance(data, Dataset):
                if self.longest is not None:
                    check_number_of_cells(question, data)
                return Inquiry(dataset, data, with_most(question, data), budget)
            raise InvalidArgument(
                f"{dataset} has no description: only its named questions are asked"
            )

    def _quote(self, inquiry: Inquiry) -> Quote:
        """Return the price, and how long after its start an answer leaves."""
        quote, times = self._price(inquiry), self.times.get(inquiry.dataset)
        if not self.asks or times is None or not times.answers_after:
            return quote
        unit = times.promise(request_parts(inquiry.call, inquiry.data)).unit
        delay = self.datasets.delays([inquiry.budget])[0].after_reset(self._since(inquiry.dataset))
        return replace(quote, answers_after=delay.factor * unit)

    def _since(self, dataset: str) -> str:
        """Return the time of the public reset of delays before this request, or an empty text if there is none."""
        times = self.times.get(dataset)
        if times is None:
            return ""
        begin = self.beginning
        return times.reset_before(
            datetime.now(UTC) if begin is None else datetime.fromisoformat(begin)
        )

    def _price(self, inquiry: Inquiry) -> Quote:
        """Return the price. For an analyst, it is in the analyst's share alone."""
        bill = inquiry.bill()
        cost, allowance = inquiry.cost(bill), self._allowance(inquiry)
        if inquiry.permission is None:
            self.own.check_bill(bill, inquiry.budget.neighbors)
            self._check_length(inquiry, bill)
        if allowance is None:
            return self.datasets.session(inquiry.budget).quoted([bill])
        allowance.check_cost(cost)
        return self.datasets.quote_share(inquiry.budget, bill, allowance)

    def _allowance(self, inquiry: Inquiry) -> Allowance | None:
        """Return the terms on which an analyst asks this, or None for the owner."""
        share = inquiry.budget
        declaration = self.own.declared_least(share)
        allowance = self.datasets.allowance(inquiry.dataset, share, declaration)
        return allowance and replace(allowance, since=self._since(inquiry.dataset))

    def _answer(self, inquiry: Inquiry) -> Release:
        """Charge and answer. A failure because of the data is charged too."""
        with public_errors():
            if not self.asks:  # the table of operations refuses before, by the role
                raise NotAllowed(AUDITORS_ASK_NOTHING)
        self._raise_if_new(inquiry)
        checkout, session = self._checkout(inquiry)
        try:
            return inquiry.ask(checkout, session)
        except Exhausted as error:
            bill = checkout.bill
            if error.is_public or self.analyst is None or bill is None:
                raise
        except UnreadError:
            inquiry.keep_bill(checkout)
            raise
        # Of an oversubscribed budget the ledger's own error tells what others have spent.
        failure = self._share_error(inquiry, bill)
        failure.is_public = True
        raise failure

    def _raise_if_new(self, inquiry: Inquiry) -> None:
        """Raise if the question has no stored answer and can be paid, as the bill of the same one before tells.

        In all other cases the verb settles it again, which gives the answer or the error.
        """
        bill = inquiry.known_bill() if self.is_unread else None
        if bill is None or inquiry.request is None:
            return
        checkout, session = self._checkout(inquiry)
        checkout.session = session
        try:
            checkout.bought(bill.under(inquiry.request), lambda: lambda: 0)
        except UnreadError:
            raise
        except DiscreetError:
            pass

    def _checkout(self, inquiry: Inquiry) -> tuple[Checkout, Session]:
        """Return the account of a question, which checks its bill, and the session that is charged."""

        def check(bill: Bill) -> None:
            if inquiry.permission is None:
                self.own.check_bill(bill, inquiry.budget.neighbors)
            inquiry.check_price(bill)
            self._check_length(inquiry, bill)
            if self.analyst is not None and inquiry.permission is not None:
                inquiry.permission.admit(self.analyst, inquiry.request)

        def refuse(_: Prepare) -> NoReturn:
            assert checkout.bill is not None
            parts = request_parts(inquiry.call, inquiry.data)
            raise UnreadError(inquiry.dataset, checkout.bill, parts)

        checkout = Checkout(check, refuse if self.is_unread else self.wrap, self.check_again)
        timing, allowance = self.timing, self._allowance(inquiry)
        if timing is not None:
            timing.since = self._since(inquiry.dataset)
            if timing.is_record:  # its failure is stored also where others have closed its dataset
                allowance = None
        terms = ChargeTerms(
            self.beginning, timing, checkout.allow, allowance, charges_first=timing is not None
        )
        return checkout, self.datasets.session(inquiry.budget, terms)

    def _share_error(self, inquiry: Inquiry, bill: Bill) -> Exhausted:
        """Return the error for a share that cannot pay, with amounts that its analyst may see."""
        share = self._budgets(inquiry.dataset)[inquiry.dataset]
        assert share is not None
        quote = self.datasets.quote_share(share, bill, self._allowance(inquiry))
        whole = self.datasets.whole(inquiry.dataset)
        return share_error(inquiry.dataset, quote, whole.shares == "oversubscribed")

    @public_errors()
    def _check_length(self, inquiry: Inquiry, bill: Bill) -> None:
        """Raise if an answer may become too long, for all data, or one of them cannot travel."""
        if self.longest is None:
            return
        longest = longest_release(inquiry.call, bill, inquiry.data)
        if longest > self.longest:
            raise InvalidArgument(
                f"an answer may have up to {self.longest:,} characters, and this one could have {longest:,}. Ask "
                "for less at once"
            )

    def _budgets(self, dataset: str | None = None) -> Mapping[str, Budget | None]:
        """Return the datasets that the caller may ask about, with the share of an analyst, which is charged.

        Args:
            dataset: only this one; others, and those that there are not, are rejected in the same words.
        """
        budgets: Mapping[str, Budget | None] = dict.fromkeys(self.dataset_names)
        if self.analyst is not None:
            budgets = self.charged()
        if dataset is None:
            return budgets
        if dataset in budgets:
            return {dataset: budgets[dataset]}
        with public_errors():
            raise UnknownName(
                f"dataset must be one of {', '.join(budgets) or 'none yet'}, got {preview(dataset)}"
            )


def rights_of(
    datasets: Datasets, description: Configuration, role: str, analyst: str | None
) -> Rights:
    """Return the rights of a caller of a service, by role: no answer is longer than fits its reply."""
    rights = caller_rights(datasets, description, role, analyst)
    return replace(rights, longest=LENGTH // 2, times=answer_times(description))


def caller_rights(
    datasets: Datasets, description: Configuration, role: str, analyst: str | None
) -> Rights:
    """Return the rights of a caller. No ledger is read.

    An auditor sees the questions, prices, budgets and releases of all, and never asks.

    Raises:
        UnknownName: if the description has no such analyst.
    """
    if analyst is None:
        names = tuple(description.datasets)
        return Rights(datasets, OwnRights.of_all(), names, asks=role != "auditor")
    about = description.analyst(analyst)
    return Rights(datasets, OwnRights.declared(analyst, about), about["datasets"])
