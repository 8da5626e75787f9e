"""Rounds of the exponential mechanism in one race: its law by enumeration, its order by an exact oracle."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidScores
from discreet.mechanisms.peeling import arrivals
from discreet.mechanisms.peeling.arrivals import FirstArrivals
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import HALF_ULP, Categorical
from discreet.sampling.enclosures import FUNCTION_ERROR, NaturalRate, precision
from discreet.sampling.vectors import differences, read_vector
from discreet.sampling.waiting_times import (
    LOG_TIME_ERROR,
    earliest_log_times,
    log_time,
    log_time_bounds,
    read_on_for,
)
from discreet.testing import SeededBits, bit_tree, counted_work

from ..races import NUMBERS, hashed, packed

HALF = NaturalRate(Fraction(1, 2))
WORDS = 2**64


class Words:
    """These words of 64 bits first, then those of a seed."""

    width = 64

    def __init__(self, words: Sequence[int], seed: int = 0) -> None:
        self.left, self.then, self.read = list(words), SeededBits(seed), 0

    def word(self) -> int:
        self.read += 1
        return self.left.pop(0) if self.left else self.then.word()

    def words(self, n: int) -> Any:
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)


def chances(scores: list[Any], k: int) -> dict[tuple[int, ...], arb]:
    """Return the probability of each list: the product of those of its rounds."""
    found: dict[tuple[int, ...], arb] = {(): arb(1)}
    for _ in range(k):
        longer: dict[tuple[int, ...], arb] = {}
        for taken, chance in found.items():
            left = [i for i in range(len(scores)) if i not in taken]
            stated = Categorical(read_vector([scores[i] for i in left]), HALF).probabilities()
            longer |= {(*taken, i): chance * p for i, p in zip(left, stated, strict=True)}
        found = longer
    return found


@pytest.mark.parametrize(
    ("scores", "k"),
    [
        ([0, 1, 2], 2),
        ([3, 3, 3], 3),
        ([0.5, -0.25], 2),
        ([5], 1),
        ([0, 10**6, 1], 2),
        ([1e300, 0.0, -1e300], 3),
        ([10**300, Fraction(1, 3), 0], 2),
    ],
)
@pytest.mark.one_in(3)
def test_the_race_has_the_law_of_the_rounds(scores: list[Any], k: int) -> None:
    law = FirstArrivals(read_vector(scores), k, HALF)
    with precision(3000):
        stated = chances(scores, k)
    tree = bit_tree(lambda bits: tuple(law.draw(bits)), 10)
    assert set(tree.masses) <= set(stated)
    for listed, probability in stated.items():
        assert tree.admits(listed, probability), (listed, tree, probability)
    assert tree.undecided < Fraction(3, 4)


def in_exact_order(scores: list[Any], k: int, words: Sequence[int]) -> list[int]:
    """Return who comes first, for the uniforms in the middle of these cells, at 400 bits."""

    def compare(i: int, j: int) -> int:
        with precision(400):
            lead = Fraction(scores[i]) - Fraction(scores[j])
            behind = log_time(2 * words[i] + 1, 65) - log_time(2 * words[j] + 1, 65)
            return -1 if behind < HALF.exponent(lead) else 1

    return sorted(range(len(scores)), key=cmp_to_key(compare))[:k]


@pytest.mark.parametrize("kind", NUMBERS)
@given(data=st.data())
def test_the_order_is_the_exact_one(kind: str, data: st.DataObject) -> None:
    scores = data.draw(st.lists(NUMBERS[kind], min_size=1, max_size=12))
    k = data.draw(st.integers(1, len(scores)))
    spots = st.integers(0, WORDS - 1) | st.sampled_from([1, 2**11, 2**63, WORDS - 2, WORDS - 2**11])
    words = data.draw(st.lists(spots, min_size=len(scores), max_size=len(scores), unique=True))
    bits = Words([*packed(words), *[2**63] * 99])  # doubts end in the middle of cells
    found = FirstArrivals(read_vector(scores), k, HALF).draw(bits)
    assert found == in_exact_order(scores, k, words)


def level(word: int, gap: int) -> int:
    """Return the 128 bits of the uniform with which a candidate that is ahead by `gap` comes when the other does.

    The uniform of the other is the middle of the cell of `word`.
    """
    with precision(400):
        rest = 1 - arb(2 * word + 1) / arb(2) ** 65
        share = (1 - rest ** (arb(gap) / 2).exp()) * arb(2) ** 128
        return int(share.mid().floor().unique_fmpz() or 0)


LEVEL = [(word, gap) for word in (3, 2**30, 2**62, WORDS - 2**40) for gap in (0, 1, 7)
         if level(word, gap) < WORDS * (WORDS - 2**20)]  # fmt: skip


@pytest.mark.parametrize(("word", "gap"), LEVEL)
def test_who_is_as_good_as_level_is_settled_by_more_bits(word: int, gap: int) -> None:
    """Two candidates whose cells overlap: the next words decide, whichever way they fall."""
    law = FirstArrivals(read_vector([0, gap]), 2, HALF)
    other, rest = divmod(level(word, gap), WORDS)
    for ahead in (-99, 99):
        if 0 <= rest + ahead < WORDS:
            # The second candidate is compared with the first, so its word is read before.
            bits = Words([*packed([word, other]), rest + ahead, 2**63])
            assert law.draw(bits) == ([1, 0] if ahead < 0 else [0, 1])
            assert bits.read == 5


@pytest.mark.parametrize(("word", "gap"), LEVEL)
def test_differences_that_doubles_do_not_see(word: int, gap: int) -> None:
    other = level(word, gap) // WORDS
    for cells in (2**e * sign for e in range(1, 30, 3) for sign in (-1, 1)):
        if 0 <= other + cells < WORDS:
            for k in (1, 2):
                words = [word, other + cells]
                found = FirstArrivals(read_vector([0, gap]), k, HALF).draw(
                    Words([*packed(words), *[2**63] * 9])
                )
                assert found == in_exact_order([0, gap], k, words)


def test_the_bound_on_log_times() -> None:
    rng = np.random.default_rng(1)
    near = (2.0 ** rng.uniform(0, 64, 500)).astype(np.uint64)
    ends = np.array([0, 1, 2**63 - 1, 2**63, WORDS - 1, WORDS - 2], dtype=np.uint64)
    words = np.concatenate((near, np.uint64(WORDS - 1) - near, ends))
    with np.errstate(all="ignore"):
        starts, stops = log_time_bounds(words, 64)
    with precision(300):
        for i, word in enumerate(words.tolist()):
            for numerator, fast in ((word, starts[i]), (word + 1, stops[i])):
                if 0 < numerator < WORDS:
                    assert abs(log_time(numerator, 64) - fast) < LOG_TIME_ERROR / 64
                else:
                    assert fast == (-np.inf if numerator == 0 else np.inf)


def test_the_table_of_sixteen_bits() -> None:
    table = earliest_log_times(16)
    assert len(table) == 2**16
    assert table[0] == -np.inf
    with precision(100):
        for word in (1, 2, 2**15 - 1, 2**15, 2**16 - 1):
            assert abs(log_time(word, 16) - table[word]) < LOG_TIME_ERROR / 64


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 1.0, 30.0]), st.integers(30, 300))
def test_reading_on_for_a_few_is_enough(seed: int, spread: float, n: int) -> None:
    """The answers are those that reading on for everyone gives, where the rest is a function of the first bits."""
    scores = read_vector(np.round(np.random.default_rng(seed).standard_normal(n) * spread, 1))

    answers = []
    for few in (read_on_for, lambda n: n):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("discreet.sampling.waiting_times.read_on", hashed)
            patch.setattr(arrivals, "read_on_for", few)
            answers.append(FirstArrivals(scores, 5, HALF).draw(SeededBits(seed)))
    assert set(answers[0]) == set(answers[1])


def test_others_that_may_be_among_the_first_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too few read on, the others are settled all the same."""
    monkeypatch.setattr(arrivals, "read_on_for", lambda n: 0)
    scores = [1, 1, 0]
    law = FirstArrivals(read_vector(scores), 1, HALF)
    with precision(500):
        stated = chances(scores, 1)
        tree = bit_tree(lambda bits: tuple(law.draw(bits)), 10)
        assert all(tree.admits(one, probability) for one, probability in stated.items())
    assert tree.undecided < Fraction(1, 2)


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.uint64, object])
def test_differences_are_exact(kind: Any) -> None:
    low = 0 if kind is np.uint64 else -(2**62)
    values, others = (np.array(list_, dtype=kind) for list_ in ([low, 7, 5], [2**62, 3, 5]))
    exact = [float(int(a) - int(b)) for a, b in zip(values, others, strict=True)]
    assert differences(values, others).tolist() == exact


