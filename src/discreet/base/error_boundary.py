"""Keeps arguments and computed values out of the errors that leave this library, and its frames out of tracebacks.

A traceback ends at the caller's line. DISCREET_TRACEBACK=full in the environment keeps the frames of the library,
without their variables. Inside the boundary floating-point numbers are rounded as the proofs assume, whatever the
caller's mode is. Code that is not ours is run so that none of its errors, which may quote the data, gets out.
"""

import builtins
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import wraps
from types import FunctionType, TracebackType
from typing import Any, ParamSpec, TypeVar

from ..errors import DiscreetError, InvalidArgument, UnreadableArgument, preview
from .float_environment import default_environment, is_default

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Class = TypeVar("_Class", bound=type)

_PACKAGE = __name__.partition(".")[0]


class Notice(Exception):
    """Raised by this library in place of an answer, and caught by it: it is no error, and never gets out."""


def foreign_function(function: object, name: str) -> Callable[..., Any]:
    """Return a wrapper of a caller's function that replaces its errors, which may quote data.

    Raises:
        InvalidArgument: if it is no function.
    """
    if not callable(function):
        raise InvalidArgument(f"{name} must be a function, got {preview(function)}")

    def call(*args: object) -> object:
        try:
            return function(*args)
        except Exception as error:
            kind = _builtin(error)
        raise UnreadableArgument(
            f"{name} raised {kind}. Its message may quote data, so it is not shown. Call it "
            "yourself on data you may look at"
        )

    return call


def error_boundary(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the function with errors that hold no arguments and no computed values, in the default environment.

    An error keeps its class and message, and loses its cause, its context and the frames below this one, which an
    interrupt keeps without their variables. An error raised by an object of the caller or of another library may
    quote data: it becomes an `UnreadableArgument`, which does not.
    """

    @wraps(function)
    def enter(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            if is_default():
                return function(*args, **kwargs)
            with default_environment():
                return function(*args, **kwargs)
        except Notice:
            raise
        except BaseException as error:
            extra = _extra_argument(function, args, kwargs) if type(error) is TypeError else None
            safe_error = _empty(
                error if extra is None else TypeError(extra).with_traceback(error.__traceback__)
            )
        del args, kwargs
        __tracebackhide__ = True  # for pytest, and for IPython where more frames follow
        try:
            raise safe_error
        finally:
            del safe_error  # else the error would hold this frame, and the frame the error

    return enter


def _extra_argument(
    function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> str | None:
    """Return the message for a call with too many arguments without names, which none of these words quotes."""
    from inspect import signature  # of errors alone: it takes long to import

    parameters = signature(function).parameters.values()
    places = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    keywords = [
        one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.name not in kwargs
    ]
    if (
        len(args) <= len(places)
        or not keywords
        or any(one.kind is one.VAR_POSITIONAL for one in parameters)
    ):
        return None
    return (
        f"only the first {len(places)} arguments go without names: call the next one {keywords[0]}=, as in "
        f"{function.__name__}({', '.join(one.name for one in places)}, {keywords[0]}=...)"
    )


def error_boundaries(kind: _Class) -> _Class:
    """Return the class with `error_boundary` applied to all public methods: for objects that hold private data."""
    for name, method in list(vars(kind).items()):
        if name.startswith("_") and name not in _SPECIAL:
            continue
        if isinstance(method, FunctionType):
            setattr(kind, name, error_boundary(method))
        elif isinstance(method, classmethod):
            setattr(kind, name, classmethod(error_boundary(method.__func__)))
    return kind


@contextmanager
def public_errors() -> Iterator[None]:
    """Mark the errors of a block, or of a function that this decorates, as made for the caller.

    They are about the request alone, or were translated for the caller. A service shows no other error to
    anybody but its owner.
    """
    try:
        yield
    except DiscreetError as error:
        error.is_public = True
        raise


def errors_for_callers(kind: _Class) -> _Class:
    """Return the class with `public_errors` around all public methods: their errors were made for the caller."""
    for name, method in list(vars(kind).items()):
        if not name.startswith("_") and isinstance(method, FunctionType):
            setattr(kind, name, public_errors()(method))
    return kind


_SPECIAL = ("__init__", "__getitem__", "__str__", "_repr_html_")


def _empty(error: BaseException) -> BaseException:
    """Return the error to raise in place of another, without references to private values."""
    trace = error.__traceback__
    for entry in _entries(trace):
        with suppress(RuntimeError):  # of a frame that goes on
            entry.tb_frame.clear()
    if not isinstance(error, Exception):
        error.__cause__ = error.__context__ = None
        return error
    if isinstance(error, DiscreetError) or (_is_plain(error) and _is_ours(trace)):
        error.__cause__ = error.__context__ = None
        return _shorten(error)
    return UnreadableArgument(
        f"an object that was given raised {_builtin(error)} when it was read or called. Its "
        "message may quote data, so it is not shown. Give plain values, and try functions on data "
        "you may look at"
    )


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the entries of a traceback, the innermost last, without the module `traceback`, slow to import."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _shorten(error: Exception) -> Exception:
    """Return the error without the frames of the library, unless the environment asks for them.

    An error that is no refusal of ours is a defect of the library: a note then says where it was raised.
    """
    if os.environ.get("DISCREET_TRACEBACK") == "full":
        return error
    if not isinstance(error, DiscreetError | TypeError) and not hasattr(error, "__notes__"):
        error.add_note(f"raised at {_place(error)}; DISCREET_TRACEBACK=full shows the way there")
    return error.with_traceback(None)


def _place(error: Exception) -> str:
    """Return the file and the line of the innermost frame."""
    *_, innermost = _entries(error.__traceback__)
    return f"{os.path.basename(innermost.tb_frame.f_code.co_filename)}:{innermost.tb_lineno}"


def _is_plain(error: Exception) -> bool:
    """Return whether the class of an error is Python's or ours: compiled code leaves no frame of its own."""
    return type(error).__module__.partition(".")[0] in ("builtins", _PACKAGE)


def _is_ours(trace: TracebackType | None) -> bool:
    """Return whether the innermost frame belongs to this library, and not to foreign code."""
    *_, innermost = _entries(trace)
    return str(innermost.tb_frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE


def _builtin(error: Exception) -> str:
    """Return the class of an error if it is one of Python's own: other names may be made of data."""
    name = type(error).__name__
    return name if vars(builtins).get(name) is type(error) else "an error"


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
