"""How many cells of a column fit its declaration, record by record."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from ...selection.candidates import Labels, is_missing
from ...selection.date_grid import ClockKind
from ..values.kinds import (
    CELL,
    INTEGER_TYPE,
    ColumnType,
    is_written,
    key,
    nearest_float,
    represent,
)
from ..values.meanings import positions
from .engine_errors import quietly
from .expressions import OpenedTable, compares
from .grid_counts import between
from .native import SIZE, Frame, lazy
from .records import PERSON, START, UNREAD, check_numbers

CLOCK_OF_DATES: ClockKind = "naive"
"""The clock of a column of dates in a text file: they have no offset."""

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


@dataclass(frozen=True, slots=True)
class CellCounts:
    """How many cells of a column are in each of five classes: each record's cell is in one. Private.

    Attributes:
        fits: cells that fit the declaration.
        out_of_range: cells of the declared type, beyond its bounds or none of its values.
        other_type: cells that are no value of the declared type.
        missing: null or NaN, or an empty field of a text file where '' is no candidate.
        unreadable: fields of a text file that no text can be read from.
    """

    fits: int
    out_of_range: int
    other_type: int
    missing: int
    unreadable: int = 0

    @property
    def misfits(self) -> int:
        """How many cells can be read, are not missing, and do not fit."""
        return self.out_of_range + self.other_type

    @property
    def records(self) -> int:
        """How many cells there are: one for each record."""
        return self.fits + self.misfits + self.missing + self.unreadable


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
    order of the classes of `CellCounts`, those stay that the rule of docs/how-to/user_level_privacy.md keeps. So a
    unit that comes or goes changes the counts by at most `rows` together; a row, where it is a record, changes one
    of them by 1.
    """

    table: OpenedTable
    _kept: list[OpenedTable] = field(default_factory=list, init=False, repr=False)
    """The table with its numbers, once they are asked for: their rows are there as long as it is."""

    @property
    def of(self) -> ColumnType:
        """The type of the column."""
        return self.table.type()

    def places_of(self, labels: Labels) -> Mapping[object, int]:
        """Return the values in the engine that count for one of some values.

        Raises:
            InvalidCandidates: as the verbs that count them do.
        """
        return positions(self.table.meanings(CELL, labels))

    def places_where(self, accept: Callable[[object], bool]) -> Mapping[object, int]:
        """Return the values in the engine that a function accepts. Distinct values come to memory."""
        native, of = self.table.native, self.of
        codes, places = native.codes.get(CELL), dict[object, int]()
        for value in quietly(native.values, self.table.failure, of):
            if not is_missing(value) and accept(value):
                exact = represent(value, of) if codes is None else codes.get(key(value))
                places.setdefault(exact, len(places))
        places.pop(None, None)
        return places

    def number_rows(self, low: Fraction | None, high: Fraction | None) -> "Frame | None":
        """Return the rows with numbers from one bound to another; None is no bound.

        A bound means what a declared number means. Return None where the engine cannot compare the numbers with it.

        Raises:
            UnreadableData: if it is no column of numbers.
        """
        if not self._kept:
            numeric = quietly(self.table.native.numeric, self.table.failure)
            self._kept.append(replace(self.table, native=numeric))
        [table] = self._kept
        numeric, of = table.native, table.type()
        if of.kind != "anything":
            check_numbers(of)
        if not compares(numeric, of):
            return None
        rows = numeric.present(table.record_rows(), of)
        return between(rows, of, column_bound(low, of), column_bound(high, of))

    def present_rows(self, *, empty: bool = False) -> Frame:
        """Return the rows with a cell that is not missing; with `empty`, an empty text may be a value."""
        return quietly(self._present, self.table.failure, empty=empty)

    def rows_among(self, places: Mapping[object, int]) -> Frame:
        """Return the rows with some values of the column."""
        import narwhals.stable.v2 as nw

        rows = self.table.record_rows()
        if places:
            return self.table.native.join_positions(rows, CELL, self.of, places)
        missing = nw.col(CELL).is_null()
        return rows.filter(missing & ~missing)

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

    def count(self, fitting: Frame, of_type: Frame, *, empty: bool = False) -> CellCounts:
        """Return the counts.

        Args:
            fitting: the rows with a cell that fits.
            of_type: those with a cell of the declared type; all that fit are among them.
            empty: whether an empty text is a value.
        """
        outer = [
            of_type,
            self.present_rows(empty=empty),
            self._readable(),
            self.table.record_rows(),
        ]
        return CellCounts(*quietly(self._sizes, self.table.failure, [fitting], outer))

    def _readable(self) -> Frame:
        """Return the rows with a cell that can be read: of a CSV file null stands for one that cannot.

        Of JSON null stands for one that is missing, too, and a column of its own tells them apart.
        """
        import narwhals.stable.v2 as nw

        rows, of = self.table.record_rows(), self.of
        if is_written(of) and of.name == "CSV":
            return self.table.native.present(rows, of)
        is_kept = is_written(of) and UNREAD in rows.collect_schema().names()
        return rows.filter(nw.col(UNREAD) == "") if is_kept else rows

    def kinds(self) -> CellKinds:
        """Return how many cells of a text file spell numbers, spell dates, spell neither, and are missing."""
        return CellKinds(*quietly(self._count_kinds, self.table.failure))

    def of_kind(self, clock: ClockKind | None) -> CellCounts:
        """Return the counts where numbers fit, or the times of a clock: those that questions about them read."""
        numeric = quietly(self.table.native.numeric, self.table.failure, clock)
        table = replace(self.table, native=numeric)
        fitting = numeric.present(table.record_rows(), table.type())
        return self.count(fitting, fitting)

    def spanning(self) -> int:
        """Return how many cells say so: of `KeptColumns.spanning`, or `comments`."""
        import narwhals.stable.v2 as nw

        rows = self.table.record_rows()
        some = rows.filter(nw.col(CELL) != "")
        return quietly(self._sizes, self.table.failure, [some], [rows])[0]

    def every_one(self) -> CellCounts:
        """Return the counts where all cells fit that are not missing."""
        present = self.present_rows()
        return self.count(present, present)

    def _count_kinds(self) -> list[int]:
        """Return the counts of cells by the types that they spell: no text spells a number and a date."""
        # Their rows are kept as long as these are.
        tables = [
            replace(self.table, native=self.table.native.numeric(clock))
            for clock in (None, CLOCK_OF_DATES)
        ]
        rows = [table.native.present(table.record_rows(), table.type()) for table in tables]
        return self._sizes(rows, [self.present_rows(), self.table.record_rows()])

    def _sizes(self, classes: Sequence[Frame], outer: Sequence[Frame]) -> list[int]:
        """Return how many cells are in several disjoint classes, and in the rest of every outer frame.

        Args:
            classes: the rows of the classes.
            outer: rows that hold all before them, the last of them all records.
        """
        import narwhals.stable.v2 as nw

        if self.table.records.unit is not None:
            ends = self._fetch_integers(self._staying(classes, outer))
        else:
            sizes = [
                self._fetch_integers(frame.select(nw.len().alias(SIZE)))[0]
                for frame in (*classes, *outer)
            ]
            inner = len(classes)
            ends = [*accumulate(sizes[:inner]), *sizes[inner:]]
        return [end - start for start, end in pairwise([0, *ends])]

    def _staying(self, classes: Sequence[Frame], outer: Sequence[Frame]) -> Frame:
        """Return how many cells stay of the first class, of the first two, and so on to all, in one row."""
        import narwhals.stable.v2 as nw

        units = self.table.native.units(outer[-1], self.table.unit_type)
        frames = (*classes, *outer[:-1])
        for place, frame in enumerate(frames):
            sizes = frame.group_by(PERSON).agg(nw.len().alias(f"cells{place}"))
            units = units.join(sizes, on=PERSON, how="left")
        size = nw.col(SIZE).cast(nw.Int64)
        cells = [nw.col(f"cells{i}").fill_null(0).cast(nw.Int64) for i in range(len(frames))]
        inner = len(classes)
        ends = [*accumulate(cells[:inner]), *cells[inner:], size]
        # Should the rows differ from one query to the next, a unit still adds no more than it may.
        within = list(accumulate(reversed(ends), nw.min_horizontal))[::-1]
        stay = {
            f"end{place}": _stay_up_to(end, size, self.table.records.rows or 1)
            for place, end in enumerate(within)
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
