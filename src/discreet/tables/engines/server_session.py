"""The rows of a query on a PostgreSQL server, which counts them in one transaction that only reads.

The server describes a query without rows, and its catalogue has the rest. Columns of a type that is not here are
not counted on the server: their rows come to memory, whatever they hold. So do the rows of other drivers of Python,
and no cell decides whether they are read.
"""

import os
import re
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import uuid4

from ...errors import UnreadableData
from ..values.kinds import ColumnType
from .sql_expressions import SqlType, in_type, type_words
from .sql_frame import SqlFrame, in_quotes

TEXT_TYPE = 25
"""The number of the type of text."""

_PADDED = 1042
"""The number of char(n)."""

_MOST_DIGITS = 100
"""Decimals of more digits are left to memory."""


@dataclass(frozen=True, slots=True)
class ServerColumn:
    """A column of a query, as the server describes it.

    Attributes:
        name: its name.
        number: the number of its type in the catalogue.
        precision: the digits of a numeric, if its type says how many.
        scale: those behind the point.
        labels: the labels of an enum, in their order.
    """

    name: str
    number: int
    precision: int | None = None
    scale: int | None = None
    labels: tuple[str, ...] | None = None

    @property
    def type(self) -> ColumnType | None:
        """The type as candidates see it; None for one that is not counted on the server."""
        if self.labels is not None:
            return ColumnType(self.name, "text", "Enum", categories=self.labels, has_order=True)
        make = _COLUMN_TYPES.get(self.number)
        return None if make is None else make(self)

    @property
    def sql_type(self) -> SqlType:
        """The type of its cells where they are counted."""
        of = self.type
        assert of is not None, "its type is one of those that are counted"
        return _SQL_TYPES[of.kind]

    def cell(self, text: str) -> str:
        """Return the expression of a cell as it is counted: NaN is null, and text is compared byte by byte."""
        of = self.sql_type
        if (
            self.number == _PADDED or self.labels is not None
        ):  # blanks would go, or a user's cast decide
            text = f"CASE WHEN {text} IS NOT NULL THEN pg_catalog.concat({text}) END"
        cell, missing = in_type(text, of), in_type("'NaN'", of)
        return f"NULLIF({cell}, {missing})" if of in ("numeric", "double") else cell


def _integer(bits: int) -> Callable[[ServerColumn], ColumnType]:
    def make(column: ServerColumn) -> ColumnType:
        top = 1 << bits - 1
        return ColumnType(column.name, "integer", f"Int{bits}", -top, top - 1)

    return make


def _simple_type(kind: str, word: str, layout: str = "<d") -> Callable[[ServerColumn], ColumnType]:
    return lambda column: ColumnType(column.name, kind, word, layout=layout)


def _timestamp(kind: str, word: str) -> Callable[[ServerColumn], ColumnType]:
    return lambda column: ColumnType(column.name, kind, word, -(2**63) + 1, 2**63 - 1)


def _decimal(column: ServerColumn) -> ColumnType | None:
    """Return the type of a numeric; None for one without a precision, or with a negative scale."""
    digits, scale = column.precision, column.scale
    if digits is None or scale is None or not 0 <= scale <= digits <= _MOST_DIGITS:
        return None
    top = 10**digits - 1
    return ColumnType(column.name, "decimal", f"Decimal({digits}, {scale})", -top, top, scale)


_COLUMN_TYPES: Mapping[int, Callable[[ServerColumn], ColumnType | None]] = {
    16: _simple_type("boolean", "Boolean"),
    19: _simple_type("text", "String"),  # name
    20: _integer(64),
    21: _integer(16),
    23: _integer(32),
    TEXT_TYPE: _simple_type("text", "String"),
    700: _simple_type("float", "Float32", "<f"),
    701: _simple_type("float", "Float64"),
    _PADDED: _simple_type("text", "String"),
    1043: _simple_type("text", "String"),
    1082: _simple_type("date", "Date"),
    1114: _timestamp("timestamp", "Datetime(us)"),
    1184: _timestamp("timestamp with time zone", "Datetime(us, UTC)"),
    1700: _decimal,
    2950: _simple_type("uuid", "UUID"),
}
"""The types that are counted, by the numbers that all servers give them."""

_SQL_TYPES: Mapping[str, SqlType] = {
    "boolean": "boolean",
    "integer": "bigint",
    "float": "double",
    "decimal": "numeric",
    "text": "text",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp with time zone": "instant",
    "uuid": "uuid",
}


_QUERY = "discreet_query"

_EARLIEST_VERSION = 140_000
"""Servers before it compute the seconds of a time in doubles."""

_ONE_STATE = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"

_READ_ONLY = "SET TRANSACTION READ ONLY"
"""Run before the first row is read. After it nothing can be made or changed but rows of temporary tables."""

_MAY_KEEP = """
SELECT pg_catalog.current_setting('transaction_read_only') = 'off'
  AND pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMPORARY')"""
"""Whether the role may make a temporary table: on a replica it may not."""

_KEPT = "pg_temp.discreet_kept_"
"""How the name of a temporary table begins. The rest is random: no table of the query may be hidden by it."""

