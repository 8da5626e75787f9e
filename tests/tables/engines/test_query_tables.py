"""The tables of a query."""

from pathlib import Path

import pytest

from discreet.tables.datasets.extents import extent_of
from discreet.tables.engines.query_tables import (
    ALL_TABLES,
    QueryTables,
    files_in,
    read_query_tables,
    same_tables,
    tables_in,
)
from tests.tables.datasets.test_extents import SERVER


def test_what_a_catalogue_told_counts_in_place_of_names() -> None:
    place = {"query": "SELECT age FROM view", "connection": SERVER}
    people = extent_of(place, QueryTables(("public.people",), numbers=(1, 2)).as_dict)
    whole = extent_of(place, ALL_TABLES)
    renamed = extent_of(place, QueryTables(("public.persons",), numbers=(2,)))
    other = extent_of(place, QueryTables(("s.people",), numbers=(3,)))
    named = extent_of({**place, "query": "SELECT 1 FROM People"})
    nothing = extent_of(place, QueryTables(()))
    assert None not in (people, whole, renamed, other, named, nothing)
    for one, overlap in (
        (whole, True),
        (renamed, True),
        (named, True),
        (other, False),
        (nothing, False),
    ):
        assert people is not None
        assert one is not None
        assert people.overlaps(one) is one.overlaps(people) is overlap
    assert extent_of(None) is None


def test_a_query_is_parsed_and_not_run(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert tables_in(f"COPY (SELECT 1) TO '{out}'") is None
    assert tables_in(f"SELECT * FROM read_csv('{out}')") is None
    assert tables_in("SELECT " + "(" * 5000 + "1" + ")" * 5000) is None
    assert not out.exists()


def test_files_in_a_query_are_found_in_any_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it's").write_text("x")
    here = [
        "SELECT * FROM 'a.parquet'", 'SELECT * FROM "a.parquet"',
        "FROM read_parquet(['a.parquet'], union_by_name=true)",
        "FROM x($$a.parquet$$, $q$a.parquet$q$)",
    ]  # fmt: skip
    for query in here:
        assert files_in(query) == [str(tmp_path / "a.parquet")]
    assert files_in("FROM read_csv('it''s', delim=';', decimal_separator='.')") == [
        str(tmp_path / "it's")
    ]
    assert files_in("FROM 's3://bucket/a'") == ["s3://bucket/a"]
    assert files_in("SELECT '' FROM \"people\"") == []


def test_tables_are_written_and_read() -> None:
    whole = QueryTables(("main.people",), ("/a.csv",), "hash", (7,), "1:2")
    for tables in (whole, ALL_TABLES, QueryTables(())):
        assert read_query_tables(tables.as_dict) == tables
    assert same_tables(whole.as_dict, {**whole.as_dict, "numbers": [8], "database": "3:4"})
    changes: list[dict[str, object]] = [{"tables": None}, {"files": []}, {"views": "other"}]
    for changed in changes:
        assert not same_tables(whole.as_dict, {**whole.as_dict, **changed})
