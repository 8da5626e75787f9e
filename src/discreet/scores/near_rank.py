"""The records near a rank, in memory: found by selection, without sorting all of them.

A sample says between which two numbers the wanted records are, one pass takes out the numbers between, and only
these records are put on the grid. Those taken out are counted, so the answer is exact whatever the sample
was: should it mislead, all records are put on the grid.
"""

from collections.abc import Callable
from math import ceil, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sampling.vectors import ExactArray, Integers

ToIndices = Callable[[Any], Integers]
"""Returns the indices of the grid that are nearest to numbers; it does not fall where the numbers rise."""

MANY = 2**17
"""From so many records on, a sample is taken."""

_SAMPLE = 2**16
"""The largest sample."""

_PART = 64
"""Of fewer records, the sample is one in so many."""

_VALUES_AT_ONCE = 2**15

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio: the fractions of its multiples fill the unit interval evenly."""


def records_around(
    values: ExactArray, place: ToIndices, rank: int, width: int
) -> tuple[Integers, int, int]:
    """Return the records at most `width` ranks from the one at `rank` and its ties, as indices, and their ranks.

    Ranks are those of the indices, and ties have one index. The values are not altered.
    """
    total = len(values)
    if total >= MANY:
        below, between = _between(values, *_ends(values, place, rank, width))
        if below <= rank < below + len(between):
            near, start, stop = _around(place(between), rank - below, width)
            beyond = total - below - len(between)
            # Neighbours that were not taken out may belong to the records that are wanted.
            if (start > 0 or below == 0) and (stop < len(between) or beyond == 0):
                return near, start + below, stop + below
    return _around(place(values), rank, width)


def _ends(values: ExactArray, place: ToIndices, rank: int, width: int) -> tuple[Any, Any]:
    """Return two numbers between which the wanted records are, as far as a sample can say.

    Of m random positions, more than a margin of 4 sqrt(m) too many or too few lie below a rank with probability
    at most 2 exp(-32) (Hoeffding). One margin finds the index of the wanted rank, a second one its neighbours
    beyond the ties. The positions are fixed, so records in an order made for it can mislead: that takes time only.
    """
    total = len(values)
    size = min(_SAMPLE, total // _PART)
    margin = 4 * isqrt(size) + ceil(size * width / total) + 1
    sample = np.sort(values[_positions(size, total)])
    indices, middle = place(sample), rank * size // total
    first = int(indices.searchsorted(indices[max(middle - margin, 0)])) - margin
    last = int(indices.searchsorted(indices[min(middle + margin, size - 1)], side="right")) + margin
    return sample[first] if first >= 0 else None, sample[last] if last < size else None


def _positions(size: int, total: int) -> NDArray[np.int64]:
    """Return positions that are spread evenly, in no order that rows are likely to have."""
    words = np.arange(size, dtype=np.uint64) * _GOLDEN  # modulo 2**64
    shares = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.minimum((shares * total).astype(np.int64), total - 1)


def _between(values: ExactArray, low: Any, high: Any) -> tuple[int, ExactArray]:
    """Return how many values are below one number, and those from it up to another; None is no bound."""
    below, parts = 0, []
    for start in range(
        0, len(values), _VALUES_AT_ONCE
    ):  # temporary arrays of a block stay in the cache
        block: Any = values[start : start + _VALUES_AT_ONCE]
        outside = np.zeros(len(block), dtype=np.bool_) if low is None else block < low
        below += int(np.count_nonzero(outside))
        if high is not None:
            outside |= block > high
        parts.append(block[~outside])
    return below, np.concatenate(parts)


def _around(indices: Integers, rank: int, width: int) -> tuple[Integers, int, int]:
    """Return the same of indices, which are reordered in place, in a few passes."""
    indices.partition(rank)
    centre, head, tail = indices[rank], indices[:rank], indices[rank + 1 :]
    lower, higher = int(np.count_nonzero(head < centre)), int(np.count_nonzero(tail > centre))
    start, stop = max(0, lower - width), min(len(indices), len(indices) - higher + width)
    if start > 0:
        head.partition(start)
    if stop < len(indices):
        tail.partition(stop - rank - 2)
    return indices[start:stop], start, stop
