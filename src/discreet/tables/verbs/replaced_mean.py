"""The noise of a mean if records are replaced: the count and the sum cannot both move by their most.

Proof: docs/reference/mechanisms/noisy_counts.md#noisy_sums, "A mean".
"""

from dataclasses import dataclass
from fractions import Fraction

from flint import fmpz

from ...mechanisms.contract import PrivacyParameter
from ...mechanisms.noisy_counts import NoisyCounts, counts_sensitivity
from ...privacy.guarantees import ZCDP, PureDP
from ...privacy.rho import geometric_rho
from ...privacy.several_dp import SeveralDP
from .group_moves import GroupMoves
from .noisy_numbers import ListNoise
from .sum_bounds import LARGEST_SUM, SumBounds
from .units import UnitQuery

_ROOT_BITS = 64


@dataclass(frozen=True, slots=True)
class ReplacedMean:
    """How an epsilon is shared by the count and by the sum of a mean, of groups in which a record may be replaced.

    Attributes:
        bounds: the bounds of numbers that are measured from the middle.
        unit_query: the privacy unit and the groups.
        epsilon: of all counts and sums together.
    """

    bounds: SumBounds
    unit_query: UnitQuery
    epsilon: Fraction

    @property
    def noises(self) -> list[ListNoise]:
        """The noise of the counts, and that of the sums: rates that do not depend on how many groups there are."""
        size, total = self._shares
        return [
            self._noise(NoisyCounts(), self._rows, size),
            self._noise(NoisyCounts(-LARGEST_SUM, LARGEST_SUM), self._rows * self._width, total),
        ]

    @property
    def promise(self) -> SeveralDP:
        """The guarantee of all counts and sums together, by epsilon and by rho."""
        size, total = self._shares
        reach = int(self._reach * self._width)
        step = geometric_rho(size, self._rows) + geometric_rho(
            self._reach * total, self._rows * reach
        )
        swap = max(geometric_rho(total, self._rows * self._width), step)
        moves = GroupMoves.among(self.unit_query.group_count, self.unit_query.parts)
        relation = self.unit_query.neighbors
        rho = ZCDP(moves.sum_of_rho(step, swap), relation)
        return SeveralDP((PureDP(self.epsilon, relation), rho))

    @property
    def _shares(self) -> tuple[Fraction, Fraction]:
        """The epsilon of one group's count, and that of its sum, which add up to more than its part of epsilon."""
        of_a_group = self.epsilon / self.unit_query.moved_groups()
        reach = self._reach
        total = of_a_group * min(Fraction(1), 1 / (reach + _root(reach / 4)))
        return of_a_group - reach * total, total

    @property
    def _rows(self) -> int:
        """How many rows of a unit count in a group."""
        return self.unit_query.records.rows or 1

    @property
    def _width(self) -> int:
        """By how much one row moves a sum at most, from one end to the other; 1 if both ends are equal."""
        return max(self.bounds.high - self.bounds.low, 1)

    @property
    def _reach(self) -> Fraction:
        """By how much a row that comes moves it, as a part of the width: from one half to 1."""
        return Fraction(max(-self.bounds.low, self.bounds.high, 1), self._width)

    def _noise(self, mechanism: NoisyCounts, change: int, epsilon: Fraction) -> ListNoise:
        sensitivity = counts_sensitivity(1, self.unit_query.neighbors, change=change)
        return ListNoise(mechanism, sensitivity, PrivacyParameter("epsilon", epsilon))


def _root(number: Fraction) -> Fraction:
    """Return the cube root of a number, rounded down to 64 bits behind the point."""
    scale = 1 << 3 * _ROOT_BITS
    whole = fmpz(number.numerator * scale // number.denominator)
    return Fraction(int(whole.root(3)), 1 << _ROOT_BITS)
