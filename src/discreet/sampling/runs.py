"""Scores over a range too long to list: runs of neighbouring candidates with simple scores.

A run is a stretch of a grid. On a flat run all candidates have the same score. On a sloping run the
score falls by the same amount from a candidate to the next, starting from the best at one end. A
sloping run may be without end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.lazy_names import flint
from .bits import Bits, LazyUniform, below
from .categorical import PreparedWeights, Sums, cumulate
from .enclosures import (
    CUT,
    WEIGHT_ERROR,
    Rate,
    cut_exponential,
    error_of_sums,
    has_fast_pass,
    lower,
    overflowing,
    precision,
    upper,
)
from .vectors import ExactArray, StoredNumber, Vector

if TYPE_CHECKING:
    from flint import arb

_RUNS_AT_ONCE = 2**14

_LEAST_SLOPE = 2.0**-900
"""The fast pass serves slopes from here on; smaller ones may have lost digits."""

_LONGEST_SIZE = 2**19
"""Sizes of flat runs may have that many bits in the fast pass: docs/explanation/draw.md."""

_SURE = 2.0**-30
"""Summaries are of use while their possible weight leaves doubts rarer than this."""


@dataclass(frozen=True, slots=True, repr=False)
class Runs:
    """Scores in runs. Private; the repr shows none of them.

    Attributes:
        starts: for every run, the index of its lowest candidate (of a run without end: of its best one).
        sizes: the numbers of candidates of the runs, at least 1; 0 stands for a sloping run without end.
        tops: the best scores of the runs.
        slopes: how much the score falls from a candidate to the next, at least 0. None if all are flat.
        upward: whether the score falls with growing index (True) or with shrinking index (False), for
            every run. None if all are flat.
        summaries: which runs stand for many, whose scores are at most the top. None if none does.
        whole: returns the same scores without summaries.
        wider: returns the same scores with less in the summaries, where the whole would be too much.
        dense: whether a candidate stands for all real numbers up to the next, and weighs the integral
            over them, one step long. The best score of a run is then that at its better end.
        locate: returns the indices of candidates, given by their runs and their steps from the best end,
            for runs whose candidates are no neighbours; `starts` says nothing then.
    """

    starts: Sequence[int] | ExactArray
    sizes: Sequence[int] | ExactArray
    tops: Vector
    slopes: Vector | None = None
    upward: NDArray[np.bool_] | None = None
    summaries: NDArray[np.bool_] | None = None
    whole: Callable[[], Runs] | None = None
    wider: Callable[[], Runs] | None = None
    dense: bool = False
    locate: Callable[[Sequence[tuple[int, int]]], list[int]] | None = None

    def __len__(self) -> int:
        return len(self.tops)

    def __repr__(self) -> str:
        return "<Runs of private scores>"

    def best(self) -> StoredNumber:
        """Return the best score of all, after making sure that scores and slopes are finite."""
        if self.slopes is not None:
            self.slopes.best()
        return self.tops.best()

    def lead(self) -> Fraction | float:
        """Return by how much the best score is better than the best that a summary may hold."""
        if self.summaries is None or not self.summaries.any():
            return math.inf
        tops = self.tops.values
        return Fraction(int(tops[~self.summaries].max()) - int(tops[self.summaries].max()))

    def refine(self) -> Runs:
        """Return the same scores with less in summaries."""
        more = self.wider or self.whole
        return self if more is None else more()

    def table(self, rate: Rate) -> RunTable | None:
        """Return a faster way to find the run of a uniform, or None if there is none."""
        return None

    def one_by_one(self) -> Runs:
        """Return the same scores in runs for which there is no such way."""
        return self

    def draw_steps(self, run: int, rate: Rate, bits: Bits) -> int:
        """Draw how many steps below the best end of a run the answer is, exactly."""
        slope = Fraction(0) if self.slopes is None else self.slopes.exact(run)
        size = int(self.sizes[run])
        return (
            # *Multiplicities* in draw.md: first the class, then one of its candidates uniformly.
            below(size, bits) if slope == 0 else truncated_geometric(rate, slope, size, bits)
        )

    def index(self, run: int, steps: int) -> int:
        """Return the index of the candidate that many steps below the best end of a run."""
        start, size = int(self.starts[run]), int(self.sizes[run])
        if self.upward is None or self.upward[run]:
            return start + steps
        return start - steps if size == 0 else start + size - 1 - steps


class RunTable(Protocol):
    """A faster way to find the run of a uniform."""

    def find(self, u: LazyUniform) -> Runs | None:
        """Return the run that certainly holds `u`, alone, or None where that is open, after reading more of it."""


class RunPlace(NamedTuple):
    """A candidate by its run and its steps from the run's best end."""

    runs: Runs
    run: int
    steps: int


