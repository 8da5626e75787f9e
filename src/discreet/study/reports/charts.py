"""Charts as SVG, drawn by a template of our own: they need no other package, no script and no other file."""

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import pairwise

from markupsafe import Markup

from ...base.count_tables import CountTable
from ...base.escapes import visible_text
from ...base.messages import Message, gettext, translate
from ...tables.templates import render_template
from ..plots.contents import (
    LOSS,
    MOST_NAMED,
    PRIVATE,
    Series,
    candidate_ticks,
    claim,
    furthest_loss,
    round_numbers,
    spending,
)

_WIDTH = 560
"""The width in units of which the letters are 15 high: narrow, so that they can be read on a phone."""

_ROW, _LETTER, _LEFT, _RIGHT = 26, 8.2, 62, 20
_PLOT_HEIGHT = 230
_WIDEST_NAMES = 240
_MOST_POINTS = 200

Position = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with its caption, as it stands in a report.

    Attributes:
        svg: the chart.
        caption: the text below it.
    """

    svg: Markup
    caption: Message


@dataclass(frozen=True, slots=True)
class Shape:
    """An element of SVG with its attributes, and its meaning in words."""

    tag: str
    attributes: dict[str, object]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Words at a place."""

    words: str
    x: float
    y: float
    anchor: str = "middle"


@dataclass(slots=True)
class Chart:
    """A chart that is being drawn: a frame with a scale in both directions, in which shapes and texts are put.

    Attributes:
        heading: the lines above the frame.
        x: returns the place of a number of the horizontal axis, from 0 to 1.
        y: returns the place of a number of the vertical axis, from 0 to 1.
        left: the place of the left end of the frame.
        rows: the height of the frame.
        shapes: the marks.
        texts: the words.
    """

    heading: Sequence[str]
    x: Callable[[float], float]
    y: Callable[[float], float]
    left: float = _LEFT
    rows: float = _PLOT_HEIGHT
    shapes: list[Shape] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)

    @property
    def top(self) -> float:
        """The place of the upper end of the frame."""
        return 12 + 21 * len(self.heading)

    def across(self, number: float) -> float:
        """Return where a number lies from left to right."""
        return round(self.left + self.x(number) * (_WIDTH - _RIGHT - self.left), 2)

    def down(self, number: float) -> float:
        """Return where a number lies from top to bottom."""
        return round(self.top + (1 - self.y(number)) * self.rows, 2)

    def path(self, kind: str, points: Iterable[Position], title: str = "") -> None:
        """Draw a line through points."""
        way = " ".join(
            f"{self.across(abscissa)},{self.down(ordinate)}" for abscissa, ordinate in points
        )
        self.shapes.append(Shape("polyline", {"class": kind, "points": way}, title))

    def dot(self, abscissa: float, ordinate: float, title: str) -> None:
        """Draw a point."""
        place = {"class": "dot", "cx": self.across(abscissa), "cy": self.down(ordinate), "r": 4}
        self.shapes.append(Shape("circle", place, title))

    def upright(self, kind: str, abscissa: float) -> None:
        """Draw a line over the whole height. Those of the grid are behind everything."""
        place = {
            "class": kind,
            "x1": self.across(abscissa),
            "x2": self.across(abscissa),
            "y1": self.top,
        }
        line = Shape("line", {**place, "y2": self.top + self.rows})
        self.shapes.insert(0 if kind == "grid" else len(self.shapes), line)

    def tick_below(self, ticks: Iterable[tuple[float, str]], name: str) -> None:
        """Write numbers and the name of the horizontal axis below the frame."""
        end = self.top + self.rows
        for number, words in ticks:
            self.upright("grid", number)
            room = _WIDTH - _width(words) / 2
            self.texts.append(Text(words, min(self.across(number), room), end + 20))
        middle = (self.left + _WIDTH - _RIGHT) / 2
        self.texts.append(Text(name, middle, end + 44))

    def tick_left(self, ticks: Iterable[float]) -> None:
        """Write numbers at the left of the frame."""
        for number in ticks:
            ordinate = self.down(number)
            ends = {"x1": self.left, "x2": _WIDTH - _RIGHT, "y1": ordinate, "y2": ordinate}
            self.shapes.append(Shape("line", {"class": "grid", **ends}))
            self.texts.append(Text(f"{number:,.6g}", self.left - 8, ordinate + 5, "end"))

    def svg(self, summary: str) -> Markup:
        """Return the chart as an `<svg>` element."""
        heads = [
            Text(words, 4, 18 + 21 * place, "start") for place, words in enumerate(self.heading)
        ]
        return Markup(  # the template escapes its texts
            render_template(
                "reports/chart.svg", summary=" ".join(summary.split()), shapes=self.shapes,
                texts=[*heads, *self.texts], width=_WIDTH, height=round(self.top + self.rows + 56),
            )
        )  # fmt: skip


