"""Conditions in every engine against the reading of Python's objects, row by row."""

import datetime as dt
import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.errors import InvalidArgument
from discreet.tables.conditions.conditions import (
    NEGATIONS,
    CellComparison,
    Condition,
    Membership,
    Missing,
    Not,
    both,
    either,
    holds,
)
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.records import Records
from tests.engines import ENGINES, TYPED

_NAN = float("nan")
_INF = float("inf")
_MIDNIGHT = dt.datetime(2024, 2, 29)

COLUMNS: dict[str, tuple[pa.DataType, list[Any], list[Any]]] = {
    "whole": (
        pa.int64(),
        [None, -(2**63), -3, 0, 2, 2**53, 2**53 + 1, 2**63 - 1],
        [-3, Fraction(1, 2), 2, 2**53, 2**53 + 1, 10**30, -(10**30), 2**63 - 1],
    ),
    "byte": (pa.uint8(), [None, 0, 1, 255], [-1, 0, Fraction(1, 3), 255, 256]),
    "large": (
        pa.uint64(),
        [None, 0, 2**63, 2**64 - 1],
        [0, 2**63 - 1, 2**63, 2**64, Fraction(2**65 + 1, 2)],
    ),
    "real": (
        pa.float64(),
        [None, _NAN, -_INF, -0.0, 0.0, 0.1, 1e300, _INF],
        [0, "0.1", 10**400, -(10**400), 1, Fraction(1, 3)],
    ),
    "short": (
        pa.float32(),
        [None, _NAN, -_INF, 0.5, 1e30, _INF],
        [Fraction(1, 2), "0.1", 10**39, -(10**39), 10**400],
    ),
    "money": (
        pa.decimal128(9, 2),
        [None, Decimal("-1.50"), Decimal("0.00"), Decimal("9999999.99")],
        ["-1.5", "-1.501", 0, "0.005", 10**7, -(10**9)],
    ),
    "word": (
        pa.string(),
        [None, "", "a", "A", "a ", "é", "\U0001f600", "\uffff", "z"],
        ["", "a", "A", "a ", "é", "\uffff", "b"],
    ),
    "truth": (pa.bool_(), [None, True, False], [True, False]),
    "day": (
        pa.date32(),
        [None, dt.date(1969, 12, 31), dt.date(2024, 2, 29), dt.date(2024, 3, 1)],
        [dt.date(2024, 2, 29), _MIDNIGHT, _MIDNIGHT + dt.timedelta(hours=1), dt.date(1, 1, 1)],
    ),
    "clock": (
        pa.timestamp("us"),
        [None, _MIDNIGHT, _MIDNIGHT + dt.timedelta(microseconds=1)],
        [
            dt.date(2024, 2, 29),
            _MIDNIGHT,
            _MIDNIGHT + dt.timedelta(microseconds=1),
            dt.datetime(9999, 12, 31),
        ],
    ),
    "tick": (
        pa.timestamp("ms"),
        [None, _MIDNIGHT, _MIDNIGHT + dt.timedelta(milliseconds=1)],
        [
            _MIDNIGHT,
            _MIDNIGHT + dt.timedelta(microseconds=1),
            _MIDNIGHT + dt.timedelta(milliseconds=1),
        ],
    ),
    "moment": (
        pa.timestamp("us", "UTC"),
        [None, _MIDNIGHT.replace(tzinfo=dt.UTC)],
        [_MIDNIGHT.replace(tzinfo=dt.timezone(dt.timedelta(hours=h))) for h in (0, 1, -1)],
    ),
}
"""For each type of column: cells, and constants with which they are compared."""

NO_ORDER = ("truth",)


def constants(name: str) -> list[Any]:
    return [
        Fraction(one) if isinstance(one, str) and name != "word" else one
        for one in COLUMNS[name][2]
    ]


def comparisons(name: str) -> list[Condition]:
    """All comparisons of a column, true and negated, with all its constants."""
    operators = [o for o in NEGATIONS if name not in NO_ORDER or o in ("=", "<>")]
    single: list[Condition] = [
        CellComparison(name, o, one) for o in operators for one in constants(name)
    ]
    single += [Membership(name, tuple(constants(name)[:2])), Missing(name)]
    return [*single, *map(Not, single)]


