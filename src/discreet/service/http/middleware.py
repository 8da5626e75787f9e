"""The way of every request: its caller first, then its body, which has an end in length and in time.

uvicorn and h11 limit no body. A reply that leaves before the body was whole closes the connection.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.responses import Response

from .auth import LOGIN
from .exchange import App, AsgiMessage, Receive, Send, exchange_of

LONGEST_BODY = 1 << 18
"""Bytes of the longest body of a caller."""

LONGEST_LOGIN = 1 << 14
"""Bytes of the longest body of a stranger: of the form of the login."""

SLOWEST_BODY = 10.0
"""Seconds that a body may take to arrive."""

_TOO_SLOW = 408, "the request took longer than ten seconds to arrive"
_GONE = 400, "the request is not whole"


@dataclass(slots=True)
class TokenFirst:
    """An application that reads the bodies of known callers alone, and rejects one that is too long or too slow.

    Attributes:
        app: the application.
        enter: notes the caller of a request, and returns the reply that rejects it, or None.
        slowest: the seconds that a body may take to arrive.
    """

    app: App
    enter: Callable[[AsgiMessage], Awaitable[Response | None]]
    slowest: float = SLOWEST_BODY

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = await self.enter(scope)
        body: bytes | Response = b""
        if refusal is None and _is_read(scope):
            body = await self._read(scope, receive)
        refusal = body if isinstance(body, Response) else refusal
        if refusal is not None:
            await refusal(scope, receive, _closing(send) if _has_body(scope) else send)
            return
        if exchange_of(scope).caller is not None:
            exchange_of(scope).begin()
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def whole() -> AsgiMessage:
            return parts.pop() if parts else await receive()

        is_unread = _has_body(scope) and not _is_read(scope)
        await self.app(scope, whole, _closing(send) if is_unread else send)

    async def _read(self, scope: AsgiMessage, receive: Receive) -> bytes | Response:
        """Return the body, or a refusal, if it is too long or too slow, or the client is gone."""
        longest = LONGEST_LOGIN if exchange_of(scope).caller is None else LONGEST_BODY
        body = bytearray()
        try:
            async with asyncio.timeout(self.slowest):
                while len(body) <= longest:
                    message = await receive()
                    if message["type"] != "http.request":
                        return _refusal(scope, *_GONE)
                    body += message.get("body", b"")
                    if not message.get("more_body", False) and len(body) <= longest:
                        return bytes(body)
        except TimeoutError:
            return _refusal(scope, *_TOO_SLOW)
        return _refusal(scope, 413, f"the request is longer than {longest >> 10} KiB")


def _has_body(scope: AsgiMessage) -> bool:
    """Return whether a body follows the head of a request."""
    of_bodies = {b"content-length", b"transfer-encoding"}
    return any(name in of_bodies and value != b"0" for name, value in scope["headers"])


def _is_read(scope: AsgiMessage) -> bool:
    """Return whether the body of a request is read: those of callers, and the form of the login."""
    return exchange_of(scope).caller is not None or (scope["method"], scope["path"]) == LOGIN


def _closing(send: Send) -> Send:
    """Return a function that sends a reply after which the connection is closed."""

    async def send_and_close(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            headers = [*message.get("headers", ()), (b"connection", b"close")]
            message = {**message, "headers": headers}
        await send(message)

    return send_and_close


def _refusal(scope: AsgiMessage, status: int, words: str) -> Response:
    exchange_of(scope).refusal = "InvalidArgument"
    reply = {"error": "InvalidArgument", "message": words, "notes": [], "charged": False}
    return Response(json.dumps(reply), status, media_type="application/json")
