"""Scores computed by the caller, with a declared sensitivity."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..accuracy import Measure
from ..numbers import Number
from ..privacy.sensitivity import Neighbors, Sensitivity, read_sensitivity
from ..sampling.vectors import Vector, read_vector


@dataclass(frozen=True, slots=True, repr=False)
class Given:
    """The numbers in `scores`, exactly; a float means its binary value.

    The caller declares the sensitivity, under the neighbouring relation that the release names. If the
    scores were computed in floats, it must cover the rounding errors of that computation too.

    Args:
        scores: an array, series or list of finite numbers, one per candidate; higher is better.
        change: the most one score can change between neighbours ("sensitivity").
        spread: the most a difference of two scores can change; instead of `change`.
        monotonic: whether all scores move the same way whenever one record comes or goes.
    """

    scores: object
    change: Number | None = None
    spread: Number | None = None
    monotonic: bool = False
    name: ClassVar[str] = "given"
    measure: ClassVar[Measure] = Measure()
    parameters: ClassVar[Mapping[str, object]] = {}

    @property
    def in_runs(self) -> bool:
        """Never: the candidates have scores one by one."""
        return False

    @property
    def counts_rows(self) -> bool:
        """Never: the caller declares the sensitivity for the privacy unit."""
        return False

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return the declared sensitivity: spread 2 * change, or change if monotonic, or `spread`."""
        return read_sensitivity(self.change, self.spread, self.monotonic, neighbors)

    def compute(self, cutoff_gap: Fraction) -> Vector:
        """Return the numbers. Private."""
        return read_vector(self.scores)

    def __repr__(self) -> str:
        return f"Given(change={self.change}, spread={self.spread}, monotonic={self.monotonic})"
