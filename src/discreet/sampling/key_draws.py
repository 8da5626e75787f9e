"""Which keys are released, and the noise of their counts: exact draws from classes of equal counts.

Keys with the same count are interchangeable, so only the size of a class matters. One word skips all keys up to the
next one that is released. The word that decides is also the noise (see `KeyNoise`). For proofs, see
docs/reference/mechanisms/private_keys.md.

The amount of work is fixed. Every class has a closing word, even if the class is empty. Every key of the last class
also has a word, because nearly all of those keys are released. So the draw reads `size - 1` words, one for every
released key and every key of the last class, and one more for the noise of every released key. It reads more words
only if a comparison is undecided, which depends on the words and never on the class sizes. If many words are
needed, some are read ahead (see `WordsAhead`). Many small classes take turns (see `Turns`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from .bernoulli import is_below
from .bits import Bits, LazyUniform
from .enclosures import FUNCTION_ERROR, overflowing, precision, upper
from .key_noise import PLACE_ERROR, KeyNoise
from .key_probabilities import DoubleTable, ProbabilitiesByCount, in_doubles, rate_of

FARTHEST = 2**40
"""A word skips at most so many keys; then another is read. No class is as large, so no words tell of it."""

_SKIP_ERROR = 2 * FUNCTION_ERROR
"""Bound on the relative error of a skip in doubles: of the logarithm, of the rate, and of four roundings."""

_LOG_ERROR = 2.0**-42
"""Bound on the rest of its error times the rate: the cell of the word, and one minus it rounded."""

_WIDTH, _LEAST_REST = 64, 2**44
"""The words that doubles serve: of this width, and not so near to the end that the cell is wide in logarithms."""

_SKIP_CELLS = 2**12
"""Parts of the line from 0 to 1: where most keys are released, all words of nearly every part skip as many."""

_LIKELY = 0.25
"""From this probability on they are looked up."""

_MORE = 1.05
"""So many times the words that a class is expected to use are looked at at once."""

_DOUBT_BITS = 128

_FEW = 16
_ONE_BY_ONE = 256

_SMALL_CLASS = 1024
"""A class that is expected to release at most so many keys takes turns with many others."""

_MANY_CLASSES = 64
"""Fewer open classes are drawn one after another."""


class WordsAhead:
    """Words of a source, read some before they are used: how many depends on how many were used alone.

    So it does not tell for which classes they were used.
    """

    def __init__(self, bits: Bits, first: int) -> None:
        self.width, self._bits = bits.width, bits
        self._words, self._at, self._read = bits.words(first), 0, first

    def at_hand(self) -> NDArray[np.uint64]:
        """Return the words that are read and not used, at least one."""
        if self._at == len(self._words):
            block = self._read // 16 if self.reads_ahead else 1
            self._words, self._at = self._bits.words(block), 0
            self._read += block
        return self._words[self._at :]

    @property
    def reads_ahead(self) -> bool:
        """Whether more than one word is read at once."""
        return self._read >= _ONE_BY_ONE

    def use(self, n: int) -> None:
        """Use so many of the words at hand."""
        self._at += n

    def word(self) -> int:
        """Return one word."""
        word = int(self.at_hand()[0])
        self._at += 1
        return word

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return `n` words, read in the same blocks as if they were used one by one."""
        return np.concatenate([np.empty(0, np.uint64), *self.blocks(n)])

    def blocks(self, n: int) -> Iterator[NDArray[np.uint64]]:
        """Yield `n` words in blocks, as they are read."""
        while n:
            block = self.at_hand()[:n]
            self.use(len(block))
            n -= len(block)
            yield block


class ClassPlaces(NamedTuple):
    """The places of keys that are released, class by class, from 0 and ascending.

    Attributes:
        numbers: how many there are, by class.
        places: the places of all of them.
    """

    numbers: NDArray[np.int64]
    places: NDArray[np.int64]

    def with_more(self, more: Mapping[int, NDArray[np.int64]]) -> "ClassPlaces":
        """Return them with more places of some classes, by class, after those that there are."""
        numbers, ends, first = self.numbers.copy(), self.numbers.cumsum(), 0
        pieces = list[NDArray[np.int64]]()
        for i, some in more.items():
            numbers[i] += len(some)
            end = int(ends[i])
            pieces += [self.places[first:end], some]
            first = end
        return ClassPlaces(numbers, np.concatenate([*pieces, self.places[first:]]))


