"""Work that no interrupt reaches: it runs in a thread of its own, and the caller waits for it.

Python raises KeyboardInterrupt, and whatever else a signal's handler raises, between any two instructions of the
main thread. A database's driver that is hit there leaves transactions open and loses its connections. Here only
the waiting is hit: what has begun ends as it would have ended without.
"""

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_GRACE = 1.0
"""Seconds for which an interrupt waits for what has begun to end."""


class Stop:
    """Tells work that nobody waits for it any more."""

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked = False


def shielded(work: Callable[[Stop], T]) -> T:
    """Return what `work` returns, or raise what it raises.

    An interrupt of the caller is raised here. Then `work` has not begun and never will; or it has ended, well
    or not; or, if it takes long, it goes on by itself and is told to stop where it can.
    """
    job = _Job(work)
    try:
        _start(job.run)
        job.wait()
    except BaseException:
        job.stop()
        raise
    return job.outcome()


def _start(run: Callable[[], None]) -> None:
    """Run it in a thread that leaves nothing behind, or here if there can be no thread."""
    try:
        start_new_thread(run, ())
    except RuntimeError:
        run()


class _Job(Generic[T]):
    """Work that is begun once or never, and what came out of it."""

    __slots__ = ("_begun", "_ended", "_failure", "_stop", "_value", "_work")

    def __init__(self, work: Callable[[Stop], T]) -> None:
        self._work, self._stop = work, Stop()
        self._value: list[T] = []
        self._failure: BaseException | None = None
        # Locks of the interpreter: to take one is a single step, which no interrupt divides.
        self._begun, self._ended = allocate_lock(), allocate_lock()
        self._ended.acquire()

    def run(self) -> None:
        """Do the work, unless it was stopped before it began."""
        if not self._begun.acquire(blocking=False):
            return
        try:
            self._value.append(self._work(self._stop))
        except BaseException as failure:  # the caller raises it
            self._failure = failure
        finally:
            del self._work
            self._ended.release()

    def wait(self) -> None:
        """Return when the work has ended."""
        self._ended.acquire()
        self._ended.release()

    def stop(self) -> None:
        """Let the work not begin, or wait a little for it to end."""
        self._stop.asked = True
        if not self._begun.acquire(blocking=False) and self._ended.acquire(timeout=_GRACE):
            self._ended.release()

    def outcome(self) -> T:
        """Return what came out of the work, or raise it. Nothing keeps it afterwards."""
        failure, self._failure = self._failure, None
        if failure is None:
            return self._value.pop()
        try:
            raise failure
        finally:
            del failure
