"""Queries that a PostgreSQL server counts: no row leaves it, and none decides whether it answers."""

import gc
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import polars as pl
import pytest
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.exc import OperationalError

import discreet
from discreet import Grid
from discreet.errors import DataUnavailable, UnreadableData
from discreet.tables.datasets.databases import Database
from discreet.tables.engines.column_list import column_kind, holds_integers, list_columns
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.reach import ReachCheck
from discreet.tables.engines.records import Records
from discreet.tables.engines.server_session import ServerRows, driver_rows
from discreet.tables.engines.sql_queries import SqlQuery
from discreet.tables.values.ids import start_of_rule

from ...engines import postgresql_engine

SURE = 10**5
OPENED = """SELECT count(*) FROM pg_stat_activity WHERE application_name = 'discreet'"""


@pytest.fixture
def server() -> Engine:
    engine: Engine = postgresql_engine()
    return engine


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What the server is asked about rows, and how many it returns."""
    asked: list[tuple[str, int]] = []
    fetch = ServerRows._fetch

    def spy(self: ServerRows, query: str, **options: Any) -> Any:
        rows = fetch(self, query, **options)
        asked.append((query, len(rows)))
        return rows

    monkeypatch.setattr(ServerRows, "_fetch", spy)
    return asked


def make(server: Engine, *sql: str) -> str:
    """Run statements about a table TABLE of its own, and return its name."""
    name = f"t{uuid4().hex}"
    with server.begin() as connection:
        for one in sql:
            connection.execute(text(one.replace("TABLE_NAME", name).replace(":", r"\:")))
    return name


def counts(data: Any, column: str, candidates: list[Any], **terms: Any) -> list[int]:
    answer = discreet.counts(data, column, candidates=candidates, epsilon=SURE, **terms)
    return list(answer.value.values())


ODD = [
    r"\x41", "", "tea ", "tea", "Tea", "t\u0065\u0301", "t\u00e9", "o'hara", "%s", "{}", "\U0001f600", "ß", "ss",
    "a\\'b", ",=,0",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:candidates")
def test_texts_are_compared_byte_by_byte(server: Engine) -> None:
    """Whatever equality a type or a collation has, and whatever the server takes a backslash for."""
    collation = f"c{uuid4().hex}"
    values = ", ".join("($$" + word + "$$, $$" + word + "$$, $$" + word + "$$)" for word in ODD)
    table = make(
        server,
        "CREATE EXTENSION IF NOT EXISTS citext",
        f"CREATE COLLATION {collation} (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
        f"CREATE TABLE TABLE_NAME (a citext, b text COLLATE {collation}, c varchar)",
        f"INSERT INTO TABLE_NAME VALUES {values}",
    )
    for settings in ("", "?options=-cstandard_conforming_strings%3Doff"):
        engine = again(server, settings)
        rows = discreet.scan_query(f"SELECT * FROM {table}", engine)
        for column in ("a", "b", "c"):
            assert counts(rows, column, [*ODD, "no", "\0"]) == [1] * len(ODD) + [0, 0]
            for word in (r"\x41", "Tea", "o'hara"):
                where = f"{column} = '{word.replace(chr(39), chr(39) * 2)}'"
                assert discreet.count(rows, where=where, epsilon=SURE).value == 1
        engine.dispose()


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
@pytest.mark.parametrize("constant", ["\0", "a\0", "a\0b", "\0a", "b\0\0", "é\0"])
def test_conditions_with_the_least_character_are_answered(
    server: Engine, operator: str, constant: str
) -> None:
    """No text of the server has it, and other engines compare it so."""
    words = ["", "a", "a\x01", "a b", "ab", "b", "é", "éa", "z", None]
    values = ", ".join("(NULL)" if one is None else f"('{one}')" for one in words)
    query = f"SELECT CAST(word AS text) AS word FROM (VALUES {values}) AS v (word)"
    compare = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}[operator]
    expected = sum(word is not None and compare(word, constant) for word in words)
    rows, some = discreet.scan_query(query, server), len(words) - 1
    where = f"word {operator} '{constant}'"
    assert discreet.count(rows, where=where, epsilon=SURE).value == expected
    assert discreet.count(rows, where=f"NOT {where}", epsilon=SURE).value == some - expected
    assert discreet.count(rows, where=f"word IN ('a', '{constant}')", epsilon=SURE).value == 1


def again(server: Engine, options: str) -> Engine:
    """Return an engine of its own of the same server, with options."""
    url = server.url.render_as_string(hide_password=False)
    return create_engine(url + options.replace("?", "&" if "?" in url else "?"))


@pytest.mark.filterwarnings("ignore:candidates")
def test_texts_keep_their_blanks(server: Engine) -> None:
    table = make(
        server,
        "CREATE TABLE TABLE_NAME (a char(5))",
        "INSERT INTO TABLE_NAME VALUES ('tea'), ('teas '), (NULL)",
    )
    rows = discreet.scan_query(f"SELECT * FROM {table};", server)
    assert counts(rows, "a", ["tea  ", "teas ", "tea"]) == [1, 1, 0]


def test_types_of_users_are_what_they_are_made_of(
    server: Engine, statements: list[tuple[str, int]]
) -> None:
    """A domain is counted as its base, an enum by its labels; all else comes to memory, by its type alone."""
    enum, domain = f"e{uuid4().hex}", f"d{uuid4().hex}"
    table = make(
        server,
        f"CREATE TYPE {enum} AS ENUM ('low', 'high')",
        f"CREATE DOMAIN {domain} AS bigint CHECK (VALUE > 0)",
        f"CREATE TABLE TABLE_NAME (size {enum}, id {domain}, n numeric, price money)",
        "INSERT INTO TABLE_NAME VALUES ('low', 7, 0.1234567891234, 5), ('high', 7, 'NaN', NULL)",
    )
    rows = discreet.scan_query(f"SELECT * FROM {table}", server)
    assert counts(rows, "size", ["high", "low"]) == [1, 1]
    assert counts(rows, "id", [7, 8]) == [2, 0]
    assert all("GROUP BY" in query for query, _ in statements)
    with pytest.raises(discreet.errors.InvalidArgument, match="order of their own"):
        discreet.count(rows, where="size > 'high'", epsilon=1)
    statements.clear()
    assert counts(rows, "n", [Decimal("0.1234567891234"), Decimal("0.123456789")]) == [1, 0]
    assert counts(rows, "price", ["$5.00"]) == [1]
    assert [query for query, _ in statements] == [
        "SELECT c2 FROM discreet_query",
        "SELECT c3 FROM discreet_query",
    ]


def test_an_enum_is_its_label_whatever_cast_a_user_made(server: Engine) -> None:
    """A cast may raise at one label, or make two the same."""
    enum = f"e{uuid4().hex}"
    table = make(
        server,
        f"CREATE TYPE {enum} AS ENUM ('low', 'high', 'odd')",
        f"CREATE FUNCTION f{enum}({enum}) RETURNS text LANGUAGE plpgsql IMMUTABLE AS "
        "$$BEGIN IF $1 = 'odd' THEN RAISE 'no'; END IF; RETURN 'same'; END$$",
        f"CREATE CAST ({enum} AS text) WITH FUNCTION f{enum} AS ASSIGNMENT",
        f"CREATE TABLE TABLE_NAME (size {enum})",
        "INSERT INTO TABLE_NAME VALUES ('low'), ('high'), ('high'), ('odd'), (NULL)",
    )
    rows = discreet.scan_query(f"SELECT * FROM {table}", server)
    assert counts(rows, "size", ["low", "high", "odd"]) == [1, 2, 1]
    assert discreet.count(rows, where="size = 'high'", epsilon=SURE).value == 2


def test_an_id_is_its_text_whatever_cast_a_user_made(server: Engine) -> None:
    """Which rows of a unit stay is decided by the text that the server itself writes."""
    table = make(
        server, "CREATE TABLE TABLE_NAME AS SELECT 7 AS k, i AS x FROM generate_series(1, 9) AS i"
    )
    data = discreet.scan_query(f"SELECT * FROM {table}", server)
    start = start_of_rule(7)
    expected = [i for i in range(1, 10) if ((i - 1) * 2 + start) % 9 < 2]
    make(
        server,
        f"CREATE FUNCTION f{table}(bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT 'same'$$",
        f"CREATE CAST (bigint AS text) WITH FUNCTION f{table}(bigint) AS ASSIGNMENT",
    )
    try:
        values, _ = open_table(data, "x", Records("k", 2)).numbers().distinct(0)
    finally:
        make(server, "DROP CAST (bigint AS text)")
    assert sorted(values.tolist()) == expected


def test_infinite_numbers_without_a_precision_are_compared(server: Engine) -> None:
    """They come to memory, and are beyond all numbers there as on the server."""
    numbers = "(VALUES (CAST('Infinity' AS numeric)), ('-Infinity'), ('NaN'), (1)) AS v (n)"
    for of in ("numeric", "double precision"):
        rows = discreet.scan_query(f"SELECT CAST(n AS {of}) AS n FROM {numbers}", server)
        for where, size in (("n > 0", 2), ("n < 1", 1), ("n <> 1", 2), ("n IN (1, 2)", 1)):
            assert discreet.count(rows, where=where, epsilon=SURE).value == size


def test_candidates_for_a_server_are_a_list(server: Engine) -> None:
    """The error of a table of candidates says so."""
    rows = discreet.scan_query("SELECT 'tea' AS word", server)
    table = pl.DataFrame({"word": ["tea", "milk"]})
    with pytest.raises(discreet.errors.InvalidCandidates, match="candidates=table"):
        discreet.mode(rows, "word", candidates=discreet.CandidateTable(table, "word"), epsilon=1)
    with pytest.raises(discreet.errors.InvalidCandidates, match="candidates=table"):
        discreet.CandidateTable(rows, "word")
    answer = discreet.mode(rows, "word", candidates=table["word"], epsilon=SURE)
    assert answer.value == "tea"


def test_the_columns_of_a_query_are_known_before_its_rows(
    server: Engine, statements: list[tuple[str, int]]
) -> None:
    """A profile needs no list of them."""
    rows = discreet.scan_query("SELECT 1 AS k, CAST(1 AS numeric) AS n, now() AS t", server)
    assert list_columns(rows) == ["k", "n", "t"]
    assert [column_kind(rows, name) for name in "kt"] == ["numbers", "instants"]
    assert [holds_integers(rows, name) for name in "ktn"] == [True, False, False]
    with pytest.raises(discreet.errors.InvalidArgument, match="say which columns"):
        column_kind(rows, "n")
    assert statements == []


def test_no_statement_about_totals_of_units_has_a_number_of_the_table(
    server: Engine, statements: list[tuple[str, int]]
) -> None:
    """Two tables with other numbers, also at the half of a step, are asked the same; groups are listed or drawn."""
    asked = list[list[str]]()
    for cells in ("(1, 0.5, 'a'), (1, 0.49999999999999994, 'a')", "(1, 7.25, 'a'), (2, 31, 'b')"):
        table = make(
            server,
            "CREATE TABLE TABLE_NAME (u bigint, x double precision, g text)",
            f"INSERT INTO TABLE_NAME VALUES {cells}",
        )
        rows = discreet.scan_query(f"SELECT u, x, g FROM {table}", server)
        terms: dict[str, Any] = {"privacy_unit": "u", "max_sum": 300, "step": 1, "epsilon": SURE}
        discreet.sum(rows, "x", **terms)
        discreet.sum(rows, "x", by="g", groups=["a", "b"], **terms)
        asked.append([query for query, _ in statements])
        statements.clear()
    assert asked[0] == asked[1] != []


EDGES = [
    "1.7976931348623157e308",
    "-1.7976931348623157e308",
    "5e-324",
    "-5e-324",
    "Infinity",
    "-Infinity",
    "NaN",
]
GRID = Grid(500, 10500, 1000)
QUESTIONS: dict[str, Callable[[Any], object]] = {
    "median": lambda d: discreet.median(d, "x", candidates=GRID, epsilon=1),
    "fine median": lambda d: discreet.median(
        d, "x", candidates=Grid(0, 10**6, "0.000001"), epsilon=1
    ),
    "third": lambda d: discreet.median(d, "x", candidates=Grid(-5, 5, "1/3"), epsilon=1),
    "median of a list": lambda d: discreet.median(d, "x", candidates=[0, 1, 5], epsilon=1),
    "any median": lambda d: discreet.median(d, "x", epsilon=1),
    "median of units": lambda d: discreet.median(
        d, "x", candidates=GRID, privacy_unit="k", max_contributions=1, epsilon=1
    ),
    "sum": lambda d: discreet.sum(d, "x", minimum=0, maximum=10, epsilon=1),
    "mode": lambda d: discreet.mode(d, "x", candidates=[0.5, 1], epsilon=1),
    "price": lambda d: discreet.best_price(d, "x", candidates=Grid(1, 50), epsilon=1),
    "where": lambda d: discreet.count(d, where="x > 0.5 AND x < 7", epsilon=1),
}


@pytest.mark.parametrize("is_scan", [False, True])
@pytest.mark.parametrize("of", ["double precision", "numeric(6, 2)", "real"])
def test_no_record_decides_whether_there_is_an_answer(
    server: Engine, statements: list[tuple[str, int]], of: str, is_scan: bool
) -> None:
    """In two worlds that differ in one odd record there is an answer, and the server is asked as often."""
    table = make(
        server,
        f"CREATE TABLE TABLE_NAME (k int, x {of})",
        "INSERT INTO TABLE_NAME SELECT i, i FROM generate_series(1, 20) AS i",
        "CREATE INDEX ON TABLE_NAME (x)",
    )
    edges = (
        ["NaN"] if of.startswith("numeric") else [e for e in EDGES if of != "real" or e.isalpha()]
    )
    for name, ask in QUESTIONS.items():
        worlds = []
        for edge in ["21", "-7", *edges]:
            query = f"SELECT * FROM {table} UNION ALL SELECT 21, CAST('{edge}' AS {of})"
            if is_scan:
                query = f"SELECT * FROM {make(server, f'CREATE TABLE TABLE_NAME AS {query}')}"
            statements.clear()
            ask(discreet.scan_query(query, server))
            worlds.append(len(statements))
        assert len(set(worlds)) == 1, (name, worlds)


ODD_CELLS = {
    "date": ("2024-01-02", ["infinity", "-infinity", "0044-03-15 BC", "10000-01-01"]),
    "timestamp": ("2024-01-02 03:04", ["infinity", "0044-03-15 BC", "10000-01-01"]),
    "timestamptz": ("2024-01-02 03:04+00", ["-infinity", "10000-01-01 00:00+00"]),
    "time": ("12:00", ["24:00"]),
    "interval": ("1 day", ["100000000 years"]),
    "daterange": ("[2024-01-01,2024-02-01)", ["[2024-01-01,infinity)"]),
    "date[]": ("{2024-01-02}", ["{2024-01-02,infinity}"]),
    "jsonb": ("1", ["1" + "0" * 5_000, "[" * 3_000 + "]" * 3_000]),
}
"""Cells that Python cannot hold, or not always, beside one that it can, by their types."""


@pytest.mark.parametrize("of", ODD_CELLS)
def test_no_cell_decides_whether_rows_come_to_memory(server: Engine, of: str) -> None:
    """A cell that Python cannot hold is missing, and its row is a record, whatever brings the rows."""
    usual, odd = ODD_CELLS[of]
    table = make(
        server,
        f"CREATE TABLE TABLE_NAME (n numeric, c {of})",
        f"INSERT INTO TABLE_NAME SELECT i, '{usual}' FROM generate_series(1, 20) AS i",
    )
    other = again(server, "?options=-csearch_path%3Dpublic,pg_catalog")
    database = Database(other.url.render_as_string(hide_password=False))
    with server.connect() as connection, other.connect() as streamed:
        streamed = streamed.execution_options(stream_results=True)
        driver = connection.connection.driver_connection
        for cell in (usual, *odd):
            query = f"SELECT * FROM {table} UNION ALL SELECT 21, CAST('{cell}' AS {of})"
            for rows in (
                *(
                    discreet.scan_query(query, way)
                    for way in (server, connection, streamed, driver)
                ),
                SqlQuery(query, database),
            ):
                assert numbers_of_rows(rows) == (21, 21 if cell == usual else 20)
    other.dispose()


def test_rows_of_a_cursor_on_the_server_come_whole(server: Engine) -> None:
    """A part of them is here before the others."""
    with server.connect() as connection:
        driver: Any = connection.connection.driver_connection
        cursor = driver.cursor("a")
        cursor.execute("SELECT * FROM generate_series(1, 20)")
        cursor.fetchone()
        assert len(driver_rows(cursor)) == 19
        cursor.close()


def numbers_of_rows(rows: SqlQuery) -> tuple[int, int]:
    """Return how many records there are, and how many have a cell, of rows that come to memory."""
    of_all = discreet.count(rows, "n", epsilon=SURE).value
    with_cell = discreet.count(rows, "c", where="n > 0", epsilon=SURE).value
    return of_all, with_cell


def test_a_date_beyond_those_of_python_is_one_on_the_server_alone(server: Engine) -> None:
    """Rows in memory have no such date: docs/how-to/databases.md."""
    table = make(
        server,
        "CREATE TABLE TABLE_NAME (n numeric, d date)",
        "INSERT INTO TABLE_NAME VALUES (1, 'infinity'), (2, '-infinity'), (3, '2024-01-02')",
    )
    rows = discreet.scan_query(f"SELECT * FROM {table}", server)
    where = "d > DATE '2024-01-01'"
    assert discreet.count(rows, where=where, epsilon=SURE).value == 2
    assert discreet.count(rows, "n", where=where, epsilon=SURE).value == 1


def test_records_are_counted_by_a_column_of_the_server(
    server: Engine, statements: list[tuple[str, int]]
) -> None:
    """A count that names no column brings none to memory, if the server counts one of them."""
    table = make(
        server,
        "CREATE TABLE TABLE_NAME (n numeric, j json, x int)",
        "INSERT INTO TABLE_NAME SELECT i, '1', NULL FROM generate_series(1, 20) AS i",
    )
    rows = discreet.scan_query(f"SELECT * FROM {table}", server)
    assert discreet.count(rows, epsilon=SURE).value == 20
    assert [number for _, number in statements] == [1]
    rows = discreet.scan_query(f"SELECT n, j FROM {table}", server)
    assert discreet.count(rows, epsilon=SURE).value == 20


SCANS = {
    "SELECT * FROM ONLY public.people": True,
    'SELECT val, "Odd, ""name""", id FROM people AS p': True,
    "SELECT id FROM (SELECT * FROM seen) AS s": True,  # a view
    "SELECT * FROM parts": True,
    "SELECT id FROM people UNION ALL SELECT id FROM people": True,
    "SELECT twice FROM people": True,
    "SELECT id + 1 AS id FROM people": False,
    "SELECT CAST(id AS bigint) AS id FROM people": False,
    "SELECT id FROM people WHERE id > 1": False,
    "SELECT id FROM people LIMIT 9": False,
    "SELECT id FROM people ORDER BY val": False,
    "SELECT DISTINCT id FROM people": False,
    "SELECT id FROM people TABLESAMPLE SYSTEM (100)": False,
    "SELECT a.id FROM people AS a CROSS JOIN people AS b": False,
    "SELECT id, (SELECT count(*) FROM parts) AS n FROM people": False,
    "SELECT p AS whole FROM people AS p": False,
    "SELECT id FROM parts WHERE id > 5": False,
    "SELECT 1 AS id": False,
    "SELECT * FROM generate_series(1, 9) AS g (id)": False,
    "SELECT id FROM people UNION ALL SELECT id + 1 FROM people": False,
}


