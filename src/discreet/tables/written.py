"""Files whose fields are text: parsing of fields."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from ..errors import InvalidCandidates, shown
from .kinds import CELL, ColumnType, single

WRITTEN = ("CSV", "JSON")

CELL_AS_DOUBLE = f"TRY_CAST(CASE WHEN NOT contains({CELL}, '_') THEN {CELL} END AS DOUBLE)"
"""The number that a field spells, in DuckDB, for which 1_000 would be one."""


def is_written(of: ColumnType) -> bool:
    """Return whether a column has text because its file has nothing else."""
    return of.name in WRITTEN


def as_texts(candidates: Sequence[object], column: str, name: str = "candidate") -> list[str]:
    """Return the candidates as they are written in a file."""
    if isinstance(candidates, str | bytes):
        raise InvalidCandidates(f"candidates must be a list of values, not {shown(candidates)}")
    texts = []
    for candidate in map(single, candidates):
        exact = isinstance(candidate, int | Fraction | Decimal) and not isinstance(candidate, bool)
        if not exact and not isinstance(candidate, str):
            raise InvalidCandidates(
                f"the {name} {shown(candidate)} is a {type(candidate).__name__}, but column "
                f"{column!r} of a file holds text. Give it as it is written in the file"
            )
        texts.append(str(candidate))
    return texts
