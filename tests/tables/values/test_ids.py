"""Ids of privacy units: the same ids are the same units in every source, of one column and of several."""

import hashlib
import json
import sqlite3
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import MissingColumn, UnreadableData
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.native import SIZE
from discreet.tables.engines.records import START, Records
from discreet.tables.values.ids import id_text, sql_json_id, start_of_rule, unit_bytes
from discreet.tables.values.kinds import ColumnType

from ...engines import ENGINES, TYPED, SelfClosing

Units = Counter[tuple[int, int]]
"""How many units there are with a start of the rule and a number of rows."""


def start(*texts: str) -> int:
    """Where the rule starts, as docs/how-to/user_level_privacy.md has it."""
    parts = [text.encode() for text in texts]
    whole = parts[0] if len(parts) == 1 else b"".join(b"%d:" % len(p) + p for p in parts)
    return int.from_bytes(hashlib.sha256(b"discreet:" + whole).digest()[:4], "big")


def of_rows(rows: list[Any]) -> Units:
    """The units of rows, given the texts of each row's ids; None for a row of nobody."""
    sizes = Counter(row for row in rows if row is not None)
    texts = {row: (row,) if isinstance(row, str) else row for row in sizes}
    return Counter((start(*texts[row]), size) for row, size in sizes.items())


def in_table(data: Any, unit: Any = "p", column: str = "c") -> Units:
    """The units of a table."""
    table = open_table(data, column, Records(unit))
    units = table.native.units(table.record_rows(), table.unit_type).select(START, SIZE)
    starts, sizes = table.native.fetch(units, ColumnType("", "integer", ""))
    return Counter(zip(starts.tolist(), sizes.tolist(), strict=True))


def lines(path: Path, cells: list[str]) -> Path:
    """A file of JSON lines with these texts as ids; '' where a line has none."""
    texts = [
        f'{{"c": "x"{cell and ", "}{cell and chr(34) + "p" + chr(34) + ": "}{cell}}}'
        for cell in cells
    ]
    path.write_text("\n".join(texts) + "\n")
    return path


ROWS = ["7", "10", "7", None, "10", "10", "-3", "12345678901234567890"]
"""The ids of rows, as decimals of twenty digits have them."""

NUMBERS = [None if row is None else int(row) for row in ROWS]
DECIMALS = [None if row is None else Decimal(row) for row in ROWS]
SHIFTED = [None if row is None else Decimal(row).scaleb(-2) for row in ROWS]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "of", [pa.decimal128(20, 0), pa.decimal128(38, 2), pa.decimal256(30, 4)], ids=str
)
def test_decimals_are_units_in_every_engine(of: pa.DataType, engine: str, tmp_path: Path) -> None:
    if engine == "csv" and of.scale:
        pytest.skip("a CSV file has texts")
    if engine in ("duckdb", "polars", "polars-lazy") and pa.types.is_decimal256(of):
        pytest.skip("the engine has no such type")
    table = pa.table({"p": pa.array(DECIMALS, of), "c": ["x"] * len(ROWS)})
    data = ENGINES[engine](table, tmp_path)
    assert in_table(data) == of_rows(ROWS)


SMALL = ["0.5", "-0.25", "0", None, "0.5", "0.00000001", "0.000000012"]


@pytest.mark.parametrize("engine", TYPED)
@pytest.mark.parametrize(
    "of", [pa.decimal128(9, 9), pa.decimal128(38, 38), pa.decimal128(12, 9)], ids=str
)
def test_decimals_below_one_are_units_by_value(
    of: pa.DataType, engine: str, tmp_path: Path
) -> None:
    cells = [None if text is None else Decimal(text) for text in SMALL]
    table = pa.table({"p": pa.array(cells, of), "c": ["x"] * len(cells)})
    assert in_table(TYPED[engine](table, tmp_path)) == of_rows(SMALL)


def sources(folder: Path) -> dict[str, Any]:
    """The rows of ROWS, wherever Python, SQL or JSON may have them."""
    one = ["x"] * len(ROWS)
    frame = pd.DataFrame({"p": pd.Series(NUMBERS, dtype=object), "c": one})
    mixed = [
        7,
        "10",
        7.0,
        None,
        Decimal("10.0"),
        np.int64(10),
        np.float64(-3),
        Decimal(ROWS[-1] or ""),
    ]
    written = ["7", "10", "7.0", "null", "1e1", '"10"', "-30E-1", "12345678901234567890.0"]
    duck = duckdb.connect()
    duck.sql("CREATE TABLE t (p DECIMAL(20,0), c VARCHAR)")
    duck.executemany("INSERT INTO t VALUES (?, 'x')", [[row] for row in ROWS])
    lite = sqlite3.connect(folder / "t.sqlite", factory=SelfClosing)
    lite.execute("CREATE TABLE t (p TEXT, c TEXT)")
    lite.executemany("INSERT INTO t VALUES (?, 'x')", [[row] for row in ROWS])
    return {
        "objects": frame,
        "decimal objects": frame.assign(p=pd.Series(DECIMALS, dtype=object)),
        "texts": frame.assign(p=pd.Series(ROWS, dtype=object)),
        "mixed objects": frame.assign(p=pd.Series(mixed, dtype=object)),
        "category": frame.assign(p=frame.p.astype("category")),
        "category of text": frame.assign(p=pd.Series(ROWS).astype("category")),
        "category of decimals": frame.assign(p=pd.Series(DECIMALS, dtype=object).astype("category")),
        "dicts": [{"p": number, "c": "x"} for number in mixed],
        "absent": [{"c": "x"} if number is None else {"p": number, "c": "x"} for number in mixed],
        "lists": {"p": mixed, "c": one},
        "parsed": [json.loads(f'{{"p": {text}, "c": "x"}}', parse_float=Decimal) for text in written],
        "JSON lines": lines(folder / "t.jsonl", written),
        "duckdb": duck.table("t"),
        "sql of duckdb": discreet.scan_query("SELECT p, c FROM t", duck),
        "sql of sqlite": discreet.scan_query("SELECT p, c FROM t", lite),
    }  # fmt: skip


