"""Which rule shows keys, from public numbers: the least thresholds, and where each rule is better."""

from fractions import Fraction

import pytest

from discreet.mechanisms import key_rules
from discreet.mechanisms.key_rules import best_threshold, better_threshold
from discreet.mechanisms.key_shares import best_share
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.privacy.gaussian_keys import GaussianThreshold
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
