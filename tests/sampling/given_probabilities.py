"""Probabilities by count that a test chooses, and words that can be repeated."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from discreet.sampling.enclosures import ball


@dataclass(frozen=True)
class GivenProbabilities:
    """Probabilities in fractions, for counts 0, 1, 2, ...; the last is 1."""

    values: Sequence[Fraction]

    @property
    def size(self) -> int:
        """The least count of which the probability is 1."""
        return len(self.values) - 1

    lowest = 0

    @property
    def likeliest_step(self) -> int:
        """The count at which the probability rises most, the least of several."""
        return max(
            range(1, len(self.values)), key=lambda n: (self.values[n] - self.values[n - 1], -n)
        )

    def probability(self, count: int) -> arb:
        """Return a ball around the probability at a count."""
        return ball(self.values[min(count, self.size)])

    def complement(self, count: int) -> arb:
        """Return a ball around one minus it."""
        return ball(1 - self.values[min(count, self.size)])

    def border(self, step: int) -> arb:
        """Return a ball around P(M <= step)."""
        return self.probability(max(0, step))

    def rise(self, step: int) -> arb:
        """Return a ball around P(M = step)."""
        return self.border(step) - self.border(step - 1)


HALVES = GivenProbabilities([Fraction(0), Fraction(1, 3), Fraction(3, 4), Fraction(1)])


class CountedWords:
    """Words of a generator that can be repeated, and how many were read."""

    width = 64

    def __init__(self, seed: int) -> None:
        self._generator, self.read = np.random.default_rng(seed), 0

    def word(self) -> int:
        """Return one word."""
        return int(self.words(1)[0])

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return `n` words."""
        self.read += n
        return self._generator.integers(0, 2**64, n, dtype=np.uint64)


class OneWord(CountedWords):
    """One word, and then those of the generator."""

    def __init__(self, word: int) -> None:
        super().__init__(1)
        self._first = word

    def words(self, n: int) -> NDArray[np.uint64]:
        if not self.read:
            self.read = 1
            return np.array([self._first], dtype=np.uint64)
        return super().words(n)
