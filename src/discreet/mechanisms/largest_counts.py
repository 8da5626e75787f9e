"""Certified probabilities of the lists of the k largest noisy counts, for study: the work grows with the noise."""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, combinations, permutations

import flint
from flint import arb

from ..errors import InvalidArgument
from .noisy_counts import NoiseLaw

_MOST_PRODUCTS = 10**7
"""The most products of probabilities that are worked out: some seconds."""


def probabilities_of_largest(numbers: Sequence[int], k: int, noise: NoiseLaw) -> list[arb]:
    """Return balls around the probabilities of all lists of the k largest of some numbers with noise.

    They are in the order of `itertools.permutations`, at the precision in force. A list is drawn with the values
    v1, ..., vk if these are the noisy numbers of its members, all of them larger than the next, or equal and its
    member first, and all other noisy numbers are less than vk, or equal and of later members. The sum over all
    values is taken in a window that the noise leaves with a probability that the balls include.

    Raises:
        InvalidArgument: if there is too much to work out.
    """
    sums = _ListSums(numbers, noise)
    products = math.perm(len(numbers), k) * k * sums.width
    if products > _MOST_PRODUCTS:
        raise InvalidArgument(
            f"the probabilities of these lists take {products:,} products, and up to "
            f"{_MOST_PRODUCTS:,} are worked out. Use simulate, which draws from any number"
        )
    chances = {
        one: chance
        for some in combinations(range(len(numbers)), k)
        for one, chance in sums.of(some)
    }
    return [chances[one] for one in permutations(range(len(numbers)), k)]


class _ListSums:
    """The sums over the values of the members of a list, by value from the least to the largest of a window."""

    def __init__(self, numbers: Sequence[int], noise: NoiseLaw) -> None:
        reach = noise.reach(flint.ctx.prec)
        self._low = min(numbers) - reach
        self.width = max(numbers) + reach - self._low + 1
        exactly = [noise.probability(j) for j in range(self.width)]
        up_to = [noise.up_to(j) for j in range(-self.width, self.width)]
        starts = [number - self._low for number in numbers]
        self._exactly = [[exactly[abs(v - start)] for v in range(self.width)] for start in starts]
        # Of the last value and of the value before it: which counts depends on who comes first.
        self._up_to = [
            [
                [up_to[v - start - strict + self.width] for v in range(self.width)]
                for start in starts
            ]
            for strict in (0, 1)
        ]
        outside = 2 * len(numbers) * noise.above(reach)
        self._outside = outside * arb(0.5, 0.5)  # between nothing and all of it

    def of(self, members: Sequence[int]) -> Iterator[tuple[tuple[int, ...], arb]]:
        """Yield all lists of some members, with their probabilities."""
        others = [i for i in range(len(self._exactly)) if i not in members]
        for last in members:
            chances = self._exactly[last]
            for other in others:
                tail = self._up_to[other < last][other]
                chances = [chance * p for chance, p in zip(chances, tail, strict=True)]
            yield from self._before((last,), chances, [i for i in members if i != last])

    def _before(
        self, members: tuple[int, ...], chances: list[arb], others: list[int]
    ) -> Iterator[tuple[tuple[int, ...], arb]]:
        """Yield the lists that end with some members, given the chances of their first value."""
        if not others:
            yield members, sum(chances, arb(0)) + self._outside
            return
        sums = list(accumulate(chances, initial=arb(0)))
        for first in others:
            below = sums[1:] if first < members[0] else sums[:-1]
            longer = [p * chance for p, chance in zip(self._exactly[first], below, strict=True)]
            yield from self._before((first, *members), longer, [i for i in others if i != first])
