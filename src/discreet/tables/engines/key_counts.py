"""The keys of a column with their numbers of records, counted in an engine, where they stay.

A few integers leave the engine: how many keys have the same count. Of the keys themselves those leave it that were
chosen by an exact draw, and no other. Records are rows, or privacy units with at most so many keys each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...base.cached_properties import cached_property
from ...errors import UnreadableData
from ...privacy.sensitivity import Unit
from ...selection.any_column import AnyColumn
from ..conditions.conditions import Condition
from ..values.key_values import KeyColumn, KeyValue, check_keys, key_order
from ..values.kinds import CELL, INTEGER_TYPE
from .engine import open_table, unwrap_table
from .engine_errors import quietly
from .expressions import COUNT, DrawnGroups, OpenedTable, bounded_pairs
from .native import POSITION, SIZE, Frame, Native
from .records import PERSON, Records

CLASS, PLACE = "class", "place"


@dataclass(frozen=True, slots=True, repr=False)
class TableOfKeys:
    """A table and the column of the keys that are counted; no data are opened.

    Attributes:
        data: the table, or values without a column.
        column: the column, or None.
        unit: the privacy unit; None if a row is a record.
        most_keys: the most keys in which one unit counts.
        keeps_pairs: whether units with other keys will be counted too, for which units stay with their keys.
        where: the condition of which a row must be, before anything of its unit is bounded; None for all rows.
    """

    data: object
    column: AnyColumn
    unit: Unit | None = None
    most_keys: int = 1
    keeps_pairs: bool = False
    where: Condition | None = None

    def open(self) -> "KeyCounts":
        """Return the counts, not read yet: the schema alone is looked at.

        Raises:
            UnreadableData: if the table cannot be opened, or the type of the column has no keys.
        """
        table = open_table(
            unwrap_table(self.data), self.column, Records(self.unit, where=self.where)
        )
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
    native, keys = quietly(table.native.with_keys, table.failure, alias, of)
    return KeyCounts(table, native, keys, alias, most_keys, keeps_pairs)


@dataclass(frozen=True, repr=False)
class KeyCounts:
    """The keys of a column with their numbers of records. Private; no row is read before a call.

    `classes` and `first` read the table; what is fetched from what they return is of the same rows.

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
        """The records with a key, one per row: of a unit one for every one of its few keys."""
        return quietly(self._pairs, self.table.failure)

    def classes(self, sure: int, weights: Sequence[int] | None = None) -> "KeyClasses":
        """Return the keys in classes of equal counts, counted now; they last as long as the returned object.

        Args:
            sure: the count from which on all counts are one class, the last.
            weights: those of units of 1, 2, ..., `most_keys` keys, of which counts are sums; None for 1 always.
        """
        return quietly(self._classes, self.table.failure, sure, weights)

    def first(self, most: int) -> "FirstKeys":
        """Return the keys of the largest counts, at most so many; of equal counts the first in their order."""
        return quietly(self._first, self.table.failure, most)

    def groups_of(self, keys: Sequence[KeyValue]) -> OpenedTable:
        """Return the table with some keys as its groups, in their order, and of units the rows that were counted.

        Without keys it has one group, without rows, which says whether the table can be read.
        """
        has_units = self.table.records.unit is not None
        drawn = DrawnGroups(self.keys.places(keys), self.pairs if has_units and keys else None)
        records = replace(self.table.records, groups=list(keys) or [None])
        return replace(self.table, native=self.native, records=records, drawn_groups=drawn)

    def units_outside(self, keys: Sequence[KeyValue]) -> int:
        """Return the number of units (rows, where a row is a record) with a key that is none of `keys`."""
        return quietly(self._units_outside, self.table.failure, keys)

    def positions(self, rows: Frame, keys: Sequence[KeyValue]) -> Frame:
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

    def _sums(self, weights: Sequence[int]) -> Frame:
        """Return the keys with the sums of the weights of their units, as COUNT."""
        import narwhals.stable.v2 as nw

        # A unit of more keys than may stay has as many as may: *What is added* in private_keys.md.
        size, most = nw.col(SIZE), self.most_keys
        keys = nw.when(size < most).then(size).otherwise(nw.lit(most)).cast(nw.Int64)
        pairs = self.pairs.select(self.alias, keys.alias(SIZE))
        rows = self.native.join_positions(pairs, SIZE, INTEGER_TYPE, dict(enumerate(weights, 1)))
        weight = nw.col(POSITION).cast(
            nw.Int64
        )  # an engine may add narrow integers as narrow ones, and wrap
        sums = rows.select(self.alias, weight.alias(COUNT)).group_by(self.alias)
        return sums.agg(nw.col(COUNT).sum().cast(nw.Int64).alias(COUNT))

    def _classes(self, sure: int, weights: Sequence[int] | None) -> "KeyClasses":
        import narwhals.stable.v2 as nw

        counts = self._counts if weights is None else self._sums(weights)
        count = nw.col(COUNT)
        of_class = nw.when(count < sure).then(count).otherwise(nw.lit(sure)).alias(CLASS)
        rows = self.native.with_places(counts.with_columns(of_class), CLASS)
        numbers = rows.group_by(CLASS).agg(nw.len().alias(SIZE))
        classes, sizes = self.native.fetch(numbers, INTEGER_TYPE)
        by_class = dict(zip(classes.tolist(), sizes.tolist(), strict=True))
        return KeyClasses([int(by_class.get(c, 0)) for c in range(1, sure + 1)], self, rows)

    def _first(self, most: int) -> "FirstKeys":
        import narwhals.stable.v2 as nw

        order = [COUNT, self.alias]
        top = self._counts.sort(*order, descending=[True, False]).head(most)
        frame = self.native.keep(top)
        [counts] = self.native.fetch(frame.select(COUNT), INTEGER_TYPE)
        less = (-nw.col(COUNT)).alias(PLACE)
        ranks = frame.with_columns(less).with_row_index(POSITION, order_by=[PLACE, self.alias])
        return FirstKeys(-np.sort(-counts.astype(np.int64)), self, ranks)

    def _units_outside(self, keys: Sequence[KeyValue]) -> int:
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


