"""Rows of a query, kept in a table of DuckDB while they are asked about: one snapshot for many queries."""

import itertools
import threading
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

ROWS = "discreet_rows"
"""What a relation is called in a query about it."""


class Kept:
    """The rows of a query in a table of the engine, which is gone with this object."""

    __slots__ = ("__weakref__", "_alone", "_connected", "_table")

    def __init__(
        self,
        relation: "DuckDBPyRelation",
        query: str,
        *,
        shared: bool = False,
        near: "DuckDBPyRelation | None" = None,
    ) -> None:
        """Keep the rows of a query about ROWS.

        Args:
            relation: the relation that the query calls ROWS.
            query: the query whose rows are kept.
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
        """The name of the table."""
        return self._table

    @property
    def rows(self) -> "DuckDBPyRelation":
        """The rows as a relation, which lasts no longer than this object."""
        return queried(self._connected, "nothing", f"FROM {self._table}")

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query about ROWS, which are those of the table; one thread after another."""
        with self._alone:
            asked = f"WITH {ROWS} AS (FROM {self._table}) {query}"
            return queried(self._connected, "nothing", asked).fetchall()


_numbers = itertools.count()  # of no other table of this process, on whatever connection


def queried(relation: "DuckDBPyRelation", name: str, query: str) -> "DuckDBPyRelation":
    """Return the rows that a query selects from a relation, which it calls by that name."""
    found = relation.query(name, query)
    assert found is not None, "a query that selects returns rows"
    return found


def connected(relation: "DuckDBPyRelation") -> "DuckDBPyRelation":
    """Return a relation of one row on the same connection, which outlives the tables of this one."""
    return queried(relation, ROWS, "SELECT 0 AS nothing").materialize()


def _drop(connected: "DuckDBPyRelation", table: str) -> None:
    with suppress(Exception):  # the connection may have been closed
        connected.query("nothing", f"DROP TABLE IF EXISTS {table}")
