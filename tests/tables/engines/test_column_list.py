"""The columns of a table are told by its header or schema, and no row is read."""

import datetime as dt
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

import discreet
from discreet.errors import InvalidArgument, UnreadableData
from discreet.tables.engines.column_list import column_kind, list_columns

from ...engines import SelfClosing

FRAME = pl.DataFrame(
    {
        "a": [1, 2], "b": ["x", None], "c": [dt.date(2020, 1, 1)] * 2, "d": [1.5, None], "e": [True, False],
        "f": [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * 2, "g": [None, None],
    }
)  # fmt: skip
KINDS = ["numbers", "texts", "dates", "numbers", "texts", "instants", "texts"]


@pytest.mark.parametrize(
    "table_of",
    [
        lambda: FRAME,
        FRAME.lazy,
        FRAME.to_arrow,
        lambda: nw.from_native(FRAME),
        lambda: duckdb.connect().from_arrow(FRAME.to_arrow()),
    ],
)
def test_types_say_what_columns_hold(table_of: Callable[[], Any]) -> None:
    table = table_of()
    names = list_columns(table)
    assert names == list("abcdefg")
    assert [column_kind(table, name) for name in names][:-1] == KINDS[:-1]


def test_pandas_and_numpy_say_their_columns() -> None:
    assert list_columns(FRAME.to_pandas()) == list("abcdefg")
    assert list_columns(np.array([(1, 2.0)], dtype=[("x", "i4"), ("y", "f8")])) == ["x", "y"]
    assert list_columns({"x": [1], "y": [2]}) == ["x", "y"]
    assert list_columns([{"x": 1}]) == []


def test_text_files_have_names_and_no_types(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("who,age\na,3\n", encoding="utf-8")
    assert list_columns(file) == ["who", "age"]
    assert column_kind(file, "age") is None
    file.write_text("1,3\n", encoding="utf-8")
    assert list_columns(str(file)) == []  # the first line may be a row
    assert list_columns(discreet.scan_csv(file, names=["who", "age"])) == ["who", "age"]


def test_parquet_has_both(tmp_path: Path) -> None:
    FRAME.drop("g").write_parquet(tmp_path / "x.parquet")
    names = list_columns(tmp_path / "x.parquet")
    assert [column_kind(tmp_path / "x.parquet", name) for name in names] == KINDS[:-1]


def test_no_query_is_run_for_its_types() -> None:
    query = discreet.scan_query(
        "SELECT no_such_thing", sqlite3.connect(":memory:", factory=SelfClosing)
    )
    assert list_columns(query) == []
    with pytest.raises(InvalidArgument, match="say which columns hold numbers"):
        column_kind(query, "a")
    lazy = discreet.scan_query("SELECT 1 AS a", duckdb.connect())
    assert list_columns(lazy) == ["a"]


def test_other_types_are_refused_by_name() -> None:
    with pytest.raises(UnreadableData, match="which cannot be used for"):
        column_kind(pl.DataFrame({"a": [[1, 2]]}), "a")
