"""The room `tables`: the same counts from every engine, and no private value in any error."""

import csv
import datetime as dt
import subprocess
import sys
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InvalidCandidates, MissingColumn, UnreadableData
from discreet.tables.engines import count, declared_categories, distinct, parse_candidates

from ...engines import ENGINES, TYPED

ADULT = Path(__file__).parents[4] / "shared" / "data" / "adult.csv"
MARKER = "s3cr3t-m4rk3r"
PARIS = dt.timezone(dt.timedelta(hours=1))
Make = Callable[[pa.Table], Any]


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda table: ENGINES[request.param](table, tmp_path)


@pytest.fixture(params=TYPED)
def make_typed(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda table: TYPED[request.param](table, tmp_path)


def has_objects(data: Any) -> bool:
    """Whether pandas keeps the column as Python objects, which may be anything."""
    return isinstance(data, pd.DataFrame) and str(data.dtypes.iloc[0]) == "object"


# --- the same answer from every engine


def test_text(make: Make) -> None:
    composed, decomposed = "\u00e9", "e\u0301"
    words = ["a", "A", composed, decomposed, None, "it's", 'q"', "x,y", "a\nb", " a", "a", "NULL"]
    data = make(pa.table({"other": range(12), "c": pa.array(words)}))
    wanted = ["a", composed, decomposed, "absent", "it's", 'q"', "x,y", "a\nb", " a", "NULL", "\0"]
    assert count(data, "c", wanted) == [2, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0]


def test_counts_are_python_integers_and_repeats_are_kept(make: Make) -> None:
    counts = count(make(pa.table({"c": ["a", "b", "a"]})), "c", ["a", "b", "a"])
    assert counts == [2, 1, 2]
    assert {type(number) for number in counts} == {int}


def test_empty_table(make: Make) -> None:
    assert count(make(pa.table({"c": pa.array([], pa.string())})), "c", ["a", "b"]) == [0, 0]


def test_no_candidates(make: Make) -> None:
    assert count(make(pa.table({"c": ["a"]})), "c", []) == []


def test_many_candidates(make: Make) -> None:
    data = make(pa.table({"c": [f"v{i}" for i in range(100)] * 2}))
    assert count(data, "c", [f"v{i}" for i in range(50, 150)]) == [2] * 50 + [0] * 50


@pytest.mark.parametrize(
    "name", ["a b", 'q"uote', "do.t", "sel'ect", "Ünï", "t.c", "*", "order", "^.*$"]
)
@pytest.mark.one_in(3)
def test_names_of_columns(make: Make, name: str) -> None:
    data = make(pa.table({name: ["a", "b", "a"], "z": ["a", "a", "a"]}))
    assert count(data, name, ["a", "b"]) == [2, 1]
    assert distinct(data, name) == ["a", "b"]


def test_missing_column(make: Make) -> None:
    data = make(pa.table({"marital": ["a"], "age": ["1"]}))
    with pytest.raises(MissingColumn, match=r"'martial'.*did you mean 'marital'.*'age'"):
        count(data, "martial", ["a"])
    for verb in (distinct, declared_categories):
        with pytest.raises(MissingColumn):
            verb(data, "MARITAL")


BIG = 2**53
INF = float("inf")
D = Decimal
DAY = dt.date(2020, 2, 29)
NOON = dt.datetime(2020, 2, 29, 12)
NOON_UTC = NOON.replace(tzinfo=dt.UTC)
TYPES: dict[str, tuple[pa.Array, list[Any], list[int]]] = {
    "integers": (
        pa.array([BIG, BIG + 1, BIG + 1, None, 5]),
        [BIG, BIG + 1, BIG + 2, 5.0, D(5), Fraction(5), 5.5, INF, 10**30, D("1e999999"), 1e300],
        [1, 2, 0, 1, 1, 1, 0, 0, 0, 0, 0],
    ),
    "unsigned": (
        pa.array([2**64 - 1, 2**64 - 2, BIG + 1, None], pa.uint64()),
        [2**64 - 1, -1, BIG + 1, float(BIG), 2.0**64],
        [1, 0, 1, 0, 0],
    ),
    "bytes": (pa.array([1, 2, 2, None], pa.int8()), [2, 258, -1], [2, 0, 0]),
    "floats": (
        pa.array([-0.0, 0.0, float("nan"), INF, -INF, float(BIG), 0.1, None, 5e-324]),
        [0, -0.0, INF, -INF, BIG, BIG + 1, 0.1, D("0.1"), Fraction(1, 10), 5e-324, 10**400],
        [2, 2, 1, 1, 1, 0, 1, 0, 0, 1, 0],
    ),
    "single": (
        pa.array([-0.0, 0.5, 0.1, None, float("nan")], pa.float32()),
        [0.0, 0.5, 0.1, 1e300],
        [1, 1, 0, 0],
    ),
    "half": (pa.array([-0.0, 0.5, None], pa.float16()), [0.0, 0.5, 0.1, 1e6], [1, 1, 0, 0]),
    "booleans": (pa.array([True, False, True, None]), [True, False], [2, 1]),
    "decimals": (
        pa.array([D("1.10"), D("2.00"), D("2.00"), None], pa.decimal128(10, 2)),
        [D("1.1"), 2, 2.0, D("1.101"), 1.1, D(10) ** 9, INF],
        [1, 2, 2, 0, 0, 0, 0],
    ),
    "wide decimals": (
        pa.array([D(10**38 - 1), D(10**38 - 2)], pa.decimal128(38, 0)),
        [10**38 - 1, 10**38 - 3, 1e38, 10**38],
        [1, 0, 0, 0],
    ),
    "dates": (
        pa.array([DAY, DAY, dt.date(1, 1, 1), None]),
        [DAY, dt.date(1, 1, 1), dt.date(9999, 12, 31)],
        [2, 1, 0],
    ),
    "seconds": (
        pa.array([1582977600, 10**12, None], pa.timestamp("s")),
        [NOON, NOON.replace(microsecond=1)],
        [1, 0],
    ),
    "nanoseconds": (
        pa.array([1582977600 * 10**9, 1582977600 * 10**9 + 1, None], pa.timestamp("ns")),
        [NOON, NOON.replace(microsecond=1), dt.datetime(1, 1, 1)],
        [1, 0, 0],
    ),
    "zoned": (
        pa.array([NOON_UTC, NOON_UTC, None], pa.timestamp("us", "Europe/Paris")),
        [NOON_UTC, NOON_UTC.astimezone(PARIS), NOON_UTC.replace(tzinfo=PARIS)],
        [2, 2, 0],
    ),
    "large text": (pa.array(["a", None, "b"], pa.large_string()), ["a", "\ud800"], [1, 0]),
    "text views": (pa.array(["a", None, "b"], pa.string_view()), ["a", "é"], [1, 0]),
    "dictionary": (pa.array(["a", None, "b", "a"]).dictionary_encode(), ["a", "z"], [2, 0]),
    "nulls": (pa.nulls(3), [1], [0]),
}


@pytest.mark.parametrize("case", TYPES)
@pytest.mark.one_in(5)
def test_types(make_typed: Make, case: str) -> None:
    values, candidates, expected = TYPES[case]
    data = make_typed(pa.table({"c": values}))
    assert count(data, "c", candidates) == expected
    padded = candidates + candidates[:1] * 40  # takes no other path, though it is long
    assert count(data, "c", padded) == expected + expected[:1] * 40


@pytest.mark.parametrize("case", ["integers", "floats", "decimals", "dates", "zoned"])
@pytest.mark.one_in(3)
def test_types_with_many_candidates(make_typed: Make, case: str) -> None:
    values, candidates, expected = TYPES[case]
    first = {"dates": dt.date(1900, 1, 1), "zoned": dt.datetime(1980, 1, 1, tzinfo=dt.UTC)}
    others: list[Any] = [1000 + i for i in range(60)]
    if case in first:
        others = [first[case] + dt.timedelta(i) for i in range(60)]
    data = make_typed(pa.table({"c": values}))
    assert count(data, "c", candidates + others) == expected + [0] * 60


KINDS: list[Any] = ["a", 1, 1.5, True, D(1), DAY, NOON, NOON_UTC, uuid.UUID(int=1)]
ACCEPTS: dict[str, list[Any]] = {
    "integers": [1, 1.5, D(1)],
    "floats": [1, 1.5, D(1)],
    "decimals": [1, 1.5, D(1)],
    "booleans": [True],
    "dates": [DAY],
    "seconds": [NOON],
    "zoned": [NOON_UTC],
    "large text": ["a"],
}


@pytest.mark.parametrize("case", ACCEPTS)
@pytest.mark.one_in(3)
def test_kinds_that_cannot_be_compared(make_typed: Make, case: str) -> None:
    data = make_typed(pa.table({"c": TYPES[case][0]}))
    accepted = [(type(c), c) for c in ACCEPTS[case]]
    if has_objects(data):
        pytest.skip("pandas keeps these as Python objects")
    for candidate in KINDS:
        if (type(candidate), candidate) in accepted:
            assert isinstance(count(data, "c", [candidate])[0], int)
            continue
        with pytest.raises(InvalidCandidates, match="cannot be compared with column 'c'"):
            count(data, "c", [ACCEPTS[case][0], candidate])


def test_candidates_that_nothing_equals(make: Make) -> None:
    data = make(pa.table({"c": ["1"]}))
    for bad in ([1], {"c": 1}, pd.Timestamp(1)):
        with pytest.raises(InvalidCandidates):
            count(data, "c", [bad])


def test_candidates_that_are_one_text(make: Make) -> None:
    with pytest.raises(InvalidCandidates, match="list"):
        count(make(pa.table({"c": ["a"]})), "c", "abc")


@pytest.mark.parametrize(
    "values",
    [pa.array([[1], None]), pa.array([{"a": 1}]), pa.array([b"x"]), pa.array([dt.time(1)])],
)
def test_columns_that_cannot_be_counted(make_typed: Make, values: pa.Array) -> None:
    data = make_typed(pa.table({"c": values}))
    if has_objects(data):
        assert count(data, "c", ["x"]) == [0]
        return
    with pytest.raises(UnreadableData, match="cannot be used for candidates"):
        count(data, "c", ["x"])


def test_numpy_scalars_are_plain_values() -> None:
    import numpy as np

    data = pl.DataFrame({"c": [1, 2, 2]})
    assert count(data, "c", [np.int64(2), np.float32(1)]) == [2, 1]
    assert count(pl.DataFrame({"c": [NOON]}), "c", [pd.Timestamp(NOON)]) == [1]
    with pytest.raises(InvalidCandidates):
        count(data, "c", [np.bool_(True)])


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"))), st.data()
)
def test_any_text(tmp_path_factory: pytest.TempPathFactory, cells: list[Any], data: Any) -> None:
    folder = tmp_path_factory.mktemp("any")
    candidates = data.draw(st.lists(st.sampled_from([*filter(None, cells), "a"]), unique=True))
    expected = [cells.count(candidate) for candidate in candidates]
    table = pa.table({"c": pa.array(cells, pa.string()), "d": [0] * len(cells)})
    for name in ENGINES.keys() - {"spark", "dask"}:  # slow, and a reader of objects as text
        assert count(ENGINES[name](table, folder), "c", candidates) == expected, name


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.none() | st.floats() | st.sampled_from([0.0, -0.0, 1.0])))
def test_any_floats(tmp_path_factory: pytest.TempPathFactory, cells: list[Any]) -> None:
    candidates = [c for c in cells if c is not None and c == c] + [0, BIG + 1]
    expected = [sum(cell == candidate for cell in cells) for candidate in candidates]
    table = pa.table({"c": pa.array(cells, pa.float64())})
    for name in TYPED.keys() - {"spark", "dask"}:  # Dask hands the column to pandas
        data = TYPED[name](table, tmp_path_factory.mktemp("any"))
        assert count(data, "c", candidates) == expected, name