def test_the_same_ids_are_the_same_units_in_every_source(tmp_path: Path) -> None:
    found = {name: in_table(data) for name, data in sources(tmp_path).items()}
    assert found == dict.fromkeys(found, of_rows(ROWS))


NOBODY = ["true", "false", "null", "[7]", '{"p": 7}', "", "1e1001", "-1e-1002", "1e99999999999"]


def test_what_is_no_id_is_nobody_in_json_as_in_objects(tmp_path: Path) -> None:
    cells = [*NOBODY, "7"]
    data = lines(tmp_path / "t.jsonl", cells)
    parsed = [json.loads(line, parse_float=Decimal) for line in data.read_text().splitlines()]
    assert in_table(data) == in_table(parsed) == of_rows(["7"])


ROUNDED = [
    0.5,
    2.0**53,
    -(2.0**53),
    float("inf"),
    float("nan"),
    np.float32(7),
    np.float16(7),
    np.longdouble(7),
]


def test_what_may_have_been_rounded_is_nobody() -> None:
    kept = [7.0, -0.0, 2.0**53 - 1]
    rows = [{"p": cell, "c": "x"} for cell in [*ROUNDED, *kept]]
    assert in_table(rows) == of_rows(["7", "0", "9007199254740991"])


OTHERS: dict[str, Any] = {
    "floats": [1.0, 2.0],
    "float32": np.array([1, 2], dtype=np.float32),
    "dates": pd.to_datetime(["2024-01-01", "2024-01-02"]),
    "zoned": pd.to_datetime(["2024-01-01", "2024-01-02"]).tz_localize("UTC"),
    "truths": [True, False],
    "nullable floats": pd.array([1.5, None], dtype="Float64"),
    "arrow floats": pd.array([1.5, None], dtype=pd.ArrowDtype(pa.float64())),
    "intervals": pd.interval_range(0, 2),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_category_is_refused_as_its_values_are(kind: str) -> None:
    plain = pd.DataFrame({"p": pd.Series(OTHERS[kind]), "c": ["x", "y"]})
    said = []
    for data in (plain, plain.assign(p=plain.p.astype("category"))):
        with pytest.raises(UnreadableData) as refusal:
            discreet.mode(data, "c", candidates=["x"], privacy_unit="p", epsilon=1)
        said.append(str(refusal.value))
    assert all("column 'p'" in one and "privacy_unit" in one for one in said)
    assert "category of" in said[1]


def test_a_refusal_depends_on_no_row() -> None:
    for cells in ([], [1.5, None]):
        series = pd.Series(pd.Categorical(cells, categories=[1.5, 2.5]))
        data = pd.DataFrame({"p": series, "c": ["x"] * len(cells)})
        with pytest.raises(UnreadableData, match="category of float64"):
            discreet.mode(data, "c", candidates=["x"], privacy_unit="p", epsilon=1)


DIGITS = st.text("0123456789", min_size=1, max_size=25)
NUMERALS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-"]),
    st.one_of(st.just("0"), DIGITS.map(lambda digits: digits.lstrip("0") or "0")),
    st.one_of(st.just(""), DIGITS.map(".{}".format)),
    st.one_of(
        st.just(""),
        st.builds(
            "{}{}{}".format,
            st.sampled_from("eE"),
            st.sampled_from(["", "+", "-"]),
            st.integers(0, 1100),
        ),
    ),
)


@given(st.lists(NUMERALS, min_size=1, max_size=20))
def test_numbers_in_json_are_told_apart_by_value(numerals: list[str]) -> None:
    """Whatever stands in other fields; a text with digits in it is not rewritten."""
    texts = [f'{{"a": [1.50, "1.50\\" 2e1"], "p": {one}, "1.0": -2.0e5}}' for one in numerals]
    rows = duckdb.connect().execute(
        f"SELECT {sql_json_id('c0', '$p')} FROM (SELECT unnest($texts) AS c0)",
        {"texts": texts, "p": "/p"},
    )
    assert [row[0] for row in rows.fetchall()] == [id_text(Decimal(one)) for one in numerals]


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_decimal_has_its_value_and_no_other_has_it(number: Decimal) -> None:
    text = id_text(number)
    if text is None:
        assert abs(number.adjusted() + 1) > 1000
    else:
        assert Decimal(text) == number
        assert text == "0" or not text.startswith(("00", "-00", ".", "-."))
        assert "E" not in text
        assert "." not in text or text[-1] not in "0."


