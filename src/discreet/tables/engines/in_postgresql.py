"""Queries on a PostgreSQL server, which counts their rows: no row of them leaves it.

Counts by cell leave it, keys after their draw, and of every cell the least and the greatest number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from ...sampling.vectors import ExactArray
from ..conditions.conditions import ConstantKind
from ..values.ids import SALT
from ..values.key_values import MOST_KEY_BYTES, NO_VALUE, KeyColumn
from ..values.kinds import CELL, ColumnType
from ..values.numeric import DAY, FIRST, LAST, StandIn, from_list
from .native import (
    POSITION,
    SIZE,
    UNIT,
    Frame,
    FrameEngine,
    lazy,
    names_of_parts,
    null_name,
    only_null,
)
from .records import PERSON, START, is_of_unit
from .sql_expressions import SqlExpression, SqlType, in_type, sql_constant, sql_text
from .sql_frame import SqlFrame, array_of_constants, in_quotes, table_of_constants


class Server(Protocol):
    """A server with the query."""

    def fetch(self, frame: SqlFrame) -> list[tuple[Any, ...]]:
        """Return the rows of a frame."""
        ...

    def keep(self, frame: SqlFrame) -> SqlFrame:
        """Return a frame with the same rows, computed once if the server lets it."""
        ...


@dataclass(frozen=True)
class InPostgreSQL(FrameEngine):
    """The columns of a question on a server: see `Native`."""

    frame: SqlFrame
    server: Server = field(kw_only=True)
    divides: ClassVar[bool] = True

    def type(self, alias: str, column: str) -> ColumnType:
        """Return the type of a column."""
        return replace(self.types[alias], column=column)

    def numeric(self, stand_in: StandIn | None = None) -> "InPostgreSQL":
        """Return this, for columns hold numbers or do not; else the integers that stand for times or truths."""
        if stand_in == "truth":
            return self._with_integers(CELL, f'CAST(CAST("{CELL}" AS integer) AS bigint)')
        return self if stand_in is None else self._with_times(CELL)

    def _with_times(self, alias: str) -> "InPostgreSQL":
        return self._with_integers(alias, _integers_of_times(f'"{alias}"', self.types[alias].kind))

    def _with_integers(self, alias: str, expression: str) -> "InPostgreSQL":
        integers = SqlExpression(expression, "bigint", alias)
        types = {**self.types, alias: _INTEGER}
        return replace(self, frame=self.frame.with_columns(integers), types=types)

    def rows(self) -> Frame:
        """Return the columns as they are compared."""
        parts = [name for name in self.frame.columns if is_of_unit(name) and name != PERSON]
        if not parts:
            return lazy(self.frame)
        of = ColumnType(PERSON, "text", "ids")
        return lazy(self.with_cells(PERSON, {name: self.types[name] for name in parts}, of).frame)

    def search_regions(
        self,
        rows: Frame,
        alias: str,
        name: str,
        edges: Sequence[object],
        texts: Sequence[str | None],
    ) -> Frame:
        """Return the rows with the text of the region of a cell, by a search and a join.

        The server compiles a choice, and computes it anew wherever its text is used.
        """
        native: SqlFrame = rows.to_native()
        bounds = array_of_constants(edges, native.columns_of[alias])
        region = f'CAST(pg_catalog.width_bucket("{alias}", {bounds}) AS bigint)'
        places = [place for place, text in enumerate(texts) if text is not None]
        labels = table_of_constants([texts[p] for p in places], "text", name, {POSITION: places})
        regions = native.with_columns(SqlExpression(region, "bigint", POSITION))
        on = [POSITION]
        with_texts = regions.join(labels, how="left", left_on=on, right_on=on, suffix="")
        return lazy(with_texts.drop(on, strict=True))

    def with_cells(
        self, alias: str, parts: Mapping[str, ColumnType], of: ColumnType
    ) -> "InPostgreSQL":
        """Return the same with the texts of some columns in place of them, put together."""
        texts = {name: _id_text(f'"{name}"', part) for name, part in parts.items()}
        words = [_word(name, texts[name], part) for name, part in parts.items()]
        is_alone = len(parts) == 1 and not of.parts
        whole = next(iter(texts.values())) if is_alone else in_type(" || ".join(words), "text")
        held = " AND ".join(_is_held(name, part) for name, part in parts.items())
        text = f"CASE WHEN {held} THEN {whole} END"
        frame = self.frame.with_columns(SqlExpression(text, "text", alias)).drop(
            names_of_parts(parts), strict=True
        )
        return replace(self, frame=frame, types={**self.types, alias: of})

    def readable(self, kinds: Mapping[str, ConstantKind | None]) -> Frame:
        """Return the columns, some of them as constants of a kind are compared with them."""
        native = self
        for alias, kind in kinds.items():
            if kind in ("time", "instant"):
                native = native._with_times(alias)
        return lazy(native.frame)

    def present(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the rows in which CELL is not null; NaN is null here."""
        import narwhals.stable.v2 as nw

        return rows.filter(~nw.col(CELL).is_null())

    def absent(self, rows: Frame, alias: str, of: ColumnType) -> Frame:
        """Return the rows in which a column is null; NaN is null here."""
        return only_null(rows, alias, floating=False)

    def join_positions(
        self, rows: Frame, alias: str, of: ColumnType, places: Mapping[object, int]
    ) -> Frame:
        """Return the rows with one of those values in `alias`, and its POSITION besides."""
        return rows.join(lazy(self._constants(rows.to_native(), alias, places)), on=alias)

    def _constants(self, rows: SqlFrame, alias: str, places: Mapping[object, int]) -> SqlFrame:
        # No text of the server holds the character of number 0.
        there = {one: place for one, place in places.items() if "\0" not in str(one)}
        return table_of_constants(
            [*there], rows.columns_of[alias], alias, {POSITION: [*there.values()]}
        )

    def tally_places(
        self, of: ColumnType, places: Mapping[object, int], *, has_others: bool
    ) -> tuple[list[int], list[int]]:
        """Return positions of values in CELL, and the numbers of rows with them, counted by value first."""
        import narwhals.stable.v2 as nw

        counts = lazy(self.frame).group_by(CELL).agg(nw.len().alias(SIZE))
        rows = self.join_positions(counts, CELL, of, places).group_by(POSITION)
        numbers = self.server.fetch(rows.agg(nw.col(SIZE).sum().cast(nw.Int64)).to_native())
        return [place for place, _ in numbers], [size for _, size in numbers]

    def units(self, rows: Frame, of: ColumnType) -> Frame:
        """Return the privacy units, identified by their ids."""
        import narwhals.stable.v2 as nw

        once = rows.group_by(PERSON).agg(nw.len().alias(SIZE)).to_native()
        person = f'"{PERSON}"'
        unit = SqlExpression(person, once.columns_of[PERSON], UNIT)
        start = SqlExpression(_start_of_rule(_id_text(person, of)), "bigint", START)
        return lazy(once.with_columns(unit, start))

    def with_units(self, rows: Frame, of: ColumnType, most: int) -> Frame:
        """Return the rows with UNIT, START and SIZE by windows; units that keep all rows are not hashed.

        A hash takes ten times as long as a row of a window, so one row of a unit has it, and others take it over.
        """
        native: SqlFrame = rows.to_native()
        person, none = f'"{PERSON}"', sql_constant(0, "bigint")
        size = SqlExpression("pg_catalog.count(*)", "bigint", SIZE).over([PERSON], [])
        place = SqlExpression("pg_catalog.row_number()", "bigint", _PLACE).over([PERSON], [])
        is_first = f'"{_PLACE}" = {sql_constant(1, "bigint")} AND "{SIZE}" > {sql_constant(most, "bigint")}'
        hashes = f"CASE WHEN {is_first} THEN {_start_of_rule(_id_text(person, of))} END"
        of_unit = SqlExpression(f"pg_catalog.max({hashes})", "bigint").over([PERSON], [])
        start = SqlExpression(f"COALESCE({of_unit.text}, {none})", "bigint", START)
        unit = SqlExpression(person, native.columns_of[PERSON], UNIT)
        return lazy(
            native.with_columns(size, place).with_columns(unit, start).drop([_PLACE], strict=True)
        )

    def keep(self, rows: Frame, *, shared: bool = False) -> Frame:
        """Return the rows in a temporary table; as they are where none is made, for every pass sees one state."""
        return lazy(self.server.keep(rows.to_native()))

    def fetch(self, rows: Frame, of: ColumnType) -> list[ExactArray]:
        """Return the columns, none of them rounded."""
        native: SqlFrame = rows.to_native()
        cells = self.server.fetch(native)
        columns = ([row[place] for row in cells] for place in range(len(native.columns)))
        return [from_list(column) if column else np.zeros(0, dtype=np.int64) for column in columns]

    def values(self, of: ColumnType) -> list[object]:
        """Return the distinct values of CELL."""
        is_held = (
            f'"{CELL}" BETWEEN {" AND ".join(_ends_of_times(of.kind))}'
            if of.kind in _TYPES_OF_TIMES
            else "true"
        )
        rows = lazy(self.frame.filter(SqlExpression(is_held, "boolean"))).group_by(CELL).agg()
        return [cell for (cell,) in self.server.fetch(rows.to_native())]

    def cells(self, rows: Frame) -> list[tuple[Any, ...]]:
        """Return the rows with their values, texts as bytes."""
        return [
            tuple(cell.encode() if isinstance(cell, str) else cell for cell in row)
            for row in self.server.fetch(rows.to_native())
        ]

    def with_keys(self, alias: str, of: ColumnType) -> "tuple[InPostgreSQL, KeyColumn]":
        """Return the same with a key or null in a column."""
        cell, is_key = _key_cell(f'"{alias}"', of.kind)
        is_instant = of.kind == "timestamp with time zone"
        key = SqlExpression(
            f"CASE WHEN {is_key} THEN {cell} END",
            "bigint" if is_instant else self.frame.columns_of[alias],
            alias,
        )
        types = {**self.types, alias: _INTEGER if is_instant else replace(of, categories=None)}
        return replace(self, frame=self.frame.with_columns(key), types=types), KeyColumn(of)

    def with_places(self, rows: Frame, block: str) -> Frame:
        """Return the rows with their places in their block, by their values: no two rows have the same."""
        native: SqlFrame = rows.to_native()
        order = in_quotes(native.columns)
        number = f'pg_catalog.row_number() OVER (PARTITION BY "{block}" ORDER BY {order})'
        place = SqlExpression(f"({number} - CAST('1' AS bigint))", "bigint", POSITION)
        return lazy(native.with_columns(place))


