"""The pages of a service: its answers, and the sessions of its callers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ...ledger import Ledger
from ...ledger.budget import Amount
from ...node.isolation import Failure
from ...releases import Release
from ..connection import Connection
from ..disclosures import Disclosure, LateAnswers
from ..dispatcher_client import DispatcherClient
from ..limits import Places
from ..padding import Arrival, Clock
from ..rights import Scope
from ..tokens import Token, Tokens
from .sessions import Sessions


class Backend(Protocol):
    """The part of the service that the pages need."""

    @property
    def tokens(self) -> Tokens:
        """The tokens of the description."""
        ...

    @property
    def places(self) -> Places:
        """How many requests of one caller are answered at the same time."""
        ...

    @property
    def dispatcher(self) -> DispatcherClient | None:
        """The dispatcher; None if data are read in this process."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...

    def connection(
        self, token: Token, arrival: Arrival | None = None, answer: Release | Failure | None = None
    ) -> Connection:
        """Return the connection of a caller, for a request that came at that time; perhaps with its answer."""
        ...

    def scope(self, token: Token) -> Scope:
        """Return the datasets and the verbs that a caller may ask about."""
        ...

    def scope_of(self, analyst: str) -> Scope:
        """Return the datasets and the verbs that an analyst may ask about, for the owner."""
        ...

    def disclosures_of(self, analyst: str) -> list[Disclosure]:
        """Return the failures and the times that an analyst can see, for the owner."""
        ...

    def late_answers(self) -> list[LateAnswers]:
        """Return the delays that have doubled since the last reset, and the questions given up, for the owner."""
        ...

    def analysts(self) -> tuple[str, ...]:
        """Return the names of all analysts, for the owner."""
        ...

    def declared_share(self, analyst: str) -> Amount | None:
        """Return the share that the description declares for an analyst, for the owner."""
        ...

    def question_terms(self, dataset: str, question: str) -> Mapping[str, Any]:
        """Return the terms of a named question in the description, for callers that may ask it."""
        ...

    @property
    def description_name(self) -> str:
        """The name of the file of the description, for the owner."""
        ...


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of a service.

    Attributes:
        service: the service.
        ledger: the ledger, for owners and auditors.
        sessions: who is logged in.
    """

    service: Backend
    ledger: Ledger
    sessions: Sessions

    def token_of(self, session: str) -> Token | None:
        """Return the valid token of a session; a session is over once its token was revoked or has expired."""
        identity = self.sessions.token_of(session) if session else None
        if identity is None:
            return None
        for token in self.service.tokens.valid():
            if token.id == identity:
                return token
        self.sessions.end_all(identity)
        return None
