"""Certified probabilities of private keys and private candidates, answer by answer, for study of a few keys."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from ...mechanisms.limited_domain import DomainRounds
from ...mechanisms.private_keys import DrawnKeys, PrivateKeys
from ...selection.answers import ListedAnswers
from ...selection.released_values import ReleasedValue
from ..engines.key_counts import FirstKeys, KeyClasses
from ..values.key_values import KeyValue

_MOST_TOGETHER = 1_000
"""The most answers that are worked out, where there is no end to released counts."""

CountedKeys = list[tuple[KeyValue, int]]
"""Keys with their counts, sorted by key."""

KeyAnswer = tuple[tuple[Any, ...], ...]
"""A drawn answer in its parts: the keys, and what is released besides."""

Cut = Callable[[CountedKeys], Sequence[Sequence[Any]]]
"""Makes the parts of an answer, of which keys are the first, of keys that were drawn with their released counts."""


@dataclass(frozen=True, slots=True, repr=False)
class KeyLists(ListedAnswers):
    """The answers of private keys, each key decided by itself. Private.

    Attributes:
        mechanism: the mechanism.
        classes: the keys in classes of equal counts, as the mechanism tells them apart.
        with_counts: whether released counts decide and are in the answer.
        cut: makes the answer of the keys that were drawn, sorted by key.
    """

    mechanism: PrivateKeys
    classes: KeyClasses
    with_counts: bool
    cut: Cut

    @property
    def is_complete(self) -> bool:
        """Whether there is an end to released counts: with Gaussian noise there is none."""
        return not self.with_counts or self.mechanism.threshold is None

    def _number(self, most: int) -> int:
        """Return how many answers there are, but for hardly likely counts; of too many keys their number."""
        keys = sum(self.classes.sizes)
        return keys if keys > most else math.prod(map(len, self._outcomes()))

    def _chances(self) -> dict[KeyAnswer, arb]:
        together = defaultdict[KeyAnswer, arb](arb)
        for some in product(*self._outcomes()):
            pairs = [(one.key, one.number) for one in some if one.number is not None]
            values, *others = self.cut(pairs)
            answer = (tuple(map(ReleasedValue.of, values)), *map(tuple, others))
            together[answer] += math.prod((one.chance for one in some), start=arb(1))
        return together

    def _outcomes(self) -> list[list["_Outcome"]]:
        """Return the outcomes of all keys."""
        return [[*self._outcomes_of(key, count)] for key, count in self._keys()]

    def _outcomes_of(self, key: KeyValue, count: int) -> Iterator["_Outcome"]:
        """Yield the outcomes of a key of that count."""
        mechanism, law = self.mechanism, self.mechanism.probabilities
        chance = mechanism.chance(count, with_counts=self.with_counts)
        if chance != 1:
            yield _Outcome(key, None, 1 - chance)
        if count < mechanism.minimum_count:
            return
        if not self.with_counts:
            yield _Outcome(key, 0, chance)
            return
        first, last = law.lowest + 1, min(count - mechanism.minimum_count + 1, law.size)
        if not self.is_complete:  # those near the likeliest one
            last = min(last, law.likeliest_step + self._width // 2)
            first = max(first, last - self._width + 1)
        for step in range(first, last + 1):
            number = count + law.likeliest_step - step
            yield _Outcome(key, number, mechanism.chance_of(count, number))

    @property
    def _width(self) -> int:
        """The released counts that are worked out of a key, where there is no end to them."""
        keys = max(1, sum(self.classes.sizes))
        return max(1, math.floor(math.pow(_MOST_TOGETHER, 1 / keys)) - 1)

    def _keys(self) -> CountedKeys:
        """Return all keys with their counts."""
        sizes = self.classes.sizes
        classes = np.repeat(np.arange(1, len(sizes) + 1, dtype=np.int64), sizes)
        places = np.concatenate([np.arange(size, dtype=np.int64) for size in sizes])
        return self.classes.fetch(DrawnKeys(classes, places, np.zeros_like(places)))


@dataclass(frozen=True, slots=True, repr=False)
class DomainLists(ListedAnswers):
    """The answers of limited domain: lists of the most common keys. Private.

    Attributes:
        first: the most common keys.
        rows: how many of them may be answered.
        most: the most answers.
        law: the distribution of their places.
    """

    first: FirstKeys
    rows: int
    most: int
    law: DomainRounds

    def _number(self, most: int) -> int:
        """Return how many lists there are."""
        keys = self._keys
        return sum(math.perm(keys, length) for length in range(min(self.most, keys) + 1))

    @property
    def _keys(self) -> int:
        return min(len(self.first.counts), self.rows)

    def _chances(self) -> dict[KeyAnswer, arb]:
        names = [ReleasedValue.of(key) for key in self.first.fetch(range(self._keys))]
        return {
            (tuple(names[place] for place in places), ()): self.law.probability(places)
            for places in self._places()
        }

    def _places(self) -> Iterator[tuple[int, ...]]:
        for length in range(min(self.most, self._keys) + 1):
            yield from permutations(range(self._keys), length)


class _Outcome(NamedTuple):
    """An outcome of a key: its released count, None where it is not released, and how probable that is."""

    key: KeyValue
    number: int | None
    chance: arb


def of_largest(most: int, pairs: CountedKeys) -> CountedKeys:
    """Return those of the largest released counts, at most so many, in their order; of equal ones the first."""
    places = sorted(range(len(pairs)), key=lambda place: (-pairs[place][1], place))[:most]
    return [pairs[place] for place in sorted(places)]
