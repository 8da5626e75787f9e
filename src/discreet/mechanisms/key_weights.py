"""The weights of units by their numbers of keys, the noise and the threshold, from public numbers alone.

For proofs, see docs/reference/mechanisms/private_keys.md#weighted_keys.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt

from ..privacy.gaussian_keys import GaussianThreshold, WeightedThreshold
from .key_rules import best_threshold

GRIDS = (16, 8, 4, 2, 1)
"""Weights of units with the most keys: the first one is taken whose table is not too long."""


@lru_cache(maxsize=256)
def best_weights(epsilon: Fraction, delta: Fraction, keys: int) -> WeightedThreshold | None:
    """Return weights with which keys are (epsilon, delta)-DP, or None if every table would be too long.

    Noise and threshold are those of units of the most keys, all of one weight. A unit of fewer keys gets as much
    more as it may: by the sum of squares, and then as far as its own delta allows.
    """
    for grid in GRIDS:
        last = best_threshold(epsilon, delta, keys, "add_remove", grid)
        if last is not None:
            weights = _weights(epsilon, delta, last)
            return WeightedThreshold(last.sigma_squared, last.least, weights)
    return None


def largest_weights(grid: int, keys: int) -> list[int]:
    """Return the largest weights w of units of j = 1, ..., keys with j w**2 <= keys grid**2."""
    return [isqrt(grid**2 * keys // j) for j in range(1, keys + 1)]


def _weights(epsilon: Fraction, delta: Fraction, last: GaussianThreshold) -> tuple[int, ...]:
    """Return the weights, lowered until units of that many keys are (epsilon, delta)-DP."""

    def is_small(keys: int, weight: int) -> bool:
        one = GaussianThreshold(last.sigma_squared, last.least, keys, "add_remove", weight)
        return one.chance_of_own <= delta and one.keeps(epsilon, delta)  # the first takes less time

    weight, lowered = last.step, list[int]()
    for keys, most in reversed([*enumerate(largest_weights(last.step, last.keys), 1)]):
        weight = _largest(partial(is_small, keys), weight, most)
        lowered.append(weight)
    return tuple(reversed(lowered))


def _largest(is_small: Callable[[int], bool], least: int, most: int) -> int:
    """Return the largest weight up to `most` that is small enough, as `least` is, and all below it are."""
    low, high = least, most + 1
    while high - low > 1:
        middle = most if high > most else (low + high) // 2  # mostly the first one is
        low, high = (middle, high) if is_small(middle) else (low, middle)
    return low
