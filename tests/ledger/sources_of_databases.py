"""Databases of three kinds with tables, views and all that is neither, and sources that read them in many ways."""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb

TABLES = """
CREATE TABLE people (id INTEGER, age INTEGER);
CREATE TABLE visits (id INTEGER, age INTEGER);
INSERT INTO people VALUES (1, 31), (2, 47), (3, 50);
INSERT INTO visits VALUES (1, 7);
CREATE VIEW adults AS SELECT id, age FROM people WHERE age > 17;
CREATE VIEW old AS SELECT age FROM adults WHERE age > 40;
CREATE VIEW seen AS SELECT v.age FROM visits v WHERE v.id IN (SELECT id FROM people);
CREATE VIEW calls AS SELECT age FROM visits;
CREATE VIEW empty_one AS SELECT 1 AS age;
"""
DUCK_TABLES = (
    TABLES
    + """
CREATE SCHEMA s; CREATE TABLE s.people (id INTEGER, age INTEGER);
CREATE MACRO everybody() AS TABLE SELECT * FROM people;
CREATE MACRO number() AS (SELECT count(*) FROM people);
COPY people TO 'people.parquet';
CREATE VIEW stored AS SELECT * FROM read_parquet('people.parquet');
"""
)
LITE_TABLES = (
    TABLES
    + """
CREATE TABLE numbered (id INTEGER PRIMARY KEY AUTOINCREMENT, age INTEGER);
CREATE VIRTUAL TABLE words USING fts5(age, content='people');
"""
)
SERVER_TABLES = (
    TABLES
    + """
CREATE SCHEMA s; CREATE TABLE s.people (id int, age int); CREATE TABLE "People" (id int, age int);
CREATE MATERIALIZED VIEW stored AS SELECT age FROM old;
CREATE TABLE parts (age int) PARTITION BY RANGE (age);
CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM (9) TO (99);
CREATE TABLE parents (id int, age int); CREATE TABLE children () INHERITS (parents);
CREATE TABLE guarded (id int, age int); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY known ON guarded USING (id IN (SELECT id FROM people));
CREATE TABLE lone (id int, age int);
CREATE FUNCTION everybody() RETURNS SETOF people LANGUAGE sql AS 'SELECT * FROM people';
CREATE EXTENSION postgres_fdw; CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw;
CREATE FOREIGN TABLE far (age int) SERVER back OPTIONS (table_name 'people');
CREATE ROLE bob LOGIN; GRANT USAGE ON SCHEMA s TO bob;
GRANT SELECT ON ALL TABLES IN SCHEMA public, s TO bob;
"""
)

DUCK, LITE = "duckdb:///people.duckdb", "sqlite:///people.db"
Source = tuple[str, str, str]
"""A connection, `table` or `query`, and its text."""

DUCK_SOURCES: list[Source] = [
    *((DUCK, "table", name) for name in (
        "people", "PEOPLE", "main.people", "people.main.people", "people.people", "visits", "main.Visits",
        "s.people", "adults", "old", "seen", "calls", "empty_one", "stored", "duckdb_tables",
        "information_schema.tables",
    )),
    *((DUCK, "query", text) for text in (
        "FROM people", "SELECT age FROM visits", "SELECT age FROM s.people", "SELECT age FROM old",
        "SELECT age FROM seen", "SELECT age FROM everybody()", "SELECT number() AS age FROM visits",
        "SELECT age FROM query('SELECT * FROM ' || 'people')", "SELECT age FROM query_table('people')",
        "SELECT people.age FROM people JOIN visits USING (id)", "SELECT age FROM 'people.parquet'",
        "SELECT age FROM read_parquet('people.parquet')", "SELECT age FROM 'lone.duckdb'", "SELECT 1 AS age",
    )),
    ("duckdb:///hard.duckdb", "table", "people"), ("duckdb:///soft.duckdb", "table", "people"),
    ("duckdb:///x/../people.duckdb", "table", "people"), ("duckdb:///hard.duckdb", "query", "FROM visits"),
    ("duckdb:///other.duckdb", "table", "people"), ("duckdb:///other.duckdb", "query", "FROM people"),
    ("duckdb:///lone.duckdb", "table", "people"),
]  # fmt: skip
LITE_SOURCES: list[Source] = [
    *((LITE, "table", name) for name in (
        "people", "PEOPLE", "main.people", "visits", "adults", "old", "seen", "calls", "empty_one", "words",
        "words_data", "numbered", "sqlite_sequence", "sqlite_master", "pragma_table_list",
    )),
    *((LITE, "query", text) for text in (
        "SELECT age FROM people", "SELECT age FROM [people] NOT INDEXED", "SELECT age FROM visits",
        "SELECT age FROM seen", "SELECT 1 AS age WHERE EXISTS (SELECT 1 FROM people)",
        "SELECT j.value AS age FROM json_each('[1]') j", "SELECT sql AS age FROM sqlite_master", "SELECT 1 AS age",
    )),
    ("sqlite:///hard.db", "table", "people"), ("sqlite:///hard.db", "query", "SELECT age FROM visits"),
    ("sqlite:///soft.db", "table", "people"), ("sqlite:///other.db", "table", "people"),
]  # fmt: skip
SERVED: list[tuple[str, str]] = [
    *(("table", name) for name in (
        "people", "public.people", "visits", "s.people", "People", "adults", "seen", "calls", "stored", "parts",
        "part", "part_2", "parents", "children", "guarded", "lone", "far", "pg_stats", "pg_catalog.pg_statistic",
    )),
    *(("query", text) for text in (
        "SELECT age FROM people", "SELECT age FROM ONLY people", "SELECT age FROM visits", "SELECT age FROM seen",
        "SELECT age FROM everybody()", "SELECT age FROM far", "SELECT age FROM parts", "SELECT age FROM children",
        "SELECT people.age FROM people JOIN visits USING (id)", "SELECT null_frac::int AS age FROM pg_stats",
        "SELECT query_to_xml('SELECT * FROM people', true, true, '')::text AS age FROM visits", "SELECT 1 AS age",
    )),
]  # fmt: skip


