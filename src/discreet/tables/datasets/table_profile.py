"""A profile of an undescribed table: its columns in released numbers, as text, page and draft of discreet.toml.

A released value is data, and whoever supplied it chose its letters. So the library quotes it in a draft, and values
with characters that cannot be seen are left out: they could hide or reorder the lines that an owner reads.
"""

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from html import escape
from textwrap import wrap
from typing import Any

from ...base.count_tables import CountTable, text_width
from ...base.escapes import visible_text
from ...base.messages import Message, gettext, plural
from ...base.numbers import rounded_up, spell
from ...mechanisms.accuracy import CONFIDENCE
from ...privacy.sensitivity import Unit, plain_unit, unit_in_words
from ...selection.decimals import next_to_zero
from ..templates import render_template
from .column_profile import ColumnProfile
from .columns import MOST_VALUES
from .declarations import LARGEST, LEAST, STEP, TO_FILL_IN, key_lines, quote_value, table_head
from .draft import name_of_source

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


_HEAD = (
    "# Drafted from a profile: released numbers with noise, which may be published.",
    "# Compare them with the form, the codebook or the law, and do not look at the rows.",
)
_BUDGET = f"{TO_FILL_IN}: the most that all answers may cost together"
_FLOATS = 15  # from this power of ten on
_STEPS = 1000
"""About so many answers lie between the ends of a column of numbers."""


def draft_of_columns(
    columns: Sequence[ColumnProfile],
    *,
    name: str,
    where: Mapping[str, object] | None,
    unit: Unit | None,
    max_contributions: int,
) -> str:
    """Return a draft of discreet.toml.

    Args:
        columns: the columns of a profile.
        name: the name of the dataset.
        where: the words of a description that say where the data are; None for data that none can name.
        unit: the privacy unit.
        max_contributions: the most of its rows that count.
    """
    lines = [*_HEAD, "", *key_lines({"ledger": "budget.db"}), "", table_head("datasets", name)]
    lines += key_lines(where or {"source": f"{TO_FILL_IN}: where the data are"})
    if unit is not None:
        bound = {"privacy_unit": plain_unit(unit), "max_contributions": max_contributions}
        lines += key_lines(bound)
    lines.append(f"budget = {{ epsilon = {quote_value(_BUDGET)} }}")
    lines += [
        f"# {column.name!a} cannot be used as a name here: rename the column"
        for column in columns
        if not is_describable(column.name)
    ]
    for column in columns:
        if is_describable(column.name):
            head = table_head("datasets", name, "columns", column.name)
            lines += ["", head, *_declared_lines(column)]
    return "\n".join(lines) + "\n"


def is_describable(name: str) -> bool:
    """Return whether a column of that name can be described."""
    return bool(name) and name.isprintable() and name == name.strip()


def _declared_lines(column: ColumnProfile) -> list[str]:
    """Return the lines of a column in a draft."""
    unprintable = [key for key in column.counts or () if not str(key).isprintable()]
    words = f"# left out, as they hold characters that cannot be seen: {len(unprintable):,}"
    return [*key_lines(_declaration(column)), *([words] if unprintable else [])]


def _declaration(column: ColumnProfile) -> Mapping[str, Any]:
    """Return the declaration of a column in the words of a description."""
    if column.kind == "texts":
        return _of_values([*(column.counts or ())])
    if column.kind == "dates":
        low, high = map(_day, column.ends) if column.ends else (LEAST, LARGEST)
        return {"type": "date", "minimum": low, "maximum": high}
    bounds = {"minimum": LEAST, "maximum": LARGEST} if column.ends is None else _bounds(column)
    if column.is_integer:
        return {"type": "integer", **bounds}
    return {"type": "number", **bounds, "step": bounds.get("step", STEP)}


def _bounds(column: ColumnProfile) -> dict[str, Any]:
    """Return the bounds of a column of numbers, and the step of one that is not of whole numbers."""
    low, high = (Fraction(next_to_zero(end)) for end in column.ends or ())
    if low == high == 0:
        return {"minimum": 0, "maximum": LARGEST}  # nearly all cells are 0
    if column.is_integer:
        return {
            "minimum": _number(Fraction(math.floor(low))),
            "maximum": _number(Fraction(math.ceil(high))),
        }
    return {"minimum": _number(low), "maximum": _number(high), "step": step_between(low, high)}


def _of_values(values: Sequence[Any]) -> Mapping[str, Any]:
    """Return the declaration of a column with some values: of the type that they have."""
    printable = [key for key in values if str(key).isprintable()][:MOST_VALUES]
    kinds = {type(key) for key in printable}
    if kinds == {bool}:
        return {"type": "boolean"}
    types = {int: "integer", dt.date: "date"}
    kind = types.get(kinds.pop(), "string") if len(kinds) == 1 else "string"
    texts = printable if kind != "string" else [*map(str, printable)]
    return {"type": kind, **({"enum": texts} if texts else {})}


def _day(moment: dt.date) -> dt.date:
    """Return the day of a date or a time."""
    return moment.date() if isinstance(moment, dt.datetime) else moment


def step_between(low: Fraction, high: Fraction) -> int | float:
    """Return the largest power of ten of which at least a thousand lie between two numbers; 1 if they are equal."""
    width = high - low
    if width <= 0:
        return 1
    power = math.floor(math.log10(width / _STEPS))
    return 10**power if 0 <= power < _FLOATS else float(f"1e{power}")


def _number(number: Fraction) -> int | float:
    """Return a number as TOML has it; of whole numbers those that its integers hold."""
    is_whole = number.denominator == 1 and abs(number) < 2**63
    return int(number) if is_whole else float(Decimal(number.numerator) / number.denominator)
