"""Dates as files write them: the date in ISO 8601 that a cell spells in a declared form, or none.

`reader.c` does the same in its pass over the bytes. This is its reference, and what reads without it. Cells of a
workbook hold days of Excel as numbers, which are told here too.

Day 1 is 1 January 1900, and day 60 is a 29 February that never was; with the other epoch day 0 is 1 January 1904.
"""

import datetime as dt
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import pairwise

from ...errors import InvalidArgument, preview
from ...selection.date_grid import ClockKind
from .number_texts import NumberForm

EXCEL = {"excel": b"e", "excel1904": b"f"}
"""The forms of dates that are numbers of days, and their letters for `reader.c`."""

_LETTERS = "dmYyHIMSfpz"
_NAMES = {
    **dict.fromkeys("aAbB", "the names of days and months depend on the language"),
    "Z": "the names of zones have several meanings. %z is an offset such as +01:00",
    **dict.fromkeys("jUWuwGV", "a date has a day and a month"),
    **dict.fromkeys("cxX", "it depends on the language"),
}
"""Why letters of `strftime` are no part of a form."""

_DIGITS = {"Y": "[0-9]{4}", "f": "[0-9]{1,6}", "p": "AM|PM|am|pm", "z": "Z|[+-][0-9]{2}:?[0-9]{2}"}
_SHORT = "dmHI"
"""Parts that may have one digit, where none of their neighbours are digits."""

_PLAIN = NumberForm(".")
_LONGEST_DATE = 100
_MS = 86_400_000
_LAST_HOUR, _LAST_MINUTE, _TURN_OF_CENTURY = 23, 59, 69


@dataclass(frozen=True)
class DateForm:
    """How the dates of a column of text are written.

    What a cell spells depends on its text and on this form alone. The grammar is in
    docs/how-to/files.md#the-form-of-a-file.

    Attributes:
        pattern: the pattern, of %d %m %Y %y %H %I %M %S %f %p %z and signs; or "excel" or "excel1904".
        numbers: how the days of Excel are written.
    """

    pattern: str
    numbers: NumberForm = _PLAIN

    @property
    def clock(self) -> ClockKind:
        """Whether its dates are instants, with an offset, or those of a clock."""
        return "zoned" if any(letter == "z" for letter, _ in self._parts) else "naive"

    @property
    def has_time(self) -> bool:
        """Whether its dates may have a time of day."""
        return self.pattern in EXCEL or any(letter in ("H", "I") for letter, _ in self._parts)

    @cached_property
    def _parts(self) -> list[tuple[str, str]]:
        """The parts of the pattern: a letter with its least number of digits, or "" with a sign."""
        return [] if self.pattern in EXCEL else _parts_of(self.pattern)

    @cached_property
    def _grammar(self) -> re.Pattern[str]:
        return re.compile(
            "".join(
                f"(?P<{letter}>{_DIGITS.get(letter, f'[0-9]{{{one},2}}')})"
                if letter
                else re.escape(one)
                for letter, one in self._parts
            )
        )

    def plain(self, text: str) -> str | None:
        """Return the date that a text spells in ISO 8601, with its time if it has one; None if it spells none."""
        if self.pattern in EXCEL:
            number = self.numbers.plain(text)
            return (
                None if number is None else _of_serial(number, is_1904=self.pattern == "excel1904")
            )
        match = self._grammar.fullmatch(text)
        try:
            return None if match is None else _iso(match.groupdict())
        except ValueError:  # 31 February
            return None

    @property
    def program(self) -> bytes:
        """The form as `reader.c` takes it."""
        if self.pattern in EXCEL:
            return EXCEL[self.pattern] + self.numbers.signs
        pairs = (
            b"L%c" % byte if not letter else letter.encode() + bytes([int(one)])
            for letter, one in self._parts
            for byte in ([0] if letter else one.encode())
        )
        return b"d" + b"".join(pairs)


