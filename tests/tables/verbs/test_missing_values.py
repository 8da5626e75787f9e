"""Records without a value as an answer and as a group: in every engine those of SQLite's `GROUP BY`."""

import datetime as dt
import itertools
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import WithMissing
from discreet.errors import InvalidArgument, InvalidCandidates, UnreadableData
from discreet.privacy.sensitivity import Neighbors
from discreet.selection.bins import read_cell_labels, read_columns
from discreet.selection.candidates import Labels
from discreet.tables.engines.key_counts import TableOfKeys
from discreet.tables.verbs.units import read_unit_query

from ...engines import ENGINES, crossed
from ...noisy import Numbers, largest_move, loss, numbers_behind

CITIES = ["Bern", "Basel", "None", "null", "", "NaN", "missing", "x", None, None]
SIZES = [0, 1, None, 7, None]
PRICES = [Decimal("0.50"), None, Decimal("1.00")]
DAYS = [dt.date(2020, 2, 29), None, None, dt.date(1970, 1, 1)]
TRUTHS = [True, None, False, None, None]
WEIGHTS = [0.5, None, float("nan"), 1.5, float("nan"), None, 0.5]
COLUMNS: dict[str, tuple[list[Any], Any]] = {
    "city": (CITIES, pa.string()),
    "size": (SIZES, pa.int64()),
    "price": (PRICES, pa.decimal128(9, 2)),
    "day": (DAYS, pa.date32()),
    "truth": (TRUTHS, pa.bool_()),
    "weight": (WEIGHTS, pa.float64()),
    "number": ([*range(11)], pa.int64()),
    "user": (["u", "v", "w", "v", "u", None, "w"], pa.string()),
}
ROWS = 140


def table() -> pa.Table:
    cells = {
        name: [values[place % len(values)] for place in range(ROWS)]
        for name, (values, _) in COLUMNS.items()
    }
    return pa.table({name: pa.array(cells[name], of) for name, (_, of) in COLUMNS.items()})


def in_sqlite(value: Any) -> Any:
    """A value, or a tuple of them, as SQLite has it."""
    if isinstance(value, tuple):
        return tuple(map(in_sqlite, value))
    if isinstance(value, Decimal):
        return float(value)
    return str(value) if isinstance(value, dt.date) else value


def of_sqlite(*columns: str, what: str = "count(*)") -> dict[Any, int]:
    """What SQLite answers by columns, NULL being a value of each; NaN is NULL there."""
    rows = [in_sqlite((*row.values(),)) for row in table().to_pylist()]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(COLUMNS)})")
        connection.executemany(f"INSERT INTO t VALUES ({','.join('?' * len(COLUMNS))})", rows)
        by = ", ".join(columns)
        answer = connection.execute(f"SELECT {what}, {by} FROM t GROUP BY {by}").fetchall()
    return {cell[0] if len(cell) == 1 else tuple(cell): number for number, *cell in answer}


def listed(column: str) -> list[Any]:
    """The values of a column, and None for those without one."""
    values = (None if one != one else one for one in COLUMNS[column][0])
    return [*dict.fromkeys(values)]


def as_sqlite(counts: dict[Any, int]) -> dict[Any, int]:
    return {in_sqlite(key): one for key, one in counts.items()}


TYPED = ["pandas", "polars", "duckdb", "parquet", "postgresql", "spark"]
"""One of each way in which rows are counted; `test_engines` has the others."""

PLANS = ["city", "size", "price", "day", "truth", "weight"]


@pytest.mark.parametrize(("engine", "column"), crossed([*TYPED, "csv"], PLANS, "city"))
def test_every_engine_groups_as_sqlite_does(engine: str, column: str, tmp_path: Path) -> None:
    data, values, exact = ENGINES[engine](table(), tmp_path), listed(column), 10**4
    if engine == "csv":  # an empty field is a missing one, and only texts are compared
        if column != "city":
            pytest.skip("a text file spells numbers in its own way")
        values.remove("")
    counts = discreet.counts(data, column, candidates=values, epsilon=exact).value
    sums = discreet.sum(
        data, "number", minimum=0, maximum=10, step=1, by=column, groups=values, epsilon=exact
    ).value
    truth, totals = of_sqlite(column), of_sqlite(column, what="sum(number)")
    if engine == "csv":
        truth[None] += truth.pop("")
        totals[None] += totals.pop("")
    assert as_sqlite(counts) == truth
    assert as_sqlite(sums) == totals
    assert counts[None] > 0


