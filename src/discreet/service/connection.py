"""Connection: questions about described datasets, whether they are held in this process or elsewhere."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn, Protocol

from ..arguments import read_name
from ..datasets.column import Column
from ..error_boundary import error_boundaries
from ..ledger import Budget, Quote
from ..node import AllowedQuestion
from ..node.analyst import read_request, read_size
from ..numbers import Number, positive
from ..releases import Release
from .past_releases import PastRelease
from .rights import Paying


class Side(Protocol):
    """What answers a connection: the datasets in this process, or a service."""

    def questions(self) -> list[AllowedQuestion]:
        """Return the named questions."""
        ...

    def columns(self, dataset: str) -> Mapping[str, Column]:
        """Return the declared columns."""
        ...

    def quote(self, question: str, dataset: str | None, size: int | None) -> Quote:
        """Return the price of a named question."""
        ...

    def quote_free(
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object]
    ) -> Quote:
        """Return the price of a free question."""
        ...

    def ask(self, question: str, dataset: str | None, size: int | None, paying: Paying) -> Release:
        """Answer a named question."""
        ...

    def ask_free(  # noqa: PLR0913
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object],
        paying: Paying,
    ) -> Release:  # fmt: skip
        """Answer a free question."""
        ...

    def budgets(self) -> list[Budget]:
        """Return the budgets of the caller."""
        ...

    def releases(self) -> list[PastRelease]:
        """Return what was released to the caller."""
        ...


class _FreeVerb:
    """A verb as a method: `data.median("people", "age", epsilon=1)` asks a free question."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self.__doc__ = f"Ask for a {verb} of a declared column, as `ask_verb({verb!r}, ...)` does."

    def __get__(self, connection: "Connection | None", owner: type) -> Any:
        return self if connection is None else partial(connection.ask_verb, self._verb)