def draw_losses(losses: Sequence[float], epsilon: float) -> Markup:
    """Return bars for the privacy losses of outputs, between dashed lines at the claim."""
    edge, words = furthest_loss(losses, epsilon), claim(epsilon)
    names = [str(place) for place in range(len(losses))]
    chart = _bars([words, gettext("output", "an axis")], names, losses, (-edge, edge))
    for side in (-epsilon, epsilon):
        chart.upright("claim", side)
    chart.tick_below(_numbers(_ticks(-edge, edge)), translate(LOSS))
    for row, loss in enumerate(losses):
        if math.isinf(loss):
            end = math.copysign(0.97 * edge, loss)
            chart.texts.append(Text("∞", chart.across(end), chart.down(row) + 5))
    return chart.svg(words)


def draw_law(law: Series, label: str) -> Markup:
    """Return the probability of every candidate: bars for names, stems or steps for numbers."""
    subject = gettext("exact distribution: {name}", name=law.name)
    heading = [subject, translate(PRIVATE)]
    if law.labels is not None:
        chart = _bars(heading, law.labels, law.chances, (0, 1.05 * max(law.chances)))
        chart.tick_below(_numbers(_ticks(0, 1.05 * max(law.chances))), gettext("probability"))
        return chart.svg(" ".join(heading))
    low, high = law.window
    few = law.are_few(low, high)
    view = law.within(low, high) if few else law
    heading.append(gettext("probability of each candidate"))
    chart = _graph(heading, (low, high), max(view.chances))
    if few:
        for abscissa, chance in zip(view.x, view.chances, strict=True):
            chart.path("stem", [(abscissa, 0), (abscissa, chance)])
            chart.dot(abscissa, chance, f"{abscissa:,.10g}: {chance:.4g}")
    else:
        points = [
            (min(max(abscissa, low), high), chance)
            for abscissa, chance in zip(view.x, view.chances, strict=True)
        ]
        chart.path("line", _steps_between(points) if view.in_steps else points, subject)
    ticks = candidate_ticks(view.x) if few else _ticks(low, high)
    chart.tick_below(_numbers(ticks), gettext(label, "an axis"))
    return chart.svg(" ".join(heading[:2]))


def draw_counts(counts: CountTable) -> Markup:
    """Return a bar for every count, as long as the count. For many the first ones."""
    rows = counts.rows[:MOST_NAMED]
    names = [visible_text(", ".join(labels)) for labels, _ in rows]
    lengths = [float(count) for _, count in rows]
    ends = (0.0, 1.05 * max(max(lengths, default=0.0), 1.0))
    heading = [gettext("count")]
    if len(counts.rows) > MOST_NAMED:
        heading = [
            gettext("count: the first {shown} of {all:,}", shown=MOST_NAMED, all=len(counts.rows))
        ]
    chart = _bars(heading, names, lengths, ends)
    chart.tick_below(
        [tick for tick in _numbers(_ticks(*ends)) if tick[0] % 1 == 0], gettext("count")
    )
    return chart.svg(heading[0])


def draw_curve(
    points: Sequence[Position], *, name: str, abscissa: str, ordinate: str, at: float
) -> Markup:
    """Return a line through many points over a logarithmic axis, with a place marked."""
    numbers = [number for number, _ in points]
    chart = _graph([*ordinate.splitlines()], (0, 1), max(height for _, height in points))
    chart.x = _logarithmic_scale(min(numbers), max(numbers))
    chart.upright("here", at)
    chart.path("line", points, name)
    here = gettext("here: {at:.4g}", at=at)
    chart.texts.append(Text(here, chart.across(at) + 8, chart.top + 16, "start"))
    ticks = round_numbers(min(numbers), max(numbers)) or sorted({*numbers})
    chart.tick_below(_numbers(ticks), abscissa)
    return chart.svg(gettext("{y} by {x}", y=ordinate, x=abscissa))


