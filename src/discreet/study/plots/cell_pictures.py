"""Pictures of the cells of several columns: a heat map of two, and bars of three by the last.

The more records a cell holds, the stronger is its colour, one that reads on white and on dark pages.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from ...base.count_tables import labels_of_keys
from ...base.escapes import visible_text
from ...base.messages import Message, gettext, translate
from . import marks
from .contents import BLACK, BLUE, PALE_BLUE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .figure import Figure

PlacedCounts = Mapping[tuple[int, ...], int]
"""Counts by the places of the values of a cell in their columns, none below 0."""

_MOST_OPAQUE = 0.55
"""How opaque the largest count is: black text reads on it, and white text on a dark page."""

_MOST_WITH_NUMBERS, _MOST_LETTERS = 14, 60
"""Columns of a heat map in which counts are written, and letters beneath it that are not turned."""

_MOST_OF_TWO, _MOST_OF_THREE = (40, 40), (6, 6, 40)
"""So many values of a column are drawn, the first ones."""

_MOST_TICKS = 6
"""Names beneath the bars of a panel."""


def are_cells(numbers: Mapping[Any, object]) -> bool:
    """Return whether the keys are cells of two columns, or of three."""
    sizes = {len(key) if isinstance(key, tuple) else 0 for key in numbers}
    return sizes in ({2}, {3})


def picture_of_cells(numbers: Mapping[Any, int], names: Sequence[str], words: Message) -> "Figure":
    """Return the picture of counts by cell, none below 0.

    Args:
        numbers: the counts.
        names: the names of the columns, or none.
        words: the name of the axis of counts.
    """
    mosts = _MOST_OF_TWO if len(next(iter(numbers))) == 2 else _MOST_OF_THREE
    values = [list(dict.fromkeys(part)) for part in zip(*numbers, strict=True)]
    parts = [
        list(map(_text, labels_of_keys(some)[:most]))
        for some, most in zip(values, mosts, strict=True)
    ]
    places = [dict(zip(some, range(len(some)), strict=True)) for some in values]
    counts = {
        tuple(place[one] for place, one in zip(places, key, strict=True)): count
        for key, count in numbers.items()
    }
    titles = list(map(_text, names)) if len(names) == len(parts) else [""] * len(parts)
    height = marks.height(parts[0]) + 0.4 if len(parts) == 2 else 1.8 + 1.7 * len(parts[0])
    with marks.canvas(height) as (figure, axes):
        if len(parts) == 2:
            _heat_map(figure, counts, parts)
            _name_heat_map(axes, titles, max(counts.values()), words)
        else:
            _panels(figure, counts, parts)
            _name_panels(figure, titles, words)
        return figure


def _text(label: object) -> str:
    """Return a value as a short text in which every character is seen."""
    return marks.short(visible_text(str(label)))


def _heat_map(figure: "Figure", counts: PlacedCounts, parts: Sequence[Sequence[str]]) -> None:
    """Draw a square for every cell of two columns, the first down the page; cells without a count stay empty."""
    from matplotlib.patches import Rectangle

    axes, (rows, columns) = figure.axes[0], parts
    most = max(counts.values(), default=0) or 1
    has_numbers = len(columns) <= _MOST_WITH_NUMBERS
    for (row, first), (column, second) in product(enumerate(rows), enumerate(columns)):
        count = counts.get((row, column))
        if count is None:
            continue
        shade = _MOST_OPAQUE * count / most
        square = Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=BLUE, alpha=shade)
        figure.name_marks(axes.add_patch(square), [f"{first}, {second}: {count:,}"])
        if has_numbers:
            size = 12 if len(columns) <= 8 else 9
            axes.text(column, row, f"{count:,}", ha="center", va="center", size=size, color=BLACK)
    _name_columns(axes, columns, _MOST_LETTERS)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False)


def _name_heat_map(axes: "Axes", names: Sequence[str], most: int, words: Message) -> None:
    """Name the axes of a heat map, and explain its shades."""
    axes.set_ylabel(names[0])
    axes.set_xlabel(names[1])
    shades = Message("{count}: the strongest colour is {most}", count=words, most=f"{most:,}")
    axes.set_title(translate(shades))


def _panels(figure: "Figure", counts: PlacedCounts, parts: Sequence[Sequence[str]]) -> None:
    """Draw bars by the third column for the pairs of the first two, all to one scale."""
    rows, columns, bars = parts
    figure.axes[0].remove()
    grid = figure.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
    places = range(len(bars))
    for (row, first), (column, second) in product(enumerate(rows), enumerate(columns)):
        axes = grid[row][column]
        lengths = [counts.get((row, column, place), 0) for place in places]
        bars_drawn = axes.bar(places, lengths, facecolor=PALE_BLUE, hatch="//", edgecolor=BLACK)
        for bar, name, length in zip(bars_drawn, bars, lengths, strict=True):
            figure.name_marks(bar, [f"{first}, {second}, {name}: {length:,}"])
        axes.set_title(f"{first}, {second}", size=11)
        axes.grid(visible=False, axis="x")
    step = -(-len(bars) // _MOST_TICKS)
    for axes in grid[-1]:
        axes.set_xticks(places[::step], bars[::step], rotation=40, ha="right", size=10)
        axes.set_ylim(bottom=0)


def _name_panels(figure: "Figure", names: Sequence[str], words: Message) -> None:
    """Name the axes that the panels share."""
    figure.supylabel(translate(words), size=13)
    figure.supxlabel(names[2], size=13)
    if any(names):
        title = gettext("{y} by {x}", y=gettext("count"), x=", ".join(names))
        figure.suptitle(title, size=14)


def _name_columns(axes: "Axes", columns: Sequence[str], most: int) -> None:
    """Put names beneath the columns, turned where they are long."""
    places = range(len(columns))
    if len(columns) > 2 * _MOST_WITH_NUMBERS:
        axes.set_xticks(places, columns, rotation=90, size=8)
    elif sum(map(len, columns)) > most:
        axes.set_xticks(places, columns, rotation=40, ha="right")
    else:
        axes.set_xticks(places, columns)