@pytest.mark.parametrize(("query", "is_scan"), SCANS.items())
def test_conditions_are_kept_out_of_queries_that_compute_or_drop(
    server: Engine, query: str, is_scan: bool
) -> None:
    """Only a scan of whole tables, of which cells are taken as they are, may be mixed with conditions of ours."""
    people = make(
        server,
        'CREATE TABLE TABLE_NAME (id int, val text, "Odd, ""name""" int, '
        "twice int GENERATED ALWAYS AS (2 * id) STORED)",
        "CREATE VIEW sTABLE_NAME AS SELECT id, val, twice FROM TABLE_NAME",
        "CREATE TABLE pTABLE_NAME (id int) PARTITION BY RANGE (id)",
        "CREATE TABLE aTABLE_NAME PARTITION OF pTABLE_NAME FOR VALUES FROM (0) TO (9)",
        "CREATE TABLE bTABLE_NAME PARTITION OF pTABLE_NAME DEFAULT",
    )
    for word, name in (("people", people), ("seen", f"s{people}"), ("parts", f"p{people}")):
        query = query.replace(word, name)
    for settings in ("", "?options=-ccompute_query_id%3Don"):
        engine = again(server, settings)
        rows = discreet.scan_query(query, engine).read_rows()
        assert isinstance(rows, ServerRows)
        assert rows._is_scan == is_scan
        del rows
        engine.dispose()


