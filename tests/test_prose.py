"""The gate of our English counts what it says, and lets no kind of page get worse."""

import pytest
from tools import prose

TEXT = """# Heading; with a semicolon

You run it; nobody runs `a; b` for you: it is told apart.

```sh
echo one; echo two; echo three; echo four
```

| a; | table is not; running text. |
"""


def test_each_construction_is_counted_once_in_running_text() -> None:
    found = prose.figures([TEXT])
    (sentence,) = prose.sentences(TEXT)
    once = 1000 / len(prose.words(sentence))
    for name in ("semicolons", "colons inside", "whoever and its kin", "negations", "tell"):
        assert found[name] == pytest.approx(once, abs=0.01), name
    assert found[prose.WORDS] == pytest.approx(once, abs=0.01)
    assert found[prose.YOU] == pytest.approx(2 * once, abs=0.01)


def test_sentences_are_long_from_26_words_on() -> None:
    short, long = ("Word " + "word " * (n - 2) + "word." for n in (25, 26))
    assert prose.figures([short + "\n\n" + long])[prose.LONG] == 50


def test_a_page_is_shown_with_what_to_rewrite() -> None:
    (line,) = prose.findings(TEXT)
    assert "semicolons (;)" in line
    assert "words of the list (told apart)" in line
    assert prose.findings("You read this plain sentence of ours.") == []


def test_limits_never_get_worse_nor_better_than_their_targets() -> None:
    targets = {"tell": 1.0, prose.YOU: 12.0}
    stored = {"tell": 5.0, prose.YOU: 6.0}
    assert prose.limits({"tell": 3, prose.YOU: 8.8}, targets, stored) == {"tell": 3.3, prose.YOU: 8}
    assert prose.limits({"tell": 9, prose.YOU: 2}, targets, stored) == stored
    assert prose.limits({"tell": 0, prose.YOU: 30}, targets, {}) == targets


def test_every_page_is_of_one_kind() -> None:
    pages = [page for kind in prose.document()["kinds"] for page in prose.pages(kind)]
    assert len(pages) == len(set(pages))
    docs = {page for page in (prose.ROOT / "docs").rglob("*.md") if ".zh." not in page.name}
    assert docs <= set(pages)


def test_no_kind_of_page_is_worse_than_its_limits() -> None:
    assert prose.main([]) == 0


def test_docstrings_of_public_names_and_their_arguments_are_counted_once() -> None:
    found = prose.docstrings()
    assert len(found) == len(set(found)) > 1500
    assert "Return whether the budget can pay a cost." in found  # of a class
    assert "the number of significant digits, from 1 to 9." in found  # of an argument
