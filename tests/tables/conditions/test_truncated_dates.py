"""DATE_TRUNC: the groups that DuckDB finds, between the declared ends, or a refusal."""

import datetime as dt
import random
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("sqlglot", reason="the extra sql is not installed")

import duckdb

import discreet
from discreet import Dataset
from discreet.errors import DiscreetError, InvalidArgument
from discreet.selection.verb_calls import Call, bill_of
from discreet.service.queue.lengths import longest_answer
from discreet.service.queue.request_parts import request_parts
from discreet.tables.conditions.sql_groups import bins_of_dates
from discreet.tables.verbs.sql import parts_of

HEAD = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 100000) "
FIRST, LAST = dt.date(2023, 11, 20), dt.date(2025, 4, 10)
COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "minimum": 0, "maximum": 120},
    "day": {"type": "date", "minimum": FIRST.isoformat(), "maximum": LAST.isoformat()},
    "moment": {"type": "datetime", "minimum": "2023-11-20T00:00:00", "maximum": "2025-04-10T23:59:59"},
    "clock": {"type": "datetime", "minimum": "2024-01-01T00:00:00+01:00", "maximum": "2024-02-01T00:00:00+01:00"},
    "free": {"type": "date"},
    "wide": {"type": "date", "minimum": "1900-01-01", "maximum": "2025-01-01"},
    "endless": {"type": "date", "minimum": "9999-01-01", "maximum": "9999-12-31"},
}  # fmt: skip
UNITS = ("year", "quarter", "month", "week", "day")


def rows() -> dict[str, list[Any]]:
    draw = random.Random(7)
    days = [FIRST + dt.timedelta(days=draw.randrange((LAST - FIRST).days + 1)) for _ in range(600)]
    edges = [dt.date(2024, month, 1) for month in range(1, 13)]
    days += [*edges, *(day - dt.timedelta(days=1) for day in edges), FIRST, LAST]
    times = [dt.time(0), dt.time(23, 59, 59, 999_999), dt.time(12)]
    return {
        "day": [*days, None],
        "moment": [*(dt.datetime.combine(day, draw.choice(times)) for day in days), None],
        "age": [draw.randrange(100) for _ in range(len(days) + 1)],
    }


def people() -> Dataset:
    return Dataset(rows(), columns=COLUMNS, name="people")


@pytest.mark.parametrize("column", ["day", "moment"])
@pytest.mark.parametrize("unit", UNITS)
def test_groups_are_those_of_duckdb(unit: str, column: str) -> None:
    text = f"date_trunc('{unit}', {column})"
    with duckdb.connect() as connection:
        connection.register("people", pa.table(rows()))
        wanted = dict(
            connection.execute(
                f"SELECT {text}, COUNT(*) FROM people WHERE {column} IS NOT NULL GROUP BY 1"
            ).fetchall()
        )
    release = discreet.sql(people(), f"{HEAD}{text} AS g, COUNT(*) AS n FROM people GROUP BY g")
    found = {row["g"]: row["n"] for row in release.value}
    kinds = {type(group) for group in found}
    assert kinds == {dt.datetime if column == "moment" else dt.date}
    if column == "day":
        found = {dt.datetime.combine(day, dt.time()): n for day, n in found.items()}
    assert {day: n for day, n in found.items() if n} == wanted
    assert sorted(found) == list(found)


@pytest.mark.parametrize(
    "text",
    [
        "DATE_TRUNC(day, MONTH)", "DATE_TRUNC(`day`, month)", 'DATETIME_TRUNC("day", MONTH)',
        "TIMESTAMP_TRUNC(day, MONTH)", "DATE_TRUNC('month', day)", "date_trunc ( 'Month' , day )",
    ],
)  # fmt: skip
def test_the_unit_may_be_first_or_last(text: str) -> None:
    items = f"{text} AS g, MEDIAN(age) AS m"
    release = discreet.sql(people(), f"{HEAD}{items} FROM people GROUP BY {text}")
    assert len(release.value) == 18
    assert release.value[0]["g"] == dt.date(2023, 11, 1)


