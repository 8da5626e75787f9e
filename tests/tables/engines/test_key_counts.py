"""Keys and their counts: in every engine those of the definition in plain Python, by a few integers."""

import datetime as dt
import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import UnreadableData
from discreet.tables.conditions.condition_readers import read_condition
from discreet.tables.engines.key_counts import KeyCounts, TableOfKeys
from discreet.tables.values.key_values import MOST_KEY_BYTES

from ...engines import ENGINES, crossed

Row = tuple[Any, Any]
"""A person and a key."""

PERSONS = ["ann", "Ann", "bob", "é", "e\u0301", "", None]
KEYS = ["milk", "Milk", "milk ", "é", "e\u0301", "", "z", None]


def table(rows: Iterable[Row], of: pa.DataType | None = None) -> pa.Table:
    rows = list(rows)
    persons, keys = zip(*rows, strict=True) if rows else ((), ())
    return pa.table(
        {"the key": pa.array(keys, of or pa.string()), "*": pa.array(persons, pa.string())}
    )


# --- the definition, as plainly as possible


def start(person: str) -> int:
    return int(hashlib.sha256(f"discreet:{person}".encode()).hexdigest()[:8], 16)


def pairs(rows: list[Row], most: int | None) -> list[Row]:
    """The records with a key: rows if `most` is None, else persons with at most so many keys each."""
    there = [row for row in rows if row[1] is not None]
    if most is None:
        return there
    few: list[Row] = []
    for person in {person for person, _ in there if person is not None}:
        own = sorted({key for one, key in there if one == person})
        m, s = len(own), start(person)
        few += [(person, key) for j, key in enumerate(own) if (j * most + s) % m < most]
    return few


class Drawn(NamedTuple):
    """Places that were drawn."""

    classes: Any
    places: Any
    shifts: Any = None
    least: int = -(10**9)


def drawn(*places: tuple[int, int], shifts: list[int] | None = None) -> Drawn:
    pairs = np.array(places, dtype=np.int64).reshape(-1, 2)
    arrays = None if shifts is None else np.array(shifts, dtype=np.int64)
    return Drawn(pairs[:, 0], pairs[:, 1], arrays)


def every_place(sizes: list[int]) -> list[tuple[int, int]]:
    return [(c, place) for c, size in enumerate(sizes, 1) for place in range(size)]


def check(counts: KeyCounts, expected: list[Row]) -> None:
    """The counts are those of the definition, told in every way in which they are told."""
    by_key = Counter(key for _, key in expected)
    occurrences = Counter(by_key.values())
    for sure in (1, 9):
        held = counts.classes(sure)
        assert held.sizes[:-1] == [occurrences[c] for c in range(1, sure)]
        assert sum(held.sizes) == len(by_key)
        places = every_place(held.sizes)
        keys = held.fetch(drawn(*places))
        assert keys == [(key, 0) for key in sorted(by_key)]
        assert held.fetch(drawn(*places), 2) == keys[:2]
        assert held.fetch(drawn(*places, shifts=[0] * len(places))) == sorted(by_key.items())
    shifts = [i % 3 - 5 for i in range(len(places))]
    alone = {key for place in places for key, _ in held.fetch(drawn(place))}
    assert alone == by_key.keys()
    every = held.fetch(drawn(*places, shifts=shifts))
    assert sorted(y - by_key[key] for key, y in every) == sorted(shifts)
    largest = sorted(every, key=lambda pair: (-pair[1], pair[0]))
    assert held.fetch(drawn(*places, shifts=shifts), 3) == sorted(largest[:3])
    in_order = sorted(by_key, key=lambda key: (-by_key[key], key))
    for most in (1, 3, 99):
        first = counts.first(most)
        assert first.counts.tolist() == [by_key[key] for key in in_order[:most]]
        ranks = range(len(first.counts))[::-1]
        assert first.fetch(ranks) == [in_order[rank] for rank in ranks]
    for chosen in ([], ["milk", "absent"], ["", "é"]):
        outside = [person for person, key in expected if key not in chosen]
        has_units = counts.table.records.unit is not None
        assert counts.units_outside(chosen) == len(set(outside) if has_units else outside)


PLANS: dict[str, int | None] = {"rows": None, "one key": 1, "two keys": 2, "many keys": 50}
ROWS = st.lists(st.tuples(st.sampled_from(PERSONS), st.sampled_from(KEYS)), max_size=24)


