"""The law of an answer as a value: what is how likely, how far off it is, all of it certified."""

import heapq
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb

from .. import plots
from ..enclosures import ball, lower, precision, upper
from ..errors import InvalidArgument, InvalidNumber, shown
from ..numbers import Number, count, exact, spell
from ..privacy.guarantees import Guarantee
from ..releases import Simulation
from .enclosure import Enclosure
from .line import Line
from .stretch import Stretch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LISTED = 100_000
"""As many candidates are listed; beyond, a law is told by runs."""

_DIGITS = 256

_NAMED = 40
"""As many candidates are named one by one in a picture."""

_SEEN = 24
"""As many points are drawn of a run that slopes."""

_FAR = 6
"""A picture follows a run without end that many times its mean."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring candidates whose scores are equal, or fall by the same amount a step. Private.

    Attributes:
        first: the lowest candidate; None if there is no end.
        last: the highest candidate; None if there is no end.
        size: how many there are; None if there is no end.
        score: the best score in the run.
        slope: how much the score falls from each candidate to the next; 0 where all are equal.
        mass: the probability of the whole run.
    """

    first: Any
    last: Any
    size: int | None
    score: Fraction
    slope: Fraction
    mass: Enclosure


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Distribution:
    """The law of an answer, each number certified between two fractions. Private, like the scores.

    Where candidates are too many to list, the law comes in runs: `law.runs`. Scores are those of the
    verb (docs/distribution.md names them), and an error is by how much the answer's score is behind the
    best one.

    Attributes:
        candidates: what may be answered, or the indices.
        mechanism: the name of the mechanism.
        guarantee: what one answer promises.
    """

    candidates: Any
    mechanism: str
    guarantee: Guarantee
    _unit: Fraction
    _line: Line
    _stretches: tuple[Stretch, ...]
    _masses: tuple[arb, ...]

    @property
    def lower(self) -> tuple[Fraction, ...]:
        """A lower bound on the probability of each run; in a list every candidate is one."""
        return tuple(map(lower, self._masses))

    @property
    def upper(self) -> tuple[Fraction, ...]:
        """An upper bound on the probability of each run; in a list every candidate is one."""
        return tuple(map(upper, self._masses))

    @property
    def size(self) -> int | None:
        """How many candidates there are; None for no end."""
        sizes = [stretch.size for stretch in self._stretches]
        return sum(sizes) if all(sizes) else None

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs in the order of their candidates; in a list every candidate is one, as listed."""
        return tuple(map(self._run, self._stretches, self._masses))

    def pmf(self) -> dict[Any, float]:
        """Return each probability as the double nearest to the middle of its bounds.

        Raises:
            InvalidArgument: if more than 100,000 candidates are on a grid.
        """
        if self.size is None or self.size > max(MOST_LISTED, len(self._masses)):
            raise InvalidArgument(
                f"a law over more than {MOST_LISTED:,} candidates is not listed; see runs, top(n), "
                "cdf(value) or probability(candidate)"
            )
        chances: dict[Any, float] = {}
        for stretch, mass in zip(self._stretches, self._masses, strict=True):
            for place in range(stretch.start, stretch.start + stretch.size):
                chance = _bounds(lambda p=place, s=stretch, m=mass: m * s.at(s.steps(p)), 0, 1)
                chances[self._line[place]] = float(chance)
        return chances

    def probability(self, candidate: Any) -> Enclosure:
        """Return the probability of one candidate; 0 for what cannot be answered."""
        place = self._line.find(candidate)
        if place is None:
            return Enclosure(Fraction(0), Fraction(0))
        return self._total(lambda s: s.at(s.steps(place)), 0, 1)

    def cdf(self, value: Number) -> Enclosure:
        """Return the probability that the answer is at most `value`.

        Raises:
            InvalidArgument: if the candidates are not all numbers.
        """
        place = self._line.at_or_below(exact(value, "value"))
        return self._total(lambda s: s.up_to(place), 0, 1)

    def quantile(self, p: Number) -> Any:
        """Return the least candidate that the answer is at most with probability `p`.

        Exact, but where the probability is within 2**-64 of `p` without being told apart from it: then
        they count as equal.

        Raises:
            InvalidArgument: if `p` is not above 0 and below 1, or the candidates are not all numbers.
        """
        share = exact(p, "p")
        if not 0 < share < 1:
            raise InvalidNumber(f"p must be above 0 and below 1, got {shown(p)}")
        self._line.at_or_below(Fraction(0))  # refuses what has no order
        low, high = self._bracket(share)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._reaches(middle, share) else (middle, high)
        return self._line[high]

    def tail(self, error: Number) -> Enclosure:
        """Return the probability that the score of the answer is behind the best by at least `error`."""
        gap, best = exact(error, "error") / self._unit, self._best()
        return self._total(lambda s: s.behind(gap - (best - s.top)), 0, 1)

    def expected_error(self) -> Enclosure:
        """Return by how much the score of the answer is behind the best one on average."""
        best, unit = self._best(), ball(self._unit)
        return self._total(lambda s: unit * (ball(best - s.top) + s.mean_loss()), 0)

    def expected_score(self) -> Enclosure:
        """Return the mean of the score of the answer."""
        return self._total(lambda s: ball(self._unit) * (ball(s.top) - s.mean_loss()))

    def expected_value(self) -> Enclosure:
        """Return the mean of the answer.

        Raises:
            InvalidArgument: if the candidates are not all numbers.
        """
        self._line.at_or_below(Fraction(0))  # refuses what are no numbers

        def mean(s: Stretch) -> arb:
            steps = s.mean_steps() if s.upward else -s.mean_steps()
            return ball(exact(self._line[s.best], "a candidate")) + ball(self._line.step) * steps

        return self._total(mean)

    def entropy(self) -> Enclosure:
        """Return the entropy, in nats: 0 if the answer is certain, ln n if n are equally likely."""
        within = self._total(Stretch.entropy, 0)
        between = _bounds(lambda: sum(map(_surprise, self._masses), arb(0)), 0)
        return Enclosure(within.lower + between.lower, within.upper + between.upper)

    def top(self, n: int) -> list[tuple[Any, Enclosure]]:
        """Return the `n` likeliest candidates with their probabilities, likeliest first."""
        most = count(n, "n", most=MOST_LISTED)
        runs = map(self._from_the_best, self._stretches, self._masses)
        merged = heapq.merge(*runs, key=lambda pair: pair[1].mid(), reverse=True)
        return [(self._line[place], Enclosure.of(p, 0, 1)) for place, p in itertools.islice(merged, most)]

    def as_dict(self) -> dict[str, Any]:
        """Return the law in plain values, exact numbers and bounds as text, ready for JSON. Private."""
        return {
            "private": "do not publish: a law tells the scores",
            "mechanism": self.mechanism,
            "guarantee": self.guarantee.as_dict(),
            "size": self.size,
            "expected_error": self.expected_error().as_dict(),
            "runs": [_run_as_dict(run) for run in self.runs],
        }

    def plot(self, *, answer: Any = None, draws: Simulation | None = None) -> "Figure":
        """Return a picture of the law as a matplotlib figure. Private, like the law.

        Args:
            answer: a candidate to mark, such as the value of a release.
            draws: draws whose frequencies are put beside the law.
        """
        shown = self.series()
        if shown.labels is not None:
            return plots.law(shown, answer=answer, draws=draws and draws.values)
        mark = None if answer is None else self._position(answer)
        return plots.law(shown, answer=mark, draws=draws and list(map(self._position, draws.values)))

    def plot_scores(self) -> "Figure":
        """Return a picture of the scores as a matplotlib figure. Private, like the scores."""
        return plots.scores(self.series())

    def series(self) -> plots.Series:
        """Return what a picture shows: places, probabilities and scores, as doubles."""
        few = self.size is not None and self.size <= _NAMED
        pairs = zip(self._stretches, self._masses, strict=True)
        points = [(s, mass, k) for s, mass in pairs for k in _some_steps(s, few)]
        if not few:
            points.sort(key=lambda point: point[0].index(point[2]))
        answers = [self._line[s.index(k)] for s, _, k in points]
        chances = [_bounds(lambda p=p: p[1] * p[0].at(p[2]), 0, 1) for p in points]  # type: ignore[misc]
        return plots.Series(
            name=f"{self.mechanism}, {self._price()}",
            labels=tuple(map(str, answers)) if few else None,
            x=tuple(range(len(points))) if few else tuple(map(self._position, answers)),
            chances=tuple(map(float, chances)),
            scores=tuple(float((s.top - s.slope * k) * self._unit) for s, _, k in points),
            step=float(self._line.step or 1),
        )

    def _position(self, answer: Any) -> float:
        """Return where an answer is on the axis of a picture: numbers by value, others by place."""
        return float(answer if self._line.is_ordered else self._line.find(answer) or 0)

    def _price(self) -> str:
        """Return in short what one answer costs."""
        stated = self.guarantee.as_dict()
        return f"ε = {spell(Fraction(stated['epsilon']))}" if "epsilon" in stated else str(self.guarantee)

    def __repr__(self) -> str:
        size = "endlessly many" if self.size is None else f"{self.size:,}"
        runs = "" if self.size == len(self._masses) else f" in {len(self._masses):,} runs"
        return f"Distribution(over {size} candidates{runs}; private, do not publish)"

    def _total(
        self, of: Callable[[Stretch], arb], least: int | None = None, most: int | None = None
    ) -> Enclosure:
        """Return the mean over the runs, each with its mass, of a number that a run has."""
        runs = zip(self._stretches, self._masses, strict=True)
        return _bounds(lambda: sum((mass * of(s) for s, mass in runs), arb(0)), least, most)

    def _best(self) -> Fraction:
        return max(stretch.top for stretch in self._stretches)

    def _reaches(self, place: int, share: Fraction) -> bool:
        """Return whether the probability of an answer up to a place may be as large as a share."""
        return self._total(lambda s: s.up_to(place), 0, 1).upper >= share

    def _bracket(self, share: Fraction) -> tuple[int, int]:
        """Return a place up to which the probability is certainly less than a share, and one where not."""
        low, high = min(s.lowest for s in self._stretches), max(s.highest for s in self._stretches)
        best = self._stretches[0].best
        below = best - 1 if math.isinf(low) else int(low) - 1
        above = best if math.isinf(high) else int(high)
        while math.isinf(low) and self._reaches(below, share):
            below -= best - below
        while math.isinf(high) and not self._reaches(above, share):
            above += above - below
        return below, above

    def _from_the_best(self, stretch: Stretch, mass: arb) -> Iterator[tuple[int, arb]]:
        """Yield the candidates of a run with their probabilities, likeliest first."""
        for steps in range(stretch.size) if stretch.size else itertools.count():
            with precision(_DIGITS):
                chance = mass * stretch.at(steps)
            yield stretch.index(steps), chance

    def _run(self, stretch: Stretch, mass: arb) -> Run:
        """Return a run as people see it."""
        ends = (stretch.lowest, stretch.highest)
        first, last = (None if math.isinf(end) else self._line[int(end)] for end in ends)
        score, slope = stretch.top * self._unit, stretch.slope * self._unit
        return Run(first, last, stretch.size or None, score, slope, Enclosure.of(mass, 0, 1))


def _bounds(compute: Callable[[], arb], least: int | None = None, most: int | None = None) -> Enclosure:
    """Return the bounds of a ball that is computed with digits to spare."""
    with precision(_DIGITS):
        return Enclosure.of(compute(), least, most)


def _surprise(mass: arb) -> arb:
    """Return -p ln p for every p of the ball that is from 0 to 1."""
    if mass > 0:
        return -mass * mass.log()
    most = arb.max(mass.upper(), arb(0))  # so small that -p ln p still grows with p
    return arb(0) if most == 0 else arb(0).union(-most * most.log())


def _run_as_dict(run: Run) -> dict[str, Any]:
    """Return a run in plain values."""
    ends = (run.first, run.last)
    first, last = (end if isinstance(end, str | int | None) else str(end) for end in ends)
    exact_numbers = {"score": str(run.score), "slope": str(run.slope)}
    return {"first": first, "last": last, "size": run.size, **exact_numbers, "mass": run.mass.as_dict()}


def _some_steps(stretch: Stretch, every: bool) -> list[int]:
    """Return from the best end how far the points are that a picture shows of a run."""
    if every or 0 < stretch.size <= _SEEN:
        return list(range(stretch.size))
    if stretch.slope == 0:
        return [0, stretch.size - 1]
    far = _FAR * (int(upper(stretch.mean_steps())) + 1)
    last = min(far, stretch.size - 1) if stretch.size else far
    near = {last * i // _SEEN for i in range(_SEEN + 1)}
    return sorted(near if stretch.size == 0 else near | {stretch.size - 1})
