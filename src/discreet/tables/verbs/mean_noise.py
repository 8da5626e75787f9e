"""The noise of both numbers of a mean, at one price: docs/reference/mechanisms/gaussian_noise.md."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from ...mechanisms.contract import PrivacyParameter
from ...mechanisms.count_noise import NoiseChoice, choice_between, is_better
from ...mechanisms.gaussian_counts import GaussianCounts
from ...mechanisms.noisy_counts import changed_cells, counts_sensitivity
from ...privacy.contract import Guarantee
from ...privacy.gaussian_calibration import least_common_parameter
from ...privacy.gaussian_cells import Cells
from ...privacy.sensitivity import Sensitivity
from .noisy_numbers import ListNoise, NoisePrice
from .replaced_mean import ReplacedMean, ReplacedMeanByRho
from .sum_bounds import SumBounds, mean_noises
from .units import UnitQuery


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
