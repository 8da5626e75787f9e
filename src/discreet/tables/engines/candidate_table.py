"""Candidates too many to list: a column of a public table, which stays in its engine."""

import os
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...base.arguments import column_name
from ...base.doors import fix
from ...base.error_boundary import error_boundaries
from ...errors import DiscreetError, InvalidArgument, InvalidCandidates, preview
from ...selection.candidates import position
from ...selection.question_sentences import Facts
from ..values.kinds import CELL, INTEGER_TYPE, ColumnType
from ..values.meanings import check_markers
from .engine_errors import quietly
from .expressions import COUNT, OpenedTable
from .native import POSITION, CandidateEngine, Frame, Native
from .records import PART

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


BLOCK_START, KEY = "block", "key"

LOOK_UPS = 2**11
"""So many candidates are looked up in one query."""


@dataclass(frozen=True)
class Ranking:
    """Candidates and their ranks, in their engine."""

    native: CandidateEngine
    frame: Frame
    """CELL, as it is compared, and its rank as POSITION; computed once."""
    of: ColumnType
    size: int
    """The number of candidates."""
    failure: DiscreetError
    """The error to raise when the engine fails."""
    _alone: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def fingerprint(self) -> str:
        """A text that tells these candidates from others."""
        with self._alone:
            digest = quietly(self.native.fingerprint, self.failure, self.frame, self.of)
        return f"{self.size} {self.of.kind} {digest}"

    def value(self, rank: int) -> object:
        """Return the candidate of that rank."""
        with self._alone:
            return quietly(self._value, self.failure, rank)

    def _value(self, rank: int) -> object:
        import narwhals.stable.v2 as nw

        [[cell]] = self.native.cells(self.frame.filter(nw.col(POSITION) == rank).select(CELL))
        return bytes(cell).decode() if self.of.kind == "text" else cell

    def classes(self, table: OpenedTable) -> "list[CountClasses]":
        """Return these candidates in classes of equal counts, by group of a table."""
        check_comparable(table.type(), self.of)
        frame = quietly(self.native.seen_by, table.failure, table.native, self.frame)
        if frame is None:
            raise in_another_engine()
        self._check_markers(table.type())
        counts = quietly(self._count, table.failure, table, frame)
        groups: list[int | None] = [None] if table.records.by is None else [*range(table.groups)]
        return [
            CountClasses(self.size, table.native, frame, counts, group, table.failure)
            for group in groups
        ]

    def _check_markers(self, of: ColumnType) -> None:
        """Raise for a candidate that stands for a missing cell of a file, as for one in a list."""
        import narwhals.stable.v2 as nw

        markers = {*(of.cells.missing or ())} - {""}
        if not markers:
            return
        with self._alone:
            alike = self.frame.filter(nw.col(CELL).is_in([one.encode() for one in markers]))
            cells = quietly(self.native.cells, self.failure, alike.select(CELL))
        check_markers([bytes(cell).decode() for [cell] in cells], of, "candidate")

    def _count(self, table: OpenedTable, frame: Frame) -> Frame:
        """Keep the numbers of records of the candidates that records hold.

        Integers that the candidates' type has not are left out before they are cast: they equal none of them.
        """
        import narwhals.stable.v2 as nw

        rows, of = table.record_rows(), table.type()
        if of.kind == "integer" and of.name != self.of.name:
            ends = max(of.low, self.of.low), min(of.high, self.of.high)
            cell = nw.col(CELL).cast(getattr(nw, self.of.name))
            rows = rows.filter(nw.col(CELL).is_between(*ends)).with_columns(cell)
        candidates = rows.join(frame, on=CELL, how="inner").drop(CELL)
        return table.native.keep(table.count_records(candidates))


def rank_candidates(
    native: CandidateEngine, of: ColumnType, failure: DiscreetError, *, shared: bool
) -> Ranking:
    """Number the candidates in the only column of a public table.

    Args:
        native: the column in its engine.
        of: its type.
        failure: the error to raise when the engine fails.
        shared: whether tables on other connections of the engine are compared with them.

    Raises:
        InvalidCandidates: if there are none, or two are equal, or one is missing or nothing that Python can hold.
    """
    import narwhals.stable.v2 as nw

    cell = nw.col(CELL)
    cells = native.rows()
    if of.name == "CSV":  # an empty field is a missing one
        cells = cells.with_columns(nw.when(cell != b"").then(cell))
    frame = native.keep(native.in_order(cells), shared=shared)
    rows, present = native.fetch(
        frame.select(nw.len().alias("rows"), cell.count().alias("present")), INTEGER_TYPE
    )
    size = int(rows[0])
    check_present(size, int(present[0]), of)
    [distinct] = native.fetch(frame.select(nw.col(POSITION).n_unique()), INTEGER_TYPE)
    if distinct[0] < size:
        raise InvalidCandidates(
            f"{of.words}, has {size - int(distinct[0]):,} values more than once. Candidates must "
            "be distinct"
        )
    [strange] = native.fetch(native.unanswerable(frame, of).select(nw.len()), INTEGER_TYPE)
    if strange[0]:
        raise InvalidCandidates(
            f"{of.words}, has {int(strange[0]):,} values that cannot be answered. Accepted: text "
            "in UTF-8, and finite dates and times of the years 1 to 9999, no finer than a "
            "microsecond"
        )
    return Ranking(native, frame, of, size, failure)