PAIRS = "people AS p JOIN kinds AS k ON k.kind = p.kind"
DROPPED = (
    f"SELECT p.id, CAST(p.val AS int) AS v FROM {PAIRS}",
    f"SELECT p.id, 60 / p.id AS v FROM {PAIRS}",
    "SELECT id, CAST(val AS int) AS v FROM people WHERE kind IN (SELECT kind FROM kinds)",
    "SELECT id, 60 / id AS v FROM people WHERE nonzero(id)",
)


@pytest.mark.parametrize("query", DROPPED)
def test_a_row_that_the_query_drops_decides_nothing(server: Engine, query: str) -> None:
    """A cell of it would raise, so our conditions are asked after those of the query."""
    table = make(
        server,
        "CREATE TABLE TABLE_NAME (id int, kind text, val text)",
        "INSERT INTO TABLE_NAME SELECT i, 'num', i FROM generate_series(1, 50) AS i",
        "CREATE TABLE kTABLE_NAME AS SELECT 'num' AS kind",
        "CREATE FUNCTION fTABLE_NAME(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE "
        "AS 'BEGIN RETURN $1 <> 0; END'",
        "ANALYZE TABLE_NAME",
        "ANALYZE kTABLE_NAME",
    )
    for word, name in (("people", table), ("kinds", f"k{table}"), ("nonzero", f"f{table}")):
        query = query.replace(word, name)
    rows = discreet.scan_query(query, server)
    assert isinstance(rows.read_rows(), ServerRows)

    def ask() -> list[object]:
        return [
            discreet.median(rows, "v", candidates=Grid(0, 100), epsilon=SURE).value in range(101),
            discreet.count(rows, where="v > 10", epsilon=SURE).value,
            counts(rows, "v", [1, 2]),
        ]

    before = ask()
    with server.begin() as connection:
        connection.execute(text(f"INSERT INTO {table} VALUES (0, 'secret', 'HIV')"))
    assert ask() == before


