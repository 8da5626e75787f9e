"""Rounds: their law by enumeration, the order of permute-and-flip by an exact oracle, and work by sizes alone."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidScores
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.lists import probabilities_of_rounds
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.peeling import Peeling, arrivals, rounds
from discreet.mechanisms.peeling.arrivals import FlipRounds
from discreet.mechanisms.peeling.rounds import (
    BLOCK_SIZE,
    BlockRounds,
    Rounds,
    RunRounds,
    blocks_error,
)
from discreet.mechanisms.testing import ScriptedBits, SeededBits, bit_tree, counted_work
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling import kernel
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import Categorical, certain_distance, cumulate
from discreet.sampling.enclosures import NaturalRate, Rate, precision
from discreet.sampling.runs import Runs
from discreet.sampling.vectors import read_vector
from discreet.sampling.waiting_times import LOG_TIME_ERROR, read_on, read_on_for, short_words
from discreet.selection.select_top_k import select_top_k

from ...tables.verbs.test_top_k import ONE, PEELED, one_after_another, proved
from ..races import NUMBERS, hashed, packed

HALF = NaturalRate(Fraction(1, 2))
GENERAL = sensitivity_of(1, "add_remove")
WORDS = 2**64

CASES: list[tuple[list[Any], int]] = [
    ([0, 1, 2], 1),
    ([3, 3, 3], 1),
    ([0.5, -0.25], 2),
    ([5], 1),
    ([1e300, 0.0, -1e300], 1),
    ([10**300, Fraction(1, 3), 0], 1),
]


@pytest.mark.parametrize(("scores", "k"), CASES)
@pytest.mark.one_in(3)
def test_the_law_is_that_of_single_rounds(scores: list[Any], k: int) -> None:
    law = FlipRounds(read_vector(scores), k, HALF)
    single = PermuteAndFlip().calibrate(GENERAL, PrivacyParameter("epsilon", Fraction(1))).law
    with precision(3000):
        stated = Rounds(read_vector(scores), k, single).probabilities()
        lists = [tuple(one) for one in _lists(len(scores), k)]
        tree = bit_tree(lambda bits: tuple(law.draw(bits)), 11)
        assert set(tree.masses) <= set(lists)
        for one, probability, own in zip(lists, stated, law.probabilities(), strict=True):
            assert tree.admits(one, probability), (one, tree, probability)
            assert own.overlaps(probability)
    assert tree.undecided < Fraction(2, 5)


def _lists(n: int, k: int) -> list[list[int]]:
    return [[]] if k == 0 else [[*a, i] for a in _lists(n, k - 1) for i in range(n) if i not in a]


class Words:
    """These words of 64 bits, then the middle of all."""

    width = 64

    def __init__(self, words: Sequence[int]) -> None:
        self.left = list(words)

    def word(self) -> int:
        return self.left.pop(0) if self.left else 2**63

    def words(self, n: int) -> Any:
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)


def first_exactly(scores: list[Any], left: list[int], uniforms: Sequence[int]) -> int:
    """Return who comes first, for the uniforms in the middle of these cells, at 400 bits."""
    with precision(400):
        best = max(Fraction(scores[i]) for i in left)
        times = {
            i: arb(2 * uniforms[i] + 1).log() + HALF.exponent(best - Fraction(scores[i]))
            for i in left
        }
        return min(left, key=lambda i: times[i].mid())


@pytest.mark.parametrize("kind", NUMBERS)
@given(data=st.data())
@pytest.mark.one_in(3)
def test_the_order_is_the_exact_one(kind: str, data: st.DataObject) -> None:
    scores = data.draw(st.lists(NUMBERS[kind], min_size=1, max_size=9))
    k = data.draw(st.integers(1, len(scores)))
    spots = st.integers(0, WORDS - 1) | st.sampled_from([1, 2**11, 2**48, 2**63, WORDS - 2])
    everyone = st.lists(spots, min_size=len(scores), max_size=len(scores), unique=True)
    rounds = [data.draw(everyone) for _ in range(k)]
    law = FlipRounds(read_vector(scores), k, HALF)
    left, expected = list(range(len(scores))), list[int]()
    for uniforms in rounds:
        expected.append(first_exactly(scores, left, uniforms))
        left.remove(expected[-1])
    # Whoever is in doubt is in the middle of its cell, and the next round begins after that: one round at a time.
    with np.errstate(all="ignore"):
        delays, gone = None, list[int]()
        for uniforms, answer in zip(rounds, expected, strict=True):
            best = next(i for i in law._best_first if i not in gone)
            delays = law._delays(best)
            delays[gone] = np.inf
            assert law._first(delays, best, Words(packed(uniforms))) == answer
            gone.append(answer)


@pytest.mark.parametrize("gap", [0, 1, 5])
@pytest.mark.parametrize("word", [2**20 + 1, 2**40, 2**62 + 12345])
def test_differences_that_doubles_do_not_see(word: int, gap: int) -> None:
    with precision(300):
        level = int(
            ((arb(2 * word + 1) / 2) * (arb(gap) / 2).exp()).mid().floor().unique_fmpz() or 0
        )
    for cells in (2**e * sign for e in range(1, 28, 3) for sign in (-1, 1)):
        if 0 <= level + cells < WORDS:
            uniforms = [word, level + cells]
            bits = Words(packed(uniforms))
            found = FlipRounds(read_vector([0, gap]), 1, HALF).draw(bits)
            assert found == [first_exactly([0, gap], [0, 1], uniforms)]


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 1.0, 30.0]), st.integers(17, 300))
def test_reading_on_for_a_few_is_enough(seed: int, spread: float, n: int) -> None:
    """The answers are those that reading on for everyone gives, where the rest is a function of the first bits."""
    rng = np.random.default_rng(seed)
    scores = read_vector(np.round(rng.standard_normal(n) * spread, 1))

    answers = []
    for few in (read_on_for, lambda n: n):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("discreet.sampling.waiting_times.read_on", hashed)
            patch.setattr(arrivals, "read_on_for", few)
            answers.append(FlipRounds(scores, 1, HALF).draw(SeededBits(seed)))
    assert answers[0] == answers[1]


def test_others_that_may_be_first_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too few read on, the others are settled all the same: every list is possible."""
    monkeypatch.setattr(arrivals, "read_on_for", lambda n: 1)
    law = FlipRounds(read_vector([1, 1, 0]), 1, HALF)
    with precision(500):
        tree = bit_tree(lambda bits: tuple(law.draw(bits)), 11)
        for one, probability in zip(_lists(3, 1), law.probabilities(), strict=True):
            assert tree.admits(tuple(one), probability)
    assert tree.undecided < Fraction(1, 2)


