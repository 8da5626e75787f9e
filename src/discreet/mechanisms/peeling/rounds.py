"""Rounds: one answer after another from the candidates that are left."""

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np
from flint import arb

from ...numbers import count
from ...sampling.bits import Bits
from ...sampling.runs import Place, Runs, indices_of
from ...sampling.vectors import ExactArray, Integers, Vector
from ..contract import (
    Law,
)
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

    def _places(self, bits: Bits) -> list[Place]:
        """Return the places of k answers, as places in the runs before any answer."""
        remaining, law, places = self._remaining.copy(), self._first, list[Place]()
        while True:
            ends = remaining.cumsum()
            at = law.draw(bits)
            c = int(ends.searchsorted(at, side="right"))
            absent = sorted(place.steps for place in places if place.run == c)
            steps = skipping(at - int(ends[c] - remaining[c]), absent)
            places.append(Place(self._runs, c, steps))
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