@error_boundaries
class Connection:
    """Questions about described datasets, for their owner or for one analyst. Made by `discreet.connect`.

        data = discreet.connect("discreet.toml", analyst="team-a")
        for question in data.questions():
            print(question)
        print(data.quote("typical-age"))
        print(data.ask("typical-age", request="monday"))

    What an analyst is told concerns that analyst alone, and holds no path, no undeclared column and no error of
    the owner's code. A question that fails because of the data is charged like an answer, and its failure is
    `Unanswerable`; the same request asks again at no cost.

    Side channels: those of the questions, how long they take, and whether one fails. Code in this process can go
    around this object: docs/explanation/threat_model.md.
    """

    __slots__ = ("__weakref__", "_side", "_told")

    mode = _FreeVerb("mode")
    top_k = _FreeVerb("top_k")
    median = _FreeVerb("median")
    minimum = _FreeVerb("minimum")
    maximum = _FreeVerb("maximum")
    quantile = _FreeVerb("quantile")
    quantiles = _FreeVerb("quantiles")
    price = _FreeVerb("price")

    def __init__(self, side: Side, told: str) -> None:
        self._side, self._told = side, told

    def questions(self) -> list[AllowedQuestion]:
        """Return the questions that the owner has named, with their prices."""
        return self._side.questions()

    def columns(self, dataset: str) -> Mapping[str, Column]:
        """Return the declared columns of a dataset by name: what free questions may be about.

        Args:
            dataset: the name of the dataset.

        Raises:
            UnknownName: if there is no such dataset for the caller.
        """
        return self._side.columns(read_name(dataset, "dataset"))

    def quote(self, question: str, *, dataset: str | None = None, size: int | None = None) -> Quote:
        """Return the price of a named question, without charging it or reading data.

        Args:
            question: the name of the question.
            dataset: the name of the dataset; not needed if the name of the question says it.
            size: the number of independent answers.

        Raises:
            UnknownName: if there is no such question, or no such dataset for the caller.
            InvalidArgument: if several datasets have such a question, or the size is too large.
        """
        named, of = read_name(question, "question"), _read_dataset(dataset)
        return self._side.quote(named, of, read_size(size))

    def ask(
        self,
        question: str,
        *,
        dataset: str | None = None,
        size: int | None = None,
        request: str | None = None,
        max_cost: Number | None = None,
    ) -> Release:
        """Answer a named question, and charge it.

        Args:
            question: the name of the question.
            dataset: the name of the dataset; not needed if the name of the question says it.
            size: the number of independent answers, all of which are charged.
            request: a name for this request; asked again under it, the answer is the same and costs nothing.
            max_cost: refuse if the answer costs more than this, in the unit of the budget: ε, or ρ.

        Raises:
            UnknownName: if there is no such question, or no such dataset for the caller.
            InvalidArgument: if an argument cannot be accepted, or the answer costs more than `max_cost`.
            Exhausted: if a budget cannot pay; no data were read.
            RequestConflict: if the request was another question.
            LedgerError: if the ledger cannot be used; a note says whether it was charged.
            Unanswerable: for an analyst, if it fails because of the data; that is charged, and a note names
                the request.
        """
        named, of = read_name(question, "question"), _read_dataset(dataset)
        return self._side.ask(named, of, read_size(size), _read_paying(request, max_cost))

    def quote_verb(
        self, verb: str, dataset: str, column: str, *, size: int | None = None, **terms: Any
    ) -> Quote:
        """Return the price of a free question, without charging it or reading data.

        Args:
            verb: the name of a verb that the owner allows, such as "median".
            dataset: the name of the dataset.
            column: the name of a declared column.
            size: the number of independent answers.
            **terms: the arguments of the verb in plain values, such as `epsilon`, `candidates` or `by`.

        Raises:
            InvalidArgument: if the verb is not allowed, or an argument cannot be accepted.
            UnknownName: if there is no such dataset for the caller.
        """
        asked = read_name(verb, "verb"), read_name(dataset, "dataset"), read_name(column, "column")
        return self._side.quote_free(*asked, read_size(size), terms)

    def ask_verb(  # noqa: PLR0913  # a question, and what is paid for it
        self,
        verb: str,
        dataset: str,
        column: str,
        *,
        size: int | None = None,
        request: str | None = None,
        max_cost: Number | None = None,
        **terms: Any,
    ) -> Release:
        """Answer a free question, and charge it.

        Args:
            verb: the name of a verb that the owner allows, such as "median".
            dataset: the name of the dataset.
            column: the name of a declared column.
            size: the number of independent answers, all of which are charged.
            request: a name for this request; asked again under it, the answer is the same and costs nothing.
            max_cost: refuse if the answer costs more than this, in the unit of the budget: ε, or ρ.
            **terms: the arguments of the verb in plain values, such as `epsilon`, `candidates` or `by`.

        Raises:
            InvalidArgument: if the verb is not allowed, an argument cannot be accepted, or the answer costs
                more than `max_cost` or than the owner allows one question.
            UnknownName: if there is no such dataset for the caller.
            Exhausted: if a budget cannot pay; no data were read.
        """
        asked = read_name(verb, "verb"), read_name(dataset, "dataset"), read_name(column, "column")
        paying = _read_paying(request, max_cost)
        return self._side.ask_free(*asked, read_size(size), terms, paying)

    def budgets(self) -> list[Budget]:
        """Return the caller's budgets: an analyst's shares, or for the owner all of them."""
        return self._side.budgets()

    def releases(self) -> list[PastRelease]:
        """Return what was released to the caller before, in order; for the owner, to everybody."""
        return self._side.releases()

    def __copy__(self) -> NoReturn:
        raise TypeError("a connection cannot be copied: connect again")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a connection cannot be pickled: data stay where they are")

    def __repr__(self) -> str:
        return f"Connection({self._told})"


def _read_dataset(dataset: str | None) -> str | None:
    return None if dataset is None else read_name(dataset, "dataset")


def _read_paying(request: str | None, max_cost: Number | None) -> Paying:
    return Paying(
        read_request(request), None if max_cost is None else positive(max_cost, "max_cost")
    )
