"""Runs between neighbours of sorted places on a grid, with falling scores: the revenue of prices.

With places p[0] <= p[1] <= ... <= p[n - 1], run i has the points above p[i - 1] up to p[i], and the score of point
j in it is (low + j * step) * min(limit, n - i). Two equal places leave a run without points, of weight zero, so the
work is that of n runs for any places. The points above the last place are a run of their own, of score 0.

The places are sorted as *keys*: a place plus one. The kernel sorts them as doubles, in the same steps for any.
Elsewhere they are integers, shifted by some bits, with the position of the number in them: they are all different,
so that sorting takes as long for equal numbers as for others.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from . import kernel
from .bits import LazyUniform
from .constant_time import replace_by_exp, replace_by_expm1
from .enclosures import (
    CUT,
    CUT_WEIGHT,
    HALF_ULP,
    WEIGHT_ERROR,
    Rate,
    error_of_sums,
    exponential,
    has_fast_pass,
    overflowing,
)
from .runs import Runs
from .vectors import Vector, objects

_KEY_BITS = 62
"""Keys of so many bits are in the order of the doubles that have the same bits, all of them finite."""

_EXACT = 2**53
"""Below it, whole numbers are doubles."""

_MOST_SCORE = 2**62
"""Below it, numpy's integers hold every score."""

_STEEPEST, _LEAST_FALL = 2.0**50, 2.0**-900


class Steps(NamedTuple):
    """How scores depend on places, all public but for the places.

    Attributes:
        low: the factor of point 0, a whole number.
        step: how much the factor of the next point is more, a whole number above zero.
        last: the last point.
        limit: the most places that count.
        dense: whether a point stands for all real numbers up to the next: see `Runs`.
    """

    low: int
    step: int
    last: int
    limit: int
    dense: bool

    @property
    def floor(self) -> int:
        """The place of all places below it, and of the one before the first."""
        return 0 if self.dense else -1

    @property
    def most(self) -> int:
        """The largest factor."""
        return self.low + self.step * (self.last + 1)


def key_bits(last: int, n: int) -> int:
    """Return by how many bits to shift n places up to `last` for their positions; 0 if there is no room."""
    bits = n.bit_length()
    return bits if (last + 2).bit_length() + bits <= _KEY_BITS else 0


class FallingRuns(Runs):
    """Such runs. The fields of `Runs` are worked out when one of them is read. Private.

    Args:
        keys: the keys in order, with a 0 in front of them: doubles, or integers.
        bits: by how many bits places are shifted in them; 0 if they are doubles.
        steps: how scores depend on places.
        between: returns the same runs without those that have no points, by the places.
    """

    __slots__ = ("_between", "bits", "keys", "steps")
    keys: NDArray[Any]
    bits: int
    steps: Steps

    def __init__(
        self,
        keys: NDArray[Any],
        bits: int,
        steps: Steps,
        between: Callable[[NDArray[np.int64]], Runs],
    ) -> None:
        own = {"keys": keys, "bits": bits, "steps": steps, "_between": between}
        for name, attribute in own.items():
            object.__setattr__(self, name, attribute)

    def __getattr__(self, name: str) -> Any:
        if name not in Runs.__slots__:
            raise AttributeError(name)
        runs: Any = self.one_by_one()
        for field in Runs.__slots__:
            object.__setattr__(self, field, getattr(runs, field))
        return getattr(runs, name)

    def one_by_one(self) -> Runs:
        """Return the same runs, without those that have no points."""
        work_out: Callable[[NDArray[np.int64]], Runs] = self._between
        return work_out((self.keys[1:].astype(np.int64, copy=False) >> self.bits) - 1)

    def table(self, rate: Rate) -> "FallingTable | None":
        """Return the sums of their weights, or None if doubles cannot serve them, by public numbers alone."""
        steps, n = self.steps, len(self.keys) - 1
        if not has_fast_pass(rate) or max(steps.most, n) >= _EXACT:
            return None
        # *Falling runs*: no exponent is below -1/4, and no fall is too small to keep its digits.
        if rate.double * steps.most * n > _STEEPEST or rate.double * steps.step < _LEAST_FALL:
            return None
        fast = kernel.active()
        if fast is not None:
            return FallingTable(self, KernelWeights(fast, self, rate))
        if steps.most * n >= _MOST_SCORE:
            return None
        return FallingTable(self, NumpyWeights(self, rate))

    def place(self, i: int) -> int:
        """Return the better end of run i - 1; of none, the floor."""
        return max((int(self.keys[i]) >> self.bits) - 1, self.steps.floor)

    def one(self, i: int) -> Runs:
        """Return run i alone."""
        steps, n = self.steps, len(self.keys) - 1
        before, number = self.place(i), min(steps.limit, n - i)
        end = self.place(i + 1) if i < n else steps.last
        top, slope = (steps.low + end * steps.step) * number, steps.step * number
        return Runs(
            [before if steps.dense else before + 1],
            [end - before],
            Vector(objects([top])),
            Vector(objects([slope])),
            np.zeros(1, dtype=np.bool_),
            dense=steps.dense,
        )


