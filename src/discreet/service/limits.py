"""Limits of a service: how long a request may be and may take, and how often one token may ask."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from time import monotonic
from weakref import WeakKeyDictionary

from .access import REFUSED
from .counts import RequestCounts
from .tokens import Token
from .turns import AT_ONCE, LEAVE, App, AsgiMessage, Receive, Send

LONGEST_BODY = 1 << 18
"""Bytes of the longest request."""

SLOWEST_BODY = 10.0
"""Seconds that a request may take to arrive."""

_TOO_LONG = 413, "the request is longer than 256 KiB"
_TOO_SLOW = 408, "the request took longer than ten seconds to arrive"
_GONE = 400, "the request is not whole"


@dataclass(slots=True)
class ShortBodies:
    """An application that reads a request before it answers, and refuses one that is too long or too slow."""

    app: App
    longest: int = LONGEST_BODY
    slowest: float = SLOWEST_BODY

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        """Answer a request of moderate length."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.slowest):
                body = await self._read(receive)
        except TimeoutError:
            body = _TOO_SLOW
        if isinstance(body, tuple):
            scope[REFUSED] = "InvalidArgument"
            await _refuse(send, *body)
            return
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def whole() -> AsgiMessage:
            return parts.pop() if parts else await receive()

        await self.app(scope, whole, send)

    async def _read(self, receive: Receive) -> bytes | tuple[int, str]:
        """Return the body; or a status and words, if it is too long or the client is gone."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return _GONE
            body += message.get("body", b"")
            if len(body) > self.longest:
                return _TOO_LONG
            if not message.get("more_body", False):
                return bytes(body)


async def _refuse(send: Send, status: int, words: str) -> None:
    reply = {"error": "InvalidArgument", "message": words, "notes": [], "charged": False}
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(reply).encode()})


@dataclass(slots=True)
class RateLimit:
    """At most so many requests of one token in a minute.

    Attributes:
        most: how many.
        now: returns seconds that never go back, the same in all processes that share the counts.
        counts: where requests are counted: those of all workers of a service, or of this process alone.
    """

    most: int = 120
    now: Callable[[], float] = monotonic
    counts: RequestCounts = field(default_factory=RequestCounts)

    def admits(self, token: str) -> bool:
        """Count a request of a token, and return whether it may be answered."""
        return self.counts.admits(token, self.most, 60, self.now)


PLACES = 32
"""Requests of one caller that one worker answers at the same time: fewer than its threads, and its connections."""


@dataclass(slots=True)
class Places:
    """At most so many requests of one caller at the same time: the others keep their connections and threads.

    A caller is an analyst, whatever the tokens; or all owners; or all auditors.

    Attributes:
        most: how many.
    """

    most: int = PLACES
    _counts: Counter[str] = field(default_factory=Counter)
    _lines: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]] = field(
        default_factory=WeakKeyDictionary
    )
    _lock: Lock = field(default_factory=Lock)

    def enter(self, token: Token, scope: AsgiMessage) -> bool:
        """Take a place for a request until its reply was sent; return whether there was one.

        One that is refused is told at once: waiting for the end of a turn, it would keep its connection from
        others. That tells no more than how many requests the caller sent who got no reply yet.
        """
        caller = _caller_of(token)
        with self._lock:
            if self._counts[caller] >= self.most:
                scope[AT_ONCE] = True
                return False
            self._counts[caller] += 1
        scope[LEAVE] = partial(self._leave, caller)
        return True

    def line(self, token: Token) -> asyncio.Lock:
        """Return the lock by which the requests of a caller are worked on one after another.

        The threads of a worker share one interpreter: thus a reply to others waits for one request of the caller at
        a time, however many there are. A lock is of one event loop, of which a worker has one.
        """
        with self._lock:
            lines = self._lines.setdefault(asyncio.get_running_loop(), {})
        return lines.setdefault(_caller_of(token), asyncio.Lock())

    def _leave(self, caller: str) -> None:
        with self._lock:
            self._counts[caller] -= 1
            if not self._counts[caller]:
                del self._counts[caller]


def _caller_of(token: Token) -> str:
    """Return the name by which the places of a caller are counted."""
    return f"{token.role} {token.analyst or ''}"
