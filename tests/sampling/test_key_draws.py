"""Draws of keys by classes: their distribution, their words, and the fast pass beside the slow one."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from discreet.mechanisms.testing import bit_tree
from discreet.sampling.bits import Bits, LazyUniform
from discreet.sampling.enclosures import precision
from discreet.sampling.gaussian_probabilities import gaussian_probabilities
from discreet.sampling.key_draws import FARTHEST, ClassPlaces, KeyDraw, Turns, WordsAhead
from discreet.sampling.key_noise import KeyNoise
from discreet.sampling.key_probabilities import ProbabilitiesByCount, optimal_probabilities

from .given_probabilities import HALVES, CountedWords, GivenProbabilities, OneWord

FIFTHS = GivenProbabilities([Fraction(0), Fraction(1, 5), Fraction(1)])


class InBalls(KeyDraw):
    """The same draws, each word of which is settled in balls."""

    def _skip(self, word: int, count: int, source: WordsAhead) -> int:
        return self._settle_skip(LazyUniform.of_word(word, source), count)

    def _skips(
        self,
        words: NDArray[np.uint64],
        count: int | NDArray[np.int64],
        width: int,
        lookup: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        return np.zeros(len(words), np.int64), np.zeros(len(words), np.bool_)

    @property
    def noise(self) -> KeyNoise:
        """The noise, in balls as well."""
        return NoiseInBalls(self.law, self.table)


class NoiseInBalls(KeyNoise):
    """The same noise, each word of which is settled in balls."""

    def of_classes(self, classes: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        uniforms = [LazyUniform.of_word(int(word), bits) for word in bits.words(len(classes))]
        pairs = zip(uniforms, classes.tolist(), strict=True)
        return np.array([self.settle(u, count) for u, count in pairs], dtype=np.int64)


Answer = tuple[tuple[int, int, int | None], ...]


def answer(law: ProbabilitiesByCount, sizes: Sequence[int], bits: Bits, noise: bool) -> Answer:
    classes, places, noises = drawn(KeyDraw(law), sizes, bits, noise)
    return tuple(zip(classes, places, noises, strict=True))


def by_classes(released: ClassPlaces) -> list[Any]:
    """Return the places of each class."""
    assert int(released.numbers.sum()) == len(released.places)
    return np.split(released.places, released.numbers.cumsum()[:-1])


def drawn(
    drawing: KeyDraw, sizes: Sequence[int], bits: Bits, noise: bool
) -> tuple[list[int], list[int], list[int] | list[None]]:
    """Return the classes and the places of released keys, those of the last class too, and their noise."""
    by_class = by_classes(drawing.draw(sizes, bits, with_noise=noise))
    assert by_class[-1].tolist() == [*range(sizes[-1])]
    classes = [count for count, some in enumerate(by_class, start=1) for _ in some]
    places = [place for some in by_class for place in some.tolist()]
    if not noise:
        return classes, places, [None] * len(places)
    return (
        classes,
        places,
        drawing.noise.of_classes(np.array(classes, dtype=np.int64), bits).tolist(),
    )


def probability(law: GivenProbabilities, sizes: Sequence[int], of: Answer, noise: bool) -> Fraction:
    """Return the probability of an answer: every key by itself."""
    released = {(count, place): step for count, place, step in of}
    total = Fraction(1)
    for count, size in enumerate(sizes, start=1):
        for place in range(size):
            step = released.get((count, place), 0)
            if step == 0:
                total *= 1 - law.values[count]
            elif noise:
                assert step is not None
                total *= law.values[step] - law.values[step - 1] if step <= count else 0
            else:
                total *= law.values[count]
    return total


def answers(law: GivenProbabilities, sizes: Sequence[int], noise: bool) -> list[Answer]:
    """Return all answers."""
    keys = [(count, place) for count, size in enumerate(sizes, start=1) for place in range(size)]
    options = [
        [None, *([(*key, step) for step in range(1, key[0] + 1)] if noise else [(*key, None)])]
        for key in keys
    ]
    return [tuple(one for one in some if one is not None) for some in product(*options)]


ENUMERATED = [
    (FIFTHS, (1, 0), False, 12),
    (FIFTHS, (2, 0), False, 11),
    (FIFTHS, (0, 1), True, 10),
    (FIFTHS, (1, 1), True, 11),
    (HALVES, (0, 1, 0), True, 12),
    (HALVES, (0, 0, 1), True, 11),
]


@pytest.mark.parametrize(("law", "sizes", "noise", "depth"), ENUMERATED)
def test_every_string_of_bits(
    law: GivenProbabilities, sizes: tuple[int, ...], noise: bool, depth: int
) -> None:
    enumerate_bits(law, sizes, noise, depth)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("law", "sizes", "noise", "depth"), [*ENUMERATED, (HALVES, (1, 1, 0), False, 12)]
)
def test_every_longer_string_of_bits(
    law: GivenProbabilities, sizes: tuple[int, ...], noise: bool, depth: int
) -> None:
    assert enumerate_bits(law, sizes, noise, depth + 4) < Fraction(1, 8)


def enumerate_bits(
    law: GivenProbabilities, sizes: tuple[int, ...], noise: bool, depth: int
) -> Fraction:
    """Compare the distribution on all strings of bits with that of independent keys; return the undecided share."""
    tree = bit_tree(lambda bits: answer(law, sizes, bits, noise), depth)
    every = answers(law, sizes, noise)
    assert {*tree.masses} <= {*every}
    for one in every:
        chance, mass = probability(law, sizes, one, noise), tree.masses.get(one, Fraction(0))
        assert mass <= chance <= mass + tree.undecided
    assert tree.undecided < Fraction(2, 5)
    return tree.undecided


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("pair", [("1", "1e-6"), ("1/10", "1e-3"), ("1", "1/2"), ("5", "1e-13")])
def test_the_fast_pass_gives_the_same(pair: tuple[str, str], noise: bool) -> None:
    law = optimal_probabilities(*map(Fraction, pair))
    generator = np.random.default_rng(5)
    for seed in range(3):
        sizes = [int(n) for n in generator.integers(0, 60, law.size)]
        fast, slow = CountedWords(seed), CountedWords(seed)
        some = drawn(KeyDraw(law), sizes, fast, noise)
        assert some == drawn(InBalls(law), sizes, slow, noise)
        assert fast.read == slow.read


def test_many_small_classes_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its law, the words are those of the answer, and few are left to be drawn one after another."""
    law = gaussian_probabilities(Fraction(400), 200)
    assert law.size == 390
    alone, right = list[int](), KeyDraw._class

    def count_it(self: KeyDraw, count: int, *others: Any) -> Any:
        alone.append(count)
        return right(self, count, *others)

    monkeypatch.setattr(KeyDraw, "_class", count_it)
    sizes, times = [40] * (law.size - 1) + [0], 60
    sizes[199] = 10**5  # at the threshold: about half of them, too many for turns
    sizes[299:329] = [60] * 30  # they go on alone where the others end
    numbers, drawing = np.zeros(law.size), KeyDraw(law)
    for seed in range(times):
        bits = CountedWords(seed)
        places = by_classes(drawing.draw(sizes, bits))
        used = law.size - 1 + sum(map(len, places))
        assert used <= bits.read <= used * 9 // 8
        for some, size in zip(places, sizes, strict=True):
            assert (np.diff(some) > 0).all()
            assert not len(some) or 0 <= some[0] <= some[-1] < size
        numbers += [len(some) for some in places]
    assert alone.count(200) == times
    assert len(alone) < 65 * times
    for count in range(1, law.size):
        chance, keys = float(law.probability(count)), times * sizes[count - 1]
        slack = 5 * (keys * chance * (1 - chance)) ** 0.5 + 1
        assert abs(numbers[count - 1] - keys * chance) < slack


