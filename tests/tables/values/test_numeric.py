"""Columns of numbers; and times as integers: every engine and unit has the counts of a naive oracle."""

import csv
import datetime as dt
import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import DateGrid, Grid, count, median, minimum, quantiles
from discreet.errors import UnreadableData, UnreadableFile
from discreet.selection.date_grid import microseconds
from discreet.tables.engines import cells
from discreet.tables.engines.column import Group, Source
from discreet.tables.engines.in_duckdb import InDuckDB
from discreet.tables.engines.records import Records
from discreet.tables.scores.rank_search import distinct_indices
from discreet.tables.scores.revenue import _highest_paid, places
from discreet.tables.values.kinds import ColumnType
from discreet.tables.values.numeric import from_list, from_relation, present_times

from ...engines import TYPED, spark

WORD = 2**63


NUMBERS: dict[str, st.SearchStrategy[Any]] = {
    "words": st.integers(-WORD, WORD - 1) | st.integers(WORD - 9, WORD - 1),
    "unsigned": st.integers(0, 2 * WORD - 1) | st.integers(WORD - 9, WORD + 9),
    "huge": st.integers(-(2**127), 2**127 - 1) | st.integers(WORD - 9, WORD + 9),
    "doubles": st.floats(allow_nan=False) | st.floats(WORD - 4096, WORD + 4096),
    "fractions": st.integers(-(10**20), 10**20).map(lambda n: Fraction(n, 100)),
}


WIDE = [
    Grid(0, 700),
    Grid(WORD - 6, WORD + 6, "1/2"),
    Grid(-2 * WORD, 2 * WORD, 2**40),
    Grid(0, 2**63),
]


def array_of(kind: str, values: list[Any]) -> Any:
    return np.array(values, dtype=np.uint64) if kind == "unsigned" else from_list(values)


@pytest.mark.parametrize("kind", NUMBERS)
@given(grid=st.sampled_from(WIDE), pay=st.booleans(), data=st.data())
def test_groups_of_any_numbers_add_up(
    kind: str, grid: Grid, pay: bool, data: st.DataObject
) -> None:
    """Whatever the groups: records are counted where each number is, up to counts of 2^63 - 1."""
    values = sorted(data.draw(st.sets(NUMBERS[kind], min_size=1, max_size=12)))
    most = (WORD - 1) // len(values)
    weights = [data.draw(st.integers(1, most) | st.just(most)) for _ in values]
    cuts = data.draw(st.sets(st.integers(1, len(values)), max_size=5)) | {0, len(values)}
    stretches = [range(*ends) for ends in pairwise(sorted(cuts))]

    index: Any = partial(places, grid) if pay else grid.nearest
    asked = cells.Occupancy(thresholds(grid), index)
    mixed = asked.add(
        cells.Groups.of(
            [
                np.arange(len(stretches)) + 7,
                from_list([sum(weights[i] for i in one) for one in stretches]),
                array_of(kind, [values[one[0]] for one in stretches]),
                array_of(kind, [values[one[-1]] for one in stretches]),
            ]
        )
    )
    left = [i for key in mixed for i in stretches[key - 7]]
    again = [array_of(kind, [values[i] for i in left]), from_list([weights[i] for i in left])]
    assert asked.add(cells.Groups.single(again)) == []

    one_by_one = _highest_paid if pay else Grid._index
    expected = Counter[int]()
    for value, weight in zip(values, weights, strict=True):
        expected[max(-1, one_by_one(grid, value))] += weight
    points, counts = distinct_indices(*asked.tally)
    assert counts.dtype == np.int64
    assert dict(zip(points.tolist(), counts.tolist(), strict=True)) == expected


def thresholds(grid: Grid) -> cells.GridThresholds:
    return cells.GridThresholds(grid, ColumnType("v", "integer", "HUGEINT", -(2**127), 2**127 - 1))


def test_what_is_no_integer_is_no_count() -> None:
    for counts in ([2.0], [Fraction(2)], [2**63]):
        with pytest.raises(TypeError):
            cells.Groups.single([np.array([1.5]), from_list(counts)])
    assert len(cells.Groups.single([from_list([]), from_list([])])) == 0


