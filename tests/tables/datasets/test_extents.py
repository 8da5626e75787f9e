"""What a source covers: a database is its file or its server, a query is its tables, in whatever spelling."""

import os
from pathlib import Path

import pytest

from discreet.tables.datasets.extents import database_ids, extent_of

SERVER = "postgresql+psycopg://alice@db.example/shop"
SPELLINGS = [
    "postgresql+psycopg://db.example/shop",
    "postgresql+psycopg://bob@db.example/shop",
    "postgresql+psycopg://DB.Example/shop",
    "postgresql+psycopg://db.example./shop",
    "postgresql+psycopg://db.example:5432/shop",
    "postgresql+psycopg://db.example/shop?sslmode=require",
    "postgresql+psycopg://db.example/shop?application_name=other",
    "postgresql+psycopg://db.example/shop?options=-csearch_path%3Dx",
    "postgresql+psycopg:///shop?host=db.example",
    "postgresql+psycopg:///shop?host=DB.EXAMPLE&port=5432",
    "postgresql+psycopg:///shop?host=db.example:5432",
    "postgresql+psycopg:///?host=db.example&dbname=shop",
    "postgresql+psycopg://db.example/other?dbname=shop",
    "postgresql+psycopg:///shop?host=replica.example,db.example",
    "postgresql+psycopg:///shop?host=replica.example&host=db.example",
    "postgresql+psycopg:///shop?host=replica.example:7000&host=db.example:5432",
    "postgresql+psycopg://shop@db.example",
    "postgresql://db.example/shop?target_session_attrs=read-only",
]
OTHERS = [
    "postgresql+psycopg://db.example/warehouse",
    "postgresql+psycopg://db.example/Shop",
    "postgresql+psycopg://db.example:5433/shop",
    "postgresql+psycopg://db2.example/shop",
    "postgresql+psycopg:///shop",
    "duckdb:////data/shop",
]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGPORT", "PGDATABASE", "PGUSER"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("url", SPELLINGS)
def test_spellings_of_a_server_are_one_database(url: str) -> None:
    assert database_ids(url) & database_ids(SERVER)


@pytest.mark.parametrize("url", OTHERS)
def test_other_databases_are_others(url: str) -> None:
    assert not database_ids(url) & database_ids(SERVER)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://127.0.0.1/d",
        "postgresql://[::1]/d",
        "postgresql:///d?host=/var/run/postgresql/",
        "postgresql:///d",
    ],
)
def test_this_machine_is_one_host(url: str) -> None:
    assert database_ids(url) == database_ids("postgresql://LOCALHOST:5432/d")


def test_the_environment_of_the_client_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PGHOST", "db.example"), ("PGPORT", "5432"), ("PGDATABASE", "shop")):
        monkeypatch.setenv(name, value)
    assert database_ids("postgresql:///") & database_ids(SERVER)


def test_a_file_with_wildcards_in_its_name_is_itself_alone(tmp_path: Path) -> None:
    (tmp_path / "ab.csv").write_text("x\n1\n")
    pattern = str(tmp_path / "a*.csv")
    other = extent_of(str(tmp_path / "ab.csv"))
    assert other is not None
    before = extent_of(pattern)
    Path(pattern).write_text("x\n2\n")
    after = extent_of(pattern)
    assert before is not None
    assert after is not None
    assert before.overlaps(other)
    assert not after.overlaps(other)
    assert after.files
    assert not after.paths


def test_a_path_is_to_come_until_its_file_is_there(tmp_path: Path) -> None:
    folder, file = extent_of(str(tmp_path)), tmp_path / "later.csv"
    to_come = extent_of(str(file))
    assert folder is not None
    assert to_come is not None
    assert to_come.paths == (str(file),)
    assert to_come.overlaps(folder)
    file.write_text("x\n1\n")
    there = extent_of(str(file))
    assert there is not None
    assert there.paths == ()
    assert there.files == extent_of(str(tmp_path)).files  # type: ignore[union-attr]


