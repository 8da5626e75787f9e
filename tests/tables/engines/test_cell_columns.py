"""CellColumns of several columns and of bins: in every engine those of the definition in plain Python."""

import datetime as dt
import itertools
import json
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet
from discreet import Bins
from discreet.errors import InvalidArgument, InvalidCandidates, MissingColumn, UnreadableData
from discreet.privacy.sensitivity import Neighbors
from discreet.selection.bins import read_cell_labels, read_columns
from discreet.tables.verbs.units import read_unit_query

from ...engines import ENGINES, crossed, to_pandas
from ...noisy import largest_move

CITIES = ["a", "a|b", "b", "é", "1", "", "3:a", "A", None]
DRINKS = ["b|c", "c", "1", "", "a1:b", None]
AGES = [-1, 0, 9, 10, 29, 30, 119, 120, 121, None]
WEIGHTS = [-0.1, 0.0, 0.1, 0.2, 0.30000000000000004, 0.3, 0.7, None]
SIZES = [0, 1, 7, None]
PRICES = [Decimal("-0.50"), Decimal("1.00"), Decimal("10.25"), None]
DAYS = [
    dt.date(1969, 12, 31),
    dt.date(2020, 1, 1),
    dt.date(2020, 2, 29),
    dt.date(9999, 12, 31),
    None,
]
TRUTHS = [True, False, None]

SCHEMA = pa.schema([
    ("city", pa.string()), ("drink", pa.string()), ("age", pa.int64()), ("weight", pa.float64()),
    ("size", pa.int64()), ("price", pa.decimal128(9, 2)), ("day", pa.date32()), ("truth", pa.bool_()),
    ("user", pa.string()),
])  # fmt: skip

COLUMNS: tuple[list[Any], ...] = (
    CITIES,
    DRINKS,
    AGES,
    WEIGHTS,
    SIZES,
    PRICES,
    DAYS,
    TRUTHS,
    ["u", "v", "w", "x", None],
)

ROWS: list[tuple[Any, ...]] = [
    tuple(
        values[(place * step + place // 7) % len(values)]
        for values, step in zip(COLUMNS, (1, 2, 3, 1, 1, 1, 1, 1, 1), strict=True)
    )
    for place in range(400)
]  # fmt: skip


def table() -> pa.Table:
    columns = zip(*ROWS, strict=True)
    arrays = [pa.array(cells, field.type) for cells, field in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, schema=SCHEMA)


def of(*names: str) -> Counter[Any]:
    """How many rows hold each tuple, without null in it."""
    places = [SCHEMA.names.index(name) for name in names]
    return Counter(
        tuple(row[p] for p in places) for row in ROWS if all(row[p] is not None for p in places)
    )


def exactly(data: Any, column: Any, **terms: Any) -> Any:
    """Noisy counts with no noise but once in a lifetime."""
    return discreet.counts(data, column, epsilon=10**4, **terms).value


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


PAIRS = {
    "texts": ("city", "drink"),
    "text-integer": ("drink", "size"),
    "decimal-date": ("price", "day"),
    "truth-text": ("truth", "city"),
    "three": ("size", "city", "drink"),
}
VALUES = dict(zip(SCHEMA.names, COLUMNS, strict=True))


def listed(engine: str, name: str) -> list[Any]:
    """The values of a column that are asked for; a text file may write decimals and dates in its own way."""
    return [one for one in VALUES[name] if one is not None]


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, PAIRS, "texts"))
def test_counts_of_tuples_are_those_of_plain_python(engine: str, plan: str, tmp_path: Path) -> None:
    names, data = PAIRS[plan], ENGINES[engine](table(), tmp_path)
    counts = exactly(data, names, candidates={name: listed(engine, name) for name in names})
    truth = of(*names)
    if engine == "csv":  # an empty field of text is the empty text
        truth = Counter()
        for row in ROWS:
            cells = [row[SCHEMA.names.index(name)] for name in names]
            truth[tuple("" if cell is None else cell for cell in cells)] += 1
    assert len(counts) == len([*itertools.product(*(listed(engine, name) for name in names))])
    assert counts == {cell: truth[cell] for cell in counts}
    assert sum(counts.values()) > 50


OUTSIDE: dict[str, Any] = {"below": True, "above": True, "missing": True}

