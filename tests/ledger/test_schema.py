"""Events can only be appended, a newer schema is reached in one step, and others are refused by name."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, Executable, inspect

from discreet.errors import LedgerCorrupt, LedgerError, LedgerTooNew
from discreet.ledger import Ledger, schema
from discreet.ledger.schema import BUDGET_ROWS, EVENTS, LEDGER, create_tables
from discreet.ledger.transaction import Transaction

from ..ledgers import answering, bill, untouched
from .test_verification import tampered

UNRELEASED = """CREATE TABLE discreet_ledger (id TEXT NOT NULL PRIMARY KEY, born INTEGER NOT NULL,
    version INTEGER NOT NULL, events BIGINT NOT NULL, head TEXT NOT NULL)"""


def add_notes(connection: Connection) -> None:
    """An invented second schema: a table more, and a column in an old one."""
    connection.exec_driver_sql("CREATE TABLE discreet_notes (text TEXT)")
    connection.exec_driver_sql(
        "ALTER TABLE discreet_budgets ADD COLUMN note TEXT NOT NULL DEFAULT ''"
    )


def fail(_: Connection) -> None:
    raise LedgerError("this step fails")


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that adds steps after schema 1."""

    def add(*steps: Callable[[Connection], None]) -> None:
        monkeypatch.setattr(schema, "MIGRATIONS", [schema.MIGRATIONS[0], *steps])

    return add


def test_a_first_ledger_has_schema_1(tmp_path: Path) -> None:
    assert [create_tables] == schema.MIGRATIONS
    path = tmp_path / "budget.db"
    Ledger(path)
    with closing(sqlite3.connect(path)) as file:
        assert list(file.execute("SELECT born, version FROM discreet_account")) == [(1, 1)]


def test_a_ledger_is_migrated_in_one_step(where: str, second: Callable[..., None]) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    session, head = ledger.session("adult"), ledger.verify().head
    session.buy(bill("1/4", "r"), answering(3))
    second(add_notes, fail)
    with pytest.raises(LedgerError, match="this step fails"):
        Ledger(where)
    second()
    assert Ledger(where).verify(head).events == 3  # nothing of it is left
    second(add_notes)
    newer = Ledger(where)
    assert newer.verify(head).events == 3  # and no event is added
    assert newer.session("adult").buy(bill("1/4", "r"), untouched) == 3
    newer.session("adult").buy(bill("1/2"), answering(0))
    assert Ledger(where).verify(head).events == 5
    second()
    said = "has schema 2, and this version of discreet knows 1: upgrade discreet"
    for old in (lambda: Ledger(where), lambda: session.buy(bill("1/8"), untouched)):
        with pytest.raises(LedgerTooNew, match=said):
            old()


KILLED = """
import os, signal, sys
from discreet.ledger import Ledger, schema

def half(connection):
    connection.exec_driver_sql("CREATE TABLE discreet_notes (text TEXT)")
    connection.exec_driver_sql("UPDATE discreet_account SET version = 2")
    os.kill(os.getpid(), signal.SIGKILL)

schema.MIGRATIONS.append(half)
Ledger(sys.argv[1])
"""


def test_a_migration_that_is_killed_leaves_the_ledger_as_it_was(
    where: str, second: Callable[..., None]
) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    head = ledger.verify().head
    killed = subprocess.run([sys.executable, "-c", KILLED, where], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert Ledger(where).verify(head).head == head
    second(add_notes)
    assert Ledger(where).verify(head).head == head


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE discreet_budgets SET spent = '{\"epsilon\":\"0\"}'",
        "UPDATE discreet_events SET body = replace(body, 'answer\":', 'answer\":-') WHERE kind = 'answered'",
        "UPDATE discreet_events SET body = replace(body, 'digest', 'digesd') WHERE kind = 'charged'",
    ],
)  # fmt: skip
def test_a_ledger_that_was_edited_is_not_migrated(
    tmp_path: Path, second: Callable[..., None], statement: str
) -> None:
    path = tmp_path / "budget.db"
    ledger = Ledger(path)
    ledger.open("adult", epsilon=1)
    ledger.session("adult").buy(bill("1/4", "r"), answering(3))
    del ledger
    tampered(path, statement)
    before = path.read_bytes()
    second(add_notes)
    with pytest.raises(LedgerCorrupt):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_ledger_of_before_the_first_release_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with closing(sqlite3.connect(path)) as file:
        file.execute(UNRELEASED)
        file.execute("INSERT INTO discreet_ledger VALUES ('6f1c', 9, 9, 0, 'ab')")
        file.commit()
    path.chmod(0o600)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=r"before the first release.*open a new ledger"):
        Ledger(path)
    assert path.read_bytes() == before
    assert {*os.listdir(tmp_path)} <= {"budget.db", "budget.db-lock"}


@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_a_server_with_such_a_ledger_is_refused_by_name(where: str) -> None:
    with psycopg.connect(where, autocommit=True) as connection:
        connection.execute(UNRELEASED)
        with pytest.raises(LedgerError, match=r"before the first release.*open a new ledger"):
            Ledger(where)
        [(tables,)] = connection.execute(
            "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'discreet_%' AND schemaname = current_schema()"
        )
    assert tables == 1


def test_the_tables_have_the_columns_that_statements_name(where: str) -> None:
    def columns(transaction: Transaction) -> dict[str, list[str]]:
        tables = inspect(transaction.connection)
        return {
            name: [str(column["name"]) for column in tables.get_columns(name)]
            for name in tables.get_table_names()
        }

    declared = {table.name: list(table.c.keys()) for table in (LEDGER, EVENTS, BUDGET_ROWS)}
    assert Ledger(where)._store.read(columns) == declared


def test_events_can_only_be_appended(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    row = {"number": 1, "at": "", "kind": "opened", "dataset": "x", "analyst": "", "request": None,
           "body": "{}", "head": ""}  # fmt: skip
    statements: list[Executable] = [
        EVENTS.update().values(kind="charged"),
        EVENTS.delete(),
        EVENTS.insert().values(row),
    ]

    def changing(held: Transaction, statement: Executable) -> None:
        held.connection.execute(statement)

    for statement in statements:
        with pytest.raises(LedgerCorrupt):
            ledger._store.write(changing, statement)
    assert ledger.verify().events == 1
