"""Counts between cuts: beyond the type, in several passes, and of data that change between them."""

from typing import Any

import duckdb
import numpy as np
import pytest

from discreet.errors import UnreadableData
from discreet.selection.date_grid import CutCells
from discreet.tables.engines import cut_counts
from discreet.tables.engines.cut_counts import CutCounts
from discreet.tables.engines.in_duckdb import InDuckDB
from discreet.tables.values.kinds import CELL


def counts_between(query: str, cuts: tuple[int, ...]) -> CutCounts:
    relation: Any = duckdb.sql(query)
    native = InDuckDB(relation)
    of = InDuckDB(relation).type(CELL, "x")
    return CutCounts(native.rows(), of, native.fetch, CutCells(cuts), UnreadableData("it failed"))


def test_cells_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_counts, "AT_ONCE", 3)
    cuts = tuple(range(10, 100, 10))
    source = counts_between("SELECT unnest([-5, 9, 10, 11, 55, 99, 1000]::BIGINT[]) AS cell", cuts)
    every = [2, 2, 0, 0, 0, 1, 0, 0, 0, 2]
    assert source.histogram([range(10)])[0].tolist() == every
    assert [h.tolist() for h in source.histogram([range(0, 4, 3), range(4, 10, 4), range(0)])] == [
        [4, 0], [1, 2], [],
    ]  # fmt: skip
    indices, counts = source.points([range(1, 5), range(5, 10)])
    assert indices.tolist() == [1, 5, 9]
    assert counts.tolist() == [2, 1, 2]
    indices, counts = source.occupancy(source.cells.nearest)
    assert indices.tolist() == [0, 1, 5, 9]
    assert counts.tolist() == [2, 2, 1, 2]


def test_cuts_beyond_the_type_are_compared_with_nothing() -> None:
    cuts = (-(2**70), -(2**63), 0, 2**63 - 1, 2**63, 2**70)
    ends = "SELECT unnest([-9223372036854775808, -1, 0, 9223372036854775807]::BIGINT[]) AS cell"
    [counts] = counts_between(ends, cuts).histogram([range(7)])
    values = np.array([-(2**63), -1, 0, 2**63 - 1])
    assert counts.tolist() == np.bincount(CutCells(cuts).nearest(values), minlength=7).tolist()
    empty: Any = counts_between("SELECT 1::BIGINT AS cell WHERE false", cuts)
    assert empty.histogram([range(7)])[0].tolist() == [0] * 7
    assert empty.points([range(7)])[0].tolist() == []
    assert counts_between("SELECT 1::BIGINT AS cell", ()).histogram([range(1)])[0].tolist() == [1]


def test_data_that_change_between_passes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_counts, "AT_ONCE", 1)
    sizes = iter([[1, 3], [1, 4]])
    monkeypatch.setattr(cut_counts, "cumulative_counts", lambda *_: next(sizes))
    with pytest.raises(UnreadableData, match="changed while they were read"):
        counts_between("SELECT 1::BIGINT AS cell", (5, 6)).histogram([range(3)])
