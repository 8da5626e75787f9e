"""Permute-and-flip where scores come in runs: one race of the runs, not of their candidates.

Candidate j of weight w[j] arrives at the time U[j] / w[j], with U[j] uniform on [0, 1]; permute-and-flip
answers whoever comes first. The first of m candidates of one weight w comes at

    (1 - (1 - U) ** (1 / m)) / w,

and each of them is that one equally often. So a run of any length costs one uniform, and only runs too
close to tell apart in doubles are looked at again, in balls. Given the time S of the winner, it is r with
probability proportional to w[r] / (1 - w[r] * S): the exponential mechanism, tilted. Proofs:
docs/reference/mechanisms/permute_and_flip.md.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ..errors import InvalidArgument
from ..sampling.bits import Bits, LazyUniform, below
from ..sampling.categorical import BLOCK
from ..sampling.enclosures import Rate, exponential, has_fast_pass, overflowing, precision
from ..sampling.runs import Place, Runs, indices_of
from ..sampling.vectors import ExactArray
from ..sampling.waiting_times import log_of_rest

TIME_ERROR = 2.0**-41
"""Proved bound on the relative error of a time in doubles. A time that was cut is only bounded above."""

_FAR = 512.0
"""Exponents are cut here: who is further behind counts as anywhere behind that."""

_LONGEST = 512
"""Ranges of fewer than 2**_LONGEST candidates are raced in doubles first, longer ones in balls at once."""

_MARGIN = 1 + 4 * TIME_ERROR


class RunRace:
    """Permute-and-flip over flat runs: P(r) = w[r] * integral of prod over j != r of (1 - w[j] s).

    The integral is over 0 < s < 1, the product over all other candidates, and w = exp(-rate * gap).

    Side channels: the time depends on the number of runs; one word per run is read, and one or more
    for the place in the run that wins, by its length. More are read, and balls used, for runs too close
    to the first, with probability below sqrt(number of runs) * 2**-29 a draw.

    Source: McKenna and Sheldon, NeurIPS 2020. Proof: docs/reference/mechanisms/permute_and_flip.md.
    """

    __slots__ = ("_best", "_fast", "_rate", "_runs")

    def __init__(self, runs: Runs, rate: Rate) -> None:
        """Check the scores; no bit is read before `draw`.

        Runs with summaries are taken in full.

        Raises:
            InvalidArgument: if the runs are of a kind that may slope.
            InvalidScores: if a score is not finite.
        """
        if runs.slopes is not None:
            raise InvalidArgument(
                "permute_and_flip needs scores that are constant in pieces; for scores that slope, "
                "use the exponential mechanism"
            )
        self._runs = runs if runs.whole is None else runs.whole()
        self._rate, self._best = rate, self._runs.best()
        self._fast = has_fast_pass(rate) and _ordinary(self._runs.sizes)

    def draw(self, bits: Bits) -> int:
        """Return i with probability P(i), exactly."""
        return indices_of([self._place(bits)])[0]

    def draws(self, size: int, bits: Bits) -> list[int]:
        """Return `size` independent draws."""
        return indices_of([self._place(bits) for _ in range(size)])

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of the runs, at the precision in force.

        Quadratic in the number of distinct scores, and slow for many.
        """
        sizes = [int(size) for size in self._runs.sizes]
        with precision(ctx.prec + sum(sizes).bit_length()):  # 1 - w must be told from 1
            gaps = [self._gap(c) for c in range(len(sizes))]
            ties = dict.fromkeys(gaps, 0)  # runs of one score are one class
            for gap, size in zip(gaps, sizes, strict=True):
                ties[gap] += size
            weights, totals = [self._rate.decay(gap) for gap in ties], list(ties.values())
            each = {
                gap: weights[k] * _integral_without_one(weights, totals, k) / totals[k]
                for k, gap in enumerate(ties)
            }
            return [size * each[gap] for gap, size in zip(gaps, sizes, strict=True)]

    def _place(self, bits: Bits) -> Place:
        """Return the run that comes first, and any place in it."""
        c = self._first(bits)
        return Place(self._runs, c, below(int(self._runs.sizes[c]), bits))

    def _gap(self, c: int) -> Fraction:
        return self._runs.tops.exact_gap(c, self._best)

    def _first(self, bits: Bits) -> int:
        """Return the run whose first candidate comes first of all."""
        runners = self._leaders(bits)
        while len(runners) > 1:
            with precision(64 + 2 * next(iter(runners.values())).length):
                runners = self._still_running(runners)
            for u in runners.values() if len(runners) > 1 else ():
                u.extend()
        return next(iter(runners))

    def _leaders(self, bits: Bits) -> dict[int, LazyUniform]:
        """Read one word per run and return the runs that may still be first."""
        n, bar = len(self._runs), _MARGIN  # the time of a run of gap zero is at most 1
        kept: list[tuple[float, int, int]] = []
        for start in range(0, n, BLOCK):
            words = bits.words(min(BLOCK, n - start))
            with overflowing():
                times, latest = self._times(start, words, bits.width)
            bar = min(bar, latest)
            early = np.flatnonzero(times <= bar)
            columns = times[early], start + early, words[early]
            kept += zip(*(column.tolist() for column in columns), strict=True)
        return {c: LazyUniform.begun(word, bits) for time, c, word in kept if time <= bar}

    def _times(
        self, start: int, words: NDArray[np.uint64], width: int
    ) -> tuple[NDArray[np.float64], float]:
        """Return lower bounds on the times of the runs of a block, and an upper bound on the first.

        The lower bounds hold but for TIME_ERROR, which the upper bound has a margin for. It means
        nothing if the first was cut; then it is above 2**160, so it never becomes the bar.
        """
        if not self._fast:
            return np.zeros(len(words)), math.inf
        stop = start + len(words)
        sizes = np.asarray(self._runs.sizes[start:stop], dtype=np.float64)
        delays = self._runs.tops.part(start, stop).gaps(self._best) * self._rate.double
        delays = exponential(np.minimum(delays, _FAR, out=delays))
        times = _least(words, width, sizes) * delays
        i = int(times.argmin())
        if int(words[i]) + 1 == 1 << width:
            return times, math.inf
        first = slice(i, i + 1)
        latest = _least(words[first], width, sizes[first], 1.0) * delays[first]
        return times, float(latest[0]) * _MARGIN

    def _still_running(self, runners: dict[int, LazyUniform]) -> dict[int, LazyUniform]:
        """Return the runs that no other certainly beats."""
        bounds = {c: self._bounds(c, u) for c, u in runners.items()}
        bar = min((latest for _, latest in bounds.values()), key=arb.mid)
        return {c: u for c, u in runners.items() if not bounds[c][0] > bar}

    def _bounds(self, c: int, u: LazyUniform) -> tuple[arb, arb]:
        """Return balls around the least and the largest ln(time) of a run for the known part of `u`."""
        delay, size = self._rate.exponent(self._gap(c)), int(self._runs.sizes[c])
        earliest = delay + _log_least(u.prefix, u.length, size)
        return earliest, delay + _log_least(u.prefix + 1, u.length, size)


