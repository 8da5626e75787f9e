"""One database has one budget, unless each of its datasets is an ordinary table."""

import itertools
import json
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

import discreet
from discreet import Dataset, Grid, Ledger
from discreet.errors import DiscreetError, Exhausted, InvalidArgument, UnreadableData
from discreet.privacy import PureDP
from discreet.tables.datasets.databases import DuckFile, read_database
from discreet.tables.engines.database import _directories, connect_memory
from discreet.tables.engines.reach import BaseTable, ReachCheck, query_of_table
from discreet.tables.engines.sql_queries import SqlQuery

from ..postgres import server
from . import sources_of_databases as worlds
from .sources_of_databases import DUCK, LITE, Source

AGE: Any = {"age": {"type": "integer", "minimum": 0, "maximum": 120}}


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Databases to be copied."""
    made = tmp_path_factory.mktemp("databases")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        worlds.make_files()
    return made


@pytest.fixture
def folder(databases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    for name in ("people.duckdb", "other.duckdb", "lone.duckdb", "people.db", "other.db"):
        shutil.copy(databases / name, tmp_path)
    shutil.copy(databases / "people.parquet", tmp_path)
    worlds.link_files(tmp_path)
    (tmp_path / "x").mkdir()
    return tmp_path


def described(
    what: str, url: str = DUCK, name: str = "second", *, kind: str = "", **more: Any
) -> Dataset:
    """A dataset of a query, or of a table: what has no blank is the name of one."""
    database = read_database(url, Path.cwd(), ("connection",))
    if kind == "table" or (not kind and " " not in what):
        return Dataset(
            SqlQuery(query_of_table(*what.split(".")), database, table=what), AGE, name=name, **more
        )
    return Dataset(SqlQuery(what, database), AGE, name=name, **more)


def number_of_budgets(first: Dataset, second: Dataset) -> int:
    """How many budgets two datasets have, the first of which is opened first; 1 if the second is refused."""
    ledger = Ledger()
    for dataset in (first, second):
        with suppress(DiscreetError):
            ledger.open(dataset, epsilon=1)
    return max(1, len(ledger.budgets()))


def budgets_of(one: Dataset, other: Dataset) -> set[int]:
    """How many budgets two datasets have, whichever is opened first."""
    return {number_of_budgets(one, other), number_of_budgets(other, one)}


def check_pairs(
    sources: list[Source], engine: str, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a part of all pairs of sources by the rule, and by what was refused or joined before it."""
    Path("discreet.toml").write_text(worlds.description(sources))
    datasets = [discreet.read_dataset(f"d{i}") for i in range(len(sources))]
    known: dict[str | None, Any] = {}
    for dataset in datasets:
        with suppress(UnreadableData):
            known[dataset.name] = dataset.about_now()
    readable = [i for i, dataset in enumerate(datasets) if dataset.name in known]
    assert len(datasets) - len(readable) == (4 if engine == "duckdb" else 0)  # those of files
    monkeypatch.setattr(Dataset, "about_now", lambda self: known[self.name])
    before = json.loads((Path(__file__).parent / "budgets_before.json").read_text())[engine]
    for i, j in itertools.islice(itertools.permutations(readable, 2), part, None, PARTS):
        (database, table), (other, other_table) = map(worlds.table_of, (sources[i], sources[j]))
        are_tables = bool(table and other_table) and table != other_table
        expected = 2 if database != other or are_tables else 1
        assert number_of_budgets(datasets[i], datasets[j]) == expected, (sources[i], sources[j])
        assert expected <= int(before[i][j])


PARTS = 12


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.one_in(PARTS)
def test_sources_of_a_file_have_one_budget_or_are_ordinary_tables(
    folder: Path, monkeypatch: pytest.MonkeyPatch, engine: str, part: int
) -> None:
    sources = worlds.DUCK_SOURCES if engine == "duckdb" else worlds.LITE_SOURCES
    check_pairs(sources, engine, part, monkeypatch)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.one_in(PARTS)
