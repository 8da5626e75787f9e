"""The process of the dispatcher, and how a service starts it.

It listens on a Unix socket in a folder that only its user can enter. When its parent stops it, waiting questions
are dropped at no cost, and the answers to questions that are being read are still stored. If its parent is killed,
it exits immediately.
"""

import asyncio
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import active_children
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from typing import Any

from ...errors import DiscreetError, LedgerUnwritable
from ...tables.datasets.configuration import Configuration
from ..asking import wire
from ..asking.isolation import Failure
from ..http.lifelines import command
from ..http.temporary_folders import TemporaryFolder
from .dispatcher import LOG, Dispatcher, QueuedQuestion, Ticket
from .promises import answer_times
from .reader import ReaderSettings, collect_no_more, file_digest, read_again
from .readers import Forks, Line, ReaderPool
from .resources import ONE_THREAD, ReaderLimits, reader_limits
from .schedule import WAITING

_LONGEST_LINE = 1 << 26
"""Bytes of the longest question or answer of a worker."""

_PATIENCE = 60.0

_LONGEST_START = 300.0
"""Seconds in which the first reader must be there: a slow moment of the machine rejects no start."""

_PAUSE = 0.2
"""Seconds after which another one is started."""


@dataclass(frozen=True, slots=True)
class DispatcherSettings:
    """The settings of a dispatcher.

    Attributes:
        reader: the settings of its readers.
        readers: how many there are.
        folder: its folder, which goes with it.
        listener: the number of the socket on which it listens.
        parent: the number of the socket that closes when its parent ends.
    """

    reader: ReaderSettings
    readers: int
    folder: str
    listener: int
    parent: int


class DispatcherProcess:
    """The process of the dispatcher, and those that take its place when it ends before it is stopped.

    Args:
        configuration: the description.
        readers: how many questions are read at the same time.

    Attributes:
        path: the socket on which it listens.

    Raises:
        LedgerUnwritable: if it cannot be started.
    """

    __slots__ = (
        "_folders", "_is_stopped", "_listener", "_lock", "_parent", "_process", "_settings", "path",
    )  # fmt: skip

    def __init__(self, configuration: Configuration, readers: int) -> None:
        self._lock = Lock()
        folder, limits = TemporaryFolder(), reader_limits(configuration)
        self._folders = [folder]
        if limits.spill_folder is not None:
            self._folders.append(TemporaryFolder(limits.spill_folder))
            limits = replace(limits, spill_folder=self._folders[-1].path)
        self.path = str(Path(folder.path) / "socket")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen(256)
        path = configuration.path.absolute()
        self._settings = (ReaderSettings(str(path), file_digest(path), limits), readers)
        self._is_stopped = False
        self._start()
        try:
            is_ready = self._parent.recv(1)
        except BaseException:
            self.end()
            raise
        if not is_ready:
            self.end()
            raise LedgerUnwritable("no process can be started that reads the data")
        Thread(target=self._restart, daemon=True).start()

    def _start(self) -> None:
        self._parent, theirs = socket.socketpair()
        reader, readers = self._settings
        with theirs:
            numbers = self._listener.fileno(), theirs.fileno()
            settings = DispatcherSettings(reader, readers, self._folders[0].path, *numbers)
            self._process = subprocess.Popen(
                command("discreet.service.queue.dispatcher_process", json.dumps(asdict(settings))),
                pass_fds=numbers, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                env={**os.environ, **ONE_THREAD},
            )  # fmt: skip

    def _restart(self) -> None:
        """Start another one whenever it ends before it was stopped."""
        while True:
            self._process.wait()
            if self._is_stopped:
                return
            sleep(_PAUSE)
            with self._lock:
                self._start_again()

    def _start_again(self) -> None:
        """Start another one, unless it was stopped meanwhile."""
        if not self._is_stopped:
            self._parent.close()
            self._start()

    @property
    def process(self) -> int:
        """Its number."""
        return self._process.pid

    def end(self) -> None:
        """Let it end after the questions that are read now, and wait for that."""
        with self._lock:
            self._is_stopped = True
            self._parent.close()
            self._listener.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        for folder in self._folders:
            folder.remove()


