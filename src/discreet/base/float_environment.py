"""The floating-point environment: how this thread rounds, and whether subnormal numbers count as zero.

Any library in the process may leave another one behind: interval arithmetic that rounds upwards, or a library built
with -ffast-math, which flushes subnormal numbers from the moment it is loaded. Bounds in doubles are proved for the
default, rounding to nearest with subnormal numbers, so the code around them runs in it: docs/explanation/draw.md.
"""

import ctypes
import platform
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ..errors import DiscreetError

_P = ParamSpec("_P")
_T = TypeVar("_T")

_HALF_ULP = 2.0**-53
_MORE_THAN_HALF = 3 * 2.0**-54
_SUBNORMAL: float = struct.unpack("<d", bytes([1, 0, 0, 0, 0, 0, 0, 0]))[0]
"""The least double, by its bits: its literal is 0 where this module is compiled in such a mode."""

_LIBRARIES = (None, "libm.so.6", "libSystem.dylib", "ucrtbase")
"""Where the functions of C99's <fenv.h> may be: in what is loaded already, or in the system's library."""

_ENVIRONMENT_BYTES = 512
"""Bytes that no environment exceeds; the largest known has 32."""

_BY_NUMBER = {"x86_64", "AMD64", "aarch64", "arm64"}
"""Processors for which the default environment is the address -1, in the C libraries of Linux."""


def is_default(
    one: float = 1.0,
    half_ulp: float = _HALF_ULP,
    more: float = _MORE_THAN_HALF,
    tiny: float = _SUBNORMAL,
) -> bool:
    """Return whether this thread rounds to nearest and keeps subnormal numbers.

    1 + 2**-53 is 1 unless rounded upwards, 1 + 3 * 2**-54 is above 1 unless rounded down or to zero, and the double
    of the least double is above zero unless the input or the output counts as zero. The arguments are left
    out: they are variables so that nobody computes this beforehand.
    """
    return one + half_ulp == one < one + more and tiny + tiny > 0.0


@contextmanager
def default_environment() -> Iterator[None]:
    """Set the default environment inside the block, and restore the caller's after it.

    Raises:
        DiscreetError: if the default cannot be set.
    """
    functions = _functions()
    if functions is None:
        raise DiscreetError(_UNSET)
    environment = ctypes.create_string_buffer(_ENVIRONMENT_BYTES)
    functions.get(environment)
    try:
        functions.set(functions.default)
        if not is_default():
            raise DiscreetError(_UNSET)
        yield
    finally:
        functions.set(environment)


def run_in_default_environment(
    function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """Return function(*args, **kwargs), called in the default environment.

    Raises:
        DiscreetError: if the default cannot be set.
    """
    if is_default():
        return function(*args, **kwargs)
    with default_environment():
        return function(*args, **kwargs)


def in_default_environment(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the function with the default environment inside every call."""

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        return run_in_default_environment(function, *args, **kwargs)

    return call


_UNSET = (
    "some library changed how this thread rounds floating-point numbers, and it cannot be set "
    "back here. Find the library (one built with -ffast-math, or one that calls fesetround), or "
    "ask in a process without it"
)


class _Functions(NamedTuple):
    """The functions of <fenv.h>, and its default environment."""

    get: Callable[[Any], int]
    set: Callable[[Any], int]
    default: Any


@cache
def _functions() -> _Functions | None:
    """Return how the environment is read and set in this process, or None if that is not known."""
    for name in _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
            functions = _Functions(library.fegetenv, library.fesetenv, _default(library))
        except (OSError, AttributeError, TypeError, ValueError):
            continue
        return functions
    return None


def _default(library: ctypes.CDLL) -> Any:
    """Return the address of the default environment.

    Raises:
        ValueError: if it is not known for this system.
    """
    if platform.system() == "Darwin":
        return ctypes.byref(ctypes.c_char.in_dll(library, "_FE_DFL_ENV"))
    if platform.system() == "Linux" and platform.machine() in _BY_NUMBER:
        return ctypes.c_void_p(-1)
    raise ValueError(platform.system())
