"""A column in DuckDB as counts on a grid, its rows counted by the kernel as Arrow hands them over.

One scan without any grouping: a row is in its cell by exact comparison with thresholds of the column's own type.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...sampling.kernel_library import open_library
from ...sampling.vectors import ExactArray, Integers
from ...selection.candidates import Grid
from ..formats.arrow_streams import ARROW_FORMATS, RowBatch, batches
from ..values.kinds import CELL
from ..values.numeric import clean, widen
from .cells import GridHistogram, Index
from .engine_errors import quietly
from .grid_counts import GridCounts
from .in_duckdb import InDuckDB
from .native import Native

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

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