IN_DUCKDB: dict[str, st.SearchStrategy[Any]] = {
    "TINYINT": st.integers(-128, 127),
    "BIGINT": NUMBERS["words"],
    "UBIGINT": NUMBERS["unsigned"],
    "HUGEINT": NUMBERS["huge"],
    "UHUGEINT": st.integers(0, 2**128 - 1) | st.integers(WORD - 9, WORD + 9),
    "DECIMAL(18,2)": st.integers(-(10**18) + 1, 10**18 - 1).map(lambda n: Decimal(n) / 100),
    "DECIMAL(38,0)": NUMBERS["huge"].map(lambda n: Decimal(n // 2)),
    "FLOAT": st.floats(width=32, allow_nan=False),
    "DOUBLE": NUMBERS["doubles"],
}


@pytest.mark.parametrize("of", IN_DUCKDB)
@given(data=st.data())
@pytest.mark.one_in(3)
def test_what_is_fetched_is_not_rounded(of: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(IN_DUCKDB[of], max_size=8))
    texts = ", ".join(f"(CAST('{value}' AS {of}), {WORD - 1})" for value in values)
    rows = f"VALUES {texts}" if values else f"SELECT CAST(NULL AS {of}), 0 LIMIT 0"
    table = duckdb.connect().sql(f"SELECT * FROM ({rows}) AS rows(cell, records)")
    found, counts = from_relation(table, InDuckDB(table).type("cell", "cell"))
    assert [Fraction(x) if math.isfinite(x) else x for x in found.tolist()] == [
        Fraction(x) if math.isfinite(x) else x for x in values
    ]
    assert counts.tolist() == [WORD - 1] * len(values)
    assert found.dtype in (np.int64, np.uint64, np.float64, np.object_)


DATE, TIME = dt.date, dt.datetime
GENERATOR = random.Random(1900)
FIRST, LAST = DATE(1900, 1, 1).toordinal(), DATE(2101, 1, 1).toordinal()

DATES: list[dt.date | None] = [
    *(DATE.fromordinal(GENERATOR.randrange(FIRST, LAST)) for _ in range(150)),
    *(None, DATE(1, 1, 1), DATE(9999, 12, 31), DATE(2000, 2, 29), DATE(1970, 1, 1), DATE(1969, 12, 31)),
    *(DATE(2000, 1, day) for day in (16, 17)), *(DATE(2000, 2, day) for day in (15, 16)),
]  # fmt: skip

TIMES: list[dt.datetime | None] = [
    *(
        TIME.combine(day, dt.time()) + dt.timedelta(microseconds=GENERATOR.randrange(86_400_000_000))
        for day in DATES[:150]
        if day is not None
    ),
    None,
    TIME(1969, 12, 31, 23, 59, 59, 999_999),
    TIME(2000, 1, 16, 11, 59, 59, 999_999),
    TIME(2000, 1, 16, 12),
]  # fmt: skip

GRIDS = {
    "months": DateGrid("1900-01-01", "2100-12-31", "1 month"),
    "few months": DateGrid("1990-01-28", "2010-12-31", "5 months"),
    "weeks": DateGrid("1950-01-01", "2050-12-31", "7 days"),
    "hours": DateGrid("1969-12-01T00:00", "1970-02-01T00:00", "1 hour"),
    "far": DateGrid("0001-01-01", "9999-12-31", "1 day"),
}
ZONED = {
    "months": DateGrid("1900-01-01T00:00", "2100-12-31T00:00", "1 month", zone="America/New_York"),
    "days": DateGrid("2000-01-01T00:00", "2000-12-31T00:00", zone="Europe/Zurich"),
    "hours": DateGrid("1960-01-01T00:00Z", "1980-01-01T00:00Z", "12 hours"),
}


@cache
def points_of(grid: DateGrid[Any]) -> list[int]:
    """The points of a grid in microseconds."""
    return [microseconds(grid[i]) for i in range(grid.size)]


def by_hand(values: list[Any], grid: DateGrid[Any], per: int = 1) -> dict[int, int]:
    """The counts of nearest points, the later of two, by differences; of times as counts of units of 1/per µs."""
    points = np.array(points_of(grid) if grid.size < 10**5 else [0]) * per
    counts: dict[int, int] = {}
    for value in values:
        if value is None:
            continue
        units = value if isinstance(value, int) else microseconds(value) * per
        if grid.size < 10**5:
            distances = abs(points - units)
            index = int(np.flatnonzero(distances == distances.min())[-1])
        else:  # all days there are
            index = (units // per - microseconds(DATE.min) + 43_200_000_000) // 86_400_000_000
        counts[index] = counts.get(index, 0) + 1
    return counts


def counts_of(data: Any, grid: DateGrid[Any]) -> dict[int, int]:
    """The counts in the data's engine."""
    [group] = Source(data, "t", None, grid.clock).groups
    return tally(group, grid)


def tally(group: Group, grid: DateGrid[Any]) -> dict[int, int]:
    """The counts of one group, asked in the three ways that scores ask."""
    cells = grid.in_numbers(group.unit)
    source = group.on_grid(cells)
    if source is None:
        numbers: Any = group.numbers()
        values, counts = numbers
        tallies = [(cells.nearest(values), [1] * len(values) if counts is None else counts)]
    else:
        tallies = [source.points([range(cells.size)]), source.occupancy(cells.nearest)]
        if cells.size < 10**5:
            [histogram] = source.histogram([range(cells.size)])
            tallies.append((np.arange(cells.size), histogram))
    several = []
    for indices, counts in tallies:
        by_index: dict[int, int] = {}
        for index, n in zip(indices.tolist(), list(counts), strict=True):
            by_index[index] = by_index.get(index, 0) + int(n)
        several.append({index: n for index, n in by_index.items() if n})
    assert all(one == several[0] for one in several)
    return several[0]


def write_csv(texts: list[str], folder: Path) -> str:
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["t", "u"], *([text, "u"] for text in texts)])
    return str(folder / "t.csv")


ENGINES = [name for name in TYPED if name != "spark"]


@pytest.mark.proof_in("-months", "far")
@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_dates_in_every_engine(engine: str, name: str, tmp_path: Path) -> None:
    data = TYPED[engine](pa.table({"t": pa.array(DATES, pa.date32())}), tmp_path)
    assert counts_of(data, GRIDS[name]) == by_hand(DATES, GRIDS[name])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("engine", ENGINES)
def test_times_of_every_unit_in_every_engine(engine: str, unit: str, tmp_path: Path) -> None:
    if engine.startswith("polars") and unit == "s":
        pytest.skip("Polars has no such type")
    cut = {"s": 10**6, "ms": 1000}.get(unit, 1)
    values = [t and t.replace(microsecond=t.microsecond // cut * cut) for t in TIMES]
    data = TYPED[engine](pa.table({"t": pa.array(values, pa.timestamp(unit))}), tmp_path)
    for grid in (GRIDS["few months"], GRIDS["hours"], DateGrid("2000-01-01", "2000-12-31")):
        assert counts_of(data, grid) == by_hand(values, grid)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize("engine", ENGINES)
def test_instants_in_every_engine(engine: str, unit: str, tmp_path: Path) -> None:
    """Local times with a zone are instants, both of an hour that clocks repeat among them."""
    zone = ZoneInfo("Europe/Zurich")
    repeated = [TIME(2000, 10, 29, 2, 30, tzinfo=zone, fold=fold) for fold in (0, 1)]
    values = [t and t.replace(tzinfo=dt.UTC) for t in TIMES] + repeated
    column = pa.array(values, pa.timestamp(unit, "Europe/Zurich"))
    try:
        data = TYPED[engine](pa.table({"t": column}), tmp_path)
    except duckdb.Error:
        pytest.skip("DuckDB has no such type")
    for grid in ZONED.values():
        assert counts_of(data, grid) == by_hand(values, grid)


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "duckdb", "parquet"])
def test_nanoseconds_are_not_rounded(engine: str, tmp_path: Path) -> None:
    """One nanosecond below a border is below it, though doubles have no such numbers."""
    grid = DateGrid("2000-01-01T00:00", "2000-12-31T00:00", "1 month")
    border = (microseconds(grid[0]) + microseconds(grid[1])) * 500
    values = [border - 1, border, border + 1, -1, None]
    table = pa.table({"t": pa.array(values, pa.int64()).cast(pa.timestamp("ns"))})
    assert counts_of(TYPED[engine](table, tmp_path), grid) == by_hand(values, grid, 1000)
    days = DateGrid("2000-01-01T00:00", "2000-12-31T00:00")
    assert counts_of(TYPED[engine](table, tmp_path), days) == by_hand(values, days, 1000)


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_times_beyond_the_calendar_are_at_its_ends(unit: str) -> None:
    grid = DateGrid("1990-01-01", "2010-12-31", "1 month")
    far = pa.array([-(2**62), 2**62, 0, None], pa.int64()).cast(pa.timestamp(unit))
    for data in (pa.table({"t": far}), pl.DataFrame({"t": [-(2**62), 2**62, 0, None]}).select(
        pl.col("t").cast(pl.Datetime("ms"))
    )):  # fmt: skip
        assert counts_of(data, grid) == {0: 2, grid.size - 1: 1}
    endless: Any = duckdb.sql("SELECT unnest(['infinity', '-infinity', '2000-01-01']) AS s")
    for of in ("DATE", "TIMESTAMP"):
        assert counts_of(endless.project(f"CAST(s AS {of}) AS t"), grid) == {
            0: 1, 120: 1, grid.size - 1: 1,
        }  # fmt: skip


@pytest.mark.parametrize("cells", ["lists", "rows", "pandas", "stamps"])
def test_objects_are_read_one_by_one(cells: str) -> None:
    values: list[Any] = [*DATES, pd.NaT, float("nan"), "2020-01-01", 5, True]
    values += [
        TIME(2000, 1, 1, tzinfo=dt.UTC),
        np.datetime64("NaT", "us"),
        np.datetime64("2000-03-01"),
    ]
    values += [pd.Timestamp("2000-03-01")]
    data: Any = {
        "lists": {"t": values},
        "rows": [{"t": value} for value in values],
        "pandas": pd.DataFrame({"t": pd.Series(values, dtype=object)}),
        "stamps": {"t": np.array([np.datetime64(v or "NaT", "us") for v in DATES])},
    }[cells]
    wanted = DATES if cells == "stamps" else [*DATES, DATE(2000, 3, 1), DATE(2000, 3, 1)]
    names = ("few months", "hours") if cells == "stamps" else GRIDS  # in DuckDB, and so slower
    for grid in map(GRIDS.__getitem__, names):
        assert counts_of(data, grid) == by_hand(wanted, grid)


def test_objects_keep_their_nanoseconds_and_their_clock() -> None:
    grid = DateGrid("2000-01-01T00:00", "2000-02-01T00:00", "1 month")
    border = (microseconds(grid[0]) + microseconds(grid[1])) * 500
    stamps = [pd.Timestamp(border - 1), pd.Timestamp(border), TIME(9999, 1, 1)]
    there, numbers = present_times([*stamps, None, pd.Timestamp(border, tz="UTC")], "naive")
    assert there.tolist() == [True] * 3 + [False] * 2
    assert grid.in_numbers("ns").nearest(numbers).tolist() == [0, 1, 1]
    there, _ = present_times([*stamps, pd.Timestamp(border, tz="UTC"), DATE(2000, 1, 1)], "zoned")
    assert there.tolist() == [False] * 3 + [True, False]


BAD = ["12.03.2020", "2020-1-1", "2020-02-30", "2019-02-29", "0000-01-01", " 2020-01-01", "x", "",
       "2020-01-01T24:00", "2020-01-01T00:00:60", "2020-01-01T1:00", "20200101", "infinity",
       "2020-01-01T00:00:00.1234567", "2020-W01-1", "10000-01-01", "-2020-01-01", "2020-01-01 "]  # fmt: skip


@pytest.mark.proof_in("[months", "far")
@pytest.mark.parametrize("name", GRIDS)
def test_text_files_are_read_by_one_strict_form(name: str, tmp_path: Path) -> None:
    texts = [*("" if day is None else day.isoformat() for day in DATES), *BAD]
    texts += [
        "2000-01-01T00:00",
        "2000-01-01 00:00:00",
        "2000-01-01T00:00:00.000001",
        "2000-01-01T00:00Z",
    ]
    wanted = [*DATES, *(TIME(2000, 1, 1, 0, 0, 0, us) for us in (0, 0, 1))]
    assert counts_of(write_csv(texts, tmp_path), GRIDS[name]) == by_hand(wanted, GRIDS[name])
    lines = tmp_path / "t.jsonl"
    lines.write_text("\n".join(json.dumps({"t": text or None}) for text in texts), "utf-8")
    assert counts_of(lines, GRIDS[name]) == by_hand(wanted, GRIDS[name])


def test_text_files_have_instants_with_an_offset(tmp_path: Path) -> None:
    good = ["2000-03-26T02:30+01:00", "2000-01-01T00:00Z", "1960-01-01 00:00:00.5-11:30", "0001-01-01T00:00+14:00",
            "9999-12-31T23:59:59.999999-12:00"]  # fmt: skip
    texts = [
        *good,
        *BAD,
        "2000-01-01",
        "2000-01-01T00:00",
        "2000-01-01T00:00+25:00",
        "2000-01-01T00:00+01",
    ]
    for grid in ZONED.values():
        wanted = [dt.datetime.fromisoformat(text) for text in good]
        assert counts_of(write_csv(texts, tmp_path), grid) == by_hand(wanted, grid)


ZURICH = pa.timestamp("us", "Europe/Zurich")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("column", "grid", "words"),
    [
        (pa.array([], ZURICH), GRIDS["months"], "are dates, or times without an offset. Give ends such as"),
        (pa.array([], pa.timestamp("us")), ZONED["months"], "are times with an offset. Give ends such as"),
        (pa.array([], pa.date32()), ZONED["months"], "are times with an offset. Give ends such as"),
        (pa.array([], pa.int64()), GRIDS["months"], "is not a column of dates or times"),
        (pa.array([], pa.string()), GRIDS["months"], "is not a column of dates or times"),
        (pa.array([], pa.date32()), Grid(0, 5), "give candidates=DateGrid"),
        (pa.array([], pa.timestamp("us")), Grid(0, 5), "give candidates=DateGrid"),
        (pa.array([], ZURICH), Grid(0, 5), "give candidates=DateGrid"),
    ],
)  # fmt: skip
def test_other_columns_are_refused_by_their_type(
    engine: str, column: Any, grid: Any, words: str, tmp_path: Path
) -> None:
    if engine in ("pandas", "dask") and column.type in (pa.date32(), pa.string()):
        pytest.skip("they have objects there, which are read one by one")
    data = TYPED[engine](pa.table({"t": column}), tmp_path)
    with pytest.raises(UnreadableData, match=words):
        median(data, "t", candidates=grid, epsilon=1)


