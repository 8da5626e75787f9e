"""The doors of a node: what goes in is a call, what comes out is its answer or an error that holds no data.

An exception keeps the frames that it went through, and their variables: the data, the scores, an answer
that was drawn and not paid for to the end. So none leaves as it is. It is caught behind the door, comes out
as a value, and is raised outside, without causes and frames. That holds for Ctrl-C as for every error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from ..errors import (
    DiscreetError,
    Exhausted,
    InvalidScores,
    LedgerBusy,
    LedgerError,
    LedgerUnwritable,
    RequestConflict,
    Unanswerable,
)

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, repr=False)
class Failure:
    """An error that is not raised yet."""

    error: BaseException


class PublicError(Exception):
    """An error whose words everybody may read, on its way to the door."""

    def __init__(self, error: DiscreetError) -> None:
        super().__init__()
        self.error = error


class ChargedError(Exception):
    """An error after the payment, on its way to the door: the request gives the answer that is owed."""

    def __init__(self, error: BaseException, request: str) -> None:
        super().__init__()
        self.error, self.request = error, request


Translation = Callable[[BaseException], BaseException]
"""What is told to somebody of an error."""


def isolated(work: Callable[_P, _T], telling: Translation) -> Callable[_P, _T | Failure]:
    """Return what does the work and returns its errors, as somebody is told of them.

    Nothing but the closure of what is returned leads to `work`; functools.wraps would add an attribute.
    """

    def enter(*args: _P.args, **kwargs: _P.kwargs) -> _T | Failure:
        try:
            return work(*args, **kwargs)
        except BaseException as error:
            told = _lone(error, telling)
        return Failure(told)

    return enter


def call_isolated(
    entrance: Callable[_P, _T | Failure], *args: _P.args, **kwargs: _P.kwargs
) -> _T | Failure:
    """Go through a door. An interrupt on its threshold is stripped here: the frames of the door hold data."""
    try:
        return entrance(*args, **kwargs)
    except BaseException as error:
        told = _lone(error, error_for_analyst)
    return Failure(told)


def unwrap(given: _T | Failure) -> _T:
    """Return what came through a door, or raise it if it is an error."""
    if not isinstance(given, Failure):
        return given
    try:
        raise given.error
    finally:
        del given  # else the error would hold its frame, and this the error


def error_for_owner(error: BaseException) -> BaseException:
    """Return what an owner is told: our errors in full, of others the name of their class."""
    # A class of the owner's own may hold anything, though it is made from one of ours.
    if type(error).__module__ == DiscreetError.__module__:
        return error
    return InvalidScores(
        f"these data cannot be asked this: {type(error).__name__}; its message may quote the data, so it "
        "is not shown. Call the verb yourself on data you may look at"
    )


_WORDS: dict[type[DiscreetError], str] = {
    Exhausted: "a budget cannot pay for this",
    RequestConflict: "this request was another question; give this one a name of its own",
    LedgerBusy: "the ledger is held by others for too long; ask again",
    LedgerUnwritable: "the ledger cannot be reached, read or written; tell the owner of the data",
    LedgerError: "the ledger cannot be used; tell the owner of the data",
}
"""What an analyst is told of an error of a kind; the first that fits counts."""


def error_for_analyst(error: BaseException) -> BaseException:
    """Return what an analyst is told: nothing of files, columns, others, or what an owner's code raises."""
    for kind, words in _WORDS.items():
        if isinstance(error, kind):
            return kind(words)
    return Unanswerable("this question cannot be answered; the owner of the data can see why")


def _lone(error: BaseException, telling: Translation) -> BaseException:
    """Return what is told of an error, without causes, notes and frames."""
    if isinstance(error, ChargedError):
        told = _lone(error.error, telling)
        told.add_note(f"this is paid: request={error.request!r} asks again at no cost")
        return told
    told = _stop(error) or (error.error if isinstance(error, PublicError) else telling(error))
    told.__cause__ = told.__context__ = None
    told.__dict__.pop("__notes__", None)
    return told.with_traceback(None)


def _stop(error: BaseException) -> BaseException | None:
    """Return a new exception for one that stops the program; what that holds may be data."""
    if isinstance(error, SystemExit):
        return SystemExit(1)
    return KeyboardInterrupt() if isinstance(error, KeyboardInterrupt) else None
