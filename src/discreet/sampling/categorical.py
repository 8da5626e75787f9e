"""THE draw: pick one of many with probability exactly proportional to its weight.

One uniform U is compared with the cumulated weights. The weights are enclosed, first in doubles, then
in balls, and an index is given out only when every U that starts with the bits read, and every value
of the weights inside their enclosures, gives that same index. So the answer is a function of an ideal
U, and its law is exactly the law in the proof: docs/explanation/draw.md.

Fixed work: how much is read, how often, and how many exponentials are taken depends on the number of
candidates alone, but for doubts that go on to the next enclosure. Their probability is below 2**-20 a
draw for any scores (docs/explanation/draw.md).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.lazy_names import flint
from . import kernel
from .bits import Bits, LazyUniform, SystemBits
from .enclosures import (
    HALF_ULP,
    WEIGHT_ERROR,
    Rate,
    error_of_sums,
    fast_weights,
    has_fast_pass,
    overflowing,
    precision,
)
from .kernel_library import threads
from .shared_work import share
from .vectors import StoredNumber, Vector

if TYPE_CHECKING:
    from flint import arb

FLAT = 2**16
"""Up to this many candidates are one table; more are cut into blocks."""

BLOCK = 2**14
"""Candidates in a block: one block of doubles stays in the fast cache."""

_ONCE = 256

_WORDS_AT_ONCE = 2**13
"""Words of a batch that are read and looked up together: in memory that is used again."""

_FOR_A_THREAD = 4
"""Parts of a batch for which another thread is worth its start."""

_ROW = 256


class Sums(NamedTuple):
    """Cumulated fast weights, all within error * ends[-1] of the sums of the real weights."""

    ends: NDArray[np.float64]
    error: float

    def locate(self, u: LazyUniform) -> int | None:
        """Return the index that `u` certainly falls on, or None while that is open."""
        total, last = float(self.ends[-1]), len(self.ends) - 1
        low = u.prefix / (1 << u.length) * total
        high = (u.prefix + 1) / (1 << u.length) * total
        i = min(int(self.ends.searchsorted(low, side="right")), last)
        slack = self._slack(total)
        # Coq: Doubles.locate_lower, Doubles.locate_upper
        after = i == 0 or low - float(self.ends[i - 1]) > slack
        before = i == last or float(self.ends[i]) - high > slack
        return i if after and before else None

    def locate_all(self, words: NDArray[np.uint64], width: int) -> NDArray[np.int64]:
        """Return the indices on which the words certainly fall, -1 where that is open."""
        indices = np.empty(len(words), dtype=np.int64)
        self.locator(width, indices)(words, 0)
        return indices

    def locator(
        self, width: int, indices: NDArray[np.int64]
    ) -> Callable[[NDArray[np.uint64], int], int]:
        """Return a function that looks up words of so many bits and puts indices from a place on, -1 where open.

        It returns how many are open.
        """
        total = float(self.ends[-1])
        fast = kernel.active()
        if fast is not None and 0 < total < math.inf:
            return fast.locator(self.ends, width, self._slack(total), indices)

        def locate(words: NDArray[np.uint64], start: int) -> int:
            part = indices[start : start + len(words)]
            self._locate(words, width, part)
            return int((part < 0).sum())

        return locate

    def _locate(self, words: NDArray[np.uint64], width: int, indices: NDArray[np.int64]) -> None:
        """Look up words, all at once."""
        total = float(self.ends[-1])
        cell = total * 2.0**-width
        order = words.argsort()  # sorted targets are found several times faster than scattered ones
        low = words[order] * cell
        i = np.minimum(self.ends.searchsorted(low, side="right"), len(self.ends) - 1)
        inner, slack = self.ends[:-1], self._slack(total)
        # Coq: Doubles.locate_lower, Doubles.locate_all_upper
        after = low - np.concatenate(([-np.inf], inner))[i] > slack
        before = np.concatenate((inner, [np.inf]))[i] - low > slack + cell
        indices[order] = np.where(after & before, i, -1)

    def _slack(self, total: float) -> float:
        """Return the distance that makes a comparison certain."""
        return certain_distance(self.error) * total


def certain_distance(error: float) -> float:
    """Return the distance, by the total, that makes a comparison certain: both errors, and eight roundings."""
    return 2 * error + 8 * HALF_ULP


class Weights(Protocol):
    """Positive real weights, as computable numbers."""

    def sums(self) -> Sums | None:
        """Return their cumulated sums in doubles, or None if doubles cannot serve them."""

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights, all to one scale, at the precision in force."""


