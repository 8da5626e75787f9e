"""The share of one key: rounded against ourselves, and certified by the composition of the library."""

from fractions import Fraction

import pytest
from flint import arb

from discreet.mechanisms.key_shares import best_share, count_of_half, share_at
from discreet.privacy.composition import Composition
from discreet.privacy.guarantees import ApproxDP
from discreet.privacy.kov import Responses
from discreet.sampling.enclosures import ball, precision

SPLITS = {
    2: "5.00000125000063e-7", 3: "3.33333444444506e-7", 5: "2.00000080000048e-7", 10: "1.00000045000029e-7",
}  # fmt: skip
RESPONSES = {
    (10, "0.2"): "0.0247329970131864", (20, "0.0555"): "1.71717690066470e-7",
    (30, "0.05"): "5.62613675196582e-6",
    (50, "0.03"): "3.12320480366729e-8", (100, "0.02"): "8.46228996520587e-9",
}  # fmt: skip
HALVES = [
    ("1", "1e-6", 1, 14), ("1", "1e-6", 2, 27), ("1", "1e-6", 5, 67), ("1", "1e-6", 10, 132),
    ("1", "1e-6", 20, 243),
    ("1", "1e-6", 50, 425), ("1", "1e-6", 100, 628), ("1", "1e-8", 20, 356), ("1", "1e-8", 50, 658),
    ("1", "1e-8", 100, 971), ("3", "1e-6", 10, 48), ("3", "1e-6", 30, 122), ("3", "1e-6", 100, 244),
]  # fmt: skip


@pytest.mark.parametrize("keys", SPLITS)
def test_the_split(keys: int) -> None:
    delta = Fraction(1, 10**6)
    share = best_share(Fraction(1), delta, keys)
    assert share.epsilon == Fraction(1, keys)
    assert abs(share.delta / Fraction(SPLITS[keys]) - 1) < Fraction(1, 10**14)
    assert 1 - (1 - share.delta) ** keys <= delta
    assert 1 - (1 - share.delta * (1 + Fraction(1, 2**50))) ** keys > delta


@pytest.mark.parametrize(("keys", "own"), RESPONSES)
def test_the_delta_of_responses(keys: int, own: str) -> None:
    rest = Responses.of([(Fraction(own), keys)])
    assert rest is not None
    assert abs(rest.delta(Fraction(1)) / Fraction(RESPONSES[keys, own]) - 1) < Fraction(1, 10**13)
    delta = Fraction(1, 10)
    share = share_at(Fraction(1), delta, keys, Fraction(own))
    assert share is not None
    left = (1 - rest.delta(Fraction(1))) * (1 - share.delta) ** keys
    assert 0 <= left - (1 - delta) < Fraction(1, 10**15)  # R up, delta_0 down


@pytest.mark.parametrize(("epsilon", "delta", "keys", "least"), HALVES)
def test_the_better_of_both(epsilon: str, delta: str, keys: int, least: int) -> None:
    whole = Fraction(epsilon), Fraction(delta)
    share = best_share(*whole, keys)
    with precision(128):
        assert least - 1 < count_of_half(share) <= least
    if keys == 1:
        assert share == whole
        return
    together = Composition(((ApproxDP(*share), keys),))
    assert together.delta_at(whole[0]) <= whole[1]
    split = share_at(*whole, keys, whole[0] / keys)
    assert split is not None
    assert count_of_half(share) < count_of_half(split) + arb(2) ** -40


def test_no_delta_is_left_for_a_large_epsilon() -> None:
    assert share_at(Fraction(1), Fraction(1, 10**6), 10, Fraction(1, 2)) is None


def test_a_composition_with_the_whole_delta_is_a_mutant() -> None:
    """1 - (1 - delta)(1 - R) for several keys, as if delta were once a call, is not certified."""
    delta, own, keys = Fraction(1, 10**6), Fraction(1, 20), 20
    wrong = Composition(((ApproxDP(own, delta), keys),))
    assert wrong.delta_at(1) > delta


def test_the_count_of_half_is_where_the_probability_passes_it() -> None:
    from discreet.sampling.key_probabilities import OptimalProbabilities

    for epsilon, delta, keys, least in HALVES[:5]:
        share = best_share(Fraction(epsilon), Fraction(delta), keys)
        law = OptimalProbabilities(*share)
        with precision(128):
            assert law.probability(least) >= arb(0.5) > law.probability(least - 1)
    assert ball(Fraction(1)) == 1
