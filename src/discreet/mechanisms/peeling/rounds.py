"""Rounds: one answer after another from the candidates that are left.

Of many candidates they are left in blocks, as a round changes one of them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...base.numbers import count
from ...errors import InvalidScores
from ...sampling import kernel
from ...sampling.bits import Bits, RestOfWords
from ...sampling.categorical import (
    Categorical,
    PreparedWeights,
    Sums,
    VectorWeights,
    certain_distance,
    cumulate,
)
from ...sampling.enclosures import (
    WEIGHT_ERROR,
    Rate,
    error_of_sums,
    fast_weights,
    has_fast_pass,
    overflowing,
)
from ...sampling.runs import RunPlace, Runs, indices_of
from ...sampling.vectors import ExactArray, Integers, Vector, gaps_to
from ..contract import Law
from ..lists import Lists, probabilities_of_rounds, skipping


class Rest(NamedTuple):
    """The rest of a stretch of candidates: its first index, the scores that are left, and the places taken."""

    start: int
    scores: Vector
    absent: tuple[int, ...] = ()

    def at(self, j: int) -> int:
        """Return the index of the j-th that is left."""
        return self.start + skipping(j, self.absent)

    def without(self, j: int) -> "Rest":
        """Return the rest without the j-th."""
        rest = Vector(
            cast(ExactArray, np.delete(self.scores.values, j)), integral=self.scores.integral
        )
        return Rest(self.start, rest, tuple(sorted((*self.absent, skipping(j, self.absent)))))


class Rounds(Lists):
    """The distribution of k answers, drawn by `law` one after another from the candidates that are left."""

    def __init__(self, scores: Vector, k: int, law: Callable[[Vector], Law]) -> None:
        """Check the scores; no bit is read before `draw`."""
        self._all, self._k, self._law = Rest(0, scores), k, law
        self._first = law(scores)

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        rest, law, answers = self._all, self._first, list[int]()
        while True:
            j = law.draw(bits)
            answers.append(rest.at(j))
            if len(answers) == self._k:
                return answers
            rest = rest.without(j)
            law = self._law(rest.scores)

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
        self._remaining = np.array(list(map(int, runs.sizes)), dtype=object)
        self._first = law(self._of(self._remaining))

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        return indices_of(self._places(bits))

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent lists."""
        indices = indices_of([place for _ in range(size) for place in self._places(bits)])
        return [indices[i : i + self._k] for i in range(0, len(indices), self._k)]

    def _places(self, bits: Bits) -> list[RunPlace]:
        """Return the places of k answers, as places in the runs before any answer."""
        remaining, law, places = self._remaining.copy(), self._first, list[RunPlace]()
        while True:
            ends = remaining.cumsum()
            at = law.draw(bits)
            c = int(ends.searchsorted(at, side="right"))
            absent = sorted(place.steps for place in places if place.run == c)
            steps = skipping(at - int(ends[c] - remaining[c]), absent)
            places.append(RunPlace(self._runs, c, steps))
            if len(places) == self._k:
                return places
            remaining[c] -= 1
            law = self._law(self._of(remaining))

    def _of(self, remaining: Integers) -> Runs:
        """Return the runs of which something is left, side by side."""
        there = remaining > 0
        sizes, tops = (
            remaining[there],
            Vector(self._runs.tops.values[there], integral=self._runs.tops.integral),
        )
        return Runs(sizes.cumsum() - sizes, sizes, tops)


BLOCK_SIZE = 2**11
"""Candidates in a block: each round goes through one block, and once through what blocks there are."""

_ROW = 256
"""The rows by which the kernel adds."""

_AT_ONCE = 8
"""Blocks that the first pass weighs together, so that they stay in the cache."""


