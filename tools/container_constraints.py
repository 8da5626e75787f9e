"""Writes examples/service/constraints.txt: what the container installs, each version with the hashes of its wheels.

pip resolves once for each kind of machine, keeps nothing, and tells the hash of every wheel. No address of a
registry is written: whoever installs takes their own, and the hashes say whether it gave the same files.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "examples" / "service" / "constraints.txt"
PYTHON = "3.13"
"""Of the image in the Containerfile."""

MACHINES = ("x86_64", "aarch64")
_C_LIBRARIES = (
    "manylinux_2_34",
    "manylinux_2_28",
    "manylinux_2_27",
    "manylinux_2_17",
    "manylinux2014",
)

_HEAD = f"""\
# What the container installs, with Python {PYTHON} on {" and ".join(MACHINES)}. Written by `make constraints`.
"""


def wanted() -> list[str]:
    """Return what the project needs in a container: to run, to serve, and to be built."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    return [
        *project["project"]["dependencies"], *extras["server"], *extras["postgres"],
        *project["build-system"]["requires"],
    ]  # fmt: skip


def resolved(machine: str, known: list[str]) -> dict[tuple[str, str], set[str]]:
    """Return the hashes of the wheels for a machine by name and version; versions that are known are kept."""
    platforms = [part for one in _C_LIBRARIES for part in ("--platform", f"{one}_{machine}")]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
            "--report", str(report), "--target", folder, "--only-binary=:all:", "--python-version", PYTHON,
            "--implementation", "cp", *platforms, *wanted(), *known,
        ]  # fmt: skip
        subprocess.run(command, check=True)
        installed = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {
        (one["metadata"]["name"].lower().replace("_", "-").replace(".", "-"), one["metadata"]["version"]): {
            one["download_info"]["archive_info"]["hashes"]["sha256"]
        }
        for one in installed
    }  # fmt: skip


def main() -> None:
    """Write the file."""
    found: dict[tuple[str, str], set[str]] = {}
    for machine in MACHINES:
        known = [f"{name}=={version}" for name, version in found]
        for which, hashes in resolved(machine, known).items():
            found.setdefault(which, set()).update(hashes)
    lines = [
        " \\\n    ".join(
            [f"{name}=={version}", *(f"--hash=sha256:{one}" for one in sorted(hashes))]
        )
        for (name, version), hashes in sorted(found.items())
    ]
    CONSTRAINTS.write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
