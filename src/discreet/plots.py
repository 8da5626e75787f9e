"""Pictures, for eyes that own the data: a picture of a law or of scores is as private as they are.

Each function takes plain numbers and returns a matplotlib `Figure` that belongs to nobody else: pyplot and
its global state are not touched. Colours are those of Okabe and Ito; hatches, dashes and markers say the
same in black and white. The background is opaque. Needs the extra: pip install "discreet[plots]".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

from .errors import InvalidArgument, MissingPackage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREEN, _RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
_LINES = ((_BLUE, "-", "o"), (_RED, "--", "s"), (_GREEN, "-.", "^"), (_ORANGE, ":", "D"),
          ("#000000", (0, (5, 1)), "v"), ("#CC79A7", (0, (1, 1)), "P"))  # fmt: skip
_BINS, _NAMED = 30, 40
_STYLE = {
    "font.size": 13.0, "axes.titlesize": 14.0, "legend.fontsize": 12.0, "lines.linewidth": 2.0,
    "figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white",
    "text.color": "black", "axes.labelcolor": "black", "axes.edgecolor": "black",
    "xtick.color": "black", "ytick.color": "black", "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#DDDDDD",
    "hatch.linewidth": 0.6, "figure.dpi": 120.0, "savefig.dpi": 150.0, "savefig.transparent": False,
}  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Series:
    """What a picture shows of a law. Private.

    Attributes:
        name: what to call it in a legend.
        labels: the candidates if they are few enough to name each, else None.
        x: where each point is on the axis of candidates.
        chances: the probability of one candidate there.
        scores: its score.
        step: the distance of neighbouring candidates.
    """

    name: str
    labels: tuple[str, ...] | None
    x: tuple[float, ...]
    chances: tuple[float, ...]
    scores: tuple[float, ...]
    step: float = 1.0


def scores(series: Series) -> "Figure":
    """Return a picture of the score of every candidate."""
    return _candidates(replace(series, chances=series.scores), "score")


def law(series: Series, *, answer: Any = None, draws: Sequence[Any] | None = None) -> "Figure":
    """Return a picture of the probability of every candidate.

    Args:
        series: the law.
        answer: a candidate to mark.
        draws: drawn candidates, whose frequencies are put beside the law.
    """
    return _candidates(series, "probability", answer, draws)


def laws(several: Iterable[Series]) -> "Figure":
    """Return a picture of several laws over the same candidates, such as one for each epsilon."""
    shown = list(several)
    if not shown or any((s.labels, s.x if s.labels else None) != (
        shown[0].labels, shown[0].x if s.labels else None
    ) for s in shown):
        raise InvalidArgument("laws in one picture must be over the same candidates")
    labels = shown[0].labels
    with _axes(_height(labels)) as axes:
        for series, (colour, dash, marker) in zip(shown, cycle(_LINES), strict=False):
            if labels is None:
                axes.plot(series.x, series.chances, color=colour, linestyle=dash, label=series.name)
            else:
                places = range(len(labels))
                axes.plot(series.chances, places, color=colour, linestyle=dash, marker=marker,
                          markersize=8, label=series.name)  # fmt: skip
        _name_axes(axes, labels, "probability")
        axes.legend()
        return axes.figure  # type: ignore[return-value]


def frequencies(values: Sequence[Any]) -> "Figure":
    """Return a picture of how often each value was drawn."""
    tally = Counter(values).most_common(_NAMED)
    labels = tuple(_short(value) for value, _ in tally)
    shares = [n / len(values) for _, n in tally]
    with _axes(_height(labels)) as axes:
        _bars(axes, shares, f"{len(values):,} draws")
        _name_axes(axes, labels, "frequency")
        axes.legend()
        return axes.figure  # type: ignore[return-value]


def curve(errors: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> "Figure":
    """Return the accuracy-privacy curve: for each name, expected errors against epsilons."""
    with _axes(4.5) as axes:
        for (name, (epsilons, means)), (colour, dash, marker) in zip(
            errors.items(), cycle(_LINES), strict=False
        ):
            axes.plot(epsilons, means, color=colour, linestyle=dash, marker=marker,
                      markersize=7, label=name)  # fmt: skip
        axes.set_xscale("log")
        axes.set_xlabel("ε of one answer (less privacy to the right)")
        axes.set_ylabel("expected error (in units of the score)")
        axes.set_ylim(bottom=0)
        axes.legend()
        return axes.figure  # type: ignore[return-value]


def budget(points: Iterable[tuple[Any, Any, Any]], *, unit: str = "ε") -> "Figure":
    """Return what was spent of a budget over time.

    Args:
        points: time, spent so far, and the whole budget, in the order of time.
        unit: what is spent.
    """
    times, spent, totals = zip(*points, strict=True)
    with _axes(4.5) as axes:
        paid = [float(amount) for amount in spent]
        axes.fill_between(times, paid, step="post", facecolor="#CFE3F1", edgecolor=_BLUE, hatch="//")
        axes.step(times, paid, where="post", color=_BLUE, marker="o", label="spent")
        whole = [float(total) for total in totals]
        axes.step(times, whole, where="post", color=_RED, linestyle="--", label="budget")
        axes.set_xlabel("time")
        axes.set_ylabel(f"{unit} spent")
        axes.set_ylim(0, 1.15 * max(*whole, *paid))
        axes.figure.autofmt_xdate() if not isinstance(times[0], int | float) else None
        axes.legend(loc="upper left")
        return axes.figure  # type: ignore[return-value]


def _candidates(
    series: Series, what: str, answer: Any = None, draws: Sequence[Any] | None = None
) -> "Figure":
    with _axes(_height(series.labels)) as axes:
        if series.labels is None:
            axes.plot(series.x, series.chances, color=_BLUE, label=series.name)
            _on_a_line(axes, series, answer, draws)
        else:
            _in_a_list(axes, series, series.labels, answer, draws)
        _name_axes(axes, series.labels, what)
        if answer is not None or draws is not None:
            axes.legend()
        axes.set_title(series.name)
        return axes.figure  # type: ignore[return-value]


def _in_a_list(
    axes: "Axes", series: Series, labels: tuple[str, ...], answer: Any, draws: Sequence[Any] | None
) -> None:
    """Draw a bar for each candidate, the answer's in a colour and hatch of its own."""
    bars = _bars(axes, series.chances, "law")
    if answer is not None and _short(answer) in labels:
        bar = bars[labels.index(_short(answer))]
        bar.set(facecolor=_ORANGE, hatch="xx", label="answer")
    if draws is not None:
        tally = Counter(map(_short, draws))
        shares = [tally[label] / len(draws) for label in labels]
        axes.plot(shares, range(len(labels)), "D", color="white", markeredgecolor="black",
                  markersize=8, label=f"{len(draws):,} draws")  # fmt: skip


