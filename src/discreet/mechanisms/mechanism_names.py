"""The registry of mechanisms. Every mechanism is one file, and one line here."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from ..base.arguments import choice
from ..errors import InvalidArgument, UnknownName, preview
from .contract import Mechanism, RegisteredMechanism


class _Registry(Mapping[str, type[RegisteredMechanism]]):
    """The classes of mechanisms by name, imported when they are first asked for."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        self._classes = classes

    def __getitem__(self, name: str) -> type[RegisteredMechanism]:
        module = import_module(f".{name}", __package__)
        kind: type[RegisteredMechanism] = getattr(module, self._classes[name])
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __contains__(self, name: object) -> bool:
        return name in self._classes


MECHANISMS: Mapping[str, type[RegisteredMechanism]] = _Registry(
    {
        "exponential": "Exponential",
        "base2": "Base2",
        "permute_and_flip": "PermuteAndFlip",
        "noisy_max": "NoisyMax",
    }
)
"""Each mechanism under its name; calling it without arguments gives it with its defaults."""


@cache
def with_defaults(kind: type[RegisteredMechanism]) -> RegisteredMechanism:
    """Return the mechanism of a class, which is frozen and the same for all calls."""
    return kind()


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
            raise UnknownName(f"{mechanism.name} {has}, got {preview(option)}")
        if not equals or option in arguments:
            raise InvalidArgument(f"give an option once, as {option}=VALUE, got {preview(text)}")
        arguments[option] = options[option](value)
    return MECHANISMS[name](**arguments) if arguments else mechanism


def serving_runs() -> str:
    """Return the names of the mechanisms that serve grids and tables of candidates, for an advice."""
    return " or ".join(n for n, kind in MECHANISMS.items() if with_defaults(kind).takes_runs)


def read_mechanism(mechanism: str | Mechanism) -> Mechanism:
    """Return the mechanism of that name, or the one given."""
    if isinstance(mechanism, type) and hasattr(mechanism, "calibrate"):
        raise UnknownName(f"mechanism must be {mechanism.__name__}(), with brackets")
    if not isinstance(mechanism, str) and hasattr(mechanism, "calibrate"):
        return mechanism
    name = choice(mechanism, "mechanism", MECHANISMS, ", or a mechanism")
    return with_defaults(MECHANISMS[name])
