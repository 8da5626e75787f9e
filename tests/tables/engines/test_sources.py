"""What users bring: each source gives the scores of its rows, or is refused with the line that converts it."""

import datetime as dt
import gzip
import json
import sqlite3
import zoneinfo
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import sqlalchemy

import discreet
from discreet import Grid
from discreet.errors import InvalidArgument, MissingColumn, UnreadableData, UnreadableFile
from discreet.tables.datasets.databases import Database
from discreet.tables.engines import count, distinct, numbers, parse_candidates
from discreet.tables.engines.in_duckdb import InDuckDB
from discreet.tables.engines.memory import TypedArray, series_of_pandas
from discreet.tables.engines.records import Records
from discreet.tables.engines.sql_queries import SqlQuery

from ...columns import numbers_of, recorded
from ...engines import SelfClosing

MARKER = "s3cr3t-m4rk3r"
ROWS = [
    {"who": f"p{i % 7}", "drink": ("tea", "milk", "café")[i % 3], "n": i % 10, "x": i / 4}
    for i in range(40)
]
TABLE = pa.Table.from_pylist(ROWS)
DRINKS = ["tea", "milk", "absent"]


class Stream:
    """What exports an Arrow stream, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def in_files(folder: Path, ending: str) -> list[Path]:
    """The rows in three files."""
    files = []
    for i in range(3):
        part, file = TABLE.slice(15 * i, 15), folder / f"part{i}{ending}"
        if ending == ".parquet":
            pq.write_table(part, file)
        elif ending == ".feather":
            feather.write_feather(part, str(file))
        elif ending == ".csv":
            part.to_pandas().to_csv(file, index=False)
        else:
            lines = "\n".join(json.dumps(row) for row in part.to_pylist()).encode()
            file.write_bytes(gzip.compress(lines) if ending.endswith(".gz") else lines)
        files.append(file)
    return files


def in_folders(folder: Path) -> Path:
    """The rows in folders called as Hive does, without the column that the folders tell."""
    whole = folder / "hive"
    for drink in ("tea", "milk", "café"):
        inside = whole / f"drink={drink}"
        inside.mkdir(parents=True)
        rows = [row for row in ROWS if row["drink"] == drink]
        pq.write_table(pa.Table.from_pylist(rows).drop_columns(["drink"]), inside / "a.parquet")
    (whole / "_SUCCESS").write_text("")
    return whole


def in_duckdb() -> Any:
    connection = duckdb.connect()
    connection.from_arrow(TABLE).create("t")
    return connection


def in_sqlite(folder: Path) -> Any:
    engine = sqlalchemy.create_engine(
        f"sqlite:///{folder / 't.db'}", connect_args={"factory": SelfClosing}
    )
    pd.DataFrame(ROWS).to_sql("t", engine, index=False)
    return engine


def by_python(folder: Path) -> Any:
    in_sqlite(folder).dispose()
    return sqlite3.connect(folder / "t.db", factory=SelfClosing)


def records_of(table: pa.Table) -> Any:
    return table.to_pandas().assign(drink=lambda t: t.drink.astype("U9")).to_records(index=False)


SOURCES: dict[str, Callable[[Path], Any]] = {
    "paths": lambda folder: in_files(folder, ".parquet"),
    "folder": lambda folder: in_files(folder, ".parquet")[0].parent,
    "folder of csv": lambda folder: in_files(folder, ".csv")[0].parent,
    "hive": in_folders,
    "glob": lambda folder: str(in_files(folder, ".csv")[0].parent / "*.csv"),
    "ndjson": lambda folder: in_files(folder, ".ndjson"),
    "jsonl.gz": lambda folder: in_files(folder, ".jsonl.gz"),
    "feather": lambda folder: in_files(folder, ".feather"),
    "dataset": lambda folder: ds.dataset([str(f) for f in in_files(folder, ".parquet")]),
    "batch": lambda _: TABLE.to_batches()[0],
    "stream": lambda _: Stream(TABLE),
    "dicts": lambda _: ROWS,
    "lists": lambda _: TABLE.to_pydict(),
    "arrays": lambda _: {name: np.array(TABLE[name].to_pylist()) for name in TABLE.column_names},
    "record array": lambda _: records_of(TABLE),
    "duckdb query": lambda _: discreet.scan_query("SELECT * FROM t", in_duckdb()),
    "sqlalchemy engine": lambda folder: discreet.scan_query("SELECT * FROM t", in_sqlite(folder)),
    "sqlalchemy connection": lambda folder: discreet.scan_query(
        "SELECT * FROM t", in_sqlite(folder).connect()
    ),
    "sqlite3": lambda folder: discreet.scan_query("SELECT * FROM t", by_python(folder)),
}


@pytest.fixture(params=SOURCES)
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    made = SOURCES[request.param](tmp_path)
    yield made
    connection = getattr(made, "connection", None)
    if isinstance(connection, sqlite3.Connection | sqlalchemy.Connection):
        connection.close()


@pytest.mark.one_in(3)
def test_every_source_has_the_scores_of_its_rows(data: Any) -> None:
    held = [row["drink"] for row in ROWS]
    assert count(data, "drink", DRINKS) == [held.count(drink) for drink in DRINKS]
    assert distinct(data, "drink") == ["café", "milk", "tea"]
    pairs = {(row["who"], row["drink"]) for row in ROWS}
    tallied = recorded(data, "drink", Records("who")).tally(DRINKS)
    assert tallied == [[sum(drink == wanted for _, drink in pairs) for wanted in DRINKS]]
    assert sorted(map(float, numbers(data, "x").tolist())) == [row["x"] for row in ROWS]


@pytest.mark.one_in(4)
def test_every_source_keeps_the_same_rows_of_a_unit(data: Any) -> None:
    plan = Records("who", 2, "drink", ("tea", "milk"), 1)
    parts = [sorted(map(float, numbers_of(g))) for g in recorded(data, "x", plan).groups]
    expected = recorded(TABLE, "x", plan).groups
    assert parts == [sorted(numbers_of(group).tolist()) for group in expected]


@pytest.mark.one_in(3)
def test_every_source_answers(data: Any) -> None:
    sure: Any = {"epsilon": 10**6}
    assert discreet.median(data, "x", candidates=Grid(0, 10, "0.25"), **sure).value in (
        Decimal(5),
        4.75,
    )
    assert discreet.median(data, "x", candidates=[0, 5, 10], **sure).value == 5
    assert discreet.mode(data, "drink", candidates=["tea", "absent"], **sure).value == "tea"


# --- data of one dimension

SERIES: dict[str, Any] = {
    "list": ["tea", "tea", None, "milk"],
    "texts": ["tea", "tea", "milk"],
    "pandas": pd.Series(["tea", "tea", None, "milk"], name="drink"),
    "polars": pl.Series("drink", ["tea", "tea", None, "milk"]),
    "arrow": pa.array(["tea", "tea", None, "milk"]),
    "numpy": np.array(["tea", "tea", "", "milk"]),
}


@pytest.mark.parametrize("kind", SERIES)
def test_a_series_needs_no_name_of_a_column(kind: str) -> None:
    assert count(SERIES[kind], None, ["tea", "milk", "x"]) == [2, 1, 0]
    assert discreet.mode(SERIES[kind], candidates=["milk", "tea"], epsilon=10**6).value == "tea"


def test_texts_without_a_column_are_values_whatever_they_end_with() -> None:
    assert count(["a.csv", "a.csv", "b.csv"], None, ["a.csv", "b.csv"]) == [2, 1]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_table_needs_the_name_of_a_column(kind: str) -> None:
    table = {"pandas": TABLE.to_pandas(), "polars": pl.from_arrow(TABLE), "arrow": TABLE}[kind]
    with pytest.raises(InvalidArgument, match="needs the name of a column"):
        discreet.mode(table, candidates=["tea"], epsilon=1)
    with pytest.raises(InvalidArgument, match="needs the name of a column"):
        discreet.median(table, candidates=Grid(0, 9), epsilon=1)


# --- files of other forms


def test_a_csv_file_whose_form_is_given(tmp_path: Path) -> None:
    (tmp_path / "t.log").write_text("tea^1\nmilk^2\ntea^2\n")
    given = discreet.scan_csv(tmp_path / "t.log", delimiter="^", names=["drink", "n"])
    assert count(given, "drink", ["tea", "milk"]) == [2, 1]
    assert numbers(given, "n").tolist() == [1.0, 2.0, 2.0]
    headed = discreet.scan_csv(tmp_path / "t.log", delimiter="^")
    assert count(headed, "tea", ["milk", "tea"]) == [1, 1]
    with pytest.raises(MissingColumn, match="did you mean 'drink'"):
        count(given, "drinks", ["tea"])
    for bad in ({"delimiter": "^^"}, {"delimiter": '"'}, {"names": ["a", "a"]}, {"names": "ab"}):
        with pytest.raises(InvalidArgument):
            discreet.scan_csv(tmp_path / "t.log", **bad)


def test_json_lines_are_read_one_by_one(tmp_path: Path) -> None:
    lines = ['{"c": "a"}', '{"c": 1.50, "d": "b"}', "{broken", "", '{"d": 1}', '{"c": null}']
    lines += ['{"c": true}', '{"c/~d": "a"}', '["a"]', '{"c": {"e": 1}}', '{"c": "\\u00e9"}']
    (tmp_path / "t.ndjson").write_text("\n".join(lines) + "\n")
    wanted = ["a", "1.5", "true", "null", "", "é", "x"]
    assert count(tmp_path / "t.ndjson", "c", wanted) == [1, 1, 1, 0, 0, 1, 0]
    assert count(tmp_path / "t.ndjson", "c/~d", ["a"]) == [1]
    assert count(tmp_path / "t.ndjson", "nowhere", ["a"]) == [0]
    assert numbers(tmp_path / "t.ndjson", "c").tolist() == [1.5]
    assert parse_candidates(tmp_path / "t.ndjson", "c", ["1"]) == ["1"]


def test_folders_that_name_columns(tmp_path: Path) -> None:
    whole = in_folders(tmp_path)
    assert discreet.mode(
        whole, "drink", candidates=["tea", "milk"], by="who", groups=["p1"], epsilon=1
    )
    for value, file in (("a b", "b.parquet"), ("__HIVE_DEFAULT_PARTITION__", "c.parquet")):
        inside = whole / f"drink={value.replace(' ', '%20')}"
        inside.mkdir()
        pq.write_table(TABLE.slice(0, 5).drop_columns(["drink"]), inside / file)
    assert count(whole, "drink", ["a b", "tea", "__HIVE_DEFAULT_PARTITION__"]) == [5, 14, 0]
    assert len(numbers(whole, "x")) == 50


def test_folders_that_cannot_be_read(tmp_path: Path) -> None:
    delta = tmp_path / "delta"
    (delta / "_delta_log").mkdir(parents=True)
    with pytest.raises(UnreadableFile, match="DeltaTable"):
        count(delta, "c", ["a"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableFile, match="without files"):
        count(tmp_path / "empty", "c", ["a"])


def test_a_home_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "t.csv").write_text("c\na\n")
    assert count("~/t.csv", "c", ["a"]) == [1]


# --- refusals


def refusals() -> dict[str, tuple[Any, str]]:
    reader = TABLE.to_reader()
    engine = sqlalchemy.create_engine("sqlite://")
    return {
        "reader": (reader, r"read_all\(\)"),
        "scanner": (ds.dataset(TABLE).scanner(), r"data\.to_table\(\)"),
        "connection": (duckdb.connect(), r"discreet\.scan_query"),
        "engine": (engine, r"discreet\.scan_query"),
        "select": (
            sqlalchemy.select(sqlalchemy.text("1")),
            r"discreet\.scan_query\(str\(data\), engine\)",
        ),
        "address": ("https://example.org/t.parquet", "fetch the file first"),
        "bucket": ("s3://bucket/t.parquet", "duckdb.read_parquet"),
        "sql": ("SELECT * FROM t", r"discreet\.scan_query\(query, connection\)"),
        "number": (3, "data must be"),
        "list": ([1, 2], r"\{column: values\}"),
        "texts": (["tea", "milk"], r"\{column: values\}"),
    }


@pytest.mark.parametrize("case", refusals())
def test_what_is_refused_names_what_converts_it(case: str) -> None:
    data, advice = refusals()[case]
    for ask in (
        lambda: count(data, "drink", ["tea"]),
        lambda: discreet.median(data, "n", candidates=Grid(0, 9), epsilon=1),
        lambda: discreet.mode(data, "drink", candidates=["tea"], privacy_unit="who", epsilon=1),
    ):
        with pytest.raises((UnreadableData, InvalidArgument), match=advice):
            ask()


def test_a_query_that_fails_is_not_quoted(tmp_path: Path) -> None:
    for connection in (duckdb.connect(), in_sqlite(tmp_path)):
        broken = discreet.scan_query(f"SELECT {MARKER} FROM nowhere", connection)
        with pytest.raises(UnreadableData, match="not shown") as caught:
            count(broken, "c", ["a"])
        assert MARKER not in str(caught.value)
        assert caught.value.__context__ is None
    for bad in ((1, duckdb.connect()), ("SELECT 1", "a.db")):
        with pytest.raises(InvalidArgument):
            discreet.scan_query(*bad)


def test_a_connection_whose_types_depend_on_cells_is_refused() -> None:
    """ADBC takes the types of SQLite's columns from their first cells, and fails at one of another type."""
    base: Any = type("Connection", (), {"__module__": "adbc_driver_manager.dbapi", "cursor": print})
    own = type("AdbcSqliteConnection", (base,), {})
    with pytest.raises(InvalidArgument, match="ADBC"):
        discreet.scan_query("SELECT 1", own())


