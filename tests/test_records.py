"""Records: one person with many rows, and groups; the same from every engine, and bounded as proved."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.tables import numbers, recorded
from discreet.tables.records import Records

from .engines import ENGINES

Row = tuple[Any, Any, Any]
"""A person, a group, a value."""

PERSONS = ["ann", "Ann", "bob", "é", "e\u0301", "", None]
GROUPS = ["north", "south", "east", "nowhere", None]


def table(rows: Iterable[Row], value: pa.DataType) -> pa.Table:
    persons, groups, values = zip(*rows, strict=True) if rows else ((), (), ())
    texts = pa.string()
    return pa.table(
        {
            "value": pa.array(values, value),
            "*": pa.array(persons, texts),
            "the group": pa.array(groups, texts),
        }
    )


# --- the rule, written as plainly as possible


def stays(items: list[Any], person: str, most: int) -> list[Any]:
    """The items that stay of one person, given in order."""
    start = int(hashlib.sha256(f"discreet:{person}".encode()).hexdigest()[:8], 16)
    m = len(items)
    return [item for j, item in enumerate(items) if (j * most + start) % m < most]


def bounded(rows: list[Row], records: Records, empty_is_nobody: bool = False) -> list[Row]:
    """The rows that count, by the definition in docs/persons.md and docs/groups.md."""
    nobody = (None, "") if empty_is_nobody else (None,)
    kept = [row for row in rows if records.unit is None or row[0] not in nobody]
    kept = [row for row in kept if records.by is None or row[1] in records.groups]
    if records.unit is None:
        return kept
    found: list[Row] = []
    for person in dict.fromkeys(row[0] for row in kept):
        own = [row for row in kept if row[0] == person]
        if records.by is not None:
            there = [group for group in records.groups if group in {row[1] for row in own}]
            few = stays(there, person, records.most_groups)
            own = [row for row in own if row[1] in few]
        found += own
    return found


def naive_tally(rows: list[Row], records: Records, candidates: list[Any]) -> list[list[int]]:
    groups = records.groups if records.by else (None,)
    tallied = []
    for group in groups:
        own = [row for row in rows if records.by is None or row[1] == group]
        pairs = [(row[0], row[2]) for row in own]
        counted = list(set(pairs)) if records.unit else pairs
        tallied.append([sum(value == c for _, value in counted) for c in candidates])
    return tallied


def naive_parts(rows: list[Row], records: Records) -> list[list[Any]]:
    rows = [row for row in rows if row[2] is not None and row[2] == row[2]]
    parts = []
    for group in records.groups if records.by else (None,):
        own = [row for row in rows if records.by is None or row[1] == group]
        if records.unit and records.rows:
            kept: list[Any] = []
            for person in dict.fromkeys(row[0] for row in own):
                ordered = sorted(row[2] for row in own if row[0] == person)
                kept += stays(ordered, person, records.rows)
            parts.append(sorted(kept))
        else:
            parts.append(sorted(row[2] for row in own))
    return parts


PLANS = {
    "persons": Records("*", rows=1),
    "two rows": Records("*", rows=2),
    "groups": Records(by="the group", groups=("north", "south", "west")),
    "both": Records("*", 1, "the group", ("north", "east", "south"), 1),
    "two groups": Records("*", 2, "the group", ("south", "west", "east", "north"), 2),
    "all groups": Records("*", 1, "the group", ("south", "north"), 2),
    "many groups": Records("*", 3, "the group", ("south", "north", *map(str, range(40))), 1),
}
TEXTS = st.lists(
    st.tuples(
        st.sampled_from(PERSONS),
        st.sampled_from(GROUPS),
        st.sampled_from(["tea", "Tea", "milk", None, ""]),
    ),
    max_size=24,
)
FLOATS = st.lists(
    st.tuples(
        st.sampled_from(PERSONS),
        st.sampled_from(GROUPS),
        st.none() | st.sampled_from([0.0, -0.0, 1.5, -2.0, 1e300, float("nan"), float("inf")]),
    ),
    max_size=24,
)


def slow(engine: str) -> int:
    return {"spark": 4, "dask": 8}.get(engine, 20)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("plan", PLANS)
def test_counts_are_those_of_the_definition(engine: str, plan: str, tmp_path: Path) -> None:
    records, candidates = PLANS[plan], ["tea", "milk", "absent", ""]

    @settings(max_examples=slow(engine), suppress_health_check=list(HealthCheck))
    @given(TEXTS)
    def check(rows: list[Row]) -> None:
        data = ENGINES[engine](table(rows, pa.string()), tmp_path)
        if engine == "csv":
            rows = [(person, group, value or "") for person, group, value in rows]
        kept = bounded(rows, records, empty_is_nobody=engine == "csv")
        expected = naive_tally(kept, records, candidates)
        assert recorded(data, "value", records).tally(candidates) == expected
        longer = candidates + [f"v{i}" for i in range(40)]
        longest = recorded(data, "value", records).tally(longer)
        assert longest == [counts + [0] * 40 for counts in expected]

    check()


def fetched(part: tuple[Any, str | None]) -> list[Any]:
    return sorted(numbers(*part).tolist())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("plan", PLANS)
def test_numbers_are_those_of_the_definition(engine: str, plan: str, tmp_path: Path) -> None:
    records = PLANS[plan]

    @settings(max_examples=slow(engine), suppress_health_check=list(HealthCheck))
    @given(FLOATS)
    def check(rows: list[Row]) -> None:
        data = ENGINES[engine](table(rows, pa.float64()), tmp_path)
        kept = bounded(rows, records, empty_is_nobody=engine == "csv")
        parts = recorded(data, "value", records).parts()
        assert [fetched(part) for part in parts] == naive_parts(kept, records)

    check()


@pytest.mark.parametrize("by_duckdb", [False, True])
def test_statistics_of_parquet_do_not_let_nan_in(tmp_path: Path, by_duckdb: bool) -> None:
    """The statistics say [0, 0]; believing them, DuckDB would not evaluate a filter on NaN."""
    rows: list[Row] = [("ann", "north", 0.0), ("ann", "north", float("nan"))]
    path = ENGINES["parquet"](table(rows, pa.float64()), tmp_path)
    data = duckdb.connect().read_parquet(str(path)) if by_duckdb else path
    for records in (PLANS["persons"], PLANS["groups"]):
        assert fetched(recorded(data, "value", records).parts()[0]) == [0.0]