MARITAL = {"Married-civ-spouse": 14976, "Never-married": 10683, "Divorced": 4443, "Separated": 1025}
MARITAL |= {"Widowed": 993, "Married-spouse-absent": 418, "Married-AF-spouse": 23}


@pytest.fixture(scope="module")
def adult() -> pa.Table:
    if not ADULT.exists():
        pytest.skip("the Adult data are not there")
    with ADULT.open(encoding="utf-8", newline="") as stream:
        return pa.table({"c": [row["marital_status"] for row in csv.DictReader(stream)]})


def test_adult(make: Make, adult: pa.Table) -> None:
    assert count(make(adult), "c", list(MARITAL)) == list(MARITAL.values())


def test_adult_file(adult: pa.Table) -> None:
    assert count(ADULT, "marital_status", list(MARITAL)) == list(MARITAL.values())
    assert sum(MARITAL.values()) == adult.num_rows


def test_years_at_the_ends_of_time() -> None:
    first = dt.datetime(1, 1, 1, tzinfo=PARIS)
    data = pa.table({"c": pa.array([NOON_UTC], pa.timestamp("us", "UTC"))})
    assert count(data, "c", [first, NOON_UTC]) == [0, 1]


# --- engines' own types


def test_pandas_objects() -> None:
    class Rude:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError(MARKER)

        def __hash__(self) -> int:
            return hash((False, 1))

    cells = [1, 1.0, True, "a", [1], None, float("nan"), pd.NA, pd.NaT, {}, D(1), Rude(), False, 0]
    data = pd.DataFrame({"c": pd.Series(cells, dtype=object)})
    assert count(data, "c", [1, True, "a", 0, False, "b"]) == [3, 1, 1, 1, 1, 0]
    found = distinct(data, "c")
    assert [v for v in found if isinstance(v, bool | str)] == [False, True, "a"]


