"""A profile of an undescribed table: its columns in released numbers, as text and as a page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from html import escape
from operator import itemgetter
from textwrap import wrap
from typing import Any, Literal

from ..accuracy import CONFIDENCE
from ..count_tables import CountTable, table_of_counts, text_width
from ..escapes import visible_text
from ..messages import Message, gettext, plural, translate
from ..numbers import spell
from ..privacy.units import Unit, plain_unit, unit_in_words
from ..templates import render_template
from .box_plot import BoxPlot
from .draft import name_of_source
from .profile_draft import draft_of_columns

ProfileKind = Literal["numbers", "dates", "texts"]
"""The kinds of columns."""

_KINDS: Mapping[ProfileKind, Message] = {
    "numbers": Message("numbers", "what a column holds"),
    "dates": Message("dates", "what a column holds"),
    "texts": Message("texts", "what a column holds"),
}

_MOST_PRINTED = 12
"""As many keys of a column are printed; all of them are in the JSON, the draft and the report."""

_INDENT = "  "

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
        quartiles: the three quartiles; None for texts.
        ends: between which numbers or dates nearly all cells are; None for texts.
        counts: the numbers of units by value, of values that enough of them share; None where they were not asked.
        is_integer: whether its type is one of whole numbers.
        needed: about how many cells the quartiles of numbers need, from public numbers; 0 for all else.
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
    needed: int = 0

    @property
    def kind_in_words(self) -> str:
        """The kind, in the language of the reader."""
        return translate(_KINDS[self.kind])

    @property
    def cells_in_words(self) -> str:
        """How many cells are filled, and missing if that is more than noise, in the language of the reader."""
        cells = gettext("{filled:,} cells", filled=self.filled)
        if self.missing <= self.error:
            return cells
        return gettext("{cells}, {missing:,} missing", cells=cells, missing=self.missing)

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
    def box(self) -> BoxPlot | None:
        """The ends and the quartiles as a picture; None where there are none."""
        if self.quartiles is None or self.ends is None:
            return None
        return BoxPlot.of([self.ends[0], *self.quartiles, self.ends[-1]])

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
        """A sentence where there are fewer cells than the quartiles need; "" where there are enough."""
        if self.filled >= self.needed:
            return ""
        return gettext(
            "these numbers need about {needed:,} cells, and may be far off", needed=self.needed
        )

    def as_dict(self) -> dict[str, object]:
        """Return the column in plain values, ready for JSON."""
        known: dict[str, object] = {
            "name": self.name, "kind": self.kind, "given": self.is_given, "filled": self.filled,
            "missing": self.missing, "error": self.error,
        }  # fmt: skip
        if self.quartiles is not None and self.ends is not None:
            known["quartiles"] = [*map(_plain, self.quartiles)]
            known["needed"] = self.needed
            known["ends"] = [*map(_plain, self.ends)]
        if self.counts is not None:
            known["counts"] = [{"value": _plain(key), "count": n} for key, n in self.counts.items()]
        return known


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """An undescribed table in public numbers: `print` writes it, a notebook and a report show it.

    Attributes:
        columns: its columns.
        size: how many records there are, with noise.
        unit: the privacy unit; None if every row is a record.
        max_contributions: the most rows of one privacy unit that counted in a column.
        epsilon: the privacy parameter ε of all of it together.
        delta: the δ of all of it together; None where no values were asked for.
        minimum_count: no value of fewer units is released.
        left_out: the columns about which nothing was asked, with the reasons.
        where: where the data are, in the words of a description; None for data that no description can name.
    """

    columns: tuple[ColumnProfile, ...]
    size: int
    unit: Unit | None
    max_contributions: int
    epsilon: Fraction
    delta: Fraction | None
    minimum_count: int
    left_out: tuple[tuple[str, str], ...] = ()
    where: Mapping[str, object] | None = None

    @property
    def draft(self) -> str:
        """A draft of discreet.toml, for the owner of the data to compare with other knowledge of them."""
        source = (self.where or {}).get("source")
        return draft_of_columns(
            self.columns,
            name=name_of_source(source) if isinstance(source, str) else "data",
            where=self.where,
            unit=self.unit,
            max_contributions=self.max_contributions,
        )

    @property
    def title(self) -> str:
        """How many records and columns there are."""
        size = max(0, self.size)
        records = (
            plural("about {count:,} record", "about {count:,} records", size)
            if self.unit is None
            else Message("about {count:,} {unit}", count=size, unit=unit_in_words(self.unit))
        )
        columns = plural("{count:,} column", "{count:,} columns", len(self.columns))
        return gettext("{records}, {columns}", records=records, columns=columns)

    @property
    def notes(self) -> list[str]:
        """Sentences about the errors of the numbers and about missing values, from public numbers alone."""
        return [*self._notes()]

    def _notes(self) -> Iterator[str]:
        errors = {column.error for column in self.columns}
        if errors:
            yield gettext(
                "Numbers of cells are off by up to {error:,}, with probability {sure} %.",
                error=max(errors), sure=spell(100 * CONFIDENCE),
            )  # fmt: skip
        if any(column.counts is not None for column in self.columns):
            yield gettext(
                "A value of fewer than {least:,} {unit} is never shown, and one of few may be missing.",
                least=self.minimum_count,
                unit=gettext("records") if self.unit is None else unit_in_words(self.unit),
            )
        elif any(column.kind == "texts" for column in self.columns):
            yield gettext("The values of a column of texts are released with a delta alone.")
        for name, reason in self.left_out:
            yield gettext("{column} is left out: {reason}", column=name, reason=reason)

    def lines(self, width: int = 80, *, plain: bool = False) -> list[str]:
        """Return the lines of the printed profile.

        Args:
            width: how many columns of a terminal they may take.
            plain: whether bars are made of letters of ASCII.
        """
        title = self.title
        lines = [title, "─" * text_width(title) if not plain else "-" * text_width(title)]
        for column in self.columns:
            lines += ["", *_column_lines(column, width, plain=plain)]
        return [*lines, "", *(line for note in self.notes for line in _wrap(note, width))]

    def as_dict(self) -> dict[str, object]:
        """Return the profile in plain values, ready for JSON."""
        return {
            "size": self.size,
            "columns": [column.as_dict() for column in self.columns],
            "privacy_unit": plain_unit(self.unit),
            "max_contributions": self.max_contributions,
            "epsilon": str(self.epsilon),
            "delta": None if self.delta is None else str(self.delta),
            "minimum_count": self.minimum_count,
            "left_out": dict(self.left_out),
            "draft": self.draft,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"Profile({self.title})"

    def _repr_html_(self) -> str:
        return render_template("profile.html", profile=self)


@dataclass(frozen=True, slots=True, repr=False)
class Draft:
    """A draft of discreet.toml, alone."""

    text: str

    def lines(self, width: int = 80, *, plain: bool = False) -> list[str]:
        """Return its lines, whatever the width: none is broken."""
        return self.text.splitlines()

    def as_dict(self) -> dict[str, object]:
        """Return the draft in plain values, ready for JSON."""
        return {"draft": self.text}

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return "Draft(discreet.toml)"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"


def spell_answer(answer: Any) -> str:
    """Return a number or a date as people write it: 41 for 41.0, and thousands apart from ten thousand on."""
    is_number = isinstance(answer, int | Decimal)
    if is_number and abs(answer) < _LONGEST and answer == int(answer):
        return f"{int(answer):,}" if abs(answer) >= _GROUPED else str(int(answer))
    return str(answer)


def _plain(answer: Any) -> object:
    """Return a value for JSON: numbers and text as they are, all else as text."""
    return answer if isinstance(answer, str | bool | int) else str(answer)


def _column_lines(column: ColumnProfile, width: int, *, plain: bool) -> list[str]:
    """Return the lines of a column."""
    head = (column.name, column.kind_in_words, column.cells_in_words)
    lines = _wrap(f"  {'-' if plain else '·'}  ".join(head), width)
    if column.box is not None:
        room = width - len(_INDENT)
        plot = column.box.line(room, plain=plain)
        texts = (*_wrap(column.middle, room), *_wrap(column.doubt, room))
        lines += [_INDENT + line for line in (plot, *texts)]
    if column.counts is not None:
        lines += [_INDENT + line for line in _count_lines(column.common, width, plain=plain)]
    return lines


def _wrap(text: str, width: int) -> list[str]:
    """Return a text in lines; one with letters that take two columns has half as many of them."""
    seen = visible_text(text)
    return wrap(seen, width if text_width(seen) == len(seen) else width // 2)


def _count_lines(common: CountTable, width: int, *, plain: bool) -> Sequence[str]:
    """Return the lines of the most common values."""
    if not common.rows:
        return [gettext("no value is shared by enough")]
    lines = CountTable(common.rows[:_MOST_PRINTED]).lines(width - len(_INDENT), plain=plain)
    more = len(common.rows) - _MOST_PRINTED
    return [*lines, *([gettext("and {more:,} more", more=more)] if more > 0 else [])]
