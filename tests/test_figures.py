"""No figure in the prose is typed by hand: each comes from a cell, or is an exception with a reason."""

from fractions import Fraction
from pathlib import Path

import pytest
from tools import figures

CHECKED = [
    page
    for page in figures.pages()
    if page.parent.name == "tutorials"
    or figures.name_of(page)
    in {
        "README.md",
        "docs/index.md",
        "docs/explanation/faq.md",
        "docs/explanation/compared_with.md",
        "docs/explanation/what_differential_privacy_promises.md",
        "docs/how-to/choose_epsilon.md",
    }
]
"""What readers see first, in both languages."""


def name_of(page: Path) -> str:
    return page.relative_to(figures.ROOT).as_posix()


@pytest.mark.parametrize("page", figures.pages(), ids=name_of)
def test_a_page_has_the_figures_of_its_cells(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert figures.filled(text) == text, "make figures"
    assert text.count("<!--=") == len(figures.MARKED.findall(text))


@pytest.mark.parametrize("page", CHECKED, ids=name_of)
def test_every_numeral_is_of_a_cell_or_an_exception(page: Path) -> None:
    assert sorted(set(figures.unfounded(page))) == []


def test_every_cell_is_used() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in figures.pages())
    assert {found["name"] for found in figures.MARKED.finditer(text)} == set(
        figures.document()["cells"]
    )


def test_every_exception_is_needed_and_has_a_reason() -> None:
    for one in figures.document()["exceptions"]:
        assert len(one["reason"]) > 20
        for name in one["pages"]:
            pages = [page for page in CHECKED if figures.name_of(page) == name]
            assert pages, name
            numerals = {n for page in pages for n in figures.numerals(page.read_text("utf-8"))}
            unneeded = set(one["numerals"]) - numerals
            assert len(one["pages"]) > 1 or not unneeded, (name, unneeded)


@pytest.mark.parametrize(
    ("value", "places", "bound", "shown"),
    [
        ("73.1059", 1, "at most", "73.2"),
        ("1.4989", 1, "at least", "1.4"),
        ("-0.7484", 3, "nearest", "−0.748"),
        ("22026.466", 0, "at most", "22,027"),
        ("73.1", 1, "at most", "73.1"),
        ("0.996", 2, "nearest", "1.00"),
    ],
)
def test_a_bound_is_rounded_in_its_direction(
    value: str, places: int, bound: str, shown: str
) -> None:
    assert figures.rounded(Fraction(value), places, bound) == shown


def test_powers_of_ten_and_differences_are_written_out() -> None:
    address = "output:docs/tutorials/4-categories.md#counts/1/1"
    cell = {"of": address, "places": 0, "bound": "nearest"}
    assert figures.figure(cell) == "14,976"
    assert figures.figure({**cell, "minus": address.replace("/1/1", "/2/1")}) == "4,293"
    assert figures.figure({**cell, "places": 1, "scientific": True}) == "1.5·10⁴"


def test_a_number_of_the_reproductions_is_an_address() -> None:
    assert figures.value_at("numbers:sherpa.charge/ours/0") == Fraction("0.998958")


def test_a_changed_figure_and_a_new_numeral_are_found() -> None:
    assert figures.filled("<!--=lead-->4,000<!--/-->") == "<!--=lead-->4,293<!--/-->"
    assert figures.numerals("3 `4` [5](6.md) <!--=lead-->7<!--/-->\n```sh\n8\n```\n") == ["3", "5"]


def test_an_address_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(ValueError, match="no block"):
        figures.value_at("output:docs/index.md#nothing/0/0")
    with pytest.raises(KeyError):
        figures.value_at("stored:kernel/no_row/discreet select/median")
