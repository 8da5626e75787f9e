"""HTTP connections with an end: to the time and the length of a head, to waiting, and to their number.

uvicorn and h11 limit none of these: a head that comes in one piece may be of any length, and a connection that
sends half a head stays for ever. Here nobody has said yet who asks. Bodies end in `middleware`, calls in `limits`.
"""

import asyncio
import json
import os
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .exchange import exchange_of

LONGEST_HEAD = 16 << 10
"""Bytes of the longest head."""

SLOWEST_HEAD = 10.0
"""Seconds in which a head must come, from the beginning of the connection or from the last reply."""

SLOWEST_READER = 60.0
"""Seconds in which a client must take a reply: the next one waits no longer."""

_MOST_CONNECTIONS = 500
"""Connections of one worker: half of the files that systems let a process open, as a rule."""


def most_connections() -> int:
    """Return how many connections one worker keeps: fewer where it may open few files."""
    if os.name != "posix":
        return _MOST_CONNECTIONS
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit

    files = getrlimit(RLIMIT_NOFILE)[0]
    return (
        _MOST_CONNECTIONS if files == RLIM_INFINITY else max(16, min(_MOST_CONNECTIONS, files // 2))
    )


class LimitedConnection(H11Protocol):
    """A connection that is closed if it waits too long; while there are too many, another one is that waits.

    A connection waits until a request on it is whole, and its caller is known. From then on it is never closed for
    others, until the reply has left. Connections of strangers go first, those that had a caller before go last. Of
    strangers the address with the most connections goes first, so that its burst takes no place from others.
    """

    most = most_connections()
    slowest_head = SLOWEST_HEAD
    slowest_reader = SLOWEST_READER

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._waiting: asyncio.TimerHandle | None = None
        self._sending: asyncio.TimerHandle | None = None
        self._since, self._head = 0.0, 0
        self._is_answered = self._had_caller = False
        app = self.app

        async def noting(scope: Any, receive: Any, send: Any) -> None:
            exchange_of(scope).begin = self._begin
            await app(scope, receive, send)

        self.app = noting

    @property
    def waits(self) -> bool:
        """Whether no request of a known caller is under way."""
        return not self._is_answered

    @property
    def address(self) -> str | None:
        """The address of the client, or None if the system knows none."""
        return self.client[0] if self.client else None

    def _begin(self) -> None:
        """Note that a request is whole, and its caller known."""
        self._is_answered = self._had_caller = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait, in the place of another connection if there are too many."""
        super().connection_made(transport)
        waiting = [
            one
            for one in self.connections
            if isinstance(one, LimitedConnection) and one.waits and one is not self
        ]
        if len(self.connections) > self.most and waiting:
            _first_to_go(waiting).drop()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget all times."""
        self._wait_no_more()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hand on the bytes that came: a head in pieces, so that it is rejected as soon as it is too long."""
        while data and self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            room = LONGEST_HEAD - self._head
            if not room:
                self._refuse(
                    431, f"the head of the request is longer than {LONGEST_HEAD >> 10} KiB"
                )
                return
            self._head += len(data[:room])
            super().data_received(data[:room])
            data = data[room:]
        if data and not self.transport.is_closing():
            super().data_received(data)
        if self._is_answering():
            self._wait_no_more()
            if self.conn.their_state is not h11.SEND_BODY and self.conn.trailing_data[0]:
                self.cycle.keep_alive = (
                    False  # a second head came with the first, whatever its length
                )

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the end."""
        self._is_answered = False
        super().on_response_complete()
        self._wait()

    def pause_writing(self) -> None:
        """Give the client some time to take the data sent to it, for which another reply waits."""
        super().pause_writing()
        self._sending = self.loop.call_later(self.slowest_reader, self.drop)

    def resume_writing(self) -> None:
        """Go on."""
        if self._sending is not None:
            self._sending.cancel()
        super().resume_writing()

    def drop(self) -> None:
        """Close the connection at once."""
        self._wait_no_more()
        self.connections.discard(self)
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse data that are no request, in the words of the service."""
        self._refuse(400, "this is not an HTTP request")

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        """Wait for a head, or for the end of the transfer that is still under way after a reply."""
        self._wait_no_more()
        self._since, self._head = self.loop.time(), 0
        self._waiting = self.loop.call_later(self.slowest_head, self._give_up)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        """Close a connection that has waited too long, and say why if a part of a head came."""
        if self.transport.get_write_buffer_size():  # the client still takes the last reply
            self._waiting = self.loop.call_later(self.slowest_reader, self.drop)
            return
        if self._head and self.conn.their_state is h11.IDLE:
            self._refuse(408, "the request took longer than ten seconds to arrive")
        self.drop()

    def _refuse(self, status: int, words: str) -> None:
        """Send a refusal, unless a reply was begun before, and close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not self.transport.is_closing():
            body = {"error": "InvalidArgument", "message": words, "notes": [], "charged": False}
            headers = [("content-type", "application/json"), ("connection", "close")]
            reply = h11.Response(status_code=status, headers=headers)
            for event in (reply, h11.Data(data=json.dumps(body).encode()), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def _first_to_go(waiting: list[LimitedConnection]) -> LimitedConnection:
    """Return the connection to close: of those without a caller the longest wait of the busiest address."""
    strangers = [one for one in waiting if not one._had_caller] or waiting
    number = Counter(one.address for one in strangers)
    return min(strangers, key=lambda one: (-number[one.address], one._since))
