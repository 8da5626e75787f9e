"""Answers laid out for a page: one value, a list, or one of these for each group."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LaidOut:
    """An answer as texts.

    Attributes:
        one: the text of a single value; None for others.
        many: the texts of a list.
        groups: the answers by the texts of their groups.
    """

    one: str | None = None
    many: tuple[str, ...] = ()
    groups: tuple[tuple[str, "LaidOut"], ...] = ()


def laid_out(value: Any) -> LaidOut:
    """Return an answer as texts; nested lists are written in a line."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return LaidOut(groups=tuple((_text(key), laid_out(one)) for key, one in value.items()))
    if isinstance(value, list | tuple):
        return LaidOut(many=tuple(map(_text, value)))
    return LaidOut(one=_text(value))


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)
