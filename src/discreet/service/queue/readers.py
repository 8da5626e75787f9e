"""Readers that wait for questions: forked from a warm template, and replaced at once when they end."""

import asyncio
import json
import os
import shutil
import signal
import socket
import tempfile
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any, Protocol

from ..http.lifelines import end_with
from .reader import ReaderSettings, read_for

SPARES = 1
"""Readers above those of the schedule: one is warm when another must be ended."""

_PAUSE = 0.5
"""Seconds after which another one is forked, where none could be."""

_SECONDS_FOR_A_READER = 20.0
"""Seconds in which a reader must be free: more than one takes to be started on a slow machine."""

_JOINING = 1.0
"""Seconds in which the exit code of a reader that has ended is known."""

_BY_OTHERS = (None, 0, 1, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT)
"""Exit codes of readers that others have ended: the kernel for want of memory, an operator, the dispatcher."""

_TEMPLATE = "discreet.service.queue.reader_template"

Line = dict[str, Any]


class EndedError(Exception):
    """A reader ended before it answered."""


class Reader(Protocol):
    """A process that reads data: a `ForkedReader`."""

    async def send(self, line: Line) -> None:
        """Send a line, or raise an `EndedError`."""

    async def receive(self) -> Line:
        """Return the next line, or raise an `EndedError`."""

    @property
    def has_failed(self) -> bool:
        """Whether it ended for a limit or a fault of its own, and not by others."""

    def kill(self) -> None:
        """End it at once, with all processes that it has started."""

    async def wait_for_end(self) -> None:
        """Return when it has ended."""


Fork = Callable[[], Awaitable[Reader]]
"""Starts a reader, and returns it when it is ready, or raises an `OSError` or an `EndedError`."""


def _new_future() -> asyncio.Future[None]:
    """Return a future of the running loop."""
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True)
class ForkedReader:
    """A reader that was forked from the template.

    Attributes:
        lines: those from it.
        writer: for lines to it.
        process: its number.
        folder: where its engines may write. It goes with the reader. None if they may not.
        has_failed: whether it ended for a limit or a fault of its own, and not by others.
    """

    lines: asyncio.StreamReader
    writer: asyncio.StreamWriter
    process: int
    folder: str | None
    has_failed: bool = False
    _end: asyncio.Future[None] = field(default_factory=_new_future)

    async def send(self, line: Line) -> None:
        """Send a line."""
        try:
            self.writer.write(json.dumps(line).encode() + b"\n")
            await self.writer.drain()
        except OSError:
            raise EndedError from None

    async def receive(self) -> Line:
        """Return the next line."""
        try:
            line = await self.lines.readline()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise EndedError
        try:
            content: Line = json.loads(line)
        except ValueError:
            self.kill()
            raise EndedError from None
        return content

    def kill(self) -> None:
        """End it at once, with all processes that it has started."""
        if not self._end.done():
            with suppress(OSError):
                os.killpg(self.process, signal.SIGKILL)

    def close(self) -> None:
        """Close the socket, at which it ends after its question."""
        self.writer.close()

    def note_end(self) -> None:
        """Note that it has ended."""
        self.writer.close()
        _remove(self.folder)
        if not self._end.done():
            self._end.set_result(None)

    async def wait_for_end(self) -> None:
        """Return when it has ended."""
        await asyncio.shield(self._end)


