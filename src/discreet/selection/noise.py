"""laplace, geometric and randomized_response: a number or a truth, with noise."""

from collections.abc import Iterable
from typing import TypeVar, Unpack, overload

from ..base.numbers import Number
from ..errors import InvalidArgument
from ..mechanisms import read_mechanism
from .candidates import Grid, Labels
from .question import Query, release
from .releases import Release
from .scores.contract import Score
from .scores.distance import Distance, Lattice, ListedDistance
from .scores.truth import Truth
from .terms import AnswerTerms, Terms, takes_terms, takes_terms_without

_T = TypeVar("_T")

_MOST_LISTED = 1_000_000
"""The most points of a grid that are listed."""


@takes_terms
def laplace(
    value: object,
    *,
    sensitivity: Number,
    step: Number = 1,
    lo: Number | None = None,
    hi: Number | None = None,
    **terms: Unpack[Terms],
) -> Release:
    """Release a number with Laplace noise on a grid: P(r) proportional to exp(-eta * |value - r|).

    Without `lo` and `hi` the answer is any multiple of `step`, and eta is epsilon / sensitivity. With
    them it is a point of `Grid(lo, hi, step)`, the distribution is cut off at both ends, and eta is half of that.
    With both ends you can use any mechanism, on up to 1,000,000 points. For example, `Base2(Base2Eta(1, 1))` gives
    a point at distance d from the value the exact weight 2**-d (Ilvento's example).

    Args:
        value: a finite number, which is first rounded to the nearest point. It is private, and errors never show
            it.
        sensitivity: the most that the value changes between neighbours, a positive number in its units. It is
            rounded up to whole steps. Note that the float 0.1 is a little more than one tenth, and "0.1" is not.
        step: the distance between neighbouring answers, in units of the value. 1 by default.
        lo: the least answer, in units of the value. Needs `hi`. By default there is none.
        hi: the largest answer, in units of the value. Needs `lo`. By default there is none.
        **terms: the shared arguments, described in `Terms`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        InvalidScores: if the value is no finite number.

    Side channels: those of the mechanism. Time depends on the length of the numbers too. Mechanisms without support
    for sloping runs go through all points, so their time depends on the number of points.
    """
    if (lo is None) != (hi is None):
        raise InvalidArgument("give both lo and hi, or neither")
    answers = Lattice(step) if lo is None or hi is None else Grid(lo, hi, step)
    score = _score(Distance(value, sensitivity, answers), terms)
    return release(score, answers, Query("laplace"), terms)


def _score(distance: Distance, terms: Terms) -> Score:
    """Return the score in runs, or point by point for a mechanism that takes no runs that slope.

    Raises:
        InvalidArgument: if there are too many points, or no ends.
    """
    mechanism = read_mechanism(terms.get("mechanism", "exponential"))
    if mechanism.takes_runs is True:
        return distance
    size = distance.answers.size
    if not 0 < size <= _MOST_LISTED:
        many = (
            f"there are {size:,} points"
            if size
            else "give lo and hi: without them there are infinitely many points"
        )
        raise InvalidArgument(
            f"{mechanism.name} needs up to {_MOST_LISTED:,} points in a list, and {many}. Use a "
            "larger step, or the exponential mechanism"
        )
    return ListedDistance(distance)


@overload
def geometric(
    value: object, *, sensitivity: Number, **terms: Unpack[AnswerTerms]
) -> Release[int]: ...


@overload
def geometric(value: object, *, sensitivity: Number, **terms: Unpack[Terms]) -> Release: ...


@takes_terms
def geometric(value: object, *, sensitivity: Number, **terms: Unpack[Terms]) -> Release:
    """Release an integer with geometric noise (discrete Laplace): P(value + k) = (1-a)/(1+a) * a**|k|.

    Here a = exp(-epsilon / sensitivity), with the sensitivity rounded up to an integer.

    Args:
        value: a finite number, which is first rounded to the nearest integer. It is private, and errors never show
            it.
        sensitivity: the most that the value changes between neighbours, a positive number in its units.
        **terms: the shared arguments, described in `Terms`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        InvalidScores: if the value is no finite number.

    Side channels: those of the mechanism. Time depends on the length of the numbers too.
    """
    query = Query("geometric")
    return release(Distance(value, sensitivity, Lattice()), Lattice(), query, terms)


@overload
def randomized_response(
    value: object, candidates: Iterable[_T], **terms: Unpack[AnswerTerms]
) -> Release[_T]: ...


@overload
def randomized_response(
    value: object, candidates: Iterable[object], **terms: Unpack[Terms]
) -> Release: ...


@takes_terms_without("neighbors")
def randomized_response(
    value: object, candidates: Iterable[object], **terms: Unpack[Terms]
) -> Release:
    """Release one person's value, or another one. The true value has probability e**ε / (e**ε + k - 1).

    The k - 1 other candidates are equally likely. People can use it on their own value, so they don't have to trust
    anyone.

    Args:
        value: the person's value, compared as in Python. If it is not a candidate, all k candidates are equally
            likely. Private.
        candidates: the possible answers, public. `neighbors` is always "replace_one", which exchanges one value for
            another.
        **terms: the shared arguments, described in `Terms`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.

    Side channels: those of the mechanism.
    """
    labels = Labels(candidates)
    relation: Terms = {"neighbors": "replace_one", **terms}
    query = Query("randomized_response", labels.facts)
    return release(Truth(value, labels), labels, query, relation)
