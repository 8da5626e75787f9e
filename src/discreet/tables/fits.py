"""How many cells of a column fit its declaration, record by record."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from ..candidates import Labels
from ..date_grid import ClockKind
from .engine_errors import quietly
from .expressions import OpenedTable, compares
from .grid_counts import between
from .kinds import CELL, INTEGER_TYPE, ColumnType, is_missing, key, nearest_float, represent
from .meanings import is_written, positions
from .native import SIZE, Frame, lazy
from .records import PERSON, START, check_numbers

CLOCK_OF_DATES: ClockKind = "naive"
"""The clock of a column of dates in a text file: they have no offset."""

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


@dataclass(frozen=True, slots=True)
class CellCounts:
    """How many cells fit a declaration, do not, and are missing. Private.

    A cell is missing if it is null or NaN, or an empty field of a text file where '' is no candidate.
    """

    fits: int
    misfits: int
    missing: int


@dataclass(frozen=True, slots=True)
class CellKinds:
    """How many cells of a text file spell numbers, spell dates, spell neither, and are missing. Private."""

    numbers: int
    dates: int
    texts: int
    missing: int


@dataclass(frozen=True, slots=True)
class DeclaredCells:
    """The cells of a column, to be compared with a declaration. Private; a method reads them when it is called.

    Where the records of the table have a unit, at most `rows` cells of each unit count, whatever they hold: in the
    order of those that fit, do not, and are missing, those stay that the rule of docs/how-to/user_level_privacy.md
    keeps. So a unit that comes or goes changes the three counts by at most `rows` together; a row, where it is a
    record, changes one of them by 1.
    """

    table: OpenedTable

    @property
    def of(self) -> ColumnType:
        """The type of the column."""
        return self.table.type()

    def values(self, labels: Labels) -> CellCounts:
        """Return the counts where values are declared: cells fit that count for one of them.

        Raises:
            InvalidCandidates: as the verbs that count them do.
        """
        return self._among(positions(self.table.meanings(CELL, labels)))

    def by_predicate(self, accept: Callable[[object], bool]) -> CellCounts:
        """Return the counts of the cells with values that a function accepts. Distinct values come to memory."""
        native, of = self.table.native, self.of
        codes, places = native.codes.get(CELL), dict[object, int]()
        for value in quietly(native.values, self.table.failure, of):
            if not is_missing(value) and accept(value):
                exact = represent(value, of) if codes is None else codes.get(key(value))
                places.setdefault(exact, len(places))
        places.pop(None, None)
        return self._among(places)

    def every_one(self) -> CellCounts:
        """Return the counts where all cells fit that are not missing."""
        return self._count(self._present(empty=False), empty=False)

    def numbers(self, low: Fraction | None, high: Fraction | None) -> CellCounts | None:
        """Return the counts where numbers fit from one bound to another; None is no bound.

        A bound means what a declared number means. Return None where the engine cannot compare the numbers with it.

        Raises:
            UnreadableData: if it is no column of numbers.
        """
        numeric = quietly(self.table.native.numeric, self.table.failure)
        table = replace(self.table, native=numeric)
        of = table.type()
        if of.kind != "anything":
            check_numbers(of)
        if not compares(numeric, of):
            return None
        rows = numeric.present(table.record_rows(), of)
        return self._count(
            between(rows, of, column_bound(low, of), column_bound(high, of)), empty=False
        )

    def present_rows(self) -> Frame:
        """Return the rows with a cell that is not missing."""
        return quietly(self._present, self.table.failure, empty=False)

    def _among(self, places: Mapping[object, int]) -> CellCounts:
        """Return the counts where some values of the column fit."""
        import narwhals.stable.v2 as nw

        rows = self.table.record_rows()
        if not places:
            missing = nw.col(CELL).is_null()
            return self._count(rows.filter(missing & ~missing), empty=False)
        fitting = self.table.native.join_positions(rows, CELL, self.of, places)
        return self._count(fitting, empty=is_written(self.of) and "" in places)

    def _present(self, *, empty: bool) -> Frame:
        """Return the rows with a cell that is not missing; in a text file an empty one may be a value."""
        import narwhals.stable.v2 as nw

        native, rows = self.table.native, self.table.record_rows()
        codes = native.codes.get(CELL)
        if codes is not None:
            nothing = [code for (_, value), code in codes.items() if is_missing(value)]
            other = nw.col(CELL).is_null()  # what nothing equals, not even itself
            return rows.filter(other | ~nw.col(CELL).is_in(nothing)) if nothing else rows
        present = native.present(rows, self.of)
        if empty or not is_written(self.of):
            return present
        nonempty: Frame = lazy(present.to_native().filter(f"octet_length({CELL}) > 0"))  # in DuckDB
        return nonempty

    def _count(self, fitting: Frame, *, empty: bool) -> CellCounts:
        """Return the counts, given the rows with a cell that fits."""
        fits, misfits, missing = quietly(self._sizes, self.table.failure, [fitting], empty)
        return CellCounts(fits, misfits, missing)

    def kinds(self) -> CellKinds:
        """Return how many cells of a text file spell numbers, spell dates, spell neither, and are missing."""
        return CellKinds(*quietly(self._count_kinds, self.table.failure))

    def of_kind(self, clock: ClockKind | None) -> CellCounts:
        """Return the counts where numbers fit, or the times of a clock: those that questions about them read."""
        numeric = quietly(self.table.native.numeric, self.table.failure, clock)
        table = replace(self.table, native=numeric)
        return self._count(numeric.present(table.record_rows(), table.type()), empty=False)

    def _count_kinds(self) -> list[int]:
        """Return the counts of cells by the types that they spell: no text spells a number and a date."""
        # Their rows are kept as long as these are.
        tables = [
            replace(self.table, native=self.table.native.numeric(clock))
            for clock in (None, CLOCK_OF_DATES)
        ]
        rows = [table.native.present(table.record_rows(), table.type()) for table in tables]
        return self._sizes(rows, empty=False)

    def _sizes(self, classes: Sequence[Frame], empty: bool) -> list[int]:
        """Return how many cells are in several disjoint classes, in none, and are missing."""
        import narwhals.stable.v2 as nw

        frames = [*classes, self._present(empty=empty), self.table.record_rows()]
        if self.table.records.unit is not None:
            ends = self._fetch_integers(self._staying(frames))
            return [end - start for start, end in pairwise([0, *ends])]
        *sizes, present, cells = (
            self._fetch_integers(frame.select(nw.len().alias(SIZE)))[0] for frame in frames
        )
        return [*sizes, present - sum(sizes), cells - present]

    def _staying(self, frames: Sequence[Frame]) -> Frame:
        """Return how many cells stay of the first class, of the first two, and so on to all, in one row."""
        import narwhals.stable.v2 as nw

        *classes, present, rows = frames
        units = self.table.native.units(rows, self.table.unit_type)
        names = [*(f"class{place}" for place in range(len(classes))), "present"]
        for name, frame in zip(names, (*classes, present), strict=True):
            sizes = frame.group_by(PERSON).agg(nw.len().alias(name))
            units = units.join(sizes, on=PERSON, how="left")
        size = nw.col(SIZE).cast(nw.Int64)
        cells = [nw.col(name).fill_null(0).cast(nw.Int64) for name in names]
        # Should the rows differ from one query to the next, a unit still adds no more than it may.
        nonmissing = nw.min_horizontal(cells.pop(), size)
        ends = [nw.min_horizontal(end, nonmissing) for end in accumulate(cells)]
        stay = {
            f"end{place}": _stay_up_to(end, size, self.table.records.rows or 1)
            for place, end in enumerate([*ends, nonmissing, size])
        }
        sums_by_unit = units.select(*(end.alias(name) for name, end in stay.items()))
        sums = sums_by_unit.select(*(nw.col(name).sum().cast(nw.Int64) for name in stay))
        return sums.select(*(nw.col(name).fill_null(0) for name in stay))

    def _fetch_integers(self, rows: Frame) -> list[int]:
        """Return the integers of one row."""
        return [int(column[0]) for column in self.table.native.fetch(rows, INTEGER_TYPE)]


def column_bound(bound: Fraction | None, of: ColumnType) -> Fraction | None:
    """Return a bound as the number of the column's type that it means, if there is one."""
    value = nearest_float(bound, of) if bound is not None and of.kind == "float" else None
    return bound if value is None else Fraction(value)


def _stay_up_to(cells: "nw.Expr", size: "nw.Expr", most: int) -> "nw.Expr":
    """Return how many of the first cells of a unit stay, of as many as it has, if at most `most` do.

    The one at rank j stays if (j k + start) mod size < k, with k = min(most, size): as often as a multiple of the
    size is in (j k + start - k, j k + start], so the sum over the first ranks telescopes.
    """
    import narwhals.stable.v2 as nw

    each = nw.when(size < most).then(size).otherwise(nw.lit(most)).cast(nw.Int64)
    first = nw.col(START).cast(nw.Int64) + size - each
    last = first + cells * each
    # Coq: CountsPerUnit.stays_of_first
    multiples = (last - last % size) - (first - first % size)
    return (multiples / size).cast(nw.Int64)
