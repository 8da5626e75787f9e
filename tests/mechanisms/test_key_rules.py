"""Which rule shows keys, from public numbers: the least thresholds, and where each rule is better."""

from collections.abc import Iterator
from fractions import Fraction

import pytest

from discreet.mechanisms import key_rules
from discreet.mechanisms.key_rules import (
    best_threshold,
    best_weights,
    better_threshold,
    largest_weights,
)
from discreet.mechanisms.key_shares import best_share
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.mechanisms.testing import SeededBits
from discreet.privacy.gaussian_keys import GaussianThreshold, WeightedThreshold
from discreet.privacy.sensitivity import Neighbors

F = Fraction

THRESHOLDS = [
    ("1", "1e-6", 1, "add_remove", "573/32", 22), ("1", "1e-6", 2, "add_remove", "2287/64", 31),
    ("1", "1e-6", 3, "add_remove", "107/2", 38), ("1", "1e-6", 5, "add_remove", "357/4", 50),
    ("1", "1e-6", 10, "add_remove", "357/2", 71), ("1", "1e-6", 20, "add_remove", "357", 103),
    ("1", "1e-6", 50, "add_remove", "1785/2", 166), ("1", "1e-6", 100, "add_remove", "1785", 239),
    ("1", "1e-6", 1, "replace_one", "2287/64", 30),
]  # fmt: skip


@pytest.mark.parametrize(
    ("epsilon", "delta", "keys", "relation", "sigma_squared", "least"), THRESHOLDS
)
def test_the_least_thresholds(
    epsilon: str, delta: str, keys: int, relation: Neighbors, sigma_squared: str, least: int
) -> None:
    found = best_threshold(F(epsilon), F(delta), keys, relation)
    assert found == GaussianThreshold(F(sigma_squared), least, keys, relation)
    assert found.keeps(F(epsilon), F(delta))
    lower = GaussianThreshold(F(sigma_squared), least - 1, keys, relation)
    assert not lower.keeps(F(epsilon), F(delta))


FIRST: dict[tuple[str, Neighbors], list[int]] = {
    ("1/10", "add_remove"): [3, 3, 3, 4, 4], ("1", "add_remove"): [3, 3, 3, 4, 4],
    ("2", "add_remove"): [3, 3, 4, 4, 4], ("3", "add_remove"): [3, 4, 4, 4, 4],
    ("5", "add_remove"): [4, 4, 4, 4, 4], ("10", "add_remove"): [6, 5, 5, 5, 5],
}  # fmt: skip
"""From so many keys on the Gaussian rule is better, at a delta of 1e-4, 1e-6, 1e-8, 1e-10 and 1e-12."""


@pytest.mark.parametrize(("epsilon", "relation"), FIRST)
def test_from_how_many_keys_on_the_gaussian_rule_is_taken(
    epsilon: str, relation: Neighbors
) -> None:
    for delta, first in zip((4, 6, 8, 10, 12), FIRST[epsilon, relation], strict=True):
        for keys in (first - 1, first, first + 1):
            public = F(epsilon), F(1, 10**delta), keys
            best = best_threshold(*public, relation)
            better = better_threshold(best_share(*public), best, shows_counts=False)
            assert (better is not None) == (keys >= first)


@pytest.mark.parametrize("delta", ["1e-6", "1e-8"])
@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_of_replaced_units_two_keys_are_enough(epsilon: str, delta: str) -> None:
    for keys in (1, 2, 3):
        mechanism = PrivateKeys(F(epsilon), F(delta), keys, "replace_one")
        assert (mechanism.threshold is not None) == (keys >= 2)


def test_where_counts_are_shown_their_noise_decides_too() -> None:
    """At three keys 38 in place of 40 records, but a deviation of 7.3 in place of 4.2."""
    for keys, taken in [(2, False), (3, False), (4, False), (5, True), (9, True), (40, True)]:
        mechanism = PrivateKeys(F(1), F(1, 10**6), keys, shows_counts=True)
        assert (mechanism.threshold is not None) == taken
    assert PrivateKeys(F(1), F(1, 10**6), 3).even == 38
    assert PrivateKeys(F(1), F(1, 10**6), 3, shows_counts=True).even == 40


