"""The compiled reader of text files: reader.c, where it was built, by ctypes."""

import ctypes
import os
from functools import cache
from typing import Any

from ...sampling.kernel_library import is_of_other_sources

SOURCE_FOLDER = os.path.dirname(os.path.abspath(__file__))

_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "open": (
        _POINTER,
        (
            _POINTER,
            _POINTER,
            _POINTER,
            _SIZE,
            ctypes.c_uint64,
            _SIZE,
        ),
    ),
    "form": (ctypes.c_int, (_POINTER, _SIZE, ctypes.c_char_p, _SIZE)),
    "read": (ctypes.c_int64, (_POINTER, _POINTER, _SIZE)),
    "end": (ctypes.c_int, (_POINTER,)),
    "records": (_SIZE, (_POINTER,)),
    "take": (ctypes.c_int, (_POINTER, _POINTER)),
    "close": (None, (_POINTER,)),
    "elements": (None, (_POINTER, _POINTER, _SIZE)),
    "source": (ctypes.c_uint64, ()),
}


@cache
def open_reader() -> dict[str, Any] | None:
    """Return the functions of reader.c by name; None where it was not built, or is not in use."""
    if os.environ.get("DISCREET_KERNEL") == "0":
        return None
    names = sorted(name for name in os.listdir(SOURCE_FOLDER) if name.startswith("_reader."))
    if not names:
        return None
    try:
        library = ctypes.CDLL(os.path.join(SOURCE_FOLDER, names[0]))
        functions = {name: _declare(library, name) for name in _FUNCTIONS}
    except (OSError, AttributeError):  # of another system or version
        return None
    is_old = is_of_other_sources(functions["source"](), SOURCE_FOLDER, "reader.c")
    return None if is_old else functions


def _declare(library: ctypes.CDLL, name: str) -> Any:
    function = library[f"discreet_{name}"]
    function.restype, function.argtypes = _FUNCTIONS[name]
    return function
