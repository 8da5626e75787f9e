"""The docs run, and nothing public is missing from them."""

import re
import runpy
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import discreet
from discreet.cli.application import build_app
from discreet.tables.scores.score_names import SCORES

from .pages import BLOCK, PAGES, ROOT, TEXT
from .public_names import PATHS

_API = ROOT / "docs" / "reference"
REFERENCE = "\n".join(
    page.read_text(encoding="utf-8") for page in (_API / "api.md", *(_API / "verbs").glob("*.md"))
)


def test_every_block_is_known() -> None:
    kinds = {
        match["kind"]
        for page in PAGES
        for match in BLOCK.finditer(page.read_text(encoding="utf-8"))
    }
    assert kinds <= {"python", "sh", "text", "toml", "bibtex"}


@pytest.mark.parametrize("name", PATHS)
def test_every_public_name_is_in_the_docs(name: str) -> None:
    assert re.search(rf"\b{name}\b", TEXT), f"{name} is nowhere in README or docs"


@pytest.mark.parametrize("name", PATHS)
def test_every_public_name_has_its_docstring_in_the_reference(name: str) -> None:
    of = getattr(discreet, name, None)
    paths = {PATHS[name], f"{getattr(of, '__module__', '')}.{name}", getattr(of, "__name__", "")}
    places = [path for path in re.findall(r"^::: (\S+)$", REFERENCE, re.M) if path in paths]
    assert len(places) == 1, f"{name}: in {len(places)} places of api.md and verbs/"


def test_every_page_is_in_the_site() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.relative_to(ROOT / "docs").as_posix() in site


def test_no_page_of_the_navigation_has_pages_below_it() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    rows = [(len(line) - len(line.lstrip()), line) for line in text.splitlines() if line.strip()]
    for (depth, line), (following, _) in pairwise(rows):
        assert line.endswith((".md", ".html")) == (following <= depth), line


def test_the_architecture_page_shows_what_there_is() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    tree, layers = re.findall(r"^```text\n(.*?)^```", page, re.M | re.S)
    for entry in (ROOT / "src" / "discreet").iterdir():
        if not entry.name.startswith("__") and (entry.is_dir() or entry.suffix == ".py"):
            assert f" {entry.name}{'/' * entry.is_dir()} " in tree, entry.name
    files = [file.as_posix() for top in ("src", "tests") for file in (ROOT / top).rglob("*.py*")]
    for name in re.findall(r"[\w/]+\.pyi?\b", page):
        assert "NAME" in name or any(file.endswith(f"/{name}") for file in files), name
    rules = (ROOT / ".importlinter").read_text(encoding="utf-8")
    listed = re.search(r"^layers =\n((?:    .*\n)+)", rules, re.M)
    assert listed is not None
    assert layers == re.sub("^    ", "", listed[1], flags=re.M)


def test_every_command_is_in_the_docs() -> None:
    for command in build_app().registered_commands:
        assert command.name is not None
        assert f"discreet {command.name}" in TEXT


@pytest.mark.parametrize("name", discreet.mechanisms.MECHANISMS)
def test_every_mechanism_has_its_section(name: str) -> None:
    section = section_of("mechanisms", name)
    for heading in (
        "Distribution",
        "Guarantee",
        "Proof",
        "What it costs",
        "Side channels",
        "Reference",
    ):
        assert f"**{heading}" in section, f"{name}: no {heading}"


@pytest.mark.parametrize("name", SCORES)
def test_every_score_has_its_section(name: str) -> None:
    section = section_of("scores", name)
    for heading in ("Values", "Sensitivity", "Side channels"):
        assert f"**{heading}" in section, f"{name}: no {heading}"


def section_of(folder: str, name: str) -> str:
    """Return what the pages of a folder say below the heading of a name."""
    pages = [BLOCK.sub("", file.read_text("utf-8")) for file in (_API / folder).glob("*.md")]
    found = [re.search(rf"^(##?) {name}\n(.*?)(?=^\1 |\Z)", page, re.M | re.S) for page in pages]
    (section,) = [each[2] for each in found if each is not None]
    return section


def test_mechanisms_state_their_side_channels() -> None:
    for kind in discreet.mechanisms.MECHANISMS.values():
        assert "Guarantee:" in (kind.__doc__ or "")
        assert "Side channels:" in (kind.__doc__ or "")


def test_pages_are_in_folders_by_what_they_are_for() -> None:
    folders = {"tutorials", "reproductions", "how-to", "reference", "explanation"}
    for page in (ROOT / "docs").rglob("*.md"):
        top, *below = page.relative_to(ROOT / "docs").parts
        assert top in folders if below else re.fullmatch(r"index(\.zh)?\.md", top), page