@pytest.mark.parametrize(("engine", "plan"), crossed(ENGINES, PLANS, "two keys"))
@pytest.mark.one_in(13)
@pytest.mark.proof_in("spark")
def test_counts_of_keys_are_those_of_the_definition(engine: str, plan: str, tmp_path: Path) -> None:
    most = PLANS[plan]

    @settings(
        max_examples={"spark": 2, "polars": 8}.get(engine, 3),
        suppress_health_check=list(HealthCheck),
    )
    @given(ROWS)
    def check_rows(rows: list[Row]) -> None:
        data = ENGINES[engine](table(rows), tmp_path)
        if engine == "csv":  # an empty field is a text, and nobody
            rows = [(person or None, key or "") for person, key in rows]
        counts = TableOfKeys(
            data, "the key", None if most is None else "*", most or 1, keeps_pairs=True
        )
        check(counts.open(), pairs(rows, most))

    check_rows()


def test_what_was_counted_is_not_there_any_more() -> None:
    """A place that no class has is an error without numbers."""
    held = TableOfKeys(pl.DataFrame({"k": ["a", "b", "b", "c"]}), "k").open().classes(2)
    assert held.sizes == [2, 1]
    assert {held.fetch(drawn((1, place)))[0][0] for place in (0, 1)} == {"a", "c"}
    with pytest.raises(UnreadableData) as failure:
        held.fetch(drawn((1, 0), (1, 2)))
    assert not any(character.isdigit() for character in str(failure.value))


# --- a key is a function of its own row


WIDE = 2**53
INSTANT = dt.datetime(2024, 3, 1, 12, 0, 0, 1, tzinfo=dt.UTC)

TYPED: dict[str, tuple[pa.DataType, list[Any]]] = {
    "integers": (pa.int64(), [WIDE, WIDE + 1, -1, 0, None]),
    "unsigned": (pa.uint64(), [2**64 - 1, 2**64 - 2, 0, None]),
    "decimals": (
        pa.decimal128(20, 3),
        [Decimal("1.500"), Decimal("-0.001"), Decimal("0.25"), None],
    ),
    "truths": (pa.bool_(), [True, False, None]),
    "dates": (pa.date32(), [dt.date(1, 1, 1), dt.date(2024, 2, 29), None]),
    "times": (pa.timestamp("us"), [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), None]),
    "instants": (pa.timestamp("us", "Europe/Zurich"), [INSTANT, None]),
    "texts": (pa.string(), ["milk", "Milk", "milk ", "é", "e\u0301", "\U0001f600", "", None]),
    "categories": (pa.dictionary(pa.int32(), pa.string()), ["b", "a", "b", None]),
}


@pytest.mark.parametrize(
    ("engine", "kind"), crossed([e for e in ENGINES if e != "csv"], TYPED, "instants")
)
@pytest.mark.one_in(9)
@pytest.mark.proof_in("spark")
def test_every_type_has_its_keys(engine: str, kind: str, tmp_path: Path) -> None:
    """Each value is told from all others, and comes as Python has it, whatever other rows are there."""
    of, cells = TYPED[kind]
    rows = [("ann", cell) for cell in cells] + [("bob", cells[0])]
    for some in (rows, [row for row in rows if row[1] is not None]):
        column = pa.array([key for _, key in some], of)
        data = ENGINES[engine](
            pa.table({"the key": column, "*": [one for one, _ in some]}), tmp_path
        )
        expected = Counter(key for _, key in some if key is not None)
        held = TableOfKeys(data, "the key").open().classes(9)
        found = held.fetch(drawn(*every_place(held.sizes), shifts=[0] * sum(held.sizes)))
        assert found == sorted(expected.items())
        assert [type(key) for key, _ in found] == [type(key) for key in sorted(expected)]


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas", "parquet"])
def test_cells_that_are_no_keys_are_left_out(engine: str, tmp_path: Path) -> None:
    """One by one, before they are counted: a text too long by a byte, and times that Python has not."""
    long = "é" * (MOST_KEY_BYTES // 2)
    texts = ENGINES[engine](table([("ann", long), ("ann", long + "a")]), tmp_path)
    assert every_key(texts) == {long: 1}
    fine = pa.array([1_000, 1_001, None], pa.timestamp("ns"))
    times = ENGINES[engine](pa.table({"the key": fine}), tmp_path)
    assert every_key(times) == {dt.datetime(1970, 1, 1, 0, 0, 0, 1): 1}
    far = pa.array([-(2**62), 2**62, 0], pa.timestamp("us", "UTC"))
    instants = ENGINES[engine](pa.table({"the key": far}), tmp_path)
    assert every_key(instants) == {dt.datetime(1970, 1, 1, tzinfo=dt.UTC): 1}


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("as_given", [pa.table, lambda cells: pa.table(cells).to_pandas()])
def test_an_instant_that_nanoseconds_do_not_reach_is_a_key(
    unit: str, as_given: Callable[[Any], Any]
) -> None:
    """One row with such a time, as an end that is not known, decides not whether there is an answer."""
    last = dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=dt.UTC)
    cells = pa.array([last, INSTANT.replace(microsecond=0)], pa.timestamp(unit, "UTC"))
    far = pa.array([2**50 if unit == "s" else 2**60], cells.type)
    column = pa.chunked_array([cells, far])
    assert every_key(as_given({"the key": column})) == {last: 1, cells[1].as_py(): 1}


