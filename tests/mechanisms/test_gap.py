"""The gap of the winner, and the two largest of noisy scores: their laws, and the bits that they read."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidScores
from discreet.mechanisms import Exponential, NoisyMax, PermuteAndFlip
from discreet.mechanisms.gap import FirstTwo, WinnerGap, WithGap, _gap
from discreet.mechanisms.gap_grid import GapGrid
from discreet.sampling.bits import LazyUniform
from discreet.sampling.enclosures import precision

from ..scripted_words import Words
from .gap_laws import KINDS, cells, gap_law
from .races import NUMBERS

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
        monkeypatch.setattr("discreet.mechanisms.gap.FLAT", 16)
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


THREE = [Fraction(0), Fraction(1, 2), Fraction(5, 4)]
ENDS = [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)]
RACES = ["permute_and_flip", "laplace"]

CELLS_OF_TWO = [
    ([0, 1], 0, (0.0723746405115062, 0.0438974384559086, 0.0427741074343744, 0.0248935341839320)),
    ([0, 1], 1, (0.119325609270596, 0.196734670143683, 0.316060279414279, 0.183939720585721)),
    (THREE, 0, (0.0474903792694202, 0.0288043710682846, 0.0280672701185495, 0.0163344974344053)),
    (THREE, 1, (0.0840558305049600, 0.0509824383288667, 0.0496778028753471, 0.0289113241218981)),
    (THREE, 2, (0.168633273793998, 0.186370179738738, 0.196382558223846, 0.114290074521688)),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "i", "chances"), CELLS_OF_TWO)
def test_the_law_of_the_gap_of_permute_and_flip(
    scores: list[Fraction], i: int, chances: tuple[float, ...]
) -> None:
    with precision(128):
        for ball, chance in zip(cells(PermuteAndFlip(), scores, ENDS)[i], chances, strict=True):
            assert abs(ball - arb(chance)) < arb("1e-14")


REST = [k * 0x9E3779B97F4A7C15 % 2**64 for k in range(1, 1000)]
"""Words to read on by."""


def noise_at(kind: str, u: float) -> float:
    if kind == "laplace":
        return math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u))
    return -math.log1p(-u)


def answer_by_formula(kind: str, scores: list[Any], us: list[float]) -> tuple[int, float]:
    """Return the winner and its gap in doubles."""
    noisy = [float(s - max(scores)) + noise_at(kind, u) for s, u in zip(scores, us, strict=True)]
    second, first = sorted(range(len(scores)), key=noisy.__getitem__)[-2:]
    return first, noisy[first] - noisy[second]


@pytest.mark.parametrize("kind", RACES)
@given(st.sampled_from(["ties", "near", "clusters", "floats", "ends", "fractions"]), st.data())
def test_the_gap_is_that_of_the_formula(kind: str, numbers: str, data: st.DataObject) -> None:
    scores = data.draw(st.lists(NUMBERS[numbers], min_size=2, max_size=6))
    words = data.draw(
        st.lists(st.integers(2**40, 2**64 - 2**40), min_size=len(scores), max_size=len(scores))
    )
    law: FirstTwo = gap_law(KINDS[kind], scores)
    index, steps = law.draw(Words([*words, *REST]))
    winner, gap = answer_by_formula(kind, scores, [w / 2**64 for w in words])
    assume(gap > 1e-4)
    assert index == winner
    unit = float(law._grid.unit)
    assert abs((steps + 0.5) * unit - gap) <= unit / 2 + 1e-4 + gap * 1e-9


@pytest.mark.parametrize("kind", RACES)
@given(st.data())
def test_doubles_leave_out_nobody_who_matters(kind: str, data: st.DataObject) -> None:
    """Without a fast pass everyone starts in balls; the same words give the same answer."""
    numbers = data.draw(st.sampled_from(["ties", "near", "clusters", "floats", "ends"]))
    scores = data.draw(st.lists(NUMBERS[numbers], min_size=2, max_size=6))
    words = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=9, max_size=9))
    fast, slow = gap_law(KINDS[kind], scores), gap_law(KINDS[kind], scores)
    slow._decays = None
    leaders = fast._leaders(Words(words).words(len(scores)), 64)
    index, _ = slow.draw(Words([*words[: len(scores)], *REST]))
    assert index in leaders


@pytest.mark.parametrize("kind", [*RACES, "exponential"])
def test_all_words_give_the_law(kind: str) -> None:
    """The middles of all cells of five bits each: the answer is the law but for the cells at a boundary."""
    scores, depth, most = [Fraction(0), Fraction(1)], 5, 60
    law = gap_law(KINDS[kind], scores)
    counts = [[0] * most for _ in scores]
    for pair in itertools.product(range(1 << depth), repeat=2):
        words = [(2 * word + 1) << (63 - depth) for word in pair]
        index, steps = law.draw(Words([*words, *REST]))
        counts[index][min(steps, most - 1)] += 1
    with precision(128):
        ends = [k * law._grid.unit for k in range(most)]
        exact = cells(KINDS[kind], scores, ends)
        for i in range(2):
            reached, chance = 0, arb(0)
            for k in range(most - 1):
                reached, chance = reached + counts[i][k], chance + exact[i][k]
                # A monotone boundary passes through at most two cells of every row and column.
                assert abs(arb(reached) / 4**depth - chance) < 2.0 ** (1 - depth)


def test_the_second_may_arrive_after_time_one() -> None:
    """A race of permute-and-flip that ends at the time 1 has no gap above the noise of the winner."""
    law = gap_law(PermuteAndFlip(), [0, 1000])
    index, steps = law.draw(Words([1 << 63, 1 << 63, *REST]))
    assert index == 1
    assert abs(steps * float(law._grid.unit) - 1000) < 1


@pytest.mark.parametrize("kind", RACES)
def test_the_best_may_be_any_distance_ahead(kind: str) -> None:
    """Only the two best are looked at, though all the others are equally far behind the best."""
    scores = [10**9, *[0] * 50]
    law = gap_law(KINDS[kind], scores)
    assert len(law._leaders(Words(REST).words(51), 64)) == 2
    assert law.draw(Words(REST))[0] == 0


@pytest.mark.parametrize("kind", RACES)
def test_one_candidate_has_no_second(kind: str) -> None:
    with pytest.raises(InvalidScores, match="two candidates"):
        gap_law(KINDS[kind], [1])


def test_other_noise_is_that_of_its_mechanism() -> None:
    gumbel, exponential = (gap_law(NoisyMax(noise), [0, 1]) for noise in ("gumbel", "exponential"))
    assert type(gumbel).__name__ == "WinnerGap"
    assert type(exponential._noise).__name__ == "ExponentialNoise"
