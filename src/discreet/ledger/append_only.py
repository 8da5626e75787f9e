"""Checks, before every write, that events cannot be changed: triggers, and no write-ahead log."""

from sqlalchemy import Connection, text

from ..errors import LedgerCorrupt
from .schema import APPEND_ONLY
from .statements import Statement

_SQLITE = Statement(text("SELECT sql FROM sqlite_master WHERE type = 'trigger'"))
_JOURNAL = Statement(text("PRAGMA journal_mode"))

_POSTGRESQL = """SELECT t.tgname, t.tgtype, t.tgenabled::text, p.prosrc
FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
WHERE t.tgrelid = 'discreet_events'::regclass AND NOT t.tgisinternal"""

_STATEMENT_BEFORE_CHANGES = 2 + 8 + 16 + 32
"""PostgreSQL's bit mask of a statement-level trigger before DELETE, UPDATE and TRUNCATE."""


def check_append_only(connection: Connection) -> None:
    """Raise if events could be changed, or the newest ones are kept in a write-ahead log.

    Raises:
        LedgerCorrupt: if a trigger is missing, disabled, changed or added, or the file is in write-ahead mode.
    """
    check = _check_sqlite if connection.dialect.name == "sqlite" else _check_postgresql
    check(connection)


def _check_sqlite(connection: Connection) -> None:
    triggers = {sql for (sql,) in _SQLITE.run(connection)}
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
            "this ledger was put into write-ahead mode, in which a copy of the file misses what is newest; "
            "put it back: PRAGMA journal_mode = DELETE"
        )


def _check_postgresql(connection: Connection) -> None:
    triggers = [tuple(row) for row in connection.exec_driver_sql(_POSTGRESQL)]
    if triggers != [_original_trigger()]:
        raise LedgerCorrupt(
            "the trigger that keeps events from being changed is not the one that was made"
        )


def _original_trigger() -> tuple[object, ...]:
    """Return the row of the catalog for the trigger as it was created; "O" means enabled."""
    source = APPEND_ONLY["postgresql"][0].split("$$")[1]
    return "discreet_append_only", _STATEMENT_BEFORE_CHANGES, "O", source
