"""The base-2 exponential mechanism (Ilvento 2020, https://arxiv.org/abs/1912.04222)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar, cast

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..base.error_boundary import error_boundaries, error_boundary
from ..base.numbers import Number, count, is_plain, positive, positive_up, short_up
from ..errors import InvalidArgument, InvalidScores, preview
from ..privacy.guarantees import MixedRange
from ..privacy.rho import range_rho
from ..privacy.sensitivity import Sensitivity
from ..sampling.bernoulli import bernoulli
from ..sampling.bits import Bits
from ..sampling.categorical import Categorical
from ..sampling.enclosures import DyadicRate, ball, overflowing, precision, upper
from ..sampling.vectors import ExactArray, Vector, read_vector
from .contract import Calibrated, Law, PrivacyParameter, epsilon_of, need_parameter, one_by_one

_ABOVE_LN_2 = Fraction(25, 36)

_MOST_BITS = 2**13
"""Bits of a base, and of the weight of one unit of score: beyond it exact weights take too long."""

_MOST_ROUNDED = 12
"""Scores that are no integers, up to which `probabilities` sums over every way to round them."""


@dataclass(frozen=True, slots=True)
class Base2Eta:
    """The inverse temperature eta = -z * log2(x / 2**y), in base 2: weights are (x / 2**y) ** (z * gap).

    Attributes:
        x: an integer from 1 to 2**y - 1.
        y: an integer, 1 or more.
        z: an integer, 1 or more, 1 by default.
    """

    x: int
    y: int
    z: int = 1

    def __post_init__(self) -> None:
        for name in ("x", "y", "z"):
            most = None if name == "x" else _MOST_BITS
            object.__setattr__(self, name, count(getattr(self, name), name, most))
        if self.x >= 1 << self.y:
            raise InvalidArgument(
                f"x must be below 2**y, so that eta is above zero, got x={preview(self.x)}, "
                f"y={self.y}"
            )

    @classmethod
    def read(cls, text: str) -> "Base2Eta":
        """Return the eta of a text such as "1,1" or "3,2,1": x, y and perhaps z.

        Raises:
            InvalidArgument: if it is none.
        """
        numbers = [part.strip() for part in text.split(",")]
        if len(numbers) not in {2, 3} or not all(part.isdecimal() for part in numbers):
            raise InvalidArgument(f"eta must be x,y or x,y,z in whole numbers, got {preview(text)}")
        return cls(*map(int, numbers))

    @property
    def rate(self) -> DyadicRate:
        """The weights as a rate of decay."""
        return DyadicRate(self.x, self.y, self.z)

    def epsilon(self, spread: Number) -> Fraction:
        """Return spread * z * (y ln 2 - ln x), rounded up to 64 bits."""
        exact = positive(spread, "spread")
        with precision(2 * self.y + 64):  # the two logarithms may agree in their first y bits
            natural = self.z * (self.y * arb(2).log() - arb(self.x).log())
            return short_up(upper(natural * ball(exact)))


@error_boundaries
@dataclass(frozen=True, slots=True)
class Base2:
    """Answer i with probability proportional to (x / 2**y) ** (z * gap[i]): every weight is rational.

    Scores are divided by `granularity` and rounded at random, without bias, to one of the two nearest integers. At
    granularity 1, integer scores stay as they are.

    Args:
        eta: the inverse temperature. By default the largest of about 32 bits within the requested epsilon.
        granularity: the value of one unit of the rounded scores.

    Guarantee: given how scores were rounded, epsilon-bounded range for epsilon = spread * z * (y ln 2 -
    ln x), with the spread of the rounded scores. So it is epsilon-DP and has the rho of a bounded range.

    Side channels: those of the exponential mechanism. One more word is read for every score that must be rounded.
    Whether scores have to be rounded depends on their type and the granularity, not on their values.

    Source: Ilvento, CCS 2020. For the proof, see docs/reference/mechanisms/exponential.md#base2.
    """

    eta: Base2Eta | None = None
    granularity: Number = 1
    name: ClassVar[str] = "base2"
    takes_runs: ClassVar[bool] = False
    worst_case: ClassVar[None] = None
    options: ClassVar[Mapping[str, Callable[[str], object]]] = {
        "eta": Base2Eta.read,
        "granularity": str,
    }

    @property
    def parameters(self) -> dict[str, object]:
        """Eta, if it is given, and the granularity."""
        eta = None if self.eta is None else (self.eta.x, self.eta.y, self.eta.z)
        return {"eta": eta, "granularity": positive_up(self.granularity, "granularity")}

    def __post_init__(self) -> None:
        granularity = positive_up(self.granularity, "granularity")
        if not is_plain(self.granularity):  # what else it says it is may change
            object.__setattr__(self, "granularity", granularity)
        if not isinstance(self.eta, Base2Eta | None):
            raise InvalidArgument(f"eta must be a Base2Eta(x, y, z), got {preview(self.eta)}")

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the spread that a scale divides: that of the rounded scores, in units of the score."""
        granularity = positive_up(self.granularity, "granularity")
        return granularity * sensitivity.rounded(granularity).spread

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at the given eta, or at the best one for the wanted privacy."""
        granularity = positive_up(self.granularity, "granularity")
        integer_sensitivity = sensitivity.rounded(granularity)
        eta, epsilon = self._settle(integer_sensitivity.spread, parameter)

        def law(scores: Vector) -> Law:
            if scores.integral and granularity.numerator == 1:
                return Categorical(_multiply(scores, granularity.denominator), eta.rate)
            return RoundedCategorical(scores, eta.rate, granularity)

        return Calibrated(MixedRange(epsilon, sensitivity.neighbors), law)

    def _settle(
        self, spread: Fraction, parameter: PrivacyParameter | None
    ) -> tuple[Base2Eta, Fraction]:
        """Return eta and an epsilon that it certainly keeps."""
        if self.eta is not None:
            if parameter is not None:
                raise InvalidArgument(
                    f"eta already says how much privacy. Leave out {parameter.kind}"
                )
            return self.eta, self.eta.epsilon(spread)
        limit = epsilon_of(self._in_units(need_parameter(parameter)), spread, range_rho)
        eta = best_eta(limit, spread)
        return eta, min(limit, eta.epsilon(spread))

    def _in_units(self, parameter: PrivacyParameter) -> PrivacyParameter:
        """Return the parameter, a scale in units of the score as one in units of the rounded scores."""
        if parameter.kind != "scale":
            return parameter
        return PrivacyParameter(
            "scale", parameter.value / positive_up(self.granularity, "granularity")
        )


@error_boundary
def best_eta(epsilon: Number, spread: Number, *, bits: int = 32) -> Base2Eta:
    """Return the eta of the largest epsilon at or below a limit.

    Searches all z and y with z * y at most `bits` above the least that the wanted eta needs: one unit of
    score adds z * y bits to an exact weight. The relative loss is about 2**-bits.

    Args:
        epsilon: the epsilon that must not be exceeded.
        spread: the largest change of a score difference.
        bits: how fine to search.
    """
    target = positive(epsilon, "epsilon") / positive(spread, "spread")
    least_bits = target / _ABOVE_LN_2
    length = count(bits, "bits") + math.ceil(least_bits) + int(1 / target).bit_length()
    # A y of thousands of bits is slow; a larger z does as well where epsilon is that large.
    first = max(1, math.ceil(least_bits / 4096))
    best, best_decay = Base2Eta(1, 1), arb(0)
    with precision(2 * length // first + first.bit_length() + 64):
        for z in range(first, min(length, first + 64) + 1):
            for y in range(max(1, int(least_bits / z)), length // z + 1):
                x = _least_base(y, target / z)
                decay = z * (y * arb(2).log() - arb(x).log())
                if x < 1 << y and decay.mid() > best_decay.mid():
                    best, best_decay = Base2Eta(x, y, z), decay
    return best


class RoundedCategorical:
    """The distribution of the base-2 mechanism on scores / granularity, rounded at random without bias."""

    __slots__ = ("_floors", "_granularity", "_parts", "_rate", "_scores")

    def __init__(self, scores: Vector, rate: DyadicRate, granularity: Fraction) -> None:
        scores.best()  # refuses what is not finite
        self._scores, self._rate, self._granularity = scores, rate, granularity
        self._floors, self._parts = _split(scores, granularity)

    def draw(self, bits: Bits) -> int:
        """Return one index: round every score up with the probability of its fractional part, then draw."""
        ups = bernoulli(self._parts, self._part, bits)
        return Categorical(self._round(ups), self._rate).draw(bits)

    def draws(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """Return `size` independent draws, rounded independently too."""
        return one_by_one(self.draw, size, bits)

    def probabilities(self) -> list[arb]:
        """Return a ball around the probability of every candidate: the mean over all ways to round.

        Raises:
            InvalidScores: if more than 12 scores are no multiples of the granularity.
        """
        between = [i for i in range(len(self._scores)) if self._exact_part(i) != 0]
        if len(between) > _MOST_ROUNDED:
            raise InvalidScores(
                f"the distribution sums over every way to round at most {_MOST_ROUNDED} scores"
            )
        mean = [arb(0)] * len(self._scores)
        for way in product((False, True), repeat=len(between)):
            ups, chance = np.zeros(len(self._scores), dtype=bool), arb(1)
            for i, up in zip(between, way, strict=True):
                ups[i] = up
                chance *= self._part(i) if up else 1 - self._part(i)
            chances = Categorical(self._round(ups), self._rate).probabilities()
            mean = [m + chance * p for m, p in zip(mean, chances, strict=True)]
        return mean

    def _round(self, ups: NDArray[np.bool_]) -> Vector:
        return Vector(self._floors + ups)

    def _part(self, i: int) -> arb:
        return ball(self._exact_part(i))

    def _exact_part(self, i: int) -> Fraction:
        return self._scores.exact(i) / self._granularity % 1


def _split(scores: Vector, granularity: Fraction) -> tuple[ExactArray, NDArray[np.float64]]:
    """Return the floors of scores / granularity, exactly, and their fractional parts, nearly."""
    if scores.values.dtype == np.float64 and _is_power_of_two(granularity):
        with overflowing():
            quotients = cast(NDArray[np.float64], scores.values) * float(1 / granularity)
        if np.array_equal(quotients * float(granularity), scores.values):
            floors = np.floor(quotients)
            return floors, quotients - floors
    exact = [scores.exact(i) / granularity for i in range(len(scores))]
    whole = np.array([math.floor(q) for q in exact], dtype=object)
    return whole, np.array([float(q % 1) for q in exact])


def _is_power_of_two(value: Fraction) -> bool:
    """Return whether multiplying a double by it only moves the exponent."""
    return value in (Fraction(2) ** k for k in range(-64, 65))


def _multiply(scores: Vector, factor: int) -> Vector:
    """Return integer scores times a positive integer, exactly."""
    return scores if factor == 1 else read_vector([int(value) * factor for value in scores.values])


def _least_base(y: int, decay: Fraction) -> int:
    """Return the least integer x with x / 2**y >= exp(-decay), so that rounding favours privacy."""
    return math.ceil(upper(arb(2) ** y * (-ball(decay)).exp()))
