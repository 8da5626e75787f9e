"""Free questions: a verb and its arguments on a declared column, chosen by the caller, in plain values."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ...base.arguments import choice, exact_text
from ...base.error_boundary import public_errors
from ...errors import DiscreetError, InvalidArgument, MissingColumn, preview
from ...ledger import Session
from ...selection.candidates import Grid
from ...selection.date_grid import DateGrid
from ...selection.decimals import Decimals
from ...selection.releases import Release
from ...selection.verb_calls import Call
from ...tables.datasets.declarations import nearest
from ...tables.verb_table import VERBS
from ...tables.verbs.count import counts
from ...tables.verbs.sql import parts_of

_PLAIN = (
    str, bool, int, float, Decimal, Fraction, dt.date, dt.datetime, type(None), Grid, DateGrid,
    Decimals,
)  # fmt: skip

MOST_IN_FREE_QUESTION = 10_000
"""So many values a free question lists at a service, such as candidates: its price takes a quarter of a second.

Longer ones would keep workers and readers from others: the price of a million takes half a minute.
"""


@public_errors()
def check_number_of_values(terms: Mapping[str, object]) -> None:
    """Raise if a free question lists more values than a service reads."""
    number = sum(len(one) for one in terms.values() if isinstance(one, list | tuple))
    if number > MOST_IN_FREE_QUESTION:
        raise InvalidArgument(
            f"a free question lists at most {MOST_IN_FREE_QUESTION:,} values, such as candidates. "
            f"This lists {number:,}"
        )


def parts_of_question(question: Call) -> list[Call]:
    """Return the questions that a statement of SQL stands for; none of another question.

    Raises:
        InvalidArgument: if it is no statement that is answered.
        MissingPackage: if what reads one is not installed.
    """
    if "statement" not in question.terms:
        return []
    return parts_of(question.terms["statement"])


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
    if terms.get("by") is not None:
        name_of_column(terms["by"], "by")
    values = {name: _plain(value, name) for name, value in terms.items() if value is not None}
    return Call(verb_named(verb_name), _columns(verb_name, column), values)


def _columns(verb: str, column: object) -> tuple[str, ...]:
    """Return the column of a question; none for a verb that is asked without."""
    if column is None and not VERBS[verb].needs_column:
        return ()
    return (name_of_column(column, "column"),)


def name_of_column(column: object, argument: str) -> str:
    """Return the name of one column.

    Raises:
        InvalidArgument: for several columns, or bins, of which no reply knows its length before it is paid.
    """
    name = exact_text(column)
    if name is None:
        raise InvalidArgument(
            f"{argument} must be the name of one column here, got {preview(column)}. For several columns or bins, "
            "ask the owner to declare one that has them"
        )
    return name


def releases_keys(question: Call) -> bool:
    """Return whether an answer holds unlisted values of the data."""
    terms = question.terms
    names = [one for one in (terms.get("candidates"), terms.get("groups")) if isinstance(one, str)]
    of_keys = question.verb is counts and "delta" in terms and "candidates" not in terms
    return "private" in names or of_keys


def verb_named(name: str) -> Callable[..., Release]:
    """Return the verb of a name; a session has it as a method."""
    verb: Callable[..., Release] = getattr(Session, name)
    return verb


def refusal(error: Exception) -> DiscreetError | None:
    """Return an error in place of one that a free question met before anything was read; None for all others.

    Args:
        error: the one that the description, or the verb, raised.
    """
    if isinstance(error, TypeError):
        error = InvalidArgument("an argument of the verb is missing, or of another kind")
    if not isinstance(error, InvalidArgument | MissingColumn):
        return None
    error.is_public = True
    return error


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
