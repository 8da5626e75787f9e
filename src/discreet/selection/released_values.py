"""Values that are drawn themselves, such as keys that were not listed: as a kind and a text, exact both ways.

Results of a user's own function are stored with an answer as plain values of these, also exact both ways.
"""

import datetime as dt
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, NamedTuple
from uuid import UUID

from ..errors import InvalidArgument


class _Kind(NamedTuple):
    """A kind of values: how one is written as text, and read again."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


def _write_timestamp(value: dt.datetime) -> str:
    """Return a time as text: one with a zone as its instant, in UTC."""
    return (value if value.tzinfo is None else value.astimezone(dt.UTC)).isoformat()


def _read_finite(text: str, kind: Callable[[str], Any]) -> Any:
    number = kind(text)
    if not math.isfinite(number):
        raise ValueError("a value that is not a number")
    return number


_VALUE_KINDS: dict[str, _Kind] = {
    "text": _Kind(str, str),
    "truth": _Kind(lambda value: "true" if value else "false", lambda text: text == "true"),
    "integer": _Kind(str, int),
    "decimal": _Kind(str, lambda text: _read_finite(text, Decimal)),
    "number": _Kind(repr, lambda text: _read_finite(text, float)),
    "date": _Kind(dt.date.isoformat, dt.date.fromisoformat),
    "timestamp": _Kind(_write_timestamp, dt.datetime.fromisoformat),
    "uuid": _Kind(str, UUID),
    "missing": _Kind(lambda value: "", lambda text: None),
    "tuple": _Kind(
        lambda parts: json.dumps([ReleasedValue.of(one).plain for one in parts]),
        lambda text: tuple(read_released_value(one).value for one in json.loads(text)),
    ),
}
_KIND_OF: dict[type, str] = {
    str: "text", bool: "truth", int: "integer", Decimal: "decimal", float: "number", dt.date: "date",
    dt.datetime: "timestamp", UUID: "uuid", type(None): "missing", tuple: "tuple",
}  # fmt: skip

_AS_BYTES = "text in UTF-8"
"""The name under which a text with surrogates travels: JSON would join two of them to one letter."""


@dataclass(frozen=True, slots=True, order=True, repr=False)
class ReleasedValue:
    """A drawn value, for a release without a list of candidates. Its order is that of code points.

    It holds data, and whoever supplied them chose its letters: it is escaped wherever it is shown.

    Attributes:
        kind: "text", "truth", "integer", "decimal", "number" (a double), "date", "timestamp",
            "uuid", "missing" (None) or "tuple".
        text: the value as text, in the one way in which its kind is written.
    """

    kind: str
    text: str

    def __post_init__(self) -> None:
        """Check that the text is one that a value of this kind is written as.

        Raises:
            InvalidArgument: if it is not. The message does not quote it, as it may be private.
        """
        if not _is_written(self.kind, self.text):
            raise InvalidArgument("a released value must be of a known kind, with its one text")

    @classmethod
    def of(cls, value: Any) -> "ReleasedValue":
        """Return a value as it is released; a time with a zone as its instant.

        Raises:
            InvalidArgument: if it is of a type that is not released, or no number. The message does not quote it.
        """
        plain = int(value) if type(value) is not bool and isinstance(value, Integral) else value
        kind = _KIND_OF.get(type(plain))
        if kind is not None:
            try:
                return cls(kind, _VALUE_KINDS[kind].write(plain))
            except (
                ValueError,
                ArithmeticError,
            ):  # longer than Python spells, or past the last year
                pass
        raise InvalidArgument(
            f"a {type(value).__name__} like this cannot be released: give a text, a truth, a "
            "finite number, a date, a time or a UUID"
        )

    @property
    def value(self) -> Any:
        """The value itself."""
        return _VALUE_KINDS[self.kind].read(self.text)

    @property
    def plain(self) -> dict[str, str]:
        """The value as one entry, kind and text, for JSON in ASCII."""
        if self.kind == "text" and any("\ud800" <= letter <= "\udfff" for letter in self.text):
            return {_AS_BYTES: self.text.encode("utf-8", "surrogatepass").hex()}
        return {self.kind: self.text}

    def __repr__(self) -> str:
        return f"ReleasedValue({self.kind})"


def read_released_value(plain: Mapping[str, str]) -> ReleasedValue:
    """Return the value that `ReleasedValue.plain` wrote.

    Raises:
        ValueError: if it is none, or written in another way. The message does not quote it.
    """
    [(kind, text)] = plain.items()
    if kind == _AS_BYTES:
        value = ReleasedValue("text", bytes.fromhex(text).decode("utf-8", "surrogatepass"))
    else:
        value = ReleasedValue(kind, text)
    if value.plain != plain:
        raise InvalidArgument("a released value is written in another way")
    return value


def _is_written(kind: object, text: object) -> bool:
    """Return whether this is the text of a value of this kind."""
    if not (isinstance(kind, str) and kind in _VALUE_KINDS and type(text) is str):
        return False
    form = _VALUE_KINDS[kind]
    try:
        return form.write(form.read(text)) == text
    except (ValueError, ArithmeticError, AttributeError, TypeError, RecursionError):
        return False


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
