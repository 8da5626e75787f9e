"""Rounds with gaps: every round draws its winner and its gap with randomness of its own.

The gap of a round is drawn given its winner, and never from a race that draws several answers: gaps of one race are
not independent of the rounds before. For the proof, see docs/reference/mechanisms/exponential.md#gap.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb

from ...errors import InvalidScores
from ...sampling.bits import Bits
from ...sampling.vectors import Vector
from ..lists import probabilities_of_rounds


class GapRounds:
    """The distribution of k pairs [index, steps], drawn one after another from the candidates that are left.

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
