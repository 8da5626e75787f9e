"""Batches of rows of DuckDB by Arrow's C stream hold the rows of the column, each once and in order."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet.tables.engines.streamed_counts import batch_numbers
from discreet.tables.formats.arrow_stream import ARROW_FORMATS, batches


def column(name: str, rows: list[float | None]) -> "duckdb.DuckDBPyRelation":
    """Return a column of a type in Arrow's format."""
    types = {"g": pa.float64(), "f": pa.float32(), "l": pa.int64(), "i": pa.int32()}
    return duckdb.from_arrow(pa.table({"x": pa.array(rows, types[name])}))


@pytest.mark.parametrize("name", ARROW_FORMATS.values())
def test_batches_have_all_rows_in_order(name: str) -> None:
    rows = [None if i % 7 == 2 else i % 100 for i in range(300_000)]
    lengths, there = [], []
    dtype = {"g": np.float64, "f": np.float32, "l": np.int64, "i": np.int32}[name]
    for batch in batches(column(name, list(rows)), name):
        lengths.append(batch.length)
        there += batch_numbers(batch, dtype).tolist()
    assert sum(lengths) == len(rows)
    assert len(lengths) > 1
    assert there == [n for n in rows if n is not None]


def test_numbers_of_batches_are_those_of_the_rows() -> None:
    """From any row on: a bitmap's first bit need not be that of the first row."""
    rows = [None if i % 3 == 0 else float(i) for i in range(5000)]
    whole = duckdb.from_arrow(pa.table({"x": pa.array(rows)}).slice(13, 4001))
    seen = [n for one in batches(whole, "g") for n in batch_numbers(one, np.float64).tolist()]
    assert seen == [n for n in rows[13:4014] if n is not None]


def test_another_type_than_was_said_is_no_column() -> None:
    with pytest.raises(TypeError):
        list(batches(column("l", [1]), "g"))
