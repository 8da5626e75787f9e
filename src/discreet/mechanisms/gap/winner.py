"""The exponential mechanism's answer with its gap: one more word, given the winner.

With Gumbel noise the winner i is ahead by a G with e**G = (1 - V p) / (V (1 - p)), where p = P(i) and V is uniform
on [0, 1]. In log-odds l = ln(p / (1 - p)) that is G = -ln V + ln(1 + (1 - V) e**l). The weights of the others are
summed, and nothing is subtracted. For the proof, see docs/reference/mechanisms/exponential.md#gap.
"""

from collections.abc import Iterable

import numpy as np
from flint import arb

from ...errors import InvalidScores
from ...sampling.bits import Bits, LazyUniform
from ...sampling.categorical import FLAT, BlockWeights, Sums, VectorWeights
from ...sampling.enclosures import Rate, precision
from ...sampling.vectors import Vector
from ..base_measure import BaseMeasure
from ..contract import Law
from ..gap_grid import GapGrid

ONE_CANDIDATE = (
    "a gap is by how much the winner is ahead of another, so there must be two candidates at least that can be "
    "answered"
)

_FIRST_BITS = 128


class WinnerGap:
    """The distribution of [index, steps]: the winner of the exponential mechanism, and its gap on the grid.

    Side channels: those of the exponential mechanism; two words are read, and one more pass over scores is made.
    More are read, and balls used, with probability below 2**-24 for gaps of up to a million steps.
    """

    __slots__ = ("_grid", "_law", "_measure", "_places", "_rate", "_scores")

    def __init__(
        self,
        law: Law,
        scores: Vector,
        rate: Rate,
        grid: GapGrid,
        measure: BaseMeasure | None = None,
    ) -> None:
        """Take the law of the winner, and the scores, rate and measure of it.

        Raises:
            InvalidScores: if there is one candidate only.
        """
        self._law, self._scores, self._rate = law, scores, rate
        self._grid, self._measure = grid, measure
        self._places = np.arange(len(scores)) if measure is None else measure.places
        if len(self._places) < 2:
            raise InvalidScores(ONE_CANDIDATE)

    def draw(self, bits: Bits) -> list[int]:
        """Return the index of the winner, and by how many steps it is ahead."""
        index = int(self._law.draw(bits))
        return [index, self._steps(index, LazyUniform(bits))]

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent draws."""
        return [self.draw(bits) for _ in range(size)]

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of the winners, for any gaps."""
        return self._law.probabilities()

    def _steps(self, index: int, v: LazyUniform) -> int:
        """Return the steps of the gap of the winner, for a uniform number."""
        with precision(_FIRST_BITS):
            steps = _locate(v, self._log_odds(index, fast=True), self._grid)
        while steps is None:
            v.extend()
            with precision(2 * v.length):
                steps = _locate(v, self._log_odds(index, fast=False), self._grid)
        return steps

    def _log_odds(self, index: int, *, fast: bool) -> arb:
        """Return a ball around ln(p / (1 - p)) for the probability p of the winner.

        Args:
            index: the winner.
            fast: whether the other weights may be summed in doubles.
        """
        others = self._scores.take(self._places[self._places != index])
        best = others.best()
        own = -self._rate.exponent(self._scores.exact_gap(index, best))
        if self._measure is None:
            total = _total(others, self._rate) if fast else None
            return own - (_exact_total(others, self._rate) if total is None else total).log()
        logs = {
            place: self._measure.ball(i).log()
            - self._rate.exponent(self._scores.exact_gap(place, best))
            for i, place in enumerate(self._places.tolist())
        }
        mine = logs.pop(index)
        return mine - _log_sum(logs.values())


def _locate(v: LazyUniform, log_odds: arb, grid: GapGrid) -> int | None:
    """Return the steps of the gap for every number that begins as `v`, or None while that is open."""
    cell = arb(2) ** -v.length
    # The gap falls as V grows.
    return grid.steps(_gap((v.prefix + 1) * cell, log_odds), _gap(v.prefix * cell, log_odds))


def _gap(v: arb, log_odds: arb) -> arb:
    """Return a ball around -ln v + ln(1 + (1 - v) e**l); infinite for v = 0, and 0 for v = 1."""
    if v == 0:
        return arb.pos_inf()
    if v == 1:
        return arb(0)
    # Of the two forms the one with an exponential that is no larger than 1.
    if log_odds.mid() <= 0:
        return ((1 - v) * log_odds.exp()).log1p() - v.log()
    return log_odds + ((1 - v) + (-log_odds).exp()).log() - v.log()


def _total(others: Vector, rate: Rate) -> arb | None:
    """Return a ball around the sum of exp(-rate * gap), gaps to the best, by doubles; or None without them."""
    blocks = len(others) > FLAT
    sums = (BlockWeights(others, rate) if blocks else _weights(others, rate)).sums()
    return None if sums is None else _ball_of(sums)


def _ball_of(sums: Sums) -> arb:
    """Return a ball that holds the sum of the real weights."""
    total = float(sums.ends[-1])
    return arb(total, total * sums.error)


def _exact_total(others: Vector, rate: Rate) -> arb:
    """Return a ball around the same sum, at the precision in force."""
    return sum(_weights(others, rate).balls(), arb(0))


def _weights(others: Vector, rate: Rate) -> VectorWeights:
    return VectorWeights(others, rate, others.best())


def _log_sum(logs: Iterable[arb]) -> arb:
    """Return a ball around ln(sum of e**log)."""
    terms = list(logs)
    top = max(terms, key=arb.mid)
    return top + sum(((term - top).exp() for term in terms), arb(0)).log()
