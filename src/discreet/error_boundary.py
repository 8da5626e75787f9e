"""Keeps arguments and computed values out of the errors that leave this library."""

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


def foreign_function(function: object, name: str) -> Callable[..., Any]:
    """Return a wrapper of a caller's function that replaces its errors, which may quote data.

    Raises:
        InvalidArgument: if it is no function.
    """
    if not callable(function):
        raise InvalidArgument(f"{name} must be a function, got {shown(function)}")

    def called(*args: object) -> object:
        try:
            return function(*args)
        except Exception as error:
            kind = _builtin(error)
        raise UnreadableArgument(
            f"{name} raised {kind}; its message may quote data, so it is not shown. "
            "Call it yourself on data you may look at"
        )

    return called


def error_boundary(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the function with errors that hold no arguments and no computed values.

    An error keeps its class, message and line numbers, and loses the variables of its frames, its cause and its
    context. An error raised by an object of the caller or of another library may quote data: it becomes an
    `UnreadableArgument`, which does not.
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


def error_boundaries(kind: _Class) -> _Class:
    """Return the class with `error_boundary` applied to all public methods: for objects that hold private data."""
    for name, method in list(vars(kind).items()):
        if isinstance(method, FunctionType) and (not name.startswith("_") or name in _SPECIAL):
            setattr(kind, name, error_boundary(method))
    return kind


_SPECIAL = ("__init__", "__getitem__", "__str__")


def _emptied(error: BaseException) -> BaseException:
    """Return the error to raise in place of another, without references to private values."""
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
    """Return whether the innermost frame belongs to this library, and not to foreign code."""
    *_, (frame, _line) = walk_tb(trace)
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE


def _builtin(error: Exception) -> str:
    """Return the class of an error if it is one of Python's own: other names may be made of data."""
    name = type(error).__name__
    return name if vars(builtins).get(name) is type(error) else "an error"
