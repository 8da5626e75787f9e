"""The attacks of seed 2: they break the naive mechanism and none of ours."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from discreet import Base2, Exponential, NoisyMax, PermuteAndFlip
from discreet.bits import SystemBits
from discreet.enclosures import ball, precision
from discreet.mechanisms import Mechanism
from discreet.mechanisms.contract import Dial, Law
from discreet.privacy.sensitivity import sensitivity_of
from discreet.testing import bit_tree, log_ratios
from discreet.vectors import read_vector

from .naive import naive_probabilities, naive_weights, reference_base2

OURS: list[Mechanism] = [Exponential(), PermuteAndFlip(), NoisyMax(), NoisyMax("gumbel"), Base2()]

# Attack 1: 100 candidates, epsilon 0.5. All weights but one vanish in floats, if Alice is there.
X = 2980
WITH_ALICE_1, WITHOUT_1 = [X] + [X + 1] * 99, [X] * 100
# Attack 2: 1,000 candidates, epsilon 30. All weights are positive, but their sum loses all but one.
WITH_ALICE_2, WITHOUT_2 = [-0.5] + [2.0] * 999, [0.5] + [1.0] * 999


def law(mechanism: Mechanism, costs: list[Any], epsilon: Any) -> Law:
    """Return our law; the costs change by at most one and any way, so the spread is two."""
    scores = read_vector([-c for c in costs])
    return mechanism.tune(sensitivity_of(1, "add_remove"), Dial("epsilon", Fraction(epsilon))).law(
        scores
    )


def first(law: Law) -> Fraction:
    with precision(400):
        chance = law.probabilities()[0]
    return Fraction(float(chance))


def test_the_constants_are_those_of_the_seed() -> None:
    assert naive_weights([X], 0.5)[0] > 0
    assert naive_weights([X + 1], 0.5)[0] == 0
    t, s = np.exp(-15 * 1.0), np.exp(-15 * 0.5)
    assert t * 1000 / s > 0.1


def test_attack_one_breaks_the_naive_mechanism() -> None:
    assert naive_probabilities(WITH_ALICE_1, 0.5)[0] == 1  # nothing but o_1 is ever answered
    assert naive_probabilities(WITHOUT_1, 0.5)[0] == pytest.approx(0.01)


def test_attack_two_breaks_the_naive_mechanism_even_when_shifted() -> None:
    for shift in (False, True):
        assert naive_probabilities(WITH_ALICE_2, 30, shift=shift)[0] == 1
        assert naive_probabilities(WITHOUT_2, 30, shift=shift)[0] == pytest.approx(0.6441094032)


def test_attack_one_gets_the_true_probabilities() -> None:
    truth = 1 / (1 + 99 * math.exp(-0.25))
    assert math.isclose(truth, 0.0128038879, rel_tol=1e-8)
    assert math.isclose(first(law(Exponential(), WITH_ALICE_1, "1/2")), truth, rel_tol=1e-14)
    assert math.isclose(first(law(Exponential(), WITHOUT_1, "1/2")), 0.01, rel_tol=1e-14)


def test_attack_two_gets_the_true_probabilities() -> None:
    with precision(400):
        with_alice = 1 - law(Exponential(), WITH_ALICE_2, 30).probabilities()[0]
        without = 1 - law(Exponential(), WITHOUT_2, 30).probabilities()[0]
        truth = 999 * arb(-37.5).exp() / (1 + 999 * arb(-37.5).exp())
        assert with_alice.overlaps(truth)
    assert math.isclose(float(with_alice), 5.1703794508e-14, rel_tol=1e-9)
    assert math.isclose(float(without), 0.3558905968, rel_tol=1e-9)
    assert math.isclose(math.log(float(without) / float(with_alice)), 29.560, abs_tol=1e-3)


@pytest.mark.parametrize("mechanism", OURS, ids=str)
@pytest.mark.parametrize(
    ("with_alice", "without", "epsilon"),
    [(WITH_ALICE_1[:20], WITHOUT_1[:20], "1/2"), (WITH_ALICE_2[:20], WITHOUT_2[:20], 30)],
    ids=["attack 1", "attack 2"],
)
def test_no_mechanism_of_ours_tells_more_than_epsilon(
    mechanism: Mechanism, with_alice: list[Any], without: list[Any], epsilon: Any
) -> None:
    if isinstance(mechanism, Base2) and isinstance(with_alice[0], float):
        mechanism = Base2(granularity="1/2")  # these costs are halves
    with precision(2000):
        ratios = log_ratios(law(mechanism, with_alice, epsilon), law(mechanism, without, epsilon))
        assert all(ratio.is_finite() for ratio in ratios)
        assert not any(abs(ratio) > ball(Fraction(epsilon)) for ratio in ratios)


@pytest.mark.parametrize("mechanism", OURS, ids=str)
def test_attack_one_draws_all_candidates(mechanism: Mechanism) -> None:
    """The naive mechanism answers o_1 only; ours answers it in a few of a hundred draws."""
    drawn = np.asarray(law(mechanism, WITH_ALICE_1, "1/2").draws(400, SystemBits()))
    assert len(set(drawn.tolist())) > 50
    assert (drawn == 0).mean() < 0.1


def test_the_enumeration_catches_the_published_base_two_sampler() -> None:
    """One outcome has probability zero on one database and not on its neighbour: an infinite epsilon."""
    for utilities, counts in (
        ((0, 15), {0: 1}),
        ((1, 14), {0: Fraction(8193, 8194), 1: Fraction(1, 8194)}),
    ):
        tree = bit_tree(reference_base2(utilities, 14), 13)
        assert tree.undecided == 0
        truth = Fraction(1, 2 ** abs(utilities[1] - utilities[0]) + 1)
        assert tree.masses.get(1, 0) != truth
        if utilities == (0, 15):
            assert set(tree.masses) == set(counts)
