"""Counting on a grid, between cuts and beside any numbers, in the engine: a few rows per pass come here.

Keys are computed in doubles or in integers, by the engine's own arithmetic. That decides nothing: see `cells`.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from operator import add, and_, or_
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import DiscreetError, UnreadableData
from ...sampling.vectors import ExactArray, Integers, integers
from ...selection.candidates import Grid
from ...selection.decimals import LEAST_POWER, POWERS, Decimals
from ..values.kinds import CELL, INTEGER_TYPE, ColumnType
from .cells import (
    FINEST_KEYS,
    CellNumber,
    GridHistogram,
    GridThresholds,
    Groups,
    Index,
    Occupancy,
    Piece,
    constant,
    following,
    least_number,
    value_of,
)
from .engine_errors import quietly
from .native import POSITION, Frame

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


from ...base.cached_properties import cached_property
from ...selection.date_grid import CutCells

KEY = "key"

JoinPositions = Callable[[Frame, str, ColumnType, Mapping[object, int]], Frame]
"""What joins rows with places of values: see `Native.join_positions`."""

_SHORT = 2**31

_HALF = 2**62
"""Differences of integers below it are words."""


@dataclass(frozen=True, slots=True)
class GridCounts:
    """A column in an engine as counts on a grid. One query per pass."""

    frame: Frame
    """A lazy Narwhals frame with this column, called CELL, without null and NaN; for `with_indices` others too."""
    thresholds: GridThresholds
    fetch: Callable[[Frame, ColumnType], list[ExactArray]]
    """What brings the columns of a query, none of them rounded."""
    failure: DiscreetError
    """What is raised when the engine fails."""
    divides: bool = False
    """Whether the engine divides integers exactly, which makes keys of cells of equally many integers."""

    def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]]:
        """Return the number of records in every cell of the parts."""
        query = GridHistogram(self.thresholds, parts)
        if query.pieces:
            self._fill(query, self._groups)
        return query.counts

    def points(self, parts: Sequence[range]) -> tuple[Integers, NDArray[np.int64]]:
        """Return the indices in the parts that have records, and how many."""
        query = GridHistogram(self.thresholds, parts)
        if not query.pieces:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        singles = quietly(self._singles, self.failure, query)
        return self.thresholds.grid.nearest(singles.least), singles.records

    def numbers(self) -> None:
        """Return None: the engine has them."""

    def occupancy(self, index: Index) -> tuple[Integers, NDArray[np.int64]]:
        """Return indices that records have, and how many."""
        query = Occupancy(self.thresholds, index)
        fine = self.thresholds.grid.size <= FINEST_KEYS
        self._fill(query, self._groups if fine else self._singles)
        return query.tally

    def with_indices(self, join: JoinPositions, others: Sequence[str]) -> tuple[Frame, int]:
        """Return other columns of the records, with the index of the nearest point as POSITION, and how many rows.

        A pass finds the indices of keys; of keys with several indices a second one finds those of numbers.
        """
        import narwhals.stable.v2 as nw

        grid = self.thresholds.grid
        assert isinstance(grid, Grid)
        query = Occupancy(self.thresholds, grid.nearest)
        groups = self._groups(query)
        doubtful, size = query.add(groups), int(groups.records.sum())
        is_certain = ~np.isin(groups.keys, doubtful)
        indices = grid.nearest(groups.least[is_certain]).tolist()
        of_keys = dict(zip(groups.keys[is_certain].tolist(), indices, strict=True))
        records = self._with_keys(query).with_columns(nw.col(KEY).cast(nw.Int64))
        columns = [*others, POSITION]
        certain = join(records, KEY, INTEGER_TYPE, of_keys).select(*columns)
        if not doubtful:
            return certain, size
        numbers = self._ambiguous(query, doubtful).least
        of_numbers = places_of(self.thresholds.of, numbers, grid.nearest(numbers))
        rest = records.filter(nw.col(KEY).is_in(doubtful))
        rest = join(rest, CELL, self.thresholds.of, of_numbers).select(*columns)
        return nw.concat([certain, rest]), size

    def _fill(
        self,
        query: GridHistogram | Occupancy,
        groups: Callable[[GridHistogram | Occupancy], Groups],
    ) -> None:
        """Count groups of records, and then those of which it is not certain where they are, by value."""
        ambiguous = query.add(quietly(groups, self.failure, query))
        if ambiguous:
            query.add(quietly(self._ambiguous, self.failure, query, ambiguous))

    def _groups(self, query: GridHistogram | Occupancy) -> Groups:
        """Return the groups of the records with one key."""
        import narwhals.stable.v2 as nw

        cell = nw.col(CELL)
        least, greatest = cell.min().alias("least"), cell.max().alias("greatest")
        groups = (
            self._with_keys(query).group_by(KEY).agg(nw.len().alias("records"), least, greatest)
        )
        return Groups.of(self.fetch(groups, self.thresholds.of))

    def _ambiguous(self, query: GridHistogram | Occupancy, keys: list[int]) -> Groups:
        """Return the distinct records of some groups as groups of one value."""
        import narwhals.stable.v2 as nw

        return self._distinct(self._with_keys(query).filter(nw.col(KEY).is_in(keys)))

    def _singles(self, query: GridHistogram | Occupancy) -> Groups:
        """Return the distinct records as groups of one value."""
        return self._distinct(self._within(query))

    def _distinct(self, records: Frame) -> Groups:
        """Return the distinct values of some records as groups of one value."""
        import narwhals.stable.v2 as nw

        groups = records.group_by(CELL).agg(nw.len().alias("records"))
        return Groups.single(self.fetch(groups, self.thresholds.of))

    def _with_keys(self, query: GridHistogram | Occupancy) -> Frame:
        """Return the records of the parts with their keys."""
        import narwhals.stable.v2 as nw

        *earlier, last = query.pieces
        key = self._key(last)
        for piece in reversed(earlier):
            inside = nw.col(CELL) < self._constant(piece.stop)
            key = nw.when(inside).then(self._key(piece)).otherwise(key)
        return self._with_guess(self._within(query)).with_columns(key.alias(KEY))

    def _key(self, piece: Piece) -> "nw.Expr":
        """Return the key of a record of one part."""
        import narwhals.stable.v2 as nw

        first, last = piece.keys
        if self.divides and (cells := self._even_key(piece)) is not None:
            return cells * 2 + first
        above = nw.col("guess") if piece.ends is None else self._above(*piece.ends)
        place = above * piece.rate + piece.shift
        # Cut before the cast, which a record far outside would overflow.
        inside = place.clip(-1.0, (last - first) / 2)
        short = nw.Int32 if last < _SHORT else nw.Int64
        # "How rarely a group does not pass" in docs/explanation/out_of_core.md: odd keys are inside a cell.
        around = ((inside + bound).floor().cast(short) for bound in (piece.blur, -piece.blur))
        return reduce(add, around) + first

    def _even_key(self, piece: Piece) -> "nw.Expr | None":
        """Return the cell of a record of one part, by integers; None where cells are not even, or far."""
        import narwhals.stable.v2 as nw

        if (
            piece.even is None
            or piece.ends is None
            or max(map(abs, (*piece.even, *piece.ends))) >= _HALF
        ):
            return None
        of, (least, units) = self.thresholds.of, piece.even
        low, high = (self._constant(end) for end in piece.ends)
        cell = nw.col(CELL).clip(low, high)  # before it is a word
        return ((cell * 10**of.scale if of.scale else cell).cast(nw.Int64) - least) // units

    def _above(self, low: CellNumber, high: CellNumber) -> "nw.Expr":
        """Return how far a record is above the lower end, as a double."""
        import narwhals.stable.v2 as nw

        if self.thresholds.of.kind == "integer" and max(-low, high) < _HALF:
            # A difference of words is exact. Cut before, lest it overflow.
            return (nw.col(CELL).clip(low, high).cast(nw.Int64) - low).cast(nw.Float64)
        # Cut before, too: a server ends its query where a difference is beyond all doubles.
        least, greatest = (float(value_of(end, self.thresholds.of)) for end in (low, high))
        return nw.col(CELL).cast(nw.Float64).clip(least, greatest) - least

    def _with_guess(self, records: Frame) -> Frame:
        """Return records with nearly their index among decimals, if the grid is such; no answer depends on it.

        It is the index at the points, and rises evenly from one to the next.
        """
        import narwhals.stable.v2 as nw

        decimals = self.thresholds.grid
        if not isinstance(decimals, Decimals):
            return records
        least, greatest = 10.0**LEAST_POWER, float(decimals[decimals.size - 1])
        # Cut before the logarithm, which has no value at zero. Columns of their own are computed once.
        number, size, power = nw.col(CELL).cast(nw.Float64), nw.col("size"), nw.col("power")
        exponent = size.log(10).floor().clip(LEAST_POWER, LEAST_POWER + POWERS - 1)
        steps = (size / 10.0**power - 1.0) * (decimals.per_power // 9) + 1.0
        above = (power - LEAST_POWER) * decimals.per_power + steps
        signed = nw.when(number < 0).then(-above).otherwise(above)
        is_zero = number.abs() < least / 2
        return (
            records.with_columns(number.abs().clip(least, greatest).alias("size"))
            .with_columns(exponent.alias("power"))
            .with_columns(
                (nw.when(is_zero).then(0.0).otherwise(signed) + decimals.zero).alias("guess")
            )
        )

    def _within(self, query: GridHistogram | Occupancy) -> Frame:
        """Return the records of the parts."""
        bounded = [some for piece in query.pieces if (some := self._inside(piece)) is not None]
        return (
            self.frame.filter(reduce(or_, bounded))
            if len(bounded) == len(query.pieces)
            else self.frame
        )

    def _inside(self, piece: Piece) -> "nw.Expr | None":
        """Return whether a record is in a part; None if all are."""
        import narwhals.stable.v2 as nw

        bounds = list["nw.Expr"]()
        if piece.start is not None:
            bounds.append(nw.col(CELL) >= self._constant(piece.start))
        if piece.stop is not None:
            bounds.append(nw.col(CELL) < self._constant(piece.stop))
        return reduce(and_, bounds) if bounds else None

    def _constant(self, unit: CellNumber | None) -> int | float | Decimal:
        """Return a number of the column's type."""
        assert unit is not None
        return constant(unit, self.thresholds.of)


