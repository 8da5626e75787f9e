"""Classes of candidates of a public table with equal counts: Spark numbers, counts and keeps them.

Candidates are put in buckets by a hash, and ordered in their bucket, so that no executor ever sorts all of
them, and the driver knows the sizes of the buckets only. The counts are kept by the executors until the
answer is drawn. Should they be lost, Spark fails rather than count again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscreetError
from .expressions import OpenedTable
from .failures import needing, quietly
from .in_spark import InSpark, comparable
from .kinds import CELL, ColumnType
from .rankings import (
    check_comparable,
    check_named,
    check_ranks,
    elsewhere,
    looked_up,
    with_the_rest,
)
from .records import PART, PERSON

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

BUCKET, NTH, RANK, RECORDS = "bucket", "nth", "inner_rank", "records"
BUCKETS = 2**12

_PLAIN = {
    "text": f"(encode(CAST({CELL} AS STRING), 'utf-8') = {CELL})",
    "date": f"(year({CELL}) BETWEEN 1 AND 9999)",
    "timestamp": f"(year({CELL}) BETWEEN 1 AND 9999)",
}
"""Whether Python holds what is in CELL, for the kinds where it may not."""


@dataclass(frozen=True)
class SparkRanking:
    """Candidates by bucket and, in a bucket, by value: that order numbers them."""

    frame: "DataFrame"
    """CELL, as it is compared, and BUCKET."""
    of: ColumnType
    before: NDArray[np.int64]
    """The cumulative numbers of candidates by bucket, the last for all."""
    failure: DiscreetError

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return int(self.before[-1])

    @property
    def fingerprint(self) -> str:
        """A text that tells these candidates from others."""
        mixed = (f"bit_xor(xxhash64({CELL}))", f"bit_xor(hash({CELL}))")
        [[long, short]] = quietly(_selected, self.failure, self.frame, *mixed)
        return f"{self.size} {self.of.kind} {long} {short}"

    def classes(self, table: OpenedTable) -> "list[SparkClasses]":
        """Return these candidates in classes of equal counts, by group of a table."""
        of = table.type()
        check_comparable(of, self)
        if not isinstance(table.native, InSpark):
            raise elsewhere()
        kept = quietly(counted_frame, table.failure, table, of, self)
        return [SparkClasses(kept, group, self, table.failure) for group in range(table.groups)]

    def value(self, rank: int) -> object:
        """Return the candidate of that rank."""
        bucket = _bucket(self.before, rank)
        inside = numbered(self.frame.filter(f"{BUCKET} = {bucket}"), RANK)
        found = inside.filter(f"{RANK} = {rank - self.before[bucket]}").select(CELL)
        [[value]] = quietly(found.collect, self.failure)
        return bytes(value).decode() if self.of.kind == "text" else value


def _selected(frame: "DataFrame", *expressions: str) -> "list[Row]":
    """Return the rows of some expressions over a frame."""
    return frame.selectExpr(*expressions).collect()


def rank_frame(frame: "DataFrame", of: ColumnType, failure: DiscreetError) -> SparkRanking:
    """Number the candidates in the only column of a DataFrame.

    Raises:
        InvalidCandidates: if there are none, or two are equal, or one is missing or not to be named.
    """
    functions = needing("pyspark.sql.functions", "spark")
    cells = frame.select(comparable_column(frame[CELL], of).alias(CELL))
    digits = functions.substring(functions.md5(cells[CELL].cast("string").cast("binary")), 1, 3)
    placed = cells.withColumn(BUCKET, functions.conv(digits, 16, 10).cast("int")).localCheckpoint()
    strange = f"count_if(NOT {_PLAIN.get(of.kind, 'true')})"
    [[rows, present, distinct, unnamed]] = placed.selectExpr(
        "count(*)", f"count({CELL})", f"count(DISTINCT {CELL})", strange
    ).collect()
    check_ranks(rows, present, distinct - 1, of)
    check_named(unnamed, of)
    return SparkRanking(placed, of, _cumulated(placed), failure)


def comparable_column(column: "Column", of: ColumnType) -> "Column":
    """Return a column as it is compared: text as bytes, all integers as the longest ones."""
    return column.cast("bigint") if of.kind == "integer" else comparable(column, of)


def counted_frame(table: OpenedTable, of: ColumnType, ranking: SparkRanking) -> "DataFrame":
    """Keep the records per candidate and group: rows, or privacy units."""
    functions = needing("pyspark.sql.functions", "spark")
    rows = table.narrowed().to_native().filter(f"{CELL} IS NOT NULL")
    if table.records.by is None:
        rows = rows.withColumn(PART, functions.lit(0))
    cells = rows.withColumn(CELL, rows[CELL].cast("bigint") if of.kind == "integer" else rows[CELL])
    units = table.records.unit is not None
    records = cells.select(PART, CELL, PERSON).distinct() if units else cells
    counted = records.groupBy(PART, CELL).count().withColumnRenamed("count", RECORDS)
    kept: DataFrame = counted.join(ranking.frame, CELL).localCheckpoint()
    return kept


@dataclass(frozen=True)
class SparkClasses:
    """The candidates of a public table in one group, as classes of equal counts."""

    kept: "DataFrame"
    """PART, CELL, BUCKET and RECORDS of the candidates that records hold."""
    group: int
    ranking: SparkRanking
    failure: DiscreetError
    """What is raised when the engine fails."""

    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the counts that occur, descending, and the numbers of candidates with them."""
        found = quietly(self._counted, self.failure)
        falling = np.array(sorted(found, reverse=True), dtype=np.int64).reshape(-1, 2)
        return with_the_rest(falling[:, 0], falling[:, 1], self.ranking.size)

    def ranks(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """Return the ranks of candidates, given by their counts and their places in those classes."""
        return looked_up(places, self._looked_up)

    @property
    def _held(self) -> "DataFrame":
        return self.kept.filter(f"{PART} = {self.group}")

    def _counted(self) -> "list[Row]":
        """Return the counts that occur, and the numbers of held candidates with them."""
        return self._held.groupBy(RECORDS).count().collect()

    def _looked_up(self, count: int, places: list[int]) -> dict[int, int]:
        """Return the ranks of the candidates at some places in the class of a count."""
        return quietly(self._ranked, self.failure, count, places)

    def _ranked(self, count: int, places: list[int]) -> dict[int, int]:
        members = self._class(count)
        before = _cumulated(members)
        buckets = {place: _bucket(before, place) for place in places}
        return self._inside(members, {(b, n - int(before[b])): n for n, b in buckets.items()})

    def _class(self, records: int) -> "DataFrame":
        """Return the candidates that so many records hold."""
        if records:
            return self._held.filter(f"{RECORDS} = {records}").select(CELL, BUCKET)
        return self.ranking.frame.join(self._held.select(CELL), CELL, "left_anti")

    def _inside(self, members: "DataFrame", wanted: dict[tuple[int, int], int]) -> dict[int, int]:
        """Return the ranks of members, given by their buckets and their places there."""
        among = f"{BUCKET} IN ({', '.join(sorted({str(b) for b, _ in wanted}))})"
        pairs = ", ".join(f"({b}, {nth})" for b, nth in wanted)
        chosen = numbered(members.filter(among), NTH).filter(f"({BUCKET}, {NTH}) IN ({pairs})")
        everyone = numbered(self.ranking.frame.filter(among), RANK)
        rows = chosen.join(everyone, [CELL, BUCKET]).select(BUCKET, NTH, RANK).collect()
        return {wanted[b, nth]: int(self.ranking.before[b]) + inner for b, nth, inner in rows}


def numbered(frame: "DataFrame", name: str) -> "DataFrame":
    """Return candidates with their places in their buckets, from 0."""
    functions = needing("pyspark.sql.functions", "spark")
    order = f"row_number() OVER (PARTITION BY {BUCKET} ORDER BY {CELL}) - 1"
    return frame.withColumn(name, functions.expr(order))


def _cumulated(frame: "DataFrame") -> NDArray[np.int64]:
    """Return the cumulative numbers of candidates by bucket, the last for all."""
    sizes = np.zeros(BUCKETS + 1, dtype=np.int64)
    for bucket, size in frame.groupBy(BUCKET).count().collect():
        sizes[bucket + 1] = size
    return sizes.cumsum()


def _bucket(before: NDArray[np.int64], place: int) -> int:
    """Return the bucket in which the candidate at a place is."""
    return int(before.searchsorted(place, side="right")) - 1
