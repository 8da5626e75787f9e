"""The pages of a service: its answers, and the sessions of its callers."""

from dataclasses import dataclass

from ...ledger import Ledger
from ..service import Service
from ..tokens import Token
from .sessions import Sessions


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of a service.

    Attributes:
        service: the service.
        ledger: the ledger, for owners and auditors.
        sessions: who is logged in.
    """

    service: Service
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
