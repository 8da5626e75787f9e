"""Analyst: the access of one analyst to a data node."""

from typing import NoReturn

from ..arguments import read_name
from ..ledger import Budget, Quote
from ..numbers import count
from ..releases import Release
from ..text_tables import Listing, listing
from .allowed_questions import AllowedQuestion
from .datasets import AnalystRights
from .isolation import call_isolated, error_for_analyst, isolated, unwrap


class _Operations:
    """The operations of an analyst, isolated from the data: see `isolation`."""

    __slots__ = ("ask", "budgets", "questions", "quote")

    def __init__(self, rights: AnalystRights) -> None:
        self.questions = isolated(rights.questions, error_for_analyst)
        self.quote = isolated(rights.quote, error_for_analyst)
        self.ask = isolated(rights.ask, error_for_analyst)
        self.budgets = isolated(rights.budgets, error_for_analyst)


class Analyst:
    """The access of one analyst to a data node: list questions, get quotes, ask, and see budgets.

        team = node.analyst("team-a")
        for question in team.questions():
            print(question)
        print(team.quote("bids", "price"))
        answer = team.query("bids", "price", request="monday")

    Made by `DataNode.analyst`. It charges this analyst's shares alone, and shows no data of which the analyst
    has no share. Its errors do not mention files, columns, other data, other analysts or errors of the
    owner's code.

    Side channels: those of the questions, and whether one fails. Code in the same process can go around
    this object: docs/explanation/threat_model.md.
    """

    __slots__ = ("__weakref__", "_name", "_operations")

    def __init__(self, rights: AnalystRights) -> None:
        self._name = rights.analyst
        self._operations = _Operations(rights)

    @property
    def name(self) -> str:
        """The name of the analyst."""
        return self._name

    def questions(self) -> list[AllowedQuestion]:
        """Return the questions that this analyst may ask."""
        return Listing(unwrap(call_isolated(self._operations.questions)))

    def quote(self, name: str, access: str | None = None, *, size: int | None = None) -> Quote:
        """Return the cost of answers to this analyst's share, without charging it or reading data.

        Args:
            name: the name of the data.
            access: the name of the question; not needed if there is only one.
            size: the number of independent answers.

        Raises:
            UnknownName: if there are no such data of which the analyst has a share, or no such question.
            InvalidNumber: if the owner does not allow as many at once.
        """
        asked = read_name(name, "name"), read_access(access), read_size(size)
        return unwrap(call_isolated(self._operations.quote, *asked))

    def query(
        self,
        name: str,
        access: str | None = None,
        *,
        size: int | None = None,
        request: str | None = None,
    ) -> Release:
        """Answer a question, and charge it to this analyst's share and to the budget of the data.

        Args:
            name: the name of the data.
            access: the name of the question; not needed if there is only one.
            size: the number of independent answers, all of which are charged.
            request: a name for this request; asked again under it, the answer is the same and costs nothing.

        Raises:
            UnknownName: if there are no such data of which the analyst has a share, or no such question.
            InvalidNumber: if the owner does not allow as many answers at once.
            Exhausted: if a budget cannot pay, or the owner does not allow more requests; no data were read.
            RequestConflict: if the request was another question.
            LedgerError: if the ledger cannot be used; a note says whether it was charged.
            Unanswerable: if it fails for a reason that only the owner may see.
        """
        asked = read_name(name, "name"), read_access(access), read_size(size)
        return unwrap(call_isolated(self._operations.ask, *asked, read_request(request)))

    @property
    def budgets(self) -> list[Budget]:
        """This analyst's shares of budgets: total, spent and remaining."""
        return Listing(unwrap(call_isolated(self._operations.budgets)))

    def __copy__(self) -> NoReturn:
        raise TypeError("an analyst's side of a node cannot be copied: ask the node for another")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an analyst's side of a node cannot be pickled: data stay where they are")

    def _repr_html_(self) -> str:
        asked = listing(self.questions(), f"What {self._name} may ask")
        return f"{asked.html()}\n{listing(self.budgets, 'Budgets').html()}"

    def __repr__(self) -> str:
        return f"Analyst({self._name!r})"


def read_access(access: str | None) -> str | None:
    """Return the name of a question as exact text, or None."""
    return None if access is None else read_name(access, "access")


def read_request(request: str | None) -> str | None:
    """Return the name of a request as exact text, or None."""
    return None if request is None else read_name(request, "request")


def read_size(size: int | None) -> int | None:
    """Return a number of answers as an exact integer, or None."""
    return None if size is None else count(size, "size")
