"""How many records a table has by group, and the records of one group in one column, read when a score asks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ...base.cached_properties import cached_property
from ...errors import InvalidArgument, NotCountable, UnreadableData
from ...privacy.sensitivity import columns_of_unit
from ...sampling.vectors import ExactArray, integers
from ...selection.any_column import AnyColumn
from ...selection.bins import CellColumns, CellLabels
from ...selection.candidates import Labels
from ...selection.date_grid import NumberCells, TimeUnit
from ..formats.file_paths import names_files, refuse_mixture
from ..values.key_values import KeyValue
from ..values.meanings import Rungs, rungs
from ..values.numeric import StandIn, numeric_values, present_as
from .candidate_table import CountClasses, Ranking
from .cells import GridSource
from .engine import array_of, cell_uses, open_table, unwrap_table
from .engine_errors import quietly
from .expressions import Numbers, OpenedTable
from .files import open_columns
from .fits import DeclaredCells
from .grid_counts import Beside
from .key_counts import KeyCounts, open_keys
from .records import PART, Records
from .server_session import ServerRows

Rows = tuple[ExactArray, NDArray[np.int64] | None]
"""Numbers, with their multiplicities (None: all one)."""


class Countable(Protocol):
    """The records of one group in one column. Private; no row is read before a call."""

    def count(self, candidates: Sequence[object]) -> Sequence[int]:
        """Return the number of records of every candidate."""
        ...

    def classes(self, ranking: Ranking) -> CountClasses:
        """Return the candidates of a public table in classes of equal counts."""
        ...


class Numeric(Protocol):
    """The numbers of one group in one column. Private; no row is read before a call."""

    def numbers(self) -> Rows:
        """Return the numbers of the records."""
        ...

    @property
    def unit(self) -> TimeUnit:
        """The unit of the integers that stand for times, where the numbers are such."""
        ...

    def on_grid(self, grid: NumberCells) -> GridSource | None:
        """Return the records as counts on a grid, None where they must be brought to memory."""
        ...

    def rungs(self, labels: Labels) -> Rungs:
        """Return the numbers that labels mean in this column."""
        ...

    def beside(self, numbers: Iterable[Any]) -> Beside | None:
        """Return how many records are below and above some numbers; None where they must be brought to memory."""
        ...


class Source:
    """A table and the columns of a query, opened once for all groups."""

    def __init__(
        self,
        data: object,
        column: AnyColumn,
        records: Records | None = None,
        stand_in: StandIn | None = None,
        table: OpenedTable | None = None,
    ) -> None:
        """Remember the arguments; see `engine.open_table`. With a stand-in numbers are integers for others.

        Args:
            data: the table.
            column: the column that is counted; None for data of one dimension.
            records: the privacy unit, the contribution bounds and the groups.
            stand_in: what integers stand for, the times of a clock or truths; None for numbers.
            table: the table, where it was opened already.

        `unit_totals` are the sums of units' clipped totals by group, once they were read: see `sums`.
        """
        self._argument, self.name, self.records = data, column, records or Records()
        self.stand_in, self._table = stand_in, table
        self._tally: tuple[object, list[list[int]]] | None = None
        self._classes: tuple[object, Sequence[CountClasses]] | None = None
        self._sizes: dict[bool, list[int]] = {}
        self.unit_totals: list[int] | None = None

    @property
    def groups(self) -> list["Group"]:
        """The groups; one of all records where there are none."""
        return [Group(self, i) for i in range(len(self.records.groups) or 1)]

    @cached_property
    def data(self) -> Any:
        """The table itself: of a query, the rows that it selects."""
        return unwrap_table(self._argument)

    @cached_property
    def table(self) -> OpenedTable:
        """The table, opened."""
        if self._table is not None:
            return self._table
        return open_table(self.data, self.name, self.records)

    @cached_property
    def group_keys(self) -> KeyCounts:
        """The groups by their numbers of records, where they are drawn."""
        of = self.records
        return open_keys(self.table, PART, of.most_groups, keeps_pairs=of.unit is not None)

    def drawn_groups(self, keys: Sequence[KeyValue]) -> list["Group"]:
        """Return the groups that were drawn, in their order; without any one group without rows."""
        table = self.group_keys.groups_of(keys)
        return Source(self.data, self.name, table.records, self.stand_in, table).groups

    @cached_property
    def bounded(self) -> Numbers:
        """The numbers of all groups in their engine."""
        return self.table.numbers(self.stand_in)

    @cached_property
    def array(self) -> NDArray[Any] | None:
        """The numbers as one array, where the rows are in memory and a row is a record."""
        if (self.records.unit, self.records.by, self.records.where, self.stand_in) != (None,) * 4:
            return None
        if self.name is None:
            return numeric_values(self.data)
        if not isinstance(self.name, str | int):
            return None
        return array_of(self.data, self.name)

    def tally(self, candidates: Sequence[object]) -> list[list[int]]:
        """Return the records per candidate, by group."""
        if self._tally is None or self._tally[0] is not candidates:
            self._tally = candidates, self._table_for(candidates).tally(candidates)
        return self._tally[1]

    def _table_for(self, candidates: Sequence[object]) -> OpenedTable:
        """Return the table, its cells read as candidates are: texts, or numbers and dates in the form of a file."""
        with_null = isinstance(candidates, CellLabels) and candidates.have_null
        is_read_so = with_null or cell_uses(self.data, self.name, candidates)
        if self._table is not None or not is_read_so:
            return self.table
        return open_table(self.data, self.name, self.records, candidates)

    def sizes(self, *, present: bool) -> list[int]:
        """Return the numbers of records by group; with `present` of those with a value in the column alone."""
        if present not in self._sizes:
            self._sizes[present] = sizes_of(self.table, present=present)
        return self._sizes[present]

    def classes(self, ranking: Ranking) -> Sequence[CountClasses]:
        """Return the candidates of a public table in classes of equal counts, by group."""
        if self._classes is None or self._classes[0] is not ranking:
            self._classes = ranking, ranking.classes(self.table)
        return self._classes[1]


@dataclass(frozen=True, slots=True, repr=False)
class Group:
    """The records of one group of a source."""

    source: Source
    index: int

    def count(self, candidates: Sequence[object]) -> list[int]:
        """Return the number of records of every candidate."""
        return self.source.tally(candidates)[self.index]

    def size(self, *, present: bool) -> int:
        """Return the number of records; with `present` of those with a value in the column alone."""
        return self.source.sizes(present=present)[self.index]

    def classes(self, ranking: Ranking) -> CountClasses:
        """Return the candidates of a public table in classes of equal counts."""
        return self.source.classes(ranking)[self.index]

    def numbers(self) -> Rows:
        """Return the numbers of the records."""
        array = self.source.array
        return self.source.bounded.distinct(self.index) if array is None else (array, None)

    @property
    def unit(self) -> TimeUnit:
        """The unit of the integers that stand for times, by the type of the column."""
        return "ns" if self.source.bounded.of.unit == "ns" else "us"

    def on_grid(self, grid: NumberCells) -> GridSource | None:
        """Return the records as counts on a grid, None where they must be brought to memory."""
        if self.source.array is not None:
            return None
        return self.source.bounded.on_grid(self.index, grid)

    def rungs(self, labels: Labels) -> Rungs:
        """Return the numbers that labels mean, by the type of the column."""
        source = self.source
        if not labels.is_declared or source.name is None:
            return rungs(labels)
        return rungs(labels, source.bounded.of if source.array is None else source.table.type())

    def beside(self, numbers: Iterable[Any]) -> Beside | None:
        """Return how many records are below and above some numbers; None where they must be brought to memory."""
        if self.source.array is not None:
            return None
        return self.source.bounded.beside(self.index, numbers)


@dataclass(frozen=True, slots=True, repr=False)
class ArrayColumn:
    """Numbers in an array, with their multiplicities (None: all one)."""

    values: ExactArray
    counts: NDArray[np.int64] | None = None
    unit: TimeUnit = "us"

    def numbers(self) -> Rows:
        """Return the numbers."""
        return self.values, self.counts

    def on_grid(self, grid: NumberCells) -> None:
        """Return None: they are in memory."""

    def rungs(self, labels: Labels) -> Rungs:
        """Return the numbers of a list as they are: there is no type."""
        return rungs(labels)

    def beside(self, numbers: Iterable[Any]) -> None:
        """Return None: they are in memory."""


def _read_multiplicity(number: object) -> int:
    """Return how often a value occurs, of any size, as an integer of Python."""
    if not isinstance(number, bool) and isinstance(number, Integral):
        times = int(number)
        if times >= 0:
            return times
    raise UnreadableData("the counts of a histogram must be whole numbers of at least 0")


@dataclass(frozen=True, slots=True, repr=False)
class Histogram:
    """Numbers in a mapping from values to how often they occur."""

    mapping: Mapping[object, object]
    stand_in: StandIn | None = None
    unit: ClassVar[TimeUnit] = "ns"

    def numbers(self) -> Rows:
        """Return the values that are not missing, and their counts."""
        counts = [_read_multiplicity(n) for n in self.mapping.values()]
        values = list(self.mapping)
        there, numbers = present_as(values, self.stand_in)
        return numbers, integers([counts[i] for i in np.flatnonzero(there)])

    def on_grid(self, grid: NumberCells) -> None:
        """Return None: they are in memory."""

    def rungs(self, labels: Labels) -> Rungs:
        """Return the numbers of a list as they are: there is no type."""
        return rungs(labels)

    def beside(self, numbers: Iterable[Any]) -> None:
        """Return None: they are in memory."""


NOTHING = ArrayColumn(np.zeros(0))
"""A column without records, for what is public about a score."""


@dataclass(frozen=True, slots=True, repr=False)
class RecordCounts:
    """The numbers of records of a table. Private; no data are opened before a call.

    Attributes:
        data: the table.
        column: the column in which a record must have a value: a row that is neither null nor NaN there, nor an
            empty field of a text file; a unit has one such row. None if every record counts.
        records: the privacy unit and the groups.
    """

    data: object
    column: AnyColumn
    records: Records

    def by_group(self) -> list[int]:
        """Return the numbers of records by group."""
        return sizes_of(self._open(), present=self.column is not None)

    def _open(self) -> OpenedTable:
        """Return the table with the column, or with any one where none is named."""
        data = unwrap_table(self.data)
        by = self.records.by
        parts = by.columns if isinstance(by, CellColumns) else [by]
        columns = [self.column, *columns_of_unit(self.records.unit), *parts]
        name = next((column for column in columns if column is not None), None)
        if name is not None:
            return open_table(data, name, self.records)
        return _open_any(data, self.records)


def sizes_of(table: OpenedTable, *, present: bool) -> list[int]:
    """Return the numbers of records by group; with `present` of those with a value in the column alone."""
    rows = DeclaredCells(table).present_rows() if present else table.record_rows()
    return quietly(table.sizes, table.failure, rows)


def _open_any(data: Any, records: Records) -> OpenedTable:
    """Return a table with the first column that its engine counts; files, and data of one dimension, as they are.

    Raises:
        InvalidArgument: if its schema names no column.
    """
    refuse_mixture(data)
    if names_files(data):
        native, failure = open_columns(data, {}, records.where)
        return OpenedTable(native, {}, records, failure)
    names = _names_of(data)
    if names is None:
        if records.where is not None:
            raise InvalidArgument("where needs a table: name its column")
        return open_table(data, None, records)
    if isinstance(data, ServerRows):  # columns of other types would come to memory
        names = sorted(names, key=lambda name: not data.counts([name]))
    for name in (name for name, times in Counter(names).items() if times == 1):
        try:
            table = open_table(data, name, records)
            table.type()
        except NotCountable:
            continue
        return table
    raise InvalidArgument(
        "the data name no column that can be counted: name one, as in count(data, column), which counts the "
        "records with a value there"
    )


def _names_of(data: Any) -> Sequence[Any] | None:
    """Return the names of the columns by the schema; None for data of one dimension."""
    if isinstance(data, Mapping):
        return list(data)
    if isinstance(data, np.ndarray):
        names_of_fields: Sequence[Any] | None = data.dtype.names
        return names_of_fields
    if hasattr(data, "collect_schema"):
        names: Sequence[Any] = data.collect_schema().names()
        return names
    if hasattr(data, "columns"):
        # Those of Arrow's tables are the columns themselves.
        return list(data.column_names if hasattr(data, "column_names") else data.columns)
    schema: Any = getattr(data, "schema", None)
    return list(schema.names) if hasattr(schema, "names") else None
