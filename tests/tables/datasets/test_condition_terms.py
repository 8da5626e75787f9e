"""Constants of conditions that a description or a type excludes: refused, as candidates are, before paying."""

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

import discreet
from discreet import Dataset, Ledger
from discreet.errors import InvalidArgument

COLUMNS: dict[str, dict[str, Any]] = {
    "sex": {"type": "string", "enum": ["m", "f", "d"]},
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "pay": {"type": "number", "minimum": "0.5", "maximum": 90, "step": "0.5"},
    "born": {"type": "date", "minimum": dt.date(1900, 1, 1), "maximum": dt.date(2025, 1, 1)},
    "seen": {"type": "datetime", "minimum": dt.datetime(2020, 1, 1), "maximum": dt.datetime(2025, 1, 1)},
    "size": {"type": "integer", "enum": [1, 2, 4]},
    "free": {"type": "string"},
}  # fmt: skip
ROW: dict[str, Any] = {
    "sex": "m", "age": 30, "pay": 12.5, "born": dt.date(1990, 5, 5), "seen": dt.datetime(2024, 1, 1, 12),
    "size": 2, "free": "x",
}  # fmt: skip


def described(tmp_path: Path, form: str) -> Dataset:
    frame = pl.DataFrame([ROW] * 300)
    if form == "polars":
        return Dataset(frame, COLUMNS, name="people")
    if form == "pandas":
        return Dataset(pd.DataFrame([ROW] * 300), COLUMNS, name="people")
    path = tmp_path / f"people.{form}"
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path)
    return Dataset(path, COLUMNS, name="people")


EXCLUDED = [
    "sex = 'male'", "sex <> 'male'", "sex IN ('male', 'female')", "sex IN ('m', 'male')", "NOT sex = 'male'",
    "sex = 'm' AND (age = 3 OR sex = 'M')", "age > 200", "age < 200", "age >= 121", "age <= -1", "age = 20.5",
    "age = 200", "age BETWEEN 0 AND 150", "age IN (1, 121)", "pay = 0.25", "pay > 90.5", "size = 3",
    "born > DATE '2030-01-01'", "born = DATE '1899-12-31'", "born = TIMESTAMP '1990-05-05 12:00:00'",
    "seen < DATE '2019-12-31'", "seen = TIMESTAMP '2025-01-01 00:00:01'",
]  # fmt: skip
INCLUDED = [
    "sex = 'm'", "sex IN ('m', 'f')", "sex <> 'd'", "age > 20", "age >= 0", "age <= 120", "age > 120 OR sex = 'm'",
    "age = 30", "age > 20.5", "pay = 12.5", "pay < 90", "size = 2", "size > 1", "free = 'x'", "free <> 'anything'",
    "born > DATE '1990-01-01'", "born = TIMESTAMP '1990-05-05 00:00:00'", "seen > DATE '2023-12-31'",
    "seen = TIMESTAMP '2024-01-01 12:00:00'", "sex IS NOT NULL",
]  # fmt: skip


@pytest.mark.parametrize("form", ["polars", "pandas", "csv", "parquet"])
@pytest.mark.parametrize("where", EXCLUDED)
def test_a_constant_that_the_description_excludes_is_refused_and_free(
    where: str, form: str, tmp_path: Path
) -> None:
    """`sex = 'male'` was 0, and paid."""
    ledger = Ledger()
    ledger.open("people", epsilon=9)
    session, data = ledger.session("people"), described(tmp_path, form)
    for ask in (session.count, discreet.count):
        with pytest.raises(InvalidArgument, match=r"^where"):
            ask(data, where=where, epsilon=1)
    assert ledger.budgets()[0].spent.epsilon == 0


@pytest.mark.parametrize("form", ["polars", "pandas", "csv", "parquet"])
def test_constants_within_the_description_are_answered(form: str, tmp_path: Path) -> None:
    data = described(tmp_path, form)
    for where in INCLUDED:
        assert abs(discreet.count(data, where=where, epsilon=8).value - 300) < 9, where


def _enum_of_duckdb() -> Any:
    connection = duckdb.connect()
    connection.sql("CREATE TYPE level AS ENUM ('lo', 'mid', 'hi')")
    connection.sql(
        "CREATE TABLE t AS SELECT unnest(['lo', 'mid', 'hi'])::level AS e FROM range(100)"
    )
    return connection.table("t")


LEVELS = ["lo", "mid", "hi"]
ORDERED: dict[str, Any] = {
    "polars": lambda: pl.DataFrame({"e": LEVELS * 100}, schema={"e": pl.Enum(LEVELS)}),
    "lazy": lambda: pl.LazyFrame({"e": LEVELS * 100}, schema={"e": pl.Enum(LEVELS)}),
    "pandas": lambda: pd.DataFrame({"e": pd.Categorical(LEVELS * 100, LEVELS, ordered=True)}),
    "duckdb": _enum_of_duckdb,
}


@pytest.mark.parametrize("kind", ORDERED)
@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
def test_ordered_categories_are_not_put_in_the_order_of_letters(kind: str, operator: str) -> None:
    """`e > 'mid'` was 0, as no name comes after it; by the order of the type 100 rows are above."""
    for where in (
        f"e {operator} 'mid'",
        f"NOT e {operator} 'mid'",
        f"e = 'lo' OR e {operator} 'mid'",
    ):
        with pytest.raises(InvalidArgument, match="order of their own"):
            discreet.count(ORDERED[kind](), where=where, epsilon=1)
    with pytest.raises(InvalidArgument, match="order of their own"):
        discreet.counts(
            ORDERED[kind](), "e", candidates=LEVELS, where="e BETWEEN 'lo' AND 'mid'", epsilon=1
        )
    assert (
        abs(discreet.count(ORDERED[kind](), where="e IN ('mid', 'hi')", epsilon=8).value - 200) < 9
    )


@pytest.mark.parametrize("kind", ["polars", "lazy"])
@pytest.mark.parametrize(
    "where", ["e = 'zzz'", "e <> 'zzz'", "e IN ('lo', 'zzz')", "NOT e = 'zzz'"]
)
def test_a_text_that_is_no_category_of_the_type_is_refused(kind: str, where: str) -> None:
    with pytest.raises(InvalidArgument, match="'zzz' is not one of the categories of column 'e'"):
        discreet.count(ORDERED[kind](), where=where, epsilon=1)


def test_categories_that_may_be_of_rows_are_not_told() -> None:
    """Those of pandas and of an ENUM of DuckDB may come from the rows: an error would tell which are there."""
    for kind in ("pandas", "duckdb"):
        assert abs(discreet.count(ORDERED[kind](), where="e = 'zzz'", epsilon=8).value) < 9
    unordered = pd.DataFrame({"e": pd.Categorical(LEVELS * 100)})
    assert abs(discreet.count(unordered, where="e >= 'lo'", epsilon=8).value - 200) < 9


@pytest.mark.parametrize("where", ["sex = 'male'", "age > 200", "size IN (1, 3)"])
def test_sql_refuses_what_the_description_excludes(where: str, tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.open("people", epsilon=9)
    statement = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) AS n FROM people WHERE {where}"
    with pytest.raises(InvalidArgument, match="where"):
        ledger.session("people").sql(described(tmp_path, "polars"), statement)
    assert ledger.budgets()[0].spent.epsilon == 0
