"""The type of an argument that names a column, without the modules that a first answer does not need."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .bins import Bins, CellColumns, WithMissing

    Part: TypeAlias = str | Bins | WithMissing
    AnyColumn: TypeAlias = Part | CellColumns | Sequence[Part] | None
else:
    AnyColumn = str | Sequence[Any] | None
"""One column, or bins of one, or a list of these; or the cells of them, once they were read."""
