"""The marks that pictures are made of, with titles that tell their meaning."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

from ...base.messages import Message, gettext, plural, translate
from ...errors import MissingPackage
from .contents import (
    BLACK,
    BLUE,
    GREEN,
    MOST_TICKS,
    ORANGE,
    PALE_BLUE,
    PINK,
    PRIVATE,
    RED,
    are_few,
    candidate_ticks,
    round_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .figure import Figure

WIDE = 4.5
"""The height in inches of a picture with a horizontal axis of numbers."""

STYLES = ((BLUE, "-", "o"), (RED, "--", "s"), (GREEN, "-.", "^"), (ORANGE, ":", "D"),
          (BLACK, (0, (5, 1)), "v"), (PINK, (0, (1, 1)), "P"))  # fmt: skip

_STYLE = {
    "font.size": 13.0, "axes.titlesize": 14.0, "legend.fontsize": 12.0, "lines.linewidth": 2.0,
    "figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white",
    "text.color": "black", "axes.labelcolor": "black", "axes.edgecolor": "black",
    "xtick.color": "black", "ytick.color": "black", "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#DDDDDD",
    "hatch.linewidth": 0.6, "figure.dpi": 120.0, "savefig.dpi": 150.0, "savefig.transparent": False,
    "text.parse_math": False,  # a candidate may be "$5 to $9"
}  # fmt: skip

_MUCH = 1000
"""Heights of which one is so many times another are drawn over a logarithmic axis."""

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@contextmanager
def canvas(height: float) -> Iterator[tuple["Figure", "Axes"]]:
    """Give an empty figure in our style, and its axes.

    Raises:
        MissingPackage: if matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context

        from .figure import Figure
    except ImportError:
        raise MissingPackage('pictures need matplotlib: pip install "discreet[plots]"') from None
    with rc_context(_STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(8, height), layout="constrained")
        yield figure, figure.add_subplot()


def height(labels: Sequence[str] | None) -> float:
    """Return the height in inches of a picture with one line per label, or with an axis of numbers."""
    return WIDE if labels is None else 2.2 + 0.36 * max(3, len(labels))


def entitle_private(axes: "Axes", title: Message) -> None:
    """Set the title of a picture that must not be published, and say so."""
    axes.set_title(f"{translate(title)}\n{translate(PRIVATE)}")