def test_only_what_is_asked_for_is_counted() -> None:
    data, exact = table(), 10**4
    alone = discreet.counts(data, "city", candidates=[None], epsilon=exact)
    assert alone.value == {None: 28}
    assert discreet.mode(data, "city", candidates=["Bern", None], epsilon=exact).value is None
    best = discreet.top_k(data, "city", candidates=["Bern", None, "x"], k=2, epsilon=exact)
    assert best.value == [None, "Bern"]
    where = discreet.counts(
        data, "city", candidates=["Bern", None], where="size IS NULL", epsilon=exact
    )
    assert where.value == {"Bern": 0, None: 14}
    assert discreet.count(data, where="city IS NULL", epsilon=exact).value == 28


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT, Decimal("nan")])
def test_all_that_stands_for_no_value_is_none(missing: Any) -> None:
    cells = ["a", None, float("nan"), pd.NA, pd.NaT, "None", "nan", "<NA>"]
    counts = discreet.counts(cells, candidates=["a", missing], epsilon=10**4).value
    assert counts == {"a": 1, None: 4}


@pytest.mark.parametrize(
    "missing",
    [
        np.float16("nan"),
        np.float32("nan"),
        np.datetime64("NaT"),
        np.timedelta64("NaT"),
        Decimal("sNaN"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_objects_of_numpy_without_a_value_are_none(missing: Any) -> None:
    cells_of_x = pd.Series(["a", missing, None], dtype=object)
    data, exact = pd.DataFrame({"x": cells_of_x, "y": 1}), 10**4
    alone = discreet.counts(data, "x", candidates=["a", None], epsilon=exact).value
    cells = {"x": ["a", None], "y": [1]}
    beside = discreet.counts(data, ["x", "y"], candidates=cells, epsilon=exact).value
    assert alone == {"a": 1, None: 2}
    assert beside == {("a", 1): 1, (None, 1): 2}
    assert discreet.count(data, where="x IS NULL", epsilon=exact).value == 2


def test_verbs_by_groups_without_a_value() -> None:
    data, exact = pl.from_arrow(table()), 10**4
    terms: dict[str, Any] = {"by": "city", "groups": ["Bern", None], "epsilon": exact}
    assert discreet.count(data, **terms).value == {"Bern": 14, None: 28}
    mean = discreet.mean(data, "number", minimum=0, maximum=10, **terms).value
    assert [*mean] == ["Bern", None]
    grid = discreet.Grid(0, 10)
    assert [*discreet.median(data, "number", candidates=grid, **terms).value] == ["Bern", None]
    units = discreet.count(data, privacy_unit="user", max_groups=2, **terms).value
    assert units == {"Bern": 3, None: 3}


def test_json_holds_null_and_frames_hold_none() -> None:
    release = discreet.counts(["a", None, "None"], candidates=["a", "None", None], epsilon=10**4)
    assert release.as_dict()["value"] == [
        {"key": "a", "type": "text", "value": 1},
        {"key": "None", "type": "text", "value": 1},
        {"key": None, "type": "missing", "value": 1},
    ]
    assert release.to_pandas()["value"].isna().tolist() == [False, False, True]


REFUSED: dict[str, tuple[Any, str]] = {
    "twice": (lambda: discreet.counts(["a"], candidates=[None, np.nan], epsilon=1), "None is there twice"),
    "numbers": (lambda: discreet.median([1], candidates=[1, None], epsilon=1), "must not be missing"),
    "scores": (lambda: discreet.select([1, 2], candidates=["a", None], sensitivity=1, epsilon=1),
               "must not be missing"),
    "labels": (lambda: Labels(["a", float("nan")]), "must not be missing"),
}  # fmt: skip


@pytest.mark.parametrize("plan", REFUSED)
def test_refusals_come_before_the_data(plan: str) -> None:
    ask, words = REFUSED[plan]
    with pytest.raises(InvalidArgument, match=words):
        ask()


def test_the_empty_text_of_a_file_is_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(b'id,city\n1,a\n2,\n3,""\n4,NA\n5,None\n6,\xff\n7,null\n')
    assert discreet.counts(file, "city", candidates=["a", None], epsilon=10**4).value[None] == 2
    with_markers = discreet.scan_csv(file, missing=["NA", "null"])
    values = ["None", None]
    counts = discreet.counts(with_markers, "city", candidates=values, epsilon=10**4).value
    assert counts == {"None": 1, None: 4}
    with pytest.raises(InvalidCandidates, match="'' and None are one value"):
        discreet.counts(file, "city", candidates=["", None], epsilon=1)


# --- neighbours: one record changed at will

UNIVERSE = ["a", "b", None, "None"]
ASKED = Labels(["a", None], null=True)


def counts_of(cells: list[Any], users: list[str], most: int | None, **terms: Any) -> list[int]:
    """The counts that noise is added to."""
    data = pl.DataFrame([pl.Series("city", cells, pl.String), pl.Series("user", users, pl.String)])
    query = read_unit_query({"epsilon": 1, **terms}).with_candidates(ASKED.size, most)
    return query.columns(data, "city")[0].count(ASKED)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_row_moves_one_count(neighbors: Neighbors) -> None:
    """Every table of up to two rows, with every row that comes to it, or takes the place of one."""
    tables = [
        [*rows] for size in (0, 1, 2) for rows in itertools.product(UNIVERSE[:3], repeat=size)
    ]
    largest = 0
    for rows in tables:
        after = [
            counts_of([*rows, one], ["u"] * (len(rows) + 1), None, neighbors=neighbors)
            for one in UNIVERSE
        ]
        before = counts_of(rows, ["u"] * len(rows), None, neighbors=neighbors)
        largest = max(largest, largest_move(before, after, neighbors))
    assert largest == {"add_remove": 1, "replace_one": 2}[neighbors]


@pytest.mark.parametrize("most", [1, 2])
def test_a_unit_moves_as_many_counts_as_are_declared(most: int) -> None:
    others = (["a", None, "b"], ["u", "u", "w"])
    base = counts_of(*others, most, privacy_unit="user")
    coming = [
        counts_of([*others[0], *rows], [*others[1], *["v"] * len(rows)], most, privacy_unit="user")
        for size in (1, 2, 3)
        for rows in itertools.combinations(UNIVERSE, size)
    ]
    moves = [[two - one for one, two in zip(base, after, strict=True)] for after in coming]
    assert {one for each in moves for one in each} == {0, 1}
    assert max(map(sum, moves)) == most
    replaced = (
        sum(abs(x - y) for x, y in zip(*pair, strict=True))
        for pair in itertools.combinations(coming, 2)
    )
    assert max(replaced) == min(2 * most, ASKED.size)


OWN_ROWS = [
    rows
    for size in (1, 2, 3)
    for rows in itertools.combinations_with_replacement(["a", "b", None], size)
]


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("by", ["city", WithMissing("city")])
@pytest.mark.one_in(2)
def test_groups_with_none_cost_a_unit_no_more_than_epsilon(by: Any, most: int) -> None:
    """Units of up to three rows, which come or take the place of one another: each number by its own noise."""

    def behind(rows: Sequence[Any], neighbors: Neighbors) -> list[Numbers]:
        cells = pl.Series("city", ["a", None, "b", *rows], pl.String)
        users = pl.Series("user", ["u", "u", "w", *["v"] * len(rows)], pl.String)
        terms: Any = {"privacy_unit": "user", "max_groups": most, "neighbors": neighbors}
        listed = ["a", "b", None] if by == "city" else ["a", "b"]
        data = pl.DataFrame([cells, users])
        return numbers_behind(discreet.count, data, by=by, groups=listed, epsilon=1, **terms)

    base = behind((), "add_remove")
    assert max(loss(base, behind(rows, "add_remove")) for rows in OWN_ROWS) == 1
    replaced = [behind(rows, "replace_one") for rows in OWN_ROWS]
    assert max(loss(*pair) for pair in itertools.combinations(replaced, 2)) == 1


# --- several columns, and values that nobody lists

PAIRS: dict[str, tuple[str, str]] = {
    "texts": ("city", "user"),
    "integer-text": ("size", "city"),
    "decimal-truth": ("price", "truth"),
    "day-text": ("day", "user"),
}


@pytest.mark.parametrize(("engine", "plan"), crossed(TYPED, PAIRS, "texts"))
def test_every_engine_groups_by_two_columns_as_sqlite_does(
    engine: str, plan: str, tmp_path: Path
) -> None:
    names, data = [*PAIRS[plan]], ENGINES[engine](table(), tmp_path)
    values = {name: listed(name) for name in names}
    counts = discreet.counts(data, names, candidates=values, epsilon=10**4).value
    assert as_sqlite({cell: one for cell, one in counts.items() if one}) == of_sqlite(*names)
    some = [(None, None), (values[names[0]][0], None)]
    by = discreet.count(data, by=names, groups=some, epsilon=10**4).value
    assert by == {cell: counts[cell] for cell in some}
    without = [[one for one in values[name] if one is not None] for name in names]
    fewer = dict(zip(names, without, strict=True))
    assert discreet.counts(data, names, candidates=fewer, epsilon=10**4).value == {
        cell: one for cell, one in counts.items() if None not in cell
    }


@pytest.mark.parametrize(("engine", "plan"), crossed(TYPED, PAIRS, "texts"))
def test_what_nobody_lists_has_records_without_a_value(
    engine: str, plan: str, tmp_path: Path
) -> None:
    first, second = PAIRS[plan]
    data = ENGINES[engine](table(), tmp_path)
    terms: dict[str, Any] = {"epsilon": 10**4, "delta": "1e-9"}
    truth = of_sqlite(first)
    counts = discreet.counts(data, WithMissing(first), **terms).value
    assert as_sqlite(counts) == truth
    assert None in counts
    drawn = discreet.count(data, by=WithMissing(first), groups="private", **terms).value
    assert as_sqlite(drawn) == truth
    keys = discreet.keys(data, [first, WithMissing(second)], **terms).value
    assert {*map(in_sqlite, keys)} == {
        cell for cell, one in of_sqlite(first, second).items() if one > 1 and cell[0] is not None
    }
    assert any(cell[1] is None for cell in keys)
    alone = discreet.counts(data, first, **terms).value
    assert alone == {key: one for key, one in counts.items() if key is not None}


def test_empty_fields_of_a_file_are_none_if_it_is_said(tmp_path: Path) -> None:
    data = ENGINES["csv"](table(), tmp_path)
    terms: dict[str, Any] = {"epsilon": 10**4, "delta": "1e-9"}
    plain = discreet.counts(data, "city", **terms).value
    counts = discreet.counts(data, WithMissing("city"), **terms).value
    assert counts == {None if key == "" else key: one for key, one in plain.items()}
    pairs = discreet.counts(
        data,
        ["city", "size"],
        candidates={"city": ["Bern", None], "size": [0, None]},
        epsilon=10**4,
    ).value
    cells = [*zip(*(table()[name].to_pylist() for name in ("city", "size")), strict=True)]
    assert pairs["Bern", None] == cells.count(("Bern", None))
    assert pairs[None, None] == cells.count((None, None)) + cells.count(("", None))


def test_a_listed_column_with_missing_has_none_besides() -> None:
    exact: dict[str, Any] = {"epsilon": 10**4}
    city, data = WithMissing("city"), table()
    assert discreet.counts(data, city, candidates=["Bern"], **exact).value == {"Bern": 14, None: 28}
    same = discreet.counts(data, city, candidates={"city": ["Bern", None]}, **exact)
    assert same.value == {"Bern": 14, None: 28}
    by = discreet.count(data, by=city, groups=["Bern"], **exact)
    assert by.value == {"Bern": 14, None: 28}
    best = discreet.top_k(data, city, candidates=["Bern", "x"], k=1, **exact)
    assert best.value == [None]
    with pytest.raises(InvalidArgument, match="mode answers None"):
        discreet.mode(data, city, candidates="private", epsilon=1, delta="1e-9")
    with pytest.raises(UnreadableData, match="in bins"):
        discreet.keys(data, WithMissing("weight"), epsilon=1, delta="1e-9")


@pytest.mark.parametrize("cells", [["-", ""], ["1:a", "a"], ["-1:a"], ["0:", None], ["--"]])
def test_no_text_is_taken_for_no_value(cells: list[Any]) -> None:
    """Every pair of these cells and none has a text of its own, and is read as it was."""
    values = [*cells, None, "b"]
    rows = [*itertools.product(values, repeat=2)]
    for data in (
        {"x": [one for one, _ in rows] * 5, "y": [two for _, two in rows] * 5},
        pl.DataFrame({"x": [one for one, _ in rows] * 5, "y": [two for _, two in rows] * 5}),
    ):
        keys = discreet.counts(
            data, [WithMissing("x"), WithMissing("y")], epsilon=10**4, delta="1e-9"
        ).value
        assert keys == {row: 5 * rows.count(row) for row in rows}


@pytest.mark.parametrize("most", [1, 2])
def test_a_unit_moves_as_many_keys_as_are_declared(most: int) -> None:
    """What a unit adds to the counts of keys: 1 to so many of them, and nothing to others."""
    others = [("a", "u"), (None, "u"), ("b", "w")]

    def pairs(rows: list[tuple[Any, str]]) -> set[Any]:
        data = pa.table({"x": [one for one, _ in rows], "user": [user for _, user in rows]})
        of = TableOfKeys(data, read_columns(WithMissing("x")), "user", most).open()
        return {*of.native.cells(of.pairs.select("person", "cell"))}

    base = pairs(others)
    for size in (1, 2, 3):
        for cells in itertools.combinations(UNIVERSE, size):
            after = pairs([*others, *((one, "v") for one in cells)])
            assert base < after
            assert len(after - base) == min(most, size)


CELLS = {"city": ["a", None], "drink": ["t", None]}
ROWS_OF_TWO = [(city, drink) for city in ("a", "b", None) for drink in ("t", None)]


def cell_counts(rows: list[tuple[Any, Any, str]], most: int | None, **terms: Any) -> list[int]:
    """The counts that noise is added to, of rows of a city, a drink and a user."""
    names = ["city", "drink", "user"]
    columns = zip(*rows, strict=True)
    texts = [pl.Series(name, own, pl.String) for name, own in zip(names, columns, strict=True)]
    data = pl.DataFrame(texts)
    cells = read_columns(names[:2])
    labels = read_cell_labels(cells, CELLS)
    query = read_unit_query({"epsilon": 1, **terms}).with_candidates(labels.size, most)
    return query.columns(data, cells)[0].count(labels)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_row_moves_one_cell(neighbors: Neighbors) -> None:
    others = [("a", None, "u"), (None, None, "u"), ("b", None, "u")]
    base = cell_counts(others, None, neighbors=neighbors)
    after = [cell_counts([*others, (*row, "v")], None, neighbors=neighbors) for row in ROWS_OF_TWO]
    assert largest_move(base, after, neighbors) == {"add_remove": 1, "replace_one": 2}[neighbors]
    assert sum(map(sum, after)) == len(after) * sum(base) + 4  # of six rows four have a listed cell


@pytest.mark.parametrize("most", [1, 2])
def test_a_unit_moves_as_many_cells_as_are_declared(most: int) -> None:
    others = [("a", None, "u"), (None, None, "u"), ("a", "t", "w")]
    base = cell_counts(others, most, privacy_unit="user")
    coming = [
        cell_counts([*others, *((*row, "v") for row in rows)], most, privacy_unit="user")
        for size in (1, 2, 3)
        for rows in itertools.combinations(ROWS_OF_TWO, size)
    ]
    moves = [[two - one for one, two in zip(base, after, strict=True)] for after in coming]
    assert {one for each in moves for one in each} == {0, 1}
    assert max(map(sum, moves)) == most


@pytest.mark.parametrize("engine", ["pandas", "polars", "duckdb", "postgresql"])
def test_numbers_of_drawn_groups_have_records_without_a_value(engine: str, tmp_path: Path) -> None:
    data = ENGINES[engine](table(), tmp_path)
    terms: dict[str, Any] = {"epsilon": 10**4, "delta": "1e-9", "groups": "private"}
    ends: dict[str, Any] = {"minimum": 0, "maximum": 10, "step": 1}
    sums = discreet.sum(data, "number", by=WithMissing("size"), **ends, **terms).value
    assert sums == of_sqlite("size", what="sum(number)")
    terms["epsilon"] = 10**7  # a unit has many rows
    of_units: dict[str, Any] = {"privacy_unit": "user", "max_groups": 4, "max_contributions": 99}
    by = discreet.sum(data, "number", by=WithMissing("size"), **ends, **of_units, **terms).value
    rows = [row for row in table().to_pylist() if row["user"] is not None]
    assert by == {
        size: sum(row["number"] for row in rows if row["size"] == size) for size in listed("size")
    }
