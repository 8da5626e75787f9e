"""select_by: one of the candidates, by a score function of your own."""

from collections.abc import Iterable
from typing import TypeVar, Unpack, overload

import numpy as np

from ...base.arguments import refuse_one_shot
from ...base.numbers import Number
from ...errors import InvalidArgument
from ...selection.candidates import Labels
from ...selection.question import Query, release
from ...selection.releases import Release
from ...selection.scores.custom import Custom, ScoreFunction
from ...selection.terms import SelectAnswerTerms, SelectTerms, Terms
from .data_terms import takes_data_terms

_T = TypeVar("_T")


@overload
def select_by(
    u: ScoreFunction,
    data: object,
    candidates: Iterable[_T],
    *,
    error: Number | None = None,
    granularity: Number | None = None,
    **terms: Unpack[SelectAnswerTerms],
) -> Release[_T]: ...


@overload
def select_by(
    u: ScoreFunction,
    data: object,
    candidates: Iterable[object],
    *,
    error: Number | None = None,
    granularity: Number | None = None,
    **terms: Unpack[SelectTerms],
) -> Release: ...


@takes_data_terms
def select_by(  # noqa: PLR0913  # what the author of a function vouches for takes five
    u: ScoreFunction,
    data: object,
    candidates: Iterable[object],
    *,
    sensitivity: Number | None = None,
    spread: Number | None = None,
    monotonic: bool = False,
    error: Number | None = None,
    granularity: Number | None = None,
    **terms: Unpack[Terms],
) -> Release:
    """Release one of the candidates. A higher u(data, candidates) makes it more likely.

    Args:
        u: the utility function, which returns one score per candidate, in their order, higher is better.
            `discreet.per_candidate` builds one from a function that scores a single candidate.
        data: the first argument of `u`, untouched. Private.
        candidates: the possible answers, public. `u` gets an array as it is, anything else as a list.
        sensitivity: the most that one score can change between neighbours, without rounding errors, in units of the
            score. You must pass it or `spread`.
        monotonic: whether one record more or less moves all scores in the same direction, False by default.
        error: if `u` returns floats, how far a score may be from its ideal value, in units of the score. The spread
            grows by four times that. By default scores must be exact.
        granularity: instead of `error`, a number of which ideal scores are multiples. The scores of `u` must be
            closer than half of it. They are rounded to multiples, and the spread does not grow.
        **terms: the shared arguments, described in `Terms`.

    Raises:
        InvalidArgument: if a public argument is invalid. `u` was not called.
        InvalidScores: if `u` fails, does not return finite numbers, or returns floats without `error` or
            `granularity`. The message never quotes the data.

    Side channels: those of the mechanism, and everything `u` does, including its time and whether it fails.
    """
    if callable(candidates):
        raise InvalidArgument(
            "candidates must be a list, got a function. The order is select_by(u, data, candidates)"
        )
    refuse_one_shot(data, "the data")
    labels = Labels(candidates)
    options = candidates if isinstance(candidates, np.ndarray) else list(labels)
    score = Custom(u, data, options, sensitivity, spread, monotonic, error, granularity)
    name = getattr(u, "__name__", "a function")
    query = Query("select_by", {"function": name, **labels.facts}, {"u": name})
    return release(score, labels, query, terms)
