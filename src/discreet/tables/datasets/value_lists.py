"""The values that an answer may name, column by column: their number is known before a tuple is made."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...selection.bins import (
    Bins,
    CellColumns,
    WithMissing,
    is_of_cells,
    part_name,
    read_columns,
)
from ..engines.records import is_private
from .dataset import Dataset


@dataclass(frozen=True, slots=True)
class ValueLists:
    """Values in lists, of which all tuples are meant; of one list its values.

    Attributes:
        parts: the lists.
    """

    parts: Sequence[Collection[object]]

    @property
    def size(self) -> int:
        """The number of values or tuples."""
        return math.prod(map(len, self.parts))

    def __str__(self) -> str:
        sizes = " × ".join(f"{len(part):,}" for part in self.parts)
        return sizes if len(self.parts) == 1 else f"{sizes} = {self.size:,}"


def lists_of_values(dataset: Dataset, column: object, labels: object) -> ValueLists | None:
    """Return the values in the lists of a question or a description; None where they are drawn or not known.

    Args:
        dataset: the described data.
        column: a column, bins, or a list of these.
        labels: the values as the question has them; None for those declared.
    """
    if is_private(labels):
        return None
    cells = cells_of(column)
    if cells is not None and (labels is None or isinstance(labels, Mapping)):
        parts: list[object] = [_values_of_part(dataset, part, labels) for part in cells.parts]
    elif labels is None:
        parts = [dataset.column(column).values]
    else:
        are_of_one = cells is not None and len(cells.parts) == 1
        parts = [_or_none(labels) if are_of_one else labels]
    lists = [part for part in parts if isinstance(part, Collection)]
    return ValueLists(lists) if len(lists) == len(parts) else None


def cells_of(column: object) -> CellColumns | None:
    """Return the columns of cells; None for one column."""
    return read_columns(column) if is_of_cells(column) else None


def _or_none(labels: object) -> object:
    """Return the values in a list, with None for records without one."""
    if not isinstance(labels, Collection) or isinstance(labels, str | bytes) or None in labels:
        return labels
    return [*labels, None]


def _values_of_part(
    dataset: Dataset, part: str | Bins | WithMissing, labels: Mapping[str, object] | None
) -> object:
    """Return the values of one column of a cell."""
    name = part_name(part)
    if isinstance(part, Bins):
        dataset.column(name)
        return part.labels
    own = dataset.column(name).values if labels is None else labels.get(name)
    return _or_none(own) if isinstance(part, WithMissing) else own