_PLACE = "place_in_unit"
"""The column of the places of rows in their unit, in any order."""

_INTEGER = ColumnType("", "integer", "Int64", -(2**63), 2**63 - 1)


def _word(name: str, text: str, of: ColumnType) -> str:
    """Return the expression of the text of a column in a cell after its length in bytes, or of no value."""
    word = f"CAST(pg_catalog.octet_length({text}) AS pg_catalog.text) || ':' || {text}"
    none = f"""CASE WHEN "{null_name(name)}" THEN {sql_text(NO_VALUE)} ELSE {word} END"""
    return f"({none})" if of.has_null else word


def _is_held(name: str, of: ColumnType) -> str:
    """Return the expression of whether a column has a value, or no value where that is one."""
    has_value = f'"{name}" IS NOT NULL'
    return f'({has_value} OR "{null_name(name)}")' if of.has_null else has_value


def _id_text(cell: str, of: ColumnType) -> str:
    """Return the expression of the text of an id, or of a value in a cell of several columns.

    It is by the type: a user may have made a cast that means another.
    """
    if of.kind == "boolean":
        return f"(CASE WHEN {cell} THEN {sql_text('true')} ELSE {sql_text('false')} END)"
    if of.kind == "date":  # as its cast would write it, a setting decides
        midnight, form = in_type(cell, "timestamp"), sql_text("YYYY-MM-DD")
        return f"pg_catalog.to_char({midnight}, {form})"
    number = f"pg_catalog.trim_scale({cell})" if of.kind == "decimal" else cell
    return cell if of.kind == "text" else in_type(f"pg_catalog.concat({number})", "text")


