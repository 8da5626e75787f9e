"""Counting on a grid in an engine: exactly the cells of `Grid.nearest`, whatever the column's type."""

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Grid
from discreet.errors import MissingColumn, UnreadableData
from discreet.tables import engines as tables
from discreet.tables.engines import cells
from discreet.tables.engines.cells import GridThresholds, constant
from discreet.tables.engines.column import ArrayColumn, Source
from discreet.tables.engines.in_duckdb import InDuckDB
from discreet.tables.scores import rank_search as brackets
from discreet.tables.scores.rank import Rank
from discreet.tables.values.kinds import ColumnType

from ...columns import OnGrid, on_grid

CONNECTION = duckdb.connect()
GRIDS = [
    Grid(0, 120), Grid(0, 1, "0.1"), Grid(-5, 5, "1/3"), Grid("0.05", "0.95", "0.1"), Grid(-7, 35, 7),
    Grid(-(10**6), 10**6, "0.25"), Grid(0, 10**12, "0.001"), Grid(0, 2**60), Grid(3, 3),
    Grid("0.2", "0.4", "0.001"),
    Grid(2**53 - 4, 2**53 + 4, "1/2"), Grid(-(2**64), 2**64, 2**50), Grid(-300, -100, "0.5"), Grid(0, 2**70, "1/2"),
    Grid(10**30, 10**30 + 8), Grid(-(2**300), 2**300, 2**290), Grid("0.15", "0.45", "1e-12"),
]  # fmt: skip
TYPES = {
    "TINYINT": (-128, 127), "SMALLINT": (-(2**15), 2**15 - 1), "INTEGER": (-(2**31), 2**31 - 1),
    "BIGINT": (-(2**63), 2**63 - 1), "HUGEINT": (-(2**127), 2**127 - 1), "UTINYINT": (0, 255),
    "UBIGINT": (0, 2**64 - 1), "UINTEGER": (0, 2**32 - 1),
}  # fmt: skip
NEAR = st.integers(-400, 400)
DOUBLES = (
    st.floats(allow_nan=True)
    | st.floats(-10, 10)
    | NEAR.map(lambda k: k / 20)
    | NEAR.map(lambda k: math.nextafter(k / 20, math.inf))
    | NEAR.map(lambda k: math.nextafter(k / 20, -math.inf))
)


def relation(kind: str, values: list[Any]) -> Any:
    texts = [None if value is None else str(value) for value in values]
    query = f"SELECT CAST(unnest($texts::VARCHAR[]) AS {kind}) AS x"
    return CONNECTION.sql(query, params={"texts": texts})


