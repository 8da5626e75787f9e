"""The compiled kernel as a file: whether it is there, fits this computer, and is of the source beside it.

It needs neither numpy nor any other package, so `discreet --version` says at once whether the kernel is in use.

Set DISCREET_KERNEL=0 to leave it out, and DISCREET_THREADS to the number of threads it may use.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

FOLDER = os.path.dirname(os.path.abspath(__file__))
"""The folder of the sources and of the libraries that were built from them."""

_LEVELS = {1: "neon", 3: "x86-64-v3", 4: "x86-64-v4"}
_ARGUMENTS = {
    "block_sums": "pnndpp",
    "running_sums": "pnddp",
    "weights": "pnd",
    "cumulate": "pn",
    "row_sums": "pnndp",
    "guide": "pnpu",
    "locate": "pnpnuddpup",
    "locate_rows": "pnnpddp",
    "rounds": "pnndpppndddpp",
    "grid_keys": "pnpp",
    "falling_best": "pnp",
    "falling_sums": "pnpnp",
    "falling_weights": "pnpnnp",
    "count_cells": "pupnnpnpnp",
    "count_indices": "pupnnpuppp",
    "nearest_places": "pnpp",
    "sort_words": "ppn",
    "sort_doubles": "ppn",
    "quantiles": "pnnnpnpnpp",
    "joint_stage": "pnnnp",
    "joint_draw": "pn",
    "kth_largest": "punnpp",
}
_TYPES: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "n": ctypes.c_size_t,
    "d": ctypes.c_double,
    "u": ctypes.c_uint,
}


class KernelLibrary(NamedTuple):
    """The kernel, loaded.

    Attributes:
        level: the instructions that it uses.
        functions: the functions of `kernel.c` by their names, with the types of their arguments.
    """

    level: str
    functions: Mapping[str, Callable[..., int]]


@cache
def open_library() -> KernelLibrary | str:
    """Return the kernel, or why it is not in use."""
    if os.environ.get("DISCREET_KERNEL") == "0":
        return "DISCREET_KERNEL is 0"
    names = sorted(name for name in os.listdir(FOLDER) if name.startswith("_kernel."))
    if not names:
        return "it was not built: no C compiler was found when discreet was installed"
    try:
        library = ctypes.CDLL(os.path.join(FOLDER, names[0]))
        if _is_stale(library):
            return "it was built from an older kernel.c. Reinstall discreet"
        level = _LEVELS.get(library.discreet_level())
        functions = {name: _declare(library, name) for name in _ARGUMENTS}
    except (OSError, AttributeError):
        return "it was built for another system or version"
    if level is None:
        return "this processor has no instructions that make it faster"
    return KernelLibrary(level, functions)


@cache
def threads() -> int:
    """Return how many threads the kernel uses at most: the processors this process may run on."""
    setting = os.environ.get("DISCREET_THREADS", "")
    if setting.isdecimal() and int(setting) > 0:
        return int(setting)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@cache
def settle_module() -> Any:
    """Return the module of settle.c, None if the kernel is not in use or none was built for this Python."""
    if isinstance(open_library(), str) or "t" in getattr(sys, "abiflags", ""):
        return None
    try:
        module: Any = import_module(f"{__package__}._settle")
    except ImportError:
        return None
    is_old = is_of_other_sources(module.source(), FOLDER, "kernel.c", "settle.c")
    return None if is_old else module


def _is_stale(library: ctypes.CDLL) -> bool:
    """Return whether a checkout has another kernel.c than the library was built from."""
    built_from = library.discreet_source
    built_from.restype = ctypes.c_uint64
    return is_of_other_sources(built_from(), FOLDER, "kernel.c")


def is_of_other_sources(digest: int, folder: str, *names: str) -> bool:
    """Return whether a checkout has other sources than those of this digest; a wheel has none."""
    paths = [os.path.join(folder, name) for name in names]
    if not all(map(os.path.exists, paths)):
        return False
    texts = b"".join(map(_read, paths))
    return digest != int.from_bytes(_sha256()(texts).digest()[:8], "big")


def _sha256() -> Callable[[bytes], Any]:
    """Return SHA-256 of Python's own: hashlib loads OpenSSL first, which takes as long as ten of our modules."""
    for name in ("_sha2", "_sha256"):
        with suppress(ImportError, AttributeError):
            own: Callable[[bytes], Any] = import_module(name).sha256
            return own
    from hashlib import sha256

    return sha256


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _declare(library: ctypes.CDLL, name: str) -> Callable[..., int]:
    """Return a function of the library with the types of its arguments."""
    function = library[f"discreet_{name}"]
    function.argtypes = [_TYPES[letter] for letter in _ARGUMENTS[name]]
    return function
