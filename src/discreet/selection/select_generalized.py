"""select_generalized: one of the candidates, by scores of different sensitivities."""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeVar, Unpack, overload

from ..base.numbers import Number, positive
from ..errors import InvalidNumber, preview
from .measures import values_in_order
from .question import Query, ask, release
from .releases import Release
from .scores.generalized import Generalized, read_changes
from .select import unfold
from .terms import AnswerTerms, Terms, takes_terms

_T = TypeVar("_T")


@overload
def select_generalized(
    scores: Mapping[_T, object],
    sensitivities: Iterable[Number] | Mapping[Any, Number],
    *,
    beta: Number = "0.05",
    **terms: Unpack[AnswerTerms],
) -> Release[_T]: ...


@overload
def select_generalized(
    scores: object,
    sensitivities: Iterable[Number] | Mapping[Any, Number],
    *,
    beta: Number = "0.05",
    candidates: Iterable[_T],
    **terms: Unpack[AnswerTerms],
) -> Release[_T]: ...


@overload
def select_generalized(
    scores: object,
    sensitivities: Iterable[Number] | Mapping[Any, Number],
    *,
    beta: Number = "0.05",
    candidates: Iterable[object] | None = None,
    **terms: Unpack[Terms],
) -> Release: ...


@takes_terms
def select_generalized(
    scores: object,
    sensitivities: Iterable[Number] | Mapping[Any, Number],
    *,
    beta: Number = "0.05",
    candidates: Iterable[object] | None = None,
    **terms: Unpack[Terms],
) -> Release:
    """Release one of the candidates when some scores may change much more than others.

    With probability 1 - beta its score is at least q[j] - (4 / epsilon) * ln(n / beta) * D[j] for every j (with the
    exponential mechanism). So a candidate with a small sensitivity D[j] is found as reliably as if all
    sensitivities were small.

    Args:
        scores: finite numbers q, one per candidate, higher is better: an array, a series, a list, or
            a mapping from candidates to scores.
        sensitivities: D, the most that a score can change between neighbours, in the units of the scores, as a
            mapping from candidates or a list in the order of the scores.
        beta: the probability that the bound above may fail, between 0 and 1. "0.05" by default.
        candidates: the possible answers. Without them, the answer is an index.
        **terms: the shared arguments, described in `Terms`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        InvalidScores: if the scores are not finite numbers, or their number differs from that of the sensitivities.

    Side channels: those of the mechanism, and the time of arithmetic with fractions, which depends on the
    scores.
    """
    scores, labels, places = unfold(scores, candidates, terms)
    changes = read_changes(values_in_order("sensitivities", sensitivities, labels, places))
    guarantee = ask(Generalized(scores, changes, Fraction(0)), terms).calibrated.guarantee
    t = _lowering(guarantee.pure or Fraction(1), len(changes), positive(beta, "beta"))
    query = Query("generalized", {"candidates": len(changes)})
    return release(Generalized(scores, changes, t), labels, query, terms)


def _lowering(epsilon: Fraction, n: int, beta: Fraction) -> Fraction:
    """Return about (2 / epsilon) * ln(n / beta). Any number is as private, so rounding does no harm."""
    if beta >= 1:
        raise InvalidNumber(f"beta must be below 1, got {preview(beta)}")
    log = math.log(n) + math.log(beta.denominator) - math.log(beta.numerator)
    return 2 / epsilon * Fraction(round(1024 * log), 1024)
