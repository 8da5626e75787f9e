"""The support of a distribution: the points of a grid, or the answers of a list."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

from ..candidates import Grid
from ..errors import InvalidArgument, InvalidNumber
from ..numbers import exact
from ..scores.distance import Lattice


class Support(Protocol):
    """The possible answers by place, in order."""

    @property
    def step(self) -> Fraction:
        """The distance of neighbours; 0 in a list."""
        ...

    @property
    def is_ordered(self) -> bool:
        """Whether all answers are numbers."""
        ...

    def at_or_below(self, value: Fraction) -> int:
        """Return the place of the last answer that is no larger than the value.

        Raises:
            InvalidArgument: if the answers are not all numbers.
        """
        ...

    def find(self, answer: object) -> int | None:
        """Return the place of an answer, None if it is not possible."""
        ...

    def __getitem__(self, place: int, /) -> Any: ...


class GridSupport:
    """The points of a grid, or of an infinite lattice."""

    __slots__ = ("_lo", "_points", "step")

    is_ordered = True

    def __init__(self, points: Grid | Lattice) -> None:
        self._points, self._lo, self.step = points, exact(points[0], "a point"), points.step

    def at_or_below(self, value: Fraction) -> int:
        """Return the place of the last point, of a grid gone on both ways, that is no larger."""
        return math.floor((value - self._lo) / self.step)

    def find(self, answer: object) -> int | None:
        """Return the place of a point."""
        try:
            places = (exact(answer, "an answer") - self._lo) / self.step
        except InvalidNumber:
            return None
        inside = self._points.size == 0 or 0 <= places < self._points.size
        return int(places) if inside and places.denominator == 1 else None

    def __getitem__(self, place: int) -> Any:
        return self._points[place]


class ListSupport:
    """The answers of a list, in ascending order if all of them are numbers.

    Attributes:
        places: the places of the answers, in the order of the list.
    """

    __slots__ = ("_answers", "_numbers", "places")

    step = Fraction(0)

    def __init__(self, answers: Sequence[object]) -> None:
        numbers = [n for n in map(_number, answers) if n is not None]
        everyone = range(len(answers))
        is_numeric = len(numbers) == len(answers)
        order = sorted(everyone, key=numbers.__getitem__) if is_numeric else list(everyone)
        self._answers = [answers[i] for i in order]
        self._numbers = sorted(numbers) if is_numeric else None
        self.places = [0] * len(order)
        for place, i in enumerate(order):
            self.places[i] = place

    @property
    def is_ordered(self) -> bool:
        """Whether all answers are numbers."""
        return self._numbers is not None

    def at_or_below(self, value: Fraction) -> int:
        """Return the place of the last number that is no larger; raises unless all are numbers."""
        if self._numbers is None:
            raise InvalidArgument("the candidates have no order, because they are not all numbers")
        return bisect_right(self._numbers, value) - 1

    def find(self, answer: object) -> int | None:
        """Return the place of an answer; one of several candidates may be a list too."""
        try:
            return self._answers.index(tuple(answer) if isinstance(answer, list) else answer)
        except Exception:  # it is none, or cannot be compared: then it is none either
            return None

    def __getitem__(self, place: int) -> Any:
        return self._answers[place]


def _number(answer: object) -> Fraction | None:
    """Return an answer as a number; text is none, even if it spells one."""
    try:
        return None if isinstance(answer, str) else exact(answer, "an answer")
    except InvalidNumber:
        return None
