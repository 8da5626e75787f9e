"""Records of dataframes: one step for each distinct value finds what one step for each row would."""

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import MissingColumn, UnreadableData
from discreet.tables.engines import in_polars, memory, numbers
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.native import UNIT
from discreet.tables.engines.records import START, Records
from discreet.tables.values.ids import start_of_rule
from discreet.tables.values.kinds import ColumnType

from ...columns import numbers_of, recorded
from ...engines import ENGINES

ONE = uuid.UUID(int=1)
HOSTILE: list[Any] = [[7], np.array([7, 7]), {}, np.nan, float("nan"), 10**5000, Decimal("sNaN")]
CELLS: list[Any] = [7, "7", np.int64(7), 7.0, True, Decimal(7), "a", "\ud800", "'\\ud800'", "a\0b"]
CELLS += [
    Decimal("7.50"),
    Decimal("7.5"),
    "a\0c",
    ONE,
    str(ONE),
    None,
    pd.NA,
    2**70,
    "",
    b"7",
    *HOSTILE,
]
AUTUMN = ZoneInfo("Europe/Paris")
TWICE = [dt.datetime(2024, 10, 27, 2, 30, tzinfo=AUTUMN, fold=fold) for fold in (0, 1)]


def written(cell: Any) -> str | None:
    """A text or a UUID as it is written, a number by its value: docs/how-to/user_level_privacy.md."""
    if type(cell) is np.int64 or (type(cell) is float and cell == 7):
        cell = int(cell)
    if type(cell) is Decimal and not cell.is_snan():
        return format(cell.normalize(), "f")
    named = type(cell) in (str, int, uuid.UUID) and cell != 10**5000
    return str(cell) if named else None


def check_persons(frame: Any, names: list[str | None]) -> None:
    """Each named unit is one, with its rows and its start; rows of nobody are left out."""
    table = open_table(frame, "p", Records("p"))
    numbered = table._with_units(table.record_rows(), 0).select(UNIT, START)
    units, starts = table.native.fetch(numbered, ColumnType("", "integer", ""))
    found = Counter(zip(units.tolist(), starts.tolist(), strict=True))
    rows = Counter(name for name in names if name is not None)
    assert len({unit for unit, _ in found}) == len(found)
    assert sorted((start, n) for (_, start), n in found.items()) == sorted(
        (start_of_rule(name), n) for name, n in rows.items()
    )


@given(st.lists(st.sampled_from(CELLS), max_size=12))
def test_persons_in_objects_are_told_apart_as_written(cells: list[Any]) -> None:
    column = pd.Series(pd.array(cells, dtype=object) if cells else [], dtype=object)
    check_persons(pd.DataFrame({"p": column}), list(map(written, cells)))


TYPES: dict[str, list[Any]] = {
    "str": [pl.String, pl.Categorical, pl.Enum(["a", "b", "é", "e\u0301", ""])],
    "int": [pl.Int64, pl.UInt64, pl.Int128, pl.Int8],
    "none": [pl.Null],
}
OF_KIND: dict[str, list[Any]] = {
    "str": ["a", "b", "é", "e\u0301", "", None],
    "int": [0, 1, 2, 100, None],
    "none": [None],
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    "engine", ["polars", "lazy", "pyarrow", "chunks", "pandas", "pandas-arrow"]
)
@given(data=st.data())
@pytest.mark.one_in(4)
def test_persons_of_engines(kind: str, engine: str, data: st.DataObject) -> None:
    of = data.draw(st.sampled_from(TYPES[kind]))
    cells = data.draw(st.lists(st.sampled_from(OF_KIND[kind]), max_size=8))
    frame: Any = pl.DataFrame({"p": pl.Series(cells, dtype=of)})
    if engine == "lazy":
        frame = frame.lazy()
    elif engine != "polars" and of != pl.Int128:
        frame = frame.to_arrow()
        if engine == "chunks":
            frame = pa.concat_tables([frame[:2], frame[2:]])
        if engine == "pandas":
            frame = frame.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
            if kind == "int" and frame.dtypes.iloc[0].kind == "f":
                return  # pandas keeps integers as floats where some are missing
        if engine == "pandas-arrow":
            frame = frame.to_pandas(types_mapper=pd.ArrowDtype)
    check_persons(frame, [None if cell is None else str(cell) for cell in cells])


