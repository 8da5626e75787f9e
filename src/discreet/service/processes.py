"""Processes that read the data: one that crashes or is killed takes one answer with it, and not the service.

A process is `python -m discreet.service.answering` with one end of a socket, over which each question is a line of
JSON, and each answer another. It ends when the other end is closed.
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
"""Questions that may wait for each process."""

_PATIENCE = 30.0


class EndedError(Exception):
    """The process ended before it answered."""


class Process:
    """One process that reads data.

    Args:
        arguments: those of `discreet.service.answering`.
    """

    __slots__ = ("_file", "_process", "_socket")

    def __init__(self, arguments: Sequence[str]) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            command = [sys.executable, "-m", "discreet.service.answering", str(number), *arguments]
            self._process = subprocess.Popen(
                command, pass_fds=[number], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
        self._file = self._socket.makefile("rb")

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
    """Several processes that read data, each of which answers one question after the other.

    Args:
        number: how many.
        arguments: those of `discreet.service.answering`.

    Raises:
        EndedError: if they cannot be started.
    """

    __slots__ = ("_arguments", "_idle", "_room")

    def __init__(self, number: int, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._idle: SimpleQueue[Process] = SimpleQueue()
        self._room = BoundedSemaphore(number * (1 + _WAITING))
        started = [Process(arguments) for _ in range(number)]
        for process in started:
            process.ask({})  # it is ready when it answers
            self._idle.put(process)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of a process that is free, or will be.

        Raises:
            EndedError: if the process ends before it answers. Another takes its place.
            LedgerBusy: if too many wait already; nothing was charged.
        """
        if not self._room.acquire(blocking=False):
            raise LedgerBusy("too many questions are asked at once; ask again")
        try:
            return self._asked(question)
        finally:
            self._room.release()

    def _asked(self, question: dict[str, Any]) -> dict[str, Any]:
        process = self._idle.get()
        try:
            return process.ask(question)
        except BaseException:
            process.end()
            process = Process(self._arguments)
            raise
        finally:
            self._idle.put(process)
