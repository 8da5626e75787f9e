"""Compiles the kernel beside the package where a C compiler is; without one the package is plain Python.

An install never fails for want of a compiler: whatever goes wrong here, the wheel is `py3-none-any` and
the library takes numpy's way, with the same answers. A wheel with the kernel is `py3-none-PLATFORM`: it is
a plain shared library that ctypes loads, so one wheel serves every Python there is and will be.

The compiler is `$CC` if that is set, and else the first of `gcc`, `cc` and `clang` that works: on x86-64 only GCC
makes copies for several processors. `$CFLAGS` is not read: a `-ffast-math` in there would take away what the
proof of the kernel's error stands on.
"""

import ctypes
import os
import platform
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("src", "discreet", "sampling", "kernel.c")
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
LIBRARY = f"_kernel{SUFFIX}"
MACOS = os.environ.get("MACOSX_DEPLOYMENT_TARGET", "11.0")

_FLAGS = ["-O3", "-std=gnu99", "-shared", "-fno-fast-math", "-ffp-contract=fast"]
_LONGEST = 300.0


class KernelHook(BuildHookInterface[BuilderConfig]):
    """Puts the compiled kernel into a wheel, or into the checkout of an editable install."""

    PLUGIN_NAME = "custom"

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        # Windows does not remove a library that this process has loaded.
        self._folder = tempfile.TemporaryDirectory(prefix="discreet-", ignore_cleanup_errors=True)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernel; leave everything as it is if there is none, or no compiler for it."""
        source = Path(self.root) / SOURCE
        if not source.is_file():
            return
        library = Path(self._folder.name) / LIBRARY
        found = compiled(source, library)
        self.app.display_info(f"kernel: {found or 'no C compiler works; numpy takes its place'}")
        if version == "editable":
            with suppress(OSError):  # what cannot be replaced the loader finds stale
                _put(library if found else None, source.with_name(LIBRARY))
        elif found:
            build_data["force_include"][str(library)] = f"discreet/sampling/{LIBRARY}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform_tag()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled: the wheel has it."""
        self._folder.cleanup()


def compiled(source: Path, library: Path) -> str | None:
    """Compile the source into a library that loads here; return by which command, None if by none."""
    # By it the loader knows a library that an older text left in a checkout.
    digest = f"-DDISCREET_SOURCE=0x{sha256(source.read_bytes()).hexdigest()[:16]}"
    own = os.environ.get("CC", "").strip()
    for name in [own] if own else ["gcc", "cc", "clang"]:
        try:
            compiler = shlex.split(name, posix=sys.platform != "win32")
            flags = [*_FLAGS, *_of_this_platform(), digest]
            command = [*compiler, *flags, source.name, "-o", str(library)]
            # From the folder of the source: no name of a folder gets into the library.
            subprocess.run(
                command, cwd=source.parent, check=True, capture_output=True, timeout=_LONGEST
            )
            ctypes.CDLL(str(library))
        except (OSError, ValueError, subprocess.SubprocessError):
            library.unlink(missing_ok=True)
        else:
            return name
    return None


def platform_tag() -> str:
    """Return the last part of the wheel's name."""
    if sys.platform == "darwin":
        return f"macosx_{MACOS}_{platform.machine()}".replace(".", "_")
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _of_this_platform() -> list[str]:
    """Return the flags that not every platform has."""
    if sys.platform == "win32":
        return []
    if sys.platform == "darwin":
        return ["-fPIC", "-arch", platform.machine(), f"-mmacosx-version-min={MACOS}"]
    return ["-fPIC"]


def _put(library: Path | None, place: Path) -> None:
    """Put the library in its place at once, as a program may have the old one loaded; None removes it."""
    if library is None:
        place.unlink(missing_ok=True)
        return
    beside = place.with_name(f".{place.name}.new")
    beside.write_bytes(library.read_bytes())
    beside.replace(place)