ORDINARY = {
    **dict.fromkeys(("people", "PEOPLE", "People", "main.people", "people.main.people", "public.people"), "people"),
    **dict.fromkeys(("visits", "main.Visits"), "visits"), "s.people": "s.people", "numbered": "numbered",
    "lone": "lone",
}  # fmt: skip
"""The ordinary tables by the names of sources, in small letters."""


def table_of(source: Source) -> tuple[str, str]:
    """The database of a source, and the ordinary table that it is; an empty name for all other sources."""
    url, kind, text = source
    database = re.sub(r"hard|soft|x/\.\./people|-link", "people", url.partition("&")[0])
    if "?host=" in url:
        database = "warehouse" if "/warehouse?" in url else "shop"
    name = ORDINARY.get(text, "") if kind == "table" else ""
    return database, "s.people" if "search_path" in url and text == "people" else name


def make_files() -> None:
    """Make the databases of DuckDB and SQLite in the folder of the process."""
    for name in ("people.duckdb", "other.duckdb"):
        with duckdb.connect(name) as connection:
            connection.execute(DUCK_TABLES)
    with duckdb.connect("lone.duckdb") as connection:
        connection.execute("CREATE TABLE people (id INTEGER, age INTEGER)")
    for name in ("people.db", "other.db"):
        with closing(sqlite3.connect(name)) as lite, lite:
            lite.executescript(LITE_TABLES)


def link_files(folder: Path) -> None:
    """Make other names of the databases in a folder."""
    for kind in ("duckdb", "db"):
        os.link(folder / f"people.{kind}", folder / f"hard.{kind}")
        (folder / f"soft.{kind}").symlink_to(folder / f"people.{kind}")


def server_sources(url: str, link: str) -> list[Source]:
    """The sources of a server, some of them by another role, search path or host.

    Args:
        url: of the server.
        link: the same by another host.
    """
    bob = url.replace("tests@", "bob@") + "&options=-csearch_path%3Ds,public"
    warehouse = url.replace("/postgres?", "/warehouse?")
    return [
        *((url, kind, text) for kind, text in SERVED), (bob, "table", "people"), (bob, "table", "public.people"),
        (bob, "query", "SELECT age FROM visits"), (link, "table", "people"), (warehouse, "table", "people"),
        (warehouse, "query", "SELECT age FROM people"),
    ]  # fmt: skip


def description(sources: list[Source]) -> str:
    """A discreet.toml with a dataset for each source, `d0`, `d1`, and so on."""
    columns = 'columns.age = { type = "integer", minimum = 0, maximum = 120 }'
    texts = (
        f'[datasets.d{i}]\nconnection = \'{url}\'\n{kind} = """{text}"""\n{columns}'
        for i, (url, kind, text) in enumerate(sources)
    )
    return "\n".join(texts)
