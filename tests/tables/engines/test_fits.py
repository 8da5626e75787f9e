"""How many cells fit."""

from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.testing import SeededBits, counted_work
from discreet.sampling.bits import SystemBits
from discreet.tables.engines.engine import open_table
from discreet.tables.engines.fits import CellCounts, DeclaredCells
from discreet.tables.engines.records import Records
from discreet.tables.verbs.check import CellNoise


def test_every_count_has_noise_of_its_own() -> None:
    """Five draws for each column, which `test_runs` shows to be independent, in the order of the counts."""
    noise = CellNoise(Fraction(1, 5), "add_remove", 1)
    counts = [CellCounts(2, 0, 5, 1, 3), CellCounts(0, 0, 0, 0, 0)]
    drawn = noise.law().draws(10, SeededBits(3))
    flat = [x for column in noise.add(counts, SeededBits(3)) for x in column]
    assert flat == [n + int(x) for n, x in zip((2, 0, 5, 1, 3, 0, 0, 0, 0, 0), drawn, strict=True)]
    assert len(set(map(int, drawn))) > 3


@given(
    st.lists(st.tuples(*[st.integers(0, 10**9)] * 5), min_size=1, max_size=4), st.integers(0, 99)
)
def test_on_the_same_bits_the_noise_is_the_same_whatever_the_counts(
    counts: list[tuple[int, ...]], seed: int
) -> None:
    noise = CellNoise(Fraction(1, 7), "replace_one", 6)
    drawn = noise.add([CellCounts(*c) for c in counts], SeededBits(seed))
    alone = noise.add([CellCounts(0, 0, 0, 0)] * len(counts), SeededBits(seed))
    assert drawn == [
        [n + x for n, x in zip(c, xs, strict=True)] for c, xs in zip(counts, alone, strict=True)
    ]


def test_the_work_of_drawing_does_not_depend_on_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    noise, seen = CellNoise(Fraction(1, 2), "add_remove", 1), []
    for counts in (
        CellCounts(0, 0, 0, 0),
        CellCounts(10**15, 1, 0, 0),
        CellCounts(3, 10**18, 10**18, 7),
    ):
        seeded = SeededBits(1)
        monkeypatch.setattr(SystemBits, "word", lambda _, seeded=seeded: seeded.word())
        monkeypatch.setattr(SystemBits, "words", lambda _, n, seeded=seeded: seeded.words(n))
        with counted_work() as work:
            noise.add([counts] * 5, SystemBits())
        seen.append(work)
    assert seen[0].words > 0
    assert seen[0] == seen[1] == seen[2]


def test_a_unit_adds_no_more_even_if_the_rows_change_between_queries() -> None:
    """A relation may be sampled anew by each query: then more cells of a unit may fit than it has rows."""
    import narwhals.stable.v2 as nw

    data = pl.DataFrame({"x": [1] * 50 + [9] * 50, "u": ["a"] * 100})
    for most in (1, 7, 10**6):
        cells = DeclaredCells(open_table(data, "x", Records("u", most)))
        rows = cells.table.record_rows()
        for more in (nw.concat([rows] * 5), rows):
            counts = cells.count(nw.concat([rows] * 5), more)
            assert counts == CellCounts(min(most, 100), 0, 0, 0)


CELLS = """who,age
a,1
a,2
a,2020-01-03
b,x
c,
c,2024-02-29 12:30
,9
d,2024-13-01
d,nan
d,1e3
"""


@pytest.mark.parametrize(
    ("records", "counts"),
    [
        (Records(), (4, 2, 3, 1)),
        (Records("who", 9), (3, 2, 3, 1)),
    ],
)
def test_cells_of_a_text_file_are_counted_by_what_they_spell(
    tmp_path: Path, records: Records, counts: tuple[int, ...]
) -> None:
    file = tmp_path / "cells.csv"
    file.write_text(CELLS, encoding="utf-8")
    kinds = DeclaredCells(open_table(file, "age", records)).kinds()
    assert (kinds.numbers, kinds.dates, kinds.texts, kinds.missing) == counts


@pytest.mark.parametrize("rows", [1, 2])
def test_a_unit_moves_kinds_of_cells_by_its_bound(tmp_path: Path, rows: int) -> None:
    lines = CELLS.splitlines()
    file, less = tmp_path / "cells.csv", tmp_path / "less.csv"
    file.write_text(CELLS, encoding="utf-8")
    records = Records("who", rows)
    whole = DeclaredCells(open_table(file, "age", records)).kinds()
    for unit in "abcd":
        rest = [line for line in lines if not line.startswith(f"{unit},")]
        less.write_text("\n".join([*rest, ""]), encoding="utf-8")
        without = DeclaredCells(open_table(less, "age", records)).kinds()
        moved = [
            getattr(whole, name) - getattr(without, name)
            for name in ("numbers", "dates", "texts", "missing")
        ]
        assert all(difference >= 0 for difference in moved)
        assert 0 < sum(moved) <= rows
