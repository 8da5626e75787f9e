"""Tables in DuckDB: files, relations, and columns in memory as Arrow or as arrays.

No SQL is pasted from values: constants are one text, which DuckDB splits and casts exactly.
"""

import datetime as dt
import itertools
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeAlias, TypeVar

from ...errors import UnreadableData
from ...sampling.vectors import ExactArray
from ...selection.date_grid import ClockKind
from ..conditions.conditions import ConstantKind
from ..formats.text_form import NO_TEXT
from ..values.ids import SALT, sql_decimal_text
from ..values.key_values import FIRST_INSTANT, LAST_INSTANT, MOST_KEY_BYTES, NO_VALUE, KeyColumn
from ..values.kinds import CELL, CellKey, ColumnType, column_type, is_written
from ..values.numeric import StandIn, from_relation, sql_of_texts, sql_of_times, sql_of_truths
from .database import run_query
from .engine_errors import missing_column, quietly
from .native import POSITION, SIZE, UNIT, Frame, Native, lazy, names_of_parts, null_name
from .records import PERSON, START, is_of_unit
from .value_counts import MOST_IN_A_LIST, RowQuery, ValueTexts, constants, value_texts, values_in

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from duckdb.sqltypes import DuckDBPyType


_P = ParamSpec("_P")
_T = TypeVar("_T")


