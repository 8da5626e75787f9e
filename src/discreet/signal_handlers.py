"""Whether a handler of a signal could raise an exception in the middle of work.

Python runs handlers in the main thread alone, between any two instructions, and only there can others be installed.
So where the main thread finds none, none is called before its work returns. A reader of a service is such a
process: it ignores signals, or ends by them.
"""

import signal
from _signal import getsignal  # type: ignore[import-not-found]  # `signal` makes names of numbers
from _thread import get_ident
from threading import main_thread

_NUMBERS = tuple(map(int, signal.valid_signals()))


def may_be_interrupted() -> bool:
    """Return whether a signal could raise in this thread; of threads other than the main one it is not known."""
    return get_ident() != main_thread().ident or any(callable(getsignal(one)) for one in _NUMBERS)
