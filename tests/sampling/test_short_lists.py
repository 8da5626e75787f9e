"""Short lists in plain Python: the same answers from the same bits, and never one that is not certain."""

import math
import sys
from fractions import Fraction
from itertools import accumulate, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.sampling import short_lists
from discreet.sampling.bits import LazyUniform
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import (
    CUT,
    FUNCTION_ERROR,
    NaturalRate,
    ball,
    lower,
    precision,
    upper,
)
from discreet.sampling.short_lists import SHORT, settle_short, short_list
from discreet.sampling.vectors import read_vector
from discreet.testing import ScriptedBits, SeededBits, bit_tree

RATES = [NaturalRate(Fraction(r)) for r in ("1/2", "9", "1e-200", "1e200")]
LISTS: list[list[Any]] = [
    [0.0],
    [0.0, 0.0],
    [1, 2, 3],
    [0.5, -0.25, 7.5],
    [1e308, -1e308, 1e308],
    [5e-324, 0.0, sys.float_info.min],
    [-0.0, 0.0],
    [2**53 - 1, 0, -(2**53) + 1],
    [0.0, 128.0, 127.99999999999999],
    [float(i % 7) for i in range(16)],
]


def settled(values: Any, rate: NaturalRate, u: LazyUniform) -> int:
    """Return what a selector does with a short list."""
    found = settle_short(values, rate, u)
    return Categorical(read_vector(values), rate).settle(u) if found is None else found


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("values", LISTS)
def test_every_bit_string_is_accounted_for(values: list[Any], rate: NaturalRate) -> None:
    tree = bit_tree(lambda bits: settled(values, rate, LazyUniform(bits)), 10)
    with precision(2000):
        for i, probability in enumerate(Categorical(read_vector(values), rate).probabilities()):
            assert tree.admits(i, probability), (i, tree, probability)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("values", LISTS)
def test_words_beside_every_boundary_are_right_or_left_open(
    values: list[Any], rate: NaturalRate
) -> None:
    """A word is settled only if every number that begins with it is on one side, by exact arithmetic."""
    with precision(600):
        ends = list(accumulate(Categorical(read_vector(values), rate).probabilities()))
        sides = [(lower(end) * 2**64, upper(end) * 2**64) for end in ends[:-1]]
    sides.append((Fraction(2**64), Fraction(2**64)))  # the last end is 1
    certain = 0
    for end, _ in sides:
        for distance in (0, 1, 2**10, 2**22, 2**30):
            for word in {math.floor(end) - distance, math.floor(end) + distance}:
                if not 0 <= word < 2**64:
                    continue
                u = LazyUniform.of_word(word, ScriptedBits("01" * 3200, width=64))
                found = settle_short(values, rate, u)
                if found is not None:
                    certain += 1
                    assert found == 0 or sides[found - 1][1] <= word
                    assert word + 1 <= sides[found][0]
    assert certain


@given(
    st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0]), min_size=1, max_size=20),
    st.fractions(Fraction(1, 1000), 1000),
    st.integers(0, 2**32),
)
def test_the_answers_are_those_of_an_array(values: list[float], eta: Fraction, seed: int) -> None:
    rate = NaturalRate(eta)
    law = Categorical(read_vector(np.array(values)), rate)
    ours, theirs = SeededBits(seed), SeededBits(seed)
    for _ in range(5):
        assert settled(values, rate, LazyUniform(ours)) == law.draw(theirs)
    assert ours.read == theirs.read


@pytest.mark.parametrize("spread", [1e-10, 1.0, 30.0])
def test_the_exponential_of_c_keeps_the_assumed_error(spread: float) -> None:
    exponents = -np.abs(np.random.default_rng(2).normal(size=5_000)) * spread
    exponents = np.concatenate((np.maximum(exponents, -CUT), [0.0, -CUT, -5e-324, -math.ulp(1.0)]))
    with precision(128):
        for exponent in exponents.tolist():
            true = ball(Fraction(exponent)).exp()
            error = abs(ball(Fraction(math.exp(exponent))) - true)
            assert error < ball(Fraction(FUNCTION_ERROR) / 100) * true, exponent


def test_what_is_a_short_list() -> None:
    for values in LISTS:
        assert short_list(values) == values
    assert short_list(np.array([1.5, 2])) == [1.5, 2]
    assert short_list(np.array([1, 2], dtype=np.uint8)) == [1, 2]
    assert short_list(np.array([1.5, 2], dtype=np.float32)) == [1.5, 2]
    nan, inf = float("nan"), float("inf")
    for refused in (
        [], [1, 2.0], [True, False], [2**53], [Fraction(1)], [nan], [0.0, inf], [0.0, -inf], ["a"], (1.0, 2.0),
        [0.0] * (SHORT + 1), np.zeros((2, 2)), np.zeros(SHORT + 1), np.array([True]), np.array(["a"]), {1: 2}, 3,
        np.array([2**63], dtype=np.uint64), np.array([1, None], dtype=object), np.array([np.nan]),
    ):  # fmt: skip
        assert short_list(refused) is None


def test_the_certificate_is_not_an_ornament(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its slack a word beside a boundary is settled wrongly somewhere."""
    monkeypatch.setattr(short_lists, "_slack", lambda _: 0.0)

    def every_list() -> None:
        for values, rate in product(LISTS, RATES):
            test_words_beside_every_boundary_are_right_or_left_open(values, rate)

    with pytest.raises(AssertionError):
        every_list()
