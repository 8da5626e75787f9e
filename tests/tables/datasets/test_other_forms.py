"""Words that the owner may have left out: counted for the owner, and never taken from rows."""

from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.cli import run
from discreet.tables.datasets.cell_fits import check_cells
from discreet.tables.datasets.other_forms import Words, other_forms

NUMBER: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 10**6}
CASES: dict[str, tuple[list[str], dict[str, Any], tuple[int, list[Words]] | None]] = {
    "a decimal comma": (["1,5", "2,25", "3"], NUMBER, (2, [{"decimal": ","}])),
    "groups and a comma": (
        ["1.234,5", "3,5", "-"], NUMBER, (2, [{"decimal": ",", "thousands": "."}]),
    ),
    "groups by a comma": (["1,234", "12,000,000"], NUMBER, (2, [{"thousands": ","}])),
    "groups by an apostrophe": (["1'234.5", "7"], NUMBER, (1, [{"thousands": "'"}])),
    "groups by a blank": (["1\u202f234", "7"], NUMBER, (1, [{"thousands": " "}])),
    "groups by a blank and a comma": (
        ["1 234,5"], NUMBER, (1, [{"decimal": ",", "thousands": " "}]),
    ),
    "a comma of two meanings": (
        ["1,234", "2,500"], NUMBER, (2, [{"decimal": ","}, {"thousands": ","}]),
    ),
    "whole numbers have one": (
        ["1,234", "2,500"], {**NUMBER, "type": "integer"}, (2, [{"thousands": ","}]),
    ),
    "percent": (["5 %", "7%"], NUMBER, (2, [{"percent": True}])),
    "percent and a comma": (["5,5 %"], NUMBER, (1, [{"decimal": ",", "percent": True}])),
    "a word is there already": (
        ["1.234,5", "3,5"], {**NUMBER, "decimal": ","}, (1, [{"decimal": ",", "thousands": "."}]),
    ),
    "no number": (["x", "31.12.2024", "1e5"], NUMBER, None),
    "numbers": (["1", "2.5", ""], NUMBER, None),
    "texts": (["1,5"], {"type": "string", "enum": ["a"]}, None),
}  # fmt: skip


def described(folder: Path, case: str) -> discreet.Dataset:
    cells, column, _ = CASES[case]
    (folder / "t.csv").write_text(
        "\n".join(["a;b", *(f"{one};1" for one in cells)]), encoding="utf-8"
    )
    form = discreet.scan_csv(folder / "t.csv", delimiter=";")
    return discreet.Dataset(form, {"a": column, "b": {"type": "integer"}})


@pytest.mark.parametrize("case", CASES)
def test_the_words_by_which_most_cells_are_numbers(case: str, tmp_path: Path) -> None:
    dataset, expected = described(tmp_path, case), CASES[case][2]
    assert other_forms(dataset, check_cells(dataset)) == (
        {} if expected is None else {"a": expected}
    )


def test_a_word_that_one_column_cannot_take_is_tried_for_others(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a;b\n1.234,5;"1,234"\n')
    form = discreet.scan_csv(tmp_path / "t.csv", delimiter=";")
    dataset = discreet.Dataset(form, {"a": {**NUMBER, "decimal": ","}, "b": {"type": "integer"}})
    found = other_forms(dataset, check_cells(dataset))
    assert found == {"a": (1, [{"decimal": ",", "thousands": "."}]), "b": (1, [{"thousands": ","}])}


def test_json_has_no_such_words(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": "1,5"}\n')
    dataset = discreet.Dataset(tmp_path / "t.jsonl", {"a": NUMBER})
    assert other_forms(dataset, check_cells(dataset)) == {}


def test_check_shows_them_to_the_owner_and_no_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a;b\n71,625;x\n2,5;y\n")
    (tmp_path / "discreet.toml").write_text(
        '[datasets.t]\nsource = "t.csv"\ncolumns.a = { type = "integer", minimum = 0, maximum = 9 }\n'
        'columns.b = { type = "number", minimum = 0, maximum = 9 }\n'
    )
    assert run(["check", "t", "--not-private"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == (
        'a: numbers among the cells of another type, with thousands = ",": 1. Say it, as csv.KEY in discreet.toml '
        "or at the column"
    )
    assert not any("71" in line or "625" in line for line in lines)
