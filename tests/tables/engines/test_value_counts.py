"""Counting a file by value: one statement, of a form that public facts decide, and the same counts in each form."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import mode
from discreet.selection.candidates import Labels
from discreet.tables.engines import files
from discreet.tables.engines.database import connect_memory
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.value_counts import (
    MOST_IN_A_LIST,
    MOST_TEXTS,
    count_statement,
    parameter_number,
    parse_statement,
)

ROWS = "SELECT c AS cell FROM rows"
LENGTHS = (1, MOST_TEXTS, MOST_TEXTS + 1, MOST_IN_A_LIST, MOST_IN_A_LIST + 1)


def nodes(plan: dict[str, Any]) -> Iterator[str]:
    """Yield the names of a plan from the top down, of the rows' side first."""
    yield plan["name"]
    for child in plan["children"]:
        yield from nodes(child)


def plan_of(native: str, number: int, *, has_few: bool) -> list[str]:
    """Return the steps of a statement about many rows, the last one first, as DuckDB plans it."""
    with duckdb.connect() as connection:
        column = "range::VARCHAR" if native == "BLOB" else "range"
        connection.execute(
            f"CREATE TABLE rows AS SELECT {column} AS c FROM range(100000)"
        ).fetchall()
        cell = "encode(cell)" if native == "BLOB" else "cell"
        text = count_statement(ROWS, cell, native, number, has_few=has_few)
        values = {"together": ",".join(map(str, range(number))), "between": ","}
        [(_, plan)] = connection.execute(f"EXPLAIN (FORMAT JSON) {text}", values).fetchall()
    steps = ("GROUP_BY", "JOIN", "SEQ_SCAN")
    return [step for name in nodes(json.loads(plan)[0]) for step in steps if step in name]


@pytest.mark.parametrize("native", ["BLOB", "BIGINT"])
@pytest.mark.parametrize("number", LENGTHS)
def test_groups_are_no_more_than_the_values_unless_the_column_has_few(
    native: str, number: int
) -> None:
    """Rows are grouped after they were compared, so that memory is bounded by the number of values asked for."""
    names = plan_of(native, number, has_few=False)
    short = native == "BLOB" and number <= MOST_TEXTS
    assert names == (["GROUP_BY", "SEQ_SCAN"] if short else ["GROUP_BY", "JOIN", "SEQ_SCAN"])
    text = count_statement(ROWS, "cell", native, number, has_few=False)
    assert ("WHERE list_position" in text) == short


@pytest.mark.parametrize("number", LENGTHS)
def test_where_the_column_has_few_values_rows_are_counted_before_anything_is_compared(
    number: int,
) -> None:
    by_join = ["GROUP_BY", "JOIN"] if number > MOST_IN_A_LIST else []
    assert plan_of("BLOB", number, has_few=True) == [*by_join, "GROUP_BY", "SEQ_SCAN"]


class Connection:
    """A connection that notes what it is asked."""

    def __init__(self, inner: Any = None) -> None:
        self.inner, self.calls = inner or connect_memory(), list[str]()

    def sql(self, text: str, **options: Any) -> Any:
        self.calls.append("schema" if "read_parquet" in text else text)
        return self.inner.sql(text, **options)

    def execute(self, text: str, *options: Any) -> Any:
        self.calls.append("count")
        return self.inner.execute(text, *options)


