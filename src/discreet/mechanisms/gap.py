"""A mechanism that also releases its gap: by how much the noisy score of the winner is ahead of the next one.

Of the exponential mechanism it takes one more word, given the winner. With Gumbel noise the winner i is ahead by a
G with e**G = (1 - V p) / (V (1 - p)), where p = P(i) and V is uniform on [0, 1]. In log-odds l = ln(p / (1 - p))
that is G = -ln V + ln(1 + (1 - V) e**l). The weights of the others are summed, and nothing is subtracted.

Of report noisy max and permute-and-flip it is that of the two largest noisy scores. Every candidate has noise that
is the quantile of a uniform number. Doubles leave out candidates that are certainly third or later; the two largest
are settled in balls, always. The second may be any distance behind: no race ends before it.

For the proofs, see docs/reference/mechanisms/exponential.md#gap.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..errors import InvalidArgument, InvalidScores
from ..privacy.sensitivity import Sensitivity
from ..sampling.bits import Bits, LazyUniform
from ..sampling.categorical import FLAT, BlockWeights, Sums, VectorWeights
from ..sampling.enclosures import NaturalRate, Rate, has_fast_pass, overflowing, precision
from ..sampling.order_statistics import second_largest
from ..sampling.vectors import StoredNumber, Vector, differences
from .base_measure import BaseMeasure
from .contract import Calibrated, Law, Mechanism, PrivacyParameter, identity_of, spread_of
from .gap_grid import GapGrid
from .worst_case import WorstCase

ONE_CANDIDATE = (
    "a gap is by how much the winner is ahead of another, so there must be two candidates at least that can be "
    "answered"
)

_FIRST_BITS = 128

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]

DECAY_ERROR = 2.0**-48
"""Bound on the relative error of rate * gap in doubles, with room for the sums it enters."""

_CUT_DECAY = 2.0**20
"""Scores further from the second best one count as anywhere beyond: one word of noise never bridges that."""


@dataclass(frozen=True, slots=True)
class WithGap:
    """A mechanism that answers [index, steps]: the winner, and its gap in steps of a public grid.

    Args:
        mechanism: one with a proof for its gap: the exponential mechanism, permute-and-flip, or report noisy max.

    Guarantee: that of its proof: `LaplaceDP` stays for permute-and-flip and Laplace noise; the bounded range of the
    exponential mechanism becomes `LogisticDP`.

    Side channels: those of the mechanism, and of `WinnerGap` or `FirstTwo`.

    Source: Ding et al. 2021, https://arxiv.org/abs/2105.07260. Proof: docs/reference/mechanisms/exponential.md#gap.
    """

    mechanism: Mechanism
    takes_runs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check that there is a proof.

        Raises:
            InvalidArgument: if there is none for this mechanism, or it can answer one candidate only.
        """
        if not hasattr(self.mechanism, "calibrate_with_gap"):
            raise InvalidArgument(
                f"a gap of {self.mechanism.name} has no proof. Take the exponential mechanism, "
                "permute_and_flip or noisy_max, or leave out gap"
            )
        possible = getattr(self.mechanism, "possible", None)
        if possible is not None and sum(possible) < 2:
            raise InvalidArgument(ONE_CANDIDATE)

    @property
    def name(self) -> str:
        """That of the mechanism."""
        return self.mechanism.name

    @property
    def uniform(self) -> bool:
        """Whether all candidates weigh the same."""
        return bool(getattr(self.mechanism, "uniform", True))

    @property
    def parameters(self) -> Mapping[str, object]:
        """The mechanism, and that its gap is released."""
        return {"mechanism": identity_of(self.mechanism), "gap": True}

    @property
    def worst_case(self) -> WorstCase | None:
        """That of the winner, which the gap does not change."""
        return getattr(self.mechanism, "worst_case", None)

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the spread that a scale divides: that of the mechanism."""
        return spread_of(self.mechanism, sensitivity)

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at the largest eta that keeps the wanted guarantee."""
        # *Guarantee* in exponential.md: the proof is by the spread; of balanced scores nothing better is proved.
        general = replace(sensitivity, balanced=False)
        return self.mechanism.calibrate_with_gap(general, parameter)  # type: ignore[attr-defined,no-any-return]


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
            error = np.abs(self._decays) * DECAY_ERROR
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
