"""Answers laid out for a page: one value, a list, or one of these for each group."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...datasets.noisy_cell_counts import NoisyCellCounts
from ...numbers import rounded_up, spell


@dataclass(frozen=True, slots=True)
class LaidOut:
    """An answer as texts.

    Attributes:
        one: the text of a single value; None for others.
        many: the texts of a list.
        groups: the answers by the texts of their groups.
        cells: of a check, the percentages by what cells do, from and to.
        sure: the probability with which they hold, in percent.
        error: by how many cells a count is off at most.
    """

    one: str | None = None
    many: tuple[str, ...] = ()
    groups: tuple[tuple[str, "LaidOut"], ...] = ()
    cells: tuple[tuple[str, str], ...] = ()
    sure: str = ""
    error: str = ""


def laid_out(value: Any) -> LaidOut:
    """Return an answer as texts; nested lists are written in a line."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, NoisyCellCounts):
        return _checked(value)
    if isinstance(value, dict):
        return LaidOut(groups=tuple((_text(key), laid_out(one)) for key, one in value.items()))
    if isinstance(value, list | tuple):
        return LaidOut(many=tuple(map(_text, value)))
    return LaidOut(one=_text(value))


def _checked(counts: NoisyCellCounts) -> LaidOut:
    """Return the percentages of a check."""
    spans = ((name, f"{low} – {high} %") for name, (low, high) in counts.percentages.items())
    error = rounded_up(Fraction(counts.error), 3)
    return LaidOut(cells=tuple(spans), sure=spell(100 * counts.probability), error=error)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)
