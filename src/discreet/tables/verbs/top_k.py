"""top_k and select_top_k: the most common values of a column, and the best candidates, in order."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, TypeVar, Unpack, overload

from ...base.doors import fix, spelling
from ...base.numbers import Number, count, flag
from ...errors import InvalidArgument, InvalidCandidates
from ...mechanisms.contract import read_parameter
from ...privacy.calibration import read_share
from ...selection.account import currency_of
from ...selection.any_column import AnyColumn
from ...selection.bins import column_facts, plain_column, read_columns
from ...selection.candidates import Labels
from ...selection.gaps import check_gap, with_gap
from ...selection.question import Query
from ...selection.releases import Release
from ...selection.select_top_k import draw_list, mechanism_of_lists, naming_lists
from ...selection.terms import AnswerTerms, PersonTerms
from ..engines.candidate_table import CandidateTable, refuse_gap
from ..engines.column import Source
from ..engines.records import is_private
from ..scores.counts import Counts
from .counted_lists import (
    ListQuestion,
    count_scores,
    naming_counted_lists,
    refuse_bound,
)
from .data_terms import takes_data_terms
from .list_methods import PublicNumbers, TopKMethod, choose_method, read_method
from .mode import labels_of_column
from .private_groups import delta_of_method
from .private_values import release_private_values
from .units import UnitQuery, read_unit_query

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
    """Release k of the most common values of a column in order. More common ones are more likely to come early.

    One row is one record, and counts as for `mode`. Of scores that are computed already, take `select_top_k`.

    Args:
        data: a table or the path of a file, with `column`, or values in a list or a series, without.
        column: the name of the column, or a list of several, or of `Bins`. Without it, the data are the values
            themselves.
        k: how many, at most as many as there are candidates.
        candidates: the possible answers, public: a list, or a `CandidateTable`. May be left out for a `Dataset`
            that declares the values of the column, and for a Polars `Enum`. "private" where nobody may list them:
            values that enough records hold, which may be fewer than k, or none. That takes `delta`, and with a
            `privacy_unit` `max_candidates`: private keys with their counts where a unit counts for at most k
            values, else limited domain: docs/reference/mechanisms/top_k.md#limited_domain.
        method: by default the one with the least bound on its error, by public numbers alone:
            docs/how-to/planning.md says which and why. "counts" adds noise to the count of every candidate once,
            and answers the largest with their noisy counts, whatever k is: the best where a record holds one value,
            or a unit counts for fewer than k. "peeling" draws one after another, with any mechanism, and divides
            epsilon (or rho) by k. `scale` is that of every round. It is taken where a mechanism is named. "joint"
            draws the whole list at once: its score is how far, at worst, a place of the list is behind the
            candidate that should be there. It is refused where it might need more than 2 GiB: for 10,000 candidates
            that is a k above 200.
        max_candidates: for "counts" or candidates="private", with a `privacy_unit`: the most candidates for which
            one unit counts, among which the cost is divided. Which of more are kept is decided by a rule that reads
            the rows of that unit alone: docs/how-to/user_level_privacy.md. By default all of them.
        delta: the δ of all answers together, a probability below 1 such as "1e-6". The list is then (ε, δ)-DP, and
            each round of "peeling" has as much as the library's bound on adaptive composition allows: with
            ε = 1 and k = 50 more than three times as much as a k-th. Finding it takes up to a few seconds the
            first time. By "counts" it allows Gaussian noise, and is not charged where geometric noise is the
            smaller. In several groups it is for "counts" alone. Without it the list is ε-DP. With groups="private"
            it is that of the groups.
        gap: whether to release how far ahead each answer was of the next one, in `Release.gap`, as for `select`. By
            "counts" the difference of noisy counts. Not for "joint". `k` must be below the number of candidates.
        **terms: the shared arguments, described in `PersonTerms`.

    Returns:
        A list of k candidates, with the guarantee of all of them together. By "counts" with their noisy counts in
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
    parameter = read_parameter(terms.get("epsilon"), terms.get("rho"), terms.get("scale"))
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