class PreparedWeights:
    """Weights made ready: the fast pass is done once, then any number of uniforms are settled."""

    __slots__ = ("_sums", "_weights")

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._sums = weights.sums()

    def draw(self, bits: Bits) -> int:
        """Return i with probability weight[i] / (sum of the weights), exactly."""
        return self.settle(LazyUniform(bits))

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return `size` independent draws."""
        indices, doubts = np.empty(size, dtype=np.int64), dict[int, int]()
        locate = self._sums.locator(bits.width, indices) if self._sums is not None else None

        def draw_part(start: int) -> None:
            words = bits.words(min(_WORDS_AT_ONCE, size - start))
            if locate is None:
                doubts.update(enumerate(words.tolist(), start))
            elif locate(words, start):
                lanes = np.flatnonzero(indices[start : start + len(words)] < 0)
                doubts.update({start + lane: int(words[lane]) for lane in lanes.tolist()})

        starts = range(0, size, _WORDS_AT_ONCE)
        share(draw_part, starts, _threads(len(starts), bits))
        for lane in sorted(doubts):
            indices[lane] = self.settle(LazyUniform.of_word(doubts[lane], bits))
        return indices

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities, at the precision in force."""
        balls = list(self._weights.balls())
        total = sum(balls, flint.arb(0))
        return [ball / total for ball in balls]

    @property
    def error(self) -> float:
        """The error of the fast pass relative to the total, infinite if there is none."""
        return math.inf if self._sums is None else self._sums.error

    def settle(self, u: LazyUniform) -> int:
        """Return the index of the share of [0, 1) that holds `u`, reading more of it where that is open."""
        index = self.settle_fast(u)
        return _settle_in_balls(self._weights, u) if index is None else index

    def settle_once(self, u: LazyUniform) -> int | None:
        """Return the index if the weights can tell it as they are enclosed at `_ONCE` bits, else None."""
        index = self.settle_fast(u)
        if index is not None:
            return index
        with precision(_ONCE):
            return _locate_in_balls(list(accumulate(self._weights.balls())), u)

    def settle_fast(self, u: LazyUniform) -> int | None:
        """Return the index if the fast pass can tell it, else None."""
        if self._sums is None:
            return None
        while (index := self._sums.locate(u)) is None and 2.0**-u.length > self._sums.error:
            u.extend()
        return index


