"""Discrete Gaussian noise, exact: by the inverse of its distribution function, from a table of whole numbers.

The law is symmetric. So the first bit of a uniform U tells the sign, and D, the distance of U from the nearer end
of (0, 1), the size: |X| >= k for k >= 1 where D < P(X >= k). The table holds these tails, rounded down to whole
multiples of the last bit of a word: a word is open only where it equals an entry. Nothing is rejected, so no time
tells the noise. For proofs, see docs/reference/mechanisms/gaussian_noise.md.
"""

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from flint import arb
from numpy.typing import NDArray

from .bits import Bits, LazyUniform
from .enclosures import ball, precision
from .gaussian_tails import tail, tail_weights, total_weight, weight
from .vectors import Integers, integers

_WIDEST_TABLE = 2 * 10**8
"""The largest parameter with a table, of up to 131,072 entries. Beyond it balls alone decide."""

_SMOOTH_VARIANCE = 16
"""A parameter from which the variance is that but for a factor of 1 - 2**-440."""

_TABLE_BITS = 192

_SPARE = 64
"""Bits by which balls are finer than the known part of a uniform."""

_MOST_COMPARISONS = 2**26
"""The most pairs of a word and an entry that are all compared; beyond, the place is found by halving."""

_WORDS_AT_A_TIME = 2**14
"""Words that are compared at a time, so that they stay in the cache."""

Entries = NDArray[np.uint64]


