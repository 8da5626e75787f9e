"""Reads declarations strictly: unknown keys are refused with the nearest known one, and errors know their place."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from ..arguments import exact_text, listed, mapping
from ..errors import InvalidArgument, InvalidDescription, shown

KeyPath = tuple[str, ...]
"""The keys that lead to a part of a description, such as ("columns", "age", "minimum")."""

TO_FILL_IN = "FILL IN"
"""What `discreet describe` writes where the owner has to say something."""


def wrong(place: KeyPath, message: str) -> InvalidDescription:
    """Return the error for a part of a description."""
    error = InvalidDescription(f"{'.'.join(place)}: {message}" if place else message)
    error.place, error.reason = place, message
    return error


def nearest(name: object, known: Iterable[object]) -> str:
    """Return " (did you mean 'x'?)" for the nearest of the known texts, or nothing."""
    texts = [each for each in known if isinstance(each, str)]
    close = get_close_matches(str(name), texts, n=1) if isinstance(name, str) else []
    return f" (did you mean {close[0]!r}?)" if close else ""


def read_table(given: object, place: KeyPath, known: Iterable[str]) -> dict[str, Any]:
    """Return a table of a description as a dict, with keys that are known.

    Raises:
        InvalidDescription: if it is no table, or has another key.
    """
    table = read_mapping(given, place)
    listed = list(known)
    for key in table:
        if key not in listed:
            raise wrong(
                (*place, key),
                f"there is no such key{nearest(key, listed)}; known are {', '.join(listed)}",
            )
    return table


def read_mapping(given: object, place: KeyPath) -> dict[str, Any]:
    """Return a mapping from names as a dict.

    Raises:
        InvalidDescription: if it is none, or has a key that is no name.
    """
    if not isinstance(given, Mapping):
        raise wrong(place, f"it must be a table, a mapping from names, got {shown(given)}")
    try:
        return mapping(given, "the table")
    except InvalidArgument as error:
        message = str(error)
    raise wrong(place, message)


def read_list(given: object, place: KeyPath) -> list[Any]:
    """Return the values of a list; a table is none, though its keys could be listed.

    Raises:
        InvalidDescription: if it is none.
    """
    try:
        if not isinstance(given, Mapping):
            return listed(given, place[-1])
    except InvalidArgument as error:
        message = str(error)
    else:
        message = f"it must be a list, got {shown(given)}"
    raise wrong(place, message)


def read_text(given: object, place: KeyPath) -> str:
    """Return a text that is not empty.

    Raises:
        InvalidDescription: if it is none, or is still to be filled in.
    """
    found = exact_text(given)
    if found is None or not found.strip():
        raise wrong(place, f"it must be a text, got {shown(given)}")
    refuse_to_fill_in(found, place)
    return found


def refuse_to_fill_in(given: object, place: KeyPath) -> None:
    """Raise if a value is the mark of a draft."""
    if isinstance(given, str) and given.strip().startswith(TO_FILL_IN):
        raise wrong(place, "it is still to be filled in, from what you know and not from the rows")
