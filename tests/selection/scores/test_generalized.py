"""Scores whose sensitivity differs from candidate to candidate."""

import math
from fractions import Fraction
from itertools import product

import pytest

import discreet
from discreet.errors import InvalidArgument, InvalidNumber, InvalidScores
from discreet.mechanisms import read_mechanism
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.testing import bit_tree, log_ratios
from discreet.sampling.enclosures import precision
from discreet.sampling.vectors import read_vector
from discreet.selection.scores.generalized import Generalized, read_changes
from discreet.selection.select_generalized import select_generalized
from tests.selection.test_select_generalized import by_definition, computed


@pytest.mark.parametrize("t", [0, 1, 3])
@pytest.mark.parametrize("changes", [(1, 1, 1), (1, 2, 4), (1, 3, 3)])
@pytest.mark.one_in(3)
def test_the_sensitivity_is_1(changes: tuple[int, ...], t: int) -> None:
    """Exhaustively: scores in 0..2, every change of each within its own sensitivity."""
    worst = Fraction(0)
    moves = list(product(*(range(-d, d + 1) for d in changes)))
    for q in product(range(3), repeat=3):
        before = by_definition(q, changes, Fraction(t))
        for move in moves:
            after = by_definition(
                [a + b for a, b in zip(q, move, strict=True)], changes, Fraction(t)
            )
            worst = max(worst, *(abs(b - a) for a, b in zip(before, after, strict=True)))
    assert worst <= 1
    for neighbors in ("add_remove", "replace_one"):
        stated = Generalized([], (), Fraction(t)).sensitivity(neighbors)
        assert (stated.change, stated.spread, stated.monotonic) == (Fraction(1), Fraction(2), False)


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip", "noisy_max"])
def test_privacy_is_kept_whatever_t(mechanism: str) -> None:
    changes = (Fraction(1), Fraction(3), Fraction(8))
    for t in (Fraction(0), Fraction(4)):
        score = Generalized([], changes, t)
        parameter = PrivacyParameter("epsilon", Fraction(1))
        calibrated = read_mechanism(mechanism).calibrate(score.sensitivity("add_remove"), parameter)
        for q in ((0, 0, 0), (1, 0, 5), (0, 9, 9)):
            for move in product(*((-d, d) for d in changes)):
                other = [a + b for a, b in zip(q, move, strict=True)]
                laws = [calibrated.law(read_vector(computed(x, changes, t))) for x in (q, other)]
                with precision(150):
                    assert all(not abs(ratio) > 1 for ratio in log_ratios(*laws))


def test_every_bit_string_is_accounted_for() -> None:
    score = Generalized(
        [0.1, 3, Fraction(1, 3)], (Fraction(1, 7), Fraction(2), Fraction(1)), Fraction(1)
    )
    calibrated = discreet.mechanisms.Exponential().calibrate(
        score.sensitivity("add_remove"), PrivacyParameter("epsilon", Fraction(2))
    )
    drawn_from = calibrated.law(score.compute(calibrated.cutoff_gap))
    tree = bit_tree(drawn_from.draw, 14)
    with precision(200):
        assert all(tree.admits(i, p) for i, p in enumerate(drawn_from.probabilities()))


def test_refusals() -> None:
    with pytest.raises(InvalidScores, match="2 sensitivities but 3 scores"):
        select_generalized([1, 2, 3], [1, 2], epsilon=1)
    with pytest.raises(InvalidScores, match="NaN"):
        select_generalized([1.0, math.nan], [1, 2], epsilon=1)
    for beta in (0, 1, -1, 2, "x"):
        with pytest.raises(InvalidNumber, match="beta"):
            select_generalized([1, 2], [1, 2], epsilon=1, beta=beta)
    with pytest.raises(InvalidArgument, match="how much privacy"):
        select_generalized([1, 2], [1, 2])
    assert read_changes([0.1]) == (Fraction(0.1),)  # the larger of its two readings
    score = Generalized([777], (Fraction(1),), Fraction(2))
    assert repr(score) == "Generalized(t=2)"
    assert not score.in_runs
