"""The datasets of a description, answered in this process: no error leads to them."""

from collections.abc import Callable, Mapping
from typing import Any

from ..datasets.column import Column
from ..ledger import Budget, Quote
from ..node import AllowedQuestion
from ..node.isolation import (
    call_isolated,
    error_for_analyst,
    error_for_owner,
    isolated,
    unwrap,
)
from ..releases import Release
from .past_releases import PastRelease
from .rights import Paying, Rights

OPERATIONS = (
    "questions", "columns", "quote", "quote_free", "ask", "ask_free", "budgets", "releases",
)  # fmt: skip


class InProcess:
    """The operations of one caller, each isolated from the data: see `node.isolation`.

    Args:
        rights: what the caller may do.
        check: called before each operation; raises if the caller may do nothing any more.
    """

    __slots__ = ("_check", "_operations")

    def __init__(self, rights: Rights, check: Callable[[], object]) -> None:
        self._check = check
        told = error_for_owner if rights.are_the_owners else error_for_analyst
        self._operations = {name: isolated(getattr(rights, name), told) for name in OPERATIONS}

    def _call(self, operation: str, *args: object) -> Any:
        self._check()  # a token may be revoked, or expire, while it is used
        return unwrap(call_isolated(self._operations[operation], *args))

    def questions(self) -> list[AllowedQuestion]:
        """Return the named questions."""
        found: list[AllowedQuestion] = self._call("questions")
        return found

    def columns(self, dataset: str) -> Mapping[str, Column]:
        """Return the declared columns."""
        found: Mapping[str, Column] = self._call("columns", dataset)
        return found

    def quote(self, question: str, dataset: str | None, size: int | None) -> Quote:
        """Return the price of a named question."""
        found: Quote = self._call("quote", question, dataset, size)
        return found

    def quote_free(
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object]
    ) -> Quote:
        """Return the price of a free question."""
        found: Quote = self._call("quote_free", verb, dataset, column, size, terms)
        return found

    def ask(self, question: str, dataset: str | None, size: int | None, paying: Paying) -> Release:
        """Answer a named question."""
        found: Release = self._call("ask", question, dataset, size, paying)
        return found

    def ask_free(  # noqa: PLR0913
        self, verb: str, dataset: str, column: str, size: int | None, terms: Mapping[str, object],
        paying: Paying,
    ) -> Release:  # fmt: skip
        """Answer a free question."""
        found: Release = self._call("ask_free", verb, dataset, column, size, terms, paying)
        return found

    def budgets(self) -> list[Budget]:
        """Return the budgets of the caller."""
        found: list[Budget] = self._call("budgets")
        return found

    def releases(self) -> list[PastRelease]:
        """Return what was released to the caller."""
        found: list[PastRelease] = self._call("releases")
        return found
