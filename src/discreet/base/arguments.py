"""Reads arguments once, as plain values, or rejects them.

An object may lie about its equality, length and name, and some answer a comparison with a whole series. So texts
are taken as exact `str`, options are looked up by name and never compared, and lists are read up to a known
length. One-shot iterators are rejected where arguments are read more than once. Numbers: `numbers`.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..errors import InvalidArgument, UnknownName, preview
from .error_boundary import error_boundary

if TYPE_CHECKING:
    from pathlib import Path

MOST_LISTED = 10**7
"""As many values are read one by one from what may have no end."""

_NAME_LENGTH = 200
_MOST_COLUMNS = 10**9


def read_name(name: object, what: str) -> str:
    """Return a name (of a dataset, an analyst, a question or a request) as exact text.

    A subclass of `str` may hash and compare as another text than it holds, so that one name would be looked
    up and another charged. The result is an exact `str`, read once.

    Raises:
        InvalidArgument: if it is no name that every database can store.
    """
    text = exact_text(name)
    if (
        text is not None
        and text.isprintable()
        and 0 < len(text.strip()) == len(text) <= _NAME_LENGTH
    ):
        return text
    raise InvalidArgument(
        f"{what} must be a printable name of up to {_NAME_LENGTH} letters, got {preview(name)}"
    )


def exact_text(value: object) -> str | None:
    """Return the text that a `str` or a subclass holds, without asking its methods, or None if it is no text."""
    if not issubclass(type(value), str):
        return None
    text = str.__str__(value)
    return text if text.isascii() or _can_be_written(text) else None


def _can_be_written(text: str) -> bool:
    """Return whether a text has no halves of surrogate pairs, which no file and no database takes."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def text(value: object, name: str) -> str:
    """Return a text as an exact `str` that can be written as UTF-8.

    Raises:
        InvalidArgument: if it is none.
    """
    exact = exact_text(value)
    if exact is None:
        raise InvalidArgument(f"{name} must be a text, got {preview(value)}")
    return exact


def column_name(value: object, name: str = "column") -> Any:
    """Return the name of a column: a text, or a number as pandas has it.

    Raises:
        InvalidArgument: if it is neither.
    """
    if type(value) is int and abs(value) < _MOST_COLUMNS:
        return value
    text = exact_text(value)
    if text is None:
        several = isinstance(value, list | tuple) or hasattr(value, "edges")
        where = (
            ". Several columns, and bins, are for counts, keys, mode, top_k and by"
            if several
            else ""
        )
        raise InvalidArgument(f"{name} must be the name of a column, got {preview(value)}{where}")
    return text


def file_path(value: Any, name: str) -> "Path":
    """Return the path of a file, read once.

    Raises:
        InvalidArgument: if it is none, or one that no file can have.
    """
    from pathlib import Path

    with suppress(Exception):  # of the object's own methods
        path = os.fspath(value)
        plain = str.__str__(path) if isinstance(path, str) else "\0"
        if b"\0" not in os.fsencode(plain):
            return Path(plain)
    raise InvalidArgument(f"{name} must name a file, got {preview(value)}")


def choice(value: object, name: str, options: Iterable[str], instead: str = "") -> str:
    """Return the option of a name.

    Args:
        value: the name of the option, as given.
        name: the name of the argument in messages.
        options: the names of all options.
        instead: other accepted types, for the message.

    Raises:
        UnknownName: if it is none of them; the message lists them.
    """
    names = list(options)
    text = exact_text(value)
    if text not in names:
        raise UnknownName(
            f"{name} must be one of {', '.join(names)}{instead}, got {preview(value)}"
        )
    return str(text)


@error_boundary
def read_sequence(value: object, name: str, most: int = MOST_LISTED) -> list[Any]:
    """Return the values in a list, an array or anything else that is read one by one, at most so many.

    Raises:
        InvalidArgument: if it is nothing of the kind, or holds more, or has no end.
    """
    values = None
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        with suppress(TypeError):  # of an array without dimensions
            values = list(islice(value, most + 1))  # never asks for a length, which may be a lie
    if values is None:
        raise InvalidArgument(f"{name} must be a list, got {preview(value)}")
    if len(values) > most:
        raise InvalidArgument(
            f"{name} must be at most {most:,} values. There are more, or the iterable never ends"
        )
    return values


def mapping(value: object, name: str) -> dict[str, Any]:
    """Return a mapping with names as keys as a dict.

    Raises:
        InvalidArgument: if it is none, or a key is no name.
    """
    if not isinstance(value, Mapping):
        raise InvalidArgument(f"{name} must be a mapping such as a dict, got {preview(value)}")
    items = read_sequence(value.items(), name)
    return {read_name(key, f"each name of {name}"): one for key, one in items}


def refuse_one_shot(value: object, what: str) -> None:
    """Raise if a value can be read once only: the price is asked first, and would use it up.

    Raises:
        InvalidArgument: for generators, open files, readers of batches, and every other iterator.
    """
    if hasattr(type(value), "__next__"):
        raise InvalidArgument(
            f"{what} can be read only once ({preview(value)}), and is read again for each price "
            "and answer. Give a list, a table"
            + (", as read_all() returns one," if hasattr(value, "read_all") else "")
            + " or the path of a file"
        )


def settle(value: object, what: str) -> Any:
    """Return a deep copy of a public argument, so that later changes do not reach it.

    Functions are returned as they are.

    Raises:
        InvalidArgument: if it can be read once only, or cannot be copied.
    """
    refuse_one_shot(value, what)
    if isinstance(value, partial):
        keywords = {name: settle(each, name) for name, each in value.keywords.items()}
        return partial(value.func, *(settle(each, what) for each in value.args), **keywords)
    if callable(value):
        return value
    from copy import deepcopy

    try:
        return deepcopy(value)
    except Exception:
        pass
    raise InvalidArgument(
        f"{what} cannot be copied ({preview(value)}), so it could change after the question was "
        "allowed. Give a list, an array, a Grid or a CandidateTable"
    )


def named_arguments(
    verb: object, arguments: tuple[object, ...], terms: Mapping[str, object]
) -> list[tuple[str, Any]]:
    """Return all arguments of a question with their names, including those held by a partial."""
    pairs = [(f"argument {i}", value) for i, value in enumerate(arguments, 1)]
    pairs += terms.items()
    if isinstance(verb, partial):
        return named_arguments(verb.func, verb.args, verb.keywords) + pairs
    return pairs
