"""Peeling: one answer after another, without replacement."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..errors import InvalidArgument
from ..numbers import count
from ..privacy.guarantees import ApproxDP, Guarantee
from ..privacy.sensitivity import Sensitivity
from ..sampling.bits import Bits
from ..sampling.categorical import Categorical, Sums, Table, VectorWeights, cumulate, error_of_sums
from ..sampling.differences import gaps_to
from ..sampling.enclosures import (
    WEIGHT_ERROR,
    Rate,
    fast_weights,
    has_fast_pass,
    overflowing,
)
from ..sampling.runs import Place, Runs, indices_of
from ..sampling.vectors import ExactArray, Integers, Vector
from .contract import (
    Calibrated,
    Law,
    Mechanism,
    PrivacyParameter,
    calibrate,
    identified,
    spread_of,
)
from .first_arrivals import FirstArrivals
from .flip_rounds import FlipRounds
from .lists import Lists, probabilities_of_rounds, skipping
from .shares import in_rounds, share_of

_BLOCK = 2**11
"""Candidates in a block: each round goes through one block, and once through what blocks there are."""

_FEW = 3
"""Up to so many answers are drawn one after another: that takes less than noise for every candidate."""

_AT_ONCE = 8
"""Blocks that the first pass weighs together, so that they stay in the cache."""


@dataclass(frozen=True, slots=True)
class Peeling:
    """Answer k times with a mechanism, always from the candidates that are left: an ordered list.

    A round gets a k-th of epsilon or rho; a scale is that of every round.

    Args:
        mechanism: the mechanism of the rounds.
        k: how many.
        delta: the δ of all rounds together, or None. With it a round gets the epsilon with which the composition of
            k rounds is (epsilon, delta)-DP.

    Guarantee: the k-fold composition of the guarantee of a round, which is that of its mechanism: epsilons add up,
    and so do rhos. With a delta, (epsilon, delta)-DP.

    Side channels: those of the mechanism, k times. Besides, the time depends on the answer.

    Source: Durfee and Rogers, NeurIPS 2019, https://arxiv.org/abs/1905.04273. Proof:
    docs/reference/mechanisms/peeling.md.
    """

    mechanism: Mechanism
    k: int
    delta: Fraction | None = None
    worst_case: ClassVar[None] = None
    options: ClassVar[Mapping[str, Callable[[str], object]]] = {}

    @property
    def name(self) -> str:
        """The name, with that of the mechanism in brackets."""
        return f"peeling({self.mechanism.name})"

    @property
    def parameters(self) -> dict[str, object]:
        """The mechanism of the rounds, and their number."""
        allowed = {} if self.delta is None else {"delta": self.delta}
        return {"mechanism": identified(self.mechanism), "k": self.k, **allowed}

    @property
    def takes_runs(self) -> bool | Literal["flat"]:
        """Whether the mechanism does, and then flat ones: any one of a run may be gone."""
        return "flat" if self.mechanism.takes_runs else False

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the spread that a scale divides: that of each round, for all of them."""
        return self.k * spread_of(self.mechanism, sensitivity)

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the rounds at the largest eta that keeps the wanted guarantee for all together.

        Raises:
            InvalidArgument: if a round promises nothing that is known to add up, or has a base measure.
        """
        k = count(self.k, "k")
        if not getattr(self.mechanism, "uniform", True):
            raise InvalidArgument(
                "peeling takes no base_measure: its weights are for all candidates"
            )
        # Who has been taken is missing from the normaliser, so no round but the first is balanced.
        unbalanced = replace(sensitivity, balanced=False)
        each = self._share(unbalanced, parameter, k)
        calibrated = calibrate(self.mechanism, unbalanced, each)
        if calibrated.guarantee.pure is None:
            raise InvalidArgument(
                f"peeling needs a mechanism that promises epsilon-DP, not {calibrated.guarantee}"
            )

        def law(scores: Vector | Runs) -> Any:
            if isinstance(scores, Runs):
                return RunRounds(scores, k, calibrated.law)
            count(k, "k", most=len(scores))
            return _rounds(scores, k, calibrated)

        together: Guarantee = in_rounds(calibrated.guarantee, k).repeated(k)
        if self.delta is not None and parameter is not None:
            together = ApproxDP(parameter.value, self.delta, sensitivity.neighbors)
        return Calibrated(together, law)

    def _share(
        self, sensitivity: Sensitivity, parameter: PrivacyParameter | None, k: int
    ) -> PrivacyParameter | None:
        """Return the privacy parameter of a round.

        Raises:
            InvalidArgument: if there is a delta, and the parameter is none of epsilon.
        """
        if self.delta is None:
            divided = parameter is not None and parameter.kind != "scale"
            return (
                replace(parameter, value=parameter.value / k)
                if parameter and divided
                else parameter
            )
        if parameter is None or parameter.kind != "epsilon":
            raise InvalidArgument("delta goes with epsilon: all answers are (epsilon, delta)-DP")
        together = ApproxDP(parameter.value, self.delta, sensitivity.neighbors)
        share = share_of(self.mechanism, sensitivity, k, together, adaptive=True)
        return PrivacyParameter("epsilon", share)


def _rounds(scores: Vector, k: int, calibrated: Calibrated) -> Lists:
    """Return the distribution of the rounds from one score per candidate; all choices are by public numbers."""
    rate, flip_rate, n = calibrated.rate, calibrated.flip_rate, len(scores)
    if flip_rate is not None and k > _FEW and has_fast_pass(flip_rate):
        return FlipRounds(scores, k, flip_rate)
    if rate is None:
        return Rounds(scores, k, calibrated.law)
    if k > _FEW and has_fast_pass(rate) and n <= k * _BLOCK:
        return FirstArrivals(scores, k, rate)
    return Rounds(scores, k, calibrated.law) if n <= _BLOCK else BlockRounds(scores, k, rate)


class Left(NamedTuple):
    """The rest of a stretch of candidates: its first index, the scores that are left, and the places taken."""

    start: int
    scores: Vector
    gone: tuple[int, ...] = ()

    def at(self, j: int) -> int:
        """Return the index of the j-th that is left."""
        return self.start + skipping(j, self.gone)

    def without(self, j: int) -> "Left":
        """Return the rest without the j-th."""
        rest = Vector(
            cast(ExactArray, np.delete(self.scores.values, j)), integral=self.scores.integral
        )
        return Left(self.start, rest, tuple(sorted((*self.gone, skipping(j, self.gone)))))


class Rounds(Lists):
    """The distribution of k answers, drawn by `law` one after another from the candidates that are left."""

    def __init__(self, scores: Vector, k: int, law: Callable[[Vector], Law]) -> None:
        """Check the scores; no bit is read before `draw`."""
        self._all, self._k, self._law = Left(0, scores), k, law
        self._first = law(scores)

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        left, law, found = self._all, self._first, list[int]()
        while True:
            j = law.draw(bits)
            found.append(left.at(j))
            if len(found) == self._k:
                return found
            left = left.without(j)
            law = self._law(left.scores)

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all lists."""
        return probabilities_of_rounds(self._all.scores, self._k, self._law)