def test_a_query_is_asked_once_for_an_answer(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t (n INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?)", [(i,) for i in range(9)])
        asked = list[str]()
        connection.set_trace_callback(asked.append)
        query = discreet.scan_query("SELECT n FROM t", connection)
        assert discreet.median(query, "n", candidates=Grid(0, 10), epsilon=10**6).value == 4
        assert asked == ["SELECT n FROM t"]


@pytest.mark.parametrize("cell", ["'milk'", "CAST(x'ff' AS TEXT)"])
def test_no_text_of_sqlite_decides_whether_there_is_an_answer(tmp_path: Path, cell: str) -> None:
    """A text that is no UTF-8 is missing, and its row is a record; the connection stays as it was."""
    file, readable = tmp_path / "t.db", 4 if cell == "'milk'" else 3
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'tea' AS a, 1 AS n UNION ALL SELECT 'tea', 2")
        connection.execute(f"INSERT INTO t VALUES ('tea', 3), ({cell}, 4)")
        connection.commit()
        engine = sqlalchemy.create_engine(f"sqlite:///{file}", poolclass=sqlalchemy.NullPool)
        database = Database(engine.url.render_as_string(), str(file))
        for way in (connection, engine, database):
            rows = SqlQuery("SELECT * FROM t", way)
            assert discreet.count(rows, epsilon=10**5).value == 4
            assert discreet.count(rows, "a", epsilon=10**5).value == readable
        assert connection.text_factory is str
        connection.text_factory = bytes
        assert (
            discreet.count(discreet.scan_query("SELECT a FROM t", connection), epsilon=10**5).value
            == 4
        )
        assert connection.text_factory is bytes


# --- defects that were repaired


def test_every_zone_of_pandas() -> None:
    """Its names have digits and signs, which Narwhals does not expect."""
    moment = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    times = pd.Series(pd.to_datetime(["2024-01-01T00:00Z", None]))
    for zone in sorted(zoneinfo.available_timezones() - {"localtime", "Factory"}):
        held = series_of_pandas(times.dt.tz_convert(zone), "c")
        assert isinstance(held, TypedArray)
        assert held.of is not None
        assert held.of.kind == "timestamp with time zone", zone
        assert held.array[0] == np.datetime64("2024-01-01"), zone
    for zone in ("America/New_York", "Etc/GMT+5", "America/Port-au-Prince"):
        assert count(pd.DataFrame({"c": times.dt.tz_convert(zone)}), "c", [moment]) == [1], zone


def test_a_relation_that_can_be_read_once_is_refused_at_its_second_pass() -> None:
    reader = TABLE.to_reader()  # noqa: F841  # DuckDB finds it by its name
    relation = duckdb.sql("FROM reader")
    assert count(relation, "drink", ["tea"]) == [14]
    with pytest.raises(UnreadableData):
        count(relation, "drink", ["tea"])


def test_a_column_that_is_there_twice() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["x", "x"])
    for data in (frame, pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"])):
        with pytest.raises(UnreadableData, match="distinct columns"):
            discreet.median(data, "x", candidates=Grid(0, 9), epsilon=1)


def test_numbers_in_a_dictionary_of_arrow() -> None:
    data = pa.table({"c": pa.array([1, 2, 2]).dictionary_encode()})
    assert discreet.median(data, "c", candidates=Grid(0, 9), epsilon=10**6).value == 2


def test_decimals_in_a_nullable_column_of_pandas() -> None:
    data = pd.DataFrame({"c": pd.array([12, None, 12], dtype="Int64")})
    assert count(data, "c", [Decimal(12), 12.0, Fraction(12), 12]) == [2, 2, 2, 2]


def test_decimals_of_dask_and_arrow() -> None:
    frames = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    prices = pd.Series([Decimal("1.25")] * 40, dtype=pd.ArrowDtype(pa.decimal128(10, 2)))
    data = frames.from_pandas(pd.DataFrame({"c": prices}), npartitions=2)
    assert discreet.median(
        data, "c", candidates=Grid(0, 10**6, "0.01"), epsilon=9
    ).value == Decimal("1.25")


@pytest.mark.parametrize(
    "of", ["DOUBLE", "FLOAT", "INTEGER", "UBIGINT", "HUGEINT", "DECIMAL(9, 3)"]
)
def test_a_list_of_candidates_brings_no_column_to_memory(of: str) -> None:
    """Exactly the records below and above each, from two counts for each candidate."""
    texts = [None, "0", "1", "1", "2", "3", "100", "7"]
    if of in ("DOUBLE", "FLOAT"):
        texts += ["NaN", "inf", "-inf", "0.5", "-0.0", "0.1"]
    listed = ", ".join("NULL" if text is None else f"'{text}'" for text in texts)
    relation = duckdb.connect().sql(f"SELECT CAST(unnest([{listed}]) AS {of}) AS c")
    exact = [float(np.float32(t)) if of == "FLOAT" else float(t) for t in texts if t is not None]
    rows = [Fraction(x) if abs(x) < 1e300 else x for x in exact if x == x]
    numbers_ = [Fraction(n) for n in ("-1", "0", "1/10", "1/3", "1", "3/2", "7", "100")]
    numbers_ += [Fraction(10) ** 400, -(Fraction(10) ** 400)]
    fetched, fetch = list[int](), InDuckDB.fetch

    def watch(self: InDuckDB, query: Any, kind: Any) -> Any:
        columns = fetch(self, query, kind)
        fetched.append(len(columns[0]))
        return columns

    with patch.object(InDuckDB, "fetch", watch):
        found = recorded(relation, "c").groups[0].beside(numbers_)
    assert found is not None
    assert found[0].tolist() == [sum(row < n for row in rows) for n in numbers_]
    assert found[2] == len(rows)
    assert found[1].tolist() == [sum(row > n for row in rows) for n in numbers_]
    assert len(fetched) == 1
    assert fetched[0] <= 2 * len(numbers_) + 1
