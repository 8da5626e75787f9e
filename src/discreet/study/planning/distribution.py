"""The exact distribution of an answer, with certified probabilities and errors."""

import datetime as dt
import heapq
import itertools
import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from flint import arb

from ...base.error_boundary import error_boundaries
from ...base.numbers import Number, count, exact
from ...base.text_tables import TextTable
from ...errors import InvalidArgument, InvalidNumber, preview
from ...privacy.contract import equals
from ...privacy.guarantees import Guarantee
from ...sampling.enclosures import ball, lower, precision, upper
from ...selection.releases import json_value
from .. import plots
from .enclosure import Enclosure
from .simulations import Simulation
from .support import Support, WeightedRun, some_steps

if TYPE_CHECKING:
    from ..plots.figure import Figure

_MOST_LISTED = 100_000
"""The most candidates that are listed; beyond, a distribution is given by runs."""

_PRECISION = 256

_MOST_NAMED = 40
"""The most candidates that a picture labels by name."""

_MOST_STEPS = 400
"""The most candidates in view that are drawn one by one."""

_LEAST_IN_VIEW = 11

_RARE = Fraction(1, 2000)
"""A picture may leave out that much of the probability at either end."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring candidates with equal scores, or with scores that fall by the same amount a step. Private.

    Attributes:
        first: the lowest candidate. None if there is no end.
        last: the highest candidate. None if there is no end.
        size: how many there are. None if there is no end.
        score: the best score in the run.
        slope: how much the score falls from a candidate to the next; 0 where all are equal.
        mass: the probability of the whole run.
    """

    first: object
    last: object
    size: int | None
    score: Fraction
    slope: Fraction
    mass: Enclosure


