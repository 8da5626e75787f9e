"""The probability with which a key is released, by its count, where a noisy count must reach a threshold.

A key of count n >= 1 is released where n + X >= t, for discrete Gaussian noise X. So M = t - X in `KeyNoise`, and
P(M <= m) = P(X >= t - m). For proofs, see docs/reference/mechanisms/private_keys.md#gaussian_keys.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from flint import arb, ctx

from .gaussian_tails import tail, tail_weights, weight
from .key_probabilities import refuse_long_table

_NATS = 45
"""What is less probable than exp(-45), which is below 2**-64, is beyond the ends of tables."""


_GUARD = 16


@dataclass(frozen=True)
class GaussianProbabilities:
    """The probabilities of keys that are released where their count with discrete Gaussian noise reaches `least`.

    Args:
        sigma_squared: the parameter of the noise, above zero.
        least: the least noisy count that is released, 1 or more.

    Raises:
        InvalidArgument: if more than `LONGEST_TABLE` counts would be told apart.
    """

    sigma_squared: Fraction
    least: int

    def __post_init__(self) -> None:
        refuse_long_table(self.size)

    @property
    def size(self) -> int:
        """The least count that is told apart from none above it: one minus its probability is below 2**-64."""
        return self.least + reach(self.sigma_squared)

    @property
    def lowest(self) -> int:
        """The least border in doubles: its probability is below 2**-64 times that of a key of one record."""
        return 1 - reach(self.sigma_squared)

    @property
    def likeliest_step(self) -> int:
        """The likeliest M, so that the released count is n + X."""
        return self.least

    def probability(self, count: int) -> arb:
        """Return a ball around the probability at a count."""
        return self.border(count) if count > 0 else arb(0)

    def complement(self, count: int) -> arb:
        """Return a ball around one minus the probability at a count."""
        if count < 1:
            return arb(1)
        if count < self.least:
            return 1 - self.border(count)
        return self._tail(count - self.least + 1)

    def border(self, step: int) -> arb:
        """Return a ball around P(M <= step)."""
        return self._tail(self.least - step)

    def rise(self, step: int) -> arb:
        """Return a ball around P(M = step)."""
        return weight(self.least - step, self.sigma_squared) / self._total

    def _tail(self, k: int) -> arb:
        """Return a ball around P(X >= k), at the precision in force."""
        if k < 1:
            return 1 - self._tail(1 - k)
        tails = self._tails
        return tails[k - 1] if k <= len(tails) else tail(k, self.sigma_squared)

    @property
    def _total(self) -> arb:
        """A ball around the sum of all weights, at the precision in force."""
        return 1 / (1 - 2 * self._tail(1))

    @property
    def _tails(self) -> list[arb]:
        """Balls around P(X >= k) for k = 1, 2, ... as far as tables go, at the precision in force."""
        digits = ctx.prec
        if digits not in self._by_precision:
            self._by_precision[digits] = _tails(
                self.least + reach(self.sigma_squared), self.sigma_squared
            )
        return self._by_precision[digits]

    @cached_property
    def _by_precision(self) -> dict[int, list[arb]]:
        """The tails, by the precision in force."""
        return {}


def reach(sigma_squared: Fraction) -> int:
    """Return how far tables go: P(X >= k + reach) is at most exp(-45) P(X >= k), for k of 0 or more."""
    return math.isqrt(int(2 * _NATS * sigma_squared)) + 1


@lru_cache(maxsize=16)
def gaussian_probabilities(sigma_squared: Fraction, least: int) -> GaussianProbabilities:
    """Return the probabilities, of which the tails are computed once."""
    return GaussianProbabilities(sigma_squared, least)


def _tails(last: int, sigma_squared: Fraction) -> list[arb]:
    """Return balls around P(X >= k) for k = 1, ..., last, from one sum of all weights."""
    sums = tail_weights(last + _beyond(last, sigma_squared), sigma_squared)
    whole = 1 + 2 * sums[0]
    return [sum_ / whole for sum_ in sums[:last]]


def _beyond(last: int, sigma_squared: Fraction) -> int:
    """Return how many weights after the last one matter for its tail, at the precision in force."""
    bits = (
        ctx.prec + _GUARD
    )  # the weight at k + i is at most exp(-(2 k i + i**2) / (2 s)) of that at k
    return 1 + min(math.isqrt(int(2 * bits * sigma_squared)), int(bits * sigma_squared / last))
