"""The keys of the form of cells in discreet.toml: of the CSV files of a dataset, and of one of its columns."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from ..formats.number_texts import DECIMALS, NEGATIVES, THOUSANDS
from ..formats.text_form import CellForm, cell_form
from .declarations import KeyPath, at_place
from .keys import TRUTH, Key, anything, choice_of, list_of

CELL_KEYS: Mapping[str, Key] = {
    "decimal": Key(choice_of(DECIMALS), "The decimal sign of numbers."),
    "thousands": Key(
        choice_of(("", *THOUSANDS)), 'The sign between groups of three digits, or "" for none.'
    ),
    "units": Key(
        list_of(anything("text", {"type": "string", "minLength": 1}), least=0, unique=True),
        'Texts of one meaning that may stand beside a number, such as ["CHF", "Fr."].',
    ),
    "percent": Key(TRUTH, "Whether a percent sign is behind every number: 45% is 0.45."),
    "negative": Key(
        choice_of(NEGATIVES), 'How numbers below zero are written. With "parentheses", (5) is -5.'
    ),
    "date": Key(
        anything("text", {"type": "string", "minLength": 1}),
        'How dates are written, such as "%d.%m.%Y". Days of Excel are "excel" or "excel1904".',
    ),
    "missing": Key(
        list_of(anything("text", {"type": "string"}), least=0, unique=True),
        'The texts that stand for a missing cell, such as "NA": exactly these.',
    ),
}

OF_NUMBERS = ("decimal", "thousands", "units", "percent", "negative", "missing")
OF_DATES = ("date", "decimal", "thousands", "missing")
OF_TEXTS = ("missing",)
"""The words for columns of dates: days of Excel are numbers."""


def read_cell_form(declaration: Mapping[str, Any], place: KeyPath) -> CellForm:
    """Return the form of the cells of a column, by its declaration.

    Raises:
        InvalidDescription: if it is none.
    """
    words = {word: declaration[word] for word in CELL_KEYS if word in declaration}
    for word, value in words.items():
        at_place((*place, word), partial(cell_form, {word: value}))
    return at_place(place, partial(cell_form, words))
