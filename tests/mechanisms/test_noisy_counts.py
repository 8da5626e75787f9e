"""Noisy counts: their guarantee by public numbers, and the law of what is answered."""

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import pytest
from flint import arb

from discreet.mechanisms.contract import Calibrated, PrivacyParameter, excess
from discreet.mechanisms.noisy_counts import (
    LARGEST_COUNT,
    NoisyCounts,
    NoisyCountsLaw,
    calibrate_counts,
    counts_sensitivity,
    moved_counts,
)
from discreet.mechanisms.testing import SeededBits, bit_tree
from discreet.privacy.guarantees import GeometricDP, Guarantee, PureDP
from discreet.privacy.rho import pure_rho
from discreet.privacy.sensitivity import Neighbors
from discreet.sampling.enclosures import lower, precision
from discreet.sampling.geometric import GeometricNoise
from discreet.sampling.vectors import Vector, integers

HALF = PrivacyParameter("epsilon", Fraction(1, 2))


def law_of(calibrated: Calibrated, *numbers: int) -> NoisyCountsLaw:
    law: Any = calibrated.law(Vector(integers(numbers)))
    assert isinstance(law, NoisyCountsLaw)
    return law


def eta_of(calibrated: Calibrated) -> Fraction:
    noise = law_of(calibrated, 1).noise
    assert isinstance(noise, GeometricNoise)
    return noise.eta


def test_one_count_is_epsilon_dp_and_nothing_better() -> None:
    guarantee = calibrate_counts(1, "add_remove", HALF).guarantee
    assert guarantee == PureDP(Fraction(1, 2))
    assert guarantee.kind == "pure_dp"
    assert guarantee.rho == pure_rho(Fraction(1, 2))


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("moved", [1, 2, 6])
def test_several_counts_are_composed(moved: int, neighbors: Neighbors) -> None:
    guarantee = calibrate_counts(moved, neighbors, HALF).guarantee
    assert guarantee == PureDP(Fraction(1, 2 * moved), neighbors).repeated(moved)
    assert guarantee.pure == Fraction(1, 2)
    assert guarantee.neighbors == neighbors


@pytest.mark.parametrize(
    ("kind", "value", "eta"),
    [("epsilon", Fraction(3), Fraction(1)), ("scale", Fraction(4), Fraction(1, 4))],
)
def test_the_noise_of_a_privacy_parameter(kind: str, value: Fraction, eta: Fraction) -> None:
    calibrated = calibrate_counts(3, "add_remove", PrivacyParameter(kind, value))  # type: ignore[arg-type]
    assert eta_of(calibrated) == eta
    assert calibrated.guarantee.pure == 3 * eta


def test_rho_is_spent_in_full() -> None:
    rho = Fraction(1, 100)
    calibrated = calibrate_counts(4, "add_remove", PrivacyParameter("rho", rho))
    eta = eta_of(calibrated)
    assert 4 * pure_rho(eta) <= rho < 4 * pure_rho(eta * Fraction(1001, 1000))


def test_a_record_replaced_moves_twice_as_many_counts_but_never_more_than_there_are() -> None:
    assert moved_counts(10, 1, "add_remove") == 1
    assert moved_counts(10, 1, "replace_one") == 2
    assert moved_counts(10, 3, "replace_one") == 6
    assert moved_counts(1, 1, "replace_one") == 1
    assert moved_counts(4, 9, "add_remove") == 4


def test_sums_of_larger_sensitivity_have_their_share_of_noise() -> None:
    sensitivity = counts_sensitivity(2, "add_remove", change=5)
    calibrated = NoisyCounts(-(10**6), 10**6).calibrate(sensitivity, HALF)
    assert eta_of(calibrated) == Fraction(1, 20)
    assert calibrated.guarantee == GeometricDP(Fraction(1, 4), 5).repeated(2)


