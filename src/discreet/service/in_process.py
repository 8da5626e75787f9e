"""The datasets of a description, answered in this process: no error leads to them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ..datasets.column import Column
from ..ledger import Budget, Event, Quote
from ..ledger.transaction import ChainHead
from ..node import AllowedQuestion
from ..node.isolation import (
    call_isolated,
    isolated,
    translation_for,
    unwrap,
)
from ..releases import Release
from .ownership import Ownership
from .past_releases import PastRelease
from .rights import Paying, Rights
from .side import Amounts
from .tokens import NewToken, Token

ASKED = (
    "questions", "columns", "quote", "quote_free", "ask", "ask_free", "budgets", "releases",
)  # fmt: skip
OWNED = ("open_budget", "extend_budget", "create_token", "tokens", "revoke_token", "chain")

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class InProcess:
    """The operations of one caller, each isolated from the data: see `node.isolation`.

    Args:
        rights: what the caller may ask.
        ownership: what only the owner may do besides.
        check: called before each operation; raises if the caller may do nothing any more.
        apart: operations by name that are done in another process, and isolated there.
    """

    __slots__ = ("_check", "_operations")

    def __init__(
        self,
        rights: Rights,
        ownership: Ownership,
        check: Callable[[], object] = lambda: None,
        apart: Mapping[str, Callable[..., Any]] = _NOTHING,
    ) -> None:
        translate = translation_for(rights.are_the_owners)
        self._check = isolated(check, translate)
        self._operations = {name: isolated(getattr(rights, name), translate) for name in ASKED}
        owned = {name: isolated(getattr(ownership, name), translate) for name in OWNED}
        self._operations.update(owned)
        self._operations.update(apart)

    def _call(self, operation: str, *args: object) -> Any:
        unwrap(call_isolated(self._check))  # a token may be revoked, or expire, while it is used
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

    def open_budget(self, dataset: str, analyst: str | None, amounts: Amounts) -> Budget:
        """Open the budget of a dataset, or a share of it."""
        found: Budget = self._call("open_budget", dataset, analyst, amounts)
        return found

    def extend_budget(self, dataset: str, analyst: str | None, amounts: Amounts) -> Budget:
        """Give a budget or a share a larger total."""
        found: Budget = self._call("extend_budget", dataset, analyst, amounts)
        return found

    def create_token(self, role: str, analyst: str | None, expires: str) -> NewToken:
        """Make a token."""
        found: NewToken = self._call("create_token", role, analyst, expires)
        return found

    def tokens(self) -> list[Token]:
        """Return the tokens that were not revoked."""
        found: list[Token] = self._call("tokens")
        return found

    def revoke_token(self, identity: str) -> Token:
        """Revoke a token."""
        found: Token = self._call("revoke_token", identity)
        return found

    def chain(self, after: int, limit: int) -> tuple[ChainHead, list[Event]]:
        """Return where the chain ends, and events of it."""
        found: tuple[ChainHead, list[Event]] = self._call("chain", after, limit)
        return found
