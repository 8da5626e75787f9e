"""Truths of a column as 0 and 1, so that engines add them up as they add numbers."""

from collections.abc import Sequence
from itertools import compress
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import UnreadableData
from ...sampling.vectors import ExactArray
from ...selection.date_grid import ClockKind
from .kinds import ColumnType, is_written
from .meanings import TRUTHS
from .numeric import present
from .times import check_times, present_times

StandIn = ClockKind | Literal["truth"]
"""The meaning of integers in a column: the times of a clock, or truths."""


def check_stand_in(of: ColumnType, stand_in: StandIn) -> None:
    """Raise unless a column holds times of that clock, or truths; or text or objects of Python that may be some.

    Raises:
        UnreadableData: from its type alone.
    """
    if stand_in != "truth":
        check_times(of, stand_in)
        return
    if of.kind == "boolean" or is_written(of) or (of.kind, of.name) == ("anything", "object"):
        return
    raise UnreadableData(
        f"{of.words}, is not a column of truths. For numbers give bounds that are numbers"
    )


def present_as(
    values: Sequence[object], stand_in: StandIn | None
) -> tuple[NDArray[np.bool_], ExactArray]:
    """Return which values of a list are numbers, times of a clock or truths, and the numbers for these."""
    if stand_in is None:
        return present(values)
    return _present_truths(values) if stand_in == "truth" else present_times(values, stand_in)


def _present_truths(values: Sequence[object]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which values of a list are truths, and the truths as 0 and 1."""
    there = np.array([isinstance(one, bool | np.bool_) for one in values], dtype=np.bool_)
    truths = [bool(one) for one in compress(values, there)]
    return there, np.array(truths, dtype=np.int64)


def sql_of_truths(cell: str) -> str:
    """Return the expression in DuckDB of the truths that text of a file spells, null for other text."""
    whens = (f"WHEN {cell} IN {words} THEN {truth}" for truth, words in TRUTHS.items())
    return f"CASE {' '.join(whens)} END"
