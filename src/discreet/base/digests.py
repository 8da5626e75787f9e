"""A question in plain public values: how a ledger knows a request again.

The digest of a question must be the same in every later version, or a request would be drawn a second time. So it
does not depend on names and texts that may change: class names, reprs, sentences. Scores and mechanisms declare
their public `parameters` and candidates their `description`, which are combined to one text here.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

VERSION = 2
"""Of the description. Version 1 was made of reprs; docs/how-to/ledger.md says what became of its requests."""

_BY_TYPE: dict[type, tuple[str, Callable[[Any], str]]] = {
    bool: ("boolean", str),
    int: ("integer", str),  # JSON's readers differ about long ones
    float: ("float", float.hex),
    str: ("text", str),
    bytes: ("bytes", bytes.hex),
    Fraction: ("fraction", str),
    Decimal: ("decimal", str),
    dt.date: ("date", dt.date.isoformat),
    dt.time: ("time", repr),
    dt.timedelta: ("duration", repr),
    type(None): ("nothing", str),
}

Description: TypeAlias = "str | list[Description] | dict[str, Description]"
"""What a description is made of; JSON writes it in one way only."""


class DescriptionText(str):
    """The JSON text of a description that was made before."""

    __slots__ = ()


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_QUOTE = json.encoder.encode_basestring_ascii


def describe_value(value: object) -> Description:
    """Return a public value as a description, so that values that differ have descriptions that differ.

    True, 1, 1.0 and "1" are four values, and are told apart. A type that is not known here is described by its
    name and its repr: where that repr changes, a request is rejected as another question, and never drawn again.
    """
    way = _BY_TYPE.get(type(value))
    if way is not None:
        name, spell = way
        return [name, spell(value)]
    if isinstance(value, DescriptionText):
        made: Description = json.loads(value)
        return made
    if type(value) is dict or isinstance(value, Mapping):
        return {str(name): describe_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [describe_value(inner) for inner in value]
    if type(value) is dt.datetime:
        return ["datetime", value.isoformat(), str(value.fold), str(value.tzinfo)]
    return [f"other {type(value).__qualname__}", repr(value)]


def is_current(text: object) -> bool:
    """Return whether a stored digest is of this version, so that it can be compared with one made now."""
    return isinstance(text, str) and text.startswith(f"{VERSION}:")


def _description_text(plain: object) -> str:
    """Return the JSON text of the description of a value, without making that: `_ENCODER` takes longer."""
    way = _BY_TYPE.get(type(plain))
    if way is not None:
        name, spell = way
        return f'["{name}",{_QUOTE(spell(plain))}]'
    if isinstance(plain, DescriptionText):
        return plain
    if type(plain) is dict or isinstance(plain, Mapping):
        texts = {str(name): _description_text(inner) for name, inner in plain.items()}
        return f"{{{','.join([f'{_QUOTE(name)}:{texts[name]}' for name in sorted(texts)])}}}"
    if isinstance(plain, list | tuple):
        return f"[{','.join(map(_description_text, plain))}]"
    return _ENCODER.encode(describe_value(plain))


def described(plain: Mapping[str, object]) -> dict[str, object]:
    """Return entries of a description with their texts, which are made now and not for every digest."""
    return {name: DescriptionText(_description_text(inner)) for name, inner in plain.items()}


def digest(description: Mapping[str, object]) -> str:
    """Return the version, and the SHA-256 of the description."""
    plain = {"version": VERSION, **description}
    text = _description_text(plain)
    return f"{VERSION}:{hashlib.sha256(text.encode('ascii')).hexdigest()}"
