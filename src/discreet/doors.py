"""Doors: what raises an error out of this library lets it carry nothing away that was given or computed."""

import builtins
from collections.abc import Callable
from functools import wraps
from traceback import clear_frames, walk_tb
from types import FunctionType, TracebackType
from typing import Any, ParamSpec, TypeVar

from .errors import DiscreetError, InvalidArgument, UnreadableArgument, shown

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Class = TypeVar("_Class", bound=type)

_PACKAGE = __name__.partition(".")[0]


def caller(function: Any, name: str) -> Callable[..., Any]:
    """Return what calls a function of the caller's; an error in it, which may quote data, is replaced.

    Raises:
        InvalidArgument: if it is no function.
    """
    if not callable(function):
        raise InvalidArgument(f"{name} must be a function, got {shown(function)}")

    def called(*args: Any) -> Any:
        try:
            return function(*args)
        except Exception as error:
            kind = _builtin(error)
        raise UnreadableArgument(
            f"{name} raised {kind}; its message may quote data, so it is not shown. "
            "Call it yourself on data you may look at"
        )

    return called


def door(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the function, out of which no error carries what it was given or what it computed.

    An error keeps its class, its text and its lines, and loses the variables of its frames, its cause and its
    context. One that an object of the caller or of another library raised by itself may quote data: it
    becomes `UnreadableArgument`, which does not.
    """

    @wraps(function)
    def enter(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            emptied = _emptied(error)
        del args, kwargs
        raise emptied

    return enter


def doors(kind: _Class) -> _Class:
    """Return the class with a door at each public method: for what holds private data."""
    for name, method in list(vars(kind).items()):
        if isinstance(method, FunctionType) and (not name.startswith("_") or name in _DOORS):
            setattr(kind, name, door(method))
    return kind


_DOORS = ("__init__", "__getitem__", "__str__")


def _emptied(error: BaseException) -> BaseException:
    """Return what to raise for an error: nothing private can be reached from it."""
    trace = error.__traceback__
    clear_frames(trace)
    if not isinstance(error, Exception) or isinstance(error, DiscreetError):
        error.__cause__ = error.__context__ = None
        return error
    if _is_ours(trace):
        error.__cause__ = error.__context__ = None
        return error
    return UnreadableArgument(
        f"an object that was given raised {_builtin(error)} when it was read or called; its "
        "message may quote data, so it is not shown. Give plain values, and try functions on data you may look at"
    )


def _is_ours(trace: TracebackType | None) -> bool:
    """Return whether the innermost frame belongs to this library, so that nobody else's code has failed."""
    *_, (frame, _line) = walk_tb(trace)
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE


def _builtin(error: Exception) -> str:
    """Return the class of an error if it is one of Python's own: other names may be made of data."""
    name = type(error).__name__
    return name if vars(builtins).get(name) is type(error) else "an error"
