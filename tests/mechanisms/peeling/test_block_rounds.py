"""Rounds in blocks: the law of one mechanism after another, and work that depends on sizes alone."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms import (
    Exponential,
)
from discreet.mechanisms.peeling import Peeling, block_rounds
from discreet.mechanisms.peeling.block_rounds import BLOCK_SIZE, BlockRounds
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import NaturalRate, Rate, precision
from discreet.sampling.vectors import read_vector
from discreet.testing import counted_work
from discreet.verbs.select_top_k import select_top_k

from ...verbs.test_top_k import GENERAL, ONE, PEELED, one_after_another, proved

HALF = NaturalRate(Fraction(1, 2))


@pytest.mark.parametrize("values", PEELED)
@pytest.mark.parametrize("rate", [HALF, NaturalRate(Fraction(1, 10**300))])
@pytest.mark.one_in(5)
def test_peeling_in_blocks_is_the_same_law(
    values: tuple[list[Any], int], rate: Rate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_rounds, "BLOCK_SIZE", 2)
    monkeypatch.setattr(block_rounds, "_AT_ONCE", 1)
    scores, k = values
    with precision(3000):
        stated = one_after_another(scores, k, lambda left: Categorical(left, rate))
    undecided = proved(BlockRounds(read_vector(scores), k, rate).draw, stated, 14)
    assert undecided < Fraction(1, 16)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.data())
def test_blocks_lose_what_was_taken(scores: list[int], data: st.DataObject) -> None:
    """After any answers the weights of the blocks are those of what is left, in doubles and in balls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_rounds, "BLOCK_SIZE", 2)
        remaining = block_rounds.Remaining(read_vector(scores), HALF)
        left = set(range(len(scores)))
        for _ in range(data.draw(st.integers(0, len(scores) - 1))):
            b = data.draw(st.integers(0, len(remaining.blocks) - 1))
            j = data.draw(st.integers(0, len(remaining.blocks[b].scores) - 1))
            left.remove(remaining.blocks[b].at(j))
            remaining.take(b, j)
        there = [remaining.blocks[b].at(j) for b in range(len(remaining.blocks))
                 for j in range(len(remaining.blocks[b].scores))]  # fmt: skip
        assert sorted(there) == there == sorted(left)
        sums = remaining.sums()
        assert sums is not None
        best = max(scores[i] for i in left)
        exact = [math.exp((scores[i] - best) / 2) for i in there]
        assert abs(sums.ends[-1] - sum(exact)) <= 1e-12 * sum(exact)
        with precision(100):
            assert abs(sum(remaining.balls(), arb(0)) - sum(exact)) < 1e-12


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.uint64, object])
def test_long_vectors_of_every_type(kind: Any) -> None:
    """Far ahead are those that come first, in their order, across blocks and inside of one."""
    n, first = 3 * BLOCK_SIZE + 5, [2 * BLOCK_SIZE, 2 * BLOCK_SIZE + 1, 7, 3 * BLOCK_SIZE + 4]
    scores = np.zeros(n, dtype=kind)
    for i, place in enumerate(first):
        scores[place] = 10**18 - i * 10**17
    assert select_top_k(scores, k=4, sensitivity=1, epsilon=1).value == first
    assert BlockRounds(read_vector(scores), 4, HALF).draw(SystemBits()) == first
    short = select_top_k(
        scores[: BLOCK_SIZE // 4].tolist(), k=BLOCK_SIZE // 4, sensitivity=1, epsilon=1
    )
    assert sorted(short.value) == list(range(BLOCK_SIZE // 4))


def test_extremes_of_integers_in_blocks() -> None:
    scores = np.full(BLOCK_SIZE + 1, -(2**63), dtype=np.int64)
    scores[[3, BLOCK_SIZE]] = 2**63 - 1
    assert sorted(select_top_k(scores, k=2, sensitivity=1, epsilon=1).value) == [3, BLOCK_SIZE]


def test_the_work_of_peeling_depends_on_sizes_and_the_answer() -> None:
    n, k = 8 * BLOCK_SIZE, 5
    rng = np.random.default_rng(0)
    seen = set()
    ahead = np.zeros(n)
    ahead[BLOCK_SIZE // 2 :: BLOCK_SIZE] = np.arange(8) * 1e6
    for scores in (rng.standard_normal(n), np.zeros(n), ahead):
        law = Peeling(Exponential(), k).calibrate(GENERAL, ONE).law(read_vector(scores))
        with counted_work() as work:
            found: Any = law.draw(SystemBits())
        again = sum(
            i // BLOCK_SIZE == j // BLOCK_SIZE for a, i in enumerate(found) for j in found[:a]
        )
        last = sum(i // BLOCK_SIZE == found[-1] // BLOCK_SIZE for i in found[:-1])
        # A round draws from one block; all but the last sum what is left of it, one candidate less.
        assert work.functions == k * 8 + (2 * k - 1) * BLOCK_SIZE - 2 * again + last - (k - 1)
        assert work.balls == 0
        seen.add((work.words, work.passes))
    assert seen == {(2 * k, 2 * k)}
