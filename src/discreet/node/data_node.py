"""DataNode: holds private data, and answers only what its owner allows, as long as the budget lasts."""

from collections.abc import Callable
from typing import Any, Concatenate, NoReturn, ParamSpec

from ..arguments import read_name
from ..batches import Call
from ..errors import InvalidArgument
from ..ledger import Budget, Ledger
from ..numbers import Number, count
from ..privacy.sensitivity import Neighbors
from ..releases import Release, Simulation
from .analyst import Analyst, read_access, read_request, read_size
from .datasets import AnalystRights, Datasets
from .isolation import call_isolated, error_for_owner, isolated, unwrap

_P = ParamSpec("_P")

_MOST = 10**9


class _Operations:
    """What an owner can do, each behind a door."""

    __slots__ = (
        "allow", "analyst", "ask", "budgets", "described", "keep", "limit", "open_up", "share", "study",
    )  # fmt: skip

    def __init__(self, datasets: Datasets) -> None:
        def analyst(name: str) -> Analyst:
            rights = AnalystRights(datasets, name)
            rights.check()
            return Analyst(rights)

        self.keep = isolated(datasets.keep, error_for_owner)
        self.allow = isolated(datasets.allow, error_for_owner)
        self.limit = isolated(datasets.limit, error_for_owner)
        self.share = isolated(datasets.share, error_for_owner)
        self.analyst = isolated(analyst, error_for_owner)
        self.ask = isolated(datasets.ask, error_for_owner)
        self.open_up = isolated(datasets.open_up, error_for_owner)
        self.study = isolated(datasets.study, error_for_owner)
        self.budgets = isolated(datasets.budgets, error_for_owner)
        self.described = isolated(datasets.described, error_for_owner)