def test_its_work_depends_on_sizes_alone() -> None:
    n, k = 5000, 40
    earliest_log_times(16)  # worked out once
    rng = np.random.default_rng(0)
    seen = set()
    for scores in (rng.standard_normal(n), np.zeros(n), np.arange(n) * 1e6, np.arange(n) ** 2):
        law = FirstArrivals(read_vector(scores), k, HALF)
        with counted_work() as work:
            law.draw(SystemBits())
        seen.add((work.words, work.functions, work.passes, work.balls))
    few = k + 18
    assert seen == {(n // 4 + few, 4 * few, 0, 0)}
    assert len(FirstArrivals(read_vector(np.zeros(n)), n, HALF).draws(2, SeededBits(5))[1]) == n


def test_what_is_not_finite_is_refused() -> None:
    for bad in ([0.0, float("nan")], [float("inf"), 0.0]):
        with pytest.raises(InvalidScores):
            FirstArrivals(read_vector(bad), 1, HALF)


def test_the_bound_covers_what_is_assumed_of_logarithms() -> None:
    """Real logarithms are better than assumed, so no comparison with balls can tell a bound that is too small."""
    assert 45.4 * FUNCTION_ERROR + (4 + 4.02 * 64 + 109) * HALF_ULP <= LOG_TIME_ERROR


def settled_among(
    monkeypatch: pytest.MonkeyPatch, scores: list[float], k: int, uniforms: list[int]
) -> set[int] | None:
    """Return who is settled in balls, None if nobody is."""
    seen = list[set[int]]()

    def settle(_: FirstArrivals, noise: dict[int, Any]) -> list[int]:
        seen.append(set(noise))
        return []

    monkeypatch.setattr(FirstArrivals, "_settle", settle)
    law = FirstArrivals(read_vector(scores), k, NaturalRate(Fraction(1)))
    law.draw(Words(packed(uniforms)))
    return seen[0] if seen else None


@pytest.mark.parametrize("k", [1, 2])
def test_two_errors_apart_is_not_certain(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for apart, open_ in ((1.5, {0, 1}), (3.0, None)):
        scores = [apart * LOG_TIME_ERROR, 0.0]
        assert settled_among(monkeypatch, scores, k, [2**63, 2**63]) == open_


def test_all_are_settled_where_one_of_the_first_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is after all times that are known, but the first may be later, and the third is."""
    uniforms = [WORDS - 1, 2**63, 0]
    assert settled_among(monkeypatch, [0.0, -30.0, -1000.0], 1, uniforms) == {0, 1, 2}
