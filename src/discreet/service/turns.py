"""Turns: a reply leaves at a public time, in a body of a public length, whatever the data are.

A reply that needs no data leaves at the end of the turn in which it is ready. If its request came in the second
half of a turn, it leaves at the end of the next: else it would show on which side of an end it was ready, which a
question that keeps the cores busy can move. A reply to a question leaves at the end of its caller's place in the
timetable, also if it is ready earlier; if it is not ready then, it leaves whole turns later, which is counted for
the owner. Bodies are text, padded with spaces to a multiple of `LENGTH`.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from time import monotonic
from typing import Any

from ..ledger.transaction import time_text
from .counts import RequestCounts
from .timetable import Timetable

LATE = "replies late"
"""The name of the counter."""

LEAVE, AT_ONCE = "discreet.leave", "discreet.at_once"
"""The keys in the scope of a request of the function to call after its reply, and of one that leaves at once."""

END = "discreet.end"
"""Where the scope of a question has the end of its place, at which its reply leaves."""

ARRIVAL = "discreet.arrival"
"""Where the scope of a request has the `Arrival` at which it was whole."""

LENGTHS = "discreet.lengths"
"""Where the scope of a request has of how many `LENGTH` its reply is at least, 1 if it is not there."""

MARGIN = 1 / 2
"""The part of a turn that must be left when a request comes whose reply leaves at its end."""

LENGTH = 1 << 16
"""Bytes of a padded body."""

AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
App = Callable[[AsgiMessage, Receive, Send], Awaitable[None]]


def now_in_utc() -> datetime:
    """Return the date and the time of day, by the clock of this machine."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Arrival:
    """The time at which a request was whole.

    Attributes:
        seconds: as seconds that never go back.
        date: as events have it.
    """

    seconds: float
    date: str


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
class Turns:
    """An application that pads its replies and sends them at public times.

    Attributes:
        app: the application.
        timetable: the turns.
        clock: the time.
        counts: where replies are counted that were not ready at the end of their places; for the owner alone.
    """

    app: App
    timetable: Timetable
    clock: Clock = field(default_factory=Clock)
    counts: RequestCounts = field(default_factory=RequestCounts)

    @property
    def late_replies(self) -> int:
        """How many replies were not ready at the end of their places."""
        return sum(self.counts.read(LATE).values())

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        """Answer a request at the end of a turn, or of a place."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        reply = _WholeReply()
        scope[ARRIVAL] = self.clock.arrival()

        async def arriving() -> AsgiMessage:
            message = await receive()
            if message["type"] == "http.request":
                scope[ARRIVAL] = self.clock.arrival()
            return message

        # What fails here is not raised: it would be logged with its message, and answered at once.
        with suppress(Exception):
            await self.app(scope, arriving, reply.send)
        try:
            is_late = AT_ONCE not in scope and await self._wait(scope.get(END), scope[ARRIVAL])
            await reply.release(send, scope.get(LENGTHS, 1) * LENGTH)
        finally:
            scope.pop(LEAVE, _nothing)()
        if is_late:
            await asyncio.to_thread(self.counts.add, LATE)

    def leaving_time(self, arrival: Arrival) -> float:
        """Return when a reply that needs no data leaves, if it is ready then: no work moves this time."""
        return self.timetable.turn_end(arrival.seconds + MARGIN * float(self.timetable.turn))

    async def _wait(self, end: float | None, arrival: Arrival) -> bool:
        """Wait for the end of a place, or else of a turn; return whether the reply is late."""
        turn, now = float(self.timetable.turn), self.clock.now()
        if not turn:
            return False
        if end is None:
            time = max(self.leaving_time(arrival), self.timetable.turn_end(now))
            await self.clock.sleep(time - now)
            return False
        late_turns = max(0, ceil((now - end) / turn))
        await self.clock.sleep(end + late_turns * turn - now)
        return late_turns > 0


def _nothing() -> None:
    """Return at once."""


_FAILED = (
    b'{"error": "DiscreetError", "message": "the service failed; tell its owner", "notes": [], '
    b'"charged": null}'
)


class _WholeReply:
    """A reply that is held back until it is whole; one of a failure, if none comes."""

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
