"""The pages of a service: what answers, and who is logged in."""

from dataclasses import dataclass
from typing import Protocol

from ...datasets.configuration import Configuration
from ...ledger import Ledger
from ..connection import Connection
from ..limits import Places, RateLimit
from ..rights import Scope
from ..slots import Slots
from ..tokens import Token, Tokens
from .sessions import Sessions

LOGINS = 30
"""Wrong tokens from one address in a minute that are told to be wrong."""


class Backend(Protocol):
    """What the pages need of the service."""

    @property
    def declared(self) -> Configuration:
        """The description."""
        ...

    @property
    def tokens(self) -> Tokens:
        """Who may ask."""
        ...

    @property
    def rate(self) -> RateLimit:
        """How often one token may ask."""
        ...

    @property
    def places(self) -> Places:
        """How many requests of one caller are answered at the same time."""
        ...

    @property
    def slots(self) -> Slots | None:
        """When replies leave."""
        ...

    def connection(self, token: Token, beginning: str | None = None) -> Connection:
        """Return what answers the caller, for a request whose slot began at that time."""
        ...

    def scope(self, token: Token) -> Scope:
        """Return what a caller may ask about."""
        ...

    def scope_of(self, analyst: str) -> Scope:
        """Return what an analyst may ask about, for the owner."""
        ...

    def allowed(self, analyst: str) -> tuple[str, ...]:
        """Return the datasets of which an analyst may be given a share, for the owner."""
        ...


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of a service.

    Attributes:
        service: what answers.
        ledger: the ledger, for owners and auditors.
        sessions: who is logged in.
        logins: how often one address is told that a token is wrong.
    """

    service: Backend
    ledger: Ledger
    sessions: Sessions
    logins: RateLimit

    def token_of(self, session: str) -> Token | None:
        """Return the valid token of a session; a session whose token was revoked or has expired is over."""
        identity = self.sessions.token_of(session) if session else None
        if identity is None:
            return None
        for token in self.service.tokens.valid():
            if token.id == identity:
                return token
        self.sessions.end_all(identity)
        return None
