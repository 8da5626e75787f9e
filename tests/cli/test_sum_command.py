"""discreet sum and mean."""

import json
from pathlib import Path

import pytest

from discreet.cli.application import run_command


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    path.write_text("who,age\n" + "ann,30\nbob,50\ncid,x\n" * 200, encoding="utf-8")
    return str(path)


BOUNDS = ["--minimum", "0", "--maximum", "100", "--epsilon", "10"]


def test_sums_and_means_are_printed(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["sum", table, "age", "--step", "1", *BOUNDS]) == 0
    assert abs(int(capsys.readouterr().out) - 16_000) < 500
    assert run_command(["mean", table, "age", *BOUNDS, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert abs(float(answer["value"]) - 40) < 2
    assert abs(answer["counts"] - 400) < 20
    assert answer["query"] == "mean of age, 0 to 100 by 0.001"


def test_mistakes_are_told(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["sum", table, "age", "--epsilon", "1"]) == 2
    assert "minimum and maximum are missing" in capsys.readouterr().err
    assert run_command(["mean", table, "age", *BOUNDS[:4], "--scale", "1"]) == 2
