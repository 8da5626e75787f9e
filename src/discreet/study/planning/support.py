"""The support of a distribution, the points of a grid or the answers of a list, and its runs."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from flint import arb

from ...base.numbers import exact
from ...errors import InvalidArgument, InvalidNumber, preview
from ...sampling.enclosures import Rate, ball, sharp, upper
from ...selection.candidates import Grid
from ...selection.date_grid import DateGrid, as_moment, clock_of, microseconds
from ...selection.decimals import Decimals
from ...selection.scores.distance import Lattice

_DAY = 86_400_000_000
"""Microseconds of a day."""


class Support(Protocol):
    """The possible answers by place, in order."""

    @property
    def step(self) -> Fraction:
        """The distance of neighbours; 0 in a list."""

    @property
    def is_ordered(self) -> bool:
        """Whether all answers are numbers."""

    @property
    def is_of_dates(self) -> bool:
        """Whether the answers are dates or times: their numbers are days from 1970-01-01."""

    def number(self, value: Any) -> Fraction:
        """Return where a value is on the axis of answers.

        Raises:
            InvalidArgument: if it is nowhere there.
        """

    def at_or_below(self, value: Fraction) -> int:
        """Return the place of the last answer that is no larger than a number.

        Raises:
            InvalidArgument: if the answers are not all numbers.
        """

    def find(self, answer: object) -> int | None:
        """Return the place of an answer, None if it is not possible."""

    def mean(self, run: "WeightedRun") -> arb:
        """Return the mean of the numbers of a run, weighted by their shares of it."""

    def __getitem__(self, place: int, /) -> Any: ...


def _even_mean(support: Support, run: "WeightedRun") -> arb:
    """Return the mean of the numbers of a run of equal distances."""
    steps = run.mean_steps() if run.upward else -run.mean_steps()
    return ball(exact(support[run.best], "a candidate")) + ball(support.step) * steps


class GridSupport:
    """The points of a grid, or of an infinite lattice."""

    __slots__ = ("_lo", "_points", "step")

    is_ordered = True
    is_of_dates = False

    def __init__(self, points: Grid | Lattice) -> None:
        self._points, self._lo, self.step = points, exact(points[0], "a point"), points.step

    def number(self, value: Any) -> Fraction:
        """Return a number, exactly."""
        return exact(value, "value")

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

    def mean(self, run: "WeightedRun") -> arb:
        """Return the mean of a run."""
        return _even_mean(self, run)

    def __getitem__(self, place: int) -> Any:
        return self._points[place]


class DecimalSupport:
    """Zero and all decimals of so many digits."""

    __slots__ = ("_points",)

    step = Fraction(0)
    is_ordered = True
    is_of_dates = False

    def __init__(self, points: Decimals) -> None:
        self._points = points

    def number(self, value: Any) -> Fraction:
        """Return a number, exactly."""
        return exact(value, "value")

    def at_or_below(self, value: Fraction) -> int:
        """Return the place of the last point that is no larger; -1 if all are."""
        [place] = self._points.nearest(np.array([value], dtype=object)).tolist()
        return int(place) if self._points.point(place) <= value else int(place) - 1

    def find(self, answer: object) -> int | None:
        """Return the place of a point."""
        number = _answer_as_number(answer)
        if number is None:
            return None
        place = self.at_or_below(number)
        return place if place >= 0 and self._points.point(place) == number else None

    def mean(self, run: "WeightedRun") -> arb:
        """Return the mean of a run of equally likely points."""
        total = self._points.total(run.start + run.size) - self._points.total(run.start)
        return ball(total / run.size)

    def __getitem__(self, place: int) -> Any:
        return self._points[place]


class DateSupport:
    """The points of a grid of dates: their numbers are days from 1970-01-01. In a zone, they are days of UTC.

    Attributes:
        step: the days from the first point to the second.
    """

    __slots__ = ("_points", "step")

    is_ordered = True
    is_of_dates = True

    def __init__(self, points: DateGrid) -> None:
        self._points = points
        second = points[min(1, points.size - 1)]
        self.step = self.number(second) - self.number(points[0]) or Fraction(1)

    def number(self, value: Any) -> Fraction:
        """Return the days from 1970-01-01 to a date or a time."""
        moment = as_moment(value)
        if moment is None or clock_of(moment) != self._points.clock:
            raise InvalidArgument(
                f"value must be a date or a time as the answers are, got {preview(value)}"
            )
        return Fraction(microseconds(moment), _DAY)

    def at_or_below(self, value: Fraction) -> int:
        """Return the place of the last point that is no later; -1 if all are later."""
        return self._points.at_or_below(math.floor(value * _DAY))

    def find(self, answer: object) -> int | None:
        """Return the place of a point."""
        return self._points.find(answer)

    def mean(self, run: "WeightedRun") -> arb:
        """Return the mean of a run, in days."""
        return _even_mean(self, run)

    def __getitem__(self, place: int) -> Any:
        return self._points[place]


class ListSupport:
    """The answers of a list, in ascending order if all of them are numbers.

    Attributes:
        places: the places of the answers, in the order of the list.
    """

    __slots__ = ("_answers", "_numbers", "places")

    step = Fraction(0)
    is_of_dates = False

    def __init__(self, answers: Sequence[object]) -> None:
        numbers = [n for n in map(_answer_as_number, answers) if n is not None]
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

    def number(self, value: Any) -> Fraction:
        """Return a number, exactly."""
        return exact(value, "value")

    def at_or_below(self, value: Fraction) -> int:
        """Return the place of the last number that is no larger; raises unless all are numbers."""
        if self._numbers is None:
            raise InvalidArgument("the candidates have no order, because they are not all numbers")
        return bisect_right(self._numbers, value) - 1

    def find(self, answer: object) -> int | None:
        """Return the place of an answer. One of several candidates may be a list too."""
        try:
            return self._answers.index(tuple(answer) if isinstance(answer, list) else answer)
        except Exception:  # it is none, or cannot be compared: then it is none either
            return None

    def mean(self, run: "WeightedRun") -> arb:
        """Return the number of the only answer of a run."""
        return _even_mean(self, run)

    def __getitem__(self, place: int) -> Any:
        return self._answers[place]


def _answer_as_number(answer: object) -> Fraction | None:
    """Return an answer as a number; text is none, even if it spells one."""
    try:
        return None if isinstance(answer, str) else exact(answer, "an answer")
    except InvalidNumber:
        return None


_SEEN = 24
"""The points of a sloping run that a picture shows."""

_FAR = 6
"""A picture shows an infinite run up to that many times its mean."""


@dataclass(frozen=True, slots=True, repr=False)
class WeightedRun:
    """A run of candidates, of which the one `k` steps from the best end weighs exp(-rate * slope * k).

    All probabilities are conditional on the run. For proofs, see
    docs/how-to/planning.md#the-distribution-of-an-answer.

    Attributes:
        start: the index of the lowest candidate, or of the best one if there is no end.
        size: how many candidates; 0 stands for no end.
        top: the score at the best end.
        slope: how much the score falls a step, at least 0.
        upward: whether the best end is the lowest.
        dense: whether a candidate stands for all real numbers up to the next.
        rate: how fast weights fall; needed where the slope is above 0.
    """

    start: int
    size: int
    top: Fraction
    slope: Fraction = Fraction(0)
    upward: bool = True
    dense: bool = False
    rate: Rate | None = None

    @property
    def best(self) -> int:
        """The index of the best candidate."""
        return self.start if self.upward or self.size == 0 else self.start + self.size - 1

    @property
    def lowest(self) -> int | float:
        """The least index."""
        return self.start if self.upward or self.size else -math.inf

    @property
    def highest(self) -> int | float:
        """The largest index."""
        if self.size:
            return self.start + self.size - 1
        return math.inf if self.upward else self.start

    def index(self, steps: int) -> int:
        """Return the index that many steps from the best end."""
        return self.best + steps if self.upward else self.best - steps

    def steps(self, index: int) -> int:
        """Return how many steps from the best end an index is."""
        return index - self.best if self.upward else self.best - index

    def within(self, steps: int | Fraction) -> arb:
        """Return the share that lies fewer than so many steps from the best end."""
        if steps <= 0:
            return arb(0)
        if self.size and steps >= self.size:
            return arb(1)
        if self.slope == 0:
            return ball(Fraction(steps) / self.size)
        return sharp(self._before, steps)

    def at(self, steps: int) -> arb:
        """Return the share of the candidate that many steps from the best end."""
        if steps < 0 or (self.size and steps >= self.size):
            return arb(0)
        if self.slope == 0:
            return ball(Fraction(1, self.size))
        return sharp(self._at, steps)

    def of(self, index: int) -> arb:
        """Return the share of the candidate with an index."""
        return self.at(self.steps(index))

    def up_to(self, index: int) -> arb:
        """Return the share of the candidates up to an index."""
        if self.upward:
            return self.within(self.steps(index) + 1)
        return 1 - self.within(self.steps(index))

    def behind(self, loss: Fraction) -> arb:
        """Return the share that scores at least so much less than the best end."""
        if loss <= 0:
            return arb(1)
        if self.slope == 0:
            return arb(0)
        steps = loss / self.slope
        return 1 - self.within(steps if self.dense else math.ceil(steps))

    def scoring_at_most(self, score: Fraction) -> arb:
        """Return the share with a score of at most so much."""
        return self.behind(self.top - score)

    def mean_steps(self) -> arb:
        """Return the mean number of steps from the best end: 1 / (e**a - 1) - m / (e**(a m) - 1)."""
        if self.slope == 0:
            return ball(Fraction(self.size - 1, 2))
        return sharp(self._mean)

    def mean_loss(self) -> arb:
        """Return by how much the score is less than at the best end, on average."""
        if self.slope == 0:
            return arb(0)
        if not self.dense:
            return ball(self.slope) * self.mean_steps()
        return ball(self.slope) * sharp(self._dense_mean)

    def entropy(self) -> arb:
        """Return the entropy within the run: ln of the sum of weights, and a times the mean of k."""
        if self.slope == 0:
            return ball(Fraction(self.size)).log()
        return sharp(self._entropy)

    def _before(self, steps: int | Fraction) -> arb:
        return self._fall(steps) / self._fall(self.size)

    def _at(self, steps: int) -> arb:
        return self._decay(steps) * self._fall(1) / self._fall(self.size)

    def _mean(self) -> arb:
        return self._decay(1) / self._fall(1) - self._cut()

    def _dense_mean(self) -> arb:
        return 1 / self._exponent(1) - self._cut()

    def _entropy(self) -> arb:
        return (self._fall(self.size) / self._fall(1)).log() + self._exponent(1) * self._mean()

    def _exponent(self, steps: int | Fraction) -> arb:
        assert self.rate is not None
        return self.rate.exponent(self.slope * steps)

    def _decay(self, steps: int | Fraction) -> arb:
        assert self.rate is not None
        return self.rate.decay(self.slope * steps)

    def _fall(self, steps: int | Fraction) -> arb:
        """Return 1 - exp(-rate * slope * steps), 1 for no end."""
        return arb(1) if steps == 0 else -(-self._exponent(steps)).expm1()

    def _cut(self) -> arb:
        """Return how much the end of the run takes off the mean number of steps."""
        return (
            arb(0) if self.size == 0 else self.size * self._decay(self.size) / self._fall(self.size)
        )


def some_steps(run: WeightedRun, *, every: bool) -> list[int]:
    """Return from the best end how far the points are that a picture shows of a run."""
    if every or 0 < run.size <= _SEEN:
        return list(range(run.size))
    if run.slope == 0:
        return [0, run.size - 1]
    far = _FAR * (int(upper(run.mean_steps())) + 1)
    last = min(far, run.size - 1) if run.size else far
    near = {last * i // _SEEN for i in range(_SEEN + 1)}
    return sorted(near if run.size == 0 else near | {run.size - 1})
