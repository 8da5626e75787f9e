"""Days of spreadsheets: against their definition, and each day of four centuries."""

from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest

from discreet.tables.formats.serial_dates import serial_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1", "1900-01-01"), ("59", "1900-02-28"), ("60", "60"), ("60.5", "60.5"), ("61", "1900-03-01"),
        ("0", "0"), ("0.5", "0.5"), ("-1", "-1"), ("45292", "2024-01-01"), ("45292.5", "2024-01-01 12:00:00"),
        ("45292.000011574074", "2024-01-01 00:00:01"), ("45292.0000000058", "2024-01-01 00:00:00.001"),
        ("2958465", "9999-12-31"), ("2958465.99999", "9999-12-31 23:59:59.136"), ("2958466", "2958466"),
        ("2958465.999999999999", "2958465.999999999999"), ("4.5292E4", "2024-01-01"),
        ("1E+99999999", "1E+99999999"),
        ("NaN", "NaN"), ("Bern", "Bern"), ("", ""), ("45292,5", "45292,5"), (" 45292 ", "2024-01-01"),
    ],
)  # fmt: skip
def test_days_from_1900(value: str, text: str) -> None:
    assert serial_text(value, "date", is_1904=False) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "1904-01-01"),
        ("60", "1904-02-29" + ""),
        ("43830", "2024-01-01"),
        ("0.25", "1904-01-01 06:00:00"),
    ],
)
def test_days_from_1904(value: str, text: str) -> None:
    wanted = (date(1904, 1, 1) + timedelta(60)).isoformat() if value == "60" else text
    assert serial_text(value, "date", is_1904=True) == wanted


@pytest.mark.parametrize(
    ("value", "text"),
    [("0.5", "12:00:00"), ("0", "00:00:00"), ("0.999999999999", "1900-01-01"),
     ("0.0000115740741", "00:00:01"), ("45292.5", "2024-01-01 12:00:00")],
)  # fmt: skip
def test_times(value: str, text: str) -> None:
    assert serial_text(value, "time", is_1904=False) == text


def test_every_day_and_a_time_of_each() -> None:
    for is_1904, first in ((False, date(1899, 12, 30)), (True, date(1904, 1, 1))):
        for day in range(61, 146_000):
            wanted = first + timedelta(day)
            assert serial_text(str(day), "date", is_1904=is_1904) == wanted.isoformat()
            if day % 97 == 0:
                share = Fraction(day * 7919 % 86_400_000, 86_400_000)
                value = format(day + share.numerator / share.denominator, ".10f")
                time = datetime.combine(wanted, datetime.min.time())
                exact = round((Fraction(value) - day) * 86_400_000)
                time += timedelta(milliseconds=exact)
                told = serial_text(value, "date", is_1904=is_1904)
                assert datetime.fromisoformat(told) == time
