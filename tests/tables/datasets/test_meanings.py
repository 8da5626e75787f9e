"""What a declared number means is decided by the type of its column; what no cell can equal is said."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import Dataset
from discreet.errors import InvalidCandidates
from discreet.tables.datasets.cell_fits import check_cells

D = Decimal
PRICES = {"type": "number", "enum": [0.1, 9.99]}
STORED: dict[str, pa.Array] = {
    "decimal": pa.array([D("0.10")] * 9 + [D("9.99")], pa.decimal128(10, 2)),
    "wide decimal": pa.array([D("0.1")] * 9 + [D("9.99")], pa.decimal128(38, 20)),
    "double": pa.array([0.1] * 9 + [9.99]),
    "single": pa.array([0.1] * 9 + [9.99], pa.float32()),
    "half": pa.array(np.array([0.1] * 9 + [9.99], np.float16)),
}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.one_in(2)
def test_a_declared_number_counts_whatever_stores_it(stored: str, tmp_path: Path) -> None:
    table = pa.table({"price": STORED[stored], "vote": ["a"] * 9 + ["b"]})
    if stored != "half":
        pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, table.to_pandas(), *tmp_path.iterdir()):
        shop = Dataset(source, {"price": PRICES, "vote": {"type": "string", "enum": ["a", "b"]}})
        assert discreet.mode(shop, "price", epsilon=100).value == 0.1
        assert discreet.mode(shop, "price", candidates=[0.1, 9.99], epsilon=100).value == 0.1
        votes = discreet.mode(shop, "vote", by="price", epsilon=100).value
        assert votes == {0.1: "a", 9.99: "b"}
        assert discreet.median(shop, "price", epsilon=100).value == 0.1
        assert [(fit.fits, fit.misfits) for fit in check_cells(shop).values()] == [(10, 0)] * 2


@pytest.mark.parametrize("stored", STORED)
def test_the_median_of_declared_numbers_finds_ties_whatever_stores_them(stored: str) -> None:
    # The lower number holds the median; were it beside the records, the other would win.
    table = pa.table({"price": STORED[stored]})
    shop = Dataset(table, {"price": {"type": "number", "enum": [0.1, 0.2, 9.99]}})
    for _ in range(20):
        assert discreet.median(shop, "price", epsilon=50).value == 0.1


def test_a_number_of_many_digits_is_kept() -> None:
    exact = D("0.12345678901234567890")
    table = pa.table({"x": pa.array([exact] * 9 + [D(1)], pa.decimal128(38, 20))})
    data = Dataset(table, {"x": {"type": "number", "enum": [exact, D("0.12345678901234567891")]}})
    assert discreet.mode(data, "x", epsilon=100).value == exact


# --- candidates that no cell can equal


def test_verbs_say_it() -> None:
    frame = pl.DataFrame({"x": pl.Series([1, 2, 2], dtype=pl.Int8)})
    with pytest.warns(UserWarning, match="300 is no number"):
        discreet.mode(frame, "x", candidates=[2, 300], epsilon=1)
    with pytest.raises(InvalidCandidates, match="no candidate can count: 300"):
        discreet.mode(frame, "x", candidates=[300, 301], epsilon=1)
    with pytest.raises(InvalidCandidates, match="no candidate can count: 300"):
        discreet.median(
            frame.with_columns(y=1), "y", by="x", groups=[300], candidates=[1], epsilon=1
        )


def test_categories_of_the_rows_are_not_told() -> None:
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TYPE mood AS ENUM ('ok')")
    relation = connection.sql("SELECT 'ok'::mood AS x")
    discreet.mode(relation, "x", candidates=["sad"], epsilon=1)
    discreet.mode(pd.DataFrame({"x": ["ok"]}, dtype="category"), "x", candidates=["sad"], epsilon=1)


def test_two_candidates_are_not_one_value(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n2024-01-01\n")
    with pytest.raises(InvalidCandidates, match="are one value of column 'x'"):
        discreet.mode(
            tmp_path / "t.csv", "x", candidates=["2024-01-01", dt.date(2024, 1, 1)], epsilon=1
        )
    single = pa.table({"x": pa.array([0.1], pa.float32())})
    close = Dataset(single, {"x": {"type": "number", "enum": [0.1, 0.1000000001]}})
    with pytest.raises(InvalidCandidates, match=r"0\.1 and 0\.1000000001 are one value"):
        discreet.mode(close, "x", epsilon=1)
