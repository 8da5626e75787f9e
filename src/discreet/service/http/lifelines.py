"""Processes that live and die together: each ends when its parent does, from its first moment on.

The kernel of Linux ends a process whose parent has ended. Elsewhere a thread looks who the parent is.
"""

import os
import runpy
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread
from types import FrameType

_PR_SET_PDEATHSIG = 1
_BETWEEN_LOOKS = 0.5
"""Seconds between two looks at the parent, where the kernel does not."""

_MODULE = "discreet.service.http.lifelines"


def end_with(parent: int) -> None:
    """End this process when a process that started it ends, however it does. At once if it has ended.

    On Linux that is when the *thread* of the parent ends that started this process.
    """
    if sys.platform == "linux":
        from ctypes import CDLL

        CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    else:
        Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:
        os._exit(1)


def _watch(parent: int) -> None:
    from time import sleep

    while os.getppid() == parent:
        sleep(_BETWEEN_LOOKS)
    os._exit(1)


def command(module: str, *arguments: str) -> list[str]:
    """Return the command of a process that runs a module, and ends with this one before it imports anything."""
    return [sys.executable, "-m", _MODULE, str(os.getpid()), module, *arguments]


class StoppedError(BaseException):
    """A signal asks this process to stop.

    Args:
        number: the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stopping() -> Iterator[None]:
    """In a block, let SIGTERM end the processes begun in it at any time, then this process by the same signal."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise_stopped)
    number = None
    try:
        yield
    except StoppedError as stopped:
        number = stopped.number
    finally:
        signal.signal(signal.SIGTERM, before)
    if number is not None:
        signal.raise_signal(number)


def _raise_stopped(number: int, _: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one is enough
    raise StoppedError(number)


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
