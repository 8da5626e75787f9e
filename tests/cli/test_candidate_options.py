"""Candidates on the command line: in one option or several."""

from pathlib import Path

import pytest

from discreet.cli import run

from .test_application import MODE, STATUS


def test_candidates_with_commas_and_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "towns.csv"
    file.write_text('town,code\n"Lima, Peru",7\n' * 1 + '"Lima, Peru",7\n' * 200)
    command = ["mode", str(file), "--epsilon", "1"]
    assert run([*command, "town", "--candidates", 'Oslo, "Lima, Peru"']) == 0
    assert run([*command, "code", "--candidates", "6,7"]) == 0
    assert capsys.readouterr().out == "Lima, Peru\n7\n"


def test_candidates_may_come_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    one_by_one = [part for name in STATUS.split(",") for part in ("--candidates", name)]
    assert run([*MODE, *one_by_one, "--epsilon", "1"]) == 0
    assert capsys.readouterr().out.startswith("Married-civ-spouse\n")