def places_of(of: ColumnType, cells: ExactArray, indices: Integers) -> dict[object, int]:
    """Return the indices of distinct cells, by the cells as Python has them, of the column's type."""
    numbers: list[object] = cells.tolist()
    if of.kind == "decimal":
        numbers = [constant(int(Fraction(cell) * 10**of.scale), of) for cell in cells.tolist()]
    return dict(zip(numbers, indices.tolist(), strict=True))


Beside = tuple[Integers, Integers, int]
"""How many records are below some numbers, how many are above, and how many there are."""

AT_ONCE = 2**11
"""So many numbers are compared with in one query."""


def counts_beside(
    rows: Frame,
    fetch: Callable[[Frame, ColumnType], list[ExactArray]],
    of: ColumnType,
    numbers: Sequence[Fraction],
) -> Beside:
    """Return how many records are below some numbers, how many above, and how many there are.

    The records are cut at the least number of the column's type that is at or above a number, and at the least
    one above it. The records between two cuts are one group, and nothing of the data but its count is fetched.
    """
    less, more, totals = list[int](), list[int](), set[int]()
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        at, above = (
            [at_or_above(number, of) for number in some],
            [strictly_above(number, of) for number in some],
        )
        # "Lists of candidates" in docs/explanation/out_of_core.md: no guess, all between two cuts is one group.
        cuts = sorted({edge for edge in (*at, *above) if edge is not None})
        below = cumulative_counts(rows, fetch, of, cuts)
        last = len(cuts)
        less += [below[last if edge is None else bisect_left(cuts, edge)] for edge in at]
        up_to = [below[last if edge is None else bisect_left(cuts, edge)] for edge in above]
        more += [below[-1] - count for count in up_to]
        totals.add(below[-1])
    if len(totals) > 1:
        raise UnreadableData("the data changed while they were read")
    return integers(less), integers(more), totals.pop()