def _on_a_line(axes: "Axes", series: Series, answer: Any, draws: Sequence[Any] | None) -> None:
    """Mark the answer, and draw a histogram of the draws in probability for one candidate."""
    if draws is not None:
        values = [float(value) for value in draws]
        width = max((max(values) - min(values)) / _BINS, series.step)
        weight = series.step / (width * len(values))
        edges = [min(values) + width * (i - 0.5) for i in range(_BINS + 2)]
        axes.hist(values, bins=edges, weights=[weight] * len(values), facecolor="#F7E3B5",
                  edgecolor=_ORANGE, hatch="//", label=f"{len(values):,} draws")  # fmt: skip
    if answer is not None:
        axes.axvline(float(answer), color=_RED, linestyle="--", label=f"answer: {_short(answer)}")


def _bars(axes: "Axes", lengths: Sequence[float], label: str) -> Any:
    return axes.barh(range(len(lengths)), lengths, facecolor="#9CC9E4", edgecolor="black",
                     hatch="//", height=0.7, label=label)  # fmt: skip


def _name_axes(axes: "Axes", labels: tuple[str, ...] | None, what: str) -> None:
    """Name both axes; in a list the candidates go down the page in their order."""
    if labels is None:
        axes.set_xlabel("candidate")
        axes.set_ylabel(f"{what} of one candidate")
        return
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_ylabel("candidate")
    axes.set_xlabel(what)


def _height(labels: tuple[str, ...] | None) -> float:
    return 4.5 if labels is None else 1.6 + 0.36 * max(3, len(labels))


def _short(value: Any) -> str:
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
