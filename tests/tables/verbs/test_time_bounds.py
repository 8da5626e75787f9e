"""The mean of dates and times: whole steps from a public date, exact in every engine, answered as a date."""

import datetime as dt
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.cli import run
from discreet.errors import InvalidArgument, InvalidNumber, UnreadableData
from discreet.selection.date_grid import microseconds
from discreet.selection.verb_calls import bill_of
from discreet.tables.verbs.noisy_numbers import ListNoise
from discreet.tables.verbs.sum_bounds import TimeBounds, is_moment, read_time_bounds

from ...engines import ENGINES, crossed
from ...noisy import farthest, numbers_behind

DAY = 24 * 3600 * 10**6
FIRST, LAST = dt.date(2020, 1, 1), dt.date(2020, 1, 11)
BOUNDS: dict[str, Any] = {"minimum": "2020-01-01", "maximum": "2020-01-11"}

DATES = [
    FIRST,
    LAST,
    dt.date(1999, 5, 5),
    dt.date(9999, 12, 31),
    None,
    dt.date(2020, 1, 4),
    dt.date(2020, 1, 5),
]
TIMES = [
    dt.datetime(2020, 1, 3, 12), dt.datetime(2020, 1, 3, 11, 59, 59, 999_999), dt.datetime(1, 1, 1), None,
    dt.datetime(2020, 1, 11), dt.datetime(2021, 1, 1), dt.datetime(2020, 1, 5, 18, 30),
]  # fmt: skip


def steps_of(moments: Sequence[Any], step: int = DAY) -> tuple[int, int]:
    """How many dates there are, and how many steps they are from the first one together, half up and clipped."""
    last = (microseconds(LAST) - microseconds(FIRST)) // step
    off = [microseconds(one) - microseconds(FIRST) for one in moments if one is not None]
    steps = [min(max(math.floor(Fraction(one, step) + Fraction(1, 2)), 0), last) for one in off]
    return len(steps), sum(steps)


def released(data: Any, column: Any = None, **terms: Any) -> discreet.Release:
    """The mean without any noise."""

    def draw(noise: ListNoise, numbers: Sequence[int], _: Any) -> list[int]:
        return list(numbers)

    with patch.object(ListNoise, "draw", draw):
        return discreet.mean(data, column, **{"epsilon": 1, **terms})


def average(data: Any, **terms: Any) -> discreet.Release:
    return discreet.mean(data, "v", epsilon=1, **terms)


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, ["dates", "times", "units"], "dates"))
@pytest.mark.one_in(11)
@pytest.mark.proof_in("spark")
def test_every_engine_counts_the_same_steps(engine: str, plan: str, tmp_path: Path) -> None:
    moments: list[Any] = TIMES if plan == "times" else DATES
    of = pa.timestamp("us") if plan == "times" else pa.date32()
    units = [f"p{i}" for i in range(len(moments))]
    data = ENGINES[engine](pa.table({"u": units, "v": pa.array(moments, of)}), tmp_path)
    terms: dict[str, Any] = {"privacy_unit": "u"} if plan == "units" else {}
    bounds = BOUNDS if plan != "times" else {name: f"{end}T00:00" for name, end in BOUNDS.items()}
    size, total = numbers_behind(average, data, step="1 day", **bounds, **terms)
    number, steps = steps_of(moments)
    assert size.numbers == (number,)
    assert total.numbers == (steps - 5 * number,)  # from the middle of ten days


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.one_in(2)
def test_every_precision_is_rounded_exactly(unit: str) -> None:
    moments = [one for one in TIMES if one is None or one.year > 1700]
    table = pl.DataFrame({"v": moments}).with_columns(pl.col("v").cast(pl.Datetime("us")))
    arrow = table.to_arrow().cast(pa.schema([("v", pa.timestamp(unit))]), safe=False)
    kept = [
        None
        if one is None
        else one.replace(
            microsecond=0
            if unit == "s"
            else one.microsecond // 1000 * 1000
            if unit == "ms"
            else one.microsecond
        )
        for one in moments
    ]
    bounds = {"minimum": "2020-01-01T00:00", "maximum": "2020-01-11T00:00"}
    size, total = numbers_behind(average, arrow, step="1 day", **bounds)
    number, steps = steps_of(kept)
    assert (size.numbers, total.numbers) == ((number,), (steps - 5 * number,))


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.one_in(2)
def test_a_row_moves_count_and_sum_as_far_as_promised(neighbors: str) -> None:
    rows = [
        pl.DataFrame({"v": [dt.date(2020, 1, 4), *more]})
        for more in ([], *([day] for day in DATES))
    ]
    pairs = (
        [(rows[0], one) for one in rows]
        if neighbors == "add_remove"
        else [*itertools.product(rows[1:], rows[1:])]
    )
    shares = farthest(pairs, average, neighbors=neighbors, **BOUNDS)
    assert shares == [1, 1]


