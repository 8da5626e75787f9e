"""How many records must change for a candidate to be a median (Goldberg 2012)."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..candidates import Grid
from ..privacy.sensitivity import Neighbors, Sensitivity, sensitivity_of
from ..runs import Runs
from ..vectors import Vector
from .brackets import distinct
from .rank import Rows, stretches


@dataclass(frozen=True, slots=True, repr=False)
class MedianDistance:
    """-max(0, |L - G| - E + 1), with L records below the candidate, G above and E equal to it.

    That is minus the least number of records to add or remove until the candidate is the middle one of an
    odd number of records, where the number is odd now. It sees ties: any point that half of the records
    share is as good as can be. Proof: docs/scores/median_distance.md.

    Args:
        rows: returns the records; called once, when everything public has been checked.
        candidates: a grid.
    """

    rows: Callable[[], Rows]
    candidates: Grid

    @property
    def in_runs(self) -> bool:
        """Always: the candidates are a grid."""
        return True

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return 1 for a record more or less, 2 for one replaced."""
        return sensitivity_of(1 if neighbors == "add_remove" else 2, neighbors)

    def compute(self, reach: Fraction) -> Runs:
        """Return the scores. Private."""
        values, counts = self.rows()
        weights = np.ones(len(values), dtype=np.int64) if counts is None else counts
        points, each = distinct(self.candidates.nearest(values), weights)
        starts, sizes, less, not_more = stretches(points, each, 0, (0, self.candidates.size))
        more, equal = int(each.sum()) - not_more, not_more - less
        return Runs(starts, sizes, Vector(-np.maximum(0, abs(less - more) - equal + 1)))

    def __repr__(self) -> str:
        return f"MedianDistance({self.candidates!r})"
