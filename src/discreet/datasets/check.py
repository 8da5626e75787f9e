"""How many cells do not fit a description. **Not private**: for the owner alone, on purpose."""

from dataclasses import dataclass

from ..errors import InvalidCandidates
from ..tables.written import spellings
from .column import Column
from .dataset import Dataset

_WRITTEN_ONCE = ("integer", "number", "boolean", "date")
_MISFITS = ("other_type", "beyond", "other_value", "otherwise")


@dataclass(frozen=True, slots=True)
class Fit:
    """How the cells of a column fit its declaration. Private.

    Attributes:
        column: the declared column.
        cells: how many cells are not missing.
        other_type: how many of them are of another type.
        beyond: how many are below the minimum or above the maximum.
        other_value: how many are none of the declared values.
        otherwise: how many are a declared value that a text file writes in another way, such as 1.50 for 1.5: a
            median takes them, and mode, top_k and by do not.
    """

    column: Column
    cells: int
    other_type: int
    beyond: int
    other_value: int
    otherwise: int = 0

    @property
    def misfits(self) -> int:
        """How many cells do not fit."""
        return self.other_type + self.beyond + self.other_value + self.otherwise


def check_cells(dataset: Dataset) -> list[Fit]:
    """Return how the cells of every declared column fit. **This is not private**: the rows themselves are counted.

    Distinct values of one column at a time come to memory.

    Raises:
        UnreadableData: if the data or a column is not there or cannot be read.

    Side channels: everything; do not show the result, and do not take bounds from it.
    """
    return [_fit(dataset, column) for column in dataset.columns.values()]


def _fit(dataset: Dataset, column: Column) -> Fit:
    from .. import tables

    values = tables.distinct(dataset.source, column.name)
    times = tables.count(dataset.source, column.name, values)
    found = {"": 0, **dict.fromkeys(_MISFITS, 0)}
    for value, n in zip(values, times, strict=True):
        found[_misfit(value, column, is_text=dataset.is_text)] += n
    of_what = {name: found[name] for name in _MISFITS}
    return Fit(column, sum(times), **of_what)


def _misfit(value: object, column: Column, *, is_text: bool) -> str:
    """Return why a value does not fit; an empty text if it does."""
    spelled = isinstance(value, str) and is_text
    bare = Column(column.name, column.type)
    try:
        read = bare.parse(str(value)) if spelled else bare.read(value)
    except InvalidCandidates:
        return "other_type"
    try:
        column.check_bounds(read)
    except InvalidCandidates:
        return "beyond"
    try:
        column.read(read)
    except InvalidCandidates:
        return "other_value"
    listed = column.values is not None and column.type in _WRITTEN_ONCE
    return "otherwise" if spelled and listed and value not in spellings(read) else ""
