"""Permute-and-flip where scores come in runs: one race of the runs, not of their candidates.

Candidate j of weight w[j] arrives at the time U[j] / w[j], with U[j] uniform on [0, 1]; permute-and-flip
answers whoever comes first. The first of m candidates of one weight w comes at

    (1 - (1 - U) ** (1 / m)) / w,

and each of them is that one equally often. So a run of any length costs one uniform, and only runs too
close to tell apart in doubles are looked at again, in balls. Given the time S of the winner, it is r with
probability proportional to w[r] / (1 - w[r] * S): the exponential mechanism, tilted. For proofs, see
docs/reference/mechanisms/permute_and_flip.md.

The best candidate arrives by the time 1, so who arrives later never is the first. A candidate of weight w arrives
by the time 1 with probability w, so hardly ever one of a run in summaries does.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ...sampling.bits import Bits, LazyUniform, below
from ...sampling.categorical import BLOCK, PreparedWeights
from ...sampling.enclosures import Rate, has_fast_pass, overflowing, precision
from ...sampling.runs import RunPlace, Runs, indices_of
from ...sampling.vectors import ExactArray, StoredNumber, Vector
from ...sampling.waiting_times import log_of_rest

_RARE = 30
"""Runs are left in summaries while one of their candidates arrives in time with probability below 2**-_RARE."""


class LatePart(NamedTuple):
    """A part of a run: its first place, as steps from the start of the run, and its size."""

    runs: Runs
    run: int
    steps: int
    size: int


def late_parts(runs: Runs, best: StoredNumber, rate: Rate, bits: Bits) -> list[LatePart]:
    """Return the parts in summaries of which a candidate arrives by the time 1: almost never any.

    Reads one word where there are summaries; more with probability 2**-30.
    """
    if runs.whole is None:
        return []
    u = LazyUniform(bits)
    while u.prefix == 0 and u.length < _RARE:
        u.extend()
    # *Summaries* in permute_and_flip.md: at 2**-30 or above there is none, whatever is in the summaries.
    if u.prefix << _RARE >= 1 << u.length:
        return []
    parts, late = list(_parts_of_summaries(runs)), list[LatePart]()
    # The runs after the one that was found get another uniform, until none is found.
    while (c := PreparedWeights(_InTime(parts, best, rate)).settle(u)) < len(parts):
        late.append(parts[c])
        parts, u = parts[c + 1 :], LazyUniform(bits)
    return late


class _InTime:
    """Which run is the first, in their order, of which a candidate arrives by the time 1; or none, which is last.

    Candidates arrive by the time 1 with probability w, independently.
    """

    def __init__(self, parts: list[LatePart], best: StoredNumber, rate: Rate) -> None:
        self._parts, self._best, self._rate = parts, best, rate

    def sums(self) -> None:
        """Return None: this is too rare for a pass in doubles."""

    def balls(self) -> Iterator[arb]:
        """Yield balls around the probabilities."""
        none_before = arb(1)
        for part in self._parts:
            gap = part.runs.tops.exact_gap(part.run, self._best)
            chance = chance_in_time(self._rate.decay(gap), part.size)
            # Run p is the first with probability q(p) times the product over those before it of (1 - q).
            yield none_before * chance
            none_before *= 1 - chance
        yield none_before


def within_reach(runs: Runs, rate: Rate) -> Runs:
    """Return the same runs with so little in summaries that hardly ever one of it arrives by the time 1.

    Where candidates are no neighbours, or sizes are no help, summaries are taken in full.
    """
    while runs.whole is not None:
        if runs.locate is not None or runs.summaries is None or not runs.summaries.any():
            return runs.whole()
        best = listed_runs(runs).best()
        with precision(64):
            decays = (
                int(runs.sizes[c]) * rate.decay(runs.tops.exact_gap(c, best))
                for c in np.flatnonzero(runs.summaries).tolist()
            )
            # A summary of m candidates of weight at most w has one in time with probability at most m w.
            if sum(decays, arb(0)) < arb(2) ** -(_RARE + 1):
                return runs
        runs = runs.refine()
    return runs


def listed_runs(runs: Runs) -> Runs:
    """Return the runs that are no summaries."""
    if runs.summaries is None or runs.whole is None:
        return runs
    there = ~runs.summaries
    tops = Vector(runs.tops.values[there], integral=runs.tops.integral)
    starts, sizes = (_select(column, there) for column in (runs.starts, runs.sizes))
    return Runs(starts, sizes, tops)


def _select(column: Any, there: NDArray[np.bool_]) -> Any:
    """Return the part of a list or an array that a mask leaves."""
    if isinstance(column, np.ndarray):
        return column[there]
    return [each for each, keep in zip(column, there.tolist(), strict=True) if keep]


def _parts_of_summaries(runs: Runs) -> Iterator[LatePart]:
    """Yield the parts of the runs in full that are in summaries."""
    assert runs.whole is not None
    assert runs.summaries is not None
    whole = runs.whole()
    for s in np.flatnonzero(runs.summaries).tolist():
        start = int(runs.starts[s])
        end = start + int(runs.sizes[s])
        for c in range(len(whole)):
            first = int(whole.starts[c])
            low, high = max(start, first), min(end, first + int(whole.sizes[c]))
            if low < high:
                yield LatePart(whole, c, low - first, high - low)


def chance_in_time(weight: arb, size: int) -> arb:
    """Return a ball around the probability that the first of `size` candidates arrives by the time 1."""
    return -(size * (-weight).log1p()).expm1()


TIME_ERROR = 2.0**-34
"""Proved bound on the error of the logarithm of a time in doubles. A time that was cut is only bounded below."""

_CUT_EXPONENT = 2.0**14
"""Exponents are cut here: who is further behind counts as anywhere behind that."""

_LONGEST_RANGE = 2**14
"""Ranges of fewer than 2**_LONGEST candidates are raced in doubles first, longer ones in balls at once."""

_MANY = 2**400
"""From so many candidates on, the first of them comes at an exponential time divided by their number."""


class RunRace:
    """Permute-and-flip over flat runs: P(r) = w[r] * integral of prod over j != r of (1 - w[j] s).

    The integral is over 0 < s < 1, the product over all other candidates, and w = exp(-rate * gap).

    Side channels: the time depends on the number of runs; one word per run is read, and one or more
    for the place in the run that wins, by its length. More are read, and balls used, for runs too close
    to the first, with probability below sqrt(number of runs) * 2**-29 a draw. Summaries are listed with
    probability below 2**-30.

    Source: McKenna and Sheldon, NeurIPS 2020. Proof: docs/reference/mechanisms/permute_and_flip.md.
    """

    __slots__ = ("_all_runs", "_best", "_fast", "_rate", "_runs", "_sizes")

    def __init__(self, runs: Runs, rate: Rate) -> None:
        """Check the scores; no bit is read before `draw`.

        Raises:
            InvalidArgument: if the runs are of a kind that may slope.
            InvalidScores: if a score is not finite.
        """
        if runs.slopes is not None:
            raise InvalidArgument(
                "permute_and_flip needs scores that are constant in pieces. For scores that "
                "slope, use the exponential mechanism"
            )
        runs.best()
        self._all_runs = within_reach(runs, rate)
        self._runs, self._rate = listed_runs(self._all_runs), rate
        self._best = self._runs.best()
        self._fast = has_fast_pass(rate) and _ordinary(self._runs.sizes)
        self._sizes = _Sizes.read(self._runs.sizes) if self._fast else None

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
        runs = self._all_runs if self._all_runs.whole is None else self._all_runs.whole()
        best, sizes = runs.best(), [int(size) for size in runs.sizes]
        with precision(ctx.prec + sum(sizes).bit_length()):  # 1 - w must be told from 1
            gaps = [runs.tops.exact_gap(c, best) for c in range(len(sizes))]
            ties = dict.fromkeys(gaps, 0)  # runs of one score are one class
            for gap, size in zip(gaps, sizes, strict=True):
                ties[gap] += size
            weights, totals = [self._rate.decay(gap) for gap in ties], list(ties.values())
            each = {
                # *The tilt identity*: P(r) = w(r) times the integral over the product of all others.
                gap: weights[k] * _integral_without_one(weights, totals, k) / totals[k]
                for k, gap in enumerate(ties)
            }
            return [size * each[gap] for gap, size in zip(gaps, sizes, strict=True)]

    def _place(self, bits: Bits) -> RunPlace:
        """Return the run that comes first, and any place in it."""
        late = late_parts(self._all_runs, self._best, self._rate, bits)
        c, n = self._first(bits, late), len(self._runs)
        runs, run, steps, size = late[c - n] if c >= n else self._part(c)
        return RunPlace(runs, run, steps + below(size, bits))

    def _part(self, c: int) -> LatePart:
        return LatePart(self._runs, c, 0, int(self._runs.sizes[c]))

    def _first(self, bits: Bits, late: Sequence[LatePart] = ()) -> int:
        """Return the run of the candidate that comes first of all. Those in `late` are counted on."""
        n = len(self._runs)
        # *Over runs, it is a race*: who arrives first is answered; doubles only leave out who certainly does not.
        runners = {c: self._runner(c, u) for c, u in self._leaders(bits).items()}
        for h, part in enumerate(late):
            gap = part.runs.tops.exact_gap(part.run, self._best)
            runners[n + h] = _Runner(part, gap, LazyUniform(bits), in_time=True)
        while len(runners) > 1:
            with precision(64 + 2 * max(runner.u.length for runner in runners.values())):
                runners = self._still_running(runners)
            for runner in runners.values() if len(runners) > 1 else ():
                runner.u.extend()
        return next(iter(runners))

    def _runner(self, c: int, u: LazyUniform) -> "_Runner":
        return _Runner(self._part(c), self._runs.tops.exact_gap(c, self._best), u)

    def _leaders(self, bits: Bits) -> dict[int, LazyUniform]:
        """Read one word per run and return the runs that may still be first."""
        n, bar = len(self._runs), 0.0  # the time of a run of gap zero is at most 1
        rows: list[tuple[float, int, int]] = []
        for start in range(0, n, BLOCK):
            words = bits.words(min(BLOCK, n - start))
            with overflowing():
                times, latest = self._times(start, words, bits.width)
            bar = min(bar, latest)
            # *Doubles may only leave out who has certainly lost*: beyond the bar by more than twice TIME_ERROR.
            early = np.flatnonzero(times <= bar + 2 * TIME_ERROR)
            columns = times[early], start + early, words[early]
            rows += zip(*(column.tolist() for column in columns), strict=True)
        last = bar + 2 * TIME_ERROR
        return {c: LazyUniform.of_word(word, bits) for time, c, word in rows if time <= last}

    def _times(
        self, start: int, words: NDArray[np.uint64], width: int
    ) -> tuple[NDArray[np.float64], float]:
        """Return lower bounds on ln(time) of the runs of a block, and an upper bound on one of the first.

        All hold but for TIME_ERROR. The upper bound means nothing if its run was cut; then it is above 2**12,
        so it never becomes the bar.
        """
        if self._sizes is None:
            return np.full(len(words), -np.inf), math.inf
        stop = start + len(words)
        sizes = self._sizes.part(start, stop)
        delays = self._runs.tops.part(start, stop).gaps(self._best) * self._rate.double
        # The same paragraph: a cut only lowers the computed time.
        np.minimum(delays, _CUT_EXPONENT, out=delays)
        times = sizes.log_least(words, width) + delays
        i = int(times.argmin())
        first = sizes.part(i, i + 1).log_least(words[i : i + 1], width, 1.0)
        return times, float(first[0] + delays[i])

    def _still_running(self, runners: "dict[int, _Runner]") -> "dict[int, _Runner]":
        """Return the runs that no other certainly beats."""
        bounds = {c: runner.bounds(self._rate) for c, runner in runners.items()}
        bar = min((latest for _, latest in bounds.values()), key=arb.mid)
        return {c: runner for c, runner in runners.items() if not bounds[c][0] > bar}


@dataclass(frozen=True, slots=True)
class _Runner:
    """A run in the race: its gap to the best, and the uniform of the first of its candidates.

    With `in_time` the first is known to arrive by the time 1, and `u` is uniform over what that leaves.
    """

    part: LatePart
    gap: Fraction
    u: LazyUniform
    in_time: bool = False

    def bounds(self, rate: Rate) -> tuple[arb, arb]:
        """Return balls around the least and the largest ln(time) for the known part of `u`."""
        delay, size, length = rate.exponent(self.gap), self.part.size, self.u.length
        # *Summaries*: a run of which one arrives in time has U given U <= q, that is q V with V uniform.
        share = chance_in_time(rate.decay(self.gap), size) if self.in_time else arb(1)
        ends = (_log_least(end, length, size, share) for end in (self.u.prefix, self.u.prefix + 1))
        earliest, latest = (delay + end for end in ends)
        return earliest, latest


class _Sizes:
    """The sizes of runs as doubles; from _MANY on as logarithms, because doubles end there."""

    __slots__ = ("_doubles", "_logs")

    def __init__(
        self, doubles: NDArray[np.float64], logs: NDArray[np.float64] | None = None
    ) -> None:
        self._doubles, self._logs = doubles, logs

    @classmethod
    def read(cls, sizes: Sequence[int] | ExactArray) -> "_Sizes":
        """Return the sizes of runs."""
        if isinstance(sizes, np.ndarray) and sizes.dtype.kind in "iu":
            return cls(sizes.astype(np.float64))
        whole = [int(size) for size in sizes]
        if sum(whole) < _MANY:  # all together, which is public
            return cls(np.array(whole, dtype=np.float64))
        few = [float(size) if size < _MANY else math.inf for size in whole]
        return cls(np.array(few), np.array([math.log(size) for size in whole]))

    def part(self, start: int, stop: int) -> "_Sizes":
        """Return the sizes from `start` up to `stop`."""
        logs = None if self._logs is None else self._logs[start:stop]
        return _Sizes(self._doubles[start:stop], logs)

    def log_least(
        self, words: NDArray[np.uint64], width: int, ahead: float = 0.0
    ) -> NDArray[np.float64]:
        """Return ln(1 - (1 - U) ** (1 / size)) for U = (word + ahead) / 2**width: the least of so many uniforms."""
        rest = log_of_rest(words, width, ahead)
        # *Over runs*: the least of m uniforms is 1 - (1 - U)^(1/m).
        few: NDArray[np.float64] = np.log(-np.expm1(rest / self._doubles))
        if self._logs is None:
            return few
        # From 2**400 candidates on ln(-ln(1 - U)) - ln m takes its place, which differs by at most 45 / m.
        return np.where(np.isinf(self._doubles), np.log(-rest) - self._logs, few)


def _ordinary(sizes: Sequence[int] | ExactArray) -> bool:
    """Return whether doubles can hold the logarithm of the number of candidates, which is public."""
    words = isinstance(sizes, np.ndarray) and sizes.dtype.kind in "iu"
    return words or sum(map(int, sizes)) < 1 << _LONGEST_RANGE


def _log_least(numerator: int, length: int, size: int, share: arb) -> arb:
    """Return a ball around ln(1 - (1 - U) ** (1 / size)) for U = share * numerator / 2**length."""
    if numerator == 0:
        return arb.neg_inf()
    if numerator == 1 << length and share == 1:
        return arb(0)
    rest = (-share * numerator / arb(2) ** length).log1p()
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
