"""SQL text as data: `discreet.scan_query("SELECT ...", connection)`, and whether it is one SELECT."""

import json
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...errors import DataUnavailable, InvalidArgument, UnreadableData, preview
from .engine_errors import quietly
from .server_session import ServerRows, driver_rows

if TYPE_CHECKING:
    from .reach import ReachCheck


@dataclass(frozen=True, slots=True, repr=False)
class SqlQuery:
    """A query and its connection. It is run anew for every answer.

    Attributes:
        text: the query.
        connection: the connection that runs it.
        check: the reach that a described database must have before rows are read, or None.
        table: the table of which it is a query of all rows, as the description names it; None for a query.
    """

    text: str
    connection: Any
    check: "ReachCheck | None" = field(default=None, compare=False)
    table: str | None = None

    @property
    def is_described(self) -> bool:
        """Whether its database is described by a public URL, as in discreet.toml."""
        return hasattr(self.connection, "public")

    def read_rows(self) -> object:
        """Return the rows of the query, as a table that can be opened: its columns are read once."""
        failure = _query_failed()
        if self.is_described:
            return quietly(self.connection.fetch, failure, self.text, self.table, self.check)
        if callable(getattr(self.connection, "sql", None)):
            return quietly(self.connection.sql, failure, self.text)
        rows = self.on_server()
        return quietly(self._columns, failure) if rows is None else rows

    def on_server(self) -> ServerRows | None:
        """Return the rows on a server that counts them, of which none is read; None for any other connection."""
        return quietly(open_server, _query_failed(), self.connection, self.text)

    def ask(self, check: "ReachCheck") -> None:
        """Ask the catalogue of a described database for the reach of the query; no row is read.

        Raises:
            UnreadableData: if the database cannot be queried, or the query fails.
        """
        failure = UnreadableData(
            "the database cannot be asked about the query: it cannot be opened, or the query does not work there. "
            "A query of DuckDB reads no files: name them as the source"
        )
        quietly(self.connection.ask, failure, self.text, self.table, check)

    def _columns(self) -> dict[str, list[object]]:
        """Return the columns of the rows that a database sends, as Python has them."""
        if hasattr(self.connection, "cursor"):
            cursor = self.connection.cursor()
            try:
                cursor.execute(self.text)
                names = [column[0] for column in cursor.description]
                return columns_of_rows(names, driver_rows(cursor))
            finally:
                cursor.close()
        if hasattr(self.connection, "connect"):
            with self.connection.connect() as connection:
                return self._columns_on(connection)
        return self._columns_on(self.connection)

    def _columns_on(self, connection: Any) -> dict[str, list[object]]:
        """Return the columns of the rows on a connection of SQLAlchemy, which come at once."""
        from sqlalchemy import text

        at_once = {"stream_results": False}
        with closing(connection.execute(text(self.text), execution_options=at_once)) as rows:
            return columns_of_rows([*rows.keys()], driver_rows(rows))

    def __repr__(self) -> str:
        return f"discreet.scan_query({self.text!r}, {preview(self.connection)})"


def open_server(engine: Any, query: str) -> ServerRows | None:
    """Return the rows of a query on the server of an engine of SQLAlchemy; None if they are not counted there.

    A connection of the caller's own is left alone: what else it does would be in our transaction.
    """
    driver = getattr(getattr(engine, "dialect", None), "driver", "")
    if driver != "psycopg" or not hasattr(engine, "connect"):
        return None
    connection = engine.connect()
    try:
        if not _answers(connection):
            connection.invalidate()  # its next statement is on another
        connection.begin()  # an event of the engine may set a role, or what its policies of rows read
    except BaseException:
        connection.close()
        raise
    return server_rows(connection, query, connection.close)


def _answers(connection: Any) -> bool:
    """Return whether a connection of a pool is open still: its server may have been started again."""
    try:
        return bool(connection.dialect.do_ping(connection.connection.dbapi_connection))
    except Exception:
        return False


def server_rows(
    connection: Any,
    query: str,
    close: Callable[[], None],
    confirm: Callable[[], None] | None = None,
) -> ServerRows | None:
    """Return the rows of a query; None if the server does not count them: see `ServerRows`.

    No row is read, so no row decides it. The connection is closed then.
    """
    driver = connection.connection.driver_connection
    try:
        return quietly(ServerRows, _query_failed(), driver, query, close, confirm)
    except DataUnavailable:
        raise
    except UnreadableData:
        return None  # it is run as it is, and says what is wrong


