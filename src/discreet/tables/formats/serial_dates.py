"""Days of spreadsheets, which are numbers, as the text of a date: exact, or none.

Day 1 is 1 January 1900, and day 60 is a 29 February that never was; with the other epoch day 0 is 1 January 1904.
A fraction is a time, to the nearest millisecond.
"""

from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation

_MILLISECONDS = 86_400_000
_END = 2_958_466
"""The first day of the year 10000."""
_BEFORE_LEAP, _AFTER_LEAP = date(1899, 12, 31), date(1899, 12, 30)
_EPOCH_1904 = date(1904, 1, 1)


def serial_text(value: str, meaning: str, *, is_1904: bool) -> str:
    """Return the date or time that a number spells as ISO text; the number itself if it spells none.

    Args:
        value: the number.
        meaning: "date" or "time"; a time below one day is of no date.
        is_1904: whether days count from 1904.
    """
    if len(value) == 5 and value.isascii() and value.isdigit() and value > "00060":
        epoch = _EPOCH_1904 if is_1904 else _AFTER_LEAP  # most dates are such days
        return (epoch + timedelta(int(value))).isoformat()
    try:
        number = Decimal(value.strip())
    except InvalidOperation:
        return value
    if not number.is_finite() or not 0 <= number < _END:
        return value
    milliseconds = int((number * _MILLISECONDS).to_integral_value())
    day, rest = divmod(milliseconds, _MILLISECONDS)
    if meaning == "time" and day == 0:
        return _clock(rest)
    first = _first_day(day, is_1904=is_1904)
    if first is None:
        return value
    try:
        moment = first + timedelta(day)
    except OverflowError:
        return value
    return f"{moment.isoformat()} {_clock(rest)}" if rest else moment.isoformat()


def _first_day(day: int, *, is_1904: bool) -> date | None:
    """Return the day that has the number 0; None for the days that there were not."""
    if is_1904:
        return _EPOCH_1904
    if day in (0, 60):
        return None
    return _BEFORE_LEAP if day < 60 else _AFTER_LEAP


def _clock(milliseconds: int) -> str:
    """Return the time so many milliseconds after midnight, without a fraction if it is whole."""
    time = (datetime.min + timedelta(milliseconds=milliseconds)).time()
    return time.isoformat("seconds" if time.microsecond == 0 else "milliseconds")
