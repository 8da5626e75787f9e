"""Answers laid out for a page: one value, a list, or one of these for every group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...base.messages import translate
from ...base.numbers import rounded_up, spell
from ...selection.release_rows import columns_of_question
from ...selection.shown_answers import is_of_numbers, number_with_size
from ...tables.datasets.noisy_cell_counts import NoisyCellCounts

_NARROW, _MOST_COLUMNS = 6, 12
"""So many columns of a table of two fit a page, and as many it has at most: the longer one goes down the page."""


@dataclass(frozen=True, slots=True)
class CountRow:
    """A value and its noisy count.

    Attributes:
        name: the value.
        count: the count.
        bar: the length of its bar, in percent of the longest.
    """

    name: str
    count: str
    bar: int


@dataclass(frozen=True, slots=True)
class CrossTable:
    """Counts of two columns, one across and one down the page.

    Attributes:
        corner: the names of both columns.
        columns: the values across.
        rows: the values down the page, with their counts: a text and a shade from 0 to 9, or None if there is none.
        most: the largest count.
    """

    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, int] | None, ...]], ...]
    most: str


@dataclass(frozen=True, slots=True)
class AnswerLayout:
    """An answer as texts.

    Attributes:
        one: the text of a single value. None for others.
        many: the texts of a list.
        groups: the answers by the texts of their groups.
        cells: of a check, the percentages by the kind of cells, from and to.
        sure: the probability with which they hold, in percent.
        error: by how many cells a count is off at most.
        lines: how many records span several lines, if a check asked for it.
        has_open_quote: whether these are more than noise makes.
        comments: how many lines are comments, or empty if that was not asked.
        counts: values with their counts.
        cross: counts of two columns.
        columns: the names of the columns of rows.
        rows: the texts of the cells of rows.
    """

    one: str | None = None
    many: tuple[str, ...] = ()
    groups: tuple[tuple[str, "AnswerLayout"], ...] = ()
    cells: tuple[tuple[str, str], ...] = ()
    sure: str = ""
    error: str = ""
    lines: str = ""
    has_open_quote: bool = False
    comments: str = ""
    counts: tuple[CountRow, ...] = ()
    cross: CrossTable | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def layout_of(
    value: Any, counts: Any = None, *, is_histogram: bool = False, query: str = ""
) -> AnswerLayout:
    """Return an answer as texts, with its noisy counts if there are any; nested lists are written in a line.

    Args:
        value: the answer.
        counts: noisy counts of the answers, in the shape of the value.
        is_histogram: whether the answer is counts by value, or these by group.
        query: the question in words. A mean is written with how many numbers it is from.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, NoisyCellCounts):
        return _layout_of_check(value)
    if isinstance(value, dict):
        if is_histogram and not any(isinstance(one, dict) for one in value.values()):
            return _layout_of_counts(value, query)
        numbers = dict.fromkeys(value) if counts is None else counts
        return AnswerLayout(
            groups=tuple(
                (
                    _value_text(key),
                    layout_of(one, numbers[key], is_histogram=is_histogram, query=query),
                )
                for key, one in value.items()
            )
        )
    if isinstance(value, list | tuple):
        return _layout_of_list(value, counts)
    if is_of_numbers(query) and isinstance(counts, int):
        return AnswerLayout(one=translate(number_with_size(value, counts)))
    return AnswerLayout(one=_counted_text(value, counts))


def _layout_of_counts(counts: Mapping[Any, Any], query: str) -> AnswerLayout:
    """Return counts as a table of two columns, if they are that and it is not too wide, or else with bars."""
    if {len(key) if isinstance(key, tuple) else 1 for key in counts} == {2}:
        first, second = (list(dict.fromkeys(part)) for part in zip(*counts, strict=True))
        names, most = columns_of_question(query)[-2:], max(counts.values()) or 1
        if len(second) > max(len(first), _NARROW):
            counts = {(column, row): count for (row, column), count in counts.items()}
            first, second, names = second, first, names[::-1]
        if len(second) <= _MOST_COLUMNS:
            rows = tuple(
                (_value_text(row), tuple(_shaded(counts.get((row, one)), most) for one in second))
                for row in first
            )
            columns = tuple(map(_value_text, second))
            return AnswerLayout(cross=CrossTable(" / ".join(names), columns, rows, f"{most:,}"))
    return AnswerLayout(counts=_count_rows(list(counts), list(counts.values())))


def _shaded(count: int | None, most: int) -> tuple[str, int] | None:
    """Return a count as text, and its shade."""
    return None if count is None else (f"{count:,}", max(0, 9 * count // most))


def _layout_of_list(values: Sequence[Any], counts: Any) -> AnswerLayout:
    """Return a list, with bars for its counts if there are any, or rows, as a statement of SQL has them."""
    if values and all(isinstance(row, dict) for row in values):
        rows = tuple(tuple(map(_value_text, row.values())) for row in values)
        return AnswerLayout(columns=tuple(map(str, values[0])), rows=rows)
    if isinstance(counts, list) and all(type(one) is int for one in counts):
        return AnswerLayout(counts=_count_rows(values, counts))
    each = [None] * len(values) if counts is None else counts
    return AnswerLayout(many=tuple(map(_counted_text, values, each)))


def _count_rows(names: Sequence[Any], counts: Sequence[int]) -> tuple[CountRow, ...]:
    """Return rows with bars, the longest of which is the whole width."""
    most = max(counts, default=0) or 1
    return tuple(
        CountRow(_value_text(name), f"{count:,}", max(0, 100 * count // most))
        for name, count in zip(names, counts, strict=True)
    )


def _counted_text(value: Any, count: Any) -> str:
    text = _value_text(value)
    return text if count is None else f"{text}: {_value_text(count)}"


def _layout_of_check(counts: NoisyCellCounts) -> AnswerLayout:
    """Return the percentages of a check."""
    spans = ((name, f"{low} – {high} %") for name, (low, high) in counts.percentages.items())
    error = rounded_up(Fraction(counts.error), 3)
    lines = counts.multiline_records
    return AnswerLayout(
        cells=tuple(spans),
        sure=spell(100 * counts.probability),
        error=error,
        lines="" if lines is None else f"{max(0, lines):,}",
        has_open_quote=counts.may_have_open_quote,
        comments="" if counts.comment_lines is None else f"{max(0, counts.comment_lines):,}",
    )


def _value_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_value_text, value))
    if isinstance(value, dict):  # a value with its count
        return ": ".join(map(_value_text, value.values()))
    return "NULL" if value is None else str(value)
