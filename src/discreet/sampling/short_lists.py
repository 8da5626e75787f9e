"""The draw from a few numbers, in one call of C or in plain Python: for a dozen an array costs more than it saves.

The same certificate as in `categorical`, of which this is the first step alone: an index is returned only if it
is certain. So answers are the same function of the random bits, whichever of the two is taken.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from math import exp, isfinite, ldexp
from typing import Any

import numpy as np

from . import kernel
from .bits import Bits, LazyUniform
from .enclosures import CUT, HALF_ULP, WEIGHT_ERROR, Rate, error_of_sums

SHORT = 100
"""Above so many numbers arrays are faster."""

_MOST_IN_C = 1024
"""Above so many numbers settle.c does not draw."""

_WIDEST = 2 * error_of_sums(WEIGHT_ERROR, _MOST_IN_C, _MOST_IN_C) + 8 * HALF_ULP
"""The distance, relative to the total, that makes a comparison certain for so many and fewer: see `Sums`."""

_READ_IN_C = {list, np.ndarray}
"""The types that settle.c reads."""

_KINDS = "fiuO"
"""The kinds of arrays of numbers. numpy lists times of some units as integers too."""

_WHOLE_DOUBLES = 2**53
_FLOATS, _INTEGERS = {float}, {int}


def draw_few(values: Any, size: int, rate: Rate | None, bits: Bits) -> int | None:
    """Return i with probability proportional to exp(-rate * gap[i]), exactly, by one call of C.

    Args:
        values: the numbers.
        size: how many there must be; 0 for any number.
        rate: a rate with a fast pass, or None.
        bits: the source, of which nothing is read where this returns None.

    Returns:
        The index. None if C cannot, or there are not so many, or not all are finite: see `settle.c`.
    """
    fast = kernel.active()
    if fast is None or fast.settle is None or rate is None or type(values) not in _READ_IN_C:
        return None
    index = fast.settle(values, size, rate.double / kernel.LN2, _WIDEST, bits.word, bits.width)
    if index is None or index >= 0:
        return index
    return settle_few(values, rate, LazyUniform.of_word(~index, bits))


def draw_short(values: list[float], rate: Rate, bits: Bits) -> int:
    """Return i with probability proportional to exp(-rate * gap[i]), exactly.

    Args:
        values: a short list: see `short_list`.
        rate: a rate with a fast pass.
        bits: the source.
    """
    index = draw_few(values, 0, rate, bits)
    if index is not None:
        return index
    u = LazyUniform(bits)
    index = settle_short(values, rate, u)
    return settle_few(values, rate, u) if index is None else index


def settle_few(values: Any, rate: Rate, u: LazyUniform) -> int:
    """Return the index of the share of [0, 1) that holds `u`, of which the first step left a doubt."""
    from .categorical import Categorical  # of doubts alone
    from .vectors import read_vector

    return Categorical(read_vector(values), rate).settle(u)


def short_list(values: Any) -> list[float] | None:
    """Return a few finite floats, or a few integers that are doubles, in a new list, or None if these are not.

    The type of the argument, its length and the types of its numbers count as public. A charge may
    come between this check and the draw, and other threads may change the caller's list meanwhile.
    """
    is_array = type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in _KINDS
    if not (is_array or type(values) is list) or not 0 < len(values) <= SHORT:
        return None
    values = values.tolist() if is_array else values.copy()
    types = set(map(type, values))
    if types == _FLOATS:
        return values if all(map(isfinite, values)) else None
    whole = types == _INTEGERS and min(values) > -_WHOLE_DOUBLES and max(values) < _WHOLE_DOUBLES
    return values if whole else None


def settle_short(values: Sequence[float], rate: Rate, u: LazyUniform) -> int | None:
    """Return the index of the share of [0, 1) that holds `u`, or None where that is not certain yet.

    The weights are those of `enclosures.fast_weights`, with the exponential of C's library, of which
    the same is assumed as of numpy's: a relative error of at most `FUNCTION_ERROR`.
    """
    best, speed, least = max(values), rate.double, -CUT
    # What is cut goes through `exp` too, so that as many are taken for any values.
    weights = [exp(x if (x := speed * (value - best)) > least else least) for value in values]
    ends = list(accumulate(weights))
    total, last = ends[-1], len(ends) - 1
    low, high = ldexp(u.prefix, -u.length) * total, ldexp(u.prefix + 1, -u.length) * total
    i = min(bisect_right(ends, low), last)
    slack = _slack(last + 1) * total  # Coq: Doubles.locate_lower, Doubles.locate_upper
    after = i == 0 or low - ends[i - 1] > slack
    return i if after and (i == last or ends[i] - high > slack) else None


@cache
def _slack(n: int) -> float:
    """Return the distance, relative to the total, that makes a comparison certain: see `Sums`."""
    return 2 * error_of_sums(WEIGHT_ERROR, n, n) + 8 * HALF_ULP
