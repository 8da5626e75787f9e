"""Words for the form of a file by which more cells would be numbers. **Not private**: for its owner alone.

A form is never taken from rows. These are words that the owner may have left out, and must say.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ...errors import InvalidArgument
from ..engines.fits import CellCounts
from ..engines.records import Records
from ..formats.text_form import CellForm
from .cell_fits import read_once, record_fits
from .columns import Column
from .dataset import Dataset

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
