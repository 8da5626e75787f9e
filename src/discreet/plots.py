"""Pictures, for eyes that own the data: a picture of a law or of scores is as private as they are.

All functions take plain numbers and return a new matplotlib `Figure`: pyplot and its global state are not
touched. Colours are those of Okabe and Ito; hatches, dashes and markers say the
same in black and white. The background is opaque. Needs the extra: pip install "discreet[plots]".
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from itertools import cycle
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .arguments import listed
from .error_boundary import error_boundary
from .errors import DiscreetError, InvalidArgument, MissingPackage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_P = ParamSpec("_P")
_T = TypeVar("_T")

_BLUE, _ORANGE, _GREEN, _RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
_LINES = ((_BLUE, "-", "o"), (_RED, "--", "s"), (_GREEN, "-.", "^"), (_ORANGE, ":", "D"),
          ("#000000", (0, (5, 1)), "v"), ("#CC79A7", (0, (1, 1)), "P"))  # fmt: skip
_BINS, _NAMED, _WIDE = 40, 40, 4.5
_MOST = 10**6
_MOST_BARS = 10_000
_STYLE = {
    "font.size": 13.0, "axes.titlesize": 14.0, "legend.fontsize": 12.0, "lines.linewidth": 2.0,
    "figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white",
    "text.color": "black", "axes.labelcolor": "black", "axes.edgecolor": "black",
    "xtick.color": "black", "ytick.color": "black", "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#DDDDDD",
    "hatch.linewidth": 0.6, "figure.dpi": 120.0, "savefig.dpi": 150.0, "savefig.transparent": False,
}  # fmt: skip


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
            f"{function.__name__} cannot draw this: it takes plain numbers and short texts; see help()"
        )

    return draw


@dataclass(frozen=True, slots=True, repr=False)
class Series:
    """The points of a plotted distribution. Private.

    Attributes:
        name: the name in a legend.
        labels: the candidates if they are few enough to be named, else None.
        x: the positions of the points on the axis of candidates.
        chances: the probability of one candidate there.
        scores: its score.
        step: the distance of neighbouring candidates.
        window: the part of the axis where nearly all of the probability is.
    """

    name: str
    labels: tuple[str, ...] | None
    x: tuple[float, ...]
    chances: tuple[float, ...]
    scores: tuple[float, ...]
    step: float
    window: tuple[float, float]


@_drawing
def scores(series: Series, *, label: str = "candidate") -> "Figure":
    """Return a picture of the score of every candidate; `label` names their axis."""
    with _axes(_height(series.labels)) as axes:
        if series.labels is None:
            axes.plot(series.x, series.scores, color=_BLUE)
        else:
            _bars(axes, series.scores, "score")
        _name_axes(axes, series.labels, "score", label)
        axes.set_title("scores (private)")
        return axes.figure  # type: ignore[return-value]


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
        series: the law.
        answer: a candidate to mark.
        draws: drawn candidates, whose frequencies are put beside the law.
        label: the name of the axis of candidates, with its unit.
    """
    draws = None if draws is None else listed(draws, "draws", _MOST)
    with _axes(_height(series.labels)) as axes:
        draw = _on_a_line if series.labels is None else _in_a_list
        draw(axes, series, answer, draws)
        _name_axes(axes, series.labels, "probability", label)
        axes.set_title(f"{series.name} (private)")
        if answer is not None or draws is not None:
            axes.legend()
        return axes.figure  # type: ignore[return-value]


@_drawing
def laws(several: Iterable[Series], *, label: str = "candidate") -> "Figure":
    """Return a plot of several distributions over the same candidates, such as for several epsilons."""
    shown = listed(several, "several", _MOST)
    if len({series.labels for series in shown}) != 1:
        raise InvalidArgument(
            "laws in one picture must be over the same candidates, and at least one"
        )
    labels = shown[0].labels
    with _axes(_height(labels)) as axes:
        for series, (colour, dash, marker) in zip(shown, cycle(_LINES), strict=False):
            if labels is None:
                axes.plot(series.x, series.chances, color=colour, linestyle=dash, label=series.name)
            else:
                axes.plot(series.chances, range(len(labels)), marker, color=colour, markersize=10,
                          fillstyle="none", markeredgewidth=2, clip_on=False, label=series.name)  # fmt: skip
        windows = [series.window for series in shown]
        if labels is None:
            axes.set_xlim(min(low for low, _ in windows), max(high for _, high in windows))
        _name_axes(axes, labels, "probability", label)
        axes.set_title("laws (private)")
        axes.legend()
        return axes.figure  # type: ignore[return-value]