def rows(name: str) -> list[dict[str, Any]]:
    return [{"row": i, name: cell} for i, cell in enumerate(COLUMNS[name][1])]


def table_of(name: str) -> pa.Table:
    of, cells, _ = COLUMNS[name]
    return pa.table({"row": pa.array(range(len(cells)), pa.int64()), name: pa.array(cells, of)})


def inside(data: Any, condition: Condition, size: int) -> list[int]:
    """The rows of which an engine says that a condition is true."""
    opened = open_table(data, "row", Records(where=condition))
    [counts] = opened.tally(list(range(size)))
    assert set(counts) <= {0, 1}
    return [i for i, count in enumerate(counts) if count]


def oracle(name: str, cell: Any) -> Any:
    """The cell as Python has it: numbers of a column of 32 bits are doubles there."""
    return pa.array([cell], COLUMNS[name][0])[0].as_py()


def expected(name: str, condition: Condition) -> list[int]:
    return [
        i for i, row in enumerate(rows(name)) if holds(condition, {name: oracle(name, row[name])})
    ]


def _same_in(engine: str, name: str, some: list[Condition], folder: Path) -> None:
    size = len(COLUMNS[name][1])
    data = ENGINES[engine](table_of(name), folder)
    for condition in some:
        assert inside(data, condition, size) == expected(name, condition), str(condition)


