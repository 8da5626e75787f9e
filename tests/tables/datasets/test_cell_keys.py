"""The form of the cells of a column, in discreet.toml and in Python: every question reads the same values."""

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import Dataset
from discreet.errors import InvalidDescription
from discreet.tables.datasets.cell_fits import check_cells
from discreet.tables.datasets.cell_keys import CELL_KEYS
from discreet.tables.datasets.configuration import read_configuration
from discreet.tables.formats.text_form import CELL_WORDS, scan_csv

ROWS = """who;place;day;seen;share;paid
a;1.000;31.12.2023;45292,5;5%;CHF 2,50
b;1000;1.1.2024;45292;50 %;2,5
c;2.000;01.01.2024;60;0,5;(2,50)
c;2000;32.01.2024;;100%;3 EUR
d;12.5;2024-01-01;45293,25;5%;Fr. 1.000
e;;;x;;
"""
COLUMNS: dict[str, Any] = {
    "who": {"type": "string"},
    "place": {"type": "integer", "minimum": 1000, "maximum": 2000, "thousands": "."},
    "day": {"type": "date", "minimum": "2023-12-30", "maximum": "2024-01-01"},
    "seen": {"type": "datetime", "date": "excel", "minimum": "2024-01-01T00:00", "maximum": "2024-01-31T00:00"},
    "share": {"type": "number", "percent": True, "enum": ["0.05", "0.5", "1"]},
    "paid": {"type": "number", "units": ["CHF", "Fr."], "negative": "parentheses", "thousands": ".",
             "minimum": -5, "maximum": 5},
}  # fmt: skip


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


@pytest.fixture
def described(visits: Path) -> Dataset:
    return Dataset(scan_csv(visits, decimal=",", date="%d.%m.%Y"), COLUMNS)


def test_the_words_are_those_of_the_form_of_cells() -> None:
    assert {*CELL_KEYS} == {*CELL_WORDS}


def counts(data: Any, column: str, **words: Any) -> list[int]:
    return [*discreet.counts(data, column, epsilon=10_000, **words).value.values()]


@pytest.mark.filterwarnings("ignore:ε")
def test_values_are_counted_by_what_cells_spell(described: Dataset) -> None:
    assert counts(described, "place", candidates=[1000, 1500, 2000]) == [2, 0, 2]
    assert counts(described, "day") == [0, 1, 2]
    assert counts(described, "share") == [2, 1, 1]
    assert counts(described, "paid", candidates=[Decimal("2.50"), Decimal("-2.5"), 1000][:2]) == [
        2,
        1,
    ]
    assert discreet.mode(described, "day", epsilon=10_000).value == dt.date(2024, 1, 1)


@pytest.mark.filterwarnings("ignore:ε")
def test_numbers_and_times_are_those_values(described: Dataset) -> None:
    assert discreet.count(described, where="place = 2000", epsilon=10_000).value == 2
    assert discreet.count(described, where="day = DATE '2024-01-01'", epsilon=10_000).value == 2
    assert (
        discreet.count(
            described, where="seen > TIMESTAMP '2024-01-01 06:00:00'", epsilon=10_000
        ).value
        == 2
    )
    assert discreet.count(described, where="share = 0.05 AND paid > 2", epsilon=10_000).value == 2
    assert discreet.median(described, "day", epsilon=10_000).value == dt.date(2024, 1, 1)
    total = discreet.sum(described, "paid", step="0.5", epsilon=10**6).value
    assert float(total) == pytest.approx(2.5 + 2.5 - 2.5 + 5, abs=0.01)


@pytest.mark.filterwarnings("ignore:ε")
def test_groups_are_those_values(described: Dataset) -> None:
    by_day = discreet.count(described, by="day", epsilon=10_000).value
    assert by_day == {dt.date(2023, 12, 30): 0, dt.date(2023, 12, 31): 1, dt.date(2024, 1, 1): 2}
    by_place = discreet.count(described, by="place", groups=[1000, 2000], epsilon=10_000).value
    assert by_place == {1000: 2, 2000: 2}


