"""The datasets of a node by name, with their allowed questions, and the ledger that is charged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

from ..arguments import read_name, refuse_one_shot, settled
from ..batches import Call
from ..datasets import Dataset
from ..datasets.dataset import under
from ..errors import Exhausted, InvalidArgument, UnknownBudget, UnknownName, shown
from ..ledger import Budget, Event, Ledger, Quote, Session
from ..ledger.ledger import session_of
from ..ledger.transaction import ChainHead
from ..payment import Bill
from ..releases import Release, Simulation
from ..terms import check_names
from .allowed_questions import AllowedQuestion, Checkout, Permission, check_several
from .isolation import PublicError


@dataclass(slots=True, repr=False)
class HeldData:
    """A dataset, the questions allowed about it, and whether it may be simulated."""

    data: Any
    questions: dict[str, Permission] = field(default_factory=dict)
    may_simulate: bool = False

    def question(self, access: str | None) -> Permission:
        """Return the question of that name; the only one if none is named."""
        if access is None and len(self.questions) == 1:
            (access,) = self.questions
        if access is not None and access in self.questions:
            return self.questions[access]
        known = ", ".join(self.questions) or "none yet: the owner has to allow one"
        raise PublicError(
            UnknownName(f"access must be one of the questions ({known}), got {shown(access)}")
        )


class Datasets:
    """All datasets by name, and the ledger to which questions about them are charged."""

    __slots__ = ("_holdings", "_ledger")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._holdings: dict[str, HeldData] = {}

    def keep(self, name: str, data: Any, budget: dict[str, Any]) -> None:
        """Hold data under a name."""
        name = read_name(name, "name")
        if name in self._holdings:
            raise InvalidArgument(f"there are data named {shown(name)}; take another name")
        refuse_one_shot(data, "data")
        described = under(data, name) if isinstance(data, Dataset) else None
        self._ledger.open(name if described is None else described, **budget)
        self._holdings[name] = HeldData(data if described is None else described)

    def hold(self, name: str, data: Any) -> None:
        """Hold data whose budget is opened by other means."""
        self._holdings[name] = HeldData(data)

    def allow(self, name: str, access: str, question: Call) -> None:
        """Allow a question; its arguments are copied."""
        holding = self.find(name)
        if access in holding.questions:
            raise InvalidArgument(f"{name} has a question named {shown(access)}; take another name")
        kept = _settled(question)
        asked = kept._replace(arguments=(holding.data, *kept.arguments))
        _check_arguments(access, asked)
        bill = asked.bill()
        budget = self.opened(name)
        if budget is not None:
            self.session(budget).quoted([bill])  # refuses what the budget cannot count
        holding.questions[access] = Permission(kept, bill)

    def limit(self, name: str, access: str | None, limits: dict[str, int]) -> None:
        """Set limits of a question."""
        allowed = self.find(name).question(access)
        allowed.limits = replace(allowed.limits, **limits)

    def share(self, name: str, analyst: str, amounts: dict[str, Any]) -> Budget:
        """Open a share of a budget, with its neighboring relation and privacy unit."""
        whole = self.whole(name)
        amounts = {**amounts, "neighbors": whole.neighbors, "privacy_unit": whole.unit}
        return self._ledger.open(self._whose(name), analyst=analyst, **amounts)

    def ask(
        self,
        name: str,
        access: str | None,
        analyst: str | None,
        size: int | None,
        request: str | None,
    ) -> Release:
        """Answer a question; for an analyst, within the limits."""
        holding = self.find(name)
        allowed = holding.question(access)
        budget = self.charged(analyst, [name]).get(name)
        if budget is None:
            budget = self.whole(name) if analyst is None else self.share_of(name, analyst)
        if analyst is not None:
            allowed.limits.check_size(size)
            allowed.admit(analyst, request)
        checkout = Checkout(lambda _: None, lambda prepare: prepare, lambda: None)
        session = self.session(budget, check=checkout.allow)
        return checkout.ask(_about(allowed.question, holding.data), session, size, request)

    def share_of(self, name: str, analyst: str) -> Budget:
        """Return an analyst's share of a dataset.

        Raises:
            UnknownBudget: if there is none.
        """
        share = self.charged(analyst, [name]).get(name)
        if share is None:
            raise UnknownBudget(f"the analyst {shown(analyst)} has no share of {name}")
        return share

    def quote(self, name: str, access: str | None, analyst: str, size: int | None) -> Quote:
        """Return the quote for an analyst's share."""
        holding = self.find(name)
        allowed = holding.question(access)
        allowed.limits.check_size(size)
        check_several(allowed.question, size)
        terms = {} if size is None else {"size": size}
        bill = _about(allowed.question, holding.data).bill(**terms)
        return self.quote_share(self.share_of(name, analyst), bill)

    def session(
        self, budget: Budget, at: str | None = None, check: Callable[[], object] = lambda: None
    ) -> Session:
        """Return the session that is charged for a budget: see `session_of`. Nothing is read."""
        return session_of(self._ledger, budget, at, check)

    def quote_share(self, share: Budget, bill: Bill) -> Quote:
        """Return the quote of a bill for an analyst's share, whatever others have spent."""
        cost = share.cost(bill.guarantee, bill.unit)
        closed = self.session(share).quoted([bill]).closed
        fits = closed is None and share.fits(cost)
        return Quote(cost, share.spent, share.remaining, fits, share.name, bill.worst_error, closed)

    def _whose(self, name: str) -> str | Dataset:
        """Return what a ledger finds the budget by: the description, or the name of data without one."""
        data = self.find(name).data
        return data if isinstance(data, Dataset) else name

    def charged(self, analyst: str | None, names: Sequence[str]) -> dict[str, Budget]:
        """Return the budgets that are charged now, by the names of datasets: an analyst's shares, or their own.

        They are read at once; those that were not opened are left out.
        """
        return {
            name: one
            for name, budgets in zip(names, self.budgets_of(*names), strict=True)
            for one in budgets
            if one.is_current and one.analyst == analyst
        }

    def opened(self, name: str) -> Budget | None:
        """Return the budget that is charged for a dataset, or None if none was opened yet."""
        return self.charged(None, [name]).get(name)

    def whole(self, name: str) -> Budget:
        """Return the budget that is charged for a dataset.

        Raises:
            UnknownBudget: if none was opened yet.
        """
        budget = self.opened(name)
        if budget is None:
            raise UnknownBudget(
                f"no budget was opened for {name}; its owner opens it: discreet ledger open {name}"
            )
        return budget

    def budgets_of(self, *names: str) -> list[list[Budget]]:
        """Return the budgets and shares of each dataset, renewed ones too."""
        return self._ledger.budgets_of(*map(self._whose, names))

    def history(self, name: str) -> list[Event]:
        """Return the events of the ledger about the budgets of a dataset."""
        return self._ledger.history(self._whose(name))

    def events(self) -> list[Event]:
        """Return all events of the ledger."""
        return self._ledger.history()

    def shares(self, analyst: str) -> dict[str, Budget]:
        """Return the shares of an analyst that are charged now, by the name of the data."""
        return self.charged(analyst, self.names)

    def questions(self, name: str, analyst: str) -> list[AllowedQuestion]:
        """Return the questions about data."""
        asked = self.find(name).questions.items()
        return [one.allowed_question(name, access, analyst) for access, one in asked]

    def allow_simulation(self, name: str) -> None:
        """Allow simulation of a dataset."""
        self.find(name).may_simulate = True

    def simulate(self, name: str, access: str | None, size: int) -> Simulation:
        """Return draws that are not charged."""
        holding = self.find(name)
        allowed = holding.question(access)
        if not holding.may_simulate:
            raise InvalidArgument(
                f"{name} may not be simulated: draws that nobody pays for tell about the data; "
                f"query it, or let the owner call allow_simulation({name!r})"
            )
        drawn = _about(allowed.question, holding.data).ask(size=size)
        return Simulation(list(drawn.value), drawn.mechanism)

    def find(self, name: str) -> HeldData:
        """Return the dataset of a name."""
        if name in self._holdings:
            return self._holdings[name]
        known = ", ".join(self._holdings) or "none yet"
        raise UnknownName(f"name must be one of the data ({known}), got {shown(name)}")

    def events_after(self, number: int, limit: int) -> tuple[ChainHead, list[Event]]:
        """Return where the chain ends, and so many of its events after one of them."""
        return self._ledger.events_after(number, limit)

    def can_read_ledger(self) -> bool:
        """Return whether the ledger can be read now; one that others hold is there, and is not waited for."""
        return self._ledger.is_readable()

    def budgets(self) -> list[Budget]:
        """Return all budgets of the ledger."""
        return self._ledger.budgets()

    @property
    def names(self) -> list[str]:
        """The names of all datasets."""
        return list(self._holdings)

    def budgets_for(self, analyst: str | None, *names: str) -> list[Budget]:
        """Return the budgets of datasets, each once: an analyst's shares alone, or all for None."""
        found = {(one.dataset, one.analyst): one for of in self.budgets_of(*names) for one in of}
        return [one for one in found.values() if analyst in {None, one.analyst}]

    def described(self) -> dict[str, str]:
        """Return the names of the questions by the names of the data."""
        return {
            name: ", ".join(holding.questions) or "no questions"
            for name, holding in self._holdings.items()
        }


