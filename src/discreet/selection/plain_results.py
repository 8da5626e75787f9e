"""Results of a user's own function, as a ledger stores them with an answer: plain values, exact both ways."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ..errors import InvalidArgument
from .released_values import ReleasedValue

_NOTHING, _VALUE, _LIST, _TUPLE, _DICT, _FRACTION = range(6)
"""The forms of a stored result, which is a list that begins with one of these numbers."""

_DEEPEST_RESULT = 20

Record = list[Any]
"""A result in the ledger: whole numbers, released values and lists of them."""


def store_result(outcome: Any, depth: int = 0) -> Record:
    """Return a result as a ledger stores it.

    Raises:
        InvalidArgument: if it is none of None, text, truths, numbers, dates and times, and lists, tuples and dicts
            of them, at most 20 deep. The message does not quote it.
    """
    if depth > _DEEPEST_RESULT:
        raise _not_plain()
    if outcome is None:
        return [_NOTHING]
    if isinstance(outcome, Fraction):
        return [_FRACTION, int(outcome.numerator), int(outcome.denominator)]
    if isinstance(outcome, list | tuple):
        form = _LIST if isinstance(outcome, list) else _TUPLE
        return [form, [store_result(each, depth + 1) for each in outcome]]
    if isinstance(outcome, Mapping):
        pairs = [[store_result(part, depth + 1) for part in pair] for pair in outcome.items()]
        return [_DICT, pairs]
    scalar = (
        outcome.item() if type(outcome).__module__ == "numpy" and outcome.ndim == 0 else outcome
    )
    try:
        return [_VALUE, ReleasedValue.of(scalar)]
    except InvalidArgument:
        raise _not_plain() from None


def read_result(record: Record) -> Any:
    """Return the result that was stored."""
    form, *parts = record
    if form == _NOTHING:
        return None
    if form == _FRACTION:
        return Fraction(*parts)
    (part,) = parts
    if form == _VALUE:
        return part.value
    if form == _DICT:
        return {read_result(key): read_result(entry) for key, entry in part}
    outcomes = [read_result(each) for each in part]
    return outcomes if form == _LIST else tuple(outcomes)


def _not_plain() -> InvalidArgument:
    return InvalidArgument(
        "a request keeps the score and the result in the ledger, so they must be None, text, "
        "truths, finite numbers, dates or times, or lists, tuples and dicts of them. For other "
        "results leave out request"
    )
