"""Dates of a declared form: the grammar, the kernel, every day, and every question that reads them."""

import datetime as dt
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import DateGrid
from discreet.errors import InvalidArgument, UnreadableData
from discreet.tables.formats.date_texts import DateForm, read_date_form, serial_text
from discreet.tables.formats.number_texts import NumberForm
from discreet.tables.formats.reader_library import open_reader
from discreet.tables.formats.text_form import scan_csv

from ..engines.cell_texts import PATTERNS, random_cells, read_cells, write_cells

needs_kernel = pytest.mark.skipif(open_reader() is None, reason="the reader is not built")
EXCEL = ["excel", "excel1904"]


@pytest.mark.parametrize("pattern", [*PATTERNS, *EXCEL])
def test_the_kernel_reads_what_the_grammar_says(pattern: str, tmp_path: Path) -> None:
    form = read_date_form(pattern, None)
    cells = random_cells(random.Random(43), form, 3_000)
    path = write_cells(tmp_path, cells)
    [texts] = read_cells(path, (form,), kernel=open_reader() is not None)
    assert texts == [form.plain(cell) or "?" for cell in cells]
    assert len(cells) * 0.05 < sum(text != "?" for text in texts) < len(cells) * 0.95


def spelled(text: str, pattern: str) -> str | None:
    """Return the date that Python's own parser sees, where its text is the only one of that date."""
    try:
        moment = dt.datetime.strptime(text, pattern)
    except ValueError:
        return None
    return moment.date().isoformat() if moment.strftime(pattern) == text else None


@pytest.mark.parametrize("pattern", ["%d.%m.%Y", "%Y%m%d", "%m/%d/%y"])
def test_python_reads_the_same_dates(pattern: str) -> None:
    form = read_date_form(pattern, None)
    for cell in random_cells(random.Random(1), form, 3_000):
        found = spelled(cell, pattern)
        if (
            found is not None and found > "1000"
        ):  # `strftime` writes fewer digits for the years before
            assert form.plain(cell) == found, cell


FIRST, END = dt.date(1583, 1, 1), dt.date(2101, 1, 1)
DAYS = [dt.date.fromordinal(day) for day in range(FIRST.toordinal(), END.toordinal())]


def written(day: dt.date, pattern: str) -> str:
    """Return a day as the pattern writes it, at 21:05:07.25 in UTC."""
    moment = dt.datetime.combine(day, dt.time(21, 5, 7, 250_000), dt.UTC)
    return moment.strftime(pattern)


@pytest.mark.proof
@needs_kernel
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_day_there_and_back(pattern: str, tmp_path: Path) -> None:
    days = DAYS if "%Y" in pattern else [day for day in DAYS if 1969 <= day.year <= 2068]
    form = read_date_form(pattern, None)
    path = write_cells(tmp_path, [written(day, pattern) for day in days])
    [texts] = read_cells(path, (form,), kernel=True)
    assert [text[:10] for text in texts] == [day.isoformat() for day in days]
    assert {*(text[10:] for text in texts)} <= {"", *TIMES}


TIMES = [
    "T21:05:00", "T21:05:07", "T21:05:07.250000+00:00", "T21:00:00"
]  # fmt: skip


@pytest.mark.proof
@needs_kernel
def test_every_day_that_no_month_has(tmp_path: Path) -> None:
    there = {day.isoformat() for day in DAYS}
    cells = [
        f"{y:04}-{m:02}-{d:02}" for y in range(1583, 2101) for m in range(14) for d in range(33)
    ]
    path = write_cells(tmp_path, cells)
    [texts] = read_cells(path, (read_date_form("%Y-%m-%d", None),), kernel=True)
    assert texts == [cell if cell in there else "?" for cell in cells]


def of_serial(text: str, *, is_1904: bool) -> str:
    """Return the date of a day of Excel by exact fractions."""
    serial = Fraction(text)
    if not is_1904 and (serial < 1 or 60 <= serial < 61):
        return "?"
    start = dt.datetime(1904, 1, 1) if is_1904 else dt.datetime(1899, 12, 31 if serial < 60 else 30)
    ms = int(serial * 86_400_000 + Fraction(1, 2))
    try:
        moment = start + dt.timedelta(milliseconds=ms)
    except OverflowError:
        return "?"
    has_time = ms % 86_400_000 != 0
    return moment.isoformat(timespec="microseconds") if has_time else moment.date().isoformat()


@pytest.mark.parametrize("pattern", EXCEL)
def test_days_of_excel_are_exact(pattern: str, tmp_path: Path) -> None:
    draw = random.Random(7)
    cells = [str(day) for day in range(3_000)] + [
        "2957003",
        "2957004",
        "2958465",
        "2958466",
        "99999999",
    ]
    cells += [f"{draw.randrange(2_958_466)}.{draw.randrange(10**9)}" for _ in range(2_000)]
    halves = [Fraction(2 * draw.randrange(86_400_000) + 1, 172_800_000) for _ in range(200)]
    cells += [f"45292.{int(one * 10**30) + more:030}" for one in halves for more in (-1, 0, 1)] + [
        "59.9999999999",
        "60.5",
        "60.999999999999",
        "2958465.999999999999",
        "0.5",
        "0.4",
    ]
    path = write_cells(tmp_path, cells)
    for kernel in (True, False):
        [texts] = read_cells(path, (read_date_form(pattern, None),), kernel=kernel)
        assert texts == [of_serial(cell, is_1904=pattern == "excel1904") for cell in cells]