@dataclass(frozen=True)
class CountClasses:
    """The candidates of a public table in one group, as classes of equal counts. Private.

    A class is looked at in blocks of candidates whose ranks follow one another, so that no query sorts all of it,
    and at most the square root of the number of candidates is fetched: docs/explanation/out_of_core.md.
    """

    size: int
    """The number of candidates."""
    native: Native
    """The engine of the data."""
    frame: Frame
    """All candidates, with their ranks as POSITION."""
    counts: Frame
    """POSITION, the group and COUNT of the candidates that records hold, kept."""
    group: int | None
    failure: DiscreetError
    """The error to raise when the engine fails."""

    def counts_and_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the counts that occur, descending, and the numbers of candidates with them."""
        counts, sizes = quietly(self._sizes, self.failure, self._present, COUNT)
        order = np.argsort(-counts)
        rest = self.size - int(sizes.sum())
        counts, sizes = counts[order], sizes[order]
        return (np.append(counts, 0), np.append(sizes, rest)) if rest else (counts, sizes)

    def ranks(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """Return the ranks of candidates, given by their counts and their places in those classes."""
        by_count = defaultdict[int, set[int]](set)
        for count, place in places:
            by_count[count].add(place)
        ranks = dict[tuple[int, int], int]()
        for count, members in by_count.items():
            ascending = np.array(sorted(members), dtype=np.int64)
            for some in np.split(ascending, range(LOOK_UPS, len(ascending), LOOK_UPS)):
                looked_up = quietly(self._look_up, self.failure, count, some)
                ranks |= {(count, place): rank for place, rank in looked_up.items()}
        return [ranks[place] for place in places]

    @property
    def _present(self) -> Frame:
        """The candidates of the group that records hold, with the first ranks of their blocks."""
        import narwhals.stable.v2 as nw

        rows = self.counts if self.group is None else self.counts.filter(nw.col(PART) == self.group)
        return rows.with_columns(self._block)

    @property
    def _width(self) -> int:
        """How many candidates a block has."""
        return isqrt(self.size - 1) + 1

    @property
    def _block(self) -> "nw.Expr":
        import narwhals.stable.v2 as nw

        rank = nw.col(POSITION)
        return (rank - rank % self._width).alias(BLOCK_START)

    def _sizes(self, rows: Frame, key: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the values of a key that occur, and the numbers of their rows."""
        import narwhals.stable.v2 as nw

        sizes = rows.group_by(key).agg(nw.len().alias("size"))
        keys, numbers = self.native.fetch(sizes, INTEGER_TYPE)
        return keys.astype(np.int64), numbers.astype(np.int64)

    def _look_up(self, count: int, places: NDArray[np.int64]) -> dict[int, int]:
        """Return the ranks of the candidates at some places in the class of a count."""
        import narwhals.stable.v2 as nw

        present, width = self._present, self._width
        present = present.filter(nw.col(COUNT) == count) if count else present
        starts = np.arange(0, self.size, width)
        sizes = np.zeros(len(starts), dtype=np.int64)
        blocks, numbers = self._sizes(present, BLOCK_START)
        sizes[blocks // width] = numbers
        if not count:  # all candidates but those that records hold
            sizes = np.minimum(width, self.size - starts) - sizes
        # "The distribution is that of the list" in docs/explanation/out_of_core.md: the sizes say the block.
        last = sizes.cumsum()
        block = last.searchsorted(places, side="right")
        keys = starts[block] + places - (last - sizes)[block]
        inside = nw.col(BLOCK_START).is_in(np.unique(starts[block]).tolist())
        members = present.filter(inside).select(POSITION, BLOCK_START)
        if not count:
            candidates = self.frame.with_columns(self._block).filter(inside)
            members = candidates.join(members, on=POSITION, how="anti").select(
                POSITION, BLOCK_START
            )
        # In its block a candidate comes after those of its class of lower rank.
        nth = nw.col(POSITION).rank("ordinal").over(BLOCK_START).cast(nw.Int64) - 1
        with_keys = members.with_columns((nw.col(BLOCK_START) + nth).alias(KEY))
        matches = with_keys.filter(nw.col(KEY).is_in(keys.tolist())).select(KEY, POSITION)
        rank_of = dict(
            zip(
                *(column.tolist() for column in self.native.fetch(matches, INTEGER_TYPE)),
                strict=True,
            )
        )
        return {
            place: rank_of[key] for place, key in zip(places.tolist(), keys.tolist(), strict=True)
        }


def check_present(rows: int, present: int, of: ColumnType) -> None:
    """Raise unless there are candidates, none of them missing."""
    if present < rows:
        raise InvalidCandidates(
            f"{of.words}, has {rows - present:,} missing values. Candidates must not be missing"
        )
    if not rows:
        raise InvalidCandidates("candidates must not be empty: there must be something to answer")


def check_comparable(of: ColumnType, candidates: ColumnType) -> None:
    """Raise unless the values of a column can be compared with candidates without being converted."""
    if of.kind != candidates.kind or (
        of.kind not in ("text", "integer") and of.name != candidates.name
    ):
        raise InvalidCandidates(
            f"the candidates, {candidates.words}, cannot be compared with {of.words}. Give both "
            "the same type"
        )


def in_another_engine() -> InvalidCandidates:
    """Return the error for candidates that are not where the data are."""
    return InvalidCandidates(
        "the candidates are in another engine than the data. Give both as paths, or both as "
        "relations of one connection of DuckDB, or both as Polars frames, or both as Spark "
        f"DataFrames. For data elsewhere give a list: {fix('candidates of a column')}"
    )


_CANDIDATE_KINDS = ("text", "integer", "decimal", "date", "timestamp", "uuid")

_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")


@error_boundaries
class CandidateTable:
    """Candidates in a column of a public table, which may be millions and are never listed.

    The candidates are read once, at construction, and numbered in the order of their values (text by its code
    points). A ledger names a candidate by its number.

    Args:
        data: a table of candidates, **public**, fixed without looking at the private data: the path of a
            CSV or Parquet file, a DuckDB relation, a Polars frame or a Spark DataFrame. The private data must be in
            the same engine: files and tables in memory for a file, relations of its connection for a relation.
        column: the column of distinct candidates.

    Raises:
        InvalidCandidates: if there are none, two are equal, one is missing or has no Python value, or their type is
            not text, integers, decimals, dates, timestamps or UUIDs.
        UnreadableData: if the table or the column is missing or cannot be read.
    """

    def __init__(self, data: object, column: str) -> None:
        """Read and number the candidates."""
        self._column = column_name(column)
        self.ranking = rank_column(data, self._column)

    @property
    def size(self) -> int:
        """The number of candidates."""
        return self.ranking.size

    @cached_property
    def description(self) -> dict[str, object]:
        """The column, how many candidates there are, and their fingerprint."""
        return {
            "column": self._column,
            "size": self.size,
            "fingerprint": self.ranking.fingerprint,
        }

    @property
    def facts(self) -> Facts:
        """The number of candidates."""
        return {"candidates": self.size}

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, rank: int) -> Any:
        rank = position(rank)
        if not 0 <= rank < self.size:
            raise IndexError(
                f"there are {self.size:,} candidates, none has the number {preview(rank)}"
            )
        return self.ranking.value(rank)

    def __deepcopy__(self, memo: object) -> "CandidateTable":
        """Return this: the numbered candidates are immutable, in their engine."""
        return self

    def __repr__(self) -> str:
        return f"CandidateTable({self.size:,} candidates in column {self._column!r})"


