"""The grid of a gap: its step, its decisions, and its numbers."""

from decimal import Decimal
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.gap_grid import GapGrid
from discreet.sampling.enclosures import precision


@given(st.fractions(Fraction(1, 10**12), 10**12).filter(bool))
def test_the_step_is_the_largest_power_of_ten_up_to_a_tenth_of_the_scale(eta: Fraction) -> None:
    step = GapGrid.of(eta).step
    assert step <= 1 / (10 * eta) < 10 * step
    assert {1, 10} >= {step.numerator % 10 or 10} | {step.denominator % 10 or 10}


@pytest.mark.parametrize(
    ("eta", "steps", "gap"),
    [(1, 37, Decimal("3.7")), (Fraction(1, 10), 37, 37), (Fraction(1, 1000), 37, 3700), (1, 0, 0)],
)
def test_a_gap_is_in_units_of_the_score(eta: Fraction, steps: int, gap: object) -> None:
    assert GapGrid.of(Fraction(eta)).gap(steps) == gap


def test_steps_are_decided_by_intervals() -> None:
    grid = GapGrid.of(Fraction(1))
    with precision(64):
        assert grid.steps(arb("0.31"), arb("0.39")) == 3
        assert grid.steps(arb("0.31"), arb("0.41")) is None
        assert grid.steps(arb("0.31", "0.02"), arb("0.31", "0.02")) is None
        assert grid.steps(arb("0.31"), arb.pos_inf()) is None


def test_pairs_of_any_depth_are_split() -> None:
    grid = GapGrid.of(Fraction(1, 10))
    assert grid.split([4, 7]) == (4, 7)
    assert grid.split([[4, 7], [1, 0]]) == ([4, 1], [7, 0])
    assert grid.split([[[4, 7], [1, 0]]]) == ([[4, 1]], [[7, 0]])
