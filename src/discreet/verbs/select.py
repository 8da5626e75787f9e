"""select: scores somebody else computed."""

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from ..candidates import Labels
from ..errors import InvalidCandidates
from ..listener import is_billed
from ..numbers import Number
from ..releases import Release
from ..scores import Given
from ..selection import Query, release
from ..terms import AnswerTerms, Terms, takes_terms
from .selector import kept_selector

_T = TypeVar("_T")

_PLAIN_SCORES = (list, np.ndarray)


@overload
def select(
    scores: Mapping[_T, object],
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    **terms: Unpack[AnswerTerms],
) -> Release[_T]: ...


@overload
def select(
    scores: object,
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[_T],
    **terms: Unpack[AnswerTerms],
) -> Release[_T]: ...


@overload
def select(
    scores: list[Any] | tuple[Any, ...] | NDArray[Any],
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    **terms: Unpack[AnswerTerms],
) -> Release[int]: ...


@overload
def select(
    scores: object,
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[object] | None = None,
    **terms: Unpack[Terms],
) -> Release: ...


@takes_terms
def select(
    scores: object,
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    candidates: Iterable[object] | None = None,
    **terms: Unpack[Terms],
) -> Release:
    """Release one of the candidates: the better its score, the likelier, exactly as the mechanism says.

    Args:
        scores: finite numbers, one per candidate, higher is better: an array, a series, a list (ints,
            floats, Fractions, Decimals), or a mapping from candidates to scores.
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether all scores move the same way whenever one record comes or goes, False by default;
            this halves the cost.
        candidates: the possible answers, public, and so is their order; without them the answer is an index.
        **terms: the shared arguments, described in `Terms`.

    Returns:
        The answer with its guarantee.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the candidates.

    Side channels: those of the mechanism.
    """
    if candidates is None and type(scores) in _PLAIN_SCORES:
        choose = kept_selector(sensitivity, spread, monotonic, terms)
        if choose is not None:
            return choose(scores)
    scores, labels, _ = unfold(scores, candidates, terms)
    words = "select" if labels is None else f"select, {labels.size} candidates"
    query = Query("select", words)
    return release(Given(scores, sensitivity, spread, monotonic), labels, query, terms)


class Unfolded(NamedTuple):
    """Scores and their candidates, apart.

    Attributes:
        scores: the scores.
        labels: the candidates, if they have names.
        places: the positions of the scores before they were put in another order, if they were.
    """

    scores: object
    labels: Labels | None
    places: list[int] | None = None


def unfold(scores: Any, candidates: Any, terms: Terms) -> Unfolded:
    """Return the scores and the candidates, which a mapping or a labelled series holds together.

    If a ledger pays, the scores are put in the order of the names. The order of a mapping is
    often that of the scores (`value_counts()`) or of the rows (`Counter`), so it is private, and a ledger
    keeps the index of the answer, and a hash of the candidates.
    """
    if isinstance(candidates, Set):
        raise InvalidCandidates("candidates must be in the order of their scores, got a set")
    if candidates is None and _is_labelled(scores):
        return _named(scores, Labels(scores.index), terms)
    if not isinstance(scores, Mapping):
        return Unfolded(scores, None if candidates is None else Labels(candidates))
    if candidates is not None:
        raise InvalidCandidates("a mapping of scores names its candidates; leave out candidates")
    return _named(list(scores.values()), Labels(scores), terms)


def _named(scores: Any, labels: Labels, terms: Terms) -> Unfolded:
    """Return the scores in the order of the names of their candidates if a ledger pays, else as they are."""
    if not is_billed(terms):
        return Unfolded(scores, labels)
    names = [(type(label).__qualname__, repr(label)) for label in labels]
    places = sorted(range(labels.size), key=names.__getitem__)
    listed = list(scores)
    return Unfolded([listed[i] for i in places], Labels([labels[i] for i in places]), places)


def _is_labelled(scores: Any) -> bool:
    """Return whether the scores are a pandas series with names of its own, such as value_counts()."""
    kind = type(scores)
    if kind.__name__ != "Series" or kind.__module__.partition(".")[0] != "pandas":
        return False
    return type(scores.index).__name__ != "RangeIndex"
