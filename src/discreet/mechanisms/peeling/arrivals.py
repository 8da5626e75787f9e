"""Rounds as races of all candidates, of which the first to arrive are answered.

Candidate j arrives at the time E[j] / w[j], with w[j] = exp(-rate * gap[j]). For the exponential mechanism E[j] are
independent exponential variables, and one race is enough: the order of the first k is that of k rounds without
replacement, and of the k largest of rate * score plus Gumbel noise. For permute-and-flip they are uniform on [0, 1]
and anew in every round: docs/reference/mechanisms/permute_and_flip.md. Logarithms of times are compared in doubles;
what these leave open is settled in balls. For proofs, see docs/reference/mechanisms/top_k.md#peeling.
"""

from functools import cmp_to_key, lru_cache, partial
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...sampling import kernel
from ...sampling.bits import Bits, LazyUniform, RestOfWords
from ...sampling.categorical import Categorical
from ...sampling.enclosures import Rate, overflowing, precision
from ...sampling.order_statistics import kth_largest
from ...sampling.vectors import StoredNumber, Vector, differences, gaps_to, not_finite
from ...sampling.waiting_times import (
    LOG_TIME_ERROR,
    earliest_log_times,
    log_time,
    log_time_bounds,
    look,
    read_on_for,
)
from ..lists import Lists, probabilities_of_rounds
from ..permute_and_flip import OneOfTheHeads

_CUT_DELAY = 64.0
"""Delays are cut here: logarithms of times of one word of noise lie between -44.4 and 3.8, so those are decided.

That of a uniform lies above -44.4 too, so a candidate whose delay was cut comes after the time 1.
"""

_CERTAIN_DELAY = 16.0
"""No candidate whose delay was cut from above arrives before that."""

_APART = 2 * LOG_TIME_ERROR
"""Times in doubles that are further apart than that are in the right order."""

_DELAYS_AT_ONCE = 2**12
"""Candidates in a block of work: few enough that all intermediate results stay in the fast cache."""

_WHOLE_DOUBLES = 2**53
_WORD, _SHORT_WORDS = 64, 4
"""Bits of a word, and how many candidates have their first bits in one."""

_MOST_IN_C = 512
"""Among more candidates that look first settle.c does not find the order: `MOST_NEAR` in kernel.c."""

_Places = NDArray[np.intp]