def _iso(parts: dict[str, str]) -> str:
    """Return the date of the digits of its parts by their letters, or raise ValueError."""
    year = int(parts["Y"]) if "Y" in parts else int(parts["y"])
    if "y" in parts:
        year += 1900 if year >= _TURN_OF_CENTURY else 2000
    day = dt.date(year, int(parts["m"]), int(parts["d"])).isoformat()
    if "H" not in parts and "I" not in parts:
        return day
    micros = parts.get("f")
    time = dt.time(_hour(parts), int(parts.get("M", 0)), int(parts.get("S", 0)))
    fraction = "" if micros is None else "." + micros.ljust(6, "0")
    return f"{day}T{time.isoformat()}{fraction}{_offset(parts.get('z'))}"


def _hour(parts: dict[str, str]) -> int:
    """Return the hour of the day."""
    if "H" in parts:
        return int(parts["H"])
    hour = int(parts["I"])
    if not 1 <= hour <= 12:  # of half a day
        raise ValueError
    return hour % 12 + 12 * (parts["p"] in ("PM", "pm"))


def _offset(text: str | None) -> str:
    """Return an offset as ISO 8601 writes it; none for none."""
    if text in (None, "Z"):
        return "+00:00" if text else ""
    assert text is not None, "as it was asked"
    hours, minutes = int(text[1:3]), int(text[-2:])
    if hours > _LAST_HOUR or minutes > _LAST_MINUTE:
        raise ValueError
    sign = "-" if text[0] == "-" and hours + minutes else "+"
    return f"{sign}{hours:02}:{minutes:02}"


def _of_serial(number: str, *, is_1904: bool) -> str | None:
    """Return the date of a day of Excel, to the nearest millisecond; None if there is none."""
    whole, _, fraction = number.partition(".")
    if number.startswith("-") or len(whole) > 7:
        return None
    start = _first_day(int(whole), is_1904=is_1904)
    if start is None:
        return None
    more, ms = divmod(_milliseconds(fraction), _MS)
    try:
        moment = dt.datetime.combine(start, dt.time()) + dt.timedelta(
            int(whole) + more, milliseconds=ms
        )
    except OverflowError:
        return None
    return moment.isoformat(timespec="microseconds") if ms else moment.date().isoformat()


def _milliseconds(fraction: str) -> int:
    """Return the milliseconds of a fraction of a day by its decimal digits, half of one rounded up."""
    whole = tenth = 0
    for digit in reversed(fraction):  # exact however many there are, as `int` would not take them
        whole, tenth = divmod(int(digit) * _MS + whole, 10)
    return whole + (tenth >= 5)


def read_date_form(pattern: object, numbers: NumberForm | None) -> DateForm:
    """Return the form of dates that a pattern says.

    Raises:
        InvalidArgument: if a text could spell two dates in it, or none.
    """
    if not isinstance(pattern, str) or not _is_pattern(pattern):
        raise InvalidArgument(
            f'date must be a pattern such as "%d.%m.%Y", or "excel", got {preview(pattern)}'
        )
    if pattern in EXCEL:
        own = _PLAIN if numbers is None else numbers
        return DateForm(pattern, NumberForm(own.decimal, own.thousands))
    _check_parts(pattern)
    return DateForm(pattern)