def _start_of_rule(text: str) -> str:
    """Return the expression of where the rule for the rows of a unit starts: see `ids.start_of_rule`."""
    digest = f"pg_catalog.sha256(pg_catalog.convert_to({sql_text(SALT)} || {text}, 'UTF8'))"
    digits = f"pg_catalog.encode(pg_catalog.substr({digest}, 1, 4), 'hex')"
    return f"CAST(CAST('x' || {digits} AS bit(32)) AS bigint)"


def _integers_of_times(cell: str, kind: str) -> str:
    """Return the expression of the integers that stand for the times of a column."""
    of = _TYPES_OF_TIMES[kind]
    first, last = _ends_of_times(kind)
    inside = (
        f"CASE WHEN {cell} < {first} THEN {first} WHEN {cell} > {last} THEN {last} ELSE {cell} END"
    )
    if kind == "date":
        days = f"({inside}) - {in_type(sql_text('1970-01-01'), of)}"
        return f"(CAST({days} AS bigint) * {in_type(sql_text(str(DAY)), 'bigint')})"
    return (
        f"CAST(EXTRACT(epoch FROM {inside}) * {in_type(sql_text('1000000'), 'numeric')} AS bigint)"
    )


_TYPES_OF_TIMES: Mapping[str, SqlType] = {
    "date": "date", "timestamp": "timestamp", "timestamp with time zone": "instant",
}  # fmt: skip


def _ends_of_times(kind: str) -> list[str]:
    """Return the expressions of the first time and of the last that Python holds."""
    of = _TYPES_OF_TIMES[kind]
    ends = (
        end[:10] if kind == "date" else end + "+00" * (of == "instant") for end in (FIRST, LAST)
    )
    return [in_type(sql_text(end), of) for end in ends]


def _key_cell(cell: str, kind: str) -> tuple[str, str]:
    """Return the expressions of a cell as a key, and of whether it is one."""
    if kind == "text":
        return cell, f"pg_catalog.octet_length({cell}) <= {MOST_KEY_BYTES}"
    if kind not in _TYPES_OF_TIMES:
        return cell, "true"
    first, last = _ends_of_times(kind)
    key = _integers_of_times(cell, kind) if kind == "timestamp with time zone" else cell
    return key, f"{cell} BETWEEN {first} AND {last}"
