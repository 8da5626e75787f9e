"""Errors without the frames of their tracebacks, as variables in them may be answers not released."""

import os
from collections.abc import Callable
from traceback import walk_tb
from types import TracebackType
from typing import TypeVar

from ..errors import DiscreetError

_T = TypeVar("_T")


def without_frames(work: Callable[[], _T]) -> _T:
    """Return `work()`, or raise its error without the frames below this one.

    The error, an interrupt too, loses its traceback, cause and context. A note on errors of other libraries
    lists the files and functions that it passed through, without variables.
    """
    try:
        try:
            return work()
        except BaseException as error:  # raised below
            failure = _without_traceback(error)
    except BaseException as another:  # a second interrupt, while the first was bared
        failure = _without_traceback(another)
    del work
    try:
        raise failure
    finally:
        del failure


def _without_traceback(error: BaseException) -> BaseException:
    """Return the error without traceback, cause and context, with a note on its origin."""
    came = _places(error.__traceback__)
    error.__traceback__ = error.__cause__ = error.__context__ = None
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            _without_traceback(part)
    if isinstance(error, Exception) and not isinstance(error, DiscreetError):
        error.add_note(f"it came from {came}; its frames are left out, as they may hold answers")
    return error


def _places(trace: TracebackType | None) -> str:
    """Return the places that an error passed through, the innermost first."""
    places = [
        f"{os.path.basename(frame.f_code.co_filename)}:{line} in {frame.f_code.co_name}"
        for frame, line in walk_tb(trace)
    ]
    return " < ".join(reversed(places[2:])) or "here"