class FallingTable:
    """The sums of the weights of such runs by blocks, in doubles. Private."""

    __slots__ = ("_ends", "_error", "_runs", "_weights")

    def __init__(self, runs: FallingRuns, weights: "FallingWeights") -> None:
        self._runs, self._weights = runs, weights
        points = runs.steps.last - runs.place(len(runs.keys) - 1)
        with overflowing():
            # The points above all places have score 0 and weigh alike.
            self._ends = np.append(weights.sums(), weights.of_zero() * points).cumsum()
            # *Falling runs*: what was cut, of as many points as there are.
            light = 4 * (runs.steps.last + 2) * CUT_WEIGHT / self._ends[-1]
        chain = weights.block + len(self._ends)
        self._error = error_of_sums(4 * WEIGHT_ERROR, chain, 1) + float(light)

    def find(self, u: LazyUniform) -> Runs | None:
        """Return the run on which `u` certainly falls, alone, or None if that is open.

        As in `PreparedWeights`, more of `u` is read while its length is what leaves it open.
        """
        while (i := self._locate(u)) is None and 2.0**-u.length > self._error:
            u.extend()
        return None if i is None else self._runs.one(i)

    def _locate(self, u: LazyUniform) -> int | None:
        """Return the number of the run: first the block, then the run by the weights in that block."""
        total, last = float(self._ends[-1]), len(self._ends) - 1
        low, high = (end / (1 << u.length) * total for end in (u.prefix, u.prefix + 1))
        slack = (2 * self._error + 8 * HALF_ULP) * total
        b = min(int(self._ends.searchsorted(low, side="right")), last)
        before = float(self._ends[b - 1]) if b else 0.0
        if b == last:  # the points above all places
            return len(self._runs.keys) - 1 if low - before > slack else None
        with overflowing():
            inner = np.append(before, self._weights.part(b)).cumsum()
        i = int(inner.searchsorted(low, side="right")) - 1
        if i == len(inner) - 1:  # by the roundings of one of the two sums
            return None
        # *Certificate* in draw.md: of several with the same end only the first has any weight.
        after = b + i == 0 or low - inner[i] > slack
        return b * self._weights.block + i if after and inner[i + 1] - high > slack else None


class FallingWeights(Protocol):
    """The weights of falling runs, relative to that of the best score."""

    block: int
    """How many runs a block has."""

    def sums(self) -> NDArray[np.float64]:
        """Return the sums of the blocks."""

    def part(self, b: int) -> NDArray[np.float64]:
        """Return the weights of the runs of one block."""

    def of_zero(self) -> float:
        """Return the weight of a point of score 0."""


class KernelWeights:
    """The weights in C."""

    block = 2**11

    def __init__(self, fast: kernel.Kernel, runs: FallingRuns, rate: Rate) -> None:
        steps, n = runs.steps, len(runs.keys) - 1
        keys = (
            runs.keys if kernel.are_doubles(runs.keys) else (runs.keys >> runs.bits).astype(float)
        )
        self._fast, self._keys = fast, keys
        limit = float(min(steps.limit, n))
        self._falling = np.array(
            [steps.floor, steps.low, steps.step, limit, 0.0, rate.double / kernel.LN2, steps.dense]
        )
        self._best = fast.falling_best(keys, self._falling)
        self._rate = rate.double

    def sums(self) -> NDArray[np.float64]:
        """Return the sums of the blocks."""
        return self._fast.falling_sums(self._keys, self._falling, self.block)

    def part(self, b: int) -> NDArray[np.float64]:
        """Return the weights of the runs of one block."""
        start, stop = b * self.block, min((b + 1) * self.block, len(self._keys) - 1)
        return self._fast.falling_weights(self._keys, self._falling, start, stop)

    def of_zero(self) -> float:
        """Return the weight of a point of score 0."""
        return float(self._fast.weights(np.array([self._best]), self._rate)[0])