class RunRounds(Lists):
    """The same distribution where scores come in flat runs: an answer makes its run shorter by one."""

    def __init__(self, runs: Runs, k: int, law: Callable[[Runs], Law]) -> None:
        """Check the scores; no bit is read before `draw`."""
        runs = runs if runs.whole is None else runs.whole()  # a summary tells no scores
        count(k, "k", most=sum(map(int, runs.sizes)))
        self._runs, self._k, self._law = runs, k, law
        self._left = np.array(list(map(int, runs.sizes)), dtype=object)
        self._first = law(self._of(self._left))

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        return indices_of(self._places(bits))

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent lists."""
        found = indices_of([place for _ in range(size) for place in self._places(bits)])
        return [found[i : i + self._k] for i in range(0, len(found), self._k)]

    def _places(self, bits: Bits) -> list[Place]:
        """Return the places of k answers, as places in the runs before any answer."""
        left, law, found = self._left.copy(), self._first, list[Place]()
        while True:
            ends = left.cumsum()
            at = law.draw(bits)
            c = int(ends.searchsorted(at, side="right"))
            gone = sorted(place.steps for place in found if place.run == c)
            steps = skipping(at - int(ends[c] - left[c]), gone)
            found.append(Place(self._runs, c, steps))
            if len(found) == self._k:
                return found
            left[c] -= 1
            law = self._law(self._of(left))

    def _of(self, left: Integers) -> Runs:
        """Return the runs of which something is left, side by side."""
        there = left > 0
        sizes, tops = (
            left[there],
            Vector(self._runs.tops.values[there], integral=self._runs.tops.integral),
        )
        return Runs(sizes.cumsum() - sizes, sizes, tops)


class BlockRounds(Lists):
    """The same distribution for weights exp(-rate * gap), where an answer changes one block of many only.

    Nothing is ever subtracted: the block that lost a candidate is summed again.
    """

    def __init__(self, scores: Vector, k: int, rate: Rate) -> None:
        """Check the scores and do the first pass; no bit is read before `draw`."""
        self._scores, self._k, self._rate = scores, k, rate
        self._whole = Remaining(scores, rate)

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        remaining, found = self._whole.copy(), list[int]()
        while True:
            b = Table(remaining).draw(bits)
            j = Table(remaining.inside(b)).draw(bits)
            found.append(remaining.blocks[b].at(j))
            if len(found) == self._k:
                return found
            remaining.take(b, j)

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all lists."""
        law = partial(Categorical, rate=self._rate)
        return probabilities_of_rounds(self._scores, self._k, law)