class VectorWeights:
    """exp(-rate * gap) for the numbers of a vector, with the gaps taken to `best`."""

    __slots__ = ("_best", "_rate", "_vector")

    def __init__(self, vector: Vector, rate: Rate, best: StoredNumber) -> None:
        self._vector, self._rate, self._best = vector, rate, best

    def sums(self) -> Sums | None:
        """Return their cumulated sums in doubles."""
        if not has_fast_pass(self._rate):
            return None
        values, fast = self._vector.values, kernel.active()
        if fast is not None and kernel.are_doubles(values):
            ends, chain = fast.running_sums(values, float(self._best), self._rate.double)
        else:
            with overflowing():
                weights = fast_weights(self._vector.gaps(self._best), self._rate)
            ends, chain = cumulate(weights)
        return Sums(ends, error_of_sums(WEIGHT_ERROR, chain, len(ends)))

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights."""
        for i in range(len(self._vector)):
            yield self._rate.decay(self._vector.exact_gap(i, self._best))


class BlockWeights:
    """The weights of the blocks of a long vector: sums of the weights in them."""

    __slots__ = ("_rate", "_vector", "bests")

    def __init__(self, vector: Vector, rate: Rate) -> None:
        self._vector, self._rate = vector, rate
        self.bests: NDArray[Any] = np.empty(-(-len(vector) // BLOCK), vector.values.dtype)

    def block(self, b: int) -> Vector:
        """Return the numbers of one block."""
        return self._vector.part(b * BLOCK, (b + 1) * BLOCK)

    def sums(self) -> Sums | None:
        """Return their cumulated sums in doubles, after one pass over the numbers."""
        inner = self._inner_sums()
        if inner is None:
            return None
        with overflowing():
            outer = fast_weights(Vector(self.bests).gaps(np.maximum.reduce(self.bests)), self._rate)
        ends, chain = cumulate(outer * inner)
        return Sums(ends, error_of_sums(2 * WEIGHT_ERROR, BLOCK + chain + 1, len(self._vector)))

    def _inner_sums(self) -> NDArray[np.float64] | None:
        """Find the bests of the blocks, and return the blocks' sums relative to them, None without a fast pass."""
        fast, is_fast = kernel.active(), has_fast_pass(self._rate)
        if is_fast and fast is not None and kernel.are_doubles(self._vector.values):
            self.bests, sums = fast.block_sums(self._vector.values, BLOCK, self._rate.double)
            return sums
        sums, buffer = np.empty(len(self.bests)), np.empty(BLOCK)
        with overflowing():
            for b in range(len(sums)):
                block = self.block(b)
                self.bests[b] = best = block.best()
                if is_fast:
                    gaps = block.gaps(best, out=buffer[: len(block)])
                    sums[b] = np.add.reduce(fast_weights(gaps, self._rate))
        return sums if is_fast else None

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights of blocks."""
        best = np.maximum.reduce(self.bests)
        for b in range(len(self.bests)):
            yield sum(VectorWeights(self.block(b), self._rate, best).balls(), flint.arb(0))


class Categorical:
    """The law P(i) = exp(-rate * gap[i]) / (sum over all j), ready to be drawn from."""

    __slots__ = ("_blocks", "_rate", "_table", "_vector")

    def __init__(self, vector: Vector, rate: Rate) -> None:
        """Check the numbers and do the fast pass; no bit is read before `draw`.

        Raises:
            InvalidScores: if a number is not finite.
        """
        self._vector, self._rate = vector, rate
        self._blocks = BlockWeights(vector, rate) if len(vector) > FLAT else None
        self._table = PreparedWeights(self._blocks or VectorWeights(vector, rate, vector.best()))

    def draw(self, bits: Bits) -> int:
        """Return i with probability P(i), exactly."""
        i = self._table.draw(bits)
        return i if self._blocks is None else i * BLOCK + self._inner(i).draw(bits)

    def settle(self, u: LazyUniform) -> int:
        """Return the index on which `u` falls; for as many candidates as one table holds, at most `FLAT`."""
        assert self._blocks is None
        return self._table.settle(u)

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return `size` independent draws."""
        indices = self._table.draws(size, bits)
        if self._blocks is None:
            return indices
        order = indices.argsort(kind="stable")
        blocks, starts = np.unique(indices[order], return_index=True)
        for b, lanes in zip(blocks.tolist(), np.split(order, starts[1:]), strict=True):
            indices[lanes] = b * BLOCK + self._inner(b).draws(len(lanes), bits)
        return indices

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities, at the precision in force."""
        return PreparedWeights(
            VectorWeights(self._vector, self._rate, self._vector.best())
        ).probabilities()

    def _inner(self, b: int) -> PreparedWeights:
        """Return the table of one block, its weights relative to the block's own best."""
        assert self._blocks is not None
        return PreparedWeights(
            VectorWeights(self._blocks.block(b), self._rate, self._blocks.bests[b])
        )


def _threads(parts: int, bits: Bits) -> int:
    """Return how many threads draw parts of a batch: several only from the system's words, which have no order."""
    is_shared = type(bits) is SystemBits and kernel.active() is not None
    return min(threads(), parts // _FOR_A_THREAD) if is_shared else 1


def _settle_in_balls(weights: Weights, u: LazyUniform) -> int:
    """Return the index of the share of [0, 1) that holds `u`, with as many bits and digits as it takes."""
    bits = 128
    while True:  # Coq: Draw.refinement_ends, Settle.settle_sound, Settle.settle_share
        with precision(bits):
            ends = list(accumulate(weights.balls()))
            while (index := _locate_in_balls(ends, u)) is None and u.length < bits // 2:
                u.extend()
        if index is not None:
            return index
        bits *= 2


def _locate_in_balls(ends: Sequence[arb], u: LazyUniform) -> int | None:
    """Return the index that `u` certainly falls on, or None while that is open."""
    # Sound whether or not the balls' comparisons increase. Coq: Locate.answer_sound, Locate.locate_complete
    low, high, scale = u.prefix * ends[-1], (u.prefix + 1) * ends[-1], flint.arb(2) ** u.length
    i = bisect_left(ends, True, hi=len(ends) - 1, key=lambda end: not low >= end * scale)
    return i if i == len(ends) - 1 or high <= ends[i] * scale else None


def cumulate(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return the running sums, and how many additions the longest of them went through.

    Long sums go by rows, so that rounding grows with the square root of the length.
    """
    n = len(weights)
    if n <= 2 * _ROW:
        return weights.cumsum(), n
    rows = -(-n // _ROW)
    fast = kernel.active()
    if fast is not None and kernel.are_doubles(weights):
        return fast.cumulate(np.array(weights)), rows + _ROW
    table = np.zeros((rows, _ROW))
    table.reshape(-1)[:n] = weights
    np.cumsum(table, axis=1, out=table)
    table[1:] += table[:-1, -1].cumsum()[:, None]
    return table.reshape(-1)[:n], rows + _ROW
