"""How many records must change for a candidate to be a median (Goldberg 2012)."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.accuracy import ROWS_TO_CHANGE, Measure
from ...privacy.sensitivity import Neighbors, Sensitivity, sensitivity_of
from ...sampling.runs import Runs
from ...sampling.vectors import Integers, Vector
from ...selection.candidates import Grid
from ...selection.date_grid import DateGrid, number_grid
from ...selection.scores.contract import BaseScore
from .rank import WIDER, add_outside, stretches
from .rank_search import Bracket, bracket, distinct_indices, everything

if TYPE_CHECKING:
    from ..engines.cells import CellSource
    from ..engines.column import Numeric


def _half(records: int) -> int:
    """Return the rank of the median."""
    return records // 2


@dataclass(frozen=True, slots=True, repr=False)
class MedianDistance(BaseScore):
    """-max(0, |L - G| - E + 1), with L records below the candidate, G above and E equal to it.

    That is minus the least number of records to add or remove until the candidate is the middle one of an
    odd number of records, where the number is odd now. It sees ties: any point that half of the records
    share is as good as can be. For the proof, see docs/reference/scores/of_tables.md#median_distance.

    Args:
        column: the records, read when everything public has been checked.
        candidates: a grid, of numbers or of dates.
    """

    column: "Numeric"
    candidates: Grid | DateGrid
    name: ClassVar[str] = "median_distance"
    public_fields: ClassVar[tuple[str, ...]] = ("candidates",)
    in_runs: ClassVar[bool] = True
    measure: ClassVar[Measure] = Measure(ROWS_TO_CHANGE)

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return 1 for a record more or less, 2 for one replaced."""
        # Coq: Rank.median_distance_add_remove, Rank.median_distance_replace_one
        return sensitivity_of(1 if neighbors == "add_remove" else 2, neighbors)

    def compute(self, cutoff_gap: Fraction) -> Runs:
        """Return the scores. Private."""
        grid = number_grid(self.candidates, self.column)
        source = self.column.on_grid(grid)
        if source is not None:
            return self._in_bracket(source, cutoff_gap)
        values, counts = self.column.numbers()
        return self._whole(distinct_indices(grid.nearest(values), counts))

    def _in_bracket(self, source: "CellSource", cutoff_gap: Fraction) -> Runs:
        """Return runs in full near the median, and one on either side for points worse by `cutoff_gap` at least."""
        size = self.candidates.size
        window = bracket(source, size, _half, ceil(cutoff_gap / 2) + 1)
        below, up_to = window.outside
        return add_outside(
            self._runs(window),
            -np.maximum(0, np.array([window.total - 2 * below, 2 * up_to - window.total]) + 1),
            size,
            partial(self._everything, source, size),
            partial(self._in_bracket, source, WIDER * cutoff_gap),
        )

    def _everything(self, source: "CellSource", size: int) -> Runs:
        return self._whole(everything(source, size))

    def _whole(self, tally: tuple[Integers, NDArray[np.int64]]) -> Runs:
        """Return the runs for all records, given as distinct indices in order with their counts."""
        points, counts = tally
        return self._runs(Bracket(points, counts, 0, int(counts.sum()), (0, self.candidates.size)))

    def _runs(self, window: Bracket) -> Runs:
        """Return the runs from one index up to another."""
        starts, sizes, less, not_more = stretches(
            window.points, window.counts, window.below, window.bounds
        )
        more, equal = window.total - not_more, not_more - less
        distances = np.maximum(0, abs(less - more) - equal + 1)
        return Runs(starts, sizes, Vector(-distances, integral=True))
