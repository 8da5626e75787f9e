"""discreet audit and discreet attack, and audits of somebody's own mechanism with their records."""

import json
from pathlib import Path

import pytest

from discreet.cli import run
from discreet.cli.audit_command import load_function, read_universe
from discreet.errors import InvalidArgument, UnreadableFile

PAIR = ["audit", "exact", "--scores", "0,1,2", "--neighbor", "1,1,2", "--epsilon", "1"]


def test_a_claim_that_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PAIR, "--sensitivity", "1"]) == 0
    assert capsys.readouterr().out == (
        "claimed  ε = 1, bounded range: holds for this pair\n"
        "true     ε ≈ 0.39 (output 0), range ≈ 0.5\n"
        "δ at the claimed ε: 0\n"
    )


def test_a_false_claim_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PAIR, "--sensitivity", "1/3", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["holds"] is False
    assert found["range"] == "1.5"


@pytest.mark.parametrize("mechanism", ["base2", "permute_and_flip", "noisy_max"])
def test_every_mechanism_is_audited(mechanism: str) -> None:
    assert run([*PAIR, "--sensitivity", "1", "--mechanism", mechanism]) == 0
    assert (
        run(
            [
                *PAIR,
                "--spread",
                "1",
                "--mechanism",
                "noisy_max",
                "--mechanism-option",
                "noise=gumbel",
            ]
        )
        == 0
    )


def test_laws_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    laws = ["audit", "laws", "--law", "0.75, 0.25", "--neighbor", "0.25,0.75"]
    assert run([*laws, "--epsilon", "1.0987"]) == 0
    assert run([*laws, "--epsilon", "1"]) == 1
    assert run([*laws, "--epsilon", "1", "--delta", "0.08"]) == 0
    out = capsys.readouterr().out
    assert out.count("true     ε ≈ 1.0986 (output 0), range ≈ 2.2\n") == 1
    assert out.count("true     ε ≈ 1.1 (output 0), range ≈ 2.2\n") == 2
    assert out.count("δ at the claimed ε: 0.07\n") == 2
    assert out.count("FALSE") == 1


def test_draws_in_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("tea\n" * 400)
    two.write_text("coffee\n" * 400)
    assert run(["audit", "draws", str(one), str(two), "--epsilon", "1"]) == 1
    assert "ε = 1 is REFUTED" in capsys.readouterr().out
    assert run(["audit", "draws", str(one), str(one), "--epsilon", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["refuted"] is False
    assert run(["audit", "draws", str(one), str(tmp_path / "no.txt"), "--epsilon", "1"]) == 3
    assert "no.txt cannot be read as text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit"], "Missing command"),
        (
            ["audit", "exact", "--scores", "1,x", "--neighbor", "1,2"],
            "--scores must be a number such as 1",
        ),
        ([*PAIR], "give either sensitivity"),
        (
            ["audit", "laws", "--law", "1", "--neighbor", "0.5", "--epsilon", "1"],
            "sum to exactly one",
        ),
        (["attack", "magic"], "attack must be one of underflow, truncation"),
    ],
)
def test_errors_are_one_line_and_exit_with_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_help_fits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command in ("exact", "laws", "draws"):
        assert run(["audit", command, "--help"]) == 0
    assert run(["attack", "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_picture_of_what_each_output_tells(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "audit.svg"
    words = "audit exact --scores 0,1,2 --neighbor 1,1,2 --sensitivity 1 --epsilon 1 --plot"
    assert run([*words.split(), str(picture)]) == 0
    assert "<svg" in picture.read_text(encoding="utf-8")
    assert run([*words.split(), "audit.txt"]) == 2


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