def _remove(folder: str | None) -> None:
    """Remove the folder of a reader, if it has one."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def read_forked(dispatcher: socket.socket, settings: ReaderSettings) -> None:
    """Read for a dispatcher, in a process that the template has forked, and that ends with it."""
    from .reader_template import PROCESS

    end_with(PROCESS)
    read_for(dispatcher, settings)


@dataclass(slots=True)
class Forks:
    """Forks readers from one template.

    Attributes:
        settings: the settings of every reader. The folder of its spills is made in theirs.
    """

    settings: ReaderSettings
    _context: Any = field(init=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload([_TEMPLATE])

    async def fork(self) -> ForkedReader:
        """Start a reader, and return it when it is ready.

        Raises:
            EndedError: if it could not be started, or ended before it was ready.
        """
        ours, theirs = socket.socketpair()
        folder = self._make_folder()
        limits = replace(self.settings.limits, spill_folder=folder)
        settings = replace(self.settings, limits=limits)
        process = self._context.Process(target=read_forked, args=(theirs, settings), daemon=True)
        try:
            with theirs:
                async with self._lock:
                    await asyncio.to_thread(process.start)
        except (OSError, EOFError):  # the latter if the template ended in the midst of it
            ours.close()
            _remove(folder)
            raise EndedError from None
        lines, writer = await asyncio.open_connection(sock=ours, limit=1 << 30)
        reader = ForkedReader(lines, writer, process.pid, folder)
        self._watch(process, reader)
        try:
            await reader.receive()
        except EndedError:
            reader.note_end()
            raise
        return reader

    def _make_folder(self) -> str | None:
        """Return a new folder for the spills of one reader."""
        parent = self.settings.limits.spill_folder
        if parent is None:
            return None
        with suppress(OSError):
            return tempfile.mkdtemp(prefix="discreet-", dir=parent)
        return None

    def _watch(self, process: Any, reader: ForkedReader) -> None:
        """Note the end of a reader when its process ends."""
        loop = asyncio.get_running_loop()

        def end() -> None:
            loop.remove_reader(process.sentinel)
            process.join(_JOINING)
            reader.has_failed = process.exitcode not in _BY_OTHERS
            reader.note_end()
            process.close()

        loop.add_reader(process.sentinel, end)


@dataclass(slots=True)
class ReaderPool:
    """Readers, those that are free first; there are always as many as the schedule has, and a spare.

    Attributes:
        fork: starts a reader.
        number: how many the schedule has.
    """

    fork: Fork
    number: int
    _free: deque[Reader] = field(default_factory=deque)
    _queue: deque[asyncio.Future[Reader]] = field(default_factory=deque)
    _alive: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _is_closed: bool = False

    def start(self) -> None:
        """Begin to start the readers."""
        for _ in range(self.number + SPARES):
            self._add()

    def count_alive(self) -> tuple[int, int]:
        """Return how many readers are ready or busy, up to those of the schedule, and how many these are."""
        return min(self._alive, self.number), self.number

    async def take(self, patience: float = _SECONDS_FOR_A_READER) -> Reader:
        """Return a reader that is free, as soon as there is one.

        Args:
            patience: the seconds in which there must be one.

        Raises:
            TimeoutError: if there is none for long: none can be started.
        """
        if self._free:
            return self._free.popleft()
        future: asyncio.Future[Reader] = asyncio.get_running_loop().create_future()
        self._queue.append(future)
        try:
            async with asyncio.timeout(patience):
                return await asyncio.shield(future)
        except TimeoutError:
            if future.done():  # it came with the end of the time
                return future.result()
            future.cancel()
            raise

    def give_back(self, reader: Reader) -> None:
        """Take a reader back that has answered."""
        while self._queue:
            future = self._queue.popleft()
            if not future.done():
                future.set_result(reader)
                return
        self._free.append(reader)

    def close(self) -> None:
        """End the readers that are free, and start no more."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        while self._free:
            self._free.popleft().kill()

    def _add(self) -> None:
        task = asyncio.get_running_loop().create_task(self._keep_one())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _keep_one(self) -> None:
        """Start a reader, wait until it ends, and start another."""
        while not self._is_closed:
            try:
                reader = await self.fork()
            except (OSError, EndedError):
                await asyncio.sleep(_PAUSE)
                continue
            self._alive += 1
            self.give_back(reader)
            await reader.wait_for_end()
            self._alive -= 1
            with suppress(ValueError):
                self._free.remove(reader)