# Units of several columns.

TRICKY = ["a", "", "1:a", "a1:b", "b", "2:", "é", "7"]
PAIRS = [(a, b) for a in TRICKY for b in TRICKY if a and b]


@given(st.lists(st.text(), min_size=2, max_size=4), st.lists(st.text(), min_size=2, max_size=4))
def test_lists_of_texts_are_put_together_differently(one: list[str], other: list[str]) -> None:
    assert (unit_bytes(one) == unit_bytes(other)) == (one == other)


def test_pairs_are_put_together_as_the_docs_say() -> None:
    assert unit_bytes(["a", "é"]) == b"1:a2:\xc3\xa9"
    assert start_of_rule(unit_bytes(["a", "é"])) == start("a", "é")


def pairs(columns: dict[str, list[Any]]) -> list[tuple[str, ...] | None]:
    """The texts of the ids of every row, the columns in alphabetical order."""
    rows = [*zip(*(columns[name] for name in sorted(columns)), strict=True)]
    return [None if None in row else tuple(str(id_text(cell)) for cell in row) for row in rows]


OF_TEXT: dict[str, list[Any]] = {
    "h": [a for a, _ in PAIRS] * 2 + [None, "a", None],
    "p": [b for _, b in PAIRS] * 2 + ["a", None, None],
}
OF_NUMBERS: dict[str, list[Any]] = {
    "h": [Decimal("1.50"), Decimal("1.5"), Decimal("-0.25"), None, Decimal("11.00"), Decimal("1")],
    "p": [1, 1, 7, 7, 1, 11],
}
MIXED: dict[str, list[Any]] = {"h": ["a", "a", "b", None, "a", "a"], "p": [1, 1, 7, 7, None, 11]}
TYPES = {"text": pa.string(), "Decimal": pa.decimal128(12, 2), "int": pa.int64()}
PLANS: dict[str, tuple[dict[str, list[Any]], list[str]]] = {
    "texts": (OF_TEXT, ["text", "text"]),
    "numbers": (OF_NUMBERS, ["Decimal", "int"]),
    "mixed": (MIXED, ["text", "int"]),
    "categories": (MIXED, ["category", "int"]),
}


def tabled(plan: str) -> pa.Table:
    columns, types = PLANS[plan]
    arrays = {
        name: pa.array(cells, pa.string()).dictionary_encode()
        if of == "category"
        else pa.array(cells, TYPES[of])
        for (name, cells), of in zip(columns.items(), types, strict=True)
    }
    return pa.table({**arrays, "c": ["x"] * len(columns["h"])})


@pytest.mark.parametrize("engine", TYPED)
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.one_in(5)
def test_units_of_two_columns_are_one_in_every_engine(
    plan: str, engine: str, tmp_path: Path
) -> None:
    data = TYPED[engine](tabled(plan), tmp_path)
    if engine in ("pandas", "dask") and plan == "numbers":
        data = data.astype({"p": "Int64"})
    assert in_table(data, ("h", "p")) == of_rows(pairs(PLANS[plan][0]))


@pytest.mark.parametrize("plan", PLANS)
def test_units_of_two_columns_are_one_in_objects_and_files(plan: str, tmp_path: Path) -> None:
    columns = PLANS[plan][0]
    rows = [{"h": h, "p": p, "c": "x"} for h, p in zip(columns["h"], columns["p"], strict=True)]
    expected = of_rows(pairs(columns))
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row, default=float) + "\n" for row in rows))
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    for data in (rows, frame.assign(c="x"), path):
        assert in_table(data, ("h", "p")) == expected


def test_a_typed_column_beside_one_of_objects() -> None:
    frame = pd.DataFrame(
        {"h": pd.Series(["a", 7, "7", None], dtype=object), "p": [1, 2, 2, 3], "c": "x"}
    )
    expected = of_rows([("a", "1"), ("7", "2"), ("7", "2"), None])
    assert in_table(frame, ("h", "p")) == expected
    with pytest.raises(
        UnreadableData, match="column 'p', of type Float64, cannot be the privacy_unit"
    ):
        in_table(frame.assign(p=[1.0, 2.0, 2.0, 3.0]), ("h", "p"))


def test_each_column_of_a_unit_must_be_there_and_of_a_type_of_ids() -> None:
    frame = pd.DataFrame({"h": ["a"], "p": [1.5], "c": ["x"]})
    with pytest.raises(UnreadableData, match="column 'p'"):
        discreet.mode(frame, "c", candidates=["x"], privacy_unit=["h", "p"], epsilon=1)
    with pytest.raises(MissingColumn, match="privacy_unit: there is no column 'q'"):
        discreet.mode(frame, "c", candidates=["x"], privacy_unit=["h", "q"], epsilon=1)
