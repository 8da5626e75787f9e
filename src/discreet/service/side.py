"""What answers a connection: the datasets in this process, or a service."""

from collections.abc import Mapping
from typing import Protocol

from ..datasets.column import Column
from ..ledger import Budget, Event, Quote
from ..ledger.transaction import ChainHead
from ..node import AllowedQuestion
from ..numbers import Number
from ..releases import Release
from .past_releases import PastRelease
from .rights import Paying
from .tokens import NewToken, Token

Amounts = Mapping[str, Number | None]
"""Epsilon, rho and delta of a budget; None where they are not given."""


class Side(Protocol):
    """The operations of one caller."""

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

    def open_budget(self, dataset: str, analyst: str | None, amounts: Amounts) -> Budget:
        """Open the budget of a dataset, or a share of it."""
        ...

    def extend_budget(self, dataset: str, analyst: str | None, amounts: Amounts) -> Budget:
        """Give a budget or a share a larger total."""
        ...

    def create_token(self, role: str, analyst: str | None, expires: str) -> NewToken:
        """Make a token."""
        ...

    def tokens(self) -> list[Token]:
        """Return the tokens that were not revoked."""
        ...

    def revoke_token(self, identity: str) -> Token:
        """Revoke a token."""
        ...

    def chain(self, after: int, limit: int) -> tuple[ChainHead, list[Event]]:
        """Return where the chain ends, and events of it."""
        ...
