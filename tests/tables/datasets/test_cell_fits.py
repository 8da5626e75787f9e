"""How many cells do not fit: counted exactly, said loudly, and only when asked for on purpose.

Words that the owner may have left out are counted for the owner, and never taken from rows.
"""

from collections import Counter
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import Dataset
from discreet.cli import run
from discreet.errors import InvalidArgument, MissingColumn
from discreet.tables.datasets.cell_fits import Words, check_cells, other_forms, record_fits
from discreet.tables.engines.fits import CellCounts
from discreet.tables.values.ids import start_of_rule

from ...engines import ENGINES

COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "city": {"type": "string", "enum": ["Basel", "Bern"]},
    "rate": {"type": "number", "enum": [0.1, 0.5]},
}
AGES = ["30", "old", "-1", "500", "7.5", "120", ""]
CITIES = ["Basel", "Bern", "Genf", "Genf", "bern", "Bern", ""]
RATES = ["0.1", "0.5", "0.2", "x", "0.10", "1e-1", ""]


def figures(dataset: Dataset) -> dict[str, tuple[int, ...]]:
    """The cells of each class: fit, out of range, of another type, missing, unreadable."""
    return {name: astuple(counts) for name, counts in check_cells(dataset).items()}


def test_cells_of_a_text_file_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    rows = zip(AGES, CITIES, RATES, strict=True)
    file.write_text("age,city,rate\n" + "\n".join(map(",".join, rows)) + "\n")
    assert figures(Dataset(file, COLUMNS)) == {
        "age": (2, 2, 2, 1, 0), "city": (3, 3, 0, 1, 0), "rate": (2, 3, 1, 1, 0),
    }  # fmt: skip


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_cells_of_a_typed_table_are_counted(make: Any) -> None:
    rows = {
        "age": [30, -1, 500, None, 30],
        "city": ["Bern", "Genf", "Genf", None, "x"],
        "rate": [0.1, 0.5, 0.3, None, 0.3],
    }
    assert figures(Dataset(make(rows), COLUMNS)) == {
        "age": (2, 2, 0, 1, 0), "city": (1, 3, 0, 1, 0), "rate": (2, 2, 0, 1, 0),
    }  # fmt: skip


def test_columns_that_are_not_there_are_named() -> None:
    with pytest.raises(MissingColumn, match="city"):
        check_cells(Dataset(pl.DataFrame({"age": [1]}), COLUMNS))


def test_the_command_is_loud_and_asks_for_purpose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "discreet.toml").write_text(
        '[datasets.people]\nsource = "rows.csv"\ncolumns.age = { type = "integer", minimum = 0, maximum = 120 }\n'
    )
    (tmp_path / "rows.csv").write_text("age\n30\nold\n500\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    assert run(["check", "people"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--not-private" in err
    assert run(["check", "people", "--not-private"]) == 1
    out, err = capsys.readouterr()
    assert "NOT PRIVATE" in err
    assert out.splitlines()[-1] == "0 records span several lines"
    assert out.splitlines()[-2].split()[-5:] == ["1", "1", "1", "0", "0"]
    (tmp_path / "rows.csv").write_text("age\n30\n")
    assert run(["check", "people", "--not-private"]) == 0


# --- the counts of records


def stay(kinds: list[str], person: str, most: int) -> list[str]:
    """The cells of a unit that count, by the rule of user_level_privacy.md."""
    m, start = len(kinds), start_of_rule(person)
    return [kind for j, kind in enumerate(sorted(kinds)) if (j * most + start) % m < min(most, m)]


PERSONS: dict[str | None, list[int | None]] = {
    "a": [1, 2, 3, 99, 99, None, None, None, 5],
    "b": [1],
    "c": [None, None],
    "d": [99, 98, 97, 1, 1, 1, 1, 1],
    "e": [],
    None: [1, 2, 99],
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("most", [1, 3, 20])
@pytest.mark.one_in(3)
def test_the_cells_of_a_unit_are_bounded_whatever_they_hold(
    engine: str, most: int, tmp_path: Path
) -> None:
    rows = [(person, cell) for person, cells in PERSONS.items() for cell in cells]
    table = pa.table(
        {"u": [u for u, _ in rows], "c": pa.array([cell for _, cell in rows], pa.int64())}
    )
    data = ENGINES[engine](table, tmp_path)
    column = {"c": {"type": "integer", "minimum": 1, "maximum": 50}}
    expected = Counter[str]()
    for person, cells in PERSONS.items():
        if person is not None:
            kinds = ["c" if cell is None else "a" if cell <= 50 else "b" for cell in cells]
            expected.update(stay(kinds, person, most))
    dataset = Dataset(data, column, privacy_unit="u", max_contributions=most)
    assert record_fits(dataset, "c") == CellCounts(expected["a"], expected["b"], 0, expected["c"])
    assert record_fits(Dataset(data, column), "c") == CellCounts(12, 6, 0, 5)


def test_a_unit_without_a_bound_is_refused() -> None:
    dataset = Dataset(
        pl.DataFrame({"age": [1], "u": ["a"]}), {"age": COLUMNS["age"]}, privacy_unit="u"
    )
    with pytest.raises(InvalidArgument, match="max_contributions"):
        record_fits(dataset, "age")
    with pytest.raises(MissingColumn, match="agee"):
        record_fits(dataset, "agee")


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
