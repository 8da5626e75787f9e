"""How many records a table has, where no column is named: any one is opened that can be."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import InvalidArgument, UnreadableFile
from discreet.tables.record_counts import RecordCounts
from discreet.tables.records import Records

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
    with pytest.raises(InvalidArgument, match="name no column"):
        sizes(tmp_path / "a.jsonl")
    assert sizes(tmp_path / "a.jsonl", "who") == [3]
    with pytest.raises(UnreadableFile):
        sizes(tmp_path / "missing.csv")


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
