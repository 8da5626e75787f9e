"""How far a source reaches into its database: to one ordinary table, or to all of it. Proof: docs.

The catalogues of DuckDB, SQLite and PostgreSQL tell, by one look, whether a name is that of an ordinary table.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import InvalidArgument

if TYPE_CHECKING:
    from sqlalchemy import TextClause


@dataclass(frozen=True, slots=True)
class BaseTable:
    """An ordinary table: no view, no partition, not foreign, not inherited, none of the system.

    Attributes:
        name: with its schema.
        query: that reads its rows and no others.
        number: by which its database knows it; 0 if that has no such numbers.
    """

    name: str
    query: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Reach:
    """The part of its database that a source may read.

    Attributes:
        table: the one ordinary table, with its schema; empty for all of the database.
        number: by which the database knows the table; 0 if that has no such numbers.
        database: by which a server knows itself and the database, if it tells; the device and inode of a file.
        views: the hash of all views of the database, and of all else that leads from one table to the rows of
            another; empty if they were not asked for.
    """

    table: str = ""
    number: int = 0
    database: str = ""
    views: str = ""

    @property
    def as_dict(self) -> dict[str, Any]:
        """The same in plain values, as a ledger keeps them."""
        return {
            "table": self.table, "number": self.number, "database": self.database, "views": self.views,
        }  # fmt: skip


def read_reach(plain: Mapping[str, Any] | None) -> Reach:
    """Return the reach that `as_dict` wrote; all of the database where none is on record."""
    return Reach() if plain is None else Reach(**plain)


def same_reach(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether a source reaches the same at two times; views are compared if both have them.

    The number of a table changes when it is filled anew, and is not compared.
    """
    first, second = read_reach(one), read_reach(other)
    same_views = first.views == second.views or "" in (first.views, second.views)
    return first.table == second.table and same_views


class Catalogue(Protocol):
    """The catalogue of an open database, in a transaction. Errors are the database's, and may quote the query."""

    def identity(self) -> str:
        """Return by which a server knows itself and the database, if it tells; of a file its device and inode."""
        ...

    def lock(self, query: str) -> None:
        """Let the database plan a query, and keep its tables as they are until the transaction ends."""
        ...

    def base_table(self, name: str) -> BaseTable | None:
        """Return the ordinary table of a name; None for anything else."""
        ...

    def views(self) -> str:
        """Return the hash of all views, and of functions, virtual tables and partitions if users can make them."""
        ...

    def names(self) -> frozenset[str] | None:
        """Return the names of all tables; None where tables are known by numbers, which stay as names change."""
        ...

    def locks(self) -> frozenset[int]:
        """Return the numbers of the locked tables and views; none where no other can write meanwhile."""
        ...


@dataclass(slots=True)
class ReachCheck:
    """The reach that one question must find in its database, in one snapshot with its rows.

    Attributes:
        name: the dataset, for messages.
        record: the reach on record, in plain values; None where the account has none.
        with_views: whether to ask for the hash of the views: an owner's word rests on them.
        reach: the answer of the catalogue, once it was asked.
        names: the names of all tables of the database, where nothing else tells a table that was renamed.
    """

    name: str = "the data"
    record: Mapping[str, Any] | None = None
    with_views: bool = False
    reach: Reach | None = None
    names: frozenset[str] | None = None
    _locks: frozenset[int] = field(default=frozenset(), repr=False)

    def ask(self, catalogue: Catalogue, query: str, table: str | None) -> str:
        """Ask the catalogue, before any row is read; return the query that is to be run then.

        Args:
            catalogue: the catalogue.
            query: the query.
            table: the table that it is a query of all rows of, as the description names it.

        Raises:
            InvalidArgument: if the source reaches further than on record, or to something else.
        """
        catalogue.lock(query)
        base = catalogue.base_table(table) if table is not None else None
        views = catalogue.views() if base is None and self.with_views else ""
        own = base or BaseTable("", query)
        self.names = catalogue.names()
        self.reach = Reach(own.name, own.number, catalogue.identity(), views)
        if self.record is not None and not same_reach(self.record, self.reach.as_dict):
            raise changed_source(self.name)
        self._locks = catalogue.locks()
        return own.query

    def confirm(self, catalogue: Catalogue) -> None:
        """Raise if the rows came from another table, which took the name meanwhile."""
        if self.reach is not None and self.reach.table and catalogue.locks() != self._locks:
            raise changed_source(self.name)


def changed_source(name: str) -> InvalidArgument:
    """Return the error for a source that is not as its owner described it."""
    return InvalidArgument(
        f"the source of {name} is not what it was in its database: a table became a view or was "
        "replaced, or views were changed on which the owner's word rests. Its owner looks at "
        "them, and records the change with ledger.describe(dataset), or discreet ledger describe "
        f"{name}. What was spent stays spent"
    )


