"""The figures of growing costs, and their place in the documentation."""

from typing import Any

from matplotlib.ticker import LogLocator

from discreet.study.plots.contents import BLUE, GREEN, ORANGE, RED
from discreet.study.plots.figure import Figure

from .page import DOCS, PAGE
from .slopes import exponent

BEGIN, END = "<!-- growth -->", "<!-- end of growth -->"


def picture(axis: str, curves: dict[str, list[dict[str, float]]]) -> Figure:
    """Return time and memory of one work, both axes logarithmic."""
    figure = Figure(figsize=(8, 3), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, what, label in zip(panels, ("seconds", "MiB"), ("seconds", "MiB more"), strict=True):
        for (who, points), colour in zip(curves.items(), (BLUE, ORANGE, GREEN, RED), strict=False):
            there = [p for p in points if p[what] > 0]
            slope = exponent(points, what)
            words = who if slope is None else f"{who}: exponent {slope:.2f}"
            (line,) = axes.plot(
                [p["size"] for p in there],
                [p[what] for p in there],
                "o-",
                color=colour,
                label=words,
            )
            figure.name_marks(line, [f"{p['size']:,}: {p[what]:.3g}" for p in there])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_major_locator(LogLocator(numticks=9))
        axes.set_xlabel(axis)
        axes.set_ylabel(label)
        above = (0, 1)  # off the curves
        axes.legend(loc="lower left", bbox_to_anchor=above, frameon=False, fontsize=8)
        axes.grid(color="#dddddd", linewidth=0.6)
    return figure


def write(stored: dict[str, Any], axes: dict[str, str]) -> None:
    """Draw the figures, with an axis in words for each, and name them in the page."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    lines = list[str]()
    for work, curves in stored["curves"].items():
        file = DOCS / "pictures" / f"growth_{work}.svg"
        file.write_text(f"{picture(axes[work], curves).to_svg()}\n", encoding="utf-8")
        words = axes[work]
        lines += [f"![time and memory by {words}](pictures/growth_{work}.svg)", ""]
    text = "\n".join(lines)
    PAGE.write_text(f"{before}{BEGIN}\n{text}{END}{after}", encoding="utf-8")
