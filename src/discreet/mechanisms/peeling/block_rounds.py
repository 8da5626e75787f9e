"""Rounds of the exponential mechanism over many candidates, in blocks: a round changes one of them."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...sampling.bits import Bits
from ...sampling.categorical import (
    Categorical,
    PreparedWeights,
    Sums,
    VectorWeights,
    cumulate,
    error_of_sums,
)
from ...sampling.differences import gaps_to
from ...sampling.enclosures import (
    WEIGHT_ERROR,
    Rate,
    fast_weights,
    has_fast_pass,
    overflowing,
)
from ...sampling.vectors import Vector
from ..lists import Lists, probabilities_of_rounds
from .rounds import Rest

BLOCK_SIZE = 2**11
"""Candidates in a block: each round goes through one block, and once through what blocks there are."""

_AT_ONCE = 8
"""Blocks that the first pass weighs together, so that they stay in the cache."""


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
        remaining, answers = self._whole.copy(), list[int]()
        while True:
            b = PreparedWeights(remaining).draw(bits)
            j = PreparedWeights(remaining.inside(b)).draw(bits)
            answers.append(remaining.blocks[b].at(j))
            if len(answers) == self._k:
                return answers
            # *Few answers from very many candidates* in peeling.md: what is left of the block is summed anew.
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
        self.blocks = [Rest(i, scores.part(i, i + BLOCK_SIZE)) for i in range(0, n, BLOCK_SIZE)]
        chunks = [
            scores.part(i, i + _AT_ONCE * BLOCK_SIZE) for i in range(0, n, _AT_ONCE * BLOCK_SIZE)
        ]
        pairs = [_weigh(chunk, rate) for chunk in chunks]
        self._bests = np.concatenate([bests for bests, _ in pairs])
        self._masses = np.concatenate([masses for _, masses in pairs])

    def copy(self) -> "Remaining":
        """Return a copy from which candidates can be taken."""
        twin = Remaining.__new__(Remaining)
        twin._rate, twin.blocks = self._rate, self.blocks.copy()
        twin._bests, twin._masses = self._bests.copy(), self._masses.copy()
        return twin

    def take(self, b: int, j: int) -> None:
        """Take the j-th candidate of a block away, and the block if it was the last."""
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
        # The same: a mass is BLOCK - 1 additions of weights, times the weight of the best of its block.
        n = BLOCK_SIZE * len(weights)
        return Sums(ends, error_of_sums(2 * WEIGHT_ERROR, BLOCK_SIZE + chain + 1, n))

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
    starts = np.arange(0, len(scores), BLOCK_SIZE)
    bests = np.maximum.reduceat(scores.values, starts)
    if not has_fast_pass(rate):
        return bests, np.ones(len(bests))
    with overflowing():
        gaps = gaps_to(np.repeat(bests, BLOCK_SIZE)[: len(scores)], scores.values)
        weights = fast_weights(gaps, rate)
    masses: NDArray[np.float64] = np.add.reduceat(weights, starts)
    return bests, masses