@_drawing
def frequencies(values: Sequence[object], *, label: str = "candidate") -> "Figure":
    """Return a bar chart of the frequencies of drawn values, the most frequent first."""
    values = listed(values, "values", _MOST)
    tally = Counter(values).most_common(_NAMED)
    labels = tuple(_short(value) for value, _ in tally)
    with _axes(_height(labels)) as axes:
        _bars(axes, [n / len(values) for _, n in tally], "frequency")
        _name_axes(axes, labels, "frequency", label)
        axes.set_title(f"{len(values):,} draws (private)")
        return axes.figure  # type: ignore[return-value]


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
    drawn = {
        name: [float(value) for value in listed(values, name, _MOST)]
        for name, values in several.items()
    }
    if not all(drawn.values()) or not drawn:
        raise InvalidArgument("several must hold draws under names, and at least one of each")
    low, high = min(map(min, drawn.values())), max(map(max, drawn.values()))
    width = (high - low) / bins or 1.0
    edges = [low + width * i for i in range(bins + 1)]
    with _axes(_WIDE) as axes:
        for (name, values), (colour, dash, _) in zip(drawn.items(), cycle(_LINES), strict=False):
            axes.hist(values, bins=edges, weights=[1 / len(values)] * len(values), histtype="step",
                      color=colour, linestyle=dash, linewidth=2, label=f"{name}, {len(values):,} draws",
                      )  # fmt: skip
        axes.set_xlabel(label)
        axes.set_ylabel(f"share of the draws\nin a stretch of {width:.3g}")
        axes.set_title("draws (private)")
        axes.legend()
        return axes.figure  # type: ignore[return-value]


@_drawing
def lines(
    named: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x: str,
    y: str,
    at: float | None = None,
) -> "Figure":
    """Return lines through points, over a logarithmic axis.

    Args:
        named: the positions and heights of points, by name.
        x: the name of the axis they are on, with its unit.
        y: the name of the axis of heights, with its unit.
        at: a place to mark.
    """
    with _axes(_WIDE) as axes:
        for (name, (places, heights)), (colour, dash, marker) in zip(
            named.items(), cycle(_LINES), strict=False
        ):
            axes.plot(places, heights, color=colour, linestyle=dash, marker=marker,
                      markersize=7, label=name)  # fmt: skip
        ticks = sorted({float(place) for places, _ in named.values() for place in places})
        axes.set_xscale("log")
        axes.set_xticks(
            ticks, [f"{tick:,.0f}" if tick >= 1000 else f"{tick:.4g}" for tick in ticks]
        )
        axes.set_xticks([], minor=True)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.set_ylim(bottom=0)
        if at is not None:
            axes.axvline(at, color="black", linestyle=":", label=f"here: {at:.4g}")
        axes.legend()
        return axes.figure  # type: ignore[return-value]


@_drawing
def curve(
    errors: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    what: str = "expected error",
    unit: str = "the score",
    at: float | None = None,
) -> "Figure":
    """Return the accuracy-privacy curve: errors over epsilons.

    Args:
        errors: the epsilons and errors of a line, by name.
        what: the kind of error, for its axis.
        unit: the unit of the error, for its axis.
        at: an epsilon to mark.
    """
    epsilons = "ε of one answer (more privacy to the left)"
    return lines(errors, x=epsilons, y=f"{what}\n(in units of {unit})", at=at)


@_drawing
def budget(points: Iterable[tuple[object, object, object]], *, unit: str = "ε") -> "Figure":
    """Return a plot of the spent budget over time.

    Args:
        points: triples of a time, the amount spent so far, and the total of the budget, in order of time.
        unit: the sign of the privacy parameter.
    """
    named = listed(points, "points", _MOST)
    if not named:
        raise InvalidArgument("points must not be empty: there must be a time to draw")
    times = [time for time, _, _ in named]
    spent, totals = ([float(point[i]) for point in named] for i in (1, 2))
    with _axes(_WIDE) as axes:
        axes.fill_between(
            times, spent, step="post", facecolor="#CFE3F1", edgecolor=_BLUE, hatch="//"
        )
        axes.step(times, spent, where="post", color=_BLUE, marker="o", label="spent")
        axes.step(times, totals, where="post", color=_RED, linestyle="--", label="budget")
        axes.set_xlabel("time")
        axes.set_ylabel(f"{unit} spent")
        axes.set_ylim(0, 1.3 * max(*totals, *spent))
        axes.tick_params(axis="x", rotation=20)
        axes.legend(loc="upper left", ncols=2)
        return axes.figure  # type: ignore[return-value]


