"""Work that threads share, where it takes longer than their start."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread  # in a third of the time of `threading`
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable, Iterable, Iterator

_T = TypeVar("_T")


def share(work: Callable[[_T], object], parts: Iterable[_T], threads: int) -> None:
    """Call `work` for all parts, in no order, in at most so many threads, of which the caller's is one.

    The others end before it returns. What fails in one of them is done again in the caller's: an error that comes
    again is the caller's. After an error or an interrupt of the caller the others end with the parts they are at.
    """
    rest, again, ends = deque(parts), list[_T](), list["LockType"]()
    try:
        with suppress(RuntimeError):  # no more threads are allowed to this process
            for _ in range(threads - 1):
                ends.append(_begin_thread(work, rest, again))
        for part in _take_all(rest):
            work(part)
    finally:
        rest.clear()
        for end in ends:
            end.acquire()
    for part in again:
        work(part)


def _begin_thread(work: Callable[[_T], object], rest: deque[_T], again: list[_T]) -> LockType:
    """Start a thread that works until no part is left, and return a lock that it opens at its end."""

    def run() -> None:
        for part in _take_all(rest):
            try:
                work(part)
            except Exception:  # it may have found no memory
                again.append(part)
        end.release()

    end = allocate_lock()
    end.acquire()
    start_new_thread(run, ())
    return end


def _take_all(rest: deque[_T]) -> Iterator[_T]:
    """Yield parts until none is left: several threads take them from one deque."""
    while True:
        try:
            part = rest.popleft()
        except IndexError:
            return
        yield part