def test_a_mean_is_a_date_or_a_time_within_its_error() -> None:
    days = [FIRST + dt.timedelta(days=i % 10) for i in range(1000)]
    answer = released(days, **BOUNDS)
    assert answer.value == dt.date(2020, 1, 6)  # 4.5 days after the first, half up
    times = [dt.datetime(2020, 1, 1) + dt.timedelta(seconds=i) for i in range(10_000)]
    bounds = {"minimum": "2020-01-01T00:00", "maximum": dt.datetime(2020, 1, 2)}
    for epsilon, unit in (("1/10", "minute"), (1000, "second")):
        answer = released(times, epsilon=epsilon, **bounds)
        off = abs(answer.value - dt.datetime(2020, 1, 1, 1, 23, 19, 500_000))
        assert off <= dt.timedelta(**{f"{unit}s": 1})
        assert str(answer).endswith(f"{unit}s, with probability 95 %]")


@pytest.mark.parametrize("signs", [*itertools.product((-1, 0, 1), repeat=2)], ids=str)
def test_noise_within_its_bound_keeps_the_error(signs: tuple[int, int]) -> None:
    """Count and sum are each moved as far as they are with their share of the probability."""
    days = [FIRST + dt.timedelta(days=i % 8) for i in range(50)]
    true, moves = Fraction(sum(i % 8 for i in range(50)), 50), iter(signs)

    def draw(noise: ListNoise, numbers: Sequence[int], _: Any) -> list[int]:
        return [number + next(moves) * noise.error(1, Fraction(975, 1000)) for number in numbers]

    with patch.object(ListNoise, "draw", draw):
        answer: Any = discreet.mean(days, epsilon=1, **BOUNDS)
    assert abs((answer.value - FIRST).days - true) < answer.error.error


def test_an_answer_in_a_zone_has_its_clock() -> None:
    zone = ZoneInfo("Europe/Zurich")
    noons = [dt.datetime(2024, month, 10, 12, tzinfo=zone) for month in range(1, 13)]
    ends = {
        "minimum": "2024-01-01T00:00[Europe/Zurich]",
        "maximum": "2024-12-31T00:00[Europe/Zurich]",
    }
    answer = released(noons, epsilon=10**6, **ends)
    whole = sum(microseconds(one) for one in noons) / 12
    assert answer.value.utcoffset() == dt.timedelta(hours=2)
    assert abs(microseconds(answer.value) - whole) <= 31 * 10**6
    by_days = released(noons, epsilon=10**6, step="1 day", **ends)
    assert "24 hours" in str(by_days.query)


def test_no_records_have_no_mean_and_bounds_are_kept() -> None:
    assert released([dt.date(1900, 1, 1)] * 3, **BOUNDS).value == FIRST
    assert released([dt.date(2900, 1, 1)] * 3, **BOUNDS).value == LAST
    assert released([None, "x", 5], **BOUNDS).value is None
    assert released({FIRST: 3, LAST: 1}, **BOUNDS).value == dt.date(2020, 1, 4)
    times = np.array(["2020-01-03", "NaT"], "M8[us]")
    ends = {name: f"{end}T00:00" for name, end in BOUNDS.items()}
    assert released(times, epsilon=10**6, **ends).value == dt.datetime(2020, 1, 3)


def test_groups_and_units_have_dates_too() -> None:
    table = pl.DataFrame(
        {"u": [1, 2, 3], "g": ["x", "y", "x"], "v": [FIRST, LAST, dt.date(2020, 1, 3)]}
    )
    terms: dict[str, Any] = {"by": "g", "groups": ["x", "y", "z"], "privacy_unit": "u"}
    values = released(table, "v", **BOUNDS, **terms).value
    assert values == {"x": dt.date(2020, 1, 2), "y": LAST, "z": None}


