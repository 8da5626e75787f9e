"""Counts on a grid from Spark and lazy frames: those of the grid's own definition, by few rows fetched."""

import math
from bisect import bisect_right
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import UnreadableData
from discreet.selection.candidates import Grid
from discreet.selection.date_grid import CutCells
from discreet.selection.decimals import Decimals
from discreet.tables.engines import grid_counts
from discreet.tables.engines.grid_counts import CutCounts, GridCounts
from discreet.tables.engines.in_duckdb import InDuckDB
from discreet.tables.values.kinds import CELL

from ...columns import on_grid
from ...engines import crossed, spark, to_polars_lazy, to_postgresql, to_spark

ENGINES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "polars": to_polars_lazy, "spark": to_spark, "postgresql": to_postgresql,
}  # fmt: skip
GRIDS: list[Grid | Decimals] = [
         Grid(0, 120), Grid(-5, 5, "1/3"), Grid("0.05", "0.95", "0.1"), Grid(0, 10**12, "0.001"),
         Grid(0, 2**60), Grid(3, 3), Grid(2**53 - 4, 2**53 + 4), Grid(-(2**62), 2**62, 2**50),
         Decimals(1), Decimals(), Decimals(9)]  # fmt: skip
NEAR = st.integers(-20, 260).map(lambda k: k / 2)
VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "doubles": (pa.float64(), st.floats() | NEAR | st.just(-0.0)),
    "singles": (pa.float32(), st.floats(width=32) | NEAR),
    "integers": (pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.integers(2**53 - 5, 2**53 + 5)),
    "bytes": (pa.int8(), st.integers(-128, 127)),
    "decimals": (
        pa.decimal128(18, 3),
        st.integers(-(10**18) + 1, 10**18 - 1).map(lambda u: Decimal(u).scaleb(-3))
        | st.integers(-5000, 5000).map(lambda u: Decimal(u).scaleb(-3)),
    ),
}


