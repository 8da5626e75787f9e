"""One table, in every engine: what the suites of `tables` and of the verbs run over.

An engine is a function from an Arrow table and an empty folder to the table as that engine has it. Where
the engine, or Java for Spark, is missing, it skips the test and says why.
"""

import atexit
import csv
import functools
import os
import shutil
import signal
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet

from . import postgres

Engine = Callable[[pa.Table, Path], Any]


class SelfClosing(sqlite3.Connection):
    """A connection that is closed with its holder: since Python 3.13 one that is left open gives a warning."""

    def __del__(self) -> None:
        with suppress(
            sqlite3.ProgrammingError
        ):  # collected in another thread, which may not close it
            self.close()


NULLABLE = {
    pa.int64(): pd.Int64Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.int8(): pd.Int8Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.string(): pd.StringDtype(),
}


def to_pandas(table: pa.Table, _: Path) -> Any:
    return table.to_pandas(types_mapper=NULLABLE.get)


def to_pandas_arrow(table: pa.Table, _: Path) -> Any:
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def to_polars(table: pa.Table, _: Path) -> Any:
    return pl.from_arrow(table)


def to_polars_lazy(table: pa.Table, folder: Path) -> Any:
    return to_polars(table, folder).lazy()


def to_pyarrow(table: pa.Table, _: Path) -> Any:
    return table


def to_duckdb(table: pa.Table, _: Path) -> Any:
    if pa.float16() in table.schema.types:
        pytest.skip("DuckDB has no such type")
    return duckdb.connect().from_arrow(table)


def to_dask(table: pa.Table, folder: Path) -> Any:
    frames = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    data = to_pandas(table, folder)
    if "object" in map(str, data.dtypes):
        pytest.skip("Dask turns objects into text")
    return frames.from_pandas(data, npartitions=2)


def to_spark(table: pa.Table, folder: Path) -> Any:
    """The table as Spark reads it from a Parquet file, after its types were made Spark's own."""
    session = spark()
    if any(map(_unknown_to_spark, table.schema.types)):
        pytest.skip("Spark has no such type")
    path = folder / "spark.parquet"
    pq.write_table(table, path, coerce_timestamps="us")
    return session.read.parquet(str(path))


def _unknown_to_spark(of: pa.DataType) -> bool:
    rare = (pa.float16(), pa.uint64(), pa.string_view(), pa.timestamp("ns"), pa.null())
    return of in rare or pa.types.is_decimal256(of) or pa.types.is_time(of)


@functools.cache
def spark() -> Any:
    """One session for all tests: few partitions, no web page, and no code compiled for a few rows.

    Tests with `spark` in their name are one group, so that one process starts Java: `conftest.py`.
    """
    assert "spark" in os.environ.get("PYTEST_CURRENT_TEST", "spark"), "put spark into the name"
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PySpark about the version of pandas
        sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
        options = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.pyspark.python": sys.executable,
            "spark.log.level": "OFF",
            "spark.sql.session.timeZone": "UTC",
        }
        builder = sql.SparkSession.builder.master("local[2]")
        for name, value in options.items():
            builder = builder.config(name, value)
        interrupt = signal.getsignal(signal.SIGINT)
        try:
            return builder.getOrCreate()
        finally:
            signal.signal(signal.SIGINT, interrupt)  # a Spark of Python takes Ctrl-C for itself


def to_parquet(table: pa.Table, folder: Path) -> Any:
    pq.write_table(table, folder / "t.parquet")
    return folder / "t.parquet"


def to_csv(table: pa.Table, folder: Path) -> Any:
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(table.column_names)
        writer.writerows(zip(*(c.to_pylist() for c in table.columns), strict=True))
    return str(folder / "t.csv")


_SERVER_TYPES = {
    pa.bool_(): "boolean",
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.large_string(): "text",
    pa.date32(): "date",
}
"""The types of PostgreSQL, by those of Arrow that have one word."""


def to_postgresql(table: pa.Table, _: Path) -> Any:
    """A query of the table on a server."""
    engine, name = postgresql_engine(), f't"{uuid4().hex}'
    types = [_server_type(of) for of in table.schema.types]
    names = [_in_quotes(column) for column in table.column_names]
    columns = ", ".join(f"{one} {of}" for one, of in zip(names, types, strict=True))
    rows = list(zip(*(_server_cells(column) for column in table.columns), strict=True))
    if any(isinstance(cell, str) and "\0" in cell for row in rows for cell in row):
        pytest.skip("PostgreSQL has no such text")
    with closing(engine.raw_connection()) as connection:
        cursor = connection.driver_connection.cursor()
        cursor.execute(f"CREATE TABLE {_in_quotes(name)} ({columns})")
        with cursor.copy(f"COPY {_in_quotes(name)} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        connection.commit()
    return discreet.scan_query(f"SELECT * FROM {_in_quotes(name)}", engine)


def _in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _server_type(of: pa.DataType) -> str:
    if pa.types.is_decimal(of):
        return f"numeric({of.precision}, {of.scale})"
    if pa.types.is_dictionary(of):
        return _server_type(of.value_type)
    if pa.types.is_timestamp(of) and of.unit != "ns":
        return "timestamptz" if of.tz else "timestamp"
    if of not in _SERVER_TYPES:
        pytest.skip("PostgreSQL has no such type")
    return _SERVER_TYPES[of]


def _server_cells(column: pa.ChunkedArray) -> list[object]:
    """The cells as Python has them; times as texts, since the server has more of them."""
    of = column.type
    if not (pa.types.is_date(of) or pa.types.is_timestamp(of)):
        return [*column.to_pylist()]
    texts = (
        duckdb.connect()
        .from_arrow(pa.table({"c": column}))
        .project("CAST(c AS VARCHAR)")
        .fetchall()
    )
    cells: list[object] = [None if one is None else one.replace("(BC)", "BC") for (one,) in texts]
    return cells


@functools.cache
def postgresql_engine() -> Any:
    """An engine for a server that all tests of a process share."""
    from sqlalchemy import create_engine

    stack = ExitStack()
    url = stack.enter_context(postgres.server())
    atexit.register(stack.close)
    return create_engine(url.replace("postgresql:", "postgresql+psycopg:"))


TYPED: dict[str, Engine] = {
    "pandas": to_pandas,
    "pandas-arrow": to_pandas_arrow,
    "polars": to_polars,
    "polars-lazy": to_polars_lazy,
    "pyarrow": to_pyarrow,
    "duckdb": to_duckdb,
    "dask": to_dask,
    "spark": to_spark,
    "parquet": to_parquet,
    "postgresql": to_postgresql,
}
ENGINES: dict[str, Engine] = {**TYPED, "csv": to_csv}


def _slow(engine: str, representative: bool) -> list[pytest.MarkDecorator]:
    return [pytest.mark.proof] if engine == "spark" and not representative else []


def crossed(engines: Iterable[str], plans: Iterable[str], representative: str) -> list[Any]:
    """Each plan in each engine; in Spark, whose jobs take a second each, one in every run and all as proofs."""
    return [
        pytest.param(
            engine, plan, marks=_slow(engine, plan == representative), id=f"{plan}-{engine}"
        )
        for plan in plans
        for engine in engines
    ]
