"""Processes that read the data: one that crashes or is killed takes one answer with it, and not the service.

A process is `python -m discreet.service.answering` with one end of a socket, over which a question is a line of
JSON, and its answer another. It ends when the other end is closed.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import BoundedSemaphore
from typing import Any

from ..errors import LedgerBusy

_WAITING = 16
"""Questions that may wait for one process."""

_PATIENCE = 30.0


class EndedError(Exception):
    """The process ended before it answered."""


class UnreadyError(Exception):
    """No process can be started now; none has seen the question."""


class Process:
    """One process that reads data, and those that take its place when it ends.

    Args:
        arguments: those of `discreet.service.answering`.
    """

    __slots__ = ("_arguments", "_file", "_is_ready", "_process", "_socket")

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._start()

    def _start(self) -> None:
        self._is_ready = False
        self._socket, theirs = socket.socketpair()
        self._file = self._socket.makefile("rb")
        with theirs:
            number = theirs.fileno()
            command = [
                sys.executable,
                "-m",
                "discreet.service.answering",
                str(number),
                *self._arguments,
            ]
            self._process = subprocess.Popen(
                command, pass_fds=[number], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )

    def restart(self) -> None:
        """End the process, and start another, without waiting until that is ready.

        Raises:
            OSError: if none can be started.
        """
        self.end()
        self._start()

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked, as far as is known."""
        return self._socket.fileno() >= 0 and self._process.poll() is None

    def await_ready(self) -> None:
        """Return when it can answer; start another first, if it has ended between questions.

        Raises:
            UnreadyError: if none can be started.
        """
        try:
            if not self.is_alive:
                self.restart()
            if not self._is_ready:
                self.ask({})
                self._is_ready = True
        except (EndedError, OSError):
            pass
        else:
            return
        raise UnreadyError

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a question.

        Raises:
            EndedError: if the process ends before.
        """
        try:
            self._socket.sendall(json.dumps(question).encode() + b"\n")
            line = self._file.readline()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise EndedError
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        """Close the socket, at which the process ends, and wait for that."""
        self._file.close()
        self._socket.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)


class Processes:
    """Several processes that read data; every one answers one question after the other.

    Args:
        number: how many.
        arguments: those of `discreet.service.answering`.

    Raises:
        UnreadyError: if they cannot be started.
    """

    __slots__ = ("_all", "_idle", "_room")

    def __init__(self, number: int, arguments: Sequence[str]) -> None:
        self._idle: SimpleQueue[Process] = SimpleQueue()
        self._room = BoundedSemaphore(number * (1 + _WAITING))
        self._all = [Process(arguments) for _ in range(number)]
        for process in self._all:
            process.await_ready()
            self._idle.put(process)

    def count_alive(self) -> tuple[int, int]:
        """Return how many of them can be asked, as far as is known, and how many there are."""
        return sum(process.is_alive for process in self._all), len(self._all)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of a process that is free, or will be.

        Raises:
            EndedError: if the process ends before it answers. Another takes its place.
            UnreadyError: if none can be started; nothing was charged.
            LedgerBusy: if too many wait already; nothing was charged.
        """
        if not self._room.acquire(blocking=False):
            raise LedgerBusy("too many questions are asked at once; ask again")
        try:
            return self._ask_idle(question)
        finally:
            self._room.release()

    def _ask_idle(self, question: dict[str, Any]) -> dict[str, Any]:
        process = self._idle.get()
        try:
            process.await_ready()
            return process.ask(question)
        except UnreadyError:
            raise
        except BaseException:
            # What it may still say answers a question that nobody waits for any more.
            with suppress(OSError):
                process.restart()
            raise
        finally:
            self._idle.put(process)