def _is_pattern(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_DATE and text.encode(errors="ignore").decode() == text


def _tokens(pattern: str) -> list[tuple[str, str]]:
    """Return the letters of a pattern, and its signs beside an empty letter."""
    return re.findall(r"%(.)|([^%]|%$)", pattern, re.DOTALL)


def _parts_of(pattern: str) -> list[tuple[str, str]]:
    """Return letters with their least number of digits, or an empty letter with a sign."""
    tokens = _tokens(pattern)
    beside = ["", *(letter for letter, _ in tokens), ""]
    return [
        ("", sign or "%") if letter in ("", "%") else (letter, _least(letter, before + after))
        for (letter, sign), before, after in zip(tokens, beside, beside[2:], strict=False)
    ]


def _least(letter: str, beside: str) -> str:
    """Return the least number of digits of a part, between the letters beside it."""
    return (
        "1"
        if letter in _SHORT and beside.strip("%") in ("", "p")
        else "4"
        if letter == "Y"
        else "2"
    )


def _check_parts(pattern: str) -> None:
    """Raise unless the parts of a pattern are those of one date."""
    tokens = _tokens(pattern)
    letters = [letter for letter, _ in tokens if letter not in ("", "%")]
    for letter in letters:
        if letter not in _LETTERS:
            known = " ".join(f"%{one}" for one in _LETTERS)
            reason = _NAMES.get(letter, "it is not part of a date here")
            raise InvalidArgument(
                f"date must not have %{letter}: {reason}. A pattern has {known} and signs"
            )
    why = _fault(letters, tokens)
    if why:
        raise InvalidArgument(f"date is {preview(pattern)}, and {why}")


def _fault(letters: list[str], tokens: list[tuple[str, str]]) -> str:
    """Return why parts are those of no date, or of several; an empty text if they are those of one."""
    there, signs = {*letters}, [sign for letter, sign in tokens if not letter]
    hours = there & {"H", "I"}
    faults = {
        "no part may be there twice": len(there) < len(letters),
        "it needs %d, %m and one of %Y and %y": not {"d", "m"} <= there or ("Y" in there) == ("y" in there),
        "hours are %H, or %I with %p": len(hours) > 1 or ("I" in there) != ("p" in there),
        "%M and %z need hours": bool(there & {"M", "z"}) and not hours,
        "%S needs %M": "S" in there and "M" not in there,
        "%f needs %S": "f" in there and "S" not in there,
        "its signs must not be digits": any(sign.isdecimal() for sign in signs),
        "a percent sign is %%": "%" in signs,
        "%f must be followed by a sign, or end the pattern": _runs_on(tokens),
    }  # fmt: skip
    return next((why for why, is_so in faults.items() if is_so), "")


def _runs_on(tokens: list[tuple[str, str]]) -> bool:
    """Return whether digits follow those of a fraction of a second."""
    return any(one == "f" and behind in [*"dmYyHIMS"] for (one, _), (behind, _) in pairwise(tokens))


_END = 2_958_466
"""The first day of the year 10000."""
_BEFORE_LEAP, _AFTER_LEAP = dt.date(1899, 12, 31), dt.date(1899, 12, 30)
_EPOCH_1904 = dt.date(1904, 1, 1)


def serial_text(value: str, meaning: str, *, is_1904: bool) -> str:
    """Return the date or time that a number spells as ISO text; the number itself if it spells none.

    Args:
        value: the number.
        meaning: "date" or "time"; a time below one day is of no date.
        is_1904: whether days count from 1904.
    """
    if len(value) == 5 and value.isascii() and value.isdigit() and value > "00060":
        epoch = _EPOCH_1904 if is_1904 else _AFTER_LEAP  # most dates are such days
        return (epoch + dt.timedelta(int(value))).isoformat()
    try:
        number = Decimal(value.strip())
    except InvalidOperation:
        return value
    if not number.is_finite() or not 0 <= number < _END:
        return value
    milliseconds = int((number * _MS).to_integral_value())
    day, rest = divmod(milliseconds, _MS)
    if meaning == "time" and day == 0:
        return _clock(rest)
    first = _first_day(day, is_1904=is_1904)
    if first is None:
        return value
    try:
        moment = first + dt.timedelta(day)
    except OverflowError:
        return value
    return f"{moment.isoformat()} {_clock(rest)}" if rest else moment.isoformat()


def _first_day(day: int, *, is_1904: bool) -> dt.date | None:
    """Return the day that has the number 0; None for the days that there were not."""
    if is_1904:
        return _EPOCH_1904
    if day in (0, 60):
        return None
    return _BEFORE_LEAP if day < 60 else _AFTER_LEAP


def _clock(milliseconds: int) -> str:
    """Return the time so many milliseconds after midnight, without a fraction if it is whole."""
    time = (dt.datetime.min + dt.timedelta(milliseconds=milliseconds)).time()
    return time.isoformat("seconds" if time.microsecond == 0 else "milliseconds")
