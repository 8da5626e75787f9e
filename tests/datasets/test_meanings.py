"""What a declared number means is decided by the type of its column; what no cell can equal is said."""

import datetime as dt
import struct
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Dataset
from discreet.candidates import Labels
from discreet.datasets.cell_fits import check_cells
from discreet.errors import InvalidCandidates
from discreet.tables.kinds import ColumnType, nearest_float
from discreet.tables.meanings import meanings

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
        assert [(fit.fits, fit.misfits) for fit in check_cells(shop)] == [(10, 0)] * 2


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


@given(
    st.fractions(-(10**6), 10**6) | st.floats(-70000, 70000).map(Fraction),
    st.sampled_from([("<f", 24), ("<e", 11)]),
)
def test_the_nearest_number_of_a_short_format(number: Fraction, short: tuple[str, int]) -> None:
    layout, _ = short
    of = ColumnType("x", "float", "float", layout=layout)
    value = nearest_float(number, of)
    if value is None:
        assert abs(number) > 65504
        return
    word = layout.replace("e", "H").replace("f", "I")
    [bits] = struct.unpack(word, struct.pack(layout, abs(value)))
    sides = [struct.unpack(layout, struct.pack(word, b))[0] for b in {max(bits - 1, 0), bits + 1}]
    away = abs(abs(number) - Fraction(abs(value)))
    for side in sides:
        if np.isfinite(side):
            other = abs(abs(number) - Fraction(side))
            assert away < other or (away == other and bits % 2 == 0) or side == abs(value)


def test_half_way_is_not_rounded_twice() -> None:
    # Just above the middle of two floats, and the double nearest to it is the middle itself.
    number = 1 + Fraction(1, 2**24) + Fraction(1, 2**60)
    assert float(number) == 1 + 2.0**-24
    assert nearest_float(number, ColumnType("x", "float", "Float32", layout="<f")) == 1 + 2.0**-23


# --- candidates that no cell can equal


def column(kind: str, **more: Any) -> ColumnType:
    return ColumnType("x", kind, more.pop("name", kind), **more)


INT8 = column("integer", name="Int8", low=-128, high=127)
PRICE = column("decimal", name="Decimal(10, 2)", low=-(10**10) + 1, high=10**10 - 1, scale=2)
SINGLE = column("float", name="Float32", layout="<f")
ENUM = column("text", name="Enum", enum_categories=("a", "b"))
SECONDS = column("timestamp", name="Datetime(s)", low=-(2**63) + 1, high=2**63 - 1, unit="s")
IMPOSSIBLE: list[tuple[ColumnType, Any, Any, str]] = [
    (INT8, 300, 7, "300 is no number of column 'x', of type Int8; they are from -128 to 127"),
    (INT8, 1.5, 7, "1.5 is no number of column 'x', of type Int8"),
    (PRICE, 0.1, 0.5, r"0.1 is no number of column 'x', of type Decimal(10, 2); Decimal('0.10') is"),
    (SINGLE, 0.1, 0.5, "0.1 is no number of column 'x', of type Float32; 0.10000000149011612 is"),
    (column("float", name="Float64"), D("0.1"), 0.5, "of type Float64; 0.1 is"),
    (ENUM, "c", "a", "'c' is none of the categories of column 'x', of type Enum"),
    (SECONDS, dt.datetime(2024, 1, 1, 0, 0, 0, 1), dt.datetime(2024, 1, 1), "is no time of"),
]  # fmt: skip


@pytest.mark.parametrize(("of", "never", "possible", "words"), IMPOSSIBLE)
def test_a_candidate_that_no_cell_can_equal_is_said(
    of: ColumnType, never: Any, possible: Any, words: str
) -> None:
    with pytest.warns(UserWarning, match="so it counts 0") as warned:
        assert len(meanings(Labels([never, possible]), of)[0]) == 0
    assert words in str(warned[0].message)
    assert warned[0].filename == __file__
    with pytest.raises(InvalidCandidates, match="no candidate can count") as refused:
        meanings(Labels([never]), of)
    assert words in str(refused.value)


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
