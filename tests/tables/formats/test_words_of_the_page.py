"""The examples of docs/how-to/files.md: each word for the form of a file, and what is no number."""

import re
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.tables.engines import count
from discreet.tables.formats.number_texts import NumberForm
from discreet.tables.formats.text_form import WORDS

from ...pages import ROOT

openpyxl = pytest.importorskip("openpyxl")
PAGE = (ROOT / "docs" / "how-to" / "files.md").read_text(encoding="utf-8")


def workbook(file: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["a"])
    other = book.create_sheet("2024")
    for cell in ("a", "x"):
        other.append([cell])
    book.save(file)


Cells = dict[Any, int]
EXAMPLES: dict[str, tuple[str | Callable[[Path], None], dict[str, Any], Cells, Cells]] = {
    "encoding": ("a\nZürich\n", {"encoding": "cp1252"}, {"Zürich": 1}, {"Zürich": 0}),
    "delimiter": ("a:b\nx:y\n", {"delimiter": ":"}, {"x": 1}, {}),
    "quote": ("a,b\n'x,y',z\n", {"quote": "'"}, {"x,y": 1}, {"'x": 1}),
    "escape": ('a,b\n"x\\"y",z\n', {"escape": "\\"}, {'x"y': 1}, {'x"y': 0}),
    "skip_initial_space": ('b,a\n1, "x,y"\n', {"skip_initial_space": True}, {"x,y": 1}, {"x,y": 0}),
    "skip": ("A title\na,b\nx,y\n", {"skip": 1}, {"x": 1}, {}),
    "comment": ("a\n# x\nx\n", {"comment": "#"}, {"# x": 0, "x": 1}, {"# x": 1, "x": 1}),
    "missing": ("a,b\nNA,1\n-,2\nx,3\n", {"missing": ["NA", "-"]}, {"": 2, "x": 1}, {"NA": 1, "-": 1}),
    "multiline": ('a\n"x\ny"\n', {"multiline": False}, {"x": 1, 'y"': 1}, {"x\ny": 1}),
    "names": ("x\ny\n", {"names": ["a"]}, {"x": 1, "y": 1}, {}),
    "decimal": ("a;b\n1234,5;x\n", {"decimal": ","}, {Fraction("1234.5"): 1}, {"1234,5": 1}),
    "thousands": ("a;b\n1'234.5;x\n", {"thousands": "'"}, {Fraction("1234.5"): 1}, {"1'234.5": 1}),
    "units": ("a\nCHF 5\nFr. 5\n", {"units": ["CHF", "Fr."]}, {5: 2}, {"CHF 5": 1}),
    "percent": ("a\n45 %\n", {"percent": True}, {Fraction("0.45"): 1}, {"45 %": 1}),
    "negative": ("a\n(5)\n", {"negative": "parentheses"}, {-5: 1}, {"(5)": 1}),
    "date": ("a\n31.12.2024\n", {"date": "%d.%m.%Y"}, {date(2024, 12, 31): 1}, {"31.12.2024": 1}),
    "sheet": (workbook, {"sheet": "2024"}, {"x": 1}, {}),
}  # fmt: skip
"""For each word a file, the word, what is counted with it, and what without it; nothing where it is refused."""


def test_the_page_has_each_word_and_an_example() -> None:
    table = PAGE.split("\n### The form\n")[1].split("\n### ")[0]
    assert {*re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)} == {*WORDS} == {*EXAMPLES}


@pytest.mark.filterwarnings("ignore:multiline is false")
@pytest.mark.parametrize("word", EXAMPLES)
def test_the_example_of_a_word(word: str, tmp_path: Path) -> None:
    content, words, with_it, without = EXAMPLES[word]
    file = tmp_path / ("t.csv" if isinstance(content, str) else "t.xlsx")
    if isinstance(content, str):
        file.write_bytes(content.encode(words.get("encoding", "utf-8")))
    else:
        content(file)
    assert count(discreet.scan_csv(file, **words), "a", [*with_it]) == [*with_it.values()]
    if without:
        assert count(file, "a", [*without]) == [*without.values()]
    else:
        with pytest.raises(discreet.DiscreetError):
            count(file, "a", ["x"])


def test_texts_that_are_no_numbers_by_the_page() -> None:
    listed = PAGE.split('With `decimal = ","` and `thousands = "."` these are none:')[1]
    texts = re.findall("`([^`]+)`", listed.split(". With")[0])
    assert len(texts) == 10
    form = NumberForm(",", ".")
    assert [form.plain(text) for text in texts] == [None] * 10
    assert [form.plain(text) for text in ("1.234,50", "1234567,5", ",5")] == [
        "1234.5",
        "1234567.5",
        "0.5",
    ]
    in_francs = NumberForm(".", "", ("CHF",))
    assert [in_francs.plain(text) for text in ("5 EUR", "CHF 2 CHF", "CHF 2")] == [None, None, "2"]
