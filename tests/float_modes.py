"""Floating-point environments that a library may leave behind, set by a few lines of C."""

import ctypes
import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import mkdtemp

SOURCE = """
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
uint64_t control(void) { return _mm_getcsr() & ~0x3fu; }
void set_control(uint64_t value) { _mm_setcsr((unsigned)value); }
#elif defined(__aarch64__)
uint64_t control(void) { uint64_t v; __asm__ volatile("mrs %0, fpcr" : "=r"(v)); return v; }
void set_control(uint64_t v) { __asm__ volatile("msr fpcr, %0" :: "r"(v)); }
#else
#error "no mode is known for this processor"
#endif
"""

X86 = platform.machine() in ("x86_64", "AMD64")
_DEFAULT = 0x1F80 if X86 else 0
_ROUNDING = {"nearest": 0, "down": 1, "up": 2, "zero": 3} if X86 else {
    "nearest": 0, "up": 1, "down": 2, "zero": 3,
}  # fmt: skip
_FLUSHING = (
    {"": 0, "FTZ": 0x8000, "DAZ": 0x40, "FTZ+DAZ": 0x8040} if X86 else {"": 0, "FZ": 1 << 24}
)

MODES = {
    f"{rounding}{' ' if flushing else ''}{flushing}": _DEFAULT
    | _ROUNDING[rounding] << (13 if X86 else 22)
    | _FLUSHING[flushing]
    for rounding, flushing in product(_ROUNDING, _FLUSHING)
}
"""Control words by their names: every way to round, with and without flushing of subnormal numbers."""


def compiler() -> str | None:
    """Return the C compiler, if there is one."""
    return next(filter(None, map(shutil.which, ("gcc", "cc", "clang"))), None)


@cache
def _library() -> ctypes.CDLL | None:
    """Return the compiled lines, None without a compiler or on a processor of another kind."""
    found = compiler()
    if found is None:
        return None
    folder = Path(mkdtemp(prefix="discreet-modes-"))
    (folder / "modes.c").write_text(SOURCE)
    command = [found, "-O1", "-shared", "-fPIC", "modes.c", "-o", "modes.so"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
        library = ctypes.CDLL(str(folder / "modes.so"))
    except (OSError, subprocess.SubprocessError):
        return None
    finally:
        shutil.rmtree(folder)
    library.control.restype = ctypes.c_uint64
    library.set_control.argtypes = [ctypes.c_uint64]
    return library


def why_not() -> str | None:
    """Return why no mode can be set here, or None if modes can."""
    return "no C compiler makes the lines that set a mode here" if _library() is None else None


def control() -> int:
    """Return the control word of this thread."""
    library = _library()
    assert library is not None
    return int(library.control())


def set_mode(name: str) -> None:
    """Set a mode in this thread, as a library that forgets to restore it does."""
    library = _library()
    assert library is not None
    library.set_control(MODES[name])


@contextmanager
def mode(name: str) -> Iterator[None]:
    """Set a mode inside the block; the default is set after it, whatever was left behind."""
    set_mode(name)
    try:
        yield
    finally:
        set_mode("nearest")
