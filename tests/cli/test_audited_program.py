"""A mechanism of somebody's own on the command line, with its record."""

import json
from pathlib import Path

import pytest

from discreet.cli import run
from discreet.cli.audited_program import load_function, read_universe
from discreet.errors import InvalidArgument, UnreadableFile

PROGRAM = """
from fractions import Fraction
import beside

def response(records):
    odd = Fraction(3 if sum(records) % 2 else 1, 4)
    return {"odd": odd, "even": 1 - odd}
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(PROGRAM)
    Path("beside.py").write_text("")
    return "mine.py:response"


def test_a_claim_is_audited_and_its_record_repeated(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["audit", "mechanism", program, "--universe", "0,1", "--record", "record.txt"]
    assert run([*words, "--epsilon", "1.0987"]) == 0
    assert capsys.readouterr().out.startswith(
        "no counterexample among 12 pairs, which is not a proof\n"
    )
    assert run(["audit", "repeat", "record.txt", program]) == 0
    assert capsys.readouterr().out.endswith("as in the record\n")
    assert run([*words[:-2], "--epsilon", "1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["holds"] is False
    Path("mine.py").write_text(PROGRAM.replace("3 if", "2 if"))
    assert run(["audit", "repeat", "record.txt", program, "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["differences"]) == 2


def test_records_of_people_are_said_to_be_so(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("records.txt").write_text("3\n4\n3\n")
    words = ["audit", "mechanism", program, "--records", "records.txt", "--epsilon", "2"]
    assert run(words) == 2
    assert "add --private" in capsys.readouterr().err
    assert run([*words, "--private", "--record", "record.txt"]) == 0
    assert "PRIVATE" in Path("record.txt").read_text().splitlines()[0]


def test_records_are_numbers_or_texts(tmp_path: Path) -> None:
    assert read_universe("0, 1.5,tea", None, private=False) == [0, 1.5, "tea"]
    assert read_universe('["0", 1, null]', None, private=False) == ["0", 1, None]
    for wrong in ("[1,", None):
        with pytest.raises(InvalidArgument):
            read_universe(wrong, None, private=False)
    with pytest.raises(InvalidArgument):
        read_universe("1", tmp_path, private=True)
    with pytest.raises(UnreadableFile):
        read_universe(None, tmp_path / "none", private=True)


@pytest.mark.parametrize(
    "words", ["mine.py", "mine.py:no name", "mine.txt:response", "mine.py:other"]
)
def test_what_names_no_function_is_refused(program: str, words: str) -> None:
    with pytest.raises(InvalidArgument):
        load_function(words)


def test_a_program_that_does_not_run_is_said(program: str) -> None:
    Path("broken.py").write_text("1 / 0")
    with pytest.raises(UnreadableFile, match="raises ZeroDivisionError"):
        load_function("broken.py:response")
    with pytest.raises(UnreadableFile, match="cannot be read"):
        load_function("none.py:response")


def test_a_record_does_not_take_the_place_of_its_program(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["audit", "mechanism", program, "--universe", "0,1", "--epsilon", "2", "--record"]
    assert run([*words, "mine.py"]) == 2
    assert "take the place of the program" in capsys.readouterr().err
    assert Path("mine.py").read_text() == PROGRAM


def test_what_no_record_can_hold_is_refused_before_the_program_runs(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.py").write_text("print('it runs')")
    words = ["audit", "mechanism", program, "--universe", "0,NaN", "--epsilon", "2"]
    assert run([*words, "--record", "record.txt"]) == 2
    assert capsys.readouterr().out == ""


def test_records_of_a_file_are_told_apart_by_their_text(tmp_path: Path) -> None:
    (tmp_path / "records.txt").write_text("1\ntrue\n1.0\n1\n")
    records = read_universe(None, tmp_path / "records.txt", private=True)
    assert [(type(record), record) for record in records] == [(int, 1), (bool, True), (float, 1.0)]
