"""Reads declarations strictly: unknown keys are refused with the nearest known one, and errors know their place.

Names and values are written as discreet.toml has them, for drafts: all that others wrote is quoted.
"""

import datetime as dt
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from difflib import get_close_matches
from itertools import islice
from typing import Any, TypeVar

from ...base.arguments import exact_text, mapping, read_sequence
from ...errors import InvalidArgument, InvalidDescription, preview

_T = TypeVar("_T")

KeyPath = tuple[str, ...]
"""The keys that lead to a part of a description, such as ("columns", "age", "minimum")."""

TO_FILL_IN = "FILL IN"
"""What `discreet describe` writes where the owner has to say something."""

LEAST, LARGEST, STEP = (
    f"{TO_FILL_IN}: the least value there can be",
    f"{TO_FILL_IN}: the largest value there can be",
    f"{TO_FILL_IN}: the distance between answers, such as 0.01",
)
"""What a draft has in place of the numbers of a column."""


_LONG, _FEW, _COMPARED = 200, 30, 5000
"""The longest name that is shown whole, as many are listed, and as many are compared with a wrong one."""


def wrong(place: KeyPath, message: str) -> InvalidDescription:
    """Return the error for a part of a description."""
    path = ".".join(map(_cut_name, place))
    error = InvalidDescription(f"{path}: {message}" if place else message)
    error.place, error.reason = place, message
    return error


def _cut_name(key: str) -> str:
    return key if len(key) <= _LONG else f"{key[: _LONG - 3]}..."


def toml_text(value: object) -> str:
    """Return a value for a message, as it is written in a description."""
    if type(value) in (Decimal, dt.date, dt.time, dt.datetime):
        return preview(str(value))[1:-1]
    return str(value).lower() if isinstance(value, bool) else preview(value)


def few(names: Collection[str]) -> str:
    """Return the first of some names, and how many there are more."""
    more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
    return ", ".join(map(_cut_name, islice(names, _FEW))) + more


_OTHER_WORDS = {
    "lo": "minimum", "low": "minimum", "lower": "minimum", "min": "minimum", "hi": "maximum", "high": "maximum",
    "upper": "maximum", "max": "maximum", "bounds": "minimum", "range": "minimum", "values": "enum",
    "categories": "enum", "candidates": "enum", "eps": "epsilon", "dtype": "type", "kind": "type", "path": "source",
    "file": "source", "files": "source", "sql": "query", "url": "connection", "user": "privacy_unit",
    "unit": "privacy_unit",
}  # fmt: skip
"""Words of other tools for keys that are called otherwise here."""


def nearest(name: object, names: Iterable[object]) -> str:
    """Return " (did you mean 'x'?)" for the nearest of the known texts, or ""; of many some are compared."""
    if not isinstance(name, str) or len(name) > _LONG:
        return ""
    texts = [each for each in islice(names, _COMPARED) if isinstance(each, str)]
    same = _OTHER_WORDS.get(name)
    close = [same] if same in texts else get_close_matches(name, texts, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


class Mistakes:
    """The mistakes in the parts of a description, collected so that all are said at once."""

    __slots__ = ("_errors",)

    def __init__(self) -> None:
        self._errors: list[InvalidDescription] = []

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Keep the mistakes that a block raises."""
        try:
            yield
        except InvalidDescription as error:
            self._errors += [error, *error.others]
            error.others = ()

    def check(self) -> None:
        """Raise the first mistake, with the others, if there is one."""
        if self._errors:
            first, *others = self._errors
            first.others = tuple(others)
            raise first.with_traceback(None)


def at_place(place: KeyPath, work: Callable[[], _T]) -> _T:
    """Return the result of `work`; its errors get the place.

    Raises:
        InvalidDescription: if an argument is refused.
    """
    try:
        return work()
    except InvalidDescription as error:
        failure = wrong((*place, *error.place), error.reason)
        failure.others = tuple(wrong((*place, *one.place), one.reason) for one in error.others)
    except InvalidArgument as error:
        failure = wrong(place, str(error))
    raise failure


def read_mapping(entry: object, place: KeyPath) -> dict[str, Any]:
    """Return a mapping from names as a dict.

    Raises:
        InvalidDescription: if it is none, or has a key that is no name.
    """
    if not isinstance(entry, Mapping):
        raise wrong(place, f"it must be a table, a mapping from names, got {toml_text(entry)}")
    try:
        return mapping(entry, "the table")
    except InvalidArgument as error:
        message = str(error)
    raise wrong(place, message)


def read_list(entry: object, place: KeyPath) -> list[Any]:
    """Return the values of a list; a table is none, though its keys could be listed.

    Raises:
        InvalidDescription: if it is none.
    """
    try:
        if not isinstance(entry, Mapping):
            return read_sequence(entry, place[-1])
    except InvalidArgument as error:
        message = str(error)
    else:
        message = f"it must be a list, got {toml_text(entry)}"
    raise wrong(place, message)


def read_text(entry: object, place: KeyPath) -> str:
    """Return a text that is not empty.

    Raises:
        InvalidDescription: if it is none, or is still to be filled in.
    """
    text = exact_text(entry)
    if text is None or not text.strip():
        raise wrong(place, f"it must be a text, got {toml_text(entry)}")
    refuse_to_fill_in(text, place)
    return text


def refuse_to_fill_in(entry: object, place: KeyPath) -> None:
    """Raise if a value is the mark of a draft."""
    if isinstance(entry, str) and entry.strip().startswith(TO_FILL_IN):
        raise wrong(place, "it is still to be filled in, from what you know and not from the rows")


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_LINE = 100


def quote_key(name: str) -> str:
    """Return a name as a key."""
    return name if _BARE.fullmatch(name) else quote_value(name)


def table_head(*names: str) -> str:
    """Return the line that begins a table."""
    return f"[{'.'.join(map(quote_key, names))}]"


def quote_value(entry: object) -> str:
    """Return a text, a truth, a number, a date or a list of these.

    A text is as in JSON, with the one sign that only TOML forbids. A long list has a line for each of its values.
    """
    if isinstance(entry, list | tuple):
        texts = [*map(quote_value, entry)]
        line = f"[{', '.join(texts)}]"
        if len(line) <= _LONGEST_LINE:
            return line
        return "\n".join(["[", *(f"    {text}," for text in texts), "]"])
    if isinstance(entry, dt.date):
        return entry.isoformat()
    return json.dumps(entry, ensure_ascii=False).replace("\x7f", "\\u007f")


def key_lines(entries: Mapping[str, object]) -> list[str]:
    """Return the lines of some keys; a mapping among them is keys with a dot."""
    lines = []
    for name, entry in entries.items():
        if isinstance(entry, Mapping):
            lines += [f"{quote_key(name)}.{line}" for line in key_lines(entry)]
        else:
            lines.append(f"{quote_key(name)} = {quote_value(entry)}")
    return lines
