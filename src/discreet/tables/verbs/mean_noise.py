"""The noise of both numbers of a mean, at one price: docs/reference/mechanisms/gaussian_noise.md."""

from collections.abc import Sequence
from fractions import Fraction

from ...mechanisms.contract import PrivacyParameter
from ...mechanisms.count_noise import NoiseChoice, choice_between, is_better
from ...mechanisms.gaussian_counts import GaussianCounts
from ...mechanisms.noisy_counts import changed_cells, counts_sensitivity
from ...privacy.gaussian_calibration import least_common_parameter
from ...privacy.gaussian_cells import Cells
from ...privacy.sensitivity import Sensitivity
from .noisy_numbers import ListNoise, NoisePrice
from .sum_bounds import SumBounds, mean_noises
from .units import UnitQuery


def noises_of_mean(
    bounds: SumBounds, unit_query: UnitQuery, price: NoisePrice
) -> Sequence[ListNoise]:
    """Return the noise of the numbers of records of the groups, and that of their sums from the middle.

    The price is that of both together: each has half of it, or with a delta both have Gaussian noise that costs it
    together, if that is the smaller for each of them.
    """
    halves = mean_noises(bounds, unit_query, price.part(2))
    if price.delta is None or not price.pays_gaussian:
        return halves
    together = _gaussian_pair(halves, price.parameter.value, price.delta)
    pairs = zip(together, halves, strict=True)
    is_smaller = all(
        is_better(one.noise, other.noise, unit_query.group_count) for one, other in pairs
    )
    return together if is_smaller else halves


def choice_of_mean(
    bounds: SumBounds, unit_query: UnitQuery, price: NoisePrice
) -> NoiseChoice | None:
    """Return which noise the sum of a mean has and why, in units of the data; None where there is no choice."""
    half = price.part(2)
    halves = mean_noises(bounds, unit_query, half)
    total = halves[1]
    choice = half.choice(total)
    if price.delta is not None and price.pays_gaussian:
        _, gaussian = _gaussian_pair(halves, price.parameter.value, price.delta)
        taken = noises_of_mean(bounds, unit_query, price)[0].mechanism.name
        choice = choice_between(taken, total.noise, gaussian.noise)
    return None if choice is None else choice.times(bounds.step)


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
