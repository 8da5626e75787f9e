"""Classes of candidates of a public table with equal counts: DuckDB numbers, counts and keeps them.

The counts are kept in a temporary table until the answer is drawn, so that a class and the candidate in it
come from the same data, whatever happens to them meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscreetError
from .expressions import OpenedTable
from .failures import quietly
from .in_duckdb import InDuckDB
from .kept import ROWS, Kept, queried
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
    from duckdb import DuckDBPyRelation


@dataclass(frozen=True)
class RelationRanking:
    """Candidates and their ranks, in a table of CELL, as it is compared, and `rank`."""

    kept: Kept
    of: ColumnType
    native: object
    """The engine's type of the candidates."""
    size: int
    failure: DiscreetError
    """What is raised when the engine fails."""

    @property
    def fingerprint(self) -> str:
        """A text that tells these candidates from others."""
        query = f"SELECT bit_xor(md5_number(CAST({CELL} AS VARCHAR))) FROM {ROWS}"
        [[mixed]] = quietly(self.kept.ask, self.failure, query)
        return f"{self.size} {self.of.kind} {mixed}"

    def value(self, rank: int) -> object:
        """Return the candidate of that rank."""
        query = f"SELECT {CELL} FROM {ROWS} WHERE rank = {int(rank)}"
        [[value]] = quietly(self.kept.ask, self.failure, query)
        return value.decode() if self.of.kind == "text" else value

    def classes(self, table: OpenedTable) -> "list[RelationClasses]":
        """Return these candidates in classes of equal counts, by group of a table."""
        of, native = table.type(), table.native
        check_comparable(of, self)
        if not (isinstance(native, InDuckDB) and self.seen_by(native.relation)):
            raise elsewhere()
        kept = quietly(counted_relation, table.failure, table, of, self)
        return [RelationClasses(kept, g, self.size, table.failure) for g in range(table.groups)]

    def seen_by(self, relation: "DuckDBPyRelation") -> bool:
        """Return whether the connection of a relation sees the table."""
        query = f"SELECT rank FROM {self.kept.name} LIMIT 0"
        try:
            quietly(lambda: queried(relation, ROWS, query).fetchall(), self.failure)
        except DiscreetError:
            return False
        return True


def rank_relation(
    relation: "DuckDBPyRelation", of: ColumnType, failure: DiscreetError, *, shared: bool
) -> RelationRanking:
    """Number the candidates in the only column of a relation, in the order of their values.

    Raises:
        InvalidCandidates: if there are none, or two are equal, or one is missing or not to be named.
    """
    cells = f"SELECT {comparable_cell(of)} AS {CELL} FROM {ROWS}"
    query = f"SELECT {CELL}, dense_rank() OVER (ORDER BY {CELL} ASC) - 1 AS rank FROM ({cells})"
    kept = Kept(relation, query, shared=shared)
    native = relation.types[0]
    strange = f"count(*) FILTER (NOT {_plain(of, native)})"
    query = f"SELECT count(*), count({CELL}), max(rank), {strange} FROM {ROWS}"
    [[rows, present, last, unnamed]] = kept.ask(query)
    check_ranks(rows, present, last, of)
    check_named(unnamed, of)
    return RelationRanking(kept, of, native, rows, failure)


def _plain(of: ColumnType, native: object) -> str:
    """Return whether Python can hold the value of CELL, as an expression."""
    if of.kind not in ("date", "timestamp"):
        return "true"
    moment = f"TRY_CAST({CELL} AS TIMESTAMP)"
    exact = f"TRY_CAST({moment} AS {native}) = {CELL}"
    return f"coalesce(isfinite({moment}) AND year({moment}) BETWEEN 1 AND 9999 AND {exact}, false)"


def comparable_cell(of: ColumnType) -> str:
    """Return CELL as it is compared: text as bytes, lest a collation make words equal."""
    return f"encode(CAST({CELL} AS VARCHAR))" if of.kind == "text" else CELL


def counted_relation(table: OpenedTable, of: ColumnType, ranking: RelationRanking) -> Kept:
    """Keep the records per candidate and group: rows, or privacy units.

    An integer that the candidates' type cannot hold becomes null, and equals none of them.
    """
    rows = table.narrowed().to_native()
    part = "0" if table.records.by is None else PART
    cell = f"TRY_CAST({CELL} AS {ranking.native})" if of.kind == "integer" else CELL
    once = "" if table.records.unit is None else f"DISTINCT {PERSON}, "
    records = (
        f"SELECT {once}{part} AS {PART}, {cell} AS {CELL} FROM {ROWS} WHERE {CELL} IS NOT NULL"
    )
    counted = f"SELECT {PART}, {CELL}, count(*) AS records FROM ({records}) GROUP BY {PART}, {CELL}"
    return Kept(
        rows,
        f"SELECT {PART}, rank, records FROM ({counted}) JOIN {ranking.kept.name} USING ({CELL})",
    )


@dataclass(frozen=True)
class RelationClasses:
    """The candidates of a public table in one group, as classes of equal counts."""

    kept: Kept
    group: int
    size: int
    """How many candidates there are."""
    failure: DiscreetError
    """What is raised when the engine fails."""

    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the counts that occur, descending, and the numbers of candidates with them."""
        query = f"SELECT records, count(*) AS many FROM {self._held} GROUP BY records ORDER BY records DESC"
        found = quietly(self.kept.ask, self.failure, query)
        falling = np.array(found, dtype=np.int64).reshape(-1, 2)
        return with_the_rest(falling[:, 0], falling[:, 1], self.size)

    def ranks(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """Return the ranks of candidates, given by their counts and their places in those classes."""
        return looked_up(places, self._looked_up)

    @property
    def _held(self) -> str:
        return f"(FROM {ROWS} WHERE {PART} = {self.group})"

    def _looked_up(self, count: int, places: list[int]) -> dict[int, int]:
        """Return the ranks of the candidates at some places in the class of a count."""
        query = _PRESENT if count else _ABSENT
        filled = query.format(held=self._held, count=count, places=places)
        return dict(quietly(self.kept.ask, self.failure, filled))


_PRESENT = """
SELECT place, rank FROM (
    SELECT rank, row_number() OVER (ORDER BY rank ASC) - 1 AS place FROM {held} WHERE records = {count}
) WHERE place IN (SELECT unnest({places}))
"""

_ABSENT = """
SELECT place, CAST(place + coalesce(before, 0) AS BIGINT)
FROM (SELECT unnest({places}) AS place)
ASOF LEFT JOIN (
    SELECT absent, sum(count(*)) OVER (ORDER BY absent ASC) AS before
    FROM (SELECT rank - row_number() OVER (ORDER BY rank ASC) + 1 AS absent FROM {held})
    GROUP BY absent
) ON place >= absent
"""
"""The candidate that no record holds and that has n such candidates before it has besides before it those held
ones that have at most n such candidates before them."""
