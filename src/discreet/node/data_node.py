"""DataNode: holds private data, and answers questions allowed by their owner within privacy budgets."""

import os
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..arguments import read_name
from ..batches import Call
from ..errors import InvalidArgument
from ..ledger import Budget, Ledger
from ..numbers import Number, count
from ..privacy.sensitivity import Neighbors
from ..releases import Release, Simulation
from ..text_tables import Listing, fact_table, listing
from .analyst import Analyst, read_access, read_request, read_size
from .datasets import AnalystRights, Datasets
from .isolation import call_isolated, error_for_owner, isolated, unwrap

_MOST = 10**9


class _Operations:
    """The operations of an owner, isolated from the data: see `isolation`."""

    __slots__ = (
        "allow",
        "allow_simulation",
        "analyst",
        "ask",
        "budgets",
        "described",
        "keep",
        "limit",
        "share",
        "simulate",
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
        self.allow_simulation = isolated(datasets.allow_simulation, error_for_owner)
        self.simulate = isolated(datasets.simulate, error_for_owner)
        self.budgets = isolated(datasets.budgets, error_for_owner)
        self.described = isolated(datasets.described, error_for_owner)


class DataNode:
    """Private datasets under names, with the questions that analysts may ask about them.

        node = DataNode("budget.db")
        node.set_private_data("bids", [1, 1, 1, 3.01], epsilon=10)
        node.configure_data_access(
            "bids", "price", discreet.best_price, candidates=Grid(0, "3.5", "0.01"), epsilon=1
        )
        node.give_share("bids", "team-a", epsilon=2)
        team = node.analyst("team-a")

    The node object belongs to the owner, who sets data, budgets and questions, and may ask without a share.
    Analysts get the object returned by `analyst`. All questions about one name are charged to the budget of
    that name.

    Args:
        ledger: a `Ledger`, or the file or URL of one. By default budgets are kept in memory and end with the
            node.

    Side channels: those of the questions. Python cannot hide an object from code in the same process, so that
    code must be trusted with the data. The node keeps data out of attributes, reprs, copies, pickles, errors
    and the frames of their tracebacks (of Ctrl-C too), so that nothing leaks by accident:
    docs/explanation/threat_model.md.
    """

    __slots__ = ("__weakref__", "_operations")

    def __init__(self, ledger: Ledger | str | os.PathLike[str] | None = None) -> None:
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
        privacy_unit: str | Sequence[str] | None = None,
    ) -> None:
        """Hold data under a name, with a privacy budget for all questions about them.

        Args:
            name: a public name for the data.
            data: the data argument of the questions: a table, the path of a file, an array, a number.
            epsilon: the budget in pure differential privacy, or with `delta` in approximate; or:
            rho: the budget in zero-concentrated differential privacy.
            delta: goes with epsilon.
            neighbors: the neighboring relation.
            privacy_unit: the column that identifies the privacy unit, such as a user id: all rows with one
                value are then one record; or a list of columns. Questions with another privacy unit are refused.

        Raises:
            InvalidArgument: if the name is taken, the budget is invalid, the ledger has another budget under
                this name, or the data can be read only once, like a generator.
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
        verb: Callable[..., Release],
        *arguments: Any,
        **terms: Any,
    ) -> None:
        """Allow a question, to be asked as verb(data, *arguments, **terms).

        The arguments are copied deeply, so later changes of a list of candidates have no effect. Functions,
        such as a score function, are not copied. An analyst gets up to 1,000 answers at once, as often as the
        budgets pay; see `limit_data_access`.

        Args:
            name: the name of the data.
            access: a name for the question, unique among the questions about these data.
            verb: a verb that takes the data first, such as `discreet.mode` or `discreet.best_price`; for
                `select_by` pass `functools.partial(discreet.select_by, u)`.
            *arguments: the positional arguments of the verb after the data.
            **terms: its keyword arguments, such as the privacy parameter and the mechanism.

        Raises:
            InvalidArgument: if the verb refuses these arguments, the budget cannot count the guarantee or has
                another privacy unit, or an argument can be read only once. No private scores were computed.
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
        """Limit the answers to a question, in addition to the analysts' budgets.

        Args:
            name: the name of the data.
            access: the name of the question; not needed if there is only one.
            size: the most answers at once, by default 1,000.
            requests: the most requests per analyst, counted from now on in this node. Failed requests count
                too; a request repeated under its name counts once.

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
        """Give an analyst a share of a budget. Answers to this analyst are charged to both.

        Args:
            name: the name of the data.
            analyst: the name of the analyst.
            epsilon: the bound on all answers to this analyst, in pure differential privacy, or with `delta`
                in approximate; or:
            rho: the bound in zero-concentrated differential privacy.
            delta: goes with epsilon.

        Returns:
            The share; the existing one if it was given before with the same terms.

        Raises:
            InvalidArgument: if the amounts are invalid, or the ledger has another share for this analyst.
        """
        amounts = {"epsilon": epsilon, "rho": rho, "delta": delta}
        named, whose = read_name(name, "name"), read_name(analyst, "analyst")
        return unwrap(call_isolated(self._operations.share, named, whose, amounts))

    def analyst(self, analyst: str) -> Analyst:
        """Return the access of one analyst: list questions, get quotes, ask, and see their budgets.

        Hand it to the analyst, or use it in a service on their behalf, and keep the node to yourself.

        Args:
            analyst: the name of the analyst, as in the share.

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
        """Answer a question, and charge it to the budget of the data.

        Args:
            name: the name of the data.
            access: the name of the question; not needed if there is only one.
            size: the number of independent answers, all of which are charged.
            analyst: ask on behalf of this analyst: the share is charged too and limits apply, but errors are
                those for the owner. By default the owner asks, without limits.
            request: a name for this request; asked again under it, the answer is the same and costs nothing.

        Raises:
            UnknownName: if there are no such data, or no such question.
            Exhausted: if a budget cannot pay; no data were read.
        """
        asked = read_name(name, "name"), read_access(access)
        whose = None if analyst is None else read_name(analyst, "analyst")
        many, named = read_size(size), read_request(request)
        return unwrap(call_isolated(self._operations.ask, *asked, whose, many, named))

    def allow_simulation(self, name: str) -> None:
        """Allow `simulate` on these data, without charge, for the lifetime of the node.

        Args:
            name: the name of the data.
        """
        unwrap(call_isolated(self._operations.allow_simulation, read_name(name, "name")))

    def simulate(self, name: str, access: str | None = None, *, size: int = 1000) -> Simulation:
        """Return draws for study. They depend on the data and are not charged, so they are not private.

        Args:
            name: the name of the data.
            access: the name of the question; without it, the only one that is allowed.
            size: the number of draws, 1,000 by default.

        Raises:
            InvalidArgument: unless `allow_simulation` was called for these data.
        """
        draws = count(size, "size")
        asked = read_name(name, "name"), read_access(access)
        return unwrap(call_isolated(self._operations.simulate, *asked, draws))

    @property
    def budgets(self) -> list[Budget]:
        """All budgets and shares: total, spent and remaining."""
        return Listing(unwrap(call_isolated(self._operations.budgets)))

    def __copy__(self) -> NoReturn:
        raise TypeError("a data node cannot be copied: ask it instead")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a data node cannot be pickled: private data stay where they are")

    def _repr_html_(self) -> str:
        asked = fact_table("DataNode: the questions about each dataset", self._described())
        return f"{asked.html()}\n{listing(self.budgets, 'Budgets').html()}"

    def _described(self) -> dict[str, str]:
        return unwrap(call_isolated(self._operations.described))

    def __repr__(self) -> str:
        said = "; ".join(f"{name}: {questions}" for name, questions in self._described().items())
        return f"DataNode({said})"
