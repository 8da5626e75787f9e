"""Grids of dates: points, steps, zones, and the grid of integers that stands for one."""

import datetime as dt
import itertools
import random
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from discreet import DateGrid, Grid
from discreet.base.digests import describe_value
from discreet.errors import InvalidArgument, InvalidCandidates, InvalidNumber, UnknownName
from discreet.selection.candidates import Grid as Numbers
from discreet.selection.date_grid import CutCells, DateStep, clock_of, microseconds, read_moment

DATE, TIME = dt.date, dt.datetime
ZURICH = ZoneInfo("Europe/Zurich")


def points(grid: DateGrid[Any]) -> list[Any]:
    return [grid[i] for i in range(grid.size)]


def test_points_of_days_weeks_and_months() -> None:
    assert points(DateGrid(DATE(2024, 2, 28), DATE(2024, 3, 1))) == [
        DATE(2024, 2, 28), DATE(2024, 2, 29), DATE(2024, 3, 1),
    ]  # fmt: skip
    assert points(DateGrid("2020-01-01", "2020-01-20", "7 days")) == [
        DATE(2020, 1, 1), DATE(2020, 1, 8), DATE(2020, 1, 15),
    ]  # fmt: skip
    months = DateGrid("2019-11-28", "2020-12-31", "1 month")
    assert months.size == 14
    assert months.hi == DATE(2020, 12, 28)
    assert months[3] == DATE(2020, 2, 28)
    assert points(DateGrid("2019-11-01", "2020-06-30", "3 months"))[-1] == DATE(2020, 5, 1)
    hours = DateGrid(TIME(2020, 1, 1), TIME(2020, 1, 2), "6 hours")
    assert points(hours) == [TIME(2020, 1, 1, 6 * i) for i in range(4)] + [TIME(2020, 1, 2)]


def test_answers_have_the_type_of_lo() -> None:
    assert type(DateGrid("2020-01-01", "2020-01-01")[0]) is DATE
    assert type(DateGrid("2020-01-01T00:00", "2020-02-01T00:00", "month")[1]) is TIME
    stamp = DateGrid(pd.Timestamp("2020-01-01"), np.datetime64("2020-01-03T00:00"))
    assert type(stamp[1]) is TIME
    assert type(DateGrid(np.datetime64("2020-01-01"), np.datetime64("2020-01-03"))[1]) is DATE


