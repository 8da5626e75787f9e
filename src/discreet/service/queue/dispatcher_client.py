"""The connection of a worker to the dispatcher, over which all its questions go at the same time."""

import asyncio
import json
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

from .dispatcher import QueuedQuestion
from .readers import Line

_LONGEST_LINE = 1 << 26
_PATIENCE = 1.0
"""Seconds in which the readers must be counted."""


class UnreachableError(Exception):
    """The dispatcher cannot be reached, or has ended: whether a question was charged is not known."""


@dataclass(slots=True)
class DispatcherLink:
    """One connection, which lives in one event loop.

    Attributes:
        lines: those from the dispatcher.
        writer: for lines to it.
    """

    lines: asyncio.StreamReader
    writer: asyncio.StreamWriter
    _numbers: "count[int]" = field(default_factory=count)
    _replies: dict[int, asyncio.Future[Line]] = field(default_factory=dict)
    _task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to take messages."""
        self._task = asyncio.get_running_loop().create_task(self._receive())

    @property
    def is_open(self) -> bool:
        """Whether it can be used, as far as is known."""
        return self._task is not None and not self._task.done()

    async def ask(self, question: QueuedQuestion) -> Line:
        """Return the message with the reply to a question. One that is cancelled meanwhile is taken back."""
        number = next(self._numbers)
        reply: asyncio.Future[Line] = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        self._send({"id": number, "question": question.plain})
        try:
            return await reply
        finally:
            if self._replies.pop(number, None) is not None:
                self._send({"id": number, "is_gone": True})

    def _send(self, message: Line) -> None:
        if not self.writer.is_closing():
            self.writer.write(json.dumps(message).encode() + b"\n")

    async def _receive(self) -> None:
        """Hand every message to whoever waits for it."""
        try:
            with suppress(OSError, ValueError):
                async for line in self.lines:
                    self._hand_on(json.loads(line))
        finally:
            self.writer.close()
            for future in self._replies.values():
                if not future.done():
                    future.set_exception(UnreachableError())
                    future.exception()  # noted, also if nobody waits for it

    def _hand_on(self, message: Line) -> None:
        reply = self._replies.pop(message["id"], None)
        if reply is not None and not reply.done():
            reply.set_result(message)


@dataclass(slots=True)
class DispatcherClient:
    """Asks the dispatcher.

    Attributes:
        path: the socket on which it listens.
        readers: how many readers it has.
    """

    path: str
    readers: int = 1
    _link: asyncio.Task[DispatcherLink] | None = None
    _loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, question: QueuedQuestion) -> Line:
        """Return the message with the reply to a question, and when that leaves; None: as a free reply.

        Raises:
            UnreachableError: if the dispatcher cannot be reached.
        """
        return await (await self._reconnect()).ask(question)

    def count_alive(self) -> tuple[int, int]:
        """Return how many readers can be asked, and how many there are.

        Raises:
            OSError: if the dispatcher cannot be reached.
        """
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_PATIENCE)
            connection.connect(self.path)
            connection.sendall(b'{"id": 0, "question": null}\n')
            with connection.makefile("rb") as lines:
                line = lines.readline()
        if not line:
            raise ConnectionAbortedError
        message = json.loads(line)
        return message["alive"], message["readers"]

    async def _reconnect(self) -> DispatcherLink:
        """Return the connection; another one if the last has ended, or was of another event loop."""
        loop = asyncio.get_running_loop()
        if self._link is None or self._loop is not loop or _has_ended(self._link):
            self._link, self._loop = loop.create_task(self._connect()), loop
        return await asyncio.shield(self._link)

    async def _connect(self) -> DispatcherLink:
        try:
            lines, writer = await asyncio.open_unix_connection(self.path, limit=_LONGEST_LINE)
        except OSError:
            raise UnreachableError from None
        link = DispatcherLink(lines, writer)
        link.start()
        return link


def _has_ended(link: asyncio.Task[DispatcherLink]) -> bool:
    """Return whether a connection cannot be used any more, as far as is known."""
    if not link.done():
        return False
    return link.cancelled() or link.exception() is not None or not link.result().is_open
