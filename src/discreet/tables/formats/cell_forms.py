"""The form of the cells of a file of text, or of one of its columns: how they write numbers and dates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from ...base.arguments import read_sequence
from ...errors import InvalidArgument, preview
from ...selection.date_grid import ClockKind
from .date_texts import DateForm, read_date_form
from .number_texts import DECIMALS, NEGATIVES, THOUSANDS, NumberForm, read_units, with_length

CELL_WORDS = ("decimal", "thousands", "units", "percent", "negative", "date", "missing")
"""The words of the form of cells: of a file, and of a column in place of its file's."""

_NUMBER_WORDS = ("decimal", "thousands", "units", "percent", "negative")

NO_TEXT = "?"
"""In place of a cell that spells no number or no date of its form: no number and no date is written so."""

MOST_MARKERS, LONGEST_MARKER = 100, 1000

CellUse = Literal["number"] | ClockKind
"""What the cells of a column are used as: numbers, or times of a clock."""


@dataclass(frozen=True, slots=True)
class CellReading:
    """The reading of the cells of a column: the plain text that they spell.

    Attributes:
        form: the form of numbers or dates.
        missing: the texts that stand for a missing cell, as an empty one does.
    """

    form: NumberForm | DateForm
    missing: tuple[str, ...] = ()

    def plain(self, text: str) -> str:
        """Return the plain text of a cell, `NO_TEXT` if it spells none, an empty text if the cell is missing."""
        return "" if not text or text in self.missing else self.form.plain(text) or NO_TEXT

    @property
    def program(self) -> bytes:
        """The reading as `reader.c` takes it."""
        markers = b"".join(map(with_length, self.missing))
        return len(markers).to_bytes(4, "little") + markers + self.form.program


@dataclass(frozen=True, slots=True)
class CellForm:
    """How cells write numbers and dates.

    Attributes:
        decimal: the decimal sign of numbers; None if it is not said.
        thousands: the sign between their groups of three digits; "" for none, None if it is not said.
        units: the texts that may stand beside them; None if it is not said.
        percent: whether they are followed by a percent sign; None if it is not said.
        negative: how those below zero are written, one of `NEGATIVES`; None if it is not said.
        date: the pattern of dates; None if it is not said.
        missing: the texts that stand for a missing cell, as an empty one does; None if it is not said.
    """

    decimal: str | None = None
    thousands: str | None = None
    units: tuple[str, ...] | None = None
    percent: bool | None = None
    negative: str | None = None
    date: str | None = None
    missing: tuple[str, ...] | None = None

    @property
    def numbers(self) -> NumberForm | None:
        """How numbers are written; None if the form does not say."""
        if all(getattr(self, word) is None for word in _NUMBER_WORDS):
            return None
        other = "," if self.thousands == "." else "."
        return NumberForm(
            self.decimal or other,
            self.thousands or "",
            self.units or (),
            bool(self.percent),
            self.negative == "parentheses",
        )

    @property
    def dates(self) -> DateForm | None:
        """How dates are written; None if the form does not say."""
        return None if self.date is None else read_date_form(self.date, self.numbers)

    @property
    def given(self) -> dict[str, Any]:
        """The words that were said, in plain values."""
        words = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: [*one] if isinstance(one, tuple) else one
            for name, one in words.items()
            if one is not None
        }

    def replaced_by(self, other: "CellForm") -> "CellForm":
        """Return the form with the words of another in place of its own.

        Raises:
            InvalidArgument: if these are together those of no form.
        """
        words = {one.name: getattr(other, one.name) for one in fields(other)}
        return _checked(
            replace(self, **{name: one for name, one in words.items() if one is not None})
        )

    def reading(self, use: CellUse | None) -> CellReading | None:
        """Return the reading of cells for a use; None for their texts."""
        form = self.numbers if use == "number" else self.dates
        return None if use is None or form is None else CellReading(form, self.missing or ())


NO_FORM = CellForm()


def cell_form(words: Mapping[str, object]) -> CellForm:
    """Return the form that these words say: those of `CellForm`.

    Raises:
        InvalidArgument: if a word says none.
    """
    units, percent = words.get("units"), words.get("percent")
    if not (percent is None or isinstance(percent, bool)):
        raise InvalidArgument(f"percent must be True or False, got {preview(percent)}")
    form = CellForm(
        _one_of(words.get("decimal"), "decimal", DECIMALS),
        _one_of(words.get("thousands"), "thousands", ("", *THOUSANDS)),
        None if units is None else read_units(units),
        percent,
        _one_of(words.get("negative"), "negative", NEGATIVES),
        None if words.get("date") is None else read_date_form(words["date"], None).pattern,
        None if words.get("missing") is None else _markers(words["missing"]),
    )
    return _checked(form)


def _markers(missing: object) -> tuple[str, ...]:
    """Return the texts that stand for a missing cell, each once."""
    texts: Any = read_sequence(missing, "missing", MOST_MARKERS)
    if not all(isinstance(one, str) and _can_be_cell(one) for one in texts):
        raise InvalidArgument("missing must be a list of texts, each as it stands in a cell")
    return tuple(dict.fromkeys(texts))


def _can_be_cell(text: str) -> bool:
    """Return whether a cell may hold a text: no lone surrogate, and of no more than some characters."""
    is_whole = text.encode(errors="ignore").decode() == text
    return is_whole and "\0" not in text and len(text) <= LONGEST_MARKER


def _one_of(value: object, word: str, signs: Sequence[str]) -> str | None:
    """Return one of some signs, or None."""
    if value is None or (isinstance(value, str) and value in signs):
        return value
    raise InvalidArgument(
        f"{word} must be one of {' '.join(map(repr, signs))}, got {preview(value)}"
    )


def _checked(form: CellForm) -> CellForm:
    """Return a form in which no cell can spell two numbers, or raise InvalidArgument."""
    if form.decimal is not None and form.decimal == form.thousands:
        raise InvalidArgument(
            f"decimal and thousands must be two signs, got {form.decimal!r} for both"
        )
    return form
