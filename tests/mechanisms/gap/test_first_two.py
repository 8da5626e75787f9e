"""The two largest noisy scores: against the formula, on scripted words, and the law of winner and gap."""

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.errors import InvalidScores
from discreet.mechanisms import NoisyMax, PermuteAndFlip
from discreet.mechanisms.gap.first_two import FirstTwo
from discreet.sampling.enclosures import precision

from ...scripted_words import Words
from ..races import NUMBERS
from .gap_laws import KINDS, cells, gap_law

THREE = [Fraction(0), Fraction(1, 2), Fraction(5, 4)]
ENDS = [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)]
RACES = ["permute_and_flip", "laplace"]

CELLS = [
    ([0, 1], 0, (0.0723746405115062, 0.0438974384559086, 0.0427741074343744, 0.0248935341839320)),
    ([0, 1], 1, (0.119325609270596, 0.196734670143683, 0.316060279414279, 0.183939720585721)),
    (THREE, 0, (0.0474903792694202, 0.0288043710682846, 0.0280672701185495, 0.0163344974344053)),
    (THREE, 1, (0.0840558305049600, 0.0509824383288667, 0.0496778028753471, 0.0289113241218981)),
    (THREE, 2, (0.168633273793998, 0.186370179738738, 0.196382558223846, 0.114290074521688)),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "i", "chances"), CELLS)
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
def test_one_candidate_has_no_gap(kind: str) -> None:
    with pytest.raises(InvalidScores, match="two candidates"):
        gap_law(KINDS[kind], [1])


def test_other_noise_is_that_of_its_mechanism() -> None:
    gumbel, exponential = (gap_law(NoisyMax(noise), [0, 1]) for noise in ("gumbel", "exponential"))
    assert type(gumbel).__name__ == "WinnerGap"
    assert type(exponential._noise).__name__ == "ExponentialNoise"
