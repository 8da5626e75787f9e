"""How masses of joint quantiles are computed: in doubles with proved bounds, or in balls.

Both leave out offsets so large that no number of tuples could make up for them, and tell how much that is.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Protocol

import flint
import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...numbers import nearest_double
from ...sampling.categorical import HALF_ULP, cumulate
from ...sampling.enclosures import FUNCTION_ERROR, NaturalRate, exponential
from ...sampling.vectors import Integers
from .cuts import Cuts

Array = NDArray[Any]
"""Doubles, or balls as objects."""

MARGIN = 60
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

    def omission(self, cuts: Cuts, units: Sequence[Any]) -> Any:
        """Return a bound on the smaller one of `up` and `down` of all that is left out on the way to any cut."""
        ...


class DoubleArithmetic:
    """Masses in doubles with a proved relative error.

    Every quantile is weighed by 2**-k for at most 2**k points, so that no sum exceeds 1.
    """

    MOST = 690
    """Twice eta times the largest offset: what exp can take, with room for the sums."""

    ROUNDINGS = 2.0**-980
    """Bound on what roundings below the least normal double take away together: fewer than 2**40, 2**-1022 each."""

    FACTOR_ERROR = 2 * FUNCTION_ERROR + 16 * HALF_ULP
    """Proved bound on the relative error of a factor."""

    def __init__(self, step: Fraction, cuts: Cuts) -> None:
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
        grow = exponential(doubles * self._coarse) * exponential(doubles * self._fine)
        return grow, 1 / grow

    def unit(self, points: int) -> float:
        """Return a power of two that is at most 1 / points."""
        return math.ldexp(1.0, -max(points - 1, 0).bit_length())

    def error(self, terms: int) -> float:
        """Return the relative error that one stage adds, if its sums over quantiles have so many terms."""
        # *A quantile*: 2 (2 E + 16 u) + (c + m + 32) u.
        return 2 * self.FACTOR_ERROR + (self._chain + terms + 32) * HALF_ULP

    def omission(self, cuts: Cuts, units: Sequence[float]) -> float:
        """Return a bound on the smaller one of `up` and `down` of all that is left out on the way to any cut."""
        beyond = left_out(cuts, self._step, self.reach, units)
        # *What is left out*, and *what roundings take*: bounds in units of the smaller one of `up` and `down`.
        return self.ROUNDINGS + sum(math.exp(min(nats, self.MOST)) for nats in beyond)


def halves(rate: Fraction, bits: int) -> tuple[float, float]:
    """Return a double of at most so many bits next below a rate, and the rest of the rate as a double."""
    shift = bits + rate.denominator.bit_length() - rate.numerator.bit_length() - 1
    coarse = Fraction(math.floor(rate * Fraction(2) ** shift)) / Fraction(2) ** shift
    return float(coarse), nearest_double(rate - coarse)


class Balls:
    """Masses as balls at the precision in force."""

    def __init__(self, step: Fraction, cuts: Cuts) -> None:
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

    def omission(self, cuts: Cuts, units: Sequence[Any]) -> arb:
        """Return a bound on the smaller one of `up` and `down` of all that is left out on the way to any cut."""
        beyond = left_out(cuts, self._step, self.reach, [1] * len(units))
        return sum((arb(nats).exp() for nats in beyond), arb(0))


def nats_of(cuts: Cuts, step: Fraction) -> Fraction:
    """Return twice eta times an offset that no draw is likely to need."""
    # *What is left out*: 60 more than m ln(points) and 4 eta; `step` is 2 eta for a step of a cut.
    tuples = math.ceil(cuts.quantiles * math.log(cuts.size))
    return (
        tuples + MARGIN + 2 * cuts.steps * step
    )  # no wanted cut is two records from the nearest place


def reach_of(cuts: Cuts, step: Fraction, nats: Fraction) -> int:
    """Return the offset of so many nats, or the largest there is, in steps."""
    return min(math.floor(nats / step), cuts.targets[-1])


def left_out(cuts: Cuts, step: Fraction, reach: int, units: Sequence[float]) -> Iterator[float]:
    """Yield logarithms of bounds on the weights of all ways that leave a reach, twice the reach, and so on.

    Every one is for the ways that leave one and not the next: how many, times the most that one can weigh.
    """
    while 0 < reach < cuts.targets[-1]:
        points = (cuts.points(j, 2 * reach) * unit for j, unit in enumerate(units))
        ways = sum(math.log(p) for p in list(points)[1:] if p > 1)
        # *What is left out*: exp(-2 eta R) times the ways that stay within 2 R; the 1 pays for roundings.
        yield ways - min(nearest_double(reach * step), 1e300) + 1
        reach *= 2
