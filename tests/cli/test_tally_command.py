"""discreet tally: shows what was asked without a ledger, and forgets it."""

import json
from pathlib import Path

import pytest

from discreet.cli.application import run_command
from discreet.tables.datasets import tally

ASK = ["mode", "people.csv", "city", "--candidates", "Bern,Basel", "--epsilon"]


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("city\n" + "Bern\n" * 40)


def test_it_is_shown_and_cleared(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([*ASK, "1"]) == run_command([*ASK, "1/2"]) == 0
    capsys.readouterr()
    assert run_command(["tally"]) == 0
    shown = capsys.readouterr()
    assert shown.out.endswith(
        "people.csv: 2 answers about this file so far: ε = 1.5 together (add/remove one record)\n"
    )
    assert "stops nothing" in shown.err
    assert run_command(["tally", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row.pop("file").endswith("people.csv")
    assert row == {
        "answers": 2,
        "epsilon": "3/2",
        "delta": "0",
        "neighbors": "add_remove",
        "unit": None,
    }
    assert run_command(["tally", "--clear"]) == 0
    assert capsys.readouterr() == ("", "")
    path = tally.where()
    assert path is not None
    assert not Path(path).exists()
    assert run_command([*ASK, "1"]) == 0
    assert "about this file" not in capsys.readouterr().err


def test_nothing_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["tally"]) == run_command(["tally", "--clear"]) == 0
    assert capsys.readouterr().out == ""
    assert run_command(["tally", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
