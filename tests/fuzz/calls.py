"""One call of the fuzz: a valid call of something public, with one to three arguments replaced."""

import inspect
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import commands
from .examples import VERBS, Target, targets
from .hostile import HOSTILE, RAISING, TAME

_VALID = 0.08
"""How many calls are left as they are."""

_WEIGHTS = dict.fromkeys(VERBS, 6) | dict.fromkeys(
    ("__eq__", "__hash__", "__str__", "__repr__", "as_dict"), 0.2
)
"""Verbs have many arguments, and methods like these have none that matter."""


@dataclass(frozen=True)
class Case:
    """A call that can be made again: which target, which example, what was put where.

    Attributes:
        name: what is called.
        example: which of its valid calls.
        spoiled: for positions and names of arguments, the name of the hostile value.
    """

    name: str
    example: int
    spoiled: dict[int | str, str]

    @property
    def raises(self) -> bool:
        """Whether an object was given that raises errors of its own, or makes others raise by its lies."""
        return any(
            value in RAISING or value.endswith("that lies") for value in self.spoiled.values()
        )

    def __str__(self) -> str:
        changed = ", ".join(f"{place}: {value}" for place, value in self.spoiled.items())
        return f"{self.name}, example {self.example}{f' with {changed}' if changed else ''}"


def case_of(seed: int, index: int, only: str | None = None) -> Case:
    """Return one call of many: the same for the same numbers."""
    chance = random.Random(f"{seed}:{index}:{only}")
    chosen_from = [t for t in known() if only is None or only in t.name]
    [target] = chance.choices(
        chosen_from, [_WEIGHTS.get(t.name.rpartition(".")[2], 1) for t in chosen_from]
    )
    number = chance.randrange(len(target.examples))
    if chance.random() < _VALID:
        return Case(target.name, number, {})
    places = _places(target, number)
    if not places:
        return Case(target.name, number, {})
    chosen = set(chance.sample(places, min(len(places), chance.choice((1, 1, 1, 2, 3)))))
    if target.name.startswith(commands.PREFIX):
        texts = [name for name in TAME if name.startswith("text ")]
        return Case(
            target.name, number, {place: chance.choice(texts) for place in sorted(chosen, key=str)}
        )
    return Case(
        target.name,
        number,
        {place: chance.choice(list(HOSTILE)) for place in sorted(chosen, key=str)},
    )


def make(case: Case) -> Any:
    """Make the call and return what it returns."""
    [target] = [t for t in known() if t.name == case.name]
    positional, named = target.examples[case.example]()
    for place, value in case.spoiled.items():
        if isinstance(place, int):
            positional[place] = HOSTILE[value]()
        else:
            named[place] = HOSTILE[value]()
    function: Callable[..., Any] = target.function()
    return function(*positional, **named)


_known: list[Target] = []


def known() -> list[Target]:
    """Return all that can be called; made once."""
    if not _known:
        _known.extend([*targets(), *commands.targets()])
    return _known


def _places(target: Target, number: int) -> list[int | str]:
    """Return the positions and names at which an argument can be replaced or added."""
    positional, named = target.examples[number]()
    taken = len(positional)
    if target.name.startswith(commands.PREFIX):
        return list(range(taken))
    names = list(named)
    try:
        parameters = list(inspect.signature(target.function()).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names += [
        p.name
        for p in parameters[taken:]
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in named
    ]
    # What is given is spoiled more often than what is left out.
    given: list[int | str] = [*range(taken), *named]
    return [*given, *dict.fromkeys([*given, *names])]
