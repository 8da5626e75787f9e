"""Readers of a service that are killed while they read."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import discreet

from .running import below

_PATIENCE = 60.0


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; a minute at most."""
    until = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < until, f"it does not hold after {_PATIENCE:g} s"
        time.sleep(0.02)


def readers_of(dispatcher: int) -> list[int]:
    """Return the readers of a dispatcher, those that are free too."""
    return [pid for pid in below(dispatcher) if _group(pid) == pid]


def _group(process: int) -> int | None:
    try:
        return os.getpgid(process)
    except ProcessLookupError:
        return None


def kill_readers(dispatcher: int) -> None:
    """Kill all readers of a dispatcher."""
    for pid in readers_of(dispatcher):
        os.kill(pid, signal.SIGKILL)


MANY = 2 * 10**7
"""Rows that take seconds to be read."""


@contextmanager
def endless(data: Path) -> Iterator[None]:
    """Put so many rows into data that whoever reads them is still at it for seconds."""
    text = data.read_text()
    data.write_text(text + text.splitlines(keepends=True)[-1] * MANY)
    try:
        yield
    finally:
        data.write_text(text)


@contextmanager
def killed_while_reading(dispatcher: int, data: Path, ledger: Path, request: str) -> Iterator[None]:
    """Kill the readers once a request is charged, whose data are endless meanwhile."""

    def kill() -> None:
        events = discreet.Ledger(ledger).history
        wait_for(lambda: any(e.request == request and e.kind == "charged" for e in events()))
        time.sleep(0.2)  # in which it begins to read
        kill_readers(dispatcher)

    killing = threading.Thread(target=kill)
    with endless(data):
        killing.start()
        try:
            yield
        finally:
            killing.join()
