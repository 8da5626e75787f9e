"""The draw from every row of a table: the fast pass of `categorical`, for many rows at once.

The operations on every number, their bounds and the certificate are those of `categorical`; a row that they leave
open is settled there. The work depends on the shape of the table, but for such doubts.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from . import kernel
from .bits import Bits, LazyUniform
from .categorical import Categorical
from .enclosures import (
    HALF_ULP,
    WEIGHT_ERROR,
    Rate,
    error_of_sums,
    fast_weights,
    has_fast_pass,
    overflowing,
)
from .kernel import Doubles
from .vectors import Table2D, Vector, gaps_to, not_finite

WIDEST = 2**12
"""Rows of more numbers are as fast one by one, and are summed by rows of their own there."""

_ROWS_AT_ONCE = 2**15
"""Numbers that are worked on at once: they stay in the fast cache."""


def serves_rows(table: Table2D, rate: Rate) -> bool:
    """Return whether the rows are not too long for this module, and the rate is ordinary enough."""
    return 0 < table.shape[1] <= WIDEST and has_fast_pass(rate)


class CategoricalRows:
    """For every row the distribution P(i) = exp(-rate * gap[i]) / (sum over all j), ready to be drawn from."""

    __slots__ = ("_ends", "_rate", "_rows")

    def __init__(self, rows: Table2D, rate: Rate) -> None:
        """Check the numbers and do the fast pass; no bit is read before `draw`.

        Raises:
            InvalidScores: if a number is not finite.
        """
        self._rows, self._rate = rows, rate
        fast = kernel.active()
        if fast is not None and kernel.are_doubles(rows):
            self._ends = fast.row_sums(rows, rate.double)
            return
        self._ends = np.empty(rows.shape)
        for block in self._blocks():
            self._ends[block] = self._sums(rows[block])

    def _blocks(self) -> Iterator[slice]:
        """Yield slices of as many rows as are worked on at once."""
        number, width = self._rows.shape
        step = max(1, _ROWS_AT_ONCE // width)
        return (slice(start, start + step) for start in range(0, number, step))

    def _sums(self, rows: Table2D) -> NDArray[np.float64]:
        """Return the running sums of the fast weights of some rows."""
        best = np.maximum.reduce(rows, axis=1)
        if rows.dtype.kind == "f" and not (
            np.isfinite(best).all() and math.isfinite(np.minimum.reduce(rows, axis=None))
        ):
            raise not_finite()
        with overflowing():
            gaps = gaps_to(best[:, None], rows)
            weights = fast_weights(gaps.reshape(-1), self._rate).reshape(rows.shape)
        return np.cumsum(weights, axis=1, out=weights)

    def draw(self, bits: Bits) -> list[int]:
        """Return an index for every row, exact samples that are independent of one another."""
        words = bits.words(len(self._rows))
        indices = self._locate(words, bits.width)
        for row in np.flatnonzero(indices < 0):
            law = Categorical(Vector(self._rows[row]), self._rate)
            indices[row] = law.settle(LazyUniform.of_word(int(words[row]), bits))
        return [int(i) for i in indices]

    def _locate(self, words: NDArray[np.uint64], width: int) -> NDArray[np.int64]:
        """Return the indices on which the words of the rows certainly fall, or -1 where that is open."""
        n, fast = self._rows.shape[1], kernel.active()
        slack = 2 * error_of_sums(WEIGHT_ERROR, n, n) + 8 * HALF_ULP  # as in `Sums`
        if fast is not None:
            return fast.locate_rows(self._ends, words, width, slack)
        return np.concatenate(
            [_locate(self._ends[part], words[part], width, slack) for part in self._blocks()]
        )


def _locate(
    ends: Doubles, words: NDArray[np.uint64], width: int, slack: float
) -> NDArray[np.int64]:
    """Return for some rows the index on which their word certainly falls, or -1 where that is open."""
    lanes, last = np.arange(len(ends)), ends.shape[1] - 1
    total = ends[:, -1]
    cell = total * 2.0**-width
    low = words * cell
    i = np.minimum(np.count_nonzero(ends <= low[:, None], axis=1), last)
    # Coq: Doubles.locate_lower, Doubles.locate_all_upper
    after = (i == 0) | (low - ends[lanes, i - 1] > slack * total)
    before = (i == last) | (ends[lanes, i] - low > slack * total + cell)
    return np.where(after & before, i, -1)
