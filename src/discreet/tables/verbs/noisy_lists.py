"""Certified probabilities of lists of noisy numbers, for study of a few of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from flint import arb

from ...mechanisms.noisy_counts import NoisyCountsLaw
from ...selection.answers import refuse_too_many

_FARTHEST = 48
"""Noise of a probability below exp(-_FARTHEST) is left out."""


@dataclass(frozen=True, slots=True)
class NoisyNumber:
    """A number and its noise. Private.

    Attributes:
        law: the distribution of the list in which it is.
        index: its place there.
        number: the number without noise.
    """

    law: NoisyCountsLaw
    index: int
    number: int

    def near(self, reach: int) -> range:
        """Return the answers within a distance of the number, without those that are hardly ever reached."""
        reach = min(reach, self.law.noise.reach(_FARTHEST))
        return range(self.law.cut(self.number - reach), self.law.cut(self.number + reach) + 1)

    def chance(self, answer: int) -> arb:
        """Return a ball around the probability of an answer, at the precision in force."""
        return self.law.probability(self.index, answer)


@dataclass(frozen=True, slots=True)
class NoisyLists:
    """Lists of noisy numbers, of one question or of its groups. Private.

    Their answers are without end, so those nearest to the numbers are worked out, as many as there may be.

    Attributes:
        groups: the numbers by group.
        is_grouped: whether an answer has a list for every group.
    """

    groups: Sequence[Sequence[NoisyNumber]]
    is_grouped: bool

    @property
    def is_complete(self) -> bool:
        """Never: there are too many."""
        return False

    def answers(self, most: int) -> list[Any]:
        """Return the lists of answers near the numbers; raise if there are too many numbers for any to be near."""
        numbers = [number for group in self.groups for number in group]
        refuse_too_many(3 ** len(numbers), most)
        reach = (math.floor(most ** (1 / max(1, len(numbers)))) - 1) // 2
        return [self._nested(one) for one in product(*(number.near(reach) for number in numbers))]

    def chances(self, answers: Sequence[Any]) -> list[arb]:
        """Return balls around the probabilities of some answers, at the precision in force."""
        numbers = [number for group in self.groups for number in group]
        caches: list[dict[int, arb]] = [{} for _ in numbers]
        chances = []
        for answer in answers:
            flat = [one for group in answer for one in group] if self.is_grouped else answer
            chance = arb(1)
            for number, chances_of, one in zip(numbers, caches, flat, strict=True):
                if one not in chances_of:
                    chances_of[one] = number.chance(one)
                chance *= chances_of[one]
            chances.append(chance)
        return chances

    def _nested(self, flat: tuple[int, ...]) -> Any:
        """Return an answer as it is drawn: a list, or one for every group."""
        if not self.is_grouped:
            return flat
        values = iter(flat)
        return tuple(tuple(next(values) for _ in group) for group in self.groups)