def test_the_contract_refuses_more_noise_than_was_paid_for() -> None:
    sensitivity = counts_sensitivity(2, "replace_one")
    mechanism = NoisyCounts()
    for parameter in (
        HALF,
        PrivacyParameter("rho", Fraction(1, 9)),
        PrivacyParameter("scale", Fraction(3)),
    ):
        guarantee: Guarantee = mechanism.calibrate(sensitivity, parameter).guarantee
        assert excess(mechanism, guarantee, sensitivity, parameter) is None
    assert excess(mechanism, PureDP(Fraction(1), "replace_one"), sensitivity, HALF) is not None


@pytest.mark.parametrize("count", [0, 2, 4, 9])
def test_a_cut_count_has_its_known_distribution(count: int) -> None:
    law = law_of(NoisyCounts(0, 4).calibrate(counts_sensitivity(1, "add_remove"), HALF), count)
    with precision(128):
        chances = [law.probability(0, answer) for answer in range(-1, 6)]
        assert sum(chances, arb(0)).contains(arb(1))
        assert chances[0] == chances[-1] == 0
        tree = bit_tree(lambda bits: law.draw(bits)[0], 18)
        assert all(tree.admits(answer, chances[answer + 1]) for answer in range(5))
        if count == 2:
            known = ("0.228989990914488", "0.148550677883657", "0.244918662403709")
            for chance, value in zip(chances[1:4], known, strict=True):
                assert abs(chance - arb(value)) < 1e-14


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_no_answer_tells_neighbours_apart_by_more_than_epsilon(
    cells: int, neighbors: Neighbors
) -> None:
    """All lists of counts up to 2 with all their neighbours, and all answers from 0 to 3 of a cut list."""
    mechanism, epsilon = NoisyCounts(0, 3), Fraction(1)
    sensitivity = counts_sensitivity(moved_counts(cells, 1, neighbors), neighbors)
    calibrated = mechanism.calibrate(sensitivity, PrivacyParameter("epsilon", epsilon))
    most = 0.0
    for before, after in product(product(range(3), repeat=cells), repeat=2):
        if not _are_neighbors(before, after, neighbors):
            continue
        laws = [law_of(calibrated, *counts) for counts in (before, after)]
        with precision(128):
            for answer in product(range(4), repeat=cells):
                here, there = (
                    [law.probability(i, one) for i, one in enumerate(answer)] for law in laws
                )
                loss = (prod(here, start=arb(1)) / prod(there, start=arb(1))).log()
                assert lower(loss) <= epsilon
                most = max(most, float(loss.mid()))
    assert most == pytest.approx(1)


def _are_neighbors(before: tuple[int, ...], after: tuple[int, ...], neighbors: str) -> bool:
    """Return whether one row makes the difference, of which each is in one count, or, replaced, in none."""
    shift = [b - a for a, b in zip(before, after, strict=True)]
    if neighbors == "add_remove":
        return sum(map(abs, shift)) == 1
    return max(shift) <= 1 and min(shift) >= -1 and abs(sum(shift)) <= 1


def test_counts_of_any_size_are_exact() -> None:
    calibrated = calibrate_counts(1, "add_remove", PrivacyParameter("epsilon", Fraction(100)))
    law = law_of(calibrated, 2**70, 5, 2**63 - 1)
    assert law.noisy(SeededBits()) == [2**70, 5, 2**63 - 1]
    assert law.draw(SeededBits()) == [LARGEST_COUNT, 5, LARGEST_COUNT]
    assert len(law.draws(3, SeededBits())) == 3
    with precision(128):
        assert law.probability(0, LARGEST_COUNT) > 1 - arb(10) ** -20


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_the_scale_is_one_over_the_rate_of_the_noise(neighbors: Neighbors) -> None:
    sensitivity = counts_sensitivity(1, neighbors)
    law = law_of(NoisyCounts().calibrate(sensitivity, HALF), 1)
    assert isinstance(law.noise, GeometricNoise)
    assert NoisyCounts().scale(sensitivity, HALF) * law.noise.eta == 1
