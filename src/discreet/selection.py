"""The verbs: from a score to a release.

Each verb names its score and hands over to `release`, which goes in this order: public arguments are
checked, private scores are computed and checked, bits are read, an answer comes out.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict, TypeVar, Unpack

from . import tables
from .bits import SystemBits
from .candidates import Answers, Labels
from .errors import InvalidArgument, InvalidCandidates, InvalidScores
from .mechanisms import Mechanism, read_mechanism
from .mechanisms.contract import Law, Tuned, read_dial
from .numbers import Number, count
from .privacy.guarantees import NoGuarantee
from .privacy.sensitivity import Neighbors, read_neighbors
from .releases import Release, Simulation
from .scores import Counts, Given, Score
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


@takes_terms
def select(
    scores: Any,
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[Any] | None = None,
    **terms: Unpack[Terms],
) -> Release:
    """Release one of the candidates: the better its score, the likelier, exactly as the mechanism says.

    Args:
        scores: finite numbers, one for each candidate, higher is better: an array, a series, a list (ints,
            floats, Fractions, Decimals), or a mapping from candidates to scores.
        sensitivity: the most one score can change between neighbours.
        spread: instead of `sensitivity`, the most a difference of two scores can change.
        monotonic: whether all scores move the same way whenever one record comes or goes; halves the cost.
        candidates: what may be answered; without them the answer is an index.
        **terms: epsilon (or rho, or scale), mechanism, neighbors, size: see `Terms`.

    Returns:
        The answer with its guarantee.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the candidates.

    Side channels: those of the mechanism.
    """
    scores, labels = unfold(scores, candidates)
    return release(Given(scores, sensitivity, spread, monotonic), labels, terms)


@takes_terms
def simulate(
    scores: Any,
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[Any] | None = None,
    **terms: Unpack[Terms],
) -> Simulation:
    """Return draws for study, distributed exactly as those of `select`. Not private to publish.

    Takes what `select` takes. Without `size` there are 1,000 draws.
    """
    scores, labels = unfold(scores, candidates)
    asked = _ask(Given(scores, sensitivity, spread, monotonic), terms)
    drawn = [int(i) for i in _law(asked, labels).draws(asked.size or 1000, SystemBits())]
    return Simulation(
        drawn if labels is None else _named(drawn, labels), asked.mechanism.name
    )


@takes_terms
def mode(
    data: tables.Table,
    column: str,
    candidates: Iterable[Any] | None = None,
    *,
    unsafe_candidates_from_data: bool = False,
    **terms: Unpack[Terms],
) -> Release:
    """Release a most common value of a column.

    One row is one record. Rows whose value is not among the candidates are ignored, so are nulls;
    candidates that no row holds count zero.

    Args:
        data: a pandas, Polars, PyArrow or DuckDB table, or the path of a CSV or Parquet file.
        column: the name of the column.
        candidates: what may be answered. They are public and must be fixed without looking at the data.
            May be left out for a Polars `Enum`, whose categories are declared.
        unsafe_candidates_from_data: take the values found in the data as candidates. What is released
            then may be a value of one single person, and nothing is guaranteed.
        **terms: epsilon (or rho, or scale), mechanism, neighbors, size: see `Terms`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the file or the column is not there or cannot be read.

    Side channels: those of the mechanism, and the time the engine takes to count.
    """
    _ask(Counts(list), terms)  # what is public is wrong before the data are opened, or not at all
    if unsafe_candidates_from_data:
        labels = Labels(_found(data, column, candidates))
    else:
        labels = Labels(_declared(data, column) if candidates is None else candidates)
    drawn = release(Counts(partial(tables.count, data, column, labels)), labels, terms)
    if not unsafe_candidates_from_data:
        return drawn
    reason = "the candidates were taken from the data"
    return Release(drawn.value, NoGuarantee(reason, drawn.guarantee.neighbors), drawn.mechanism)


def release(score: Score, answers: Answers | None, terms: Terms) -> Release:
    """Draw from the mechanism on this score: first what is public, then the scores, then bits."""
    asked = _ask(score, terms)
    law, name = _law(asked, answers), asked.mechanism.name
    if asked.size is None:
        i = law.draw(SystemBits())
        return Release(i if answers is None else answers[i], asked.tuned.guarantee, name)
    drawn = law.draws(asked.size, SystemBits())
    value = drawn if answers is None else _named(drawn, answers)
    return Release(value, asked.tuned.guarantee.repeated(asked.size), name)


def law_of(score: Score, answers: Answers | None, terms: Terms) -> Law:
    """Return the law that `release` would draw from. Private."""
    return _law(_ask(score, terms), answers)


def unfold(scores: Any, candidates: Iterable[Any] | None) -> tuple[Any, Labels | None]:
    """Return the scores and the candidates, which a mapping holds together."""
    if not isinstance(scores, Mapping):
        return scores, None if candidates is None else Labels(candidates)
    if candidates is not None:
        raise InvalidCandidates("a mapping of scores names its candidates; leave out candidates")
    return list(scores.values()), Labels(scores)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question whose public part is settled."""

    score: Score
    mechanism: Mechanism
    tuned: Tuned
    size: int | None


def _ask(score: Score, terms: Terms) -> _Asked:
    """Check everything public and tune the mechanism."""
    for name in terms:
        if name not in _TERMS:
            raise TypeError(
                f"unexpected argument {name!r}; the terms of a release are {', '.join(_TERMS)}"
            )
    mechanism = read_mechanism(terms.get("mechanism", "exponential"))
    neighbors = read_neighbors(terms.get("neighbors", "add_remove"))
    dial = read_dial(terms.get("epsilon"), terms.get("rho"), terms.get("scale"))
    size = terms.get("size")
    if score.in_runs and not mechanism.takes_runs:
        raise InvalidArgument(
            f"{mechanism.name} needs candidates in a list; on a grid use the exponential mechanism"
        )
    tuned = mechanism.tune(score.sensitivity(neighbors), dial)
    return _Asked(score, mechanism, tuned, None if size is None else count(size, "size"))


def _law(asked: _Asked, answers: Answers | None) -> Law:
    """Compute the private scores and return the law of the answer."""
    scores = asked.score.compute()
    if isinstance(scores, Vector) and answers is not None and answers.size != len(scores):
        raise InvalidScores(
            f"there are {answers.size} candidates but {len(scores)} scores; give one for each"
        )
    return asked.tuned.law(scores)


def _named(drawn: Any, answers: Answers) -> list[Any]:
    return [answers[int(i)] for i in drawn]


def _declared(data: tables.Table, column: str) -> Sequence[Any]:
    """Return the categories the column's type declares."""
    categories = tables.declared_categories(data, column)
    if categories is None:
        raise InvalidCandidates(
            f"candidates are missing: column {column!r} declares none, so name them, for example "
            "candidates=['a', 'b']. They must not be taken from the data"
        )
    return categories


def _found(data: tables.Table, column: str, candidates: Iterable[Any] | None) -> Sequence[Any]:
    """Return the values found in the column."""
    if candidates is not None:
        raise InvalidCandidates("give either candidates or unsafe_candidates_from_data, not both")
    return tables.distinct(data, column)
