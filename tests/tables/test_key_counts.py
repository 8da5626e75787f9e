"""Keys and their counts: in every engine those of the definition in plain Python, by a few integers."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

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
        counts = KeyTable(
            data, "the key", None if most is None else "*", most or 1, keeps_pairs=True
        )
        check(counts.open(), pairs(rows, most))

    check_rows()


def test_what_was_counted_is_not_there_any_more() -> None:
    """A place that no class has is an error without numbers."""
    held = KeyTable(pl.DataFrame({"k": ["a", "b", "b", "c"]}), "k").open().classes(2)
    assert held.sizes == [2, 1]
    assert {held.fetch(drawn((1, place)))[0][0] for place in (0, 1)} == {"a", "c"}
    with pytest.raises(UnreadableData) as failure:
        held.fetch(drawn((1, 0), (1, 2)))
    assert not any(character.isdigit() for character in str(failure.value))
