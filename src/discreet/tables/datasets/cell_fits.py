"""How many cells fit a description. **Not private**: for its owner alone, on purpose, or for a private count.

So are the words for the form of a file by which more cells would be numbers. A form is never taken from rows. These
are words that the owner may have left out, and must say.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...errors import InvalidArgument, InvalidCandidates
from ...privacy.sensitivity import read_unit, unit_in_words
from ...selection.candidates import Labels
from ..engines.engine import open_table, unwrap_table
from ..engines.fits import CellCounts, DeclaredCells, column_bound
from ..engines.kept_columns import KeptColumns, keep_columns
from ..engines.native import Frame
from ..engines.records import COMMENT, SPANS, Records
from ..formats.file_paths import may_have_comments, may_span, names_files
from ..formats.text_form import CellForm
from ..values.kinds import ColumnType, check_candidates, is_written
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


def check_cells(dataset: Dataset) -> dict[str, CellCounts]:
    """Return how the cells of every declared column fit. **This is not private**: the rows themselves are counted.

    Distinct values of one column at a time come to memory.

    Raises:
        InvalidCandidates: if the type of a column is another than declared, or holds none of the declared values.
        UnreadableData: if the data or a column is not there or cannot be read.

    Side channels: everything; do not show the result, and do not take bounds from it.
    """
    return check_cells_and_lines(dataset)[0]


def check_cells_and_lines(
    dataset: Dataset,
) -> tuple[dict[str, CellCounts], int | None, int | None]:
    """Return the fits of `check_cells`, and how many records span several lines, and how many lines are comments.

    **This is not private** either. A number is None where there can be none, as of all data but text files.
    """
    spans, comments = may_span(dataset.source), may_have_comments(dataset.source)
    columns = dataset.columns.values()
    source = read_once(dataset.table, columns, Records(), spans=spans, comments=comments)
    fits = {name: record_fits(dataset, name, Records(), source) for name in dataset.columns}
    return (
        fits,
        count_spanning(source, Records()) if spans else None,
        count_comments(source) if comments else None,
    )


def count_spanning(source: KeptColumns, records: Records) -> int:
    """Return how many records span several lines, of columns that were kept with their line numbers. Private.

    A unit adds as many at most as the records say, and a row, where it is a record, one at most.
    """
    return DeclaredCells(open_table(source.spanning(), SPANS, records)).spanning()


def count_comments(source: KeptColumns) -> int:
    """Return how many lines are comments, of columns that were kept with them. Private.

    A line of the file is a comment or belongs to a record, and its bytes and the form alone decide.
    """
    return DeclaredCells(open_table(source.comments(), COMMENT, Records())).spanning()


def read_once(
    source: Any,
    columns: Iterable[Column],
    records: Records,
    *,
    spans: bool = False,
    comments: bool = False,
) -> Any:
    """Return the data with some columns at hand: the rows of a query, and those of files, are read once for all.

    Where `spans` is true, which records of files span several lines is among what is read, and where `comments` is,
    how many lines are comments.

    So the classes of every column add up to one number of records, whatever else is written to the files meanwhile.
    """
    data = unwrap_table(source)
    if not names_files(data):
        return data
    names = [column.name for column in columns]
    return keep_columns(data, names, records.unit, spans=spans, comments=comments)


def record_fits(
    dataset: Dataset, name: str, records: Records | None = None, source: Any = None
) -> CellCounts:
    """Return how many cells of a column fit, do not, and are missing, record by record. Private.

    A unit adds at most as many cells to the five counts together as the records say, and a row, where it is a
    record, one cell to one of them. Cells fit as `check_cells` says.

    Args:
        dataset: the described data.
        name: a declared column.
        records: the records; as described if not given.
        source: the data themselves, if they are at hand: see `read_once`.

    Raises:
        MissingColumn: if the description, or the data, has no such column.
        InvalidCandidates, UnreadableData: as `check_cells` does.

    Side channels: time and memory, which hold the distinct values of a column where no values are declared.
    """
    column = dataset.column(name)
    records = described_records(dataset) if records is None else records
    data = read_once(dataset.table, [column], records) if source is None else source
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
            f"a record of {dataset.label} is all rows of one {unit_in_words(unit)}, which may be "
            "any number: declare max_contributions, the most of them that count, or give it"
        )
    if bound is not None and unit is None:
        raise InvalidArgument(
            f"max_contributions bounds the rows of one privacy unit, and {dataset.label} declares "
            "none: leave it out"
        )
    return Records(unit, bound)


def _counts(dataset: Dataset, column: Column, cells: DeclaredCells) -> CellCounts:
    """Return the counts of a column, by its declaration of the values that fit."""
    of, labels = cells.of, _labels(dataset, column)
    if labels is not None:
        places = cells.places_of(labels)
        empty = is_written(of) and "" in places
        of_type = _rows_of_type(column, cells, places, empty=empty)
        return cells.count(cells.rows_among(places), of_type, empty=empty)
    _check_type(column, of)
    in_range = _rows_in_range(column, cells)
    if in_range is not None:
        return cells.count(in_range, _rows_of_type(column, cells, {}))
    bounded = column.minimum is not None or column.maximum is not None
    is_typed = not is_written(of) and of.kind not in _UNTYPED and column.type != "integer"
    if (is_typed and not bounded) or (column.type == "string" and of.kind == "text"):
        return cells.every_one()
    fitting = cells.places_where(lambda value: _is_of(column, value, of))
    return cells.count(cells.rows_among(fitting), _rows_of_type(column, cells, fitting))


def _rows_of_type(
    column: Column, cells: DeclaredCells, fitting: Mapping[object, int], *, empty: bool = False
) -> Frame:
    """Return the rows with a value of the declared type, all that fit among them.

    Args:
        column: the declared column.
        cells: its cells.
        fitting: the values in the engine that fit, where they were looked up.
        empty: whether an empty text is a value.
    """
    of, bare = cells.of, Column(column.name, column.type)
    is_number = TYPES[column.type].is_numeric
    is_typed = not is_written(of) and of.kind in _FITTING_KINDS[column.type] and not is_number
    if is_typed or (column.type == "string" and of.kind == "text"):
        return cells.present_rows(empty=empty)
    numbers = _rows_in_range(bare, cells)
    if numbers is not None:
        return numbers
    places = cells.places_where(lambda value: _is_of(bare, value, of))
    return cells.rows_among({**places, **fitting})


def _rows_in_range(column: Column, cells: DeclaredCells) -> "Frame | None":
    """Return the rows with numbers within the bounds of a column; None where values are looked at one by one."""
    kind = cells.of.kind
    if (column.type == "number" and kind != "nothing") or (column.type, kind) == ("integer",) * 2:
        return cells.number_rows(column.minimum, column.maximum)
    return None


def _labels(dataset: Dataset, column: Column) -> Labels | None:
    """Return the declared values as verbs count them, or None."""
    values = column_values(dataset, column)
    return None if values is None else Labels.of(values)


def _check_type(column: Column, of: ColumnType) -> None:
    """Raise if the table itself has another type for a column than is declared."""
    if not is_written(of) and of.kind not in (*_UNTYPED, *_FITTING_KINDS[column.type]):
        raise InvalidCandidates(f"{of.words}, is declared as {column.type}")
    for bound in (column.minimum, column.maximum):
        if (
            column.type == "datetime"
            and bound is not None
            and of.kind in _FITTING_KINDS["datetime"]
        ):
            check_candidates([bound], of, "bound")


def _is_of(column: Column, value: Any, of: ColumnType) -> bool:
    """Return whether a value is of a column's declared type, and within its bounds."""
    bare = Column(column.name, column.type)
    low, high = column.minimum, column.maximum
    try:
        cell: Any = _parse_cell(bare, value, of) if is_written(of) else bare.read(value)
        if of.kind == "float":
            cell, low, high = Fraction(value), column_bound(low, of), column_bound(high, of)
        Column(column.name, column.type, low, high).check_bounds(cell)
    except InvalidCandidates:
        return False
    return True