ROWS = [(1, DATE(2020, 1, 1), "a"), (1, DATE(2020, 5, 1), "a"), (1, DATE(2020, 9, 1), "b"),
        (2, DATE(2021, 1, 1), "b"), (3, DATE(2022, 1, 1), "a"), (None, DATE(2022, 1, 1), "a")]  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rows", [1, 2])
def test_the_rows_of_a_unit_are_the_same_everywhere(rows: int, tmp_path: Path) -> None:
    people, days, groups = (list(column) for column in zip(*ROWS, strict=True))
    grid = DateGrid("2020-01-01", "2022-12-31", "1 month")
    records = Records("u", rows, "g", ("a", "b"), 1)
    answers = []
    storages: list[pa.DataType] = [pa.date32(), *map(pa.timestamp, ("s", "ms", "us", "ns"))]
    for engine, of in itertools.product((name for name in ENGINES if name != "dask"), storages):
        if engine.startswith("polars") and of == pa.timestamp("s"):
            continue
        table = pa.table(
            {
                "u": pa.array(people, pa.int64()),
                "t": pa.array(days, pa.date32()).cast(of),
                "g": groups,
            }
        )
        source = Source(TYPED[engine](table, tmp_path), "t", records, grid.clock)
        answers.append([tally(group, grid) for group in source.groups])
    assert all(one == answers[0] for one in answers)
    # The user with rows in both groups is in one of them, with as many rows as may count.
    assert sum(sum(one.values()) for one in answers[0]) in (3, 2 + rows)


