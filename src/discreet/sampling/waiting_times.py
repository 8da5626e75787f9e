"""Waiting times: exponential variables -ln(1 - U) of uniforms U that are known in part.

Whoever waits first of several is told by logarithms of these times, in doubles with a proved error first, then in
balls. Of a uniform of which one word is known, the cell [word, word + 1) / 2**width holds the rest.

Uniforms are read in two steps: sixteen bits for everyone, and the rest of a word for the few that look first. For
most candidates sixteen bits tell that they are not first. How many are read on is fixed by the number of
candidates, so the reading tells nothing of their scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from flint import arb
from numpy.typing import NDArray

from .bits import Bits, LazyUniform

LOG_TIME_ERROR = 2.0**-38
"""Proved bound on the error of a logarithm of a time in doubles, with a delay of at most 64 added to it."""


def log_of_rest(
    words: NDArray[np.uint64], width: int, ahead: NDArray[np.float64] | float = 0.0
) -> NDArray[np.float64]:
    """Return ln(1 - U) for U = (word + ahead) / 2**width, with `ahead` 0 or 1: the two ends of a cell.

    The relative error is at most FUNCTION_ERROR + 2**-51.
    """
    half = np.uint64(1 << (width - 1))
    below_half = np.log1p((words + ahead) * -(2.0**-width))
    rest = np.uint64((1 << width) - 1) - words  # one less than what is left, so that it fits a word
    above_half = np.log(np.multiply(rest + (1.0 - ahead), 2.0**-width))
    logs: NDArray[np.float64] = np.where(words < half, below_half, above_half)
    return logs


def log_time_bounds(
    words: NDArray[np.uint64], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ln(-ln(1 - U)) at both ends of the cells: from -inf for U = 0 to inf for U = 1."""
    n = len(words)
    ahead = np.repeat((0.0, 1.0), n)
    rest = log_of_rest(np.concatenate((words, words)), width, ahead)
    np.log(np.negative(rest, out=rest), out=rest)
    return rest[:n], rest[n:]


@lru_cache(maxsize=2)
def earliest_log_times(width: int) -> NDArray[np.float64]:
    """Return ln(-ln(1 - U)) for U = word / 2**width, for all words of so few bits; -inf for the first."""
    with np.errstate(divide="ignore"):
        return log_time_bounds(np.arange(1 << width, dtype=np.uint64), width)[0]


def log_time(numerator: int, length: int) -> arb:
    """Return a ball around ln(-ln(1 - U)) for U = numerator / 2**length, at the precision in force."""
    if numerator == 0:
        return arb.neg_inf()
    if numerator == 1 << length:
        return arb.pos_inf()
    return (-(-arb(numerator) / arb(2) ** length).log1p()).log()


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
    docs/reference/mechanisms/top_k.md#peeling.
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
