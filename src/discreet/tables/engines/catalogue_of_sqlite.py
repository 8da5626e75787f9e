"""The tables behind a query of SQLite: those that it names and opens once it is prepared."""

import re
import sqlite3
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .query_tables import ALL_TABLES, QueryTables, hash_of

_DEFINITIONS = (
    "SELECT name, tbl_name, type, coalesce(sql, ''), rootpage FROM sqlite_master "
    "WHERE type IN ('table', 'view', 'index')"
)
_ALLOWED = (
    sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
)  # fmt: skip
_ROWS = "rows of no table"
"""What stands for rows that come from elsewhere, such as from a virtual table. It is no name of a table."""


class SQLiteCatalogue:
    """The catalogue of SQLite: see `query_tables.Catalogue`.

    Args:
        connection: a connection of `sqlite3`, in a transaction.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def tables(self, query: str) -> QueryTables:
        """Return the tables that the prepared statement names or opens, with the hash of its views."""
        rows = self._connection.execute(_DEFINITIONS).fetchall()
        kinds = {_small(name): (kind, sql) for name, _, kind, sql, _ in rows if kind != "index"}
        pages = {page: _small(table) for _, table, _, _, page in rows if page}
        try:
            names, around = self._names(query, pages)
        except PermissionError:
            return ALL_TABLES
        views = {name for name in names | around if kinds.get(name, ("", ""))[0] == "view"}
        tables = sorted(names - views)
        is_plain = all(name in kinds and _has_rows(*kinds[name]) for name in tables)
        view_hash = hash_of((name, kinds[name][1]) for name in sorted(views))
        return QueryTables(
            tuple(f"main.{name}" for name in tables) if is_plain else None, (), view_hash
        )

    def names(self) -> frozenset[str]:
        """Return the names of all tables of the database, as `tables` spells them."""
        rows = self._connection.execute(_DEFINITIONS).fetchall()
        return frozenset(f"main.{_small(name)}" for name, _, kind, *_ in rows if kind == "table")

    def attempt(self) -> AbstractContextManager[Any]:
        """Return an empty context: there is no trace of a query that fails."""
        return nullcontext()

    def _names(self, query: str, pages: Mapping[int, str]) -> tuple[set[str], set[str]]:
        """Return the tables and views of a statement, and the views and expressions around them.

        The authorizer is told what a statement names, but for the columns of USING; the statement itself, as
        bytecode, opens what it reads, but for what the planner leaves out. Together they have all.

        Raises:
            PermissionError: if the statement does something else than to read.
        """
        names, around, denials = set[str](), set[str](), list[int]()

        def authorize(action: int, name: str, _: str, __: str, within: str) -> int:
            if action == sqlite3.SQLITE_READ:
                names.add(_small(name))
            if within:
                around.add(_small(within))
            if action not in _ALLOWED:
                denials.append(action)
            return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY

        self._connection.set_authorizer(authorize)
        try:
            steps = self._connection.execute(f"EXPLAIN {query}").fetchall()
        except sqlite3.DatabaseError:
            if not denials:
                raise
        finally:
            self._connection.set_authorizer(None)
        if denials:
            raise PermissionError
        sources = (
            pages.get(page, _ROWS) if database == 0 else _ROWS
            for _, step, _, page, database, *_ in steps
            if step == "OpenRead"
        )
        from_elsewhere = {_ROWS for step in steps if step[1] == "VOpen"}
        return names | {*sources} | from_elsewhere, around


def _has_rows(kind: str, sql: str) -> bool:
    """Return whether a table has rows of its own; a virtual one may show those of another."""
    return kind == "table" and not re.match(r"\s*create\s+virtual\b", sql, re.IGNORECASE)


def _small(name: str) -> str:
    """Return a name as SQLite compares it: without regard to case in ASCII, and in no other letters."""
    return "".join(sign.lower() if sign.isascii() else sign for sign in name)