BINS = {
    "integers": (Bins("age", 0, 120, 10), Bins("age", 0, 120, 30, closed=True, **OUTSIDE)),
    "labels": (
        Bins("age", edges=[0, 10, 30], **OUTSIDE, labels=["out", "few", "many", "out", "out"]),
        Bins("age", edges=[30], below=True, above=True),
        Bins("age", edges=[30], above=True),
    ),
    "floats": (Bins("weight", edges=[0, 0.1, 0.2, 0.3]), Bins("weight", 0, "0.3", "0.1", closed=True, above=True)),
    "decimals": (Bins("price", edges=["-0.5", 1, "10.25"], above=True, missing=True), Bins("price", -1, 1, "1/3")),
    "days": (
        Bins("day", "2020-01-01", "2020-03-01", "1 month", below=True, above=True),
        Bins("day", edges=["1969-12-31", "9999-12-31"], closed=True),
    ),
}  # fmt: skip


def bin_of(cell: Any, bins: Bins) -> str | None:
    """The definition, as plainly as possible; a float is compared with the floats nearest to the edges."""
    if cell is None:
        return bins.missing_label
    edges: list[Any] = [*bins.edges]
    edges = [float(one) for one in edges] if isinstance(cell, float) else edges
    number = Fraction(cell) if isinstance(cell, Decimal) else cell
    place = bisect_right(edges, number)
    if bins.closed and number == edges[-1]:
        place -= 1
    return bins.regions[place]


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, BINS, "integers"))
def test_bins_are_those_of_plain_python(engine: str, plan: str, tmp_path: Path) -> None:
    data = ENGINES[engine](table(), tmp_path)
    for bins in BINS[plan]:
        place = SCHEMA.names.index(bins.column)
        truth = Counter(bin_of(row[place], bins) for row in ROWS)
        counts = exactly(data, bins)
        assert list(counts) == list(bins.labels)
        assert counts == {label: truth[label] for label in bins.labels}
        assert sum(counts.values()) > 50


def next_floats(of: Any, number: float) -> tuple[float, ...]:
    """The number and those one unit in the last place below and above it."""
    return tuple(float(np.nextafter(of(number), of(to))) for to in (-np.inf, number, np.inf))


