"""Peeling: one answer after another, each from what the answers before it left."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..bits import Bits
from ..categorical import Sums, Table, VectorWeights, cumulate, error_of_sums
from ..enclosures import (
    WEIGHT_ERROR,
    NaturalRate,
    Rate,
    fast_weights,
    has_fast_pass,
    overflowing,
)
from ..errors import InvalidArgument
from ..numbers import count
from ..privacy.guarantees import BoundedRange, Guarantee, PureDP
from ..privacy.sensitivity import Sensitivity
from ..privacy.zcdp import ZCDP
from ..vectors import Vector
from .contract import Dial, Law, Mechanism, Tuned
from .exponential import Exponential
from .noisy_max import NoisyMax

BLOCK = 2**12
"""Candidates in a block. Small ones make a round quick, large ones the first pass over all of them."""


@dataclass(frozen=True, slots=True)
class Peeling:
    """Answer k times with a mechanism, each time from the candidates that are left: an ordered list.

    Each round gets a k-th of epsilon or rho; a scale is that of every round.

    Args:
        mechanism: the mechanism of each round.
        k: how many.

    Guarantee: (k * epsilon)-DP for rounds that are epsilon-DP; asked for by rho, (k * rho)-zCDP for rounds
    of that rho, which is epsilon**2 / 8 with the exponential mechanism. One round promises what its
    mechanism does.

    Side channels: those of the mechanism, k times. Besides, the time depends on the answer.

    Source: Durfee and Rogers, NeurIPS 2019, https://arxiv.org/abs/1905.04273. Proof:
    docs/mechanisms/peeling.md.
    """

    mechanism: Mechanism
    k: int

    @property
    def name(self) -> str:
        """The name, with that of the mechanism in brackets."""
        return f"peeling({self.mechanism.name})"

    @property
    def takes_runs(self) -> bool:
        """Never: runs do not say which candidate is gone."""
        return False

    def tune(self, sensitivity: Sensitivity, dial: Dial | None) -> Tuned:
        """Return the rounds at the largest eta whose sum keeps the wanted guarantee."""
        k = count(self.k, "k")
        divided = dial is not None and dial.kind != "scale"
        each = replace(dial, value=dial.value / k) if dial and divided else dial
        tuned = self.mechanism.tune(sensitivity, each)
        guarantee = _composed(tuned.guarantee, k, by_rho=dial is not None and dial.kind == "rho")
        rate = self._rate(tuned.guarantee, sensitivity.spread)

        def law(scores: Vector) -> Any:
            count(k, "k", most=len(scores))
            if rate is None or len(scores) <= BLOCK:
                return Rounds(scores, k, tuned.law)
            return BlockRounds(scores, k, rate)

        return Tuned(guarantee, law)

    def _rate(self, guarantee: Guarantee, spread: Fraction) -> Rate | None:
        """Return the rate at which weights fall, if a round is the exponential mechanism."""
        exponential = self.mechanism in (Exponential(), NoisyMax("gumbel"))
        if exponential and isinstance(guarantee, BoundedRange):
            return NaturalRate(guarantee.epsilon / spread)
        return None


class Left(NamedTuple):
    """What is left of a stretch of candidates: its first index, the scores, and which ones are gone."""

    start: int
    scores: Vector
    gone: tuple[int, ...] = ()

    def index(self, j: int) -> int:
        """Return the index of the j-th that is left."""
        return self.start + skipping(j, self.gone)

    def without(self, j: int) -> "Left":
        """Return what is left when the j-th is taken too."""
        rest = Vector(np.delete(self.scores.values, j), integral=self.scores.integral)
        return Left(self.start, rest, tuple(sorted((*self.gone, skipping(j, self.gone)))))


class Lists:
    """A law over lists of indices: what is drawn in each of `size` independent draws is a list."""

    def draw(self, bits: Bits) -> list[int]:
        """Return one list, distributed exactly by this law."""
        raise NotImplementedError

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent lists."""
        return [self.draw(bits) for _ in range(size)]


class Rounds(Lists):
    """The law of k answers, each drawn by `law` from what those before it left."""

    def __init__(self, scores: Vector, k: int, law: Callable[[Vector], Law]) -> None:
        """Check the scores; no bit is read before `draw`."""
        self._all, self._k, self._law = Left(0, scores), k, law
        self._first = law(scores)

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        left, law, found = self._all, self._first, list[int]()
        while True:
            j = law.draw(bits)
            found.append(left.index(j))
            if len(found) == self._k:
                return found
            left = left.without(j)
            law = self._law(left.scores)


class BlockRounds(Lists):
    """The same law for weights exp(-rate * gap), where an answer changes one block of many only.

    Nothing is ever subtracted: the block that lost a candidate is summed again.
    """

    def __init__(self, scores: Vector, k: int, rate: Rate) -> None:
        """Check the scores and do the first pass; no bit is read before `draw`."""
        self._k = k
        self._whole = Remaining(scores, rate)

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        remaining, found = self._whole.copy(), list[int]()
        while True:
            b = Table(remaining).draw(bits)
            j = Table(remaining.inside(b)).draw(bits)
            found.append(remaining.blocks[b].index(j))
            if len(found) == self._k:
                return found
            remaining.take(b, j)


class Remaining:
    """The weight of each block of what remains: the sum of the weights in it."""

    __slots__ = ("_bests", "_masses", "_rate", "blocks")

    def __init__(self, scores: Vector, rate: Rate) -> None:
        starts, buffer = range(0, len(scores), BLOCK), np.empty(BLOCK)
        self._rate = rate
        self.blocks = [Left(start, scores.part(start, start + BLOCK)) for start in starts]
        self._bests = np.empty(len(starts), dtype=scores.values.dtype)
        self._masses = np.zeros(len(starts))
        for b in range(len(starts)):
            self._weigh(b, buffer)

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
            self._weigh(b, np.empty(BLOCK))

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
        n = BLOCK * len(weights)
        return Sums(ends, error_of_sums(2 * WEIGHT_ERROR, BLOCK + chain + 1, n))

    def balls(self) -> Iterator[arb]:
        """Yield a ball around the weight of each block."""
        best = Vector(self._bests).best()
        for block in self.blocks:
            yield sum(VectorWeights(block.scores, self._rate, best).balls(), arb(0))

    def _weigh(self, b: int, buffer: NDArray[np.float64]) -> None:
        """Find the best of a block and sum its fast weights relative to it."""
        scores = self.blocks[b].scores
        self._bests[b] = best = scores.best()
        if has_fast_pass(self._rate):
            with overflowing():
                gaps = scores.gaps(best, out=buffer[: len(scores)])
                self._masses[b] = np.add.reduce(fast_weights(gaps, self._rate))


def skipping(j: int, gone: Sequence[int]) -> int:
    """Return the j-th whole number, from 0, that is not among the ascending `gone`."""
    for place in gone:
        j += place <= j
    return j


def _composed(each: Guarantee, k: int, *, by_rho: bool) -> Guarantee:
    """Return what k rounds promise together, each chosen after the answers before it.

    Raises:
        InvalidArgument: if a round promises nothing that is known to add up.
    """
    if not isinstance(each, PureDP | BoundedRange):
        raise InvalidArgument(f"peeling needs a mechanism that promises epsilon-DP, not {each}")
    if k == 1:
        return each
    if by_rho:
        return ZCDP(k * each.rho, each.neighbors)
    return PureDP(k * each.epsilon, each.neighbors)
