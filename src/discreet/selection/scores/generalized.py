"""Scores with different sensitivities, brought to one scale (Raskhodnikova and Smith 2016)."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ...base.arguments import read_sequence
from ...base.numbers import positive_up
from ...errors import InvalidArgument, InvalidScores, preview
from ...privacy.sensitivity import Neighbors, Sensitivity, sensitivity_of
from ...sampling.vectors import Vector, objects, read_vector
from .contract import BaseScore

ExactPoint = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, repr=False)
class Generalized(BaseScore):
    """min over j of ((q[i] - t * D[i]) - (q[j] - t * D[j])) / (D[i] + D[j]), at most 0.

    It counts how many changes of a record lie between candidate i and the best, after every score was
    lowered by t times its own sensitivity D. Any such score changes by at most 1, for any t: proof in
    docs/reference/scores/your_own.md#generalized.

    Args:
        scores: an array, series or list of finite numbers q, one per candidate; higher is better.
        changes: the most that the scores can change between neighbours (D), in the same order; public.
        t: how many changes a candidate is lowered by; public.
    """

    scores: object
    changes: tuple[Fraction, ...]
    t: Fraction
    name: ClassVar[str] = "generalized"
    public_fields: ClassVar[tuple[str, ...]] = ("t",)
    counts_rows: ClassVar[bool] = False

    @property
    def parameters(self) -> dict[str, object]:
        """The sensitivities of the scores, and t."""
        return {"sensitivities": self.changes, "t": self.t}

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return a change of 1, spread 2, whatever the sensitivities are."""
        return sensitivity_of(1, neighbors)

    def compute(self, cutoff_gap: Fraction) -> Vector:
        """Return the scores on one scale, as fractions. Private."""
        scores = read_vector(self.scores)
        if len(scores) != len(self.changes):
            raise InvalidScores(
                f"there are {len(self.changes)} sensitivities but {len(scores)} scores. Give one "
                "for each"
            )
        scores.best()  # refuses what is not finite
        points = [(d, scores.exact(i) - self.t * d) for i, d in enumerate(self.changes)]
        edge = _upper_edge(points)
        # They may have more digits than a score may have: a refusal now would depend on the scores.
        return Vector(objects([-_steepest(edge, point) for point in points]))


def read_changes(sensitivities: object) -> tuple[Fraction, ...]:
    """Return the sensitivities of the candidates, as exact fractions above zero, floats read upwards.

    Raises:
        InvalidArgument: if there are none, or one is no finite number above zero.
    """
    has_no_order = isinstance(sensitivities, str | bytes | Mapping | Set)
    if has_no_order or not isinstance(sensitivities, Iterable):
        raise InvalidArgument(
            "sensitivities must be a list of numbers, one for each candidate in their order, got "
            f"{preview(sensitivities)}"
        )
    changes = tuple(
        positive_up(change, "each sensitivity")
        for change in read_sequence(sensitivities, "sensitivities")
    )
    if not changes:
        raise InvalidArgument("sensitivities must not be empty: there must be a candidate")
    return changes


def _upper_edge(points: list[ExactPoint]) -> list[ExactPoint]:
    """Return the points on the upper side of the convex hull, from left to right."""
    edge: list[ExactPoint] = []
    for x, y in sorted(points):
        while edge and edge[-1][0] == x:
            edge.pop()
        while len(edge) > 1 and _slope(edge[-2], edge[-1]) <= _slope(edge[-1], (x, y)):
            edge.pop()
        edge.append((x, y))
    return edge


def _steepest(edge: list[ExactPoint], point: ExactPoint) -> Fraction:
    """Return the largest slope from (-x, y) to a point of the edge, all of which lie to the right.

    Along the edge slopes rise up to the tangent and fall beyond, so it is found by bisection.
    """
    eye = -point[0], point[1]
    k = bisect_left(
        range(len(edge) - 1),
        True,
        key=lambda k: _slope(edge[k], edge[k + 1]) <= _slope(eye, edge[k]),
    )
    return _slope(eye, edge[k])


def _slope(start: ExactPoint, end: ExactPoint) -> Fraction:
    return (end[1] - start[1]) / (end[0] - start[0])
