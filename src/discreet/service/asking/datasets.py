"""The datasets of a node by name, with their allowed questions, and the ledger that is charged."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

from ...base.arguments import settle
from ...base.error_boundary import public_errors
from ...base.numbers import Number
from ...errors import (
    DiscreetError,
    InvalidArgument,
    InvalidDescription,
    LedgerError,
    UnknownBudget,
    UnknownName,
    preview,
)
from ...ledger import Amount, Budget, Event, Ledger, Quote, Session
from ...ledger.delays import Delay
from ...ledger.events import ChainHead
from ...ledger.failed_questions import MAX_FAILURES, Allowance, least_cost
from ...ledger.ledger import budgets_of_payer, delays_by_share, failures_by_share, session_of
from ...ledger.purchase import ChargeTerms
from ...ledger.session import about_bill
from ...ledger.toml_budgets import declared_neighbors, described_ledger
from ...selection.payment import Bill
from ...selection.terms import check_names
from ...selection.verb_calls import Call
from ...study.planning.simulate import simulate
from ...study.planning.simulations import Simulation
from ...tables.datasets import Dataset
from ...tables.datasets.configuration import Configuration, line_of
from ...tables.datasets.declarations import nearest, wrong
from ..queue.lengths import with_most
from .allowed_questions import AllowedQuestion, Permission
from .free_questions import verb_named


@dataclass(slots=True, repr=False)
class Holding:
    """A dataset, the questions allowed about it, and whether it may be simulated.

    Attributes:
        data: the data.
        max_failures: how many questions of an analyst may fail until it is closed for them.
        questions: the named questions.
        may_simulate: whether it may be simulated.
    """

    data: Any
    max_failures: int = MAX_FAILURES
    questions: dict[str, Permission] = field(default_factory=dict)
    may_simulate: bool = False


class Datasets:
    """All datasets by name, and the ledger to which questions about them are charged."""

    __slots__ = ("_holdings", "_ledger")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._holdings: dict[str, Holding] = {}

    def hold(self, name: str, data: Any, max_failures: int = MAX_FAILURES) -> None:
        """Hold data, without a budget."""
        self._holdings[name] = Holding(data, max_failures)

    def open_budget(
        self, name: str, analyst: str | None, *, separate: bool = False, **terms: Any
    ) -> Budget:
        """Open the budget of a dataset, or an analyst's share, with its neighbouring relation and privacy unit."""
        if analyst is not None:
            budget = self.whole(name)
            terms |= {"neighbors": budget.neighbors, "privacy_unit": budget.unit}
        return self._ledger.open(self._key(name), analyst=analyst, separate=separate, **terms)

    def extend_budget(self, name: str, analyst: str | None, **terms: Any) -> Budget:
        """Give the budget of a dataset, or a share of it, a larger total."""
        return self._ledger.extend(self._key(name), analyst=analyst, **terms)

    def renew_budget(self, name: str, period: str | None, **amounts: Number | None) -> Budget:
        """Open the next budget of a described dataset."""
        dataset: Any = self._key(name)
        terms: dict[str, Any] = dict(amounts)
        return self._ledger.renew(dataset, period, **terms)

    def allow(self, name: str, question: str, call: Call) -> None:
        """Allow a question. Its arguments are copied."""
        holding = self.find(name)
        if question in holding.questions:
            raise InvalidArgument(
                f"{name} has a question named {preview(question)}. Take another name"
            )
        call = _copy_arguments(call)
        with_data = call.about(holding.data)
        _check_arguments(question, with_data)
        budget = self.budget_of(name)
        bill = with_data.bill(**({} if budget is None else {"ledger": budget}))
        if budget is not None:
            self.session(budget).quoted([bill])  # refuses what the budget cannot count
        holding.questions[question] = Permission(call, bill)

    def limit(self, question: str, dataset: str | None, requests: int) -> None:
        """Limit the requests of each analyst for a question."""
        _, permission = self.find_question(question, self._names_of(dataset))
        permission.most_requests = requests

    def reopen(self, name: str, analyst: str | None) -> list[Budget]:
        """Open a dataset again after failures, for an analyst or for all, and return their shares."""
        return self._ledger.reopen(self._key(name), analyst=analyst)

    def session(self, budget: Budget, terms: ChargeTerms | None = None) -> Session:
        """Return the session that is charged for a budget: see `session_of`. No data are read."""
        return session_of(self._ledger, budget, terms or ChargeTerms())

    def allowance(self, name: str, share: Budget, declaration: Amount) -> Allowance | None:
        """Return the terms on which an analyst asks about a dataset, or None for its owner.

        Args:
            name: the name of the dataset.
            share: the budget that is charged first.
            declaration: the least that a question may cost, as its owner declares it.
        """
        if share.analyst is None:
            return None
        holding = self.find(name)
        least = least_cost(share, declaration, self._cheapest(holding, share))
        return Allowance(name, share.analyst, holding.max_failures, least)

    def _cheapest(self, holding: Holding, share: Budget) -> Amount:
        """Return the cost of the cheapest named question, in every unit of a share."""
        costs = []
        for permission in holding.questions.values():
            with suppress(InvalidArgument):  # one that the share cannot count
                costs.append(share.cost(permission.bill.guarantee, permission.bill.unit))
        units = ([cost.epsilon for cost in costs], [cost.rho for cost in costs])
        epsilon, rho = (
            min((count for count in unit if count is not None), default=None) for unit in units
        )
        return Amount(epsilon, rho)

    def quote_share(self, share: Budget, bill: Bill, allowance: Allowance | None = None) -> Quote:
        """Return the quote of a bill for an analyst's share, whatever others have spent."""
        cost = share.cost(bill.guarantee, bill.unit)
        closed = self.session(share, ChargeTerms(allowance=allowance)).quoted([bill]).closed
        fits = closed is None and share.fits(cost)
        quote = Quote(cost, share.spent, share.remaining, fits, share.name, closed=closed)
        return about_bill(quote, bill)

    def _key(self, name: str) -> str | Dataset:
        """Return the key of a budget in the ledger: the description, or the name of data without one."""
        data = self.find(name).data
        return data if isinstance(data, Dataset) else name

    def charged(self, analyst: str | None, names: Sequence[str]) -> dict[str, Budget]:
        """Return the budgets that are charged now, by the names of datasets: an analyst's shares, or their own.

        They are read at once. Those that were not opened are left out.
        """
        of_each = budgets_of_payer(self._ledger, analyst, map(self._key, names))
        return {
            name: one
            for name, budgets in zip(names, of_each, strict=True)
            for one in budgets
            if one.is_current
        }

    def budget_of(self, name: str) -> Budget | None:
        """Return the budget that is charged for a dataset, or None if none was opened yet."""
        return self.charged(None, [name]).get(name)

    def whole(self, name: str) -> Budget:
        """Return the budget that is charged for a dataset.

        Raises:
            UnknownBudget: if none was opened yet.
        """
        budget = self.budget_of(name)
        if budget is None:
            raise UnknownBudget(
                f"no budget was opened for {name}. Its owner opens it: discreet ledger open {name}"
            )
        return budget

    def budgets_of(self, *names: str) -> list[list[Budget]]:
        """Return the budgets and shares of every dataset, renewed ones too."""
        return self._ledger.budgets_of(*map(self._key, names))

    def delays(self, budgets: Iterable[Budget]) -> list[Delay]:
        """Return the delays of the analysts of these shares, as they were recorded last."""
        return delays_by_share(self._ledger, budgets)

    def history(self, name: str) -> list[Event]:
        """Return the events of the ledger about the budgets of a dataset."""
        return self._ledger.history(self._key(name))

    def questions(self, name: str, analyst: str) -> list[AllowedQuestion]:
        """Return the questions about data."""
        questions = self.find(name).questions.items()
        return [one.allowed_question(name, question, analyst) for question, one in questions]

    def allow_simulation(self, name: str) -> None:
        """Allow simulation of a dataset."""
        self.find(name).may_simulate = True

    def simulate(self, question: str, dataset: str | None, size: int) -> Simulation:
        """Return draws that are not charged."""
        name, permission = self.find_question(question, self._names_of(dataset))
        holding = self.find(name)
        if not holding.may_simulate:
            raise InvalidArgument(
                f"{name} may not be simulated: draws that are not paid for reveal the data. Ask "
                f"it, or let the owner call allow_simulation({name!r})"
            )
        call = permission.question.about(holding.data)
        return simulate(call.verb, *call.arguments, **{**call.terms, "size": size})

    @public_errors()
    def find_question(self, question: str, names: Iterable[str]) -> tuple[str, Permission]:
        """Return the dataset of a named question, among some, and the question.

        Raises:
            UnknownName: if none of them has it.
            InvalidArgument: if several have.
        """
        candidates = list(names)
        matches = [name for name in candidates if question in self.find(name).questions]
        if len(matches) == 1:
            return matches[0], self.find(matches[0]).questions[question]
        if matches:
            raise InvalidArgument(
                f"{preview(question)} is a question about {' and '.join(matches)}. Say which: "
                f"dataset={matches[0]!r}"
            )
        names = [other for name in candidates for other in self.find(name).questions]
        raise UnknownName(
            f"there is no question {preview(question)}{nearest(question, names)}. There are "
            f"{', '.join(names) or 'none'}"
        )

    def _names_of(self, dataset: str | None) -> list[str]:
        """Return the name of one dataset that is held, or all names."""
        if dataset is None:
            return self.names
        self.find(dataset)
        return [dataset]

    def find(self, name: str) -> Holding:
        """Return the dataset of a name."""
        if name in self._holdings:
            return self._holdings[name]
        others = ", ".join(self._holdings) or "none yet"
        raise UnknownName(f"dataset must be one of {others}, got {preview(name)}")

    def events_after(self, number: int, limit: int) -> tuple[ChainHead, list[Event]]:
        """Return where the chain ends, and so many of its events after one of them."""
        return self._ledger.events_after(number, limit)

    def can_read_ledger(self) -> bool:
        """Return whether the ledger can be read now. One that others hold is there, and is not waited for."""
        return self._ledger.is_readable()

    @property
    def names(self) -> list[str]:
        """The names of all datasets."""
        return list(self._holdings)

    def budgets_for(self, analyst: str | None, *names: str) -> list[Budget]:
        """Return the budgets of datasets, without repeats: an analyst's shares alone, or all for None."""
        datasets = {
            (one.dataset, one.analyst): (one, name)
            for name, budgets in zip(names, self.budgets_of(*names), strict=True)
            for one in budgets
            if analyst in {None, one.analyst}
        }
        shares = [one for one, _ in datasets.values()]
        failures = failures_by_share(self._ledger, shares)
        return [
            self._with_closing(name, one, number)
            for (one, name), number in zip(datasets.values(), failures, strict=True)
        ]

    def _with_closing(self, name: str, budget: Budget, failures: int) -> Budget:
        """Return a budget with the reason if failures have closed the dataset for its analyst."""
        allowance = self.allowance(name, budget, Amount())
        if allowance is None or not budget.is_current:
            return budget
        return replace(budget, closed=allowance.closed(failures))


