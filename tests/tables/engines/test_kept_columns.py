"""Columns of files that were read once: what is counted is of the same records, whatever is written since."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet import Dataset
from discreet.errors import MissingColumn, UnreadableFile
from discreet.tables.datasets.cell_fits import read_once, record_fits
from discreet.tables.engines import count, distinct
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.kept_columns import keep_columns
from discreet.tables.engines.records import Records
from discreet.tables.values.kinds import CELL

ROWS = {"who": ["u", "u", "v", "w"], "city": ["Bern", "Basel", "Bern", ""], "n": [1, 2, 3, 9]}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
def test_what_is_counted_was_read_once(ending: str, tmp_path: Path) -> None:
    file, frame = tmp_path / f"t.{ending}", pl.DataFrame(ROWS)
    write = {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet"}
    getattr(frame, write.get(ending, "write_ipc"))(file)
    columns: Any = {
        "city": {"type": "string", "enum": ["Bern"]},
        "n": {"type": "integer", "maximum": 4},
        "who": {"type": "string"},
    }
    dataset = Dataset(file, columns, privacy_unit="who", max_contributions=1)
    for records in (Records(), Records("who", 1)):
        kept = read_once(file, dataset.columns.values(), records)
        file.write_bytes(file.read_bytes()[:-9] if ending != "csv" else b"who,city,n\n")
        counts = [record_fits(dataset, name, records, kept) for name in columns]
        assert [one.records for one in counts] == [4 if records.unit is None else 3] * 3
        assert counts[1].out_of_range == 1
        getattr(frame, write.get(ending, "write_ipc"))(file)
    assert count(kept, "city", ["Bern", "Basel"]) == [2, 1]
    assert set(distinct(kept, "city")) - {""} == {"Bern", "Basel"}
    table = open_table(kept, "n", Records("who", 1))
    assert table.type(CELL).column == "n"


def test_columns_and_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    kept = keep_columns(tmp_path / "t.csv", ["a"], None)
    with pytest.raises(MissingColumn, match=r"there is no column 'b' in the data"):
        open_table(kept, "b")
    with pytest.raises(MissingColumn, match="there is no column 'c'"):
        keep_columns(tmp_path / "t.csv", ["c"], None)
    with pytest.raises(UnreadableFile, match="does not exist"):
        keep_columns(tmp_path / "u.csv", ["a"], None)


def test_the_rows_are_gone_with_the_object(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    kept = keep_columns(tmp_path / "t.csv", ["a"], None)
    relation, name = kept.native.relation, kept.table.name
    del kept
    left = relation.query("x", "SELECT table_name FROM duckdb_tables()")
    assert left is not None
    assert name not in {one for (one,) in left.fetchall()}
