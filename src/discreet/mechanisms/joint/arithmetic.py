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
from typing import Any, NamedTuple, Protocol

import flint
import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...numbers import nearest_double
from ...sampling import kernel
from ...sampling.categorical import cumulate
from ...sampling.enclosures import FUNCTION_ERROR, HALF_ULP, NaturalRate, exponential
from ...sampling.kernel import Kernel
from ...sampling.vectors import Integers
from .kernel_stages import PlaceEnds


class GridPlaces(NamedTuple):
    """The grid in places, in order: a point with records, or a stretch of points without. Private."""

    starts: Integers
    """The index of the first point."""
    sizes: Integers
    """How many points there are."""
    low: Integers
    """The least cut that each of them satisfies, in half records."""
    high: Integers
    """The largest."""

    @classmethod
    def of(cls, points: Integers, counts: NDArray[np.int64], size: int) -> "GridPlaces":
        """Return the places of a grid of that size, from distinct points with the numbers of their records."""
        dtype = np.dtype(np.int64 if size < 2**62 else object)
        starts = np.zeros(2 * len(points) + 1, dtype=dtype)
        starts[1::2] = points
        starts[2::2] = starts[1::2] + 1
        sizes = np.append(starts[1:], np.array([size], dtype=dtype)) - starts
        # *Distribution* in joint_quantiles.md: the cut L without records, L + 1/2 to L + E - 1/2 with E of them.
        ends = np.concatenate(([0], 2 * np.cumsum(counts, dtype=np.int64)))
        low = np.repeat(ends, 2)[:-1]
        high = low.copy()
        low[1::2] += 1
        high[1::2] = ends[1:] - 1
        there = sizes > 0
        return cls(starts[there], sizes[there], low[there], high[there])


class QuantileCuts:
    """The cuts of all places, and the wanted ones, in steps in which all of them are whole. Private."""

    def __init__(self, places: GridPlaces, alphas: Sequence[Fraction]) -> None:
        n = int(places.high[-1] + 1) // 2  # the last place ends at n, or half a record below
        shares = [alpha.as_integer_ratio() for alpha in alphas]
        self.steps = lcm(2, *(q // gcd(n, q) for _, q in shares))
        """How many steps a record has."""
        self.targets = [0, *(n * self.steps * p // q for p, q in shares), n * self.steps]
        """The wanted cuts, between 0 and n."""
        dtype = np.dtype(np.int64 if self.targets[-1] < 2**60 else object)
        self.low, self.high = (
            ends.astype(dtype) * (self.steps // 2) for ends in (places.low, places.high)
        )
        self.places = places
        self.single = np.flatnonzero(self.low == self.high)
        """The places of one cut: stretches without records, and points with one."""
        self.cuts, self.sizes = self.low[self.single], places.sizes[self.single]
        """Their cuts, and how many points they have."""
        self.ties = np.flatnonzero(self.low < self.high)
        """The points with several records."""
        self.bottoms, self.tops = self.low[self.ties], self.high[self.ties]
        """Their least and largest cuts."""

    @cached_property
    def ends(self) -> PlaceEnds:
        """The least and largest cuts of all places, as the kernel reads them."""
        single = self.low == self.high
        starts = np.arange(1, len(single) + 1)
        starts[1:] += (~single).cumsum()[:-1]
        cuts = np.empty(len(starts) + len(self.ties) + 1, dtype=np.int64)
        kinds = np.full(len(cuts), kernel.ON_TOP, dtype=np.int32)
        cuts[0], cuts[starts], cuts[starts[self.ties] + 1] = (
            -kernel.LARGEST_CUT,
            self.low,
            self.tops,
        )
        kinds[starts] = np.where(single, single.cumsum() - 1, kernel.ON_BOTTOM)
        return PlaceEnds(cuts, kinds)

    @property
    def quantiles(self) -> int:
        """How many quantiles there are."""
        return len(self.targets) - 2

    @property
    def size(self) -> int:
        """How many points the grid has."""
        return int(self.places.starts[-1]) + int(self.places.sizes[-1])

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

    def within(self, cuts: Integers, reach: int) -> list[slice]:
        """Return by quantile the slice of some cuts within reach of the one that it wants."""
        return list(map(slice, *self._span(cuts, cuts, reach)))

    def points(self, reach: int) -> list[int]:
        """Return by quantile how many points there are in the places within reach of the cut that it wants."""
        starts, sizes = self.places.starts, self.places.sizes
        spans = zip(*self._span(self.high, self.low, reach), strict=True)
        return [
            int(starts[end - 1]) + int(sizes[end - 1]) - int(starts[first]) if first < end else 0
            for first, end in spans
        ]

    def _span(self, last: Integers, first: Integers, reach: int) -> tuple[list[int], list[int]]:
        """Return by quantile how many places end below its reach, and how many begin up to its end."""
        targets = np.array(self.targets, dtype=self.low.dtype)
        return (
            last.searchsorted(targets - reach).tolist(),
            first.searchsorted(targets + reach, "right").tolist(),
        )


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
        ...

    def whole(self, numbers: Integers) -> Array:
        """Return whole numbers."""
        ...

    def running(self, values: Array) -> Array:
        """Return the running sums, from the empty one on."""
        ...

    def note(self, chain: int) -> None:
        """Take note that sums went through so many additions."""
        ...

    def factors(self, offsets: Integers) -> tuple[Array, Array]:
        """Return exp(2 eta offset) and exp(-2 eta offset)."""
        ...

    def unit(self, points: int) -> Any:
        """Return the weight of one point where a quantile may be at one of so many."""
        ...

    def error(self, terms: int) -> float:
        """Return the relative error that one stage adds, if its sums over quantiles have so many terms."""
        ...

    def omission(self, cuts: QuantileCuts, units: Sequence[Any]) -> Any:
        """Return a bound on the smaller one of `up` and `down` of all that is left out on the way to any cut."""
        ...

    def kernel(self, cuts: QuantileCuts) -> Kernel | None:
        """Return the kernel, if it computes these masses."""
        ...


class DoubleArithmetic:
    """Masses in doubles with a proved relative error.

    Every quantile is weighed by 2**-k for at most 2**k points, so that no sum exceeds 1.
    """

    MOST = 690
    """Twice eta times the largest offset: what exp can take, with room for the sums."""

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
