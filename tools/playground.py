"""Puts what the playground loads beside its page: Pyodide, and the wheels of the library and of what it needs.

`make playground` after `make docs`. A reader loads nothing from elsewhere:

- Pyodide, from the npm package of `tools/node`;
- the library, a wheel without the kernel, built here;
- python-flint, from the package index, which has a build of it for Pyodide;
- numpy, from the folder that PYODIDE_PACKAGES names, or from Pyodide's distribution: it is on no package index.

Where one cannot be had the page says so.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PYODIDE = ROOT / "tools" / "node" / "node_modules" / "pyodide"
SITE = ROOT / "site" / "playground"
_CORE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
_DISTRIBUTION = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{name}"


def pyodide_lock() -> dict[str, Any]:
    """Return what Pyodide's distribution has, with hashes."""
    lock: dict[str, Any] = json.loads((PYODIDE / "pyodide-lock.json").read_text(encoding="utf-8"))
    return lock


def build_library(folder: Path) -> Path:
    """Return the wheel of the library, without the kernel."""
    command = [
        sys.executable,
        "-c",
        "from hatchling.build import build_wheel; import sys; build_wheel(sys.argv[1])",
    ]
    subprocess.run([*command, str(folder)], cwd=ROOT, check=True, env={**os.environ, "CC": "false"},
                   stdout=subprocess.DEVNULL)  # fmt: skip
    (wheel,) = folder.glob("discreet-*-none-any.whl")
    return wheel


def download_flint(folder: Path) -> Path | None:
    """Return the wheel of python-flint for this Pyodide, or None."""
    lock = pyodide_lock()["info"]
    platform = f"pyemscripten_{lock['abi_version']}_wasm32"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
               "--implementation", "cp", "--python-version", lock["python"], "--platform", platform,
               "--dest", str(folder), "python-flint"]  # fmt: skip
    subprocess.run(command, check=False)
    return next(folder.glob("python_flint-*.whl"), None)


def find_numpy(folder: Path) -> Path | None:
    """Return the wheel of numpy that Pyodide names, if its hash is the one there; or None."""
    about = pyodide_lock()["packages"]["numpy"]
    name, wheel = about["file_name"], folder / about["file_name"]
    here = Path(os.environ.get("PYODIDE_PACKAGES", folder), name)
    try:
        if here.is_file():
            shutil.copy(here, wheel)
        else:
            version = json.loads((PYODIDE / "package.json").read_text(encoding="utf-8"))["version"]
            urllib.request.urlretrieve(_DISTRIBUTION.format(version=version, name=name), wheel)
    except OSError:
        return None
    is_right = hashlib.sha256(wheel.read_bytes()).hexdigest() == about["sha256"]
    return wheel if is_right else None


def gather(folder: Path) -> dict[str, list[str]]:
    """Put everything into the folder of the page; return the wheels there, and what is missing."""
    shutil.copytree(ROOT / "docs" / "playground", folder, dirs_exist_ok=True)
    (folder / "pyodide").mkdir(exist_ok=True)
    (folder / "wheels").mkdir(exist_ok=True)
    for name in _CORE:
        shutil.copy(PYODIDE / name, folder / "pyodide")
    with tempfile.TemporaryDirectory() as temporary:
        where = Path(temporary)
        wheels = {
            "discreet": build_library(where),
            "python-flint": download_flint(where),
            "numpy": find_numpy(where),
        }
        for wheel in filter(None, wheels.values()):
            shutil.copy(wheel, folder / "wheels")
    packages = {
        "wheels": [wheel.name for wheel in wheels.values() if wheel is not None],
        "missing": [name for name, wheel in wheels.items() if wheel is None],
    }
    (folder / "packages.json").write_text(json.dumps(packages, indent=1) + "\n", encoding="utf-8")
    return packages


if __name__ == "__main__":
    packages = gather(SITE)
    for name in packages["missing"]:
        print(f"playground: there is no {name} for it, and the page says so")
