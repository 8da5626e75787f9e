"""Counting on a grid in a DuckDB relation: files and queries of any size, out of core."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..candidates import Grid
from ..errors import DiscreetError
from .cells import FINEST_KEYS, Groups, Histogram, Index, Occupied, Piece, Thresholds, Unit
from .failures import quietly
from .kept import ROWS, Kept
from .kinds import CELL, ColumnType
from .numeric import from_relation
from .relations import RelationColumn, present

_WORD, _SHORT = 2**63, 2**31


@dataclass(frozen=True)
class ParsedColumn:
    """A column of a CSV file as doubles. The first query parses the file, and keeps what is a number."""

    texts: RelationColumn

    @property
    def type(self) -> ColumnType:
        """The type of the numbers."""
        return ColumnType(self.texts.column, "float", "CSV", layout="<d")

    @property
    def failure(self) -> DiscreetError:
        """What is raised when the engine fails."""
        return self.texts.failure

    @property
    def relation(self) -> Any:
        """A relation with the numbers only, called CELL."""
        return self._kept.rows

    @cached_property
    def _kept(self) -> Kept:
        parsed = f"SELECT TRY_CAST({CELL} AS DOUBLE) AS {CELL} FROM {ROWS}"
        return Kept(self.texts.relation, f"SELECT * FROM ({parsed}) WHERE {CELL} IS NOT NULL")


@dataclass(frozen=True, slots=True)
class RelationCells:
    """A column of a DuckDB relation as counts on a grid. One query for each pass."""

    column: RelationColumn | ParsedColumn
    thresholds: Thresholds

    def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]]:
        """Return how many records each cell of each part has."""
        asked = Histogram(self.thresholds, parts)
        if asked.pieces:
            mixed = asked.add(quietly(lambda: self._groups(asked), self.column.failure))
            if mixed:
                asked.add(quietly(lambda: self._mixed(asked, mixed), self.column.failure))
        return asked.counts

    def points(self, parts: Sequence[range]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the indices in the parts that have records, and how many."""
        asked = Histogram(self.thresholds, parts)
        if not asked.pieces:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        found = quietly(lambda: self._singles(asked), self.column.failure)
        return self.thresholds.grid.nearest(found.least), found.records

    def occupied(self, index: Index) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return indices that records have, and how many."""
        asked = Occupied(self.thresholds, index)
        fine = self.thresholds.grid.size <= FINEST_KEYS
        ask = self._groups if fine else self._singles
        mixed = asked.add(quietly(lambda: ask(asked), self.column.failure))
        if mixed:
            asked.add(quietly(lambda: self._mixed(asked, mixed), self.column.failure))
        return asked.tally

    def _groups(self, asked: Histogram | Occupied) -> Groups:
        """Return the groups of the records with one key."""
        columns = "key, count(*) AS records, min(cell) AS least, max(cell) AS greatest"
        return Groups.of(self._fetched(self._keyed(asked).aggregate(columns, "key")))

    def _mixed(self, asked: Histogram | Occupied, keys: list[int]) -> Groups:
        """Return each distinct record of some groups as a group of its own."""
        from duckdb import ColumnExpression, ConstantExpression

        among = ColumnExpression("key").isin(*map(ConstantExpression, keys))
        return self._distinct(self._keyed(asked).filter(among))

    def _singles(self, asked: Histogram | Occupied) -> Groups:
        """Return each distinct record as a group of its own."""
        return self._distinct(self._within(asked))

    def _distinct(self, records: Any) -> Groups:
        """Return each distinct one of some records as a group of its own."""
        counted = records.aggregate("cell, count(*) AS records", CELL)
        return Groups.single(self._fetched(counted))

    def _fetched(self, counted: Any) -> list[NDArray[Any]]:
        """Return the columns of a query, none of them rounded."""
        return from_relation(counted, self.thresholds.of)

    def _keyed(self, asked: Histogram | Occupied) -> Any:
        """Return the records of the parts with their keys."""
        from duckdb import CaseExpression, ColumnExpression

        cell = ColumnExpression(CELL)
        *earlier, last = asked.pieces
        key = self._key(last, cell)
        for piece in reversed(earlier):
            inside = cell < self._constant(piece.stop)
            key = CaseExpression(inside, self._key(piece, cell)).otherwise(key)
        return self._within(asked).select(cell, key.alias("key"))

    def _key(self, piece: Piece, cell: Any) -> Any:
        """Return the key of a record of one part."""
        from duckdb import CaseExpression, ConstantExpression, FunctionExpression
        from duckdb.sqltypes import BIGINT, DOUBLE, INTEGER

        low, high = map(self._constant, piece.ends)
        integer = INTEGER if piece.keys[1] < _SHORT else BIGINT
        first, last = (ConstantExpression(key).cast(integer) for key in piece.keys)
        rate, shift, blur = (
            ConstantExpression(x).cast(DOUBLE) for x in (piece.rate, piece.shift, piece.blur)
        )
        wide = self._wide(piece)
        place = (cell.cast(wide) - low.cast(wide)).cast(DOUBLE) * rate + shift
        around = (FunctionExpression("floor", place + b) for b in (blur, -blur))
        key = reduce(lambda a, b: a + b, around).cast(integer) + first
        if piece.start is None:
            key = CaseExpression(cell < low, first).otherwise(key)
        return key if piece.stop is not None else CaseExpression(cell >= high, last).otherwise(key)

    def _within(self, asked: Histogram | Occupied) -> Any:
        """Return the records of the parts, without null and NaN."""
        from duckdb import ColumnExpression

        cell = ColumnExpression(CELL)
        kept = present(self.column.relation, floating=self.thresholds.of.kind == "float")
        inside = [self._inside(piece, cell) for piece in asked.pieces]
        return kept if any(some is None for some in inside) else kept.filter(reduce(or_, inside))

    def _inside(self, piece: Piece, cell: Any) -> Any | None:
        """Return whether a record is in a part; None if all are."""
        bounds = list[Any]()
        if piece.start is not None:
            bounds.append(cell >= self._constant(piece.start))
        if piece.stop is not None:
            bounds.append(cell < self._constant(piece.stop))
        return reduce(and_, bounds) if bounds else None

    def _wide(self, piece: Piece) -> Any:
        """Return a type in which no difference of records between the ends overflows."""
        from duckdb.sqltypes import BIGINT, DOUBLE, HUGEINT

        of, (low, high) = self.thresholds.of, piece.ends
        if of.kind != "integer":
            return DOUBLE if of.kind == "float" else self.column.relation.types[0]
        return BIGINT if of.high < _WORD and high - low < _WORD else HUGEINT

    def _constant(self, unit: Unit | None) -> Any:
        """Return a number of the column's type, by its text, which DuckDB reads exactly."""
        from duckdb import ConstantExpression

        text = None if unit is None else self.thresholds.text(unit)
        return ConstantExpression(text).cast(self.column.relation.types[0])


def open_cells(data: Any, column: str, grid: Grid) -> RelationCells | None:
    """Return the column of a file or a DuckDB relation, None for anything else.

    None as well if the grid is too fine or too far for the column's type, which is public.
    """
    if isinstance(data, str | os.PathLike):
        from .files import open_file

        opened: Any = open_file(data, column)
    elif type(data).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
        from .frames import open_frame

        opened = open_frame(data, column)
    else:
        return None
    if opened.type.name == "CSV":
        opened = ParsedColumn(opened)
    thresholds = Thresholds(grid, opened.type)
    served = opened.type.kind != "text" and thresholds.serves
    return RelationCells(opened, thresholds) if served else None
