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

from discreet.mechanisms.testing import ScriptedBits, SeededBits, bit_tree
from discreet.sampling import kernel, short_lists
from discreet.sampling.bits import LazyUniform
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import (
    CUT,
    FUNCTION_ERROR,
    HALF_ULP,
    NaturalRate,
    ball,
    lower,
    precision,
    upper,
)
from discreet.sampling.short_lists import SHORT, draw_few, settle_short, short_list
from discreet.sampling.vectors import read_vector

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
    [0.0] + [-1.37] * 60,  # sums of equal weights are off by many roundings on the same side
]


FAST: Any = kernel.active()
needs_c = pytest.mark.skipif(FAST is None or FAST.settle is None, reason="no module of C")


def settled_in_c(values: Any, rate: NaturalRate, word: int, width: int = 64) -> int | None:
    """Return the index that one call of C says is certain, or None where it is open."""
    fast = FAST.settle
    index = fast(values, 0, rate.double / kernel.LN2, short_lists._WIDEST, lambda: word, width)
    assert index is not None
    assert index >= 0 or ~index == word
    return int(index) if index >= 0 else None


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


@pytest.mark.parametrize("python", [True, pytest.param(False, marks=needs_c)])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("values", LISTS)
def test_words_beside_every_boundary_are_right_or_left_open(
    values: list[Any], rate: NaturalRate, python: bool
) -> None:
    """A word is settled only if every number that begins with it is on one side, by exact arithmetic."""
    with precision(600):
        ends = list(accumulate(Categorical(read_vector(values), rate).probabilities()))
        sides = [(lower(end) * 2**64, upper(end) * 2**64) for end in ends[:-1]]
    sides.append((Fraction(2**64), Fraction(2**64)))  # the last end is 1
    certain, further = 0, ScriptedBits("01" * 3200, width=64)
    for end, _ in sides:
        for distance in (0, 1, 2**10, 2**12, 2**14, 2**16, 2**22, 2**30):
            for word in {math.floor(end) - distance, math.floor(end) + distance}:
                if not 0 <= word < 2**64:
                    continue
                u = LazyUniform.of_word(word, further)
                found = (
                    settle_short(values, rate, u) if python else settled_in_c(values, rate, word)
                )
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
        np.array([1, 2], dtype="m8[ns]"), np.array([1, 2], dtype="M8[ps]"),
    ):  # fmt: skip
        assert short_list(refused) is None


@pytest.mark.parametrize("values", [[1, 2], [0.5, 1.5], np.array([1, 2]), np.array([0.5, 1.5])])
def test_a_short_list_is_one_of_its_own(values: Any) -> None:
    short = short_list(values)
    values[0] = 9
    assert short is not None
    assert short[0] < 9


@pytest.mark.parametrize("slack", [0.0, 8 * HALF_ULP])
@pytest.mark.parametrize("python", [True, pytest.param(False, marks=needs_c)])
def test_the_certificate_is_not_an_ornament(
    python: bool, slack: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its slack, or that of the sums, a word beside a boundary is settled wrongly somewhere."""
    monkeypatch.setattr(short_lists, "_slack", lambda _: slack)
    monkeypatch.setattr(short_lists, "_WIDEST", slack)

    def every_list() -> None:
        for values, rate in product(LISTS, RATES):
            test_words_beside_every_boundary_are_right_or_left_open(values, rate, python)

    with pytest.raises(AssertionError):
        every_list()


@needs_c
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("values", LISTS)
def test_every_bit_string_is_accounted_for_in_c(values: list[Any], rate: NaturalRate) -> None:
    tree = bit_tree(lambda bits: draw_few(values, 0, rate, bits), 10)
    with precision(2000):
        for i, probability in enumerate(Categorical(read_vector(values), rate).probabilities()):
            assert tree.admits(i, probability), (i, tree, probability)


@needs_c
@pytest.mark.parametrize("n", [1, 2, 3, 63, 64, 65, 256, 257, 1000, 1023, 1024])
@pytest.mark.parametrize("spread", [1e-9, 1.0, 40.0, 1e6])
def test_one_call_of_c_answers_as_an_array_and_as_python(n: int, spread: float) -> None:
    values = np.random.default_rng(n).normal(size=n) * spread
    for rate in RATES:
        law, bits, other = Categorical(read_vector(values), rate), SeededBits(n), SeededBits(n)
        for shape in (
            values,
            values.tolist(),
            values[::-1].copy()[::-1],
            np.tile(values, (2, 1)).T[:, 1],
        ):
            assert draw_few(shape, n, rate, bits) == law.draw(other)
        whole = (values * 100).astype(np.int64).clip(-(2**53) + 1, 2**53 - 1)
        words = Categorical(read_vector(whole), rate)
        assert draw_few(whole.tolist(), 0, rate, bits) == words.draw(other)
        if n <= SHORT:
            short = short_list(whole)
            assert short is not None
            twin = LazyUniform.of_word(other.word(), other)
            assert draw_few(short, 0, rate, bits) == settled(short, rate, twin)
        assert bits.read == other.read


@needs_c
def test_what_c_does_not_draw_from() -> None:
    """And of nothing that it does not draw from a word is read."""
    nan, inf = float("nan"), float("inf")
    bits, rate = ScriptedBits("", width=64), RATES[0]
    for refused in (
        [], [1, 2.0], [1.0, 2], [True, False], [1, True], [2**53], [1, -(2**53)], [2**70], [Fraction(1)], [nan],
        [0.0, inf], [0.0, -inf], [1.0, "a"], ["a"], (1.0, 2.0), [0.0] * 1025, np.zeros((2, 2)), np.zeros(1025),
        np.array([True]), np.array(["a"]), {1: 2}, 3, np.array([1.0], dtype=">f8"), np.array([1]), np.array(1.0),
        np.array([1, None], dtype=object), np.array([np.nan]), np.array([1.0], dtype=np.float32), np.array([]),
        [np.float64(1)], np.ma.masked_array([1.0], [True]),
    ):  # fmt: skip
        assert draw_few(refused, 0, rate, bits) is None
    for size in (1, 3):
        assert draw_few([1.0, 2.0], size, rate, bits) is None
    assert draw_few([1.0], 0, None, bits) is None
    with pytest.raises(TypeError):
        FAST.settle([1.0])


@needs_c
def test_an_error_of_the_source_of_bits_gets_out() -> None:
    def fail() -> int:
        raise OSError("no randomness")

    def negative() -> int:
        return -1

    for read, error in ((fail, OSError), (negative, OverflowError)):
        with pytest.raises(error):
            FAST.settle([1.0, 2.0], 0, 1.0, 1e-12, read, 64)