def test_the_first_argument_is_the_column_unless_it_is_a_text() -> None:
    """A column may be called as a unit is: a parser that takes it for one would answer about another column."""
    table = {"month": [dt.date(2024, 5, 5)] * 9, "year": [dt.date(2001, 5, 5)] * 9}
    ends = {"type": "date", "minimum": "2000-01-01", "maximum": "2024-12-31"}
    data = Dataset(table, columns={"month": ends, "year": ends}, name="people")

    def groups(text: str) -> list[Any]:
        answer = discreet.sql(data, f"{HEAD}{text} AS g, COUNT(*) AS n FROM people GROUP BY g")
        return [row["g"] for row in answer.value if row["n"]]

    assert groups("DATE_TRUNC(month, YEAR)") == [dt.date(2024, 1, 1)]
    assert groups("DATE_TRUNC(year, MONTH)") == [dt.date(2001, 5, 1)]
    assert groups("DATE_TRUNC('year', month)") == [dt.date(2024, 1, 1)]
    assert groups('DATE_TRUNC("month", YEAR)') == [dt.date(2024, 1, 1)]
    texts = "COUNT(*) AS n FROM people WHERE month > DATE '2024-01-01' -- DATE_TRUNC(x, y"
    assert discreet.sql(data, HEAD + texts).value == [{"n": 9}]


REFUSED = {
    "DATE_TRUNC(day, WEEK)": "Write ISOWEEK",
    "DATE_TRUNC(day, WEEK(MONDAY))": "there are YEAR, QUARTER, MONTH, ISOWEEK and DAY",
    "DATE_TRUNC('hour', moment)": "write RANGE_BUCKET",
    "DATE_TRUNC('month', day, 'UTC')": "leave out the time zone",
    "TIMESTAMP_TRUNC(moment, DAY, 'UTC')": "leave out the time zone",
    "DATE_TRUNC('month', day + 1)": "named by itself",
    "DATE_TRUNC('month', CAST(moment AS DATE))": "named by itself",
    "DATE_TRUNC(age, MONTH)": "declared as integer",
    "DATE_TRUNC(clock, MONTH)": "RANGE_BUCKET(x, [TIMESTAMPTZ",
    "DATE_TRUNC(free, MONTH)": "Declare both, or write RANGE_BUCKET",
    "DATE_TRUNC(wide, DAY)": "take a longer unit",
    "DATE_TRUNC(endless, MONTH)": "Declare nearer ends",
    "EXTRACT(YEAR FROM day)": "DATE_TRUNC(x, MONTH)",
    "DATE_TRUNC(day, MONTH), day": "twice",
}


@pytest.mark.parametrize("text", REFUSED)
def test_others_are_refused_with_what_would_do(text: str) -> None:
    with pytest.raises(DiscreetError) as error:
        bill_of(discreet.sql, people(), f"{HEAD}COUNT(*) FROM people GROUP BY {text}")
    assert REFUSED[text] in str(error.value)


@pytest.mark.parametrize("unit", UNITS)
def test_every_day_is_in_the_bin_of_its_first_day(unit: str) -> None:
    """Two leap years and a century: the edges rise by one unit, and begin one."""
    first, last = dt.date(1899, 12, 30), dt.date(1901, 3, 2)
    bins, starts = bins_of_dates("x", (first, last), unit)
    edges = list(starts.values())
    with duckdb.connect() as connection:
        days = [first + dt.timedelta(days=i) for i in range((last - first).days + 1)]
        truncated = connection.execute(
            f"SELECT date_trunc('{unit}', unnest(?::DATE[]))::DATE", [days]
        ).fetchall()
    assert edges == sorted({day for (day,) in truncated})
    assert bins.edges[-1] > last  # type: ignore[operator]
    assert len(bins.edges) == len(edges) + 1


def test_as_many_groups_as_may_be() -> None:
    low = dt.date(2000, 1, 1)
    bins, _ = bins_of_dates("x", (low, low + dt.timedelta(days=999)), "day")
    assert len(bins.labels) == 1000
    with pytest.raises(InvalidArgument, match="more than 1,000 groups"):
        bins_of_dates("x", (low, low + dt.timedelta(days=1000)), "day")


def test_a_service_knows_how_many_groups_there_are() -> None:
    data, text = people(), f"{HEAD}MEDIAN(age) FROM people GROUP BY DATE_TRUNC(day, QUARTER)"
    question = Call(discreet.sql, (), {"statement": text})
    assert parts_of(text)[0].terms["by"] == "day"
    assert len(parts_of(text, data)[0].terms["by"].parts[0].labels) == 7
    assert request_parts(question, data) < 20
    assert longest_answer(question, data) < 5_000