def test_a_zone_has_its_own_days_and_months() -> None:
    days = DateGrid("2024-03-30T00:00", "2024-04-01T00:00", zone="Europe/Zurich")
    assert [p.isoformat() for p in points(days)] == [
        "2024-03-30T00:00:00+01:00", "2024-03-31T00:00:00+01:00", "2024-04-01T00:00:00+02:00",
    ]  # fmt: skip
    hours = DateGrid("2024-03-31T00:00", "2024-03-31T06:00", "1 hour", zone="Europe/Zurich")
    assert [p.hour for p in points(hours)] == [0, 1, 3, 4, 5, 6]
    months = DateGrid("2024-01-01T00:00[Europe/Zurich]", "2024-12-31T00:00[Europe/Zurich]", "month")
    assert [p.utcoffset().seconds // 3600 for p in points(months)] == [1] * 3 + [2] * 7 + [1] * 2
    assert months.zone == "Europe/Zurich"
    assert "Europe/Zurich" in repr(months)


@pytest.mark.parametrize(
    ("lo", "hi", "step", "words"),
    [
        ("2020-01-31", "2021-01-31", "1 month", "from 1 to 28"),
        ("2020-01-02", "2020-01-01", "1 day", "must not be before"),
        ("2020-01-02", "2020-01-01", "1 month", "must not be before"),
        ("2020-01-01", "2020-01-02", "1 fortnight", "hours, days or months"),
        ("2020-01-01", "2020-01-02", 0.5, "hours, days or months"),
        ("2020-01-01", "2020-01-02", "0 days", "hours, days or months"),
        ("2020-01-01", "2020-01-02", dt.timedelta(milliseconds=30), "hours, days or months"),
        ("2020-01-01", "2020-01-02", dt.timedelta(minutes=30), "a step of minutes is of times"),
        ("2020-01-01", "2020-01-02", "6 hours", "2020-01-01T00:00"),
        ("2020-01-01", "2020-01-02T00:00", "1 day", "both be dates, or both times"),
        ("2020-01-01T00:00", "2020-01-02T00:00Z", "1 day", "one has an offset"),
        ("2020", "2021", "1 day", "must be a date or a time"),
        (5, 6, "1 day", "must be a date or a time"),
        (pd.NaT, pd.NaT, "1 day", "must be a date or a time"),
        (pd.Timestamp(1), pd.Timestamp(1), "1 day", "must be a date or a time"),
        ("9999-12-31T00:00Z", "9999-12-31T00:00Z", "1 day", "2 to 9998"),
        ("1000-01-01T00:00[Europe/Zurich]", "9000-01-01T00:00Z", "1 day", "at most"),
    ],
)  # fmt: skip
def test_what_is_no_grid_is_refused(lo: Any, hi: Any, step: Any, words: str) -> None:
    with pytest.raises(InvalidCandidates, match=words):
        DateGrid(lo, hi, step)


@pytest.mark.parametrize(
    ("step", "text", "last"),
    [
        (dt.timedelta(minutes=90), "90 minutes", "2024-03-31T04:00:00+02:00"),
        ("30 seconds", "30 seconds", "2024-03-31T04:00:00+02:00"),
        (dt.timedelta(hours=1), "1 hour", "2024-03-31T04:00:00+02:00"),
        (dt.timedelta(seconds=61), "61 seconds", "2024-03-31T03:59:57+02:00"),
    ],
)
def test_minutes_and_seconds_are_those_that_pass(step: Any, text: str, last: str) -> None:
    """Between midnight and four the clock is put forward, so three hours pass."""
    grid = DateGrid("2024-03-31T00:00", "2024-03-31T04:00", step, zone="Europe/Zurich")
    assert str(grid.step) == text
    assert grid[grid.size - 1].isoformat() == last
    assert grid.find(grid[grid.size - 1]) == grid.size - 1


def test_a_day_that_a_zone_leaves_out_is_refused() -> None:
    ends = "2011-12-28T00:00", "2012-01-02T00:00"
    with pytest.raises(InvalidCandidates, match="not there in the zone Pacific/Apia"):
        DateGrid(*ends, zone="Pacific/Apia")
    assert DateGrid(*ends, "24 hours", zone="Pacific/Apia").size == 5
    with pytest.raises(InvalidCandidates, match="no time zone"):
        DateGrid(*ends, zone="Europe/Nowhere")


@pytest.mark.parametrize("wrong", [["2020-01-01"], "x", 1.5, None, DATE(2020, 1, 1)])
def test_what_is_no_instant_and_no_unit_is_refused_in_words(wrong: Any) -> None:
    grid: Any = DateGrid("2020-01-01", "2020-12-31")
    with pytest.raises(InvalidArgument, match="an instant must be a whole number"):
        grid.at_or_below(wrong)
    with pytest.raises(UnknownName, match="unit must be"):
        grid.in_numbers(wrong)


@pytest.mark.parametrize("step", ["1 day", "1 hour", "24 hours"])
def test_a_first_time_that_a_zone_leaves_out_is_refused(step: str) -> None:
    # Its text has an offset, so it is another time when it is read again.
    ends = "2024-03-31T02:30", "2024-04-03T00:00"
    with pytest.raises(InvalidCandidates, match="the clock of that zone skips lo"):
        DateGrid(*ends, step, zone="Europe/Zurich")
    both = [
        DateGrid(f"2024-10-27T02:30{offset}", "2024-10-30T00:00Z", step, zone="Europe/Zurich")
        for offset in ("+01:00", "+02:00")
    ]
    assert microseconds(both[0][0]) - microseconds(both[1][0]) == 3600 * 10**6
    for grid in both:
        lo, hi, step, zone = grid.spelling
        again = DateGrid(lo, hi, step, zone=zone)
        assert again.description == grid.description
        assert list(map(microseconds, points(again))) == list(map(microseconds, points(grid)))


def test_a_grid_of_numbers_names_the_grid_of_dates() -> None:
    with pytest.raises(InvalidNumber, match="DateGrid"):
        Grid(DATE(2020, 1, 1), DATE(2021, 1, 1))  # type: ignore[call-overload]
    with pytest.raises(InvalidNumber, match="DateGrid"):
        Grid("2020-01-01", "2021-01-01")


def test_one_grid_has_one_description_and_others_another() -> None:
    def said(*ends: Any, **zone: Any) -> object:
        return describe_value(DateGrid(*ends, **zone).description)

    assert said("2020-01-01", "2020-12-31", "month") == said("2020-01-01", "2020-12-01", "1 month")
    several = [
        said("2020-01-01", "2020-12-01", "1 month"),
        said("2020-01-01", "2020-12-01", "1 day"),
        said("2020-01-02", "2020-12-02", "1 month"),
        said("2020-01-01T00:00", "2020-12-01T00:00", "1 month"),
        said("2020-01-01T00:00Z", "2020-12-01T00:00Z", "1 month"),
        said("2020-01-01T00:00", "2020-12-01T00:00", "1 month", zone="Europe/Zurich"),
        describe_value(Numbers(0, 11).description),
    ]
    assert len({repr(one) for one in several}) == len(several)


def test_the_spelling_makes_the_same_grid() -> None:
    for grid in (
        DateGrid("2020-01-01", "2020-12-31", "month"),
        DateGrid("2020-01-01T00:00", "2020-12-01T00:00", "6 hours"),
        DateGrid("2020-01-01T00:00+01:00", "2020-12-01T00:00Z", "2 days"),
        DateGrid("2020-01-01T00:00", "2020-12-01T00:00", zone="Europe/Zurich"),
    ):
        lo, hi, step, zone = grid.spelling
        again = DateGrid(lo, hi, step, zone=zone or None)
        assert points(again) == points(grid)
        assert again.zone == grid.zone


def test_steps_are_read_as_they_are_written() -> None:
    for text in ("1 hour", "6 hours", "1 day", "7 days", "1 month", "3 months"):
        assert str(DateStep.read(text)) == text
    assert DateStep.read("month") == DateStep.read("1-month") == DateStep(1, "month")
    assert DateStep.read(dt.timedelta(days=2)) == DateStep(2, "day")
    assert DateStep.read(dt.timedelta(hours=36)) == DateStep(36, "hour")


def test_microseconds_are_those_of_the_calendar() -> None:
    epoch = TIME(1970, 1, 1)
    generator = random.Random(23)
    for _ in range(2000):
        naive = TIME(1, 1, 2) + dt.timedelta(
            days=generator.randrange(3652056), microseconds=generator.randrange(86_400_000_000)
        )
        assert microseconds(naive) == (naive - epoch) // dt.timedelta(microseconds=1)
        zoned = naive.replace(
            tzinfo=dt.timezone(dt.timedelta(minutes=generator.randrange(-719, 720)))
        )
        difference = zoned - epoch.replace(tzinfo=dt.UTC)
        assert microseconds(zoned) == difference // dt.timedelta(microseconds=1)
        assert microseconds(naive.date()) == (naive.date() - epoch.date()).days * 86_400_000_000
    first, second = (TIME(2024, 10, 27, 2, 30, tzinfo=ZURICH, fold=fold) for fold in (0, 1))
    assert microseconds(second) - microseconds(first) == 3_600_000_000
    assert clock_of(first) == "zoned"
    assert clock_of(first.date()) == "naive"


GRIDS = [
    DateGrid("1900-01-01", "2100-12-31", "1 month"),
    DateGrid("1900-01-28", "2100-12-31", "5 months"),
    DateGrid("1900-02-28T23:59:59.999999", "2100-12-31T00:00", "1 month"),
    DateGrid("1999-12-25", "2001-01-05"),
    DateGrid("1900-01-01", "2100-12-31", "7 days"),
    DateGrid("1969-12-30T00:00", "1970-01-03T00:00", "1 hour"),
    DateGrid("2023-03-01T02:30", "2024-11-30T00:00", zone="Europe/Zurich"),
    DateGrid("1900-01-01T00:00", "2100-12-31T00:00", "1 month", zone="America/New_York"),
    DateGrid("1900-01-01T00:00", "1900-01-01T00:00", "1 month"),
]


def nearest_by_hand(grid: DateGrid[Any], value: int, per: int) -> int:
    """The nearest point of all, the later of two, by differences alone."""
    distances = [(abs(microseconds(grid[i]) * per - value), -i) for i in range(grid.size)]
    return -min(distances)[1]


@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize("grid", GRIDS, ids=repr)
def test_a_grid_of_dates_is_a_grid_of_integers(grid: DateGrid[Any], unit: Any) -> None:
    """At every border, one unit below and above; and far outside: the index is that of the nearest point."""
    per = {"us": 1, "ns": 1000}[unit]
    cells = grid.in_numbers(unit)
    assert cells.size == grid.size
    at = [microseconds(grid[i]) * per for i in range(grid.size)]
    assert at == sorted(set(at))
    borders = [Fraction(a + b, 2) for a, b in itertools.pairwise(at)]
    ups = [-(-border.numerator // border.denominator) for border in borders]
    assert cells.nearest(np.array([*ups, at[0]])).tolist() == [*range(1, len(at)), 0]
    assert cells.nearest(np.array([up - 1 for up in ups] + [at[-1]])).tolist() == [*range(len(at))]
    for up, a, b in zip(ups, at, at[1:], strict=False):
        assert abs(a - (up - 1)) < abs(b - (up - 1))
        assert abs(a - up) >= abs(b - up)
    generator = random.Random(repr(grid))
    few = [generator.randrange(at[0] - 10**15, at[-1] + 10**15) for _ in range(5)] + [at[0], at[-1]]
    assert cells.nearest(np.array(few)).tolist() == [nearest_by_hand(grid, v, per) for v in few]
    rising = np.sort(np.array([generator.randrange(-(2**62), 2**62) for _ in range(2000)]))
    assert (np.diff(cells.nearest(rising)) >= 0).all()


def test_integers_longer_than_words_have_the_same_cells() -> None:
    cells = DateGrid("8000-01-01", "8000-12-31", "1 month").in_numbers("ns")
    assert isinstance(cells, CutCells)
    march = microseconds(DATE(8000, 3, 1)) * 1000
    values = np.array([march, 2**63 - 1, -(2**70)], dtype=object)
    assert cells.nearest(values).tolist() == [2, 0, 0]
    assert cells.nearest(np.array([2**63 - 1])).tolist() == [0]


def test_a_point_is_found_by_its_instant() -> None:
    for grid in GRIDS:
        for i in {0, grid.size // 2, grid.size - 1}:
            assert grid.find(grid[i]) == i
            assert grid.at_or_below(microseconds(grid[i])) == i
        assert grid.find("x") is None
        assert grid.find(5) is None
        assert grid.at_or_below(microseconds(DATE(1800, 1, 1))) == -1
    assert GRIDS[0].find(DATE(2000, 1, 2)) is None
    assert GRIDS[0].find(TIME(2000, 1, 1)) is None
    with pytest.raises(IndexError, match="2,412 points"):
        GRIDS[0][2412]


def test_texts_of_times() -> None:
    assert read_moment(" 2024-12-31 ") == DATE(2024, 12, 31)
    assert read_moment("2024-12-31T12:00Z").utcoffset() == dt.timedelta()  # type: ignore[attr-defined]
    assert str(read_moment("2024-07-01T12:00[Europe/Zurich]")) == "2024-07-01 12:00:00+02:00"
    with pytest.raises(ValueError, match="no time zone"):
        read_moment("2024-07-01T12:00[Mars]")