def test_turns_by_hand() -> None:
    """A skip that is cut releases nothing, and its class goes on; a class is closed where a skip ends beyond it."""
    turns = Turns(np.array([3, 2 * FARTHEST, 1, 0]))
    classes = turns.skip(np.arange(4), np.array([2, FARTHEST, 1, 0]))
    assert classes.tolist() == [0, 1]
    assert turns.starts.tolist() == [3, FARTHEST, 0, 0]
    assert turns.skip(classes, np.array([0, 5])).tolist() == [1]
    assert turns.are_open.tolist() == [False, True, False, False]
    released = turns.places()
    assert [some.tolist() for some in by_classes(released)] == [[2], [FARTHEST + 5], [], []]
    more = released.with_more({0: np.array([3, 4]), 2: np.array([0]), 3: np.array([7, 9])})
    assert [some.tolist() for some in by_classes(more)] == [[2, 3, 4], [FARTHEST + 5], [0], [7, 9]]


def whole_part(number: arb) -> int:
    """Return the floor of a ball that has one."""
    floor = number.floor().unique_fmpz()
    assert floor is not None
    return int(floor)


@pytest.mark.parametrize("count", [1, 5, 11, 12, 20])
def test_words_next_to_a_border(count: int) -> None:
    """Next to the border between two results the fast pass leaves the word to balls, or is right."""
    law = optimal_probabilities(Fraction(1), Fraction(1, 10**5))
    drawing = KeyDraw(law)
    with precision(256):
        q, whole = law.complement(count), arb(2) ** 64
        skips = [whole * (1 - q**j) for j in (1, 2, 7)]
        steps = [whole * law.probability(m) / law.probability(count) for m in range(1, count)][-3:]
        near = [[whole_part(border) for border in some] for some in (skips, steps)]
    for border in near[0]:
        for word in range(border - 2, min(border + 3, 2**64)):
            settled = drawing._settle_skip(LazyUniform.of_word(word, CountedWords(1)), count)
            bits = CountedWords(1)
            assert drawing._skip(word, count, WordsAhead(bits, 0)) == settled
            fast, certain = drawing._skips(np.array([word], dtype=np.uint64), count, 64)
            assert not certain[0] or fast[0] == settled
    for border in near[1]:
        for word in range(border - 2, min(border + 3, 2**64)):
            classes = np.array([count])
            assert drawing.noise.of_classes(classes, OneWord(word)) == InBalls(
                law
            ).noise.of_classes(classes, OneWord(word))


