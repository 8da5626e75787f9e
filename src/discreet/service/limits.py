"""Limits of a service: how long a request may be, and how often one token may ask."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic

from .slots import App, Message, Receive, Send

LONGEST_BODY = 1 << 20
"""Bytes of the longest request."""

_REFUSED = (
    b'{"error": "InvalidArgument", "message": "the request is longer than 1 MiB", "notes": []}'
)


@dataclass(slots=True)
class ShortBodies:
    """An application that reads a request before it answers, and refuses one that is too long."""

    app: App
    longest: int = LONGEST_BODY

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request of moderate length."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = await self._read(receive)
        if body is None:
            await _refuse(send)
            return
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def whole() -> Message:
            return parts.pop() if parts else await receive()

        await self.app(scope, whole, send)

    async def _read(self, receive: Receive) -> bytes | None:
        """Return the body, or None if it is too long or the client is gone."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > self.longest:
                return None
            if not message.get("more_body", False):
                return bytes(body)


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": _REFUSED})


@dataclass(slots=True)
class RateLimit:
    """At most so many requests of one token in a minute.

    Attributes:
        most: how many.
        now: returns seconds that never go back.
    """

    most: int = 120
    now: Callable[[], float] = monotonic
    _asked: dict[str, deque[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def admits(self, token: str) -> bool:
        """Count a request of a token, and return whether it may be answered."""
        with self._lock:
            asked, now = self._asked.setdefault(token, deque()), self.now()
            while asked and asked[0] <= now - 60:
                asked.popleft()
            if len(asked) >= self.most:
                return False
            asked.append(now)
            return True
