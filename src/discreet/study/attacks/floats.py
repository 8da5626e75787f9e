"""Selection in doubles, as it is usually written, and its exact distribution. Naive: never for a release."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

FINE = 2**53
"""A double that is uniform in [0, 1) is one of so many numbers, k / 2**53, as `random()` returns."""


def unsafe_weights(scores: Sequence[float], epsilon: float, *, shift: bool = False) -> list[float]:
    """Return exp(epsilon * score / 2) in doubles; `shift` takes the best score from all others first."""
    values = np.array(scores, dtype=float)
    with np.errstate(under="ignore"):
        weights: list[float] = np.exp(
            epsilon / 2 * (values - values.max() if shift else values)
        ).tolist()
    return weights


def unsafe_choice(weights: Sequence[float]) -> Callable[[int], int]:
    """Return the usual choice by running sums of w / sum(w), as a function of k for the uniform k / 2**53."""
    shares = np.array(weights) / np.sum(weights)
    sums = np.cumsum(shares)
    ends: list[float] = (sums / sums[-1]).tolist()

    def choose(k: int) -> int:
        return bisect_right(ends, k * 2.0**-53)

    return choose


def counted_law(choose: Callable[[int], int], n: int) -> list[Fraction]:
    """Return the distribution of choose(k) for k uniform below 2**53, where a larger k never gives a smaller index.

    It is counted, by bisection, so it is exact to the last bit.
    """
    ends = [bisect_right(range(FINE), i, key=choose) for i in range(n)]
    return [Fraction(end - start, FINE) for start, end in zip([0, *ends], ends, strict=False)]


def unsafe_law(scores: Sequence[float], epsilon: float, *, shift: bool = False) -> list[Fraction]:
    """Return the distribution of the exponential mechanism in doubles, to the last bit."""
    weights = unsafe_weights(scores, epsilon, shift=shift)
    return counted_law(unsafe_choice(weights), len(weights))
