"""Which keys are shown, by their counts: the optimal rule, a threshold of noisy counts, or one of weighted units.

Public numbers decide, before any data are read. For proofs, see #gaussian_keys and #weighted_keys of
docs/reference/mechanisms/private_keys.md.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt

from ..privacy.gaussian_cells import least_sigma_squared
from ..privacy.gaussian_keys import GaussianThreshold, WeightedThreshold
from ..privacy.sensitivity import Neighbors
from ..sampling.enclosures import ball, precision
from ..sampling.gaussian_probabilities import reach
from ..sampling.gaussian_tails import tail
from ..sampling.key_probabilities import LONGEST_TABLE
from .key_shares import KeyShare, count_of_half

_BITS = 256


def better_threshold(
    share: KeyShare, threshold: GaussianThreshold | None, *, shows_counts: bool
) -> GaussianThreshold | None:
    """Return the threshold if it is better than the optimal rule, None if it is not.

    It is better if a key is shown with one half from a smaller count on. Where counts are shown too, that count
    times the standard deviation of what is shown has to be smaller as well.

    Args:
        share: the epsilon and the delta of one key.
        threshold: the threshold, None if there is none.
        shows_counts: whether the noisy counts are shown.
    """
    if threshold is None:
        return None
    with precision(_BITS):
        optimal, gaussian = count_of_half(share).ceil(), ball(Fraction(threshold.even))
        if not gaussian < optimal:
            return None
        if shows_counts:  # the noise of the optimal rule is of a geometric law, but for one step
            optimal /= (ball(share.epsilon).cosh() - 1).sqrt()
            gaussian *= ball(threshold.sigma_squared).sqrt()
        return threshold if gaussian < optimal else None


@lru_cache(maxsize=256)
def best_threshold(
    epsilon: Fraction, delta: Fraction, keys: int, neighbors: Neighbors, step: int = 1
) -> GaussianThreshold | None:
    """Return the least threshold that is (epsilon, delta)-DP, or None if its table would be too long.

    The noise is the least for as many counts alone at the whole delta, and the threshold has the whole delta too:
    the exact delta is the largest of several cases, and no sum.

    Args:
        epsilon: of all keys together.
        delta: of all keys together.
        keys: the most keys in which one unit counts.
        neighbors: the neighbouring relation.
        step: by how much a unit moves the counts of its keys.
    """
    moved = keys if neighbors == "add_remove" else 2 * keys
    sigma_squared = least_sigma_squared(epsilon, delta, moved, step)
    first = _least_for_new_keys(sigma_squared, delta, keys, step)
    if first + reach(sigma_squared) > LONGEST_TABLE:
        return None

    def at(least: int) -> GaussianThreshold:
        return GaussianThreshold(sigma_squared, least, keys, neighbors, step)

    low, high = first - 1, first  # the larger a threshold, the less it tells
    while not at(high).keeps(epsilon, delta):
        low, high = high, high + max(1, high - first)
        if high + reach(sigma_squared) > LONGEST_TABLE:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle).keeps(epsilon, delta) else (middle, high)
    return at(high)


def _least_for_new_keys(sigma_squared: Fraction, delta: Fraction, keys: int, step: int) -> int:
    """Return the least threshold at which any of so many own keys is shown with at most that probability."""
    low, high = step - 1, LONGEST_TABLE
    with precision(_BITS):
        most = -((-ball(delta)).log1p() / keys).expm1()
        while high - low > 1:
            middle = (low + high) // 2
            is_enough = bool(tail(middle - step, sigma_squared) <= most)
            low, high = (low, middle) if is_enough else (middle, high)
    return high


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
