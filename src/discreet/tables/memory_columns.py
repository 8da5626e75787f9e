"""A column in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .kinds import ColumnType


@dataclass(frozen=True, slots=True, repr=False)
class Objects:
    """A column of Python objects. Private."""

    cells: Sequence[object]
    name: str = "object"
    of: ColumnType | None = None
    """The type of all of them, where the column says it: that of the categories of pandas."""


@dataclass(frozen=True, slots=True, repr=False)
class TypedArray:
    """A column with a type: an array of numpy, or of Arrow. Private."""

    array: Any
    of: ColumnType | None = None
    """The type, where DuckDB would not see it in the array."""


MemoryColumn = Objects | TypedArray
