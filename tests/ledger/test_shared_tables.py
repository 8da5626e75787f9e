"""One table has one budget, whatever spells it; two that were opened before answer nothing until they are one."""

import itertools
import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from discreet import Dataset, Grid, Ledger
from discreet.errors import DiscreetError, Exhausted, InvalidArgument, UnreadableData
from discreet.privacy import PureDP
from discreet.tables.datasets.databases import DuckFile, read_database
from discreet.tables.engines.query_tables import TableCheck
from discreet.tables.engines.sql_queries import SqlQuery

from ..postgres import server

AGE: Any = {"age": {"type": "integer", "minimum": 0, "maximum": 120}}
TABLES = """
CREATE TABLE people (id INTEGER, age INTEGER);
CREATE TABLE visits (id INTEGER, age INTEGER);
CREATE TABLE "odd "" name" (age INTEGER);
INSERT INTO people VALUES (1, 31), (2, 47), (3, 50);
INSERT INTO visits VALUES (1, 7);
CREATE VIEW adults AS SELECT id, age FROM people WHERE age > 17;
CREATE VIEW old AS SELECT age FROM adults WHERE age > 40;
CREATE VIEW seen AS SELECT v.age FROM visits v WHERE v.id IN (SELECT id FROM people);
CREATE VIEW "a AS b" AS SELECT age FROM people;
CREATE VIEW empty_one AS SELECT 1 AS age;
"""


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Databases to be copied."""
    made = tmp_path_factory.mktemp("databases")
    for name in ("people.duckdb", "other.duckdb"):
        with pytest.MonkeyPatch.context() as patch, duckdb.connect(str(made / name)) as connection:
            patch.chdir(made)
            connection.execute(TABLES)
            connection.execute(
                "CREATE SCHEMA s; CREATE TABLE s.people (age INTEGER);"
                "CREATE MACRO everybody() AS TABLE SELECT * FROM people;"
                "CREATE MACRO number() AS (SELECT count(*) FROM people);"
                "COPY people TO 'people.parquet'; COPY people TO 'people.csv';"
                "CREATE VIEW stored AS SELECT * FROM read_parquet('people.parquet');"
            )
    with closing(sqlite3.connect(made / "people.db")) as lite, lite:
        lite.executescript(TABLES)
        lite.execute("CREATE VIRTUAL TABLE words USING fts5(age, content='people')")
    lite.close()
    return made


@pytest.fixture
def folder(databases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    for path in databases.iterdir():
        shutil.copy(path, tmp_path)
    os.link(tmp_path / "people.duckdb", tmp_path / "hard.duckdb")
    os.link(tmp_path / "people.db", tmp_path / "hard.db")
    (tmp_path / "soft.duckdb").symlink_to(tmp_path / "people.duckdb")
    return tmp_path


def described(
    query: str, url: str = "duckdb:///people.duckdb", name: str = "second", **more: Any
) -> Dataset:
    database = read_database(url, Path.cwd(), ("connection",))
    return Dataset(SqlQuery(query, database), AGE, name=name, **more)


def budgets_of(one: Dataset, other: Dataset) -> set[int]:
    """Return how many budgets two datasets have, whichever is opened first."""
    counts = set()
    for first, second in itertools.permutations((one, other)):
        ledger = Ledger()
        ledger.open(first, epsilon=1)
        ledger.open(second, epsilon=1)
        counts.add(len(ledger.budgets()))
    return counts


DUCK = "duckdb:///people.duckdb"
LITE = "sqlite:///people.db"
SAME = [
    (DUCK, "SELECT age FROM people"),
    (DUCK, "select age from People where age > 3;"),
    (DUCK, "SELECT age FROM main.people"),
    (DUCK, "SELECT age FROM people.main.people"),
    (DUCK, "FROM people"),
    (DUCK, "TABLE people"),
    (DUCK, 'SELECT age FROM "people" AS p'),
    (DUCK, "WITH q AS (SELECT * FROM people) SELECT * FROM q"),
    (DUCK, "WITH visits AS (SELECT * FROM people) SELECT age FROM visits"),
    (DUCK, "WITH people AS (SELECT * FROM people) SELECT age FROM people"),
    (
        DUCK,
        "WITH RECURSIVE q(age) AS (SELECT age FROM people UNION SELECT age + 1 FROM q WHERE age < 9) FROM q",
    ),
    (DUCK, "SELECT people.age FROM people JOIN visits USING (id)"),
    (DUCK, "SELECT age FROM visits WHERE id IN (SELECT id FROM people)"),
    (DUCK, "SELECT age FROM visits UNION ALL SELECT age FROM people WHERE false"),
    (DUCK, "SELECT (SELECT max(age) FROM people) AS age FROM visits"),
    (
        DUCK,
        "SELECT x.age FROM visits, LATERAL (SELECT age FROM people WHERE people.id = visits.id) x",
    ),
    (DUCK, "SELECT age FROM adults"),
    (DUCK, "SELECT age FROM old"),
    (DUCK, "SELECT age FROM seen"),
    (DUCK, 'SELECT age FROM "a AS b"'),
    (DUCK, "SELECT age FROM everybody()"),
    (DUCK, "SELECT number() AS age FROM visits"),
    (DUCK, "SELECT age FROM query('SELECT * FROM people')"),
    (DUCK, "SELECT age FROM query('SELECT * FROM ' || 'people')"),
    (DUCK, "SELECT age FROM query_table('people')"),
    (DUCK, "SELECT age FROM people TABLESAMPLE 50%"),
    (DUCK, "PIVOT people ON id USING max(age)"),
    (DUCK, "SUMMARIZE people"),
    (DUCK, "SELECT estimated_size AS age FROM duckdb_tables()"),
    ("duckdb:///hard.duckdb", "SELECT age FROM people"),
    ("duckdb:///soft.duckdb", "SELECT age FROM people"),
    ("duckdb:///./x/../people.duckdb", "SELECT age FROM people"),
]
LITE_SAME = [
    "SELECT age FROM people",
    "SELECT age FROM [people]",
    "SELECT age FROM `people`",
    "SELECT age FROM people NOT INDEXED",
    "SELECT age FROM MAIN.PEOPLE",
    "WITH q AS MATERIALIZED (SELECT * FROM people) SELECT * FROM q",
    "SELECT count(*) AS age FROM people",
    "SELECT age FROM old",
    "SELECT age FROM seen",
    "SELECT 1 AS age WHERE EXISTS (SELECT 1 FROM people)",
    "SELECT age FROM words",
    "SELECT sql AS age FROM sqlite_master",
    "SELECT pgno AS age FROM sqlite_dbpage",
    "SELECT j.value AS age FROM json_each('[1]') j",
    "SELECT age FROM people -- and no more",
    "SELECT age FROM visits LEFT JOIN people USING (id, age)",
]


@pytest.mark.parametrize(("url", "query"), SAME)
@pytest.mark.one_in(5)
def test_a_table_of_duckdb_has_one_budget(folder: Path, url: str, query: str) -> None:
    if "sqlite_dbpage" in query:
        pytest.skip("not compiled in")
    people = described("SELECT age FROM people", name="people")
    assert budgets_of(people, described(query, url)) == {1}


@pytest.mark.parametrize("url", [LITE, "sqlite:///hard.db"])
@pytest.mark.parametrize("query", LITE_SAME)
@pytest.mark.one_in(5)
def test_a_table_of_sqlite_has_one_budget(folder: Path, url: str, query: str) -> None:
    people = described("SELECT age FROM people", LITE, name="people")
    try:
        assert budgets_of(people, described(query, url)) == {1}
    except UnreadableData:
        assert "sqlite_dbpage" in query  # where it is not compiled in


OTHER = [
    (DUCK, "SELECT age FROM visits"),
    (DUCK, "SELECT age FROM s.people"),
    (DUCK, 'SELECT age FROM "odd "" name"'),
    (DUCK, "WITH people AS (SELECT * FROM visits) SELECT age FROM people"),
    (DUCK, "SELECT age FROM empty_one"),
    (DUCK, "SELECT age FROM stored"),
    ("duckdb:///other.duckdb", "SELECT age FROM people"),
    (LITE, "SELECT age FROM people"),
]


@pytest.mark.parametrize(("url", "query"), OTHER)
@pytest.mark.one_in(4)
def test_other_tables_have_other_budgets(folder: Path, url: str, query: str) -> None:
    people = described("SELECT age FROM people", name="people")
    assert budgets_of(people, described(query, url)) == {2}


NAMES = [
    "odd name",
    "odd.name",
    'a"b',
    "a'b",
    "a\nb",
    "größe",
    "select",
    "--",
    "/*",
    "a;b",
    "%",
    ":x",
    "Ω" * 50,
    "people.x",
]


@pytest.mark.parametrize("url", [DUCK, LITE])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.one_in(5)
def test_hostile_names_are_names(folder: Path, url: str, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    _run(url, f"CREATE TABLE {quoted} (age INTEGER); CREATE VIEW shown AS SELECT age FROM {quoted}")
    people = described("SELECT age FROM people", url, name="people")
    whole = described(f"SELECT age FROM {quoted}", url, name="whole")
    assert budgets_of(whole, described("SELECT age FROM shown", url)) == {1}
    assert budgets_of(people, described("SELECT age FROM shown", url)) == {2}
    assert budgets_of(people, whole) == {2}
    ledger = Ledger()
    ledger.open(described("SELECT age FROM shown", url, name="shown"), epsilon=1)
    assert ledger.verify().notes == ()


def test_letters_that_sqlite_tells_apart_hide_no_table(folder: Path) -> None:
    """Outside of ASCII the case of a letter tells names apart: a view may be called as a table but for it."""
    _run(
        LITE,
        'CREATE TABLE "ω" (age INTEGER); CREATE VIEW "Ω" AS SELECT 1 AS age; CREATE VIEW "Σ" AS SELECT 1 AS age;',
    )
    _run(LITE, 'CREATE TABLE "σ" (age INTEGER)')
    for letter in "ωσ":
        omega = described(f'SELECT age FROM "{letter}"', LITE, name="omega")
        assert budgets_of(omega, described(f'SELECT max(age) AS age FROM "{letter}"', LITE)) == {1}


@pytest.mark.parametrize(
    "stem", ["my-people", "a b", 'a"b', "a.b", "select", "Ω", "main", "memory", "temp", "system"]
)
@pytest.mark.one_in(5)
def test_the_name_of_the_file_is_no_part_of_a_table(folder: Path, stem: str) -> None:
    path = f"{stem}.duckdb"
    os.link("people.duckdb", path)
    database = DuckFile(f"duckdb:///{path}", str(folder / path))
    linked = Dataset(SqlQuery("SELECT age FROM old", database), AGE, name="linked")
    people = described("SELECT age FROM people", name="people")
    try:
        assert budgets_of(people, linked) == {1}
    except UnreadableData:
        assert stem in ("temp", "system")  # DuckDB opens no file of that name


FILES = [
    "SELECT age FROM read_parquet('people.parquet')",
    "SELECT age FROM 'people.parquet'",
    'SELECT age FROM "people.parquet"',
    "SELECT age FROM read_parquet(['people.parquet'])",
    "SELECT age FROM read_parquet('*.parquet')",
    "SELECT age FROM parquet_scan($$people.parquet$$)",
    "SELECT age FROM stored",
    "WITH q AS (SELECT age FROM 'people.parquet') FROM q",
]


@pytest.mark.parametrize("query", FILES)
@pytest.mark.one_in(4)
def test_a_file_in_a_query_is_the_source(folder: Path, query: str) -> None:
    for other in (Dataset("people.parquet", AGE, name="file"), described(FILES[0], name="file")):
        assert budgets_of(other, described(query)) == {1}
    assert budgets_of(Dataset("people.csv", AGE, name="csv"), described(query)) == {2}


@pytest.mark.parametrize("query", ["FROM 'lone.duckdb'", "FROM read_duckdb('link.duckdb')"])
def test_a_database_in_a_query_is_the_source(folder: Path, query: str) -> None:
    with duckdb.connect("lone.duckdb") as connection:
        connection.execute("CREATE TABLE people (age INTEGER)")
    os.link("lone.duckdb", "link.duckdb")
    lone = described("SELECT age FROM people", "duckdb:///lone.duckdb", name="lone")
    assert budgets_of(lone, described(f"SELECT age {query}")) == {1}


@pytest.mark.parametrize(
    "function", ["read_parquet", "parquet_metadata", "read_text", "glob", "sniff_csv"]
)
@pytest.mark.one_in(3)
def test_a_file_that_a_query_does_not_name_is_asked_for(folder: Path, function: str) -> None:
    secret = described(f"SELECT 1 AS age FROM {function}('people' || '.par' || 'quet')")
    with pytest.raises(UnreadableData, match="files that it does not name"):
        Ledger().open(secret, epsilon=1)


@pytest.mark.parametrize(
    "query",
    ["SELECT age FROM nobody", "SELEC", "DELETE FROM people", "SELECT 1 AS age; DROP TABLE people"],
)
@pytest.mark.parametrize("url", [DUCK, LITE])
@pytest.mark.one_in(3)
def test_what_is_no_question_changes_nothing(folder: Path, query: str, url: str) -> None:
    with suppress(UnreadableData):
        Ledger().open(described(query, url), epsilon=1)
    assert Ledger().open(described("SELECT age FROM people", url), epsilon=1)


def test_a_question_about_views_is_answered(folder: Path) -> None:
    for url in (DUCK, LITE):
        old, ledger = described("SELECT age FROM old", url, name="old"), Ledger()
        ledger.open(old, epsilon=200)
        assert ledger.session(old).median(old, "age", epsilon=100).value in (47, 48, 49, 50)
        text = str([event.as_dict() for event in ledger.history()])
        assert "main.people" in text
        for secret in ("WHERE", "age > 17", "adults"):
            assert secret not in text


CHANGES = [
    "DROP VIEW adults; CREATE VIEW adults AS SELECT id, age FROM people WHERE age > 18",
    "DROP VIEW old; DROP VIEW adults; CREATE TABLE adults (id INTEGER, age INTEGER); CREATE VIEW old AS "
    "SELECT age FROM adults WHERE age > 40",
    "DROP VIEW old; CREATE VIEW old AS SELECT age FROM visits",
    "DROP VIEW old; CREATE TABLE old (age INTEGER)",
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("url", [DUCK, LITE])
@pytest.mark.one_in(3)
def test_a_changed_view_is_a_changed_source(
    folder: Path, url: str, change: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    old, ledger = described("SELECT age FROM old", url, name="old"), Ledger()
    ledger.open(old, epsilon=200)
    session = ledger.session(old)
    session.median(old, "age", epsilon=1, request="first")
    _run(url, "CREATE TABLE more (age INTEGER); CREATE VIEW else_where AS SELECT 2 AS age")
    session.median(old, "age", epsilon=1)  # other views are not its own
    _run(url, change)
    events = len(ledger.history())
    with pytest.raises(InvalidArgument, match="other tables or views behind its query") as refused:
        session.median(old, "age", epsilon=1)
    assert "WHERE" not in str(refused.value) + caplog.text
    assert len(ledger.history()) == events
    session.median(old, "age", epsilon=1, request="first")  # it is answered again at no cost
    ledger.describe(old)
    session.median(old, "age", epsilon=1)
    assert ledger.verify().notes == ()


def _run(url: str, statements: str) -> None:
    if url == LITE:
        with closing(sqlite3.connect("people.db")) as connection, connection:
            connection.executescript(statements)
        connection.close()
        return
    with duckdb.connect("people.duckdb") as other:
        other.execute(statements)


def test_a_request_that_was_charged_and_not_answered_is_not_drawn_from_other_tables(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, ledger = described("SELECT age FROM old", LITE, name="old"), Ledger()
    ledger.open(old, epsilon=200)
    session = ledger.session(old)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("discreet.ledger.purchase.Purchase._draw", stop)
        with pytest.raises(KeyboardInterrupt):
            session.median(old, "age", epsilon=1, request="one")
    _run(LITE, CHANGES[2])
    with pytest.raises(InvalidArgument, match="other tables or views"):
        session.median(old, "age", epsilon=1, request="one")


def test_no_argument_of_an_analyst_reaches_the_catalogue(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    plain = TableCheck.ask

    def ask(self: Any, catalogue: Any, query: str, file: str = "") -> None:
        asked.append(query)
        plain(self, catalogue, query, file)

    monkeypatch.setattr(TableCheck, "ask", ask)
    old, ledger = described("SELECT age FROM old", LITE, name="old"), Ledger()
    ledger.open(old, epsilon=200)
    hostile = "'; DROP VIEW old; --"
    for arguments in ({"candidates": Grid(0, 7), "request": hostile}, {"candidates": [1, 2, 3]}):
        ledger.session(old).median(old, "age", epsilon=1, **arguments)
    with pytest.raises(DiscreetError):
        ledger.session(old).median(old, hostile, epsilon=1)
    assert set(asked) == {"SELECT age FROM old"}
    assert len(asked) == 3


def test_a_source_of_two_budgets_is_refused_until_they_are_one(folder: Path) -> None:
    ledger = Ledger()
    people, visits = (
        described("FROM people", name="people"),
        described("FROM visits", name="visits"),
    )
    both = described("SELECT age FROM people JOIN visits USING (id, age)", name="both")
    ledger.open(people, epsilon=2)
    ledger.open(visits, epsilon=1)
    ledger.session(visits).median(visits, "age", epsilon="1/2")
    with pytest.raises(InvalidArgument, match="people and visits, which have budgets of their own"):
        ledger.open(both, epsilon=1)
    nameless = Dataset(both.source, AGE)
    for session in (ledger.session(people), ledger.session(visits)):
        with pytest.raises(InvalidArgument):
            session.median(nameless, "age", epsilon=1)
    ledger.merge(visits, into=people)
    assert ledger.open(both, epsilon=2).dataset == "people"
    assert str(ledger.session(visits).median(visits, "age", epsilon="1/2").guarantee)
    (budget,) = (b for b in ledger.budgets() if b.dataset == "people")
    assert budget.spent.epsilon == 1
    assert ledger.spent(visits).epsilon == ledger.spent(people).epsilon == 1
    with pytest.raises(Exhausted, match="was renewed"):
        ledger.session("visits").charge(
            PureDP(Fraction(1), "add_remove"), description="x", request="x"
        )
    with pytest.raises(InvalidArgument, match="already"):
        ledger.merge(visits, into=people)
    assert ledger.verify().notes == ()


def test_shares_of_a_budget_that_ends_are_closed_and_their_answers_paid(folder: Path) -> None:
    ledger = Ledger()
    people, visits = (
        described("FROM people", name="people"),
        described("FROM visits", name="visits"),
    )
    ledger.open(people, epsilon=3)
    ledger.open(people, analyst="a", epsilon=1)
    ledger.open(visits, epsilon=2)
    ledger.open(visits, analyst="b", epsilon=1)
    ledger.session(visits, "b").median(visits, "age", epsilon="1/4")
    assert ledger.merge(visits, into=people).spent.epsilon == Fraction(
        5, 4
    )  # the share of a, and b's answer
    with pytest.raises(DiscreetError, match="no share of people"):
        ledger.session(visits, "b")
    with pytest.raises(Exhausted, match="was renewed"):
        ledger.session("visits", "b").charge(
            PureDP(Fraction(1, 9), "add_remove"), description="x", request="x"
        )
    ledger.session(visits, "a").median(visits, "age", epsilon=1)
    assert ledger.verify().notes == ()


def test_a_budget_pays_what_it_takes_over(folder: Path) -> None:
    ledger = Ledger()
    people, visits = (
        described("FROM people", name="people"),
        described("FROM visits", name="visits"),
    )
    ledger.open(people, epsilon=1)
    ledger.open(visits, epsilon=2)
    for n in range(3):
        ledger.session(visits).median(visits, "age", epsilon="1/2", request=str(n))
    before = len(ledger.history())
    with pytest.raises(Exhausted, match="extend it first"):
        ledger.merge(visits, into=people)
    assert len(ledger.history()) == before
    ledger.extend(people, epsilon=2)
    merged = ledger.merge(visits, into=people)
    assert (merged.dataset, merged.spent.epsilon) == ("people", Fraction(3, 2))
    assert ledger.verify()


def test_sources_that_share_tables_but_not_their_unit_are_refused(folder: Path) -> None:
    ledger = Ledger()
    ledger.open(described("FROM people", name="people"), epsilon=1)
    by_id = described("FROM people", name="by_id", privacy_unit="id")
    with pytest.raises(InvalidArgument, match="no budget bounds the releases of both"):
        ledger.open(by_id, epsilon=1)
    other = described("FROM visits", name="visits", privacy_unit="id")
    ledger.open(other, epsilon=1)
    with pytest.raises(InvalidArgument, match="cannot be merged"):
        ledger.merge(other, into=described("FROM people", name="people"))


def test_an_owner_who_knows_better_says_so(folder: Path) -> None:
    ledger = Ledger()
    young = described("SELECT age FROM people WHERE age < 40", name="young")
    old = described("SELECT age FROM people WHERE age >= 40", name="old")
    ledger.open(young, epsilon=1)
    ledger.open(old, epsilon=1, separate=True)
    assert [budget.dataset for budget in ledger.budgets()] == ["old", "young"]
    assert ledger.history()[-1].body["separate_from"] == ["young"]
    for dataset in (young, old):
        ledger.session(dataset).median(dataset, "age", epsilon=1)
    wider = described("SELECT age FROM people", name="old")
    with pytest.raises(InvalidArgument, match="--separate"):
        ledger.describe(wider)  # the word was about another query
    third = described("SELECT age FROM people", name="third")
    with pytest.raises(InvalidArgument, match="budgets of their own"):
        ledger.open(third, epsilon=1)
    ledger.renew(young, "2027", epsilon=1)
    ledger.session(young).median(young, "age", epsilon=1)  # the word is of both lines of budgets
    assert ledger.verify().notes == ()


def test_a_database_that_cannot_be_asked_opens_no_budget(folder: Path) -> None:
    os.remove("people.db")
    ledger = Ledger()
    with pytest.raises(DiscreetError):
        ledger.open(described("SELECT age FROM people", LITE), epsilon=1)
    assert ledger.history() == []


def test_a_budget_is_opened_again_while_its_database_is_away(folder: Path) -> None:
    ledger, people = Ledger(), described("SELECT age FROM people", LITE)
    ledger.open(people, epsilon=1)
    os.remove("people.db")
    assert ledger.open(people, epsilon=1).dataset == "second"
    ledger.open(people, analyst="a", epsilon=1)


def test_a_database_that_was_moved_keeps_its_budget(folder: Path) -> None:
    ledger, people = Ledger(), described("SELECT age FROM people", name="people")
    ledger.open(people, epsilon=1)
    os.rename("people.duckdb", "moved.duckdb")
    os.remove("hard.duckdb")
    moved = described("SELECT age FROM old", "duckdb:///moved.duckdb", name="moved")
    assert ledger.open(moved, epsilon=1).dataset == "people"


@pytest.mark.parametrize("url", [DUCK, LITE])
def test_a_table_that_was_renamed_opens_no_second_budget(folder: Path, url: str) -> None:
    ledger = Ledger()
    ledger.open(described("SELECT age FROM visits", url, name="visits"), epsilon=1)
    _run(url, "DROP VIEW seen; ALTER TABLE visits RENAME TO calls")
    calls = described("SELECT age FROM calls", url, name="calls")
    with pytest.raises(InvalidArgument, match="tables of visits are not in the database any more"):
        ledger.open(calls, epsilon=1)
    with pytest.raises(DiscreetError):
        ledger.session("visits").median(
            described("SELECT age FROM visits", url, name="visits"), "age", epsilon=1
        )
    ledger.describe(described("SELECT age FROM calls", url, name="visits"))
    assert ledger.open(calls, epsilon=1).dataset == "visits"
    ledger.open(described("SELECT age FROM people", url, name="people"), epsilon=1)
    assert len(ledger.budgets()) == 2


def unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let budgets be opened without the catalogue."""
    monkeypatch.setattr(Dataset, "about_now", lambda self, others=(): (self.about, TableCheck()))


