"""Databases and CSV files of any form in discreet.toml, and drafts for them."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import duckdb
import psycopg
import pytest
from sqlalchemy import create_engine, text

import discreet
from discreet import Grid
from discreet.cli import run
from discreet.errors import InvalidDescription, UnreadableData, UnreadableFile
from discreet.tables.datasets.configuration import read_configuration
from discreet.tables.datasets.databases import Database, DuckFile, read_database
from discreet.tables.engines.server_session import ServerRows

COLUMNS = """
columns.age = { type = "integer", minimum = 0, maximum = 120 }
columns.city = { type = "string", enum = ["Basel", "Bern"] }
columns.member = { type = "boolean" }
columns.day = { type = "date", minimum = 2024-01-01, maximum = 2024-12-31 }
"""
SURE = 10**4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    with duckdb.connect("p.duckdb") as file:
        file.execute(
            "CREATE TABLE people AS SELECT 41 AS age, 'Bern' AS city, true AS member, "
            "DATE '2024-02-01' AS day FROM range(9)"
        )
        file.execute('CREATE SCHEMA odd; CREATE TABLE odd."a ""b" AS FROM people')
    with closing(sqlite3.connect("p.db")) as lite:
        lite.execute(
            "CREATE TABLE people (age INTEGER, city TEXT, born DATE, ok BOOLEAN, picture BLOB)"
        )
        lite.executemany("INSERT INTO people VALUES (?, ?, NULL, 1, NULL)", [(41, "Bern")] * 9)
        lite.commit()
    Path("bare.txt").write_text("41;Bern;True;2024-02-01\n" * 9)
    Path("rows.csv").write_text("age,city,member,day\n" + "41,Bern,TRUE,2024-02-01\n" * 9)
    return tmp_path


def described(where: str, columns: str = COLUMNS) -> discreet.Dataset:
    Path("discreet.toml").write_text(f"[datasets.people]\n{where}\n{columns}")
    return discreet.read_dataset("people")


@pytest.mark.parametrize(
    "where",
    [
        'connection = "duckdb:///p.duckdb"\ntable = "people"',
        'connection = "duckdb:///p.duckdb"\nquery = "FROM people"',
        'connection = "duckdb:///p.duckdb"\ntable = \'odd.a "b\'',
        'source = "bare.txt"\ncsv = { delimiter = ";", names = ["age", "city", "member", "day"] }',
        'source = ["bare.txt"]\ncsv = { delimiter = ";", names = ["age", "city", "member", "day"] }',
        'source = "rows.csv"\ncsv.delimiter = ","',
        'source = "rows.csv"',
    ],
)
@pytest.mark.one_in(3)
def test_answers_have_the_declared_types_wherever_the_data_are(folder: Path, where: str) -> None:
    people = described(where)
    answers = {name: discreet.mode(people, name, epsilon=SURE).value for name in people.columns}
    assert {name: (type(one).__name__, str(one)) for name, one in answers.items()} == {
        "age": ("int", "41"), "city": ("str", "Bern"), "member": ("bool", "True"), "day": ("date", "2024-02-01"),
    }  # fmt: skip
    assert discreet.mode(people, "city", by="member", epsilon=SURE).value[True] == "Bern"
    assert discreet.mode(people, "member", candidates=[False], epsilon=1).value is False
    assert discreet.median(people, "age", epsilon=SURE).value == 41
    assert run(["check", "people", "--not-private"]) == 0


def test_every_spelling_of_a_truth_counts_once_per_user(folder: Path) -> None:
    """A user with True and TRUE has one vote for True; of 12 users 7 say True, each in another way."""
    words = [
        "true",
        "True",
        "TRUE",
        "1",
        "true",
        "True",
        "1",
        "false",
        "False",
        "FALSE",
        "0",
        "0",
        "yes",
        "tRuE",
    ]
    rows = [f"u{i},{word}" for i, word in enumerate(words)] + ["u0,TRUE", "u7,0", "u7,False"]
    Path("votes.csv").write_text("user,ok\n" + "\n".join(rows) + "\n")
    from discreet.tables.engines import count

    assert count("votes.csv", "ok", [True, False]) == [8, 7]
    votes = discreet.Dataset("votes.csv", {"ok": {"type": "boolean"}}, privacy_unit="user")
    assert discreet.top_k(votes, "ok", k=2, epsilon=SURE).value == [True, False]
    told = discreet.mode(votes, "ok", by="ok", epsilon=SURE).value
    assert told == {False: False, True: True}


def test_what_mode_leaves_out_is_counted_by_check(folder: Path) -> None:
    from discreet.tables.datasets.cell_fits import check_cells

    Path("rows.csv").write_text(
        "age,member,day\n041,tRuE,20240201\n41,1,2024-02-01\n41.0,yes,2024-02-01\n"
    )
    columns = COLUMNS.replace("columns.city", "#")
    found = {
        name: (fit.other_type, fit.out_of_range)
        for name, fit in check_cells(described('source = "rows.csv"', columns)).items()
    }
    assert found == {"age": (1, 1), "member": (1, 1), "day": (0, 1)}
    people = described(
        'source = "rows.csv"',
        columns + 'columns.at = { type = "datetime", enum = [2024-01-01T00:00:00] }',
    )
    with pytest.raises(
        discreet.errors.InvalidCandidates, match="a text file may write a time in many ways"
    ):
        discreet.mode(people, "at", epsilon=1)


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("", "line 1: give source, a path or a list of paths. Or give connection"),
        ('table = "people"', "line 1: give source"),
        ('connection = "duckdb:///p.duckdb"', "line 1: give source"),
        ('source = "a.csv"\ntable = "people"', "line 1: give source"),
        ('connection = "duckdb:///p.duckdb"\ntable = "t"\nquery = "q"', "line 1: give source"),
        ('connection = "duckdb:///p.duckdb"\ntable = "t"\ncsv.names = ["a"]', "line 4: csv: it is of a CSV"),
        ('connection = "duckdb://"\ntable = "t"', "line 2: connection: it must name a file"),
        ('connection = "duckdb:///:memory:"\ntable = "t"', "line 2: connection: it must name a file"),
        ('connection = "mysql://h/d"\ntable = "t"', "line 2: connection: it must be duckdb:///"),
        ('connection = "duckdb:///\\u0000"\ntable = "t"', "line 2: connection: no file can have"),
        ('source = "\\u0000.csv"', "line 2: source: no file can have this name"),
        ('source = "~nobody-of-that-name/a.csv"', "line 2: source: no file can have this name"),
        ('source = "a.csv"\ncsv.delimiter = ";;"', "line 3: csv.delimiter: delimiter must be one character"),
        ('source = "a.csv"\ncsv.names = ["a", "a"]', "line 3: csv.names: names must be a list of distinct"),
        ('source = "a.csv"\ncsv.names = "FILL IN: x"', "line 3: csv.names: it is still to be filled in"),
        ('source = "a.parquet"\ncsv.names = ["a"]', "line 3: csv: it is of a CSV file"),
        ('source = "postgresql://h/d"', "line 2: source: it is an address. For a database give connection"),
    ],
)  # fmt: skip
def test_a_place_that_cannot_be_is_refused_with_its_line(
    folder: Path, where: str, reason: str
) -> None:
    line, _, said = reason.partition(": ")
    with pytest.raises(InvalidDescription) as refused:
        described(where)
    assert f"discreet.toml, {line}: datasets.people" in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "duckdb:///gone.duckdb",
        "sqlite:///gone.db",
        "duckdb:///pipe",
        "sqlite:///pipe",
        "duckdb:///.",
    ],
)
def test_a_database_that_is_no_file_is_neither_made_nor_waited_for(folder: Path, url: str) -> None:
    os.mkfifo("pipe")
    people = described(f'connection = "{url}"\ntable = "people"')
    before = sorted(folder.iterdir())
    with pytest.raises(UnreadableFile, match="is not a file of a database"):
        discreet.median(people, "age", epsilon=1)
    assert sorted(folder.iterdir()) == before


def test_a_database_is_only_read_and_its_errors_are_not_quoted(folder: Path) -> None:
    before = Path("p.duckdb").read_bytes()
    people = described('connection = "duckdb:///p.duckdb"\nquery = "SELECT * FROM s3cret"')
    with pytest.raises(UnreadableData) as refused:
        discreet.median(people, "age", epsilon=1)
    assert "s3cret" not in str(refused.value)
    for query in ("DELETE FROM people RETURNING age", "CREATE TABLE x AS FROM people"):
        with pytest.raises(InvalidDescription, match="it must be one SELECT"):
            described(f'connection = "duckdb:///p.duckdb"\nquery = "{query}"')
        connection = DuckFile("duckdb:///p.duckdb", "p.duckdb")
        with pytest.raises(UnreadableData):
            discreet.median(
                discreet.scan_query(query, connection), "age", candidates=Grid(0, 9), epsilon=1
            )
    assert Path("p.duckdb").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["p.duckdb", "--table", "people"], ['connection = "duckdb:///p.duckdb"', 'type = "date"']),
        (["duckdb:///p.duckdb", "--table", "people"], ['connection = "duckdb:///p.duckdb"']),
        (["p.db", "--table", "people", "--name", "x"], ["[datasets.x.columns.born]", '# "picture" has']),
        (["bare.txt", "--names", "age, city"], ['source = "bare.txt"', 'names = ["age", "city"]']),
        (["rows.csv", "--header"], ["[datasets.rows.columns.member]"]),
    ],
)  # fmt: skip
def test_drafts(
    folder: Path, arguments: list[str], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["describe", *arguments]) == 0
    out = capsys.readouterr().out
    assert all(f"{line}" in out for line in lines), out
    Path("discreet.toml").write_text(re.sub(r"(?m)^.*FILL IN.*$", "", out).replace("# 'type'", ""))
    text = re.sub(
        r"(?m)(?<=columns\.)(\w+)\]\n(?!type)",
        r"\1]\ntype = 'string'\n",
        Path("discreet.toml").read_text(),
    )
    Path("discreet.toml").write_text(text)
    assert read_configuration(Path("discreet.toml")).datasets


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["p.duckdb"], "which table is it? give --table NAME. There are odd.a \"b, people"),
        (["p.db", "--table", "visits"], "There are people"),
        (["gone.duckdb", "--table", "t"], "is not a file of a database"),
        (["mysql://h/d", "--table", "t"], "it must be duckdb:///file.duckdb, sqlite"),
        (["postgresql://me:s3cret@h/d", "--table", "t"], "leave the password out"),
        (["rows.csv"], "say --header. If that is a row, give them: --names"),
        (["rows.db"], "is not a file of a database"),
    ],
)  # fmt: skip
def test_drafts_of_nothing(
    folder: Path, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["describe", *arguments]) != 0
    out, err = capsys.readouterr()
    assert (out, "s3cret" in err) == ("", False)
    assert reason in err


def test_a_server_cancels_the_query_of_a_process_that_was_killed(postgresql: str) -> None:
    """Once a second it looks whether the process is there; without that it would sleep on for an hour."""
    program = (
        "from discreet.tables.datasets.databases import Database\n"
        f"Database({postgresql!r}).fetch('SELECT pg_sleep(3600) AS slept', None, None).read(['slept'])"
    )
    reader = subprocess.Popen([sys.executable, "-c", program])
    asleep = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE query LIKE '%SELECT pg_sleep(3600)%' AND pid <> pg_backend_pid()"
    )
    engine = create_engine(postgresql)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as others:

        def wait_for(number: int) -> None:
            deadline = time.monotonic() + 60
            while others.execute(text(asleep)).scalar() != number:
                assert time.monotonic() < deadline
                time.sleep(0.1)

        wait_for(1)
        reader.kill()
        reader.wait()
        wait_for(0)
    engine.dispose()


def test_a_server_takes_one_statement(postgresql: str) -> None:
    """Whatever a text may hide: a second statement could end the transaction that only reads."""
    for query in (
        "SELECT 1 AS a; COMMIT; CREATE TABLE made (i int)",
        "SELECT 1 AS a; SELECT 2 AS a",
    ):
        with pytest.raises(psycopg.Error, match="multiple commands"):
            Database(postgresql).fetch(query, None, None)
    rows = Database(postgresql).fetch("SELECT '10:20' AS a", None, None)
    assert isinstance(rows, ServerRows)
    assert rows.read(["a"]) == {"a": ["10:20"]}


def test_options_of_a_url_name_no_other_file(folder: Path) -> None:
    """SQLAlchemy would open, and make, a file with the options in its name."""
    with closing(sqlite3.connect("one.db")) as one:
        one.execute("CREATE TABLE t AS SELECT 1 AS a")
        one.commit()
    found = read_database("sqlite:///one.db?mode=ro&uri=true", folder, ("here",))
    assert isinstance(found, Database)
    assert found.fetch("SELECT a FROM t", None, None) == {"a": [1]}
    assert not [name for name in os.listdir() if "?" in name]


def test_a_table_of_another_schema_of_a_server(
    postgresql: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = f"s{uuid4().hex}"
    engine = create_engine(postgresql)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
        connection.execute(
            text(f"CREATE TABLE {schema}.visits (whose uuid, city text, age int, pay numeric)")
        )
        rows = "(gen_random_uuid(), 'Bern', 30), (gen_random_uuid(), 'Bern', 40), (gen_random_uuid(), 'Genf', 50)"
        columns = "whose, city, age"
        connection.execute(text(f"INSERT INTO {schema}.visits ({columns}) VALUES {rows}"))
    engine.dispose()
    assert run(["describe", postgresql, "--table", "visits"]) != 0
    assert f"{schema}.visits" in capsys.readouterr().err, "the tables are listed with their schemas"
    assert run(["describe", postgresql, "--table", f"{schema}.visits", "--name", "visits"]) == 0
    draft = capsys.readouterr().out
    assert '# "whose" has the type UUID: its values are ids' in draft
    assert 'a question loads these into this process: "pay".\nconnection = ' in draft
    assert 'columns.city]\ntype = "string"' in draft
    assert 'columns.age]\ntype = "integer"' in draft
    place = "\n".join(re.findall(r"^(?:connection|table) = .*$", draft, re.MULTILINE))
    Path("discreet.toml").write_text(
        f'ledger = "b.db"\n[datasets.visits]\n{place}\nprivacy_unit = "whose"\nmax_contributions = 1\n'
        'budget = { epsilon = "9000" }\ncolumns.city = { type = "string", enum = ["Bern", "Genf"] }\n'
    )
    assert run(["ledger", "open", "visits"]) == 0
    capsys.readouterr()
    assert run(["counts", "visits", "city", "--epsilon", "1000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == {"Bern": 2, "Genf": 1}