def test_an_object_that_equals_two_values_joins_no_others() -> None:
    class EqualToAll:
        def __hash__(self) -> int:
            return hash(-1)  # and of -2

        def __eq__(self, other: object) -> bool:
            return True

    far = 2**120, 2**120 + 2**61 - 1  # of one hash; the double of NumPy is equal to both
    for row, values in ((EqualToAll(), (-1, -2)), (np.float64(2.0**120), far)):
        cells: list[object] = [row, *(values[i] for i in (0, 1, 1)), "text"]
        frame = pd.DataFrame({"c": pd.Series(cells, dtype=object)})
        assert sum(count(frame, "c", list(values))) <= 4
        assert count(frame, "c", list(values))[1] == 2
    cells = [1, 1.0, np.float32(1), np.int8(1), D(1), True, np.True_, "1", np.str_("1")]
    frame = pd.DataFrame({"c": pd.Series(cells, dtype=object)})
    assert count(frame, "c", [1, True, "1"]) == [5, 2, 2]


def test_what_pandas_objects_accept_does_not_depend_on_the_rows() -> None:
    samples: list[list[Any]] = [["a", "b"], ["a", 1], []]
    for cells in samples:
        data = pd.DataFrame({"c": pd.Series(cells, dtype=object)})
        assert count(data, "c", [1, "a"]) == [cells.count(1), cells.count("a")]


