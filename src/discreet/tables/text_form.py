"""The form of a file of text: its owner says it, and no row decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..arguments import read_sequence
from ..errors import InvalidArgument, preview
from .encodings import encoding_name
from .number_texts import DECIMALS, THOUSANDS, NumberForm

MOST_COLUMNS = 10_000
LONGEST_NAME = 255
"""Characters of the name of a sheet: Excel allows 31, other programs more."""

_OF_WORKBOOKS = ("names", "sheet")
"""The words of a form that a workbook has, too: the others it says itself."""

WORDS = (
    "encoding",
    "delimiter",
    "quote",
    "multiline",
    "names",
    "decimal",
    "thousands",
    "sheet",
)
"""The words of a form, as --csv takes them."""


@dataclass(frozen=True, slots=True)
class TextForm:
    """How the records of a file of text are written.

    Attributes:
        delimiter: the character between cells; None if the header tells it.
        names: the names of the columns, where the first record is a row; None if it is the header.
        encoding: the character code, in Python's name; None if the first bytes tell it, UTF-8 without a mark.
        quote: the character around cells that hold delimiters or line ends; "" if there is none.
        multiline: whether a cell in quotes may hold the end of a line. Otherwise every line is a record.
        decimal: the decimal sign of numbers; None if it is not said.
        thousands: the sign between their groups of three digits; None if there is none.
        sheet: the name of the sheet of a workbook; None if there is one alone.
    """

    delimiter: str | None = None
    names: tuple[str, ...] | None = None
    encoding: str | None = None
    quote: str = '"'
    multiline: bool = True
    decimal: str | None = None
    thousands: str | None = None
    sheet: str | None = None

    @property
    def numbers(self) -> NumberForm | None:
        """How numbers are written; None if the form does not say."""
        if self.decimal is None and self.thousands is None:
            return None
        other = "," if self.thousands == "." else "."
        return NumberForm(self.decimal or other, self.thousands or "")

    @property
    def may_span(self) -> bool:
        """Whether a record may span several lines."""
        return self.multiline and bool(self.quote)

    @property
    def given(self) -> dict[str, Any]:
        """The words that were said, in plain values."""
        words = {one.name: getattr(self, one.name) for one in fields(self)}
        changed = {name: words[name] for name, one in _DEFAULTS.items() if words[name] != one}
        return {name: [*one] if isinstance(one, tuple) else one for name, one in changed.items()}


def check_sheet_words(form: TextForm, file: Path, *, is_workbook: bool) -> None:
    """Raise for a word that says nothing of a workbook, or nothing of a file of text.

    Raises:
        InvalidArgument: with the word.
    """
    if not is_workbook and form.sheet is not None:
        raise InvalidArgument("sheet is of a workbook, and {file} is a file of text", file=file)
    others = [word for word in form.given if word not in _OF_WORKBOOKS]
    if is_workbook and others:
        raise InvalidArgument(
            "{word} is of a file of text, and {file} is a workbook, whose cells say what they are. Leave it out",
            word=others[0],
            file=file,
        )


_DEFAULTS: Mapping[str, Any] = {one.name: one.default for one in fields(TextForm)}


def text_form(  # noqa: PLR0913  # the words of a form
    *,
    delimiter: object = None,
    names: Sequence[str] | None = None,
    encoding: object = None,
    quote: object = '"',
    multiline: object = True,
    decimal: object = None,
    thousands: object = None,
    sheet: object = None,
) -> TextForm:
    """Return the form that these words say: those of `TextForm`.

    Raises:
        InvalidArgument: if a word says none.
    """
    separator = None if delimiter is None else _sign(delimiter, "delimiter")
    mark = "" if quote == "" else _sign(quote, "quote")
    if separator is not None and separator == (mark or '"'):
        raise InvalidArgument("delimiter must not be a quote or the end of a line")
    if not isinstance(multiline, bool):
        raise InvalidArgument(
            "multiline must be True or False, got {multiline}", multiline=preview(multiline)
        )
    code = None if encoding is None else encoding_name(encoding)
    signs = _one_of(decimal, "decimal", DECIMALS), _one_of(thousands, "thousands", (*THOUSANDS,))
    _check_numbers(separator, mark, *signs)
    return TextForm(separator, _column_names(names), code, mark, multiline, *signs, _sheet(sheet))


def _sheet(name: object) -> str | None:
    """Return the name of a sheet, or None."""
    if name is None or (isinstance(name, str) and 0 < len(name) <= LONGEST_NAME):
        return name
    raise InvalidArgument("sheet must be the name of a sheet, got {sheet}", sheet=preview(name))


def _one_of(value: object, word: str, signs: Sequence[str]) -> str | None:
    """Return one of some signs, or None."""
    if value is None or (isinstance(value, str) and value in signs):
        return value
    raise InvalidArgument(
        "{word} must be one of {signs}, got {value}",
        word=word,
        signs=" ".join(map(repr, signs)),
        value=preview(value),
    )


def _check_numbers(
    delimiter: str | None, quote: str, decimal: str | None, thousands: str | None
) -> None:
    """Raise where no cell could hold such numbers, or one could mean two."""
    if decimal is not None and decimal == thousands:
        raise InvalidArgument(
            "decimal and thousands must be two signs, got {decimal} for both",
            decimal=repr(decimal),
        )
    if not quote and delimiter is not None and delimiter in (decimal, thousands):
        raise InvalidArgument(
            "numbers cannot have the sign {delimiter}, which separates cells, if there are no quotes",
            delimiter=repr(delimiter),
        )


def _sign(value: object, word: str) -> str:
    """Return one character of ASCII that ends no line."""
    if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value == "\0":
        raise InvalidArgument(
            "{word} must be one character of ASCII, got {value}", word=word, value=preview(value)
        )
    if value in "\r\n":
        raise InvalidArgument("{word} must not be the end of a line", word=word)
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