@pytest.mark.parametrize("url", [DUCK, LITE])
def test_a_ledger_learns_the_tables_with_the_next_release(
    folder: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    ledger, old = Ledger(), described("SELECT age FROM old", url, name="old")
    with monkeypatch.context() as patch:
        unasked(patch)
        ledger.open(old, epsilon=100)
        ledger.open(described("SELECT age FROM visits", url, name="visits"), epsilon=1)
    assert not any("tables" in event.body for event in ledger.history())
    ledger.session(old).median(old, "age", epsilon=1)
    events = ledger.history()
    assert [event.kind for event in events[-3:]] == ["described", "charged", "answered"]
    assert events[-3].body["tables"]["tables"] == ["main.people"]
    count = len(events)
    ledger.session(old).median(old, "age", epsilon=1)
    assert len(ledger.history()) == count + 2
    _run(url, CHANGES[2])
    with pytest.raises(InvalidArgument, match="other tables or views"):
        ledger.session(old).median(old, "age", epsilon=1)


@pytest.mark.parametrize("url", [DUCK, LITE])
@pytest.mark.parametrize("views", ["old", "seen"])
@pytest.mark.one_in(3)
def test_a_view_that_was_not_looked_up_is_found_from_both_sides(
    folder: Path, monkeypatch: pytest.MonkeyPatch, url: str, views: str
) -> None:
    ledger = Ledger()
    people = described("SELECT age FROM people", url, name="people")
    view = described(f"SELECT age FROM {views}", url, name="view")
    with monkeypatch.context() as patch:
        unasked(patch)
        for dataset in (people, view):
            ledger.open(dataset, epsilon=1)
    before = len(ledger.history())
    for dataset in (people, view):
        with pytest.raises(Exhausted, match="same tables"):
            ledger.session(dataset).median(dataset, "age", epsilon=1)
    assert len(ledger.history()) == before
    ledger.describe(view, separate=True)
    for dataset in (people, view):
        ledger.session(dataset).median(dataset, "age", epsilon=1)
    assert ledger.verify().notes == ()


def test_a_new_budget_meets_a_view_that_was_not_looked_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger()
    with monkeypatch.context() as patch:
        unasked(patch)
        ledger.open(described("SELECT age FROM old", name="view"), epsilon=1)
    assert (
        ledger.open(described("SELECT age FROM people", name="people"), epsilon=1).dataset == "view"
    )


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with server() as url:
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(TABLES)
            connection.execute(
                'CREATE SCHEMA s; CREATE TABLE s.people (age int); CREATE TABLE "People" (age int);'
                "CREATE MATERIALIZED VIEW stored AS SELECT age FROM old;"
                "CREATE TABLE parts (age int) PARTITION BY RANGE (age);"
                "CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9);"
                "CREATE TABLE elders () INHERITS (people);"
                "CREATE FUNCTION everybody() RETURNS SETOF people LANGUAGE sql AS 'SELECT * FROM people';"
                "CREATE FUNCTION s.total() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM people';"
                "CREATE VIEW called AS SELECT s.total()::int AS age;"
                "CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE sql AS 'SELECT max(age) FROM people';"
                "CREATE FUNCTION oldest(visits) RETURNS int LANGUAGE sql AS 'SELECT max(age) FROM people';"
                "CREATE OPERATOR @@@ (LEFTARG = int, RIGHTARG = int, FUNCTION = plus);"
                "CREATE ROLE bob LOGIN; GRANT USAGE ON SCHEMA s TO bob;"
                "GRANT SELECT ON ALL TABLES IN SCHEMA public, s TO bob;"
            )
        yield url


SERVED = [
    "SELECT age FROM people",
    "SELECT age FROM public.people",
    'SELECT age FROM "people"',
    "SELECT age FROM PEOPLE",
    "SELECT age FROM ONLY people",
    "SELECT age FROM people FOR SHARE",
    "SELECT age FROM people TABLESAMPLE SYSTEM (50)",
    "WITH q AS (SELECT * FROM people) SELECT * FROM q",
    "SELECT age FROM old",
    "SELECT age FROM seen",
    "SELECT age FROM stored",
    "SELECT age FROM elders",
    "SELECT age FROM everybody()",
    "SELECT s.total() AS age FROM visits",
    "SELECT plus(1, 2) AS age FROM visits",
    "SELECT age FROM called",
    "SELECT v.oldest AS age FROM visits v",
    'SELECT v."oldest" AS age FROM visits v',
    "SELECT v.id @@@ 1 AS age FROM visits v",
    "SELECT age FROM visits LEFT JOIN people USING (id, age)",
    "SELECT age FROM visits UNION ALL SELECT age FROM people WHERE false",
    "SELECT query_to_xml('SELECT * FROM people', true, true, '')::text AS age FROM visits",
    "SELECT null_frac::int AS age FROM pg_stats",
]


@pytest.mark.parametrize("query", SERVED)
@pytest.mark.one_in(5)
def test_a_table_of_postgresql_has_one_budget(shop: str, query: str) -> None:
    people = described("SELECT age FROM people", shop, name="people")
    role = shop.replace("tests@", "bob@") + "&application_name=x"
    for url in (shop, role):
        assert budgets_of(people, described(query, url)) == {1}


@pytest.mark.parametrize(
    "query", ["SELECT age FROM visits", "SELECT age FROM s.people", "SELECT age FROM parts"]
)
def test_other_tables_of_postgresql_have_other_budgets(shop: str, query: str) -> None:
    people = described("SELECT age FROM people", shop, name="people")
    assert budgets_of(people, described(query, shop)) == {2}


def test_partitions_and_quoted_names_of_postgresql(shop: str) -> None:
    parts = described("SELECT age FROM parts", shop, name="parts")
    assert budgets_of(parts, described("SELECT age FROM part", shop)) == {1}


def test_a_foreign_table_may_be_any(shop: str) -> None:
    import psycopg

    with psycopg.connect(shop, autocommit=True) as connection:
        try:
            connection.execute("CREATE EXTENSION postgres_fdw")
        except psycopg.Error:
            pytest.skip("the server has no foreign tables")
        connection.execute("CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw")
        connection.execute(
            "CREATE FOREIGN TABLE far (age int) SERVER back OPTIONS (table_name 'people')"
        )
    try:
        people = described("SELECT age FROM people", shop, name="people")
        assert budgets_of(people, described("SELECT age FROM far", shop)) == {1}
    finally:
        with psycopg.connect(shop, autocommit=True) as connection:
            connection.execute("DROP EXTENSION postgres_fdw CASCADE")


def test_a_question_to_postgresql_sees_a_changed_view(shop: str) -> None:
    import psycopg

    old, ledger = described("SELECT age FROM old", shop, name="old"), Ledger()
    ledger.open(old, epsilon=200)
    assert ledger.session(old).median(old, "age", epsilon=100).value in (47, 48, 49, 50)
    assert ledger.history()[2].kind == "charged"
    with psycopg.connect(shop, autocommit=True) as connection:
        connection.execute(
            "CREATE OR REPLACE VIEW adults AS SELECT id, age FROM people WHERE age > 18"
        )
    try:
        with pytest.raises(InvalidArgument, match="other tables or views"):
            ledger.session(old).median(old, "age", epsilon=1)
        ledger.describe(old)
        ledger.session(old).median(old, "age", epsilon=1)
    finally:
        with psycopg.connect(shop, autocommit=True) as connection:
            connection.execute(
                "CREATE OR REPLACE VIEW adults AS SELECT id, age FROM people WHERE age > 17"
            )


def test_a_table_that_was_renamed_keeps_its_budget(shop: str) -> None:
    import psycopg

    ledger = Ledger()
    with psycopg.connect(shop, autocommit=True) as connection:
        connection.execute("CREATE TABLE first (age int)")
        ledger.open(described("SELECT age FROM first", shop, name="first"), epsilon=1)
        connection.execute("ALTER TABLE first RENAME TO later")
        try:
            later = described("SELECT age FROM later", shop, name="later")
            assert ledger.open(later, epsilon=1).dataset == "first"
        finally:
            connection.execute("DROP TABLE later")


def test_the_spelling_of_a_host_is_none_of_a_server(shop: str) -> None:
    """The server says which it is: a link to the folder of its socket is another host, and the same server."""
    folder = shop.partition("host=")[2]
    link = folder + "-link"
    os.symlink(folder, link)
    try:
        people = described("SELECT age FROM people", shop, name="people")
        linked = described("SELECT age FROM people", shop.replace(folder, link))
        assert budgets_of(people, linked) == {1}
    finally:
        os.unlink(link)


def test_no_view_changes_between_the_catalogue_and_the_rows(
    shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who would change a view after it was looked up waits until the rows are read."""
    import psycopg

    plain, waits = TableCheck.ask, []

    def ask(self: Any, catalogue: Any, query: str, file: str = "") -> None:
        plain(self, catalogue, query, file)
        with psycopg.connect(shop, autocommit=True) as connection:
            connection.execute("SET lock_timeout = '100ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                connection.execute("CREATE OR REPLACE VIEW adults AS SELECT 1 AS id, 2 AS age")
            waits.append(query)

    old, ledger = described("SELECT age FROM old", shop, name="old"), Ledger()
    ledger.open(old, epsilon=2)
    monkeypatch.setattr(TableCheck, "ask", ask)
    ledger.session(old).median(old, "age", epsilon=1)
    assert waits
