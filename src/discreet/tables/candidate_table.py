"""Candidates too many to list: a column of a public table, which stays in its engine."""

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arguments import column_name
from ..candidates import position
from ..doors import doors
from ..errors import InvalidCandidates, shown
from .failures import quietly
from .kinds import CELL, ColumnType

if TYPE_CHECKING:
    from .expressions import Table

_KINDS = ("text", "integer", "decimal", "date", "timestamp", "uuid")

_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")

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

    def value(self, rank: int) -> Any:
        """Return the candidate of that rank."""
        ...

    def classes(self, table: "Table") -> "Sequence[Classes]":
        """Return, for each group of a table, the candidates in classes of equal counts."""
        ...


class Classes(Protocol):
    """The candidates of a public table as classes of equal counts, in an engine. Private."""

    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the counts that occur, falling, and how many candidates have each."""
        ...

    def ranks(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """Return the ranks of candidates, each given by its count and its place in that class."""
        ...


@doors
class CandidateTable:
    """What may be answered, as a column of a public table: millions of candidates, never listed.

    The candidates are read once, when this is made, and numbered in the order of their values (text by
    its code points). A number names a candidate in a ledger.

    Args:
        data: a table of candidates, **public**, fixed without looking at the private data: the path of a
            CSV or Parquet file, a DuckDB relation or a Spark DataFrame. The private data must be of the same
            kind; relations must be of the same connection.
        column: its column of distinct candidates.

    Raises:
        InvalidCandidates: if there are none, or two are equal, or one is missing or nothing that Python can
            hold, or their type is none of text, integers, decimals, dates, timestamps and UUIDs.
        UnreadableData: if the table or the column is not there or cannot be read.
    """

    def __init__(self, data: Any, column: str) -> None:
        """Read and number the candidates."""
        self._column = column_name(column)
        self.ranking = _ranked(data, self._column)

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return self.ranking.size

    @cached_property
    def description(self) -> dict[str, Any]:
        """The column, how many candidates there are, and their fingerprint."""
        return {
            "column": self._column,
            "size": self.size,
            "fingerprint": self.ranking.fingerprint,
        }

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, rank: int) -> Any:
        rank = position(rank)
        if not 0 <= rank < self.size:
            raise IndexError(
                f"there are {self.size:,} candidates, none has the number {shown(rank)}"
            )
        return self.ranking.value(rank)

    def __deepcopy__(self, memo: object) -> "CandidateTable":
        """Return this: what was read and numbered stays as it is, in its engine."""
        return self

    def __repr__(self) -> str:
        return f"CandidateTable({self.size:,} candidates in column {self._column!r})"


def names_file(given: Any) -> bool:
    """Return whether what was given for candidates is the name of a file of them."""
    if isinstance(given, os.PathLike):
        return True
    return isinstance(given, str) and given.lower().endswith(_ENDINGS)


def _ranked(data: Any, column: str) -> Ranking:
    """Return the candidates of a table, numbered by its engine."""
    from .engine import is_in_duckdb, names_files, open_table, unwrapped
    from .in_spark import InSpark

    data = unwrapped(data)
    table = open_table(data, column)
    of, native, failure = table.type(), table.native, table.failure
    if isinstance(native, InSpark):
        from .spark_classes import rank_frame

        _check_type(of)
        return quietly(lambda: rank_frame(native.frame, of, failure), failure)
    if not is_in_duckdb(data):
        raise InvalidCandidates(
            "a CandidateTable is a file, a DuckDB relation or a Spark DataFrame; candidates in memory can be "
            "given as they are: candidates=table[column]"
        )
    from .relation_classes import rank_relation

    _check_type(of)
    cells: Any = native.relation  # type: ignore[attr-defined]
    if of.name == "CSV":  # an empty field is a missing one
        cells = cells.select(f"nullif({CELL}, '') AS {CELL}")
    shared = names_files(data)
    return quietly(lambda: rank_relation(cells, of, failure, shared=shared), failure)


def _check_type(of: ColumnType) -> None:
    """Raise unless the values of a type are one by one what may be answered."""
    if of.kind not in _KINDS:
        raise InvalidCandidates(
            f"{of.words}, cannot hold candidates. Accepted: {', '.join(_KINDS)}"
        )


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
    """Return the ranks of candidates, each given by its count and its place in that class.

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
    counts: NDArray[Any], sizes: NDArray[Any], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return counts and how many candidates have each, with those that no record holds."""
    counts, sizes = np.asarray(counts, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
    rest = size - int(sizes.sum())
    if not rest:
        return counts, sizes
    return np.append(counts, 0), np.append(sizes, rest)
