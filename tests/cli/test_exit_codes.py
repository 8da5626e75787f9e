"""How the command line ends: a code for every kind of failure, and a message that names the fix."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet import errors
from discreet.cli import exit_codes, run

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "marital_status.csv")
ASKED = ["--candidates", "Divorced,Widowed", "--epsilon", "1"]


def test_the_codes_are_stable() -> None:
    assert [each.code for each in exit_codes.EXIT_CODES] == [0, 1, 2, 3, 4, 5, 6, 7, 130, 143]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InvalidArgument("x"), 2),
        (errors.UnknownName("x"), 2),
        (errors.UnknownBudget("x"), 2),
        (errors.RequestConflict("x"), 2),
        (errors.MissingPackage("x"), 2),
        (errors.UnreadableFile("x"), 3),
        (errors.MissingColumn("x"), 3),
        (errors.InvalidScores("x"), 3),
        (errors.Exhausted("x"), 4),
        (errors.LedgerCorrupt("x"), 5),
        (errors.LedgerBusy("x"), 6),
        (errors.LedgerUnwritable("x"), 6),
        (errors.LedgerTooNew("x"), 6),
        (errors.ReportUnwritable("x"), 7),
        (OSError(28, "No space left on device"), 7),
    ],
)
def test_every_class_of_error_has_a_code(error: Exception, code: int) -> None:
    assert exit_codes.exit_code(error) == code


def test_the_help_and_the_reference_list_the_codes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    for each in exit_codes.EXIT_CODES:
        assert f"{each.code:5}  {each.meaning}\n" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("data", "column", "message"),
    [
        (EXAMPLE, "status", "there is no column 'status'"),
        ("missing.csv", "c", "missing.csv does not exist"),
        (__file__, "c", "Give --format csv"),
    ],
)
def test_data_that_cannot_be_read(
    data: str, column: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["mode", data, column, *ASKED]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("discreet: ")
    assert err.count("\n") == 1
    assert message in err


def test_scores_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--scores", "missing.csv", "--column", "c", "--error", "1"]) == 3
    assert "missing.csv does not exist" in capsys.readouterr().err


def test_a_failure_after_the_charge_says_how_to_ask_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["ledger", "open", "budget.db", "--dataset", "p", "--epsilon", "1"]) == 0
    paid = ["--ledger", "budget.db", "--dataset", "p", "--request", "monday"]

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("discreet.ledger.purchase.read_indices", interrupted)
        assert run(["mode", EXAMPLE, "marital_status", *ASKED, *paid]) == 130
    assert "this is paid: retry with --request monday at no cost" in capsys.readouterr().err
    assert run(["mode", EXAMPLE, "marital_status", *ASKED, *paid]) == 0
    out, err = capsys.readouterr()
    assert out in {"Divorced\n", "Widowed\n"}
    assert err.endswith("free: this request was charged before, and nothing was charged now\n")


def test_an_answer_into_a_pipe_that_is_closed_exits_with_7_and_no_word() -> None:
    """1 would be a false claim."""
    reader, writer = os.pipe()
    os.close(reader)
    program = [sys.executable, "-m", "discreet", "attack", "--list"]
    with open(writer, "wb") as pipe:
        ended = subprocess.run(program, stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (7, b"")
