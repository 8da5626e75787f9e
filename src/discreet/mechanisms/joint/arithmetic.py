"""How masses of joint quantiles are computed: in doubles with proved bounds, or in balls.

Both leave out offsets so large that no number of tuples could make up for them, and tell how much that is.

A tuple of grid points stands for cuts of the records: numbers of records from 0 to n, halves included. A point with
L records below it and E records at it satisfies the cut L if E = 0, and every cut from L + 1/2 to L + E - 1/2 if it
has records. So the cuts of different points never overlap but where no record lies between them, and tied records
may be cut anywhere.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from operator import mul
from typing import Any, Protocol

import flint
import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...base.numbers import nearest_double
from ...sampling import kernel
from ...sampling.categorical import cumulate
from ...sampling.enclosures import FUNCTION_ERROR, HALF_ULP, NaturalRate, exponential
from ...sampling.kernel import Kernel
from ...sampling.vectors import Integers
from .grid_records import GridPlaces, GridRecords


class QuantileCuts:
    """The cuts that quantiles want, and those of all places, in steps in which all of them are whole. Private."""

    def __init__(self, records: GridRecords, alphas: Sequence[Fraction]) -> None:
        """Find the steps; the places are told apart where they are needed."""
        n = records.number
        shares = [alpha.as_integer_ratio() for alpha in alphas]
        self.records = records
        self.steps = lcm(2, *(q // gcd(n, q) for _, q in shares))
        """How many steps a record has."""
        self.targets = [0, *(n * self.steps * p // q for p, q in shares), n * self.steps]
        """The wanted cuts, between 0 and n."""

    @cached_property
    def places(self) -> GridPlaces:
        """The places of the grid."""
        return self.records.places

    @cached_property
    def low(self) -> Integers:
        """The least cuts of all places."""
        return self._in_steps(self.places.low)

    @cached_property
    def high(self) -> Integers:
        """The largest cuts of all places."""
        return self._in_steps(self.places.high)

    def _in_steps(self, ends: Integers) -> Integers:
        dtype = np.dtype(np.int64 if self.targets[-1] < 2**60 else object)
        return ends.astype(dtype) * (self.steps // 2)

    @cached_property
    def single(self) -> Integers:
        """The places of one cut: stretches without records, and points with one."""
        return np.flatnonzero(self.low == self.high)

    @cached_property
    def cuts(self) -> Integers:
        """Their cuts."""
        cuts: Integers = self.low[self.single]
        return cuts

    @cached_property
    def sizes(self) -> Integers:
        """How many points they have."""
        sizes: Integers = self.places.sizes[self.single]
        return sizes

    @cached_property
    def ties(self) -> Integers:
        """The points with several records."""
        return np.flatnonzero(self.low < self.high)

    @cached_property
    def bottoms(self) -> Integers:
        """Their least cuts."""
        bottoms: Integers = self.low[self.ties]
        return bottoms

    @cached_property
    def tops(self) -> Integers:
        """Their largest cuts."""
        tops: Integers = self.high[self.ties]
        return tops

    @property
    def quantiles(self) -> int:
        """How many quantiles there are."""
        return len(self.targets) - 2

    @property
    def size(self) -> int:
        """How many points the grid has."""
        return self.records.size

    def is_single(self, state: int) -> bool:
        """Return whether a cut is the only one of its place."""
        place = self.place(state)
        return bool(self.low[place] == self.high[place])

    def is_within(self, state: int) -> bool:
        """Return whether a cut is strictly between the least and the largest of its place."""
        place = self.place(state)
        return bool(self.low[place] < state < self.high[place])

    def place(self, state: int) -> int:
        """Return the place of a cut."""
        # *The state*: cuts of different places differ, so a cut tells its place.
        return int(self.high.searchsorted(state))

    def stretch(self, state: int) -> tuple[int, int]:
        """Return the first point of the place of a cut, and how many points it has."""
        # A state within a tied place may lie between half records, the one below which is in that place too.
        return self.records.place(state // (self.steps // 2))

    def within(self, cuts: Integers, reach: int) -> list[slice]:
        """Return by quantile the slice of some cuts within reach of the one that it wants."""
        targets = np.array(self.targets, dtype=self.low.dtype)
        first, end = cuts.searchsorted(targets - reach), cuts.searchsorted(targets + reach, "right")
        return list(map(slice, first.tolist(), end.tolist()))

    def points(self, reach: int) -> list[int]:
        """Return by quantile how many points there are in the places within reach of the cut that it wants."""
        half, last = self.steps // 2, 2 * self.records.number
        points = list[int]()
        for target in self.targets:
            first, _ = self.records.place(max(-((reach - target) // half), 0))
            start, size = self.records.place(min((target + reach) // half, last))
            points.append(start + size - first)
        return points


def score(cuts: Sequence[tuple[Fraction, Fraction]], targets: Sequence[Fraction]) -> Fraction:
    """Return minus the least sum |cell - wanted cell| over all cuts c[j] from cuts[j][0] to cuts[j][1].

    With e[j] = c[j] - wanted[j] that sum is the way that e goes from 0 by all e[j] to 0. To move as late and as
    little as possible makes it shortest.
    """
    way = e = Fraction(0)
    for (low, high), target in zip(cuts, targets, strict=True):
        # *The best cuts* in joint_quantiles.md: the offset stays, or goes to the nearest end of what is satisfied.
        # Coq: JointCuts.shortest_way, JointCuts.best_cuts_are_best
        nearest = min(max(e, low - target), high - target)
        way += abs(nearest - e)
        e = nearest
    return -(way + abs(e))


Array = NDArray[Any]
"""Doubles, or balls as objects."""

OFFSET_MARGIN = 60
"""Offsets go so many nats farther than the tuples of a grid could make up for."""


class Arithmetic(Protocol):
    """How masses are computed. A step of an offset is worth twice eta times its length in records."""

    reach: int
    """How far offsets go, in steps."""

    def zeros(self, *shape: int) -> Array:
        """Return zeros."""

    def whole(self, numbers: Integers) -> Array:
        """Return whole numbers."""

    def running(self, values: Array) -> Array:
        """Return the running sums, from the empty one on."""

    def note(self, chain: int) -> None:
        """Take note that sums went through so many additions."""

    def factors(self, offsets: Integers) -> tuple[Array, Array]:
        """Return exp(2 eta offset) and exp(-2 eta offset)."""

    def unit(self, points: int) -> Any:
        """Return the weight of one point where a quantile may be at one of so many."""

    def error(self, terms: int) -> float:
        """Return the relative error that one stage adds, if its sums over quantiles have so many terms."""

    def omission(self, cuts: QuantileCuts, units: Sequence[Any]) -> Any:
        """Return a bound on the smaller one of `up` and `down` of all that is left out on the way to any cut."""

    def kernel(self, cuts: QuantileCuts) -> Kernel | None:
        """Return the kernel, if it computes these masses."""


class DoubleArithmetic:
    """Masses in doubles with a proved relative error.

    Every quantile is weighed by 2**-k for at most 2**k points, so that no sum exceeds 1.
    """

    MOST = 690
    """Twice eta times the largest offset: as much as exp can take, with room for the sums."""

    ROUNDINGS = 2.0**-980
    """Bound on what roundings below the least normal double take away together: fewer than 2**40, 2**-1022 each."""

    NEAR_ZERO = 2.0**-23
    """Of a number x up to it 1 + x is within 2**-46 of exp."""

    FACTOR_ERROR = 2 * FUNCTION_ERROR + 16 * HALF_ULP
    """Proved bound on the relative error of a factor."""

    def __init__(self, step: Fraction, cuts: QuantileCuts) -> None:
        self._step = step
        self.reach = reach_of(cuts, step, min(nats_of(cuts, step), Fraction(self.MOST)))
        # *Factors*: the coarse part has so few bits that its product with any offset is exact.
        self._coarse, self._fine = halves(step, 52 - self.reach.bit_length())
        self._chain = 0

    def zeros(self, *shape: int) -> Array:
        """Return zeros."""
        return np.zeros(shape)

    def whole(self, numbers: Integers) -> Array:
        """Return whole numbers."""
        return numbers.astype(np.float64)

    def running(self, values: Array) -> Array:
        """Return the running sums, from the empty one on."""
        ends, chain = cumulate(values)
        self.note(chain)
        return np.concatenate(([0.0], ends))

    def note(self, chain: int) -> None:
        """Take note that sums went through so many additions."""
        self._chain = max(self._chain, chain)

    def factors(self, offsets: Integers) -> tuple[Array, Array]:
        """Return exp(2 eta offset) and exp(-2 eta offset)."""
        # The rate in two parts, the first so short that its products are exact: else the error of a product would
        # count as often as it is large, here up to 690 times.
        doubles = offsets.astype(np.float64)
        fine = doubles * self._fine
        # Of so small a number exp is 1 + x, off by less than is assumed of exp.
        rest = fine + 1 if self.reach * self._fine < self.NEAR_ZERO else exponential(fine)
        grow = exponential(doubles * self._coarse) * rest
        return grow, 1 / grow

    def unit(self, points: int) -> float:
        """Return a power of two that is at most 1 / points."""
        return math.ldexp(1.0, -max(points - 1, 0).bit_length())

    def error(self, terms: int) -> float:
        """Return the relative error that one stage adds, if its sums over quantiles have so many terms."""
        # *A quantile*: 2 (2 E + 16 u) + (c + m + 32) u.
        return 2 * self.FACTOR_ERROR + (self._chain + terms + 32) * HALF_ULP

    def omission(self, cuts: QuantileCuts, units: Sequence[float]) -> float:
        """Return a bound on the smaller one of `up` and `down` of all that is left out on the way to any cut."""
        beyond = left_out(cuts, self._step, self.reach, units)
        # *What is left out*, and *what roundings take*: bounds in units of the smaller one of `up` and `down`.
        return self.ROUNDINGS + sum(math.exp(min(nats, self.MOST)) for nats in beyond)

    def kernel(self, cuts: QuantileCuts) -> Kernel | None:
        """Return the kernel, if it is in use and cuts are not too large for it."""
        return kernel.active() if cuts.targets[-1] < kernel.LARGEST_CUT else None


def halves(rate: Fraction, bits: int) -> tuple[float, float]:
    """Return a double of at most so many bits next below a rate, and the rest of the rate as a double."""
    shift = bits + rate.denominator.bit_length() - rate.numerator.bit_length() - 1
    coarse = Fraction(math.floor(rate * Fraction(2) ** shift)) / Fraction(2) ** shift
    return float(coarse), nearest_double(rate - coarse)


class Balls:
    """Masses as balls at the precision in force."""

    def __init__(self, step: Fraction, cuts: QuantileCuts) -> None:
        self._step, self._rate = step, NaturalRate(step)
        self.reach = reach_of(cuts, step, nats_of(cuts, step) + flint.ctx.prec)

    def zeros(self, *shape: int) -> Array:
        """Return zeros."""
        zeros: Array = np.empty(shape, dtype=object)
        zeros.fill(arb(0))
        return zeros

    def whole(self, numbers: Integers) -> Array:
        """Return whole numbers."""
        whole: Array = self.zeros(len(numbers)) + numbers.astype(object)
        return whole

    def running(self, values: Array) -> Array:
        """Return the running sums, from the empty one on."""
        return np.concatenate((self.zeros(1), np.cumsum(values)))

    def note(self, chain: int) -> None:
        """Keep no record: balls hold their errors themselves."""

    def factors(self, offsets: Integers) -> tuple[Array, Array]:
        """Return exp(2 eta offset) and exp(-2 eta offset)."""
        grow = self.zeros(len(offsets))
        grow[:] = [self._rate.exponent(Fraction(offset)).exp() for offset in offsets.tolist()]
        return grow, 1 / grow

    def unit(self, points: int) -> arb:
        """Return 1: balls need no scale."""
        return arb(1)

    def error(self, terms: int) -> float:
        """Return 0: balls hold their errors themselves."""
        return 0.0

    def omission(self, cuts: QuantileCuts, units: Sequence[Any]) -> arb:
        """Return a bound on the smaller one of `up` and `down` of all that is left out on the way to any cut."""
        beyond = left_out(cuts, self._step, self.reach, [1] * len(units))
        return sum((arb(nats).exp() for nats in beyond), arb(0))

    def kernel(self, cuts: QuantileCuts) -> Kernel | None:
        """Return None: the kernel computes in doubles."""
        return None


def nats_of(cuts: QuantileCuts, step: Fraction) -> Fraction:
    """Return twice eta times an offset that no draw is likely to need."""
    # *What is left out*: 60 more than m ln(points) and 4 eta; `step` is 2 eta for a step of a cut.
    tuples = math.ceil(cuts.quantiles * math.log(cuts.size))
    return (
        tuples + OFFSET_MARGIN + 2 * cuts.steps * step
    )  # no wanted cut is two records from the nearest place


def reach_of(cuts: QuantileCuts, step: Fraction, nats: Fraction) -> int:
    """Return the offset of so many nats, or the largest there is, in steps."""
    return min(math.floor(nats / step), cuts.targets[-1])


def left_out(
    cuts: QuantileCuts, step: Fraction, reach: int, units: Sequence[float]
) -> Iterator[float]:
    """Yield logarithms of bounds on the weights of all ways that leave a reach, twice the reach, and so on.

    Every one is for the ways that leave one and not the next: how many, times the most that one can weigh.
    """
    while 0 < reach < cuts.targets[-1]:
        points = map(mul, cuts.points(2 * reach), units)
        ways = sum(math.log(p) for p in list(points)[1:] if p > 1)
        # *What is left out*: exp(-2 eta R) times the ways that stay within 2 R; the 1 pays for roundings.
        yield ways - min(nearest_double(reach * step), 1e300) + 1
        reach *= 2
