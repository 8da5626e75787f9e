"""The kinds of arguments of operations: how one is checked, and how it travels as JSON."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..arguments import choice, exact_text, mapping, read_name
from ..datasets.model import DELTA_FOR
from ..errors import InvalidArgument, preview
from ..numbers import count, flag, positive
from . import wire
from .ownership import MOST_EVENTS


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """A kind of arguments.

    Attributes:
        annotation: their type as JSON.
        check: returns an argument as a caller gave it, or raises; takes its name too.
        write: returns a checked argument as JSON; takes its name too.
        read: returns an argument from JSON, to be checked.
        limits: the least and the greatest number, as the OpenAPI document says them.
    """

    annotation: Any
    check: Callable[[Any, str], Any] = lambda value, _: value
    write: Callable[[Any, str], Any] = lambda value, _: value
    read: Callable[[Any], Any] = lambda plain: plain
    limits: dict[str, Any] = field(default_factory=dict)


def _optional(kind: ArgumentKind) -> ArgumentKind:
    """Return the kind of arguments that may be None."""
    return replace(
        kind,
        annotation=kind.annotation | None,
        check=lambda value, name: None if value is None else kind.check(value, name),
        write=lambda value, name: None if value is None else kind.write(value, name),
    )


_RESERVED = frozenset({"self", "verb", "dataset", "column", "request", "max_cost"})


def _check_text(text: object, name: str) -> str:
    exact = exact_text(text)
    if exact is None:
        raise InvalidArgument("{name} must be text, got {text}", name=name, text=preview(text))
    return exact


def _write_terms(terms: dict[str, Any], _: str) -> dict[str, Any]:
    return {name: wire.write_value(value) for name, value in terms.items()}


def _read_terms(plain: dict[str, Any]) -> dict[str, Any]:
    """Return the terms of a free question as values; names of our own arguments are refused."""
    clashes = _RESERVED & plain.keys()
    if clashes:
        raise InvalidArgument("terms may not hold {clashes}", clashes=", ".join(sorted(clashes)))
    return {name: wire.read_value(value) for name, value in plain.items()}


def _check_event_number(number: object, name: str) -> int:
    return 0 if type(number) is int and number == 0 else count(number, name)


TEXT = ArgumentKind(str, _check_text)
NAME = ArgumentKind(str, read_name)
OPTIONAL_NAME = _optional(NAME)
AMOUNT = _optional(ArgumentKind(str, write=lambda amount, name: str(positive(amount, name))))
"""A total of a budget, which the ledger checks."""

DELTA_USE = _optional(ArgumentKind(str, lambda word, name: choice(word, name, DELTA_FOR)))
PRICE = _optional(ArgumentKind(str, positive, lambda price, _: str(price)))
FLAG = ArgumentKind(bool, flag)
TERMS = ArgumentKind(dict[str, Any], mapping, _write_terms, _read_terms)
NUMBER_OF_EVENT = ArgumentKind(int, _check_event_number, limits={"ge": 0})
LIMIT = ArgumentKind(
    int,
    lambda limit, name: count(limit, name, most=MOST_EVENTS),
    limits={"ge": 1, "le": MOST_EVENTS},
)
