"""Differences of the numbers that vectors store, exact until they are rounded once to doubles."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..numbers import nearest_double
from .vectors import ExactArray


def gaps_to(bests: NDArray[Any], values: ExactArray) -> NDArray[np.float64]:
    """Return best - value for numbers with bests of their own, as doubles of relative error at most 2**-53.

    No value is above its best. A gap above the largest double is infinite.
    """
    kind = values.dtype.kind
    if kind == "f":
        return cast(NDArray[np.float64], np.subtract(bests, values))
    if kind == "O":
        return np.array([nearest_double(gap) for gap in bests - values], dtype=np.float64)
    # Modulo 2**64 the difference is exact, and it lies in [0, 2**64).
    return (bests.view(np.uint64) - values.view(np.uint64)).astype(np.float64)


def differences(values: ExactArray, others: NDArray[Any]) -> NDArray[np.float64]:
    """Return value - other for all pairs, of either sign, as doubles of relative error at most 2**-53."""
    if values.dtype.kind == "f":
        return cast(NDArray[np.float64], np.subtract(values, others))
    gaps = gaps_to(np.maximum(values, others), np.minimum(values, others))
    return np.where(values >= others, gaps, -gaps)