@pytest.mark.parametrize("shows_counts", [False, True])
def test_no_rule_is_taken_that_shows_fewer_keys(shows_counts: bool) -> None:
    for epsilon in ("1/10", "4"):
        for keys in (1, 2, 3, 9):
            for relation in ("add_remove", "replace_one"):
                about = F(epsilon), F(1, 10**7), keys, relation
                mechanism = PrivateKeys(*about, shows_counts=shows_counts)  # type: ignore[arg-type]
                share = mechanism.share
                optimal = PrivateKeys(share.epsilon, share.delta)
                assert mechanism.even <= optimal.even


def test_ties_go_to_the_optimal_rule() -> None:
    share = best_share(F(10), F(1, 10**6), 3)  # 6 records by either rule
    best = best_threshold(F(10), F(1, 10**6), 3, "add_remove")
    assert best is not None
    assert best.least == 6
    assert better_threshold(share, best, shows_counts=False) is None
    assert better_threshold(share, None, shows_counts=False) is None


def test_a_table_that_would_be_too_long_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    assert best_threshold(F(1, 10**5), F(1, 10**6), 9, "add_remove") is None
    best_threshold.cache_clear()
    monkeypatch.setattr(key_rules, "LONGEST_TABLE", 198)  # that of ten keys has 198 counts
    assert best_threshold(F(1), F(1, 10**6), 10, "add_remove") is not None
    best_threshold.cache_clear()
    monkeypatch.setattr(key_rules, "LONGEST_TABLE", 197)
    assert best_threshold(F(1), F(1, 10**6), 10, "add_remove") is None
    best_threshold.cache_clear()


def test_a_threshold_may_be_above_that_of_new_keys_alone() -> None:
    """Where own keys on both sides need most: the search goes on from there, to the least that is enough."""
    epsilon, delta, keys = F(1, 100), F(1, 5), 4
    found = best_threshold(epsilon, delta, keys, "replace_one")
    assert found is not None
    first = key_rules._least_for_new_keys(found.sigma_squared, delta, keys, 1)
    assert found.least > first
    before = GaussianThreshold(found.sigma_squared, found.least - 1, keys, "replace_one")
    assert (found.keeps(epsilon, delta), before.keeps(epsilon, delta)) == (True, False)


MICRO = F(1, 10**6)

OF_FIVE = (57, 47, 41, 35, 32, 29, 27, 25, 23, 22, 21, 20, 19, 19, 18, 17, 17, 16, 16, 16)
OF_TEN = (38, 33, 30, 27, 26, 24, 23, 22, 21, 21, 20, 19, 19, 18, 18, 17, 17, 16, 16, 16)

KNOWN = [
    (1, 3, "13708", 599, (27, 19, 16)),
    (1, 40, "182784", 2348, tuple(largest_weights(16, 40))),
    (5, 20, "4918", 391, OF_FIVE),
    (10, 20, "2999/2", 223, OF_TEN),
]


@pytest.mark.parametrize(("epsilon", "keys", "sigma_squared", "least", "weights"), KNOWN)
def test_known_weights(
    epsilon: int, keys: int, sigma_squared: str, least: int, weights: tuple[int, ...]
) -> None:
    assert best_weights(F(epsilon), MICRO, keys) == WeightedThreshold(
        F(sigma_squared), least, weights
    )


@pytest.mark.parametrize(
    ("keys", "sigma_squared", "least"), [(10, "11424", 565), (40, "45696", 1174)]
)
def test_known_thresholds_on_a_coarser_grid(keys: int, sigma_squared: str, least: int) -> None:
    found = best_threshold(F(1), MICRO, keys, "add_remove", 8)
    assert found == GaussianThreshold(F(sigma_squared), least, keys, "add_remove", 8)


