"""The noise of a mean if records are replaced: the count and the sum cannot both move by their most.

For the proof, see docs/reference/mechanisms/noisy_counts.md#noisy_sums, "A mean".
"""

from dataclasses import dataclass
from fractions import Fraction

from flint import fmpz

from ...mechanisms.contract import PrivacyParameter
from ...mechanisms.count_noise import CountNoise
from ...mechanisms.gaussian_counts import GaussianCounts
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
class MovesOfMean:
    """By how much a replaced record moves the count and the sum of a mean, in a group that it meets.

    Attributes:
        bounds: the bounds of numbers that are measured from the middle.
        unit_query: the privacy unit and the groups.
    """

    bounds: SumBounds
    unit_query: UnitQuery

    @property
    def rows(self) -> int:
        """How many rows of a unit count in a group."""
        return self.unit_query.records.rows or 1

    @property
    def width(self) -> int:
        """By how much one row moves a sum at most, from one end to the other; 1 if both ends are equal."""
        return max(self.bounds.high - self.bounds.low, 1)

    @property
    def reach(self) -> Fraction:
        """By how much a row that comes moves it, as a part of the width: from one half to 1."""
        return Fraction(max(-self.bounds.low, self.bounds.high, 1), self.width)

    @property
    def groups(self) -> GroupMoves:
        """The groups that a unit keeps, leaves and enters."""
        return GroupMoves.among(self.unit_query.group_count, self.unit_query.parts)

    def pair(self, size: PrivacyParameter, total: PrivacyParameter) -> list[ListNoise]:
        """Return the noise of the counts and that of the sums, each at its part for one number.

        The parts do not depend on how many groups there are.
        """
        kind = NoisyCounts if size.kind == "epsilon" else GaussianCounts
        return [
            self._noise(kind(), self.rows, size),
            self._noise(kind(-LARGEST_SUM, LARGEST_SUM), self.rows * self.width, total),
        ]

    def _noise(self, mechanism: CountNoise, change: int, part: PrivacyParameter) -> ListNoise:
        sensitivity = counts_sensitivity(1, self.unit_query.neighbors, change=change)
        return ListNoise(mechanism, sensitivity, part)


@dataclass(frozen=True, slots=True)
class ReplacedMean(MovesOfMean):
    """How an epsilon is shared by the count and by the sum of a mean, of groups in which a record may be replaced.

    Attributes:
        epsilon: of all counts and sums together.
    """

    epsilon: Fraction

    @property
    def noises(self) -> list[ListNoise]:
        """The geometric noise of the counts, and that of the sums."""
        size, total = self._shares
        return self.pair(PrivacyParameter("epsilon", size), PrivacyParameter("epsilon", total))

    @property
    def promise(self) -> SeveralDP:
        """The guarantee of all counts and sums together, by epsilon and by rho."""
        size, total = self._shares
        rows, far = self.rows, int(self.reach * self.width)
        step = geometric_rho(size, rows) + geometric_rho(self.reach * total, rows * far)
        swap = max(geometric_rho(total, rows * self.width), step)
        relation = self.unit_query.neighbors
        rho = ZCDP(self.groups.sum_of_rho(step, swap), relation)
        return SeveralDP((PureDP(self.epsilon, relation), rho))

    @property
    def _shares(self) -> tuple[Fraction, Fraction]:
        """The epsilon of one group's count, and that of its sum, which add up to more than its part of epsilon."""
        of_a_group = self.epsilon / self.unit_query.moved_groups()
        total = of_a_group * min(Fraction(1), 1 / (self.reach + _root(self.reach / 4, 3)))
        return of_a_group - self.reach * total, total


@dataclass(frozen=True, slots=True)
class ReplacedMeanByRho(MovesOfMean):
    """How a rho is shared by Gaussian noise of the count and of the sum of a mean, if a record may be replaced.

    Attributes:
        rho: of all counts and sums together.
    """

    rho: Fraction

    @property
    def noises(self) -> list[ListNoise]:
        """The Gaussian noise of the counts, and that of the sums."""
        size, total = self.shares
        return self.pair(PrivacyParameter("rho", size), PrivacyParameter("rho", total))

    @property
    def promise(self) -> ZCDP:
        """The guarantee of all counts and sums together."""
        size, total = self.shares
        step = size + self.reach**2 * total
        rho = self.groups.sum_of_rho(step, max(step, total))
        return ZCDP(rho, self.unit_query.neighbors)

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """The rho of one group's count, and that of its sum, with the least error at an end."""
        square, groups = self.reach**2, self.groups
        of_a_group = self.rho / self.unit_query.moved_groups()
        total = 2 * of_a_group / (self.reach * (1 + 2 * self.reach))
        if total <= of_a_group or groups.common == groups.groups:
            total = min(total, of_a_group)
            return of_a_group - square * total, total
        # From here on each part of rho for the sum leaves so much less for a group that is left or entered.
        apart = 2 * (groups.groups - groups.common)
        whole, slope = self.rho / apart, Fraction(groups.common, apart) + square
        best = whole / (slope + _root(slope, 2) / 2)
        total = min(max(best, of_a_group), self.rho / groups.groups)
        return whole - slope * total, total


def _root(number: Fraction, degree: int) -> Fraction:
    """Return a root of a number, rounded down to 64 bits behind the point."""
    scale = 1 << degree * _ROOT_BITS
    whole = fmpz(number.numerator * scale // number.denominator)
    return Fraction(int(whole.root(degree)), 1 << _ROOT_BITS)
