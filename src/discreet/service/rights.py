"""What an owner or an analyst may do with the datasets of a description."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from ..datasets.column import Column
from ..errors import Exhausted, InvalidArgument, NotAllowed, UnknownBudget, UnknownName, shown
from ..ledger import Budget, Quote
from ..node.allowed_questions import AllowedQuestion, Permission, Prepare, charge_failures
from ..node.datasets import Datasets, exhausted
from ..node.isolation import PublicError
from ..numbers import spell
from ..releases import Release
from .free_questions import Freedom, permitted, read_free
from .lengths import longest_release
from .past_releases import PastRelease, past_releases


@dataclass(frozen=True, slots=True)
class Scope:
    """What a caller may ask about.

    Attributes:
        datasets: the budgets that are charged first, by the names of the datasets: an analyst's shares.
        verbs: the verbs of free questions.
        largest_epsilon: the most that one free question may cost; None if the budgets alone limit it.
    """

    datasets: Mapping[str, Budget]
    verbs: tuple[str, ...]
    largest_epsilon: Fraction | None


@dataclass(frozen=True, slots=True, repr=False)
class Rights:
    """The operations of one caller. Results for an analyst concern the analyst's own shares alone.

    Attributes:
        datasets: all datasets that are held.
        analyst: who asks; None for the owner, who is charged no share and is not limited.
        allowed: the names of the datasets that the description allows to the caller.
        freedom: the free questions that it allows.
        asks: whether the caller may ask at all; an auditor only sees what was done.
        longest: the most characters that a release may have, whatever the data are; None: any number.
        prepared: what is made of the function that reads the data, before it is called.
        beginning: the time at which the slot of the request began, which events of the ledger have; None: the time
            at which they are written, which follows the reading of the data.
        slot: the seconds after which replies leave. All but the owner are told the ends of slots.
    """

    datasets: Datasets
    analyst: str | None
    allowed: tuple[str, ...]
    freedom: Freedom = field(default_factory=Freedom)
    asks: bool = True
    longest: int | None = None
    prepared: Callable[[Prepare], Prepare] = charge_failures
    beginning: str | None = None
    slot: float = 0

    @property
    def are_the_owners(self) -> bool:
        """Whether the caller is the owner, who may see every error."""
        return self.analyst is None and self.asks

    def names(self) -> list[str]:
        """Return the datasets that the caller may ask about: an analyst, if there is a share of each."""
        return list(self.allowed if self.analyst is None else self._shares(self.analyst))

    def scope(self) -> Scope:
        """Return what the caller may ask about, with the budgets that are charged first.

        Raises:
            PublicError: if the budget of a dataset was not opened yet.
        """
        if self.analyst is not None:
            charged = self._shares(self.analyst)
        else:
            try:
                charged = {name: self.datasets.whole(name) for name in self.allowed}
            except UnknownBudget as error:
                raise PublicError(error) from None
        return Scope(charged, self.freedom.verbs, self.freedom.largest_epsilon)

    def check(self) -> None:
        """Raise unless there is something that the caller may ask about."""
        if self.analyst is not None and not self.names():
            raise PublicError(
                UnknownBudget(
                    f"no share was opened for {self.analyst}; the owner of the data opens it: "
                    f"discreet ledger open {self.allowed[0]} --analyst {self.analyst}"
                )
            )

    def _shares(self, analyst: str) -> dict[str, Budget]:
        """Return the shares of an analyst, by the names of the datasets."""
        shares = self.datasets.shares(analyst)
        return {name: shares[name] for name in self.allowed if name in shares}

    def questions(self) -> list[AllowedQuestion]:
        """Return the named questions."""
        whose = self.analyst or ""
        return [one for name in self.names() for one in self.datasets.questions(name, whose)]

    def columns(self, dataset: str) -> Mapping[str, Column]:
        """Return the declared columns of a dataset."""
        self._check_name(dataset)
        found: Mapping[str, Column] = self.datasets.find(dataset).data.columns
        return MappingProxyType(dict(found))

    def quote(self, question: str, dataset: str | None, size: int | None) -> Quote:
        """Return the price of a named question."""
        named, permission = self._named(question, dataset)
        return self._quoted(named, permission, size)

    def quote_free(
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object]
    ) -> Quote:
        """Return the price of a free question."""
        permission = self._free(verb, dataset, column, size, terms)
        return self._quoted(dataset, permission, size)

    def ask(
        self, question: str, dataset: str | None, size: int | None, paying: "Paying"
    ) -> Release:
        """Answer a named question."""
        named, permission = self._named(question, dataset)
        return self._answered(named, permission, size, paying)

    def ask_free(  # noqa: PLR0913  # a question, and what is paid for it
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object],
        paying: "Paying",
    ) -> Release:  # fmt: skip
        """Answer a free question."""
        permission = self._free(verb, dataset, column, size, terms)
        return self._answered(dataset, permission, size, paying)

    def budgets(self) -> list[Budget]:
        """Return the budgets of the caller: the shares of an analyst, or all of the datasets for the owner."""
        return self.datasets.budgets_for(self.analyst, *self.allowed)

    def releases(self) -> list[PastRelease]:
        """Return what was released before: to an analyst, or to all for the owner."""
        events = {e.number: e for name in self.names() for e in self.datasets.history(name)}
        slot = 0 if self.are_the_owners else self.slot
        return past_releases((events[number] for number in sorted(events)), self.analyst, slot)

    def _named(self, question: str, dataset: str | None) -> tuple[str, Permission]:
        """Return the dataset of a named question, and the question."""
        if dataset is not None:
            self._check_name(dataset)
        among = self.names() if dataset is None else [dataset]
        found = [name for name in among if question in self.datasets.find(name).questions]
        if len(found) == 1:
            return found[0], self.datasets.find(found[0]).question(question)
        if found:
            raise PublicError(
                InvalidArgument(
                    f"{shown(question)} is a question about {' and '.join(found)}; say which: dataset={found[0]!r}"
                )
            )
        known = ", ".join(q for name in among for q in self.datasets.find(name).questions)
        raise PublicError(
            UnknownName(f"there is no question {shown(question)}; there are {known or 'none'}")
        )

    def _free(
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object]
    ) -> Permission:
        """Return a free question that is allowed."""
        self._check_name(dataset)
        question = read_free(verb, column, terms)
        self.freedom.check(verb)
        holding = self.datasets.find(dataset)
        neighbors = self.datasets.whole(dataset).neighbors
        question = question._replace(terms={**question.terms, "neighbors": neighbors})
        permission = permitted(question, holding.data)
        if self.analyst is not None:
            permission.check_size(size)
        self.freedom.check_bill(permission.bill_for(holding.data, size), neighbors)
        return permission

    def _quoted(self, dataset: str, permission: Permission, size: int | None) -> Quote:
        """Return the price; for an analyst, in the own share alone."""
        try:
            bill = permission.bill_for(self.datasets.find(dataset).data, size)
            if self.analyst is not None:
                permission.check_size(size)
                return self.datasets.quote_bill(dataset, self.analyst, bill)
            return self.datasets.session(dataset, None).quoted([bill])
        except InvalidArgument as error:  # of the size, or a guarantee that a budget cannot count
            raise PublicError(error) from None

    def _answered(
        self, dataset: str, permission: Permission, size: int | None, paying: "Paying"
    ) -> Release:
        """Charge and answer. What fails because of the data is charged too."""
        if not self.asks:
            raise PublicError(NotAllowed("an auditor asks nothing; use the token of an analyst"))
        paying.check(self._quoted(dataset, permission, size))
        self._check_length(dataset, permission, size)
        data, session = (
            self.datasets.find(dataset).data,
            self.datasets.session(dataset, self.analyst, self.beginning),
        )
        try:
            return permission.ask(data, session, size, paying.request, self.prepared)
        except Exhausted:
            if self.analyst is None:
                raise
        # Of an oversubscribed budget the ledger's own error tells what others have spent.
        raise PublicError(exhausted(dataset, self._quoted(dataset, permission, size)))

    def _check_length(self, dataset: str, permission: Permission, size: int | None) -> None:
        """Raise if an answer may become too long, whatever the data are, or one of them cannot travel."""
        if self.longest is None:
            return
        data = self.datasets.find(dataset).data
        bill = permission.bill_for(data, size)
        try:
            longest = longest_release(permission.question, bill, data, size)
        except InvalidArgument as error:
            raise PublicError(error) from None
        if longest > self.longest:
            raise PublicError(
                InvalidArgument(
                    f"an answer may have up to {self.longest:,} characters; ask for less at once"
                )
            )

    def _check_name(self, dataset: str) -> None:
        """Raise if the caller may not ask about a dataset, whether or not it exists."""
        mine = self.names()
        if dataset not in mine:
            raise PublicError(
                UnknownName(
                    f"dataset must be one of {', '.join(mine) or 'none yet'}, got {shown(dataset)}"
                )
            )


@dataclass(frozen=True, slots=True)
class Paying:
    """What the caller says about the payment.

    Attributes:
        request: the name of the request, or None.
        max_cost: the most that the answer may cost, in the unit of the budget: ε, or ρ if it counts that.
    """

    request: str | None = None
    max_cost: Any = None

    def check(self, quote: Quote) -> None:
        """Raise if the price is higher than the caller will pay."""
        cost = quote.cost.epsilon if quote.cost.epsilon is not None else quote.cost.rho
        if self.max_cost is None or (cost is not None and cost <= self.max_cost):
            return
        raise PublicError(
            InvalidArgument(f"this costs {quote.cost}, more than max_cost = {spell(self.max_cost)}")
        )
