"""Long reads that nobody waits for: a file is copied in one step, and the copy is read."""

import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

from .failures import translated
from .guards import check_journal
from .store import Store

T = TypeVar("T")


def look(store: Store, work: Callable[[Connection], T]) -> T:
    """Return what `work` returns from one consistent view, however long it takes.

    While a transaction reads an SQLite file, nobody can commit to it. So its pages are copied as they are,
    which takes milliseconds for tens of thousands of events, to a database that ends with this call. A server
    keeps views by itself.
    """
    copy = store.read(_copied)
    if copy is None:
        return store.read(work)
    try:
        with copy.connect() as connection:
            return work(connection)
    except (SQLAlchemyError, sqlite3.Error, UnicodeError) as error:
        failure = translated(error, store.name)
    finally:
        copy.dispose()
    raise failure


def _copied(connection: Connection) -> Engine | None:
    """Return an engine on a copy of all pages, damaged ones too; None for a server."""
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