def every_key(data: Any, column: str | None = "the key", unit: str | None = None) -> dict[Any, int]:
    held = TableOfKeys(data, column, unit, 9).open().classes(2)
    return dict(held.fetch(drawn(*every_place(held.sizes), shifts=[0] * sum(held.sizes))))


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1.0, None]),
        pl.Series([["a"], None]),
        pl.Series([{"a": 1}, None]),
        pd.Series([1, None]),
        pd.Series([1, None]).astype("category"),
        pd.Series([0.5, None], dtype="Float32"),
        np.array([0.5]),
        pa.chunked_array([pa.array([0.5, None], pa.float16())]),
        pl.Series([dt.timedelta(1), None]),
    ],
    ids=lambda column: str(getattr(column, "dtype", None) or column.type),
)
def test_types_without_keys_are_refused_by_the_schema(column: Any) -> None:
    """One missing integer makes pandas keep floats, of which two are one: 2**53 and 2**53 + 1."""
    frame: Any = {"the key": column}
    if isinstance(column, pl.Series):
        frame = pl.DataFrame(frame)
    if isinstance(column, pd.Series):
        frame = pd.DataFrame(frame)
    if isinstance(column, pa.ChunkedArray):
        frame = pa.table(frame)
    with pytest.raises(UnreadableData) as failure:
        TableOfKeys(frame, "the key").open()
    assert "0.5" not in str(failure.value)


def test_objects_are_keys_by_themselves() -> None:
    """1, True and 1.0 are one value for Python and for pandas: none but 1 is a key, in any order of rows."""
    cells = [1, True, 1.0, Decimal("1.00"), "1", None, float("nan"), 2**53, 2**53 + 1, -0.0, 0]
    expected = {1: 2, "1": 1, 2**53: 1, 2**53 + 1: 1, 0: 1}
    for order in (cells, cells[::-1]):
        assert every_key(order, None) == expected
        assert every_key(pd.DataFrame({"the key": pd.Series(order, dtype=object)})) == expected
        assert every_key([{"the key": cell} for cell in order]) == expected


def test_categories_are_what_they_stand_for() -> None:
    """Not those that no row has, nor their order; of two with one text there is one key."""
    cells = ["b", "a", "b", None]
    for categories in (["c", "b", "a"], ["a", "b"]):
        of_pandas = pd.Categorical(cells, categories=categories)
        assert every_key(pd.DataFrame({"the key": of_pandas})) == {"a": 1, "b": 2}
        of_polars = pl.Series(cells, dtype=pl.Enum(categories))
        assert every_key(pl.DataFrame({"the key": of_polars})) == {"a": 1, "b": 2}
        names = ", ".join(f"'{one}'" for one in categories)
        query = f"SELECT unnest(['b', 'a', 'b', NULL])::ENUM({names}) AS \"the key\""
        assert every_key(duckdb.sql(query)) == {"a": 1, "b": 2}