@pytest.mark.parametrize(
    ("cells", "candidates", "expected"),
    [
        (["x", "y", "x", None], ["x", "z"], [2, 0]),
        ([1, 2, 1], [1, 1.0, True, "1"], [2, 2, 0, 0]),
        ([True, False], [True, 1], [1, 0]),
    ],
)
def test_pandas_categories(cells: list[Any], candidates: list[Any], expected: list[int]) -> None:
    data = pd.DataFrame({"c": pd.Categorical(cells)})
    assert count(data, "c", candidates) == expected
    assert declared_categories(data, "c") is None
    ordered = pd.DataFrame({"c": pd.Categorical(cells, ordered=True)})
    assert count(ordered, "c", candidates) == expected
    assert declared_categories(ordered, "c") is None


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_categories(lazy: bool) -> None:
    for dtype, declared in ((pl.Enum(["x", "y", "w"]), ["x", "y", "w"]), (pl.Categorical, None)):
        frame = pl.DataFrame({"c": ["x", "y", "x", None]}, {"c": dtype})
        data: Any = frame.lazy() if lazy else frame
        assert count(data, "c", ["x", "z"]) == [2, 0]
        assert declared_categories(data, "c") == declared
        assert distinct(data, "c") == ["x", "y"]


def test_polars_wide_integers() -> None:
    data = pl.DataFrame({"c": [2**100, 2**100 + 1, None]}, {"c": pl.Int128})
    assert count(data, "c", [2**100 + 1, 1, 2**100 + 2, 2.0**100]) == [1, 0, 0, 1]


