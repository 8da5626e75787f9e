"""Files with fields of text: parsing of fields."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from ..errors import InvalidCandidates, preview
from .kinds import CELL, ColumnType, single
from .native import Frame, lazy

WRITTEN = ("CSV", "JSON")

CELL_AS_DOUBLE = f"TRY_CAST(CASE WHEN NOT contains({CELL}, '_') THEN {CELL} END AS DOUBLE)"
"""The number that a field spells, in DuckDB, for which 1_000 would be one."""


def is_written(of: ColumnType) -> bool:
    """Return whether a column has text because its file has no other type."""
    return of.name in WRITTEN


def without_empty(rows: Frame) -> Frame:
    """Return the rows of a file in which CELL, as bytes, is not empty: they are in DuckDB."""
    nonempty: Frame = lazy(rows.to_native().filter(f"octet_length({CELL}) > 0"))
    return nonempty


_TRUTHS = {True: ("true", "True", "TRUE", "1"), False: ("false", "False", "FALSE", "0")}
"""How files write truths: those words that Frictionless Table Schema reads unless told otherwise."""


def spellings(candidate: object) -> tuple[str, ...]:
    """Return the texts as which a file may write a candidate, the first of which stands for all.

    None for a value that can be written in many ways, such as a float or a time.
    """
    if isinstance(candidate, bool):
        return _TRUTHS[candidate]
    if isinstance(candidate, int | Fraction | Decimal | str):
        return (str(candidate),)
    return (candidate.isoformat(),) if type(candidate) is dt.date else ()


def as_texts(candidates: Sequence[object], column: str, name: str = "candidate") -> list[str]:
    """Return the candidates as they are written in a file."""
    if isinstance(candidates, str | bytes):
        raise InvalidCandidates(f"candidates must be a list of values, not {preview(candidates)}")
    texts: list[str] = []
    for candidate in map(single, candidates):
        texts.extend(spellings(candidate)[:1])
        if not spellings(candidate):
            raise InvalidCandidates(
                f"the {name} {preview(candidate)} is a {type(candidate).__name__}, but column "
                f"{column!r} of a file holds text. Give it as it is written in the file"
            )
    return texts