@pytest.mark.parametrize(("apart", "doubts"), [(1.5, 1), (3.0, 0)])
def test_two_errors_apart_is_not_certain(
    apart: float, doubts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled = list[int]()

    def settle(_: FlipRounds, noise: dict[int, Any], best: int) -> int:
        settled.append(len(noise))
        return best

    monkeypatch.setattr(FlipRounds, "_settle", settle)
    scores = read_vector([apart * LOG_TIME_ERROR, 0.0])
    # Both uniforms are one half.
    assert FlipRounds(scores, 1, NaturalRate(Fraction(1))).draw(Words([0x80008000, 0, 0])) == [0]
    assert settled == [2] * doubts


def test_two_steps_of_a_uniform() -> None:
    words = [0x1111222233334444, 0xFFFF0000AAAA0001]
    short, width = short_words(6, Words(words))
    assert short.tolist() == [0x4444, 0x3333, 0x2222, 0x1111, 0x0001, 0xAAAA]
    assert width == 16
    found, length = read_on(short[:2], width, Words([0xABCDEF0123456789, 2**64 - 1]))
    assert [hex(word) for word in found.tolist()] == ["0x4444abcdef012345", "0x3333ffffffffffff"]
    assert length == 64
    assert short_words(3, ScriptedBits("101"))[0].tolist() == [1, 0, 1]
    again, length = read_on(np.array([1, 0], dtype=np.uint64), 1, ScriptedBits("01"))
    assert (again.tolist(), length) == ([2, 1], 2)


def test_its_work_depends_on_sizes_alone() -> None:
    n, k = 5000, 6
    rng = np.random.default_rng(0)
    seen = set()
    for scores in (rng.standard_normal(n), np.zeros(n), np.arange(n) * 1e6, np.arange(n) ** 2):
        law = FlipRounds(read_vector(scores), k, HALF)
        law.draw(SystemBits())
        with counted_work() as work:
            law.draw(SystemBits())
        seen.add((work.words, work.functions, work.passes, work.balls))
    assert seen == {(k * (n // 4 + 18), k * 2 * 18, 0, 0)}


@pytest.mark.parametrize("mechanism", [PermuteAndFlip(), NoisyMax("exponential")])
def test_peeling_of_more_than_three(mechanism: Any) -> None:
    one = PrivacyParameter("epsilon", Fraction(1))
    for k, law in ((3, Rounds), (4, FlipRounds)):
        drawn: Any = Peeling(mechanism, k).calibrate(GENERAL, one).law(read_vector(range(9)))
        assert type(drawn) is law
    tiny = PrivacyParameter("scale", Fraction(10) ** 290)
    slow: Any = Peeling(mechanism, 5).calibrate(GENERAL, tiny).law(read_vector(range(9)))
    assert type(slow) is Rounds
    for bad in ([0.0, float("nan")], [float("inf"), 0.0]):
        with pytest.raises(InvalidScores):
            FlipRounds(read_vector(bad), 1, HALF)


@pytest.mark.parametrize("values", PEELED)
@pytest.mark.parametrize("rate", [HALF, NaturalRate(Fraction(1, 10**300))])
@pytest.mark.one_in(5)
def test_peeling_in_blocks_is_the_same_law(
    values: tuple[list[Any], int], rate: Rate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "BLOCK_SIZE", 2)
    monkeypatch.setattr(rounds, "_AT_ONCE", 1)
    scores, k = values
    with precision(3000):
        stated = one_after_another(scores, k, lambda left: Categorical(left, rate))
    undecided = proved(BlockRounds(read_vector(scores), k, rate).draw, stated, 14)
    assert undecided < Fraction(1, 16)


@pytest.mark.parametrize("values", PEELED)
@pytest.mark.one_in(5)
def test_peeling_in_blocks_of_doubles_is_the_same_law(
    values: tuple[list[Any], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one call of C, and from the first open word on in Python."""
    monkeypatch.setattr(rounds, "BLOCK_SIZE", 2)
    scores, k = values
    doubles = np.array(list(map(float, scores)))
    with precision(3000):
        stated = one_after_another(doubles.tolist(), k, lambda left: Categorical(left, HALF))
    undecided = proved(BlockRounds(read_vector(doubles), k, HALF).draw, stated, 14)
    assert undecided < Fraction(1, 16)


@pytest.mark.parametrize("n", [1, 2, 5, 2047, 2049, 3 * BLOCK_SIZE, 20 * BLOCK_SIZE + 1])
@pytest.mark.parametrize("spread", [0.0, 1.0, 300.0])
def test_lists_are_the_same_in_c_and_in_numpy(
    n: int, spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a distance that is far too large leaves many words open, so that Python goes on in the middle."""
    if kernel.active() is None:
        pytest.skip(f"no kernel: {kernel.load()}")
    k = min(n, 30)
    scores = read_vector(np.random.default_rng(n).normal(size=n) * spread)
    lists: list[list[Any]] = []
    for wide in (1.0, 1e11, 1e12):
        plain = certain_distance
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                rounds,
                "certain_distance",
                lambda error, wide=wide, plain=plain: wide * plain(error),
            )
            bits = SeededBits(n)
            lists.append([*BlockRounds(scores, k, HALF).draws(5, bits), bits.read])
    monkeypatch.setattr(kernel, "active", lambda: None)
    bits = SeededBits(n)
    lists.append([*BlockRounds(scores, k, HALF).draws(5, bits), bits.read])
    assert all(one == lists[0] for one in lists)
    assert all(len(set(one)) == k for one in lists[0][:-1])


def test_without_its_distance_c_settles_words_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words beside the boundary in the middle of two equal blocks, and of two equal candidates in one."""
    if kernel.active() is None:
        pytest.skip(f"no kernel: {kernel.load()}")
    monkeypatch.setattr(rounds, "BLOCK_SIZE", 2)
    scores, half = read_vector(np.zeros(4)), 2**63
    words = [half - 1, half, half - 1, half]

    def first() -> int:
        bits = ScriptedBits("".join(f"{word:064b}" for word in words) + "01" * 640, width=64)
        return BlockRounds(scores, 2, HALF)._at_once(bits)[0].__len__()

    assert first() == 0
    monkeypatch.setattr(rounds, "certain_distance", lambda _: -1.0)
    assert first() == 2


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.data())
def test_blocks_lose_what_was_taken(scores: list[int], data: st.DataObject) -> None:
    """After any answers the weights of the blocks are those of what is left, in doubles and in balls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "BLOCK_SIZE", 2)
        remaining = rounds.Remaining(read_vector(scores), HALF)
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
        # A round draws from one block; all but the last sum what is left of it, one candidate less; in C none is.
        less = (BLOCK_SIZE + 2 * again - last + (k - 1)) if kernel.active() is None else 0
        assert work.functions == k * 8 + 2 * k * BLOCK_SIZE - less
        assert work.balls == 0
        seen.add((work.words, work.passes))
    assert seen == {(2 * k, 2 * k)}


@pytest.mark.parametrize("k", [1, 2, 7])
def test_a_scale_is_divided_by_the_spread_of_all_rounds(k: int) -> None:
    for change in (Fraction(1, 3), Fraction(1), Fraction(5)):
        sensitivity = sensitivity_of(change, "add_remove")
        assert Peeling(Exponential(), k).spread(sensitivity) == k * 2 * change


def test_rounds_over_runs_are_rounds_over_their_candidates() -> None:
    """An answer makes its run shorter by one, and what is left of it keeps its places."""
    scores, sizes = [0, 0, 1, 1, 1, 0], np.array([2, 3, 1], dtype=object)
    runs = Runs(sizes.cumsum() - sizes, sizes, read_vector([0, 1, 0]))
    one = Exponential().calibrate(
        sensitivity_of(1, "add_remove"), PrivacyParameter("epsilon", Fraction(2))
    )
    law = RunRounds(runs, 2, one.law)
    tree = bit_tree(lambda bits: tuple(law.draw(bits)), 14)
    with precision(128):
        exact = probabilities_of_rounds(read_vector(scores), 2, one.law)
        for pair, chance in zip(permutations(range(6), 2), exact, strict=True):
            assert tree.admits(pair, chance), pair
    assert tree.undecided < Fraction(1, 10)
    several = law.draws(50, SeededBits())
    assert [len({*answers}) for answers in several] == [2] * 50
    whole = RunRounds(runs, 6, one.law).draws(20, SeededBits())
    assert [sorted(answers) for answers in whole] == [[*range(6)]] * 20


def test_peeling_takes_no_base_measure() -> None:
    """Its weights are for all candidates, and a round has fewer."""
    terms = sensitivity_of(1, "add_remove"), PrivacyParameter("epsilon", Fraction(1))
    with pytest.raises(InvalidArgument, match="takes no base_measure"):
        Peeling(Exponential(base_measure=[1, 2, 3]), 2).calibrate(*terms)


@pytest.mark.parametrize("blocks", [600, 5_000, 100_001])
def test_blocks_that_c_adds_up_by_rows_have_the_error_of_such_sums(blocks: int) -> None:
    _, longest = cumulate(np.ones(blocks))
    assert blocks_error(blocks) == blocks_error(blocks, longest)
