"""Bounds in whole steps: their sensitivity, the sums between them, and means of noisy numbers."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.noisy_counts import NoisyCounts, counts_sensitivity
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.verbs.mean_noise import name_of_mean
from discreet.tables.verbs.noisy_numbers import ListNoise
from discreet.tables.verbs.sum_bounds import (
    SumBounds,
    default_step,
    power_of_ten,
    read_bounds,
)
from discreet.tables.verbs.units import read_unit_query


def noise_at(epsilon: Fraction, change: int = 1) -> ListNoise:
    sensitivity = counts_sensitivity(1, "add_remove", change=change)
    return ListNoise(NoisyCounts(), sensitivity, PrivacyParameter("epsilon", epsilon))


NO_NOISE = noise_at(Fraction(10**9))


def test_ends_are_rounded_half_up() -> None:
    assert read_bounds(0, 1, "2/5") == SumBounds(0, 3, Fraction(2, 5))
    assert read_bounds("-1/2", "1/2", 1) == SumBounds(0, 1, Fraction(1))
    assert read_bounds(0, 120, None).step == Fraction(1, 1000)
    with pytest.raises(InvalidArgument, match="missing"):
        read_bounds(None, 1, None)


def test_the_middle_is_a_point() -> None:
    bounds = SumBounds(0, 3, Fraction(1, 3))
    assert bounds.middle == 1
    assert bounds.from_middle() == SumBounds(-1, 2, Fraction(1, 3))


def test_sensitivity_is_never_zero() -> None:
    alone = read_unit_query({})
    assert SumBounds(0, 0, Fraction(1)).sensitivity(alone).spread == 1
    replaced = read_unit_query({"neighbors": "replace_one"})
    assert SumBounds(0, 0, Fraction(1)).sensitivity(replaced).spread == 1
    assert SumBounds(-2, 5, Fraction(1)).sensitivity(alone).spread == 5
    assert SumBounds(-2, 5, Fraction(1)).sensitivity(replaced).spread == 7


def test_totals_are_exact() -> None:
    column = ArrayColumn(np.array([0.5, 2.0, 9.0]))
    bounds = SumBounds(1, 4, Fraction(1))
    assert bounds.total(column) == [1 + 2 + 4]
    assert bounds.size_and_total(column) == [[3], [-1 + 0 + 2]]


def test_a_mean_is_cut_to_the_bounds_and_rounded() -> None:
    name = name_of_mean(SumBounds(0, 10, Fraction(1)), [NO_NOISE, NO_NOISE])
    assert name([3, 1]).value == Decimal("5.333")
    assert name([3, 1]).counts == 3
    assert name([1, 99]).value == 10
    assert name([1, -99]).value == 0
    assert name([0, 5]).value is None
    constant = name_of_mean(SumBounds(7, 7, Fraction(1, 2)), [NO_NOISE, NO_NOISE])
    assert constant([2, 5]).value == Decimal("3.5")


@pytest.mark.parametrize(
    "numbers", [(4000, 164_237), (4000, -164_237), (3, 100), (1, 10**9), (10**9, 7)]
)
@pytest.mark.parametrize("ends", [(0, 120), (-60, 60), (3, 4), (0, 10**6)])
@pytest.mark.parametrize("step", [Fraction(1), Fraction(1, 3), Fraction(1, 1000), Fraction(25)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 50), Fraction(1), Fraction(10**6)])
def test_a_mean_has_the_decimals_that_its_noise_supports(
    numbers: tuple[int, int], ends: tuple[int, int], step: Fraction, epsilon: Fraction
) -> None:
    """What rounding adds is at most a quarter of the scale of the noise, or half of a thousandth of a step."""
    bounds, noise = SumBounds(*ends, step), noise_at(epsilon)
    answer = Fraction(name_of_mean(bounds, [noise, noise])(numbers).value)
    exact = bounds.middle + Fraction(numbers[1], numbers[0])
    cut = min(max(exact, Fraction(bounds.low)), Fraction(bounds.high)) * step
    width = Fraction(ends[1] - ends[0])
    scale = (1 + width / 2) * noise.scale / numbers[0] * step
    assert bounds.low * step <= answer <= bounds.high * step
    # An end of the bounds may be no such number: the next one within them is one unit away at most.
    at_an_end = abs(cut - answer) <= min(scale / 2, width * step / 10) and answer != cut
    assert abs(cut - answer) <= max(scale / 4, step / 2000) or at_an_end


def test_the_mean_of_four_thousand_ages_has_two_decimals() -> None:
    bounds = SumBounds(0, 120, Fraction(1))
    size, total = noise_at(Fraction(1, 2)), noise_at(Fraction(1, 2), 60)
    assert name_of_mean(bounds, [size, total])([4000, -75_761]).value == Decimal("41.06")


@pytest.mark.parametrize(
    ("number", "power"),
    [
        ("0", "0"),
        ("1", "1"),
        ("9.9", "1"),
        ("10", "10"),
        ("0.1", "0.1"),
        ("0.11", "0.1"),
        ("0.0999", "0.01"),
    ],
)
def test_powers_of_ten(number: str, power: str) -> None:
    assert power_of_ten(Fraction(number)) == Fraction(power)


def test_the_default_step_is_a_power_of_ten() -> None:
    for width in (Fraction(1, 10**40), Fraction(7), Fraction(10**300)):
        assert 10**5 <= width / default_step(width) < 10**6