@pytest.mark.parametrize(
    ("terms", "kind", "words"),
    [
        ({"minimum": "2020-01-01"}, InvalidArgument, "minimum and maximum are missing"),
        ({"minimum": "2020-01-01", "maximum": 5}, InvalidArgument, "must be alike: two dates"),
        ({"minimum": FIRST, "maximum": "2020-01-01T06:00"}, InvalidArgument, "must be alike"),
        ({"minimum": "2020-01-01T00:00", "maximum": "2020-01-02T00:00Z"}, InvalidArgument, "alike"),
        ({"minimum": LAST, "maximum": FIRST}, InvalidNumber, "must be before maximum"),
        ({**BOUNDS, "step": "1 month"}, InvalidArgument, "must be even"),
        ({**BOUNDS, "step": "2 hours"}, InvalidArgument, "whole days"),
        ({**BOUNDS, "step": "11 days"}, InvalidNumber, r"must be at least 11 days apart, got .*Or give a smaller"),
        (
            {"minimum": "2020-01-01T00:00:00.1", "maximum": "2020-01-01T00:00:00.7"}, InvalidNumber,
            r"must be at least 1 second apart, got .*\.7'$",
        ),
        (
            {"minimum": "0001-01-01T00:00+05:00", "maximum": "2020-01-01T00:00+05:00"}, InvalidArgument,
            "^minimum and maximum do not go together: with an offset the years are 2 to 9998, got 0001-01-01",
        ),
        (
            {"minimum": "2020-01-01T00:00Z", "maximum": "9999-12-31T23:00Z"}, InvalidArgument,
            "^minimum and maximum do not go together: with an offset the years are 2 to 9998",
        ),
        (
            {"minimum": "2020-03-29T02:30[Europe/Zurich]", "maximum": "2024-01-01T00:00Z"}, InvalidArgument,
            "the clock of that zone skips minimum",
        ),
        ({**BOUNDS, "step": 1}, InvalidArgument, "a step of dates must be"),
        ({**BOUNDS, "bounds_share": "1/10"}, InvalidArgument, "leave it out, or every bound"),
    ],
)  # fmt: skip
def test_what_is_no_pair_of_bounds_is_refused_before_the_data(
    terms: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        discreet.mean(object(), "v", epsilon=1, **terms)


@pytest.mark.parametrize("verb", ["sum", "variance", "standard_deviation"])
def test_dates_have_no_sum(verb: str) -> None:
    with pytest.raises(InvalidArgument, match="have a mean, a median and quantiles"):
        getattr(discreet, verb)([FIRST], epsilon=1, **BOUNDS)


def test_a_column_of_another_kind_is_refused_by_its_type() -> None:
    with pytest.raises(UnreadableData, match="not a column of dates"):
        average(pl.DataFrame({"v": [1, 2]}), **BOUNDS)
    zoned = pl.DataFrame({"v": [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)]})
    with pytest.raises(UnreadableData, match=r"times with an offset.*2024-12-31T06:00\+01:00"):
        average(zoned, **BOUNDS)


@pytest.mark.parametrize("command", ["mean", "median"])
def test_a_terminal_is_told_ends_and_no_class(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "times.parquet"
    pl.DataFrame({"v": [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)], "x": [1]}).write_parquet(file)
    names = ("--minimum", "--maximum") if command == "mean" else ("--lo", "--hi")
    ends = [names[0], "2020-01-01", names[1], "2020-12-31"]
    for column, words in (("v", "Give ends such as"), ("x", "give numbers")):
        assert run([command, str(file), column, *ends, "--epsilon", "1"]) == 3
        told = capsys.readouterr().err
        assert words in told
        assert "Grid" not in told


def test_an_error_of_one_day_is_one_day() -> None:
    release = discreet.mean([FIRST] * 500, **BOUNDS, epsilon=10**6)
    assert "within 1 day, with" in str(release)
    error: Any = release.error
    assert error.in_words().endswith("is off by less than 1 day in the mean of the clipped times")
    assert "from about 500 dates" in str(release)


def test_what_is_a_moment() -> None:
    yes = (
        FIRST,
        dt.datetime(2020, 1, 1),
        "2020-01-01",
        np.datetime64("2020-01-01"),
        pd.Timestamp("2020-01-01"),
    )
    assert all(map(is_moment, yes))
    assert not any(
        map(is_moment, ("20200101", 20200101, "x", None, pd.NaT, True, "1/2", [], object()))
    )


def test_steps_are_as_fine_as_the_width_asks_for() -> None:
    steps = {
        "2020-01-02T00:00": "1 second",
        "2020-03-20T00:00": "1 minute",
        "2032-01-01T00:00": "1 hour",
    }
    for maximum, step in steps.items():
        bounds = read_time_bounds("2020-01-01T00:00", maximum, None)
        assert isinstance(bounds, TimeBounds)
        assert str(bounds.times.step) == step
    assert read_time_bounds(0, 1, None) is None


def test_a_description_and_sql_ask_for_the_mean_of_declared_dates(tmp_path: Path) -> None:
    pl.DataFrame({"v": DATES}).write_csv(tmp_path / "t.csv")
    column = {"type": "date", **BOUNDS, "step": "1 month"}
    described = discreet.Dataset(tmp_path / "t.csv", columns={"v": column}, name="t")
    number, steps = steps_of(DATES)
    size, total = numbers_behind(discreet.mean, described, "v", epsilon=1)
    assert (size.numbers, total.numbers) == ((number,), (steps - 5 * number,))
    statement = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) AVG(v) AS mean FROM t"
    size, total = numbers_behind(discreet.sql, described, statement)
    assert (size.numbers, total.numbers) == ((number,), (steps - 5 * number,))
    with pytest.raises(InvalidArgument, match="beyond the minimum"):
        discreet.mean(described, "v", minimum="2019-12-31", epsilon=1)
    with pytest.raises(InvalidArgument, match="of numbers, and column 'v'"):
        discreet.sum(described, "v", epsilon=1)
    with pytest.raises(InvalidArgument, match="bounds of numbers"):
        discreet.mean(described, "v", bounds_share="1/10", epsilon=1)


def test_digests_tell_dates_from_numbers_and_from_each_other() -> None:
    ends = (
        BOUNDS,
        {**BOUNDS, "minimum": "2020-01-02", "maximum": "2020-01-12"},
        {"minimum": 0, "maximum": 10 * DAY, "step": DAY},
    )
    assert len({bill_of(discreet.mean, [], epsilon=1, **one).digest for one in ends}) == 3