def test_collations_join_no_keys() -> None:
    """Nor does the order of rows decide which spelling is shown."""
    connection = duckdb.connect()
    connection.sql('CREATE TABLE t ("the key" VARCHAR COLLATE NOCASE, u INTEGER)')
    connection.sql("INSERT INTO t VALUES ('Milk', 1), ('milk', 1), ('MILK', 2), ('milk', 3)")
    expected = {"MILK": 1, "Milk": 1, "milk": 2}
    for order in ("u", "u DESC"):
        rows = connection.sql(f"SELECT * FROM t ORDER BY {order}")
        assert every_key(rows) == every_key(rows, unit="u") == expected
        first = TableOfKeys(rows, "the key").open().first(3)
        assert first.fetch(range(3)) == ["milk", "MILK", "Milk"]
    padded = connection.sql("SELECT 'a ' AS \"the key\" UNION ALL SELECT 'a'")
    assert every_key(padded) == {"a ": 1, "a": 1}


def test_text_files_hold_text(tmp_path: Path) -> None:
    """Nothing is inferred from rows: 7, 7.0 and 07 are three keys, before and after a row of letters."""
    for extra in ([], ["x"]):
        cells = ["7", "7.0", "07", "true", "2024-01-01", "NULL", *extra]
        path = tmp_path / "t.csv"
        path.write_text("the key\n" + "\n".join(cells) + "\n")
        assert every_key(path) == dict.fromkeys(cells, 1)
        lines = tmp_path / "t.jsonl"
        lines.write_text("".join(f'{{"the key": "{cell}"}}\n' for cell in cells) + "{}\nno json\n")
        assert every_key(lines) == dict.fromkeys(cells, 1)


# --- laws


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas", "parquet"])
def test_the_order_of_rows_and_files_decides_nothing(engine: str, tmp_path: Path) -> None:
    numbers = random.Random(5)
    rows = [(f"p{numbers.randrange(9)}", f"k{numbers.randrange(7)}") for _ in range(60)]
    data = ENGINES[engine](table(rows), tmp_path)
    for most in (1, 3):
        first = every_pair(data, most)
        assert first == Counter(key for _, key in pairs(rows, most))
        numbers.shuffle(rows)
        assert every_pair(ENGINES[engine](table(rows), tmp_path), most) == first
        parts = [tmp_path / f"{i}.parquet" for i in range(3)]
        for i, part in enumerate(parts):
            pq.write_table(table(rows[i::3]), part)
        assert every_pair(parts, most) == first


def every_pair(data: Any, most: int) -> dict[Any, int]:
    held = TableOfKeys(data, "the key", "*", most).open().classes(99)
    return dict(held.fetch(drawn(*every_place(held.sizes), shifts=[0] * sum(held.sizes))))


def test_a_unit_that_comes_moves_few_keys_by_one() -> None:
    """A row of a unit may move more of them: a unit does not imply a row."""
    others = [("ann", "a"), ("ann", "b"), ("bob", "b"), (None, "c")]
    for own in itertools.combinations("abcd", 3):
        for most in (1, 2):
            before = every_pair(pl.from_arrow(table(others)), most)
            more = [*others, *(("zoe", key) for key in own), (None, "d"), ("zoe", None)]
            after = Counter(every_pair(pl.from_arrow(table(more)), most))
            assert (after - Counter(before)).total() == most
            assert not Counter(before) - after


def test_units_of_several_columns_and_conditions_are_bounded_alike() -> None:
    frame = pl.DataFrame(
        {"a": [1, 1, 1, 2], "b": ["x", "x", "y", None], "the key": ["k", "l", "k", "k"]}
    )
    held = TableOfKeys(frame, "the key", ("a", "b"), 1).open().classes(9)
    assert sum(i * n for i, n in enumerate(held.sizes, 1)) == 2
    where = read_condition("a = 1 AND b = 'y'")
    some = TableOfKeys(frame, "the key", where=where).open().classes(9)
    assert some.sizes[0] == 1


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas", "parquet", "csv"])
def test_an_empty_table_has_no_keys(engine: str, tmp_path: Path) -> None:
    for unit in (None, "*"):
        counts = TableOfKeys(
            ENGINES[engine](table([]), tmp_path), "the key", unit, keeps_pairs=True
        ).open()
        held = counts.classes(4)
        assert held.sizes == [0, 0, 0, 0]
        assert held.fetch(drawn()) == []
        assert counts.first(5).counts.tolist() == []
        assert counts.units_outside(["a"]) == 0