class GaussianNoise:
    """Discrete Gaussian noise: P(X = j) proportional to exp(-j**2 / (2 s)), for a rational s = `sigma_squared`.

    Side channels: the noise is independent of whatever it is added to. One word is read a number where s is below
    2**66, else one for every 128 bits of 2**62 times s, rounded up: a public number. Every word is compared with
    all of the table where words times entries are at most 2**26, else the steps are as many for every word. More
    words are read, and balls decide, with probability at most 2**-46 a number where s is at most 2 * 10**8, else
    2**-26. Then the time depends on the noise.
    """

    __slots__ = ("_more_words", "sigma_squared")

    def __init__(self, sigma_squared: Fraction) -> None:
        self.sigma_squared = sigma_squared
        log = int(sigma_squared).bit_length()  # sigma < 2 ** (log / 2)
        self._more_words = 0 if self.has_table else -(-(log + 62) // 128) - 1

    def draw(self, bits: Bits) -> int:
        """Return one number, an exact sample of this distribution."""
        return int(self.draws(1, bits)[0])

    def draws(self, size: int, bits: Bits) -> Integers:
        """Return `size` independent numbers: 64-bit integers where all of them are small, else Python's."""
        if not self.has_table:
            return integers([self._settle_wide(LazyUniform(bits)) for _ in range(size)])
        words, table = bits.words(size), _table(self.sigma_squared, bits.width)
        upper_half = words >> np.uint64(bits.width - 1) == 1
        nearest = np.where(upper_half, np.uint64((1 << bits.width) - 1) - words, words)
        sizes, doubtful = _places(nearest, table)
        numbers = np.where(upper_half, sizes, -sizes)
        for i in np.flatnonzero(doubtful).tolist():
            numbers[i] = self._settle(LazyUniform.of_word(int(words[i]), bits), int(sizes[i]))
        return numbers

    def probability(self, j: int) -> arb:
        """Return a ball around P(X = j), at the precision in force."""
        return weight(j, self.sigma_squared) / total_weight(self.sigma_squared)

    def up_to(self, j: int) -> arb:
        """Return a ball around P(X <= j), at the precision in force."""
        return tail(-j, self.sigma_squared)

    def above(self, j: int) -> arb:
        """Return a ball around P(X > j), at the precision in force."""
        return tail(j + 1, self.sigma_squared)

    def apart(self, least: int) -> arb:
        """Return a ball with an upper end that bounds P(X - Y >= least) of two of them."""
        if (
            self.sigma_squared >= _SMOOTH_VARIANCE
        ):  # the law of a sum, but for a factor of 1 + 2**-220
            return tail(least, 2 * self.sigma_squared) * arb(1, 2.0**-200)
        reach = self.reach(200)
        sums = (self.probability(j) * self.up_to(j - least) for j in range(-reach, reach + 1))
        return sum(sums, 2 * self.above(reach))

    @property
    def variance(self) -> arb:
        """A ball around the variance, at the precision in force; for wide noise the parameter, just above it."""
        if self.sigma_squared >= _SMOOTH_VARIANCE:
            return ball(self.sigma_squared)
        half = sum((j * j * self.probability(j) for j in range(1, self.reach(200))), arb(0))
        return 2 * half

    def reach(self, nats: int) -> int:
        """Return a distance that the noise exceeds, on either side, with a probability below exp(-nats)."""
        return math.isqrt(int(2 * nats * self.sigma_squared)) + 1

    @property
    def has_table(self) -> bool:
        """Whether words are compared with a table: beyond it balls decide, a millisecond a number."""
        return self.sigma_squared <= _WIDEST_TABLE

    def _settle(self, uniform: LazyUniform, least: int) -> int:
        """Return the number, of at least a size, that a uniform stands for, once more of it is read."""
        while True:
            uniform.extend()
            with precision(2 * uniform.length + _SPARE):
                size, nearest = least, _Distance(uniform)
                chance = tail(size + 1, self.sigma_squared)
                while nearest.is_below(chance):
                    size += 1
                    chance = tail(size + 1, self.sigma_squared)
                if nearest.is_above(chance):
                    return nearest.signed(size)

    def _settle_wide(self, uniform: LazyUniform) -> int:
        """Return the number that a uniform stands for: one of three near that of the normal distribution."""
        for _ in range(self._more_words):
            uniform.extend()
        while True:
            with precision(2 * uniform.length + _SPARE):
                nearest = _Distance(uniform)
                place = nearest.normal_place(self.sigma_squared)
                tails = [tail(k, self.sigma_squared) for k in range(place - 1, place + 3)]
                for size, (here, there) in enumerate(pairwise(tails), place - 1):
                    if nearest.is_below(here) and nearest.is_above(there):
                        return nearest.signed(size)
            uniform.extend()


class _Distance:
    """The cell in which the distance of a uniform from the nearer end of (0, 1) is known to be."""

    __slots__ = ("_cells", "_is_upper", "_low")

    def __init__(self, uniform: LazyUniform) -> None:
        cells = 1 << uniform.length
        self._is_upper = 2 * uniform.prefix >= cells
        self._low = cells - 1 - uniform.prefix if self._is_upper else uniform.prefix
        self._cells = cells

    def is_below(self, chance: arb) -> bool:
        """Return whether the distance is below a probability for certain."""
        return bool(arb(self._low + 1) <= chance * self._cells)

    def is_above(self, chance: arb) -> bool:
        """Return whether the distance is that probability or more for certain."""
        return bool(arb(self._low) >= chance * self._cells)

    def normal_place(self, sigma_squared: Fraction) -> int:
        """Return the whole number nearest to the normal quantile of the middle of the cell, about."""
        middle = arb(2 * self._low + 1) / self._cells  # twice the middle
        height = arb(0.5) + (2 * ball(sigma_squared)).sqrt() * middle.erfcinv()
        return int(height.mid().floor().fmpz())

    def signed(self, size: int) -> int:
        """Return the number of a size: that of the upper half is positive."""
        return size if self._is_upper else -size


def _places(distances: Entries, table: Entries) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return how many entries of a falling table are above each distance, and which distances equal one."""
    places = np.zeros(len(distances), dtype=np.int64)
    equal = np.zeros(len(distances), dtype=np.bool_)
    if len(distances) * len(table) > _MOST_COMPARISONS:
        place = _by_halving
    else:
        place = _by_words if len(distances) < len(table) else _by_entries
    for start in range(0, len(distances), _WORDS_AT_A_TIME):
        block = slice(start, start + _WORDS_AT_A_TIME)
        place(distances[block], table, places[block], equal[block])
    return places, equal


def _by_words(
    distances: Entries, table: Entries, places: NDArray[np.int64], equal: NDArray[np.bool_]
) -> None:
    """Write both, where there are fewer words: one after the other is compared with all entries."""
    for i, distance in enumerate(distances):
        places[i] = np.count_nonzero(table > distance)
        equal[i] = np.count_nonzero(table == distance) > 0


def _by_entries(
    distances: Entries, table: Entries, places: NDArray[np.int64], equal: NDArray[np.bool_]
) -> None:
    """Write both, where there are fewer entries: one after the other is compared with all words."""
    for entry in table:
        places += distances < entry
        equal |= distances == entry


def _by_halving(
    distances: Entries, table: Entries, places: NDArray[np.int64], equal: NDArray[np.bool_]
) -> None:
    """Write both by as many steps for every word, where there are too many of words and entries to compare all."""
    steps = len(table).bit_length()
    padded = np.zeros(1 << steps, dtype=np.uint64)
    padded[: len(table)] = table
    for step in range(steps - 1, -1, -1):
        half = 1 << step
        places += half * (distances < padded[places + (half - 1)])
    equal[:] = distances == padded[places]


@lru_cache(maxsize=64)
def _table(sigma_squared: Fraction, width: int) -> Entries:
    """Return P(X >= k), rounded down to a whole number of 2**-width, for k = 1, 2 and so on up to the first 0."""
    digits = _TABLE_BITS
    while True:
        with precision(digits):
            entries = _entries(sigma_squared, width)
        if entries is not None:
            table = np.array(entries, dtype=np.uint64)
            table.flags.writeable = False
            return table
        digits *= 2


def _entries(sigma_squared: Fraction, width: int) -> list[int] | None:
    """Return the entries of the table, or None if the precision in force does not decide one of them."""
    most = 2 + math.isqrt(int(2 * (width + 2) * sigma_squared))  # P(X >= k) <= exp(-k**2 / (2 s))
    sums = tail_weights(most, sigma_squared)
    share = arb(2) ** width / (1 + 2 * sums[0])
    entries: list[int] = []
    for sum_ in sums:
        entry = (sum_ * share).floor().unique_fmpz()
        if entry is None:
            return None
        entries.append(int(entry))
        if entry == 0:
            return entries
    raise AssertionError("the last entry is above 0")
