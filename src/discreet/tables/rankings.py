"""Candidates of a public table in an engine: the contract of an engine, and the checks for all engines."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidCandidates
from .expressions import OpenedTable
from .kinds import ColumnType

_AT_ONCE = 10_000
"""So many candidates are looked up in one query."""


class Ranking(Protocol):
    """Candidates by their rank in the order of their values, in an engine."""

    @property
    def of(self) -> ColumnType:
        """The type of the candidates."""
        ...

    @property
    def size(self) -> int:
        """How many candidates there are."""
        ...

    @property
    def fingerprint(self) -> str:
        """A text that tells these candidates from others."""
        ...

    def value(self, rank: int) -> object:
        """Return the candidate of that rank."""
        ...

    def classes(self, table: OpenedTable) -> "Sequence[Classes]":
        """Return the candidates in classes of equal counts, by group of a table."""
        ...


class Classes(Protocol):
    """The candidates of a public table as classes of equal counts, in an engine. Private."""

    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the counts that occur, descending, and the numbers of candidates with them."""
        ...

    def ranks(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """Return the ranks of candidates, given by their counts and their places in those classes."""
        ...


def check_ranks(rows: int, present: int, last: int | None, of: ColumnType) -> None:
    """Raise unless there are candidates, none missing and none twice, given how many, and the last rank."""
    if present < rows:
        raise InvalidCandidates(
            f"{of.words}, has {rows - present:,} missing values; candidates must not be missing"
        )
    if not rows or last is None:
        raise InvalidCandidates("candidates must not be empty: there must be something to answer")
    if last + 1 < rows:
        raise InvalidCandidates(
            f"{of.words}, has {rows - last - 1:,} values more than once; candidates must be distinct"
        )


def check_named(strange: int, of: ColumnType) -> None:
    """Raise if that many candidates are nothing that Python can hold: one of them may be the answer."""
    if strange:
        raise InvalidCandidates(
            f"{of.words}, has {strange:,} values that cannot be answered. Accepted: text in UTF-8, and finite "
            "dates and times of the years 1 to 9999, no finer than a microsecond"
        )


def check_comparable(of: ColumnType, ranking: Ranking) -> None:
    """Raise unless the values of a column can be compared with candidates without being converted."""
    if of.kind != ranking.of.kind or (
        of.kind not in ("text", "integer") and of.name != ranking.of.name
    ):
        raise InvalidCandidates(
            f"the candidates, {ranking.of.words}, cannot be compared with {of.words}; give both the same type"
        )


def elsewhere() -> InvalidCandidates:
    """Return the error for candidates that are not where the data are."""
    return InvalidCandidates(
        "the candidates are in another engine than the data; give both as paths, or both as relations of one "
        "connection of DuckDB, or both as Spark DataFrames"
    )


def looked_up(
    places: Sequence[tuple[int, int]], look_up: Callable[[int, list[int]], Mapping[int, int]]
) -> list[int]:
    """Return the ranks of candidates, given by their counts and their places in those classes.

    `look_up` returns the ranks of the candidates of one count at some places.
    """
    wanted = defaultdict[int, set[int]](set)
    for count, place in places:
        wanted[count].add(place)
    found = dict[tuple[int, int], int]()
    for count, some in wanted.items():
        ascending = sorted(some)
        for start in range(0, len(ascending), _AT_ONCE):
            ranks = look_up(count, ascending[start : start + _AT_ONCE])
            found |= {(count, place): rank for place, rank in ranks.items()}
    return [found[place] for place in places]


def with_the_rest(
    counts: NDArray[np.int64], sizes: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return counts and the numbers of candidates with them, those without records included."""
    counts, sizes = np.asarray(counts, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
    rest = size - int(sizes.sum())
    if not rest:
        return counts, sizes
    return np.append(counts, 0), np.append(sizes, rest)
