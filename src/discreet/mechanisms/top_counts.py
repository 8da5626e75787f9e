"""The most common candidates by noisy counts: noise on every count once, then the largest, with their counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple

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
from .largest_counts import probabilities_of_largest
from .noisy_counts import NoisyCounts, NoisyCountsLaw, counts_sensitivity


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
