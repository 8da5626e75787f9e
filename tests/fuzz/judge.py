"""Is what a call did among what is documented, and does nothing of it hold the canary?"""

import re
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import discreet
from discreet import errors

from . import calls, canary

_LIBRARY = str(Path(discreet.__file__).parent)
_HERE = str(Path(__file__).parent)
_OF_CALLS = re.compile(
    r"[\w.<>]*\(\) (got|missing|takes) |unexpected argument|a session cannot be copied|a data node cannot be|"
    r"max_contributions is for numbers|got an unexpected keyword|multiple values for"
)
_MOST_FRAMES = 3
"""As many frames of the library stand at most between the caller's line and the message."""
_CALLING = ("audit.sampling", "audit.timing", "private_candidates")
"""They call a function of the caller's, which may not like what else was given."""


@dataclass(frozen=True)
class Verdict:
    """What a call did.

    Attributes:
        outcome: "returned", or the name of the class that was raised.
        problem: what is wrong with it, or nothing.
        where: for a problem, the last frames.
    """

    outcome: str
    problem: str = ""
    where: str = ""


def judge(case: calls.Case) -> Verdict:
    """Make a call, and judge what it does."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        verdict = _made(case)
    if any(canary.in_text(f"{one.message!r} {one.message} {one.source!r}") for one in warned):
        return Verdict(verdict.outcome, "a warning tells the canary")
    return verdict


def _made(case: calls.Case) -> Verdict:
    try:
        returned = calls.make(case)
        repr(returned)
    except Exception as error:
        outcome = type(error).__name__
        problem = _unclean(error, case) or _tells(error) or _long(error)
        return Verdict(outcome, problem, _where(error) if problem else "")
    return Verdict("returned")


def _unclean(error: Exception, case: calls.Case) -> str:
    """Return why an error is not among those that are documented, or nothing."""
    if isinstance(error, errors.DiscreetError):
        foreign = type(error).__name__ == "UnreadableArgument" and not (
            case.raises or case.name in _CALLING
        )
        return "nothing that was given raises by itself" if foreign else ""
    if type(error) is TypeError and (
        _OF_CALLS.search(str(error)) or case.name.endswith("__hash__")
    ):
        return ""
    if isinstance(error, IndexError | TypeError) and case.name.endswith("__getitem__"):
        return ""
    if type(error).__name__ == "OpenDPException" and case.name == "to_opendp":
        return ""
    if type(error) is AssertionError and case.name == "testing.check_mechanism":
        return ""
    return f"unclean: {type(error).__name__}: {ascii(_text(error))[:160]}"


def _long(error: Exception) -> str:
    """Return how many frames of the library the traceback shows, where there are too many, or nothing."""
    frames = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    ours = sum(file.startswith(_LIBRARY) for file in frames)
    return f"a traceback of {ours} frames" if ours > _MOST_FRAMES else ""


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failed:
        return f"(its text cannot be had: {type(failed).__name__})"


def _tells(error: BaseException) -> str:
    """Return where an error holds the canary, or nothing."""
    for one in _chain(error):
        held = [_text(one), repr(one), *map(repr, one.args), *getattr(one, "__notes__", [])]
        if any(map(canary.in_text, held)) or canary.in_object([one.args, vars(one)]):
            return f"the canary is in the {'error' if one is error else 'cause or context'}"
        try:
            held[0].encode()
        except UnicodeEncodeError:
            return "its text cannot be written as UTF-8"
        for frame, _ in traceback.walk_tb(one.__traceback__):
            file = frame.f_code.co_filename
            if not file.startswith(_HERE) and (name := _holding(frame.f_locals)):
                short = file.removeprefix(_LIBRARY)
                return f"the canary is in {name} of {short}:{frame.f_code.co_name}"
    return ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, its causes and its contexts, suppressed ones too."""
    queue, seen = [error], set[int]()
    while queue:
        one = queue.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        queue += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def _holding(variables: dict[str, Any]) -> str | None:
    return next((name for name, value in variables.items() if canary.in_object(value)), None)


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " < ".join(
        f"{f.filename.removeprefix(_LIBRARY + '/').rpartition('site-packages/')[2]}:{f.lineno}:{f.name}"
        for f in reversed(frames)
    )
