"""Numbers by their rank among others, in a time that ties do not change.

Quickselect, as in `np.partition`, takes up to fifteen times as long where most numbers are equal and a few are not,
so that one record more could show in the time.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import kernel
from .vectors import ExactArray, StoredNumber

_BITS = 64

_SIGN, _MAGNITUDE = 2**63, 2**63 - 1

_AS_DOUBLES = 2**53
"""Integers below it are doubles."""


def kth_largest(values: ExactArray, k: int) -> StoredNumber:
    """Return the k-th largest of finite numbers, ties counted.

    Side channels: a fixed number of passes compares all doubles and integers. Objects of Python are sorted, which
    compares them as often as their order asks for.

    Args:
        values: the numbers. If one is not finite the answer means nothing.
        k: from 1 to how many there are.
    """
    if values.dtype.kind == "O":
        number: StoredNumber = np.sort(values)[len(values) - k]
        return number
    fast = kernel.active()
    if fast is not None and values.dtype in kernel.RANKED:
        return fast.kth_largest(values, k)
    keys, key = _keys(values), -_SIGN
    for bit in reversed(range(_BITS)):  # to the largest key that k numbers reach
        higher = key + (1 << bit)
        key = (key, higher)[int(np.count_nonzero(keys >= higher)) >= k]
    return _number_of(key, values.dtype)


def sort_places(places: NDArray[Any]) -> NDArray[Any]:
    """Return integers from 0 on in order.

    Side channels: the kernel sorts those below 2**53 in the same steps whatever they are. Without it, as of larger
    ones, equal integers are sorted in less time.
    """
    fast, n = kernel.active(), len(places)
    if fast is None or places.dtype != np.int64 or int(places.max(initial=0)) >= _AS_DOUBLES:
        return np.sort(places)

    def write(keys: kernel.Doubles) -> None:
        keys[:] = places

    keys = fast.sorted_keys(n, write)
    return np.sort(places) if keys is None else keys[1:].astype(np.int64)


def second_largest(values: ExactArray) -> StoredNumber:
    """Return the second largest of two numbers or more, which is the largest where that is there twice."""
    first = values.argmax()
    others = (part for part in (values[:first], values[first + 1 :]) if len(part))
    second: StoredNumber = max(map(np.maximum.reduce, others))
    return second


def _keys(values: ExactArray) -> NDArray[np.int64]:
    """Return integers in the order of the numbers; that of -0 is below that of 0."""
    bits = np.ascontiguousarray(values).view(np.int64)
    if values.dtype.kind == "f":
        return bits ^ ((bits >> 63) & _MAGNITUDE)
    return bits if values.dtype.kind == "i" else bits ^ -_SIGN


def _number_of(key: int, dtype: np.dtype[np.generic]) -> StoredNumber:
    """Return the number with this key."""
    if dtype.kind == "f":
        return np.int64(key if key >= 0 else key ^ _MAGNITUDE).view(np.float64)
    return np.int64(key) if dtype.kind == "i" else np.uint64(key + _SIGN)
