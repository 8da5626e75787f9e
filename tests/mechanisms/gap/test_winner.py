"""The gap of the exponential mechanism: from one uniform number, given the winner."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidScores
from discreet.mechanisms import Exponential
from discreet.mechanisms.gap import WithGap, winner
from discreet.mechanisms.gap.winner import WinnerGap, _gap
from discreet.mechanisms.gap_grid import GapGrid
from discreet.sampling.bits import LazyUniform
from discreet.sampling.enclosures import precision

from ...scripted_words import Words
from ..races import NUMBERS
from .gap_laws import cells, gap_law

HALF = Fraction(1, 2)


def odds(scores: list[int], i: int) -> arb:
    law: WinnerGap = gap_law(Exponential(), scores)
    return law._log_odds(i, fast=False)


@pytest.mark.parametrize(
    ("scores", "i", "v", "gap"),
    [
        ([0, 1], 1, Fraction(1, 2), "1.55144471393205"),
        ([0, 1], 0, Fraction(1, 2), "0.861994804058251"),
        ([3, 1, 0], 0, Fraction(1, 3), "2.62493418719426"),
        ([3, 1, 0], 2, Fraction(9, 10), "0.109736158986356"),
    ],
)
def test_the_gap_of_a_uniform_number(scores: list[int], i: int, v: Fraction, gap: str) -> None:
    with precision(128):
        ball = _gap(arb(v.numerator) / v.denominator, odds(scores, i))
        assert abs(ball - arb(gap)) < arb("1e-13")


CELLS = [
    ([0, 1], 0, (0.0865158975636388, 0.0632226017842388, 0.0717770488445508, 0.0474258731775668)),
    ([0, 1], 1, (0.108599247428150, 0.122459331201855, 0.231058578630005, 0.268941421369995)),
    ([0, HALF, Fraction(5, 4)], 2, (0.124332435689389, 0.117718143361829, 0.175149068434537, 0.151346767365299)),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "i", "chances"), CELLS)
def test_the_law_of_the_gap(scores: list[Fraction], i: int, chances: tuple[float, ...]) -> None:
    ends = [Fraction(0), HALF, Fraction(1), Fraction(2)]
    with precision(128):
        for ball, chance in zip(cells(Exponential(), scores, ends)[i], chances, strict=True):
            assert abs(ball - arb(chance)) < arb("1e-14")


@pytest.mark.parametrize("scores", [[0, 1], [3, 1, 0]])
def test_bits_give_the_law_of_the_gap(scores: list[int]) -> None:
    """Given the winner, the words of eight bits for which the gap is below x are those of the closed form."""
    law: WinnerGap = gap_law(Exponential(), scores)
    grid, depth = law._grid, 8
    with precision(128):
        chances = law.probabilities()
        rows = cells(
            Exponential(), [Fraction(s) for s in scores], [k * grid.unit for k in range(40)]
        )
        for i in range(len(scores)):
            counts = [0] * 40
            for word in range(1 << depth):
                counts[min(law._steps(i, middle_of(word, depth)), 39)] += 1
            reached = 0
            for steps in range(39):
                reached += counts[steps]
                exact = sum(rows[i][: steps + 1], arb(0)) / chances[i]
                assert abs(arb(reached) / 2**depth - exact) <= arb(2) ** -depth


def middle_of(word: int, depth: int) -> LazyUniform:
    """Return the uniform number in the middle of the cell of a word of so many bits."""
    return LazyUniform(Words([(2 * word + 1) << (63 - depth), 1 << 62]))


@given(st.sampled_from([k for k in NUMBERS if k != "any"]), st.data())
def test_doubles_and_balls_agree(kind: str, data: st.DataObject) -> None:
    scores = data.draw(st.lists(NUMBERS[kind], min_size=2, max_size=6))
    law: WinnerGap = gap_law(Exponential(), scores)
    i = data.draw(st.integers(0, len(scores) - 1))
    with precision(256):
        fast, exact = law._log_odds(i, fast=True), law._log_odds(i, fast=False)
        assert fast.overlaps(exact)
        assert exact.rad() <= abs(exact.mid()) * 2.0**-60 + 2.0**-60


def test_the_others_are_summed_and_nothing_is_subtracted() -> None:
    """Where p is within 2**-1000 of 1, 1 - p by subtraction has no digit that is right."""
    law: WinnerGap = gap_law(Exponential(), [0, 10**6])
    with precision(64):
        assert abs(law._log_odds(1, fast=True) - 10**6) < arb("1e-6")
    steps = law.draw(Words([7, 1 << 63]))[1]
    assert abs(steps * float(law._grid.step) - 1e6) < 1


def test_many_candidates_go_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(5).normal(size=300)
    law: WinnerGap = gap_law(Exponential(), scores.tolist())
    with precision(128):
        exact = law._log_odds(3, fast=False)
        monkeypatch.setattr(winner, "FLAT", 16)
        assert law._log_odds(3, fast=True).overlaps(exact)


def test_a_base_measure_counts_as_scores_do() -> None:
    """A weight of 4 is a score of ln 4; a candidate of weight zero is never the second."""
    weighted = Exponential(base_measure=[1, 4, 0])
    law: WinnerGap = gap_law(weighted, [0, 1, 9])
    with precision(128):
        expected = arb(1) + arb(4).log()
        assert abs(law._log_odds(1, fast=True) - expected) < arb("1e-30")
    logs: WinnerGap = gap_law(Exponential(log_base_measure=[0.0, 2.0, -math.inf]), [0, 1, 9])
    with precision(128):
        assert abs(logs._log_odds(1, fast=True) - 3) < arb("1e-30")


def test_one_candidate_has_no_gap() -> None:
    with pytest.raises(InvalidScores, match="two candidates"):
        gap_law(Exponential(), [1])
    with pytest.raises(InvalidArgument, match="two candidates"):
        WithGap(Exponential(base_measure=[0, 2, 0]))


def test_a_rate_beyond_doubles() -> None:
    """Balls take more digits where a gap has many."""
    index, steps = gap_law(Exponential(), [0, 1], Fraction(10**290)).draw(Words([1 << 62]))
    assert index == 1
    assert abs(steps * GapGrid.of(Fraction(10**290)).step - 1) < Fraction(1, 10**280)
