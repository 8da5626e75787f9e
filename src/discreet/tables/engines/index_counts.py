"""A column in DuckDB as counts on an even grid, its rows counted by the kernel as Arrow hands them over.

One scan without any grouping. On any grid, a row is in its cell by exact comparison with thresholds of the column's
own type. Where the numbers of the grid are short, an index is a product, a quotient and one comparison with the
border of a cell, and no table of thresholds is needed: so a pass counts in 2**20 cells, and two passes tell the
points of a grid of 2**40. Every row takes the same instructions. Proof: *By arithmetic* in
docs/explanation/out_of_core.md.
"""

import ctypes
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UnreadableData
from ...sampling.kernel_library import open_library
from ...sampling.shared_work import share
from ...sampling.vectors import ExactArray, Integers
from ...selection.candidates import Grid
from ..formats.arrow_streams import ARROW_FORMATS, RowBatch, batches
from ..values.kinds import CELL, ColumnType
from ..values.numeric import clean, widen
from .cells import GridHistogram, GridSource, GridThresholds, Index, least_number
from .engine_errors import quietly
from .grid_counts import GridCounts
from .in_duckdb import InDuckDB
from .native import Native

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from ...errors import DiscreetError


_TYPES: dict[str, Any] = {"g": np.float64, "f": np.float32, "l": np.int64, "i": np.int32}

_PIECE = np.dtype(
    [
        ("start", "f8"),
        ("low", "f8"),
        ("rate", "f8"),
        ("least", "f8"),
        ("most", "f8"),
        ("first", "i8"),
    ]
)
"""A piece as the kernel takes it."""


MOST_COUNTED = 2**22
"""Indices of so long a grid are counted in one array, of 32 MiB."""

MOST_IN_MEMORY = 2**24
"""So many rows are brought into one array, of 128 MiB."""


def batch_numbers(batch: RowBatch, kind: type) -> NDArray[Any]:
    """Return the numbers of a batch without null and NaN, in 64 bits; they last as long as the batch."""
    size = np.dtype(kind).itemsize
    buffer: Any = (ctypes.c_char * (batch.length * size)).from_address(
        batch.rows + batch.offset * size
    )
    numbers = widen(np.frombuffer(buffer, dtype=kind))
    return clean(numbers if batch.valid is None or batch.nulls == 0 else numbers[_valid(batch)])


def _valid(batch: RowBatch) -> NDArray[np.bool_]:
    """Return which rows of a batch are not null."""
    first, last = batch.offset // 8, (batch.offset + batch.length + 7) // 8
    bits: Any = (ctypes.c_char * (last - first)).from_address((batch.valid or 0) + first)
    flags = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")
    start = batch.offset - 8 * first
    return flags[start : start + batch.length].view(np.bool_)


