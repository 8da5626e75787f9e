"""Which indices have records, counted in the engine: the same as from the rows, for any grid and type."""

import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Grid
from discreet.tables.engines import cells, numbers
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.scores.rank_search import distinct_indices
from discreet.tables.scores.revenue import Revenue, _highest_paid, borders, highest_paid, places

from ... import engines
from ...columns import OnGrid, on_grid
from ...engines import TYPED

Make = Callable[[pa.Table], Any]


@pytest.fixture(autouse=True, scope="module")
def blocks_of_two() -> Any:
    """Let arrays of a few numbers have borders between blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.tables.scores.revenue._BIDS_AT_ONCE", 2)
        yield


@pytest.fixture(params=engines.ENGINES)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda table: engines.ENGINES[request.param](table, tmp_path)


COLUMNS = {
    "doubles": pa.array(
        [
            3.01,
            3.0,
            math.nextafter(3.01, 0),
            -0.0,
            math.inf,
            -math.inf,
            math.nan,
            None,
            2.995,
            1e300,
        ]
    ),
    "singles": pa.array([0.1, 2.5, 3.01, math.nan, None, math.inf, -7], pa.float32()),
    "integers": pa.array([3, 2, 2, None, 2**53 + 1, -(2**63), 2**63 - 1]),
    "unsigned": pa.array([3, 0, None, 2**64 - 1], pa.uint64()),
    "decimals": pa.array([Decimal("3.010"), Decimal("2.995"), None, Decimal("-1.000")]),
    "empty": pa.array([], pa.float64()),
}
GRIDS = [
    Grid(0, "3.5", "0.01"),
    Grid(0, 3),
    Grid("1/3", 10**9, "1/3"),
    Grid(0, 2**50),
    Grid(0, 2**63),
]


def tallied(found: tuple[Any, Any]) -> list[int]:
    indices, counts = found
    return sorted(np.repeat(indices, counts).tolist())


@pytest.mark.parametrize("of", COLUMNS)
@pytest.mark.parametrize("grid", GRIDS, ids=repr)
@pytest.mark.one_in(7)
def test_indices_are_those_of_the_rows(make: Make, of: str, grid: Grid) -> None:
    data = make(pa.table({"v": COLUMNS[of]}))
    rows = numbers(data, "v")
    source, between = on_grid(data, "v", grid), on_grid(data, "v", borders(grid))
    if source is not None:
        assert tallied(source.occupancy(grid.nearest)) == sorted(grid.nearest(rows).tolist())
    if between is not None:
        found = tallied(between.occupancy(partial(places, grid)))
        assert [i for i in found if i >= 0] == sorted(highest_paid(grid, rows).tolist())
    lists = [rows, rows.tolist()]
    laws = [
        discreet.distribution(discreet.best_price, one, candidates=grid, epsilon=1).runs
        for one in lists
    ]
    laws.append(
        discreet.distribution(discreet.best_price, data, "v", candidates=grid, epsilon=1).runs
    )
    assert laws[0] == laws[2]


ENGINES: list[Callable[[pl.DataFrame], Any]] = [
    pl.DataFrame.lazy,
    lambda table: duckdb.connect().from_arrow(table.to_arrow()),
]


@given(
    values=st.lists(st.floats(-2, 70) | st.integers(-10, 700).map(lambda n: n / 10), max_size=60),
    lo=st.fractions(0, 3, max_denominator=20),
    step=st.fractions(Fraction(1, 1000), 2, max_denominator=1000),
    size=st.integers(2, 2**30),
)
def test_any_grid(values: list[float], lo: Fraction, step: Fraction, size: int) -> None:
    grid, table = (
        Grid(lo, lo + (size - 1) * step, step),
        pl.DataFrame({"v": values}, {"v": pl.Float64}),
    )
    for engine in ENGINES:
        source, between = (on_grid(engine(table), "v", g) for g in (grid, borders(grid)))
        assert source is not None
        assert between is not None
        rows = np.array(values, dtype=np.float64)
        assert tallied(source.occupancy(grid.nearest)) == sorted(grid.nearest(rows).tolist())
        bids = Revenue(ArrayColumn(rows), grid).compute(Fraction(1))
        cells_ = Revenue(OnGrid(between), grid).compute(Fraction(1))
        assert list(bids.starts) == list(cells_.starts)
        assert [bids.tops.exact(i) for i in range(len(bids))] == [
            cells_.tops.exact(i) for i in range(len(cells_))
        ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_guess_that_is_wrong_decides_nothing(
    engine: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(7).uniform(-1, 11, 2000)
    grid, table = Grid(0, 10, "0.1"), pl.DataFrame({"v": rows})
    right = sorted(grid.nearest(rows).tolist())
    piece = cells._piece
    for rate, shift in ((0.1, 0.0), (1.01, 0.0), (1.0, 0.4), (0.0, 0.0)):

        def off(*given: Any, rate: float = rate, shift: float = shift) -> Any:
            from dataclasses import replace

            one = piece(*given)
            return replace(one, rate=one.rate * rate, shift=one.shift + shift)

        monkeypatch.setattr(cells, "_piece", off)
        source = on_grid(engine(table), "v", grid)
        assert source is not None
        assert tallied(source.occupancy(grid.nearest)) == right


@pytest.mark.parametrize("engine", ENGINES)
def test_hardly_more_than_the_cells_come_back(
    engine: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, add = list[int](), cells.Occupancy.add

    def counted(self: cells.Occupancy, groups: Any) -> list[int]:
        sent.append(len(groups))
        return add(self, groups)

    monkeypatch.setattr(cells.Occupancy, "add", counted)
    rows = np.random.default_rng(7).uniform(0, 10, 100_000)
    for step in ("1", "0.01"):
        for values in (rows, np.round(rows, 2)):
            grid = Grid(0, 10, step)
            source = on_grid(engine(pl.DataFrame({"v": values})), "v", borders(grid))
            assert source is not None
            edges: Any = getattr(source, "edges", source)  # where the kernel would count
            grouped: Any = getattr(edges, "engine", edges)
            grouped.occupancy(partial(places, grid))
    assert len(sent) == 4
    assert max(sent[:2]) <= 2 * 11
    assert max(sent) <= 2 * 1001


@pytest.mark.parametrize("engine", TYPED)
@pytest.mark.one_in(3)
def test_short_types_are_not_rounded(engine: str, tmp_path: Path) -> None:
    """Prices and quantiles of floats and integers in few bits, where arithmetic in those bits is wrong."""
    rows = np.random.default_rng(7)
    singles = pa.array(rows.uniform(0, 700, 3000).astype(np.float32))
    few = pa.array(rows.integers(-128, 128, 3000).astype(np.int8))
    grid = Grid("0.03", 700, "0.01")
    for column in (singles, few):
        data = TYPED[engine](pa.table({"v": column}), tmp_path)
        exact = column.to_pylist()
        between, source = on_grid(data, "v", borders(grid)), on_grid(data, "v", grid)
        if between is None or source is None:
            return
        found = distinct_indices(*between.occupancy(partial(places, grid)))
        expected = Counter(max(-1, _highest_paid(grid, x)) for x in exact)
        assert dict(zip(*(one.tolist() for one in found), strict=True)) == expected
        assert tallied(source.occupancy(grid.nearest)) == sorted(map(grid._index, exact))