def test_sources_of_a_server_have_one_budget_or_are_ordinary_tables(
    shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = shop.partition("host=")[2]
    os.symlink(folder, folder + "-link")
    try:
        link = shop.replace(folder, folder + "-link")
        check_pairs(worlds.server_sources(shop, link), "postgresql", part, monkeypatch)
    finally:
        os.unlink(folder + "-link")


NAMES = [
    "odd name",
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
]


@pytest.mark.parametrize("url", [DUCK, LITE])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.one_in(5)
def test_hostile_names_are_names(folder: Path, url: str, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    _run(url, f"CREATE TABLE {quoted} (age INTEGER); INSERT INTO {quoted} VALUES (9), (9), (9)")
    people, odd = described("people", url, "people"), described(name, url, "odd", kind="table")
    assert budgets_of(people, odd) == {2}
    ledger = Ledger()
    ledger.open(odd, epsilon=200)
    assert ledger.session(odd).median(odd, "age", epsilon=100).value == 9
    assert ledger.history()[1].body["reach"]["table"] == f"main.{name}"


def test_letters_that_sqlite_tells_apart_are_other_tables(folder: Path) -> None:
    """Outside of ASCII the case of a letter tells names apart; a view may be called as a table but for it."""
    _run(LITE, 'CREATE TABLE "ω" (age INTEGER); CREATE VIEW "Ω" AS SELECT 1 AS age')
    omega, view = (described(name, LITE, kind="table") for name in "ωΩ")
    assert omega.about_now()[0].reach["table"] == "main.ω"
    assert view.about_now()[0].reach["table"] == ""


@pytest.mark.parametrize(
    "stem", ["my-people", "a b", 'a"b', "select", "Ω", "main", "memory", "temp", "system"]
)
@pytest.mark.one_in(5)
def test_the_name_of_the_file_is_no_part_of_a_table(folder: Path, stem: str) -> None:
    os.link("people.duckdb", f"{stem}.duckdb")
    database = DuckFile(f"duckdb:///{stem}.duckdb", str(folder / f"{stem}.duckdb"))
    linked = Dataset(
        SqlQuery('SELECT * FROM "people"', database, table="people"), AGE, name="linked"
    )
    ledger = Ledger()
    try:
        ledger.open(linked, epsilon=200)
    except UnreadableData:
        assert stem in ("temp", "system")  # DuckDB opens no file of that name
        return
    assert ledger.session(linked).median(linked, "age", epsilon=100).value == 47
    assert budgets_of(described("people", name="people"), linked) == {1}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT age FROM 'people.parquet'",
        "SELECT age FROM read_parquet('people' || '.parquet')",
        "SELECT age FROM stored",
        "SELECT 1 AS age FROM read_text('/etc/hostname')",
        "SELECT 1 AS age FROM glob('*')",
        "SELECT age FROM 'other.duckdb'",
        "SELECT age FROM read_duckdb('other.duckdb', table_name='people')",
        "SELECT 1 AS age FROM read_blob(current_setting('temp_directory') || '/../*')",
        "SELECT 1 AS age FROM databases",
    ],
)
def test_a_query_of_duckdb_reads_no_files_and_no_other_database(folder: Path, query: str) -> None:
    """Nor what is called as it is in the program that asks."""
    database = read_database(DUCK, folder, ())
    for source in (SqlQuery(query, database), discreet.scan_query(query, database)):
        dataset = Dataset(source, AGE, name="files")
        with pytest.raises(UnreadableData):
            Ledger().open(dataset, epsilon=1)
        with pytest.raises(UnreadableData):
            discreet.median(dataset, "age", epsilon=1)


def test_a_query_of_duckdb_reads_no_rows_that_others_keep_for_a_while(folder: Path) -> None:
    connect_memory()  # makes the directory
    (Path(_directories[0]) / "rows.tmp").write_bytes(b"of another question")
    text = "SELECT 1 AS age FROM read_blob(current_setting('temp_directory') || '{}/rows.tmp')"
    try:
        database = DuckFile(DUCK, str(folder / "people.duckdb"))
        assert database.fetch(text.format(""), None, None).fetchall() == []
        with pytest.raises(duckdb.PermissionException):
            database.fetch(text.format("/.."), None, None).fetchall()
    finally:
        (Path(_directories[0]) / "rows.tmp").unlink()


def test_a_budget_by_name_alone_is_none_of_a_database(folder: Path) -> None:
    ledger, people = Ledger(), described("people", name="people")
    ledger.open("people", epsilon=1)
    with pytest.raises(InvalidArgument, match="was opened by its name alone"):
        ledger.session("people").median(people, "age", epsilon="1/2")
    ledger.open(people, epsilon=1)
    ledger.session("people").median(people, "age", epsilon="1/2")
    assert ledger.open(described("SELECT age FROM old"), epsilon=1).dataset == "people"


def test_a_connection_of_ones_own_is_known_by_its_name_alone(folder: Path) -> None:
    ledger = Ledger()
    with duckdb.connect("people.duckdb", read_only=True) as connection:
        for name in ("one", "two"):
            own = discreet.scan_query("SELECT age FROM 'people.parquet'", connection)
            ledger.open(Dataset(own, AGE, name=name), epsilon=1)
    assert len(ledger.budgets()) == 2


