"""The longest answer that is given fits the length of every reply to a question, whatever its characters are."""

import json
import sys
from pathlib import Path

import pytest
from markupsafe import escape

from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.pages.page_routes import ANSWER_LENGTH
from discreet.service.queue.padding import LENGTH
from discreet.tables.templates import visible

from .person import Read, Served
from .test_hostile import quoted

MOST = 6
"""Bytes on a page for one character of JSON."""

TEXT = """
ledger = "budget.db"
[datasets.data]
source = "data.csv"
answers_after = "0s"
budget = {{ epsilon = "1000" }}
columns.c = {{ type = "string", enum = [{values}] }}
"""


def test_no_character_takes_more_bytes_than_are_allowed_for_it() -> None:
    letters = {*range(0x3000), *range(0x3000, sys.maxunicode + 1, 97)} - {*range(0xD800, 0xE000)}
    for letter in map(chr, sorted(letters)):
        shown = str(escape(visible(f"a{letter}"))).encode()
        assert len(shown) - 1 <= MOST * (len(json.dumps(letter)) - 2), hex(ord(letter))


def test_answers_and_what_stands_around_them_fit() -> None:
    assert MOST * LENGTH // 2 + LENGTH <= ANSWER_LENGTH


@pytest.mark.one_in(7)
@pytest.mark.parametrize("letter", ["\x7f", '"', "&", "é", "\u202e", "\U0001f600", "a"])
def test_the_longest_answers_have_the_length_of_all_others(
    letter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    value = letter * 150
    each = len(json.dumps(value + "00")) + 80  # and its count
    most = LENGTH // 2 // each
    values = [f"{value}{place:02x}" for place in range(most + 1)]
    text = TEXT.format(values=", ".join(map(quoted, values)))
    Path("discreet.toml").write_text(text, encoding="utf-8")
    cell = values[0].replace('"', '""')
    Path("data.csv").write_text(f'c\n"{cell}"\n', encoding="utf-8")
    open_described(configuration(), "data")
    served = Served(text, ())
    person = served.person("owner")
    statuses = []
    for k in range(most + 1, most - 20, -1):  # what is public in an answer counts too
        address = f"/plan?dataset=data&verb=top_k&column=c&epsilon=1&k={k}"
        reply = person.get(address)
        if reply.status_code == 200:  # it may be asked
            reply = person.submit(Read(reply.text).form("/ask"))
            assert len(reply.content) == ANSWER_LENGTH
        statuses.append(reply.status_code)
        if reply.status_code == 200:
            break
    assert {*statuses} == {422, 200}
