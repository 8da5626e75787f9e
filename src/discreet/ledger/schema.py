"""The tables of a ledger: how they are made and renewed, statements on them, and the check that events stay."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Executable,
    Integer,
    MetaData,
    Table,
    Text,
    inspect,
    select,
    text,
)
from sqlalchemy.dialects import sqlite

from ..errors import LedgerCorrupt, LedgerError, LedgerTooNew
from .events import BUDGET_EVENTS, DELAY_EVENTS, FAILURE_EVENTS, genesis


class Statement:
    """A statement and the names of its parameters.

    SQLite runs one in 2 µs, and the layers above its driver take 40 µs: half of the time of a paid release in
    memory. So they are left out where a transaction was begun by them. Other databases answer over a network.

    Args:
        executable: the statement.
        columns: of a table that it inserts or updates, those that it sets.
    """

    def __init__(self, executable: Executable, columns: Sequence[str] = ()) -> None:
        self._executable, self._columns = executable, list(columns)

    def run_on(self, database: Connection | sqlite3.Connection, row: Sequence[object]) -> None:
        """Insert or update with values in the order of its columns."""
        if type(database) is sqlite3.Connection:
            database.execute(self._text_for_rows, row)
        else:
            self.run(database, **dict(zip(self._columns, row, strict=True)))

    def run(
        self, database: Connection | sqlite3.Connection, **values: object
    ) -> Sequence[Sequence[Any]]:
        """Run it with these values in the transaction of a connection, or of a driver, and return all rows."""
        driver = database if type(database) is sqlite3.Connection else database_of(database)
        if isinstance(driver, sqlite3.Connection):
            text, names, constants = self._text_for_sqlite
            parameters = {**constants, **values} if constants else values
            return driver.execute(text, [parameters[name] for name in names]).fetchall()
        outcome = driver.execute(self._executable, values)
        return outcome.all() if outcome.returns_rows else []

    @cached_property
    def _text_for_sqlite(self) -> tuple[str, Sequence[str], dict[str, Any]]:
        """The text for SQLite, the names of its question marks in order, and the values that never change."""
        executable: Any = self._executable
        statement = executable.compile(dialect=sqlite.dialect(), column_keys=self._columns or None)
        constants = {
            name: constant
            for name, constant in statement.params.items()
            if constant is not None and name not in self._columns
        }
        return str(statement), statement.positiontup or (), constants

    @cached_property
    def _text_for_rows(self) -> str:
        """The text for SQLite: its question marks are the columns in order."""
        text, names, _ = self._text_for_sqlite
        assert list(names) == self._columns
        return text


def database_of(connection: Connection | sqlite3.Connection) -> Connection | sqlite3.Connection:
    """Return SQLite's own connection below SQLAlchemy's, or that of another database."""
    if isinstance(connection, sqlite3.Connection):
        return connection
    return driver_of(connection) if connection.dialect.name == "sqlite" else connection


def driver_of(connection: Connection) -> sqlite3.Connection:
    """Return SQLite's own connection below SQLAlchemy's."""
    driver: Any = connection.connection.driver_connection
    return driver  # type: ignore[no-any-return]


_TABLES = MetaData()

LEDGER = Table(
    "discreet_account", _TABLES,
    Column("id", Text, primary_key=True),
    Column("born", Integer),
    Column("version", Integer),
    Column("events", BigInteger),
    Column("head", Text),
)  # fmt: skip
"""One row: the identity of the ledger and the end of its chain. Writers lock it first."""

EVENTS = Table(
    "discreet_events", _TABLES,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Text),
    Column("kind", Text),
    Column("dataset", Text),
    Column("analyst", Text),
    Column("request", Text),
    Column("body", Text),
    Column("head", Text),
)  # fmt: skip
"""All events in order. An analyst of '' means none."""

BUDGET_ROWS = Table(
    "discreet_budgets", _TABLES,
    Column("dataset", Text, primary_key=True),
    Column("analyst", Text, primary_key=True),
    Column("neighbors", Text),
    Column("total", Text),
    Column("spent", Text),
    Column("unit", Text),
    Column("shares", Text),
    Column("delta_for", Text),
)  # fmt: skip
"""The sums that follow from the events, so that a release need not recompute them. A unit of '' means rows."""

STATES_BUDGETS = f"kind IN ({', '.join(map(repr, BUDGET_EVENTS))})"
"""The condition for events with states of budgets. A partial index serves only queries with the same text."""

TELLS_FAILURES = f"kind IN ({', '.join(map(repr, FAILURE_EVENTS))})"
"""The condition for events about failures. A partial index serves only queries with the same text."""

TELLS_DELAYS = f"kind IN ({', '.join(map(repr, DELAY_EVENTS))})"
"""The condition for events about delays. A partial index serves only queries with the same text."""

_FIRST = [
    """CREATE TABLE discreet_account (id TEXT NOT NULL PRIMARY KEY, born INTEGER NOT NULL,
    version INTEGER NOT NULL, events BIGINT NOT NULL, head TEXT NOT NULL)""",
    """CREATE TABLE discreet_events (number {key} NOT NULL PRIMARY KEY, at TEXT NOT NULL,
    kind TEXT NOT NULL, dataset TEXT NOT NULL, analyst TEXT NOT NULL, request TEXT, body TEXT NOT NULL,
    head TEXT NOT NULL, UNIQUE (dataset, analyst, request, kind))""",
    """CREATE TABLE discreet_budgets (dataset TEXT NOT NULL, analyst TEXT NOT NULL,
    neighbors TEXT NOT NULL, total TEXT NOT NULL, spent TEXT NOT NULL, unit TEXT NOT NULL, shares TEXT NOT NULL,
    delta_for TEXT NOT NULL, PRIMARY KEY (dataset, analyst))""",
    f"CREATE INDEX discreet_latest_whole ON discreet_events (dataset, number) WHERE {STATES_BUDGETS}",
    f"CREATE INDEX discreet_latest_share ON discreet_events (dataset, analyst, number) WHERE {STATES_BUDGETS}",
    "CREATE INDEX discreet_described ON discreet_events (dataset, number) WHERE kind = 'described'",
    f"CREATE INDEX discreet_failures ON discreet_events (dataset, analyst, number) WHERE {TELLS_FAILURES}",
    f"CREATE INDEX discreet_delays ON discreet_events (dataset, analyst, number) WHERE {TELLS_DELAYS}",
]
APPEND_ONLY = {
    "sqlite": [
        """CREATE TRIGGER discreet_no_update BEFORE UPDATE ON discreet_events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
        """CREATE TRIGGER discreet_no_delete BEFORE DELETE ON discreet_events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
        """CREATE TRIGGER discreet_in_order BEFORE INSERT ON discreet_events
        WHEN NEW.number <> 1 + coalesce((SELECT max(number) FROM discreet_events), 0)
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
    ],
    "postgresql": [
        """CREATE FUNCTION discreet_append_only() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'events are append-only'; END $$""",
        """CREATE TRIGGER discreet_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON discreet_events
        FOR EACH STATEMENT EXECUTE FUNCTION discreet_append_only()""",
    ],
}


