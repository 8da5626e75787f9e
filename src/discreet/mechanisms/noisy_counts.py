"""Noisy counts: whole numbers with independent two-sided geometric noise.

The sensitivity of several numbers is that of their list: its `spread` is how far the lists of neighbours may be
apart, all numbers added up, and its `change` how far one of their numbers.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal, Protocol

from flint import arb

from ..privacy.guarantees import GeometricDP, Guarantee, PureDP
from ..privacy.rho import geometric_rho, pure_rho
from ..privacy.sensitivity import Neighbors, Sensitivity
from ..sampling.bits import Bits
from ..sampling.geometric import GeometricNoise
from ..sampling.vectors import Integers, Vector
from .accuracy import geometric_error
from .contract import Calibrated, PrivacyParameter, calibrate, epsilon_of, need_parameter

LARGEST_COUNT = 2**63 - 1
"""Noisy counts are cut here, and at minus this: no table has as many rows. They are not cut at 0, as sums of many
small counts would then be too high: docs/reference/mechanisms/noisy_counts.md."""


@dataclass(frozen=True, slots=True)
class NoisyCounts:
    """Answer whole numbers as n + X, cut to a public range, with independent two-sided geometric noise X.

    P(X = j) = (1 - a) / (1 + a) * a**|j|, a = exp(-eta), eta = epsilon / spread.

    Attributes:
        least: the least number that is answered.
        largest: the largest number that is answered.

    Guarantee: epsilon-DP: of each number PureDP(eta) where it moves by 1, and GeometricDP(eta * change, change)
        where it moves by more; as many of these as numbers may move between neighbours, spread / change.
        PureDP(epsilon) of all together where only the spread is known.

    Side channels: the noise is drawn before it is added, and independent of the numbers: see `GeometricNoise`.

    Source: Ghosh, Roughgarden and Sundararajan, STOC 2009. Proof: docs/reference/mechanisms/noisy_counts.md.
    """

    least: int = -LARGEST_COUNT
    largest: int = LARGEST_COUNT
    name: ClassVar[Literal["geometric"]] = "geometric"
    takes_runs: ClassVar[Literal[False]] = False

    @property
    def parameters(self) -> Mapping[str, object]:
        """The range of answers."""
        return {"least": self.least, "largest": self.largest}

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at the largest eta that keeps the wanted guarantee."""
        eta = self.rate(sensitivity, parameter)
        noise, parts = GeometricNoise(eta), changed_cells(sensitivity)
        guarantee = _of_one(eta, sensitivity).repeated(parts)
        law: Callable[[Any], Any] = partial(NoisyCountsLaw, noise=noise, cut=self)  # it draws lists
        return Calibrated(guarantee, law)

    def noise(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> GeometricNoise:
        """Return the least noise that keeps the wanted guarantee."""
        return GeometricNoise(self.rate(sensitivity, parameter))

    def scale(self, sensitivity: Sensitivity, parameter: PrivacyParameter) -> Fraction:
        """Return 1 / eta: about the mean distance of a number from its answer."""
        return 1 / self.rate(sensitivity, parameter)

    def error(
        self,
        sensitivity: Sensitivity,
        parameter: PrivacyParameter,
        size: int,
        probability: Fraction,
    ) -> int:
        """Return the most by which any of so many numbers is off, with at least that probability."""
        return geometric_error(self.rate(sensitivity, parameter), size, probability)

    def rate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Fraction:
        """Return the largest eta that keeps the wanted guarantee."""
        parts = changed_cells(sensitivity)

        def rho_of(epsilon: Fraction) -> Fraction:
            if sensitivity.change is None:
                return pure_rho(epsilon)
            return parts * geometric_rho(epsilon / parts, int(sensitivity.change))

        epsilon = epsilon_of(need_parameter(parameter), sensitivity.spread, rho_of)
        return epsilon / sensitivity.spread


def _of_one(eta: Fraction, sensitivity: Sensitivity) -> Guarantee:
    """Return the guarantee of one number that moves by the change, or of all where only the spread is known."""
    change, relation = sensitivity.change, sensitivity.neighbors
    if change is None:
        return PureDP(eta * sensitivity.spread, relation)
    return (
        PureDP(eta, relation) if change == 1 else GeometricDP(eta * change, int(change), relation)
    )


def changed_cells(sensitivity: Sensitivity) -> int:
    """Return how many numbers may move by the change; one where only the spread is known."""
    change = sensitivity.spread if sensitivity.change is None else sensitivity.change
    return math.ceil(sensitivity.spread / change)


class NoiseLaw(Protocol):
    """The distribution of the noise of one number."""

    def draws(self, size: int, bits: Bits) -> Integers:
        """Return independent numbers."""

    def probability(self, j: int) -> arb:
        """Return a ball around P(X = j)."""

    def up_to(self, j: int) -> arb:
        """Return a ball around P(X <= j)."""

    def above(self, j: int) -> arb:
        """Return a ball around P(X > j)."""

    def reach(self, nats: int) -> int:
        """Return a distance that the noise exceeds with a probability below exp(-nats)."""


class Range(Protocol):
    """The range of answers."""

    @property
    def least(self) -> int:
        """The least number that is answered."""

    @property
    def largest(self) -> int:
        """The largest number that is answered."""


class NoisyCountsLaw:
    """The distribution of noisy counts, ready to sample from.

    An answer is a list of numbers, one a count. There are too many such lists for a method `probabilities`;
    `probability` is that of one number, and the numbers are independent.
    """

    __slots__ = ("_counts", "_cut", "noise")

    def __init__(self, counts: Vector, noise: NoiseLaw, cut: Range) -> None:
        self._counts, self.noise, self._cut = counts, noise, cut

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def counts(self) -> list[int]:
        """The counts without noise. Private."""
        return [int(number) for number in self._counts.values.tolist()]

    def noisy(self, bits: Bits) -> list[int]:
        """Return all counts with noise, and not cut: for answers that follow from their order."""
        noise = self.noise.draws(len(self), bits).tolist()
        return [n + x for n, x in zip(self._counts.values.tolist(), noise, strict=True)]

    def draw(self, bits: Bits) -> list[int]:
        """Return all counts with noise, cut to their range."""
        return [self.cut(number) for number in self.noisy(bits)]

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent lists."""
        return [self.draw(bits) for _ in range(size)]

    def cut(self, number: int) -> int:
        """Return a number, or the end of the range beyond which it is."""
        return min(max(number, self._cut.least), self._cut.largest)

    def probability(self, index: int, answer: int) -> arb:
        """Return a ball around the probability of an answer for one count, at the precision in force. Private."""
        least, largest = self._cut.least, self._cut.largest
        count = int(self._counts.exact(index))
        if not least <= answer <= largest:
            return arb(0)
        if least == largest:
            return arb(1)
        if answer == least:
            return self.noise.up_to(least - count)
        if answer == largest:
            return self.noise.above(largest - 1 - count)
        return self.noise.probability(answer - count)


def counts_sensitivity(parts: int, neighbors: Neighbors, *, change: int = 1) -> Sensitivity:
    """Return the sensitivity of a list of whole numbers.

    Args:
        parts: how many of them may differ between neighbours: under "replace_one" both those that a record
            leaves and those that it enters.
        neighbors: the neighbouring relation.
        change: by how much one of them may differ.
    """
    return Sensitivity(Fraction(parts * change), neighbors, Fraction(change))


def moved_counts(cells: int, each: int, neighbors: Neighbors) -> int:
    """Return how many of so many counts may differ between neighbours, if one record is in at most `each` of them.

    A record that is replaced leaves its counts and enters others.
    """
    # Coq: CountsPerUnit.cells_moved
    return min(cells, each if neighbors == "add_remove" else 2 * each)


def calibrate_counts(
    parts: int, neighbors: Neighbors, parameter: PrivacyParameter | None
) -> Calibrated:
    """Return noisy counts, of which `parts` may differ by one between neighbours, at a privacy parameter.

    Raises:
        InvalidArgument: if there is no privacy parameter.
    """
    return calibrate(NoisyCounts(), counts_sensitivity(parts, neighbors), parameter)
