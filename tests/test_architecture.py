"""The page about the architecture is walked: its links from HTTP to the bits are called, in its order."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from bench.ways import ways

from discreet.tables.engines.native import CandidateEngine, Native

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "architecture.md"
LINK = re.compile(r"^\| (\d+) \| `([\w/]+\.py)` \| `(\w+)` \|", re.MULTILINE)


def section_of_the_page(title: str) -> str:
    """Return the text below a heading of the page."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2]
    return text.partition("\n## ")[0]


def test_a_question_takes_the_twelve_links_of_the_page_in_their_order() -> None:
    links = LINK.findall(PAGE.read_text(encoding="utf-8"))
    assert [int(number) for number, _, _ in links] == list(range(1, 13))
    calls = list(ways()["POST /v1/answers"].calls)  # in the order of their first call
    places = [calls.index((file, function)) for _, file, function in links]
    assert places == sorted(places)


def test_the_files_to_read_first_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## If you have an hour")[2]
    files = re.findall(r"^\| `([\w/]+\.py)` \|", text.partition("\n## ")[0], re.MULTILINE)
    source = PAGE.parents[2] / "src" / "discreet"
    assert len(files) == 10
    assert all((source / file).is_file() for file in files)


def tree_of_the_page() -> Iterator[Path]:
    """Yield the files and folders that the page's tree names, below the package."""
    text = PAGE.read_text(encoding="utf-8").partition("```text\nsrc/discreet/\n")[2]
    folders = [Path()]
    for row in text.partition("```")[0].splitlines():
        depth = (len(row) - len(row.lstrip())) // 2
        if folder := re.match(r" *(\w+)/ ", row):
            folders = [*folders[:depth], folders[depth - 1] / folder[1]]
            yield folders[-1]
        else:
            yield from (folders[depth - 1] / name for name in re.findall(r"\w+\.(?:py|c)\b", row))


def test_the_tree_names_files_that_are_there() -> None:
    source = PAGE.parents[2] / "src" / "discreet"
    named = list(tree_of_the_page())
    assert len(named) > 150
    assert [str(path) for path in named if not (source / path).exists()] == []


def test_the_page_for_engines_has_the_members_of_the_contract() -> None:
    text = (PAGE.parent / "out_of_core.md").read_text(encoding="utf-8")
    table = text.partition("| member | what it owes |\n")[2].partition("\n\n")[0]
    named = [one for row in table.splitlines() for one in re.findall(r"`(\w+)`", row.split("|")[1])]
    owed = {name for kind in (Native, CandidateEngine) for name in vars(kind) if name[0] != "_"}
    assert sorted(named) == sorted(owed)


def test_the_nouns_are_classes_of_their_files() -> None:
    nouns = re.findall(r"`(\w+)`(?: \||\s\()[^`]*`([\w/]+\.py)`", section_of_the_page("The nouns"))
    assert len(nouns) > 20
    for noun, file in nouns:
        text = (PAGE.parents[2] / "src" / "discreet" / file).read_text(encoding="utf-8")
        assert f"\nclass {noun}" in text, (noun, file)


def test_each_dependency_has_its_reason() -> None:
    project = tomllib.loads((PAGE.parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    names = [re.split(r"[><=;\[]", one)[0] for one in project["project"]["dependencies"]]
    section = section_of_the_page("Dependencies")
    assert re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE) == names
