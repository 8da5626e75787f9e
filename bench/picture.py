"""A picture of the stored ratios: how long we take where others take one."""

from collections.abc import Mapping
from typing import Any

from matplotlib.ticker import FuncFormatter

from discreet.study.plots.contents import BLACK, BLUE, ORANGE
from discreet.study.plots.figure import Figure

from .report import ratio
from .stored import Results, peer


def picture(stored: Mapping[str, Results]) -> Figure:
    """Return one line of dots for each work that somebody else does too, on a logarithmic axis."""
    rows = {name: row for name, row in stored["kernel"]["rows"].items() if _of_others(row)}
    slow = stored.get("numpy", {}).get("rows", {})
    figure = Figure(figsize=(8, 0.42 * len(rows) + 1.4), layout="constrained")
    axes = figure.subplots()
    axes.axvline(1, color=BLACK, linewidth=1)
    labels = []
    for place, (name, row) in enumerate(reversed(rows.items())):
        against = peer(row)
        assert against is not None
        labels.append(f"{row['title']}\n{against['name']}")
        for ways, colour, marker in ((slow.get(name), ORANGE, "D"), (row, BLUE, "o")):
            dots = [] if ways is None else [
                line["ratio"] for line in ways["lines"] if line["name"] == against["name"] and line["ratio"]
            ]  # fmt: skip
            for value in dots:
                (dot,) = axes.plot([value], [place], marker, color=colour, markersize=7)
                figure.name_marks(dot, [f"{row['title']}: {ratio(value)}"])
        if against["target"]:
            (mark,) = axes.plot(
                [against["target"]["limit"]], [place], "|", color=BLACK, markersize=13
            )
            figure.name_marks(mark, [f"target: {against['target']['limit']:g}"])
    axes.set_yticks(range(len(labels)), labels, fontsize=7)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("our time by theirs: left of 1 we are faster")
    _legend(figure)
    return figure


def _of_others(row: Mapping[str, Any]) -> bool:
    """Return whether the peer that counts is not ourselves in another way."""
    against = peer(row)
    return against is not None and not against["name"].startswith("discreet")


def _legend(figure: Figure) -> None:
    """Say what the marks mean, above the axes."""
    axes = figure.axes[0]
    for label, colour, marker in (
        ("with the kernel", BLUE, "o"), ("without it", ORANGE, "D"), ("target", BLACK, "|"),
    ):  # fmt: skip
        axes.plot([], [], marker, color=colour, label=label, markersize=9)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
