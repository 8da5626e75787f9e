"""How many records a table has, where no column is named: of files the rows alone, else by any column."""

import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.errors import InvalidArgument, UnreadableFile
from discreet.tables.conditions.condition_readers import read_condition
from discreet.tables.datasets.configuration import read_configuration
from discreet.tables.engines import csv_files, files
from discreet.tables.engines.column import RecordCounts
from discreet.tables.engines.column_list import list_columns
from discreet.tables.engines.records import Records

TABLE = {"who": ["a", "b", "b", None], "n": [1.0, float("nan"), None, 2.0]}


def sizes(data: Any, column: str | None = None, **records: Any) -> list[int]:
    return RecordCounts(data, column, Records(**records)).by_group()


@pytest.mark.parametrize(
    "data",
    [
        TABLE, pl.DataFrame(TABLE), pl.DataFrame(TABLE).lazy(), pd.DataFrame(TABLE), pa.table(TABLE),
        duckdb.from_arrow(pa.table(TABLE)), pl.DataFrame(TABLE).rows(named=True), [1, None, 2, "x"],
        np.zeros(4), np.zeros(4, dtype=[("a", "i8"), ("b", "f8")]), pl.Series([1, 2, None, 4]),
        pd.Series([1, 2, 3, 4]), pa.array([1, 2, 3, None]),
    ],
    ids=lambda data: type(data).__name__,
)  # fmt: skip
def test_all_rows_of_any_table_are_counted(data: Any) -> None:
    assert sizes(data) == [4]


def test_rows_of_files_are_counted_by_their_header_or_their_schema(tmp_path: Path) -> None:
    frame = pl.DataFrame(TABLE)
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    frame.write_ndjson(tmp_path / "a.jsonl")
    assert sizes(tmp_path / "a.parquet") == sizes(str(tmp_path / "a.csv")) == [4]
    assert sizes(tmp_path / "a.jsonl") == [4]
    assert sizes(tmp_path / "a.jsonl", "who") == [3]
    with pytest.raises(UnreadableFile):
        sizes(tmp_path / "missing.csv")


