"""median, quantile, minimum, maximum: values that divide the records as wanted."""

import datetime as dt
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal, TypeVar, Unpack, overload

from ...base.arguments import choice
from ...base.doors import fix
from ...base.numbers import Number, exact, positive
from ...base.warning import warn
from ...errors import InvalidCandidates, InvalidNumber, preview
from ...selection.candidate_types import Indexed
from ...selection.candidates import Grid, Labels, table_library
from ...selection.date_grid import AnyGrid, DateGrid, clock_of_candidates
from ...selection.decimals import Decimals
from ...selection.question import Query, ask, draw
from ...selection.releases import Release
from ...selection.terms import NumberAnswerTerms, NumberTerms, RecordTerms
from ..engines.column import NOTHING
from ..scores.median_distance import MedianDistance
from ..scores.rank import Rank
from .data_terms import takes_data_terms
from .record_needs import needed_records, refuse_ends, say_needs
from .units import UnitQuery, column_or_none, columns_of, naming, per_person, read_unit_query

_T = TypeVar("_T")

Candidates = AnyGrid | Iterable[object] | Indexed[object]


@overload
def quantile(
    data: object,
    column: str | None = None,
    *,
    alpha: Number,
    **terms: Unpack[NumberAnswerTerms[_T]],
) -> Release[_T]: ...


@overload
def quantile(
    data: object, column: str | None = None, *, alpha: Number, **terms: Unpack[NumberTerms]
) -> Release: ...


