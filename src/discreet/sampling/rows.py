"""Rows of exact numbers: the scores of one release of several answers, which are private."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidScores, preview
from .vectors import Table2D, Vector, as_array, read_vector

_EXPECTED = "scores must be a table of numbers with one row for each answer: a 2-D array, or a list of lists"


class ScoreRows:
    """Several vectors of one length. The repr shows how many, never which.

    Args:
        rows: a two-dimensional array, or a list of arrays and lists.
    """

    __slots__ = ("_rows", "width")

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self.width: int = len(rows[0])

    def __len__(self) -> int:
        return len(self._rows)

    def copy(self) -> "ScoreRows":
        """Return the same rows in arrays of their own: a caller may change theirs between charge and draw."""
        rows = self._rows
        if isinstance(rows, np.ndarray):
            return ScoreRows(rows.copy())
        return ScoreRows([row.copy() if isinstance(row, np.ndarray) else row for row in rows])

    def as_table(self) -> Table2D | None:
        """Return the table as one array of doubles or 64-bit integers, exactly, or None if it does not fit one."""
        rows = self._rows
        if isinstance(rows, np.ndarray) and rows.dtype.kind in "fiu" and rows.dtype.itemsize <= 8:
            return np.ascontiguousarray(rows, dtype=f"{rows.dtype.kind}8")
        return None

    def read(self, possible: Iterable[Sequence[bool] | None]) -> Iterator[Vector]:
        """Yield the rows, exactly. Numbers of a list that are not possible are not looked at, and become zeros.

        Args:
            possible: for every row a truth value a number, or None if all are possible.
        """
        for row, among in zip(self._rows, possible, strict=True):
            if among is None or isinstance(row, np.ndarray):
                yield read_vector(row)
            else:
                yield read_vector([x if may else 0 for x, may in zip(row, among, strict=True)])

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {self.width} private numbers>"


def read_rows(values: Any) -> ScoreRows:
    """Return the rows of an array of two dimensions, or of a list of rows, exactly.

    Raises:
        InvalidScores: if there are none, or they are of several lengths, or this is no table of numbers.
    """
    rows = values if isinstance(values, list | tuple) else _array(values)
    if len(rows) == 0:
        raise InvalidScores("scores must not be empty: there must be at least one row")
    if len({_length(row) for row in rows}) > 1:
        raise InvalidScores("scores must be a table: the rows are of several lengths")
    return ScoreRows(rows)


def count_rows(values: Any) -> int | None:
    """Return how many rows there are, from the shape, which counts as public, or None if it does not say."""
    if isinstance(values, list | tuple):
        return len(values)
    shape = getattr(values, "shape", None)
    return int(shape[0]) if isinstance(shape, tuple) and len(shape) == 2 else None


def _array(values: Any) -> Any:
    """Return an array of two dimensions."""
    if hasattr(type(values), "columns") or isinstance(values, np.ma.MaskedArray):
        raise InvalidScores(
            f"{_EXPECTED}, got {preview(values)}. For a DataFrame give frame.to_numpy(), and its "
            "columns as candidates"
        )
    if not hasattr(type(values), "__dlpack__") and not hasattr(type(values), "__array__"):
        raise InvalidScores(f"{_EXPECTED}, got {preview(values)}")
    array = as_array(values)
    if array.ndim != 2:
        raise InvalidScores(
            f"{_EXPECTED}, got an array of {array.ndim} dimensions. For one answer use select"
        )
    return array


def _length(row: Any) -> int:
    """Return how many numbers are in a row.

    Raises:
        InvalidScores: if it is no row.
    """
    if isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1):
        return len(row)
    raise InvalidScores(f"{_EXPECTED}, got a row that is {_kind_of_row(row)}")


def _kind_of_row(row: object) -> str:
    return f"of type {type(row).__name__}"
