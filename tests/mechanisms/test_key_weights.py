"""Weights by the number of keys: known noise, thresholds and weights, and where there are none."""

from collections.abc import Iterator
from fractions import Fraction

import pytest

from discreet.mechanisms import key_rules
from discreet.mechanisms.key_rules import best_threshold
from discreet.mechanisms.key_weights import best_weights, largest_weights
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.mechanisms.testing import SeededBits
from discreet.privacy.gaussian_keys import GaussianThreshold, WeightedThreshold

F = Fraction
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
