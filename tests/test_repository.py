"""What stands around the package agrees with it: one version, commands that exist, and tests where one looks."""

import re
import tomllib
from collections import defaultdict
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
    installed = " ".join(map(str, project["dependency-groups"]["test"]))
    provided_by = {"lint-imports": "import-linter"}
    for tool in re.findall(r"entry: \.venv/bin/(\S+)", hooks):
        assert provided_by.get(tool, tool) in installed


def test_every_test_that_the_docs_name_exists() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for file, function in re.findall(r"\b(tests/[a-z_0-9/]+\.py)::(\w+)", text):
            assert f"\ndef {function}(" in (ROOT / file).read_text(encoding="utf-8"), function
        named = re.findall(r"\btests/[a-z_0-9/]+\.py\b", text)
        for file in named:
            assert (ROOT / file).is_file() or file == "tests/test_x.py", f"{page.name}: {file}"


WITHOUT_A_FILE: dict[str, tuple[str, str]] = tomllib.loads(
    Path(__file__).with_name("without_a_file.toml").read_text(encoding="utf-8")
)
"""By folder, the modules without a test file of their name, and the files in which they are proved."""


def test_every_module_is_proved_in_the_file_of_its_name() -> None:
    """But for those of a list that may only become shorter: take a module from it with its test file."""
    source, missing = ROOT / "src" / "discreet", defaultdict[str, list[str]](list)
    for path in sorted(source.rglob("*.py")):
        folder, name = path.relative_to(source).parent.as_posix(), path.stem
        is_proved = (ROOT / "tests" / folder / f"test_{name}.py").exists()
        if name not in {"__init__", "__main__"} and not is_proved:
            missing[folder].append(name)
    listed = {folder: names.split() for folder, (names, _) in WITHOUT_A_FILE.items()}
    assert missing == listed
    for folder, (_, proofs) in WITHOUT_A_FILE.items():
        for proof in proofs.split():
            assert (ROOT / "tests" / proof).exists(), (folder, proof)


def _words(line: str) -> int:
    """The words of a line as readers see it, without the addresses of links."""
    return len(re.sub(r"\]\([^)]*\)", "]", line).split())


def test_the_changelog_has_short_lines_and_links_that_lead_somewhere() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    lines = re.findall(r"^- (.+)$", text, re.M)
    assert lines
    assert [line for line in lines if _words(line) > 25] == []
    assert [to for to in re.findall(r"\]\(([^)#]+)", text) if not (ROOT / to).is_file()] == []


def test_every_line_for_the_changelog_is_one_that_towncrier_takes() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    towncrier = configuration["tool"]["towncrier"]
    types = [kind["directory"] for kind in towncrier["type"]]
    folder = ROOT / towncrier["directory"]
    listed = re.findall(r"^\| `(\w+)` \|", (folder / "README.md").read_text("utf-8"), re.M)
    assert listed == types
    start = towncrier["start_string"]
    assert (ROOT / towncrier["filename"]).read_text(encoding="utf-8").count(start) == 1
    for file in set(folder.iterdir()) - {folder / "README.md"}:
        assert re.fullmatch(rf"(\d+|\+[a-z0-9-]+)\.({'|'.join(types)})(\.\d+)?\.md", file.name), (
            file
        )
        (line,) = file.read_text(encoding="utf-8").splitlines()
        assert _words(line) <= 25, file
        for to in re.findall(r"\]\(([^)#]+)", line):
            assert (ROOT / to).is_file(), file
