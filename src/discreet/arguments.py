"""Arguments as they come in: a name is exact text, and what is read more than once can be read again."""

import copy
from collections.abc import Mapping
from functools import partial
from typing import Any

from .errors import InvalidArgument, shown

_LONGEST = 200


def read_name(name: Any, what: str) -> str:
    """Return a name (of a dataset, an analyst, a question or a request) as exact text.

    A subclass of `str` may hash and compare as another text than it holds, so that one name would be looked
    up and another charged. What is returned is a `str` itself, read once.

    Raises:
        InvalidArgument: if it is no name that every database can keep.
    """
    text = exact_text(name)
    if text is not None and text.isprintable() and 0 < len(text.strip()) == len(text) <= _LONGEST:
        return text
    raise InvalidArgument(
        f"{what} must be a printable name of up to {_LONGEST} letters, got {shown(name)}"
    )


def exact_text(value: Any) -> str | None:
    """Return the text that a value holds, whatever a subclass says about it; None if it is no text."""
    return str.__str__(value) if isinstance(value, str) else None


def refuse_one_shot(value: Any, what: str) -> None:
    """Raise if a value can be read once only: the price is asked first, and would use it up.

    Raises:
        InvalidArgument: for generators, open files, readers of batches, and every other iterator.
    """
    if hasattr(type(value), "__next__"):
        raise InvalidArgument(
            f"{what} can be read only once ({shown(value)}), and is read again for each price and answer; "
            "give a list, a table, or the path of a file"
        )


def settled(value: Any, what: str) -> Any:
    """Return a public argument that no later change of what was given reaches: a copy, all through.

    What can be called is code, and stays as it is.

    Raises:
        InvalidArgument: if it can be read once only, or cannot be copied.
    """
    refuse_one_shot(value, what)
    if isinstance(value, partial):
        named = {name: settled(each, name) for name, each in value.keywords.items()}
        return partial(value.func, *(settled(each, what) for each in value.args), **named)
    if callable(value):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:
        pass
    raise InvalidArgument(
        f"{what} cannot be copied ({shown(value)}), so it could change after the question was allowed; "
        "give a list, an array, a Grid or a CandidateTable"
    )


def named_arguments(
    verb: Any, arguments: tuple[Any, ...], terms: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """Return all arguments of a question with words for each, those that a partial holds included."""
    listed = [(f"argument {i}", value) for i, value in enumerate(arguments, 1)]
    listed += terms.items()
    if isinstance(verb, partial):
        return named_arguments(verb.func, verb.args, verb.keywords) + listed
    return listed