def test_the_snapshot_is_what_was_counted() -> None:
    """Rows that come between counting and fetching are not seen."""
    connection = duckdb.connect()
    connection.sql("CREATE TABLE t AS SELECT 'a' AS \"the key\"")
    counts = TableOfKeys(connection.table("t"), "the key").open()
    held = counts.classes(2)
    connection.sql("INSERT INTO t VALUES ('a'), ('b')")
    assert held.fetch(drawn((1, 0), shifts=[0])) == [("a", 1)]


@pytest.mark.proof
def test_spark_counts_keys_by_one_exchange_of_rows(tmp_path: Path) -> None:
    """One groupBy().count() of the rows, then counts of classes; no row comes to the driver, and none is sorted."""
    rows = [(None, f"k{i % 7}") for i in range(40)]
    counts = TableOfKeys(ENGINES["spark"](table(rows), tmp_path), "the key").open()
    plan = counts._counts.to_native()._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Exchange hashpartitioning") == 1
    assert plan.count("HashAggregate") + plan.count("ObjectHashAggregate") == 2
    assert "Sort" not in plan.replace("SortAggregate", "Sort")
    held = counts.classes(9)
    assert held.sizes[4:6] == [2, 5]
    numbered = held.rows.to_native()._jdf.queryExecution().executedPlan().toString()
    assert "RDD" in numbered, "it begins at the checkpoint, and reads no row again"


# --- sums of weights by the number of a unit's keys


def weighed(rows: list[Row], most: int, weights: list[int]) -> Counter[Any]:
    """The sums of the weights of persons by key, as plainly as possible."""
    kept = pairs(rows, most)
    own = Counter(person for person, _ in kept)
    sums: Counter[Any] = Counter()
    for person, key in kept:
        sums[key] += weights[own[person] - 1]
    return sums


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.one_in(4)
@pytest.mark.proof_in("spark")
def test_sums_of_weights_are_those_of_the_definition(engine: str, tmp_path: Path) -> None:
    """With persons of as many keys as may stay, of one more and of many, equal rows, and other persons by case."""
    rows = [
        *[("ann", key) for key in ("milk", "milk", "tea")], *[("Ann", key) for key in "abcdefgh"],
        *[("bob", key) for key in ("milk", "tea", "a", "b")], ("bob", "milk"), ("é", "a"), ("é", None),
        *[("zoe", key) for key in ("tea", "Tea", "tea ")], (None, "a"), ("kim", "Milk"),
    ]  # fmt: skip
    data = ENGINES[engine](table(rows), tmp_path)
    if engine == "csv":
        rows = [(person, key or "") for person, key in rows]
    for most, weights in ((1, [7]), (3, [9, 5, 2]), (9, [40, 33, 27, 20, 13, 9, 5, 3, 2])):
        sums = weighed(rows, most, weights)
        counts = TableOfKeys(data, "the key", "*", most, keeps_pairs=most == 3).open()
        held = counts.classes(30, weights)
        by_weight = Counter(min(number, 30) for number in sums.values())
        assert held.sizes == [by_weight[c] for c in range(1, 31)]
        places = every_place(held.sizes)
        assert held.fetch(drawn(*places, shifts=[0] * len(places))) == sorted(sums.items())
        assert held.fetch(drawn(*places)) == [(key, 0) for key in sorted(sums)]
        if most == 3:
            inside = {person for person, key in pairs(rows, most) if key != "milk"}
            assert counts.units_outside(["milk"]) == len(inside)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.one_in(4)
@pytest.mark.proof_in("spark")
def test_sums_of_weights_have_64_bits(engine: str, tmp_path: Path) -> None:
    """Three of 2**31 - 1 and of 2**30 are more than 32 bits hold, and doubles would round the largest."""
    rows = [(person, "milk") for person in ("ann", "bob", "kim")]
    data = ENGINES[engine](table(rows), tmp_path)
    for weight in (2**30, 2**31 - 1, 2**53 + 1):
        held = TableOfKeys(data, "the key", "*", 2).open().classes(2, [weight, 1])
        assert held.sizes == [0, 1]
        assert held.fetch(drawn((2, 0), shifts=[0])) == [("milk", 3 * weight)]
