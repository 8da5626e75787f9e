"""The form of a file of text: what is said is kept, and what says no form is refused."""

from typing import Any

import pytest

from discreet.errors import InvalidArgument
from discreet.tables.text_form import MOST_COLUMNS, TextForm, text_form


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ({}, {}),
        ({"delimiter": "\t", "quote": "'"}, {"delimiter": "\t", "quote": "'"}),
        ({"quote": '"', "multiline": True}, {}),
        ({"quote": "", "multiline": False}, {"quote": "", "multiline": False}),
        ({"names": ("a", "b")}, {"names": ["a", "b"]}),
        ({"encoding": "latin1"}, {"encoding": "iso8859-1"}),
    ],
)
def test_what_was_said(words: dict[str, Any], given: dict[str, Any]) -> None:
    form = text_form(**words)
    assert form.given == given
    assert text_form(**form.given) == form
    assert (form == TextForm()) == (not given)


@pytest.mark.parametrize("word", ["delimiter", "quote"])
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
    ],
)
def test_words_that_say_no_form(words: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        text_form(**words)