def _query_failed() -> UnreadableData:
    return UnreadableData(
        "the query failed. The message of the database may quote the data, so it is not shown"
    )


def scan_query(query: str, connection: object) -> SqlQuery:
    """Return the rows of a query as data for every verb over tables.

    One row of the result is one record, so a query that joins several rows of one unit needs a `privacy_unit`. With
    DuckDB, and with an engine of PostgreSQL, it is counted there: docs/how-to/databases.md. From others the columns
    selected come to memory, so select no others. The query is run again for every answer, and a ledger does not
    record it.

    Args:
        query: an SQL SELECT statement.
        connection: a DuckDB connection, an SQLAlchemy engine or connection, or any DB-API connection, such as that
            of `sqlite3`.

    Raises:
        InvalidArgument: if the query is not a text, or the connection can't be queried or is from ADBC.
    """
    if not isinstance(query, str) or not query.strip():
        raise InvalidArgument(f"query must be SQL, got {preview(query)}")
    asks = ("sql", "cursor", "connect", "execute")
    if not any(callable(getattr(connection, method, None)) for method in asks):
        raise InvalidArgument(
            "connection must be one of DuckDB, an engine or a connection of SQLAlchemy, or one of "
            f"Python's database interface, got {preview(connection)}"
        )
    if any(one.__module__.startswith("adbc_driver") for one in type(connection).__mro__):
        raise InvalidArgument(
            "connection must not be of ADBC: one odd cell can make its query fail, and decimals can come as "
            "text. Give an engine of SQLAlchemy or a connection of sqlite3"
        )
    return SqlQuery(query, connection)


def columns_of_rows(names: list[str], rows: list[Any]) -> dict[str, list[object]]:
    """Return rows as columns."""
    if len({*names}) < len(names):
        raise UnreadableData(
            "data must have distinct columns: give those of the query names of their own"
        )
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


_WITHOUT_WORDS = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*.*?\*/ )
    | (?<![\w$]) e'(?:[^'\\]|\\.|'')*'
    | '(?:[^']|'')*'
    | "(?:[^"]|"")*"
    | (?<![\w$]) (?P<mark>\$(?:[^\W\d]\w*)?\$) .*? (?P=mark)
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
"""Comments, constants and quoted names in SQL, as they come: a quote within a comment begins no constant."""

_SELECTS = re.compile(r"[\s(]*(select|with|values|table|from)\b", re.IGNORECASE)

_CHANGES = re.compile(
    r"\b(insert|update|delete|merge|drop|alter|create|truncate|into|copy|call|grant|attach|install|load|set)\b",
    re.IGNORECASE,
)
"""Words of statements that change something, or of a SELECT that does; a name in quotes is none."""

_CHANGES_WITHIN = re.compile(
    r"\b(insert\s+into|delete\s+from|merge\s+into|update\b.*\bset)\b", re.IGNORECASE | re.DOTALL
)
"""What a common table expression may do."""


def is_one_select(query: str) -> bool:
    """Return whether a text of SQL is one SELECT without any change.

    Where words leave a doubt, DuckDB parses it; SQL that only another database can parse is refused then.
    """
    if any("/*" in (part["comment"] or "")[2:] for part in _WITHOUT_WORDS.finditer(query)):
        return False  # a comment within a comment ends at different places in different databases
    bare = _WITHOUT_WORDS.sub(lambda part: " " if part["comment"] else "''", query)
    bare = bare.strip().removesuffix(";")
    if not _SELECTS.match(bare) or _CHANGES_WITHIN.search(bare):
        return False
    return (";" not in bare and not _CHANGES.search(bare)) or _is_parsed(query)


@lru_cache(maxsize=256)
def _is_parsed(query: str) -> bool:
    """Return whether DuckDB parses a query as one SELECT; it is not run."""
    from duckdb import Error

    from .database import connect_memory

    try:
        row = connect_memory().execute("SELECT json_serialize_sql($1)", [query]).fetchone()
        tree = json.loads(row[0] if row else "")
    except (Error, ValueError, RecursionError):
        return False
    return isinstance(tree, dict) and len(tree.get("statements", [])) == 1 and not tree.get("error")
