"""The form of a file of text: what is said is kept, and what says no form is refused."""

from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from discreet.errors import InvalidArgument
from discreet.tables.formats import reader_library
from discreet.tables.formats.date_texts import DateForm
from discreet.tables.formats.number_texts import NumberForm
from discreet.tables.formats.text_form import (
    CELL_WORDS,
    MOST_COLUMNS,
    MOST_MARKERS,
    MOST_SKIPPED,
    CellForm,
    CellReading,
    TextForm,
    cell_form,
    text_form,
)
from discreet.tables.formats.text_records import TextRecords


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ({}, {}),
        ({"delimiter": "\t", "quote": "'"}, {"delimiter": "\t", "quote": "'"}),
        ({"quote": '"', "multiline": True}, {}),
        ({"quote": "", "multiline": False}, {"quote": "", "multiline": False}),
        ({"names": ("a", "b")}, {"names": ["a", "b"]}),
        ({"encoding": "latin1"}, {"encoding": "iso8859-1"}),
        ({"escape": "\\", "comment": "#"}, {"escape": "\\", "comment": "#"}),
        ({"skip": 3, "skip_initial_space": True}, {"skip": 3, "skip_initial_space": True}),
        ({"skip": 0, "missing": []}, {}),
        ({"missing": ["NA", " -", "NA"]}, {"missing": ["NA", " -"]}),
    ],
)
def test_what_was_said(words: dict[str, Any], given: dict[str, Any]) -> None:
    form = text_form(**words)
    assert form.given == given
    assert text_form(**form.given) == form
    assert (form == TextForm()) == (not given)


@pytest.mark.parametrize("word", ["delimiter", "quote", "escape", "comment"])
@pytest.mark.parametrize("value", ["\n", "\r", "\0", "ab", "é", 1, b","])
def test_signs_that_are_none(word: str, value: object) -> None:
    with pytest.raises(InvalidArgument, match=f"^{word} must"):
        text_form(**{word: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words",
    [
        {"delimiter": ""},
        {"delimiter": '"'},
        {"delimiter": '"', "quote": ""},
        {"delimiter": ";", "quote": ";"},
        {"multiline": 1},
        {"multiline": "false"},
        {"names": []},
        {"names": ["a", "a"]},
        {"names": ["a", 1]},
        {"names": [str(i) for i in range(MOST_COLUMNS + 1)]},
        {"encoding": "utf-7"},
        {"escape": '"'},
        {"escape": ";", "delimiter": ";"},
        {"comment": "#", "escape": "#"},
        {"comment": ",", "names": ["a", "b"]},
        {"comment": '"', "quote": ""},
        {"skip_initial_space": True, "delimiter": " "},
        {"skip_initial_space": 1},
        {"skip": -1},
        {"skip": True},
        {"skip": "1"},
        {"skip": MOST_SKIPPED + 1},
        {"missing": "NA"},
        {"missing": [None]},
        {"missing": ["a\0"]},
        {"missing": [str(i) for i in range(MOST_MARKERS + 1)]},
    ],
)
def test_words_that_say_no_form(words: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        text_form(**words)


SAID: dict[str, Any] = {
    "decimal": ",", "thousands": ".", "units": ["CHF", "Franken"], "percent": True, "negative": "parentheses",
    "date": "%d.%m.%Y", "missing": ["-", "k. A."],
}  # fmt: skip


def test_what_was_said_of_cells() -> None:
    assert {*SAID} == {*CELL_WORDS}
    assert cell_form({}) == CellForm()
    assert cell_form({}).given == {}
    form = cell_form(SAID)
    assert form.given == {**SAID, "units": ["Franken", "CHF"]}
    assert form.numbers == NumberForm(",", ".", ("Franken", "CHF"), percent=True, parentheses=True)
    assert form.dates == DateForm("%d.%m.%Y")
    assert cell_form(form.given) == form


@pytest.mark.parametrize("word", [word for word in CELL_WORDS if word not in ("date", "missing")])
def test_each_word_of_numbers_makes_them_strict(word: str) -> None:
    form = cell_form({word: SAID[word]})
    assert form.numbers is not None
    assert form.numbers.plain("1e5") is None
    assert form.dates is None
    assert cell_form({"date": "excel"}).numbers is None


def test_the_words_of_a_column_replace_those_of_its_file() -> None:
    of_file = cell_form({"decimal": ",", "thousands": ".", "percent": True, "units": ["kg"]})
    own = of_file.replaced_by(cell_form({"percent": False, "units": [], "thousands": ""}))
    assert own.numbers == NumberForm(",")
    assert of_file.replaced_by(CellForm()) == of_file
    with pytest.raises(InvalidArgument, match="two signs"):
        of_file.replaced_by(cell_form({"decimal": "."}))
    assert of_file.replaced_by(cell_form({"decimal": ".", "thousands": ","})).decimal == "."


def test_a_use_has_its_reading() -> None:
    form = cell_form(SAID)
    assert form.reading(None) is None
    assert form.numbers is not None
    assert form.dates is not None
    assert form.reading("number") == CellReading(form.numbers, ("-", "k. A."))
    assert form.reading("naive") == form.reading("zoned") == CellReading(form.dates, ("-", "k. A."))
    assert cell_form({"missing": ["-"]}).reading("number") is None


def test_a_marker_stands_for_a_missing_cell(tmp_path: Path) -> None:
    reading = cell_form({"decimal": ",", "missing": ["-", "0", "k. A."]}).reading("number")
    assert reading is not None
    cells = ["-", "0", "00", "1,5", "k. A.", "k. A. ", "", "x"]
    (tmp_path / "t.csv").write_text("".join(f"{cell};\n" for cell in cells))
    form = TextForm(delimiter=";")
    records = TextRecords(tmp_path / "t.csv", form, "utf-8", 0, (0, 1), 0, readings=(reading, None))
    for functions in (reader_library.open_reader(), None):
        with patch.object(reader_library, "open_reader", partial(get, functions)):
            read = pa.RecordBatchReader._import_from_c_capsule(
                records.__arrow_c_stream__()
            ).read_all()
        assert read.column(0).to_pylist() == ["", "", "0", "1.5", "", "?", "", "?"]


def get(functions: Any) -> Any:
    return functions


@pytest.mark.parametrize("missing", ["NA", [1], ["\0"], ["\ud800"], ["x" * 1001], ["x"] * 101])
def test_markers_that_are_none(missing: Any) -> None:
    with pytest.raises(InvalidArgument, match="missing"):
        cell_form({"missing": missing})
