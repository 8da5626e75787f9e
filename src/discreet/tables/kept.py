"""Rows of a query, kept in a table of DuckDB while they are asked about: one snapshot for many queries."""

import itertools
import threading
import weakref
from contextlib import suppress
from typing import Any

ROWS = "discreet_rows"
"""What a relation is called in a query about it."""


class Kept:
    """The rows of a query in a table of the engine, which is gone with this object."""

    __slots__ = ("__weakref__", "_alone", "_connected", "_table")

    def __init__(
        self, relation: Any, query: str, *, shared: bool = False, near: Any = None
    ) -> None:
        """Keep the rows of a query about ROWS.

        Args:
            relation: what the query calls ROWS.
            query: what is kept.
            shared: whether other connections see them.
            near: a relation of the same connection that is quicker to ask, if there is one.
        """
        self._table = f"discreet_{next(_numbers)}"
        kind = "TABLE" if shared else "TEMP TABLE"
        relation.query(ROWS, f"CREATE {kind} {self._table} AS {query}")
        self._connected = connected(relation if near is None else near)
        self._alone = threading.Lock()
        weakref.finalize(self, _drop, self._connected, self._table).atexit = False

    @property
    def name(self) -> str:
        """What the table is called."""
        return self._table

    @property
    def rows(self) -> Any:
        """The rows as a relation, which lasts no longer than this object."""
        return self._connected.query("nothing", f"FROM {self._table}")

    def ask(self, query: str) -> list[Any]:
        """Return the rows of a query about ROWS, which are those of the table; one thread after another."""
        with self._alone:
            asked = f"WITH {ROWS} AS (FROM {self._table}) {query}"
            return self._connected.query("nothing", asked).fetchall()  # type: ignore[no-any-return]


_numbers = itertools.count()  # of no other table of this process, on whatever connection


def connected(relation: Any) -> Any:
    """Return a relation of one row on the same connection, which outlives the tables of this one."""
    return relation.query(ROWS, "SELECT 0 AS nothing").materialize()


def _drop(connected: Any, table: str) -> None:
    with suppress(Exception):  # the connection may have been closed
        connected.query("nothing", f"DROP TABLE IF EXISTS {table}")
