"""Tables of what is asked where, with notes on what is not, in a page between two marks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

_END = "<!-- so far -->\n"


def rows_of_table(
    rows: Iterable[str], columns: Sequence[str], mark: Callable[[str, str], str]
) -> Iterator[str]:
    """Yield the lines of a table, given the mark of a row in a column."""
    yield f"| | {' | '.join(columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {row} | {' | '.join(mark(row, column) for column in columns)} |"


def mark_of(reason: str | None, notes: Sequence[str]) -> str:
    """Return the mark for the reason why something is not asked; None if it is."""
    return "yes" if reason is None else f"[{notes.index(reason) + 1}]"


def lines_of_notes(notes: Sequence[str]) -> list[str]:
    """Return the lines of the notes, by number."""
    return [f"{number}. {note}" for number, note in enumerate(notes, 1)]


def page_with_tables(page: Path, module: str, tables: str) -> str:
    """Return a page with its tables, which `python -m MODULE` writes."""
    begin = f"<!-- written by python -m {module} -->\n"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    return f"{before}{begin}\n{tables}\n{_END}{rest.partition(_END)[2]}"