HEADERS = {
    "index": ",sex,age",
    "years": "country,1990,2000",
    "numbers": "1,2,3",
    "none": ",,",
    "twice": "a,a,a",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_rows_of_text_files_need_no_names(header: str, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"{header}\n1,m,30\n2,f,31\n3,m,\n", encoding="utf-8")
    assert sizes(file) == sizes([file]) == sizes(str(tmp_path / "*.csv")) == sizes(tmp_path) == [3]
    named = discreet.scan_csv(file, names=["first", "second", "third"])
    assert sizes(named) == sizes([named]) == [4]  # the first line is a row
    assert sizes(named, where=read_condition("third = '30'")) == [1]


def test_a_file_with_names_is_not_opened_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("Anna Muster,Bern\n", encoding="utf-8")
    monkeypatch.setattr(csv_files, "start_bytes", None)
    data = discreet.scan_csv(file, names=["name", "city"])
    described = discreet.Dataset(data, {"city": {"type": "string", "enum": ["Bern"]}})
    for source in (data, [data], [data, discreet.scan_csv(file, names=["name", "city"])][:1]):
        assert sizes(source) == [1]
        assert list_columns(source) == files.shown_names(source) == ["name", "city"]
        assert files.schema(source, header=False) == {"name": None, "city": None}
    assert discreet.count(described, epsilon=100).value == 1


NAMES = ["name", "city", "age"]
SPELLED: dict[str, Callable[[Path], Any]] = {
    "names": lambda file: discreet.scan_csv(file, names=NAMES),
    "a list with names": lambda file: [discreet.scan_csv(file, names=NAMES)],
    "path": lambda file: file,
    "a list": lambda file: [file],
    "text": str,
    "folder": lambda file: file.parent,
}


@pytest.mark.filterwarnings("ignore:the first line is taken")
@pytest.mark.parametrize("spelled", SPELLED)
def test_no_error_shows_a_row(spelled: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("zq7 Anna,zq7 Bern,41\nzq7 Ben,zq7 Basel,4\n")
    asks: list[Callable[[Any], object]] = [
        partial(discreet.count, epsilon=1),
        partial(discreet.count, column="nam", epsilon=1),
        partial(discreet.count, by="nam", groups=["x"], epsilon=1),
        partial(discreet.count, privacy_unit="nam", epsilon=1),
        partial(discreet.count, where="nam = 'x'", epsilon=1),
        partial(discreet.profile, epsilon=1),
        partial(discreet.profile, columns=["nam"], epsilon=1),
        partial(discreet.mode, column="nam", candidates=["x"], epsilon=1),
        partial(discreet.median, column="nam", candidates=discreet.Grid(0, 5), epsilon=1),
    ]
    refusals = [
        one for one in map(partial(refusal, SPELLED[spelled](tmp_path / "a.csv")), asks) if one
    ]
    assert len(refusals) > 5
    for error in refusals:
        assert_no_canary(error)
    if "names" in spelled:
        assert "did you mean 'name'?" in str(refusals[0])


def refusal(data: Any, ask: Callable[[Any], object]) -> BaseException | None:
    try:
        ask(data)
    except discreet.errors.DiscreetError as error:
        return error
    return None


def assert_no_canary(error: BaseException) -> None:
    assert error.__cause__ is None
    assert "zq7" not in "".join(traceback.format_exception(error)) + repr(vars(error)), error


LISTS: dict[str, Callable[[Path], Any]] = {
    "paths": lambda f: [f / "a.csv", f / "b.csv"],
    "forms": lambda f: [discreet.scan_csv(f / "a.csv"), discreet.scan_csv(f / "b.csv")],
    "texts": lambda f: [str(f / "a.csv"), str(f / "b.csv")],
    "tuple": lambda f: (str(f / "a.csv"), f / "b.csv"),
    "mixture of paths": lambda f: [f / "a.csv", str(f / "sub")],
    "folders": lambda f: [f / "sub", f / "a.csv"],
    "patterns": lambda f: [f"{f}/a*.csv", f"{f}/b*.csv"],
    "described": lambda f: discreet.Dataset(
        [str(f / "a.csv"), str(f / "b.csv")], {"n": {"type": "integer"}}
    ),
    "described folders": lambda f: discreet.Dataset(
        [f / "sub", f / "a.csv"], {"n": {"type": "integer"}}
    ),
}


@pytest.mark.parametrize("data", LISTS.values(), ids=LISTS)
def test_records_of_a_list_of_files_are_counted(
    data: Callable[[Path], Any], tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    for name, rows in (("a", 50), ("b", 70), ("sub/c", 70)):
        (tmp_path / f"{name}.csv").write_text("g,n\n" + "x,1\n" * rows)
    assert discreet.count(data(tmp_path), epsilon=1000).value == 120
    columns: Any = {} if isinstance(data(tmp_path), discreet.Dataset) else {"columns": ["n"]}
    assert discreet.profile(data(tmp_path), epsilon=1000, **columns).value.size == 120


def test_a_toml_list_of_folders_is_files(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.csv").write_text("n\n" + "1\n" * 5)
    (tmp_path / "discreet.toml").write_text(
        'ledger = "b.db"\n[datasets.d]\nsource = ["a", "b"]\nbudget = { epsilon = "1" }\n'
        'columns.n = { type = "integer" }\n'
    )
    dataset = read_configuration(tmp_path / "discreet.toml").dataset("d")
    assert discreet.count(dataset, epsilon=1000).value == 10


@pytest.mark.parametrize(
    "data",
    [["a.csv", "b"], ["a", "b/c.parquet"], [Path("a.csv"), 3], ["a.csv", None], [Path("a"), None]],
)
def test_a_list_that_may_be_files_or_values_is_refused(data: list[Any]) -> None:
    with pytest.raises(InvalidArgument, match=r"give each as pathlib.Path\(path\)") as caught:
        discreet.count(data, epsilon=1)
    assert "a" not in str(caught.value).split() or "b/c" not in str(caught.value)
    assert discreet.count(["a", "b", None], epsilon=1000).value == 3  # no file ends so


@pytest.mark.parametrize("form", [list, tuple])
@pytest.mark.parametrize("ending", [".csv", "*.csv", "[x].csv", "\0.csv", ".csv.gz"])
def test_values_that_end_as_files_do_are_in_no_error(
    ending: str, form: Callable[[list[str]], Any], tmp_path: Path
) -> None:
    """The second is there, and the first may be a value."""
    (tmp_path / "b.csv").write_text("n\n1\n")
    values = form([f"zq7{ending}", str(tmp_path / "b.csv")])
    with pytest.raises(InvalidArgument, match=r"give a dict, \{column: values\}$") as caught:
        discreet.count(values, epsilon=1)
    assert_no_canary(caught.value)
    assert discreet.count({"file": list(values)}, epsilon=1000).value == 2


def test_the_true_reason_is_raised(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n,m\n1,2\n")
    (tmp_path / "b.csv").write_bytes(b"\x00\x01")
    with pytest.raises(UnreadableFile, match=r"b\.csv"):
        sizes([tmp_path / "a.csv", tmp_path / "b.csv"])
    with pytest.raises(UnreadableFile, match=r"b\.csv"):
        sizes(tmp_path)


def test_columns_that_cannot_be_counted_are_passed_over() -> None:
    frame = pl.DataFrame({"nested": [[1], [2]], "n": [1, 2]})
    assert sizes(frame) == [2]
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"])
    assert sizes(twice) == [1]


def test_values_units_and_groups() -> None:
    frame = pl.DataFrame({**TABLE, "g": ["x", "x", "y", "x"]})
    assert sizes(frame, "n") == [2]
    assert sizes(frame, unit="who") == [2]
    assert sizes(frame, "n", unit="who") == [1]
    assert sizes(frame, by="g", groups=("y", "z", "x")) == [1, 0, 3]
    assert sizes(frame, unit="who", by="g", groups=("x", "y"), most_groups=2) == [2, 1]
