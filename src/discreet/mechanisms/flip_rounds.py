"""Rounds of permute-and-flip, one after another from the candidates that are left.

In each round candidate j arrives at the time U[j] / w[j], with U[j] uniform on [0, 1] and anew in each round, and
whoever comes first is answered: docs/reference/mechanisms/permute_and_flip.md. Logarithms of times are compared in
doubles; what these leave open is settled in balls. Proofs: docs/reference/mechanisms/peeling.md.
"""

from functools import lru_cache, partial

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..sampling.bits import Bits, LazyUniform
from ..sampling.differences import gaps_to
from ..sampling.enclosures import Rate, overflowing, precision
from ..sampling.short_words import look, read_on_for
from ..sampling.vectors import Stored, Vector
from ..sampling.waiting_times import LOG_TIME_ERROR
from .lists import Lists, probabilities_of_rounds
from .permute_and_flip import OneOfTheHeads

_FAR = 64.0
"""Delays are cut here: the logarithm of a uniform of one word is above -44.4, so those come after the time 1."""

_NEAR = 16.0
"""Nobody whose delay was cut arrives before that."""

_APART = 2 * LOG_TIME_ERROR

_EXACT = 2**53


class FlipRounds(Lists):
    """P(list) = product over its places of P(permute-and-flip answers it, of those before it left out).

    Side channels: what is read in a round depends on the number of candidates; more is read, and balls used, with
    probability below sqrt(number of candidates) * 2**-29 a round.
    """

    __slots__ = ("_best_first", "_k", "_rate", "_scores", "_values")

    def __init__(self, scores: Vector, k: int, rate: Rate) -> None:
        """Check the scores; no bit is read before `draw`.

        Args:
            scores: one per candidate.
            k: how many are answered, at most all.
            rate: one that has a fast pass.

        Raises:
            InvalidScores: if a score is not finite.
        """
        scores.best()
        self._scores, self._k, self._rate = scores, k, rate
        values = scores.values
        best = values.argpartition(len(values) - k)[len(values) - k :]
        self._best_first = best[values[best].argsort()[::-1]].tolist()
        small = values.dtype.kind in "iu" and -_EXACT < values.min() <= values.max() < _EXACT
        self._values = values.astype(np.float64) if small else values

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        found, best, delays = dict[int, None](), -1, np.empty(0)
        with overflowing():
            for _ in range(self._k):
                left = next(i for i in self._best_first if i not in found)
                if left != best:
                    best, delays = left, self._delays(left)
                    delays[list(found)] = np.inf
                i = self._first(delays, best, bits)
                found[i], delays[i] = None, np.inf
        return list(found)

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all lists."""
        return probabilities_of_rounds(
            self._scores, self._k, partial(OneOfTheHeads, rate=self._rate)
        )

    def _delays(self, best: int) -> NDArray[np.float64]:
        """Return rate * gap to the best that is left, cut; what is better is gone."""
        bests = np.full(len(self._values), self._values[best], dtype=self._values.dtype)
        delays = gaps_to(np.maximum(bests, self._values), self._values)
        delays *= self._rate.double
        return np.minimum(delays, _FAR, out=delays)

    def _first(self, delays: NDArray[np.float64], best: int, bits: Bits) -> int:
        """Return who arrives first; a delay of infinity is that of one who was answered before."""
        seen = look(_logs, delays, read_on_for(len(delays)), bits)
        starts, ends = (
            np.log((seen.words + ahead) * 2.0**-seen.length) + delays[seen.near]
            for ahead in (0.0, 1.0)
        )
        bar = float(ends.min()) + _APART
        if np.count_nonzero(starts <= bar) == 1 and not seen.rest <= bar:
            return int(seen.near[ends.argmin()])
        runners = seen.times <= bar if bar < _NEAR else delays < np.inf
        return self._settle(seen.uniforms(np.flatnonzero(runners)), best)

    def _settle(self, noise: dict[int, LazyUniform], best: int) -> int:
        """Return who of these arrives first, reading on and using balls."""
        bests = self._scores.values[best]
        while len(noise) > 1:
            with precision(64 + 2 * max(u.length for u in noise.values())):
                bounds = {i: self._bounds(u, i, bests) for i, u in noise.items()}
                bar = min((latest for _, latest in bounds.values()), key=arb.mid)
                noise = {i: u for i, u in noise.items() if not bounds[i][0] > bar}
            for u in noise.values() if len(noise) > 1 else ():
                u.extend()
        return next(iter(noise))

    def _bounds(self, u: LazyUniform, i: int, best: Stored) -> tuple[arb, arb]:
        """Return balls around the least and the largest ln(time) for the known part of `u`."""
        delay = self._rate.exponent(self._scores.exact_gap(i, best))
        cell = arb(2) ** -u.length
        start = delay + (u.prefix * cell).log() if u.prefix else arb.neg_inf()
        return start, delay + ((u.prefix + 1) * cell).log()


@lru_cache(maxsize=2)
def _logs(width: int) -> NDArray[np.float64]:
    """Return ln(word / 2**width) for all words."""
    with overflowing():
        logs: NDArray[np.float64] = np.log(np.arange(1 << width) * 2.0**-width)
    return logs