def refuse_gap(candidates: object, gap: bool) -> None:
    """Raise if a gap is asked for among candidates in a table.

    Raises:
        InvalidArgument: if it is.
    """
    if gap and isinstance(candidates, CandidateTable):
        raise InvalidArgument("gap needs candidates in a list, not in a CandidateTable")


def names_file(candidates: object) -> bool:
    """Return whether the candidates were given as the name of a file."""
    if isinstance(candidates, os.PathLike):
        return True
    return isinstance(candidates, str) and candidates.lower().endswith(_ENDINGS)


def rank_column(data: object, column: str) -> Ranking:
    """Return the candidates of a table, numbered by its engine."""
    from ..formats.file_paths import names_files
    from .engine import keeps_candidates, open_table, unwrap_table

    data = unwrap_table(data)
    table = open_table(data, column)
    if not keeps_candidates(data):
        raise InvalidCandidates(
            "a CandidateTable is a file, a DuckDB relation, a Polars frame or a Spark DataFrame. "
            f"Give candidates from elsewhere as a list: {fix('candidates of a column')}"
        )
    of = table.type()
    if of.kind not in _CANDIDATE_KINDS:
        raise InvalidCandidates(
            f"{of.words}, cannot hold candidates. Accepted: {', '.join(_CANDIDATE_KINDS)}"
        )
    native: Any = table.native  # a `CandidateEngine`, as `keeps_candidates` says
    return quietly(
        rank_candidates, table.failure, native, of, table.failure, shared=names_files(data)
    )