class Turns:
    """Classes of which many are drawn at the same time, and how far they are."""

    def __init__(self, sizes: NDArray[np.int64]) -> None:
        self.sizes = sizes
        self.starts = np.zeros(len(sizes), np.int64)
        self.are_open = np.ones(len(sizes), np.bool_)
        self._numbers = np.zeros(len(sizes), np.int64)
        self._blocks: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []

    def skip(self, classes: NDArray[np.int64], skips: NDArray[np.int64]) -> NDArray[np.int64]:
        """Release a key of some classes after so many, and return the classes that are still open."""
        ends = self.starts[classes] + skips
        is_inside = ends < self.sizes[classes]
        self.are_open[classes[~is_inside]] = False
        classes, ends, falls = classes[is_inside], ends[is_inside], skips[is_inside] < FARTHEST
        self.starts[classes] = ends + falls
        some = classes[falls]
        self._blocks.append((some, self._numbers[some], ends[falls]))
        self._numbers[some] += 1
        return classes

    def places(self) -> "ClassPlaces":
        """Return the places that are released so far."""
        firsts = self._numbers.cumsum() - self._numbers
        places = np.empty(int(self._numbers.sum()), np.int64)
        for classes, numbers, some in self._blocks:
            places[firsts[classes] + numbers] = some
        return ClassPlaces(self._numbers, places)