@pytest.mark.parametrize("are_all", [False, True])
@pytest.mark.parametrize("number", LENGTHS)
@pytest.mark.parametrize("column", ["texts", "numbers"])
def test_a_file_is_asked_for_its_schema_and_counted_by_one_statement(
    column: str, number: int, are_all: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write(tmp_path / "t.parquet")
    values: list[Any] = list(dict.fromkeys(v for v in table[column].to_pylist() if v is not None))
    connection = Connection()
    monkeypatch.setattr(files, "connect_memory", lambda: connection)
    for work in ("project", "aggregate", "join"):
        monkeypatch.setattr(duckdb.DuckDBPyRelation, work, once(work, monkeypatch))
    candidates = Labels(values[:number], are_all=are_all)
    [counts] = open_table(tmp_path / "t.parquet", column).tally(candidates)
    assert connection.calls == ["schema", "count"]
    assert counts == [table[column].to_pylist().count(value) for value in values[:number]]


def once(work: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a method that may be called once, for the columns, and no other."""
    method = getattr(duckdb.DuckDBPyRelation, work)

    def called(self: Any, *args: Any, **options: Any) -> Any:
        assert work == "project", f"{work} binds the query once more"
        return method(self, *args, **options)

    return called


def write(path: Path) -> pa.Table:
    """Write a file of texts and numbers, some of them missing."""
    places = [i * i % 101 if i % 7 else None for i in range(3000)]
    texts = [None if i is None else f"a,{i}'" for i in places]
    numbers = [None if i is None else i - 50 for i in places]
    table = pa.table({"texts": texts, "numbers": pa.array(numbers, pa.int64())})
    pq.write_table(table, path)
    return table


@pytest.mark.parametrize("values", [[0.0], [1.0, 0.0, 2.5]])
def test_both_zeros_are_one_number_and_nan_is_none(values: Sequence[float], tmp_path: Path) -> None:
    cells = [0.0, -0.0, float("nan"), None, 1.0] * 1000
    pq.write_table(pa.table({"c": cells}), tmp_path / "t.parquet")
    [counts] = open_table(tmp_path / "t.parquet", "c").tally(values)
    assert dict(zip(values, counts, strict=True)).items() <= {0.0: 2000, 1.0: 1000, 2.5: 0}.items()


def test_a_condition_is_not_left_out_of_the_count(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet")
    terms: dict[str, Any] = {"candidates": [-50, -49], "epsilon": 1000}
    assert mode(tmp_path / "t.parquet", "numbers", **terms).value == -49
    assert mode(tmp_path / "t.parquet", "numbers", **terms, where="numbers = -50").value == -50


def test_rows_of_several_files_are_all_counted(tmp_path: Path) -> None:
    table = write(tmp_path / "1.parquet")
    write(tmp_path / "2.parquet")
    [[count]] = open_table(tmp_path, "texts").tally(["a,0'"])
    assert count == 2 * table["texts"].to_pylist().count("a,0'")


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("number", LENGTHS)
@pytest.mark.parametrize("has_others", [True, False])
def test_a_file_of_text_is_counted_in_one_statement_without_a_relation(
    kind: str, number: int, has_others: bool, tmp_path: Path
) -> None:
    """However many values are asked for, and whether or not the column has others: the counts are Python's."""
    texts = [str(place % 97) for place in range(500)]
    lines = ["x", *texts] if kind == "csv" else [json.dumps({"x": text}) for text in texts]
    path = tmp_path / f"rows.{kind}"
    path.write_text("\n".join(lines) + "\n")
    table = open_table(path, "x")
    native: Any = table.native
    connection = Connection(native.query.connection)
    native = replace(native, query=replace(native.query, connection=connection), source=never)
    wanted: dict[object, int] = {str(one): one for one in range(number)}
    tally = native.tally_places(table.type(), wanted, has_others=has_others)
    assert tally is not None
    there = {one: texts.count(str(one)) for one in range(number) if str(one) in texts}
    assert dict(zip(*tally, strict=True)) == there
    assert connection.calls == ["count"]


def never() -> Any:
    """Fail: a relation was made where none is needed."""
    raise AssertionError("a relation was made")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_question_that_is_asked_again_is_parsed_once(kind: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.{kind}" for name in "ab"]
    for path, text in zip(paths, ("x", "y"), strict=True):
        if kind == "parquet":
            pq.write_table(pa.table({"c": [text]}), path)
        else:
            path.write_text(f"c\n{text}\n" if kind == "csv" else json.dumps({"c": text}) + "\n")
    parse_statement.cache_clear()
    for times in range(1, 4):
        counts = [open_table(path, "c").tally(["x", "y"]) for path in paths]
        assert counts == [[[1, 0]], [[0, 1]]]
        assert parse_statement.cache_info()[:2] == (2 * times - 2, 2)  # found, parsed


def test_parameters_share_names_only_where_they_stand_for_the_same() -> None:
    assert parameter_number("a") == parameter_number("a") != parameter_number("b")
