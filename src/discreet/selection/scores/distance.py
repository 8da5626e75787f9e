"""How far an answer is from a number: the score of Laplace and geometric noise."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from ...base.numbers import Number, fits, positive, positive_up
from ...errors import InvalidNumber, InvalidScores
from ...mechanisms.accuracy import OF_NUMBER, Measure
from ...privacy.sensitivity import Neighbors, Sensitivity, read_neighbors
from ...sampling.runs import Runs
from ...sampling.vectors import Vector, read_vector
from ..candidates import Grid, decimal_places, plain_number
from .contract import BaseScore

_WHOLE_DOUBLES = 2**53

_STEP_DIGITS = 1_000
"""The longest step: a point has these besides those of the value, and must be told."""


class Lattice:
    """All multiples of `step`, the k-th at index k, below zero too. Exact; points are like a `Grid`'s.

    Args:
        step: the distance of neighbours, above zero.
    """

    __slots__ = ("step",)

    def __init__(self, step: Number = 1) -> None:
        self.step = positive(step, "step")
        if not fits(self.step, digits=_STEP_DIGITS):
            raise InvalidNumber(f"step must have at most {_STEP_DIGITS:,} digits")

    @property
    def size(self) -> int:
        """0, which stands for no end."""
        return 0

    def __getitem__(self, index: int) -> int | Decimal | Fraction:
        return plain_number(index * self.step, decimal_places(self.step))

    @property
    def description(self) -> dict[str, Fraction]:
        """The step."""
        return {"step": self.step}

    def __repr__(self) -> str:
        return f"Lattice(step {self.step})"


@dataclass(frozen=True, slots=True, repr=False)
class Distance(BaseScore):
    """The score -|value - r| of the points r of a lattice or a grid, with the value rounded to the nearest point.

    On a lattice the sum of all weights is the same for every value, so the noise costs
    eta * sensitivity. On a grid with two ends it costs more, at most twice that. For the proof, see
    docs/reference/scores/your_own.md#distance.

    Args:
        value: a finite number; a float means its binary value.
        change: the most that the value changes between neighbours ("sensitivity").
        answers: a `Lattice`, or a `Grid`, to whose ends go the values outside.
    """

    value: object
    change: Number
    answers: Lattice | Grid
    name: ClassVar[str] = "distance"
    public_fields: ClassVar[tuple[str, ...]] = ("change", "answers")
    in_runs: ClassVar[Literal["sloping"]] = "sloping"
    counts_rows: ClassVar[bool] = False

    @property
    def measure(self) -> Measure:
        """The distance from the number."""
        return Measure(OF_NUMBER, step=self.answers.step)

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return the change in whole steps, balanced on a lattice; on a grid the spread is twice that."""
        step, relation = self.answers.step, read_neighbors(neighbors)
        # Coq: Distance.nearest_apart, Distance.to_ends_apart, Distance.with_ends
        change = step * math.ceil(positive_up(self.change, "sensitivity") / step)
        if isinstance(self.answers, Lattice):
            # Coq: Distance.without_ends, Distance.weights_converge
            return Sensitivity(2 * change, relation, change, balanced=True)
        change = min(change, max(self.answers.hi - self.answers.lo, step))
        return Sensitivity(2 * change, relation, change)

    def compute(self, cutoff_gap: Fraction) -> Runs:
        """Return a run upwards from the value and one downwards. Private.

        Raises:
            InvalidScores: if the value is no finite number.
        """
        step, value = self.answers.step, _finite(self.value)
        if isinstance(self.answers, Lattice):
            index = _nearest(value / step)
            starts, sizes = [index, index - 1], [0, 0]
        else:
            size = self.answers.size
            index = min(max(_nearest((value - self.answers.lo) / step), 0), size - 1)
            starts, sizes = ([index, 0], [size - index, index]) if index else ([0], [size])
        n = len(starts)
        upward = np.array([True, False])[:n]
        return Runs(starts, sizes, read_vector([0, -step][:n]), read_vector([step] * n), upward)


@dataclass(frozen=True, slots=True, repr=False)
class ListedDistance(BaseScore):
    """The same score with one number a point of a grid, for mechanisms that need them one by one.

    Args:
        distance: the score, on a `Grid`.
    """

    distance: Distance
    name: ClassVar[str] = "distance"
    public_fields: ClassVar[tuple[str, ...]] = ("distance",)
    counts_rows: ClassVar[bool] = False
    measure: ClassVar[Measure] = Measure(OF_NUMBER)

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return the sensitivity of the distance."""
        return self.distance.sensitivity(neighbors)

    def compute(self, cutoff_gap: Fraction) -> Vector:
        """Return the scores of the points, exactly: as integers or doubles where these hold them. Private.

        Raises:
            InvalidScores: if the value is no finite number.
        """
        runs, step = self.distance.compute(cutoff_gap), self.distance.answers.step
        size = int(sum(runs.sizes))
        places = np.abs(np.arange(size) - int(runs.starts[0]))
        top, below = step.as_integer_ratio()
        if top * size >= _WHOLE_DOUBLES or below & (below - 1) or below > _WHOLE_DOUBLES:
            unit = -top if below == 1 else -step
            return read_vector([unit * place for place in places.tolist()])
        whole = places * -top
        return Vector(whole) if below == 1 else Vector(whole / below)


def _finite(value: object) -> Fraction:
    """Return the value exactly; the error does not show it."""
    try:
        vector = read_vector([value])
        vector.best()
        return vector.exact(0)
    except InvalidScores:
        pass
    raise InvalidScores("the value must be one finite number (int, float, Fraction or Decimal)")


def _nearest(value: Fraction) -> int:
    """Return the nearest integer, upwards from half way.

    Rounding half to even would not do: it takes 1/2 and 3/2, which are 1 apart, to 0 and 2.
    """
    return math.floor(value + Fraction(1, 2))
