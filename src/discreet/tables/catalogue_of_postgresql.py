"""The tables behind a query of PostgreSQL, by the locks that the server takes when it explains the query."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import text

from .parsed_queries import functions_in, statement
from .query_tables import QueryTables, hash_of

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
    WHERE w.ev_class = c.oid AND (
      d.refclassid = 'pg_proc'::regclass AND EXISTS (SELECT FROM pg_proc p WHERE p.oid = d.refobjid
        AND p.pronamespace <> 'pg_catalog'::regnamespace)
      OR d.refclassid = 'pg_operator'::regclass AND EXISTS (SELECT FROM pg_operator o WHERE o.oid = d.refobjid
        AND o.oprnamespace <> 'pg_catalog'::regnamespace))) AS calls_functions
FROM behind JOIN pg_class c ON c.oid = behind.oid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind NOT IN ('i', 'I', 't', 'c') ORDER BY name""")
"""What views, tables that others inherit from, and partitions lead to."""

_OWN = text("""SELECT EXISTS (SELECT FROM pg_catalog.pg_proc
  WHERE pronamespace <> 'pg_catalog'::regnamespace AND lower(proname) = ANY(:names))
OR EXISTS (SELECT FROM pg_catalog.pg_operator
  WHERE oprnamespace <> 'pg_catalog'::regnamespace AND oprname = ANY(:names))""")

_READERS = re.compile(
    r"(query|table|cursor|schema|database)_to_xml|\bts_stat\b|\bts_rewrite\b|\bpg_read_|\blo_get\b|\bloread\b"
)
"""Functions of PostgreSQL that read a table, or a file, that a text names."""


class PostgreSQLCatalogue:
    """The catalogue of PostgreSQL: see `query_tables.Catalogue`.

    Args:
        connection: a connection of SQLAlchemy, whose transaction sees what others commit, and writes nothing.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def tables(self, query: str) -> QueryTables:
        """Return the tables behind a query. They stay locked, so nobody changes a view before the query is run."""
        server = self._one(_SERVER) if self._one(_MAY_ASK) else ""
        parsed = statement(query)
        if parsed is None:
            return QueryTables(None, database=server)
        before = {*(self._one(_LOCKS) or ())}
        self._connection.execute(text(f"EXPLAIN {query}")).close()
        locks = {*(self._one(_LOCKS) or ())} - before
        rows = self._behind(locks)
        hashed = hash_of((row.name, row.definition) for row in rows if row.definition is not None)
        if self._has_readers(parsed, [query, *(row.definition or "" for row in rows)]) or any(
            row.is_of_system or row.calls_functions for row in rows
        ):
            return QueryTables(None, (), hashed, database=server)
        found = [row for row in rows if row.kind != "v"]
        names, numbers = tuple(row.name for row in found), tuple(row.number for row in found)
        return QueryTables(names, (), hashed, numbers, server)

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

    def _has_readers(self, parsed: Any, texts: list[str]) -> bool:
        """Return whether a query calls what may read a table by itself: a user's function, or SQL as text."""
        if any(_READERS.search(each.lower()) for each in texts):
            return True
        names = sorted({name.lower() for name in functions_in(parsed)})
        return bool(self._connection.execute(_OWN, {"names": names}).scalar())

    def _one(self, query: str) -> Any:
        return self._connection.exec_driver_sql(query).scalar()
