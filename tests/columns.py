"""Columns for tests: opened from tables, or made up."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.selection.candidates import Grid, Labels
from discreet.selection.date_grid import TimeUnit
from discreet.selection.decimals import Decimals
from discreet.tables.engines.column import Group, Source
from discreet.tables.engines.records import Records
from discreet.tables.values.meanings import Rungs, rungs


def recorded(data: Any, column: str, records: Records | None = None) -> Source:
    """A table and what is asked of it, opened."""
    source = Source(data, column, records)
    assert source.table is not None
    return source


def on_grid(data: Any, column: str, grid: Grid | Decimals) -> Any:
    """A column as counts on a grid, None if it is in memory."""
    return Source(data, column).groups[0].on_grid(grid)


def numbers_of(group: Group) -> Any:
    """The numbers of a group, each as often as it occurs."""
    values, counts = group.numbers()
    return values if counts is None else np.repeat(values, counts)


class Counted:
    """A column of known counts."""

    def __init__(self, counts: Sequence[int] = ()) -> None:
        self._counts = counts

    def count(self, candidates: Sequence[object]) -> Sequence[int]:
        return self._counts

    def classes(self, ranking: object) -> Any:
        raise NotImplementedError


class OnGrid:
    """Numbers that are counted on a grid somewhere."""

    unit: TimeUnit = "us"

    def __init__(self, source: Any, values: Any = ()) -> None:
        self._source, self._values = source, values

    def numbers(self) -> Any:
        return np.asarray(self._values), None

    def on_grid(self, grid: object) -> Any:
        return self._source

    def rungs(self, labels: Labels) -> Rungs:
        return rungs(labels)

    def beside(self, numbers: object) -> None:
        """They are in memory."""