@dataclass(frozen=True, slots=True, repr=False)
class AnalystRights:
    """The operations that one analyst may do. Their results concern the analyst's own shares alone."""

    datasets: Datasets
    analyst: str

    def check(self) -> None:
        """Raise if the analyst has no share of any data here."""
        if not self.datasets.shares(self.analyst):
            raise UnknownBudget(
                f"the analyst {shown(self.analyst)} has no share of the data here; give_share gives one"
            )

    def budgets(self) -> list[Budget]:
        """Return the analyst's shares, renewed ones too."""
        return self.datasets.budgets_for(self.analyst, *self.datasets.names)

    def questions(self) -> list[AllowedQuestion]:
        """Return the questions about datasets of which the analyst has a share."""
        named = self.datasets.shares(self.analyst)
        return [asked for name in named for asked in self.datasets.questions(name, self.analyst)]

    def quote(self, name: str, access: str | None, size: int | None) -> Quote:
        """Return the quote for the analyst's share."""
        self.check_name(name)
        return self.datasets.quote(name, access, self.analyst, size)

    def ask(self, name: str, access: str | None, size: int | None, request: str | None) -> Release:
        """Answer a question, charged to the analyst's share too."""
        self.check_name(name)
        try:
            return self.datasets.ask(name, access, self.analyst, size, request)
        except Exhausted:  # of an oversubscribed budget it tells what others have spent
            pass
        raise PublicError(self._exhausted(name, access, size))

    def check_name(self, name: str) -> None:
        """Raise if the analyst has no share of these data, whether or not they exist."""
        mine = self.datasets.shares(self.analyst)
        if name not in mine:
            raise PublicError(
                UnknownName(f"name must be one of your data ({', '.join(mine)}), got {shown(name)}")
            )

    def _exhausted(self, name: str, access: str | None, size: int | None) -> Exhausted:
        """Return the error for a budget that cannot pay, with amounts that the analyst may see."""
        return exhausted(name, self.datasets.quote(name, access, self.analyst, size))