@dataclass(frozen=True, slots=True)
class StreamedCounts:
    """A column of doubles or integers as counts on an even grid: see `cells.GridSource`."""

    relation: "DuckDBPyRelation"
    """The column alone; null and NaN may be in it."""
    kind: str
    """Arrow's format of its type."""
    engine: GridCounts
    """The same column as the engine counts it."""

    def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]]:
        """Return the number of records in every cell of the parts."""
        query = GridHistogram(self.engine.thresholds, parts)
        if query.pieces:
            edges, pieces, places = self._cells(query)
            counts = quietly(self._count, self.engine.failure, edges, pieces)[places]
            of, cells = np.array(query.parts), np.array(query.cells)
            for part in range(len(parts)):
                query.counts[part][cells[of == part]] = counts[of == part]
        return query.counts

    def points(self, parts: Sequence[range]) -> tuple[Integers, NDArray[np.int64]]:
        """Return the indices in the parts that have records, and how many, as the engine groups them."""
        return self.engine.points(parts)

    def numbers(self) -> ExactArray | None:
        """Return the numbers in one array, None if they are too many."""
        return quietly(self._collect, self.engine.failure)

    def _collect(self) -> ExactArray | None:
        """Return the rows that hold a number, None if they are too many; memory that is not filled is not taken."""
        number, kind = 0, _TYPES[self.kind]
        room = np.empty(MOST_IN_MEMORY, dtype=f"{np.dtype(kind).kind}8")
        for batch in batches(self.relation, self.kind):
            if number + batch.length > MOST_IN_MEMORY:
                return None
            some = batch_numbers(batch, kind)
            room[number : number + len(some)] = some
            number += len(some)
        return room[:number]

    def occupancy(self, index: Index) -> tuple[Integers, NDArray[np.int64]]:
        """Return indices that records have, and how many: counted in one array, on a grid that is not too long."""
        if self.engine.thresholds.grid.size > MOST_COUNTED:
            return self.engine.occupancy(index)
        counts = quietly(self._count_indices, self.engine.failure, index)
        places = np.flatnonzero(counts)
        return places - 1, counts[places]

    def _count_indices(self, index: Index) -> NDArray[np.int64]:
        """Return how many records have each index from -1 on, which is that of records without one."""
        length, waiting, some = self.engine.thresholds.grid.size + 1, 0, list[Integers]()
        counts = np.zeros(length, dtype=np.int64)
        for batch in batches(self.relation, self.kind):
            some.append(index(batch_numbers(batch, _TYPES[self.kind])) + 1)
            waiting += batch.length
            if waiting > length:  # each time the whole array is gone through
                counts += np.bincount(np.concatenate(some), minlength=length)
                waiting, some = 0, []
        for rest in some:
            counts += np.bincount(rest, minlength=length)
        return counts

    def _cells(self, query: GridHistogram) -> tuple[NDArray[Any], NDArray[Any], list[int]]:
        """Return the edges of all cells, and the pieces; of the parts' own cells the places among all.

        Rows between the parts are in cells of their own.
        """
        edges, places, pieces = list[Any](), list[int](), list[tuple[Any, ...]]()
        if query.pieces[0].start is not None:
            edges.append(-np.inf)
        sizes = np.unique(query.parts, return_counts=True)[1].tolist()
        for size, piece in zip(sizes, query.pieces, strict=True):
            assert piece.ends is not None
            first, own = len(edges), len(places)
            before = int(first > 0 and not pieces)  # what is below the first part
            edges += query.lows[own : own + size]
            places += range(first, len(edges))
            edges += [] if piece.stop is None else [piece.stop]
            start = -np.inf if piece.start is None else float(piece.start)
            low = float(piece.ends[0]) - (piece.shift + before) / piece.rate
            most = len(edges) - 1 - first + before
            pieces.append((start, low, piece.rate, 0.0, most, first - before))
        numbers, last = _TYPES[self.kind], np.nan
        if self.kind in "li":
            bounds = np.iinfo(numbers)
            edges[0], last = max(edges[0], bounds.min), bounds.max
        return np.array([*edges, last], dtype=numbers), np.array(pieces, dtype=_PIECE), places

    def _count(self, edges: NDArray[Any], pieces: NDArray[Any]) -> NDArray[np.int64]:
        """Return how many records are in each cell."""
        library, counts = open_library(), np.zeros(len(edges), dtype=np.int64)
        assert not isinstance(library, str)
        count = library.functions["count_cells"]
        cells = (
            edges.ctypes.data,
            len(edges) - 1,
            pieces.ctypes.data,
            len(pieces),
            counts.ctypes.data,
        )
        for batch in batches(self.relation, self.kind):
            rows = batch.rows, ord(self.kind), batch.valid, batch.offset, batch.length
            is_refused = count(*rows, *cells)
            assert not is_refused
        return counts[:-1]


def streamed_counts(native: Native, engine: GridCounts) -> StreamedCounts | None:
    """Return a column as counts by the kernel; None if its type, the grid or the install does not serve."""
    if (
        not isinstance(native, InDuckDB)
        or CELL in native.codes
        or native.relation.columns != [CELL]
    ):
        return None
    kind = ARROW_FORMATS.get(str(native.relation.types[0]))
    is_even = isinstance(engine.thresholds.grid, Grid)
    if kind is None or not is_even or isinstance(open_library(), str):
        return None
    return StreamedCounts(native.relation, kind, engine)


MOST_BITS = 20
"""A pass counts in at most two to so many cells, and the last one in five times as many."""

_LONGEST = 2**52
"""Borders of grids are integers below it, over one denominator."""

_LARGEST_GRID = 2**48

_PLACES_OUTSIDE = 16
"""Records that are left out are counted in several places: one more in the same place again takes longer."""

MOST_IN_A_WORD = 2**32 - 1
"""So many records may be in one cell before its count has 64 bits."""

