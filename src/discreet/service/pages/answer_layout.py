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


def layout_of(value: Any) -> AnswerLayout:
    """Return an answer as texts; nested lists are written in a line."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, NoisyCellCounts):
        return _layout_of_check(value)
    if isinstance(value, dict):
        return AnswerLayout(
            groups=tuple((_value_text(key), layout_of(one)) for key, one in value.items())
        )
    if isinstance(value, list | tuple):
        return AnswerLayout(many=tuple(map(_value_text, value)))
    return AnswerLayout(one=_value_text(value))


def _layout_of_check(counts: NoisyCellCounts) -> AnswerLayout:
    """Return the percentages of a check."""
    spans = ((name, f"{low} – {high} %") for name, (low, high) in counts.percentages.items())
    error = rounded_up(Fraction(counts.error), 3)
    return AnswerLayout(cells=tuple(spans), sure=spell(100 * counts.probability), error=error)


def _value_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_value_text, value))
    return str(value)