class DataNode:
    """Private data under names, each with the questions that may be asked about it.

        node = DataNode("budget.db")
        node.set_private_data("bids", [1, 1, 1, 3.01], epsilon=10)
        node.configure_data_access("bids", "price", discreet.price, Grid(0, "3.5", "0.01"), epsilon=1)
        node.give_share("bids", "team-a", epsilon=2)
        team = node.analyst("team-a")

    The node itself is the owner's: it sets data, budgets and questions, and may ask without a share.
    Whoever else asks gets what `analyst` returns. All questions about one name are charged to the budget of
    that name.

    Args:
        ledger: a `Ledger`, or where one is kept: a file, or a URL. Without it budgets are kept in memory,
            and forgotten with the node.

    Side channels: those of the questions. Python cannot hide an object from code that runs in the same
    process, so whoever runs code there must be trusted with the data. The node keeps data out of
    attributes, reprs, errors and the frames of their tracebacks (those of Ctrl-C too), copies and pickles,
    so that nothing is told by accident: docs/threat_model.md.
    """

    __slots__ = ("__weakref__", "_operations")

    def __init__(self, ledger: Any = None) -> None:
        self._operations = _Operations(
            Datasets(ledger if isinstance(ledger, Ledger) else Ledger(ledger))
        )

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
                under this name, or the data can be read only once, as a generator.
        """
        budget = {"epsilon": epsilon, "rho": rho, "delta": delta}
        terms = {**budget, "neighbors": neighbors, "privacy_unit": privacy_unit}
        done = call_isolated(self._operations.keep, name, data, terms)
        del data  # before anything is raised: the frame would hold it
        unwrap(done)

    def configure_data_access(
        self,
        name: str,
        access: str,
        verb: Callable[Concatenate[Any, _P], Release],
        *arguments: _P.args,
        **terms: _P.kwargs,
    ) -> None:
        """Allow a question, to be asked as verb(data, *arguments, **terms).

        What is given is copied, all through: later changes of a list of candidates change nothing. Code,
        such as a score function, is kept as it is. An analyst gets up to 1,000 answers at once, and asks as
        often as the budgets pay; `limit_data_access` changes that.

        Args:
            name: the name of the data.
            access: what the question is called; several about the same data have several names.
            verb: a verb that takes the data first, such as `discreet.mode` or `discreet.price`; for
                `select_by` give `functools.partial(discreet.select_by, u)`.
            *arguments: what the verb takes after the data.
            **terms: what else it takes: how much privacy an answer costs, and by which mechanism.

        Raises:
            InvalidArgument: if the verb cannot be asked like this, or the budget cannot count the answer or
                protects others, or an argument can be read only once. No private scores were computed.
        """
        for reserved in ("ledger", "request", "size"):
            if terms.get(reserved) is not None:
                raise InvalidArgument(f"leave out {reserved}: it goes with a query")
        named, called = read_name(name, "name"), read_name(access, "access")
        question = Call(verb, arguments, dict(terms))
        unwrap(call_isolated(self._operations.allow, named, called, question))

    def limit_data_access(
        self,
        name: str,
        access: str | None = None,
        *,
        size: int | None = None,
        requests: int | None = None,
    ) -> None:
        """Limit what analysts may ask of a question, besides what their budgets pay.

        Args:
            name: the name of the data.
            access: what the question is called; may be left out where there is one only.
            size: the most answers at once; 1,000 if never set.
            requests: how often each analyst may ask it, counted from now on, as long as this node lives.
                Requests that fail count too; one that is asked again under its name counts once.

        Raises:
            UnknownName: if there are no such data, or no such question.
        """
        given = {"size": size, "requests": requests}
        limits = {what: count(n, what, most=_MOST) for what, n in given.items() if n is not None}
        if not limits:
            raise InvalidArgument("give a limit: size, or requests, or both")
        unwrap(
            call_isolated(
                self._operations.limit, read_name(name, "name"), read_access(access), limits
            )
        )

    def give_share(
        self,
        name: str,
        analyst: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
    ) -> Budget:
        """Give an analyst a share of the budget of data: what they ask must fit into both.

        Args:
            name: the name of the data.
            analyst: the name of the analyst.
            epsilon: the most that all answers to this analyst may cost, in pure differential privacy, or
                with `delta` in approximate; or:
            rho: the same in zero-concentrated differential privacy.
            delta: goes with epsilon.

        Returns:
            The share. Given again with the same terms it is the one that is there.

        Raises:
            InvalidArgument: if the share is none, or the ledger has another one for this analyst.
        """
        amounts = {"epsilon": epsilon, "rho": rho, "delta": delta}
        named, whose = read_name(name, "name"), read_name(analyst, "analyst")
        return unwrap(call_isolated(self._operations.share, named, whose, amounts))

    def analyst(self, analyst: str) -> Analyst:
        """Return what one analyst can do here: see questions and quotes, ask, and see their budget.

        Give this to analysts, or let a service ask it for them, and keep the node.

        Raises:
            UnknownBudget: if the analyst has no share of the data here.
        """
        return unwrap(call_isolated(self._operations.analyst, read_name(analyst, "analyst")))

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
            analyst: ask as this analyst, whose share pays too, within the limits, but see errors as the
                owner does. To leave it out is the owner's privilege.
            request: asked again under this name, the answer is the same and costs nothing.

        Raises:
            UnknownName: if there are no such data, or no such question.
            Exhausted: if the budget cannot pay; the data were not looked at.
        """
        asked = read_name(name, "name"), read_access(access)
        whose = None if analyst is None else read_name(analyst, "analyst")
        many, named = read_size(size), read_request(request)
        return unwrap(call_isolated(self._operations.ask, *asked, whose, many, named))

    def allow_simulation(self, name: str) -> None:
        """Let `simulate` show draws about these data that nobody pays for, until the node is gone."""
        unwrap(call_isolated(self._operations.open_up, read_name(name, "name")))

    def simulate(self, name: str, access: str | None = None, *, size: int = 1000) -> Simulation:
        """Return draws for study. They tell about the data and are charged to nobody.

        Raises:
            InvalidArgument: unless the owner has called `allow_simulation` for these data.
        """
        draws = count(size, "size")
        asked = read_name(name, "name"), read_access(access)
        return unwrap(call_isolated(self._operations.study, *asked, draws))

    @property
    def budgets(self) -> list[Budget]:
        """What was given and what is left, for each name and each share."""
        return unwrap(call_isolated(self._operations.budgets))

    def __copy__(self) -> NoReturn:
        raise TypeError("a data node cannot be copied: ask it instead")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a data node cannot be pickled: private data stay where they are")

    def __repr__(self) -> str:
        return f"DataNode({unwrap(call_isolated(self._operations.described))})"