def test_days_of_excel_that_are_known() -> None:
    form = read_date_form("excel", NumberForm(",", "."))
    shown = {"1": "1900-01-01", "59": "1900-02-28", "61": "1900-03-01", "45292": "2024-01-01",
    "45.292": "2024-01-01",
             "45292,5": "2024-01-01T12:00:00.000000", "2958465": "9999-12-31"}  # fmt: skip
    assert {cell: form.plain(cell) for cell in shown} == shown
    assert not any(
        map(form.plain, ["60", "60,5", "0", "-1", "45292.5", "2024-01-01", "4,5e4", "2958466"])
    )
    assert read_date_form("excel1904", None).plain("0") == "1904-01-01"


@pytest.mark.parametrize(
    ("pattern", "cell", "date"),
    [
        ("%d.%m.%Y", "1.2.2024", "2024-02-01"), ("%d.%m.%Y", "29.02.2024", "2024-02-29"),
        ("%m/%d/%y", "1/5/68", "2068-01-05"), ("%m/%d/%y", "1/5/69", "1969-01-05"),
        ("%Y%m%d", "20240105", "2024-01-05"), ("%d.%m.%Y %H:%M", "1.2.2024 9:05", "2024-02-01T09:05:00"),
        ("%m/%d/%Y %I:%M %p", "1/5/2024 12:05 AM", "2024-01-05T00:05:00"),
        ("%m/%d/%Y %I:%M %p", "1/5/2024 12:05 pm", "2024-01-05T12:05:00"),
        ("%Y-%m-%dT%H:%M:%S%z", "2024-01-05T01:02:03Z", "2024-01-05T01:02:03+00:00"),
        ("%Y-%m-%dT%H:%M:%S.%f%z", "2024-01-05T01:02:03.4-0530", "2024-01-05T01:02:03.400000-05:30"),
        ("%d\u5e74%m\u6708%Y%%", "1\u5e742\u67082024%", "2024-02-01"),
    ],
)  # fmt: skip
def test_dates_as_people_write_them(pattern: str, cell: str, date: str) -> None:
    assert read_date_form(pattern, None).plain(cell) == date


@pytest.mark.parametrize(
    ("pattern", "cell"),
    [
        ("%d.%m.%Y", "01.02.24"), ("%d.%m.%Y", "01.02.0000"), ("%d.%m.%Y", " 01.02.2024"), ("%d.%m.%Y",
        "1.2.2024 "),
        ("%d.%m.%Y", "31.02.2024"), ("%d.%m.%Y", "29.02.1900"), ("%d.%m.%Y", "0.1.2024"), ("%d.%m.%Y",
        "001.1.2024"),
        ("%d.%m.%Y", "1-2-2024"), ("%d.%m.%Y", "\u0661.2.2024"), ("%d.%m.%Y", "1.2.20245"), ("%d.%m.%Y",
        "2024-02-01"),
        ("%Y%m%d", "2024021"), ("%d%m%Y", "1022024"), ("%d.%m.%Y %H:%M", "1.2.2024 24:00"),
        ("%d.%m.%Y %H:%M", "1.2.2024 9:5"), ("%d.%m.%Y %H:%M:%S", "1.2.2024 9:05:60"),
        ("%m/%d/%Y %I:%M %p", "1/5/2024 0:05 AM"), ("%m/%d/%Y %I:%M %p", "1/5/2024 13:05 PM"),
        ("%m/%d/%Y %I:%M %p", "1/5/2024 1:05 Pm"), ("%Y-%m-%d %H:%M%z", "2024-01-05 01:02+01"),
        ("%Y-%m-%d %H:%M%z", "2024-01-05 01:02+24:00"), ("%Y-%m-%d %H:%M%z", "2024-01-05 01:02"),
        ("%Y-%m-%d %H:%M:%S.%f", "2024-01-05 01:02:03.1234567"),
    ],
)  # fmt: skip
def test_what_is_no_date(pattern: str, cell: str) -> None:
    assert read_date_form(pattern, None).plain(cell) is None