def exhausted(name: str, quote: Quote) -> Exhausted:
    """Return the error for a budget that cannot pay, with amounts that an analyst may see."""
    figures: dict[str, Any] = {
        "requested": quote.cost, "spent": quote.spent, "remaining": quote.remaining,
    }  # fmt: skip
    if quote.closed is not None:
        return Exhausted(f"the budget of {name} cannot pay any more: {quote.closed}", **figures)
    if quote.fits:  # so the budget is oversubscribed
        return Exhausted(
            f"your share could pay {quote.cost}, but what all analysts of {name} may spend together "
            "cannot; tell the owner of the data",
            **figures,
        )
    return Exhausted(
        f"the budget of {quote.name} cannot pay {quote.cost}: spent {quote.spent}, "
        f"remaining {quote.remaining}",
        **figures,
    )


def _check_arguments(access: str, question: Call) -> None:
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
        failure = InvalidArgument(f"{access} cannot be asked like this: {error}")
    except ValueError:  # of a callable whose arguments nobody can tell
        return
    else:
        return
    raise failure


def _about(question: Call, data: Any) -> Call:
    """Return a question with its data."""
    return question._replace(arguments=(data, *question.arguments))


def _settled(question: Call) -> Call:
    """Return the question with deep copies of its arguments."""
    arguments = (settled(value, f"argument {i}") for i, value in enumerate(question.arguments, 1))
    terms = {name: settled(value, name) for name, value in question.terms.items()}
    return Call(settled(question.verb, "the verb"), tuple(arguments), terms)
