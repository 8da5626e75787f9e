"""Whether a handler of a signal could raise an exception in the middle of work.

Python runs handlers in the main thread alone, between any two instructions, and only there can others be installed.
So where the main thread finds none, none is called before its work returns. A reader of a service is such a
process: it ignores signals, or ends by them.
"""

import signal
from _signal import getsignal  # type: ignore[import-not-found]  # `signal` makes names of numbers
from _signal import signal as set_handler
from _thread import get_ident
from collections.abc import Iterable
from threading import main_thread

__all__ = ["may_be_interrupted", "only_ctrl_c_interrupts", "set_handler"]

_CTRL_C = int(signal.SIGINT)
_NUMBERS = tuple(map(int, signal.valid_signals()))
_OTHERS = tuple(one for one in _NUMBERS if one != _CTRL_C)


def may_be_interrupted() -> bool:
    """Return whether a signal could raise in this thread; of threads other than the main one it is not known."""
    return get_ident() != main_thread().ident or _have_calls(_NUMBERS)


def only_ctrl_c_interrupts() -> bool:
    """Return whether this is the main thread, and of all handlers Python's own one of Ctrl-C alone could raise."""
    return (
        get_ident() == main_thread().ident
        and getsignal(_CTRL_C) is signal.default_int_handler
        and not _have_calls(_OTHERS)
    )


def _have_calls(numbers: Iterable[int]) -> bool:
    """Return whether one of these signals calls a handler."""
    # By no generator of our own: an interrupt that comes while one is closed is lost.
    return any(map(callable, map(getsignal, numbers)))