@error_boundaries
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Distribution:
    """The distribution of an answer, in certified intervals. Private, like the scores.

    With too many candidates to list, the distribution consists of runs (see `runs`). Scores are those of the verb
    (see docs/how-to/planning.md), and an error is how far the answer's score is behind the best one.

    Attributes:
        candidates: the possible answers, or their indices.
        mechanism: the name of the mechanism.
        guarantee: the privacy guarantee of one answer.
        label: the name of the axis of candidates in a picture: the column, if there is one.
    """

    candidates: Any
    mechanism: str
    guarantee: Guarantee
    _unit: Fraction
    _support: Support
    _weighted: tuple[WeightedRun, ...]
    _masses: tuple[arb, ...]
    label: str = "candidate"
    _name: str = ""

    @property
    def lower(self) -> tuple[Fraction, ...]:
        """A lower bound on the probability of every run. In a list, every candidate is a run."""
        return tuple(map(lower, self._masses))

    @property
    def upper(self) -> tuple[Fraction, ...]:
        """An upper bound on the probability of every run. In a list, every candidate is a run."""
        return tuple(map(upper, self._masses))

    @property
    def size(self) -> int | None:
        """The number of candidates. None for no end."""
        sizes = [run.size for run in self._weighted]
        return sum(sizes) if all(sizes) else None

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs in the order of their candidates. In a list, every candidate is a run, in the listed order."""
        return tuple(map(self._run, self._weighted, self._masses))

    def pmf(self) -> dict[Hashable, float]:
        """Return the probabilities, as the doubles nearest to the middle of their intervals.

        Raises:
            InvalidArgument: if more than 100,000 candidates are on a grid.
        """
        if self.size is None or self.size > max(_MOST_LISTED, len(self._masses)):
            raise InvalidArgument(
                f"a distribution over more than {_MOST_LISTED:,} candidates is not listed. See "
                "runs, top(n), cdf(value) or probability(candidate)"
            )
        return {
            self._support[place]: float(_product(mass, s, s.steps(place)))
            for s, mass in zip(self._weighted, self._masses, strict=True)
            for place in range(s.start, s.start + s.size)
        }

    def probability(self, candidate: object) -> Enclosure:
        """Return the probability of one candidate, which is 0 if it is not a possible answer."""
        place = self._support.find(candidate)
        if place is None:
            return Enclosure(Fraction(0), Fraction(0))
        return self._total(partial(WeightedRun.of, index=place), 0, 1)

    def cdf(self, value: Number | dt.date) -> Enclosure:
        """Return the probability that the answer is at most `value`.

        Raises:
            InvalidArgument: if the candidates are not all numbers, or are dates and the value is not a date.
        """
        place = self._support.at_or_below(self._support.number(value))
        return self._total(partial(WeightedRun.up_to, index=place), 0, 1)

    def quantile(self, p: Number) -> Any:
        """Return the least candidate such that the answer is at most it with probability `p`.

        It is exact, unless `p` lies within the interval of a probability. Then both count as equal.

        Raises:
            InvalidArgument: if `p` is not above 0 and below 1, or the candidates are not all numbers.
        """
        share = exact(p, "p")
        if not 0 < share < 1:
            raise InvalidNumber(f"p must be above 0 and below 1, got {preview(p)}")
        return self._support[self._place(share)]

    def _place(self, share: Fraction) -> int:
        """Return the place of the least candidate that the answer is at most with a probability."""
        self._support.at_or_below(Fraction(0))  # raises if there is no order
        low, high = self._bracket(share)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._reaches(middle, share) else (middle, high)
        return high

    def tail(self, error: Number) -> Enclosure:
        """Return the probability that the score of the answer is behind the best by at least `error`."""
        most = self._best() - exact(error, "error") / self._unit
        return self._total(partial(WeightedRun.scoring_at_most, score=most), 0, 1)

    def expected_error(self) -> Enclosure:
        """Return how far the score of the answer is behind the best one on average."""
        best = self._best()

        def error(run: WeightedRun) -> arb:
            return ball(self._unit) * (ball(best - run.top) + run.mean_loss())

        return self._total(error, 0)

    def expected_score(self) -> Enclosure:
        """Return the mean of the score of the answer."""

        def score(run: WeightedRun) -> arb:
            return ball(self._unit) * (ball(run.top) - run.mean_loss())

        return self._total(score)

    def expected_value(self) -> Enclosure:
        """Return the mean of the answer.

        Raises:
            InvalidArgument: if the candidates are not all numbers. Dates are not numbers.
        """
        if self._support.is_of_dates:
            raise InvalidArgument("dates have no mean. See quantile(0.5)")
        self._support.at_or_below(Fraction(0))  # raises unless all are numbers

        return self._total(self._support.mean)

    def entropy(self) -> Enclosure:
        """Return the entropy in nats, from 0 for a certain answer to ln n for n equally likely ones."""
        within = self._total(WeightedRun.entropy, 0)
        with precision(_PRECISION):
            between = Enclosure.of(sum(map(_surprise, self._masses), arb(0)), 0)
        return Enclosure(within.lower + between.lower, within.upper + between.upper)

    def top(self, n: int) -> list[tuple[Hashable, Enclosure]]:
        """Return the `n` likeliest candidates with their probabilities, likeliest first."""
        most = count(n, "n", most=_MOST_LISTED)
        runs = map(self._from_the_best, self._weighted, self._masses)
        entries = heapq.merge(*runs, key=lambda pair: pair[1].mid(), reverse=True)
        return [
            (self._support[place], Enclosure.of(p, 0, 1))
            for place, p in itertools.islice(entries, most)
        ]

    def table(self, n: int = 20) -> TextTable:
        """Return the `n` likeliest candidates and their probabilities as a table. Private."""
        rows = tuple((str(candidate), f"{float(p):.6g}") for candidate, p in self.top(n))
        return TextTable(
            ("candidate", "probability"), rows, "contains private data: do not publish"
        )

    def as_dict(self) -> dict[str, object]:
        """Return the distribution in plain values, numbers and bounds as text, ready for JSON. Private."""
        return {
            "private": "do not publish: a distribution reveals the scores",
            "mechanism": self.mechanism,
            "guarantee": self.guarantee.as_dict(),
            "size": self.size,
            "expected_error": self.expected_error().as_dict(),
            "runs": [_run_as_dict(run) for run in self.runs],
        }

    def plot(
        self, *, answer: object = None, draws: Simulation | None = None, label: str | None = None
    ) -> "Figure":
        """Return a matplotlib figure of the distribution. Private, like the distribution.

        Args:
            answer: a candidate to mark, such as the value of a release.
            draws: draws. Their frequencies are shown next to the distribution.
            label: the name of the axis of candidates, with its unit. By default the column.
        """
        if draws is not None and not isinstance(draws, Simulation):
            raise InvalidArgument(f"draws must be what simulate returns, got {preview(draws)}")
        series = self.series()
        place: Any = self._number if self._support.is_ordered else self._support.find
        place = place if series.labels is None else str
        if answer is not None and self._support.find(answer) is None:
            raise InvalidArgument(f"answer must be one of the candidates, got {preview(answer)}")
        mark = None if answer is None else place(answer)
        answer_places = None if draws is None else list(map(place, draws.values))
        name = self.label if label is None else label
        return plots.law(series, answer=mark, draws=answer_places, label=name)

    def plot_scores(self, *, label: str | None = None) -> "Figure":
        """Return a picture of the scores as a matplotlib figure. Private, like the scores.

        Args:
            label: the name of the axis of candidates, with its unit. By default the column.
        """
        return plots.scores(self.series(), label=self.label if label is None else label)

    def series(self) -> plots.Series:
        """Return the data of a picture, which are places, probabilities and scores, as doubles."""
        few = self.size is not None and self.size <= _MOST_NAMED
        is_ordered = self._support.is_ordered
        view = self._view() if is_ordered else range(0)
        in_view = view if len(view) <= _MOST_STEPS else range(0)
        points = self._points(in_view, few=few)
        places = [s.index(k) for s, _, k in points]
        return plots.Series(
            name=f"{self._name or self.mechanism}, {self._price()}",
            labels=tuple(str(self._support[k]) for k in places) if few and not is_ordered else None,
            x=self._positions(places),
            chances=tuple(float(_product(mass, s, k)) for s, mass, k in points),
            scores=tuple(float((s.top - s.slope * k) * self._unit) for s, _, k in points),
            step=float(self._support.step or 1),
            window=self._window(view) if is_ordered else (-0.5, len(points) - 0.5),
            apart=float(self._support.step) or math.inf,
            in_steps=bool(in_view) or not any(run.slope for run in self._weighted),
            is_of_dates=self._support.is_of_dates,
        )

    def _positions(self, places: list[int]) -> tuple[float, ...]:
        """Return the candidates as numbers where they have an order, and their places otherwise."""
        if not self._support.is_ordered:
            return tuple(map(float, places))
        return tuple(self._number(self._support[place]) for place in places)

    def _points(self, in_view: range, *, few: bool) -> list[tuple[WeightedRun, arb, int]]:
        """Return the runs and masses of the points of a picture, with the step of the run. In order on a grid."""
        points = [
            (s, mass, k)
            for s, mass in zip(self._weighted, self._masses, strict=True)
            for k in sorted({*some_steps(s, every=few), *_steps_in(s, in_view)})
        ]
        if not few or self._support.is_ordered:
            points.sort(key=lambda point: point[0].index(point[2]))
        return points

    def _view(self) -> range:
        """Return the places with all but a thousandth of the probability, and some more: eleven at least."""
        low, high = (self._place(p) for p in (_RARE, 1 - _RARE))
        more = max((high - low) // 10, -((high - low + 1 - _LEAST_IN_VIEW) // 2), 0)
        least = min(run.lowest for run in self._weighted)
        most = max(run.highest for run in self._weighted)
        first = max(min(low - more, most - _LEAST_IN_VIEW + 1), least)
        last = min(max(high + more, least + _LEAST_IN_VIEW - 1), most)
        return range(int(first), int(last) + 1)

    def _number(self, candidate: object) -> float:
        """Return where a candidate is on the axis."""
        return float(self._support.number(candidate))

    def _window(self, view: range) -> tuple[float, float]:
        """Return the part of the axis that holds these places, and half the way to the next."""
        low, high = (self._number(self._support[place]) for place in (view[0], view[-1]))
        margin = float(self._support.step) / 2 or (high - low) / 20 or 0.5
        return low - margin, high + margin

    def _price(self) -> str:
        """Return the privacy parameter of one answer in short."""
        numbers = self.guarantee.as_dict()
        if "epsilon" not in numbers:
            return str(self.guarantee)
        return equals("ε", Fraction(str(numbers["epsilon"])))

    def __repr__(self) -> str:
        size = "endlessly many" if self.size is None else f"{self.size:,}"
        runs = "" if self.size == len(self._masses) else f" in {len(self._masses):,} runs"
        return f"Distribution(over {size} candidates{runs}; private, do not publish)"

    def _total(
        self, of: Callable[[WeightedRun], arb], least: int | None = None, most: int | None = None
    ) -> Enclosure:
        """Return the mean of a quantity over the runs, weighted by their masses."""
        runs = zip(self._weighted, self._masses, strict=True)
        with precision(_PRECISION):
            return Enclosure.of(sum((mass * of(run) for run, mass in runs), arb(0)), least, most)

    def _best(self) -> Fraction:
        return max(run.top for run in self._weighted)

    def _reaches(self, place: int, share: Fraction) -> bool:
        """Return whether the probability of an answer up to a place may be as large as a share."""
        return self._total(partial(WeightedRun.up_to, index=place), 0, 1).upper >= share

    def _bracket(self, share: Fraction) -> tuple[int, int]:
        """Return a place up to which the probability is certainly less than a share, and one where not."""
        low, high = min(s.lowest for s in self._weighted), max(s.highest for s in self._weighted)
        best = self._weighted[0].best
        below = best - 1 if math.isinf(low) else int(low) - 1
        above = best if math.isinf(high) else int(high)
        while math.isinf(low) and self._reaches(below, share):
            below -= best - below
        while math.isinf(high) and not self._reaches(above, share):
            above += above - below
        return below, above

    def _from_the_best(self, run: WeightedRun, mass: arb) -> Iterator[tuple[int, arb]]:
        """Yield the candidates of a run with their probabilities, likeliest first."""
        for steps in range(run.size) if run.size else itertools.count():
            with precision(_PRECISION):
                chance = mass * run.at(steps)
            yield run.index(steps), chance

    def _run(self, run: WeightedRun, mass: arb) -> Run:
        """Return the public form of a run."""
        ends = (run.lowest, run.highest)
        first, last = (None if math.isinf(end) else self._support[int(end)] for end in ends)
        score, slope = run.top * self._unit, run.slope * self._unit
        return Run(first, last, run.size or None, score, slope, Enclosure.of(mass, 0, 1))


def _steps_in(run: WeightedRun, places: range) -> range:
    """Return from the best end how far those places are that lie in the run."""
    low = max(run.lowest, places.start)
    high = min(run.highest, places.stop - 1)
    if low > high:
        return range(0)
    ends = sorted((run.steps(int(low)), run.steps(int(high))))
    return range(ends[0], ends[1] + 1)


def _product(mass: arb, run: WeightedRun, steps: int) -> Enclosure:
    """Return the probability of the candidate that many steps from the best end of a run."""
    with precision(_PRECISION):
        return Enclosure.of(mass * run.at(steps), 0, 1)


def _surprise(mass: arb) -> arb:
    """Return -p ln p for every p of the ball that is from 0 to 1."""
    if mass > 0:
        return -mass * mass.log()
    most = arb.max(mass.upper(), arb(0))  # so small that -p ln p still grows with p
    return arb(0) if most == 0 else arb(0).union(-most * most.log())


def _run_as_dict(run: Run) -> dict[str, object]:
    """Return a run in plain values."""
    first, last = (None if end is None else json_value(end) for end in (run.first, run.last))
    return {
        "first": first,
        "last": last,
        "size": run.size,
        "score": str(run.score),
        "slope": str(run.slope),
        "mass": run.mass.as_dict(),
    }