_STRETCH = np.dtype(
    [("start", "f8"), ("mask", "i8"), ("offset", "i8"), ("among", "i8"), ("lists", "i8")]
)
"""A stretch of indices as the kernel takes it."""

_STRETCHES = 7
"""So many there are in every pass but the first: three parts, and the stretches before, between and behind."""

_NO_STRETCHES = np.zeros(0, dtype=_STRETCH)

_DOUBLE = ColumnType(CELL, "float", "DOUBLE", layout="<d")


@dataclass(frozen=True, slots=True)
class EvenGrid:
    """A grid as the kernel takes it: index i begins at (first + i * step) / below, all of them integers as doubles.

    Attributes:
        numbers: below, first, step, 1 / step, numbers of the first index and of the last, to which others are cut.
        size: how many points there are.
    """

    numbers: NDArray[np.float64]
    size: int

    @classmethod
    def of(cls, thresholds: GridThresholds) -> "EvenGrid | None":
        """Return the grid of some thresholds; None if its numbers are too long."""
        grid = thresholds.grid
        if not isinstance(grid, Grid) or grid.size > _LARGEST_GRID:
            return None
        first, step, last = thresholds.border(0), grid.step, thresholds.border(grid.size)
        below = math.lcm(first.denominator, step.denominator)
        if below >= _LONGEST or max(abs(first), abs(last)) * below >= _LONGEST:
            return None
        low, high = (
            least_number(*border.as_integer_ratio(), _DOUBLE) for border in (first, last - step)
        )
        numbers = (below, first * below, step * below, 1 / (step * below), low, high)
        return cls(np.array([*map(float, numbers)]), grid.size)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class IndexPasses:
    """Passes over doubles or integers, which count them by their indices on an even grid.

    Attributes:
        grid: the grid.
        kind: Arrow's format of their type.
        spans: each yields some of them. Several are counted in threads, and have no more than fit in a count.
        most_bits: a pass counts in at most two to so many cells.
    """

    grid: EvenGrid
    kind: str
    spans: Sequence[Callable[[], Iterable[RowBatch]]]
    most_bits: int

    @property
    def widths(self) -> list[int]:
        """The sizes of the cells, pass by pass, in points: powers of two, as even as they may be."""
        bits = (self.grid.size - 1).bit_length()
        passes = max(-(-bits // self.most_bits), 1)
        return [1 << -(-bits // passes) * later for later in reversed(range(passes))]

    def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]] | None:
        """Return the number of records in every cell of the parts; None of parts that no search here asks for."""
        steps = {part.step for part in parts}
        step = steps.pop() if len(steps) == 1 else 0
        is_even = step.bit_count() == 1 and not any(part.start % step for part in parts)
        if not is_even or len(parts) > 3 or any(len(part) > 2**MOST_BITS * 3 for part in parts):
            return None
        if parts == [range(0, self.grid.size, step)] and len(parts[0]) <= 2**MOST_BITS:
            # The first place is that of records without an index.
            counts, _ = self._count(_NO_STRETCHES, step, 1 + len(parts[0]))
            return [counts[1:]]
        return self.in_parts(parts, [])[0]

    def in_parts(
        self, parts: Sequence[range], between: Sequence[range]
    ) -> tuple[list[NDArray[np.int64]], Integers]:
        """Return the numbers of records in the cells of at most three parts, and the indices of those between."""
        ends = np.cumsum([0, *map(len, parts)]).tolist()
        outside, step = (0, ends[-1], _PLACES_OUTSIDE - 1, 0), parts[0].step
        # Of two that start at one index the later counts.
        stretches: dict[float, tuple[int, int, int, int]] = {-math.inf: outside}
        stretches |= {part.stop: outside for part in (*parts, *between)}
        stretches |= {part.start: (*outside[:3], 1) for part in between if part}
        for part, first in zip(parts, ends[:-1], strict=True):
            stretches[part.start] = (-1, first - part.start // step, 0, 0)
        table = [(start, *stretch) for start, stretch in sorted(stretches.items())]
        table += [(math.inf, *outside)] * (_STRETCHES - len(table))
        cells = ends[-1] + _PLACES_OUTSIDE
        counts, indices = self._count(np.array(table, _STRETCH), step, cells)
        return [counts[slice(*pair)] for pair in pairwise(ends)], indices

    def _count(
        self, stretches: NDArray[np.void], step: int, cells: int
    ) -> tuple[NDArray[Any], Integers]:
        """Return how many records are in the cells, and the indices of the stretches that give them."""
        counts = [_ShortCounts(cells) for _ in self.spans]
        indices = [[np.zeros(0)] for _ in self.spans]

        def count_span(place: int) -> None:
            rows = self.spans[place]()
            indices[place] += self._count_rows(rows, stretches, step, counts[place])

        share(count_span, range(len(self.spans)), len(self.spans))
        total, *others = (one.all for one in counts)
        for other in others:
            total += other
        return total, np.concatenate([one for some in indices for one in some]).astype(np.int64)

    def _count_rows(
        self,
        rows: Iterable[RowBatch],
        stretches: NDArray[np.void],
        step: int,
        counts: "_ShortCounts",
    ) -> Iterator[NDArray[np.float64]]:
        """Add the numbers of some records to the counts, and yield the indices of the stretches that give them."""
        library, room = open_library(), np.empty(0)
        assert not isinstance(library, str)
        count = library.functions["count_indices"]
        cell = (self.grid.numbers.ctypes.data, step.bit_length() - 1)
        table = stretches.ctypes.data if len(stretches) else None
        for batch in rows:
            if len(stretches) and len(room) < batch.length:
                room = np.empty(batch.length)
            place = (batch.rows, ord(self.kind), batch.valid, batch.offset, batch.length)
            short = counts.with_room_for(batch.length)
            number = count(*place, *cell, table, short.ctypes.data, room.ctypes.data)
            yield room[:number].copy()


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """A column of doubles or integers as counts on an even grid of short numbers: see `rank_search.RowSource`."""

    passes: IndexPasses
    edges: StreamedCounts
    """The same column, counted in cells by their ends."""

    @property
    def widths(self) -> list[int]:
        """The sizes of the cells, pass by pass, in points."""
        return self.passes.widths

    def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]]:
        """Return the number of records in every cell of the parts."""
        counts = quietly(self.passes.histogram, self._failure, parts)
        return self.edges.histogram(parts) if counts is None else counts

    def points(self, parts: Sequence[range]) -> tuple[Integers, NDArray[np.int64]]:
        """Return the indices in the parts that have records, and how many, as the engine groups them."""
        return self.edges.points(parts)

    def numbers(self) -> ExactArray | None:
        """Return the numbers in one array, None if they are too many."""
        return self.edges.numbers()

    def occupancy(self, index: Index) -> tuple[Integers, NDArray[np.int64]]:
        """Return indices that records have, and how many."""
        return self.edges.occupancy(index)

    def resolve(
        self, parts: Sequence[range], between: Sequence[range], most: int
    ) -> tuple[list[NDArray[np.int64]], Integers]:
        """Return the number of records at every index of the parts, and the indices of the records between."""
        counts, indices = quietly(self.passes.in_parts, self._failure, parts, between)
        if len(indices) > most:
            raise UnreadableData("the data changed while they were read")
        return counts, indices

    @property
    def _failure(self) -> "DiscreetError":
        return self.edges.engine.failure


class _ShortCounts:
    """Counts of 32 bits, which touch half as much memory, put into longer ones before they are full."""

    def __init__(self, cells: int) -> None:
        self._short = np.zeros(cells, dtype=np.uint32)
        self._long: NDArray[np.int64] | None = None
        self._records = 0

    def with_room_for(self, records: int) -> NDArray[np.uint32]:
        """Return the short counts, none of which is full after so many records more."""
        if self._records + records > MOST_IN_A_WORD:
            self._long, self._records = self.all.astype(np.int64), 0
            self._short = np.zeros_like(self._short)
        self._records += records
        return self._short

    @property
    def all(self) -> NDArray[Any]:
        """The counts of all records so far."""
        return self._short if self._long is None else self._long + self._short


def quick_counts(native: Native, engine: GridCounts) -> GridSource:
    """Return a column as counts by the kernel, or as the engine counts it: by its type and the grid."""
    edges = streamed_counts(native, engine)
    if edges is None:
        return engine
    grid = EvenGrid.of(engine.thresholds)
    if grid is None:
        return edges
    rows = partial(batches, edges.relation, edges.kind)
    return IndexCounts(IndexPasses(grid, edges.kind, [rows], MOST_BITS), edges)
