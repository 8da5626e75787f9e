"""Connection: questions about described datasets, whether they are held in this process or elsewhere."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, Protocol

from ...base.arguments import read_name
from ...base.error_boundary import error_boundaries, errors_for_callers
from ...base.numbers import Number, count
from ...base.text_tables import Listing, listing
from ...errors import DiscreetError, InvalidArgument, NotAllowed
from ...ledger import Budget, Event, Quote
from ...ledger.budget import DeltaFor
from ...ledger.events import ChainHead
from ...ledger.verification import Verified, notes_on, read_noted_head, verify_events
from ...selection.any_column import AnyColumn
from ...selection.releases import Release
from ...selection.verb_calls import Call
from ...study.planning.simulations import Simulation
from ...tables.conditions.sql_statements import read_statement
from ...tables.datasets.columns import Column
from ...tables.verb_table import VERBS
from . import AllowedQuestion, operations
from .isolation import call_isolated, unwrap
from .operations import Operation, T
from .own_rights import OwnRights
from .ownership import MOST_EVENTS
from .past_releases import PastRelease
from .tokens import NewToken, Token

_MOST_REQUESTS = 10**9


class Node(Protocol):
    """The operations of one caller: `InProcess` or `HttpClient`."""

    def call(self, operation: Operation[T], **arguments: Any) -> T:
        """Return the result of an operation."""


def _free_verb(name: str) -> Callable[..., Release]:
    """Return a verb as a method: `data.median("people", "age", epsilon=1)` asks a free question."""

    def ask_verb(  # those of `ask_free`
        self: "Connection",
        dataset: str,
        column: str,
        *,
        request: str | None = None,
        max_cost: Number | None = None,
        **terms: Any,
    ) -> Release:
        payment: Any = {"request": request, "max_cost": max_cost}
        return self.ask_free(name, dataset, column, **payment, **terms)

    of_cells = ""
    if VERBS[name].takes_cells:
        ask_verb.__annotations__["column"] = AnyColumn
        of_cells = ", or a list of several, or of `Bins`"
    ask_verb.__name__, ask_verb.__qualname__ = name, f"Connection.{name}"
    ask_verb.__doc__ = f"""Answer a free question by `{name}`, and charge it, as `ask_free({name!r}, ...)` does.

    Args:
        dataset: the name of the dataset.
        column: the name of a declared column{of_cells}.
        request: a name for this request. A retry under it gives the same answer and costs nothing.
        max_cost: the most that the answer may cost, in the unit of the budget: ε, or ρ.
        **terms: the arguments of the verb in plain values, such as `epsilon`, `candidates` or `by`.
    """
    return ask_verb


@errors_for_callers
@error_boundaries
class Connection:
    """Questions about described datasets, for their owner or for one analyst. Made by `discreet.connect`.

        data = discreet.connect("discreet.toml", analyst="team-a")
        for question in data.questions():
            print(question)
        print(data.quote("typical-age"))
        print(data.ask("typical-age", request="monday"))

    An analyst only sees facts about that analyst, and never a path, an undeclared column or an error of the owner's
    code. If a question fails because of the data, it is charged like an answer and raises `Unanswerable`. Retrying
    the same request costs nothing.

    Side channels: those of the questions, how long they take, and whether one fails. Code in this process can
    bypass this object. See docs/explanation/threat_model.md.
    """

    __slots__ = ("__weakref__", "_holder", "_label", "_node")

    mode = _free_verb("mode")
    top_k = _free_verb("top_k")
    median = _free_verb("median")
    minimum = _free_verb("minimum")
    maximum = _free_verb("maximum")
    quantile = _free_verb("quantile")
    quantiles = _free_verb("quantiles")
    best_price = _free_verb("best_price")
    check = _free_verb("check")
    counts = _free_verb("counts")
    count_distinct = _free_verb("count_distinct")
    bounds = _free_verb("bounds")
    keys = _free_verb("keys")
    sum = _free_verb("sum")
    mean = _free_verb("mean")
    variance = _free_verb("variance")
    standard_deviation = _free_verb("standard_deviation")

    def __init__(
        self, node: Node, label: str, holder: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        self._node, self._label, self._holder = node, label, holder

    def call(self, operation: Operation[T], **arguments: Any) -> T:
        """Return the result of an operation, as all other methods do.

        Args:
            operation: one of `discreet.service.asking.operations`.
            **arguments: its arguments, by their names there.
        """
        return self._node.call(operation, **arguments)

    def questions(self) -> list[AllowedQuestion]:
        """Return the owner's named questions with their prices."""
        questions = self._node.call(operations.QUESTIONS)
        return Listing(questions)

    def rights(self) -> OwnRights:
        """Return the rights of the caller: verbs of free questions, their largest ε, and columns of conditions."""
        return self._node.call(operations.OWN_RIGHTS)

    def columns(self, dataset: str) -> Mapping[str, Column]:
        """Return the declared columns of a dataset by name. Free questions are about these columns.

        Args:
            dataset: the name of the dataset.

        Raises:
            UnknownName: if the caller has no dataset of that name.
        """
        return self._node.call(operations.COLUMNS, dataset=dataset)

    def quote(self, question: str, *, dataset: str | None = None) -> Quote:
        """Return the price of a named question, without charging it or reading data.

        Args:
            question: the name of the question.
            dataset: the name of the dataset. Not needed if only one dataset has a question of that name.

        Raises:
            UnknownName: if the caller has no dataset or question of that name.
            InvalidArgument: if several datasets have a question of that name.
        """
        return self._node.call(operations.QUOTE, question=question, dataset=dataset)

    def ask(
        self,
        question: str,
        *,
        dataset: str | None = None,
        request: str | None = None,
        max_cost: Number | None = None,
    ) -> Release:
        """Answer a named question, and charge it.

        Args:
            question: the name of the question.
            dataset: the name of the dataset. Not needed if only one dataset has a question of that name.
            request: a name for this request. If you repeat it, you get the same answer at no cost.
            max_cost: reject the question if the answer costs more than this, in the unit of the budget (ε or ρ).

        Raises:
            UnknownName: if the caller has no dataset or question of that name.
            InvalidArgument: if an argument is invalid, or the answer costs more than `max_cost`.
            Exhausted: if a budget cannot pay. No data were read.
            RequestConflict: if the request was another question.
            LedgerError: if the ledger cannot be used. A note states whether the question was charged.
            Unanswerable: for an analyst, if the question fails because of the data. It is still charged, and a note
                names the request.
        """
        return self._node.call(
            operations.ANSWER,
            question=question,
            dataset=dataset,
            request=request,
            max_cost=max_cost,
        )

    def quote_free(self, verb: str, dataset: str, column: AnyColumn = None, **terms: Any) -> Quote:
        """Return the price of a free question, without charging it or reading data.

        Args:
            verb: the name of a verb that the owner allows, such as "median".
            dataset: the name of the dataset.
            column: the name of a declared column, or a list of several, or of `Bins`. Not needed for `count`.
            **terms: the arguments of the verb in plain values, such as `epsilon`, `candidates` or `by`.

        Raises:
            InvalidArgument: if the verb is not allowed, or an argument is invalid.
            UnknownName: if the caller has no dataset of that name.
        """
        return self._node.call(
            operations.QUOTE_VERB, verb=verb, dataset=dataset, column=column, terms=terms
        )

    def ask_free(
        self,
        verb: str,
        dataset: str,
        column: AnyColumn = None,
        *,
        request: str | None = None,
        max_cost: Number | None = None,
        **terms: Any,
    ) -> Release:
        """Answer a free question, and charge it.

        Args:
            verb: the name of a verb that the owner allows, such as "median".
            dataset: the name of the dataset.
            column: the name of a declared column, or a list of several, or of `Bins`. Not needed for `count`.
            request: a name for this request. If you repeat it, you get the same answer at no cost.
            max_cost: reject the question if the answer costs more than this, in the unit of the budget (ε or ρ).
            **terms: the arguments of the verb in plain values, such as `epsilon`, `candidates` or `by`.

        Raises:
            InvalidArgument: if the verb is not allowed, an argument is invalid, or the answer costs more than
                `max_cost` or than the owner allows one question.
            UnknownName: if the caller has no dataset of that name.
            Exhausted: if a budget cannot pay. No data were read.
        """
        return self._node.call(
            operations.ANSWER_VERB, verb=verb, dataset=dataset, column=column, terms=terms,
            request=request, max_cost=max_cost,
        )  # fmt: skip

    def count(
        self,
        dataset: str,
        column: str | None = None,
        *,
        request: str | None = None,
        max_cost: Number | None = None,
        **terms: Any,
    ) -> Release:
        """Answer a free question by `count`, and charge it, as `ask_free("count", ...)` does.

        Args:
            dataset: the name of the dataset.
            column: the name of a declared column. Only records with a value in it count. By default all records
                count.
            request: a name for this request. If you repeat it, you get the same answer at no cost.
            max_cost: reject the question if the answer costs more than this, in the unit of the budget (ε or ρ).
            **terms: the arguments of the verb in plain values, such as `epsilon` or `by`.
        """
        payment: Any = {"request": request, "max_cost": max_cost}
        return self.ask_free("count", dataset, column, **payment, **terms)

    def sql(
        self,
        statement: str,
        *,
        request: str | None = None,
        max_cost: Number | None = None,
    ) -> Release:
        """Answer an SQL statement about the dataset in its FROM, and charge it, as `ask_free("sql", ...)` does.

        Args:
            statement: the statement. See `discreet.sql`.
            request: a name for this request. If you repeat it, you get the same answer at no cost.
            max_cost: reject the question if the answer costs more than this, in the unit of the budget (ε or ρ).
        """
        payment: Any = {"request": request, "max_cost": max_cost}
        dataset = read_statement(statement).dataset
        return self.ask_free("sql", dataset, None, **payment, statement=statement)

    def budgets(self) -> list[Budget]:
        """Return the caller's budgets, which are an analyst's shares, or all budgets for the owner."""
        budgets = self._node.call(operations.BUDGETS)
        return Listing(budgets)

    def releases(self) -> list[PastRelease]:
        """Return the earlier releases to the caller, in order. The owner gets all releases."""
        return self._node.call(operations.RELEASES)

    def open_budget(  # noqa: PLR0913  # a total is said in one of three ways
        self,
        dataset: str,
        *,
        analyst: str | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        delta_for: DeltaFor | None = None,
        separate: bool = False,
    ) -> Budget:
        """Open the budget of a dataset that the description declares, or an analyst's share of it. For the owner.

        Args:
            dataset: the name of the dataset.
            analyst: the analyst, for a share. By default the budget of the dataset.
            epsilon: the total ε, a positive number without a unit. Needed only if the description declares none.
            rho: instead of `epsilon`, the total ρ.
            delta: with `epsilon`, the total δ.
            delta_for: with `delta`, its use. See `Ledger.open`.
            separate: whether the dataset gets its own budget although it shares a database with other datasets. See
                `Ledger.open`.

        Raises:
            NotAllowed: if the caller is not the owner.
            UnknownName: if there is no such dataset or analyst.
            InvalidArgument: if the budget was opened with other terms, or the description declares the amounts.
        """
        return self._node.call(
            operations.OPEN_BUDGET, dataset=dataset, analyst=analyst, epsilon=epsilon, rho=rho, delta=delta,
            delta_for=delta_for, separate=separate,
        )  # fmt: skip

    def extend_budget(  # noqa: PLR0913  # a total is said in one of three ways
        self,
        dataset: str,
        *,
        analyst: str | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        delta_for: DeltaFor | None = None,
    ) -> Budget:
        """Give a budget or a share a larger total, as `Ledger.extend` does. For the owner.

        Args:
            dataset: the name of the dataset.
            analyst: the analyst, for a share. By default the budget of the dataset.
            epsilon: the new total ε, if the budget is in ε. A positive number without a unit.
            rho: the new total ρ, if the budget is in ρ.
            delta: the new total δ, a probability. Without it δ stays.
            delta_for: the use of a δ that is new to a budget in ε, "questions".

        Raises:
            NotAllowed: if the caller is not the owner.
            InvalidArgument: if the total is not larger, or of another kind.
        """
        return self._node.call(
            operations.EXTEND_BUDGET, dataset=dataset, analyst=analyst, epsilon=epsilon, rho=rho, delta=delta,
            delta_for=delta_for,
        )  # fmt: skip

    def renew_budget(
        self,
        dataset: str,
        period: str | None = None,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
    ) -> Budget:
        """Open the next budget of a dataset, as `Ledger.renew` does, with the declared shares. For the owner.

        From now on, releases are charged to it. The guarantee for the people in the data is the sum of all budgets.

        Args:
            dataset: the name of the dataset.
            period: the period of the budget, such as "2027". Leave it out if the description declares calendar
                periods. Then today's period is opened, after the previous one has ended.
            epsilon: the total ε. If you pass no total, the declared one, or as much as before.
            rho: instead of `epsilon`, the total ρ.
            delta: with `epsilon`, the total δ.

        Raises:
            NotAllowed: if the caller is not the owner.
            UnknownBudget: if the dataset has no budget yet.
            InvalidArgument: if the calendar period has not ended, or the period has a budget with other terms.
            Exhausted: if the declared shares add up to more than the budget.
        """
        return self._node.call(
            operations.RENEW_BUDGET, dataset=dataset, period=period, epsilon=epsilon, rho=rho, delta=delta
        )  # fmt: skip

    def reopen(self, dataset: str, *, analyst: str | None = None) -> list[Budget]:
        """Reopen a dataset that failures have closed for an analyst, or for all analysts. For the owner.

        Args:
            dataset: the name of the dataset.
            analyst: the analyst. Without it, all of them.

        Returns:
            The shares of the analysts with failed questions.

        Raises:
            NotAllowed: if the caller is not the owner.
            UnknownName: if there is no such dataset.
            UnknownBudget: if the analyst has no share of it.
        """
        shares = self._node.call(operations.REOPEN, dataset=dataset, analyst=analyst)
        return Listing(shares)

    def create_token(
        self, role: str, *, analyst: str | None = None, expires: str = "90d"
    ) -> NewToken:
        """Make a token and show its text once. For the owner.

        A token that was made with another token expires with it at the latest, and is revoked with it.

        Args:
            role: "owner", "analyst" or "auditor".
            analyst: the analyst of the description, for that role.
            expires: the number of days until it expires, such as "90d", or the first date on which it is rejected,
                such as 2027-01-31.

        Raises:
            NotAllowed: if the caller is not the owner.
            InvalidArgument: if an argument is invalid.
        """
        return self._node.call(operations.CREATE_TOKEN, role=role, analyst=analyst, expires=expires)

    def tokens(self) -> list[Token]:
        """Return the tokens that were not revoked, without their texts. For the owner."""
        return self._node.call(operations.TOKENS)

    def revoke_token(self, identity: str) -> Token:
        """Revoke a token and all tokens made with it. From now on they are rejected. For the owner.

        Args:
            identity: its id, as listed.

        Raises:
            UnknownName: if there is none.
        """
        return self._node.call(operations.REVOKE_TOKEN, identity=identity)

    def chain(self, after: int = 0, limit: int = MOST_EVENTS) -> tuple[ChainHead, list[Event]]:
        """Return the end of the ledger's chain of events, and some of the events. For owners and auditors.

        Args:
            after: the number of the event after which they begin.
            limit: the most events, up to 1,000.
        """
        return self._node.call(operations.AUDIT, after=after, limit=limit)

    def audit(self, head: str | None = None) -> Verified:
        """Read the whole chain of events, recompute hashes and sums, and return its end. For owners and auditors.

        Args:
            head: a head that you stored elsewhere at any time, such as that of the last audit. Without it, this
                can't detect a ledger that was replaced by an older copy or rewritten from the start.

        Raises:
            NotAllowed: if the caller is an analyst.
            LedgerCorrupt: if the events differ from those that were written.
        """
        checkpoint = read_noted_head(head)
        chain, events = self._node.call(operations.AUDIT, after=0, limit=MOST_EVENTS)
        budgets = verify_events(chain, self._following(chain, events), checkpoint)
        return Verified(chain.events, chain.head, notes_on(budgets))

    def _following(self, chain: ChainHead, events: list[Event]) -> Iterator[Event]:
        """Yield the events up to the end of a chain, which may have grown meanwhile."""
        while events:
            yield from (event for event in events if event.number <= chain.events)
            if events[-1].number >= chain.events:
                return
            after = events[-1].number
            _, events = self._node.call(operations.AUDIT, after=after, limit=MOST_EVENTS)

    def allow(
        self,
        dataset: str,
        question: str,
        verb: Callable[..., Release],
        *arguments: Any,
        **terms: Any,
    ) -> None:
        """Allow a named question, asked as verb(data, *arguments, **terms). For the owner of data in Python.

        The arguments are copied deeply, so later changes of a list of candidates have no effect. Functions,
        such as a score function, are not copied. Analysts can ask until a budget is spent. See `limit` to restrict
        this.

        Args:
            dataset: the name of the dataset.
            question: a name for the question, unique among the questions about this dataset.
            verb: a verb that takes the data first, such as `discreet.mode`. For `select_by` pass
                `functools.partial(discreet.select_by, u)`.
            *arguments: the positional arguments of the verb after the data.
            **terms: its keyword arguments, such as the privacy parameter and the mechanism.

        Raises:
            NotAllowed: unless the caller passed the data to `connect(datasets=...)`.
            InvalidArgument: if the verb rejects these arguments, the budget cannot count the guarantee or has
                another privacy unit, or an argument can be read only once. No private scores were computed.
        """
        names = read_name(dataset, "dataset"), read_name(question, "question")
        for name in ("ledger", "request"):
            if terms.get(name) is not None:
                raise InvalidArgument(f"leave out {name}: it goes with ask")
        self._hold("allow", *names, Call(verb, arguments, dict(terms)))

    def limit(self, question: str, requests: int, *, dataset: str | None = None) -> None:
        """Limit the requests of an analyst for a named question. For the owner of data in Python.

        Args:
            question: the name of the question.
            requests: the most requests per analyst, counted from now on in this process. Failed requests count too.
                A repeated request counts once.
            dataset: the name of the dataset. Not needed if only one dataset has a question of that name.

        Raises:
            NotAllowed: unless the caller passed the data to `connect(datasets=...)`.
            UnknownName: if there is no such dataset, or no such question.
        """
        names = read_name(question, "question"), _read_dataset(dataset)
        self._hold("limit", *names, count(requests, "requests", most=_MOST_REQUESTS))

    def for_analyst(self, analyst: str) -> "Connection":
        """Return the connection of one analyst, with a share of a dataset. For the owner of data in Python.

        Give it to the analyst, or use it in a service on their behalf, and keep this one to yourself.

        Args:
            analyst: the name of the analyst, as in the share.

        Raises:
            NotAllowed: unless the caller passed the data to `connect(datasets=...)`.
            UnknownBudget: if the analyst has no share of a dataset.
        """
        connection: Connection = self._hold("for_analyst", read_name(analyst, "analyst"))
        return connection

    def allow_simulation(self, dataset: str) -> None:
        """Allow `simulate` on a dataset, without charge, from now on. For the owner of data in Python.

        Args:
            dataset: the name of the dataset.

        Raises:
            NotAllowed: unless the caller passed the data to `connect(datasets=...)`.
        """
        self._hold("allow_simulation", read_name(dataset, "dataset"))

    def simulate(
        self, question: str, *, dataset: str | None = None, size: int = 1000
    ) -> Simulation:
        """Return draws for study. They depend on the data and are not charged, so they are not private.

        Args:
            question: the name of the question.
            dataset: the name of the dataset. Not needed if only one dataset has a question of that name.
            size: the number of draws, 1,000 by default.

        Raises:
            NotAllowed: unless the caller passed the data to `connect(datasets=...)`.
            InvalidArgument: unless `allow_simulation` was called for the dataset.
        """
        names = read_name(question, "question"), _read_dataset(dataset)
        draws: Simulation = self._hold("simulate", *names, count(size, "size"))
        return draws

    def _hold(self, name: str, *arguments: Any) -> Any:
        """Return the result of an operation of the owner of data in hand, isolated from the data.

        Raises:
            NotAllowed: for all others.
        """
        if self._holder is None:
            raise NotAllowed(
                "only discreet.connect(datasets={...}) allows this. For a discreet.toml, declare "
                "the questions and shares in it"
            )
        return unwrap(call_isolated(self._holder[name], *arguments))

    def _repr_html_(self) -> str | None:
        try:
            questions, budgets = self.questions(), self.budgets()
        except DiscreetError:  # it is shown without
            return None
        table = listing(questions, f"{self._label}: what may be asked")
        return f"{table.html()}\n{listing(budgets, 'Budgets').html()}"

    def __copy__(self) -> NoReturn:
        raise TypeError("a connection cannot be copied: connect again")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a connection cannot be pickled: data stay where they are")

    def __repr__(self) -> str:
        return f"Connection({self._label})"


def _read_dataset(dataset: str | None) -> str | None:
    return None if dataset is None else read_name(dataset, "dataset")
