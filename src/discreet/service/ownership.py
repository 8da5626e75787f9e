"""What the owner does besides asking: budgets, shares, tokens; and the chain of events, which auditors see too."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..datasets.configuration import Configuration
from ..errors import InvalidArgument, NotAllowed
from ..ledger import Budget, Event
from ..ledger.described import described_ledger, open_described
from ..ledger.transaction import ChainHead
from ..node.datasets import Datasets
from ..node.isolation import PublicError
from ..numbers import Number
from .tokens import NewToken, Token, Tokens, read_expiry

MOST_EVENTS = 1000
"""Events of the chain that are told at once."""


@dataclass(frozen=True, slots=True, repr=False)
class Ownership:
    """The operations of an owner, each of which is refused to others.

    Attributes:
        declared: the description.
        tokens: who may ask.
        role: of the caller: see `tokens.ROLES`.
        held: the datasets, with the ledger that is open.
        token: that of the caller; None for the owner of this process.
    """

    declared: Configuration
    tokens_kept: Tokens
    role: str
    held: Datasets
    token: Token | None = None

    def open_budget(
        self, dataset: str, analyst: str | None, amounts: Mapping[str, Number | None]
    ) -> Budget:
        """Open the budget that is declared for a dataset, or a share of it."""
        self._for_owners()
        self._check_analyst(analyst)
        terms: Any = amounts
        return open_described(self.declared, dataset, analyst, **terms)

    def extend_budget(
        self, dataset: str, analyst: str | None, amounts: Mapping[str, Number | None]
    ) -> Budget:
        """Give a budget or a share a larger total."""
        self._for_owners()
        described, ledger = (
            self.declared.dataset(dataset),
            described_ledger(self.declared, dataset),
        )
        return ledger.extend(described, analyst=analyst, **amounts)

    def create_token(self, role: str, analyst: str | None, expires: str) -> NewToken:
        """Make a token, which ends with that of the caller."""
        self._for_owners()
        self._check_analyst(analyst)
        text, kept = self.tokens_kept.create(role, analyst, read_expiry(expires), self.token)
        return NewToken(text, _told(kept))

    def tokens(self) -> list[Token]:
        """Return all tokens that were not revoked."""
        self._for_owners()
        return list(map(_told, self.tokens_kept.listed()))

    def revoke_token(self, identity: str) -> Token:
        """Revoke a token, and all that were made with it."""
        self._for_owners()
        return _told(self.tokens_kept.revoke(identity)[0])

    def chain(self, after: int, limit: int) -> tuple[ChainHead, list[Event]]:
        """Return where the chain ends, and so many events after one of them."""
        if self.role == "analyst":
            raise PublicError(NotAllowed("the history of all is for owners and auditors"))
        if limit > MOST_EVENTS:
            raise PublicError(InvalidArgument(f"up to {MOST_EVENTS:,} events are told at once"))
        return self.held.events_after(after, limit)

    def _for_owners(self) -> None:
        if self.role != "owner":
            raise PublicError(NotAllowed("this is for the owner"))

    def _check_analyst(self, analyst: str | None) -> None:
        if analyst is not None:
            self.declared.analyst(analyst)


def _told(token: Token) -> Token:
    """Return a token without its hash, which stays where it is kept."""
    return replace(token, hashed="")
