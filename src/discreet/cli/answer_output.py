"""How a release is shown: the answer alone on stdout, its cost on stderr, or all of it as JSON or as a report."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ..base.arguments import choice
from ..base.messages import Message, current_language, languages, translate
from ..base.text_tables import TextTable
from ..errors import InvalidArgument
from ..selection.releases import Release
from ..selection.shown_answers import answer_in_words, is_of_numbers, number_with_size
from ..tables.datasets.noisy_cell_counts import NoisyCellCounts
from ..tables.datasets.table_profile import Profile
from .json_output import print_json

_WIDEST = 100
"""A table takes no more columns, however wide the terminal is."""

_NONE = Message("the answer is empty: no value or group has enough records to be released")
"""Said beside an answer that prints nothing, and that is released as any other. Its reader may be a program."""

_FREE = Message("free: this request was charged before, and nothing was charged now")


def show_release(release: Release, subject: Mapping[str, object], *, as_json: bool) -> None:
    """Print a release: the answer on stdout, its guarantee on stderr.

    Args:
        release: the release.
        subject: the object of the question, such as the data and the column, for JSON.
        as_json: whether to print both as one line of JSON on stdout.
    """
    if as_json:
        print_json(_as_dict(release, subject))
        return
    answer, public = Console(highlight=False, soft_wrap=True), release.shown
    for line in [*_answer_lines(public, answer), *_lines_besides(public)]:
        answer.print(Text(line, style="bold"))
    answer.file.flush()  # on a terminal the guarantee comes after it
    if isinstance(release.value, list | dict) and not release.value:
        say(_NONE)
    for line in (release.promise, *release.remarks):
        say(line)
    if release.charged is False:
        say(_FREE)


def say(text: str) -> None:
    """Print a line about an answer on stderr, in the language of the reader."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(translate(text), style="dim"))


def _as_dict(release: Release, subject: Mapping[str, object]) -> dict[str, object]:
    """Return a release and its question in plain values. The time is in seconds: how long it took may tell."""
    total = release.guarantee.pure
    return {
        **release.as_dict(),
        "promise": release.promise,
        "epsilon": None if total is None else str(total),
        "query": release.query,
        **{name: value for name, value in subject.items() if value is not None},
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": version("discreet"),
    }


def _answer_lines(release: Release, console: Console) -> list[str]:
    """Return the lines of the answer. Counts and counted lists are tables with bars."""
    answer, counts = release.value, release.counts
    picture = answer if hasattr(answer, "lines") else release.count_table()
    if picture is not None:
        is_plain = not console.encoding.startswith("utf")
        lines: list[str] = picture.lines(min(console.width, _WIDEST), plain=is_plain)
        return [*lines, *_draft_lines(answer)]
    if counts is None:
        return _lines(answer)
    write: Callable[[Any, Any], str] = _mean if is_of_numbers(release.query) else _counted
    if isinstance(answer, dict):
        return [
            f"{answer_in_words(group)}: {write(one, counts[group])}"
            for group, one in answer.items()
        ]
    return [write(answer, counts)]


def _draft_lines(answer: object) -> list[str]:
    """Return the lines of the draft of discreet.toml that comes with a profile."""
    return ["", *answer.draft.splitlines()] if isinstance(answer, Profile) else []


def _counted(answer: object, count: object) -> str:
    """Return an answer with its count in brackets, or several in a line."""
    if isinstance(answer, list) and isinstance(count, list):
        return ", ".join(map(_counted, answer, count))
    return f"{answer_in_words(answer)} ({answer_in_words(count)})"


def _mean(mean: object, count: int) -> str:
    """Return a mean with how many numbers it is from, in the language of the reader."""
    return translate(number_with_size(mean, count))


def _lines_besides(release: Release) -> list[str]:
    """Return the lines of all that is released besides the answer and its counts."""
    parts = release.parts_in_words()
    return [f"{name}: {words}" for name, words in parts.items() if name != "counts"]


def _are_of_cells(values: Iterable[object]) -> bool:
    return all(isinstance(one, NoisyCellCounts) for one in values)


def _lines(value: object) -> list[str]:
    """Return the lines of an answer, one per draw or group. Checks and rows are tables."""
    counts = {"": value} if isinstance(value, NoisyCellCounts) else value
    if isinstance(counts, dict) and counts and _are_of_cells(counts.values()):
        return _cell_lines(counts)
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        cells = tuple(tuple(map(_cell, row.values())) for row in value)
        return str(TextTable(tuple(value[0]), cells)).splitlines()
    if isinstance(value, dict):
        return [
            f"{answer_in_words(group)}: {', '.join(_lines(answer))}"
            for group, answer in value.items()
        ]
    return list(map(answer_in_words, value if isinstance(value, list) else [value]))


def _cell(cell: object) -> str:
    """Return a cell of a row: a list in a line, a value with its count, or NULL."""
    if isinstance(cell, list):
        return ", ".join(map(_cell, cell))
    if isinstance(cell, dict):
        return ": ".join(map(_cell, cell.values()))
    return "NULL" if cell is None else answer_in_words(cell)


def _cell_lines(counts: Mapping[str, NoisyCellCounts]) -> list[str]:
    """Return the lines of a table of percentages, and their meaning."""
    rows = [{"column": name, **one.cells()} for name, one in counts.items()]
    if "" in counts:
        del rows[0]["column"]
    one = next(iter(counts.values()))
    table = TextTable(tuple(rows[0]), tuple(tuple(row.values()) for row in rows))
    return [*str(table).splitlines(), one.meaning, *one.lines_about_records]


def check_report(path: Path | None, lang: str | None) -> None:
    """Refuse a report that could not be written, before anything is charged."""
    if path is None:
        if lang is not None:
            raise InvalidArgument("--lang is the language of a report. Give --report too")
        return
    from ..study.reports import check_path  # most commands write none

    check_path(path)
    if lang is not None:
        choice(lang, "lang", languages())


def write_report(subject: Any, path: Path | None, lang: str | None, **about: Any) -> None:
    """Write the report of a subject, if a path is given.

    Args:
        subject: a release, an audit or a ledger.
        path: the path of the report, or None.
        lang: the code of its language. None for that of the command line.
        **about: the arguments of `discreet.report` besides.
    """
    if path is not None:
        from ..study.reports import report

        page = report(subject, path, lang=lang or current_language(), **about)
        say(Message("wrote {path}", path=page))
