"""The noise of keys that are released: M given M <= n, exact, from the borders P(M <= m).

A key of count n is released if M <= n. So with U uniform below P(M <= n), from one more word, M is the m with
P(M <= m - 1) <= U < P(M <= m). Doubles decide where U is far from all borders, else balls. For proofs, see
docs/reference/mechanisms/private_keys.md.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from .bits import Bits, LazyUniform
from .enclosures import precision
from .key_probabilities import DoubleTable, ProbabilitiesByCount

PLACE_ERROR = 2.0**-46
"""Bound on the relative error of what is compared with a probability in doubles, with much room."""

_WIDTH = 64
"""The words that are looked up in parts of the line: of this width."""

_CELLS = 2**14
"""Parts of the line from 0 to 1, in most of which no border of the table is."""

_BLOCK = 2**15
"""The noise of so many keys is worked out at once, in memory that a processor has near."""


class _Places(NamedTuple):
    """Some of the keys that get noise: their words, their classes, and the probabilities of these."""

    words: NDArray[np.uint64]
    classes: NDArray[np.int64]
    tops: NDArray[np.float64]


@dataclass(frozen=True)
class KeyNoise:
    """Draws of the noise of released keys.

    Args:
        law: the probabilities by count.
        table: the same in doubles.
    """

    law: ProbabilitiesByCount
    table: DoubleTable

    def of_classes(self, classes: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """Return M for released keys of these classes; of the last class, M without a condition.

        Args:
            classes: counts from 1 to `size`.
            bits: the source, of which one word is read for every one.
        """
        steps = np.empty(len(classes), np.int64)
        for start in range(0, len(classes), _BLOCK):
            block = slice(start, start + _BLOCK)
            steps[block] = self._noise_of(classes[block], bits)
        steps += self.law.lowest
        return steps

    def _noise_of(self, classes: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """Return the places of M among the borders for some keys: place i is below border i alone."""
        words = bits.words(len(classes))
        cells = (words * (self._tops * (2.0**-bits.width * _CELLS))[classes]).astype(np.int64)
        steps = self._steps_of_cells[cells] if bits.width == _WIDTH else np.zeros_like(cells)
        between = np.flatnonzero(steps == 0)
        some = _Places(words[between], classes[between], self._tops[classes[between]])
        steps[between] = self._steps_between(some, bits)
        return steps

    @cached_property
    def _tops(self) -> NDArray[np.float64]:
        """The probabilities of classes below which U is: 1 for the last."""
        return np.append(self.table.probabilities[:-1], 1.0)

    @cached_property
    def _limits(self) -> NDArray[np.int64]:
        """The largest places of classes, which M never exceeds: of the last one maybe beyond the last border."""
        limits = np.arange(self.law.size + 1) - self.law.lowest
        limits[-1] += not self._has_end
        return limits

    @property
    def _has_end(self) -> bool:
        """Whether M is never above the last border."""
        return bool(self.law.complement(self.law.size) == 0)

    @cached_property
    def _steps_of_cells(self) -> NDArray[np.int64]:
        """For equal parts of the line from 0 to 1 the step of all places in them; 0 if a border is there, or near.

        Near is nearer than a place in doubles, or the width of a word of 64 bits, may reach: so a place in a part
        without a border is never in doubt.
        """
        borders = self.table.borders
        ends = np.arange(_CELLS + 2) / _CELLS
        low = borders.searchsorted(ends[:-1] * (1 - 2 * PLACE_ERROR), side="right")
        high = borders.searchsorted(ends[1:] * (1 + 2 * PLACE_ERROR), side="left")
        return np.where((low == high) & (low < len(borders)), low, 0).astype(np.int64)

    def _steps_between(self, some: "_Places", bits: Bits) -> NDArray[np.int64]:
        """Return the places of M where U may be near a border, or beyond all; a doubt reads more of its uniform."""
        limits = self._limits[some.classes]
        low = some.words * 2.0**-bits.width * some.tops
        high = (some.words + 1.0) * 2.0**-bits.width * some.tops
        steps = np.minimum(self.table.borders.searchsorted(low, side="right"), limits)
        borders = np.concatenate([[np.inf], self.table.borders, [-np.inf]])
        after = low * (1 - PLACE_ERROR) >= borders[steps]
        ends = (steps == limits) & (steps < len(self.table.borders))
        before = ends | (high * (1 + PLACE_ERROR) <= borders[steps + 1])
        for i in np.flatnonzero(~(after & before)):
            u = LazyUniform.of_word(int(some.words[i]), bits)
            steps[i] = self.settle(u, int(some.classes[i])) - self.law.lowest
        return steps

    def settle(self, u: LazyUniform, count: int) -> int:
        """Return the m with P(M <= m - 1) <= u * top < P(M <= m), where top is the probability of the class."""
        digits = 128  # Coq: Keys.f_sums, Keys.shown_as_often
        while True:
            with precision(digits):
                while (step := self._step_between(u, count)) is None and u.length < digits // 2:
                    u.extend()
            if step is not None:
                return step
            digits *= 2

    def _step_between(self, u: LazyUniform, count: int) -> int | None:
        """Return that m if it is certain, by the bits that are known, or None."""
        top = arb(1) if count == self.law.size else self.law.border(count)
        low, high = (edge * top / arb(2) ** u.length for edge in (u.prefix, u.prefix + 1))
        before, step = self.law.lowest, count
        if self.law.border(before) > 0:
            if u.prefix == 0:
                return None
            before = self._beyond(before, -1, low)
        if count == self.law.size and not self._has_end:
            if u.prefix + 1 == 1 << u.length:
                return None
            step = self._beyond(step, 1, high)
        while step - before > 1:
            middle = (before + step) // 2
            border = self.law.border(middle)
            if high <= border:
                step = middle
            elif low >= border:
                before = middle
            else:
                return None
        return step

    def _beyond(self, start: int, direction: int, place: arb) -> int:
        """Return a step at the start, or in that direction of it, of which the border is beyond a place."""
        step = start
        while not direction * place <= direction * self.law.border(step):
            step += direction * max(1, abs(step - start))
        return step
