"""Naive mechanisms, kept to show what ours must survive. Never a part of the library."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.bits import Bits


def naive_weights(costs: Any, epsilon: float) -> Any:
    """Return the weights of seed 2's naive exponential mechanism (utilities are costs), in floats."""
    return np.exp(-(epsilon / 2) * np.array(costs, dtype=float))


def naive_probabilities(costs: Any, epsilon: float, *, shift: bool = False) -> Any:
    """Return the law a 53-bit uniform sees: differences of the running float sums, which truncate."""
    values = np.array(costs, dtype=float)
    weights = naive_weights(values - values.min() if shift else values, epsilon)
    ends = np.cumsum(weights)
    return np.diff(ends, prepend=0.0) / ends[-1]


def reference_base2(utilities: Sequence[int], precision: int) -> Any:
    """Return the defects of a published base-2 sampler: a grid too coarse, and zero counted twice."""
    weights = [2.0**-u for u in utilities]
    ends = np.cumsum(weights)

    def draw(bits: Bits) -> int:
        grid = sum(bits.word() << i for i in range(precision - 1)) * 2.0 ** (2 - precision)
        return int(np.argmax(ends >= grid))

    return draw