def name_axes(
    axes: "Axes", labels: Sequence[str] | None, heights: tuple[Message, Message], label: str
) -> None:
    """Name both axes. In a list the candidates go down the page in their order.

    Args:
        axes: the axes.
        labels: the names in a list. None for an axis of numbers.
        heights: the message for the axis of heights beside a list, and beside numbers.
        label: the name of the axis of candidates.
    """
    label = gettext(label, "an axis")
    if labels is None:
        axes.set_xlabel(label)
        axes.set_ylabel(translate(heights[1]))
        return
    axes.set_yticks(range(len(labels)), [short(name) for name in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_ylabel(label)
    axes.set_xlabel(translate(heights[0]))


def legend(figure: "Figure") -> None:
    """Explain the marks below the picture, where no mark is hidden by it."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(3, len(labels)))


def bars(
    figure: "Figure",
    names: Sequence[str],
    lengths: Sequence[float],
    label: str,
    row_of_answer: int | None = None,
) -> None:
    """Draw a horizontal bar for every name, the marked one in a colour and hatch of its own."""
    plain = [i for i in range(len(names)) if i != row_of_answer]
    _bars(figure, names, lengths, plain, facecolor=PALE_BLUE, hatch="//", label=label)
    if row_of_answer is not None:
        _bars(
            figure,
            names,
            lengths,
            [row_of_answer],
            facecolor=ORANGE,
            hatch="xx",
            label=gettext("the answer"),
        )


def _bars(
    figure: "Figure",
    names: Sequence[str],
    lengths: Sequence[float],
    rows: Sequence[int],
    **look: Any,
) -> None:
    bars_drawn = figure.axes[0].barh(
        rows, [lengths[i] for i in rows], edgecolor="black", height=0.7, **look
    )
    for bar, row in zip(bars_drawn, rows, strict=True):
        figure.name_marks(bar, [f"{short(names[row])}: {_length_text(lengths[row])}"])


def _length_text(number: float) -> str:
    """Return a length as people write it: a count in full, any other number in four digits."""
    return f"{number:,}" if isinstance(number, int) else f"{number:.4g}"


def diamonds(
    figure: "Figure", x: Sequence[float], y: Sequence[float], titles: Sequence[str], label: str
) -> None:
    """Draw hollow diamonds, for draws beside computed values."""
    (marks,) = figure.axes[0].plot(
        x, y, "D", color="white", markeredgecolor="black", markersize=8, clip_on=False,
        label=translate(label))  # fmt: skip
    figure.name_marks(marks, titles)


def draws(count: int) -> Message:
    """Return a number of draws in words."""
    return plural("{count:,} draw", "{count:,} draws", count)


def shares_in_words(names: Sequence[str], shares: Sequence[float]) -> list[str]:
    """Return titles of the fractions of draws at every place."""
    return [
        gettext("{name}: drawn {share:.4g}", name=name, share=share)
        for name, share in zip(names, shares, strict=True)
    ]


def shares_of(draws: Sequence[Any], places: Sequence[Any]) -> list[float]:
    """Return the fraction of the draws at every place."""
    tally = Counter(draws)
    return [tally[place] / len(draws) for place in places]


def values(  # noqa: PLR0913  # a line of points, and how it is drawn
    figure: "Figure",
    x: Sequence[float],
    y: Sequence[float],
    label: str,
    style: str,
    spell: Callable[[float], str] = "{:g}".format,
) -> None:
    """Draw the values of numbers as stems, as steps, or as a line."""
    axes = figure.axes[0]
    if style != "stems":
        (line,) = axes.plot(x, y, color=BLUE, label=label, drawstyle=drawstyle(style == "steps"))
        figure.name_marks(line, [label])
        return
    axes.vlines(x, 0, y, color=BLUE)
    (line,) = axes.plot(x, y, "o", color=BLUE, label=label)
    titles = [f"{spell(place)}: {value:.4g}" for place, value in zip(x, y, strict=True)]
    figure.name_marks(line, titles)


def drawstyle(in_steps: bool) -> Literal["steps-mid", "default"]:
    """Return how matplotlib joins points: a candidate is as wide as the gap to the next, or a line slopes."""
    return "steps-mid" if in_steps else "default"


def tick_candidates(axes: "Axes", x: Sequence[float]) -> None:
    """Put ticks on candidates only."""
    ticks = candidate_ticks(x)
    axes.set_xticks(ticks, [f"{tick:,.10g}" for tick in ticks])


def series_of_points(
    figure: "Figure",
    series: Sequence[tuple[str, Sequence[float], Sequence[float]]],
    *,
    clip: bool = True,
    in_steps: bool = False,
    few: bool | None = None,
) -> None:
    """Draw points under several names, in styles of their own: a few as points, many as a line or as steps.

    Without `clip` the points at the edge are drawn whole.
    """
    for (name, x, y), (colour, dash, marker) in zip(series, cycle(STYLES), strict=False):
        many = not (are_few(x) if few is None else few)
        (line,) = figure.axes[0].plot(
            x, y, color=colour, label=name, linestyle=dash if many else "none",
            marker="" if many else marker, markersize=9, fillstyle="none", markeredgewidth=2,
            clip_on=clip, drawstyle=drawstyle(in_steps))  # fmt: skip
        titles = [f"{name}, {place:.4g}: {value:.4g}" for place, value in zip(x, y, strict=True)]
        figure.name_marks(line, [name] if many else titles)


def outlines(
    figure: "Figure", draws_by_name: Mapping[str, Sequence[float]], edges: Sequence[float]
) -> None:
    """Draw histograms of numbers under several names, as outlines: heights are fractions."""
    for (name, values), (colour, dash, _) in zip(
        draws_by_name.items(), cycle(STYLES), strict=False
    ):
        title = gettext("{name}, {draws}", name=name, draws=draws(len(values)))
        histogram = figure.axes[0].hist(
            values, bins=edges, weights=[1 / len(values)] * len(values), histtype="step",
            color=colour, linestyle=dash, linewidth=2, label=title)  # fmt: skip
        outline: Any = histogram[2]
        figure.name_marks(outline[0], [title])


def logarithmic(axes: "Axes", places: Sequence[float]) -> None:
    """Make the horizontal axis logarithmic, with ticks at round numbers."""
    ticks = round_numbers(min(places), max(places)) or sorted({*places})
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:,.0f}" if tick >= 1000 else f"{tick:.4g}" for tick in ticks])
    axes.set_xticks([], minor=True)


def scale_heights(axes: "Axes", heights: Sequence[float]) -> None:
    """Let the axis of heights begin at zero, or be logarithmic if some are far below others."""
    positive = [height for height in heights if height > 0]
    if not positive or max(positive) <= _MUCH * min(positive):
        axes.set_ylim(bottom=0)
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log", nonpositive="clip")
    axes.yaxis.set_major_locator(LogLocator(numticks=MOST_TICKS))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(_power_of_ten))


def _power_of_ten(height: float, _: object = None) -> str:
    """Return a power of ten as people write it: 0.01, 10⁻¹²⁵."""
    power = round(math.log10(height))
    return f"{height:g}" if -3 <= power <= 3 else f"10{str(power).translate(_SUPERSCRIPTS)}"


def dates(axes: "Axes") -> None:
    """Write the dates of a time axis in short, the year and the day once, as the reader's language has them."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator: Any = AutoDateLocator(minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
    for forms in (formatter.formats, formatter.zero_formats, formatter.offset_formats):
        forms[:] = [gettext(form, "a date") if form else "" for form in forms]
    axes.xaxis.set_major_formatter(formatter)


def short(value: object) -> str:
    """Return a value as a text that fits an axis."""
    text = str(value)
    return text if len(text) <= 30 else f"{text[:29]}…"