def test_what_leaves_the_server_are_no_rows(
    server: Engine, statements: list[tuple[str, int]]
) -> None:
    """Counts and cells, of which there are few; and keys after their draw."""
    table = make(
        server,
        "CREATE TABLE TABLE_NAME (k int, x double precision, word text)",
        "INSERT INTO TABLE_NAME SELECT i % 5000, i % 977, 'w' || i % 50 FROM generate_series(1, 50000) AS i",
    )
    rows = discreet.scan_query(f"SELECT * FROM {table}", server)
    grid = Grid(0, 1000)
    assert discreet.mode(rows, "word", candidates=["w1", "w2"], epsilon=SURE).value in ("w1", "w2")
    assert statements.pop()[1] == 2
    discreet.median(rows, "x", candidates=grid, privacy_unit="k", max_contributions=2, epsilon=1)
    for unit in (None, "k"):
        discreet.median(rows, "x", candidates=grid, epsilon=1)
        assert (
            len(discreet.counts(rows, "word", delta="1e-6", epsilon=10, privacy_unit=unit).value)
            == 50
        )
    assert sum(number for _, number in statements) < 6000
    assert all("GROUP BY" in query or "OVER" in query for query, _ in statements)


def test_an_answer_is_of_one_state(server: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another session adds and deletes rows before every pass, and no pass sees it."""
    table = make(
        server,
        "CREATE TABLE TABLE_NAME (k int, x int)",
        "INSERT INTO TABLE_NAME SELECT i % 50, i % 10 FROM generate_series(1, 1000) AS i",
    )
    rows = discreet.scan_query(f"SELECT * FROM {table}", server)
    other = server.connect().execution_options(isolation_level="AUTOCOMMIT")
    fetch, passes = ServerRows._fetch, 0

    def meddle(self: ServerRows, *arguments: Any, **options: Any) -> Any:
        nonlocal passes
        passes += 1
        other.execute(text(f"DELETE FROM {table} WHERE x < 9"))
        other.execute(text(f"INSERT INTO {table} VALUES (1, 9)"))
        return fetch(self, *arguments, **options)

    monkeypatch.setattr(ServerRows, "_fetch", meddle)
    terms: dict[str, Any] = {"privacy_unit": "k", "max_contributions": 100, "epsilon": SURE}
    answer = discreet.median(rows, "x", candidates=Grid(0, 10**6), **terms)
    assert answer.value in (4, 5)
    assert passes > 1
    other.close()


def test_a_hostile_search_path_is_left_alone(server: Engine) -> None:
    """Functions of ours are the server's own; where operators may be another's, rows come to memory."""
    schema = f"evil{uuid4().hex}"
    table = make(
        server,
        f"CREATE SCHEMA {schema}",
        f"CREATE FUNCTION {schema}.floor(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 99.0'",
        f"CREATE FUNCTION {schema}.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        f"CREATE OPERATOR {schema}.= (leftarg = text, rightarg = text, function = {schema}.same)",
        "CREATE TABLE TABLE_NAME (word pg_catalog.text, x float8)",
        "INSERT INTO TABLE_NAME VALUES ('tea', 3), ('milk', 4)",
    )
    for path, is_counted in ((f"{schema},public", True), (f"{schema},pg_catalog,public", False)):
        engine = again(server, f"?options=-csearch_path%3D{path}")
        rows = discreet.scan_query(f"SELECT * FROM public.{table}", engine)
        assert isinstance(rows.read_rows(), ServerRows) == is_counted
        assert counts(rows, "word", ["tea", "no"]) == [1, 0]
        assert discreet.median(rows, "x", candidates=Grid(0, 10), epsilon=SURE).value in (3, 4)
        engine.dispose()


def test_nothing_of_a_hostile_search_path_is_run(server: Engine) -> None:
    """No operator or function of its schemas runs as our role, not even before the path is asked for."""
    schema = f"evil{uuid4().hex}"
    body = "LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''evil''; RETURN NULL; END'"
    table = make(
        server,
        f"CREATE SCHEMA {schema}",
        f"CREATE FUNCTION {schema}.same(text, text) RETURNS boolean {body}",
        f"CREATE OPERATOR {schema}.= (leftarg = text, rightarg = text, function = {schema}.same)",
        f"CREATE FUNCTION {schema}.set_config(text, text, boolean) RETURNS text {body}",
        f"CREATE FUNCTION {schema}.current_setting(text) RETURNS text {body}",
        "CREATE TABLE TABLE_NAME (word text)",
        "INSERT INTO TABLE_NAME VALUES ('tea')",
    )
    engine = again(server, f"?options=-csearch_path%3D{schema},pg_catalog,public")
    told: list[str | None] = []

    @event.listens_for(Engine, "connect")
    def listen(connection: Any, _: object) -> None:
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary))

    assert counts(discreet.scan_query(f"SELECT * FROM {table}", engine), "word", ["tea"]) == [1]
    database = Database(engine.url.render_as_string(hide_password=False))
    rows = database.fetch(f"SELECT * FROM {table}", None, ReachCheck(with_views=True))
    event.remove(Engine, "connect", listen)
    assert rows == {"word": ["tea"]}
    assert told == []
    engine.dispose()


@pytest.mark.parametrize("encoding", ["latin1", "SJIS", "EUC_KR"])
def test_texts_on_the_way_are_unicode(server: Engine, encoding: str) -> None:
    """In another encoding a constant would mean another text, and a text that it lacks would end the query."""
    table = make(
        server,
        "CREATE TABLE TABLE_NAME (word text, other money)",
        "INSERT INTO TABLE_NAME VALUES ('a'), ('\\'), ('\\'), ('\u65e5\U0001f600')",
    )
    engine = again(server, f"?client_encoding={encoding}")
    rows = discreet.scan_query(f"SELECT * FROM {table}", engine)
    words = ["a", "\\", "\u00a5", "\u65e5\U0001f600"]
    assert counts(rows, "word", words) == [1, 2, 0, 1]
    where = "word = '\u00a5' OR word = '\u65e5\U0001f600'"
    assert discreet.count(rows, where=where, epsilon=SURE).value == 1
    assert counts(rows, "word", words, where="other IS NULL") == [1, 2, 0, 1]  # in memory
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW client_encoding").scalar() == encoding.upper()
    engine.dispose()


IDS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "bigint": ("i - 3", lambda i: i - 3),
    "text": ("'t\u00e9 ' || i", lambda i: f"t\u00e9 {i}"),
    "numeric(6, 2)": ("i / 10.0", lambda i: Decimal(i) / 10),
    "uuid": ("lpad(i::text, 32, '0')::uuid", lambda i: UUID(f"{i:032}")),
}


@pytest.mark.parametrize("of", IDS)
def test_of_every_unit_the_rows_of_the_rule_stay(server: Engine, of: str) -> None:
    """Units of one to nine rows, and at most one to ten of them: those of the definition in Python."""
    sql, identify = IDS[of]
    table = make(
        server,
        f"CREATE TABLE TABLE_NAME (u {of}, v int)",
        f"INSERT INTO TABLE_NAME SELECT {sql}, i * 100 + j FROM generate_series(1, 27) AS i, "
        "generate_series(0, 8) AS j WHERE j <= i % 9",
    )
    data = discreet.scan_query(f"SELECT * FROM {table}", server)
    for most in range(1, 11):
        expected = [
            i * 100 + j
            for i in range(1, 28)
            for size in [i % 9 + 1]
            for j in range(size)
            if (j * most + start_of_rule(identify(i))) % size < most
        ]
        values, times = open_table(data, "v", Records("u", most)).numbers().distinct(0)
        assert sorted(values.tolist()) == expected
        assert set(times.tolist()) == {1}


def opened(server: Engine) -> int:
    with server.connect() as connection:
        return int(connection.execute(text(OPENED)).scalar_one())


def test_a_transaction_ends_with_its_answer(server: Engine) -> None:
    table = make(server, "CREATE TABLE TABLE_NAME AS SELECT 'tea' AS word")
    engine = again(server, "")
    rows = discreet.scan_query(f"SELECT * FROM {table}", engine)
    held = rows.read_rows()
    assert opened(server) == 1
    del held
    assert opened(server) == 0
    assert counts(rows, "word", ["tea"]) == [1]
    with pytest.raises(UnreadableData, match="PostgreSQL failed"):
        counts(discreet.scan_query(f"SELECT CAST(word AS int) AS x FROM {table}", engine), "x", [1])
    assert opened(server) == 0
    assert engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    engine.dispose()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_ends_no_transaction_of_its_parent(server: Engine) -> None:
    table = make(server, "CREATE TABLE TABLE_NAME AS SELECT 'tea' AS word")
    rows = discreet.scan_query(f"SELECT * FROM {table}", server).read_rows()
    assert isinstance(rows, ServerRows)
    child = os.fork()
    if child == 0:
        del rows
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    assert rows._ask("SHOW transaction_isolation") == [("repeatable read",)]
    assert rows.read(["word"]) == {"word": ["tea"]}


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_interrupt_ends_the_query(server: Engine) -> None:
    slow = discreet.scan_query("SELECT 'tea' AS word FROM (SELECT pg_sleep(60)) AS q", server)
    with pytest.raises(KeyboardInterrupt), alarm(0.5):
        discreet.counts(slow, "word", candidates=["tea"], epsilon=1)
    until = time.monotonic() + 2
    while opened(server) and time.monotonic() < until:
        time.sleep(0.05)
    assert opened(server) == 0


ASK = """
import sys, warnings, sqlalchemy, discreet
warnings.simplefilter("ignore")
rows = discreet.scan_query("SELECT * FROM " + sys.argv[2], sqlalchemy.create_engine(sys.argv[1]))
print("asks", flush=True)
unit = dict(privacy_unit="k", max_contributions=2, epsilon=1)
discreet.median(rows, "x", candidates=discreet.Grid(0, 10**6), **unit)
"""


@pytest.mark.proof
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_query_outlasts_the_process_that_asks(server: Engine, end: signal.Signals) -> None:
    """At ten points of a question, whatever ends the process: no transaction of it goes on after two seconds."""
    table = make(
        server,
        "CREATE TABLE TABLE_NAME AS SELECT i % 50000 AS k, i AS x FROM generate_series(1, 300000) AS i",
    )
    url = server.url.render_as_string(hide_password=False)
    duration = 0.0
    for point in range(11):
        command = [sys.executable, "-c", ASK, url, table]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as asker:
            assert asker.stdout is not None
            asker.stdout.readline()
            begin = time.monotonic()
            if not point:  # the whole question, to know how long it takes
                assert asker.wait() == 0
                duration = time.monotonic() - begin
                continue
            time.sleep(duration * (point - 1) / 10)
            asker.send_signal(end)
            until = time.monotonic() + 2
            while opened(server) and time.monotonic() < until:
                time.sleep(0.02)
            assert opened(server) == 0, point


OF_UNITS: dict[str, Any] = {"privacy_unit": "k", "max_contributions": 2, "epsilon": SURE}


def test_a_role_that_may_only_read_suffices(
    server: Engine, statements: list[tuple[str, int]]
) -> None:
    """Rows of units are computed once in a temporary table, or in every pass: the answers are the same."""
    role = f"r{uuid4().hex}"
    table = make(
        server,
        "CREATE TABLE TABLE_NAME AS "
        "SELECT i % 3 AS k, i AS x, 'w' || i % 2 AS word FROM generate_series(1, 9) AS i",
        f"CREATE ROLE {role} LOGIN",
        f"GRANT SELECT ON TABLE_NAME TO {role}",
        "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC",
    )
    engines = {
        server: True,
        create_engine(server.url.set(username=role)): False,
        again(server, "?options=-cdefault_transaction_read_only%3Don"): False,
    }
    answers = list[object]()
    for engine, is_kept in engines.items():
        rows = discreet.scan_query(f"SELECT * FROM {table}", engine)
        for _ in range(2):
            statements.clear()
            median = discreet.median(rows, "x", candidates=Grid(0, 10), **OF_UNITS)
            assert sum("INSERT" in query for query, _ in statements) == is_kept
        pairs = {**OF_UNITS, "by": "word", "groups": "private", "delta": "1e-12"}
        drawn = discreet.median(rows, "x", candidates=Grid(0, 10), **pairs)
        answers.append((median.value in range(1, 10), [*drawn.value]))
    assert answers[0] == answers[1] == answers[2]
    with server.connect() as connection:
        left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'discreet%'"
        assert connection.execute(text(left)).scalar() == 0
    for engine in [*engines][1:]:
        engine.dispose()


def test_rows_that_are_kept_are_none_of_the_tables_of_a_query(server: Engine) -> None:
    """Whether the tables are those that were checked is asked again after the rows were kept."""
    table = make(
        server,
        "CREATE TABLE TABLE_NAME AS SELECT i % 3 AS k, i AS x FROM generate_series(1, 9) AS i",
    )
    record = {"table": f"public.{table}", "number": 0, "database": "", "views": ""}
    database = Database(server.url.render_as_string(hide_password=False))
    rows = SqlQuery(f"SELECT * FROM {table}", database, ReachCheck(record=record), table)
    median = discreet.median(rows, "x", candidates=Grid(0, 10), **OF_UNITS)
    assert median.value in range(1, 10)


@pytest.mark.parametrize("setting", ["lock_timeout", "statement_timeout"])
def test_what_locks_or_a_limit_stop_can_be_asked_again(server: Engine, setting: str) -> None:
    table = make(server, "CREATE TABLE TABLE_NAME AS SELECT 'tea' AS word")
    engine = again(server, f"?options=-c{setting}%3D300")
    rows = discreet.scan_query(f"SELECT * FROM {table}", engine)
    with server.begin() as other:
        other.execute(text(f"LOCK TABLE {table}"))
        with pytest.raises(DataUnavailable):
            counts(rows, "word", ["tea"])
    assert counts(rows, "word", ["tea"]) == [1]
    engine.dispose()


def test_an_answer_that_finds_no_connection_can_be_asked_again(server: Engine) -> None:
    engine = create_engine(server.url, pool_size=1, max_overflow=0, pool_timeout=0.1)
    rows = discreet.scan_query("SELECT 'tea' AS word", engine)
    with engine.connect(), pytest.raises(DataUnavailable):
        counts(rows, "word", ["tea"])
    assert counts(rows, "word", ["tea"]) == [1]
    engine.dispose()


def test_a_query_writes_nothing(server: Engine) -> None:
    table = make(server, "CREATE TABLE TABLE_NAME (word text)")
    make(
        server,
        f"CREATE FUNCTION f{table}() RETURNS text LANGUAGE sql AS 'INSERT INTO {table} VALUES (1) RETURNING word'",
    )
    rows = discreet.scan_query(f"SELECT f{table}() AS word", server)
    with pytest.raises(UnreadableData):
        counts(rows, "word", ["1"])
    assert counts(discreet.scan_query(f"SELECT * FROM {table}", server), "word", ["1"]) == [0]


def test_a_connection_of_the_callers_own_is_left_alone(server: Engine) -> None:
    """Its next statement would be in our transaction."""
    with server.connect() as connection:
        rows = discreet.scan_query("SELECT 'tea' AS word", connection)
        assert isinstance(rows.read_rows(), dict)
        assert counts(rows, "word", ["tea"]) == [1]


EVENTS = {
    "SET LOCAL app.tenant = 'a'": True,
    "SELECT set_config('app.tenant', 'a', true)": False,  # a transaction that has asked has its state
}


@pytest.mark.parametrize("setting", EVENTS)
def test_what_the_engine_does_as_a_transaction_begins_holds(server: Engine, setting: str) -> None:
    """Row security counts the rows of a tenant, on the server or, where the event asks it, in memory."""
    role = f"r{uuid4().hex}"
    table = make(
        server,
        "CREATE TABLE TABLE_NAME (tenant text)",
        "INSERT INTO TABLE_NAME SELECT CASE WHEN i < 11 THEN 'a' ELSE 'b' END FROM generate_series(1, 99) AS i",
        f"CREATE ROLE {role}",
        f"GRANT SELECT ON TABLE_NAME TO {role}",
        "ALTER TABLE TABLE_NAME ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY p ON TABLE_NAME TO {role} USING (tenant = current_setting('app.tenant'))",
    )
    engine = again(server, "")

    @event.listens_for(engine, "begin")
    def as_tenant(connection: Any) -> None:
        connection.exec_driver_sql(f"SET LOCAL ROLE {role}")
        connection.exec_driver_sql(setting)

    rows = discreet.scan_query(f"SELECT * FROM {table}", engine)
    held = rows.read_rows()
    assert isinstance(held, ServerRows) == EVENTS[setting]
    assert not (isinstance(held, ServerRows) and held._is_scan)
    del held
    assert counts(rows, "tenant", ["a", "b"]) == [10, 0]
    engine.dispose()


def test_tables_and_views_stay_as_they_were_checked(server: Engine) -> None:
    """Until an answer is there, none of them is replaced, not even between two passes."""
    table = make(server, "CREATE TABLE TABLE_NAME AS SELECT 'tea' AS word")
    view = make(server, f"CREATE VIEW TABLE_NAME AS SELECT * FROM {table}")
    database = Database(server.url.render_as_string(hide_password=False))
    changes = (
        f"CREATE OR REPLACE VIEW {view} AS SELECT CAST('no' AS text) AS word",
        f"DROP TABLE {table} CASCADE",
    )
    rows = database.fetch(f"SELECT * FROM {view}", None, ReachCheck(with_views=True))
    assert isinstance(rows, ServerRows)
    for change in changes:
        with pytest.raises(OperationalError, match="lock timeout"):
            make(server, "SET LOCAL lock_timeout = 200", change)
    assert counts(rows, "word", ["tea"]) == [1]
    del rows
    for change in changes:
        make(server, change)


def test_a_table_that_takes_the_name_is_not_read(server: Engine) -> None:
    """The locks of the second connection must be those of the first."""
    table = make(server, "CREATE TABLE TABLE_NAME AS SELECT 1 AS a")
    check = ReachCheck(
        record={"table": f"public.{table}", "number": 0, "database": "", "views": ""}
    )

    database = Database(server.url.render_as_string(hide_password=False))
    rows = database.fetch(f"SELECT * FROM {table}", table, check)
    assert isinstance(rows, ServerRows)
    check._locks = frozenset({1})
    with pytest.raises(discreet.errors.InvalidArgument, match="not what it was"):
        rows.read(["a"])


GOLDEN = Path(__file__).with_name("golden_postgresql.sql")


def test_the_sql_is_the_same_as_ever(server: Engine, statements: list[tuple[str, int]]) -> None:
    """A new version of Narwhals shows here what it asks otherwise. `DISCREET_GOLDEN=1` writes it anew."""
    query = "SELECT 1 AS k, 1.5 AS x, 'tea' AS word, 'a' AS part"
    rows = discreet.scan_query(query.replace("1.5", "CAST(1.5 AS float8)"), server)
    unit: dict[str, Any] = {"privacy_unit": "k", "epsilon": 1}
    discreet.mode(rows, "word", candidates=["tea", "milk"], epsilon=1)
    discreet.mode(rows, "word", candidates=["tea"], where="x > 1 AND word <> 'o''hara'", **unit)
    discreet.median(rows, "x", candidates=Grid(0, 10), **unit, max_contributions=2)
    discreet.counts(rows, "word", candidates=["tea"], by="part", groups=["a", "b"], **unit)
    discreet.counts(rows, "word", delta="1e-6", **unit)
    asked = "".join(f"{query}\n\n" for query, _ in statements)
    asked = re.sub("discreet_kept_[0-9a-f]{32}", "discreet_kept_rows", asked)  # its end is random
    if os.environ.get("DISCREET_GOLDEN"):
        GOLDEN.write_text(asked)
    assert asked == GOLDEN.read_text()
