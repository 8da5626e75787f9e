"""Tables of texts: aligned where they are printed, HTML where a notebook or a page shows them.

All text is escaped where it becomes HTML. Colours and sizes are left to the page, so that tables read in the light
and in the dark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol, TypeVar

from .escapes import visible_text

_CELL_LENGTH = 500
_MOST_ROWS = 100


@dataclass(frozen=True, slots=True, repr=False)
class TextTable:
    """A table: `print` aligns it, a notebook shows it.

    Attributes:
        head: the names of the columns; empty for a list of facts.
        rows: the cells, the first of which names the row.
        caption: the subject of the table.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def html(self) -> str:
        """Return the table as HTML."""
        lines = [f"<caption>{_escape_cell(self.caption)}</caption>"] if self.caption else []
        if self.head:
            cells = "".join(
                f'<th scope="col"{_LEFT}>{_escape_cell(name)}</th>' for name in self.head
            )
            lines.append(f"<thead><tr>{cells}</tr></thead>")
        lines += ["<tbody>", *map(_row, self.rows), "</tbody>"]
        return "\n".join(["<table>", *lines, "</table>"])

    def __str__(self) -> str:
        lines = [tuple(map(visible_text, line)) for line in (self.head, *self.rows) if line]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join(filter(None, [self.caption, *rows]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html()


def fact_table(caption: str, facts: Mapping[str, object]) -> TextTable:
    """Return a table of names and values. Those that are None or empty are left out."""
    rows = tuple((name, str(value)) for name, value in facts.items() if value not in (None, ""))
    return TextTable((), rows, caption)


class Row(Protocol):
    """An object that can be a row of a table."""

    def cells(self) -> dict[str, str]:
        """Return the texts by the names of their columns."""


_Row = TypeVar("_Row", bound=Row)


class Listing(list[_Row]):
    """A list that a notebook shows as a table, with rows for the last hundred items."""

    def _repr_html_(self) -> str:
        return listing(self).html()


def listing(items: Sequence[Row], caption: str = "") -> TextTable:
    """Return a table of the last hundred items, with columns that they have in common."""
    rows = [one.cells() for one in items[-_MOST_ROWS:]]
    note = f"the last {_MOST_ROWS} of {len(items):,}" if len(items) > _MOST_ROWS else ""
    title = ", ".join(filter(None, [caption, note])) or ("" if rows else "none")
    head = tuple(rows[0]) if rows else ()
    return TextTable(head, tuple(tuple(cells.values()) for cells in rows), title)


_LEFT = ' style="text-align: left"'


def _row(cells: Iterable[str]) -> str:
    first, *others = map(_escape_cell, cells)
    line = "".join(f"<td{_LEFT}>{cell}</td>" for cell in others)
    return f'<tr><th scope="row"{_LEFT}>{first}</th>{line}</tr>'


def _escape_cell(text: str) -> str:
    """Return a text for HTML, or its beginning if it would fill the screen."""
    beginning = text if len(text) <= _CELL_LENGTH else f"{text[: _CELL_LENGTH - 1]}…"
    return escape(visible_text(beginning, keep="\n"))