_UNICODE = "SET LOCAL client_encoding = 'UTF8'"
"""In another encoding a constant would mean another text, and a text that it lacks would end the query."""

_LIMITS = """
SELECT pg_catalog.set_config(s.name, s.setting, true) FROM pg_catalog.pg_settings AS p JOIN (VALUES
  ('application_name', 'discreet'), ('lock_timeout', '60s'), ('client_connection_check_interval', '1s'),
  ('idle_in_transaction_session_timeout', '10min')) AS s (name, setting) ON p.name = s.name
WHERE p.setting IN ('', '0')"""
"""What holds in the transaction alone, where its role has not set it: a query ends soon after this process has, and
waits for no lock for long."""

_FIRST_SCHEMA = """
SELECT CAST(s.name AS pg_catalog.text) FROM pg_catalog.unnest(pg_catalog.current_schemas(true))
  WITH ORDINALITY AS s (name, place)
WHERE NOT pg_catalog.starts_with(CAST(s.name AS pg_catalog.text), 'pg_temp') ORDER BY s.place LIMIT 1"""
"""The schema in which operators are looked for first."""

_OWN_TYPES = """
SELECT CAST(t.oid AS bigint),
  (SELECT pg_catalog.array_agg(CAST(e.enumlabel AS pg_catalog.text) ORDER BY e.enumsortorder)
    FROM pg_catalog.pg_enum AS e WHERE e.enumtypid = t.oid),
  EXISTS (SELECT FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_extension AS x ON x.oid = d.refobjid
    WHERE d.objid = t.oid AND d.deptype = 'e' AND x.extname = 'citext' AND t.typname = 'citext')
FROM pg_catalog.pg_type AS t WHERE CAST(t.oid AS bigint) IN ({numbers})"""
"""The labels of types that are enums, and whether a type is text without regard to case."""


_NAME_PART = r'(?:[a-z_][a-z0-9_]*|"(?:[^"]|"")+")'

_COLUMN = rf"{_NAME_PART}(?:\.{_NAME_PART})*"

_SCAN = re.compile(
    rf"Append|\s*(?:->  )?Seq Scan .*|\s*Output: {_COLUMN}(?:, {_COLUMN})*"
    r"|Query Identifier: -?\d+"
)
"""A line of the plan of a query that only reads columns of whole tables: it computes nothing, and drops no row."""


