"""Counting on a grid in Spark, Dask and lazy frames of Polars: a few rows for each pass come here.

Keys are computed in doubles, by the engine's own arithmetic. That decides nothing: see `cells`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..candidates import Grid
from ..errors import DiscreetError
from .cells import FINEST_KEYS, Groups, Histogram, Index, Occupied, Piece, Thresholds, Unit
from .failures import quietly
from .kinds import CELL
from .numeric import from_series

_WORD = 2**63


@dataclass(frozen=True, slots=True)
class LazyCells:
    """A column of a lazy frame as counts on a grid. One query for each pass."""

    frame: Any
    """A lazy Narwhals frame with this column only, called CELL."""
    thresholds: Thresholds
    failure: DiscreetError
    """What is raised when the engine fails."""

    def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]]:
        """Return how many records each cell of each part has."""
        asked = Histogram(self.thresholds, parts)
        if asked.pieces:
            mixed = asked.add(quietly(lambda: self._groups(asked), self.failure))
            if mixed:
                asked.add(quietly(lambda: self._mixed(asked, mixed), self.failure))
        return asked.counts

    def points(self, parts: Sequence[range]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the indices in the parts that have records, and how many."""
        asked = Histogram(self.thresholds, parts)
        if not asked.pieces:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        found = quietly(lambda: self._singles(asked), self.failure)
        return self.thresholds.grid.nearest(found.least), found.records

    def occupied(self, index: Index) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return indices that records have, and how many."""
        asked = Occupied(self.thresholds, index)
        fine = self.thresholds.grid.size <= FINEST_KEYS
        ask = self._groups if fine else self._singles
        mixed = asked.add(quietly(lambda: ask(asked), self.failure))
        if mixed:
            asked.add(quietly(lambda: self._mixed(asked, mixed), self.failure))
        return asked.tally

    def _groups(self, asked: Histogram | Occupied) -> Groups:
        """Return the groups of the records with one key."""
        import narwhals.stable.v2 as nw

        cell = nw.col(CELL)
        least, greatest = cell.min().alias("least"), cell.max().alias("greatest")
        grouped = self._keyed(asked).group_by("key").agg(nw.len().alias("records"), least, greatest)
        return Groups.of(_fetched(grouped, "key", "records", "least", "greatest"))

    def _mixed(self, asked: Histogram | Occupied, keys: list[int]) -> Groups:
        """Return each distinct record of some groups as a group of its own."""
        import narwhals.stable.v2 as nw

        return _distinct(self._keyed(asked).filter(nw.col("key").is_in(keys)))

    def _singles(self, asked: Histogram | Occupied) -> Groups:
        """Return each distinct record as a group of its own."""
        return _distinct(self._within(asked))

    def _keyed(self, asked: Histogram | Occupied) -> Any:
        """Return the records of the parts with their keys."""
        import narwhals.stable.v2 as nw

        *earlier, last = asked.pieces
        key = self._key(last)
        for piece in reversed(earlier):
            inside = nw.col(CELL) < self._constant(piece.stop)
            key = nw.when(inside).then(self._key(piece)).otherwise(key)
        return self._within(asked).with_columns(key.alias("key"))

    def _key(self, piece: Piece) -> Any:
        """Return the key of a record of one part."""
        import narwhals.stable.v2 as nw

        first, last = piece.keys
        low = float(self.thresholds.value(piece.ends[0]))
        place = (nw.col(CELL).cast(nw.Float64) - low) * piece.rate + piece.shift
        # Cut before the cast, which a record far outside would overflow.
        cut = place.clip(-1.0, (last - first) / 2)
        around = ((cut + b).floor().cast(nw.Int64) for b in (piece.blur, -piece.blur))
        return reduce(lambda a, b: a + b, around) + first

    def _within(self, asked: Histogram | Occupied) -> Any:
        """Return the records of the parts, without null and NaN."""
        import narwhals.stable.v2 as nw

        cell = nw.col(CELL)
        kept = self.frame.filter(~cell.is_null())
        if self.thresholds.of.kind == "float":
            kept = kept.filter(~cell.is_nan())
        inside = [self._inside(piece) for piece in asked.pieces]
        return kept if any(some is None for some in inside) else kept.filter(reduce(or_, inside))

    def _inside(self, piece: Piece) -> Any | None:
        """Return whether a record is in a part; None if all are."""
        import narwhals.stable.v2 as nw

        bounds = list[Any]()
        if piece.start is not None:
            bounds.append(nw.col(CELL) >= self._constant(piece.start))
        if piece.stop is not None:
            bounds.append(nw.col(CELL) < self._constant(piece.stop))
        return reduce(and_, bounds) if bounds else None

    def _constant(self, unit: Unit | None) -> Any:
        """Return a number of the column's type."""
        assert unit is not None
        return Decimal(self.thresholds.text(unit)) if self.thresholds.of.kind == "decimal" else unit


def _distinct(records: Any) -> Groups:
    """Return each distinct one of some records as a group of its own."""
    import narwhals.stable.v2 as nw

    counted = records.group_by(CELL).agg(nw.len().alias("records"))
    return Groups.single(_fetched(counted, CELL, "records"))


def _fetched(query: Any, *columns: str) -> list[NDArray[Any]]:
    """Return columns of a lazy frame, none of them rounded."""
    found = query.collect()
    return [from_series(found.get_column(name)) for name in columns]


def open_lazy_cells(data: Any, column: str, grid: Grid) -> LazyCells | None:
    """Return the column of a Spark or Dask table or of a lazy frame of Polars, None for anything else.

    None as well if the grid is too fine or too far for the column's type, which is public.
    """
    import narwhals.stable.v2 as nw

    from .frames import broken, open_frame

    engine: Any = nw.from_native(data, pass_through=True)
    if not isinstance(engine, nw.LazyFrame):
        return None
    known = engine.implementation
    if not (known.is_polars() or known.is_spark_like() or known.is_dask()):
        return None
    opened: Any = open_frame(data, column)
    of = opened.type
    words = of.kind != "integer" or (of.low >= -_WORD and of.high < _WORD)
    thresholds = Thresholds(grid, of)
    served = of.kind in ("integer", "float", "decimal") and words and thresholds.serves
    return LazyCells(nw.from_native(opened.frame), thresholds, broken(engine)) if served else None