def test_arrow_dictionary_of_integers() -> None:
    data = pa.table({"c": pa.array([1, 2, 1, None]).dictionary_encode()})
    assert count(data, "c", [1, 3]) == [2, 0]
    with pytest.raises(InvalidCandidates, match=r"Int64|integer"):
        count(data, "c", ["1"])


def test_duckdb_types(tmp_path: Path) -> None:
    one, other = uuid.UUID(int=1), uuid.UUID(int=2)
    connection = duckdb.connect()
    relation = connection.sql(
        f"SELECT '{one}'::UUID AS u, 'x'::ENUM('x', 'y') AS e, "
        "1267650600228229401496703205376::HUGEINT AS h, '[1]'::JSON AS j"
    )
    relation.to_parquet(str(tmp_path / "t.parquet"))
    for data in (relation, tmp_path / "t.parquet"):
        assert count(data, "u", [one, other]) == [1, 0]
        assert parse_candidates(data, "u", [str(one)]) == [one]
        assert count(data, "e", ["x", "y", "z"]) == [1, 0, 0]
        assert count(data, "e", ["x", *(f"z{i}" for i in range(50))]) == [1] + [0] * 50
        assert declared_categories(data, "e") is None
        assert count(data, "j", ["[1]", "[2]"]) == [1, 0]
    assert count(relation, "h", [2**100, 2**100 + 1, 2.0**100]) == [1, 0, 1]


def test_duckdb_collation_does_not_make_words_equal() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (c VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO t VALUES ('a'), ('A')")
    assert count(connection.table("t"), "c", ["a"]) == [1]
    assert count(connection.table("t"), "c", ["a", *map(str, range(50))]) == [1] + [0] * 50


def test_parquet_columns_that_differ_in_case(tmp_path: Path) -> None:
    pq.write_table(pa.table({"A": [1, 1], "a": [2, 1]}), tmp_path / "t.parquet")
    assert count(tmp_path / "t.parquet", "A", [1]) == [2]
    relation = duckdb.connect().sql('SELECT 1 AS a, 2 AS "A"')
    assert [count(relation, name, [1, 2]) for name in "aA"] == [[1, 0], [0, 1]]


# --- distinct and parse_candidates


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("integers", [5, BIG, BIG + 1]),
        ("floats", [-INF, 0.0, 5e-324, 0.1, float(BIG), INF]),
        ("booleans", [False, True]),
        ("decimals", [D("1.1"), D(2)]),
        ("dates", [dt.date(1, 1, 1), DAY]),
        ("zoned", [NOON_UTC]),
        ("dictionary", ["a", "b"]),
        ("nulls", []),
    ],
)
@pytest.mark.one_in(3)
def test_distinct(make_typed: Make, case: str, expected: list[Any]) -> None:
    data = make_typed(pa.table({"c": TYPES[case][0]}))
    found = distinct(data, "c")
    assert found == expected
    assert sum(count(data, "c", found)) == sum(count(data, "c", expected))


