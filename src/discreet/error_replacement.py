"""Running code that is not ours so that none of its errors, which may quote the data, gets out."""

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

STOPS: tuple[type[BaseException], ...] = (KeyboardInterrupt, SystemExit)
"""What is never replaced: a person who stops the program."""


def replacing(
    work: Callable[[], _T],
    failure: Callable[[BaseException], BaseException],
    passing: tuple[type[BaseException], ...] = (),
) -> _T:
    """Return the result of `work`; an error in it is replaced by one without quotations.

    That one is raised after the except block, so that neither its `__context__` nor its `__cause__` holds the
    first. Code that was stopped by Ctrl-C raises KeyboardInterrupt, whatever it called that.

    Args:
        work: the code that may fail.
        failure: returns the error to raise in place of another.
        passing: errors that are not replaced, besides STOPS.
    """
    replacement: BaseException
    try:
        return work()
    except (*STOPS, *passing):
        raise
    except BaseException as error:  # a panic in Polars is no Exception
        replacement = KeyboardInterrupt() if _was_interrupted(error) else failure(error)
    raise replacement


def _was_interrupted(error: BaseException) -> bool:
    """Return whether code failed because Ctrl-C was pressed.

    DuckDB says so by a RuntimeError with this text, which is constant. PySpark cancels its jobs and fails while
    the interrupt is on its way.
    """
    if isinstance(error, RuntimeError) and str(error) == "Query interrupted":
        return True
    ids = set[int]()  # not the errors: one of others may compare as it likes
    while id(error) not in ids:
        if isinstance(error, KeyboardInterrupt):
            return True
        ids.add(id(error))
        error = error.__cause__ or error.__context__ or error
    return False
