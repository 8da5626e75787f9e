"""Answers laid out for a page: one value, a list, or one of these for every group."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...datasets.noisy_cell_counts import NoisyCellCounts
from ...numbers import rounded_up, spell


@dataclass(frozen=True, slots=True)
class AnswerLayout:
    """An answer as texts.

    Attributes:
        one: the text of a single value; None for others.
        many: the texts of a list.
        groups: the answers by the texts of their groups.
        cells: of a check, the percentages by the kind of cells, from and to.
        sure: the probability with which they hold, in percent.
        error: by how many cells a count is off at most.
    """

    one: str | None = None
    many: tuple[str, ...] = ()
    groups: tuple[tuple[str, "AnswerLayout"], ...] = ()
    cells: tuple[tuple[str, str], ...] = ()
    sure: str = ""
    error: str = ""


def layout_of(value: Any, counts: Any = None) -> AnswerLayout:
    """Return an answer as texts, with its noisy counts if there are any; nested lists are written in a line."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, NoisyCellCounts):
        return _layout_of_check(value)
    if isinstance(value, dict):
        numbers = dict.fromkeys(value) if counts is None else counts
        return AnswerLayout(
            groups=tuple(
                (_value_text(key), layout_of(one, numbers[key])) for key, one in value.items()
            )
        )
    if isinstance(value, list | tuple):
        each = [None] * len(value) if counts is None else counts
        return AnswerLayout(many=tuple(map(_counted_text, value, each)))
    return AnswerLayout(one=_counted_text(value, counts))


def _counted_text(value: Any, count: Any) -> str:
    text = _value_text(value)
    return text if count is None else f"{text}: {_value_text(count)}"


def _layout_of_check(counts: NoisyCellCounts) -> AnswerLayout:
    """Return the percentages of a check."""
    spans = ((name, f"{low} – {high} %") for name, (low, high) in counts.percentages.items())
    error = rounded_up(Fraction(counts.error), 3)
    return AnswerLayout(cells=tuple(spans), sure=spell(100 * counts.probability), error=error)


def _value_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_value_text, value))
    return str(value)
