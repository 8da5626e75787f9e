"""Options that several commands share: candidates, in one option or several."""

import json
from pathlib import Path

import pytest

import discreet
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


@pytest.mark.parametrize("numbers", ["12,3", '"12,0",3', "12.0,3"])
def test_numbers_count_in_the_form_of_the_file(
    numbers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same as the numbers of Python: 12 is 12,0, too."""
    file = tmp_path / "paid.csv"
    file.write_text("id;paid\n1;12,0\n2;12\n3;12,5\n4;3\n")
    form = ["--csv", "decimal=,", "--epsilon", "99", "--json"]
    assert run(["counts", str(file), "paid", "--candidates", numbers, *form]) == 0
    grouped = ["--by", "paid", "--groups", numbers]
    assert run(["count", str(file), *grouped, *form]) == 0
    [counts, groups] = map(json.loads, capsys.readouterr().out.splitlines())
    assert counts["value"] == groups["value"] == {"12": 2, "3": 1}
    data = discreet.scan_csv(file, decimal=",")
    same = discreet.counts(data, "paid", candidates=[12, 3], epsilon=99)
    assert same.value == {12: 2, 3: 1}


def test_candidates_may_come_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    one_by_one = [part for name in STATUS.split(",") for part in ("--candidates", name)]
    assert run([*MODE, *one_by_one, "--epsilon", "1"]) == 0
    assert capsys.readouterr().out.startswith("Married-civ-spouse\n")
