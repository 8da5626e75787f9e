"""The two largest of noisy scores: the winner of report noisy max, and by how much it is ahead.

Every candidate has noise that is the quantile of a uniform number. Doubles leave out who is certainly third or
later; the two largest are settled in balls, always. The second may be any distance behind: no race ends before it.
For the proof, see docs/reference/mechanisms/exponential.md#gap.
"""

from typing import NamedTuple, Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...errors import InvalidScores
from ...sampling.bits import Bits, LazyUniform
from ...sampling.enclosures import NaturalRate, has_fast_pass, overflowing, precision
from ...sampling.order_statistics import second_largest
from ...sampling.vectors import StoredNumber, Vector, differences
from ..contract import Law
from ..gap_grid import GapGrid
from .winner import ONE_CANDIDATE

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]

_DECAY_ERROR = 2.0**-48
"""Bound on the relative error of rate * gap in doubles, with room for the sums it enters."""

_CUT_DECAY = 2.0**20
"""Whoever is further from the second best score counts as anywhere beyond: one word of noise never bridges that."""


class UnitNoise(Protocol):
    """Noise of scale 1, as a function of a uniform number that does not fall."""

    def fast_ends(self, words: NDArray[np.uint64], width: int) -> Ends:
        """Return doubles below and above the noise of every uniform number that begins with the word."""

    def ends(self, u: LazyUniform) -> tuple[arb, arb]:
        """Return balls around the least and the largest noise for the known part of `u`."""


class _Bounds(NamedTuple):
    """Balls around the least and the largest noisy score."""

    low: arb
    high: arb


class FirstTwo:
    """The distribution of [index, steps]: the largest noisy score, and how far it is ahead, on the grid.

    Side channels: one word is read per candidate, and the two best are looked at in balls. More are, where second
    and third are closer than doubles can tell, or the gap is at the end of a step, with probability below
    2**-30 + n * 2**-50 for n candidates and gaps of up to a million steps.
    """

    __slots__ = ("_decays", "_grid", "_law", "_noise", "_rate", "_scores", "_second")

    def __init__(
        self, law: Law, scores: Vector, rate: NaturalRate, grid: GapGrid, noise: UnitNoise
    ) -> None:
        """Check the scores; no bit is read before `draw`.

        Args:
            law: the distribution of the winner alone.
            scores: one per candidate.
            rate: the scores are multiplied by it.
            grid: the grid of the gap.
            noise: the distribution of the noise.

        Raises:
            InvalidScores: if there is one candidate only, or a score is not finite.
        """
        if len(scores) < 2:
            raise InvalidScores(ONE_CANDIDATE)
        scores.best()
        self._law, self._scores, self._rate, self._grid, self._noise = (
            law, scores, rate, grid, noise,
        )  # fmt: skip
        values = scores.values
        self._second: StoredNumber = second_largest(values)
        self._decays: NDArray[np.float64] | None = None
        if has_fast_pass(rate):
            with overflowing():
                decays = differences(np.full_like(values, self._second), values) * rate.double
                self._decays = decays.clip(-_CUT_DECAY, _CUT_DECAY)

    def draw(self, bits: Bits) -> list[int]:
        """Return the index of the largest, and by how many steps it is ahead."""
        words = bits.words(len(self._scores))
        runners = {
            i: LazyUniform.of_word(int(words[i]), bits) for i in self._leaders(words, bits.width)
        }
        while True:
            with precision(64 + 2 * max(u.length for u in runners.values())):
                bounds = {i: self._bounds(i, u) for i, u in runners.items()}
                answer = self._answer(bounds)
            if answer is not None:
                return answer
            runners = {i: runners[i] for i in _among_two(bounds)}
            for u in runners.values():
                u.extend()

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent draws."""
        return [self.draw(bits) for _ in range(size)]

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of the winners, for any gaps."""
        return self._law.probabilities()

    def _leaders(self, words: NDArray[np.uint64], width: int) -> list[int]:
        """Return the candidates that may be one of the first two, given one word of noise for every one."""
        if self._decays is None:
            return list(range(len(words)))
        with overflowing():
            low, high = self._noise.fast_ends(words, width)
            error = np.abs(self._decays) * _DECAY_ERROR
            low = low - self._decays - error
            high = high - self._decays + error
        # Of what was cut one end alone is known.
        low[self._decays >= _CUT_DECAY] = -np.inf
        high[self._decays <= -_CUT_DECAY] = np.inf
        return np.flatnonzero(high >= float(second_largest(low))).tolist()

    def _bounds(self, i: int, u: LazyUniform) -> _Bounds:
        decay = self._rate.exponent(self._scores.exact_gap(i, self._second))
        low, high = self._noise.ends(u)
        return _Bounds(low - decay, high - decay)

    def _answer(self, bounds: dict[int, _Bounds]) -> list[int] | None:
        """Return the answer if it is certain, else None."""
        first, second, *others = sorted(bounds, key=lambda i: bounds[i].low.mid(), reverse=True)
        ahead, behind = bounds[first], bounds[second]
        if not ahead.low > behind.high or any(
            not bounds[other].high < behind.low for other in others
        ):
            return None
        steps = self._grid.steps(ahead.low - behind.high, ahead.high - behind.low)
        return None if steps is None else [first, steps]


def _among_two(bounds: dict[int, _Bounds]) -> list[int]:
    """Return the candidates that are not certainly behind two others."""
    first, second = sorted(bounds, key=lambda i: bounds[i].low.mid(), reverse=True)[:2]
    lead, bar = bounds[first].low, bounds[second].low
    return [i for i, one in bounds.items() if not (one.high < bar and one.high < lead)]