def test_every_page_that_the_project_names_exists() -> None:
    """In docstrings, messages, reports, tests and around: `docs/` and what follows is a file or a folder."""
    code = [
        file for top in ("src", "tests", "tools", "bench") for file in (ROOT / top).rglob("*.py*")
    ]
    for file in [*code, *PAGES, *ROOT.glob("C*.md"), ROOT / "Makefile", ROOT / "mkdocs.yml"]:
        if file.suffix != ".pyc":
            text = file.read_text(encoding="utf-8")
            for named in re.findall(r"(?<![\w/.-])docs/[\w./-]*\w", text):
                assert "NAME" in named or (ROOT / named).exists(), f"{file}: {named}"


def test_every_theorem_has_a_number_of_its_own_and_can_be_cited() -> None:
    stated = re.findall(r'^<a id="theorem-(\d+)"></a>\n\*\*Theorem (\d+) \(', TEXT, re.M)
    numbers = [str(n + 1) for n in range(len(stated))]
    assert sorted(stated, key=lambda pair: int(pair[0])) == [(n, n) for n in numbers]
    page = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    for said, link, number in re.findall(r"\[Theorem (\d+)\]\(([^)#]+)#theorem-(\d+)\)", page):
        assert said == number
        target = (ROOT / "docs" / "reference" / link).read_text(encoding="utf-8")
        assert f'<a id="theorem-{number}">' in target
    assert re.findall(r"^\| \[Theorem (\d+)\]", page, re.M) == numbers


def test_the_citation_is_that_of_the_repository() -> None:
    page = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    cff = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for field, name in (("title", "title"), ("version", "version"), ("license", "license")):
        (stated,) = re.findall(rf"^{name}: \"?([^\"\n]+)\"?$", cff, re.M)
        assert re.search(rf"^  {field} += {{{{?{re.escape(stated)}}}", page, re.M), field
    (author,) = re.findall(r"^  - name: (.+)$", cff, re.M)
    assert f"{{{{{author}}}}}" in page


def test_links_lead_somewhere() -> None:
    """To a file, and in a page to a heading or an anchor, as both the site and GitHub name it."""
    anchors = {page.resolve(): anchors_of(page) for page in PAGES}
    for page in PAGES:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = link.partition("#")
            if ":" in path:
                continue
            target = (page.parent / path).resolve() if path else page.resolve()
            assert target.exists(), f"{page.name}: {link}"
            assert not anchor or target.suffix != ".md" or anchor in anchors[target], (
                f"{page.name}: {link}"
            )


def anchors_of(page: Path) -> set[str]:
    """Return the places in a page to which links can lead."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    plain = [re.sub(r"\]\([^)]*\)", "]", heading).lower() for heading in headings]
    slugs = {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading)) for heading in plain}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))


def test_no_heading_ends_in_braces() -> None:
    """The site takes `{…}` at the end of a heading for its attributes."""
    for page in PAGES:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        assert not re.search(r"^#.*[^\\\w]\{[^}]*\}$", text, re.M), page


@pytest.mark.parametrize("folder", ["tutorials", "reproductions"])
def test_every_picture_is_made_by_an_example_and_shown(folder: str) -> None:
    shown, made = set(), set()
    for page in (ROOT / "docs" / folder).glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for says, name in re.findall(r"!\[([^\]]*)\]\(pictures/([^)]+)\)", text):
            assert len(says) > 20, f"{page.name}: {name} must say what is to be seen"
            shown.add(name)
        made |= set(re.findall(r'savefig\(\s*"([^"]+)"\s*\)', text))
    assert shown == made == {file.name for file in (ROOT / "docs" / folder / "pictures").iterdir()}


def test_the_pictures_of_the_readme_are_what_their_scripts_draw() -> None:
    docs = ROOT / "docs"
    made: dict[str, str] = {}
    for script in ("first_attack.py", "badges.py"):
        made |= runpy.run_path(str(docs / script))["pictures"]()
    files = {
        file.name: file.read_text(encoding="utf-8") for file in (docs / "assets").glob("*.svg")
    }
    assert files == made, "make pictures"
    for page in ("README.md", "README.zh.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert set(re.findall(r"docs/assets/(\w+\.svg)", text)) == set(made), page


def test_the_errors_of_the_tree_are_drawn() -> None:
    drawing = discreet.errors.__doc__ or ""
    for name, error in vars(discreet.errors).items():
        if isinstance(error, type) and issubclass(error, discreet.DiscreetError):
            assert name in drawing


def test_the_demo_runs(tmp_path: Path) -> None:
    """Twice in one folder, as a second showing finds the files of the first."""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples" / "demo.py")],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        assert "On Monday the exact answer is 229" in done.stdout
        assert "rejected: the budget of people cannot pay" in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 80
    report = (tmp_path / "discreet-demo" / "report.html").read_text(encoding="utf-8")
    assert "The privacy budget of people" in report