def interruptible(
    relation: "DuckDBPyRelation", work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """Return the result of `work(*args, **kwargs)`, a query on the relation's connection; a signal can end it."""
    connection = getattr(relation, "_con", None)  # DuckDB has no other name for it
    return (
        work(*args, **kwargs)
        if connection is None
        else run_query(connection, work, *args, **kwargs)
    )


_SMALL_TYPES = ("BOOLEAN", "TINYINT", "UTINYINT")
"""Types with at most 256 values."""

ROWS = "discreet_rows"
"""The name of a relation in a query about it."""

ONE_ROW = "SELECT 0 AS nothing"

Ask: TypeAlias = "Callable[[str], DuckDBPyRelation | None]"
"""Runs a query on a connection, and returns its rows if it selects some."""


class TempTable:
    """The rows of a query in a table of the engine, which is gone with this object."""

    __slots__ = ("__weakref__", "_ask", "name")

    def __init__(
        self, relation: "DuckDBPyRelation", query: str, ask: Ask, *, shared: bool = False
    ) -> None:
        """Keep the rows of a query about ROWS.

        Args:
            relation: the relation that the query calls ROWS.
            query: the query whose rows are kept.
            ask: runs queries on the connection of the relation: see `InDuckDB.ask`.
            shared: whether other connections see them.
        """
        self.name = f"discreet_{next(_table_numbers)}"
        kind = "TABLE" if shared else "TEMP TABLE"
        interruptible(relation, relation.query, ROWS, f"CREATE {kind} {self.name} AS {query}")
        self._ask = ask
        weakref.finalize(self, _drop, ask, self.name).atexit = False

    @property
    def rows(self) -> "DuckDBPyRelation":
        """The rows as a relation, which lasts no longer than this object."""
        return _some_rows(self._ask(f"FROM {self.name}"))


_table_numbers = itertools.count()  # of no other table of this process, on whatever connection


def query_rows(relation: "DuckDBPyRelation", name: str, query: str) -> "DuckDBPyRelation":
    """Return the rows that a query selects from a relation, which it calls by that name."""
    return _some_rows(relation.query(name, query))


def _some_rows(rows: "DuckDBPyRelation | None") -> "DuckDBPyRelation":
    assert rows is not None, "a query that selects returns rows"
    return rows


def one_row(relation: "DuckDBPyRelation") -> "DuckDBPyRelation":
    """Return a relation of one row on the same connection, which outlives the tables of this one."""
    return query_rows(relation, ROWS, ONE_ROW).materialize()


def _drop(ask: Ask, table: str) -> None:
    with suppress(Exception):  # the connection may have been closed
        ask(f"DROP TABLE IF EXISTS {table}")


ZONED_NS = ("TIMESTAMPTZ_NS", "TIMESTAMP_NS WITH TIME ZONE")
"""What DuckDB calls times in nanoseconds with a zone, a type that Narwhals does not know."""


@dataclass(frozen=True)
class InDuckDB:
    """A relation of the columns of a question: see `Native`."""

    source: "DuckDBPyRelation | Callable[[], DuckDBPyRelation]" = field(repr=False)
    """The relation, or a function that opens it."""
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    """The types that are known otherwise than from the relation."""
    codes: Mapping[str, Mapping[CellKey, int]] = field(default_factory=dict, repr=False)
    numeric_form: "Callable[[StandIn | None], InDuckDB] | None" = field(default=None, repr=False)
    """What returns the same with numbers, or the times of a clock, in CELL, where it holds none."""
    code_values: ExactArray | None = field(default=None, repr=False)
    """The numbers that integers in CELL stand for."""
    key_form: "Callable[[str], tuple[InDuckDB, KeyColumn]] | None" = field(default=None, repr=False)
    """What returns the same with keys in a column of Python objects, and those keys."""
    connection: "DuckDBPyConnection | None" = field(default=None, repr=False)
    """The connection, where it is known: a relation tells it to nobody."""
    query: RowQuery | None = field(default=None, repr=False)
    """The same rows as a query of one file, where they are all of it, and no text has to be parsed."""
    wide: ClassVar[bool] = True
    divides: ClassVar[bool] = False
    _tables: list[TempTable] = field(default_factory=list, repr=False)
    _column_types: dict[str, ColumnType] = field(default_factory=dict, repr=False)

    @cached_property
    def relation(self) -> "DuckDBPyRelation":
        """The relation, which is opened where it is needed."""
        return self.source() if callable(self.source) else self.source

    @property
    def ask(self) -> Ask:
        """Runs queries on the connection, and outlives the tables of this relation."""
        if self.connection is not None:
            return self.connection.sql
        return partial(one_row(self.relation).query, "nothing")

    @property
    def starts(self) -> tuple[str, ...]:
        """START, if the rows come with it: where Python computed it."""
        return (START,) if PERSON in self.codes else ()

    def type(self, alias: str, column: str) -> ColumnType:
        """Return the type of a column."""
        of = self.types.get(alias) or self._column_types.get(alias)
        if of is None:
            of = relation_type(self.native_type(alias), column, partial(self._alone, alias))
            self._column_types[alias] = of
        return replace(of, column=column)

    def native_type(self, alias: str) -> "DuckDBPyType":
        """Return DuckDB's type of a column; where the query tells it, no relation is opened."""
        if self.query is not None and alias in self.query.types:
            return self.query.types[alias]
        return self.relation.types[self.relation.columns.index(alias)]

    def _alone(self, alias: str) -> "DuckDBPyRelation":
        """Return a column alone."""
        return self.relation if self.relation.columns == [alias] else self.relation.select(alias)

    def numeric(self, stand_in: StandIn | None = None) -> "InDuckDB":
        """Return the same with numbers in CELL, or the integers that stand for times or truths."""
        if self.numeric_form is not None:
            return self.numeric_form(stand_in)
        if stand_in is None:
            return self
        native = str(self.native_type(CELL)).strip('"')
        cells = f"CAST({CELL} AS BIGINT)"
        if stand_in != "truth":
            cells = sql_of_times(CELL, native, self.type(CELL, CELL))
        relation = self.relation.project(f"* REPLACE ({cells} AS {CELL})")
        types = {alias: of for alias, of in self.types.items() if alias != CELL}
        return replace(self, source=relation, types=types, query=None, _column_types={})

    def rows(self) -> Frame:
        """Return the columns as they are compared."""
        names = [name for name in self.relation.columns if name not in self._parts]
        texts = {name for name in names if name != START and self.type(name, name).kind == "text"}
        if not (texts or self._parts):
            return lazy(self.relation)
        expressions = [f"{text_bytes(name)} AS {name}" if name in texts else name for name in names]
        if PERSON not in names and self._parts:
            of_unit = {name: self.type(name, name) for name in self._parts}
            together = _cell_text(of_unit, alone=len(of_unit) == 1)
            expressions.append(f"encode({together}) AS {PERSON}")
        return lazy(self.relation.project(", ".join(expressions)))

    def search_regions(self, *_: object) -> None:
        """Return None: a choice compares a cell with the edges that decide it."""

    def with_cells(self, alias: str, parts: Mapping[str, ColumnType], of: ColumnType) -> "InDuckDB":
        """Return the same with the texts of some columns in place of them, put together."""
        names = names_of_parts(parts)
        others = [name for name in self.relation.columns if name not in names]
        text = _cell_text(parts, alone=not of.parts)
        relation = self.relation.project(", ".join([*others, f"{text} AS {alias}"]))
        types = {**self.types, alias: of}
        return replace(self, source=relation, types=types, query=None, _column_types={})

    @property
    def _parts(self) -> list[str]:
        """The columns that identify privacy units together."""
        return [n for n in self.relation.columns if is_of_unit(n) and n != PERSON]

    def readable(self, kinds: Mapping[str, ConstantKind | None]) -> Frame:
        """Return the columns, some of them as constants of a kind are compared with them."""
        if not kinds:
            return lazy(self.relation)
        natives = dict(zip(self.relation.columns, map(str, self.relation.types), strict=True))
        cells = (
            f"{_comparable_cell(alias, natives[alias].strip(chr(34)), self.type(alias, alias), kind)} AS {alias}"
            for alias, kind in kinds.items()
        )
        return lazy(self.relation.project(f"* REPLACE ({', '.join(cells)})"))

    def with_rows(self, rows: Frame) -> "InDuckDB":
        """Return the same with other rows."""
        return replace(self, source=rows.to_native(), query=None)

    def present(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the rows in which CELL is neither null nor NaN.

        `nextafter(x, x)` is x. Of `isnan(x)` alone DuckDB thinks that it is settled by the statistics of a
        Parquet file, which leave NaN out.
        """
        number = f" AND NOT isnan(nextafter({CELL}, {CELL}))" if of.kind == "float" else ""
        return lazy(rows.to_native().filter(f"{CELL} IS NOT NULL{number}"))

    def absent(self, rows: Frame, alias: str, of: ColumnType) -> Frame:
        """Return the rows in which a column is null or NaN."""
        number = f" OR isnan(nextafter({alias}, {alias}))" if of.kind == "float" else ""
        return lazy(rows.to_native().filter(f"{alias} IS NULL{number}"))

    def join_positions(
        self, rows: Frame, alias: str, of: ColumnType, places: Mapping[object, int]
    ) -> Frame:
        """Return the rows with one of those values in `alias`, and its POSITION besides."""
        from duckdb import FunctionExpression

        if not places:  # a text that is split is one value at least, and an empty one is no number
            return lazy(rows.to_native().filter("false").select(f"*, 0::BIGINT AS {POSITION}"))
        there = dict(zip(self.relation.columns, self.relation.types, strict=True))
        native: str | DuckDBPyType = there.get(alias, "BIGINT")
        values = list(places)
        if of.kind == "text":
            native, values = "BLOB", [str(value).encode() for value in values]
        # From a row of the same connection, as nothing else gives one here, and the files would be opened again.
        one = one_row(self.relation) if self.connection is None else self.connection.sql(ONE_ROW)
        columns = {alias: constants(values, native), POSITION: constants(places.values(), "BIGINT")}
        expressions = (FunctionExpression("unnest", array).alias(n) for n, array in columns.items())
        # DuckDB joins by itself: Narwhals would bind the relations three times as often.
        constants_table = one.select(*expressions).set_alias("wanted")
        return lazy(rows.to_native().set_alias("rows").join(constants_table, alias))

    def tally_places(
        self, of: ColumnType, places: Mapping[object, int], *, has_others: bool
    ) -> tuple[list[int], list[int]] | None:
        """Return positions of values in CELL, and the numbers of rows with them; None where rows are joined first.

        To seek a row's value in a short list takes less time than to join all rows with it. Where the column has
        few values, by its type or its declaration, rows are counted by value before, whatever they hold. Of a file
        it is one statement.
        """
        if CELL in self.codes or (self.query is None and len(places) > MOST_IN_A_LIST):
            return None
        native: str | DuckDBPyType = "BLOB"
        values, cell = list(places), CELL
        if of.kind == "text":
            values, cell = [str(one).encode() for one in values], text_bytes(CELL)
        else:
            native = self.native_type(CELL)
        has_few = not has_others or str(native) in _SMALL_TYPES or of.categories is not None
        texts = value_texts(values, native)
        if self.query is None:
            counts = self._places(cell, texts, has_few=has_few)
        else:
            count, number = self.query.count_values, len(values)
            counts = run_query(self.query.connection, count, cell, texts, number, has_few=has_few)
        positions, totals = list(places.values()), Counter[int]()
        for where, number in counts:
            if where:  # 0 and null are of other values
                totals[positions[where - 1]] += number  # of all texts that spell one truth
        return list(totals), list(totals.values())

    def _places(
        self, cell: str, texts: ValueTexts, *, has_few: bool
    ) -> list[tuple[int | None, int]]:
        """Return places in a short list of values, from 1, and the numbers of rows with them."""
        from duckdb import FunctionExpression, SQLExpression

        rows, size = self.relation, "count(*)"
        if has_few:
            rows, size = rows.aggregate(f"{CELL}, count(*) AS {SIZE}", CELL), f"sum({SIZE})::BIGINT"
        place = FunctionExpression("list_position", values_in(texts), SQLExpression(cell))
        counts = rows.aggregate([place, SQLExpression(size)])  # by each place
        return interruptible(counts, counts.fetchall)

    def few_groups(self, *_: object) -> None:
        """Return None: groups of a unit are bounded by ranks."""

    def units(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the privacy units: a number is short, and windows over numbers are three times as fast."""
        native = rows.to_native()
        if self.starts:
            return lazy(
                native.aggregate(
                    f"{PERSON}, {PERSON} AS {UNIT}, min({START}) AS {START}, count(*) AS {SIZE}",
                    PERSON,
                )
            )
        once = native.aggregate(f"{PERSON}, count(*) AS {SIZE}", PERSON)
        text = PERSON if of.kind == "text" else _id_bytes(PERSON, of)
        start = f"('0x' || sha256('{SALT}'::BLOB || {text})[:8])::BIGINT"
        projection = f"{PERSON}, row_number() OVER () AS {UNIT}, {start} AS {START}, {SIZE}"
        return lazy(once.project(projection))

    def with_units(self, *_: object) -> None:
        """Return None: rows are joined with their units."""

    def keep(self, rows: Frame, *, shared: bool = False) -> Frame:
        """Return the rows from a temporary table, which is gone with this object."""
        native = rows.to_native()
        self._tables.append(TempTable(native, f"FROM {ROWS}", self.ask, shared=shared))
        return lazy(self._tables[-1].rows)

    def fetch(self, rows: Frame, of: ColumnType) -> list[ExactArray]:
        """Return the columns, none of them rounded."""
        relation = rows.to_native()
        return interruptible(relation, from_relation, relation, of)

    def values(self, of: ColumnType) -> list[object]:
        """Return the distinct values of CELL."""
        if CELL in self.codes:
            return [value for _, value in self.codes[CELL]]
        has_zone = of.kind == "timestamp with time zone"
        # DuckDB needs another package to give times with a zone to Python.
        cell = f"epoch_us(CAST({CELL} AS TIMESTAMPTZ))" if has_zone else CELL
        cells = _fetch_cells(self.relation.project(cell).distinct())
        if has_zone:
            return [_EPOCH + dt.timedelta(microseconds=us) for us in cells if us is not None]
        times = of.kind in ("date", "timestamp")
        return [value for value in cells if not times or isinstance(value, dt.date)]

    def in_order(self, rows: Frame) -> Frame:
        """Return CELL with its rank as POSITION, in the order of the values."""
        import narwhals.stable.v2 as nw

        rank = nw.col(CELL).rank("dense").cast(nw.Int64) - 1
        return rows.with_columns(rank.alias(POSITION))

    def unanswerable(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the rows with a date or a time that Python cannot hold."""
        native = rows.to_native()
        answerable = _answerable(CELL, native.types[native.columns.index(CELL)], of)
        return lazy(native.filter(f"NOT coalesce({answerable}, false)"))

    def fingerprint(self, rows: Frame, of: ColumnType) -> str:
        """Return a digest of CELL that does not depend on the order of rows."""
        digest = f"bit_xor(md5_number(CAST({CELL} AS VARCHAR)))"
        [number] = _fetch_cells(rows.to_native().aggregate(digest))
        return str(number)

    def cells(self, rows: Frame) -> list[tuple[Any, ...]]:
        """Return the rows with their values."""
        relation = rows.to_native()
        return interruptible(relation, relation.fetchall)

    def seen_by(self, data: Native, rows: Frame) -> "Frame | None":
        """Return the table that was kept last, on the connection of the data; None if it is of another database."""
        if not isinstance(data, InDuckDB):
            return None
        failure = UnreadableData("the table is not there")
        query = f"SELECT * FROM {self._tables[-1].name}"
        try:
            return lazy(quietly(query_rows, failure, one_row(data.relation), "nothing", query))
        except UnreadableData:
            return None

    def with_keys(self, alias: str, of: ColumnType) -> "tuple[InDuckDB, KeyColumn]":
        """Return the same with a key or null in a column."""
        if self.key_form is not None and alias in self.codes:
            return self.key_form(alias)
        cell, is_key = _key_cell(alias, self.native_type(alias), of)
        relation = self.relation.project(
            f"* REPLACE (CASE WHEN {is_key} THEN {cell} END AS {alias})"
        )
        types = {name: kind for name, kind in self.types.items() if name != alias}
        if of.kind == "text":
            types[alias] = replace(of, categories=None)
        return replace(self, source=relation, types=types, query=None, _column_types={}), KeyColumn(
            of
        )

    def with_places(self, rows: Frame, block: str) -> Frame:
        """Return the rows from a temporary table with their places in their block."""
        native = rows.to_native()
        query = f"SELECT *, row_number() OVER (PARTITION BY {block}) - 1 AS {POSITION} FROM {ROWS}"
        self._tables.append(TempTable(native, query, self.ask))
        return lazy(self._tables[-1].rows)


def _answerable(name: str, native: "DuckDBPyType", of: ColumnType) -> str:
    """Return the expression of whether Python has the date or the time in a column; null for null."""
    if of.kind not in ("date", "timestamp"):
        return "true"
    moment = f"TRY_CAST({name} AS TIMESTAMP)"
    same = f"TRY_CAST({moment} AS {native}) = {name}"
    return f"isfinite({moment}) AND year({moment}) BETWEEN 1 AND 9999 AND {same}"


def _key_cell(name: str, native: "DuckDBPyType", of: ColumnType) -> tuple[str, str]:
    """Return the expressions of a cell as a key, and of whether it is one."""
    if of.kind == "text":
        text = f"CAST({name} AS VARCHAR)"
        is_key = f"strlen({text}) <= {MOST_KEY_BYTES}"
        return text, is_key if of.reading is None else f"{is_key} AND {text} <> '{NO_TEXT}'"
    if of.kind == "timestamp with time zone":
        if of.unit == "ns":
            return f"epoch_ns({name}) // 1000", f"epoch_ns({name}) % 1000 = 0"
        # Of a clock in UTC in seconds `epoch_us` goes through nanoseconds, which end in the year 2262.
        moment = (
            name if native.id == "timestamp with time zone" else f"TRY_CAST({name} AS TIMESTAMP)"
        )
        inside = f"epoch_us({moment}) BETWEEN {FIRST_INSTANT} AND {LAST_INSTANT}"
        return f"epoch_us({moment})", f"isfinite({moment}) AND {inside}"
    cell = f"CAST({name} AS TIMESTAMP)" if of.kind == "timestamp" else name
    return cell, _answerable(name, native, of)


def _comparable_cell(cell: str, native: str, of: ColumnType, kind: ConstantKind | None) -> str:
    """Return the expression of a cell as constants of a kind are compared with it, null where it cannot be read."""
    is_text = is_written(of)
    if kind == "truth" and is_text:
        return sql_of_truths(cell)
    if kind == "text" and of.kind == "text":
        return text_bytes(cell)
    if kind in ("time", "instant") and of.kind != "nothing":
        clock: ClockKind = "naive" if kind == "time" else "zoned"
        return sql_of_texts(cell, clock, of) if is_text else sql_of_times(cell, native, of)
    number = double_in_text(cell, of) if kind == "number" and is_text else cell
    is_float = number is not cell or of.kind == "float"
    # `nextafter`: see `present`.
    return (
        f"CASE WHEN NOT isnan(nextafter({number}, {number})) THEN {number} END"
        if is_float
        else number
    )


def double_in_text(cell: str, of: ColumnType) -> str:
    """Return the expression of the number that a field spells; in a form that number was read before."""
    if of.cells.numbers is not None:
        return f"TRY_CAST({cell} AS DOUBLE)"
    # For DuckDB 1_000 would be one.
    return f"TRY_CAST(CASE WHEN NOT contains({cell}, '_') THEN {cell} END AS DOUBLE)"


def _fetch_cells(relation: "DuckDBPyRelation") -> list[Any]:
    """Return the values of the only column."""
    return [cell for (cell,) in interruptible(relation, relation.fetchall)]


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def text_bytes(name: str) -> str:
    """Return the expression of the text of a column, in bytes."""
    return f"encode(CAST({name} AS VARCHAR))"


def _cell_text(parts: Mapping[str, ColumnType], *, alone: bool) -> str:
    """Return the expression of the texts of columns, all after their lengths in bytes; or of one its text alone."""
    texts = {
        name: f"({sql_decimal_text(name)})" if of.kind == "decimal" else f"CAST({name} AS VARCHAR)"
        for name, of in parts.items()
    }
    if alone:
        return next(iter(texts.values()))
    words = {name: f"strlen({one}) || ':' || {one}" for name, one in texts.items()}
    return " || ".join(
        f"CASE WHEN {null_name(name)} THEN '{NO_VALUE}' ELSE {word} END"
        if parts[name].has_null
        else word
        for name, word in words.items()
    )


def _id_bytes(name: str, of: ColumnType) -> str:
    """Return the expression of the text of an id, in bytes."""
    return f"encode({sql_decimal_text(name)})" if of.kind == "decimal" else text_bytes(name)


def select_columns(
    relation: "DuckDBPyRelation", columns: dict[str, str], where: str
) -> "DuckDBPyRelation":
    """Return columns of a relation under other names: a mapping from those to the columns'."""
    return relation.project(by_position(relation.columns, columns, where))


def by_position(names: list[str], columns: Mapping[str, str], where: str) -> str:
    """Return the list of columns under other names: a name like "*" would mean something to the engine."""
    for alias, column in columns.items():
        if column not in names:
            raise missing_column(column, names, where, alias)
    expressions = {alias: f"#{names.index(name) + 1}" for alias, name in columns.items()}
    return select_list(expressions)


def select_list(expressions: Mapping[str, str]) -> str:
    """Return the list of SQL of expressions, by their aliases; of none a constant, where rows alone are wanted."""
    return ", ".join(f"{one} AS {alias}" for alias, one in expressions.items()) or "NULL AS nothing"


def relation_type(
    native: "DuckDBPyType", column: str, alone: "Callable[[], DuckDBPyRelation]"
) -> ColumnType:
    """Return the type of a column.

    Args:
        native: its type in DuckDB.
        column: its name in the table.
        alone: returns a relation of this column alone.
    """
    word = str(native).strip('"')
    if word in ("UUID", "NULL"):
        return ColumnType(column, {"UUID": "uuid", "NULL": "nothing"}[word], word)
    if native.id == "enum":
        return ColumnType(column, "text", "Enum", categories=enum_values(native), has_order=True)
    if word in ZONED_NS:
        return ColumnType(
            column, "timestamp with time zone", word, -(2**63) + 1, 2**63 - 1, unit="ns"
        )
    return column_type(column, _narwhals_type(word, alone), word)


_narwhals_types: dict[str, Any] = {}
"""Narwhals' types by DuckDB's words for them. That of a time with a zone depends on the connection, too."""


def _narwhals_type(word: str, alone: "Callable[[], DuckDBPyRelation]") -> Any:
    """Return Narwhals' type of a column, of which DuckDB is asked once for all columns of its type."""
    import narwhals.stable.v2 as nw

    if word in _narwhals_types:
        return _narwhals_types[word]
    [dtype] = nw.from_native(alone()).collect_schema().values()
    if "TIME ZONE" not in word:
        _narwhals_types[word] = dtype
    return dtype


def enum_values(of: "DuckDBPyType") -> tuple[str, ...]:
    """Return the values of an ENUM, in the order of their declaration."""
    _, values = of.children[0]
    assert isinstance(values, list)
    return tuple(values)