def test_the_largest_weights_keep_the_sum_of_squares() -> None:
    for grid in (1, 2, 8, 16):
        for keys in (1, 2, 3, 10, 41, 1000):
            weights = largest_weights(grid, keys)
            assert weights[-1] == grid
            for j, weight in enumerate(weights, 1):
                assert j * weight**2 <= grid**2 * keys < j * (weight + 1) ** 2
    assert largest_weights(8, 10) == [25, 17, 14, 12, 11, 10, 9, 8, 8, 8]


def test_every_weight_is_the_largest_that_its_units_may_have() -> None:
    """Lowered by one where one own key would be shown too often, and no further."""
    for keys, (weight, most) in enumerate(zip(OF_TEN, largest_weights(16, 20), strict=True), 1):
        one, more = (
            GaussianThreshold(F(2999, 2), 223, keys, "add_remove", w) for w in (weight, weight + 1)
        )
        assert one.keeps(F(10), MICRO)
        assert weight == most or (weight < most and not more.keeps(F(10), MICRO))


@pytest.fixture
def no_cache() -> Iterator[None]:
    caches = best_threshold, best_weights
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("no_cache")
def test_the_grid_is_the_largest_whose_table_is_not_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lengths = {16: 1710, 8: 855, 1: 108}
    for grid, length in lengths.items():
        best_threshold.cache_clear()
        best_weights.cache_clear()
        monkeypatch.setattr(key_rules, "LONGEST_TABLE", length + 5)
        found = best_weights(F(1), MICRO, 3)
        assert found is not None
        assert found.weights[-1] == grid
    best_threshold.cache_clear()
    best_weights.cache_clear()
    monkeypatch.setattr(key_rules, "LONGEST_TABLE", 50)
    assert best_weights(F(1), MICRO, 3) is None


FALL_BACKS = [
    {"neighbors": "replace_one"}, {"minimum_count": 2}, {"shows_counts": True}
]  # fmt: skip


@pytest.mark.parametrize("terms", FALL_BACKS)
def test_where_there_are_no_weights(terms: dict[str, object]) -> None:
    """For units that are replaced, for a least count, and where counts are shown: by the public parameters."""
    mechanism = PrivateKeys(F(1), MICRO, 10, **terms)  # type: ignore[arg-type]
    assert mechanism.rule == "gaussian"
    assert mechanism.weights is None
    assert "weights" not in mechanism.parameters
    assert mechanism.weight_of(1) == 1
    assert mechanism.least_even == mechanism.even
    weighted = PrivateKeys(F(1), MICRO, 10)
    assert weighted.parameters["weights"] == [50, 35, 29, 25, 22, 20, 19, 17, 16, 16]
    assert (weighted.parameters["sigma_squared"], weighted.parameters["threshold"]) == (45696, 1128)
    assert (weighted.even, weighted.least_even) == (71, 23)
    assert [weighted.weight_of(keys) for keys in (1, 10, 11, 10**6)] == [50, 16, 16, 16]
    assert PrivateKeys(F(1), MICRO, 1).weights is PrivateKeys(F(1), MICRO, 2).weights is None


def test_a_draw_by_weights() -> None:
    """Noisy sums reach the threshold, and a class of so much weight is shown with its probability."""
    mechanism = PrivateKeys(F(1), MICRO, 3)
    sizes = [20] * (mechanism.sure - 1) + [7]
    for with_counts in (False, True):
        drawn = mechanism.law(sizes, with_counts=with_counts).draw(SeededBits(5))
        assert drawn.least == 599
        expected = sum(20 * float(mechanism.chance(s)) for s in range(1, mechanism.sure)) + 7
        assert abs(len(drawn.places) - expected) < 5 * 50
        if drawn.shifts is not None:
            few = drawn.classes < mechanism.sure
            assert min((drawn.classes + drawn.shifts)[few]) >= 599
            assert abs(drawn.shifts.std() / 13708**0.5 - 1) < 0.1