@takes_data_terms
def quantile(
    data: object,
    column: str | None = None,
    *,
    alpha: Number,
    candidates: Candidates | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release a value that lies above a share of about alpha of the records.

    A record is rounded by itself to the nearest point of the grid. Records outside the grid go to its ends, and NaN
    and null are left out. For dates and times, use a `DateGrid`. Without candidates, the answer is one of all
    decimals with three significant digits, and the number of records that this needs is shown before you pay.

    Args:
        alpha: the share of the records below, between 0 and 1. It is read exactly, so 0.9 is nine tenths.
        **terms: the shared arguments, described in `RecordTerms`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the data contain no numbers.

    Side channels: those of the mechanism. In memory, time also depends on the number of different numbers. On a
    grid of more than 4,096 points it depends on how many numbers are near the quantile instead. There, the kernel
    sorts doubles and integers, or counts them if they are many, in the same steps for all data. Without the kernel,
    time also depends on how many are equal. Files, DuckDB relations and lazy frames are counted out of core,
    in a public number of passes. See docs/explanation/out_of_core.md.
    """
    return _release(data, column, _read_alpha(alpha), candidates, terms)


@overload
def median(
    data: object,
    column: str | None = None,
    *,
    score: Literal["rank", "median_distance"] = "rank",
    **terms: Unpack[NumberAnswerTerms[_T]],
) -> Release[_T]: ...


@overload
def median(
    data: object,
    column: str | None = None,
    *,
    score: Literal["rank", "median_distance"] = "rank",
    **terms: Unpack[NumberTerms],
) -> Release: ...


@takes_data_terms
def median(
    data: object,
    column: str | None = None,
    *,
    candidates: Candidates | None = None,
    score: Literal["rank", "median_distance"] = "rank",
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release a median, the quantile for one half.

    Args:
        score: "rank" measures how deep the middle lies within the ranks of a point's records. "median_distance" is
            how many records must be added or removed until the point is the median, and needs a `Grid`.
        **terms: the shared arguments, described in `RecordTerms`.
    """
    if choice(score, "score", ("rank", "median_distance")) == "rank":
        return _release(data, column, Fraction(1, 2), candidates, terms)
    if not isinstance(candidates, Grid | DateGrid):
        raise InvalidCandidates(
            f"median_distance needs a Grid of candidates, or a DateGrid, got {preview(candidates)}"
        )
    column = column_or_none(column)
    query = Query("median", {"column": column, **candidates.facts}, {"column": column})
    unit_query = read_unit_query(terms, bounded=True)
    columns = columns_of(unit_query, data, column, clock_of_candidates(candidates))
    scores = [MedianDistance(one, candidates) for one in columns]
    return unit_query.answer(
        per_person(unit_query, scores), candidates, query, draw, naming(candidates)
    )


@overload
def minimum(
    data: object, column: str | None = None, **terms: Unpack[NumberAnswerTerms[_T]]
) -> Release[_T]: ...


@overload
def minimum(data: object, column: str | None = None, **terms: Unpack[NumberTerms]) -> Release: ...


@takes_data_terms
def minimum(
    data: object,
    column: str | None = None,
    *,
    candidates: Candidates | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release a value with hardly any record below it.

    Every candidate up to the least record is as good as the best, so do not let the grid begin far below.
    See `quantile` for the arguments, the errors and the side channels.

    Args:
        **terms: the shared arguments, described in `RecordTerms`.
    """
    return _release(data, column, Fraction(0), candidates, terms)


@overload
def maximum(
    data: object, column: str | None = None, **terms: Unpack[NumberAnswerTerms[_T]]
) -> Release[_T]: ...


@overload
def maximum(data: object, column: str | None = None, **terms: Unpack[NumberTerms]) -> Release: ...


@takes_data_terms
def maximum(
    data: object,
    column: str | None = None,
    *,
    candidates: Candidates | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release a value with hardly any record above it.

    Every candidate from the largest record on is as good as the best, so do not let the grid end far above.
    See `quantile` for the arguments, the errors and the side channels.

    Args:
        **terms: the shared arguments, described in `RecordTerms`.
    """
    return _release(data, column, Fraction(1), candidates, terms)


def _release(
    data: object,
    column: str | None,
    share: Fraction,
    candidates: Candidates | None,
    terms: RecordTerms,
) -> Release:
    """Release a value that about that share of the records are below."""
    column = column_or_none(column)
    numbers = _read_candidates(candidates, share)
    unit_query = read_unit_query(terms, bounded=True)
    scale = unit_query.terms.get("scale")
    if scale is not None:  # in records, of which each is a denominator of the score
        unit_query.terms["scale"] = positive(scale, "scale") * share.denominator
    if candidates is None:
        _say_needs(unit_query, numbers, share, column)
    columns = columns_of(unit_query, data, column, clock_of_candidates(numbers))
    scores = [Rank(one, numbers, share) for one in columns]
    facts = {"column": column, "share": str(share), **numbers.facts}
    query = Query("quantile", facts, {"column": column})
    return unit_query.answer(per_person(unit_query, scores), numbers, query, draw, naming(numbers))


def _read_alpha(alpha: Number) -> Fraction:
    share = exact(alpha, "alpha")
    if not 0 <= share <= 1:
        raise InvalidNumber(
            "alpha must be between 0 and 1, such as 0.9 for the 90th percentile, got "
            f"{preview(alpha)}"
        )
    return share


def _say_needs(
    unit_query: UnitQuery, numbers: AnyGrid | Labels, share: Fraction, column: str | None
) -> None:
    """Warn of how many records an answer without bounds needs."""
    score = per_person(unit_query, [Rank(NOTHING, numbers, share)])[0]
    question = ask(score, unit_query.terms, numbers)
    epsilon = question.calibrated.guarantee.pure
    if epsilon is not None:
        ranks = question.sensitivity.spread / share.denominator
        records = needed_records(numbers.size, epsilon, ranks, min(share, 1 - share))
        say_needs(records, column, unit_query.records.by)


def _read_candidates(candidates: Candidates | None, share: Fraction) -> AnyGrid | Labels:
    """Return a grid as it is, a list as labels that are numbers, and all decimals where there are no candidates."""
    if candidates is None:
        refuse_ends(share)
        return Decimals()
    if isinstance(candidates, AnyGrid):
        return candidates
    labels = Labels.read(candidates)  # type: ignore[arg-type]  # it is iterable
    if table_library(candidates) is None:
        _check_labels(labels, is_pair=type(candidates) is tuple and len(labels) == 2)
    elif not all(_is_number(label) for label in labels):
        raise InvalidCandidates(
            f"candidates of a quantile must be numbers, such as {fix('a grid', lo=0, hi=120)}, or "
            f"dates, such as {fix('a grid of dates')}"
        )
    return labels


def _check_labels(labels: Labels, is_pair: bool) -> None:
    """Raise unless labels are numbers, and no ends of a grid; warn if they may be such ends."""
    for label in () if labels.are_finite else labels:
        if isinstance(label, dt.date):
            raise InvalidCandidates(
                f"dates as candidates of a quantile are a grid, such as {fix('a grid of dates')}, "
                f"got {preview(label)} in a list"
            )
        if not _is_number(label):
            raise InvalidCandidates(
                f"candidates of a quantile must be numbers, such as 1 or 0.5, got {preview(label)}"
            )
    first, last = preview(labels[0]), preview(labels[-1])
    ends, grid = f"{first}, {last}", fix("a grid", lo=first, hi=last)
    if is_pair:
        raise InvalidCandidates(
            "candidates are two numbers, one of which would be the answer. For all between them "
            f"give {grid}, and for these two alone a list of them"
        )
    if len(labels) == 2 and not labels.is_declared:
        warn(
            f"candidates are two numbers, {ends}, and one of them is the answer. For all between "
            f"them give {grid}"
        )


def _is_number(label: object) -> bool:
    """Return whether a label can be a candidate of a quantile."""
    try:
        exact(None if isinstance(label, str) else label, "a candidate")
    except InvalidNumber:
        return False
    return True
