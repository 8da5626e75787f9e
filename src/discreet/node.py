"""DataNode: holds private data, and answers only what its owner allows, as long as the budget lasts."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Concatenate, NoReturn, ParamSpec, Protocol, TypeVar

from .batches import Question
from .errors import DiscreetError, InvalidArgument, InvalidScores, UnknownName, shown
from .ledger import Budget, Ledger
from .numbers import Number, count
from .privacy.sensitivity import Neighbors
from .releases import Release, Simulation

P = ParamSpec("P")
T = TypeVar("T")

_ABOUT_ARGUMENTS = re.compile(r"unexpected argument|[\w.<>]+\(\) (got|missing|takes) ")


class DataNode:
    """Private data under names, each with the questions that may be asked about it.

        node = DataNode("budget.db")
        node.set_private_data("bids", [1, 1, 1, 3.01], epsilon=10)
        node.configure_data_access("bids", "price", discreet.price, Grid(0, "3.5", "0.01"), epsilon=1)
        node.query("bids")

    The owner sets data, budgets and questions; whoever asks gets paid answers and nothing else. All questions
    about one name are charged to the budget of that name.

    Args:
        ledger: a `Ledger`, or where one is kept: a file, or a URL. Without it budgets are kept in memory,
            and forgotten with the node.

    Side channels: those of the questions. Python cannot hide an object from code that runs in the same
    process, so whoever runs code there must be trusted with the data. The node keeps data out of
    attributes, reprs, errors and the frames of their tracebacks, copies and pickles, so that nothing is
    told by accident.
    """

    __slots__ = ("__weakref__", "_enter")

    def __init__(self, ledger: Any = None) -> None:
        self._enter = _door(_Vault(ledger if isinstance(ledger, Ledger) else Ledger(ledger)))

    def set_private_data(  # noqa: PLR0913  # a budget is one of three numbers
        self,
        name: str,
        data: Any,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        neighbors: Neighbors = "add_remove",
        privacy_unit: str | None = None,
    ) -> None:
        """Keep data under a name, with a budget for everything that is asked about them.

        Args:
            name: how questions call them; public.
            data: what the questions take: a table, the path of a file, an array, a number.
            epsilon: the budget in pure differential privacy, or with `delta` in approximate; or:
            rho: the budget in zero-concentrated differential privacy.
            delta: goes with epsilon.
            neighbors: which databases count as neighbours.
            privacy_unit: whom the budget protects: the column that says whose a row is, if all rows of
                one person are one record. Questions that protect others are refused.

        Raises:
            InvalidArgument: if the name is taken, or the budget is none, or the ledger has another one
                under this name.
        """
        budget = {"epsilon": epsilon, "rho": rho, "delta": delta}
        terms = {**budget, "neighbors": neighbors, "privacy_unit": privacy_unit}
        named = _name(name, "name")
        _told(self._enter(lambda vault: vault.keep(named, data, terms)))

    def configure_data_access(
        self,
        name: str,
        access: str,
        verb: Callable[Concatenate[Any, P], Release],
        *arguments: P.args,
        **terms: P.kwargs,
    ) -> None:
        """Allow a question, to be asked as verb(data, *arguments, **terms).

        Args:
            name: the name of the data.
            access: what the question is called; several about the same data have several names.
            verb: a verb that takes the data first, such as `discreet.mode` or `discreet.price`; for
                `select_by` give `functools.partial(discreet.select_by, u)`.
            *arguments: what the verb takes after the data.
            **terms: what else it takes: how much privacy an answer costs, and by which mechanism.

        Raises:
            InvalidArgument: if the verb cannot be asked like this, or the budget cannot count the answer or
                protects others. No private scores were computed.
        """
        for reserved in ("ledger", "request", "size"):
            if terms.get(reserved) is not None:
                raise InvalidArgument(f"leave out {reserved}: it goes with a query")
        named, question = _name(access, "access"), Question(verb, arguments, dict(terms))
        _told(self._enter(lambda vault: vault.allow(name, named, question)))

    def query(
        self,
        name: str,
        access: str | None = None,
        *,
        size: int | None = None,
        analyst: str | None = None,
        request: str | None = None,
    ) -> Release:
        """Answer a question, and charge it. Many answers are charged many times.

        Args:
            name: the name of the data.
            access: what the question is called; may be left out where there is one only.
            size: how many independent answers.
            analyst: whose share of the budget pays too.
            request: asked again under this name, the answer is the same and costs nothing.

        Raises:
            UnknownName: if there are no such data, or no such question.
            Exhausted: if the budget cannot pay; the data were not looked at.
        """
        terms = {"size": size, "request": request}
        given = {term: value for term, value in terms.items() if value is not None}
        return _told(self._enter(lambda vault: vault.ask(name, access, analyst, given)))

    def allow_simulation(self, name: str) -> None:
        """Let `simulate` show draws about these data that nobody pays for, until the node is gone."""
        _told(self._enter(lambda vault: vault.open_up(name)))

    def simulate(self, name: str, access: str | None = None, *, size: int = 1000) -> Simulation:
        """Return draws for study. They tell about the data and are charged to nobody.

        Raises:
            InvalidArgument: unless the owner has called `allow_simulation` for these data.
        """
        draws = count(size, "size")
        return _told(self._enter(lambda vault: vault.study(name, access, draws)))

    @property
    def budgets(self) -> list[Budget]:
        """What was given and what is left, for each name."""
        return _told(self._enter(lambda vault: vault.budgets()))

    def __copy__(self) -> NoReturn:
        raise TypeError("a data node cannot be copied: ask it instead")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a data node cannot be pickled: private data stay where they are")

    def __repr__(self) -> str:
        return f"DataNode({self._enter(repr)})"


@dataclass(slots=True, repr=False)
class _Holding:
    """Data, the questions that may be asked about them, and whether they may be simulated."""

    data: Any
    questions: dict[str, Question] = field(default_factory=dict)
    studied: bool = False

    def question(self, access: str | None) -> Question:
        """Return the question of that name, with the data in it."""
        if access is None and len(self.questions) == 1:
            (access,) = self.questions
        if access not in self.questions:
            known = ", ".join(self.questions) or "none yet: the owner has to allow one"
            raise UnknownName(f"access must be one of the questions ({known}), got {shown(access)}")
        return self.about(self.questions[access])

    def about(self, question: Question) -> Question:
        """Return the question with the data in it."""
        return question._replace(arguments=(self.data, *question.arguments))


class _Vault:
    """All data by name, and the ledger that pays for questions about them."""

    __slots__ = ("_holdings", "_ledger")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._holdings: dict[str, _Holding] = {}

    def keep(self, name: str, data: Any, budget: dict[str, Any]) -> None:
        if name in self._holdings:
            raise InvalidArgument(f"there are data named {shown(name)}; take another name")
        self._ledger.open(name, **budget)
        self._holdings[name] = _Holding(data)

    def allow(self, name: str, access: str, question: Question) -> None:
        holding = self.find(name)
        if access in holding.questions:
            raise InvalidArgument(f"{name} has a question named {shown(access)}; take another name")
        try:
            bill = holding.about(question).bill()
        except TypeError as wrong:
            if not _ABOUT_ARGUMENTS.match(str(wrong)):
                raise
            raise InvalidArgument(f"{access} cannot be asked like this: {wrong}") from None
        self._ledger.session(name).quoted([bill])  # refuses what the budget cannot count
        holding.questions[access] = question

    def ask(self, name: str, access: str | None, analyst: str | None, terms: Any) -> Release:
        question = self.find(name).question(access)
        session = self._ledger.session(name, analyst=analyst)
        return question.ask(ledger=session, **terms)

    def open_up(self, name: str) -> None:
        self.find(name).studied = True

    def study(self, name: str, access: str | None, size: int) -> Simulation:
        holding = self.find(name)
        question = holding.question(access)
        if not holding.studied:
            raise InvalidArgument(
                f"{name} may not be simulated: draws that nobody pays for tell about the data; "
                f"query it, or let the owner call allow_simulation({name!r})"
            )
        drawn = question.ask(size=size)
        return Simulation(list(drawn.value), drawn.mechanism)

    def find(self, name: str) -> _Holding:
        if name in self._holdings:
            return self._holdings[name]
        known = ", ".join(self._holdings) or "none yet"
        raise UnknownName(f"name must be one of the data ({known}), got {shown(name)}")

    def budgets(self) -> list[Budget]:
        return self._ledger.budgets()

    def __repr__(self) -> str:
        return "; ".join(
            f"{name}: {', '.join(holding.questions) or 'no questions'}"
            for name, holding in self._holdings.items()
        )


class _Door(Protocol):
    """What lets a task into the vault."""

    def __call__(self, task: Callable[[_Vault], T], /) -> T | DiscreetError: ...


def _door(vault: _Vault) -> _Door:
    """Return what lets a task into the vault, and nothing out of it but what the task returns.

    An error comes back as a value, without its causes and the frames it went through: they hold the data.
    """

    def enter(task: Callable[[_Vault], T], /) -> T | DiscreetError:
        try:
            return task(vault)
        except DiscreetError as told:
            error: DiscreetError = told
        except Exception:
            error = InvalidScores(
                "these data cannot be asked this; the verb says why, to their owner"
            )
        error.__cause__ = error.__context__ = None
        return error.with_traceback(None)

    return enter


def _told(outcome: T | DiscreetError) -> T:
    """Return the outcome, or raise it if it is an error."""
    if isinstance(outcome, DiscreetError):
        raise outcome
    return outcome


def _name(given: Any, what: str) -> str:
    if not isinstance(given, str) or not given.strip():
        raise InvalidArgument(f"{what} must be a text, got {shown(given)}")
    return given
