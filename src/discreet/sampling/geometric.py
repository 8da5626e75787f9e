"""Two-sided geometric noise, exact: by the inverse of its distribution function, decided by certified intervals.

The distribution is symmetric. So one bit of a uniform U tells the sign, and D, the distance of U from the nearer
end of (0, 1), the size: |X| >= k for k >= 1 where D < a**k / (1 + a), which is where k < Y, Y = -ln(D * (1 + a)) /
eta. So |X| is the floor of Y, once both ends of the known part of U agree on it. As eta is rational, a is
transcendental, and Y is no whole number where D is a fraction: every search ends. The error of the fast pass is
bounded in docs/reference/mechanisms/noisy_counts.md.
"""

import math
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from .bits import Bits, LazyUniform
from .enclosures import NaturalRate, has_fast_pass, overflowing, precision
from .vectors import Integers, integers

_SLOWEST = 2.0**-32
"""The least rate of the fast pass. Below it sizes are beyond doubles, so more of U is read and balls decide."""

_SIZE_ERROR = 2.0**-37
"""Proved bound on the error of a fast Y, times eta."""

_SPARE = 64
"""Bits by which balls are finer than the known part of a uniform."""


class GeometricNoise:
    """Two-sided geometric noise: P(X = j) = (1 - a) / (1 + a) * a**|j|, a = exp(-eta), for a rational eta > 0.

    Side channels: the noise is independent of whatever it is added to. One word is read a number where eta is at
    least 2**-32, else one and as many more as 1 / eta has, rounded up. More are read with probability at most
    2**-56 / eta + 2**-62 where eta is at least 2**-32, else 2**-50; balls decide with probability at most
    2**-34 / eta + 2**-62 a number there. Then the time depends on the noise.
    """

    __slots__ = ("_more_words", "_rate")

    def __init__(self, eta: Fraction) -> None:
        self._rate = NaturalRate(eta)
        inverse = int(1 / eta)
        self._more_words = 0 if self._is_fast else -(-inverse.bit_length() // 64)

    @property
    def eta(self) -> Fraction:
        """The rate: how fast the probabilities fall."""
        return self._rate.eta

    def draw(self, bits: Bits) -> int:
        """Return one number, an exact sample of this distribution."""
        return self._settle(LazyUniform(bits))

    def draws(self, size: int, bits: Bits) -> Integers:
        """Return `size` independent numbers: 64-bit integers where all of them are small, else Python's."""
        if not self._is_fast:
            return integers([self.draw(bits) for _ in range(size)])
        words = bits.words(size)
        sizes, doubtful = self._fast_sizes(words, bits.width)
        upper_half = words >> np.uint64(bits.width - 1) == 1
        numbers = np.where(upper_half, sizes, -sizes)
        doubts = np.flatnonzero(doubtful).tolist()
        if not doubts:
            return numbers
        late = integers([self._settle(LazyUniform.of_word(int(words[i]), bits)) for i in doubts])
        if late.dtype != numbers.dtype:
            numbers = numbers.astype(object)
        numbers[doubts] = late
        return numbers

    def probability(self, j: int) -> arb:
        """Return a ball around P(X = j), at the precision in force."""
        a = self._rate.decay(Fraction(1))
        one_step = -(-self._rate.exponent(Fraction(1))).expm1()
        return one_step / (1 + a) * self._rate.decay(Fraction(abs(j)))

    def up_to(self, j: int) -> arb:
        """Return a ball around P(X <= j), at the precision in force."""
        return self.above(-j - 1) if j < 0 else 1 - self.above(j)

    def above(self, j: int) -> arb:
        """Return a ball around P(X > j), at the precision in force."""
        if j < 0:
            return 1 - self.above(-j - 1)
        return self._rate.decay(Fraction(j + 1)) / (1 + self._rate.decay(Fraction(1)))

    def apart(self, least: int) -> arb:
        """Return a ball around P(X - Y >= least) of two of them, for a whole number above 0."""
        # P(X - Y = d) = ((1 - a) / (1 + a))**2 a**d (d - 1 + 2 / (1 - a**2)) for d >= 0.
        step = -(-self._rate.exponent(Fraction(1))).expm1()  # 1 - a, without cancellation
        a = 1 - step
        first = least - 1 + 2 / (step * (1 + a))
        return (step / (1 + a)) ** 2 * self._rate.decay(Fraction(least)) * (first + a / step) / step

    @property
    def variance(self) -> arb:
        """A ball around the variance, at the precision in force."""
        return 1 / (2 * (self._rate.exponent(Fraction(1)) / 2).sinh() ** 2)

    def reach(self, nats: int) -> int:
        """Return a distance that the noise exceeds, on either side, with a probability below exp(-nats)."""
        return math.ceil(nats / self.eta)

    @property
    def _is_fast(self) -> bool:
        return has_fast_pass(self._rate) and self._rate.double >= _SLOWEST

    def _fast_sizes(
        self, words: NDArray[np.uint64], width: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return |X| of uniforms that begin with these words, and where doubles do not tell it."""
        last = np.uint64((1 << width) - 1)
        upper_half = words >> np.uint64(width - 1) == 1
        nearest = np.where(upper_half, last - words, words)
        error = _SIZE_ERROR / self._rate.double
        with overflowing():
            low = np.floor(self._fast_height(nearest + np.uint64(1), width) - error)
            high = np.floor(self._fast_height(nearest, width) + error)
        np.maximum(low, 0, out=low)
        np.maximum(high, 0, out=high)
        return low.astype(np.int64), low != high

    def _fast_height(self, distances: NDArray[np.uint64], width: int) -> NDArray[np.float64]:
        """Return Y for the distances, in doubles; infinite at 0."""
        logs = np.log(distances * 2.0**-width)
        logs += self._log_of_sum
        height: NDArray[np.float64] = np.divide(logs, -self._rate.double, out=logs)
        return height

    @property
    def _log_of_sum(self) -> float:
        """The logarithm of 1 + a as a double, rounded by at most 2**-52."""
        with precision(128):
            return float(self._rate.decay(Fraction(1)).log1p().mid())

    def _settle(self, uniform: LazyUniform) -> int:
        """Return the number that a uniform stands for, reading more of it where that is open."""
        for _ in range(self._more_words):
            uniform.extend()
        while True:
            with precision(2 * uniform.length + _SPARE):
                number = self._number(uniform)
            if number is not None:
                return number
            uniform.extend()

    def _number(self, uniform: LazyUniform) -> int | None:
        """Return the number that the known part of a uniform stands for, or None while it is open."""
        cells = 1 << uniform.length
        upper_half = 2 * uniform.prefix >= cells
        nearest = cells - 1 - uniform.prefix if upper_half else uniform.prefix
        if nearest == 0:
            return None
        low = self._height(nearest + 1, uniform.length).floor().unique_fmpz()
        high = self._height(nearest, uniform.length).floor().unique_fmpz()
        if low is None or low != high:
            return None
        return int(low) if upper_half else -int(low)

    def _height(self, distance: int, length: int) -> arb:
        """Return a ball around Y for the distance from the nearer end, at the precision in force."""
        share = arb(distance) / arb(2) ** length
        return -(share.log() + self._rate.decay(Fraction(1)).log1p()) / self._rate.exponent(
            Fraction(1)
        )
