"""Do the packages work on a bare system? `python tools/bare_systems.py`, after `make release-check`, as root.

Debian's debootstrap puts systems of different age into folders, each with Python and nothing of ours. There each
package in dist/ is installed into an empty environment, and everything that README shows a first user is typed, by
README alone: first without a C compiler, and then, the source again, with one. Then `pip uninstall` must leave
nothing of the package behind. Prints a Markdown table. Without root or debootstrap it says so, and ends.

Arguments: a folder to keep the systems in, for the next run, and words of the rows to try there.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

DIST = Path(__file__).parents[1] / "dist"
SUITES = ("bookworm", "trixie", "sid")
NEEDS = "python3,python3-venv,python3-dev,ca-certificates"
SETTINGS = ("/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
"""Of this machine: how pip and apt reach a registry."""

REASON = """
from discreet.sampling.speed import speed
print(speed().reason or "kernel")
"""


def main(folder: Path, words: list[str]) -> int:
    """Try the rows that have one of the words, and print the table; fail if something did not work."""
    lacks = [
        text
        for text, there in (
            ("root", os.geteuid() == 0),
            ("debootstrap", shutil.which("debootstrap")),
            ("packages in dist/: make release-check", list(DIST.glob("*"))),
        )
        if not there
    ]
    if lacks:
        print(f"bare_systems: skipped, as it needs {' and '.join(lacks)}")
        return 0
    print("| system | Python | package | compiler | draws by | uninstalled | seconds |")
    print("|---|---|---|---|---|---|--:|", flush=True)
    tries = [
        (suite, package, compiler)
        for suite in SUITES
        for package, compiler in packages_with_compilers()
        if not words or any(word in f"{suite} {package.name} {compiler}" for word in words)
    ]
    return sum(_try(system_of(folder, suite), suite, package, gcc) for suite, package, gcc in tries)


def packages_with_compilers() -> list[tuple[Path, str]]:
    """Return every package, to be tried without a compiler, and the source again, with one."""
    packages = sorted(DIST.glob("*"))
    return [
        *((package, "none") for package in packages),
        *((package, "gcc") for package in packages if package.name.endswith(".tar.gz")),
    ]


def system_of(folder: Path, suite: str) -> Path:
    """Return the folder of a system, which is filled if it is not there."""
    system = folder / suite
    if not (system / "usr" / "bin" / "python3").exists():
        make = ["debootstrap", "--variant=minbase", f"--include={NEEDS}", suite, str(system)]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    for name in filter(os.path.exists, SETTINGS):
        shutil.copy(name, system / name[1:])
    return system


def set_compiler(system: Path, compiler: str) -> None:
    """Install a C compiler on a system, or remove it."""
    # A mirror of last month will do: here nothing depends on the day of its list.
    any_day = "-o Acquire::Check-Valid-Until=false"
    get = f"apt-get update -qq {any_day} && apt-get install -qq -y gcc libc6-dev"
    drop = "apt-get purge -qq -y --autoremove gcc"
    inside(system, drop if compiler == "none" else get)


def _try(system: Path, suite: str, package: Path, compiler: str) -> int:
    """Install a package, type what README shows, uninstall it, and print a row; return 1 if it went wrong."""
    start, home = time.monotonic(), system / "root" / "try"
    shutil.rmtree(home, ignore_errors=True)
    with tarfile.open(next(DIST.glob("*.tar.gz"))) as files:
        files.extractall(home, filter="data")
    (clone,) = home.iterdir()
    (clone / "src").rename(home / "no-source")
    shutil.copy(package, home)
    script = "\n".join(readme_lines((clone / "README.md").read_text(encoding="utf-8")))
    there = f"cd /root/try/{clone.name} && export PATH=/root/try/v/bin:$PATH"
    try:
        set_compiler(system, compiler)
        python = inside(system, "python3 --version").split()[-1]
        inside(system, f"cd /root/try && python3 -m venv v && v/bin/pip install -q {package.name}")
        inside(system, f"{there} && set -e\n{script}")
        speed = inside(system, f"{there} && python -c '{REASON}'").strip()
        inside(system, f"{there} && pip uninstall -q -y discreet")
        rest = [one.name for one in (home / "v").rglob("*discreet*")]
    except subprocess.CalledProcessError as error:
        print(f"| {suite} | {package.name} | {compiler} | failed |\n{error.output}", flush=True)
        return 1
    end = "clean" if not rest else ", ".join(rest)
    row = (suite, python, package.name, compiler, speed, end, f"{time.monotonic() - start:.0f}")
    print(f"| {' | '.join(row)} |", flush=True)
    expected = "kernel" if "manylinux" in package.name or compiler == "gcc" else "not built"
    return int(expected not in speed or bool(rest))


def readme_lines(readme: str) -> list[str]:
    """Return the commands and programs of README, but for those that install or build it."""
    lines = []
    for kind, text in re.findall(r"^```(sh|python)\n(.*?)^```", readme, re.DOTALL | re.MULTILINE):
        if kind == "python":
            lines.append(f"python - <<'END'\n{text}END")
        else:
            lines += [line for line in text.splitlines() if line.startswith("discreet ")]
    return lines


def inside(system: Path, script: str) -> str:
    """Run a shell's script inside a system, and return what it prints."""
    settings = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    done = subprocess.run(
        ["chroot", str(system), "/bin/sh", "-c", script],
        env=settings, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="discreet-") as empty:
        sys.exit(main(Path(*sys.argv[1:2] or [empty]).resolve(), sys.argv[2:]))
