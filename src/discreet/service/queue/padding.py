"""Padding: a reply leaves at a public time, in a body of a public length, for all data.

A reply that needs no data leaves whole multiples of `QUANTUM` after its request was whole: how busy the cores are
with a question moves it by less. A reply to a question leaves when the schedule says. Bodies are text, padded with
spaces to a multiple of `LENGTH`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import floor
from time import monotonic

from ...ledger.transaction import time_text
from ..http.exchange import App, Arrival, AsgiMessage, Receive, Send, exchange_of

QUANTUM = 0.05
"""Seconds, of which free replies take whole multiples."""

LENGTH = 1 << 16
"""Bytes of a padded body."""


def now_in_utc() -> datetime:
    """Return the date and the time of day, by the clock of this machine."""
    return datetime.now(UTC)


@dataclass(slots=True)
class Clock:
    """Time, and how to wait for it.

    Attributes:
        now: returns seconds that never go back.
        sleep: waits for so many seconds.
        date: returns the date and the time of day, with a zone.
    """

    now: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    date: Callable[[], datetime] = now_in_utc

    def arrival(self) -> Arrival:
        """Return the time of a request that is whole now."""
        return Arrival(self.now(), time_text(self.date()))


@dataclass(slots=True)
class Padding:
    """An application that pads its replies and sends them at public times.

    Attributes:
        app: the application.
        clock: the time.
        pads_times: whether free replies wait for the end of a quantum: not where all answers leave when ready.
    """

    app: App
    clock: Clock = field(default_factory=Clock)
    pads_times: bool = True

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        """Answer a request at its time."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        reply, exchange = _WholeReply(), exchange_of(scope)
        exchange.arrival = arrival = self.clock.arrival()

        async def arriving() -> AsgiMessage:
            nonlocal arrival
            message = await receive()
            if message["type"] == "http.request":
                exchange.arrival = arrival = self.clock.arrival()
            return message

        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        exchange.gone = gone
        # What fails here is not raised: it would be logged with its message, and answered at once.
        with suppress(Exception):
            await self.app(scope, arriving, reply.send)
        try:
            await self._wait(exchange.end, arrival.seconds)
            await reply.release(send, exchange.lengths * LENGTH)
        finally:
            exchange.leave()

    async def _wait(self, end: float | None, arrival: float) -> None:
        """Wait until a reply leaves by the schedule, or else for the end of a quantum."""
        now = self.clock.now()
        if end is None and self.pads_times:
            end = arrival + (floor((now - arrival) / QUANTUM) + 1) * QUANTUM
        if end is not None and end > now:
            await self.clock.sleep(end - now)


_FAILED = (
    b'{"error": "DiscreetError", "message": "the service failed; tell its owner", "notes": [], '
    b'"charged": null}'
)


class _WholeReply:
    """A reply that is held back until it is whole. One of a failure, if none comes."""

    def __init__(self) -> None:
        headers = [(b"content-type", b"application/json")]
        self._start: AsgiMessage = {
            "type": "http.response.start",
            "status": 503,
            "headers": headers,
        }
        self._body: list[bytes] = [_FAILED]

    async def send(self, message: AsgiMessage) -> None:
        """Keep a part of the reply."""
        if message["type"] == "http.response.start":
            self._start, self._body = message, []
        else:
            self._body.append(message.get("body", b""))

    async def release(self, send: Send, length: int) -> None:
        """Send the reply, padded to a multiple of a length."""
        body = b"".join(self._body)
        body = body.ljust(-(-max(1, len(body)) // length) * length)
        headers = [pair for pair in self._start["headers"] if pair[0].lower() != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        await send({**self._start, "headers": headers})
        await send({"type": "http.response.body", "body": body})