def create_tables(connection: Connection) -> None:
    """Create the tables and indexes of schema 1, and triggers that make events append-only."""
    dialect = connection.dialect.name
    key = (
        "INTEGER" if dialect == "sqlite" else "BIGINT"
    )  # SQLite's own row number must be an INTEGER
    for statement in [*_FIRST, *APPEND_ONLY[dialect]]:
        connection.exec_driver_sql(statement.replace("{key}", key))


MIGRATIONS: list[Callable[[Connection], None]] = [create_tables]
"""The n-th migration leads from schema n - 1 to schema n. Released migrations are never changed."""

_UNRELEASED = "discreet_ledger"
"""A table of ledgers that were written before the first release. They have other events and another chain."""


def version_of(connection: Connection) -> int:
    """The schema of the stored ledger, or 0 for an empty database.

    Raises:
        LedgerTooNew: if it is newer than this library.
        LedgerCorrupt: if it is not recorded.
        LedgerError: if the database holds other tables and no ledger, or a ledger of before the first release.
    """
    tables = inspect(connection).get_table_names()
    if _UNRELEASED in tables:
        raise LedgerError(
            "this ledger was written before the first release of discreet, and cannot be read. "
            "Keep it as it is, open a new ledger elsewhere, and charge what was spent: discreet "
            "ledger charge"
        )
    if LEDGER.name not in tables:
        if tables and connection.dialect.name == "sqlite":
            raise LedgerError(
                "this database holds other tables and no ledger. Give a ledger a file of its own"
            )
        return 0
    versions = list(connection.execute(select(LEDGER.c.version)).scalars())
    if len(versions) != 1:
        raise LedgerCorrupt("the ledger does not say which schema it has")
    return _check_version(versions[0])


