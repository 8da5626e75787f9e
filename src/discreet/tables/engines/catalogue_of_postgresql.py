"""The tables behind a query of PostgreSQL, by the locks that the server takes when it explains the query."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import text

from .query_tables import QueryTables, hash_of, statement

_FOREIGN = "f"
"""The kind of a foreign table, which may be a table of this database in another spelling."""

_LOCKS = """SELECT array_agg(DISTINCT relation::bigint) FROM pg_catalog.pg_locks
WHERE locktype = 'relation' AND pid = pg_catalog.pg_backend_pid()"""

_MAY_ASK = "SELECT has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')"
_SERVER = """SELECT s.system_identifier || ':' || d.oid FROM pg_catalog.pg_control_system() s,
pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()"""

_BEHIND = text("""
WITH RECURSIVE behind(oid) AS (
  SELECT unnest(CAST(:locks AS bigint[]))::oid
  UNION
  SELECT more.oid FROM behind b, LATERAL (
    SELECT d.refobjid AS oid FROM pg_rewrite w JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass
      AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass WHERE w.ev_class = b.oid
    UNION ALL SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = b.oid) more)
SELECT c.oid::bigint AS number, c.relkind::text AS kind, n.nspname || '.' || c.relname AS name,
  n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast') AS is_of_system,
  CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END AS definition,
  EXISTS (
    SELECT FROM pg_rewrite w JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
    WHERE w.ev_class = c.oid AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
      AND d.refobjid >= 16384 AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = d.refclassid
        AND e.objid = d.refobjid AND e.deptype = 'e')) AS calls_functions
FROM behind JOIN pg_class c ON c.oid = behind.oid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind NOT IN ('i', 'I', 't', 'c') ORDER BY name""")
"""What views, tables that others inherit from, and partitions lead to."""

_OWN = """
SELECT f.name FROM (
  SELECT oid, 'pg_proc'::regclass AS kind, proname::text AS name FROM pg_catalog.pg_proc
  UNION ALL SELECT oid, 'pg_operator'::regclass, oprname::text FROM pg_catalog.pg_operator
  UNION ALL SELECT oid, 'pg_cast'::regclass, '' FROM pg_catalog.pg_cast WHERE castfunc <> 0) f
WHERE f.oid >= 16384 AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend e
  WHERE e.classid = f.kind AND e.objid = f.oid AND e.deptype = 'e')"""
"""The names of functions and operators that users made, and no extension; empty for casts, which have none. What
the system has made has a number below 16384."""

_READERS = re.compile(
    r"(query|table|cursor|schema|database)_to_xml|\b(ts_stat|ts_rewrite|lo_get|loread)\b|\bpg_read_"
    r"|\b(dblink|crosstab|connectby|xpath_table)"
)
"""Functions of PostgreSQL and its extensions that read a table, or a file, that a text names."""


class PostgreSQLCatalogue:
    """The catalogue of PostgreSQL: see `query_tables.Catalogue`.

    Args:
        connection: a connection of SQLAlchemy, whose transaction sees what others commit, and writes nothing.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def tables(self, query: str) -> QueryTables:
        """Return the tables behind a query. They stay locked, so no view changes before the query is run."""
        server = self._one(_SERVER) if self._one(_MAY_ASK) else ""
        if statement(query) is None:
            return QueryTables(None, database=server)
        before = {*(self._one(_LOCKS) or ())}
        self._connection.execute(text(f"EXPLAIN {query}")).close()
        locks = {*(self._one(_LOCKS) or ())} - before
        rows = self._behind(locks)
        view_hash = hash_of(
            (row.name, row.definition) for row in rows if row.definition is not None
        )
        if self._has_readers([query, *(row.definition or "" for row in rows)]) or any(
            row.is_of_system or row.calls_functions or row.kind == _FOREIGN for row in rows
        ):
            return QueryTables(None, (), view_hash, database=server)
        relations = [row for row in rows if row.kind != "v"]
        names, numbers = (
            tuple(row.name for row in relations),
            tuple(row.number for row in relations),
        )
        return QueryTables(names, (), view_hash, numbers, server)

    def names(self) -> frozenset[str] | None:
        """Return None: a table that was renamed is known by its number."""
        return None

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Return a context after which the transaction is as before, without the locks that were taken in it."""
        point = self._connection.begin_nested()
        try:
            yield
        finally:
            point.rollback()

    def _behind(self, locks: set[int]) -> list[Any]:
        """Return the rows of the catalogue for relations, and for all that they lead to; definitions in full."""
        path = self._one("SELECT current_setting('search_path')")
        self._one("SELECT set_config('search_path', 'pg_catalog', true)")
        rows: list[Any] = self._connection.execute(_BEHIND, {"locks": sorted(locks)}).fetchall()
        again = text("SELECT set_config('search_path', :path, true)")
        self._connection.execute(again, {"path": path}).close()
        return rows

    def _has_readers(self, texts: list[str]) -> bool:
        """Return whether a query may call functions that read a table: those of users, or of SQL as text.

        A function can be called without its brackets, as if it were a column: its name anywhere in the text counts.
        """
        plain = "\n".join(texts).replace('""', '"').lower()
        names = self._connection.exec_driver_sql(_OWN).scalars()
        return bool(_READERS.search(plain)) or any(_is_in(plain, name.lower()) for name in names)

    def _one(self, query: str) -> Any:
        return self._connection.exec_driver_sql(query).scalar()


def _is_in(text: str, name: str) -> bool:
    """Return whether a name is in a text: that of a function as a whole word."""
    return bool(
        re.search(
            rf"(?<!\w){re.escape(name)}(?!\w)" if name.isidentifier() else re.escape(name), text
        )
    )
