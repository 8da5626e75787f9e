"""Keys by Gaussian thresholds: their probabilities, and their draws against the law, word by word."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from discreet.errors import InvalidArgument
from discreet.mechanisms.testing import bit_tree
from discreet.sampling.bits import Bits, LazyUniform
from discreet.sampling.enclosures import ball, lower, precision, upper
from discreet.sampling.gaussian_probabilities import GaussianProbabilities, reach
from discreet.sampling.gaussian_tails import tail
from discreet.sampling.key_draws import KeyDraw, WordsAhead
from discreet.sampling.key_noise import KeyNoise
from discreet.sampling.key_probabilities import ProbabilitiesByCount, in_doubles, rate_of

from .given_probabilities import CountedWords, OneWord
from .test_key_draws import InBalls, by_classes, drawn

F = Fraction
TEN = GaussianProbabilities(F(357, 2), 71)
LAWS = [TEN, GaussianProbabilities(F(1, 3), 2), GaussianProbabilities(F(13708), 599)]

KNOWN = {
    30: "0.00121446885961", 60: "0.215907737380", 70: "0.485069960390", 71: "0.514930039610", 100: "0.986396501431",
    130: "0.999995795596",
}  # fmt: skip


@pytest.mark.parametrize("count", KNOWN)
def test_known_probabilities(count: int) -> None:
    with precision(128):
        assert abs(TEN.probability(count) / ball(F(KNOWN[count])) - 1) < 1e-11
        assert TEN.probability(0) == 0
        assert TEN.complement(0) == 1


@pytest.mark.parametrize("law", LAWS)
def test_probabilities_are_tails_at_every_precision(law: GaussianProbabilities) -> None:
    steps = [law.lowest - 9, law.lowest, 0, 1, 2, law.least, law.least + 1, law.size, law.size + 50]
    for digits in (64, 192, 500):
        with precision(digits):
            for step in steps:
                for found, exact in (
                    (law.border(step), tail(law.least - step, law.sigma_squared)),
                    (law.rise(step), law.border(step) - law.border(step - 1)),
                    (law.complement(max(1, step)), 1 - law.probability(max(1, step))),
                ):
                    assert found.overlaps(exact)
                    assert found.rad() <= abs(found) * arb(2) ** (24 - digits)


@pytest.mark.parametrize("law", LAWS)
def test_ends_of_tables_are_hardly_passed(law: GaussianProbabilities) -> None:
    with precision(128):
        assert law.complement(law.size) < arb(2) ** -64
        assert law.border(law.lowest) < law.probability(1) * arb(2) ** -64
    table = in_doubles(law)
    assert len(table.borders) == law.size - law.lowest + 1
    with precision(512):
        for place in range(0, len(table.borders), 7):
            exact = law.border(law.lowest + place)
            assert abs(arb(float(table.borders[place])) - exact) <= abs(exact) * arb(2) ** -52
        for count in range(1, law.size, 7):
            exact = rate_of(law, count)
            assert abs(arb(float(table.rates[count])) - exact) <= abs(exact) * arb(2) ** -52


def test_a_table_that_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="certain of its answer from 149,"):
        GaussianProbabilities(F(10**8), 55_000)


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_the_fast_pass_gives_the_same(law: GaussianProbabilities, noise: bool) -> None:
    generator = np.random.default_rng(5)
    for seed in range(2):
        sizes = [int(n) for n in generator.integers(0, 30, law.size)]
        if law.size > 999:
            sizes = [size * (count % 40 == 0) for count, size in enumerate(sizes)]
        fast, slow = CountedWords(seed), CountedWords(seed)
        some = drawn(KeyDraw(law), sizes, fast, noise)
        assert some == drawn(InBalls(law), sizes, slow, noise)
        assert fast.read == slow.read


@pytest.mark.parametrize("noise", [False, True])
def test_the_words_read_follow_from_the_answer(noise: bool) -> None:
    """However the keys are spread over classes, and for an empty table as for any other."""
    law = GaussianProbabilities(F(9, 2), 12)
    for table in (
        {},
        {1: 1},
        {12: 2},
        {11: 1, 12: 1},
        {law.size: 1},
        {1: 500, 9: 20, 14: 9, law.size: 40},
    ):
        sizes = [table.get(count, 0) for count in range(1, law.size + 1)]
        for seed in range(20):
            bits = CountedWords(seed)
            _, places, _ = drawn(KeyDraw(law), sizes, bits, noise)
            assert bits.read == law.size - 1 + len(places) * (2 if noise else 1)


@pytest.mark.parametrize("count", [1, 40, 71, 120, TEN.size])
def test_words_next_to_a_border(count: int) -> None:
    """Next to the border between two results the fast pass leaves the word to balls, or is right."""
    noise = KeyDraw(TEN).noise
    with precision(256):
        top = arb(1) if count == TEN.size else TEN.border(count)
        steps = [TEN.lowest, TEN.lowest + 1, -30, 0, count - 2, count - 1]
        borders = [upper(arb(2) ** 64 * TEN.border(step) / top).__floor__() for step in steps]
    words = [border + i for border in borders for i in range(-2, 3)] + [0, 1, 2**64 - 1, 2**64 - 2]
    for word in (word for word in words if 0 <= word < 2**64):
        fast = noise.of_classes(np.array([count]), OneWord(word))[0]
        bits = OneWord(word)
        assert fast == noise.settle(LazyUniform(bits), count)
        assert count == TEN.size or fast <= count


def test_few_words_are_settled_in_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    settle, settled = KeyNoise.settle, list[int]()

    def count_it(noise: KeyNoise, u: LazyUniform, count: int) -> int:
        settled.append(count)
        return settle(noise, u, count)

    monkeypatch.setattr(KeyNoise, "settle", count_it)
    classes = np.random.default_rng(8).integers(1, TEN.size + 1, 100_000)
    steps = KeyDraw(TEN).noise.of_classes(classes, CountedWords(8))
    assert (steps <= classes)[classes < TEN.size].all()
    assert settled == []


@pytest.mark.parametrize("count", [1, 2, 5, None])
def test_the_noise_on_every_string_of_bits(count: int | None) -> None:
    """P(M = m | M <= n): of a key that is shown the count is at least the threshold."""
    law = GaussianProbabilities(F(3, 2), 4)
    place = law.size if count is None else count
    tree = bit_tree(lambda bits: int(KeyDraw(law).noise.of_classes(np.array([place]), bits)[0]), 14)
    assert count is None or place in tree.masses
    assert count is None or place + 1 not in tree.masses
    with precision(128):
        top = arb(1) if count is None else law.border(place)
        for step in range(-5, law.size + 2):
            chance = law.rise(step) / top if count is None or step <= place else arb(0)
            mass = tree.masses.get(step, F(0))
            assert mass <= upper(chance)
            assert lower(chance) <= mass + tree.undecided
    assert tree.undecided < F(1, 2**7)


class TwoSided:
    """Powers of two on both sides of one half: both ends are open, and keys of the last class often left out."""

    size, lowest, likeliest_step = 2, -1, 0

    def probability(self, count: int) -> arb:
        """Return the probability at a count."""
        return self.border(count) if count > 0 else arb(0)

    def complement(self, count: int) -> arb:
        """Return one minus it."""
        return arb(2) ** -(count + 1) if count > 0 else arb(1)

    def border(self, step: int) -> arb:
        """Return P(M <= step)."""
        return 1 - arb(2) ** -(step + 1) if step > 0 else arb(2) ** (step - 1)

    def rise(self, step: int) -> arb:
        """Return P(M = step)."""
        return self.border(step) - self.border(step - 1)


OPEN: ProbabilitiesByCount = TwoSided()


@pytest.mark.parametrize("sizes", [(0, 1), (0, 2), (1, 1)])
def test_keys_of_the_last_class_are_left_out_as_often_as_they_should(sizes: Sequence[int]) -> None:
    def answer(bits: Bits) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(some.tolist()) for some in by_classes(KeyDraw(OPEN).draw(sizes, bits)))

    tree = bit_tree(answer, 16)
    chances = {0: F(1, 8), 1: F(7, 8)}
    for shown in range(2):
        masses: Any = tree.masses.items()
        mass = sum((m for one, m in masses if (0 in one[1]) == bool(shown)), F(0))
        assert mass <= chances[shown] <= mass + tree.undecided
    if sizes == (0, 2):
        mass = tree.masses[(), ()]
        assert mass <= F(1, 64) <= mass + tree.undecided
    assert tree.undecided < F(1, 32)


@pytest.mark.parametrize("count", [1, 2])
def test_noise_beyond_both_ends_of_the_table(count: int) -> None:
    tree = bit_tree(
        lambda bits: int(KeyDraw(OPEN).noise.of_classes(np.array([count]), bits)[0]), 16
    )
    top = F(3, 4) if count == 1 else F(1)
    for step in range(-8, 9):
        with precision(64):
            chance = lower(OPEN.rise(step)) / top if count == 2 or step <= 1 else F(0)
        mass = tree.masses.get(step, F(0))
        assert mass <= chance <= mass + tree.undecided
    assert tree.undecided < F(1, 2**6)


@pytest.mark.parametrize("count", [1, 2])
def test_doubles_and_balls_agree_where_both_ends_are_open(count: int) -> None:
    """In the last class the noise has no condition, and may be beyond the last border."""
    noise = KeyDraw(OPEN).noise
    seen = set()
    for word in np.random.default_rng(4).integers(0, 2**64, 400, dtype=np.uint64).tolist():
        fast = int(noise.of_classes(np.array([count]), OneWord(word))[0])
        assert fast == noise.settle(LazyUniform(OneWord(word)), count)
        seen.add(fast)
    assert (max(seen) > 2) == (count == 2)
    assert min(seen) < -1


def test_words_of_the_last_class() -> None:
    """One a key: the largest words alone may leave it out, by what comes after them."""
    drawing = KeyDraw(TEN)
    assert drawing._least_doubt(64) == 2**64 - 1
    assert KeyDraw(OPEN)._least_doubt(64) == 2**64 - 2**61
    words = np.array([0, 2**63, 2**64 - 2**61 - 1, 2**64 - 2**61], dtype=np.uint64)

    class These(CountedWords):
        def words(self, n: int) -> np.ndarray:
            self.read += n
            return np.resize(words, n)

    source = WordsAhead(These(1), 4)
    assert KeyDraw(OPEN)._last_class(4, source, decided=True).tolist() == [0, 1, 2]
    source = WordsAhead(These(1), 4)
    assert KeyDraw(OPEN)._last_class(4, source, decided=False).tolist() == [0, 1, 2, 3]


def test_how_far_tables_go() -> None:
    for sigma_squared in (F(1, 100), F(1, 2), F(4), F(357, 2)):
        with precision(256):
            for k in (0, 1, 5, 80):
                far = tail(k + reach(sigma_squared), sigma_squared)
                assert far <= tail(k, sigma_squared) * arb(-45).exp()
