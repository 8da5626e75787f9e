"""Sums of groups with Gaussian noise, of which records are replaced: the worst case of common groups, and rho."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.mechanisms.contract import PrivacyParameter, calibrate
from discreet.mechanisms.count_noise import choose_noise
from discreet.mechanisms.gaussian_counts import GaussianCounts
from discreet.privacy import ZCDP, ReplacedSumsDP
from discreet.privacy.gaussian_cells import Cells, cases_of_sums, delta_of_cases, delta_of_moves
from discreet.privacy.sensitivity import ReplacedGroups, Sensitivity

F = Fraction


def sums_at(sigma_squared: Fraction, common: int = 0) -> ReplacedSumsDP:
    return ReplacedSumsDP(sigma_squared, 2, common, 2, 3)


def test_the_worst_number_of_common_groups_is_neither_none_nor_all() -> None:
    """The referee's numbers: of 0, 1 and 2 common groups the one in the middle has the largest delta."""
    cases = cases_of_sums(F(1), 2, 0, 2, 3)
    found = [delta_of_moves(moves, F(9)) for moves in cases]
    for delta, value in zip(
        found, ("0.329019771981", "0.365181080809", "0.347740179722"), strict=True
    ):
        assert abs(delta / F(value) - 1) < F(1, 10**11)
    assert sums_at(F(1)).delta_at(9) == found[1] == delta_of_cases(cases, F(9))
    ends = [delta_of_moves(moves, F(36)) for moves in cases_of_sums(F(1, 2), 2, 0, 2, 3)]
    assert ends[1] > 3 * max(ends[0], ends[2])
    assert sums_at(F(1), 1).delta_at(9) == found[1]
    assert sums_at(F(1), 2).delta_at(9) == found[2]


def test_rho_of_replaced_sums_is_that_of_the_worse_end() -> None:
    assert sums_at(F(1)).rho == F(18, 2)
    assert ReplacedSumsDP(F(1), 2, 0, 3, 4).rho == F(36, 2)
    assert ReplacedSumsDP(F(1), 2, 1, 3, 4).rho == F(16 + 18, 2)


def test_farther_off_rho_grows_by_the_square_of_the_steps() -> None:
    near = sums_at(F(1))
    assert near.group(1) == near
    assert near.group(2) == ZCDP(F(36), "replace_one")
    assert near.group(3) == ZCDP(F(81), "replace_one")


def test_many_cases_are_taken_together_and_none_is_lost() -> None:
    every = cases_of_sums(F(1), 64 * 3, 0, 2, 3)
    assert len(every) == 49
    assert every[0] == (Cells(F(1), 3, 3), Cells(F(1), 2 * 192, 2))
    exact = [moves for t in range(65) for moves in cases_of_sums(F(400), 64, t, 2, 3)[:1]]
    few = cases_of_sums(F(400), 64, 0, 2, 3)
    assert len(few) == 33
    assert max(delta_of_moves(moves, F(2)) for moves in exact) <= delta_of_cases(few, F(2))


@pytest.mark.parametrize("epsilon", [F(1, 2), F(1), F(20)])
@pytest.mark.parametrize(("steps", "moved"), [(2, 3), (100_000, 140_001)])
def test_the_noise_of_replaced_sums_is_enough_and_hardly_more(
    epsilon: Fraction, steps: int, moved: int
) -> None:
    spread = F(2 * 3 * steps)
    sensitivity = Sensitivity(spread, "replace_one", replacement=ReplacedGroups(3, 0, steps, moved))
    parameter = PrivacyParameter("epsilon", epsilon)
    promise: Any = calibrate(GaussianCounts(delta=F(1, 10**6)), sensitivity, parameter).guarantee
    assert promise == ReplacedSumsDP(promise.sigma_squared, 3, 0, steps, moved)
    assert promise.delta_at(epsilon) <= F(1, 10**6)
    less = ReplacedSumsDP(promise.sigma_squared * F(2047, 2048), 3, 0, steps, moved)
    assert less.delta_at(epsilon) > F(1, 10**6)
    assert "replacement" in sensitivity.as_dict()
    with_rho = choose_noise(sensitivity, PrivacyParameter("rho", F(1, 50)), None, 9)
    assert with_rho == GaussianCounts()
