"""The contract of a score: how far it may move is public, the numbers themselves are read last."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal, Protocol

from ..privacy.sensitivity import Neighbors, Sensitivity
from ..runs import Runs
from ..vectors import Vector


class Score(Protocol):
    """What says how good each candidate is: higher is better, always."""

    @property
    def name(self) -> str:
        """The name in the registry and in the docs."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What is public about it beside its name, candidates and sensitivity, in plain values."""
        ...

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return how far the scores of neighbours may be apart, without looking at any data."""
        ...

    @property
    def in_runs(self) -> bool | Literal["sloping"]:
        """Whether `compute` returns runs, for ranges too long to list, and whether those may slope."""
        ...

    def compute(self, reach: Fraction) -> Vector | Runs:
        """Return the scores, one for each candidate, or in runs. Private.

        What is worse than the best by more than `reach` hardly matters, and runs may summarise it.
        """
        ...
