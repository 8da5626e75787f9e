"""Counting between cuts that are not evenly spread, as months are: a few rows per pass come here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...base.cached_properties import cached_property
from ...errors import DiscreetError, UnreadableData
from ...sampling.vectors import ExactArray, Integers
from ...selection.date_grid import CutCells
from ..values.kinds import ColumnType
from .cells import Index
from .engine_errors import quietly
from .grid_counts import AT_ONCE, cumulative_counts
from .native import Frame


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
