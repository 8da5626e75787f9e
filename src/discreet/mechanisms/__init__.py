"""The registry of mechanisms. Every mechanism is one file, and one line here."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from ..arguments import choice
from ..errors import InvalidArgument, UnknownName, preview
from .above_threshold import AboveThreshold
from .base2 import Base2, Base2Eta, best_eta
from .contract import Mechanism, RegisteredMechanism
from .exponential import Exponential
from .noisy_max import NoisyMax
from .permute_and_flip import PermuteAndFlip

__all__ = [
    "BOUNDED",
    "MECHANISMS",
    "AboveThreshold",
    "Base2",
    "Base2Eta",
    "Exponential",
    "Mechanism",
    "NoisyMax",
    "PermuteAndFlip",
    "best_eta",
    "read_mechanism",
    "read_options",
    "serving_runs",
]

MECHANISMS: dict[str, type[RegisteredMechanism]] = {
    "exponential": Exponential,
    "base2": Base2,
    "permute_and_flip": PermuteAndFlip,
    "noisy_max": NoisyMax,
}
"""Each mechanism under its name; calling it without arguments gives it with its defaults."""


@cache
def _with_defaults(kind: type[RegisteredMechanism]) -> RegisteredMechanism:
    """Return the mechanism of a class, which is frozen and the same for all calls."""
    return kind()


BOUNDED = tuple(n for n, kind in MECHANISMS.items() if _with_defaults(kind).worst_case is not None)
"""The names of those that state their worst case."""


def read_options(name: str, texts: Iterable[str]) -> Mechanism:
    """Return the mechanism of that name with options from texts such as "noise=gumbel".

    Raises:
        UnknownName: if there is no such mechanism, or it has no such option.
        InvalidArgument: if a text is no option, or its value cannot be accepted.
    """
    mechanism, arguments = read_mechanism(name), dict[str, Any]()
    options = MECHANISMS[name]().options
    for text in texts:
        option, equals, value = text.partition("=")
        if option not in options:
            has = f"has the options {', '.join(options)}" if options else "has no options"
            raise UnknownName(
                "{mechanism_name} {verb}, got {option}",
                mechanism_name=mechanism.name,
                verb=has,
                option=preview(option),
            )
        if not equals or option in arguments:
            raise InvalidArgument(
                "give an option once, as {option}=VALUE, got {text}",
                option=option,
                text=preview(text),
            )
        arguments[option] = options[option](value)
    return MECHANISMS[name](**arguments) if arguments else mechanism


def serving_runs() -> str:
    """Return the names of the mechanisms that serve grids and tables of candidates, for an advice."""
    return " or ".join(n for n, kind in MECHANISMS.items() if _with_defaults(kind).takes_runs)


def read_mechanism(mechanism: str | Mechanism) -> Mechanism:
    """Return the mechanism of that name, or the one given."""
    if isinstance(mechanism, type) and hasattr(mechanism, "calibrate"):
        raise UnknownName(
            "mechanism must be {mechanism_name}(), with brackets", mechanism_name=mechanism.__name__
        )
    if not isinstance(mechanism, str) and hasattr(mechanism, "calibrate"):
        return mechanism
    name = choice(mechanism, "mechanism", MECHANISMS, ", or a mechanism")
    return _with_defaults(MECHANISMS[name])
