"""discreet count and counts."""

import json
from pathlib import Path

import pytest

from discreet.cli.application import run_command


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    path.write_text("who,drink\n" + "ann,tea\nann,milk\nbob,tea\ncid,\n" * 100, encoding="utf-8")
    return str(path)


def test_counts_are_printed_as_a_table_or_as_json(
    table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["count", table, "--epsilon", "10"]) == 0
    assert abs(int(capsys.readouterr().out) - 400) < 20
    assert run_command(["count", table, "drink", "--epsilon", "10"]) == 0
    assert abs(int(capsys.readouterr().out) - 300) < 20
    counts = ["counts", table, "drink", "--candidates", "tea,milk", "--epsilon", "10"]
    assert run_command(counts) == 0
    assert "tea " in capsys.readouterr().out
    assert run_command([*counts, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)["value"]
    assert list(value) == ["tea", "milk"]
    assert abs(value["tea"] - 200) < 20


def test_units_are_bounded_by_their_options(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    unit = ["--privacy-unit", "who", "--epsilon", "10", "--json"]
    assert run_command(["count", table, *unit]) == 0
    assert json.loads(capsys.readouterr().out)["value"] < 20
    counts = ["counts", table, "drink", "--candidates", "tea,milk", "--max-candidates", "1"]
    assert run_command([*counts, *unit]) == 0
    guarantee = json.loads(capsys.readouterr().out)["guarantee"]
    assert guarantee == {"kind": "pure_dp", "epsilon": "10", "neighbors": "add_remove"}


def test_mistakes_are_told(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["counts", table, "drink", "--candidates", "tea"]) == 2
    assert "how much privacy" in capsys.readouterr().err
    assert run_command(["count", table, "--mechanism", "base2", "--epsilon", "1"]) == 2


def test_several_columns_are_for_python(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ["counts", table, "who,drink", "--candidates", "tea", "--epsilon", "1"]
    twice = ["count", table, "--by", "who", "--by=drink", "--groups", "tea", "--epsilon", "1"]
    by = ["count", table, "--by", "who,drink", "--groups", "tea", "--epsilon", "1"]
    for arguments in (columns, by):
        assert run_command(arguments) == 3
        assert "several columns are a list, in Python" in capsys.readouterr().err
    assert run_command(twice) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--by takes one column, and it is there twice" in err
