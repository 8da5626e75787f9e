"""A request and its reply, and the notes of all parts of a service about them."""

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from ..asking.tokens import Token

AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
App = Callable[[AsgiMessage, Receive, Send], Awaitable[None]]

_KEY = "discreet"


@dataclass(frozen=True, slots=True)
class Arrival:
    """The time at which a request was whole.

    Attributes:
        seconds: as seconds that never go back.
        date: as events have it.
    """

    seconds: float
    date: str


def _nothing() -> None:
    """Return at once."""


@dataclass(slots=True)
class Exchange:
    """The notes of all parts of a service about one request and its reply.

    Attributes:
        arrival: when the request was whole. None without padding.
        gone: waits until whoever sent it has gone, once it is whole. None without padding.
        route: the path of its route, which the log of requests names.
        caller: the stored record of its token. None for a stranger.
        begin: called when its caller is known and its body is whole.
        leave: called after its reply.
        end: when the reply to a question leaves, 0 for at once. None for a free reply.
        lengths: the least length of the reply, in units of `LENGTH`.
        refusal: the class of the error that the request was rejected with. None if it was not.
        late_ledger: the dataset of a question whose reply leaves later for the ledger. None for others.
    """

    arrival: Arrival | None = None
    gone: Callable[[], Awaitable[None]] | None = None
    route: str = "unknown"
    caller: Token | None = None
    begin: Callable[[], object] = _nothing
    leave: Callable[[], object] = _nothing
    end: float | None = None
    lengths: int = 1
    refusal: str | None = None
    late_ledger: str | None = None


def exchange_of(scope: AsgiMessage) -> Exchange:
    """Return the one exchange of the request of a scope."""
    exchange: Exchange = scope.setdefault(_KEY, Exchange())
    return exchange


def caller_of(scope: AsgiMessage) -> Token:
    """Return the caller of a request that was let in."""
    caller = exchange_of(scope).caller
    assert caller is not None
    return caller
