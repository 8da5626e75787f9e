"""Numbers of one array as counts on an even grid, in passes that take as long for equal ones: see `index_counts`.

A grid of any size takes few passes, each with so few cells that they stay in the cache. Small arrays are sorted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...sampling.kernel import FOR_A_THREAD
from ...sampling.kernel_library import open_library, threads
from ...sampling.shared_work import divide
from ...sampling.vectors import ExactArray, Integers
from ...selection.candidates import Grid
from ...selection.date_grid import NumberCells
from ..formats.arrow_streams import RowBatch
from ..values.kinds import CELL, ColumnType
from .cells import GridThresholds
from .index_counts import MOST_BITS, MOST_IN_A_WORD, EvenGrid, IndexPasses

COUNTED_FROM = 2**17
"""From so many numbers on they are counted."""

_COLUMN_TYPES: dict[np.dtype[Any], tuple[str, ColumnType]] = {
    np.dtype(np.float64): ("g", ColumnType(CELL, "float", "DOUBLE", layout="<d")),
    np.dtype(np.int64): ("l", ColumnType(CELL, "integer", "BIGINT", -(2**63), 2**63 - 1)),
}
"""The types that are counted, in the words of Arrow and of tables."""

_NUMBERS_AT_ONCE = 2**16

_NUMBERS_PER_CELL = 2**3
"""A pass has fewer cells than a part of the numbers, as all cells are gone through after it."""


@dataclass(frozen=True, slots=True)
class ArrayCounts:
    """Numbers of one array as counts on an even grid: see `rank_search.RowSource`.

    Attributes:
        numbers: the numbers, none of them NaN.
        grid: the grid.
        passes: the passes over them.
    """

    numbers: ExactArray
    grid: Grid[object]
    passes: IndexPasses

    @property
    def widths(self) -> list[int]:
        """The sizes of the cells, pass by pass, in points."""
        return self.passes.widths

    def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]]:
        """Return the number of records in every cell of the parts, as the search near a rank asks for them."""
        counts = self.passes.histogram(parts)
        assert counts is not None, "cells are of an even number of points"
        return counts

    def points(self, parts: Sequence[range]) -> tuple[Integers, NDArray[np.int64]]:
        """Return, in order, the indices in the parts that have records, and how many."""
        indices, counts = np.unique(self.grid.nearest(self.numbers), return_counts=True)
        ends = np.searchsorted(indices, [(part.start, part.stop) for part in parts])
        places = np.concatenate([np.arange(*pair) for pair in ends.tolist()])
        return indices[places], counts[places]

    def resolve(
        self, parts: Sequence[range], between: Sequence[range], most: int
    ) -> tuple[list[NDArray[np.int64]], Integers]:
        """Return the number of records at every index of the parts, and the indices of the records between."""
        counts, indices = self.passes.in_parts(parts, between)
        assert len(indices) <= most, "arrays do not change"
        return counts, indices


def array_counts(numbers: ExactArray, grid: NumberCells) -> ArrayCounts | None:
    """Return many numbers as counts on a grid; None if their type, the grid or the install does not serve.

    Args:
        numbers: the numbers, none of them NaN. Not looked at.
        grid: the grid.
    """
    type_words = _COLUMN_TYPES.get(numbers.dtype)
    if len(numbers) < COUNTED_FROM or type_words is None or not isinstance(grid, Grid):
        return None
    kind, of = type_words
    thresholds = GridThresholds(grid, of)
    even = EvenGrid.of(thresholds) if thresholds.serves else None
    if even is None or isinstance(open_library(), str):
        return None
    bits = min(MOST_BITS, (len(numbers) // _NUMBERS_PER_CELL).bit_length())
    return ArrayCounts(numbers, grid, IndexPasses(even, kind, _spans(numbers), bits))


def _spans(numbers: NDArray[Any]) -> list[Callable[[], Iterator[RowBatch]]]:
    """Return functions that yield parts of an array, one for every thread that is worth its start."""
    number = max(1, min(threads(), len(numbers) // FOR_A_THREAD))
    if len(numbers) > MOST_IN_A_WORD:
        number = 1
    whole = np.ascontiguousarray(numbers)
    return [partial(_in_batches, whole[slice(*span)]) for span in divide(len(whole), number)]


def _in_batches(numbers: NDArray[Any]) -> Iterator[RowBatch]:
    """Yield the numbers of an array in batches."""
    for start in range(0, len(numbers), _NUMBERS_AT_ONCE):
        some = numbers[start : start + _NUMBERS_AT_ONCE]
        yield RowBatch(some.ctypes.data, None, 0, len(some), 0)
