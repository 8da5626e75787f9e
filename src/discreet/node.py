"""DataNode: holds private data, and answers only what its owner allows, as long as the budget lasts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Concatenate, NamedTuple, NoReturn, ParamSpec

from .errors import DiscreetError, InvalidArgument, InvalidScores, UnknownName, shown
from .ledger import Budget, Ledger
from .numbers import Number, count
from .plans import Question
from .privacy.sensitivity import Neighbors
from .releases import Release, Simulation

P = ParamSpec("P")


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

    __slots__ = ("__weakref__", "_vault")

    def __init__(self, ledger: Any = None) -> None:
        self._vault = _vault(ledger if isinstance(ledger, Ledger) else Ledger(ledger))

    def set_private_data(  # noqa: PLR0913  # a budget is one of three numbers
        self,
        name: str,
        data: Any,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        neighbors: Neighbors = "add_remove",
    ) -> None:
        """Keep data under a name, with a budget for everything that is asked about them.

        Args:
            name: how questions call them; public.
            data: what the questions take: a table, the path of a file, an array, a number.
            epsilon: the budget in pure differential privacy, or with `delta` in approximate; or:
            rho: the budget in zero-concentrated differential privacy.
            delta: goes with epsilon.
            neighbors: which databases count as neighbours.

        Raises:
            InvalidArgument: if the name is taken, or the budget is none, or the ledger has another one
                under this name.
        """
        terms = {"epsilon": epsilon, "rho": rho, "delta": delta, "neighbors": neighbors}
        self._vault.keep(_name(name, "name"), data, terms)

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
            InvalidArgument: if the verb cannot be asked like this. No private scores were computed.
        """
        for reserved in ("ledger", "request", "size"):
            if terms.get(reserved) is not None:
                raise InvalidArgument(f"leave out {reserved}: it goes with a query")
        self._vault.allow(name, _name(access, "access"), Question(verb, arguments, dict(terms)))

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
        return self._vault.ask(
            name, access, analyst, {k: v for k, v in terms.items() if v is not None}
        )

    def allow_simulation(self, name: str) -> None:
        """Let `simulate` show draws about these data that nobody pays for, until the node is gone."""
        self._vault.open_up(name)

    def simulate(self, name: str, access: str | None = None, *, size: int = 1000) -> Simulation:
        """Return draws for study. They tell about the data and are charged to nobody.

        Raises:
            InvalidArgument: unless the owner has called `allow_simulation` for these data.
        """
        return self._vault.study(name, access, count(size, "size"))

    @property
    def budgets(self) -> list[Budget]:
        """What was given and what is left, for each name."""
        return self._vault.budgets()

    def __copy__(self) -> NoReturn:
        raise TypeError("a data node cannot be copied: ask it instead")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a data node cannot be pickled: private data stay where they are")

    def __repr__(self) -> str:
        return f"DataNode({self._vault.listed()})"


class _Vault(NamedTuple):
    """What can be done with the data. The data are in no attribute of it."""

    keep: Callable[[str, Any, dict[str, Any]], None]
    allow: Callable[[str, str, Question], None]
    ask: Callable[[str, str | None, str | None, dict[str, Any]], Release]
    open_up: Callable[[str], None]
    study: Callable[[str, str | None, int], Simulation]
    budgets: Callable[[], list[Budget]]
    listed: Callable[[], str]


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
        return self._about(self.questions[access])

    def check(self, question: Question) -> None:
        """Raise if the question cannot be asked."""
        self._about(question).bill()

    def _about(self, question: Question) -> Question:
        return question._replace(arguments=(self.data, *question.arguments))


def _vault(ledger: Ledger) -> _Vault:
    """Return what can be done with data that only these functions see."""
    holdings: dict[str, _Holding] = {}

    def find(name: str) -> _Holding:
        if name not in holdings:
            known = ", ".join(holdings) or "none yet"
            raise UnknownName(f"name must be one of the data ({known}), got {shown(name)}")
        return holdings[name]

    def keep(name: str, data: Any, budget: dict[str, Any]) -> None:
        if name in holdings:
            raise InvalidArgument(f"there are data named {shown(name)}; take another name")
        ledger.open(name, **budget)
        holdings[name] = _Holding(data)

    def allow(name: str, access: str, question: Question) -> None:
        holding = find(name)
        if access in holding.questions:
            raise InvalidArgument(f"{name} has a question named {shown(access)}; take another name")
        _quietly(lambda: holding.check(question))
        holding.questions[access] = question

    def ask(name: str, access: str | None, analyst: str | None, terms: dict[str, Any]) -> Release:
        question = find(name).question(access)
        session = ledger.session(name, analyst=analyst)
        return _quietly(lambda: question.ask(ledger=session, **terms))  # type: ignore[no-any-return]

    def open_up(name: str) -> None:
        find(name).studied = True

    def study(name: str, access: str | None, size: int) -> Simulation:
        holding = find(name)
        question = holding.question(access)
        if not holding.studied:
            raise InvalidArgument(
                f"{name} may not be simulated: draws that nobody pays for tell about the data; "
                f"query it, or let the owner call allow_simulation({name!r})"
            )
        drawn = _quietly(lambda: question.ask(size=size))
        return Simulation(list(drawn.value), drawn.mechanism)

    def listed() -> str:
        return "; ".join(
            f"{name}: {', '.join(holding.questions) or 'no questions'}"
            for name, holding in holdings.items()
        )

    return _Vault(keep, allow, ask, open_up, study, ledger.budgets, listed)


def _quietly(answer: Callable[[], Any]) -> Any:
    """Return the answer; an error is raised without the frames it went through, which hold the data."""
    try:
        return answer()
    except DiscreetError as told:
        error: Exception = told
    except TypeError as told:
        error = TypeError(*told.args) if "argument" in str(told) else _UNTOLD
    except Exception:
        error = _UNTOLD
    error.__cause__ = error.__context__ = None
    raise error.with_traceback(None)


_UNTOLD = InvalidScores("these data cannot be asked this; the owner can see why by asking the verb")


def _name(given: Any, what: str) -> str:
    if not isinstance(given, str) or not given.strip():
        raise InvalidArgument(f"{what} must be a text, got {shown(given)}")
    return given