def parts_of(size: int, data: Any) -> list[range]:
    """Return up to three parts of the grid in order, cut into up to thirty cells."""
    if data.draw(st.booleans()):
        return [range(0, size, data.draw(st.integers(-(-size // 30), size)))]
    ends = st.integers(0, size) | st.integers(0, min(size, 130))
    cuts = sorted(data.draw(st.sets(ends, min_size=2, max_size=6)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return [range(a, b, data.draw(st.integers(-(-(b - a) // 30), b - a))) for a, b in pairs]


def check(source: Any, grid: Grid, exact: list[Any], parts: list[range]) -> None:
    """The engine's answers are those of the grid's own definition."""
    indices = [grid._index(value) for value in exact]
    counts = source.histogram(parts)
    for part, records in zip(parts, counts, strict=True):
        inside = [i for i in indices if part.start <= i < part.stop]
        assert [int(n) for n in records] == np.bincount(
            [(i - part.start) // part.step for i in inside], minlength=len(part)
        ).tolist()
    points, each = source.points(parts)
    told = sorted(i for i, n in zip(points.tolist(), each.tolist(), strict=True) for _ in range(n))
    assert told == sorted(i for i in indices if any(p.start <= i < p.stop for p in parts))


@given(st.sampled_from(GRIDS), st.lists(DOUBLES | st.none(), max_size=20), st.data())
def test_doubles(grid: Grid, values: list[Any], data: Any) -> None:
    source = on_grid(relation("DOUBLE", values), "x", grid)
    if source is not None:
        exact = [x for x in values if x is not None and not math.isnan(x)]
        check(source, grid, exact, parts_of(grid.size, data))


@given(
    st.sampled_from(GRIDS),
    st.lists(
        st.floats(width=32) | st.floats(-10, 10, width=32) | NEAR.map(lambda k: k / 20), max_size=20
    ),
    st.data(),
)
def test_floats_of_32_bits(grid: Grid, values: list[float], data: Any) -> None:
    source = on_grid(relation("FLOAT", values), "x", grid)
    if source is not None:
        held = np.array(values).astype(np.float32).tolist()
        check(source, grid, [x for x in held if not math.isnan(x)], parts_of(grid.size, data))


@given(st.sampled_from(GRIDS), st.sampled_from(sorted(TYPES)), st.data())
def test_integers(grid: Grid, kind: str, data: Any) -> None:
    low, high = TYPES[kind]
    numbers = (
        st.integers(low, high) | st.integers(max(low, -12), 120) | st.sampled_from([low, high])
    )
    values = data.draw(st.lists(numbers, max_size=20))
    source = on_grid(relation(kind, [*values, None]), "x", grid)
    if source is not None:
        check(source, grid, values, parts_of(grid.size, data))


@given(
    st.sampled_from(GRIDS),
    st.sampled_from([(4, 2), (9, 0), (18, 3), (38, 5), (38, 38)]),
    st.data(),
)
def test_decimals(grid: Grid, digits: tuple[int, int], data: Any) -> None:
    top = 10 ** digits[0] - 1
    units = st.integers(-top, top) | st.integers(max(-5000, -top), min(5000, top))
    values = [Fraction(u, 10 ** digits[1]) for u in data.draw(st.lists(units, max_size=20))]
    of = ColumnType("x", "decimal", "", scale=digits[1])
    texts = [f"{constant(int(value * 10 ** digits[1]), of):f}" for value in values]
    source = on_grid(relation(f"DECIMAL({digits[0]}, {digits[1]})", texts), "x", grid)
    if source is not None:
        check(source, grid, values, parts_of(grid.size, data))


def test_most_grids_are_served() -> None:
    """Else the tests above say little."""
    served = {
        kind: sum(on_grid(relation(kind, []), "x", grid) is not None for grid in GRIDS)
        for kind in ["DOUBLE", "FLOAT", "BIGINT", "HUGEINT", "DECIMAL(18, 3)"]
    }
    assert all(n >= 11 for n in served.values()), served


@given(st.sampled_from(GRIDS), st.sampled_from(["<e", "<f", "<d"]), st.data())
def test_thresholds_are_the_least(grid: Grid, layout: str, data: Any) -> None:
    """Of a floating-point type: the threshold has the index, the number before it does not."""
    thresholds = GridThresholds(grid, ColumnType("x", "float", "", layout=layout))
    index = data.draw(st.integers(1, max(grid.size - 1, 1)))
    least: Any = thresholds.least([index])[0]
    number: Any = {"<e": np.float16, "<f": np.float32, "<d": np.float64}[layout](least)
    border = thresholds.border(index)
    assert least == number
    assert math.isinf(least) or Fraction(float(number)) >= border
    with np.errstate(all="ignore"):
        before = float(np.nextafter(number, number.dtype.type(-math.inf)))
    assert math.isinf(before) or Fraction(before) < border


@pytest.fixture
def queries() -> Iterator[dict[str, int]]:
    """Count what is asked of the engine and what comes out of it."""
    seen = {"queries": 0, "rows": 0}

    fetched = InDuckDB.fetch

    def counted(*arguments: Any) -> Any:
        columns = fetched(*arguments)
        seen["queries"] += 1
        seen["rows"] += len(columns[0])
        return columns

    with patch.object(InDuckDB, "fetch", counted):
        yield seen


def grouped(source: Any) -> Any:
    """Return the counts that the engine groups, where the kernel would count."""
    edges = getattr(source, "edges", source)
    return getattr(edges, "engine", edges)


def test_neighbours_on_both_sides_of_a_border_cost_one_more_query(queries: dict[str, int]) -> None:
    above = math.nextafter(0.35, 1)
    values = [0.35, 0.35, above, 0.7]
    source = grouped(on_grid(relation("DOUBLE", values), "x", Grid(0, 1, "0.1")))
    [counts] = source.histogram([range(0, 11)])
    assert counts.tolist() == [0, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0]  # the double 0.35 is below 35/100
    assert queries == {"queries": 2, "rows": 4}


@pytest.mark.parametrize(("rate", "shift"), [(0.0, 0.0), (3.0, 0.4), (-1.0, 2.0)])
def test_the_guess_decides_nothing(rate: float, shift: float, queries: dict[str, int]) -> None:
    """An engine whose arithmetic is wrong groups the wrong records, and still counts right."""
    values = [0.05, 0.35, 0.36, 0.349, 0.9, 5.0, -1.0]
    original = cells.Piece

    def wrong(start: Any, stop: Any, ends: Any, *rest: Any) -> Any:
        return original(start, stop, ends, rest[0] * rate, shift, rest[2])

    source = grouped(on_grid(relation("DOUBLE", values), "x", Grid(0, 1, "0.1")))
    with patch.object(cells, "Piece", wrong):
        check(source, Grid(0, 1, "0.1"), values, [range(0, 3, 2), range(3, 11)])
    assert 2 <= queries["queries"] <= 3


RNG = np.random.default_rng(5)
FILES = {
    "normal": pa.array(RNG.standard_normal(4000) * 1000),
    "tied": pa.array(np.round(RNG.standard_normal(4000) * 5) / 20),
    "special": pa.array([math.nan, math.inf, -math.inf, None, 1.5, 2.5] * 50),
    "words": pa.array(RNG.integers(-(2**62), 2**62, 3000)),
    "unsigned": pa.array(RNG.integers(0, 2**64, 3000, dtype=np.uint64)),
    "decimals": pa.array([Decimal(int(k)) / 100 for k in RNG.integers(0, 10**5, 2000)]),
    "nothing": pa.array([], type=pa.float64()),
    "nulls": pa.array([None, None], type=pa.int32()),
}


def write(column: pa.Array, file: Path) -> Path:
    """Write the numbers to a Parquet file, or as text to a CSV file, among fields that are no numbers."""
    if file.suffix == ".parquet":
        pq.write_table(pa.table({"x": column}), file)
        return file
    fields = ["" if x is None else str(x) for x in column.to_pylist()]
    file.write_text(
        "\n".join(["n,x", *(f"{i},{field}" for i, field in enumerate(fields)), "0,?", "0"])
    )
    return file


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "grid", [Grid(-1000, 1000, "0.001"), Grid(0, 2**40), Grid(-5, 5), Grid(0, 100, "0.1")]
)
@pytest.mark.one_in(13)
def test_files_have_the_law_of_their_rows(
    name: str, ending: str, grid: Grid, tmp_path: Path, queries: dict[str, int]
) -> None:
    """The same runs near the quantile as from memory, few queries, few rows."""
    file, cutoff_gap = write(FILES[name], tmp_path / f"t.{ending}"), Fraction(160)
    with patch.multiple(brackets, FIRST=64, FURTHER=16):
        for alpha in (Fraction(1, 2), Fraction(9, 10), Fraction(0)):
            queries.update(queries=0, rows=0)
            source = on_grid(file, "x", grid)
            assert source is not None
            score = Rank(OnGrid(source), grid, alpha)
            near: Any = score.compute(cutoff_gap)
            passes = len(brackets.cell_widths(grid.size))
            assert queries["queries"] <= passes + 1
            assert queries["rows"] <= 2 * (64 + (passes - 1) * 90) + 4 * (
                160 // alpha.denominator + 2
            )
            whole: Any = Rank(ArrayColumn(tables.numbers(file, "x")), grid, alpha).compute(
                Fraction(10**9)
            )
            full = dict(
                zip(
                    map(int, whole.starts),
                    zip(map(int, whole.sizes), whole.tops.values, strict=True),
                    strict=True,
                )
            )
            for c in range(len(near)):
                if near.summaries is None or not near.summaries[c]:
                    start, size, top = int(near.starts[c]), int(near.sizes[c]), near.tops.values[c]
                    within = max(s for s in full if s <= start)
                    assert full[within][1] == top
                    assert start + size <= within + full[within][0]


def test_a_file_and_its_rows_answer_alike(tmp_path: Path) -> None:
    values = FILES["normal"].to_numpy()
    pq.write_table(pa.table({"x": FILES["normal"]}), tmp_path / "t.parquet")
    grid = Grid(-(10**4), 10**4, "0.00001")
    for mechanism in ("exponential", "permute_and_flip"):
        middle = float(np.median(values))
        found = discreet.median(
            tmp_path / "t.parquet", "x", candidates=grid, epsilon=5, mechanism=mechanism
        )
        assert abs(float(found.value) - middle) < 20
    relation = CONNECTION.read_parquet(str(tmp_path / "t.parquet"))
    assert (
        abs(float(discreet.median(relation, "x", candidates=grid, epsilon=5).value) - middle) < 20
    )


def test_a_csv_file_is_parsed_once_and_not_before_it_is_asked(tmp_path: Path) -> None:
    file = write(FILES["normal"], tmp_path / "t.csv")
    column = Source(file, "x").groups[0]
    whole = file.read_text()
    file.write_text(whole + "1,1e9\n1,1e9\n")
    source: Any = column.on_grid(Grid(-1000, 1000, "0.01"))
    [before] = source.histogram([range(0, 200_001)])
    file.write_text(whole)
    [after] = source.histogram([range(0, 200_001)])
    assert before.sum() == after.sum() == len(FILES["normal"]) + 2


def test_what_is_no_number_is_refused_as_before(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": ["a"], "b": [True]}), tmp_path / "t.parquet")
    for column in ("x", "b"):
        with pytest.raises(UnreadableData):
            discreet.median(tmp_path / "t.parquet", column, candidates=Grid(0, 9), epsilon=1)
    with pytest.raises(MissingColumn):
        discreet.median(tmp_path / "t.parquet", "y", candidates=Grid(0, 9), epsilon=1)
    assert on_grid(pa.table({"x": [1, 2]}), "x", Grid(0, 9)) is None


def test_numbers_of_a_file_are_not_rounded(tmp_path: Path) -> None:
    """Decimals and integers of 128 bits come to memory as they are."""
    exact = Decimal("12345678901234567890.123")
    pq.write_table(pa.table({"x": pa.array([exact, None])}), tmp_path / "t.parquet")
    assert tables.numbers(tmp_path / "t.parquet", "x").tolist() == [Fraction(exact)]


def test_an_engine_that_fails_says_nothing_of_the_data() -> None:
    failing = CONNECTION.sql("SELECT CAST(x AS DOUBLE) AS x FROM (VALUES ('1'), ('s3cr3t')) t(x)")
    with pytest.raises(UnreadableData) as caught:
        discreet.median(failing, "x", candidates=Grid(0, 9), epsilon=1)
    assert "s3cr3t" not in str(caught.value)
    assert caught.value.__context__ is None
