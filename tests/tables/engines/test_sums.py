"""Sums of indices: exact whatever their size, and the same from an engine and from memory."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Grid
from discreet.tables.engines.column import ArrayColumn, Histogram, Source
from discreet.tables.engines.sums import exact_sum, total_on_grid


@given(st.lists(st.integers(0, 2**62 - 1), max_size=30))
def test_sums_of_words_are_exact(numbers: list[int]) -> None:
    assert exact_sum(np.array(numbers, dtype=np.int64)) == sum(numbers)


def test_sums_of_many_and_of_large_integers_are_exact() -> None:
    most = 2**62 - 1
    assert exact_sum(np.full(2**20 + 5, most, dtype=np.int64)) == most * (2**20 + 5)
    assert exact_sum(np.array([2**80, 1], dtype=object)) == 2**80 + 1


VALUES = [0.1, 0.25, 0.35, -5.0, 7.5, 1e300, 0.1, 2.4999999999999996]
FROM: dict[str, Callable[[list[float]], Any]] = {
    "list": lambda values: Source(values, None).groups[0],
    "array": lambda values: ArrayColumn(np.array(values)),
    "polars": lambda values: Source(pl.LazyFrame({"v": values}), "v").groups[0],
    "duckdb": lambda values: Source(duckdb.from_arrow(pa.table({"v": values})), "v").groups[0],
    "histogram": lambda values: Histogram({v: values.count(v) for v in values}),
}


@pytest.mark.parametrize("where", FROM)
@pytest.mark.parametrize("grid", [Grid(0, 5, "0.1"), Grid(-1, 3, "1/3"), Grid(0, 10**15)])
def test_the_total_is_that_of_exact_arithmetic(where: str, grid: Grid) -> None:
    def index(value: float) -> int:
        clipped = min(max(Fraction(value), grid.lo), grid.hi)
        return int(((clipped - grid.lo) / grid.step + Fraction(1, 2)) // 1)

    number, total = total_on_grid(FROM[where](VALUES), grid)
    assert (number, total) == (len(VALUES), sum(map(index, VALUES)))
    assert total_on_grid(FROM[where](VALUES[:1]), grid) == (1, index(0.1))
