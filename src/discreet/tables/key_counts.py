"""The keys of a column with their numbers of records, counted in an engine, where they stay.

A few integers leave the engine: how many keys have each count. Of the keys themselves those leave it that were
chosen by an exact draw, and no other. Records are rows, or privacy units with at most so many keys each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import UnreadableData
from ..privacy.units import Unit
from .engine import open_table, unwrap_table
from .engine_errors import quietly
from .expressions import COUNT, OpenedTable, bounded_pairs
from .keys import Key, KeyColumn, check_keys, key_order
from .kinds import CELL, INTEGER_TYPE
from .native import POSITION, Frame, Native
from .records import PERSON, Records

CLASS, PLACE = "class", "place"


@dataclass(frozen=True, slots=True, repr=False)
class KeyTable:
    """A table and the column whose keys are counted; nothing is opened.

    Attributes:
        data: the table, or values without a column.
        column: the column, or None.
        unit: the privacy unit; None if a row is a record.
        most_keys: the most keys in which one unit counts.
        keeps_pairs: whether units with other keys will be counted too, for which units stay with their keys.
    """

    data: object
    column: str | None
    unit: Unit | None = None
    most_keys: int = 1
    keeps_pairs: bool = False

    def open(self) -> "KeyCounts":
        """Return the counts, not read yet: the schema alone is looked at.

        Raises:
            UnreadableData: if the table cannot be opened, or the type of the column has no keys.
        """
        table = open_table(unwrap_table(self.data), self.column, Records(self.unit))
        return open_keys(table, CELL, self.most_keys, keeps_pairs=self.keeps_pairs)


def open_keys(
    table: OpenedTable, alias: str, most_keys: int, *, keeps_pairs: bool = False
) -> "KeyCounts":
    """Return the counts of the keys in a column of a table that was opened, not read yet.

    Args:
        table: the table.
        alias: the name of the column once it has been opened.
        most_keys: the most keys in which one unit counts.
        keeps_pairs: whether units stay with their keys.

    Raises:
        UnreadableData: if the type of the column has no keys.
    """
    of = table.type(alias)
    check_keys(of)
    native, keys = quietly(table.native.keyed, table.failure, alias, of)
    return KeyCounts(table, native, keys, alias, most_keys, keeps_pairs)


@dataclass(frozen=True, repr=False)
class KeyCounts:
    """The keys of a column with their numbers of records. Private; no row is read before a call.

    One call of `classes` or of `first` reads the table; what is fetched afterwards is of the same rows.

    Attributes:
        table: the table.
        native: its columns with keys in one of them.
        keys: those keys as Python has them.
        alias: the column.
        most_keys: the most keys in which one unit counts.
        keeps_pairs: whether units stay with their keys.
    """

    table: OpenedTable
    native: Native
    keys: KeyColumn
    alias: str
    most_keys: int
    keeps_pairs: bool

    @cached_property
    def pairs(self) -> Frame:
        """The records with a key, one row each: of a unit one for each of its few keys."""
        return quietly(self._pairs, self.table.failure)

    def classes(self, first: int, sure: int) -> list[int]:
        """Return how many keys have each count from `first` on, and last how many have `sure` or more.

        Args:
            first: the least count that is told.
            sure: the count from which on all counts are one class, at least `first`.
        """
        classes, sizes = quietly(self._sizes, self.table.failure, sure)
        by_class = dict(zip(classes.tolist(), sizes.tolist(), strict=True))
        return [int(by_class.get(count, 0)) for count in range(first, sure + 1)]

    def fetch(self, places: Mapping[int, ArrayLike], sure: int) -> list[tuple[Key, int]]:
        """Return keys with their counts, sorted: those at some places, and all of the last class.

        Args:
            places: distinct places, from 0, by class; any fixed numbering inside a class.
            sure: as `classes` was asked.

        Raises:
            UnreadableData: if these are not the rows that were counted; no number of either is told.
        """
        rows = quietly(self._fetch, self.table.failure, places, sure)
        sure_keys = sum(count >= sure for _, count in rows)
        chosen = sum(np.size(one) for one in places.values())
        if len(rows) != chosen + sure_keys or sure_keys != self.classes(sure, sure)[0]:
            raise _changed()
        return rows

    def first(self, most: int) -> "FirstKeys":
        """Return the keys of the largest counts, at most so many; of equal counts the first by `keys.key_order`."""
        return quietly(self._first, self.table.failure, most)

    def units_outside(self, keys: Sequence[Key]) -> int:
        """Return the number of units (rows, where a row is a record) with a key that is none of `keys`."""
        return quietly(self._units_outside, self.table.failure, keys)

    def positions(self, rows: Frame, keys: Sequence[Key]) -> Frame:
        """Return the rows of some keys, with the places of the keys in the list as POSITION."""
        places = self.keys.places(keys)
        of = self.native.type(self.alias, self.alias)
        if places:
            return self.native.join_positions(rows, self.alias, of, places)
        import narwhals.stable.v2 as nw

        missing = nw.col(self.alias).is_null()
        return rows.filter(missing & ~missing).with_columns(nw.lit(0).alias(POSITION))

    def _pairs(self) -> Frame:
        pairs = bounded_pairs(self.table, self.native, self.alias, self.most_keys)
        return self.native.keep(pairs) if self.keeps_pairs else pairs

    @property
    def _counts(self) -> Frame:
        """The keys with their numbers of records."""
        import narwhals.stable.v2 as nw

        return self.pairs.group_by(self.alias).agg(nw.len().cast(nw.Int64).alias(COUNT))

    @cached_property
    def _snapshots(self) -> dict[int, Frame]:
        """The keys with their counts and places, by the count from which on all counts are one class."""
        return {}

    def _snapshot(self, sure: int) -> Frame:
        """Return the keys with their counts, classes and places in them, which are read once."""
        import narwhals.stable.v2 as nw

        if sure not in self._snapshots:
            count = nw.col(COUNT)
            of_class = nw.when(count < sure).then(count).otherwise(nw.lit(sure)).alias(CLASS)
            frame = self._counts.with_columns(of_class)
            self._snapshots[sure] = self.native.numbered(frame, CLASS)
        return self._snapshots[sure]

    def _sizes(self, sure: int) -> tuple[Any, Any]:
        import narwhals.stable.v2 as nw

        sizes = self._snapshot(sure).group_by(CLASS).agg(nw.len().alias("size"))
        classes, numbers = self.native.fetch(sizes, INTEGER_TYPE)
        return classes, numbers

    def _fetch(self, places: Mapping[int, ArrayLike], sure: int) -> list[tuple[Key, int]]:
        import narwhals.stable.v2 as nw

        snapshot, count = self._snapshot(sure), nw.col(COUNT)
        rows = self._cells(snapshot.filter(count >= sure))
        wanted = [
            place * (sure + 1) + of_class
            for of_class, ones in places.items()
            for place in np.asarray(ones, dtype=np.int64).tolist()
        ]
        if wanted:
            place = (nw.col(POSITION) * (sure + 1) + nw.col(CLASS)).alias(PLACE)
            below = snapshot.filter(count < sure).select(self.alias, COUNT, place)
            numbers = {number: i for i, number in enumerate(wanted)}
            rows += self._cells(self.native.join_positions(below, PLACE, INTEGER_TYPE, numbers))
        pairs = [(self.keys.key(cell), int(number)) for cell, number in rows]
        return sorted(pairs, key=_order_of_pair)

    def _cells(self, rows: Frame) -> list[tuple[Any, ...]]:
        return self.native.cells(rows.select(self.alias, COUNT))

    def _first(self, most: int) -> "FirstKeys":
        import narwhals.stable.v2 as nw

        order = [COUNT, self.alias]
        top = self._counts.sort(*order, descending=[True, False]).head(most)
        frame = self.native.keep(top)
        [counts] = self.native.fetch(frame.select(COUNT), INTEGER_TYPE)
        less = (-nw.col(COUNT)).alias(PLACE)
        ranks = frame.with_columns(less).with_row_index(POSITION, order_by=[PLACE, self.alias])
        return FirstKeys(-np.sort(-counts.astype(np.int64)), self, ranks)

    def _units_outside(self, keys: Sequence[Key]) -> int:
        import narwhals.stable.v2 as nw

        inside = self.positions(self.pairs, keys)
        if self.table.records.unit is None:
            [every], [some] = (
                self.native.fetch(rows.select(nw.len().alias(COUNT)), INTEGER_TYPE)[0]
                for rows in (self.pairs, inside)
            )
            return int(every) - int(some)
        names = [PERSON, self.alias]
        outside = self.pairs.join(inside.select(*names), on=names, how="anti")
        units = outside.group_by(PERSON).agg()
        [[number]] = self.native.fetch(units.select(nw.len().alias(COUNT)), INTEGER_TYPE)
        return int(number)


@dataclass(frozen=True, slots=True, repr=False)
class FirstKeys:
    """The keys of the largest counts, in their engine, in the order of counts falling and then of keys. Private.

    Attributes:
        counts: their numbers of records.
        source: the keys of the column.
        ranks: the keys with their ranks.
    """

    counts: NDArray[np.int64]
    source: KeyCounts
    ranks: Frame

    def fetch(self, ranks: Sequence[int]) -> list[Key]:
        """Return the keys of some distinct ranks, from 0, in the order of the list; no other leaves the engine."""
        return quietly(self._fetch, self.source.table.failure, ranks)

    def _fetch(self, ranks: Sequence[int]) -> list[Key]:
        import narwhals.stable.v2 as nw

        rows = self.ranks.filter(nw.col(POSITION).is_in(list(ranks)))
        cells = self.source.native.cells(rows.select(POSITION, self.source.alias))
        by_rank = {int(rank): self.source.keys.key(cell) for rank, cell in cells}
        if by_rank.keys() != {*ranks}:
            raise _changed()
        return [by_rank[rank] for rank in ranks]


def _order_of_pair(pair: tuple[Key, int]) -> tuple[str, Any]:
    return key_order(pair[0])


def _changed() -> UnreadableData:
    """Return the error for keys that are not among those that were counted."""
    return UnreadableData("the keys that were drawn are not in the table any more: it has changed")