def draw_budget(points: Sequence[tuple[datetime, Fraction, Fraction]], unit: str) -> Markup:
    """Return the spent budget over time as steps, below a dashed line at the total."""
    times = [time.timestamp() for time, _, _ in points]
    spent, totals, titles = spending(points, unit)
    name = gettext("{unit} spent", unit=unit)
    span = (times[0], times[-1]) if times[-1] > times[0] else (times[0] - 1, times[0] + 1)
    chart = _graph([name], span, max(*totals, *spent))
    ticks, axis = _times(points[0][0], points[-1][0])
    chart.tick_below(ticks, axis)
    chart.path("area", [(times[0], 0), *_stairs(times, spent), (times[-1], 0)])
    chart.path("line", _stairs(times, spent), gettext("spent"))
    chart.path("claim", _stairs(times, totals), gettext("budget"))
    if len(points) <= _MOST_POINTS:
        for place, amount, title in zip(times, spent, titles, strict=True):
            chart.dot(place, amount, title)
    return chart.svg(gettext("{y} by {x}", y=name, x=axis))


def _bars(
    heading: Sequence[str], names: Sequence[str], lengths: Sequence[float], ends: Position
) -> Chart:
    """Return a chart of horizontal bars from zero, the first name on top, with room for names at the left."""
    names = list(map(_short, names))
    widest = max(map(_width, names), default=0)
    low, high = ends
    count = max(1, len(names))
    chart = Chart(
        heading,
        _scale(low, high),
        _scale(count - 0.5, -0.5),
        left=min(_WIDEST_NAMES, 16 + widest),
        rows=_ROW * count,
    )
    for row, (name, length) in enumerate(zip(names, lengths, strict=True)):
        start, end = sorted((chart.across(0), chart.across(max(low, min(high, length)))))
        place = {"x": start, "y": chart.down(row) - 9, "width": round(end - start, 2), "height": 18}
        chart.shapes.append(Shape("rect", {"class": "bar", **place}, f"{name}: {_spell(length)}"))
        chart.texts.append(Text(name, chart.left - 8, chart.down(row) + 5, "end"))
    return chart


def _graph(heading: Sequence[str], ends: Position, highest: float) -> Chart:
    """Return a chart over an axis of numbers, with heights from zero."""
    low, high = ends
    top = 1.08 * highest or 1.0
    chart = Chart(heading, _scale(low, high), _scale(0, top))
    chart.tick_left(_ticks(0, top))
    return chart


def _scale(low: float, high: float) -> Callable[[float], float]:
    """Return the function that maps an interval to 0 and 1."""

    def place(number: float) -> float:
        return (number - low) / (high - low)

    return place


def _logarithmic_scale(low: float, high: float) -> Callable[[float], float]:
    """Return the function that maps the logarithms of an interval to 0 and 1."""
    scale = _scale(math.log(low), math.log(high))

    def place(number: float) -> float:
        return scale(math.log(number))

    return place


def _ticks(low: float, high: float) -> list[float]:
    """Return up to seven round numbers from one number to another."""
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def _numbers(ticks: Iterable[float]) -> list[tuple[float, str]]:
    return [(tick, f"{tick:,.6g}") for tick in ticks]


def _times(first: datetime, last: datetime) -> tuple[list[tuple[float, str]], str]:
    """Return the ticks of a time axis and its name: days, or times of the day that is named."""
    is_short = last - first < timedelta(days=2)
    form = "%H:%M:%S" if is_short else "%Y-%m-%d"
    day = first.strftime("%Y-%m-%d")
    name = gettext("time of day, from {day} on (UTC)", day=day) if is_short else gettext("time")
    middle = first + (last - first) / 2
    ticks = [first, middle, last] if last > first else [first]
    return [(tick.timestamp(), tick.strftime(form)) for tick in ticks], name


def _stairs(places: Sequence[float], heights: Sequence[float]) -> list[Position]:
    """Return the corners of a line that keeps its height up to the next place."""
    before = zip(places[1:], heights, strict=False)
    after = zip(places[1:], heights[1:], strict=True)
    corners = [corner for pair in zip(before, after, strict=True) for corner in pair]
    return [(places[0], heights[0]), *corners]


def _steps_between(points: Sequence[Position]) -> list[Position]:
    """Return the corners of a line that keeps its height up to the middle between two points."""
    corners = [points[0]]
    for (abscissa, height), (next_x, next_height) in pairwise(points):
        corners += [((abscissa + next_x) / 2, height), ((abscissa + next_x) / 2, next_height)]
    return [*corners, points[-1]]


def _spell(length: float) -> str:
    """Return a number in four digits, or the sign of infinity."""
    return f"{length:.4g}".replace("inf", "∞")


def _short(name: str) -> str:
    """Return a name that fits at the left."""
    while _width(name) > _WIDEST_NAMES - 16:
        name = f"{name[:-2]}…"
    return name


def _width(words: str) -> float:
    """Return about how wide words are: Chinese characters are as wide as two letters."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in words)
    return _LETTER * (len(words) + wide)