PARSED: dict[str, tuple[list[str], list[Any], list[str]]] = {
    "integers": (["1", "-2", "+3"], [1, -2, 3], ["1.5", "x", "1_0", "", "٣"]),
    "floats": (["1", "0.1", "1e3", "-inf"], [1.0, 0.1, 1000.0, -INF], ["nan", "x", "0x1"]),
    "single": (["0.5", "0.1"], [0.5, 0.10000000149011612], ["1e300"]),
    "booleans": (["true", "False"], [True, False], ["1", "yes"]),
    "decimals": (["1.10", "2"], [D("1.1"), D(2)], ["nan", "inf"]),
    "dates": (["2020-02-29"], [DAY], ["2019-02-29", "x"]),
    "seconds": (["2020-02-29T12:00", "2020-02-29 12:00:00"], [NOON, NOON], ["2020-02-29T12:00Z"]),
    "zoned": (["2020-02-29T12:00Z"], [NOON_UTC], ["2020-02-29T12:00"]),
    "large text": (["1", " a "], ["1", " a "], []),
}


@pytest.mark.parametrize("case", PARSED)
@pytest.mark.one_in(5)
def test_parse_candidates(make_typed: Make, case: str) -> None:
    texts, expected, refused = PARSED[case]
    data = make_typed(pa.table({"c": TYPES[case][0]}))
    if has_objects(data):
        assert parse_candidates(data, "c", texts) == texts
        return
    found = parse_candidates(data, "c", texts)
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]
    for text in refused:
        with pytest.raises(InvalidCandidates, match="column 'c'"):
            parse_candidates(data, "c", [text])


# --- CSV


# --- errors


def test_a_file_without_header_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"39,{MARKER}\n50,x\n")
    with pytest.raises(MissingColumn, match="which is not shown, as it may be a row") as caught:
        count(tmp_path / "t.csv", "c", ["a"])
    assert_silent(caught.value)


def test_data_that_is_no_table() -> None:
    for data in ([1], None, 3, pd.Series([MARKER]), b"t.csv"):
        with pytest.raises(UnreadableData, match="data must be") as caught:
            count(data, "c", ["a"])
        assert_silent(caught.value)
    twice = pd.DataFrame([[MARKER, 2]], columns=["c", "c"])
    with pytest.raises(UnreadableData, match="distinct columns"):
        count(twice, "c", ["a"])


def assert_silent(error: BaseException) -> None:
    """The marker is nowhere in what a trace would show."""
    assert isinstance(error, DiscreetError)
    assert MARKER not in f"{error} {error!r} {error.args} {vars(error)}"
    assert error.__context__ is None
    assert error.__cause__ is None


def failing_sources() -> dict[str, Any]:
    texts = pl.LazyFrame({"c": ["1", MARKER]})
    relation = duckdb.connect().sql(f"SELECT unnest(['1', '{MARKER}'])::VARCHAR AS c")
    return {
        "polars-lazy": texts.with_columns(pl.col("c").cast(pl.Int64)),
        "polars-plan": texts.with_columns(pl.col(MARKER)),
        "duckdb": relation.select("c::INTEGER AS c"),
    }


@pytest.mark.parametrize("source", failing_sources())
def test_engines_that_fail_are_not_quoted(source: str) -> None:
    for verb in (lambda d: count(d, "c", [1]), lambda d: distinct(d, "c")):
        with pytest.raises(UnreadableData, match="not shown") as caught:
            verb(failing_sources()[source])
        assert_silent(caught.value)


