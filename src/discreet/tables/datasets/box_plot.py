"""Ends and quartiles as a picture: a line of letters, and places on an axis for a page."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

_UNITS = {"line": ("├", "─", "▕", "█", "┃", "▏", "┤"), "plain": ("|", "-", "[", "=", "|", "]", "|")}


@dataclass(frozen=True, slots=True)
class BoxPlot:
    """Where the low end, the three quartiles and the high end are.

    Attributes:
        places: five places from 0 to 1, rising.
        names: the five values in words.
    """

    places: tuple[float, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[Any]) -> "BoxPlot":
        """Return the picture of a low end, three quartiles and a high end; noise may have put them out of order."""
        numbers = sorted(map(_as_number, values))
        low, width = numbers[0], numbers[-1] - numbers[0]
        places = tuple(float((number - low) / width) if width else 0.5 for number in numbers)
        return cls(places, tuple(str(value) for value in sorted(values)))

    def line(self, width: int, *, plain: bool = False) -> str:
        """Return a line of letters, at most 60 wide.

        Args:
            width: how many columns it may take.
            plain: whether it is made of letters of ASCII.
        """
        start, thin, open_box, thick, middle, close_box, end = _UNITS["plain" if plain else "line"]
        last = min(width, 60) - 1
        low, first, median, third, high = (round(place * last) for place in self.places)
        letters = [thin] * (last + 1)
        letters[first : third + 1] = [thick] * (third - first + 1)
        letters[low], letters[high] = start, end
        letters[median] = middle
        if plain and third - first > 1:
            letters[first], letters[third] = open_box, close_box
        return "".join(letters)


def _as_number(value: Any) -> Fraction:
    """Return a number or a date as a number."""
    if isinstance(value, dt.datetime):
        return Fraction(
            value.toordinal() * 86_400 + value.hour * 3600 + value.minute * 60 + value.second,
            86_400,
        )
    if isinstance(value, dt.date):
        return Fraction(value.toordinal())
    return Fraction(value)