class ServerRows:
    """The rows of a query, in a transaction that sees one state of the server. It ends with this object.

    Args:
        driver: an open connection of psycopg, of this object alone, in no transaction.
        query: a SELECT, which is run letter by letter.
        close: closes the connection.
        confirm: raises if the tables of the query are not those of before. It is called after every pass.
    """

    def __init__(
        self,
        driver: Any,
        query: str,
        close: Callable[[], None],
        confirm: Callable[[], None] | None = None,
    ) -> None:
        self._driver, self._query, self._confirm = driver, query.strip().removesuffix(";"), confirm
        self._end = weakref.finalize(self, _end, driver, close, os.getpid())
        self._end.atexit = False
        self._counted: ServerRows | None = None
        try:
            if driver.autocommit:
                self._ask("BEGIN")
            self._ask(_ONE_STATE)
            self._ask(_UNICODE)
            self.description = self._describe()
            self._is_scan, self._reads = self._scans(), False
        except BaseException:
            self._end()
            raise

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.description]

    def counts(self, names: Sequence[str]) -> bool:
        """Return whether the server counts some columns, from their types alone."""
        places = (self.description[self.columns.index(name)] for name in names)
        return self._counted is None and all(column.type is not None for column in places)

    def to_memory(self) -> "ServerRows":
        """Return the same rows, of which no column is counted on the server."""
        rows = copy(self)
        rows._counted = self  # the connection ends with it
        return rows

    def frame(self, places: Mapping[str, int]) -> SqlFrame:
        """Return columns as they are counted, under other names: a mapping from those to positions."""
        columns = {alias: self.description[place] for alias, place in places.items()}
        cells = (f'{one.cell(f"c{places[alias]}")} AS "{alias}"' for alias, one in columns.items())
        types = {alias: one.sql_type for alias, one in columns.items()}
        return SqlFrame(f"SELECT {', '.join(cells)} FROM {_QUERY}", types)

    def fetch(self, frame: SqlFrame) -> list[tuple[Any, ...]]:
        """Return the rows of a frame."""
        return self._fetch(frame.text)

    def keep(self, frame: SqlFrame) -> SqlFrame:
        """Return the rows of a frame in a temporary table, which goes with the transaction.

        The frame itself is returned where none is made, and once a row was read: see `_READ_ONLY`.
        """
        if self._reads or self._ask(_MAY_KEEP) != [(True,)]:
            return frame
        columns = ", ".join(f'"{name}" {type_words(of)}' for name, of in frame.columns_of.items())
        kept = _KEPT + uuid4().hex
        if not self._makes(f"CREATE TEMPORARY TABLE {kept} ({columns}) ON COMMIT DROP"):
            return frame
        self._fetch(f"INSERT INTO {kept} {frame.text}")
        return SqlFrame(f"SELECT {in_quotes(frame.columns)} FROM {kept}", frame.columns_of)

    def _makes(self, table: str) -> bool:
        """Return whether the server makes a table: an event trigger, or its disk, may refuse it."""
        from psycopg import Error

        self._ask(f"SAVEPOINT {_QUERY}")
        try:
            self._ask(table)
        except Error:
            self._ask(f"ROLLBACK TO SAVEPOINT {_QUERY}")
            return False
        self._ask(f"RELEASE SAVEPOINT {_QUERY}")
        return True

    def read(self, names: Sequence[str]) -> dict[str, list[object]]:
        """Return columns as Python has them: no server counts them, or their types are not counted there."""
        columns = _by_position(self.columns.index(name) for name in names)
        rows = self._fetch(f"SELECT {columns} FROM {_QUERY}", binary=False)
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def _fetch(self, text: str, *, binary: bool = True) -> list[tuple[Any, ...]]:
        """Return the rows of a statement about the query.

        OFFSET keeps our conditions out of the query: a cell of a row that a join drops may raise if it is computed.
        "Your query runs first" in docs/how-to/databases.md says why a mere scan of tables needs none.
        """
        if not self._reads:
            self._ask(_READ_ONLY)
            self._reads = True
        columns = _by_position(range(len(self.description)))
        fence = "" if self._is_scan else " OFFSET 0"
        rows_of = f"SELECT * FROM (\n{self._query}\n) AS {_QUERY}{fence}"
        query = f"WITH {_QUERY} ({columns}) AS NOT MATERIALIZED (\n{rows_of}\n)\n{text}"
        rows = self._ask(query, binary=binary)
        if self._confirm is not None:
            self._confirm()
        return rows

    def _ask(self, text: str, *, binary: bool = True) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; a server that is to answer in binary takes no second one in it.

        It has no name on the server: a pool of connections there would give it to others.
        """
        with self._driver.cursor(binary=binary) as cursor:
            cursor.execute(text, prepare=False)
            if cursor.description is None:
                return []
            return cursor.fetchall() if binary else driver_rows(cursor)

    def _describe(self) -> list[ServerColumn]:
        """Return the columns of the query, of which no row is read.

        Raises:
            LookupError: if the server does not count as it must, by its settings.
            UnreadableData: if two columns have one name.
        """
        server = self._driver.info
        if (
            server.server_version < _EARLIEST_VERSION
            or server.parameter_status("server_encoding") != "UTF8"
            or server.parameter_status("client_encoding") != "UTF8"
        ):
            raise LookupError("the server is old, or texts are not in UTF-8 there or on the way")
        if self._ask(_FIRST_SCHEMA) != [
            ("pg_catalog",)
        ]:  # before an operator of ours is one of theirs
            raise LookupError("operators are looked for in other schemas first")
        self._ask(_LIMITS)
        with self._driver.cursor(binary=True) as cursor:
            cursor.execute(f"SELECT * FROM (\n{self._query}\n) AS {_QUERY} LIMIT 0", prepare=False)
            columns = [
                ServerColumn(one.name, one.type_code, one.precision, one.scale)
                for one in cursor.description
            ]
        if len({column.name for column in columns}) < len(columns):
            raise UnreadableData(
                "data must have distinct columns: give those of the query names of their own"
            )
        return self._with_own_types(columns)

    def _scans(self) -> bool:
        """Return whether the query reads whole tables and no more, by the server's plan for it; no row is read.

        The plan locks tables and views, so that they stay such until the transaction ends.
        """
        query = f"EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM (\n{self._query}\n) AS {_QUERY}"
        return all(_SCAN.fullmatch(line) for (line,) in self._ask(query))

    def _with_own_types(self, columns: list[ServerColumn]) -> list[ServerColumn]:
        """Return the columns, those of enums with their labels, and those of citext as text."""
        numbers = {column.number for column in columns if column.type is None}
        if not numbers:
            return columns
        rows = self._ask(_OWN_TYPES.format(numbers=", ".join(map(str, sorted(numbers)))))
        labels = {number: tuple(names) for number, names, _ in rows if names}
        texts = {number for number, _, is_text in rows if is_text}
        return [
            replace(
                one,
                number=TEXT_TYPE if one.number in texts else one.number,
                labels=labels.get(one.number),
            )
            for one in columns
        ]


def _by_position(places: Iterable[int]) -> str:
    """Return columns of the query by their positions: a name may mean something to the server."""
    return ", ".join(f"c{place}" for place in places)


_OF_PARENT: list[Callable[[], None]] = []
"""What holds connections of the process that this one was forked from: dropped, they would end its transactions."""


def _end(driver: Any, close: Callable[[], None], process: int) -> None:
    """End the transaction in its process, and close the connection; a server that is gone has ended it."""
    if os.getpid() != process:
        _OF_PARENT.append(close)
        return
    with suppress(Exception):
        driver.rollback()
    with suppress(Exception):
        close()


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
