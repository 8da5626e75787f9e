"""What stands around the package agrees with it: one version, and commands that exist."""

import re
import tomllib
from pathlib import Path

import discreet

ROOT = Path(__file__).parents[1]
AROUND = [
    *ROOT.glob("*.md"),
    *ROOT.glob(".github/**/*.yml"),
    *ROOT.glob(".github/**/*.md"),
    ROOT / ".pre-commit-config.yaml",
]


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited == [project["version"]] == [discreet.__version__]


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for file in AROUND:
        text = file.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^|run: )make ([a-z-]+)", text, re.M))
        assert named <= targets, file
    assert "release-check" in targets


def test_hooks_run_tools_that_the_tests_install() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    installed = " ".join(project["dependency-groups"]["test"])
    provided_by = {"lint-imports": "import-linter"}
    for tool in re.findall(r"entry: \.venv/bin/(\S+)", hooks):
        assert provided_by.get(tool, tool) in installed


def test_every_test_that_the_docs_name_exists() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        named = re.findall(r"\btests/[a-z_/]+\.py\b", page.read_text(encoding="utf-8"))
        for file in named:
            assert (ROOT / file).is_file() or file == "tests/test_x.py", f"{page.name}: {file}"
