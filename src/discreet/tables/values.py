"""Values from outside: texts of a command line, and values of engines."""

import datetime as dt
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any
from uuid import UUID

from ..candidates import instant
from ..errors import InvalidCandidates
from .kinds import CellKey, ColumnType, is_missing, key, plain, rounded_float

INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
NUMERAL_PATTERN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def parse(text: str, of: ColumnType) -> object:
    """Return the text as a value of the column's type."""
    if of.kind not in PARSERS:
        return text
    words, parser = PARSERS[of.kind]
    try:
        return parser(text.strip(), of)
    except (ValueError, ArithmeticError, KeyError):
        pass
    raise InvalidCandidates(f"{text!r} cannot be read as {words} for {of.words}")


def match_text(pattern: re.Pattern[str], text: str) -> str:
    """Return a text of a form, or raise ValueError."""
    if not pattern.fullmatch(text):
        raise ValueError
    return text


def _float(text: str, of: ColumnType) -> float:
    if text.lower().lstrip("+-") in ("inf", "infinity"):
        return float(text)
    return rounded_float(float(match_text(NUMERAL_PATTERN, text)), of)


def _moment(text: str, of: ColumnType) -> dt.datetime:
    moment = dt.datetime.fromisoformat(text)
    if (moment.utcoffset() is None) != (of.kind == "timestamp"):
        raise ValueError
    return moment


PARSERS: dict[str, tuple[str, Callable[[str, ColumnType], object]]] = {
    "integer": ("an integer", lambda text, _: int(match_text(INTEGER, text))),
    "float": ("a number", _float),
    "decimal": ("a decimal number", lambda text, _: Decimal(match_text(NUMERAL_PATTERN, text))),
    "boolean": ("true or false", lambda text, _: {"true": True, "false": False}[text.lower()]),
    "date": ("a date like 2024-12-31", lambda text, _: dt.date.fromisoformat(text)),
    "timestamp": ("a timestamp like 2024-12-31T23:59:59, without an offset", _moment),
    "timestamp with time zone": ("a timestamp with its offset, like 2024-12-31T23:59Z", _moment),
    "uuid": ("a UUID", lambda text, _: UUID(text)),
}


def in_order(values: Iterable[object]) -> list[object]:
    """Return the distinct values, sorted, in plain Python, without nulls and NaN.

    Values that Python cannot hold, as a date after the year 9999, are left out.
    """
    cells: dict[CellKey, object] = {}
    for value in values:
        try:
            exact = _canonical(value)
            cells.setdefault(key(exact), exact)
        except Exception:  # objects in a table may do anything
            continue
    present = [value for value in cells.values() if not is_missing(value)]
    if len({type(value) for value in present}) == 1 and hasattr(present[0], "__lt__"):
        comparable: list[Any] = present  # of one type, which has an order
        return sorted(comparable)
    return sorted(present, key=_type_and_text)


def _type_and_text(value: object) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _canonical(value: object) -> object:
    """Return the value in plain Python, where zero is 0.0 and a time with an offset is in UTC."""
    exact = value if is_missing(value) else instant(plain(value))
    return 0.0 if isinstance(exact, float) and exact == 0 else exact