@pytest.mark.parametrize(
    "query",
    [
        "SELECT age FROM nobody",
        "SELEC age",
        "DELETE FROM people",
        "SELECT 1 AS age; DROP TABLE people",
    ],
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
        for secret in ("WHERE", "age > 17", "adults"):
            assert secret not in text


SWAPS = [
    "DROP VIEW seen; DROP VIEW calls; ALTER TABLE visits RENAME TO v2; CREATE VIEW visits AS SELECT * FROM people",
    "DROP VIEW seen; DROP VIEW calls; DROP TABLE visits; CREATE VIEW visits AS SELECT 1 AS id, 2 AS age",
]


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("url", [DUCK, LITE])
def test_a_view_in_place_of_a_table_is_refused_before_a_row_is_read(
    folder: Path, url: str, swap: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    ledger = Ledger()
    people, visits = (described(name, url, name) for name in ("people", "visits"))
    for dataset in (people, visits):
        ledger.open(dataset, epsilon=200)
    session = ledger.session(visits)
    session.median(visits, "age", epsilon=1, request="first")
    _run(url, "CREATE TABLE more (age INTEGER); CREATE VIEW else_where AS SELECT 2 AS age")
    session.median(visits, "age", epsilon=1)  # nothing of its own
    _run(url, swap)
    events = len(ledger.history())
    with pytest.raises(InvalidArgument, match="is not what it was in its database") as refused:
        session.median(visits, "age", epsilon=1)
    assert "SELECT" not in str(refused.value) + caplog.text
    assert len(ledger.history()) == events
    session.median(visits, "age", epsilon=1, request="first")  # it is answered again at no cost
    with pytest.raises(InvalidArgument, match="--separate"):
        ledger.describe(visits)  # as a view it is about the people, too
    ledger.describe(visits, separate=True)
    session.median(visits, "age", epsilon=1)
    assert ledger.verify().notes == ()


CHANGES = [
    "DROP VIEW adults; CREATE VIEW adults AS SELECT id, age FROM people WHERE age > 18",
    "DROP VIEW old; CREATE VIEW old AS SELECT age FROM visits",
    "DROP VIEW old; CREATE TABLE old (age INTEGER)",
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("url", [DUCK, LITE])
@pytest.mark.one_in(3)
def test_a_word_that_budgets_are_separate_rests_on_the_views(
    folder: Path, url: str, change: str
) -> None:
    """Without such a word a view may change: whatever it shows is charged to the one budget of the database."""
    old, people = described("SELECT age FROM old", url, "old"), described("people", url, "people")
    joined, apart = Ledger(), Ledger()
    joined.open(old, epsilon=200)
    apart.open(old, epsilon=200)
    apart.open(people, epsilon=200, separate=True)
    for ledger in (joined, apart):
        ledger.session(old).median(old, "age", epsilon=1)
    _run(url, change)
    joined.session(old).median(old, "age", epsilon=1)
    events = len(apart.history())
    with pytest.raises(InvalidArgument, match="on which the owner's word rests"):
        apart.session(old).median(old, "age", epsilon=1)
    assert len(apart.history()) == events
    apart.session(people).median(people, "age", epsilon=1)  # a table rests on no view
    with pytest.raises(InvalidArgument, match="--separate"):
        apart.describe(old)
    apart.describe(old, separate=True)
    apart.session(old).median(old, "age", epsilon=1)


def test_a_word_rests_on_virtual_tables_of_sqlite(folder: Path) -> None:
    """One of FTS shows the rows of the table that its definition names."""
    _run(LITE, "CREATE VIRTUAL TABLE notes USING fts5(age, content='visits')")
    old, people = (
        described("SELECT age FROM notes", LITE, "old"),
        described("people", LITE, "people"),
    )
    ledger = Ledger()
    ledger.open(people, epsilon=200)
    ledger.open(old, epsilon=200, separate=True)
    ledger.session(old).median(old, "age", epsilon=1)
    _run(LITE, "INSERT INTO notes (notes) VALUES ('rebuild')")
    ledger.session(old).median(old, "age", epsilon=1)
    _run(LITE, "DROP TABLE notes; CREATE VIRTUAL TABLE notes USING fts5(age, content='people')")
    with pytest.raises(InvalidArgument, match="on which the owner's word rests"):
        ledger.session(old).median(old, "age", epsilon=1)


def _run(url: str, statements: str) -> None:
    if url == LITE:
        with closing(sqlite3.connect("people.db")) as connection, connection:
            connection.executescript(statements)
        connection.close()
        return
    with duckdb.connect("people.duckdb") as other:
        other.execute(statements)


def test_a_request_that_was_charged_and_not_answered_is_not_drawn_from_another_table(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits, ledger = described("visits", LITE, name="visits"), Ledger()
    ledger.open(visits, epsilon=200)
    session = ledger.session(visits)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("discreet.ledger.purchase.Purchase._draw", stop)
        with pytest.raises(KeyboardInterrupt):
            session.median(visits, "age", epsilon=1, request="one")
    _run(LITE, SWAPS[0])
    with pytest.raises(InvalidArgument, match="is not what it was"):
        session.median(visits, "age", epsilon=1, request="one")


def test_no_argument_of_an_analyst_reaches_the_catalogue(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    plain = ReachCheck.ask

    def ask(self: Any, catalogue: Any, query: str, table: str | None) -> str:
        asked.append((query, table))
        return plain(self, catalogue, query, table)

    monkeypatch.setattr(ReachCheck, "ask", ask)
    visits, ledger = described("visits", LITE, name="visits"), Ledger()
    ledger.open(visits, epsilon=200)
    hostile = "'; DROP VIEW old; --"
    for arguments in ({"candidates": Grid(0, 7), "request": hostile}, {"candidates": [1, 2, 3]}):
        ledger.session(visits).median(visits, "age", epsilon=1, **arguments)
    with pytest.raises(DiscreetError):
        ledger.session(visits).median(visits, hostile, epsilon=1)
    assert set(asked) == {('SELECT * FROM "visits"', "visits")}
    assert len(asked) == 3


def test_a_query_is_refused_while_two_tables_have_budgets(folder: Path) -> None:
    ledger = Ledger()
    people, visits = described("people", name="people"), described("visits", name="visits")
    one = described("SELECT 1 AS age", name="one")
    ledger.open(people, epsilon=2)
    ledger.open(visits, epsilon=1)
    ledger.session(visits).median(visits, "age", epsilon="1/2")
    with pytest.raises(InvalidArgument, match="people and visits, which have budgets of their own"):
        ledger.open(one, epsilon=1)
    nameless = Dataset(one.source, AGE)
    for session in (ledger.session(people), ledger.session(visits)):
        with pytest.raises(InvalidArgument):
            session.median(nameless, "age", epsilon=1)
    ledger.merge(visits, into=people)
    assert ledger.open(one, epsilon=2).dataset == "people"
    ledger.session(visits).median(visits, "age", epsilon="1/2")
    ledger.session(people).median(nameless, "age", epsilon="1/2")
    (budget,) = (b for b in ledger.budgets() if b.dataset == "people")
    assert budget.spent.epsilon == Fraction(3, 2)
    assert ledger.spent(visits).epsilon == ledger.spent(people).epsilon == Fraction(3, 2)
    with pytest.raises(Exhausted, match="was renewed"):
        ledger.session("visits").charge(
            PureDP(Fraction(1), "add_remove"), description="x", request="x"
        )
    with pytest.raises(InvalidArgument, match="already"):
        ledger.merge(visits, into=people)
    assert ledger.verify().notes == ()


def test_a_table_without_a_name_is_charged_to_its_own_budget(folder: Path) -> None:
    ledger = Ledger()
    for name in ("people", "visits"):
        ledger.open(described(name, name=name), epsilon=1)
    nameless = Dataset(described("visits").source, AGE)
    assert ledger.session(nameless).dataset == "visits"
    ledger.session(nameless).median(nameless, "age", epsilon=1)
    with pytest.raises(InvalidArgument):
        ledger.session("people").median(nameless, "age", epsilon=1)


def test_a_table_without_a_name_is_refused_before_a_row_is_read(folder: Path) -> None:
    ledger = Ledger()
    ledger.open(described("visits", name="visits"), epsilon=9)
    nameless = Dataset(described("visits").source, AGE)
    ledger.session(nameless).median(nameless, "age", epsilon=1)
    rows = "SELECT id, CAST(error('a row was read') AS INTEGER) AS age FROM people"
    _run(DUCK, f"DROP VIEW seen; DROP VIEW calls; DROP TABLE visits; CREATE VIEW visits AS {rows}")
    with pytest.raises(InvalidArgument, match="is not what it was in its database"):
        ledger.session("visits").median(nameless, "age", epsilon=1)
    assert ledger.budgets()[0].spent.epsilon == 1


def test_shares_of_a_budget_that_ends_are_closed_and_their_answers_paid(folder: Path) -> None:
    ledger = Ledger()
    people, visits = (
        described("people", name="people"),
        described("visits", name="visits"),
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
        described("people", name="people"),
        described("visits", name="visits"),
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
    ledger.open(described("people", name="people"), epsilon=1)
    by_id = described("people", name="by_id", privacy_unit="id")
    with pytest.raises(InvalidArgument, match="no budget bounds the releases of both"):
        ledger.open(by_id, epsilon=1)
    other = described("visits", name="visits", privacy_unit="id")
    ledger.open(other, epsilon=1)
    with pytest.raises(InvalidArgument, match="cannot be merged"):
        ledger.merge(other, into=described("people", name="people"))


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


def test_a_word_tells_a_budget_from_several(folder: Path) -> None:
    """Three countries, and a query beside two tables."""
    ledger = Ledger()
    ages = [described(f"SELECT age FROM people WHERE age > {n}", name=f"n{n}") for n in range(3)]
    for dataset in ages:
        ledger.open(dataset, epsilon=1, separate=True)
    assert ledger.history()[-1].body["separate_from"] == ["n0", "n1"]
    tables = Ledger()
    for dataset in (described("people", name="people"), described("visits", name="visits")):
        tables.open(dataset, epsilon=1)
    tables.open(ages[0], epsilon=1, separate=True)
    for each, budgets in ((ledger, ages), (tables, ages[:1])):
        assert len(each.budgets()) == 3
        for dataset in budgets:
            each.session(dataset).median(dataset, "age", epsilon=1)


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


def test_a_database_that_was_moved_opens_no_second_budget(folder: Path) -> None:
    """Though another file took its name: both budgets would be about the rows of the one that was moved."""
    ledger, people = Ledger(), described("SELECT age FROM people", name="people")
    ledger.open(people, epsilon=1)
    shutil.copy("people.duckdb", "next.duckdb")
    os.remove("hard.duckdb")
    os.rename("people.duckdb", "moved.duckdb")
    os.rename("next.duckdb", "people.duckdb")
    moved = described("SELECT age FROM old", "duckdb:///moved.duckdb", name="moved")
    with pytest.raises(InvalidArgument, match="the database of people was moved here"):
        ledger.open(moved, epsilon=1)
    ledger.open(people, epsilon=1)  # the new file at its place
    with pytest.raises(InvalidArgument, match="discreet ledger open moved --separate"):
        ledger.open(moved, epsilon=1)


@pytest.mark.parametrize("url", [DUCK, LITE])
def test_a_table_that_was_renamed_opens_no_second_budget(folder: Path, url: str) -> None:
    ledger = Ledger()
    ledger.open(described("visits", url, name="visits"), epsilon=1)
    _run(url, "DROP VIEW seen; DROP VIEW calls; ALTER TABLE visits RENAME TO rings")
    rings = described("rings", url, name="rings")
    with pytest.raises(InvalidArgument, match="tables of visits are not in the database any more"):
        ledger.open(rings, epsilon=1)
    with pytest.raises(DiscreetError):
        ledger.session("visits").median(described("visits", url, name="visits"), "age", epsilon=1)
    ledger.describe(described("rings", url, name="visits"))
    assert ledger.open(rings, epsilon=1).dataset == "visits"
    ledger.open(described("people", url, name="people"), epsilon=1)
    assert len(ledger.budgets()) == 2


@pytest.mark.parametrize("url", [DUCK, LITE])
def test_a_budget_takes_no_renamed_table_of_another(folder: Path, url: str) -> None:
    """Else one describes another dataset as that table, and both budgets are spent on its rows."""
    ledger = Ledger()
    for name in ("visits", "people"):
        ledger.open(described(name, url, name=name), epsilon=1)
    _run(url, "DROP VIEW seen; DROP VIEW calls; ALTER TABLE visits RENAME TO rings")
    taken = described("rings", url, name="people")
    with pytest.raises(InvalidArgument, match="discreet ledger describe people --separate"):
        ledger.describe(taken)
    ledger.describe(described("people", url, name="people"))  # its own table, as before
    ledger.describe(described("rings", url, name="visits"))
    with pytest.raises(InvalidArgument, match="cannot keep its own"):
        ledger.describe(taken)


# --- the claim, by enumeration


class World:
    """A database of two ordinary tables, each of which may become a view, or take the other name."""

    def __init__(self) -> None:
        self.tables = {"t": 1, "u": 2}
        self.views: dict[str, str] = {}
        self.reads = set[int]()

    def numbers(self, name: str | None) -> set[int]:
        """The tables, by number, whose rows a source reads: a query reads all of them."""
        if name is None:
            return {*self.tables.values()}
        return {self.tables[self.views.get(name, name)]}


class FakeCatalogue:
    """A catalogue of a world; see `discreet.tables.engines.reach.Catalogue`."""

    def __init__(self, world: World, has_numbers: bool) -> None:
        self.world, self.has_numbers = world, has_numbers

    def identity(self) -> str:
        return "server" if self.has_numbers else "1:2"

    def lock(self, query: str) -> None:
        pass

    def base_table(self, name: str) -> BaseTable | None:
        number = self.world.tables.get(name)
        if number is None or name in self.world.views:
            return None
        return BaseTable(f"main.{name}", f"rows of {name}", number if self.has_numbers else 0)

    def views(self) -> str:
        return f"hash of {self.world.views}"

    def names(self) -> frozenset[str] | None:
        return None if self.has_numbers else frozenset(f"main.{name}" for name in self.world.tables)

    def locks(self) -> frozenset[int]:
        return frozenset()


class FakeDatabase:
    """A database as `discreet.tables.datasets.databases` has them."""

    def __init__(self, world: World, has_numbers: bool) -> None:
        self.catalogue = FakeCatalogue(world, has_numbers)
        self.public = "postgresql://host/d" if has_numbers else "sqlite:////none/d.db"

    def fetch(self, query: str, table: str | None, check: Any) -> dict[str, list[object]]:
        self.ask(query, table, check)
        world = self.catalogue.world
        world.reads = world.numbers(table)
        return {"age": [1, 2, 3]}

    def ask(self, query: str, table: str | None, check: Any) -> None:
        if table is not None and table not in {
            *self.catalogue.world.tables,
            *self.catalogue.world.views,
        }:
            raise RuntimeError("there is no such table")
        check.ask(self.catalogue, query, table)


def _change(world: World, change: str) -> None:
    """Change a world, if that can be now."""
    if change == "a view" and "u" in world.tables and "t" in world.tables:
        del world.tables["u"]
        world.views["u"] = "t"
    if change == "exchange" and {"t", "u"} <= {*world.tables}:
        world.tables["t"], world.tables["u"] = world.tables["u"], world.tables["t"]
    if change == "a new name" and "t" in world.tables and "w" not in world.tables:
        world.tables["w"] = world.tables.pop("t")
        world.views.clear()


STEPS = [
    *(("open", name) for name in "tuqw"), *(("ask", name) for name in "tuqw"), ("separate", "q"),
    ("describe", "t"), ("describe", "u"), ("change", "a view"), ("change", "a new name"),
    ("change", "exchange"),
]  # fmt: skip


BOTH = [
    (("open", one), ("open", other), ("ask", one))
    for one, other in (("t", "u"), ("u", "t"), ("t", "q"), ("q", "t"))
]
"""Beginnings of longer histories."""


def _longer_histories() -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield histories of two datasets, one of which was asked about, and of two steps more."""
    asks = [step for step in STEPS if step[0] == "ask"]
    for begin, step, ask in itertools.product(BOTH, STEPS, asks):
        yield (*begin, step, ask)


def _histories(length: int) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield the orders of steps that open a budget first and ask last, what was opened alone."""
    for steps in itertools.product(STEPS, repeat=length):
        opened = set[str]()
        for word, name in steps:
            if word in ("open", "separate"):
                opened.add(name)
            if word in ("ask", "describe") and name not in opened:
                break
        else:
            if steps[0][0] == "open" and steps[-1][0] == "ask" and len({*steps}) == length:
                yield steps


def _play(steps: tuple[tuple[str, str], ...], has_numbers: bool) -> tuple[bool, int]:
    """Whether no table was read for two budgets that nobody has told apart; and how many answers there were."""
    world, ledger, readers = World(), Ledger(), dict[int, set[str]]()
    database, answers = FakeDatabase(world, has_numbers), 0
    datasets = {
        name: Dataset(SqlQuery(name, database, table=None if name == "q" else name), AGE, name=name)
        for name in "tuqw"
    }
    for word, name in steps:
        if word == "change":
            if has_numbers or name != "exchange":  # names alone do not tell
                _change(world, name)
            continue
        dataset = datasets[name]
        with suppress(DiscreetError):
            if word in ("open", "separate"):
                ledger.open(dataset, epsilon=1, separate=word == "separate")
            elif word == "describe":
                ledger.describe(dataset)
            else:
                ledger.session(dataset).count(dataset, epsilon="1/8")
                answers += 1
                payer = ledger.history()[-1].dataset
                for number in world.reads:
                    readers.setdefault(number, set()).add(payer)
    pairs = {
        frozenset({event.dataset, other})
        for event in ledger.history()
        for other in event.body.get("separate_from", ())
    }
    shared = (frozenset(pair) for of in readers.values() for pair in itertools.combinations(of, 2))
    return all(pair in pairs for pair in shared), answers


@pytest.mark.parametrize("has_numbers", [False, True])
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.one_in(PARTS)
def test_no_table_is_read_for_two_budgets(has_numbers: bool, part: int) -> None:
    histories = itertools.chain(*map(_histories, (2, 3, 4)), _longer_histories())
    outcomes = [
        (steps, *_play(steps, has_numbers))
        for steps in itertools.islice(histories, part, None, PARTS)
    ]
    assert [steps for steps, holds, _ in outcomes if not holds] == []
    assert sum(answers for _, _, answers in outcomes) > len(outcomes) / 2


# --- PostgreSQL


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    import psycopg

    with server() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(worlds.SERVER_TABLES)
            connection.execute("CREATE DATABASE warehouse")
        warehouse = url.replace("/postgres?", "/warehouse?")
        with psycopg.connect(warehouse, autocommit=True) as connection:
            connection.execute("CREATE TABLE people (id int, age int)")
        yield url


def _serve(url: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET lock_timeout = '100ms'")
        for statement in statements:
            connection.execute(statement)


TURNS = [
    ("ALTER TABLE turn RENAME TO turn_2", "CREATE VIEW turn AS SELECT * FROM people"),
    ("CREATE TABLE turn_3 () INHERITS (turn)",),
    ("ALTER TABLE turn INHERIT people",),
    ("ALTER TABLE turn ENABLE ROW LEVEL SECURITY",),
    ("CREATE RULE log AS ON DELETE TO turn DO ALSO NOTHING",),
    ("CREATE TABLE turn_4 (id int, age int) PARTITION BY RANGE (age)",
     "ALTER TABLE turn_4 ATTACH PARTITION turn FOR VALUES FROM (0) TO (999)"),
    ("DROP TABLE turn", "CREATE FOREIGN TABLE turn (age int) SERVER back OPTIONS (table_name 'people')"),
    ("DROP TABLE turn", "CREATE MATERIALIZED VIEW turn AS SELECT age FROM people"),
]  # fmt: skip


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.one_in(3)
def test_a_table_that_is_no_ordinary_one_any_more_is_refused(
    shop: str, turn: tuple[str, ...]
) -> None:
    _serve(shop, "CREATE TABLE turn (id int, age int)", "INSERT INTO turn VALUES (1, 9), (2, 9)")
    try:
        ledger, dataset = Ledger(), described("turn", shop, name="turn")
        ledger.open(dataset, epsilon=200)
        assert ledger.session(dataset).median(dataset, "age", epsilon=100).value == 9
        _serve(shop, *turn)
        with pytest.raises(InvalidArgument, match="is not what it was in its database"):
            ledger.session(dataset).median(dataset, "age", epsilon=1)
    finally:
        for kind in ("TABLE", "VIEW", "MATERIALIZED VIEW", "FOREIGN TABLE"):
            for name in ("turn", "turn_2", "turn_3", "turn_4"):
                with suppress(Exception):
                    _serve(shop, f"DROP {kind} {name} CASCADE")


def test_a_table_that_was_renamed_or_filled_anew_keeps_its_budget(shop: str) -> None:
    ledger, first = Ledger(), described("first", shop, name="first")
    _serve(shop, "CREATE TABLE first (age int)")
    ledger.open(first, epsilon=1)
    _serve(shop, "ALTER TABLE first RENAME TO later")
    try:
        assert ledger.open(described("later", shop, name="later"), epsilon=1).dataset == "first"
        _serve(shop, "CREATE TABLE first AS SELECT 1 AS age", "DROP TABLE later")
        ledger.session(first).median(first, "age", epsilon="1/2")
        _serve(
            shop, "ALTER TABLE first RENAME TO last"
        )  # its number is that of the latest question
        assert ledger.open(described("last", shop, name="last"), epsilon=1).dataset == "first"
    finally:
        _serve(shop, "DROP TABLE IF EXISTS first, later, last")


def test_a_view_that_comes_first_in_the_search_path_is_no_table(shop: str) -> None:
    bob = shop.replace("tests@", "bob@") + "&options=-csearch_path%3Ds,public"
    ledger, dataset = Ledger(), described("visits", bob, name="visits")
    ledger.open(dataset, epsilon=1)
    ledger.session(dataset).median(dataset, "age", epsilon="1/2")
    _serve(shop, "CREATE VIEW s.visits AS SELECT * FROM people", "GRANT SELECT ON s.visits TO bob")
    try:
        with pytest.raises(InvalidArgument, match="is not what it was in its database"):
            ledger.session(dataset).median(dataset, "age", epsilon="1/2")
    finally:
        _serve(shop, "DROP VIEW s.visits")


def test_a_database_of_a_server_that_was_renamed_keeps_its_budget(shop: str) -> None:
    _serve(shop, "CREATE DATABASE before")
    before, after = (shop.replace("/postgres?", f"/{name}?") for name in ("before", "after"))
    _serve(before, "CREATE TABLE people (age int)")
    try:
        ledger = Ledger()
        ledger.open(described("people", before, name="people"), epsilon=1)
        _serve(shop, "ALTER DATABASE before RENAME TO after")
        people = described("SELECT age FROM people", after, name="again")
        assert ledger.open(people, epsilon=1).dataset == "people"
    finally:
        _serve(shop, "DROP DATABASE IF EXISTS before", "DROP DATABASE IF EXISTS after")


def test_a_word_rests_on_functions_too(shop: str) -> None:
    ledger = Ledger()
    old, people = described("SELECT age FROM old", shop, "old"), described("people", shop, "people")
    ledger.open(people, epsilon=1)
    ledger.open(old, epsilon=2, separate=True)
    ledger.session(old).median(old, "age", epsilon="1/2")
    _serve(shop, "CREATE FUNCTION one() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; END")
    try:
        with pytest.raises(InvalidArgument, match="on which the owner's word rests"):
            ledger.session(old).median(old, "age", epsilon="1/2")
        ledger.describe(old, separate=True)
        ledger.session(old).median(old, "age", epsilon="1/2")
        _serve(
            shop,
            "CREATE OR REPLACE FUNCTION one() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 2; END",
        )
        with pytest.raises(InvalidArgument, match="on which the owner's word rests"):
            ledger.session(old).median(old, "age", epsilon="1/2")
    finally:
        _serve(shop, "DROP FUNCTION one()")


LEADS = {
    "a partition": "CREATE TABLE slice_2 PARTITION OF slices FOR VALUES IN (2)",
    "a child": "CREATE TABLE child () INHERITS (people)",
    "a policy": "CREATE POLICY young ON people USING (age < 30)",
}


@pytest.mark.parametrize("lead", LEADS)
def test_a_word_rests_on_all_that_leads_to_other_rows(shop: str, lead: str) -> None:
    _serve(
        shop,
        "CREATE TABLE slices (age int) PARTITION BY LIST (age)",
        "CREATE TABLE slice PARTITION OF slices FOR VALUES IN (1)",
    )
    ledger = Ledger()
    old, people = described("SELECT age FROM old", shop, "old"), described("people", shop, "people")
    ledger.open(people, epsilon=1)
    ledger.open(old, epsilon=2, separate=True)
    ledger.session(old).median(old, "age", epsilon="1/2")
    try:
        _serve(shop, "INSERT INTO slice VALUES (1)")
        ledger.session(old).median(old, "age", epsilon="1/2")
        _serve(shop, LEADS[lead])
        with pytest.raises(InvalidArgument, match="on which the owner's word rests"):
            ledger.session(old).median(old, "age", epsilon="1/2")
        ledger.describe(old, separate=True)
        ledger.session(old).median(old, "age", epsilon="1/2")
    finally:
        _serve(
            shop,
            "DROP TABLE slices",
            "DROP TABLE IF EXISTS child",
            "DROP POLICY IF EXISTS young ON people",
        )


def test_tables_that_take_each_others_names_answer_nothing(shop: str) -> None:
    _serve(shop, "CREATE TABLE a (age int)", "CREATE TABLE b (age int)")
    try:
        ledger, datasets = Ledger(), [described(name, shop, name=name) for name in "ab"]
        for dataset in datasets:
            ledger.open(dataset, epsilon=1)
            ledger.session(dataset).median(dataset, "age", epsilon="1/8")
        _serve(
            shop,
            "ALTER TABLE a RENAME TO c",
            "ALTER TABLE b RENAME TO a",
            "ALTER TABLE c RENAME TO b",
        )
        for dataset in datasets:
            with pytest.raises(Exhausted, match="same tables"):
                ledger.session(dataset).median(dataset, "age", epsilon="1/8")
    finally:
        _serve(shop, "DROP TABLE a, b")


STATEMENTS = [
    "ALTER TABLE lone RENAME TO other", "ALTER TABLE lone ENABLE ROW LEVEL SECURITY", "DROP TABLE lone",
    "CREATE OR REPLACE VIEW calls AS SELECT 1 AS age",
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "statements"), [("lone", STATEMENTS[:3]), ("SELECT age FROM calls", STATEMENTS[3:])]
)
def test_nothing_changes_between_the_catalogue_and_the_rows(
    shop: str, monkeypatch: pytest.MonkeyPatch, source: str, statements: list[str]
) -> None:
    """Whoever would change what was looked up waits until the rows are read."""
    import psycopg

    plain, waits = ReachCheck.ask, []

    def ask(self: Any, catalogue: Any, query: str, table: str | None) -> str:
        text = plain(self, catalogue, query, table)
        for statement in statements:
            with pytest.raises(psycopg.errors.LockNotAvailable):
                _serve(shop, statement)
            waits.append(statement)
        return text

    dataset, ledger = described(source, shop, name="lone"), Ledger()
    ledger.open(dataset, epsilon=2)
    monkeypatch.setattr(ReachCheck, "ask", ask)
    ledger.session(dataset).median(dataset, "age", epsilon=1)
    assert waits == statements


BETWEEN = [
    ["ALTER SCHEMA kept RENAME TO old", "ALTER SCHEMA spare RENAME TO kept"],
    [
        "CREATE TABLE kept.child () INHERITS (kept.one)",
        "INSERT INTO kept.child VALUES (99), (99), (99)",
    ],
]


@pytest.mark.parametrize("statements", BETWEEN)
def test_what_no_lock_keeps_away_is_seen_or_not_read(
    shop: str, monkeypatch: pytest.MonkeyPatch, statements: list[str]
) -> None:
    """A schema that takes another name, and a table that comes to inherit."""
    _serve(
        shop, "CREATE SCHEMA kept", "CREATE SCHEMA spare", "CREATE TABLE kept.one (age int)",
        "INSERT INTO kept.one VALUES (9)", "CREATE TABLE spare.one (age int)",
    )  # fmt: skip
    plain = ReachCheck.ask

    def ask(self: Any, catalogue: Any, query: str, table: str | None) -> str:
        text = plain(self, catalogue, query, table)
        _serve(shop, *statements)
        return text

    try:
        dataset, ledger = described("kept.one", shop, name="one"), Ledger()
        ledger.open(dataset, epsilon=200)
        events = len(ledger.history())
        monkeypatch.setattr(ReachCheck, "ask", ask)
        if "SCHEMA" in statements[0]:
            with pytest.raises(InvalidArgument, match="is not what it was"):
                ledger.session(dataset).median(dataset, "age", epsilon=100)
            assert len(ledger.history()) == events
        else:
            assert ledger.session(dataset).median(dataset, "age", epsilon=100).value == 9
    finally:
        _serve(shop, "DROP SCHEMA IF EXISTS kept, spare, old CASCADE")
