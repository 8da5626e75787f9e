"""Calls in processes of their own, each with a limit of time and of memory."""

import logging
import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import dp_accounting  # noqa: F401  # what is imported here is not imported anew in each process
import duckdb  # noqa: F401
import matplotlib.figure  # noqa: F401
import opendp.prelude  # noqa: F401
import sqlalchemy.dialects.sqlite  # noqa: F401

from . import calls, examples, judge

SECONDS, BYTES = 5.0, 10**9
"""What no call may take."""

_CHUNK = 200
_FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Done:
    """A call that was made, what it did and what it took."""

    index: int
    case: calls.Case
    verdict: judge.Verdict
    seconds: float
    bytes: int


def make(index: int, case: calls.Case) -> Done:
    """Make a call here, and measure it."""
    before, start = _peak(reset=True), time.perf_counter()
    verdict = judge.judge(case)
    taken = time.perf_counter() - start
    return Done(index, case, verdict, taken, max(0, _peak() - before))


def run(indices: list[int], case_of: Callable[[int], calls.Case], workers: int) -> Iterator[Done]:
    """Yield all calls as they end, in any order. One that takes too long is killed and tried once more alone."""
    chunks = [indices[i : i + _CHUNK] for i in range(0, len(indices), _CHUNK)][::-1]
    busy: list[_Worker] = []
    slow: list[int] = []
    while chunks or busy:
        while chunks and len(busy) < workers:
            busy.append(_Worker(chunks.pop(), case_of))
        wait([worker.pipe for worker in busy], timeout=0.2)
        for worker in list(busy):
            yield from worker.received()
            if worker.is_over():
                busy.remove(worker)
                if left := worker.end():
                    slow.append(left[0])
                    chunks.append(left[1:])
                chunks = [chunk for chunk in chunks if chunk]
    for index in slow:
        yield _alone(index, case_of)


def _alone(index: int, case_of: Callable[[int], calls.Case]) -> Done:
    """Return a call that was too slow among others, made again by itself."""
    worker, found = _Worker([index], case_of), list[Done]()
    while not worker.is_over():
        wait([worker.pipe], timeout=0.2)
        found += worker.received()
    found += worker.received()
    worker.end()
    if found:
        return found[0]
    died = judge.Verdict("killed", f"no answer within {SECONDS:g} s, or the process died")
    return Done(index, case_of(index), died, SECONDS, 0)


class _Worker:
    """A process that makes calls one after another."""

    def __init__(self, indices: list[int], case_of: Callable[[int], calls.Case]) -> None:
        self.left, self.began = list(indices), time.monotonic()
        self.pipe, theirs = _FORK.Pipe(duplex=False)
        self._process = _FORK.Process(target=_work, args=(indices, case_of, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._closed = False

    def received(self) -> Iterator[Done]:
        """Yield what has come in."""
        try:
            while self.pipe.poll():
                message = self.pipe.recv()
                self.began = time.monotonic()
                if isinstance(message, Done):
                    self.left.remove(message.index)
                    yield message
        except (EOFError, OSError):
            self._closed = True

    def is_over(self) -> bool:
        """Return whether all is done, or the call under way takes too long."""
        return self._closed or time.monotonic() - self.began > SECONDS + 1

    def end(self) -> list[int]:
        """End the process and return what it has not done, the call that was under way first."""
        self._process.kill()
        self._process.join()
        self.pipe.close()
        return self.left


def _work(indices: list[int], case_of: Callable[[int], calls.Case], pipe: Connection) -> None:
    """Make calls and tell of each, within limits."""
    logging.disable()
    os.chdir(examples.world().folder)  # some texts name files
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1), os.dup2(null, 2)
    warm: Any = calls.Case("select", 0, {})
    judge.judge(warm)
    most = _data() + 2 * BYTES  # what engines map at first is more than what they use
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for index in indices:
        pipe.send("begun")
        pipe.send(make(index, case_of(index)))
    pipe.close()


def _peak(*, reset: bool = False) -> int:
    """Return the most memory that this process has had at once, since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmHWM")


def _data() -> int:
    return _status("VmData")


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))
