"""JSON on the command line: letters as they are, escapes for what a terminal would obey, and always JSON."""

import io
import json
import sys
import unicodedata
from pathlib import Path

import pytest

from discreet.cli import run
from discreet.cli.json_output import json_text, print_json


def test_letters_and_signs_stand_as_they_are() -> None:
    assert json_text({"ε": "größer, 中文, ½"}) == '{"ε": "größer, 中文, ½"}'


@pytest.mark.parametrize("category", ["Cc", "Cf", "Zl", "Zp", "Cs"])
def test_what_a_terminal_would_obey_is_escaped(category: str) -> None:
    signs = [chr(i) for i in range(0x110000) if unicodedata.category(chr(i)) == category]
    for sign in signs:
        text = json_text(f"a{sign}b")
        assert text.isascii(), hex(ord(sign))
        assert text.isprintable()
        assert json.loads(text) == f"a{sign}b"


def test_a_stdout_that_cannot_hold_the_letters_gets_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ("ascii", "cp1252", "utf-8"):
        stream = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream, encoding=encoding))
        print_json({"guarantee": "ε = 1, é"})
        sys.stdout.flush()
        assert json.loads(stream.getvalue().decode(encoding)) == {"guarantee": "ε = 1, é"}
        assert stream.getvalue().isascii() == (encoding != "utf-8")


def test_a_command_prints_its_promise_unescaped(capsys: pytest.CaptureFixture[str]) -> None:
    people = Path(__file__).parents[2] / "examples" / "people.csv"
    words = ["mode", str(people), "drink", "-c", "tea,coffee", "-e", "1", "--json"]
    assert run(words) == 0
    assert '"promise": "ε = 1' in capsys.readouterr().out
