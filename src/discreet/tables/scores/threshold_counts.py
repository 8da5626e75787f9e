"""How many records are below and above public thresholds, counted in one pass."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...sampling.vectors import Integers
from ...selection.decimals import Decimals, PointCells, RoundNumbers

if TYPE_CHECKING:
    from ..engines.column import Numeric

Thresholds = Decimals | RoundNumbers
"""Rising numbers, the same for all data."""


@dataclass(frozen=True, slots=True, repr=False)
class ThresholdCounts:
    """The numbers of records below and above all thresholds, and that of all records. Private."""

    below: Integers
    above: Integers
    total: int

    @classmethod
    def of(cls, column: "Numeric", thresholds: Thresholds) -> "ThresholdCounts":
        """Return the counts of the numbers in a column."""
        cells = thresholds.cells
        up_to = np.cumsum(_count_cells(column, cells))
        # Cell 2 * i holds what is between threshold i - 1 and threshold i, cell 2 * i + 1 what equals the latter.
        places = 2 * thresholds.places
        total = int(up_to[-1])
        return cls(up_to[places], total - up_to[places + 1], total)


def _count_cells(column: "Numeric", cells: PointCells) -> NDArray[np.int64]:
    """Return how many records are in the cells."""
    source = column.on_grid(cells)
    if source is not None:
        indices, counts = source.occupancy(cells.nearest)
    else:
        values, multiplicities = column.numbers()
        indices = cells.nearest(values)
        if multiplicities is None:
            return np.bincount(indices.astype(np.int64, copy=False), minlength=cells.size)
        counts = multiplicities
    sums: NDArray[np.int64] = np.zeros(cells.size, dtype=counts.dtype)
    np.add.at(sums, indices.astype(np.int64, copy=False), counts)
    return sums