@pytest.mark.parametrize("name", [name for name in COLUMNS if name != "short"])
@pytest.mark.parametrize("engine", [e for e in TYPED if e != "spark"])
def test_a_comparison_is_the_same_in_every_engine(engine: str, name: str, tmp_path: Path) -> None:
    some = comparisons(name)
    shift = list(TYPED).index(engine)
    _same_in(engine, name, some[shift :: max(1, len(some) // 3)], tmp_path)


@pytest.mark.proof
@pytest.mark.parametrize("name", [name for name in COLUMNS if name != "short"])
@pytest.mark.parametrize("engine", TYPED)
def test_every_comparison_in_every_engine_and_in_spark(
    engine: str, name: str, tmp_path: Path
) -> None:
    _same_in(engine, name, comparisons(name), tmp_path)


@pytest.mark.parametrize("engine", ["duckdb", "polars", "parquet"])
def test_a_constant_means_the_nearest_number_of_a_shorter_format(
    engine: str, tmp_path: Path
) -> None:
    def nearest(number: Any) -> Any:
        exact = Fraction(number)
        try:
            double = pa.array([float(exact)], pa.float32())[0].as_py()
        except OverflowError:
            return exact
        return exact if abs(double) == _INF else Fraction(double)

    size = len(COLUMNS["short"][1])
    data = ENGINES[engine](table_of("short"), tmp_path)
    for operator in NEGATIONS:
        for constant in COLUMNS["short"][2]:
            condition = CellComparison("short", operator, Fraction(constant))
            other = CellComparison("short", operator, nearest(constant))
            assert inside(data, condition, size) == expected("short", other), str(condition)


def random_condition(draw: random.Random, depth: int = 0) -> Condition:
    kind = draw.random()
    if depth > 3 or kind < 0.4:
        return draw.choice(comparisons(draw.choice(["whole", "word", "real", "truth"])))
    if kind < 0.6:
        return Not(random_condition(draw, depth + 1))
    parts = [random_condition(draw, depth + 1) for _ in range(draw.randint(1, 3))]
    return both(*parts) if kind < 0.8 else either(*parts)


MIXED = ["whole", "word", "real", "truth"]


def mixed(draw: random.Random, size: int) -> list[dict[str, Any]]:
    return [{name: draw.choice(COLUMNS[name][1]) for name in MIXED} for _ in range(size)]


@pytest.mark.parametrize("engine", ["pandas", "polars", "duckdb", "parquet", "dask"])
def test_conditions_of_several_columns(engine: str, tmp_path: Path) -> None:
    draw = random.Random(7)
    cells = mixed(draw, 40)
    columns = {name: pa.array([row[name] for row in cells], COLUMNS[name][0]) for name in MIXED}
    data = ENGINES[engine](pa.table({"row": pa.array(range(40), pa.int64()), **columns}), tmp_path)
    for _ in range(6):
        condition = random_condition(draw)
        by_oracle = [i for i, row in enumerate(cells) if holds(condition, row)]
        assert inside(data, condition, 40) == by_oracle, str(condition)


def test_python_objects_of_any_kind() -> None:
    cells: list[Any] = [
        None,
        True,
        1,
        1.0,
        Decimal("1.5"),
        Fraction(1, 3),
        "a",
        "1",
        _NAN,
        _INF,
        [1],
        dt.date(2024, 2, 29),
        _MIDNIGHT,
        _MIDNIGHT.replace(tzinfo=dt.UTC),
        object(),
        Decimal("NaN"),
        10**400,
    ]
    data = [{"row": i, "x": cell} for i, cell in enumerate(cells)]

    def rows_of(condition: Condition) -> list[int]:
        return inside(data, condition, len(cells))

    assert rows_of(CellComparison("x", ">=", Fraction(1))) == [2, 3, 4, 9, 16]
    assert rows_of(CellComparison("x", "=", Fraction(1, 3))) == [5]
    assert rows_of(CellComparison("x", "=", True)) == [1]
    assert rows_of(CellComparison("x", "<=", "a")) == [6, 7]
    assert rows_of(CellComparison("x", ">=", _MIDNIGHT)) == [11, 12]
    assert rows_of(CellComparison("x", ">=", _MIDNIGHT.replace(tzinfo=dt.UTC))) == [13]
    assert rows_of(Missing("x")) == [0, 8, 15]
    assert rows_of(both(Missing("x"), Not(CellComparison("x", "=", Fraction(5))))) == []
    assert rows_of(either(Missing("x"), CellComparison("x", "=", Fraction(5)))) == [
        0,
        1,
        6,
        7,
        8,
        10,
        11,
        12,
        13,
        14,
        15,
    ]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_fields_of_files_are_read_as_the_constants_are(ending: str, tmp_path: Path) -> None:
    fields = [
        "",
        "18",
        "18.0",
        " 18",
        "1_8",
        "x",
        "nan",
        "inf",
        "true",
        "1",
        "2024-02-29",
        "2024-02-29T00:00:01",
    ]
    path = tmp_path / f"t.{ending}"
    if ending == "csv":
        path.write_text("row,x\n" + "".join(f"{i},{field}\n" for i, field in enumerate(fields)))
    else:
        path.write_text(
            "".join(f'{{"row": {i}, "x": "{field}"}}\n' for i, field in enumerate(fields))
        )

    def rows_of(condition: Condition) -> list[str]:
        opened = open_table(path, "row", Records(where=condition))
        [counts] = opened.tally([str(i) for i in range(len(fields))])
        return [field for field, count in zip(fields, counts, strict=True) if count]

    assert rows_of(CellComparison("x", "=", Fraction(18))) == ["18", "18.0", " 18"]
    assert rows_of(CellComparison("x", ">", Fraction(18))) == ["inf"]
    assert rows_of(Not(CellComparison("x", ">=", Fraction(2)))) == ["1"]
    assert rows_of(CellComparison("x", "=", True)) == ["true", "1"]
    assert rows_of(CellComparison("x", "=", "18")) == ["18"]
    assert rows_of(CellComparison("x", ">=", dt.date(2024, 2, 29))) == [
        "2024-02-29",
        "2024-02-29T00:00:01",
    ]
    assert rows_of(CellComparison("x", "=", "")) == [""]
    assert rows_of(both(Missing("x"), Missing("x", "number"))) == [
        "",
        "1_8",
        "x",
        "nan",
        "true",
        "2024-02-29",
        "2024-02-29T00:00:01",
    ]


def test_a_condition_on_a_column_of_another_kind_is_refused_by_its_type() -> None:
    data = {"row": pa.array([1]), "x": pa.array(["a"])}
    with pytest.raises(InvalidArgument, match="with a number"):
        inside(pa.table(data), CellComparison("x", ">", Fraction(5)), 1)


def test_a_long_condition_is_no_deep_one(tmp_path: Path) -> None:
    many = either(*(CellComparison("whole", "=", Fraction(i)) for i in range(1000)))
    for engine in ("duckdb", "polars"):
        assert inside(ENGINES[engine](table_of("whole"), tmp_path), many, 8) == [3, 4]
