"""Noise of keys by one word each: against its law on all strings of bits, and in balls next to a border."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.mechanisms.testing import bit_tree
from discreet.sampling.bits import LazyUniform
from discreet.sampling.key_draws import KeyDraw
from discreet.sampling.key_noise import KeyNoise
from discreet.sampling.key_probabilities import optimal_probabilities

from .given_probabilities import HALVES, CountedWords, GivenProbabilities, OneWord


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_noise_on_every_string_of_bits(count: int) -> None:
    """P(M = m) is the rise at m over the probability of the class."""
    drawing, values = KeyDraw(HALVES), HALVES.values
    tree = bit_tree(lambda bits: int(drawing.noise.of_classes(np.array([count]), bits)[0]), 24)
    for step in range(1, count + 1):
        chance = (values[step] - values[step - 1]) / values[count]
        mass = tree.masses.get(step, Fraction(0))
        assert mass <= chance <= mass + tree.undecided
    assert tree.undecided < Fraction(1, 2**20)


def test_only_words_next_to_a_border_are_settled_in_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of words of 64 bits nearly none is so near that doubles leave its noise open."""
    settle, settled = KeyNoise.settle, list[int]()

    def count_it(noise: KeyNoise, u: LazyUniform, count: int) -> int:
        settled.append(count)
        return settle(noise, u, count)

    monkeypatch.setattr(KeyNoise, "settle", count_it)
    law = optimal_probabilities(Fraction(1), Fraction(1, 10**5))
    classes = np.random.default_rng(8).integers(2, law.size, 100_000)
    KeyDraw(law).noise.of_classes(classes, CountedWords(8))
    assert settled == []
    border = 2**64 * 4 // 9  # one third of three quarters
    KeyDraw(HALVES).noise.of_classes(np.array([2]), OneWord(border))
    assert settled == [2]


def test_noise_of_a_table_with_steps_below_a_rounding() -> None:
    """Probabilities near 1 that no double tells apart are told apart in balls."""
    tiny = Fraction(1, 2**70)
    law = GivenProbabilities([Fraction(0), Fraction(1, 2), 1 - 2 * tiny, 1 - tiny, Fraction(1)])
    words = np.array([2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)

    class Ends(CountedWords):
        def words(self, n: int) -> NDArray[np.uint64]:
            return words[:n] if n == 3 else super().words(n)

    steps = KeyDraw(law).noise.of_classes(np.full(3, 4), Ends(2))
    assert steps[0] == 1
    assert steps[1] == 2
    assert steps[2] in (2, 3, 4)
    counts: Counter[int] = Counter()
    for seed in range(300):

        class Last(CountedWords):
            def words(self, n: int) -> NDArray[np.uint64]:
                if self.read:
                    return super().words(n)
                self.read += n
                return np.full(n, 2**64 - 1, dtype=np.uint64)

        counts[int(KeyDraw(law).noise.of_classes(np.array([4]), Last(seed))[0])] += 1
    # the last cell of 2**-64 is 64 tiny steps wide: 62, 1 and 1 of them
    assert counts[2] > 270
