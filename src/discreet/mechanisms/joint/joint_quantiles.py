"""Several quantiles by one exponential mechanism (Gillenwater, Joseph and Kulesza 2021)."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.float_environment import in_default_environment
from ...base.numbers import count
from ...errors import InvalidNumber
from ...privacy.guarantees import BoundedRange
from ...privacy.sensitivity import Neighbors, Sensitivity
from ...sampling.enclosures import NaturalRate
from ..contract import Calibrated, PrivacyParameter, calibrate
from ..exponential import Exponential
from .grid_records import GridRecords
from .tuple_law import JointLaw


@dataclass(frozen=True, slots=True)
class JointQuantiles:
    """Answer m points of a grid, never descending, at once; their score is -sum |cell - wanted cell|.

    The points cut the records in m + 1 cells: before the first point, between it and the second, and so
    on, after the last. Of n records, n * (alpha[j] - alpha[j-1]) are wanted in cell j, with 0 and 1
    around the alphas. Records at a point may be cut anywhere among them: the best cut counts.

    Args:
        alphas: exact, rising, distinct, from 0 to 1.
        size: how many points the grid has.

    Guarantee: epsilon-bounded range for all quantiles together, hence epsilon-DP and (epsilon**2 / 8)-zCDP.

    Side channels: the number of bits, and with it a few hundredths of the time, depends on how many quantiles
    fall on the same stretch between records and on points with several. With the kernel and records in memory,
    the rest follows how many records, points and quantiles there are, up to 2**23 slots; without it, and where
    distinct points come with numbers of records, time and memory depend on how many points have records.

    Source: Gillenwater, Joseph and Kulesza, ICML 2021, https://arxiv.org/abs/2102.08244. Proof:
    docs/reference/mechanisms/joint_quantiles.md.
    """

    alphas: tuple[Fraction, ...]
    size: int

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            InvalidNumber: if the alphas do not rise from 0 to 1, or there is no point.
        """
        count(self.size, "size")
        rising = all(a < b for a, b in pairwise(self.alphas))
        if not self.alphas or not rising or self.alphas[0] < 0 or self.alphas[-1] > 1:
            raise InvalidNumber(f"alphas must rise from 0 to 1, got {list(map(str, self.alphas))}")

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return how far the scores of neighbours may be apart.

        For the proof, see docs/reference/mechanisms/joint_quantiles.md.
        """
        shares = self._shares()
        if neighbors == "replace_one":
            # *One record replaced*: 4, and 2 where the only alpha is 0 or 1.
            # Coq: JointQuantiles.joint_replace_one, JointQuantiles.joint_replace_one_at_the_ends
            both = any(shares[1:]) and any(shares[:-1])  # else the only alpha is 0 or 1
            return Sensitivity(Fraction(4 if both else 2), neighbors, Fraction(2))
        # Coq: JointQuantiles.joint_one_more, JointQuantiles.joint_add_remove, JointTight.joint_add_remove_is_tight
        # *One record more*: 2 (1 - min t) when it comes, 2 (1 - min t+) when it goes; the spread is both.
        change = 2 * (1 - min(shares))
        # A cell in which nothing is wanted never has too few records.
        other = 2 * (1 - min(share for share in shares if share))
        return Sensitivity(change + other, neighbors, change)

    def calibrate(self, neighbors: Neighbors, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at the largest eta that keeps the wanted guarantee.

        The distribution is made from the indices of the records on the grid, in any order; from distinct
        indices, ascending, with the numbers of their records; or from `GridRecords`.
        """
        sensitivity = self.sensitivity(neighbors)
        guarantee = calibrate(Exponential(), sensitivity, parameter).guarantee
        assert isinstance(guarantee, BoundedRange)
        rate = NaturalRate(guarantee.epsilon / sensitivity.spread)

        def law(
            indices: NDArray[Any] | GridRecords, counts: NDArray[np.int64] | None = None
        ) -> Any:
            return JointLaw(self._records(indices, counts), self.alphas, rate)

        return Calibrated(guarantee, in_default_environment(law))

    def _records(
        self, indices: NDArray[Any] | GridRecords, counts: NDArray[np.int64] | None
    ) -> GridRecords:
        """Return the records on the grid."""
        if isinstance(indices, GridRecords):
            return indices
        if counts is None:
            return GridRecords(np.sort(indices), self.size)
        return GridRecords.of(indices, counts, self.size)

    def _shares(self) -> list[Fraction]:
        """Return the wanted shares of the records, by cell."""
        return [b - a for a, b in pairwise((Fraction(0), *self.alphas, Fraction(1)))]