@pytest.mark.filterwarnings("ignore:ε", "ignore:δ")
def test_keys_are_those_values_and_what_spells_none_is_no_key(visits: Path) -> None:
    rows = "who;day\n" + "".join(f"p{i};{day}\n" for i in range(300) for day in ["1.1.2024", "x"])
    visits.write_text(rows, encoding="utf-8")
    columns = {"day": {"type": "date", "date": "%d.%m.%Y"}, "who": {"type": "string"}}
    data = Dataset(visits, columns, privacy_unit="who", max_contributions=2)
    keys = discreet.keys(data, "day", epsilon=100, delta=0.01, max_groups=2).value
    assert [*map(str, keys)] == ["2024-01-01"]


@pytest.mark.filterwarnings("ignore:ε")
def test_ids_are_texts(visits: Path) -> None:
    data = Dataset(
        scan_csv(visits, thousands="."),
        {"place": {"type": "integer"}, "who": {"type": "string"}},
        privacy_unit="place",
    )
    # 1.000 and 1000 are two persons: of two none may become one.
    assert discreet.count(data, epsilon=10_000).value == 5


def test_check_counts_what_the_answers_count(described: Dataset) -> None:
    found = {
        name: (one.fits, one.out_of_range, one.other_type, one.missing, one.unreadable)
        for name, one in check_cells(described).items()
    }
    assert found == {
        "who": (6, 0, 0, 0, 0), "place": (4, 0, 1, 1, 0), "day": (3, 0, 2, 1, 0), "seen": (3, 0, 2, 1, 0),
        "share": (4, 0, 1, 1, 0), "paid": (3, 1, 1, 1, 0),
    }  # fmt: skip


def test_discreet_toml_says_the_same(visits: Path, tmp_path: Path) -> None:
    toml = tmp_path / "discreet.toml"
    toml.write_text(
        '[datasets.visits]\nsource = "visits.csv"\ncsv = {decimal = ",", date = "%d.%m.%Y"}\n'
        'columns.place = {type = "integer", thousands = "."}\ncolumns.day = {type = "date"}\n'
        'columns.paid = {type = "number", units = ["CHF", "Fr."], negative = "parentheses", thousands = "."}\n'
    )
    dataset = read_configuration(toml).datasets["visits"]
    found = check_cells(dataset)
    assert [found[name].fits for name in ("place", "day", "paid")] == [4, 3, 4]
    assert dataset.columns["place"].form.given == {"thousands": "."}


def test_the_form_is_part_of_what_is_declared(visits: Path) -> None:
    plain, other = (
        Dataset(visits, {"paid": {"type": "number", **words}}) for words in ({}, {"decimal": ","})
    )
    assert plain.digest != other.digest
    assert plain.whereabouts == other.whereabouts
    assert plain.table == visits


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"type": "number", "decimal": ";"}, "columns.x.decimal"), ({"type": "number",
        "units": ["5"]}, "columns.x.units"),
        ({"type": "number", "decimal": ".", "thousands": "."}, "two signs"), ({"type": "number",
        "thousands": ","}, "two signs"),
        ({"type": "date", "date": "%d %b %Y"}, "%b"), ({"type": "date", "date": "%d.%m.%Y %H:%M"}, "as datetime"),
        ({"type": "datetime", "date": "%d.%m.%Y"}, "as date"), ({"type": "string", "decimal": ","}, "decimal"),
        ({"type": "date", "percent": True}, "percent"), ({"type": "number", "percent": "yes"}, "percent"),
    ],
)  # fmt: skip
def test_forms_of_columns_that_are_none_are_refused(
    visits: Path, column: Any, message: str
) -> None:
    with pytest.raises(InvalidDescription) as caught:
        Dataset(scan_csv(visits, decimal=","), {"x": column})
    assert message in str(caught.value)


def test_only_files_of_text_have_a_form(visits: Path) -> None:
    column: Any = {"paid": {"type": "number", "decimal": ","}}
    for source in ["people.parquet", "people.jsonl", {"paid": ["1,5"]}, [visits, "people.parquet"]]:
        with pytest.raises(
            InvalidDescription, match=r"columns\.paid\.decimal: it is of a CSV file"
        ):
            Dataset(source, column)
    assert Dataset([visits], column).table[0].form.column("paid").use == "number"
