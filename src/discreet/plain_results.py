"""Results of a user's own function, as a ledger stores them with an answer: plain values, exact both ways."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .errors import InvalidArgument
from .released_values import ReleasedValue

_NOTHING, _VALUE, _LIST, _TUPLE, _DICT, _FRACTION = range(6)
"""The forms of a stored result, which is a list that begins with one of these numbers."""

_DEEPEST = 20

Stored = list[Any]
"""A stored result: whole numbers, released values and lists of them."""


def store_result(result: Any, depth: int = 0) -> Stored:
    """Return a result as a ledger stores it.

    Raises:
        InvalidArgument: if it is none of None, text, truths, numbers, dates and times, and lists, tuples and dicts
            of them, at most 20 deep. The message does not quote it.
    """
    if depth > _DEEPEST:
        raise _not_plain()
    if result is None:
        return [_NOTHING]
    if isinstance(result, Fraction):
        return [_FRACTION, int(result.numerator), int(result.denominator)]
    if isinstance(result, list | tuple):
        form = _LIST if isinstance(result, list) else _TUPLE
        return [form, [store_result(each, depth + 1) for each in result]]
    if isinstance(result, Mapping):
        pairs = [[store_result(part, depth + 1) for part in pair] for pair in result.items()]
        return [_DICT, pairs]
    scalar = result.item() if type(result).__module__ == "numpy" and result.ndim == 0 else result
    try:
        return [_VALUE, ReleasedValue.of(scalar)]
    except InvalidArgument:
        raise _not_plain() from None


def read_result(stored: Stored) -> Any:
    """Return the result that was stored."""
    form, *parts = stored
    if form == _NOTHING:
        return None
    if form == _FRACTION:
        return Fraction(*parts)
    (part,) = parts
    if form == _VALUE:
        return part.value
    if form == _DICT:
        return {read_result(name): read_result(value) for name, value in part}
    results = [read_result(each) for each in part]
    return results if form == _LIST else tuple(results)


def _not_plain() -> InvalidArgument:
    return InvalidArgument(
        "with a request the score and the result are kept in the ledger, so they must be None, text, truths, "
        "finite numbers, dates or times, or lists, tuples and dicts of them; leave out request for other results"
    )
