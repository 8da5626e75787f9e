"""The noise of both numbers of a mean, at one price, and the mean that follows.

For the proof, see docs/reference/mechanisms/gaussian_noise.md. If records are replaced, the count and the sum
cannot both move by their most: see "A mean" in docs/reference/mechanisms/noisy_counts.md#noisy_sums.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from flint import fmpz

from ...mechanisms.accuracy import AVERAGED, CONFIDENCE, ErrorBound
from ...mechanisms.contract import PrivacyParameter
from ...mechanisms.count_noise import CountNoise, NoiseChoice, choice_between, is_better
from ...mechanisms.gaussian_counts import GaussianCounts
from ...mechanisms.noisy_counts import NoisyCounts, changed_cells, counts_sensitivity
from ...privacy.contract import Guarantee
from ...privacy.gaussian_cells import Cells, least_common_parameter
from ...privacy.guarantees import ZCDP, PureDP
from ...privacy.rho import geometric_rho
from ...privacy.sensitivity import Sensitivity
from ...privacy.several_dp import SeveralDP
from ...selection.answers import Answer
from ...selection.scores.distance import Lattice
from .group_moves import GroupMoves
from .noisy_numbers import ListNoise, NoisePrice
from .sum_bounds import (
    LARGEST_SUM,
    PARTS_OF_A_STEP,
    SumBounds,
    half_up,
    power_of_ten,
    size_noise,
    sum_noise,
)
from .units import UnitQuery

_EACH = (1 + CONFIDENCE) / 2
"""The probability with which the error of the count of a mean, and that of its sum, are not reached."""

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


class MeanNoise(NamedTuple):
    """The noise of both numbers of a mean.

    Attributes:
        noises: that of the numbers of records of the groups, and that of their sums from the middle.
        promise: the guarantee of all, where it is not that of the lists one by one; or None.
        other: the noise of the sums that was not taken; None if there was no choice, or both are of one kind.
    """

    noises: Sequence[ListNoise]
    promise: Guarantee | None = None
    other: ListNoise | None = None

    def choice(self, step: Fraction) -> NoiseChoice | None:
        """Return which noise the sum has and why, in units of which one step is so many; None without a choice."""
        if self.other is None:
            return None
        total, other = self.noises[1], self.other
        is_gaussian = total.mechanism.name == "gaussian"
        gaussian, geometric = (total, other) if is_gaussian else (other, total)
        return choice_between(total.mechanism.name, geometric.noise, gaussian.noise).times(step)


def noise_of_mean(bounds: SumBounds, unit_query: UnitQuery, price: NoisePrice) -> MeanNoise:
    """Return the noise of a mean at the price of both numbers together.

    They have halves of it, or parts as large as neighbours allow if records are replaced; or with a delta both have
    Gaussian noise that costs it together, if that is the smaller for both.
    """
    halves = mean_noises(bounds, unit_query, price.part(2))
    is_replaced = unit_query.neighbors == "replace_one"
    if price.parameter.kind == "rho":
        return _by_rho(bounds, unit_query, price, halves)
    plain = MeanNoise(halves)
    if is_replaced:
        both = ReplacedMean(bounds.from_middle(), unit_query, price.parameter.value)
        plain = MeanNoise(both.noises, both.promise)
    if price.delta is None or not price.pays_gaussian:
        return plain
    together = _gaussian_pair(halves, price.parameter.value, price.delta)
    pairs = zip(together, plain.noises, strict=True)
    is_smaller = all(
        is_better(one.noise, other.noise, unit_query.group_count) for one, other in pairs
    )
    if is_smaller:
        return MeanNoise(together, None, plain.noises[1])
    return plain._replace(other=together[1])


def _by_rho(
    bounds: SumBounds, unit_query: UnitQuery, price: NoisePrice, halves: Sequence[ListNoise]
) -> MeanNoise:
    """Return the noise of a mean at a rho: halves, or Gaussian noise of both together if the sum has less so."""
    if not price.pays_gaussian:
        return MeanNoise(halves)
    geometric = [one.geometric() for one in halves]
    is_gaussian = halves[1].mechanism.name == "gaussian"
    if unit_query.neighbors == "add_remove":
        return MeanNoise(halves, None, geometric[1] if is_gaussian else _gaussian(halves[1]))
    both = ReplacedMeanByRho(bounds.from_middle(), unit_query, price.parameter.value)
    if is_better(both.noises[1].noise, halves[1].noise, unit_query.group_count):
        return MeanNoise(both.noises, both.promise, geometric[1])
    return MeanNoise(halves, None, geometric[1] if is_gaussian else both.noises[1])


def _gaussian(one: ListNoise) -> ListNoise:
    """Return Gaussian noise at the same price."""
    return replace(one, mechanism=GaussianCounts(one.mechanism.least, one.mechanism.largest))


def _gaussian_pair(
    halves: Sequence[ListNoise], epsilon: Fraction, delta: Fraction
) -> list[ListNoise]:
    """Return Gaussian noise for two lists, of equal rho where as many numbers move, that costs so much together."""
    # *Means*: the deviation of both is the same multiple of how far one number moves.
    lists = [_by_change(one.sensitivity) for one in halves]
    moves = tuple(
        Cells(Fraction(one.change or 0) ** 2, changed_cells(one), int(one.change or 0))
        for one in lists
    )
    factor = least_common_parameter(epsilon, delta, (moves,))
    return [
        ListNoise(
            GaussianCounts(half.mechanism.least, half.mechanism.largest),
            sensitivity,
            PrivacyParameter("rho", Fraction(cells.cells) / (2 * factor)),
        )
        for half, sensitivity, cells in zip(halves, lists, moves, strict=True)
    ]


def _by_change(sensitivity: Sensitivity) -> Sensitivity:
    """Return the sensitivity of numbers that move equally far; of sums of replaced records one that is no less."""
    moves = sensitivity.replacement
    if moves is None:
        return sensitivity
    few, many = moves.groups, 2 * moves.groups - moves.common
    change = 2 * moves.steps
    if many * moves.shift**2 < few * change**2:
        few, change = many, moves.shift
    return counts_sensitivity(few, sensitivity.neighbors, change=change)


def mean_noises(bounds: SumBounds, unit_query: UnitQuery, price: NoisePrice) -> list[ListNoise]:
    """Return the noise of the numbers of records of the groups, and that of their sums from the middle.

    The price is that of one of the two. Both are of one kind: geometric if that is the smaller for one of them.
    """
    size, total = size_noise(unit_query, price), sum_noise(bounds.from_middle(), unit_query, price)
    if size.mechanism.name == total.mechanism.name:
        return [size, total]
    return [size.geometric(), total.geometric()]


def name_of_mean(
    bounds: SumBounds, noises: Sequence[ListNoise], groups: int = 1
) -> Callable[[Sequence[int]], Answer]:
    """Return the function that makes a mean of a noisy count and a noisy sum of steps from the middle.

    Args:
        bounds: the bounds.
        noises: the noise of the count, and that of the sum.
        groups: how many means there are, whose errors hold together.
    """
    size, total = noises
    off = cache(lambda: [noise.error(groups, _EACH) for noise in noises])

    def name(numbers: Sequence[int]) -> Answer:
        number, steps = numbers
        if number <= 0:
            return Answer(None, counts=number)
        quotient = bounds.middle + Fraction(steps, number)
        # The noise of the sum, and that of the count times half of the width, by the count.
        noise = (total.scale + Fraction(bounds.high - bounds.low, 2) * size.scale) / number
        error = _error_of_mean(bounds, number, *off())
        if bounds.times is not None:
            return bounds.times.answer(quotient, noise, error, number)
        unit = _unit_of_mean(bounds, noise)
        bound = ErrorBound(error * bounds.step + unit, CONFIDENCE, AVERAGED)
        return Answer(_rounded(quotient, bounds, unit), counts=number, error=bound)

    return name


def _error_of_mean(bounds: SumBounds, number: int, off_size: int, off_total: int) -> Fraction:
    """Return how many steps a mean of a noisy number of records is off, before it is rounded.

    Let n records of mean m from the middle be counted as `number`, and their sum as n m + t. The quotient is off by
    |m (n - number) + t| / number, and |m| is at most the distance of the farther end. It is never off by more than
    the width, as it is cut to the bounds.
    """
    farther = max(bounds.high - bounds.middle, bounds.middle - bounds.low)
    off = Fraction(farther * off_size + off_total, number)
    return min(off, Fraction(bounds.high - bounds.low))


def _unit_of_mean(bounds: SumBounds, noise: Fraction) -> Fraction:
    """Return the unit to which a mean is rounded: the power of ten that half of its noise supports.

    Never finer than a thousandth of a step, and never coarser than a tenth of the width.
    """
    unit = power_of_ten(min(noise / 2, Fraction(bounds.high - bounds.low, 10)) * bounds.step)
    return max(unit, bounds.step / PARTS_OF_A_STEP)


def _rounded(mean: Fraction, bounds: SumBounds, unit: Fraction) -> Any:
    """Return a mean of steps between the bounds, rounded to the unit."""
    step, lattice = bounds.step, Lattice(unit)
    low, high = bounds.low * step / unit, bounds.high * step / unit
    return lattice[min(max(half_up(mean * step / unit), math.ceil(low)), math.floor(high))]
