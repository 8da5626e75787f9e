"""The form of a file of text and of its cells: its owner says it, and no row decides."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from ...base.arguments import file_path, read_sequence
from ...base.error_boundary import error_boundary
from ...errors import InvalidArgument, preview
from ...selection.date_grid import ClockKind
from .date_texts import DateForm, read_date_form
from .first_bytes import encoding_name
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


MOST_COLUMNS = 10_000
LONGEST_NAME = 255
"""Characters of the name of a sheet: Excel allows 31, other programs more."""

_OF_WORKBOOKS = ("names", "skip", "missing", "sheet")
"""The words of a form that a workbook has, too: the others it says itself."""

WORDS = (
    "encoding",
    "delimiter",
    "quote",
    "escape",
    "multiline",
    "names",
    "skip",
    "comment",
    *CELL_WORDS,
    "sheet",
    "skip_initial_space",
)
"""The words of a form, as --csv takes them."""

MOST_SKIPPED = 10_000


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """The form of the cells of a column as it is declared.

    Attributes:
        cells: the form.
        use: what its cells are used as, where they are numbers or dates in a form; None for their texts.
    """

    cells: CellForm
    use: CellUse | None = None


@dataclass(frozen=True, slots=True)
class TextForm:
    """How the records of a file of text are written.

    Attributes:
        delimiter: the character between cells; None if the header tells it.
        names: the names of the columns, where the first record is a row; None if it is the header.
        encoding: the character code, in Python's name; None if the first bytes tell it, UTF-8 without a mark.
        quote: the character around cells that hold delimiters or line ends; "" if there is none.
        multiline: whether a cell in quotes may hold the end of a line. Otherwise every line is a record.
        escape: the character that makes the next one part of its cell, in place of doubled quotes; None if there is
            none.
        skip: how many lines there are above the header, or above the first record.
        comment: the character that starts a comment line. None if there is none.
        skip_initial_space: whether to ignore blanks at the beginning of a cell.
        sheet: the name of the sheet of a workbook; None if there is one alone.
        cells: the form of its cells, unless that of their column is declared.
        columns: the forms of columns that are declared, by their names.
    """

    delimiter: str | None = None
    names: tuple[str, ...] | None = None
    encoding: str | None = None
    quote: str = '"'
    multiline: bool = True
    sheet: str | None = None
    escape: str | None = None
    skip: int = 0
    comment: str | None = None
    skip_initial_space: bool = False
    cells: CellForm = NO_FORM
    columns: tuple[tuple[str, ColumnForm], ...] = field(default=(), repr=False)

    def column(self, name: str) -> ColumnForm:
        """Return the form of the cells of a column."""
        return dict(self.columns).get(name) or ColumnForm(self.cells)

    @property
    def may_span(self) -> bool:
        """Whether a record may span several lines."""
        return self.multiline and bool(self.quote or self.escape)

    @property
    def given(self) -> dict[str, Any]:
        """The words that were said, in plain values."""
        words = {one.name: getattr(self, one.name) for one in fields(self)}
        changed = {name: words[name] for name, one in _DEFAULTS.items() if words[name] != one}
        own = {name: [*one] if isinstance(one, tuple) else one for name, one in changed.items()}
        return own | self.cells.given


def check_sheet_words(form: TextForm, file: Path, *, is_workbook: bool) -> None:
    """Raise for a word that does not apply to a workbook, or not to a file of text.

    Raises:
        InvalidArgument: with the word.
    """
    if not is_workbook and form.sheet is not None:
        raise InvalidArgument(f"sheet is of a workbook, and {file} is a file of text")
    others = [word for word in form.given if word not in _OF_WORKBOOKS]
    if is_workbook and others:
        raise InvalidArgument(
            f"{others[0]} is of a file of text, and {file} is a workbook, where cells have types. "
            "Leave it out"
        )


_DEFAULTS: Mapping[str, Any] = {
    one.name: one.default for one in fields(TextForm) if one.name not in ("cells", "columns")
}


def text_form(  # noqa: PLR0913  # the words of a form
    *,
    delimiter: object = None,
    names: Sequence[str] | None = None,
    encoding: object = None,
    quote: object = '"',
    multiline: object = True,
    sheet: object = None,
    escape: object = None,
    skip: object = 0,
    comment: object = None,
    skip_initial_space: object = False,
    **cells: object,
) -> TextForm:
    """Return the form that these words say: those of `TextForm` and of `CellForm`.

    Raises:
        InvalidArgument: if a word says none.
    """
    form = TextForm(
        delimiter=None if delimiter is None else _sign(delimiter, "delimiter"),
        names=_column_names(names),
        encoding=None if encoding is None else encoding_name(encoding),
        quote="" if quote == "" else _sign(quote, "quote"),
        multiline=_truth(multiline, "multiline"),
        escape=None if escape is None else _sign(escape, "escape"),
        skip=_lines(skip),
        comment=None if comment is None else _sign(comment, "comment"),
        skip_initial_space=_truth(skip_initial_space, "skip_initial_space"),
        sheet=_sheet(sheet),
        cells=cell_form({word: one for word, one in cells.items() if not _is_empty_list(one)}),
    )
    _check_signs(form)
    check_delimiter(form.delimiter, form.quote, form.cells)
    return form


def _is_empty_list(value: object) -> bool:
    return isinstance(value, list | tuple) and not value


def _sheet(name: object) -> str | None:
    """Return the name of a sheet, or None."""
    if name is None or (isinstance(name, str) and 0 < len(name) <= LONGEST_NAME):
        return name
    raise InvalidArgument(f"sheet must be the name of a sheet, got {preview(name)}")


def _truth(value: object, word: str) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidArgument(f"{word} must be True or False, got {preview(value)}")


def _lines(skip: object) -> int:
    """Return a number of lines."""
    if isinstance(skip, int) and not isinstance(skip, bool) and 0 <= skip <= MOST_SKIPPED:
        return skip
    raise InvalidArgument(
        f"skip must be the number of lines above the header, from 0 to {MOST_SKIPPED}, got "
        f"{preview(skip)}"
    )


def _check_signs(form: TextForm) -> None:
    """Raise where one character would be two signs."""
    signs = {
        "delimiter": form.delimiter or (form.names and ","),
        "quote": form.quote or '"',
        "escape": form.escape,
        "comment": form.comment,
        "skip_initial_space": " " if form.skip_initial_space else None,
    }
    words = [(word, sign) for word, sign in signs.items() if sign]
    for place, (word, sign) in enumerate(words):
        for earlier, other in words[:place]:
            if sign == other:
                raise InvalidArgument(
                    f"{earlier} and {word} are one sign, {sign!r}. Leave one out, or say another. "
                    "Doubled quotes are read without escape"
                )


def check_delimiter(delimiter: str | None, quote: str, cells: CellForm) -> None:
    """Raise where no cell could hold such numbers.

    Raises:
        InvalidArgument: if there are no quotes, and a sign of numbers separates cells.
    """
    if not quote and delimiter is not None and delimiter in (cells.decimal, cells.thousands):
        raise InvalidArgument(
            f"numbers cannot have the sign {delimiter!r}, which separates cells, if there are no "
            "quotes"
        )


def _sign(value: object, word: str) -> str:
    """Return one character of ASCII that ends no line."""
    if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value == "\0":
        raise InvalidArgument(f"{word} must be one character of ASCII, got {preview(value)}")
    if value in "\r\n":
        raise InvalidArgument(f"{word} must not be the end of a line")
    return value


def _column_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names of columns, which are distinct texts."""
    if names is None:
        return None
    labels = tuple(read_sequence(names, "names", MOST_COLUMNS))
    if (
        not labels
        or not all(isinstance(one, str) for one in labels)
        or len({*labels}) < len(labels)
    ):
        raise InvalidArgument("names must be a list of distinct texts, one for each column")
    return labels


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A text file of rows in a form that is given rather than told by its beginning."""

    path: Path
    form: TextForm


@error_boundary
def scan_csv(  # noqa: PLR0913  # the words of a form
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    encoding: str | None = None,
    quote: str = '"',
    multiline: bool = True,
    decimal: str | None = None,
    thousands: str | None = None,
    units: Sequence[str] | None = None,
    percent: bool | None = None,
    negative: str | None = None,
    date: str | None = None,
    sheet: str | None = None,
    escape: str | None = None,
    skip: int = 0,
    comment: str | None = None,
    missing: Sequence[str] | None = None,
    skip_initial_space: bool = False,
) -> CsvFile:
    """Return a CSV file or a workbook, read in the stated form, as data for every verb over tables.

    Args:
        path: the file, with any extension. It may be compressed with gzip, zstd, bzip2 or xz, or be a zip archive
            of one file.
        delimiter: the character between cells. By default the one of comma, semicolon, tab and bar that splits the
            header into most columns, or a comma if you pass `names`.
        names: the names of the columns, if the first record is already a row.
        encoding: the character encoding, such as "cp1252", "utf-16" or "shift_jis". By default that of the byte
            order mark, or UTF-8 if there is none.
        quote: the character around cells that contain delimiters or line ends. "" if there is none.
        multiline: whether a quoted cell may contain a line end. With False, every line is a record. Use it if other
            people append lines to the file.
        decimal: the decimal sign of its numbers, "." or ",". Without it and the next four arguments, DuckDB decides
            which cells are numbers.
        thousands: the sign between groups of three digits: ".", ",", "'" or a blank. "" for none.
        units: texts with the same meaning that may precede or follow a number, such as ["CHF", "Fr."].
        percent: whether a percent sign follows every number, so that 45% is 0.45.
        negative: how numbers below zero are written, "sign" or "parentheses", so that (5) is -5.
        date: how its dates are written, as a pattern of %d %m %Y %y %H %I %M %S %f %p %z and signs, such as
            "%d.%m.%Y", or "excel" or "excel1904" for the days of Excel. By default they are in ISO 8601.
        sheet: the name of a sheet, if the file is a workbook with several. The only other arguments for a workbook
            are `names`, `skip` and `missing`.
        escape: the character that makes the next one part of its cell, such as a backslash. By default a quote
            inside quotes is doubled.
        skip: the number of lines above the header.
        comment: the character that starts a comment line.
        missing: the exact texts that mean a missing cell, such as "NA" or "-".
        skip_initial_space: whether to ignore blanks at the beginning of a cell.

    Raises:
        InvalidArgument: if no file can have the path, or the arguments don't fit together.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidArgument(f"path must be that of a file, got {preview(path)}")
    file = file_path(path, "path")
    form = text_form(
        delimiter=delimiter, names=names, encoding=encoding, quote=quote, multiline=multiline,
        decimal=decimal, thousands=thousands, units=units, percent=percent, negative=negative,
        date=date, sheet=sheet, escape=escape, skip=skip, comment=comment, missing=missing,
        skip_initial_space=skip_initial_space,
    )  # fmt: skip
    return CsvFile(file, form)