def _ordinary(sizes: Sequence[int] | ExactArray) -> bool:
    """Return whether doubles can hold the number of candidates, which is public."""
    words = isinstance(sizes, np.ndarray) and sizes.dtype.kind in "iu"
    return words or sum(map(int, sizes)) < 1 << _LONGEST


def _least(
    words: NDArray[np.uint64], width: int, sizes: NDArray[np.float64], ahead: float = 0.0
) -> NDArray[np.float64]:
    """Return 1 - (1 - U) ** (1 / size) for U = (word + ahead) / 2**width: the least of `size` uniforms."""
    least: NDArray[np.float64] = -np.expm1(log_of_rest(words, width, ahead) / sizes)
    return least


def _log_least(numerator: int, length: int, size: int) -> arb:
    """Return a ball around ln(1 - (1 - U) ** (1 / size)) for U = numerator / 2**length."""
    if numerator == 0:
        return arb.neg_inf()
    if numerator == 1 << length:
        return arb(0)
    rest = (-arb(numerator) / arb(2) ** length).log1p()
    return (-(rest / arb(size)).expm1()).log()


def _integral_without_one(weights: list[arb], sizes: list[int], c: int) -> arb:
    """Return size[c] times the integral over [0, 1] of prod (1 - w s) over all candidates but one of c."""

    def product(s: acb, _analytic: bool) -> acb:
        value = acb(sizes[c])
        for j, (weight, size) in enumerate(zip(weights, sizes, strict=True)):
            value *= _power(1 - weight * s, size - (j == c))
        return value

    return acb.integral(product, 0, 1).real


def _power(base: acb, exponent: int) -> acb:
    """Return base ** exponent by multiplication, which flint does only for exponents of one word."""
    if exponent < 1 << 62:
        return base**exponent
    return _power(base, exponent >> 62) ** (1 << 62) * base ** (exponent % (1 << 62))
