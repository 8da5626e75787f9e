"""Randomised response: its probabilities, and that the truth costs eta, not twice it."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb

from discreet.errors import InvalidArgument, InvalidCandidates
from discreet.mechanisms import Exponential
from discreet.mechanisms.contract import Law, PrivacyParameter
from discreet.mechanisms.testing import bit_tree
from discreet.privacy.guarantees import PureDP, ResponseDP
from discreet.sampling.enclosures import ball, precision
from discreet.selection.candidates import Labels
from discreet.selection.noise import randomized_response
from discreet.selection.scores.truth import Truth

NOWHERE = Fraction(0)


def law(value: Any, k: int, epsilon: Any = 1) -> Law:
    score = Truth(value, Labels(range(k)))
    calibrated = Exponential().calibrate(
        score.sensitivity("replace_one"), PrivacyParameter("epsilon", Fraction(epsilon))
    )
    guarantee = PureDP(epsilon) if k <= 2 else ResponseDP(epsilon, k)
    assert calibrated.guarantee == replace(guarantee, neighbors="replace_one")
    return calibrated.law(score.compute(NOWHERE))


def probabilities(value: Any, k: int, epsilon: Any = 1) -> list[arb]:
    with precision(128):
        return law(value, k, epsilon).probabilities()


@pytest.mark.parametrize(
    ("k", "epsilon", "golden"),
    [(2, 1, ".7310585786"), (3, 1, ".5761168848"), (10, 1, ".2319693167"), (2, 5, ".9933071491")],
)
def test_the_truth_has_its_probability(k: int, epsilon: int, golden: str) -> None:
    with precision(128):
        for value in range(k):
            p = probabilities(value, k, epsilon)
            assert abs(p[value] - ball(Fraction(golden))) < 1e-10
            others = [q for i, q in enumerate(p) if i != value]
            assert all(abs(q - (1 - p[value]) / (k - 1)) < 1e-30 for q in others)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("value", [0, 1, "elsewhere"])
def test_the_draw_is_the_law(k: int, value: Any) -> None:
    tree = bit_tree(law(value, k).draw, 14)
    with precision(200):
        e = arb(1).exp()
        inside = value in range(k)
        for i in range(k):
            weight = e if i == value else arb(1)
            assert tree.admits(i, weight / (e + k - 1 if inside else k))


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(6)])
def test_any_two_values_are_within_epsilon(k: int, epsilon: Fraction) -> None:
    """Values that are no candidate included, and the bound is reached by those that are."""
    with precision(128):
        laws = [probabilities(value, k, epsilon) for value in (*range(k), "elsewhere")]
        losses = [
            (p / q).log()
            for one, other in product(laws, repeat=2)
            for p, q in zip(one, other, strict=True)
        ]
        assert not any(loss > ball(epsilon) for loss in losses)
        assert k == 1 or any(loss.overlaps(ball(epsilon)) for loss in losses)


@pytest.mark.parametrize("value", [None, float("nan"), [1], {}, "x", np.array([1, 2]), 271828])
def test_a_value_that_is_no_candidate_scores_nothing(value: Any) -> None:
    score = Truth(value, Labels(["a", "b", "c"]))
    assert score.compute(NOWHERE).values.tolist() == [0, 0, 0]
    assert "271828" not in repr(score)
    assert not score.in_runs


def test_equal_as_in_python() -> None:
    assert Truth(np.int64(1), Labels([0, 1])).compute(NOWHERE).values.tolist() == [0, 1]
    assert Truth(True, Labels([False, True])).compute(NOWHERE).values.tolist() == [0, 1]


def test_the_verb() -> None:
    release = randomized_response("yes", ["yes", "no"], epsilon=99)
    assert (release.value, release.guarantee) == ("yes", PureDP(Fraction(99), "replace_one"))
    many = randomized_response("yes", ["yes", "no"], epsilon=1, size=3, neighbors="replace_one")
    assert many.guarantee == PureDP(Fraction(1), "replace_one").repeated(3)
    assert randomized_response("x", ["no"], scale=1).guarantee == PureDP(Fraction(1), "replace_one")
    with pytest.raises(InvalidArgument, match="replace_one"):
        randomized_response("yes", ["yes", "no"], epsilon=1, neighbors="add_remove")
    with pytest.raises(InvalidCandidates):
        randomized_response("yes", [], epsilon=1)
