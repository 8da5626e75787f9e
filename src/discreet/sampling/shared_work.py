"""Work that threads share, where it takes longer than their start."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread  # in a third of the time of `threading`
from collections import deque
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_T = TypeVar("_T")


def share(work: Callable[[_T], object], parts: Iterable[_T], threads: int) -> None:
    """Call `work` for all parts, in no order, in at most so many threads, of which the caller's is one.

    The others end before it returns or raises: after an error or an interrupt of the caller with the parts they are
    at. Then the error of another one is raised. Nothing is tried again: to read other words where the first ones
    led to an error would give some answers another probability.
    """
    rest, workers = deque(parts), list[_Worker]()
    try:
        with suppress(RuntimeError):  # no more threads are allowed to this process
            for _ in range(threads - 1):
                workers.append(_Worker(partial(_take_all, work, rest)))
        _take_all(work, rest)
    finally:
        rest.clear()
        for worker in workers:
            worker.end.acquire()
    for worker in workers:
        if worker.error is not None:
            raise worker.error


def divide(length: int, number: int) -> Iterator[tuple[int, int]]:
    """Yield the starts and the stops of so many spans of nearly one length."""
    return pairwise([length * part // number for part in range(number + 1)])


def _take_all(work: Callable[[_T], object], rest: deque[_T]) -> None:
    """Do all parts that are left: several threads take them from one deque."""
    while True:
        try:
            part = rest.popleft()
        except IndexError:
            return
        work(part)


class _Worker:
    """A thread that works, and a lock that it opens at its end.

    Attributes:
        end: the lock.
        error: the error that ended the work. None if it is complete.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work, self.end = work, allocate_lock()
        self.error: BaseException | None = MemoryError()  # unless it is known to be complete
        self.end.acquire()
        start_new_thread(self._run, ())

    def _run(self) -> None:
        try:
            self._work()
            self.error = None
        except BaseException as error:  # the caller raises it
            self.error = error
        finally:
            del self._work
            self.end.release()
