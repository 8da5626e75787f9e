"""The profile of one column: released numbers and values, their words and their picture."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from operator import itemgetter
from typing import Any, Literal

from ...base.count_tables import CountTable, table_of_counts
from ...base.messages import AND, Message, gettext, join, translate
from ...mechanisms.accuracy import CELLS, CONFIDENCE, ErrorBound
from ...selection.decimals import next_to_zero

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


ProfileKind = Literal["numbers", "dates", "texts"]
"""The kinds of columns."""

_KIND_NAMES: Mapping[ProfileKind, Message] = {
    "numbers": Message("numbers", "what a column holds"),
    "dates": Message("dates", "what a column holds"),
    "texts": Message("texts", "what a column holds"),
}

_GROUPED, _LONGEST = 10_000, int(1e15)
"""From here on thousands are set apart, and up to here whole numbers are written in full."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """A column in released numbers. All of them have noise, and may be published.

    Attributes:
        name: the name of the column.
        kind: "numbers", "dates" or "texts".
        is_given: whether the schema or the caller said the kind; else noisy counts of the cells decided.
        filled: how many cells are not missing.
        missing: how many are missing.
        error: neither is off by more than this, with probability 95 %.
        quartiles: the three quartiles; None for texts, and where too few cells are read for them.
        ends: between which numbers or dates nearly all cells are; None where there are no quartiles.
        counts: the numbers of units by value, of values that enough of them share; None where they were not asked.
        is_integer: whether its type is one of whole numbers.
        readable: how many cells are numbers, or dates, as the kind says; None for texts.
        needed: about how many of these the quartiles need, from public numbers; 0 for texts.
        rank_error: how far the quartiles, and the ends of dates, may be from their ranks; None without quartiles.
    """

    name: str
    kind: ProfileKind
    is_given: bool
    filled: int
    missing: int
    error: int
    quartiles: tuple[Any, ...] | None = None
    ends: tuple[Any, ...] | None = None
    counts: Mapping[Any, int] | None = None
    is_integer: bool = False
    readable: int | None = None
    needed: int = 0
    rank_error: ErrorBound | None = None

    @property
    def kind_in_words(self) -> str:
        """The kind, in the language of the reader."""
        return translate(_KIND_NAMES[self.kind])

    @property
    def cells_in_words(self) -> str:
        """How many cells are filled, and missing if that is more than noise, in the language of the reader."""
        parts = [gettext("{filled:,} cells", filled=max(0, self.filled))]
        if self.readable is not None and self.filled - self.readable > self.error:
            parts.append(
                gettext(
                    "{readable:,} of them {kind}",
                    readable=max(0, self.readable),
                    kind=self.kind_in_words,
                )
            )
        if self.missing > self.error:
            parts.append(gettext("{missing:,} missing", missing=self.missing))
        return str(join(AND, parts))

    @property
    def percentage_filled(self) -> int:
        """The percentage of cells that are filled; 100 where those that are missing are no more than noise."""
        missing = self.missing if self.missing > self.error else 0
        cells = self.filled + missing
        return 100 * self.filled // cells if cells else 0

    @property
    def common(self) -> CountTable:
        """The values with their counts, the most common first."""
        pairs = sorted((self.counts or {}).items(), key=itemgetter(1), reverse=True)
        return table_of_counts(dict(pairs))

    @property
    def carries_quartiles(self) -> bool:
        """Whether so many cells are read as the kind, by their released count, as quartiles need."""
        return self.readable is not None and self.readable >= self.needed

    @property
    def box(self) -> BoxPlot | None:
        """The ends and the quartiles as a picture; None where there are none."""
        if self.quartiles is None or self.ends is None:
            return None
        return BoxPlot.of(
            [next_to_zero(one) for one in (self.ends[0], *self.quartiles, self.ends[-1])]
        )

    @property
    def error_bound(self) -> ErrorBound:
        """How far off the quartiles may be in rank; where there are none, the numbers of cells."""
        return self.rank_error or bound_of_cells(self.error)

    @property
    def middle(self) -> str:
        """The quartiles and the ends in words; "" where there are none."""
        if self.quartiles is None or self.ends is None:
            return ""
        first, median, third = map(spell_answer, self.quartiles)
        return gettext(
            "median {median}, half of them from {first} to {third}, nearly all from {low} to {high}",
            median=median, first=first, third=third,
            low=spell_answer(self.ends[0]), high=spell_answer(self.ends[-1]),
        )  # fmt: skip

    @property
    def doubt(self) -> str:
        """A sentence where there are too few cells for the kind or for the quartiles; "" where there are enough."""
        if not self.is_given and self.filled <= self.error:
            return gettext("so few cells that noise may have decided what the column holds")
        if self.readable is None or self.quartiles is not None:
            return ""
        return gettext(
            "too few {kind} for quartiles, which need about {needed:,}",
            kind=self.kind_in_words, needed=self.needed,
        )  # fmt: skip

    def as_dict(self) -> dict[str, object]:
        """Return the column in plain values, ready for JSON."""
        entries: dict[str, object] = {
            "name": self.name, "kind": self.kind, "given": self.is_given, "filled": self.filled,
            "missing": self.missing, "error": self.error,
        }  # fmt: skip
        if self.readable is not None:
            entries |= {"readable": self.readable, "needed": self.needed}
        if self.quartiles is not None and self.ends is not None:
            entries["quartiles"] = [*map(_plain, self.quartiles)]
            entries["ends"] = [*map(_plain, self.ends)]
            entries["rank_error"] = None if self.rank_error is None else self.rank_error.as_dict()
        if self.counts is not None:
            entries["counts"] = [
                {"value": _plain(key), "count": n} for key, n in self.counts.items()
            ]
        return entries


def bound_of_cells(error: int) -> ErrorBound:
    """Return the bound of numbers of cells that are off by so many at most."""
    return ErrorBound(Fraction(error + 1), CONFIDENCE, CELLS)


def spell_answer(answer: Any) -> str:
    """Return a number or a date as people write it: 41 for 41.0, and thousands apart from ten thousand on."""
    answer = next_to_zero(answer)
    is_number = isinstance(answer, int | Decimal)
    if is_number and abs(answer) < _LONGEST and answer == int(answer):
        return f"{int(answer):,}" if abs(answer) >= _GROUPED else str(int(answer))
    return str(answer)


def _plain(answer: Any) -> object:
    """Return a value for JSON: numbers and text as they are, all else as text."""
    return answer if isinstance(answer, str | bool | int) else str(answer)
