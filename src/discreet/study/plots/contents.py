"""The contents of pictures in plain values, which figures of matplotlib and charts of reports both draw."""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ...base.messages import Message, gettext

BLUE, ORANGE, GREEN, RED, BLACK, PINK = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#000000", "#cc79a7"
)  # fmt: skip
"""The palette of Okabe and Ito, which colour-blind readers can tell apart."""

PALE_BLUE, PALE_ORANGE = "#9cc9e4", "#f7e3b5"
"""For areas, below hatches."""

ON_DARK = {"#ffffff": "#16181c", BLACK: "#ececec", "#dddddd": "#44484f", "#cccccc": "#44484f",
           PALE_BLUE: "#1f4f6e", PALE_ORANGE: "#6b5417", BLUE: "#56b4e9"}  # fmt: skip
"""What colours become on a dark page. Those that are not here read on both."""

PRIVATE = Message("contains private data: do not publish")
"""The second line of the title of a picture of private data."""

LOSS = Message("privacy loss (log-ratio of the two probabilities)")
"""The name of the axis of privacy losses."""

MOST_NAMED = 40
"""As many names of candidates or keys stand beside their bars."""

_FEW_POINTS = 40
"""As many points are drawn as points: a line would look like something measured between them."""

MOST_TICKS = 8


@dataclass(frozen=True, slots=True, repr=False)
class Series:
    """The points of a plotted distribution. Private.

    Attributes:
        name: the name in a legend.
        labels: the candidates if they are few enough to be named, else None.
        x: the positions of the points on the axis of candidates.
        chances: the probability of one candidate there.
        scores: its score.
        step: the distance between neighbouring candidates.
        window: the part of the axis where nearly all of the probability is, and eleven candidates at least.
        in_steps: whether candidates between two points equal the nearer one. Otherwise they lie on a line.
        apart: the distance between neighbouring candidates on a grid. It is infinite in a list, because all are
            points.
        is_of_dates: whether candidates are dates, and positions days from 1970-01-01.
    """

    name: str
    labels: tuple[str, ...] | None
    x: tuple[float, ...]
    chances: tuple[float, ...]
    scores: tuple[float, ...]
    step: float
    window: tuple[float, float]
    in_steps: bool = True
    apart: float = math.inf
    is_of_dates: bool = False

    def are_few(self, low: float, high: float) -> bool:
        """Return whether few candidates are in view, all of them points."""
        inside = [place for place in self.x if low <= place <= high]
        gaps = (after - before for before, after in pairwise(inside))
        return are_few(inside) and all(gap < 1.5 * self.apart for gap in gaps)

    def at(self, places: Sequence[float] | None) -> tuple[str, Sequence[float], Sequence[float]]:
        """Return the name and the coordinates of the points: across, or downwards at the places of the labels."""
        return (
            (self.name, self.x, self.chances)
            if places is None
            else (self.name, self.chances, places)
        )

    @property
    def spell(self) -> Callable[[float], str]:
        """The writer of positions: as a number, or as a date."""
        return spell_day if self.is_of_dates else "{:g}".format

    def within(self, low: float, high: float) -> "Series":
        """Return the series of the candidates in view."""
        if self.labels is not None:
            return self
        inside = [index for index, place in enumerate(self.x) if low <= place <= high]
        x, chances, scores = (
            tuple(values[index] for index in inside)
            for values in (self.x, self.chances, self.scores)
        )
        return replace(self, x=x, chances=chances, scores=scores)


def are_few(x: Sequence[float]) -> bool:
    """Return whether points are so few that they are drawn one by one."""
    return len(x) <= _FEW_POINTS


def spell_day(days: float) -> str:
    """Return the date that so many days from 1970-01-01 are, with the time if it is not midnight."""
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=round(days * 86_400))
    return str(moment.date() if moment.time() == dt.time() else moment)


def candidate_ticks(x: Sequence[float]) -> list[float]:
    """Return some of a few candidates: round ones if they are evenly spread."""
    gap = min((b - a for a, b in pairwise(sorted(x))), default=1.0)
    every = next(k for k in (1, 2, 5, 10, 20, 50) if len(x) <= k * MOST_TICKS)
    ticks = [place for place in x if abs(place / gap - round(place / gap)) <= 1e-6]
    return [place for place in ticks if round(place / gap) % every == 0] or [*x[::every]]


def round_numbers(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten between two numbers, or only powers if that is too many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), (1,)):
        every = [float(f"{digit}e{power}") for power in powers for digit in digits]
        inside = [tick for tick in every if low * 0.999 <= tick <= high * 1.001]
        if len(inside) <= MOST_TICKS:
            return inside
    return inside[:: -(-len(inside) // MOST_TICKS)]


def furthest_loss(losses: Iterable[float], epsilon: float) -> float:
    """Return how far an axis of privacy losses reaches in both directions. Infinite losses end there too."""
    return 1.25 * max([epsilon, *(abs(loss) for loss in losses if math.isfinite(loss))])


def claim(epsilon: float) -> str:
    """Return the meaning of the dashed lines beside privacy losses."""
    return gettext("dashed: what was claimed, ±ε = ±{epsilon:.4g}", epsilon=epsilon)


def axes_of_errors(what: str, unit: str) -> tuple[str, str]:
    """Return the names of the axes of an accuracy-privacy curve: of epsilons, and of errors of a kind in a unit."""
    epsilons = gettext("ε of one answer (more privacy to the left)")
    return epsilons, gettext("{what}\n(in units of {unit})", what=what, unit=unit)


def spending(
    points: Sequence[Sequence[Any]], unit: str
) -> tuple[list[float], list[float], list[str]]:
    """Return the amounts that were spent and the totals of a budget over time, and the first ones in words.

    Args:
        points: triples of a time, the amount spent so far, and the total of the budget.
        unit: the sign of the privacy parameter.
    """
    spent, totals = ([float(point[column]) for point in points] for column in (1, 2))
    titles = [
        gettext("{time}: {unit} = {amount:.4g} spent", time=time, unit=unit, amount=so_far)
        for (time, *_), so_far in zip(points, spent, strict=True)
    ]
    return spent, totals, titles
