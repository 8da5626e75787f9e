"""The form of a file of text: what is said is kept, and what says no form is refused."""

from typing import Any

import pytest

from discreet.errors import InvalidArgument
from discreet.tables.formats.text_form import (
    MOST_COLUMNS,
    MOST_MARKERS,
    MOST_SKIPPED,
    TextForm,
    text_form,
)


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
