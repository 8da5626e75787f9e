"""Counts with Gaussian noise: their guarantee on all small tables, and the law of what is answered."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from flint import arb

from discreet.errors import InvalidArgument
from discreet.mechanisms.accuracy import gaussian_error
from discreet.mechanisms.contract import PrivacyParameter, calibrate, excess
from discreet.mechanisms.gaussian_counts import GaussianCounts
from discreet.mechanisms.noisy_counts import NoisyCountsLaw, counts_sensitivity, moved_counts
from discreet.mechanisms.testing import SeededBits, bit_tree
from discreet.privacy.guarantees import DiscreteGaussianDP, PureDP
from discreet.privacy.sensitivity import Neighbors, Sensitivity
from discreet.sampling.enclosures import lower, precision
from discreet.sampling.gaussian import GaussianNoise
from discreet.sampling.vectors import Vector, integers

from ..privacy.test_gaussian_cells import exact_delta

F = Fraction
ONE = PrivacyParameter("epsilon", F(1))
KEYS = 3


def law_of(mechanism: GaussianCounts, parameter: PrivacyParameter, *numbers: int) -> NoisyCountsLaw:
    sensitivity = counts_sensitivity(1, "add_remove")
    law: Any = mechanism.calibrate(sensitivity, parameter).law(Vector(integers(numbers)))
    assert isinstance(law, NoisyCountsLaw)
    return law


def units(most: int) -> list[tuple[int, ...]]:
    """All sets of keys that a unit may count for."""
    return [one for one in product(range(2), repeat=KEYS) if sum(one) <= most]


def tables(most: int) -> list[tuple[tuple[int, ...], ...]]:
    """All tables of up to three units."""
    return [
        table for size in range(4) for table in combinations_with_replacement(units(most), size)
    ]


def counts(table: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    return tuple(sum(unit[key] for unit in table) for key in range(KEYS))


def moves(most: int, neighbors: str) -> Iterator[tuple[int, ...]]:
    """By how much the counts of any two neighbours differ."""
    for table in tables(most):
        for i, one in enumerate(table):
            rest = (*table[:i], *table[i + 1 :])
            others = [rest] if neighbors == "add_remove" else [(*rest, u) for u in units(most)]
            for other in others:
                pairs = zip(counts((one, *rest)), counts(other), strict=True)
                yield tuple(sorted(abs(a - b) for a, b in pairs))


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [F(1, 2), F(2), F(8)])
def test_no_neighbours_of_all_small_tables_have_a_larger_delta(
    most: int, neighbors: Neighbors, epsilon: Fraction
) -> None:
    delta = F(1, 50)
    sensitivity = counts_sensitivity(moved_counts(KEYS, most, neighbors), neighbors)
    parameter = PrivacyParameter("epsilon", epsilon)
    promise = calibrate(GaussianCounts(delta=delta), sensitivity, parameter).guarantee
    assert isinstance(promise, DiscreteGaussianDP)
    least = promise.delta_at(epsilon)
    worst = F(0)
    for move in set(moves(most, neighbors)):
        moved = tuple(step for step in move if step)
        if moved:
            worst = max(worst, lower(exact_delta(promise.sigma_squared, moved, epsilon)))
    assert worst <= least <= delta
    assert worst > least * F(10**9 - 1, 10**9)


def test_rho_is_spent_exactly_and_epsilon_as_far_as_the_grid_goes() -> None:
    sensitivity = counts_sensitivity(3, "replace_one", change=7)
    by_rho = GaussianCounts().calibrate(sensitivity, PrivacyParameter("rho", F(1, 30))).guarantee
    assert by_rho == DiscreteGaussianDP(F(2205), 3, 7, "replace_one")
    assert by_rho.rho == F(1, 30)
    tight = GaussianCounts(delta=F(1, 10**6)).calibrate(counts_sensitivity(50, "add_remove"), ONE)
    assert tight.guarantee == DiscreteGaussianDP(F(1785, 2), 50)


def test_the_contract_refuses_less_noise_than_was_paid_for() -> None:
    mechanism = GaussianCounts(delta=F(1, 10**6))
    sensitivity = counts_sensitivity(10, "replace_one")
    enough = mechanism.calibrate(sensitivity, ONE).guarantee
    assert excess(mechanism, enough, sensitivity, ONE) is None
    for wrong in (
        DiscreteGaussianDP(F(357, 2), 20, 1, "replace_one"),
        DiscreteGaussianDP(F(178), 10, 1, "replace_one"),
        DiscreteGaussianDP(F(357, 2), 10),
    ):
        assert excess(mechanism, wrong, sensitivity, ONE) is not None
    assert excess(GaussianCounts(), enough, sensitivity, ONE) is not None
    assert excess(mechanism, PureDP(F(2), "replace_one"), sensitivity, ONE) is not None
    by_rho = PrivacyParameter("rho", F(1, 10))
    assert excess(mechanism, DiscreteGaussianDP(F(1), 1, 1, "replace_one"), sensitivity, by_rho)


def test_replaced_units_move_twice_as_many_counts() -> None:
    """With the noise of ten in place of twenty delta would be 218 times what is promised."""
    mechanism = GaussianCounts(delta=F(1, 10**6))
    found: list[Any] = [
        mechanism.calibrate(counts_sensitivity(moved_counts(99, 10, one), one), ONE).guarantee
        for one in ("add_remove", "replace_one")
    ]
    assert [one.sigma_squared for one in found] == [F(357, 2), F(357)]
    assert found[1].cells == 20


@pytest.mark.parametrize(
    ("mechanism", "parameter"),
    [
        (GaussianCounts(), ONE), (GaussianCounts(), PrivacyParameter("scale", F(1))),
        (GaussianCounts(delta=F(1, 9)), PrivacyParameter("scale", F(1))),
    ],
)  # fmt: skip
def test_gaussian_noise_needs_rho_or_delta(
    mechanism: GaussianCounts, parameter: PrivacyParameter
) -> None:
    with pytest.raises(InvalidArgument, match="needs rho, or epsilon and delta"):
        mechanism.calibrate(counts_sensitivity(1, "add_remove"), parameter)
    with pytest.raises(InvalidArgument, match="by how much one number moves"):
        GaussianCounts().calibrate(Sensitivity(F(3), "replace_one"), ONE)


@pytest.mark.parametrize("count", [0, 2, 4, 9])
def test_a_cut_count_has_its_distribution(count: int) -> None:
    law = law_of(GaussianCounts(0, 4), PrivacyParameter("rho", F(1, 4)), count)
    with precision(128):
        chances = [law.probability(0, answer) for answer in range(-1, 6)]
        assert sum(chances, arb(0)).contains(arb(1))
        tree = bit_tree(lambda bits: law.draw(bits)[0], 10)
        assert all(tree.admits(answer, chances[answer + 1]) for answer in range(5))


def test_counts_have_the_noise_of_their_words() -> None:
    law = law_of(GaussianCounts(), PrivacyParameter("rho", F(1, 50)), 5, -7, 2**70)
    noise = GaussianNoise(F(25)).draws(3, SeededBits(4)).tolist()
    assert law.noisy(SeededBits(4)) == [5 + noise[0], noise[1] - 7, 2**70 + noise[2]]
    assert law.draw(SeededBits(4))[2] == 2**63 - 1


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize("sigma_squared", [F(1, 50), F(2), F(357), F(10**10)])
def test_the_error_is_the_least_that_few_answers_reach(sigma_squared: Fraction, size: int) -> None:
    noise, share = GaussianNoise(sigma_squared), F(95, 100)
    error = gaussian_error(noise, size, share)
    with precision(128):
        assert 2 * size * noise.above(error) <= 0.05
        assert error == 0 or 2 * size * noise.above(error - 1) > 0.05
