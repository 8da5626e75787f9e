"""How masses of joint quantiles are computed: in doubles with proved bounds, or in balls."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..numbers import nearest_double
from ..sampling.categorical import HALF_ULP, cumulate
from ..sampling.enclosures import FUNCTION_ERROR, NaturalRate, exponential
from ..sampling.vectors import Integers
from .joint_scores import Cuts

Array = NDArray[Any]
"""Doubles, or balls as objects."""

Growth = Callable[[slice, int], tuple[Array, Array]]
"""The factors exp(2 eta (cut - wanted)) of some cuts, and their reciprocals."""


class Arithmetic(Protocol):
    """How masses are computed."""

    @property
    def reach(self) -> int | None:
        """How far offsets go, in steps; None is as far as they can."""
        ...

    def zeros(self, *shape: int) -> Array:
        """Return zeros."""
        ...

    def whole(self, numbers: Integers) -> Array:
        """Return whole numbers."""
        ...

    def running(self, values: Array) -> Array:
        """Return the running sums, from the empty one on."""
        ...

    def growth(self, cuts: Integers) -> Growth:
        """Return what gives the factors of some of the cuts, relative to a wanted one."""
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

    def lost(self, cuts: Cuts, units: Sequence[Any]) -> float:
        """Return a bound on the smaller one of `up` and `down` of all that is left out on the way to any cut."""
        ...


class Doubles:
    """Masses in doubles with a proved relative error.

    Each quantile is weighed by 2**-k for at most 2**k points, so that no sum exceeds 1. Offsets so large that no
    number of tuples could make up for them are left out.
    """

    MOST = 690
    """Twice eta times the largest offset: what exp can take, with room for the sums."""

    MARGIN = 120
    """So many nats less than the tuples of a grid could make up for: nothing, and what a likely draw may need."""

    ROUNDINGS = 2.0**-980
    """Bound on what roundings below the least normal double take away together: fewer than 2**40, 2**-1022 each."""

    FACTOR_ERROR = 2 * FUNCTION_ERROR + 16 * HALF_ULP
    """Proved bound on the relative error of a factor."""

    def __init__(self, step: Fraction, cuts: Cuts) -> None:
        """Take what one step of an offset is worth: twice eta times its length in records."""
        tuples = math.ceil(cuts.quantiles * math.log(cuts.points(0, None)))
        records = (
            2 * cuts.steps * step
        )  # two records: no wanted cut is farther from the nearest place
        self._step = step
        nats = min(tuples + self.MARGIN + records, Fraction(self.MOST))
        self.reach: int = math.floor(nats / step)
        self.longest = min(self.reach, cuts.wanted[-1])
        """The largest offset, in steps."""
        self._coarse, self._fine = halves(step, 52 - self.longest.bit_length())
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
        self._chain = max(self._chain, chain)
        return np.concatenate(([0.0], ends))

    def growth(self, cuts: Integers) -> Growth:
        """Return what gives the factors of some of the cuts, relative to a wanted one."""
        return lambda part, wanted: self.factors(cuts[part] - wanted)

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
        return 2 * self.FACTOR_ERROR + (self._chain + terms + 96) * HALF_ULP

    def lost(self, cuts: Cuts, units: Sequence[float]) -> float:
        """Return a bound on the smaller one of `up` and `down` of all that is left out on the way to any cut."""
        total, reach = self.ROUNDINGS, self.reach
        while reach < cuts.wanted[-1]:
            # Ways that leave this reach but not the next one: how many, times the most that one can weigh.
            points = (cuts.points(j, 2 * reach) * units[j] for j in range(1, len(units)))
            ways = sum(max(0.0, math.log(p)) for p in points if p > 1)
            total += math.exp(min(ways - float(reach * self._step) + 1, 690))
            reach *= 2
        return total


def halves(rate: Fraction, bits: int) -> tuple[float, float]:
    """Return a double of at most so many bits next below a rate, and what is left of the rate as a double."""
    shift = bits + rate.denominator.bit_length() - rate.numerator.bit_length() - 1
    coarse = Fraction(math.floor(rate * Fraction(2) ** shift)) / Fraction(2) ** shift
    return float(coarse), nearest_double(rate - coarse)


class Balls:
    """Masses as balls at the precision in force."""

    reach: int | None = None

    def __init__(self, rate: NaturalRate) -> None:
        """Take how fast squared weights fall with the steps of an offset."""
        self._rate = rate

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

    def growth(self, cuts: Integers) -> Growth:
        """Return what gives the factors of some of the cuts, relative to a wanted one."""
        up = self._factors(cuts.tolist())
        down = 1 / up

        def factors(part: slice, wanted: int) -> tuple[Array, Array]:
            grow = self._factors([wanted])
            return up[part] / grow, down[part] * grow

        return factors

    def factors(self, offsets: Integers) -> tuple[Array, Array]:
        """Return exp(2 eta offset) and exp(-2 eta offset)."""
        up = self._factors(offsets.tolist())
        return up, 1 / up

    def unit(self, points: int) -> arb:
        """Return 1: balls need no scale."""
        return arb(1)

    def error(self, terms: int) -> float:
        """Return 0: balls hold their errors themselves."""
        return 0.0

    def _factors(self, cuts: Sequence[int]) -> Array:
        factors: Array = np.empty(len(cuts), dtype=object)
        factors[:] = [self._factor(cut) for cut in cuts]
        return factors

    def _factor(self, cut: int) -> arb:
        return self._rate.exponent(Fraction(cut)).exp()

    def lost(self, cuts: Cuts, units: Sequence[Any]) -> float:
        """Return 0: nothing is left out."""
        return 0.0