def indices_of(places: Sequence[RunPlace]) -> list[int]:
    """Return the indices of the candidates at some places; all at once where they have to be located."""
    locate = places[0].runs.locate if places else None
    if locate is None:
        return [runs.index(run, steps) for runs, run, steps in places]
    return locate([(run, steps) for _, run, steps in places])


class RunWeights:
    """The weights of runs: sums of exp(-rate * gap) over their candidates, in closed form."""

    __slots__ = ("_best", "_rate", "_runs")

    def __init__(self, runs: Runs, rate: Rate) -> None:
        self._runs, self._rate, self._best = runs, rate, runs.best()

    def sums(self) -> Sums | None:
        """Return their cumulated sums in doubles, scaled so that the heaviest is near 1."""
        if not has_fast_pass(self._rate):
            return None
        with overflowing():
            decays = self._runs.tops.gaps(self._best) * self._rate.double
        sizes = self._sizes()
        if sizes is None:
            return None
        mantissas, lengths = sizes
        # *Runs*: the series is a mantissa times 2**k, and k goes into the exponent; a shift of all is exact.
        exponents = lengths * math.log(2) - decays
        exponents -= exponents.max()
        np.maximum(exponents, -CUT, out=exponents)
        weights = cut_exponential(exponents) * mantissas
        doubt = 0.0
        if self._runs.summaries is not None:
            # *Runs* in draw.md: summaries count as nothing, with four times their largest weight in the error.
            doubt = 4 * float(weights[self._runs.summaries].sum())
            weights[self._runs.summaries] = 0
        ends, chain = cumulate(weights)
        # *Runs*: the weight is off by at most 4 * 2**-43 + K * 2**-49.
        error = 4 * WEIGHT_ERROR + float(np.abs(lengths).max()) * 2.0**-49
        return Sums(ends, error_of_sums(error, chain, len(ends)) + doubt)

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights; around all possible values, for a summary."""
        runs = self._runs
        for c, size in enumerate(runs.sizes):
            top = self._rate.decay(runs.tops.exact_gap(c, self._best))
            slope = Fraction(0) if runs.slopes is None else runs.slopes.exact(c)
            weight = top * _series(self._rate, slope, int(size), runs.dense)
            summary = runs.summaries is not None and runs.summaries[c]
            # *Runs*: in ball arithmetic a summary is anything from nothing to its weight.
            yield weight.union(flint.arb(0)) if summary else weight

    def _sizes(self) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
        """Return the weights of the runs relative to their tops, as mantissas and powers of two."""
        sizes, beyond = self._runs.sizes, np.zeros(1, dtype=np.int64)
        if not isinstance(sizes, np.ndarray):
            # *Runs*: a number of more than 1000 bits is first cut to 1000, which is off by 2**-999.
            beyond = np.array([max(0, m.bit_length() - 1000) for m in sizes])
            if beyond.max() > (_LONGEST_SIZE if self._runs.slopes is None else 0):
                return None
            sizes = np.array([float(m >> b) for m, b in zip(sizes, beyond.tolist(), strict=True)])
        counts = sizes.astype(np.float64)
        if self._runs.slopes is not None:
            # By blocks, so that temporary arrays stay in the cache.
            for start in range(0, len(counts), _RUNS_AT_ONCE):
                block = slice(start, start + _RUNS_AT_ONCE)
                if not self._sloping(
                    counts[block], self._runs.slopes.part(start, start + _RUNS_AT_ONCE)
                ):
                    return None
        mantissas, lengths = np.frexp(counts)
        return mantissas, lengths + beyond

    def _sloping(self, counts: NDArray[np.float64], slopes: Vector) -> bool:
        """Exchange counts of candidates for their weights; return whether no double may be far from its number."""
        flat = np.asarray(slopes.values == 0, dtype=np.bool_)
        doubles = slopes.doubles()
        with overflowing():
            steps = doubles * self._rate.double
            least = np.minimum(doubles, steps).min(initial=1, where=~flat)
            if least < _LEAST_SLOPE or steps.max() > 1 / _LEAST_SLOPE:
                return False
            spans = np.where(counts == 0, np.inf, counts)
            spans *= np.negative(steps, out=steps)
            # *Runs*: (1 - exp(-d m)) / (1 - exp(-d)); over d alone where a candidate stands for an interval.
            weights = np.expm1(spans, out=spans)
            weights /= steps if self._runs.dense else np.expm1(steps, out=steps)
        np.copyto(counts, weights, where=~flat)
        return True


class RunLaw:
    """The law P(i) = exp(-rate * gap[i]) / (sum over all candidates) where scores come in runs."""

    __slots__ = ("_fast", "_runs", "_table", "rate")

    def __init__(self, runs: Runs, rate: Rate) -> None:
        self._runs, self.rate, self._fast = runs, rate, runs.table(rate)
        if self._fast is not None:
            return
        self._table = PreparedWeights(RunWeights(runs, rate))
        while self._table.error > _SURE and self._runs.whole is not None:
            self._runs = self._runs.refine()
            self._table = PreparedWeights(RunWeights(self._runs, rate))

    def draw(self, bits: Bits) -> int:
        """Return i with probability P(i), exactly: first its run, then the steps from the run's best."""
        return indices_of([self._settle(LazyUniform(bits), bits)])[0]

    def draws(self, size: int, bits: Bits) -> list[int]:
        """Return `size` independent draws."""
        return indices_of([self._settle(LazyUniform(bits), bits) for _ in range(size)])

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of the runs, at the precision in force."""
        runs = self._runs.one_by_one() if self._runs.whole is None else self._runs.whole()
        return PreparedWeights(RunWeights(runs, self.rate)).probabilities()

    def _settle(self, u: LazyUniform, bits: Bits) -> RunPlace:
        """Return a candidate of the run that holds `u`; a summary is told in full before it is drawn from."""
        if self._fast is not None:
            one = self._fast.find(u)
            if one is None:
                return RunLaw(self._runs.one_by_one(), self.rate)._settle(u, bits)
            return RunPlace(one, 0, one.draw_steps(0, self.rate, bits))
        if self._runs.whole is None:
            c: int | None = self._table.settle(u)
        else:
            # *No mass is dropped* in out_of_core.md: where U is not certain, wider runs go on with the same U.
            c = self._table.settle_once(u)
        if c is None:
            return RunLaw(self._runs.refine(), self.rate)._settle(u, bits)
        return RunPlace(self._runs, c, self._runs.draw_steps(c, self.rate, bits))


def truncated_geometric(rate: Rate, slope: Fraction, size: int, bits: Bits) -> int:
    """Return k < size with probability proportional to exp(-rate * slope * k); size 0 has no end.

    That is the floor of X = -ln(1 - U * (1 - exp(-rate * slope * size))) / (rate * slope), which grows
    with U, so it is decided when both ends of the known part of U agree.
    """
    uniform = LazyUniform(bits)
    with precision(64):
        scale = size or int(upper(1 / rate.exponent(slope))) + 1
    for _ in range((scale.bit_length() + 63) // 64):
        uniform.extend()
    digits = 128 + 2 * uniform.length
    while True:
        with precision(digits):
            low, high = _geometric_bounds(rate, slope, size, uniform)
        if low == high:
            return low
        uniform.extend()
        digits += 2 * 64


def _geometric_bounds(rate: Rate, slope: Fraction, size: int, u: LazyUniform) -> tuple[int, int]:
    """Return the least and the largest k that the known part of `u` allows."""
    share = flint.arb(1) if size == 0 else 1 - rate.decay(slope * size)
    cell, step = share / flint.arb(2) ** u.length, rate.exponent(slope)
    # X grows with U, so its floor lies between those at both ends of what is known of U.
    last = u.prefix + 1 == 1 << u.length
    low = max(0, math.floor(lower(-(1 - u.prefix * cell).log() / step)))
    if size and last:
        return min(low, size - 1), size - 1
    if last:
        return low, low + 1
    high = math.ceil(upper(-(1 - (u.prefix + 1) * cell).log() / step)) - 1
    return (min(low, size - 1), min(max(high, 0), size - 1)) if size else (low, max(high, 0))


def _series(rate: Rate, slope: Fraction, size: int, dense: bool) -> arb:
    """Return a ball around the sum over k < size of exp(-rate * slope * k), or the integral up to size."""
    if slope == 0:
        return flint.arb(size)
    one_step = rate.exponent(slope) if dense else -(-rate.exponent(slope)).expm1()
    return (1 if size == 0 else -(-rate.exponent(slope * size)).expm1()) / one_step