@_drawing
def losses(
    ratios: Sequence[float], epsilon: float, *, labels: Sequence[object] | None = None
) -> "Figure":
    """Return a bar chart of the privacy losses of outputs, between dashed lines at the claim.

    Args:
        ratios: ln of the probability for one database over that for the other; may be infinite.
        epsilon: the claimed epsilon.
        labels: the outputs; their numbers if not given.
    """
    ratios = listed(ratios, "ratios", _MOST_BARS)
    names = tuple(
        map(str, range(len(ratios)) if labels is None else listed(labels, "labels", _MOST_BARS))
    )
    finite = [abs(ratio) for ratio in ratios if math.isfinite(ratio)]
    edge = 1.25 * max([epsilon, *finite])
    with _axes(_height(names)) as axes:
        _bars(axes, [max(-edge, min(edge, ratio)) for ratio in ratios], "output")
        for row, ratio in enumerate(ratios):
            if math.isinf(ratio):
                axes.annotate("∞ ", (math.copysign(edge, ratio), row), fontsize=16, va="center",
                              ha="right" if ratio > 0 else "left", color=_RED,
                              bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # fmt: skip
        for side in (-epsilon, epsilon):
            axes.axvline(side, color=_RED, linestyle="--")
        axes.axvline(0, color="black", linewidth=1)
        axes.set_xlim(-1.05 * edge, 1.05 * edge)
        _name_axes(axes, names, "log-ratio of the two probabilities", "output")
        axes.set_title(f"dashed: what was claimed, ±ε = ±{epsilon:.4g}")
        return axes.figure  # type: ignore[return-value]


def _in_a_list(
    axes: "Axes", series: Series, answer: object, draws: Sequence[object] | None
) -> None:
    """Draw bars for all candidates, the answer's in a colour and hatch of its own."""
    names = list(series.labels or ())
    marked = names.index(str(answer)) if str(answer) in names else None
    _bars(axes, [0 if i == marked else p for i, p in enumerate(series.chances)], "law")
    if marked is not None:
        axes.barh([marked], [series.chances[marked]], facecolor=_ORANGE, edgecolor="black",
                  hatch="xx", height=0.7, label="law, at the answer")  # fmt: skip
    if draws is not None:
        tally = Counter(map(str, draws))
        axes.plot([tally[name] / len(draws) for name in names], range(len(names)), "D",
                  color="white", markeredgecolor="black", markersize=8, clip_on=False,
                  label=f"{len(draws):,} draws")  # fmt: skip


def _on_a_line(axes: "Axes", series: Series, answer: Any, draws: Sequence[Any] | None) -> None:
    """Draw the probability of one candidate as a line, over a histogram of the draws in the same unit."""
    low, high = series.window
    if draws is not None:
        width = series.step * math.ceil((high - low) / series.step / _BINS)
        edges = [
            low + width * i - series.step / 2 for i in range(math.ceil((high - low) / width) + 2)
        ]
        weight = series.step / (width * len(draws))
        axes.hist([float(value) for value in draws], bins=edges, weights=[weight] * len(draws),
                  facecolor="#F7E3B5", edgecolor=_ORANGE, hatch="//",
                  label=f"{len(draws):,} draws")  # fmt: skip
    axes.plot(series.x, series.chances, color=_BLUE, label="law")
    if answer is not None:
        axes.axvline(float(answer), color=_RED, linestyle="--", label=f"answer: {float(answer):g}")
    axes.set_xlim(min(low, float(answer or low)), max(high, float(answer or high)))


def _bars(axes: "Axes", lengths: Sequence[float], label: str) -> None:
    axes.barh(range(len(lengths)), lengths, facecolor="#9CC9E4", edgecolor="black", hatch="//",
              height=0.7, label=label)  # fmt: skip


def _name_axes(axes: "Axes", labels: tuple[str, ...] | None, what: str, label: str) -> None:
    """Name both axes; in a list the candidates go down the page in their order."""
    if labels is None:
        axes.set_xlabel(label)
        axes.set_ylabel(f"{what} of one candidate")
        return
    axes.set_yticks(range(len(labels)), [_short(name) for name in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_ylabel(label)
    axes.set_xlabel(what)


def _height(labels: tuple[str, ...] | None) -> float:
    return _WIDE if labels is None else 1.8 + 0.36 * max(3, len(labels))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 30 else f"{text[:29]}…"


@contextmanager
def _axes(height: float) -> Iterator["Axes"]:
    """Give empty axes in our style, on a figure of their own."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackage('pictures need matplotlib: pip install "discreet[plots]"') from None
    with rc_context(_STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(8, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure.add_subplot()