def test_python_sees_each_object_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"p": ["a", "b", None] * 50, "c": ["x", "y", "z"] * 50}).astype(object)
    seen: list[Any] = []

    def watch(step: Callable[..., int], cell: Any, places: Any) -> int:
        seen.append(cell)
        return step(cell, places)

    for name in ("number_of_id", "code_of"):
        monkeypatch.setattr(memory, name, partial(watch, getattr(memory, name)))
    assert recorded(frame, "c", Records("p")).tally(["x", "y", "z"]) == [[1, 1, 0]]
    assert len(seen) <= 6


def test_a_unit_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def watch(person: Any) -> int:
        seen.append(person)
        return start_of_rule(person)

    monkeypatch.setattr(in_polars, "start_of_rule", watch)
    frame = pl.DataFrame({"p": ["a", "b", None] * 50, "x": range(150)})
    [group] = recorded(frame, "x", Records("p", rows=2)).groups
    assert len(numbers_of(group)) == 4
    assert sorted(seen) == [b"a", b"b"]


def test_one_object_that_no_comparison_bears_leaves_the_others() -> None:
    frame = pd.DataFrame(
        {"p": pd.Series(["a", "b", np.array([1, 2]), [3]], dtype=object), "c": ["x"] * 4}
    )
    assert recorded(frame, "c", Records("p")).tally(["x"]) == [[2]]


def test_groups_of_mixed_objects() -> None:
    groups = pd.Series([True, 1, 1.0, "1", Decimal(1), None, [1]], dtype=object)
    frame = pd.DataFrame({"g": groups, "c": ["x"] * 7})
    assert recorded(frame, "c", Records(by="g", groups=(1, True, "1"))).tally(["x"]) == [
        [3],
        [1],
        [1],
    ]


def test_groups_of_an_hour_that_clocks_repeat() -> None:
    frame = pd.DataFrame({"g": pd.Series(TWICE * 2, dtype=object), "c": ["x"] * 4})
    zoned = [moment.astimezone(dt.UTC) for moment in TWICE]
    assert recorded(frame, "c", Records(by="g", groups=tuple(zoned))).tally(["x"]) == [[2], [2]]


@pytest.mark.parametrize("engine", ["polars", "pandas"])
def test_groups_of_that_hour_in_a_column_of_times(engine: str) -> None:
    zoned = [moment.astimezone(dt.UTC) for moment in TWICE]
    times = pl.Series(zoned * 2).dt.convert_time_zone("Europe/Paris")
    frame: Any = pl.DataFrame({"g": times, "c": ["x"] * 4})
    frame = frame.to_pandas() if engine == "pandas" else frame
    assert recorded(frame, "c", Records(by="g", groups=tuple(zoned))).tally(["x"]) == [[2], [2]]


# --- numbers in pandas objects

MIXED: list[Any] = [
    Decimal("0.1"),
    2,
    None,
    "3",
    True,
    2.5,
    Fraction(1, 3),
    Decimal("NaN"),
    pd.NA,
    [4],
]
EXACT: list[Any] = [Fraction(1, 10), 2, 2.5, Fraction(1, 3)]


def test_numbers_among_objects() -> None:
    frame = pd.DataFrame({"x": pd.Series(MIXED, dtype=object)})
    assert numbers(frame, "x").tolist() == EXACT == numbers(MIXED[:-1]).tolist()
    [one] = recorded(frame.assign(p=["a"] * 10), "x", Records("p", rows=10)).groups
    assert sorted(numbers_of(one).tolist()) == sorted(EXACT)