class FirstArrivals(Lists):
    """P(list) = product over its places of w[i] / (sum of w over all but those before it).

    Side channels: the bits that are read, and the passes, depend on the number of candidates and on k. More
    is read, and balls used, with probability below k**2 * 2**-35 a list (docs/reference/mechanisms/top_k.md).
    """

    __slots__ = ("_delays", "_few", "_k", "_race", "_rate", "_scores", "_values")

    def __init__(self, scores: Vector, k: int, rate: Rate) -> None:
        """Check the scores; no bit is read before `draw`.

        Args:
            scores: one per candidate.
            k: how many are answered, at most all.
            rate: one that has a fast pass.

        Raises:
            InvalidScores: if a score is not finite.
        """
        self._scores, self._k, self._rate = scores, k, rate
        self._few = min(len(scores), k + read_on_for(len(scores)))
        fast, self._values = kernel.active(), scores.values
        in_c = fast is not None and self._values.dtype in kernel.RANKED and self._few <= _MOST_IN_C
        self._race = fast.module if in_c and fast is not None else None
        if self._race is not None and not self._values.flags.carray:
            self._values = np.require(self._values, requirements=["C", "A"])
        self._delays = self._find_delays()

    def _find_delays(self) -> NDArray[np.float64]:
        """Check the scores, and return their delays.

        They are relative to the k-th best score: whoever comes k-th is near that one, whatever the scores.
        """
        values, n = self._values, len(self._scores)
        kth = kth_largest(values, self._k)
        delays = np.empty(n)
        if self._race is not None:
            if not self._race.delays(values, kth, self._rate.double, delays):
                raise not_finite()
            return delays
        self._scores.best()
        kths: Any = np.full(min(n, _DELAYS_AT_ONCE), kth, dtype=values.dtype)
        with overflowing():
            for part in _parts(n):
                few: Any = values[part]
                delays[part] = self._cut(differences(kths[: len(few)], few))
        return delays

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        if self._race is None or bits.width != _WORD:
            return self._draw_with_numpy(bits)
        # *What is read* in top_k.md#peeling: 16 bits of all, and a word of the k + 16 + n / 2**11 that look first.
        n, few = len(self._scores), self._few
        words, times = bits.words(-(-n // _SHORT_WORDS)), np.empty(n)
        self._race.looks(words, earliest_log_times(_WORD // _SHORT_WORDS), self._delays, times)
        order = times.argpartition(few) if few < n else np.arange(n)
        more = bits.words(few)
        answers: list[int] | None = self._race.first_arrivals(
            *(self._values, self._delays, times, order, words, more),
            *(self._k, self._rate.double, _APART, _CERTAIN_DELAY),
        )
        if answers is not None:
            return answers
        return self._draw_with_numpy(RestOfWords(np.concatenate((words, more)), bits))

    def _draw_with_numpy(self, bits: Bits) -> list[int]:
        """Return the k answers in their order, in balls where doubles leave it open."""
        n, k = len(self._scores), self._k
        with overflowing():
            sample = look(earliest_log_times, self._delays, self._few, bits)
            delays = self._delays[sample.near]
            starts, ends = log_time_bounds(sample.words, sample.length)
            looks = starts + delays
            first = looks.argpartition(k - 1)[:k]
            # *Who is among the first k*: no other has a lower end up to B + 2 Delta.
            bar = float((ends[first] + delays[first]).max()) + _APART
            if bar < _CERTAIN_DELAY and sample.rest > bar and np.count_nonzero(looks <= bar) == k:
                answers = self._in_order(sample.near[first], starts[first], ends[first])
                if answers is not None:
                    return answers
        runners = np.flatnonzero(sample.times <= bar) if bar < _CERTAIN_DELAY else np.arange(n)
        return self._settle(sample.uniforms(runners))

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all lists."""
        law = partial(Categorical, rate=self._rate)
        return probabilities_of_rounds(self._scores, self._k, law)

    def _cut(self, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rate * gap, cut on both sides, in place."""
        gaps *= self._rate.double
        np.maximum(gaps, -_CUT_DELAY, out=gaps)
        return np.minimum(gaps, _CUT_DELAY, out=gaps)

    def _in_order(
        self, first: _Places, starts: NDArray[np.float64], ends: NDArray[np.float64]
    ) -> list[int] | None:
        """Return these candidates in the order of their arrival, or None if that is not certain.

        Args:
            first: the candidates.
            starts: lower bounds on ln(E) of their noise, but for LOG_TIME_ERROR.
            ends: upper bounds, likewise.
        """
        values = self._scores.values[first]
        # From the best to the next to the next, so that neighbours in the order are near in doubles too.
        best_first = values.argsort()[::-1]
        ahead = values[best_first]
        steps = self._cut(gaps_to(ahead[:-1], ahead[1:]))
        delays = np.concatenate(([0.0], steps.cumsum()))
        order = best_first[(starts[best_first] + delays).argsort()]
        # *In which order*: each comes before the next, by their own difference, not by one to a third.
        before, after = order[:-1], order[1:]
        leads = self._cut(differences(values[before], values[after]))
        certain = starts[after] - ends[before] + leads > _APART
        return first[order].tolist() if certain.all() else None

    def _settle(self, noise: dict[int, LazyUniform]) -> list[int]:
        """Return the first k, which are among these candidates, reading on and using balls."""

        def compare(i: int, j: int) -> int:
            lead = self._scores.exact_gap(j, self._scores.values[i])
            while True:
                with precision(64 + 2 * max(noise[i].length, noise[j].length)):
                    (a, b), (c, d) = (_ends(noise[who]) for who in (i, j))
                    shift = self._rate.exponent(lead)
                    if b - shift < c:
                        return -1
                    if d + shift < a:
                        return 1
                noise[i].extend()
                noise[j].extend()

        return sorted(noise, key=cmp_to_key(compare))[: self._k]


def _ends(u: LazyUniform) -> tuple[arb, arb]:
    """Return balls around the least and the largest ln(time) for the known part of `u`."""
    return log_time(u.prefix, u.length), log_time(u.prefix + 1, u.length)


def _parts(n: int) -> list[slice]:
    """Return the blocks of so many candidates."""
    return [slice(start, start + _DELAYS_AT_ONCE) for start in range(0, n, _DELAYS_AT_ONCE)]


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
        kth: Any = kth_largest(values, k)
        better, ties = np.flatnonzero(values > kth), np.flatnonzero(values == kth)
        best = np.concatenate((better, ties[: k - len(better)]))
        self._best_first = best[values[best].argsort()[::-1]].tolist()
        small = (
            values.dtype.kind in "iu"
            and -_WHOLE_DOUBLES < values.min() <= values.max() < _WHOLE_DOUBLES
        )
        self._values = values.astype(np.float64) if small else values

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        answers = list[int]()
        with overflowing():
            for _ in range(self._k):
                best = next(i for i in self._best_first if i not in answers)
                # Anew, also where the best is still there: else that would show in the time.
                delays = self._delays(best)
                delays[answers] = np.inf
                answers.append(self._first(delays, best, bits))
        return answers

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all lists."""
        return probabilities_of_rounds(
            self._scores, self._k, partial(OneOfTheHeads, rate=self._rate)
        )

    def _delays(self, best: int) -> NDArray[np.float64]:
        """Return rate * gap to the best that is left, cut; better ones were answered before."""
        bests = np.full(len(self._values), self._values[best], dtype=self._values.dtype)
        delays = gaps_to(np.maximum(bests, self._values), self._values)
        delays *= self._rate.double
        return np.minimum(delays, _CUT_DELAY, out=delays)

    def _first(self, delays: NDArray[np.float64], best: int, bits: Bits) -> int:
        """Return the first to arrive; a delay of infinity is that of an earlier answer."""
        sample = look(_logs, delays, read_on_for(len(delays)), bits)
        starts, ends = (
            np.log((sample.words + ahead) * 2.0**-sample.length) + delays[sample.near]
            for ahead in (0.0, 1.0)
        )
        # The first is the answer if its upper end is below all other lower ends by 2 Delta.
        bar = float(ends.min()) + _APART
        if np.count_nonzero(starts <= bar) == 1 and not sample.rest <= bar:
            return int(sample.near[ends.argmin()])
        runners = sample.times <= bar if bar < _CERTAIN_DELAY else delays < np.inf
        return self._settle(sample.uniforms(np.flatnonzero(runners)), best)

    def _settle(self, noise: dict[int, LazyUniform], best: int) -> int:
        """Return the first of these to arrive, reading on and using balls."""
        bests = self._scores.values[best]
        while len(noise) > 1:
            with precision(64 + 2 * max(u.length for u in noise.values())):
                bounds = {i: self._bounds(u, i, bests) for i, u in noise.items()}
                bar = min((latest for _, latest in bounds.values()), key=arb.mid)
                noise = {i: u for i, u in noise.items() if not bounds[i][0] > bar}
            for u in noise.values() if len(noise) > 1 else ():
                u.extend()
        return next(iter(noise))

    def _bounds(self, u: LazyUniform, i: int, best: StoredNumber) -> tuple[arb, arb]:
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
