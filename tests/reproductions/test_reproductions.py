"""What the pages of reproductions print is right, and agrees with the five sources as the table says."""

import importlib
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest

from .table import BEGIN, END, FOLDER, KNOWN, PAGES, heading_of, page_of, rendered, source_of

ROWS = KNOWN["numbers"]
IDS = [row["id"] for row in ROWS]
SOURCES = list(KNOWN["sources"])


def recomputed(source: str) -> ModuleType:
    return importlib.import_module(f".{source}", __package__)


def half_a_digit(number: str) -> Fraction:
    """Return half of the last place that is written: 0.005 of 4.00, half of 50000."""
    mantissa, _, power = number.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return Fraction(10) ** (int(power or 0) - decimals) / 2


def close(a: float | Fraction | str, b: str, within: Fraction) -> bool:
    # A double's own error on top, so that a half is not decided by it.
    return abs(Fraction(a) - Fraction(b)) <= within * Fraction("1.000001")


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_our_number_is_right(row: dict[str, Any]) -> None:
    source, _, name = row["id"].partition(".")
    values = recomputed(source).VALUES[name]()
    assert len(values) == len(row["ours"])
    for value, ours in zip(values, row["ours"], strict=True):
        assert str(value) == ours or close(value, ours, half_a_digit(ours)), (
            f"{row['id']}: {ours}, and not {value}"
        )


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_page_prints_it(row: dict[str, Any]) -> None:
    assert heading_of(row), f"{row['ours']} is in no output of the page"


def pairs(row: dict[str, Any]) -> list[tuple[str, str]]:
    return list(zip(row["theirs"], row["ours"], strict=True))


def same(row: dict[str, Any]) -> bool:
    return all(a == b or Fraction(a) == Fraction(b) for a, b in pairs(row))


def same_to_the_digits(row: dict[str, Any]) -> bool:
    return all(close(a, b, max(map(half_a_digit, (a, b)))) for a, b in pairs(row))


def ordinary(row: dict[str, Any]) -> bool:
    source, _, name = row["id"].partition(".")
    chance = recomputed(source).CHANCES[name](float(row["theirs"][0]))
    return chance > 0.01 and close(chance, row["chance"], half_a_digit(row["chance"]))


def corrected(row: dict[str, Any]) -> bool:
    said = row["why"] in page_of(source_of(row))
    return said and all(Fraction(a) != Fraction(b) for a, b in pairs(row))


def loose(row: dict[str, Any]) -> bool:
    return corrected(row) and all(Fraction(a) > Fraction(b) for a, b in pairs(row))


AGREES = {
    "exactly": same,
    "rounded": same_to_the_digits,
    "by chance": ordinary,
    "at most": lambda row: all(Fraction(ours) <= Fraction(theirs) for theirs, ours in pairs(row)),
    "formula": lambda row: "theirs" not in row,
    "loose": loose,
    "no": corrected,
}


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_it_agrees_as_the_table_says(row: dict[str, Any]) -> None:
    assert AGREES[row["agrees"]](row), row


@pytest.mark.parametrize("source", SOURCES)
def test_every_recomputation_has_its_row(source: str) -> None:
    rows = [row for row in ROWS if source_of(row) == source]
    assert {row["id"].partition(".")[2] for row in rows} == set(recomputed(source).VALUES)
    assert len(rows) == len({row["id"] for row in rows})
    by_chance = {row["id"].partition(".")[2] for row in rows if row["agrees"] == "by chance"}
    assert by_chance == set(recomputed(source).CHANCES)


@pytest.mark.parametrize("row", KNOWN["figures"], ids=[row["picture"] for row in KNOWN["figures"]])
def test_every_figure_is_drawn_and_shown(row: dict[str, Any]) -> None:
    page = page_of(row["source"])
    assert f'savefig("{row["picture"]}")' in page
    assert f"](pictures/{row['picture']})" in page
    assert (FOLDER / "pictures" / row["picture"]).stat().st_size > 5000


def test_every_picture_is_in_the_table() -> None:
    named = [row["picture"] for row in KNOWN["figures"]]
    assert sorted(named) == sorted(file.name for file in (FOLDER / "pictures").iterdir())


def test_every_page_is_a_source() -> None:
    pages = {file.stem for file in FOLDER.glob("*.md") if not file.stem.endswith(".zh")}
    assert pages == {"index", *SOURCES}


@pytest.mark.parametrize("language", PAGES)
def test_the_table_on_the_page_is_that_of_the_file(language: str) -> None:
    page = PAGES[language].read_text(encoding="utf-8")
    assert page.partition(BEGIN)[2].partition(END)[0] == rendered(language), (
        "python -m tests.reproductions.table writes it"
    )