@dataclass(frozen=True)
class KeyDraw:
    """Draws of keys with probabilities by their counts.

    Args:
        law: the probabilities by count.
    """

    law: ProbabilitiesByCount

    @cached_property
    def table(self) -> DoubleTable:
        """The probabilities in doubles."""
        return in_doubles(self.law)

    @cached_property
    def noise(self) -> KeyNoise:
        """The noise of the counts of keys that are released."""
        return KeyNoise(self.law, self.table)

    def draw(self, sizes: Sequence[int], bits: Bits, *, with_noise: bool = False) -> ClassPlaces:
        """Return the places of the keys that are released.

        Args:
            sizes: how many keys have the counts 1, 2, ..., size - 1, and how many at least `size`.
            bits: the source.
            with_noise: whether all keys of the last class stay, as the noise of each will decide.
        """
        last = self.law.size
        source = WordsAhead(bits, last - 1)
        few = np.array([*sizes[: last - 1], 0], np.uint64)  # the last class has no turns
        turns = Turns(np.minimum(few, np.uint64(2**62)).astype(np.int64))
        turns.are_open[-1] = False
        self._take_turns(turns, source)
        more = {
            i: self._class(i + 1, sizes[i], source, int(turns.starts[i]))
            for i in np.flatnonzero(turns.are_open).tolist()
        }
        more[last - 1] = self._last_class(sizes[-1], source, decided=not with_noise)
        return turns.places().with_more(more)

    def _take_turns(self, turns: "Turns", source: WordsAhead) -> None:
        """Use a word for every small class that is open, as long as they are many."""
        means = self.table.probabilities[1 : self.law.size] * turns.sizes[:-1]
        classes = np.flatnonzero(means <= _SMALL_CLASS)
        while len(classes) >= _MANY_CLASSES and source.reads_ahead:
            words, counts = source.words(len(classes)), classes + 1
            skips, certain = self._skips(words, counts, source.width)
            for i in np.flatnonzero(~certain).tolist():
                u = LazyUniform.of_word(int(words[i]), source)
                skips[i] = self._settle_skip(u, int(counts[i]))
            classes = turns.skip(classes, skips)

    def _last_class(self, size: int, source: WordsAhead, *, decided: bool) -> NDArray[np.int64]:
        """Return the places of keys of the last class: all, but for those that their words leave out."""
        least, start, left_out = self._least_doubt(source.width), 0, list[int]()
        for words in source.blocks(size):
            if decided and least < 1 << source.width:
                for i in np.flatnonzero(words >= np.uint64(least)).tolist():
                    u = LazyUniform.of_word(int(words[i]), source)
                    if not is_below(u, self.law.probability, self.law.size):
                        left_out.append(start + i)
            start += len(words)
        return np.delete(np.arange(size, dtype=np.int64), left_out)

    def _least_doubt(self, width: int) -> int:
        """Return the least word of that width with which a key of the last class may not be released."""
        with precision(_DOUBT_BITS):
            left_out = upper(self.law.complement(self.law.size))
        return (1 << width) - math.ceil(left_out * (1 << width))

    def _class(self, count: int, size: int, source: WordsAhead, start: int) -> NDArray[np.int64]:
        """Return the places of the keys of one class that are released, from `start` on."""
        places: list[int] = []
        while len(places) < _FEW or not source.reads_ahead:
            skip = self._skip(source.word(), count, source)
            start += skip
            if start >= size:
                return np.array(places, dtype=np.int64)
            if skip < FARTHEST:
                places.append(start)
                start += 1
        return np.concatenate([np.array(places, np.int64), *self._many(count, size, start, source)])

    def _many(
        self, count: int, size: int, start: int, source: WordsAhead
    ) -> list[NDArray[np.int64]]:
        """Return the places from `start` on, in blocks, from many words at once."""
        blocks: list[NDArray[np.int64]] = []
        probability, lookup = float(self.table.probabilities[count]), self._lookup(count)
        while True:
            words = source.at_hand()[: int(_MORE * probability * (size - start)) + _ONE_BY_ONE]
            skips, certain = self._skips(words, count, source.width, lookup)
            first = len(words) if certain.all() else int(certain.argmin())
            falls = skips[:first] < FARTHEST
            steps = skips[:first] + falls
            ends = steps.cumsum() - falls  # from `start`, and they do not fall
            last = int(ends.searchsorted(min(size - start, 2**62)))
            blocks.append(start + ends[:last][falls[:last]])
            source.use(min(last + 1, len(words)))
            if last < first:
                return blocks
            start += int(steps.sum())
            if first == len(words):
                continue
            skip = self._settle_skip(LazyUniform.of_word(int(words[first]), source), count)
            start += skip
            if start >= size:
                return blocks
            if skip < FARTHEST:
                blocks.append(np.array([start], dtype=np.int64))
                start += 1

    def _skip(self, word: int, count: int, source: WordsAhead) -> int:
        """Return how many keys are not released before the next one, by a word and the bits after it."""
        rest = 2**64 - word
        if source.width == _WIDTH and rest >= _LEAST_REST:
            rate = float(self.table.rates[count])
            skip = -math.log(rest * 2.0**-64) / rate
            slack = skip * _SKIP_ERROR + _LOG_ERROR / rate
            low, high = int(min(max(skip - slack, 0), FARTHEST)), int(min(skip + slack, FARTHEST))
            if low == high:
                return low
        return self._settle_skip(LazyUniform.of_word(word, source), count)

    def _skips(
        self,
        words: NDArray[np.uint64],
        count: int | NDArray[np.int64],
        width: int,
        lookup: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the skips of many words in doubles, of one class or of many, and which are certain."""
        if width != _WIDTH:
            return np.zeros(len(words), np.int64), np.zeros(len(words), np.bool_)
        if lookup is None:
            return self._skips_by_logarithms(words, count)
        cells = (words >> np.uint64(_WIDTH - _SKIP_CELLS.bit_length() + 1)).view(np.int64)
        skips, certain = lookup[cells], np.ones(len(words), np.bool_)
        between = np.flatnonzero(skips < 0)
        skips[between], certain[between] = self._skips_by_logarithms(words[between], count)
        return skips, certain

    def _skips_by_logarithms(
        self, words: NDArray[np.uint64], count: int | NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the same from the logarithms of all words."""
        rate = self.table.rates[count]
        with overflowing():
            rest = (~words).astype(np.float64) + 1.0
            skips = np.log(rest * 2.0**-64) / -rate
            slack = skips * _SKIP_ERROR + _LOG_ERROR / rate
            low = np.floor(np.clip(skips - slack, 0, FARTHEST))
            certain = (low == np.floor(np.minimum(skips + slack, FARTHEST))) & (rest >= _LEAST_REST)
        return low.astype(np.int64), certain

    def _lookup(self, count: int) -> NDArray[np.int64] | None:
        """Return the skip of all words of equal parts of the line, -1 where a border is there, or near.

        None where few keys are released: then nearly every word has another skip. The borders are
        1 - (1 - probability)**k; near is nearer than their doubles may be off.
        """
        if self.table.probabilities[count] < _LIKELY:
            return None
        rate = self.table.rates[count]
        borders = -np.expm1(-rate * np.arange(1, math.ceil(math.log(_SKIP_CELLS) / rate) + 2))
        ends = np.arange(_SKIP_CELLS + 1) / _SKIP_CELLS
        low = borders.searchsorted(ends[:-1] * (1 - 2 * PLACE_ERROR), side="right")
        high = borders.searchsorted(ends[1:] * (1 + 2 * PLACE_ERROR), side="left")
        skips = np.where(low == high, low, -1).astype(np.int64)
        skips[-1] = -1  # there are borders without end
        return skips

    def _settle_skip(self, u: LazyUniform, count: int) -> int:
        """Return the floor of ln(1 - u) / ln(1 - probability), at most `FARTHEST`, and read on where it is open."""
        digits = 128
        while True:
            with precision(digits):
                rate = rate_of(self.law, count)
                while (skip := _skip_between(u, rate)) is None and u.length < digits // 2:
                    u.extend()
            if skip is not None:
                return skip
            digits *= 2


def _skip_between(u: LazyUniform, rate: arb) -> int | None:
    """Return the floor of -ln(1 - u) / rate, at most `FARTHEST`, if it is certain by the bits that are known."""
    low, high = (_floor_at(edge, u.length, rate) for edge in (u.prefix, u.prefix + 1))
    return low if low == high else None


def _floor_at(edge: int, length: int, rate: arb) -> int | None:
    """Return that floor at edge / 2**length, or None while it is open."""
    if edge == 1 << length:
        return FARTHEST
    skip = (-arb(edge) / arb(2) ** length).log1p() / -rate
    if skip >= FARTHEST:
        return FARTHEST
    floor = skip.floor().unique_fmpz() if skip.is_finite() else None
    return None if floor is None else int(floor)
