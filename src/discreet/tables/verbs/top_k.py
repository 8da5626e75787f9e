"""top_k and select_top_k: the most common values of a column, and the best candidates, in order."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, TypeVar, Unpack, overload

from ...base.doors import fix, spelling
from ...base.numbers import Number, count, flag
from ...errors import InvalidArgument, InvalidCandidates
from ...privacy.calibration import read_share
from ...selection.any_column import AnyColumn
from ...selection.bins import column_facts, plain_column, read_columns
from ...selection.candidates import Labels
from ...selection.gaps import check_gap, with_gap
from ...selection.payment import currency_of
from ...selection.question import Query
from ...selection.releases import Release
from ...selection.select_top_k import draw_list, mechanism_of_lists, naming_lists
from ...selection.terms import AnswerTerms, PersonTerms
from ..engines.candidate_table import CandidateTable, refuse_gap
from ..engines.column import Source
from ..engines.records import is_private
from ..scores.counts import Counts
from .data_terms import takes_data_terms
from .list_methods import (
    ListQuestion,
    PublicNumbers,
    TopKMethod,
    choose_method,
    count_scores,
    naming_counted_lists,
    read_method,
    refuse_bound,
)
from .mode import labels_of_column
from .private_groups import delta_of_method
from .private_values import release_private_values
from .units import UnitQuery, parameter_of, read_unit_query

_T = TypeVar("_T")


@overload
def top_k(
    data: object,
    column: AnyColumn = None,
    *,
    k: int,
    candidates: Iterable[_T],
    method: TopKMethod | None = None,
    max_candidates: int | None = None,
    delta: Number | None = None,
    gap: bool = False,
    **terms: Unpack[AnswerTerms],
) -> Release[list[_T]]: ...


@overload
def top_k(
    data: object,
    column: AnyColumn = None,
    *,
    k: int,
    candidates: Iterable[object] | CandidateTable | Literal["private"] | None = None,
    method: TopKMethod | None = None,
    max_candidates: int | None = None,
    gap: bool = False,
    **terms: Unpack[PersonTerms],
) -> Release: ...


@takes_data_terms
def top_k(  # noqa: PLR0913  # what mode takes, and three more
    data: object,
    column: AnyColumn = None,
    *,
    k: int,
    candidates: Iterable[object] | CandidateTable | Literal["private"] | None = None,
    method: TopKMethod | None = None,
    max_candidates: int | None = None,
    gap: bool = False,
    **terms: Unpack[PersonTerms],
) -> Release:
    """Release k of the most common values of a column, in order. More common values are more likely to come early.

    One row is one record, and counts as for `mode`. For scores that you have already computed, use `select_top_k`.

    Args:
        data: a table or the path of a file, with `column`, or values in a list or a series, without it.
        column: the name of the column, or a list of several, or of `Bins`. Without it, the data are the values
            themselves.
        k: the number of values to release, at most the number of candidates.
        candidates: the possible answers, public, as a list or a `CandidateTable`. Not needed for a `Dataset` that
            declares the values of the column, or for a Polars `Enum`. Use "private" if you may not list them. Then
            the answers are values that enough records share, which may be fewer than k, or none. You need `delta`
            and, with a `privacy_unit`, `max_candidates`. If a unit counts for at most k values, it uses private
            keys with their counts, and otherwise limited domain. See
            docs/reference/mechanisms/top_k.md#limited_domain.
        method: by default the method with the smallest bound on its error, from public numbers alone. See
            docs/how-to/planning.md. "counts" adds noise to the count of every candidate once, and returns the
            largest with their noisy counts, for any k. It is best if a record has one value, or a unit counts for
            fewer than k. "peeling" draws one value after another, with any mechanism, and divides epsilon (or rho)
            by k. `scale` is that of every round. It is used if you name a mechanism. "joint" draws the whole list
            at once. The score of a list is how far, at worst, one of its places is behind the candidate that should
            be there. It is rejected if it might need more than 2 GiB, which for 10,000 candidates is a k above 200.
        max_candidates: for "counts" or candidates="private", with a `privacy_unit`, the most candidates for which
            one unit counts. The cost is divided among them. If a unit has more, a rule that reads only the rows of
            that unit decides which are kept. See docs/how-to/user_level_privacy.md. By default all of them.
        delta: the δ of all answers together, a probability below 1 such as "1e-6". The list is then (ε, δ)-DP, and
            a round of "peeling" gets as much as the library's bound on adaptive composition allows. With ε = 1 and
            k = 50, this is more than three times as much as a k-th. Computing it takes up to a few seconds the
            first time. With "counts", it allows Gaussian noise, and is not charged if geometric noise is smaller.
            With several groups, it works only for "counts". Without it, the list is ε-DP. With groups="private", it
            is the δ of the groups.
        gap: whether to release how far ahead an answer was of the next one, in `Release.gap`, as for `select`. With
            "counts", it is the difference of noisy counts. Not for "joint". `k` must be below the number of
            candidates.
        **terms: the shared arguments, described in `PersonTerms`.

    Returns:
        A list of k candidates, with the guarantee of all of them together. With "counts", their noisy counts are in
        `counts`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the file or the column is missing or cannot be read.

    Side channels: those of the method, and the time that counting takes.

    Source and proof: docs/reference/mechanisms/top_k.md#top_counts, docs/reference/mechanisms/top_k.md#peeling,
    docs/reference/mechanisms/top_k.md#joint_top_k.
    """
    if not terms.keys().isdisjoint(("sensitivity", "spread", "monotonic")):
        raise InvalidArgument(
            "top_k counts records and knows their sensitivity: leave out sensitivity, spread and "
            "monotonic. If the data are scores, call select_top_k"
        )
    column = read_columns(column)
    length = count(k, "k")
    facts = {**column_facts(column), "k": length}
    names = Query("top_k", facts, {"column": plain_column(column)})
    if is_private(candidates):
        every = {**terms, "gap": gap, "method": method}
        return release_private_values(names, (data, column), length, max_candidates, every)
    others, delta = delta_of_method(terms)
    unit_query = read_unit_query(others)
    labels = _declared(data, column, candidates, terms)
    question = ListQuestion(
        unit_query, data, column, labels, names, count(k, "k", labels.size), delta, flag(gap, "gap")
    )
    refuse_gap(labels, gap)
    check_gap(gap, labels, k)
    if method is not None:
        return _answer_by(question, read_method(method), max_candidates)
    best = _best_method(question, max_candidates)
    question = _without_unused_delta(question, best)
    return _answer_by(question, best, max_candidates if best == "counts" else None)


def _declared(
    data: object, column: AnyColumn, candidates: Any, terms: PersonTerms
) -> Labels | CandidateTable:
    """Return the candidates that were given, or those that the column's type declares.

    Raises:
        InvalidCandidates: if it declares none, or they cannot be accepted.
    """
    try:
        return labels_of_column(data, column, candidates, terms)
    except InvalidCandidates as error:
        if candidates is not None:
            raise
        raise InvalidCandidates(f"{error}{fix('a list of scores')}") from None


def _answer_by(question: ListQuestion, method: TopKMethod, max_candidates: int | None) -> Release:
    """Release the list by a method."""
    of, labels = question.unit_query, question.labels
    if method == "counts":
        return question.answer_by_counts(max_candidates, naming_counted_lists(labels, question.k))
    refuse_bound(max_candidates)
    # A unit may hold several values, so its rows are not the rows that JointTopK knows more about.
    scores = count_scores(of, question.data, question.column, labels)
    of = replace(of, terms=with_gap(of.terms, question.gap))
    lists = query_of_lists(of, method, question.delta, question.k, not of.per_person)
    return lists.answer(scores, labels, question.query, draw_list, naming_lists(labels))


def _best_method(question: ListQuestion, max_candidates: int | None) -> TopKMethod:
    """Return the method that is best by public numbers; "peeling" where a mechanism is named."""
    unit_query, labels = question.unit_query, question.labels
    terms, size = unit_query.terms, labels.size
    parameter = parameter_of(terms)
    of = unit_query.with_candidates(size, max_candidates)
    if "mechanism" in terms or parameter is None:
        return "peeling"
    counts = Counts(Source(None, None).groups[0], (), of.per_person)
    offer = question.offer(of) if isinstance(labels, Labels) else None
    # Rounds of lists in several groups have no delta.
    has_delta = question.delta is not None and of.records.by is None
    delta = read_share(question.delta) if has_delta else None
    sensitivity, currency = counts.sensitivity(of.relation), currency_of(terms.get("ledger"))
    public = PublicNumbers(
        size, question.k, offer, sensitivity, parameter, not of.per_person, currency, delta
    )
    best = choose_method(public).method
    return (
        "peeling" if question.gap and best == "joint" else best
    )  # a list drawn at once has no gaps


def _without_unused_delta(question: ListQuestion, best: TopKMethod) -> ListQuestion:
    """Return the question without a delta that its account has not, or that in groups only counts could spend."""
    terms, by = question.unit_query.terms, question.unit_query.records.by
    is_compared = "mechanism" not in terms and isinstance(question.labels, Labels)
    is_unused = best != "counts" and by is not None and is_compared
    is_pure = currency_of(terms.get("ledger")) == "epsilon"
    return question._replace(delta=None) if is_unused or is_pure else question


def _refuse_groups(unit_query: UnitQuery, delta: object) -> None:
    """Raise if the rounds of lists in several groups are to have one delta."""
    if delta is not None and unit_query.records.by is not None:
        raise InvalidArgument(
            f"delta is for the rounds of one list. In several groups it goes with {spelling(method='counts')}"
        )


def query_of_lists(
    unit_query: UnitQuery, method: str, delta: Number | None, k: int, counts: bool
) -> UnitQuery:
    """Return the query with the mechanism that answers lists of k by that method.

    Args:
        unit_query: the query.
        method: the name of the method.
        delta: the δ of all answers together, or None.
        k: the length of a list.
        counts: whether the scores are numbers of rows, which are the records.
    """
    _refuse_groups(unit_query, delta)
    mechanism = mechanism_of_lists(unit_query.terms, method, delta, k, counts=counts)
    return replace(unit_query, terms={**unit_query.terms, "mechanism": mechanism})
