"""From a score to a release: what every verb does once it has named its score.

The order is always the same: public arguments are checked, private scores are computed and checked,
bits are read, an answer comes out.
"""

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypedDict, TypeVar

from .bits import SystemBits
from .candidates import Answers
from .errors import InvalidArgument, InvalidScores
from .mechanisms import Mechanism, read_mechanism
from .mechanisms.contract import Law, Tuned, read_dial
from .numbers import Number, count
from .privacy.sensitivity import Neighbors, read_neighbors
from .releases import Release
from .runs import Runs
from .scores import Score
from .vectors import Vector

Verb = TypeVar("Verb", bound=Callable[..., Any])


class Terms(TypedDict, total=False):
    """How much privacy, by which mechanism: the arguments that every verb takes.

    Attributes:
        epsilon: how much privacy the answer may cost: exact, 0.1 means one tenth. Or one of:
        rho: the same as zero-concentrated differential privacy, or
        scale: the scale of the noise in units of the score, 1 / eta.
        mechanism: a name or a mechanism; the exponential mechanism if not given.
        neighbors: which databases count as neighbours, "add_remove" (default) or "replace_one".
        size: how many independent answers; each of them costs.
    """

    epsilon: Number | None
    rho: Number | None
    scale: Number | None
    mechanism: str | Mechanism
    neighbors: Neighbors
    size: int | None


_MOST_DRAWS = 10**9

_TERMS = {"epsilon": None, "rho": None, "scale": None, "mechanism": "exponential",
          "neighbors": "add_remove", "size": None}  # fmt: skip


def takes_terms(verb: Verb) -> Verb:
    """Spell out the terms in the signature that help() and notebooks show."""
    signature = inspect.signature(verb)
    named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    types = Terms.__annotations__
    terms = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types[name]
        )
        for name, default in _TERMS.items()
    ]
    verb.__signature__ = signature.replace(parameters=named + terms)  # type: ignore[attr-defined]
    return verb


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """What a verb asks: a score, what may be answered, and on which terms."""

    score: Score
    answers: Answers | None
    terms: Terms


class _Overheard(Exception):
    """Carries a question out of the verb that asked it, before anything is paid or drawn."""

    def __init__(self, question: Question) -> None:
        super().__init__("a question was asked to be looked at")
        self.question = question


_LISTENING: ContextVar[bool] = ContextVar("listening", default=False)


def overheard(verb: Callable[..., Any], *arguments: Any, **named: Any) -> Question | None:
    """Return what a call of the verb would ask, without an answer; None if it asks for no single one."""
    listening = _LISTENING.set(True)
    try:
        verb(*arguments, **named)
    except _Overheard as heard:
        return heard.question
    finally:
        _LISTENING.reset(listening)
    return None


def release(score: Score, answers: Answers | None, terms: Terms) -> Release:
    """Draw from the mechanism on this score: first what is public, then the scores, then bits."""
    if _LISTENING.get():
        raise _Overheard(Question(score, answers, terms))
    asked = ask(score, terms)
    law, name = law_of(asked, answers), asked.mechanism.name
    if asked.size is None:
        i = law.draw(SystemBits())
        return Release(i if answers is None else answers[i], asked.tuned.guarantee, name)
    drawn = law.draws(asked.size, SystemBits())
    value = drawn if answers is None else named(drawn, answers)
    return Release(value, asked.tuned.guarantee.repeated(asked.size), name)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question whose public part is settled."""

    score: Score
    mechanism: Mechanism
    tuned: Tuned
    size: int | None


def ask(score: Score, terms: Terms) -> Asked:
    """Check everything public and tune the mechanism."""
    for name in terms:
        if name not in _TERMS:
            close = get_close_matches(
                name, [*_TERMS, "sensitivity", "candidates", "monotonic"], n=1
            )
            hint = f"did you mean {close[0]!r}?" if close else f"the terms are {', '.join(_TERMS)}"
            raise TypeError(f"unexpected argument {name!r}; {hint}")
    mechanism = read_mechanism(terms.get("mechanism", "exponential"))
    neighbors = read_neighbors(terms.get("neighbors", "add_remove"))
    dial = read_dial(terms.get("epsilon"), terms.get("rho"), terms.get("scale"))
    size = terms.get("size")
    _check_range(score, mechanism)
    tuned = mechanism.tune(score.sensitivity(neighbors), dial)
    return Asked(
        score, mechanism, tuned, None if size is None else count(size, "size", most=_MOST_DRAWS)
    )


def _check_range(score: Score, mechanism: Mechanism) -> None:
    """Raise if the mechanism cannot serve the kind of range the score is over."""
    if score.in_runs and not mechanism.takes_runs:
        raise InvalidArgument(
            f"{mechanism.name} needs candidates in a list; on a grid use exponential or permute_and_flip"
        )
    if score.in_runs == "sloping" and mechanism.takes_runs == "flat":
        raise InvalidArgument(
            f"{mechanism.name} needs scores in steps; where they slope use the exponential mechanism"
        )


def law_of(asked: Asked, answers: Answers | None) -> Law:
    """Compute the private scores and return the law of the answer."""
    return asked.tuned.law(scores_of(asked, answers))


def scores_of(asked: Asked, answers: Answers | None) -> Vector | Runs:
    """Return the private scores, after making sure that there is one for each answer."""
    scores = asked.score.compute(asked.tuned.reach)
    if isinstance(scores, Vector) and answers is not None and answers.size != len(scores):
        raise InvalidScores(
            f"there are {answers.size} candidates but {len(scores)} scores; give one for each"
        )
    return scores


def named(drawn: Any, answers: Answers) -> list[Any]:
    """Return the answers with the drawn indices."""
    return [answers[int(i)] for i in drawn]
