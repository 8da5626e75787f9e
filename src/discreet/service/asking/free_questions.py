"""Free questions: a verb and its arguments on a declared column, chosen by the caller, in plain values."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ...base.arguments import choice, text
from ...base.error_boundary import public_errors
from ...errors import DiscreetError, InvalidArgument, MissingColumn, preview
from ...ledger import Session
from ...selection.any_column import AnyColumn
from ...selection.bins import is_of_cells
from ...selection.candidates import Grid
from ...selection.date_grid import DateGrid
from ...selection.decimals import Decimals
from ...selection.plain_columns import columns_of_plain
from ...selection.releases import Release
from ...selection.verb_calls import Call
from ...tables.datasets import Dataset
from ...tables.datasets.declarations import nearest
from ...tables.datasets.value_lists import ValueLists, cells_of, lists_of_values
from ...tables.verb_table import VERBS
from ...tables.verbs.count import counts
from ...tables.verbs.sql import parts_of

_PLAIN = (
    str, bool, int, float, Decimal, Fraction, dt.date, dt.datetime, type(None), Grid, DateGrid,
    Decimals,
)  # fmt: skip

_BY_COLUMN = ("candidates", "groups")
"""The terms that may be values by column, for cells of several columns."""

MOST_IN_FREE_QUESTION = 10_000
"""So many values a free question lists at a service, such as candidates: its price takes a quarter of a second.

Longer ones would keep workers and readers from others: the price of a million takes half a minute.
"""


@public_errors()
def check_number_of_values(terms: Mapping[str, object]) -> None:
    """Raise if a free question lists more values than a service reads."""
    number = sum(map(_count_values, terms.values()))
    if number > MOST_IN_FREE_QUESTION:
        raise InvalidArgument(
            f"a free question lists at most {MOST_IN_FREE_QUESTION:,} values, such as candidates. "
            f"This lists {number:,}"
        )


def _count_values(term: object) -> int:
    """Return how many values a term lists, in tuples and by column too."""
    several = list(term.values()) if isinstance(term, Mapping) else term
    if not isinstance(several, list | tuple):
        return 0
    return sum(_count_values(one) if isinstance(one, list | tuple) else 1 for one in several)


@public_errors()
def check_number_of_cells(question: Call, dataset: Dataset) -> None:
    """Raise if a free question has more cells of several columns than a service answers. No tuple is made."""
    for part in parts_of_question(question, dataset):
        check_number_of_cells(part, dataset)
    columns = _columns_of_labels(question)
    if not any(map(is_of_cells, columns.values())):
        return
    lists = [
        lists_of_values(dataset, column, question.terms.get(argument))
        for argument, column in columns.items()
        if column is not None
    ]
    cells = ValueLists([part for one in lists if one is not None for part in one.parts])
    if cells.size > MOST_IN_FREE_QUESTION:
        raise InvalidArgument(
            f"a free question has at most {MOST_IN_FREE_QUESTION:,} cells, and this one has {cells}. Take fewer "
            "values, wider bins, or list the cells as tuples"
        )


def parts_of_question(question: Call, dataset: Dataset | None = None) -> list[Call]:
    """Return the questions that a statement of SQL stands for; none of another question.

    Raises:
        InvalidArgument: if it is no statement that is answered.
        MissingPackage: if what reads one is not installed.
    """
    if "statement" not in question.terms:
        return []
    return parts_of(question.terms["statement"], dataset)


@public_errors()
def read_free(verb: object, column: object, terms: Mapping[str, object]) -> Call:
    """Return a free question without its data, of plain values alone.

    A mechanism or a table of candidates as an object could run code or read a file beside the data.

    Raises:
        InvalidArgument: if the verb, a name or a value is none that may be asked with.
    """
    verb_name = choice(verb, "verb", VERBS)
    names = VERBS[verb_name].terms
    for name in terms:
        if name not in names:
            raise InvalidArgument(
                f"a {verb_name} here takes no {preview(name)}{nearest(name, names)}. It takes "
                f"{', '.join(names)}"
            )
    values = {name: _term(value, name) for name, value in terms.items() if value is not None}
    question = Call(verb_named(verb_name), _columns(verb_name, column), values)
    for argument, of in _columns_of_labels(question).items():
        if isinstance(values.get(argument), Mapping) and cells_of(of) is None:
            raise InvalidArgument(
                f"{argument} by column are for several columns. Of one, give its values in a list"
            )
    return question


def _columns_of_labels(question: Call) -> Mapping[str, object]:
    """Return the columns of a question, by the arguments that may list their values."""
    return {"groups": question.terms.get("by"), "candidates": next(iter(question.arguments), None)}


def _columns(verb: str, column: object) -> tuple[Any, ...]:
    """Return the column of a question, or several, or none for a verb that is asked without."""
    if column is None and not VERBS[verb].needs_column:
        return ()
    return (check_columns(column, "column"),)


def check_columns(column: object, name: str) -> AnyColumn:
    """Return the name of a column, bins, or a list of these.

    Raises:
        InvalidArgument: if a name is no text, or bins cannot be read.
    """
    columns = columns_of_plain(column, name)
    cells = cells_of(columns)
    for one in [columns] if cells is None else cells.columns:
        text(one, name)
    return columns


def releases_keys(question: Call) -> bool:
    """Return whether an answer holds unlisted values of the data."""
    terms = question.terms
    names = [one for one in (terms.get("candidates"), terms.get("groups")) if isinstance(one, str)]
    of_keys = question.verb is counts and "delta" in terms and "candidates" not in terms
    return "private" in names or of_keys


def verb_named(name: str) -> Callable[..., Release]:
    """Return the verb of a name. A session has it as a method."""
    verb: Callable[..., Release] = getattr(Session, name)
    return verb


def refusal(error: Exception) -> DiscreetError | None:
    """Return an error in place of one that a free question met before anything was read, or None for all others.

    Args:
        error: the one that the description, or the verb, raised.
    """
    if isinstance(error, TypeError):
        error = InvalidArgument("an argument of the verb is missing, or of another kind")
    if not isinstance(error, InvalidArgument | MissingColumn):
        return None
    error.is_public = True
    return error


def _term(term: object, name: str) -> object:
    """Return a term in plain values."""
    if name == "by":
        return check_columns(term, name)
    if name in _BY_COLUMN and isinstance(term, Mapping):
        return {text(column, name): _plain(some, name) for column, some in term.items()}
    if name in _BY_COLUMN and isinstance(term, list | tuple):
        return [_label(one, name) for one in term]
    return _plain(term, name)


def _label(label: object, name: str) -> object:
    """Return a value of a list, or a cell of several columns."""
    if isinstance(label, list | tuple):
        return tuple(_plain_list(one, name) for one in label)
    return _plain_list(label, name)


def _plain(value: Any, name: str) -> Any:
    """Return a plain value, or a list of them, nested once."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, list | tuple | range):
        return [_plain_list(one, name) for one in value]
    raise InvalidArgument(
        f"{name} must be a plain value, a Grid, or a list of plain values, got {preview(value)}"
    )


def _plain_list(value: Any, name: str) -> Any:
    if type(value) in _PLAIN:
        return value
    raise InvalidArgument(f"{name} must be a list of plain values, and holds {preview(value)}")
