"""Bills: what a release costs, and who pays it. Nothing here is private."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from .guarantees import Guarantee

Indices: TypeAlias = "int | list[Indices]"
"""What was drawn, as indices of the answers: JSON can hold it."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What one release costs, and what it answers.

    Attributes:
        guarantee: what the whole release promises, all draws together.
        mechanism: the name of the mechanism.
        query: what is asked, in words.
        digest: SHA-256, in hex, of everything but the data that decides the law of the answer.
        request: the caller's name for this request; the same name never pays or draws twice.
    """

    guarantee: Guarantee
    mechanism: str
    query: str
    digest: str
    request: str | None = None


class Account(Protocol):
    """Who pays for a release: a session of a ledger, for example."""

    def buy(self, bill: Bill, prepare: Callable[[], Callable[[], Indices]]) -> Indices:
        """Return what is drawn: pay, commit, then draw; or what the same request drew before.

        Args:
            bill: what it costs.
            prepare: computes the private scores, and returns what draws from them.

        Raises:
            DiscreetError: if it cannot be paid; nothing private was looked at.
        """
        ...