@pytest.mark.parametrize("cells", [["a", "b"], [], [None], [dt.date(2020, 1, 1)], [1, "a"], [True]])
def test_a_column_of_objects_is_never_refused_for_its_rows(cells: list[Any]) -> None:
    frame = pd.DataFrame(
        {"x": pd.Series(cells, dtype=object), "p": pd.Series(["a"] * len(cells), dtype=object)}
    )
    expected = [cell for cell in cells if type(cell) is int]
    assert numbers(frame, "x").tolist() == expected
    [found] = recorded(frame, "x", Records("p", rows=3)).groups
    assert numbers_of(found).tolist() == expected
    [grouped] = recorded(frame, "x", Records(by="p", groups=("a",))).groups
    assert numbers_of(grouped).tolist() == expected


def test_numbers_of_groups_of_persons_among_objects() -> None:
    cells = [Decimal("1.5"), "x", Decimal("2.5"), Decimal("0.5"), None, Decimal(9)]
    frame = pd.DataFrame(
        {
            "x": pd.Series(cells, dtype=object),
            "p": ["a", "a", "a", "b", "b", None],
            "g": list("stsstt"),
        }
    )
    parts = recorded(
        frame, "x", Records("p", rows=5, by="g", groups=("s", "t"), most_groups=2)
    ).groups
    assert [sorted(numbers_of(part).tolist()) for part in parts] == [
        [Fraction(1, 2), Fraction(3, 2), Fraction(5, 2)],
        [],
    ]


def test_a_median_of_decimals_as_sql_gives_them() -> None:
    frame = pd.DataFrame({"x": [Decimal("1.10")] * 200, "p": range(200)})
    grid = discreet.Grid(0, 10, "0.1")
    each: list[dict[str, Any]] = [{}, {"privacy_unit": "p"}]
    for terms in each:
        assert discreet.median(frame, "x", candidates=grid, epsilon=100, **terms).value == Fraction(
            11, 10
        )
    assert discreet.best_price(frame, "x", candidates=grid, epsilon=100).value == Fraction(11, 10)


@pytest.mark.parametrize(
    "column", [pd.Series(["a"], dtype="category"), pd.Series(["a"], dtype="string")]
)
def test_other_columns_of_pandas_are_refused_by_type(column: Any) -> None:
    frame = pd.DataFrame({"x": column, "p": ["a"]})
    with pytest.raises(UnreadableData, match="column 'x'"):
        numbers(frame, "x")
    with pytest.raises(UnreadableData, match="column 'x'"):
        numbers_of(recorded(frame, "x", Records("p", rows=1)).groups[0])


# --- refusals name the argument


@pytest.mark.parametrize("engine", ENGINES)
def test_a_missing_column_names_its_argument(engine: str, tmp_path: Path) -> None:
    data = ENGINES[engine](pa.table({"person": ["a"], "c": ["x"], "g": ["s"]}), tmp_path)
    asked: list[tuple[str, str, Records]] = [
        ("column", "d", Records("person")),
        ("privacy_unit", "c", Records("persn")),
        ("by", "c", Records("person", by="gg", groups=("s",))),
    ]
    for argument, column, records in asked:
        with pytest.raises(MissingColumn, match=f"^{argument}: there is no column '"):
            recorded(data, column, records)
    with pytest.raises(MissingColumn, match=r"^privacy_unit: .*'persn' in .*did you mean 'person'"):
        recorded(data, "c", Records("persn"))
    with pytest.raises(MissingColumn, match=r"^column: there is no column 'd'"):
        numbers(data, "d")


def test_a_first_line_like_data_names_the_argument_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("c,7\nx,8\n")
    with pytest.raises(
        MissingColumn, match=r"^privacy_unit: .*'p' in the first line of .*may be a row"
    ):
        recorded(tmp_path / "t.csv", "c", Records("p"))


@pytest.mark.parametrize("engine", ["polars", "pyarrow", "duckdb", "parquet", "spark"])
def test_bytes_as_privacy_unit(engine: str, tmp_path: Path) -> None:
    data = ENGINES[engine](pa.table({"p": pa.array([b"a"]), "c": ["x"]}), tmp_path)
    with pytest.raises(
        UnreadableData, match=r"column 'p'.*for privacy_unit text, integers, decimals and UUIDs"
    ):
        recorded(data, "c", Records("p")).tally(["x"])
