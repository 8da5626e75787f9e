"""Numbers as files write them: the plain text of the number that a cell spells in a declared form, or none."""

import re
from dataclasses import dataclass

_BLANKS = " \u00a0\u2009\u202f"
"""The blanks between groups and around numbers: those that cannot be broken, and the thin one, too."""

_MINUS = "\N{MINUS SIGN}"

DECIMALS = (".", ",")
THOUSANDS = {".": ".", ",": ",", "'": "'\N{RIGHT SINGLE QUOTATION MARK}", " ": _BLANKS}
"""What stands between groups of three digits, by the sign that is declared."""


@dataclass(frozen=True, slots=True)
class NumberForm:
    """How the numbers of a file of text are written.

    What a cell spells depends on its text and on this form alone, and is exact. A cell spells a number if all of it
    is a sign or none, digits, and the decimal sign with more digits or neither. Blanks may be around it. The digits
    before the decimal sign may be in groups of three, all of them, and the first group begins with no 0.

    Attributes:
        decimal: the decimal sign.
        thousands: the sign between groups as it is declared; "" if there is none.
    """

    decimal: str
    thousands: str

    @property
    def pattern(self) -> str:
        """The grammar as a regular expression that RE2 and Python's `re` read alike: of a whole cell."""
        digits, fraction = "[0-9]+", f"[{self.decimal}][0-9]+"
        if self.thousands:
            digits += f"|[1-9][0-9]{{0,2}}(?:[{THOUSANDS[self.thousands]}][0-9]{{3}})+"
        number = f"(?:(?:{digits})(?:{fraction})?|{fraction})"
        return f"[{_BLANKS}]*[-+{_MINUS}]?{number}[{_BLANKS}]*"

    def plain(self, text: str) -> str | None:
        """Return the plain text of the number that a text spells, such as -1234.5; None if it spells none."""
        if not re.fullmatch(self.pattern, text):
            return None
        signs, plain = self._signs
        return text.translate(str.maketrans(signs[: len(plain)], plain, signs[len(plain) :]))

    def sql(self, cell: str) -> str:
        """Return the expression in DuckDB of `plain`."""
        pattern, signs, plain = map(sql_text, (self.pattern, *self._signs))
        plain_text = f"translate({cell}, {signs}, {plain})"
        return f"CASE WHEN regexp_full_match({cell}, {pattern}) THEN {plain_text} END"

    @property
    def _signs(self) -> tuple[str, str]:
        """The signs in numbers, and the plain ones for the first of them; the others are dropped."""
        dropped = "+" + _BLANKS + THOUSANDS.get(self.thousands, "")
        return f"{_MINUS}{self.decimal}" + "".join(dict.fromkeys(dropped)), "-."


def sql_text(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
