"""Every verb has its page, which is what the source and verbs.toml make of it."""

import inspect
import re

import pytest
from tools import verb_pages

import discreet

from .pages import BLOCK

VERBS = verb_pages.verbs()


@pytest.mark.parametrize("name", VERBS)
def test_a_page_is_what_the_source_makes_of_it(name: str) -> None:
    page = (verb_pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    block = next((one for one in BLOCK.finditer(page) if one["output"] is not None), None)
    assert block is not None, "an example first"
    assert block.start() < page.index("**What is promised")
    assert page == verb_pages.page_of(name, VERBS[name], block["output"]), "make verbs"


def test_every_verb_has_a_page() -> None:
    public = {name: getattr(discreet, name) for name in discreet.__all__}
    verbs = {
        name
        for name, of in public.items()
        if inspect.isfunction(of)
        and of.__module__.startswith(("discreet.selection.", "discreet.tables.verbs."))
    }
    assert verbs == set(VERBS)


def test_a_page_names_its_command_and_its_key() -> None:
    assert re.search(
        r"`discreet top-k`.*`verb = \"top_k\"`",
        verb_pages.page_of("top_k", VERBS["top_k"], ""),
        re.S,
    )
    assert "On the command line" not in verb_pages.page_of("laplace", VERBS["laplace"], "")
