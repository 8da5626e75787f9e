"""The most common candidates by noisy counts: noise on every count once, then the largest, with their counts."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations, permutations
from typing import Any, ClassVar, Literal, NamedTuple

import flint
from flint import arb

from ..base.numbers import count
from ..errors import InvalidArgument
from ..privacy.sensitivity import Neighbors, Sensitivity
from ..sampling.bits import Bits
from ..sampling.vectors import Vector, integers
from .accuracy import counts_list_error
from .contract import Calibrated, PrivacyParameter, calibrate
from .count_noise import choose_noise
from .gaussian_counts import GaussianCounts
from .noisy_counts import NoiseLaw, NoisyCounts, NoisyCountsLaw, counts_sensitivity


class CountedList(NamedTuple):
    """The k largest of some noisy counts.

    Attributes:
        indices: the indices of the counts, the largest first; equal ones in their order.
        counts: the noisy counts, cut to their range.
    """

    indices: list[int]
    counts: list[int]


@dataclass(frozen=True, slots=True)
class TopCounts:
    """Add noise to every count, and answer the k largest with their noisy counts.

    Which are the largest is decided before the numbers are cut to their range; equal ones come in the order of the
    candidates.

    Args:
        k: how many.
        moved: how many counts may differ between neighbours, all of them by one.
        name: the noise, which is also the name of the mechanism: "geometric", or with a rho or a delta "gaussian".
        delta: the δ of Gaussian noise by an epsilon.

    Guarantee: that of the noisy counts, whatever k is: the list is computed from them.

    Side channels: those of the noisy counts; sorting takes a time that depends on them, which are covered by the
        guarantee.

    Source: Ghosh, Roughgarden and Sundararajan, STOC 2009, for the noise. Proof:
    docs/reference/mechanisms/top_k.md#top_counts.
    """

    k: int
    moved: int = 1
    name: Literal["geometric", "gaussian"] = "geometric"
    delta: Fraction | None = None
    takes_runs: ClassVar[Literal[False]] = False

    @property
    def parameters(self) -> dict[str, object]:
        """How many, how many counts may differ, and delta."""
        loose = {} if self.delta is None else {"delta": self.delta}
        return {"k": self.k, "moved": self.moved, **loose}

    def spread(self, _: Sensitivity) -> Fraction:
        """Return the spread that a scale divides: how far the counts of neighbours may be apart, added up."""
        return Fraction(self.moved)

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the noisy counts at the largest eta that keeps the wanted guarantee.

        Raises:
            InvalidArgument: if the scores are not counts, which differ by one.
        """
        k = count(self.k, "k")
        if sensitivity.change != 1:
            raise InvalidArgument(
                f"noisy counts need scores that change by 1, not by {sensitivity.change}"
            )
        noisy = self._noisy(sensitivity.neighbors, parameter)

        def law(counts: Vector) -> Any:
            noise: Any = noisy.law(counts)
            return TopCountsLaw(noise, count(k, "k", most=len(counts)))

        return Calibrated(noisy.guarantee, law, list_length=k)

    def _noisy(self, neighbors: Neighbors, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the counts with noise."""
        is_gaussian = self.name == "gaussian"
        mechanism = GaussianCounts(delta=self.delta) if is_gaussian else NoisyCounts()
        return calibrate(mechanism, counts_sensitivity(self.moved, neighbors), parameter)

    def error_below(
        self,
        candidates: int,
        sensitivity: Sensitivity,
        parameter: PrivacyParameter,
        probability: Fraction,
    ) -> Fraction:
        """Return the records that a place of the list is behind by less than, with at least that probability.

        Behind the candidate that should be there: see *What it costs* in docs/reference/mechanisms/top_k.md.
        """
        noisy = self._noisy(sensitivity.neighbors, parameter)
        law: Any = noisy.law(Vector(integers([])))
        return Fraction(counts_list_error(law.noise, candidates, self.k, probability))


def best_top_counts(  # noqa: PLR0913  # the public numbers that decide
    k: int,
    parts: int,
    candidates: int,
    neighbors: Neighbors,
    parameter: PrivacyParameter | None,
    delta: Fraction | None = None,
) -> TopCounts:
    """Return the k largest counts, of which so many parts may differ, with the noise of the smaller variance."""
    if parameter is None:
        return TopCounts(k, parts)
    sensitivity = counts_sensitivity(parts, neighbors)
    noise = choose_noise(sensitivity, parameter, delta, candidates)
    return TopCounts(k, parts, noise.name, getattr(noise, "delta", None))


class TopCountsLaw:
    """The distribution of the k largest noisy counts, ready to sample from."""

    __slots__ = ("_k", "_noise")

    def __init__(self, noise: NoisyCountsLaw, k: int) -> None:
        self._noise, self._k = noise, k

    def draw(self, bits: Bits) -> CountedList:
        """Return one list with its counts, an exact sample of this distribution."""
        noisy = self._noise.noisy(bits)
        best = largest(noisy, self._k)
        return CountedList(best, [self._noise.cut(noisy[i]) for i in best])

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of all lists, for any counts. Private.

        Raises:
            InvalidArgument: if there is too much to work out.
        """
        return probabilities_of_largest(self._noise.counts, self._k, self._noise.noise)

    def draws(self, size: int, bits: Bits) -> list[CountedList]:
        """Return `size` independent lists."""
        return [self.draw(bits) for _ in range(size)]


def largest(numbers: Sequence[int], k: int) -> list[int]:
    """Return the indices of the k largest numbers, the largest first; equal ones in their order."""
    return sorted(range(len(numbers)), key=lambda i: -numbers[i])[:k]


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