def test_a_file_is_one_by_its_inode(tmp_path: Path) -> None:
    one, other, link = (tmp_path / name for name in ("one.db", "other.db", "link.db"))
    one.write_text("x")
    other.write_text("x")
    os.link(one, link)
    assert database_ids(f"sqlite:///{one}") & database_ids(f"duckdb:///{link}")
    assert not database_ids(f"sqlite:///{one}") & database_ids(f"sqlite:///{other}")
    known = one.stat()
    record = f"{known.st_dev}:{known.st_ino}"
    one.unlink()  # it was moved to link: the record is of the same file
    assert database_ids(f"sqlite:///{one}", record) & database_ids(f"sqlite:///{link}")
    one.write_text("another file")
    assert not database_ids(f"sqlite:///{one}", record) & database_ids(f"sqlite:///{link}")


QUERIES = [
    ("SELECT age FROM people", "select city, age\n from People where age > 3;", True),
    ("SELECT age FROM people", "SELECT age FROM visits", False),
    ("SELECT age FROM people", "SELECT age FROM main.people", True),
    ("SELECT age FROM other.people", "SELECT age FROM main.people", False),
    ("SELECT a FROM t JOIN u USING (i)", "SELECT b FROM u, t", True),
    ("SELECT a FROM t JOIN u USING (i)", "SELECT a FROM t", True),
    ("SELECT age FROM people", "WITH q AS (SELECT * FROM people) SELECT * FROM q", True),
    ("SELECT age FROM q", "WITH q AS (SELECT * FROM people) SELECT * FROM q", False),
    ("SELECT age FROM q", "WITH q AS (SELECT * FROM q) SELECT * FROM q", True),
    ("SELECT age FROM q", "WITH q AS (SELECT 1) SELECT * FROM people, (SELECT * FROM q) x", False),
    ("SELECT age FROM q", "SELECT * FROM (WITH q AS (SELECT 1) SELECT * FROM q) x, q", True),
    (
        "SELECT age FROM r",
        "WITH r AS (SELECT * FROM s), s AS (SELECT 1 AS x) SELECT * FROM r",
        False,
    ),
    (
        "SELECT age FROM s",
        "WITH r AS (SELECT * FROM s), s AS (SELECT 1 AS x) SELECT * FROM r",
        True,
    ),
    (
        "SELECT age FROM q",
        "WITH RECURSIVE q(n) AS (SELECT 1 UNION SELECT n FROM q, t) SELECT * FROM q",
        False,
    ),
    (
        "SELECT age FROM t",
        "WITH RECURSIVE q(n) AS (SELECT 1 UNION SELECT n FROM q, t) SELECT * FROM q",
        True,
    ),
    ("SELECT age FROM people", "SELECT age FROM [people]", True),
    ("SELECT age FROM visits", "SELECT age FROM [people]", True),
    ("SELECT age FROM visits", "SELECT age FROM people NOT INDEXED", True),
    ("SELECT age FROM visits", "SELECT age FROM ONLY people", True),
    ("SELECT age FROM visits", "SELECT age FROM people FOR SHARE", True),
    ("SELECT age FROM visits", "SELECT * FROM f(1)", True),
    ("SELECT $$ FROM", "SELECT   $$ FROM", True),
    ("SELECT 1", "SELECT age FROM people", True),
]


@pytest.mark.parametrize(("one", "other", "overlap"), QUERIES)
def test_queries_overlap_by_the_tables_that_they_name(one: str, other: str, overlap: bool) -> None:
    """As in older ledgers, of which nobody asked a catalogue."""
    extents = [extent_of({"query": query, "connection": SERVER}) for query in (one, other)]
    elsewhere = extent_of({"query": other, "connection": OTHERS[0]})
    assert extents[0] is not None
    assert extents[1] is not None
    assert elsewhere is not None
    assert extents[0].overlaps(extents[1]) is extents[1].overlaps(extents[0]) is overlap
    assert not extents[0].overlaps(elsewhere)
