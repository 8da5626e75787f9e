"""How many cells fit a description. **Not private**: for its owner alone, on purpose, or for a private count."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .. import tables
from ..candidates import Labels
from ..errors import InvalidArgument, InvalidCandidates
from ..privacy.units import read_unit, unit_in_words
from ..tables.engine import open_table, unwrap_table
from ..tables.fits import CellCounts, DeclaredCells, column_bound
from ..tables.kinds import ColumnType, check_candidates, key
from ..tables.meanings import is_written, meanings
from ..tables.records import Records
from .columns import TYPES, Column
from .dataset import Dataset, declared_unit
from .dataset_terms import column_values, declared_bound

_NUMBERS = ("integer", "decimal", "float")

_FITTING_KINDS = {
    **{kind: _NUMBERS for kind in TYPES if TYPES[kind].is_numeric},
    "string": ("text",),
    "boolean": ("boolean",),
    "date": ("date",),
    "datetime": ("timestamp", "timestamp with time zone"),
}
"""The kinds of typed columns that hold values of a declared type."""

_UNTYPED = ("anything", "nothing")


@dataclass(frozen=True, slots=True)
class Fit:
    """How the cells of a column fit its declaration. Private.

    Attributes:
        column: the declared column.
        fits: how many cells fit: those that count for a declared value, as for mode, top_k and by; where no values
            are declared, those of the type and within the bounds.
        misfits: how many do not, and are not missing.
        missing: how many are missing.
        other_type: how many of the misfits are of another type.
        beyond: how many of them are below the minimum or above the maximum.
        other_value: how many of them are none of the declared values.
        otherwise: how many of them are a declared value that a text file writes in another way, such as 1.50 for
            1.5: a median takes them, and mode, top_k and by do not.
    """

    column: Column
    fits: int
    misfits: int
    missing: int
    other_type: int
    beyond: int
    other_value: int
    otherwise: int = 0

    @property
    def cells(self) -> int:
        """How many cells are not missing."""
        return self.fits + self.misfits


def check_cells(dataset: Dataset) -> list[Fit]:
    """Return how the cells of every declared column fit. **This is not private**: the rows themselves are counted.

    Distinct values of one column at a time come to memory.

    Raises:
        InvalidCandidates: if the type of a column is another than declared, or holds none of the declared values.
        UnreadableData: if the data or a column is not there or cannot be read.

    Side channels: everything; do not show the result, and do not take bounds from it.
    """
    source = unwrap_table(dataset.source)
    return [_fit(dataset, column, source) for column in dataset.columns.values()]


def record_fits(
    dataset: Dataset, name: str, records: Records | None = None, source: Any = None
) -> CellCounts:
    """Return how many cells of a column fit, do not, and are missing, record by record. Private.

    A unit adds at most as many cells to the three counts together as the records say, and a row, where it is a
    record, one cell to one of them. Cells fit as `check_cells` says.

    Args:
        dataset: the described data.
        name: a declared column.
        records: the records; as described if not given.
        source: the data themselves, if they are at hand: the rows of a query are fetched once for several columns.

    Raises:
        MissingColumn: if the description, or the data, has no such column.
        InvalidCandidates, UnreadableData: as `check_cells` does.

    Side channels: time and memory, which hold the distinct values of a column where no values are declared.
    """
    column = dataset.column(name)
    records = described_records(dataset) if records is None else records
    data = unwrap_table(dataset.source) if source is None else source
    return _counts(dataset, column, DeclaredCells(open_table(data, column.name, records)))


def described_records(dataset: Dataset, unit: object = None, most: object = None) -> Records:
    """Return the records of a description: rows, or units with a bound on their rows.

    Args:
        dataset: the description.
        unit: the column of the privacy unit, if it is given besides.
        most: the most rows of one unit that count, where the description does not declare it.

    Raises:
        InvalidArgument: if there is a unit and no bound, a bound and no unit, or another than declared.
    """
    unit, bound = declared_unit(dataset, read_unit(unit)), declared_bound(dataset, most)
    if bound is None and unit is not None:
        raise InvalidArgument(
            "a record of {dataset_label} is all rows of one {unit_in_words}, which may be any "
            "number: declare max_contributions, the most of them that count, or give it",
            dataset_label=dataset.label,
            unit_in_words=unit_in_words(unit),
        )
    if bound is not None and unit is None:
        raise InvalidArgument(
            "max_contributions bounds the rows of one privacy unit, and {dataset_label} declares "
            "none: leave it out",
            dataset_label=dataset.label,
        )
    return Records(unit, bound)


def _counts(dataset: Dataset, column: Column, cells: DeclaredCells) -> CellCounts:
    """Return the counts of a column, by its declaration of the values that fit."""
    of, labels = cells.of, _labels(dataset, column)
    if labels is not None:
        return cells.values(labels)
    _check_type(column, of)
    bounded = column.minimum is not None or column.maximum is not None
    counts = _count_in_range(column, cells)
    if counts is not None:
        return counts
    if not is_written(of) and of.kind not in _UNTYPED and not bounded and column.type != "integer":
        return cells.every_one()
    if column.type == "string" and of.kind == "text":
        return cells.every_one()
    return cells.by_predicate(lambda value: not _reason(value, column, of))


def _count_in_range(column: Column, cells: DeclaredCells) -> CellCounts | None:
    """Return the counts of a column of numbers by its bounds; None where numbers must be looked at one by one."""
    kind = cells.of.kind
    if (column.type == "number" and kind != "nothing") or (column.type, kind) == ("integer",) * 2:
        return cells.numbers(column.minimum, column.maximum)
    return None


def _labels(dataset: Dataset, column: Column) -> Labels | None:
    """Return the declared values as verbs count them, or None."""
    values = column_values(dataset, column)
    return None if values is None else Labels.of(values)


def _check_type(column: Column, of: ColumnType) -> None:
    """Raise if the table itself has another type for a column than is declared."""
    if not is_written(of) and of.kind not in (*_UNTYPED, *_FITTING_KINDS[column.type]):
        raise InvalidCandidates(
            "{of_words}, is declared as {column_type}", of_words=of.words, column_type=column.type
        )
    for bound in (column.minimum, column.maximum):
        if (
            column.type == "datetime"
            and bound is not None
            and of.kind in _FITTING_KINDS["datetime"]
        ):
            check_candidates([bound], of, "bound")


def _fit(dataset: Dataset, column: Column, source: Any) -> Fit:
    """Return how the cells of one column fit."""
    cells = DeclaredCells(open_table(source, column.name, Records()))
    counts = _counts(dataset, column, cells)
    reasons = _reasons(dataset, column, cells, source, counts)
    misfits = {name: reasons[name] for name in ("beyond", "other_value", "otherwise")}
    other_type = counts.misfits - sum(misfits.values())
    return Fit(column, counts.fits, counts.misfits, counts.missing, other_type, **misfits)


def _reasons(
    dataset: Dataset, column: Column, cells: DeclaredCells, source: Any, counts: CellCounts
) -> Counter[str]:
    """Return how many cells do not fit, by reason."""
    of, labels = cells.of, _labels(dataset, column)
    in_range = None if labels is not None else _count_in_range(column, cells)
    if in_range is not None:
        numbers = cells.numbers(None, None)
        return Counter(beyond=0 if numbers is None else numbers.fits - counts.fits)
    fitting = set()
    if labels is not None:
        fitting = {key(value) for means in meanings(labels, of) for value in means}
    reasons = Counter[str]()
    values = tables.distinct(source, column.name)
    for value, n in zip(values, tables.count(source, column.name, values), strict=True):
        if key(value) not in fitting:
            reasons[_reason(value, column, of) or "otherwise" * bool(labels)] += n
    return reasons


def _reason(value: Any, column: Column, of: ColumnType) -> str:
    """Return why a value does not fit; an empty text if only its spelling may be why."""
    bare = Column(column.name, column.type)
    try:
        cell: Any = bare.parse(value) if is_written(of) else bare.read(value)
    except InvalidCandidates:
        return "other_type"
    low, high = column.minimum, column.maximum
    if of.kind == "float":
        cell, low, high = Fraction(value), column_bound(low, of), column_bound(high, of)
    try:
        Column(column.name, column.type, low, high).check_bounds(cell)
    except InvalidCandidates:
        return "beyond"
    try:
        column.read(bare.read(value) if not is_written(of) else cell)
    except InvalidCandidates:
        return "other_value"
    return ""