@pytest.mark.parametrize("pair", [("1", "1e-5"), ("1/10", "1e-3"), ("5", "1/2")])
def test_skips_that_are_looked_up(pair: tuple[str, str]) -> None:
    """All words of a part skip alike: at its ends, next to borders and anywhere, what is looked up is right."""
    law = optimal_probabilities(*map(Fraction, pair))
    drawing, looked_up = KeyDraw(law), 0
    generator = np.random.default_rng(6)
    for count in range(1, law.size, max(1, law.size // 20)):
        lookup = drawing._lookup(count)
        assert (lookup is None) == (drawing.table.probabilities[count] < 0.25)
        if lookup is None:
            continue
        assert lookup[-1] == -1, "there are borders without end"
        cells = np.arange(len(lookup), dtype=np.uint64) << np.uint64(52)
        borders = -np.expm1(-drawing.table.rates[count] * np.arange(1, 9)) * 2.0**64
        near = [
            border * (1 + sign * 2.0**-j)
            for border in borders
            for j in (30, 45, 52)
            for sign in (-1, 1)
        ]
        anywhere = generator.integers(0, 2**64, 200, dtype=np.uint64)
        words = np.concatenate(
            [
                cells,
                cells - np.uint64(1),
                anywhere,
                np.array([n for n in near if n < 2.0**63.9], np.uint64),
            ]
        )
        skips, certain = drawing._skips(words, count, 64, lookup)
        plain, sure = drawing._skips_by_logarithms(words, count)
        both = certain & sure
        assert (skips[both] == plain[both]).all()
        doubtful = np.flatnonzero(certain & ~sure)
        for i in [*doubtful.tolist(), *range(0, len(words), 97)]:
            settled = drawing._settle_skip(
                LazyUniform.of_word(int(words[i]), CountedWords(1)), count
            )
            assert not certain[i] or skips[i] == settled
        looked_up += int((lookup >= 0).sum())
    assert looked_up > 0.9 * len(lookup if lookup is not None else [])


TABLES: dict[str, dict[int, int]] = {
    "empty": {}, "one": {1: 1}, "two alike": {3: 2}, "neighbours": {3: 1, 4: 1}, "sure": {23: 1}, "near": {22: 1},
    "many": {1: 500, 5: 20, 12: 9, 23: 40},
}  # fmt: skip


@pytest.mark.parametrize("noise", [False, True])
def test_the_words_read_follow_from_the_answer(noise: bool) -> None:
    """However the keys are spread over classes, and for an empty table as for any other."""
    law = optimal_probabilities(Fraction(1), Fraction(1, 10**5))
    assert law.size == 23
    for table in TABLES.values():
        sizes = [table.get(count, 0) for count in range(1, 24)]
        for seed in range(40):
            bits = CountedWords(seed)
            _, places, _ = drawn(KeyDraw(law), sizes, bits, noise)
            assert bits.read == 22 + len(places) * (2 if noise else 1)


def test_many_words_are_read_in_blocks_that_follow_from_the_answer() -> None:
    law = optimal_probabilities(Fraction(1), Fraction(1, 10**5))
    reads = set()
    for count in (10, 12, 13, 15, 23):
        sizes = [0] * 23
        sizes[count - 1] = 5000 if count > 12 else 8000
        bits = CountedWords(0)
        _, places, _ = drawn(KeyDraw(law), sizes, bits, noise=False)
        used = 22 + len(places)
        assert used <= bits.read <= used + max(1, bits.read // 8)
        reads.add((used, bits.read))
    other = WordsAhead(CountedWords(1), 22)
    for _ in range(max(used for used, _ in reads)):
        other.word()
    assert len(reads) == 5


def test_words_of_many_keys_do_not_tell_which_are_certain() -> None:
    """One record may make a key certain that nearly was: the answer is the same, and so is what is read."""
    law = GivenProbabilities([Fraction(0), 1 - Fraction(1, 2**60), Fraction(1)])
    reads = set()
    for certain in (0, 1, 300, 477, 1500):
        bits = CountedWords(5)
        _, places, _ = drawn(KeyDraw(law), [1500 - certain, certain], bits, noise=False)
        assert len(places) == 1500
        reads.add(bits.read)
    assert len(reads) == 1


def test_words_ahead_are_read_when_none_is_left() -> None:
    """So their number is a function of the number of used ones."""
    reads = set()
    for pattern in ([1] * 4000, [4000], [7] * 571 + [3], [2000, 1, 1999]):
        bits = CountedWords(3)
        source = WordsAhead(bits, 22)
        words: list[int] = []
        for n in pattern:
            while n:
                ready = source.at_hand()[:n]
                words += ready.tolist()
                source.use(len(ready))
                n -= len(ready)
        assert words == CountedWords(3).words(4000).tolist()
        reads.add(bits.read)
    assert len(reads) == 1
    assert 4000 <= max(reads) <= 4500


@pytest.mark.parametrize("size", [2**53 + 1, FARTHEST * 300])
def test_classes_larger_than_a_skip(size: int) -> None:
    """The sum of skips is exact, whatever the size."""
    law = GivenProbabilities([Fraction(0), Fraction(15, size), Fraction(1)])
    _, places, _ = drawn(KeyDraw(law), [size, 0], CountedWords(4), noise=False)
    assert places == sorted({*places})
    assert all(0 <= place < size for place in places)
    assert 1 <= len(places) <= 40


def test_a_skip_over_everything_is_followed_by_another() -> None:
    """The number of keys up to the next one has no memory, so a skip that is cut is as good as a whole one."""
    law = GivenProbabilities([Fraction(0), Fraction(1, 2 * FARTHEST), Fraction(1)])
    drawing = KeyDraw(law)
    bits = CountedWords(9)
    skips = [drawing._skip(bits.word(), 1, WordsAhead(bits, 0)) for _ in range(2000)]
    share = Counter(skip == FARTHEST for skip in skips)[True] / 2000
    assert abs(share - np.exp(-0.5)) < 0.05  # P(nobody among so many)


def test_first_and_last_words() -> None:
    """The ends of the unit interval are cells too, which are read on where they must be."""
    law = optimal_probabilities(Fraction(1), Fraction(1, 10**5))
    drawing = KeyDraw(law)
    for word in (0, 1, 2**64 - 2, 2**64 - 1):
        for count in (1, 11, 22):
            fast, slow = CountedWords(1), CountedWords(1)
            skip = drawing._skip(word, count, WordsAhead(fast, 0))
            again = drawing._settle_skip(LazyUniform.of_word(word, slow), count)
            assert skip == again
            assert (skip == 0) == (word < 2)
        for noise_word in ([word], [word, word]):

            class Same(CountedWords):
                def words(self, n: int) -> NDArray[np.uint64]:
                    if self.read:
                        return super().words(n)
                    self.read += n
                    return np.array(noise_word[:n], dtype=np.uint64)  # noqa: B023

            steps = drawing.noise.of_classes(np.full(len(noise_word), 23), Same(1))
            assert [*steps] == [1 if word < 2 else 23] * len(noise_word)
