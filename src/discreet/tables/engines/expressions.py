"""Counting records by candidate, by privacy unit and by group, written once for every engine.

Values are joined with a table of constants of the column's own type, so equality is decided in that type. Rows
of a privacy unit are chosen by the rule of docs/how-to/user_level_privacy.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DiscreetError, InvalidArgument
from ...sampling.vectors import ExactArray
from ...selection.candidates import Grid, Labels
from ...selection.date_grid import CutCells, NumberCells
from ...selection.decimals import PointCells
from ..values.ids import check_unit
from ..values.kinds import CELL, INTEGER_TYPE, ColumnType
from ..values.meanings import Meanings, as_codes, meanings, positions
from ..values.numeric import StandIn, check_stand_in, unit_of
from .cells import GridSource, GridThresholds
from .engine_errors import quietly
from .grid_counts import Beside, CutCounts, GridCounts, counts_beside, places_of
from .index_counts import quick_counts
from .native import POSITION, SIZE, UNIT, Frame, Native
from .records import PART, PERSON, START, Records, check_numbers, is_of_unit

RANK, COUNT = "rank", "records"

_WORD = 2**63

MOST_IN_A_UNIT = 2**20
"""Up to so many pairs of a group and a candidate, those of one unit may be brought together."""


@dataclass(frozen=True)
class DrawnGroups:
    """The groups that were drawn, in an engine.

    Attributes:
        places: their places in their order, by the cells of PART, which holds keys.
        pairs: PERSON and PART of the units with their few groups, for which the groups were drawn; None if a row is
            a record.
    """

    places: Mapping[object, int]
    pairs: "Frame | None"


@dataclass(frozen=True)
class OpenedTable:
    """The columns of a query, opened in their engine.

    Attributes:
        native: the columns in their engine.
        names: their names in the table.
        records: the privacy unit, the contribution bounds and the groups.
        failure: the error to raise when the engine fails.
        drawn_groups: the groups, where they were drawn; the native columns have keys in PART then.
    """

    native: Native
    names: Mapping[str, str]
    records: Records
    failure: DiscreetError
    drawn_groups: DrawnGroups | None = None

    @property
    def groups(self) -> int:
        """How many groups answer; one where there are none."""
        return 1 if self.records.by is None else len(self.records.groups)

    def type(self, alias: str = CELL) -> ColumnType:
        """Return the type of a column."""
        return quietly(self.native.type, self.failure, alias, self.names[alias])

    def tally(self, candidates: Sequence[object]) -> list[list[int]]:
        """Return the records per candidate, by group."""
        values = self.meanings(CELL, candidates)
        places = positions(values)
        if not places:
            return [[0] * len(values) for _ in range(self.groups)]
        has_others = not (isinstance(candidates, Labels) and candidates.are_all)
        part, cell, count = quietly(self._count_positions, self.failure, places, has_others)
        counts = dict(zip(zip(part, cell, strict=True), count, strict=True))
        where = [places[means[0]] if means else -1 for means in values]
        return [[int(counts.get((g, place), 0)) for place in where] for g in range(self.groups)]

    def numbers(self, stand_in: StandIn | None = None, *, with_units: bool = False) -> "Numbers":
        """Return the numbers of the records, or integers for times or truths, bounded per unit and group.

        They are asked for several times. So the rows chosen of a unit are kept; unbounded
        rows are read anew. With units the rows have PERSON too.
        """
        if stand_in is not None:
            check_stand_in(self.type(), stand_in)
        numeric = quietly(self.native.numeric, self.failure, stand_in)
        if self.drawn_groups is not None:
            of_groups = numeric.type(PART, self.names[PART])
            numeric, _ = quietly(numeric.with_keys, self.failure, PART, of_groups)
        numeric_table = replace(self, native=numeric)
        of = numeric_table.type()
        if stand_in is not None:
            of = replace(of, unit=unit_of(self.type()))
        elif of.name != "object":
            check_numbers(of)
        rows = quietly(numeric_table._number_rows, self.failure, of, with_units=with_units)
        are_bounded = self.records.unit is not None or self.records.by is not None
        return Numbers(
            numeric, rows, of, self.failure, self.records.by is not None, are_bounded=are_bounded
        )

    def record_rows(self) -> Frame:
        """Return the rows with a privacy unit and a group, bounded in groups per unit."""
        rows = self._rows_of_groups()
        return self._in_few_groups(rows) if self.records.bounds_groups else rows

    def _rows_of_groups(self) -> Frame:
        """Return the rows with a privacy unit and a group, in all groups of a unit that are listed."""
        import narwhals.stable.v2 as nw

        for alias in self.names:
            of = self.type(alias)  # or it is refused
            if is_of_unit(alias):
                check_unit(of)
        rows = self.native.rows()
        if self.records.unit is not None:
            rows = rows.filter(~nw.col(PERSON).is_null())
        if self.records.draws_groups:
            return self._in_drawn_groups(rows)
        if self.records.by is not None:
            return self._with_positions(
                rows, PART, positions(self.meanings(PART, self.records.groups))
            )
        return rows

    def _in_drawn_groups(self, rows: Frame) -> Frame:
        """Return the rows of units in those groups for which they were counted when the groups were drawn.

        A unit's rows in other groups enter no answer: docs/how-to/groups.md.
        """
        import narwhals.stable.v2 as nw

        if self.drawn_groups is None:
            raise InvalidArgument("groups that are drawn have no rows before")
        rows = self._with_positions(rows, PART, self.drawn_groups.places)
        if self.drawn_groups.pairs is None or not self.drawn_groups.places:
            return rows
        of, places = self.type(PART), self.drawn_groups.places
        pairs = self.native.join_positions(self.drawn_groups.pairs, PART, of, places)
        places_of_units = pairs.select(PERSON, nw.col(POSITION).alias(PART))
        return rows.join(places_of_units, on=[PERSON, PART], how="inner")

    def meanings(self, alias: str, candidates: Sequence[object]) -> Meanings:
        """Return the values of a column that the candidates mean, as they are in the engine."""
        name = "group" if alias == PART else "candidate"
        values = meanings(candidates, self.type(alias), name)
        codes = self.native.codes.get(alias)
        return values if codes is None else as_codes(values, codes)

    def _with_positions(self, rows: Frame, alias: str, places: Mapping[object, int]) -> Frame:
        """Return the rows with one of those values, and its position in place of it."""
        import narwhals.stable.v2 as nw

        if not places:
            missing = nw.col(alias).is_null()
            return rows.filter(missing & ~missing).with_columns(nw.lit(0).alias(alias))
        others = [name for name in self._columns if name != alias]
        matches = self._at_places(rows, alias, places)
        return matches.select(*others, nw.col(POSITION).alias(alias))

    def _at_places(self, rows: Frame, alias: str, places: Mapping[object, int]) -> Frame:
        """Return the rows with one of those values in `alias`, None being no value, and its POSITION besides."""
        import narwhals.stable.v2 as nw

        of, native = self.type(alias), self.native
        values = {one: place for one, place in places.items() if one is not None}
        some = [native.join_positions(rows, alias, of, values)] if values else []
        if len(values) < len(places):
            place = nw.lit(places[None]).cast(nw.Int64).alias(POSITION)
            some.append(native.absent(rows, alias, of).with_columns(place))
        names = [*self._columns, POSITION]
        return some[0] if len(some) == 1 else nw.concat([one.select(*names) for one in some])

    @property
    def unit_type(self) -> ColumnType:
        """The type of PERSON in rows: that of its column; several are put together as text."""
        one = PERSON in self.names
        return self.type(PERSON) if one else ColumnType(PERSON, "text", "ids")

    @property
    def _columns(self) -> list[str]:
        """The names of the columns of rows."""
        there = {CELL: True, PERSON: self.records.unit is not None, PART: PART in self.names}
        return [*(alias for alias in there if there[alias]), *self.native.starts]

    def _count_positions(
        self, places: Mapping[object, int], has_others: bool
    ) -> tuple[list[int], list[int], list[int]]:
        """Return groups, positions and numbers of records, as three lists."""
        has_groups = self.records.by is not None or self.records.draws_groups
        if self.records.unit is None and not has_groups and None not in places:
            tally = self.native.tally_places(self.type(), places, has_others=has_others)
            if tally is not None:
                return [0] * len(tally[0]), *tally
        counts = self._count_in_few_groups(places)
        if counts is None:
            rows = self._at_places(self.record_rows(), CELL, places)
            counts = self.count_records(rows)
        columns = self.native.fetch(counts, INTEGER_TYPE)
        cell, *part, count = (column.tolist() for column in columns)
        return (part[0] if part else [0] * len(cell)), cell, count

    def _count_in_few_groups(self, places: Mapping[object, int]) -> "Frame | None":
        """Return the numbers of units by POSITION and group, where the engine bounds their groups without ranks."""
        import narwhals.stable.v2 as nw

        records = self.records
        # At most so many pairs has one unit, which is public.
        in_a_unit = len(records.groups) * len(places)
        if not records.bounds_groups or in_a_unit > MOST_IN_A_UNIT or None in places:
            return None
        most = records.most_groups, records.most_candidates
        rows = self._rows_of_groups()
        pairs = self.native.few_groups(rows, self.type(), places, self.unit_type, most)
        if pairs is None:
            return None
        return pairs.group_by(POSITION, PART).agg(nw.len().alias(COUNT))

    def count_records(self, rows: Frame) -> Frame:
        """Return the numbers of records by POSITION, and by group where there are groups: of rows, or of units."""
        import narwhals.stable.v2 as nw

        keys = [POSITION] if self.records.by is None else [POSITION, PART]
        if self.records.unit is not None:
            rows = self._distinct_candidates(rows, keys)
        return rows.group_by(*keys).agg(nw.len().alias(COUNT))

    def sizes(self, rows: Frame) -> list[int]:
        """Return the numbers of records by group: of rows, or of units."""
        import narwhals.stable.v2 as nw

        keys = [] if self.records.by is None else [PART]
        if self.records.unit is not None:
            rows = rows.group_by(*keys, PERSON).agg()
        if not keys:
            [[size]] = self.native.fetch(rows.select(nw.len().alias(COUNT)), INTEGER_TYPE)
            return [int(size)]
        sizes = rows.group_by(PART).agg(nw.len().alias(COUNT))
        groups, numbers = (column.tolist() for column in self.native.fetch(sizes, INTEGER_TYPE))
        by_group = dict(zip(groups, numbers, strict=True))
        return [int(by_group.get(group, 0)) for group in range(self.groups)]

    def _distinct_candidates(self, rows: Frame, keys: list[str]) -> Frame:
        """Return the distinct candidates of units, at most so many of a unit as may count, in every group."""
        most = self.records.most_candidates
        if most is None:
            return rows.group_by(*keys, PERSON).agg()  # `unique` would rank rows
        # "For which candidates a person counts" in docs/how-to/user_level_privacy.md.
        once = self._with_units(rows.group_by(*keys, PERSON, *self.native.starts).agg(), most)
        return _stay(once, POSITION, [UNIT, *keys[1:]], most)

    def _in_few_groups(self, rows: Frame) -> Frame:
        """Return the rows with a bounded number of groups per unit."""
        # "In which groups a person counts" in docs/how-to/groups.md.
        most = self.records.most_groups
        once = self._with_units(rows.group_by(PERSON, PART, *self.native.starts).agg(), most)
        staying = _stay(once, PART, [UNIT], most).select(PERSON, PART)
        return rows.join(staying, on=[PERSON, PART], how="inner")

    def _number_rows(self, of: ColumnType, *, with_units: bool) -> Frame:
        """Return the rows that hold a number, bounded per unit and group."""
        rows = self.native.present(self.record_rows(), of)
        groups = [] if self.records.by is None else [PART]
        columns = [CELL, *groups, *([PERSON] if with_units else [])]
        if self.records.unit is None or self.records.rows is None:
            unbounded = rows.select(*columns)
            return unbounded if self.drawn_groups is None else self.native.keep(unbounded)
        blocks = [UNIT, *groups]
        most = self.records.rows
        stay = _stay(self._with_units(rows, most), CELL, blocks, most)
        return self.native.keep(stay.select(*columns))

    def _with_units(self, rows: Frame, most: int) -> Frame:
        """Return the rows with UNIT, START and SIZE of their privacy unit, of which at most so many will stay."""
        return join_units(self.native, rows, self.unit_type, most)


@dataclass(frozen=True)
class Numbers:
    """Numbers in an engine, with their groups if there are any."""

    native: Native
    rows: Frame
    of: ColumnType
    failure: DiscreetError
    has_groups: bool
    are_bounded: bool = True
    """Whether rows were left out besides those without a number."""

    def on_grid(self, group: int, grid: NumberCells) -> GridSource | None:
        """Return the numbers of a group as counts on a grid.

        None if the grid is too fine or too far for the column's type, which is public.
        """
        if isinstance(grid, CutCells):
            return self._between_cuts(group, grid) if self._comparable else None
        if isinstance(grid, PointCells):  # the keys of what is between two points are odd
            thresholds = GridThresholds(grid.decimals, self.of, 0.5)
        else:
            thresholds = GridThresholds(grid, self.of)
        if not (self._comparable and thresholds.serves):
            return None
        native = self.native
        counts = GridCounts(
            self._of_group(group), thresholds, native.fetch, self.failure, native.divides
        )
        return counts if self.are_bounded else quick_counts(self.native, counts)

    def _between_cuts(self, group: int, cells: CutCells) -> CutCounts:
        """Return the numbers of a group as counts between cuts."""
        return CutCounts(self._of_group(group), self.of, self.native.fetch, cells, self.failure)

    def beside(self, group: int, numbers: Iterable[Any]) -> Beside | None:
        """Return how many records of a group are below and above some numbers."""
        if not self._comparable:
            return None
        rows = self._of_group(group)
        exact = list(
            map(Fraction, numbers.tolist() if isinstance(numbers, np.ndarray) else numbers)
        )
        return quietly(counts_beside, self.failure, rows, self.native.fetch, self.of, exact)

    def distinct(self, group: int) -> tuple[ExactArray, NDArray[np.int64]]:
        """Return the distinct numbers of a group, and their counts."""
        cells, counts = self._distinct_cells(self._of_group(group))
        return self._values(cells), counts

    def with_indices(self, grid: Grid) -> tuple[Frame, int]:
        """Return PERSON and PART of rows with the index of the nearest point as POSITION, and how many rows."""
        thresholds = GridThresholds(grid, self.of)
        join, others = self.native.join_positions, [PERSON, *([PART] if self.has_groups else [])]
        if self._comparable and thresholds.serves:
            native = self.native
            counts = GridCounts(self.rows, thresholds, native.fetch, self.failure, native.divides)
            return quietly(counts.with_indices, self.failure, join, others)
        cells, counts_of_cells = self._distinct_cells(self.rows)
        places = places_of(self.of, cells, grid.nearest(self._values(cells)))
        rows = quietly(join, self.failure, self.rows, CELL, self.of, places)
        return rows.select(*others, POSITION), int(counts_of_cells.sum())

    def _distinct_cells(self, rows: Frame) -> tuple[ExactArray, NDArray[np.int64]]:
        """Return the distinct cells of some rows, and their counts."""
        import narwhals.stable.v2 as nw

        groups = rows.group_by(CELL).agg(nw.len().alias(COUNT))
        cells, counts = quietly(self.native.fetch, self.failure, groups, self.of)
        return cells, counts.astype(np.int64)

    def _values(self, cells: ExactArray) -> ExactArray:
        """Return the numbers of cells, for which integers may stand."""
        codes = self.native.code_values
        return cells if codes is None else codes[cells]

    @property
    def _comparable(self) -> bool:
        return compares(self.native, self.of)

    def _of_group(self, group: int) -> Frame:
        import narwhals.stable.v2 as nw

        return (
            self.rows.filter(nw.col(PART) == group).select(CELL) if self.has_groups else self.rows
        )


def bounded_pairs(table: OpenedTable, native: Native, alias: str, most_keys: int) -> Frame:
    """Return the records with a key: rows, or privacy units with at most so many keys.

    Of a unit they come with SIZE, the number of its distinct keys, those that do not stay too.

    Args:
        table: the table.
        native: its columns with keys in one of them, null for no key.
        alias: the column of keys.
        most_keys: the most keys in which one unit counts. Of its distinct keys, in their order, those stay that the
            rule of docs/how-to/user_level_privacy.md says.
    """
    import narwhals.stable.v2 as nw

    rows = native.rows().filter(~nw.col(alias).is_null())
    if table.records.unit is None:
        return rows.select(alias)
    check_unit(table.unit_type)
    rows = rows.filter(~nw.col(PERSON).is_null())
    once = rows.group_by(PERSON, alias, *native.starts).agg()
    pairs = join_units(native, once, table.unit_type, most_keys)
    return _stay(pairs, alias, [UNIT], most_keys).select(PERSON, alias, SIZE)


def join_units(native: Native, rows: Frame, of: ColumnType, most: int) -> Frame:
    """Return the rows with UNIT, START and SIZE of their privacy unit, of which at most so many will stay."""
    by_windows = native.with_units(rows, of, most)
    if by_windows is not None:
        return by_windows
    units = native.units(rows, of)
    without = rows.drop(*native.starts) if native.starts else rows
    return without.join(units, on=PERSON, how="inner")


def compares(native: Native, of: ColumnType) -> bool:
    """Return whether an engine compares the numbers of a column with constants."""
    words = of.kind != "integer" or (of.low >= -_WORD and of.high < _WORD)
    return CELL not in native.codes and (words or native.wide)


def _stay(rows: Frame, of: str, blocks: list[str], most: int) -> Frame:
    """Return at most `most` rows of every block, evenly spread: docs/how-to/user_level_privacy.md.

    Blocks of UNIT alone have SIZE rows, which is known; others are counted by a second window.

    Of m rows the one at rank j stays if (j * most + start) % m < most: all if m <= most, else exactly
    `most` of them, as the sum of `most` steps round a circle of m passes 0 that often.
    """
    import narwhals.stable.v2 as nw

    # "It keeps min(k, m) rows" and "It looks at one user at a time" in docs/how-to/user_level_privacy.md.
    # Coq: CountsPerUnit.kept_rows, CountsPerUnit.bounded_table
    rank = (nw.col(of).rank("ordinal").over(*blocks) - 1).cast(nw.Int64)
    with_ranks = rows.with_columns(rank.alias(RANK))
    if blocks != [UNIT]:
        with_ranks = with_ranks.with_columns(nw.len().over(*blocks).cast(nw.Int64).alias(SIZE))
    return with_ranks.filter((nw.col(RANK) * most + nw.col(START)) % nw.col(SIZE) < most)