def test_rare_types_are_refused_by_their_own_names() -> None:
    sources: dict[str, Any] = {
        "period": pd.DataFrame({"c": pd.period_range("2020", periods=1)}),
        "Object": pl.DataFrame({"c": pl.Series([MARKER], dtype=pl.Object)}),
        "Duration": pl.LazyFrame({"c": [dt.timedelta(1)]}),
        "date64": pa.table({"c": pa.array([DAY], pa.date64())}),
        "MAP": duckdb.connect().sql(f"SELECT MAP {{'{MARKER}': 1}} AS c"),
    }
    for word, data in sources.items():
        with pytest.raises(UnreadableData, match=word) as caught:
            count(data, "c", ["x"])
        assert_silent(caught.value)


def test_dates_beyond_python_are_counted_past() -> None:
    far = pl.Series([0, 10**18]).cast(pl.Datetime("us"))
    assert count(pl.DataFrame({"c": far}), "c", [dt.datetime(1970, 1, 1)]) == [1]
    objects = pd.DataFrame({"c": far.to_numpy().astype("datetime64[s]")})
    assert count(objects, "c", [dt.datetime(1970, 1, 1)]) == [1]
    assert distinct(objects, "c") == [dt.datetime(1970, 1, 1)]


def test_no_error_holds_a_private_value(make: Make) -> None:
    data = make(pa.table({"c": [MARKER, "a", None], "d": ["1", "2", MARKER]}))
    calls: list[Callable[[], object]] = [
        lambda: count(data, "missing", ["a"]),
        lambda: count(data, "c", [None, float("nan")]),
        lambda: count(data, "c", [1.5]),
        lambda: count(data, "c", ["a", b"1"]),
        lambda: count(data, "c", "a"),
        lambda: count(data, "c", [["a"]]),
        lambda: distinct(data, "C"),
        lambda: parse_candidates(data, "D", ["1"]),
        lambda: declared_categories(data, "x"),
    ]
    for call in calls:
        with pytest.raises(DiscreetError) as caught:
            call()
        assert_silent(caught.value)


def test_importing_is_light() -> None:
    code = (
        "import sys, discreet.tables.engines as t\n"
        "heavy = {'narwhals', 'duckdb', 'pandas', 'polars', 'pyarrow', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("many", [False, True])
def test_categories_with_any_character_are_told_apart(many: bool) -> None:
    words = ["a", "a,", ",0", ",0,1", "\x1f", "a\\x41", "'", ""] + ["w" + str(i) for i in range(50)]
    connection = duckdb.connect()
    listed = ", ".join("'" + word.replace("'", "''") + "'" for word in words)
    connection.execute(f"CREATE TYPE word AS ENUM ({listed})")
    texts = connection.from_arrow(pa.table({"c": [*words, *words[:8]]}))
    candidates = words if many else words[:8]
    expected = [1 + (word in words[:8]) for word in candidates]
    assert count(texts, "c", candidates) == expected
    assert count(texts.select("CAST(c AS word) AS c"), "c", candidates) == expected


def test_nanoseconds_with_a_zone(tmp_path: Path) -> None:
    column = pa.array([NOON_UTC, NOON_UTC, None], pa.timestamp("ns", "UTC"))
    pq.write_table(pa.table({"c": column}), tmp_path / "t.parquet")
    relation = duckdb.connect().from_arrow(pa.table({"c": column}))
    for data in (tmp_path / "t.parquet", relation):
        later = NOON_UTC + dt.timedelta(microseconds=1)
        assert count(data, "c", [NOON_UTC, NOON_UTC.astimezone(PARIS), later]) == [2, 2, 0]


def test_decimals_of_many_digits_after_the_point(tmp_path: Path) -> None:
    """Their texts have no exponent: of 1E-9 DuckDB would make a double."""
    for digits in ((9, 9), (18, 9), (38, 38), (38, 10)):
        least = D(1).scaleb(-digits[1])
        column = pa.array([least, least, D(0), None], pa.decimal128(*digits))
        pq.write_table(pa.table({"c": column}), tmp_path / "t.parquet")
        relation = duckdb.connect().from_arrow(pa.table({"c": column}))
        for data in (tmp_path / "t.parquet", relation):
            assert count(data, "c", [least, 0, 2 * least]) == [2, 1, 0], digits
