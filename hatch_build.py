"""Builds what a wheel has and git has not: the kernel, the catalogues of messages, the stub and the stored help.

The kernel is compiled where a C compiler is; without one the package is plain Python.

An install never fails for want of a compiler: whatever goes wrong here, the wheel is `py3-none-any` and
the library takes numpy's way, with the same answers. A wheel with the kernel is `py3-none-PLATFORM`: it is
a plain shared library that ctypes loads, so one wheel serves every Python there is and will be. Beside it, where
Python's headers are, lies a module for short draws, of the stable interface of CPython: a Python of another kind
leaves it alone.

The compiler is `$CC` if that is set, and else the first of `gcc`, `cc` and `clang` that works: on x86-64 only GCC
makes copies for several processors. `$CFLAGS` is not read: a `-ffast-math` in there would take away what the
proof of the kernel's error stands on.

The stub and the stored help are made by the library itself, so what it imports must be there: pip installs it for
the build. Where a builder does without, the wheel does too: editors show less, and the help takes a second. An
editable install has neither, as both would be wrong after the next change of the source.
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
MODULE = SOURCE.with_name("settle.c")
READER = Path("src", "discreet", "tables", "formats", "reader.c")
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
LIBRARY = f"_kernel{SUFFIX}"
READER_LIBRARY = f"_reader{SUFFIX}"
EXTENSION = "_settle.abi3.so"
LOCALE = Path("src", "discreet", "base", "locale")
TEXTS = {"__init__.pyi": "discreet/__init__.pyi", "commands.json": "discreet/cli/commands.json"}
MACOS = os.environ.get("MACOSX_DEPLOYMENT_TARGET", "11.0")

_FLAGS = ["-O3", "-std=gnu99", "-shared", "-fno-fast-math", "-ffp-contract=fast"]
_LONGEST = 1800.0  # of one compilation, also on a small and busy machine


class KernelHook(BuildHookInterface[BuilderConfig]):
    """Puts what it builds into a wheel, or into the checkout of an editable install."""

    PLUGIN_NAME = "custom"

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        # Windows does not remove a library that this process has loaded.
        self._folder = tempfile.TemporaryDirectory(prefix="discreet-", ignore_cleanup_errors=True)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile and write all that can be; leave out what needs a compiler or a package that is not there."""
        self._add_catalogues(version, build_data)
        if version != "editable":
            self._add_texts(build_data)
        if (Path(self.root) / SOURCE).is_file():
            self._add_kernel(version, build_data)

    def _add_catalogues(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the catalogues of messages, which the library reads by Python's gettext."""
        from polib import pofile

        for text in sorted((Path(self.root) / LOCALE).glob("*.po")):
            name = text.with_suffix(".mo").name
            built = Path(self._folder.name) / name
            pofile(str(text)).save_as_mofile(str(built))
            if version == "editable":
                _put(built, text.with_name(name))
            else:
                inside = LOCALE.relative_to("src").as_posix()
                build_data["force_include"][str(built)] = f"{inside}/{name}"

    def _add_texts(self, build_data: dict[str, Any]) -> None:
        """Let the library write its stub and its help, if the packages that it needs are there.

        Raises:
            RuntimeError: if it fails for another reason.
        """
        root, folder = Path(self.root), Path(self._folder.name)
        if not (root / "tools" / "built_files.py").is_file():
            return
        # In front of what pip has there: the packages that it installed for this build.
        paths = [str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-m", "tools.built_files", str(folder)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            inside = {str(folder / name): place for name, place in TEXTS.items()}
            build_data["force_include"].update(inside)
            return
        reason = done.stderr.strip().rpartition("\n")[2]
        if not reason.startswith(("ModuleNotFoundError", "ImportError")):
            self._folder.cleanup()
            raise RuntimeError(done.stderr)
        self.app.display_warning(f"no stub and no stored help: {reason}")

    def _add_kernel(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernel and, beside it, the module for short draws and the reader of text."""
        found = self._add(SOURCE, LIBRARY, version, build_data)
        self.app.display_info(f"kernel: {found or 'no C compiler works; numpy takes its place'}")
        if found and version != "editable":
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform_tag()}"
        if found or version == "editable":
            module = self._add(MODULE, EXTENSION, version, build_data)
            self.app.display_info(f"short draws: {module or 'in Python'}")
            reader = self._add(READER, READER_LIBRARY, version, build_data)
            self.app.display_info(f"files of text: {reader or 'in Python'}")

    def _add(
        self, name: Path, library: str, version: str, build_data: dict[str, Any]
    ) -> str | None:
        """Compile a source and add what comes out, if it does; return by which compiler, None if by none."""
        source, built = Path(self.root) / name, Path(self._folder.name) / library
        found = compiled(source, built) if source.is_file() else None
        if version == "editable":
            with suppress(OSError):  # what cannot be replaced the loader finds stale
                _put(built if found else None, source.with_name(library))
        elif found:
            inside = name.parent.relative_to("src").as_posix()
            build_data["force_include"][str(built)] = f"{inside}/{library}"
        return found

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled: the wheel has it."""
        self._folder.cleanup()


def compiled(source: Path, library: Path) -> str | None:
    """Compile the source into a library that loads here; return by which command, None if by none."""
    # By it the loader knows a library that an older text left in a checkout.
    texts = source.read_bytes()
    flags = [*_FLAGS, *_of_this_platform()]
    if source.name == MODULE.name:
        if sys.platform == "win32":  # where a module needs a library of Python's to be linked
            return None
        texts = source.with_name(SOURCE.name).read_bytes() + texts
        flags += _of_a_module()
    digest = f"-DDISCREET_SOURCE=0x{sha256(texts).hexdigest()[:16]}"
    own = os.environ.get("CC", "").strip()
    for name in [own] if own else ["gcc", "cc", "clang"]:
        try:
            compiler = shlex.split(name, posix=sys.platform != "win32")
            command = [*compiler, *flags, digest, source.name, "-o", str(library)]
            # From the folder of the source: no name of a folder gets into the library.
            subprocess.run(
                command, cwd=source.parent, check=True, capture_output=True, timeout=_LONGEST
            )
            ctypes.PyDLL(str(library))
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


def _of_a_module() -> list[str]:
    """Return the flags of a module for Python, whose functions are found when it is loaded."""
    headers = [f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")]
    return [*headers, *(["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else [])]


def _put(library: Path | None, place: Path) -> None:
    """Put the library in its place at once, as a program may have the old one loaded; None removes it."""
    if library is None:
        place.unlink(missing_ok=True)
        return
    beside = place.with_name(f".{place.name}.new")
    beside.write_bytes(library.read_bytes())
    beside.replace(place)
