"""Isolates a node's data from its callers: a call returns its answer, or an error that holds no data.

An exception keeps the frames of its traceback and their variables: the data, the scores, an answer drawn but not
yet stored. So no exception leaves the node as it is. It is caught inside, returned as a value, and raised outside
without causes and frames. This holds for Ctrl-C too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from ...base.doors import spelling
from ...errors import (
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
    """An error returned as a value."""

    error: BaseException


class ChargedError(Exception):
    """Wraps an error after the charge. Its request asks again at no cost.

    Args:
        error: the error.
        request: the name of the request.
        is_certain: whether the charge is known to be in the ledger.
        is_final: whether the failure is stored in place of an answer, so that the request gives nothing else.
    """

    def __init__(
        self, error: BaseException, request: str, *, is_certain: bool = True, is_final: bool = False
    ) -> None:
        super().__init__()
        self.error, self.request = error, request
        self.is_certain, self.is_final = is_certain, is_final

    @property
    def note(self) -> str:
        """The effect of asking again."""
        if self.is_final:
            return f"this is paid: {spelling(request=self.request)} gives the same error again, at no cost"
        payment = "this is paid" if self.is_certain else "if this was paid"
        return f"{payment}: retry with {spelling(request=self.request)} at no cost"


Translation = Callable[[BaseException], BaseException]
"""Translates an error for the caller: the owner or an analyst."""


def isolated(work: Callable[_P, _T], translate: Translation) -> Callable[_P, _T | Failure]:
    """Return a function that calls `work` and returns its errors as values, translated for the caller.

    Only the closure of the returned function refers to `work`; functools.wraps would add an attribute.
    """

    def enter(*args: _P.args, **kwargs: _P.kwargs) -> _T | Failure:
        try:
            return work(*args, **kwargs)
        except BaseException as error:
            public = _strip(error, translate)
        return Failure(public)

    return enter


def call_isolated(
    entrance: Callable[_P, _T | Failure], *args: _P.args, **kwargs: _P.kwargs
) -> _T | Failure:
    """Call an isolated function. An interrupt at its edge is caught here, as its frames hold data."""
    try:
        return entrance(*args, **kwargs)
    except BaseException as error:
        public = _strip(error, error_for_analyst)
    return Failure(public)


def unwrap(answer: _T | Failure) -> _T:
    """Return an answer, or raise the error in its place."""
    if not isinstance(answer, Failure):
        return answer
    __tracebackhide__ = True
    try:
        raise answer.error
    finally:
        del answer  # else the error would hold its frame, and this the error


def translation_for(is_owner: bool) -> "Translation":
    """Return the translation for the owner, or for all others."""
    return error_for_owner if is_owner else error_for_analyst


def error_for_owner(error: BaseException) -> BaseException:
    """Return the error for the owner: our errors unchanged, of others the name of their class."""
    # A class of the owner's own may hold anything, though it is made from one of ours.
    if type(error).__module__ == DiscreetError.__module__:
        return error
    return InvalidScores(
        f"these data cannot be asked this: {type(error).__name__}. Its message may quote the data, "
        "so it is not shown. Call the verb yourself on data you may look at"
    )


_WORDS: dict[type[LedgerError] | type[Exhausted], str] = {
    Exhausted: "a budget cannot pay for this",
    RequestConflict: "this request was another question. Give this one another name",
    LedgerBusy: "the ledger is busy. Retry",
    LedgerUnwritable: "the ledger cannot be reached, read or written. Contact the owner of the "
    "data",
    LedgerError: "the ledger cannot be used. Contact the owner of the data",
}
"""Messages for analysts by class of error. The first that matches is used."""


def error_for_analyst(error: BaseException) -> DiscreetError:
    """Return the error for an analyst, without files, columns, other analysts or errors of the owner's code."""
    for kind, words in _WORDS.items():
        if isinstance(error, kind):
            return kind(words)
    return Unanswerable("this question cannot be answered. The owner of the data can see why")


def _strip(error: BaseException, translate: Translation) -> BaseException:
    """Return the translated error without causes, notes and frames."""
    if isinstance(error, ChargedError):
        public = _strip(error.error, translate)
        public.add_note(error.note)
        if isinstance(public, DiscreetError):
            public.charged = True if error.is_certain else None
        return public
    is_public = isinstance(error, DiscreetError) and error.is_public
    public = _stopping(error) or (error if is_public else translate(error))
    public.__cause__ = public.__context__ = None
    public.__dict__.pop("__notes__", None)
    return public.with_traceback(None)


def _stopping(error: BaseException) -> BaseException | None:
    """Return a new exception in place of one that stops the program: its arguments may be data."""
    if isinstance(error, SystemExit):
        return SystemExit(1)
    return KeyboardInterrupt() if isinstance(error, KeyboardInterrupt) else None
