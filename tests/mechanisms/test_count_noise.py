"""Geometric or Gaussian noise: the smaller variance by public numbers, at known places."""

from fractions import Fraction

import pytest

from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.count_noise import (
    NoiseChoice,
    choose_noise,
    compare_noise,
    read_noise_choice,
)
from discreet.mechanisms.gaussian_counts import GaussianCounts
from discreet.mechanisms.noisy_counts import NoisyCounts, counts_sensitivity
from discreet.privacy.sensitivity import Sensitivity

F = Fraction
DELTAS = (4, 5, 6, 8, 10, 12)
FIRST = {
    "0.1": (4, 5, 7, 11, 15, 19), "0.25": (4, 6, 8, 12, 16, 20), "0.5": (5, 7, 9, 13, 17, 21),
    "1": (6, 7, 9, 14, 18, 22), "2": (7, 8, 10, 15, 19, 23), "3": (7, 9, 11, 15, 20, 24),
    "5": (9, 11, 13, 17, 21, 25), "10": (12, 14, 16, 20, 24, 29),
}  # fmt: skip
"""The least number of counts that one record moves from which Gaussian noise wins, by epsilon and delta."""


def name_of(parameter: PrivacyParameter, cells: int, delta: Fraction | None, steps: int = 1) -> str:
    sensitivity = counts_sensitivity(cells, "add_remove", change=steps)
    return choose_noise(sensitivity, parameter, delta, 5).name


@pytest.mark.parametrize("epsilon", FIRST)
@pytest.mark.parametrize("place", range(len(DELTAS)))
def test_with_epsilon_and_delta_gaussian_noise_wins_from_a_known_number_of_counts_on(
    epsilon: str, place: int
) -> None:
    parameter, first = PrivacyParameter("epsilon", F(epsilon)), FIRST[epsilon][place]
    delta = F(1, 10 ** DELTAS[place])
    assert name_of(parameter, first - 1, delta) == "geometric"
    assert name_of(parameter, first, delta) == "gaussian"
    assert name_of(parameter, 10 * first, delta) == "gaussian"


def test_with_rho_it_nearly_always_wins() -> None:
    for rho, cells, name in (
        (F(212, 100), 1, "gaussian"), (F(213, 100), 1, "geometric"), (F(1, 50), 1, "gaussian"),
        (F(10), 4, "geometric"), (F(10), 5, "gaussian"),
    ):  # fmt: skip
        assert name_of(PrivacyParameter("rho", rho), cells, None) == name
    for rho, name in ((F(1634, 1000), "gaussian"), (F(1635, 1000), "geometric")):
        assert name_of(PrivacyParameter("rho", rho), 1, None, steps=10**5) == name


def test_delta_decides_nothing_where_it_is_not_used() -> None:
    rho = PrivacyParameter("rho", F(1, 50))
    found = choose_noise(counts_sensitivity(9, "add_remove"), rho, F(1, 10**6), 5)
    assert found == GaussianCounts()
    assert name_of(PrivacyParameter("scale", F(1)), 50, F(1, 10**6)) == "geometric"
    assert name_of(PrivacyParameter("epsilon", F(1)), 50, None) == "geometric"
    assert choose_noise(Sensitivity(F(9), "replace_one"), rho, None, 5) == NoisyCounts()


def test_many_numbers_with_very_wide_noise_stay_geometric() -> None:
    rho, sensitivity = PrivacyParameter("rho", F(1, 10**9)), counts_sensitivity(1, "add_remove")
    assert choose_noise(sensitivity, rho, None, 10_000).name == "gaussian"
    assert choose_noise(sensitivity, rho, None, 10_001).name == "geometric"


def test_both_deviations_are_told_where_there_is_a_choice() -> None:
    one, delta = PrivacyParameter("epsilon", F(1)), F(1, 10**6)
    for cells, name, deviations in (
        (1, "geometric", ("1.36", "4.24")), (10, "gaussian", ("14.2", "13.4")), (50, "gaussian", ("70.8", "29.9")),
    ):  # fmt: skip
        sensitivity = counts_sensitivity(cells, "add_remove")
        choice = compare_noise(name, sensitivity, one, delta)
        assert choice is not None
        assert choose_noise(sensitivity, one, delta, 9).name == name
        plain = choice.as_dict()
        assert (plain["geometric"], plain["gaussian"]) == deviations
        assert (choice.geometric < choice.gaussian) == (name == "geometric")
        own, other = deviations if name == "geometric" else deviations[::-1]
        assert f"deviation of {own}" in str(choice)
        assert str(choice).endswith(f"would have {other}")
        assert read_noise_choice(plain).as_dict() == plain
    nothing = counts_sensitivity(50, "add_remove")
    assert compare_noise("geometric", nothing, one, None) is None
    assert compare_noise("geometric", nothing, PrivacyParameter("scale", F(1)), delta) is None
    assert NoiseChoice("geometric", F(2), F(3)).times(F(1, 2)) == NoiseChoice(
        "geometric", F(1), F(3, 2)
    )
