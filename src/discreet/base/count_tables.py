"""Tables of counts with bars: aligned where they are printed, HTML where a notebook or a page shows them.

A released key is data, and hostile like all data: what a terminal would obey, or what would hide or reorder its
neighbours, is spelled in letters, and all text is escaped where it becomes HTML.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import repeat
from typing import Any

from .escapes import visible_text

WIDTH = 80
"""Columns of a terminal that a printed table fits into."""

_WIDEST_LABEL, _WIDEST_BAR, _GAP = 40, 30, 2
_EIGHTHS = " ▏▎▍▌▋▊▉"
_BAR = "#3d8fc4"
"""A blue that reads on white and on dark pages."""
_RIGHT, _LEFT = ' style="text-align: right"', ' style="text-align: left"'


@dataclass(frozen=True, slots=True, repr=False)
class CountTable:
    """Counts under labels: `print` aligns them beside their bars, a notebook shows them.

    Attributes:
        rows: the labels, each with its count; several labels of a row are cells of their own.
        head: the names of the columns; empty for none.
        caption: the subject of the table.
    """

    rows: tuple[tuple[tuple[str, ...], int], ...]
    head: tuple[str, ...] = ()
    caption: str = ""

    def lines(self, width: int = WIDTH, *, plain: bool = False) -> list[str]:
        """Return the lines of the printed table.

        Args:
            width: how many columns they may take.
            plain: whether the bars are made of the letter #, for a terminal without block characters.
        """
        labels = [[_short(label) for label in row] for row, _ in self.rows]
        counts = [f"{count:,}" for _, count in self.rows]
        head, title = [*map(_short, self.head[:-1])], self.head[-1:]
        columns = zip(*([head] if head else []), *labels, strict=True)
        wide = [max(map(text_width, column)) for column in columns]
        wider = max(map(len, [*counts, *title]), default=0)
        room = width - sum(wide) - wider - _GAP * (len(wide) + 1)
        bars = _bars([count for _, count in self.rows], min(_WIDEST_BAR, room), plain=plain)
        cells = zip(labels, counts, bars, strict=True)
        top = [(head, title[0], "")] if self.head else []
        return [
            (" " * _GAP).join([*map(_fill, texts, wide), count.rjust(wider), bar]).rstrip()
            for texts, count, bar in [*top, *cells]
        ]

    def html(self) -> str:
        """Return the table as HTML, with a bar beside every count."""
        caption = f"<caption>{_escape(self.caption)}</caption>" if self.caption else ""
        most = max((count for _, count in self.rows), default=0)
        rows = (_html_row(labels, count, most) for labels, count in self.rows)
        return "\n".join(
            ["<table>", caption, _html_head(self.head), "<tbody>", *rows, "</tbody>", "</table>"]
        )

    def __str__(self) -> str:
        return "\n".join(filter(None, [visible_text(self.caption), *self.lines()]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html()


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: Chinese characters take two, combining marks none."""
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _short(label: str) -> str:
    """Return a label without commands to a terminal, or its beginning if it would fill the line."""
    text = visible_text(label[: _WIDEST_LABEL + 1])
    if len(label) <= _WIDEST_LABEL and text_width(text) <= _WIDEST_LABEL:
        return text
    while text_width(text) >= _WIDEST_LABEL:
        text = text[:-1]
    return f"{text}…"


def _fill(text: str, width: int) -> str:
    """Return a text with spaces up to a width."""
    return text + " " * (width - text_width(text))


def _bars(counts: Sequence[int], width: int, *, plain: bool) -> Iterable[str]:
    """Return a bar for every count, the longest as wide as is given, or none if there is no room."""
    most = max(counts, default=0)
    if most <= 0 or width < 1:
        return repeat("", len(counts))
    return (_bar(8 * width * max(count, 0) // most, plain=plain) for count in counts)


def _bar(eighths: int, *, plain: bool) -> str:
    """Return a bar so many eighths of a letter long."""
    whole, rest = divmod(eighths, 8)
    return "#" * whole if plain else "█" * whole + _EIGHTHS[rest].strip()


def _html_head(head: Sequence[str]) -> str:
    if not head:
        return ""
    cells = [f'<th scope="col"{_LEFT}>{_escape(name)}</th>' for name in head[:-1]]
    return f'<thead><tr>{"".join(cells)}<th scope="col"{_RIGHT}>{_escape(head[-1])}</th><th></th></tr></thead>'


def _html_row(labels: Sequence[str], count: int, most: int) -> str:
    cells = "".join(f"<td{_LEFT}>{_escape(label)}</td>" for label in labels[1:])
    share = 100 * max(count, 0) // most if most > 0 else 0
    bar = f'<div style="background: {_BAR}; height: 0.8em; width: {share}%"></div>'
    return (
        f'<tr><th scope="row"{_LEFT}>{_escape(labels[0])}</th>{cells}<td{_RIGHT}>{count:,}</td>'
        f'<td style="min-width: 12em">{bar}</td></tr>'
    )


def _escape(text: str) -> str:
    """Return a text for HTML in which every character is seen, or its beginning if it would fill the screen."""
    return escape(visible_text(text if len(text) <= 200 else f"{text[:199]}…"))


def labels_of_keys(keys: Iterable[Any]) -> list[str]:
    """Return keys as text, cells with commas; if two would look alike, as 1 and "1", texts have quotes."""
    several = [*keys]
    texts = [", ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in several]
    if len(set(texts)) == len(texts):
        return texts
    return [repr(key) if isinstance(key, str | tuple) else str(key) for key in several]


def table_of_counts(
    counts: Mapping[Any, Any], head: Sequence[str] = (), caption: str = ""
) -> CountTable:
    """Return a table of counts by key, or of counts by group and key."""
    rows: list[tuple[tuple[str, ...], int]] = []
    for label, count in zip(labels_of_keys(counts), counts.values(), strict=True):
        if isinstance(count, Mapping):
            rows += [
                ((label, inner), int(each))
                for inner, each in zip(labels_of_keys(count), count.values(), strict=True)
            ]
        else:
            rows.append(((label,), int(count)))
    return CountTable(tuple(rows), tuple(head), caption)