def test_answers_are_dates_of_the_grid() -> None:
    days = [DATE(2020, 1, 1) + dt.timedelta(days=i) for i in range(1000)]
    grid = DateGrid("2020-01-01", "2024-12-31", "1 month")
    for data, column in (({"t": days}, "t"), (days, None), (pd.Series(days), None),
                         (pd.Series(pd.to_datetime(pd.Series(days))), None), (dict.fromkeys(days, 5), None),
                         (pl.Series(days), None), (np.array(days, dtype="M8[ns]"), None)):  # fmt: skip
        answer = median(data, column, candidates=grid, epsilon=100).value
        assert type(answer) is DATE
        assert abs((answer - DATE(2021, 5, 15)).days) < 35
    assert minimum(days, candidates=grid, epsilon=100).value == DATE(2020, 1, 1)
    method = median(days, candidates=grid, epsilon=100, score="median_distance").value
    assert abs((method - DATE(2021, 5, 15)).days) < 35
    for way in ("recursive", "joint", "independent"):
        several: Any = quantiles(
            days, alphas=["0.1", "0.9"], candidates=grid, epsilon=200, method=way
        ).value
        assert several[0].year == 2020
        assert several[1].year == 2022


def test_spark_has_the_same_counts(tmp_path: Path) -> None:
    """In a session whose own zone leaves hours out, which times without a zone must not notice."""
    session = spark()
    columns = {
        "d": pa.array(DATES[: len(TIMES)], pa.date32()),
        "n": pa.array(TIMES, pa.timestamp("us")),
        "z": pa.array(TIMES, pa.timestamp("us", "UTC")),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    zone = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        data = session.read.parquet(str(tmp_path / "t.parquet"))
        for name in ("few months", "hours"):
            naive = data.select(data["n"].alias("t"))
            assert counts_of(naive, GRIDS[name]) == by_hand(TIMES, GRIDS[name])
        days = data.select(data["d"].alias("t"))
        wanted = DATES[: len(TIMES)]
        assert counts_of(days, GRIDS["few months"]) == by_hand(wanted, GRIDS["few months"])
        zoned, instants = data.select(data["z"].alias("t")), ZONED["hours"]
        assert counts_of(zoned, instants) == by_hand(
            [t and t.replace(tzinfo=dt.UTC) for t in TIMES], instants
        )
    finally:
        session.conf.set("spark.sql.session.timeZone", zone)


TABLES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "arrow": lambda table, _: table,
    "pandas": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table, _: pl.from_arrow(table),
    "duckdb": lambda table, _: duckdb.connect().from_arrow(table),
    "parquet": lambda _, path: str(path),
    "scan": lambda _, path: pl.scan_parquet(path),
}


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("engine", TABLES)
def test_the_ends_of_nanoseconds_count_as_any_time_out_there(
    engine: str, zone: str | None, tmp_path: Path
) -> None:
    """DuckDB has them as infinities without a number: they are neither missing nor an error."""
    ends = ("2020-01-01T00:00", "2021-01-01T00:00")
    grid: Any = (
        DateGrid(*ends, "24 hours") if zone is None else DateGrid(*ends, "24 hours", zone=zone)
    )
    year = 365 * 24 * 3600 * 10**9
    later = "TIMESTAMP '2021-01-01 00:00:00'"
    if zone is not None:
        later = later.replace("STAMP", "STAMPTZ").replace("00'", "00Z'")
    for extreme, far in ((2**63 - 1, 200 * year), (-(2**63) + 1, -200 * year)):
        worlds = []
        for number in (extreme, far):
            times = pa.array([50 * year, number, number, None], pa.timestamp("ns", zone))
            table = pa.table({"t": times, "u": [1, 2, 3, 4]})
            path = tmp_path / "times.parquet"
            pq.write_table(table, path)
            data = TABLES[engine](table, path)
            sides = [
                count(data, where=f"t {side} {later}", epsilon=10**6).value for side in (">=", "<")
            ]
            worlds.append((counts_of(data, grid), sides))
        assert worlds[0] == worlds[1]
        assert worlds[0][1] == ([2, 1] if extreme > 0 else [0, 3])


def test_a_parquet_time_that_duckdb_cannot_hold_is_named_in_the_refusal(tmp_path: Path) -> None:
    """Microseconds from 1970 end in the year 294247, milliseconds go on."""
    last, path = (2**63 - 1) // 1000, str(tmp_path / "times.parquet")
    grid = DateGrid("2000-01-01", "2030-01-01")

    def ask(*milliseconds: int) -> object:
        times = pa.array([0, *milliseconds], pa.timestamp("ms"))
        pq.write_table(pa.table({"t": times}), path)
        return median(path, "t", candidates=grid, epsilon=1)

    ask(last)
    with pytest.raises(UnreadableFile, match="it is damaged, or has times beyond the year 294247"):
        ask(last + 1)
