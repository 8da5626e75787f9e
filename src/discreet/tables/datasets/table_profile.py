"""A profile of an undescribed table: its columns in released numbers, as text and as a page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from textwrap import wrap

from ...base.count_tables import CountTable, text_width
from ...base.messages import Message, gettext, plural
from ...base.numbers import rounded_up, spell
from ...base.text_tables import visible_text
from ...mechanisms.accuracy import CONFIDENCE
from ...privacy.sensitivity import Unit, plain_unit, unit_in_words
from ..templates import render_template
from .column_profile import ColumnProfile
from .draft import name_of_source
from .profile_draft import draft_of_columns

_MOST_PRINTED = 12
"""As many keys of a column are printed; all of them are in the JSON, the draft and the report."""

_INDENT = "  "


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
            else Message(
                "about {count:,} units ({unit})", count=size, unit=unit_in_words(self.unit)
            )
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
        ranks = [column.rank_error.error for column in self.columns if column.rank_error]
        if ranks:
            yield gettext(
                "Quartiles are off by less than {error} cells in rank, with probability {sure} % for each column.",
                error=rounded_up(max(ranks), 3), sure=spell(100 * CONFIDENCE),
            )  # fmt: skip
        if any(column.counts is not None for column in self.columns):
            yield gettext(
                "A value of fewer than {least:,} {unit} is never shown, and one of few may be missing.",
                least=self.minimum_count,
                unit=gettext("records") if self.unit is None else gettext("units"),
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


def _column_lines(column: ColumnProfile, width: int, *, plain: bool) -> list[str]:
    """Return the lines of a column."""
    head = (column.name, column.kind_in_words, column.cells_in_words)
    lines = _wrap(f"  {'-' if plain else '·'}  ".join(head), width)
    if column.box is not None:
        room = width - len(_INDENT)
        plot = column.box.line(room, plain=plain)
        lines += [_INDENT + line for line in (plot, *_wrap(column.middle, room))]
    lines += [_INDENT + line for line in _wrap(column.doubt, width - len(_INDENT))]
    if column.counts is not None:
        lines += [_INDENT + line for line in _count_lines(column.common, width, plain=plain)]
    return lines


def _wrap(text: str, width: int) -> list[str]:
    """Return a text in lines; one with letters that take two columns has half as many of them."""
    visible = visible_text(text)
    return wrap(visible, width if text_width(visible) == len(visible) else width // 2)


def _count_lines(common: CountTable, width: int, *, plain: bool) -> Sequence[str]:
    """Return the lines of the most common values."""
    if not common.rows:
        return [gettext("no value is shared by enough")]
    lines = CountTable(common.rows[:_MOST_PRINTED]).lines(width - len(_INDENT), plain=plain)
    more = len(common.rows) - _MOST_PRINTED
    return [*lines, *([gettext("and {more:,} more", more=more)] if more > 0 else [])]
