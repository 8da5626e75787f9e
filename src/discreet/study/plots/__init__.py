"""Pictures, for eyes that own the data: a picture of a distribution or of scores is as private as they are.

All functions accept plain numbers and return a new matplotlib figure, which a notebook shows. They don't use pyplot
and its global state. Colours are those of Okabe and Ito. Hatches, dashes and markers show the same in black and
white. The background is opaque. Needs `pip install "discreet[plots]"`.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ...base.arguments import read_sequence
from ...base.error_boundary import error_boundary
from ...base.escapes import visible_text
from ...base.messages import Message, gettext, translate
from ...errors import DiscreetError, InvalidArgument
from ...selection.shown_answers import floor_counts
from . import cell_pictures, contents, marks
from .contents import BLUE, LOSS, MOST_NAMED, ORANGE, PALE_ORANGE, RED
from .contents import Series as Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .figure import Figure

_P = ParamSpec("_P")
_T = TypeVar("_T")

_BINS = 40
_PROBABILITY = Message("probability"), Message("probability of each candidate")
_MOST_ITEMS = 10**6
_MOST_BARS = 10_000


def _drawing(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the function with matplotlib's errors replaced, as they may quote the values that were plotted."""

    @error_boundary
    @wraps(function)
    def draw(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        signature(function).bind(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        except DiscreetError:
            raise
        except Exception:  # of numpy, of matplotlib, or because of a wrong type
            pass
        raise InvalidArgument(
            f"{function.__name__} cannot draw this: it takes plain numbers and short texts. See "
            "help()"
        )

    return draw


@_drawing
def scores(series: Series, *, label: str = "candidate") -> "Figure":
    """Return a picture of the score of every candidate, with `label` as the name of their axis."""
    with marks.canvas(marks.height(series.labels)) as (figure, axes):
        if series.labels is not None:
            marks.bars(figure, series.labels, series.scores, gettext("score"))
        else:
            few = series.are_few(-math.inf, math.inf)
            style = "stems" if few else "steps" if series.in_steps else "line"
            marks.values(figure, series.x, series.scores, gettext("score"), style, series.spell)
            _tick(axes, series, few=few)
        marks.name_axes(
            axes, series.labels, (Message("score"), Message("score of each candidate")), label
        )
        marks.entitle_private(axes, Message("score of each candidate"))
        return figure


@_drawing
def law(
    series: Series,
    *,
    answer: object = None,
    draws: Sequence[object] | None = None,
    label: str = "candidate",
) -> "Figure":
    """Return a picture of the probability of every candidate.

    Args:
        series: the distribution.
        answer: a candidate to mark.
        draws: drawn candidates. Their frequencies are shown next to the distribution.
        label: the name of the axis of candidates, with its unit.
    """
    draws = None if draws is None else read_sequence(draws, "draws", _MOST_ITEMS)
    with marks.canvas(marks.height(series.labels)) as (figure, axes):
        draw = _on_a_line if series.labels is None else _in_a_list
        draw(figure, series, answer, draws)
        marks.name_axes(axes, series.labels, _PROBABILITY, label)
        marks.entitle_private(axes, Message("exact distribution: {name}", name=series.name))
        if answer is not None or draws is not None:
            marks.legend(figure)
        return figure


def _tick(axes: "Axes", series: Series, *, few: bool) -> None:
    """Put ticks on few candidates only. Dates have those of a calendar."""
    if series.is_of_dates:
        marks.dates(axes)
    elif few:
        marks.tick_candidates(axes, series.x)


def _read_laws(several: Iterable[Series]) -> Sequence[Series]:
    """Return distributions as a sequence, if they are over the same candidates."""
    sequence = read_sequence(several, "several", _MOST_ITEMS)
    if len({series.labels for series in sequence}) != 1:
        raise InvalidArgument(
            "distributions in one picture must be over the same candidates, and at least one"
        )
    return sequence


@_drawing
def laws(several: Iterable[Series], *, label: str = "candidate") -> "Figure":
    """Return a plot of several distributions over the same candidates, such as for several epsilons."""
    laws_drawn = _read_laws(several)
    labels = laws_drawn[0].labels
    windows = [series.window for series in laws_drawn]
    low, high = min(low for low, _ in windows), max(high for _, high in windows)
    few = labels is not None or all(series.are_few(low, high) for series in laws_drawn)
    if few:
        laws_drawn = [series.within(low, high) for series in laws_drawn]
    with marks.canvas(marks.height(labels)) as (figure, axes):
        places = None if labels is None else range(len(labels))
        marks.series_of_points(
            figure,
            [series.at(places) for series in laws_drawn],
            in_steps=all(series.in_steps for series in laws_drawn),
            few=few,
        )
        if labels is None:
            _tick(axes, laws_drawn[0], few=few)
            axes.set_xlim(low, high)
        marks.name_axes(axes, labels, _PROBABILITY, label)
        marks.entitle_private(axes, Message("exact distributions"))
        marks.legend(figure)
        return figure


@_drawing
def frequencies(
    values: Sequence[object], *, label: str = "candidate", candidates: Sequence[object] = ()
) -> "Figure":
    """Return a bar chart of the frequencies of drawn values, the most frequent first.

    Args:
        values: the draws.
        label: the name of the axis of candidates, with its unit.
        candidates: the possible answers. Those that were never drawn have a bar of length zero.
    """
    values = read_sequence(values, "values", _MOST_ITEMS)
    counts = Counter(values)
    counts.update(dict.fromkeys(candidates, 0))
    if len(counts) > MOST_NAMED and all(
        isinstance(candidate, int | float | Decimal | Fraction) for candidate in counts
    ):
        return histograms({label: values}, label=label)
    tally = counts.most_common(MOST_NAMED)
    labels = tuple(marks.short(candidate) for candidate, _ in tally)
    with marks.canvas(marks.height(labels)) as (figure, axes):
        marks.bars(figure, labels, [n / len(values) for _, n in tally], gettext("frequency"))
        marks.name_axes(
            axes, labels, (Message("frequency"), Message("frequency of each candidate")), label
        )
        marks.entitle_private(axes, marks.draws(len(values)))
        return figure


@_drawing
def counts(
    numbers: Mapping[Any, int], *, label: str = "value", names: Sequence[str] = ()
) -> "Figure":
    """Return a bar chart of released counts by key, in their order, up to forty.

    Counts of cells of two columns become a heat map, and those of three columns bars by the third column for each
    pair of the others. There, too, a column shows its first forty values, or its first six if every pair has bars.

    Args:
        numbers: the counts, such as the value of a release of `counts`. They may be published.
        label: the name of the axis of keys.
        names: the names of the columns of cells.
    """
    lengths = dict(zip(numbers, floor_counts([int(one) for one in numbers.values()]), strict=True))
    is_whole = lengths == numbers
    words = Message("count") if is_whole else Message("count (drawn as 0 if below it)")
    if cell_pictures.are_cells(numbers):
        return cell_pictures.picture_of_cells(lengths, names, words)
    rows = [*lengths.items()][:MOST_NAMED]
    labels = tuple(marks.short(visible_text(str(key))) for key, _ in rows)
    with marks.canvas(marks.height(labels)) as (figure, axes):
        marks.bars(figure, labels, [count for _, count in rows], gettext("count"))
        marks.name_axes(axes, labels, (words, words), label)
        axes.set_xlim(left=0)
        return figure


@_drawing
def histograms(
    several: Mapping[str, Sequence[object]], *, bins: int = _BINS, label: str = "candidate"
) -> "Figure":
    """Return histograms of drawn numbers, as one outline per set of draws.

    Args:
        several: draws of numbers under names.
        bins: the number of bins.
        label: the name of the axis of candidates, with its unit.
    """
    draws_by_name = {
        name: [float(number) for number in read_sequence(values, name, _MOST_ITEMS)]
        for name, values in several.items()
    }
    if not all(draws_by_name.values()) or not draws_by_name:
        raise InvalidArgument("several must hold draws under names, and at least one of each")
    low, high = min(map(min, draws_by_name.values())), max(map(max, draws_by_name.values()))
    if low == high:
        low, high, bins = low - 0.5, high + 0.5, 1
    width = (high - low) / bins
    edges = [low + width * count for count in range(bins + 1)]
    with marks.canvas(marks.WIDE) as (figure, axes):
        marks.outlines(figure, draws_by_name, edges)
        axes.set_xlabel(gettext(label, "an axis"))
        axes.set_ylabel(gettext("fraction of the draws\nper bin of width {width:.3g}", width=width))
        marks.entitle_private(axes, Message("draws"))
        marks.legend(figure)
        return figure


@_drawing
def lines(
    named: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x: str,
    y: str,
    at: float | None = None,
    note: str = "",
) -> "Figure":
    """Return a plot over a logarithmic axis: lines through many points, or a few points as they are.

    Args:
        named: the positions and heights of points, by name.
        x: the name of the axis they are on, with its unit.
        y: the name of the axis of heights, with its unit.
        at: a place to mark.
        note: a title, such as a sentence on who may see the picture.
    """
    with marks.canvas(marks.WIDE) as (figure, axes):
        marks.series_of_points(
            figure, [(name, *points) for name, points in named.items()], clip=False
        )
        marks.logarithmic(axes, [float(place) for places, _ in named.values() for place in places])
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        marks.scale_heights(
            axes, [float(height) for _, heights in named.values() for height in heights]
        )
        axes.set_title(note)
        if at is not None:
            axes.axvline(at, color="black", linestyle=":", label=gettext("here: {at:.4g}", at=at))
        marks.legend(figure)
        return figure


@_drawing
def curve(
    errors: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    what: str = "expected error",
    unit: str = "the score",
    at: float | None = None,
    note: str = "",
) -> "Figure":
    """Return the accuracy-privacy curve: errors over epsilons.

    Args:
        errors: the epsilons and errors of a line, by name.
        what: the kind of error, for its axis.
        unit: the unit of the error, for its axis.
        at: an epsilon to mark.
        note: a title, such as a sentence on who may see the picture.
    """
    epsilons, errors_axis = contents.axes_of_errors(what, unit)
    return lines(errors, x=epsilons, y=errors_axis, at=at, note=note)


@_drawing
def budget(points: Iterable[tuple[object, object, object]], *, unit: str = "ε") -> "Figure":
    """Return a plot of the spent budget over time.

    Args:
        points: triples of a time, the amount spent so far, and the total of the budget, in order of time.
        unit: the sign of the privacy parameter.
    """
    rows = read_sequence(points, "points", _MOST_ITEMS)
    if not rows:
        raise InvalidArgument("points must not be empty: there must be a time to draw")
    times = [time for time, _, _ in rows]
    spent, totals, titles = contents.spending(rows, unit)
    with marks.canvas(marks.WIDE) as (figure, axes):
        axes.fill_between(
            times, spent, step="post", facecolor="#9CC9E4", edgecolor=BLUE, hatch="//"
        )
        (line,) = axes.step(
            times, spent, where="post", color=BLUE, marker="o", label=gettext("spent")
        )
        figure.name_marks(line, titles)
        axes.step(times, totals, where="post", color=RED, linestyle="--", label=gettext("budget"))
        axes.set_xlabel(gettext("time"))
        axes.set_ylabel(gettext("{unit} spent", unit=unit))
        axes.set_ylim(0, 1.1 * max(*totals, *spent))
        if isinstance(times[0], date):
            marks.dates(axes)
        marks.legend(figure)
        return figure


@_drawing
def losses(
    ratios: Sequence[float], epsilon: float, *, labels: Sequence[object] | None = None
) -> "Figure":
    """Return a bar chart of the privacy losses of outputs, between dashed lines at the claim.

    Args:
        ratios: ln of the probability for one dataset over that for the other. It may be infinite.
        epsilon: the claimed epsilon.
        labels: the outputs. By default their numbers.
    """
    ratios = read_sequence(ratios, "ratios", _MOST_BARS)
    names = tuple(
        map(
            str,
            range(len(ratios)) if labels is None else read_sequence(labels, "labels", _MOST_BARS),
        )
    )
    edge = contents.furthest_loss(ratios, epsilon)
    with marks.canvas(marks.height(names)) as (figure, axes):
        marks.bars(figure, names, [max(-edge, min(edge, ratio)) for ratio in ratios], "output")
        for row, ratio in enumerate(ratios):
            if math.isinf(ratio):
                axes.annotate("∞ ", (math.copysign(edge, ratio), row), fontsize=16, va="center",
                              ha="right" if ratio > 0 else "left", color=RED,
                              bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # fmt: skip
        for side in (-epsilon, epsilon):
            axes.axvline(side, color=RED, linestyle="--")
        axes.axvline(0, color="black", linewidth=1)
        axes.set_xlim(-1.05 * edge, 1.05 * edge)
        marks.name_axes(axes, names, (LOSS, LOSS), "output")
        axes.set_title(contents.claim(epsilon))
        return figure


def _in_a_list(
    figure: "Figure", series: Series, answer: object, draws: Sequence[object] | None
) -> None:
    """Draw bars for all candidates, the answer's in a colour and hatch of its own."""
    names = series.labels or ()
    row_of_answer = names.index(str(answer)) if str(answer) in names else None
    marks.bars(figure, names, series.chances, gettext("exact distribution"), row_of_answer)
    if draws is not None:
        shares = marks.shares_of([*map(str, draws)], names)
        titles = marks.shares_in_words(names, shares)
        marks.diamonds(figure, shares, range(len(names)), titles, marks.draws(len(draws)))


def _on_a_line(figure: "Figure", series: Series, answer: Any, draws: Sequence[Any] | None) -> None:
    """Draw the probabilities of the candidates over an axis of numbers, and the draws in the same unit."""
    axes, (low, high) = figure.axes[0], series.window
    if answer is not None:
        low, high = min(low, float(answer)), max(high, float(answer))
    few = series.are_few(low, high)
    if few:
        series = series.within(low, high)
    if draws is not None:
        _add_fractions(figure, series, [float(draw) for draw in draws], few)
    label = gettext("exact distribution")
    style = "stems" if few else "steps" if series.in_steps else "line"
    marks.values(figure, series.x, series.chances, label, style, series.spell)
    _tick(axes, series, few=few)
    if answer is not None:
        place = float(answer)
        name = gettext("answer: {name}", name=series.spell(place))
        axes.axvline(place, color=RED, linestyle="--", label=name)
    axes.set_xlim(low, high)


def _add_fractions(figure: "Figure", series: Series, draws: list[float], few: bool) -> None:
    """Draw the fractions of draws: at every one of a few numbers, else as a histogram."""
    label = translate(marks.draws(len(draws)))
    if few:
        shares = marks.shares_of(draws, series.x)
        titles = marks.shares_in_words([*map(series.spell, series.x)], shares)
        marks.diamonds(figure, series.x, shares, titles, label)
        return
    low, high = series.window
    width = series.step * math.ceil((high - low) / series.step / _BINS)
    count = math.ceil((high - low) / width) + 2
    edges = [low + width * edge - series.step / 2 for edge in range(count)]
    weight = series.step / (width * len(draws))
    axes = figure.axes[0]
    axes.hist(draws, bins=edges, weights=[weight] * len(draws), facecolor=PALE_ORANGE,
              edgecolor=ORANGE, hatch="//", label=label)  # fmt: skip