@needs_kernel
def test_the_kernel_reads_these_examples_so(tmp_path: Path) -> None:
    """Random cells hardly spell the hour 0 of half a day."""
    there: Any = test_dates_as_people_write_them
    none: Any = test_what_is_no_date
    examples = [*there.pytestmark[0].args[1], *((*one, "?") for one in none.pytestmark[0].args[1])]
    for pattern, cell, date in examples:
        path = write_cells(tmp_path, [cell])
        assert read_cells(path, (read_date_form(pattern, None),), kernel=True) == [[date]], cell


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("%d.%b.%Y", "%b: the names of days and months"), ("%d %B %Y", "%B"), ("%A %d.%m.%Y", "%A"),
        ("%d.%m.%Y %H:%M %Z", "%Z: the names of zones"), ("%Y-%j", "%j: a date has a day and a month"),
        ("%Y-W%U", "%U"), ("%c", "%c: it depends on the language"), ("%d.%m.%Q", "%Q: it is not part"),
        ("%d.%m", "it needs"), ("%d.%m.%Y %y", "it needs"), ("%d.%d.%m.%Y", "twice"), ("%d.%m.%Y %I", "with %p"),
        ("%d.%m.%Y %H %p", "with %p"), ("%d.%m.%Y %M", "need hours"), ("%d.%m.%Y%z", "need hours"),
        ("%d.%m.%Y %H %S", "%S needs"), ("%d.%m.%Y %H:%M.%f", "%f needs"), ("%d.%m.20%y", "not be digits"),
        ("%H:%M:%S.%f%d%m%Y", "must be followed"), ("%d.%m.%Y%", "%%"), ("", "must be a pattern"), (5, "must be a"),
        ("%d.%m.%Y" + "x" * 100, "must be a pattern"), ("Excel", "it needs"),
    ],
)  # fmt: skip
def test_patterns_that_are_none(pattern: Any, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        scan_csv("t.csv", date=pattern)
    assert message in str(caught.value)


ROWS = "who;day;at\na;31.12.2023;1.2.2024 9:05\nb;1.1.2024;1.2.2024 21:05\nc;01.01.2024;x\nd;2024-01-01;\ne;;\n"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(ROWS, encoding="utf-8")
    return tmp_path / "visits.csv"


def test_every_question_reads_dates_in_the_form_of_the_file(visits: Path) -> None:
    data = scan_csv(visits, date="%d.%m.%Y")
    grid = DateGrid("2023-12-30", "2024-01-03")
    assert discreet.median(data, "day", candidates=grid, epsilon=1000).value == dt.date(2024, 1, 1)
    assert discreet.count(data, where="day >= DATE '2024-01-01'", epsilon=1000).value == 2
    late = scan_csv(visits, date="%d.%m.%Y %H:%M")
    assert (
        discreet.count(late, where="at > TIMESTAMP '2024-02-01 12:00:00'", epsilon=1000).value == 1
    )
    # Without a declared type a candidate is a text, as it stands in the file.
    assert [
        *discreet.counts(data, "day", candidates=["1.1.2024"], epsilon=1000).value.values()
    ] == [1]
    # A date is a value in the form of the file.
    day = discreet.count(data, where="day = DATE '2024-01-01'", epsilon=1000).value
    found = discreet.counts(data, "day", candidates=[dt.date(2024, 1, 1)], epsilon=1000).value
    assert found == {dt.date(2024, 1, 1): day}
    assert day > 0


def test_a_clock_that_the_form_has_not_is_refused(visits: Path) -> None:
    data = scan_csv(visits, date="%d.%m.%Y")
    grid = DateGrid("2024-01-01T00:00+00:00", "2024-01-03T00:00+00:00")
    with pytest.raises(UnreadableData, match="without an offset"):
        discreet.median(data, "day", candidates=grid, epsilon=1)
    assert (
        discreet.count(
            data, where="day > TIMESTAMPTZ '2020-01-01 00:00:00+00:00'", epsilon=1000
        ).value
        == 0
    )


def test_a_form_is_a_value() -> None:
    assert read_date_form("%d.%m.%Y", None) == DateForm("%d.%m.%Y")
    assert read_date_form("%Y-%m-%d %H:%M%z", None).clock == "zoned"


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
    wanted = (dt.date(1904, 1, 1) + dt.timedelta(60)).isoformat() if value == "60" else text
    assert serial_text(value, "date", is_1904=True) == wanted


@pytest.mark.parametrize(
    ("value", "text"),
    [("0.5", "12:00:00"), ("0", "00:00:00"), ("0.999999999999", "1900-01-01"),
     ("0.0000115740741", "00:00:01"), ("45292.5", "2024-01-01 12:00:00")],
)  # fmt: skip
def test_times(value: str, text: str) -> None:
    assert serial_text(value, "time", is_1904=False) == text


def test_every_day_and_a_time_of_each() -> None:
    for is_1904, first in ((False, dt.date(1899, 12, 30)), (True, dt.date(1904, 1, 1))):
        for day in range(61, 146_000):
            wanted = first + dt.timedelta(day)
            assert serial_text(str(day), "date", is_1904=is_1904) == wanted.isoformat()
            if day % 97 == 0:
                share = Fraction(day * 7919 % 86_400_000, 86_400_000)
                value = format(day + share.numerator / share.denominator, ".10f")
                time = dt.datetime.combine(wanted, dt.datetime.min.time())
                exact = round((Fraction(value) - day) * 86_400_000)
                time += dt.timedelta(milliseconds=exact)
                told = serial_text(value, "date", is_1904=is_1904)
                assert dt.datetime.fromisoformat(told) == time
