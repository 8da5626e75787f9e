"""What a text of the data may do to whoever reads it: nothing."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from discreet import Release
from discreet.base.escapes import visible_text
from discreet.base.text_tables import TextTable, fact_table
from discreet.cli.answer_output import show_release
from discreet.privacy import PureDP
from discreet.selection.shown_answers import answer_in_words
from discreet.study.reports import report

from ..selection.test_released_values import HOSTILE

PROMISE = PureDP(Fraction(1), "add_remove")
INVISIBLE = ("\x1b", "\x00", "\r", "\u202e", "\u2066", "\ud800", "\u2028", "\t")


@pytest.mark.parametrize("text", HOSTILE)
def test_every_character_is_seen(text: str) -> None:
    shown = visible_text(text)
    assert shown.isprintable()
    assert shown == text or not text.isprintable()
    assert visible_text("a\nb\x1b", keep="\n") == "a\nb\\x1b"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_answer_is_seen_wherever_it_is_shown(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in (text, [text, "b"], {text: 3}, {"a": [text]}):
        release = Release(value, PROMISE, "keys", query="keys of city")
        shown = [str(release), repr(release), answer_in_words(value), release._repr_html_()]
        for as_json in (False, True):
            show_release(release, {}, as_json=as_json)
            printed = capsys.readouterr().out
            if as_json and text != "\ud800\udc00":  # which JSON joins
                assert json.loads(printed)["value"] == value
            shown.append(printed)
        for one in shown:
            assert not any(letter in one for letter in INVISIBLE)
        assert all(one.count("\n") <= 2 for one in shown[:3])
        assert "<script>" not in shown[3]


def test_a_hostile_answer_adds_no_line_to_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    release = Release({"a\nBern: 7": 1, "b": 2}, PROMISE, "keys", query="keys of city")
    show_release(release, {}, as_json=False)
    assert capsys.readouterr().out.splitlines() == ["a\\nBern: 7: 1", "b: 2"]


@pytest.mark.parametrize("text", HOSTILE)
def test_tables_show_every_character(text: str) -> None:
    table = TextTable(("key", "count"), ((text, "3"),), "keys")
    pages = [table.html(), fact_table("keys", {text: text}).html()]
    for shown in (str(table), *pages):
        assert not any(letter in shown for letter in INVISIBLE)
    assert not any("<script>" in page for page in pages)
    assert len(str(table).splitlines()) == 3


@pytest.mark.parametrize("text", HOSTILE)
def test_a_report_shows_every_character(text: str, tmp_path: Path) -> None:
    release = Release([text, "b"], PROMISE, "keys", query="keys of city")
    page = report(release, tmp_path / "release.html").read_text("utf-8")
    assert not any(letter in page for letter in INVISIBLE if letter != "\t")
    assert "<script>alert" not in page