class Remaining:
    """The weights of the blocks of the remaining candidates: sums of the weights in them."""

    __slots__ = ("_bests", "_masses", "_rate", "blocks")

    def __init__(self, scores: Vector, rate: Rate) -> None:
        n, self._rate = len(scores), rate
        self.blocks = [Left(i, scores.part(i, i + _BLOCK)) for i in range(0, n, _BLOCK)]
        chunks = [scores.part(i, i + _AT_ONCE * _BLOCK) for i in range(0, n, _AT_ONCE * _BLOCK)]
        weighed = [_weigh(chunk, rate) for chunk in chunks]
        self._bests = np.concatenate([bests for bests, _ in weighed])
        self._masses = np.concatenate([masses for _, masses in weighed])

    def copy(self) -> "Remaining":
        """Return a copy from which candidates can be taken."""
        twin = Remaining.__new__(Remaining)
        twin._rate, twin.blocks = self._rate, self.blocks.copy()
        twin._bests, twin._masses = self._bests.copy(), self._masses.copy()
        return twin

    def take(self, b: int, j: int) -> None:
        """Take the j-th candidate of a block away, and the block if nothing is left of it."""
        if len(self.blocks[b].scores) == 1:
            del self.blocks[b]
            self._bests, self._masses = np.delete(self._bests, b), np.delete(self._masses, b)
        else:
            self.blocks[b] = self.blocks[b].without(j)
            bests, masses = _weigh(self.blocks[b].scores, self._rate)
            self._bests[b], self._masses[b] = bests[0], masses[0]

    def inside(self, b: int) -> VectorWeights:
        """Return the weights in one block, relative to the best that is left in it."""
        return VectorWeights(self.blocks[b].scores, self._rate, self._bests[b])

    def sums(self) -> Sums | None:
        """Return the cumulated weights of the blocks in doubles."""
        if not has_fast_pass(self._rate):
            return None
        bests = Vector(self._bests)
        with overflowing():
            weights = fast_weights(bests.gaps(bests.best()), self._rate) * self._masses
        ends, chain = cumulate(weights)
        n = _BLOCK * len(weights)
        return Sums(ends, error_of_sums(2 * WEIGHT_ERROR, _BLOCK + chain + 1, n))

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights of the blocks."""
        best = Vector(self._bests).best()
        for block in self.blocks:
            yield sum(VectorWeights(block.scores, self._rate, best).balls(), arb(0))


def _weigh(scores: Vector, rate: Rate) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the best scores of the blocks, and the sums of their fast weights relative to these.

    Raises:
        InvalidScores: if a score is not finite.
    """
    scores.best()
    starts = np.arange(0, len(scores), _BLOCK)
    bests = np.maximum.reduceat(scores.values, starts)
    if not has_fast_pass(rate):
        return bests, np.ones(len(bests))
    with overflowing():
        gaps = gaps_to(np.repeat(bests, _BLOCK)[: len(scores)], scores.values)
        weights = fast_weights(gaps, rate)
    masses: NDArray[np.float64] = np.add.reduceat(weights, starts)
    return bests, masses