def edges_and_neighbours() -> dict[str, tuple[list[Any], pa.DataType, Bins]]:
    """For kinds of columns: 300 edges, cells that are those or beside them, and bins, the last one closed."""
    rng = random.Random(7)
    units = sorted(rng.sample(range(-(10**6), 10**6), 300))
    doubles = sorted(
        {0.0, -1e-300, 1e300, *(rng.uniform(-1, 1) * 10 ** rng.randint(-9, 9) for _ in units)}
    )
    shorts = sorted({*map(float, map(np.float32, doubles[1:-1]))})
    cents = [Decimal(unit).scaleb(-2) for unit in units]
    days = [dt.date(2020, 1, 1) + dt.timedelta(unit // 10) for unit in units]
    clocks = [dt.datetime(2020, 1, 1) + dt.timedelta(microseconds=unit * 999_983) for unit in units]
    infinities = [float("inf"), float("-inf"), float("nan"), -0.0]
    hundredth, day, tick = Decimal("0.01"), dt.timedelta(1), dt.timedelta.resolution
    beside: dict[str, tuple[list[Any], Callable[[Any], tuple[Any, ...]], pa.DataType]] = {
        "integer": (units, lambda n: (n - 1, n, n + 1), pa.int64()),
        "double": (doubles, partial(next_floats, np.float64), pa.float64()),
        "short": (shorts, partial(next_floats, np.float32), pa.float32()),
        "decimal": (cents, lambda x: (x - hundredth, x, x + hundredth), pa.decimal128(12, 2)),
        "date": (sorted({*days}), lambda d: (d - day, d, d + day), pa.date32()),
        "clock": (clocks, lambda t: (t - tick, t, t + tick), pa.timestamp("us")),
    }
    kinds = {}
    for kind, (edges, neighbours, of) in beside.items():
        cells = [None, *(cell for edge in edges for cell in neighbours(edge))]
        cells += infinities if kind in ("double", "short") else []
        kinds[kind] = cells, of, Bins("x", edges=edges, closed=True, **OUTSIDE)
    return kinds


EDGES = edges_and_neighbours()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("engine", "kind"), crossed(ENGINES, EDGES, "double"))
def test_edges_and_their_neighbours_fall_as_in_python(
    engine: str, kind: str, tmp_path: Path
) -> None:
    """Cells one unit, or one unit in the last place, beside each of many edges, by Python's own comparisons."""
    cells, of, bins = EDGES[kind]
    data = ENGINES[engine](pa.table({"x": pa.array(cells, of)}), tmp_path)
    truth = Counter(bin_of(None if cell != cell else cell, bins) for cell in cells)
    assert exactly(data, bins) == {label: truth[label] for label in bins.labels}


@pytest.mark.parametrize("engine", ENGINES)
def test_tuples_of_bins_go_with_where(engine: str, tmp_path: Path) -> None:
    data = ENGINES[engine](table(), tmp_path)
    bins = Bins("age", 0, 120, 30, above=True)
    counts = exactly(data, ["city", bins], candidates={"city": ["a", "b"]}, where="size >= 1")
    truth = Counter(
        (row[0], bin_of(row[2], bins)) for row in ROWS if row[4] is not None and row[4] >= 1
    )
    assert counts == {cell: truth[cell] for cell in counts}


@pytest.mark.parametrize("engine", ENGINES)
def test_keys_of_several_columns_are_their_tuples(engine: str, tmp_path: Path) -> None:
    data = ENGINES[engine](table(), tmp_path)
    bins = Bins("age", 0, 120, 60, missing=True)
    keys = discreet.keys(data, ["size", bins, "day"], epsilon=10**4, delta="1e-9").value
    rows = [(row[4], bin_of(row[2], bins), row[6]) for row in ROWS]
    truth = Counter(row for row in rows if None not in row)
    as_python: Counter[Any] = Counter(truth)
    if engine == "csv":
        as_python = Counter(
            tuple("" if c is None else str(c) for c in row) for row in rows if row[1]
        )
    assert set(keys) == {one for one, number in as_python.items() if number > 1}
    assert keys == sorted(keys, key=lambda one: [(type(c).__name__, c) for c in one])


@pytest.mark.parametrize("engine", ENGINES)
def test_private_tuples_are_groups_of_numbers(engine: str, tmp_path: Path) -> None:
    data = ENGINES[engine](table(), tmp_path)
    terms: dict[str, Any] = {"groups": "private", "delta": "1e-9", "epsilon": 10**4}
    bins = Bins("age", 0, 120, 60)
    by: Any = ["city", bins]
    medians = discreet.maximum(data, "size", candidates=discreet.Grid(0, 7), by=by, **terms).value
    groups: dict[Any, list[int]] = {}
    for row in ROWS:
        city = "" if row[0] is None and engine == "csv" else row[0]
        cell = city, bin_of(row[2], bins)
        groups.setdefault(cell, []).append(row[4])
    large = {
        cell: max(size for size in sizes if size is not None)
        for cell, sizes in groups.items() if None not in cell and len(sizes) > 1
    }  # fmt: skip
    assert medians == large


@pytest.mark.parametrize("engine", ENGINES)
def test_listed_tuples_are_groups_of_records(engine: str, tmp_path: Path) -> None:
    data = ENGINES[engine](table(), tmp_path)
    groups = [("a", "c"), ("a|b", "c"), ("a", "b|c")]
    sizes = discreet.count(data, by=["city", "drink"], groups=groups, epsilon=10**4).value
    assert sizes == {group: of("city", "drink")[group] for group in groups}
    assert list(sizes) == groups


@pytest.mark.parametrize("engine", ENGINES)
def test_a_user_counts_in_few_cells(engine: str, tmp_path: Path) -> None:
    """Of a unit with many tuples as many stay as are declared, and never more."""
    data = ENGINES[engine](table(), tmp_path)
    candidates = {"size": [0, 1, 7], "truth": [True, False]}
    terms = {"candidates": candidates, "privacy_unit": "user"}
    users = {(row[4], row[7], row[8]) for row in ROWS if None not in (row[4], row[7], row[8])}
    every = exactly(data, ["size", "truth"], **terms)
    assert every == {cell: sum(user[:2] == cell for user in users) for cell in every}
    few = exactly(data, ["size", "truth"], max_candidates=2, **terms)
    assert sum(few.values()) == 2 * len({user[2] for user in users})


# --- what Python holds, and what engines hold, are told apart


def test_python_objects_of_several_types_are_told_apart() -> None:
    data: dict[str, list[Any]] = {
        "x": [1, "1", "integer:1", Decimal("1.0"), Decimal("1.5"), None, 1.0],
        "y": ["a"] * 7,
    }
    keys = discreet.keys(
        {n: c * 9 for n, c in data.items()}, ["x", "y"], epsilon=99, delta="1e-6"
    ).value
    assert keys == [(Decimal("1.5"), "a"), (1, "a"), ("1", "a"), ("integer:1", "a")]
    counts = exactly(data, ["x", "y"], candidates={"x": [1, "1"], "y": ["a"]})
    assert counts == {(1, "a"): 2, ("1", "a"): 1}


def test_objects_and_typed_columns_meet_in_one_cell() -> None:
    frame = to_pandas(table(), Path()).assign(city=[row[0] for row in ROWS])
    frame["city"] = frame["city"].astype(object)
    assert str(frame["size"].dtype) == "Int64"
    for names in (("city", "size"), ("truth", "city"), ("city", "drink")):
        candidates = {name: listed("pandas", name) for name in names}
        counts = exactly(frame, names, candidates=candidates)
        assert counts == {cell: of(*names)[cell] for cell in counts}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_instants_and_clocks_are_in_bins(unit: str) -> None:
    moments = [
        dt.datetime(2020, 1, 1),
        dt.datetime(2019, 12, 31, 23, 59, 59),
        dt.datetime(2020, 2, 1),
        None,
    ]
    bins = Bins(
        "t",
        "2020-01-01T00:00",
        "2020-02-01T00:00",
        "1 month",
        closed=True,
        below=True,
        missing=True,
    )
    expected = {
        "below 2020-01-01T00:00:00": 1,
        "[2020-01-01T00:00:00, 2020-02-01T00:00:00]": 2,
        "missing": 1,
    }
    typed = pa.table({"t": pa.array(moments, pa.timestamp(unit))})
    zoned = pa.table({"t": pa.array(moments, pa.timestamp(unit, "UTC"))})
    objects = {"t": moments}
    for data in (
        typed,
        objects,
        duckdb.connect().from_arrow(typed),
        pd.DataFrame({"t": pd.Series(moments, dtype="datetime64[ns]")}),
    ):
        assert exactly(data, bins) == expected
    in_utc = Bins(
        "t",
        "2020-01-01T01:00+01:00",
        "2020-02-01T01:00+01:00",
        "1 month",
        closed=True,
        below=True,
        missing=True,
    )
    assert [*exactly(zoned, in_utc).values()] == [1, 2, 1]
    with pytest.raises(InvalidArgument, match="cannot hold"):
        exactly(zoned, bins)


def test_a_form_of_numbers_and_dates_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age;born;city\n1,5;31.12.1999;a\n2,5;01.01.2000;a\nx;;b\n", encoding="utf-8")
    data = discreet.scan_csv(path, delimiter=";", decimal=",", date="%d.%m.%Y")
    bins = [
        Bins("age", edges=[1, 2, 3], missing=True),
        Bins("born", edges=["1999-01-01", "2000-01-01"], above=True, missing=True),
    ]
    counts = exactly(data, bins)
    assert {cell for cell, number in counts.items() if number} == {
        ("[1, 2)", "[1999-01-01, 2000-01-01)"), ("[2, 3)", "2000-01-01 or above"), ("missing", "missing"),
    }  # fmt: skip
    assert exactly(data, ["age", "city"], candidates={"age": [Decimal("1.5")], "city": ["a"]}) == {
        (Decimal("1.5"), "a"): 1
    }


# --- neighbours: one record changed at will


UNIVERSE = [(city, age) for city in ("a", "b", None) for age in (0, 1, 2, None)]
GRID = discreet.Grid(0, 9)
CELLS: Any = ["city", Bins("age", edges=[0, 1, 2], above=True)]


def cell_counts(rows: list[tuple[Any, ...]], most: int | None = None, **terms: Any) -> list[int]:
    """The counts that noise is added to, of rows of a city, an age and a user."""
    columns = zip(*rows, strict=True)
    types = (pa.string(), pa.int64(), pa.string())
    arrays = [pa.array(cells, of) for cells, of in zip(columns, types, strict=True)]
    data = pa.table(arrays, names=["city", "age", "user"])
    labels = read_cell_labels(_cells(), {"city": ["a", "b"]})
    query = read_unit_query({"epsilon": 1, **terms}).with_candidates(labels.size, most)
    return query.columns(data, _cells())[0].count(labels)


def _cells() -> Any:
    return read_columns(CELLS)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_row_moves_one_cell(neighbors: Neighbors) -> None:
    """Every row of the universe comes to, or takes the place of a row in, every table of one row more."""
    others = [("a", 0, "u"), ("b", 2, "u"), (None, 1, "u")]
    after = [cell_counts([*others, (*row, "v")], neighbors=neighbors) for row in UNIVERSE]
    base = cell_counts(others, neighbors=neighbors)
    assert largest_move(base, after, neighbors) == {"add_remove": 1, "replace_one": 2}[neighbors]


@pytest.mark.parametrize("most", [1, 2])
def test_a_unit_moves_as_many_cells_as_are_declared(most: int) -> None:
    """Units with every set of up to three rows: of more cells than the bound some are left out, unit by unit."""
    others = [("a", 0, "u"), ("b", 2, "u"), ("b", 0, "w"), ("a", 3, "w"), ("a", 1, "w")]
    base = cell_counts(others, most, privacy_unit="user")
    by_unit = [
        cell_counts([*others, *((*row, "v") for row in rows)], most, privacy_unit="user")
        for size, universe in ((1, UNIVERSE[:8]), (2, UNIVERSE[:6]), (3, UNIVERSE[:4]))
        for rows in itertools.combinations(universe, size)
    ]
    coming = [[two - one for one, two in zip(base, after, strict=True)] for after in by_unit]
    assert {move for moves in coming for move in moves} == {0, 1}
    assert max(map(sum, coming)) == most
    replaced = [
        sum(abs(one - two) for one, two in zip(*pair, strict=True))
        for pair in itertools.combinations(by_unit, 2)
    ]
    assert max(replaced) == 2 * most


def test_the_price_is_that_of_one_column() -> None:
    data = {"city": ["a"], "age": [1], "user": ["u"]}
    wide = discreet.counts(data, CELLS, candidates={"city": ["a", "b"]}, epsilon="1/3")
    assert wide.guarantee.pure == Fraction(1, 3)
    by = discreet.count(data, by=CELLS, groups={"city": ["a", "b"]}, epsilon="1/3")
    assert by.guarantee.pure == Fraction(1, 3)


# --- what is refused, before anything is read


def refusing() -> dict[str, tuple[Callable[[Any], Any], str]]:
    ages: Any = ["age", "size"]
    big = {"city": [*map(str, range(2000))], "drink": [*map(str, range(1000))]}
    return {
        "size": (lambda d: exactly(d, ["city", "drink"], candidates=big), "2,000 × 1,000 = 2,000,000 cells"),
        "names": (lambda d: exactly(d, ["city", "drink"], candidates={"city": ["a"]}), "'city', 'drink'"),
        "missing": (lambda d: exactly(d, ["city", "drink"]), "candidates=.'city': "),
        "tuple": (lambda d: exactly(d, ["city", "drink"], candidates=[("a",)]), "tuples of 2 values"),
        "bin": (lambda d: exactly(d, Bins("age", 0, 9, 3), candidates=["[0, 4)"]), "none of the cells"),
        "twice": (lambda d: exactly(d, ["city", "city"], candidates={"city": ["a"]}), "columns that differ"),
        "long": (lambda d: exactly(d, ["city", "drink"], candidates=[("a" * 257, "b")]), "256 bytes"),
        "number": (lambda d: discreet.median(d, ages, candidates=GRID, epsilon=1), "Several columns"),
    }  # fmt: skip


@pytest.mark.parametrize("case", refusing())
def test_what_is_refused_says_what_to_do(case: str) -> None:
    ask, words = refusing()[case]
    with pytest.raises((InvalidArgument, InvalidCandidates), match=words):
        ask(table())


def test_columns_that_cannot_be_in_a_cell_are_refused() -> None:
    with pytest.raises(UnreadableData, match="Put it in bins"):
        exactly(table(), ["weight", "city"], candidates={"weight": [0.1], "city": ["a"]})
    with pytest.raises(InvalidArgument, match="cannot hold"):
        exactly(table(), Bins("city", 0, 9, 3))
    with pytest.raises(MissingColumn, match=r"^column: there is no column 'town'"):
        exactly(table(), ["town", "city"], candidates={"town": ["a"], "city": ["a"]})
    with pytest.raises(MissingColumn, match=r"^by: there is no column 'town'"):
        discreet.mode(
            table(), "drink", candidates=["c"], by=["town", "city"], groups=[("a", "b")], epsilon=1
        )


def test_answers_of_tuples_are_written_as_json_and_read_again() -> None:
    release = discreet.keys(table(), ["city", "size"], epsilon=10**4, delta="1e-9")
    plain = json.loads(json.dumps(release.as_dict()))
    assert len(plain["value"]) == len(release.value)


def test_a_truth_among_objects_is_zero_or_one() -> None:
    """As Python compares keys of a dict: two cells that are equal there would be one key of the answer."""
    data = {"x": [1, True, np.bool_(True), Decimal(1)] * 10, "y": ["q"] * 40}
    answer = discreet.counts(data, ["x", "y"], epsilon=1000, delta="1e-9")
    assert answer.value == {(1, "q"): 40}
    listed = discreet.counts(data, ["x", "y"], candidates=[(True, "q"), ("1", "q")], epsilon=1000)
    assert listed.value == {(True, "q"): 40, ("1", "q"): 0}