def _check_arguments(name: str, question: Call) -> None:
    """Raise if the verb takes other arguments.

    Raises:
        InvalidArgument: if one is missing, unknown, or given twice.
    """
    try:
        takes = signature(question.verb)
        if all(one.kind is not one.VAR_KEYWORD for one in takes.parameters.values()):
            check_names(question.terms, takes.parameters)  # bind names no nearest argument
        takes.bind(*question.arguments, **question.terms)
    except TypeError as error:
        failure = InvalidArgument(f"{name} cannot be asked like this: {error}")
    except ValueError:  # of a callable whose arguments nobody can tell
        return
    else:
        return
    raise failure


def _copy_arguments(call: Call) -> Call:
    """Return the question with deep copies of its arguments."""
    arguments = (settle(value, f"argument {i}") for i, value in enumerate(call.arguments, 1))
    terms = {name: settle(value, name) for name, value in call.terms.items()}
    return Call(settle(call.verb, "the verb"), tuple(arguments), terms)


def hold(description: Configuration) -> Datasets:
    """Return the datasets of a description, with their questions. No data are read.

    Nobody can ask about a dataset before its owner has opened its budget.

    Raises:
        InvalidDescription: if there is no ledger in it, or a question is rejected by its verb.
        UnknownBudget: if the ledger is not there: only the owner makes one.
    """
    datasets = Datasets(described_ledger(description, next(iter(description.datasets))))
    for name, dataset in description.datasets.items():
        most = description.serving.get(name, {}).get("max_failures", MAX_FAILURES)
        datasets.hold(name, dataset, most)
        budget = datasets.budget_of(name)
        neighbors = declared_neighbors(description, name) if budget is None else budget.neighbors
        for access, terms in description.questions[name].items():
            _allow(datasets, description, (name, access), terms, neighbors)
    return datasets


def named_question(dataset: Dataset, terms: Mapping[str, Any], neighbors: str) -> Call:
    """Return a named question without its data, under the neighbouring relation of a budget."""
    arguments = {
        key: value for key, value in terms.items() if key not in ("verb", "column", "description")
    }
    column = (terms["column"],) if "column" in terms else ()
    question = Call(verb_named(terms["verb"]), column, {**arguments, "neighbors": neighbors})
    return with_most(question, dataset)


def _allow(
    datasets: Datasets,
    description: Configuration,
    at: tuple[str, str],
    terms: Mapping[str, Any],
    neighbors: str,
) -> None:
    """Allow a named question, under the neighbouring relation of its budget."""
    name, access = at
    try:
        datasets.allow(name, access, named_question(description.dataset(name), terms, neighbors))
    except LedgerError:
        raise
    except DiscreetError as error:
        reason = str(error)
    else:
        return
    place = ("datasets", name, "questions", access)
    line = line_of(description.path.read_text(encoding="utf-8"), place)
    raise InvalidDescription(f"{description.path}, line {line}: {wrong(place, reason)}")