def between(rows: Frame, of: ColumnType, low: Fraction | None, high: Fraction | None) -> Frame:
    """Return the records from one number up to another, None being no bound; they are numbers, and none missing."""
    import narwhals.stable.v2 as nw

    cell = nw.col(CELL)
    if low is not None:
        least = at_or_above(low, of)
        rows = rows.filter(cell != cell if least is None else cell >= constant(least, of))
    above = None if high is None else strictly_above(high, of)
    return rows if above is None else rows.filter(cell < constant(above, of))


def cumulative_counts(
    rows: Frame,
    fetch: Callable[[Frame, ColumnType], list[ExactArray]],
    of: ColumnType,
    cuts: list[CellNumber],
) -> list[int]:
    """Return how many records are below the cuts, and last how many there are."""
    import narwhals.stable.v2 as nw

    key = place_among([constant(edge, of) for edge in cuts], range(len(cuts) + 1)).alias("key")
    groups = rows.with_columns(key).group_by(KEY).agg(nw.len().alias("records"))
    keys, records = fetch(groups, of)
    sizes = [0] * (len(cuts) + 1)
    for place, count in zip(keys.tolist(), records.tolist(), strict=True):
        sizes[int(place)] = int(count)
    return [*accumulate(sizes)]


def place_among(cuts: Sequence[int | float | Decimal], places: range) -> "nw.Expr":
    """Return how many cuts a record is not below, by halving."""
    import narwhals.stable.v2 as nw

    if len(places) == 1:
        return nw.lit(places[0])
    middle = len(places) // 2
    below = nw.col(CELL) < cuts[places[middle] - 1]
    return (
        nw.when(below)
        .then(place_among(cuts, places[:middle]))
        .otherwise(place_among(cuts, places[middle:]))
    )


