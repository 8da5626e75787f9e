"""Errors without the frames they went through, whose variables hold what nobody was given."""

import os
from collections.abc import Callable
from traceback import walk_tb
from types import TracebackType
from typing import TypeVar

from ..errors import DiscreetError

T = TypeVar("T")


def bare(work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises without the frames below this one.

    Whatever is raised, by an interrupt too, loses its traceback, its cause and its context. A note on an
    error that is not ours says where it came from: names of files and functions, and no variables.
    """
    try:
        try:
            return work()
        except BaseException as error:  # raised below
            failure = _bared(error)
    except BaseException as another:  # a second interrupt, while the first was bared
        failure = _bared(another)
    del work
    try:
        raise failure
    finally:
        del failure


def _bared(error: BaseException) -> BaseException:
    """Return the error with nothing but its message, and a note of where it came from."""
    came = _places(error.__traceback__)
    error.__traceback__ = error.__cause__ = error.__context__ = None
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            _bared(part)
    if isinstance(error, Exception) and not isinstance(error, DiscreetError):
        error.add_note(f"it came from {came}; its frames are left out, as they may hold answers")
    return error


def _places(trace: TracebackType | None) -> str:
    """Return where an error came from, the innermost first."""
    places = [
        f"{os.path.basename(frame.f_code.co_filename)}:{line} in {frame.f_code.co_name}"
        for frame, line in walk_tb(trace)
    ]
    return " < ".join(reversed(places[2:])) or "here"