class NumpyWeights:
    """The weights in numpy, first relative to the best score in their own block: so the places are read once."""

    block = 2**14

    def __init__(self, runs: FallingRuns, rate: Rate) -> None:
        self._runs, self._rate = runs, rate.double
        self._fall, n = -runs.steps.step * self._rate, len(runs.keys) - 1
        # Blocks are weighed one after the other in the same memory, which stays in the cache.
        length = min(self.block, n)
        self._integers = np.empty((3, length + 1), dtype=np.int64)
        self._doubles, self._positions = np.empty((3, length)), np.arange(length)
        bests, sums = list[int](), list[float]()
        with overflowing():
            self._rises = np.expm1(self._positions[::-1] * self._fall)
            for b in range(-(-n // self.block)):
                best, weights = self._relative(b)
                bests.append(best)
                sums.append(float(weights.sum()))
            self._best = max(bests)
            behind = np.array([self._best - best for best in bests], dtype=np.float64)
            self._scales = exponential(np.maximum(behind * -self._rate, -CUT))
            self._sums = self._scales * sums

    def sums(self) -> NDArray[np.float64]:
        """Return the sums of the blocks."""
        return self._sums

    def part(self, b: int) -> NDArray[np.float64]:
        """Return the weights of the runs of one block."""
        _, weights = self._relative(b)
        weights *= self._scales[b]
        return weights

    def _relative(self, b: int) -> tuple[int, NDArray[np.float64]]:
        """Return the best score in one block, at least 0, and the weights of its runs relative to that.

        They are in memory that the next call uses again.
        """
        ends, sizes, numbers = self._block(b)
        weights, points, falls = self._doubles[:, : len(sizes)]
        np.multiply(numbers, self._fall, out=falls)
        np.multiply(sizes, falls, out=points)
        best = self._replace_by_gaps(ends, sizes, numbers)
        # *Runs* in draw.md: exact gaps, and (1 - exp(-d m)) / (1 - exp(-d)), over d alone where runs are dense.
        np.multiply(ends, -self._rate, out=weights)
        room = sizes.view(np.float64)
        replace_by_exp(weights, ends, room)
        replace_by_expm1(points, ends, room)
        weights *= points
        weights /= falls if self._runs.steps.dense else self._heights(numbers, points)
        return best, weights

    def _block(self, b: int) -> NDArray[np.int64]:
        """Return the places of one block plus one, the numbers of points up to them, and how many are not below."""
        steps, start, n = self._runs.steps, b * self.block, len(self._runs.keys) - 1
        length = min(self.block, n - start)
        from_before = self._integers[0, : length + 1]
        keys = self._runs.keys[start : start + length + 1]
        np.right_shift(keys, self._runs.bits, out=from_before)
        if steps.floor > -1:  # no key is below 0
            np.maximum(from_before, steps.floor + 1, out=from_before)
        integers = self._integers[:, 1 : length + 1]
        ends, sizes, numbers = integers
        np.subtract(ends, from_before[:-1], out=sizes)
        np.subtract(n - start, self._positions[:length], out=numbers)
        if steps.limit < n:
            np.minimum(numbers, steps.limit, out=numbers)
        return integers

    def _replace_by_gaps(
        self, ends: NDArray[np.int64], sizes: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> int:
        """Replace places by the gaps of their scores to the best one, at least 0, and return that."""
        steps = self._runs.steps
        if steps.step > 1:
            ends *= steps.step
        ends += steps.low - steps.step
        ends *= numbers
        # A run without points is no better than the first that ends at its place, but at the floor none has points.
        if steps.low + steps.step * steps.floor > 0:
            ends *= np.minimum(sizes, 1, out=sizes)
        best = max(0, int(ends.max()))
        np.subtract(best, ends, out=ends)
        return best

    def _heights(
        self, numbers: NDArray[np.int64], room: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return exp(fall) - 1 of runs, by that of the last one and those of the numbers beyond its own."""
        first, last = int(numbers[0]), int(numbers[-1])
        rises = self._rises[-len(numbers) :]
        if first - last < len(numbers) - 1:  # by the limit
            rises = np.maximum(rises, rises[last - first - 1])
        # *Falls in a block* in draw.md: (e^a - 1) + (e^b - 1) e^a.
        lowest = float(np.expm1(last * self._fall))
        np.multiply(rises, 1.0 + lowest, out=room)
        room += lowest
        return room

    def of_zero(self) -> float:
        """Return the weight of a point of score 0."""
        return float(exponential(np.array([max(-CUT, self._best * -self._rate)]))[0])
