"""Numbers as files write them: the plain text of the number that a cell spells in a declared form, or none.

`reader.c` does the same in its pass over the bytes. This is its reference, and what reads without it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...base.arguments import read_sequence
from ...errors import InvalidArgument, preview

_BLANKS = " \u00a0\u2009\u202f"
"""The blanks between groups and around numbers: those that cannot be broken, and the thin one, too."""

_MINUS = "\N{MINUS SIGN}"
_SIGNS = "+-%()" + _MINUS

DECIMALS = (".", ",")
THOUSANDS = {".": ".", ",": ",", "'": "'\N{RIGHT SINGLE QUOTATION MARK}", " ": _BLANKS}
"""What stands between groups of three digits, by the sign that is declared."""

NEGATIVES = ("sign", "parentheses")
"""How numbers below zero are written: by a sign, or by it or parentheses."""

_MOST_UNITS, _LONGEST_UNIT = 64, 64


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column of text are written.

    What a cell spells depends on its text and on this form alone, and is exact. The grammar is in
    docs/how-to/files.md#the-form-of-a-file.

    Attributes:
        decimal: the decimal sign.
        thousands: the sign between groups as it is declared; "" if there is none.
        units: the texts that may stand before or behind a number, the longest first.
        percent: whether a number is followed by a percent sign, and is hundredths.
        parentheses: whether a number in parentheses is below zero.
    """

    decimal: str
    thousands: str = ""
    units: tuple[str, ...] = ()
    percent: bool = False
    parentheses: bool = False

    @property
    def pattern(self) -> str:
        """The grammar as a regular expression of a whole cell."""
        digits = "[0-9]++"
        if self.thousands:
            digits = (
                f"[1-9][0-9]{{0,2}}(?:[{THOUSANDS[self.thousands]}][0-9]{{3}})+(?![0-9])|{digits}"
            )
        fraction = f"[{self.decimal}](?P<fraction>[0-9]++)"
        number = f"(?:(?P<whole>{digits})(?:{fraction})?|{fraction.replace('fraction', 'only', 1)})"
        signs = f"[-+{_MINUS}{'(' * self.parentheses}]"
        unit = "|".join(map(re.escape, self.units)) or "(?!)"
        parts = [
            f"(?P<first>{signs})?", f"(?P<before>{unit})?", f"(?(first)|(?P<second>{signs})?)", number,
            "%" * self.percent, "(?P<close>\\))?", f"(?(before)|(?:{unit})?)", "(?(close)|(?P<last>\\))?)",
        ]  # fmt: skip
        blanks = f"[{_BLANKS}]*+"
        return blanks + blanks.join(parts) + blanks

    @cached_property
    def _grammar(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def plain(self, text: str) -> str | None:
        """Return the plain text of the number that a text spells, such as -1234.5; None if it spells none.

        Equal numbers have one text: its digits begin with one 0 at most, and behind the point they end with none.
        """
        match = self._grammar.fullmatch(text)
        if match is None:
            return None
        sign = match["first"] or match["second"] or "+"
        if (sign == "(") != bool(match["close"] or match["last"]):
            return None
        whole = "".join(one for one in match["whole"] or "" if one in "0123456789")
        fraction = match["fraction"] or match["only"] or ""
        if self.percent:  # a hundredth by its place: a quotient of doubles would be rounded
            digits = whole.zfill(2)
            whole, fraction = digits[:-2], digits[-2:] + fraction
        return _joined("" if sign == "+" else "-", whole.lstrip("0"), fraction.rstrip("0"))

    @property
    def program(self) -> bytes:
        """The form as `reader.c` takes it."""
        return b"n" + self.signs + b"".join(map(with_length, self.units))

    @property
    def signs(self) -> bytes:
        """The signs of the form, as `reader.c` takes them."""
        flags = bytes([self.percent, self.parentheses])
        return self.decimal.encode() + (self.thousands.encode() or b"\0") + flags


def _joined(sign: str, whole: str, fraction: str) -> str:
    """Return a number of plain digits; zero has no sign."""
    number = (whole or "0") + ("." + fraction if fraction else "")
    return number if number == "0" else sign + number


def with_length(text: str) -> bytes:
    """Return a text behind its length, as `reader.c` takes it."""
    return len(text.encode()).to_bytes(2, "little") + text.encode()


def read_units(units: object) -> tuple[str, ...]:
    """Return the units that may stand beside numbers, the longest first.

    Raises:
        InvalidArgument: if one could be read as a part of a number.
    """
    if isinstance(units, str):
        raise InvalidArgument(
            f'units must be a list of texts, such as ["CHF", "Fr."], got {preview(units)}'
        )
    texts: Sequence[object] = read_sequence(units, "units", _MOST_UNITS)
    for one in texts:
        if not _is_unit(one):
            raise InvalidArgument(
                "a unit must be a text without digits, signs of numbers, and blanks at its ends, "
                f"got {preview(one)}"
            )
    if len({*texts}) < len(texts):
        raise InvalidArgument("units must be distinct texts")
    return tuple(sorted(map(str, texts), key=lambda one: (-len(one.encode()), one)))


def _is_unit(text: object) -> bool:
    """Return whether a text can be told from a number beside it."""
    if not isinstance(text, str) or not 0 < len(text) <= _LONGEST_UNIT or text != text.strip():
        return False
    has_signs = any(one in _SIGNS or one.isdecimal() for one in text)
    return not has_signs and text.isprintable() and text.strip(".,'" + THOUSANDS["'"]) != ""
