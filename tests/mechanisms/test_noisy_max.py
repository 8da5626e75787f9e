"""Report noisy max: its law against closed forms, integrals and permute-and-flip, and the race beyond doubles."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms import NoisyMax
from discreet.mechanisms.noisy_max import LaplaceRace, _fast_noise_bounds
from discreet.mechanisms.permute_and_flip import OneOfTheHeads
from discreet.mechanisms.testing import ScriptedBits
from discreet.sampling.enclosures import (
    NaturalRate,
    laplace_quantile,
    lower,
    overflowing,
    precision,
    upper,
)
from discreet.sampling.vectors import read_vector

from .test_mechanisms import MONOTONIC, ONE_BIT, law, pmf


def permute_and_flip_as_written(weights: list[Fraction]) -> list[Fraction]:
    """Return the law of McKenna and Sheldon's loop, over every permutation."""
    chances = [Fraction(0)] * len(weights)

    def visit(waiting: list[int], reached: Fraction) -> None:
        for i in waiting:
            here = reached / len(waiting)
            chances[i] += here * weights[i]
            visit([j for j in waiting if j != i], here * (1 - weights[i]))

    visit(list(range(len(weights))), Fraction(1))
    return chances


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5))
def test_one_of_the_heads_is_permute_and_flip(scores: list[int]) -> None:
    weights = [Fraction(1, 2 ** (max(scores) - s)) for s in scores]
    with precision(200):
        stated = OneOfTheHeads(read_vector(scores), ONE_BIT).probabilities()
    for probability, exact in zip(stated, permute_and_flip_as_written(weights), strict=True):
        assert lower(probability) <= exact <= upper(probability)


@pytest.mark.parametrize("gap", [0, 1, 3, 20])
def test_noisy_max_of_two_has_a_closed_form(gap: int) -> None:
    """The difference of two Laplace variables of scale 1 exceeds g with probability (2 + g) exp(-g) / 4."""
    law_of_two = law(NoisyMax(), [0, gap], 1, MONOTONIC)
    assert math.isclose(pmf(law_of_two)[0], (2 + gap) * math.exp(-gap) / 4, rel_tol=1e-12)


def test_noisy_max_law_against_plain_integration() -> None:
    scores, t = [0.0, 0.7, 1.0, 1.0], np.linspace(-40, 40, 800_001)
    density = [0.5 * np.exp(-np.abs(t - s)) for s in scores]
    below = [np.where(t < s, 0.5 * np.exp(t - s), 1 - 0.5 * np.exp(s - t)) for s in scores]
    for i, probability in enumerate(pmf(law(NoisyMax(), scores, 1, MONOTONIC))):
        others = np.prod([b for j, b in enumerate(below) if j != i], axis=0)
        assert math.isclose(probability, np.trapezoid(density[i] * others, t), rel_tol=1e-7)


def test_the_race_beyond_doubles_is_the_same_race() -> None:
    """Without a fast pass everyone starts in balls; the same words give the same winner."""
    scores, rate = read_vector([0, 1, 2, 2]), NaturalRate(Fraction(1, 2))
    slow = LaplaceRace(scores, rate)
    slow._decays = None
    for seed in range(50):
        words = np.random.default_rng(seed).integers(0, 2, 64 * 8).tolist()
        fast = LaplaceRace(scores, rate).draw(ScriptedBits(words, width=64))
        assert slow.draw(ScriptedBits(words, width=64)) == fast


@pytest.mark.parametrize("width", [8, 53, 64])
def test_doubles_around_laplace_noise_hold_it(width: int) -> None:
    """For every uniform that begins with the word, also where the noise is near zero or without end."""
    half = 1 << (width - 1)
    near = [0, 1, half // 3, half - 2, half - 1, half, half + 1, half + half // 3, 2 * half - 2]
    words = [*near, 2 * half - 1]
    with overflowing():
        low, high = _fast_noise_bounds(np.array(words, dtype=np.uint64), width)
    with precision(256):
        for word, least, most in zip(words, low.tolist(), high.tolist(), strict=True):
            cell = arb(2) ** -width
            begin, end = laplace_quantile(word * cell), laplace_quantile((word + 1) * cell)
            assert arb(least) <= begin if begin.is_finite() else least == -math.inf
            assert end <= arb(most) if end.is_finite() else most == math.inf
            if begin.is_finite() and end.is_finite():
                assert begin - arb(least) < (1 + abs(begin)) * arb(2) ** -42
                assert arb(most) - end < (1 + abs(end)) * arb(2) ** -42