def _parse_cell(column: Column, text: str, of: ColumnType) -> Any:
    """Return the value that a field of a file spells; a day of Excel without a fraction is a midnight.

    Raises:
        InvalidCandidates: if it spells none of the column's type.
    """
    is_day = column.type == "datetime" and of.reading is not None and "T" not in text
    return column.parse(f"{text}T00:00" if is_day else text)


Words = Mapping[str, Any]
"""Words for the form of cells."""

OTHER_FORMS: tuple[Words, ...] = (
    {"decimal": ","},
    {"thousands": ","},
    {"thousands": "'"},
    {"thousands": " "},
    {"percent": True},
    {"decimal": ",", "thousands": "."},
    {"decimal": ",", "thousands": " "},
    {"decimal": ",", "percent": True},
)
"""The words that are tried: those of one word first."""


def other_forms(
    dataset: Dataset, cells: Mapping[str, CellCounts]
) -> dict[str, tuple[int, list[Words]]]:
    """Return how many more cells of columns would spell numbers, and in which forms as many as that.

    **This is not private**: the rows themselves are counted. A form is left out if some of its words alone do as
    well. Of other data than CSV files there are none.

    Args:
        dataset: the described data.
        cells: the counts of its columns.
    """
    columns = [dataset.columns[name] for name, one in cells.items() if one.other_type]
    numeric = [one for one in columns if one.is_numeric] if dataset.is_text else []
    by_size: dict[str, dict[int, list[Words]]] = {one.name: {} for one in numeric}
    for words in OTHER_FORMS if numeric else ():
        for name, size in _sizes_in(dataset, numeric, words):
            by_size[name].setdefault(size, []).append(words)
    return {
        name: (most - _size_of_type(cells[name]), _shortest(forms[most]))
        for name, forms in by_size.items()
        if (most := max(forms, default=0)) > _size_of_type(cells[name])
    }


def _sizes_in(dataset: Dataset, columns: list[Column], words: Words) -> Iterator[tuple[str, int]]:
    """Yield how many cells of columns are numbers where these words replace their own."""
    by_name: dict[str, Any] = {}
    for one in columns:
        with suppress(InvalidArgument):  # together with its other words this may be no form
            column: Any = replace(one, form=one.form.replaced_by(CellForm(**words)))
            Dataset(dataset.source, {one.name: column})
            by_name[one.name] = column
    if by_name:
        other = Dataset(dataset.source, by_name)
        source = read_once(other.table, by_name.values(), Records())
        for name in by_name:
            yield name, _size_of_type(record_fits(other, name, Records(), source))


def _size_of_type(counts: CellCounts) -> int:
    return counts.fits + counts.out_of_range


def _shortest(forms: list[Words]) -> list[Words]:
    """Return the forms of which no others are a part."""
    return [one for one in forms if not any(other.items() < one.items() for other in forms)]


def in_words(name: str, number: int, forms: list[Words]) -> str:
    """Return a line of text about a column."""
    ways = " or ".join(
        " and ".join(f"{word} = {_toml(sign)}" for word, sign in form.items()) for form in forms
    )
    which = "Say it" if len(forms) == 1 else "Say the one that is meant"
    return (
        f"{name}: numbers among the cells of another type, with {ways}: {number:,}. "
        f"{which}, as csv.KEY in discreet.toml or at the column"
    )


def _toml(sign: object) -> str:
    return "true" if sign is True else f'"{sign}"'
