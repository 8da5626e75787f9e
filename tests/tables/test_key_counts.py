"""Keys and their counts: in every engine those of the definition in plain Python, by a few integers."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import UnreadableData
from discreet.tables.key_counts import KeyCounts, KeyTable

from ..engines import ENGINES, crossed

Row = tuple[Any, Any]
"""A person and a key."""

PERSONS = ["ann", "Ann", "bob", "é", "e\u0301", "", None]
KEYS = ["milk", "Milk", "milk ", "é", "e\u0301", "", "z", None]
SURE = 3


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


def every_key(counts: KeyCounts, sure: int = SURE) -> dict[Any, int]:
    """All keys with their counts, each of them fetched by its place."""
    sizes = counts.classes(1, sure)
    places = {count: range(sizes[count - 1]) for count in range(1, sure)}
    rows = counts.fetch(places, sure)
    assert len(dict(rows)) == len(rows)
    assert [key for key, _ in rows] == sorted(key for key, _ in rows)
    return dict(rows)


def check(counts: KeyCounts, expected: list[Row]) -> None:
    """The counts are those of the definition, told in every way in which they are told."""
    by_key = Counter(key for _, key in expected)
    classes = Counter(min(count, SURE) for count in by_key.values())
    assert counts.classes(1, SURE) == [classes[c] for c in range(1, SURE + 1)]
    assert counts.classes(2, 9) == [Counter(by_key.values())[c] for c in range(2, 9)] + [
        sum(count >= 9 for count in by_key.values())
    ]
    assert every_key(counts) == by_key
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
        max_examples={"spark": 2, "polars": 12}.get(engine, 5),
        suppress_health_check=list(HealthCheck),
    )
    @given(ROWS)
    def check_rows(rows: list[Row]) -> None:
        data = ENGINES[engine](table(rows), tmp_path)
        if engine == "csv":  # an empty field is a text, and nobody
            rows = [(person or None, key or "") for person, key in rows]
        counts = KeyTable(
            data, "the key", None if most is None else "*", most or 1, keeps_pairs=True
        )
        check(counts.open(), pairs(rows, most))

    check_rows()


def test_what_was_counted_is_not_there_any_more() -> None:
    """A place that no class has, or a class that has changed, is an error without numbers."""
    counts = KeyTable(pl.DataFrame({"k": ["a", "b", "b", "c"]}), "k").open()
    assert counts.classes(1, 2) == [2, 1]
    assert counts.fetch({1: np.array([1])}, 2)[-1] in [("c", 1), ("a", 1), ("b", 2)]
    with pytest.raises(UnreadableData) as failure:
        counts.fetch({1: [0, 2]}, 2)
    assert not any(character.isdigit() for character in str(failure.value))
