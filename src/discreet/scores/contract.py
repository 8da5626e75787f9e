"""The contract of a score: how far it may move is public, the numbers themselves are read last."""

from typing import Protocol

from ..privacy.sensitivity import Neighbors, Sensitivity
from ..vectors import Vector


class Score(Protocol):
    """What says how good each candidate is: higher is better, always."""

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return how far the scores of neighbours may be apart, without looking at any data."""
        ...

    def vector(self) -> Vector:
        """Return the scores, one for each candidate. Private."""
        ...
