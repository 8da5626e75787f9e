"""Work that no interrupt reaches: Ctrl-C comes after it, or it runs in a thread of its own while the caller waits.

Python raises KeyboardInterrupt, and other exceptions of signal handlers, between any two instructions of the main
thread. In a database driver this leaves transactions open and loses connections. Here an interrupt comes before
work or after it, or hits only the waiting caller.
"""

import os
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from contextvars import Context
from functools import partial
from queue import Empty, SimpleQueue
from signal import SIGINT, default_int_handler
from types import FrameType
from typing import Generic, TypeVar

from ..base.doors import DOOR
from ..base.signal_handlers import may_be_interrupted, only_ctrl_c_interrupts, set_handler

_T = TypeVar("_T")

_GRACE = 1.0
"""Seconds for which an interrupt waits for running work to end."""

_REST = 0.05
"""Seconds for which a thread waits for more work: the three transactions of a release have one thread."""


class StopRequest:
    """Tells running work that its caller was interrupted and no longer waits."""

    __slots__ = ("is_set",)

    def __init__(self) -> None:
        self.is_set = False


class _Deferral(StopRequest):
    """The handler of Ctrl-C while work runs: it notes the interrupt, which is raised afterwards."""

    __slots__ = ("_process",)

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._process != os.getpid():  # a child that another thread has forked meanwhile
            default_int_handler(number, frame)
        self.is_set = True


def run_uninterrupted(work: Callable[[StopRequest], _T], *, is_short: bool = False) -> _T:
    """Return the result of `work`, or raise its error, without interrupting it.

    An interrupt of the caller is raised here. By then `work` has not begun and never will, or it has ended, with
    success or not; or, if it takes long, it continues and is asked to stop.

    Where no signal can raise, it runs in the thread of the caller. So does short work where only Ctrl-C can, which
    is raised when that has ended.

    Args:
        work: the work. It looks whether it should stop wherever it waits for others.
        is_short: whether an interrupt can wait for all else that it does.
    """
    work = _in_own_context(work)
    if not may_be_interrupted():
        return work(StopRequest())
    if is_short and only_ctrl_c_interrupts():
        return _run_before_ctrl_c(work)
    job = _Job(work)
    try:
        _start(job.run)
        job.wait()
    except BaseException:
        job.stop()
        raise
    return job.outcome()


def _in_own_context(work: Callable[[StopRequest], _T]) -> Callable[[StopRequest], _T]:
    """Return work that runs without anything that the caller has set, but for the door of messages."""
    context = Context()
    context.run(DOOR.set, DOOR.get())
    run: Callable[..., _T] = context.run
    return partial(run, work)


def _run_before_ctrl_c(work: Callable[[StopRequest], _T]) -> _T:
    """Do the same in the main thread, with a handler that does not raise in place of Python's own.

    To set a handler is a single step: an earlier interrupt is raised before it, and a later one is noted.
    """
    deferral = _Deferral()
    try:
        set_handler(SIGINT, deferral)
        return work(deferral)
    finally:
        set_handler(SIGINT, default_int_handler)
        if deferral.is_set:
            raise KeyboardInterrupt


_Work = SimpleQueue[Callable[[], None]]

_RESTING: list[_Work] = []
"""The work of threads that have none now, for whoever takes it out of the list first."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_RESTING.clear)  # these threads are in the parent


def _start(run: Callable[[], None]) -> None:
    """Run it in a thread that rests, or else in a new one, or in this one if no thread can be started."""
    try:
        work = _RESTING.pop()
    except IndexError:
        pass
    else:
        work.put(run)  # interrupted before, that thread waits for ever: nobody else can have it
        return
    try:
        start_new_thread(_serve, (run,))
    except RuntimeError:
        run()


def _serve(run: Callable[[], None]) -> None:
    """Run it, and then the work that others soon give to this thread."""
    work: _Work = SimpleQueue()
    while True:
        Context().run(run)
        del run  # it holds what was drawn
        _RESTING.append(work)
        try:
            run = work.get(timeout=_REST)
        except Empty:
            try:
                _RESTING.remove(work)
            except ValueError:  # somebody has taken it, whose work comes
                run = work.get()
            else:
                return


class _Job(Generic[_T]):
    """Work that begins at most once, and its result."""

    __slots__ = ("_begin_once", "_end", "_failure", "_stop", "_value", "_work")

    def __init__(self, work: Callable[[StopRequest], _T]) -> None:
        self._work, self._stop = work, StopRequest()
        self._value: list[_T] = []
        self._failure: BaseException | None = None
        # Locks of the interpreter: acquiring one is a single step, which no interrupt divides.
        self._begin_once, self._end = allocate_lock(), allocate_lock()
        self._end.acquire()

    def run(self) -> None:
        """Do the work, unless it was stopped before it began."""
        if not self._begin_once.acquire(blocking=False):
            return
        try:
            self._value.append(self._work(self._stop))
        except BaseException as failure:  # the caller raises it
            self._failure = failure
        finally:
            del self._work
            self._end.release()

    def wait(self) -> None:
        """Return when the work has ended."""
        self._end.acquire()
        self._end.release()

    def stop(self) -> None:
        """Keep the work from beginning, or wait briefly for it to end."""
        self._stop.is_set = True
        has_begun = not self._begin_once.acquire(blocking=False)
        has_ended = self._value or self._failure is not None  # `wait`, interrupted, keeps the lock
        if has_begun and not has_ended and self._end.acquire(timeout=_GRACE):
            self._end.release()

    def outcome(self) -> _T:
        """Return the result, or raise the error, and keep neither."""
        failure, self._failure = self._failure, None
        if failure is None:
            return self._value.pop()
        try:
            raise failure
        finally:
            del failure