class KeyPlaces(Protocol):
    """Keys that were drawn, by their places: see `mechanisms.private_keys.DrawnKeys`."""

    @property
    def classes(self) -> NDArray[np.int64]:
        """Their classes: their counts, as far as these are told apart."""
        ...

    @property
    def places(self) -> NDArray[np.int64]:
        """Their places in these classes, from 0; those of one class are distinct."""
        ...

    @property
    def shifts(self) -> NDArray[np.int64] | None:
        """Released count minus count; None where no counts are released."""
        ...

    @property
    def least(self) -> int:
        """The least count that is released: keys of less are left out here, where their counts are known."""
        ...


@dataclass(frozen=True, repr=False)
class KeyClasses:
    """Keys in classes of equal counts, in their engine. Private.

    Attributes:
        sizes: how many keys have the counts 1, 2, ..., and last how many have that count or a larger one.
        source: the keys of the column.
        rows: the keys with their counts, their classes and their places in them.
    """

    sizes: list[int]
    source: KeyCounts
    rows: Frame

    def fetch(self, places: KeyPlaces, most: int | None = None) -> list[tuple[KeyValue, int]]:
        """Return keys that were drawn, sorted, with their released counts; 0 where no counts are released.

        This is a step of its own, after a draw was paid for. No other key leaves the engine.

        Args:
            places: the keys, by their places.
            most: the most keys that are returned: those of the largest released counts, of equal ones those that
                come first.

        Raises:
            UnreadableData: if there are others than were counted; no number of either is told.
        """
        rows = quietly(self._fetch, self.source.table.failure, places, most)
        if len(rows) != min(len(places.places), len(places.places) if most is None else most):
            raise _no_such_keys()
        shown = [pair for pair in rows if places.shifts is None or pair[1] >= places.least]
        return sorted(shown, key=_order_of_pair)

    def _fetch(self, places: KeyPlaces, most: int | None) -> list[tuple[KeyValue, int]]:
        import narwhals.stable.v2 as nw

        base, alias = len(self.sizes) + 1, self.source.alias
        if not len(places.places):
            return []
        numbers = (places.places * base + places.classes).tolist()
        shifts = [0] * len(numbers) if places.shifts is None else places.shifts.tolist()
        place = (nw.col(POSITION) * base + nw.col(CLASS)).alias(PLACE)
        rows = self.source.native.join_positions(
            self.rows.select(alias, COUNT, place),
            PLACE,
            INTEGER_TYPE,
            dict(zip(numbers, shifts, strict=True)),
        )
        released_count = nw.lit(0) if places.shifts is None else nw.col(COUNT) + nw.col(POSITION)
        pairs = rows.select(alias, released_count.alias(COUNT))
        if most is not None and most < len(numbers):
            pairs = pairs.sort(COUNT, alias, descending=[True, False]).head(most)
        key = self.source.keys.key
        return [(key(cell), int(count)) for cell, count in self.source.native.cells(pairs)]


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

    def fetch(self, ranks: Sequence[int]) -> list[KeyValue]:
        """Return the keys of some distinct ranks, from 0, in the order of the list; no other leaves the engine."""
        return quietly(self._fetch, self.source.table.failure, ranks)

    def _fetch(self, ranks: Sequence[int]) -> list[KeyValue]:
        import narwhals.stable.v2 as nw

        rows = self.ranks.filter(nw.col(POSITION).is_in(list(ranks)))
        cells = self.source.native.cells(rows.select(POSITION, self.source.alias))
        by_rank = {int(rank): self.source.keys.key(cell) for rank, cell in cells}
        if by_rank.keys() != {*ranks}:
            raise _no_such_keys()
        return [by_rank[rank] for rank in ranks]


def _order_of_pair(pair: tuple[KeyValue, int]) -> tuple[str, Any]:
    return key_order(pair[0])


def _no_such_keys() -> UnreadableData:
    """Return the error for keys that are not among those that were counted."""
    return UnreadableData("the keys that were drawn are not in the table any more: it has changed")
