"""Every verb has its section of a page, which is what the source and verbs.toml make of it."""

import inspect
import re
from collections.abc import Iterator

import pytest
from tools import verb_pages
from tools.stub import is_a_verb

import discreet

from .pages import BLOCK

VERBS = verb_pages.verbs()
GROUPS = verb_pages.document()


@pytest.mark.parametrize("name", GROUPS)
def test_a_page_is_what_the_source_makes_of_it(name: str) -> None:
    page = (verb_pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    outputs = dict(zip(GROUPS[name]["verbs"], outputs_of(page), strict=True))
    assert page == verb_pages.page_of(GROUPS[name], outputs), "make verbs"


def outputs_of(page: str) -> Iterator[str]:
    """Yield what the example of each section prints, which comes before its promise."""
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        block = next((one for one in BLOCK.finditer(section) if one["output"] is not None), None)
        assert block is not None, "an example first"
        assert block.start() < section.index("**What is promised")
        yield block["output"]


def test_every_page_has_its_group() -> None:
    assert {file.stem for file in verb_pages.FOLDER.glob("*.md")} == set(GROUPS)


def test_every_verb_has_a_section() -> None:
    public = {name: getattr(discreet, name) for name in discreet.__all__}
    verbs = {name for name, of in public.items() if inspect.isfunction(of) and is_a_verb(of)}
    assert verbs == set(VERBS)


def test_a_section_names_its_command_and_its_key() -> None:
    assert re.search(
        r"`discreet top-k`.*`verb = \"top_k\"`",
        verb_pages.section_of("top_k", VERBS["top_k"], ""),
        re.S,
    )
    assert "command line" not in verb_pages.section_of("laplace", VERBS["laplace"], "")
