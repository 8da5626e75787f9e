"""Long reads that do not delay writers: a file is copied in one step, and the copy is read."""

import sqlite3
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

from .append_only import check_journal
from .failures import ledger_error
from .store import Store
from .transaction import Transaction

_P = ParamSpec("_P")
_T = TypeVar("_T")


def read_snapshot(
    store: Store,
    work: Callable[Concatenate[Connection, _P], _T],
    *args: _P.args,
    **kwargs: _P.kwargs,
) -> _T:
    """Return work(connection, *args, **kwargs) on one consistent snapshot, however long it takes.

    While a transaction reads an SQLite file, no other can commit to it. So its pages are copied as they are,
    which takes milliseconds for tens of thousands of events, to a temporary database. PostgreSQL keeps
    snapshots by itself.
    """
    copy = store.read(_copy)
    if copy is None:
        return store.read(lambda transaction: work(transaction.connection, *args, **kwargs))
    try:
        with copy.connect() as connection:
            return work(connection, *args, **kwargs)
    except (SQLAlchemyError, sqlite3.Error, UnicodeError) as error:
        failure = ledger_error(error, store.name)
    finally:
        copy.dispose()
    raise failure


def _copy(transaction: Transaction) -> Engine | None:
    """Return an engine on a copy of all pages, damaged ones too; None for PostgreSQL."""
    connection = transaction.connection
    if connection.dialect.name != "sqlite":
        return None
    check_journal(connection)
    source: Any = connection.connection.driver_connection
    # Without a name it is a file that SQLite keeps in memory while it is small, and that nobody else can open.
    copy = sqlite3.connect("", check_same_thread=False, isolation_level=None)
    try:
        source.backup(copy)
        copy.execute("PRAGMA cell_size_check = ON")
        copy.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        copy.close()
        raise
    return create_engine(
        "sqlite://", creator=lambda: copy, poolclass=StaticPool, hide_parameters=True
    )
