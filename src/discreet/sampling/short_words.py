"""Uniforms read in two steps: sixteen bits for everyone, and the rest of a word for the few that look first.

For most candidates sixteen bits tell that they are not first. How many are read on is fixed by the number of
candidates, so the reading tells nothing of their scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .bits import Bits, LazyUniform

_SHORT, _WORD = 16, 64


def short_words(n: int, bits: Bits) -> tuple[NDArray[np.uint64], int]:
    """Return the first bits of n uniforms, and how many bits those are: 16, or a word if words are no longer."""
    if bits.width < _WORD:
        return bits.words(n), bits.width
    words = bits.words(-(-n * _SHORT // _WORD)).astype("<u8", copy=False)
    return words.view("<u2")[:n].astype(np.uint64), _SHORT


def read_on(first: NDArray[np.uint64], width: int, bits: Bits) -> tuple[NDArray[np.uint64], int]:
    """Return the uniforms that begin with these bits, to one word, and how many bits those are."""
    more, length = bits.words(len(first)), min(bits.width, _WORD - width)
    more = more >> np.uint64(bits.width - length)
    return first << np.uint64(length) | more, width + length


def read_on_for(n: int) -> int:
    """Return for how many of n uniforms, besides those wanted, to read on, so that hardly ever another matters.

    At most n * 2**-16 others are expected to look as early as the first does, so this is 32 times as many, and 16:
    docs/reference/mechanisms/peeling.md.
    """
    return min(n, 16 + (n >> 11))


@dataclass(frozen=True, slots=True)
class FirstLooks:
    """All uniforms after their first bits, and the few that were read on.

    Attributes:
        times: the earliest possible arrivals, by the first bits.
        near: who was read on.
        words: the uniforms of those, to `length` bits.
        length: how many bits those are.
        rest: the earliest that anyone else may arrive, infinite if there is nobody else.
    """

    times: NDArray[np.float64]
    near: NDArray[np.intp]
    words: NDArray[np.uint64]
    length: int
    rest: float
    _short: NDArray[np.uint64]
    _width: int
    _bits: Bits

    def uniforms(self, runners: NDArray[np.intp]) -> dict[int, LazyUniform]:
        """Return the uniforms of some, as far as they were read."""
        from_word = partial(LazyUniform.of_word, bits=self._bits)
        by_place = {i: from_word(int(self._short[i]), length=self._width) for i in runners.tolist()}
        for i, word in zip(self.near.tolist(), self.words, strict=True):
            if i in by_place:
                by_place[i] = from_word(int(word), length=self.length)
        return by_place


def look(
    logs: Callable[[int], NDArray[np.float64]], delays: NDArray[np.float64], few: int, bits: Bits
) -> FirstLooks:
    """Read the first bits of all uniforms, and on for the few that may arrive first.

    Args:
        logs: returns the logarithms of times for all words of so many bits, at the lower ends of their cells.
        delays: the terms that are added to the logarithms.
        few: for how many to read on.
        bits: the source.
    """
    short, width = short_words(len(delays), bits)
    times = logs(width).take(short.view(np.int64))
    times += delays
    others = few < len(delays)
    order = times.argpartition(few) if others else np.arange(len(delays))
    near, rest = order[:few], float(times[order[few]]) if others else np.inf
    words, length = read_on(short[near], width, bits)
    return FirstLooks(times, near, words, length, rest, short, width, bits)