class BlockRounds(Lists):
    """The same distribution for weights exp(-rate * gap), where an answer changes one block of many only.

    Nothing is ever subtracted: the block that lost a candidate is summed again.
    """

    def __init__(self, scores: Vector, k: int, rate: Rate) -> None:
        """Check the scores and do the first pass; no bit is read before `draw`."""
        self._scores, self._k, self._rate = scores, k, rate
        self._masses = block_masses(scores, rate)

    def draw(self, bits: Bits) -> list[int]:
        """Return the k answers in their order."""
        answers, bits = self._at_once(bits)
        if len(answers) == self._k:
            return answers
        remaining = Remaining(self._scores, self._rate, self._masses)
        for answer in answers:
            remaining.take(*remaining.place(answer))
        while True:
            b = PreparedWeights(remaining).draw(bits)
            j = PreparedWeights(remaining.inside(b)).draw(bits)
            answers.append(remaining.blocks[b].at(j))
            if len(answers) == self._k:
                return answers
            # *Few answers from very many candidates* in top_k.md#peeling: what is left of the block is summed anew.
            remaining.take(b, j)

    def _at_once(self, bits: Bits) -> tuple[list[int], Bits]:
        """Return the answers of the rounds up to the first with an open word, and the source of words from there.

        One call of C, where the scores are doubles; no answers where they are not.
        """
        fast, scores = kernel.active(), self._scores.values
        if fast is None or not kernel.are_doubles(scores) or not has_fast_pass(self._rate):
            return [], bits
        words = bits.words(2 * self._k)
        blocks, chain = len(self._masses[0]), _ROW + BLOCK_SIZE // _ROW + 1
        slacks = (
            certain_distance(blocks_error(blocks)),
            certain_distance(error_of_sums(WEIGHT_ERROR, chain, BLOCK_SIZE)),
        )
        answers = fast.rounds(
            scores, self._rate.double, self._masses, BLOCK_SIZE, words, bits.width, slacks
        )
        return answers, RestOfWords(words[2 * len(answers) :], bits)

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all lists."""
        law = partial(Categorical, rate=self._rate)
        return probabilities_of_rounds(self._scores, self._k, law)


class Remaining:
    """The weights of the blocks of the remaining candidates: sums of the weights in them."""

    __slots__ = ("_bests", "_masses", "_rate", "blocks")

    def __init__(
        self,
        scores: Vector,
        rate: Rate,
        masses: tuple[NDArray[Any], NDArray[np.float64]] | None = None,
    ) -> None:
        """Cut the candidates into blocks; `masses` are their `block_masses`."""
        n, self._rate = len(scores), rate
        self.blocks = [Rest(i, scores.part(i, i + BLOCK_SIZE)) for i in range(0, n, BLOCK_SIZE)]
        bests, sums = block_masses(scores, rate) if masses is None else masses
        self._bests, self._masses = bests.copy(), sums.copy()

    def place(self, index: int) -> tuple[int, int]:
        """Return the block and the place in its rest of a candidate that is left."""
        b = bisect_right(self.blocks, index, key=lambda block: block.start) - 1
        rest = self.blocks[b]
        return b, index - rest.start - bisect_left(rest.absent, index - rest.start)

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
        return Sums(ends, blocks_error(len(weights), chain))

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights of the blocks."""
        best = Vector(self._bests).best()
        for block in self.blocks:
            yield sum(VectorWeights(block.scores, self._rate, best).balls(), arb(0))


def blocks_error(blocks: int, chain: int | None = None) -> float:
    """Return a bound on the error of sums of so many blocks, by how many additions the longest went through."""
    chain = _ROW + blocks // _ROW + 1 if chain is None else chain
    return error_of_sums(2 * WEIGHT_ERROR, BLOCK_SIZE + chain + 1, BLOCK_SIZE * blocks)


def block_masses(scores: Vector, rate: Rate) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the best scores of all blocks, and the sums of their fast weights relative to these.

    Raises:
        InvalidScores: if a score is not finite.
    """
    fast, values = kernel.active(), scores.values
    if fast is not None and kernel.are_doubles(values) and has_fast_pass(rate):
        return fast.block_sums(values, BLOCK_SIZE, rate.double)
    step = _AT_ONCE * BLOCK_SIZE
    pairs = [_weigh(scores.part(i, i + step), rate) for i in range(0, len(scores), step)]
    return np.concatenate([bests for bests, _ in pairs]), np.concatenate(
        [sums for _, sums in pairs]
    )


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


class GapRounds:
    """The distribution of k pairs [index, steps], drawn one after another from the candidates that are left.

    Every round draws its winner and its gap with randomness of its own. The gap is drawn given the winner, and
    never from a race that draws several answers: gaps of one race are not independent of the rounds before. For the
    proof, see docs/reference/mechanisms/exponential.md#gap.

    Side channels: those of the mechanism with a gap, k times.
    """

    __slots__ = ("_k", "_law", "_scores")

    def __init__(self, scores: Vector, k: int, law: Callable[[Vector], Any]) -> None:
        """Check the scores; no bit is read before `draw`.

        Raises:
            InvalidScores: if the last round would have one candidate only.
        """
        scores.best()
        if k >= len(scores):
            raise InvalidScores(refused_length(k))
        self._scores, self._k, self._law = scores, k, law

    def draw(self, bits: Bits) -> list[list[int]]:
        """Return the k answers in their order, with their gaps."""
        places, answers = np.arange(len(self._scores)), list[list[int]]()
        for _ in range(self._k):
            j, steps = self._law(self._scores.take(places)).draw(bits)
            answers.append([int(places[j]), steps])
            places = np.delete(places, j)
        return answers

    def draws(self, size: int, bits: Bits) -> list[list[list[int]]]:
        """Return `size` independent lists."""
        return [self.draw(bits) for _ in range(size)]

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all lists, for any gaps."""
        return probabilities_of_rounds(self._scores, self._k, self._law)


def refused_length(k: int) -> str:
    """Return why a list of k has no gaps."""
    return f"the gap of the last of {k} answers needs a candidate that is left: give more candidates than k"