async def dispatch(settings: DispatcherSettings) -> None:
    """Answer the workers until the parent ends."""
    loop = asyncio.get_running_loop()
    parent = socket.socket(fileno=settings.parent)
    parent.setblocking(False)
    configuration = read_again(Path(settings.reader.path))
    pool = ReaderPool(Forks(settings.reader).fork, settings.readers)
    waiting = configuration.server.get("waiting", WAITING)
    dispatcher = Dispatcher(answer_times(configuration), pool, waiting=waiting)
    pool.start()
    pool.give_back(await pool.take(_LONGEST_START))

    async def serve_worker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await WorkerLink(dispatcher, reader, writer).serve()

    collect_no_more()
    listener = socket.socket(fileno=settings.listener)
    server = await asyncio.start_unix_server(serve_worker, sock=listener, limit=_LONGEST_LINE)
    with suppress(ConnectionError):  # it may have ended meanwhile
        await loop.sock_sendall(parent, b"1")
        await loop.sock_recv(parent, 1)
    server.close()
    shutil.rmtree(settings.folder, ignore_errors=True)
    await dispatcher.drain()
    pool.close()


@dataclass(frozen=True, slots=True)
class WorkerLink:
    """The connection of one worker.

    Attributes:
        dispatcher: the dispatcher.
        lines: those from the worker.
        writer: for lines to it.
    """

    dispatcher: Dispatcher
    lines: asyncio.StreamReader
    writer: asyncio.StreamWriter
    tickets: dict[int, Ticket] = field(default_factory=dict)

    async def serve(self) -> None:
        """Answer every line, until the worker closes the connection, or the dispatcher ends.

        Then the event loop cancels this. asyncio of Python 3.11 would log a traceback if it passed that on.
        """
        try:
            with suppress(ConnectionError, ValueError, asyncio.CancelledError):
                async for line in self.lines:
                    self._take(json.loads(line))
        finally:
            for ticket in self.tickets.values():
                self.dispatcher.leave(ticket)
            self.writer.close()

    def _take(self, message: Line) -> None:
        """Answer a message, at once or when there is an answer."""
        number = message["id"]
        if message.get("is_gone"):
            ticket = self.tickets.pop(number, None)
            if ticket is not None:
                self.dispatcher.leave(ticket)
            return
        if message["question"] is None:
            alive, readers = self.dispatcher.pool.count_alive()
            self._send({"id": number, "alive": alive, "readers": readers})
            return
        try:
            ticket = self.dispatcher.ask(QueuedQuestion(**message["question"]))
        except DiscreetError as error:
            refusal = wire.write_answer(Failure(error))
            self._send({"id": number, "end": None, "is_first": True, "reply": refusal})
            return
        self.tickets[number], is_first = ticket, ticket.askers == 1

        def reply(future: asyncio.Future[Line]) -> None:
            self.tickets.pop(number, None)
            if not future.cancelled():
                message = {"id": number, "end": ticket.end, "is_first": is_first}
                is_late = bool(ticket.ledger_late)
                self._send({**message, "is_ledger_late": is_late, "reply": future.result()})

        ticket.reply.add_done_callback(reply)

    def _send(self, message: Line) -> None:
        if not self.writer.is_closing():
            self.writer.write(json.dumps(message).encode() + b"\n")


def run_dispatcher(text: str) -> None:
    """Run the dispatcher of some settings, given as JSON."""
    for each in (signal.SIGINT, signal.SIGTERM):  # it ends with its parent
        signal.signal(each, signal.SIG_IGN)
    plain: dict[str, Any] = json.loads(text)
    reader: dict[str, Any] = plain.pop("reader")
    limits = ReaderLimits(**reader.pop("limits"))
    settings = DispatcherSettings(ReaderSettings(**reader, limits=limits), **plain)
    for number in (settings.listener, settings.parent):
        os.set_inheritable(number, False)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter('{"time": "%(asctime)s", "failure": %(message)s}'))
    LOG.addHandler(handler)
    try:
        asyncio.run(dispatch(settings))
    finally:
        # Readers that were just being started: at its exit multiprocessing would wait for them, and they for it.
        for reader_process in active_children():
            reader_process.kill()


if __name__ == "__main__":
    run_dispatcher(sys.argv[1])