@st.composite
def parts_of(draw: st.DrawFn, size: int) -> list[range]:
    cuts = sorted(draw(st.sets(st.integers(0, size) | st.integers(0, min(size, 130)), max_size=6)))
    pairs = (
        zip([0, *cuts[1::2]], [*cuts[::2], size], strict=False)
        if draw(st.booleans())
        else zip(cuts[::2], cuts[1::2], strict=False)
    )
    found: list[range] = []
    for start, stop in sorted(pairs):
        if start < stop and (not found or found[-1].stop <= start):
            found.append(
                range(start, stop, draw(st.integers(-(-(stop - start) // 30), stop - start)))
            )
    return found


def _index(grid: Grid | Decimals, number: float | Fraction) -> int:
    """Return the nearest index of a number, of decimals by bisection of their borders alone."""
    if isinstance(grid, Grid):
        return grid._index(number)
    return bisect_right(range(1, grid.size), number, key=grid.border)


@pytest.mark.parametrize(("engine", "kind"), crossed(ENGINES, VALUES, "decimals"))
def test_counts_on_a_grid_are_those_of_its_definition(
    engine: str, kind: str, tmp_path: Path
) -> None:
    of, strategy = VALUES[kind]
    many = {"polars": 40, "spark": 3, "postgresql": 20}[engine]

    @settings(max_examples=many, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(GRIDS), st.lists(st.none() | strategy, max_size=20), st.data())
    def check(grid: Grid | Decimals, values: list[Any], data: Any) -> None:
        column = pa.array(values, of)
        source = on_grid(ENGINES[engine](pa.table({"x": column}), tmp_path), "x", grid)
        if source is None:
            return
        held = [x for x in column.to_pylist() if x is not None and x == x]
        indices = [_index(grid, x if isinstance(x, float) else Fraction(x)) for x in held]
        parts = data.draw(parts_of(grid.size))
        for part, records in zip(parts, source.histogram(parts), strict=True):
            inside = [
                (i - part.start) // part.step for i in indices if i in range(part.start, part.stop)
            ]
            assert records.tolist() == np.bincount(inside, minlength=len(part)).tolist()
        points, each = source.points(parts)
        told = sorted(
            i for i, n in zip(points.tolist(), each.tolist(), strict=True) for _ in range(n)
        )
        assert told == sorted(i for i in indices if any(p.start <= i < p.stop for p in parts))

    check()


@pytest.mark.parametrize("kind", VALUES)
def test_most_grids_are_served(kind: str) -> None:
    data = pl.LazyFrame({"x": []}, {"x": pl.from_arrow(pa.array([], VALUES[kind][0])).dtype})  # type: ignore[union-attr]
    assert sum(on_grid(data, "x", grid) is not None for grid in GRIDS) >= 5


def test_frames_in_memory_are_not_asked() -> None:
    frame = pl.DataFrame({"x": [1.0], "t": ["a"]})
    assert on_grid(frame, "x", GRIDS[0]) is None
    assert isinstance(on_grid(frame.lazy(), "x", GRIDS[0]), GridCounts)
    with pytest.raises(UnreadableData, match="not a column of numbers"):
        on_grid(frame.lazy(), "t", GRIDS[0])
    assert on_grid(pl.LazyFrame({"x": [2**64 - 1]}, {"x": pl.UInt64}), "x", GRIDS[0]) is None


def test_a_median_of_spark_brings_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    table = spark().range(200_000).selectExpr("CAST(id * 7 % 200000 AS DOUBLE) / 10 AS x")
    from pyspark.sql.classic.dataframe import DataFrame

    fetched: list[int] = []
    original = DataFrame.toArrow

    def counting(self: Any) -> Any:
        found = original(self)
        fetched.append(found.num_rows)
        return found

    monkeypatch.setattr(DataFrame, "toArrow", counting)
    monkeypatch.setattr(DataFrame, "collect", None)
    answer = discreet.median(table, "x", candidates=Grid(0, 20_000, "0.001"), epsilon=10)
    assert math.isclose(answer.value, 10_000, abs_tol=50)
    assert fetched
    assert sum(fetched) < 20_000


def counts_between(query: str, cuts: tuple[int, ...]) -> CutCounts:
    relation: Any = duckdb.sql(query)
    native = InDuckDB(relation)
    of = InDuckDB(relation).type(CELL, "x")
    return CutCounts(native.rows(), of, native.fetch, CutCells(cuts), UnreadableData("it failed"))


def test_cells_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_counts, "AT_ONCE", 3)
    cuts = tuple(range(10, 100, 10))
    source = counts_between("SELECT unnest([-5, 9, 10, 11, 55, 99, 1000]::BIGINT[]) AS cell", cuts)
    every = [2, 2, 0, 0, 0, 1, 0, 0, 0, 2]
    assert source.histogram([range(10)])[0].tolist() == every
    assert [h.tolist() for h in source.histogram([range(0, 4, 3), range(4, 10, 4), range(0)])] == [
        [4, 0], [1, 2], [],
    ]  # fmt: skip
    indices, counts = source.points([range(1, 5), range(5, 10)])
    assert indices.tolist() == [1, 5, 9]
    assert counts.tolist() == [2, 1, 2]
    indices, counts = source.occupancy(source.cells.nearest)
    assert indices.tolist() == [0, 1, 5, 9]
    assert counts.tolist() == [2, 2, 1, 2]


def test_cuts_beyond_the_type_are_compared_with_nothing() -> None:
    cuts = (-(2**70), -(2**63), 0, 2**63 - 1, 2**63, 2**70)
    ends = "SELECT unnest([-9223372036854775808, -1, 0, 9223372036854775807]::BIGINT[]) AS cell"
    [counts] = counts_between(ends, cuts).histogram([range(7)])
    values = np.array([-(2**63), -1, 0, 2**63 - 1])
    assert counts.tolist() == np.bincount(CutCells(cuts).nearest(values), minlength=7).tolist()
    empty: Any = counts_between("SELECT 1::BIGINT AS cell WHERE false", cuts)
    assert empty.histogram([range(7)])[0].tolist() == [0] * 7
    assert empty.points([range(7)])[0].tolist() == []
    assert counts_between("SELECT 1::BIGINT AS cell", ()).histogram([range(1)])[0].tolist() == [1]


def test_data_that_change_between_passes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_counts, "AT_ONCE", 1)
    sizes = iter([[1, 3], [1, 4]])
    monkeypatch.setattr(grid_counts, "cumulative_counts", lambda *_: next(sizes))
    with pytest.raises(UnreadableData, match="changed while they were read"):
        counts_between("SELECT 1::BIGINT AS cell", (5, 6)).histogram([range(3)])
