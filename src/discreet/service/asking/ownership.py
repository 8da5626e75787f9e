"""Operations of the owner besides questions: budgets, shares, tokens, and the chain of events, for auditors too."""

from dataclasses import dataclass, replace
from typing import Any

from ...base.error_boundary import public_errors
from ...base.numbers import Number
from ...errors import InvalidArgument, preview
from ...ledger import Budget, Event
from ...ledger.events import ChainHead
from ...ledger.toml_budgets import open_described, renew_described
from ...tables.datasets.configuration import Configuration
from .datasets import Datasets
from .tokens import NewToken, Token, Tokens, read_expiry

MOST_EVENTS = 1000
"""Events of the chain that are told at once."""


@dataclass(frozen=True, slots=True, repr=False)
class Ownership:
    """The operations that the table of operations allows to owners, and to auditors.

    Attributes:
        configuration: the description. None for data in hand.
        token_file: who may ask. None for data in hand.
        datasets: the datasets, with the ledger that is open.
        token: that of the caller. None for the owner of this process.
    """

    configuration: Configuration | None
    token_file: Tokens | None
    datasets: Datasets
    token: Token | None = None

    def open_budget(
        self, dataset: str, analyst: str | None, separate: bool, **totals: Any
    ) -> Budget:
        """Open the budget that is declared for a dataset, or a share of it."""
        if self.configuration is None:
            return self.datasets.open_budget(dataset, analyst, separate=separate, **totals)
        if analyst is not None and dataset not in self.configuration.analyst(analyst)["datasets"]:
            raise InvalidArgument(
                f"{self.configuration.path.name} does not let {preview(analyst)} ask about "
                f"{preview(dataset)}"
            )
        return open_described(self.configuration, dataset, analyst, separate=separate, **totals)

    def extend_budget(self, dataset: str, analyst: str | None, **totals: Any) -> Budget:
        """Give a budget or a share a larger total."""
        return self.datasets.extend_budget(dataset, analyst, **totals)

    def renew_budget(self, dataset: str, period: str | None, **amounts: Number | None) -> Budget:
        """Open the next budget of a dataset, with the shares that are declared."""
        if self.configuration is None:
            return self.datasets.renew_budget(dataset, period, **amounts)
        return renew_described(self.configuration, dataset, period, **amounts)

    def reopen(self, dataset: str, analyst: str | None) -> list[Budget]:
        """Open a dataset again that was closed after failures, for an analyst or for all."""
        return self.datasets.reopen(dataset, analyst)

    def create_token(self, role: str, analyst: str | None, expires: str) -> NewToken:
        """Make a token, which ends with that of the caller."""
        if analyst is not None and self.configuration is not None:
            self.configuration.analyst(analyst)
        text, token = self._tokens.create(role, analyst, read_expiry(expires), self.token)
        return NewToken(text, _without_hash(token))

    def tokens(self) -> list[Token]:
        """Return all tokens that were not revoked."""
        return list(map(_without_hash, self._tokens.list_all()))

    def revoke_token(self, identity: str) -> Token:
        """Revoke a token, and all that were made with it."""
        return _without_hash(self._tokens.revoke(identity)[0])

    def chain(self, after: int, limit: int) -> tuple[ChainHead, list[Event]]:
        """Return where the chain ends, and so many events after one of them."""
        return self.datasets.events_after(after, limit)

    @property
    @public_errors()
    def _tokens(self) -> Tokens:
        """The tokens of the description.

        Raises:
            InvalidArgument: for data in hand.
        """
        if self.token_file is None:
            raise InvalidArgument("tokens are for the datasets of a discreet.toml")
        return self.token_file


def _without_hash(token: Token) -> Token:
    """Return a token without its hash, which stays where it is kept."""
    return replace(token, hashed="")
