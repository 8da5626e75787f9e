"""Rows of a query in a table of DuckDB while they are asked about: one snapshot for many queries."""

import itertools
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

ROWS = "discreet_rows"
"""The name of a relation in a query about it."""


class TempTable:
    """The rows of a query in a table of the engine, which is gone with this object."""

    __slots__ = ("__weakref__", "_connection", "name")

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
        self.name = f"discreet_{next(_table_numbers)}"
        kind = "TABLE" if shared else "TEMP TABLE"
        relation.query(ROWS, f"CREATE {kind} {self.name} AS {query}")
        self._connection = one_row(relation if near is None else near)
        weakref.finalize(self, _drop, self._connection, self.name).atexit = False

    @property
    def rows(self) -> "DuckDBPyRelation":
        """The rows as a relation, which lasts no longer than this object."""
        return query_rows(self._connection, "nothing", f"FROM {self.name}")


_table_numbers = itertools.count()  # of no other table of this process, on whatever connection


def query_rows(relation: "DuckDBPyRelation", name: str, query: str) -> "DuckDBPyRelation":
    """Return the rows that a query selects from a relation, which it calls by that name."""
    rows = relation.query(name, query)
    assert rows is not None, "a query that selects returns rows"
    return rows


def one_row(relation: "DuckDBPyRelation") -> "DuckDBPyRelation":
    """Return a relation of one row on the same connection, which outlives the tables of this one."""
    return query_rows(relation, ROWS, "SELECT 0 AS nothing").materialize()


def _drop(connection: "DuckDBPyRelation", table: str) -> None:
    with suppress(Exception):  # the connection may have been closed
        connection.query("nothing", f"DROP TABLE IF EXISTS {table}")
