"""The rows that a driver of Python has of a query, of which no cell decides whether they are read."""

from collections.abc import Callable
from functools import partial
from typing import Any


def driver_rows(answer: Any) -> list[tuple[object, ...]]:
    """Return the rows of a cursor, or of a result of SQLAlchemy.

    A cell that no object of Python can hold is None if the driver is psycopg or sqlite3: the date `infinity`, or a
    text of SQLite that is no UTF-8. With other drivers, such a cell may stop the whole query.
    """
    cursor = getattr(answer, "cursor", answer)
    if getattr(getattr(cursor, "connection", None), "text_factory", None) is str:
        return _sqlite_rows(answer, cursor.connection)
    cells = getattr(cursor, "pgresult", None)
    # A cursor on the server has some of its rows here, and counts none.
    if cells is None or cells.ntuples != cursor.rowcount:
        return list(answer.fetchall())
    return _psycopg_rows(cursor)


def _sqlite_rows(answer: Any, connection: Any) -> list[tuple[object, ...]]:
    """Return the rows of an answer on a connection of sqlite3, which is as before then."""
    connection.text_factory = partial(_cell, bytes.decode)
    try:
        return list(answer.fetchall())
    finally:
        connection.text_factory = str


def _psycopg_rows(cursor: Any) -> list[tuple[object, ...]]:
    """Return the rows of a cursor, as the types of its cursor and connection are loaded."""
    from psycopg.adapt import Transformer

    cells, transformer = cursor.pgresult, Transformer.from_context(cursor)
    loads = [
        transformer.get_loader(cells.ftype(place), cells.fformat(place)).load
        for place in range(cells.nfields)
    ]
    return [
        tuple(_cell(load, cells.get_value(row, place)) for place, load in enumerate(loads))
        for row in range(cells.ntuples)
    ]


def _cell(load: Callable[[bytes], object], content: bytes | None) -> object:
    """Return a cell, None for null and for what cannot be loaded."""
    try:
        return None if content is None else load(content)
    except MemoryError:
        raise
    except Exception:  # Python has no such value, or none so large
        return None
