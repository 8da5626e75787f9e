"""THE draw, proved by enumeration and by words put next to the boundaries."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.testing import ScriptedBits, bit_tree
from discreet.sampling import categorical, kernel
from discreet.sampling.bits import Bits, SystemBits
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import (
    DyadicRate,
    NaturalRate,
    Rate,
    lower,
    overflowing,
    precision,
)
from discreet.sampling.vectors import Vector, read_vector

from ..scripted_words import Words

pytestmark = pytest.mark.usefixtures("fast_pass")

HALF = NaturalRate(Fraction(1, 2))
ONE_BIT = DyadicRate(1, 1, 1)
SCORES: list[list[Any]] = [
    [0],
    [0, 0],
    [0, 0, 0],
    [0, 1, 2, 3, 4],
    [10, 10, 5],
    [0.5, -0.25, 7.5],
    [Fraction(1, 3), Fraction(1, 7), 0],
    [0, -(10**6)],
    [0.0, -1e300, 1e300],
    [10**300, 0, 10**300 - 1],
    [2**53 + 1, 2**53],
    [1e308, -1e308],
]


def admitted(draw: Any, law: Sequence[arb], depth: int) -> Fraction:
    """Check every probability against the enumeration; return what it left undecided."""
    tree = bit_tree(draw, depth)
    assert set(tree.masses) <= set(range(len(law)))
    for i, probability in enumerate(law):
        assert tree.admits(i, probability), (i, tree.masses, probability)
    return tree.undecided


def law_of(law: Categorical, bits: int = 256) -> list[arb]:
    with precision(bits):
        return law.probabilities()


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize(
    "rate", [HALF, NaturalRate(Fraction(10)), NaturalRate(Fraction(1, 10**300)), ONE_BIT]
)
def test_every_bit_string_is_accounted_for(scores: list[Any], rate: Rate) -> None:
    if isinstance(rate, DyadicRate) and any(Fraction(s).denominator != 1 for s in scores):
        pytest.skip("base 2 takes integers")
    law = Categorical(read_vector(scores), rate)
    # At each depth at most two strings are open at each boundary; beyond 43 bits balls decide.
    assert admitted(law.draw, law_of(law), 48) <= Fraction(2 * (len(scores) - 1), 2**48)


def test_base_two_against_exact_rationals() -> None:
    law = Categorical(read_vector([0, 1, 2]), ONE_BIT)
    tree = bit_tree(law.draw, 40)
    for i, exact in enumerate([Fraction(1, 7), Fraction(2, 7), Fraction(4, 7)]):
        assert tree.masses[i] <= exact <= tree.masses[i] + tree.undecided
    assert tree.undecided <= Fraction(4, 2**40)


def test_the_published_base_two_defect_is_not_ours() -> None:
    """Utilities (0, 15) as costs: the reference sampler never answers 1; the truth is 1/32769."""
    for costs, truth in (
        ([0, 15], Fraction(1, 32769)),
        ([1, 14], Fraction(1, 8193)),
        ([0, 0], Fraction(1, 2)),
    ):
        tree = bit_tree(Categorical(read_vector([-c for c in costs]), ONE_BIT).draw, 40)
        assert tree.masses[1] <= truth <= tree.masses[1] + tree.undecided


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "scores", [[0, 1, 2, 3, 4], [0.0, -1e300, 5.0, 5.5], [0, 0, 0], [7, 10**18, 10**18 - 1]]
)
def test_two_levels_are_the_same_law_as_one(scores: list[Any]) -> None:
    law = Categorical(read_vector(scores), HALF)
    assert admitted(law.draw, law_of(law), 16) < Fraction(1, 50)


@pytest.mark.usefixtures("small_blocks")
def test_two_levels_without_a_fast_pass() -> None:
    law = Categorical(read_vector([0, 1, 2, 3, 4]), NaturalRate(Fraction(1, 10**300)))
    admitted(law.draw, law_of(law), 12)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.proof_in("numpy")
def test_two_levels_in_a_batch() -> None:
    law = Categorical(read_vector([0, 1, 2, 3, 4]), HALF)

    def pair(bits: Bits) -> tuple[int, ...]:
        return tuple(law.draws(2, bits).tolist())

    tree = bit_tree(pair, 14)
    single = law_of(law)
    for first in range(5):
        for second in range(5):
            with precision(128):
                assert tree.admits((first, second), single[first] * single[second])


@given(
    st.lists(st.integers(0, 40) | st.floats(0, 40), min_size=2, max_size=12),
    st.data(),
)
def test_words_next_to_a_boundary_fall_on_the_right_side(
    scores: list[Any], data: st.DataObject
) -> None:
    law = Categorical(read_vector(scores), HALF)
    with precision(512):
        ends = list(accumulate(law.probabilities()))[:-1]
        boundary = data.draw(st.integers(0, len(ends) - 1))
        near = int(lower(ends[boundary]) * 2**64) + data.draw(st.integers(-3, 3))
        word = min(max(near, 0), 2**64 - 1)
        after = data.draw(st.integers(0, 2**64 - 1))
        uniform = Fraction(word * 2**64 + after, 2**128)
        expected = sum(1 for end in ends if lower(end) <= uniform)
    script = f"{word:064b}{after:064b}{0:064b}"
    assert law.draw(ScriptedBits(script, width=64)) == expected
    assert law.draws(1, ScriptedBits(script, width=64)).tolist() == [expected]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(1, 200))
def test_a_batch_settles_each_word_as_a_single_draw_does(scores: list[int], size: int) -> None:
    law = Categorical(read_vector(scores), HALF)
    words = np.random.default_rng(size).integers(0, 2**64, size, dtype=np.uint64).tolist()
    script = "".join(f"{word:064b}" for word in words)
    one_by_one = [law.draw(ScriptedBits(f"{word:064b}" + "0" * 256, width=64)) for word in words]
    assert law.draws(size, ScriptedBits(script + "0" * 256, width=64)).tolist() == one_by_one


@given(st.integers(1, 3000), st.integers(0, 1000))
def test_running_sums_keep_their_error(n: int, seed: int) -> None:
    weights = np.random.default_rng(seed).random(n) ** 8
    ends, chain = categorical.cumulate(weights.copy())
    assert len(ends) == n
    assert np.all(np.diff(ends) >= 0)
    exact = list(accumulate(Fraction(float(w)) for w in weights))
    worst = max(
        abs(Fraction(float(end)) - true) / true
        for end, true in zip(ends, exact, strict=True)
        if true
    )
    assert worst <= chain * Fraction(1, 2**53)
    assert chain <= 512 + n // 256 + 1


@pytest.mark.proof_in("numpy")
def test_ten_million_candidates() -> None:
    scores = np.random.default_rng(3).normal(size=10**7)
    law = Categorical(Vector(scores), NaturalRate(Fraction(50)))
    drawn = law.draws(200, SystemBits())
    gaps = scores.max() - scores
    weights = np.exp(-50 * gaps)
    likely = np.argsort(gaps)[:1000]
    # Smoke: the thousand best hold this share of the mass, and the draws agree.
    share = weights[likely].sum() / weights.sum()
    assert abs(np.isin(drawn, likely).mean() - share) < 0.2
    assert 0 <= law.draw(SystemBits()) < 10**7


def test_open_words_of_a_batch_are_settled_in_order() -> None:
    """Both first words hold the end of the first third; the two that follow say on which side each uniform lies."""
    law = Categorical(read_vector([0, 0, 0]), HALF)
    on_the_end = 2**64 // 3
    assert law.draws(2, Words([on_the_end, on_the_end, 0, 2**64 - 1])).tolist() == [0, 1]
    assert law.draws(2, Words([on_the_end, on_the_end, 2**64 - 1, 0])).tolist() == [1, 0]


def test_ties_everywhere() -> None:
    law = Categorical(Vector(np.zeros(10**5)), HALF)
    drawn = law.draws(10**5, SystemBits())
    assert drawn.min() < 100
    assert drawn.max() > 10**5 - 100
    assert 60_000 < len(set(drawn.tolist())) < 66_000  # 63,212 expected


@pytest.mark.usefixtures("small_blocks")
def test_the_law_of_a_long_vector_is_stated_whole() -> None:
    law = Categorical(read_vector([0, 1, 2, 3, 4]), HALF)
    assert [round(float(p), 6) for p in law_of(law)] == [
        0.058012,
        0.095646,
        0.157694,
        0.259993,
        0.428656,
    ]


@pytest.mark.parametrize("total", [0.0, math.inf])
def test_a_total_that_doubles_cannot_hold_is_left_to_balls(
    total: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the kernel, which divides by it, is not asked."""

    class Kernel:
        def locator(self, *_: object) -> Any:
            raise AssertionError("the kernel divides by the total")

    monkeypatch.setattr(kernel, "active", Kernel)
    words = np.array([0, 2**63, 2**64 - 1], dtype=np.uint64)
    with overflowing():
        found = categorical.Sums(np.full(3, total), 0.0).locate_all(words, 64)
    assert found.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("eta", ["1/2", "1e300"])
def test_pieces_of_a_batch_change_nothing(eta: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers on the same words, those that are in doubt too: they read on after all first words."""
    law = Categorical(read_vector([0.0, 1.0, 1.0, 2.0, 0.5]), NaturalRate(Fraction(eta)))
    text = "".join(np.random.default_rng(8).choice(["0", "1"], 9_000))
    batches = []
    for at_once in (2**14, 7):
        monkeypatch.setattr(categorical, "_WORDS_AT_ONCE", at_once)
        bits = ScriptedBits(text, width=3)
        batches.append((law.draws(100, bits).tolist(), bits.read))
    assert batches[0] == batches[1]
    assert batches[0][1] > 300  # some words are in doubt