def at_or_above(number: Fraction, of: ColumnType) -> CellNumber | None:
    """Return the least number of the type that is x or above; None if there is none."""
    return least_number(*number.as_integer_ratio(), of)


def strictly_above(number: Fraction, of: ColumnType) -> CellNumber | None:
    """Return the least number of the type above x."""
    least = at_or_above(number, of)
    if least is None or least in (float("inf"), float("-inf")) or value_of(least, of) != number:
        return least
    return following(least, of)


@dataclass(frozen=True)
class CutCounts:
    """Integers in an engine as counts between cuts: see `cells.GridSource`.

    A record is compared with the cuts themselves, and nothing of the data but counts is fetched: one a cell,
    in one pass for 2,048 cuts. They are kept.
    """

    rows: Frame
    """A lazy Narwhals frame with this column only, called CELL, without null."""
    of: ColumnType
    fetch: Callable[[Frame, ColumnType], list[ExactArray]]
    cells: CutCells
    failure: DiscreetError

    def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]]:
        """Return the number of records in every cell of the parts."""
        counts = self._counts
        return [
            np.add.reduceat(
                counts[part.start : part.stop], np.arange(0, part.stop - part.start, part.step)
            )
            if len(part)
            else counts[:0]
            for part in parts
        ]

    def points(self, parts: Sequence[range]) -> tuple[Integers, NDArray[np.int64]]:
        """Return the indices in the parts that have records, and how many."""
        inside = [
            part.start + np.flatnonzero(self._counts[part.start : part.stop]) for part in parts
        ]
        indices = np.concatenate([np.zeros(0, dtype=np.int64), *inside])
        return indices, self._counts[indices]

    def numbers(self) -> None:
        """Return None: the engine has them."""

    def occupancy(self, index: Index) -> tuple[Integers, NDArray[np.int64]]:
        """Return the indices that records have, and how many."""
        return self.points([range(self.cells.size)])

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """The number of records in every cell."""
        return quietly(self._count, self.failure)

    def _count(self) -> NDArray[np.int64]:
        # No constant is beyond the type: below its least number there is no record, and all are up to its largest.
        cuts = [edge for edge in self.cells.cuts if self.of.low < edge <= self.of.high]
        before = sum(edge <= self.of.low for edge in self.cells.cuts)
        below, totals = list[int](), set[int]()
        for start in range(0, max(len(cuts), 1), AT_ONCE):
            *some, total = cumulative_counts(
                self.rows, self.fetch, self.of, list(cuts[start : start + AT_ONCE])
            )
            below += some
            totals.add(total)
        after = self.cells.size - 1 - before - len(cuts)
        sizes = np.diff([0, *[0] * before, *below, *[max(totals)] * after, max(totals)])
        if len(totals) > 1 or (sizes < 0).any():
            raise UnreadableData("the data changed while they were read")
        return sizes.astype(np.int64)