def query_of_table(*parts: str) -> str:
    """Return the query of all rows of a table, by the parts of its name."""
    return f"SELECT * FROM {_in_quotes(*parts)}"


def verbatim(query: str) -> "TextClause":
    """Return a query for SQLAlchemy, in which a colon begins no parameter."""
    from sqlalchemy import text

    return text(query.replace(":", r"\:"))


def _in_quotes(*parts: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def _hash_of(rows: Iterable[Iterable[object]]) -> str:
    texts = [list(map(str, row)) for row in rows]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


class _FileCatalogue:
    """The parts of a catalogue that are alike in databases of one file, which nothing changes meanwhile.

    Args:
        connection: to the database.
        identity: the device and the inode of its file.
    """

    def __init__(self, connection: Any, identity: str) -> None:
        self._connection, self._identity = connection, identity

    def identity(self) -> str:
        """Return the device and the inode of the file."""
        return self._identity

    def lock(self, query: str) -> None:
        """Let the database plan a query; DuckDB fails if it reads files or other databases."""
        self._connection.execute(f"EXPLAIN {query}").fetchall()

    def locks(self) -> frozenset[int]:
        """Return nothing: no other can write, or the snapshot stays as it is."""
        return frozenset()


class DuckCatalogue(_FileCatalogue):
    """The catalogue of DuckDB. Its file has no writer while it is open: see `reach.Catalogue`."""

    def base_table(self, name: str) -> BaseTable | None:
        """Return the table of this database and, if no schema is named, of the main one."""
        *above, table = name.split(".")
        schema = above.pop() if above else "main"
        rows = self._connection.execute(
            "SELECT database_name, schema_name, table_name FROM duckdb_tables() "
            "WHERE NOT internal AND NOT temporary AND database_name = current_database() "
            "AND lower(schema_name) = lower($1) AND lower(table_name) = lower($2)",
            [schema, table],
        ).fetchall()
        if len(rows) != 1 or (above and above != [rows[0][0]]):
            return None
        return BaseTable(f"{rows[0][1]}.{rows[0][2]}", query_of_table(*rows[0]))

    def views(self) -> str:
        """Return the hash of all views and macros."""
        return _hash_of(
            self._connection.execute(
                "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal UNION ALL "
                "SELECT schema_name, function_name, coalesce(macro_definition, '') FROM duckdb_functions() "
                "WHERE function_type IN ('macro', 'table_macro') AND NOT internal ORDER BY ALL"
            ).fetchall()
        )

    def names(self) -> frozenset[str]:
        """Return the names of all tables, as `base_table` has them."""
        rows = self._connection.execute(
            "SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE database_name = current_database()"
        ).fetchall()
        return frozenset(name for (name,) in rows)


_LITE_TABLE = """
SELECT name FROM sqlite_master AS t WHERE type = 'table' AND rootpage > 0 AND name = ? COLLATE NOCASE
AND substr(name, 1, 7) <> 'sqlite_' COLLATE NOCASE AND NOT EXISTS (
  SELECT 1 FROM sqlite_master AS v WHERE v.type = 'table' AND coalesce(v.rootpage, 0) = 0
  AND substr(t.name, 1, length(v.name) + 1) = v.name || '_' COLLATE NOCASE)"""
"""A table with pages of its own: a virtual one has none, and those that hold its rows begin with its name."""


class SQLiteCatalogue(_FileCatalogue):
    """The catalogue of SQLite, by `sqlite3`, in the snapshot of a transaction: see `reach.Catalogue`."""

    def base_table(self, name: str) -> BaseTable | None:
        """Return the table of the main database."""
        *above, table = name.split(".")
        rows = self._connection.execute(_LITE_TABLE, [table]).fetchall()
        if len(rows) != 1 or [part.lower() for part in above] not in ([], ["main"]):
            return None
        [(own,)] = rows
        return BaseTable(f"main.{own}", query_of_table("main", own))

    def views(self) -> str:
        """Return the hash of all views and virtual tables, which may show the rows of others."""
        views = (
            "SELECT name, sql FROM sqlite_master WHERE type = 'view' "
            "OR (type = 'table' AND coalesce(rootpage, 0) = 0) ORDER BY name"
        )
        return _hash_of(self._connection.execute(views).fetchall())

    def names(self) -> frozenset[str]:
        """Return the names of all tables, as `base_table` has them."""
        rows = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return frozenset(f"main.{name}" for (name,) in rows.fetchall())


_PG_TABLE = """
SELECT n.nspname, c.relname, CAST(c.oid AS bigint) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = CAST(CAST(:number AS bigint) AS oid) AND c.oid >= 16384
AND c.relkind = 'r' AND c.relpersistence <> 't' AND NOT (c.relispartition OR c.relhasrules OR c.relrowsecurity)
AND NOT EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated NOT IN ('', 's'))"""
"""A table whose rows are its own and in it alone. What the system has made has a number below 16384. A policy of
row security, a rule and a column that is computed when it is read may look into other tables."""

_PG_VIEWS = """
SELECT n.nspname, c.relname, pg_get_viewdef(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid >= 16384 AND c.relkind IN ('v', 'm') AND c.relpersistence <> 't'
UNION ALL
SELECT n.nspname, p.proname, p.prosrc || coalesce(to_jsonb(p) ->> 'prosqlbody', '') FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.oid >= 16384
UNION ALL
SELECT n.nspname, c.relname, concat_ws(' ', 'part of', i.inhparent, pg_get_expr(c.relpartbound, c.oid))
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'f') AND c.relpersistence <> 't'
UNION ALL
SELECT n.nspname, c.relname, concat_ws(' ', f.ftoptions, s.srvname, s.srvoptions) FROM pg_foreign_table f
JOIN pg_class c ON c.oid = f.ftrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_foreign_server s ON s.oid = f.ftserver
UNION ALL
SELECT n.nspname, c.relname, concat_ws(' ', p.polname, p.polcmd, p.polroles, pg_get_expr(p.polqual, p.polrelid))
FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pg_namespace n ON n.oid = c.relnamespace
ORDER BY 1, 2, 3"""
"""The views, the functions that users made, partitions and tables that inherit, foreign tables, and policies of row
security. The body of a function in SQL is in another column since version 14."""

_PG_LOCKS = """
SELECT CAST(l.relation AS bigint) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
WHERE l.locktype = 'relation' AND l.pid = pg_backend_pid() AND l.relation >= 16384 AND c.relpersistence <> 't'
AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"""


class PostgreSQLCatalogue:
    """The catalogue of PostgreSQL. Its locks keep the source of a query as it is: see `reach.Catalogue`.

    Args:
        connection: a connection of SQLAlchemy, whose transaction sees the commits of others, and writes nothing.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def lock(self, query: str) -> None:
        """Let the server plan a query: it locks the tables and views that the query reads.

        A server that is to answer in binary takes no second statement in it.
        """
        with self._connection.connection.driver_connection.cursor(binary=True) as cursor:
            cursor.execute(f"EXPLAIN {query}")

    def base_table(self, name: str) -> BaseTable | None:
        """Return the table that the role of the connection means by a name."""
        text = _in_quotes(*name.split("."))
        [(number,)] = self._rows(
            "SELECT CAST(CAST(pg_catalog.to_regclass(:name) AS oid) AS bigint)", name=text
        )
        rows = self._of_system(_PG_TABLE, number=number)
        if not rows:
            return None
        [(schema, table, number)] = rows
        query = f"SELECT * FROM ONLY {_in_quotes(schema, table)}"  # without a table that comes to inherit from it
        return BaseTable(f"{schema}.{table}", query, number)

    def views(self) -> str:
        """Return the hash of all that leads from one table to the rows of another."""
        return _hash_of(self._of_system(_PG_VIEWS))

    def names(self) -> None:
        """Return None: a table that was renamed is known by its number."""
        return None

    def locks(self) -> frozenset[int]:
        """Return the tables and views that this transaction has locked, by number."""
        return frozenset(number for (number,) in self._of_system(_PG_LOCKS))

    def identity(self) -> str:
        """Return the number of the server and of the database; nothing if the role may not ask."""
        may_ask = "SELECT has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')"
        if not self._of_system(may_ask)[0][0]:
            return ""
        return str(
            self._of_system(
                "SELECT concat_ws(chr(58), s.system_identifier, d.oid) FROM pg_control_system() s, pg_database d "
                "WHERE d.datname = current_database()"
            )[0][0]
        )

    def _of_system(self, query: str, **values: object) -> list[Any]:
        """Return the rows of a query in which no name is that of a user's function."""
        [(path,)] = self._rows("SELECT pg_catalog.current_setting('search_path')")
        self._rows("SELECT pg_catalog.set_config('search_path', 'pg_catalog', true)")
        rows = self._rows(query, **values)
        self._rows("SELECT pg_catalog.set_config('search_path', :path, true)", path=path)
        return rows

    def _rows(self, query: str, **values: object) -> list[Any]:
        from sqlalchemy import text

        rows: list[Any] = self._connection.execute(text(query), values).fetchall()
        return rows
