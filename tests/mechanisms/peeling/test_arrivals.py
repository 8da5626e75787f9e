"""Rounds of the exponential mechanism in one race: its law by enumeration, its order by an exact oracle."""

from collections.abc import Iterator, Sequence
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
from discreet.mechanisms.testing import SeededBits, bit_tree
from discreet.sampling import kernel
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import NaturalRate, precision
from discreet.sampling.vectors import differences, read_vector
from discreet.sampling.waiting_times import log_time

from ..races import NUMBERS, packed

HALF = NaturalRate(Fraction(1, 2))
WORDS = 2**64
FAST: Any = kernel.active()
needs_c = pytest.mark.skipif(FAST is None or FAST.module is None, reason="no module of C")


@pytest.fixture(
    params=["numpy", pytest.param("c", marks=needs_c)],
    scope="module",
    name="both_ways",
    autouse=True,
)
def _both_ways(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run races with numpy's logarithms, and in C."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setattr(kernel, "active", lambda: None)
        yield


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


def test_what_is_not_finite_is_refused() -> None:
    for bad in ([0.0, float("nan")], [float("inf"), 0.0]):
        with pytest.raises(InvalidScores):
            FirstArrivals(read_vector(bad), 1, HALF)


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


def test_all_are_settled_where_one_of_the_first_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is after all times that are known, but the first may be later, and the third is."""
    uniforms = [WORDS - 1, 2**63, 0]
    assert settled_among(monkeypatch, [0.0, -30.0, -1000.0], 1, uniforms) == {0, 1, 2}


DATASETS = {
    "distinct": np.random.default_rng(1).permutation(3000) * 7,
    "equal revenue": np.floor(1e5 / np.arange(1, 3001)),
    "a hundred values": np.random.default_rng(2).integers(0, 100, 3000),
    "one value": np.zeros(3000),
    "leads": np.concatenate(([10**6, 5000, 5000], np.zeros(2997))),
    "far": np.random.default_rng(3).choice([-(2**62), 0, 2**62], 3000) + np.arange(3000),
}


@needs_c
@pytest.mark.parametrize("kind", [np.float64, np.int64])
@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize(
    ("n", "k", "rate"),
    [
        (1, 1, "1"),
        (5, 5, "1/9"),
        (66, 50, "3"),
        (67, 50, "1/50"),
        (1000, 50, "1/50"),
        (3000, 9, "1/4"),
    ],
)
def test_c_answers_as_numpy_does(
    dataset: str, kind: Any, n: int, k: int, rate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same lists on the same words, with as many of them read, and hardly ever by numpy after all."""
    for stride in (1, -1):
        scores = read_vector(DATASETS[dataset].astype(kind)[:n][::stride])
        races = []
        for way in (None, FAST):
            monkeypatch.setattr(kernel, "active", lambda way=way: way)
            races.append(FirstArrivals(scores, k, NaturalRate(Fraction(rate))))
        with_numpy, in_c = races
        assert with_numpy._race is None
        assert in_c._race is not None
        assert in_c._delays.tolist() == with_numpy._delays.tolist()
        for seed in range(9):
            first, second = SeededBits(seed), SeededBits(seed)
            expected = with_numpy.draw(second)
            with monkeypatch.context() as patch:
                patch.setattr(FirstArrivals, "_draw_with_numpy", None)  # none of these is in doubt
                assert in_c.draw(first) == expected
            assert first.read == second.read


@needs_c
def test_c_refuses_arrays_of_other_sizes_and_types() -> None:
    race: Any = FAST.module
    scores, delays, order = np.zeros(600), np.zeros(600), np.arange(600)
    words, more = np.zeros(150, dtype=np.uint64), np.zeros(20, dtype=np.uint64)
    good = [scores, delays, delays, order, words, more, 4, 1.0, 1e-9, 16.0]
    assert race.first_arrivals(*good) is None  # all are the same
    for place, bad, error in (
        (0, scores[:-1], TypeError), (0, scores.astype(np.float32), TypeError), (0, [0.0] * 600, TypeError),
        (3, order.astype(np.int32), TypeError), (3, order + 600, ValueError), (3, order - 1, ValueError),
        (4, words[:-1], TypeError), (4, words.view(np.int64), TypeError),
        (5, np.zeros(513, dtype=np.uint64), ValueError), (6, 0, ValueError),
        (6, 21, ValueError), (7, "1", TypeError),
    ):  # fmt: skip
        with pytest.raises(error):
            race.first_arrivals(*good[:place], bad, *good[place + 1 :])
    table = np.zeros(2**16)
    calls: list[tuple[Any, ...]] = [
        (race.looks, words, table[:-1], delays, delays), (race.looks, words[1:], table, delays, delays),
        (race.looks, words, table, delays), (race.looks, words, table, delays, delays[1:]),
        (race.looks, words, table, delays, bytes(4800)), (race.delays, scores, 0.0, 1.0, delays[1:]),
        (race.delays, scores.astype(bool), 0.0, 1.0, delays), (race.delays, scores, 0.0),
    ]  # fmt: skip
    for function, *arguments in calls:
        with pytest.raises((TypeError, BufferError)):
            function(*arguments)
    for endless in (np.nan, np.inf, -np.inf):
        scores[77] = endless
        assert not race.delays(scores, 0.0, 1.0, delays)
