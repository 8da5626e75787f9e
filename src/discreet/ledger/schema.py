"""The tables of a ledger, and the migrations between their schemas."""

from collections.abc import Callable
from uuid import uuid4

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    Text,
    inspect,
    select,
)

from ..errors import LedgerCorrupt, LedgerError, LedgerTooNew
from .events import BUDGET_EVENTS, genesis

_TABLES = MetaData()

LEDGER = Table(
    "discreet_ledger", _TABLES,
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

_FIRST = [
    """CREATE TABLE discreet_ledger (id TEXT NOT NULL PRIMARY KEY, born INTEGER NOT NULL,
    version INTEGER NOT NULL, events BIGINT NOT NULL, head TEXT NOT NULL)""",
    """CREATE TABLE discreet_events (number {key} NOT NULL PRIMARY KEY, at TEXT NOT NULL,
    kind TEXT NOT NULL, dataset TEXT NOT NULL, analyst TEXT NOT NULL, request TEXT, body TEXT NOT NULL,
    head TEXT NOT NULL, UNIQUE (dataset, analyst, request, kind))""",
    """CREATE TABLE discreet_budgets (dataset TEXT NOT NULL, analyst TEXT NOT NULL,
    neighbors TEXT NOT NULL, total TEXT NOT NULL, spent TEXT NOT NULL, PRIMARY KEY (dataset, analyst))""",
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


def _first(connection: Connection) -> None:
    """Create the tables, and triggers that make events append-only."""
    dialect = connection.dialect.name
    key = (
        "INTEGER" if dialect == "sqlite" else "BIGINT"
    )  # SQLite's own row number must be an INTEGER
    for statement in [*_FIRST, *APPEND_ONLY[dialect]]:
        connection.exec_driver_sql(statement.replace("{key}", key))


def _second(connection: Connection) -> None:
    """Add privacy units to budgets. Existing ones protect single rows."""
    connection.exec_driver_sql(
        "ALTER TABLE discreet_budgets ADD COLUMN unit TEXT NOT NULL DEFAULT ''"
    )


STATES_BUDGETS = f"kind IN ({', '.join(map(repr, BUDGET_EVENTS))})"
"""The condition for events with states of budgets. A partial index serves only queries with the same text."""

_STATED_BEFORE = "kind IN ('opened', 'extended', 'carried', 'charged', 'charged_outside')"


def _third(connection: Connection) -> None:
    """Index the latest event with the state of a budget, of a dataset and of a share."""
    _index_states(connection, _STATED_BEFORE)


def _index_states(connection: Connection, condition: str) -> None:
    for name, columns in (("whole", "dataset, number"), ("share", "dataset, analyst, number")):
        connection.exec_driver_sql(
            f"CREATE INDEX discreet_latest_{name} ON discreet_events ({columns}) WHERE {condition}"
        )


def _fourth(connection: Connection) -> None:
    """Index the descriptions of datasets, which older versions do not know."""
    connection.exec_driver_sql(
        "CREATE INDEX discreet_described ON discreet_events (dataset, number) WHERE kind = 'described'"
    )


def _fifth(connection: Connection) -> None:
    """Add the rule for shares and the use of a delta, and index two kinds of events more."""
    for column in ("shares", "delta_for"):
        connection.exec_driver_sql(
            f"ALTER TABLE discreet_budgets ADD COLUMN {column} TEXT NOT NULL DEFAULT ''"
        )
    for name in ("whole", "share"):
        connection.exec_driver_sql(f"DROP INDEX discreet_latest_{name}")
    _index_states(connection, STATES_BUDGETS)


MIGRATIONS: list[Callable[[Connection], None]] = [_first, _second, _third, _fourth, _fifth]
"""The n-th migration leads from schema n - 1 to schema n. Released migrations are never changed."""


def version_of(connection: Connection) -> int:
    """Return the schema of the stored ledger; 0 for an empty database.

    Raises:
        LedgerTooNew: if it is newer than this library.
        LedgerCorrupt: if it is not recorded.
        LedgerError: if the database holds other tables and no ledger.
    """
    tables = inspect(connection).get_table_names()
    if LEDGER.name not in tables:
        if tables and connection.dialect.name == "sqlite":
            raise LedgerError(
                "this database holds other tables and no ledger; give a ledger a file of its own"
            )
        return 0
    versions = list(connection.execute(select(LEDGER.c.version)).scalars())
    if len(versions) != 1:
        raise LedgerCorrupt("the ledger does not say which schema it has")
    return check_version(versions[0])


def check_version(version: object) -> int:
    """Return the schema if this library knows it.

    Raises:
        LedgerTooNew: if it is newer.
        LedgerCorrupt: if it is no number.
    """
    if not isinstance(version, int) or version < 1:
        raise LedgerCorrupt("the ledger does not say which schema it has")
    if version > len(MIGRATIONS):
        raise LedgerTooNew(
            f"this ledger has schema {version}, and this version of discreet knows {len(MIGRATIONS)}: "
            "upgrade discreet"
        )
    return version


def check_newest(version: object) -> None:
    """Raise unless an open ledger has the schema of this library.

    Raises:
        LedgerTooNew: if it is newer.
        LedgerCorrupt: if it is older or not recorded, as a ledger is upgraded when it is opened.
    """
    if check_version(version) != len(MIGRATIONS):
        raise LedgerCorrupt(f"the ledger says it has schema {version}, and was opened with another")


def migrate(connection: Connection) -> None:
    """Migrate the tables to the newest schema; create them in an empty database."""
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