def _check_version(version: object) -> int:
    """The schema if this library knows it."""
    if not isinstance(version, int) or version < 1:
        raise LedgerCorrupt("the ledger does not say which schema it has")
    if version > len(MIGRATIONS):
        raise LedgerTooNew(
            f"this ledger has schema {version}, and this version of discreet knows "
            f"{len(MIGRATIONS)}: upgrade discreet"
        )
    return version


def is_newest(version: int) -> bool:
    """Whether a ledger of this schema needs no migration."""
    return version == len(MIGRATIONS)


def check_newest(version: object) -> None:
    """Raise unless an open ledger has the schema of this library.

    Raises:
        LedgerTooNew: if it is newer.
        LedgerCorrupt: if it is older or not recorded, as a ledger is renewed when it is opened.
    """
    if not is_newest(_check_version(version)):
        raise LedgerCorrupt(f"the ledger says it has schema {version}, and was opened with another")


def migrate(connection: Connection) -> None:
    """Migrate the tables to the newest schema, and create them in an empty database."""
    version = version_of(connection)
    for step in MIGRATIONS[version:]:
        step(connection)
    newest = len(MIGRATIONS)
    if version:
        connection.execute(LEDGER.update().values(version=newest))
    else:
        identity = uuid4().hex
        connection.execute(LEDGER.insert().values(
            id=identity, born=newest, version=newest, events=0, head=genesis(identity, newest)
        ))  # fmt: skip


_TRIGGERS = Statement(text("SELECT sql FROM sqlite_master WHERE type = 'trigger'"))
_JOURNAL = Statement(text("PRAGMA journal_mode"))

_TRIGGERS_OF_POSTGRESQL = """SELECT t.tgname, t.tgtype, t.tgenabled::text, p.prosrc
FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
WHERE t.tgrelid = 'discreet_events'::regclass AND NOT t.tgisinternal"""

_STATEMENT_BEFORE_CHANGES = 2 + 8 + 16 + 32
"""PostgreSQL's bit mask of a statement-level trigger before DELETE, UPDATE and TRUNCATE."""


def check_append_only(connection: Connection) -> None:
    """Raise if events could be changed, or the newest ones are kept in a write-ahead log.

    Raises:
        LedgerCorrupt: if a trigger is missing, disabled, changed or added, or the file is in write-ahead mode.
    """
    check = (
        _check_triggers_of_sqlite
        if connection.dialect.name == "sqlite"
        else _check_triggers_of_postgresql
    )
    check(connection)


def _check_triggers_of_sqlite(connection: Connection) -> None:
    triggers = {sql for (sql,) in _TRIGGERS.run(connection)}
    if triggers != set(APPEND_ONLY["sqlite"]):
        raise LedgerCorrupt(
            "the triggers that keep events from being changed are not those that were made"
        )
    check_journal(connection)


def check_journal(connection: Connection) -> None:
    """Raise if the newest events are kept in a write-ahead log, outside the file.

    Raises:
        LedgerCorrupt: if the file is in write-ahead mode.
    """
    if _JOURNAL.run(connection)[0][0] == "wal":
        raise LedgerCorrupt(
            "this ledger was put into write-ahead mode, in which a copy of the file misses what "
            "is newest. Set it back: PRAGMA journal_mode = DELETE"
        )


def _check_triggers_of_postgresql(connection: Connection) -> None:
    triggers = [tuple(row) for row in connection.exec_driver_sql(_TRIGGERS_OF_POSTGRESQL)]
    if triggers != [_original_trigger()]:
        raise LedgerCorrupt(
            "the trigger that keeps events from being changed is not the one that was made"
        )


def _original_trigger() -> tuple[object, ...]:
    """Return the row of the catalog for the trigger as it was created; "O" means enabled."""
    source = APPEND_ONLY["postgresql"][0].split("$$")[1]
    return "discreet_append_only", _STATEMENT_BEFORE_CHANGES, "O", source
