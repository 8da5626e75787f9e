"""Candidates too many to list: a column of a public table, which stays in its engine."""

import os
from functools import cached_property
from typing import Any

from ..arguments import column_name
from ..candidates import position
from ..error_boundary import error_boundaries
from ..errors import InvalidCandidates, preview
from .engine_errors import quietly
from .ranking import Ranking, rank_candidates

_KINDS = ("text", "integer", "decimal", "date", "timestamp", "uuid")

_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")


@error_boundaries
class CandidateTable:
    """Candidates in a column of a public table: millions of possible answers, never listed.

    The candidates are read once, when this is made, and numbered in the order of their values (text by
    its code points). A number names a candidate in a ledger.

    Args:
        data: a table of candidates, **public**, fixed without looking at the private data: the path of a
            CSV or Parquet file, a DuckDB relation, a Polars frame or a Spark DataFrame. The private data must be in
            the same engine: files and tables in memory for a file, relations of its connection for a relation.
        column: its column of distinct candidates.

    Raises:
        InvalidCandidates: if there are none, or two are equal, or one is missing or nothing that Python can
            hold, or their type is none of text, integers, decimals, dates, timestamps and UUIDs.
        UnreadableData: if the table or the column is not there or cannot be read.
    """

    def __init__(self, data: object, column: str) -> None:
        """Read and number the candidates."""
        self._column = column_name(column)
        self.ranking = rank_column(data, self._column)

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return self.ranking.size

    @cached_property
    def description(self) -> dict[str, object]:
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
                f"there are {self.size:,} candidates, none has the number {preview(rank)}"
            )
        return self.ranking.value(rank)

    def __deepcopy__(self, memo: object) -> "CandidateTable":
        """Return this: the numbered candidates are immutable, in their engine."""
        return self

    def __repr__(self) -> str:
        return f"CandidateTable({self.size:,} candidates in column {self._column!r})"


def names_file(candidates: object) -> bool:
    """Return whether the candidates were given as the name of a file."""
    if isinstance(candidates, os.PathLike):
        return True
    return isinstance(candidates, str) and candidates.lower().endswith(_ENDINGS)


def rank_column(data: object, column: str) -> Ranking:
    """Return the candidates of a table, numbered by its engine."""
    from .engine import keeps_candidates, open_table, unwrap_table
    from .paths import names_files

    data = unwrap_table(data)
    table = open_table(data, column)
    if not keeps_candidates(data):
        raise InvalidCandidates(
            "a CandidateTable is a file, a DuckDB relation, a Polars frame or a Spark DataFrame; other candidates "
            "in memory can be given as they are: candidates=table[column]"
        )
    of = table.type()
    if of.kind not in _KINDS:
        raise InvalidCandidates(
            f"{of.words}, cannot hold candidates. Accepted: {', '.join(_KINDS)}"
        )
    return quietly(
        rank_candidates, table.failure, table.native, of, table.failure, shared=names_files(data)
    )
