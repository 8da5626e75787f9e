"""The most common candidates by noisy counts, for `top_k` and `mode`."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from ...base.doors import spelling
from ...base.numbers import Number
from ...errors import InvalidArgument, InvalidCandidates
from ...mechanisms.contract import read_parameter
from ...mechanisms.top_counts import TopCounts
from ...sampling.bits import SystemBits
from ...selection.answers import Answer
from ...selection.any_column import AnyColumn
from ...selection.candidates import Answers, Labels, LabelsFromData
from ...selection.gaps import with_gap_in
from ...selection.question import Query, answers_at
from ...selection.releases import Release
from ...selection.scores.contract import Score
from ..engines.candidate_table import CandidateTable
from ..scores.counts import ClassCounts, Counts
from .list_methods import CountsOffer
from .noisy_numbers import read_price
from .units import Name, UnitQuery


def refuse_bound(max_candidates: object) -> None:
    """Raise if a bound is given to a method that needs none."""
    if max_candidates is not None:
        raise InvalidArgument(
            "max_candidates bounds for how many candidates one user counts: it goes with "
            f"{spelling(method='counts')}"
        )


def count_scores(
    unit_query: UnitQuery,
    data: object,
    column: AnyColumn,
    labels: Labels | CandidateTable | LabelsFromData,
) -> Sequence[Score]:
    """Return the score that counts records, one per group."""
    columns = unit_query.columns(data, column)
    if isinstance(labels, CandidateTable):
        return [ClassCounts(one, labels.ranking, unit_query.per_person) for one in columns]
    return [Counts(one, labels, unit_query.per_person) for one in columns]


class ListQuestion(NamedTuple):
    """The most common candidates of a column, in order, with every public argument read.

    Attributes:
        unit_query: the query.
        data: the data.
        column: the column, or None.
        labels: the candidates.
        query: the question in words.
        k: the length of the list.
        delta: the δ of all answers together, or None.
        gap: whether to release how far ahead the answers were.
    """

    unit_query: UnitQuery
    data: object
    column: AnyColumn
    labels: Labels | CandidateTable | LabelsFromData
    query: Query
    k: int
    delta: Number | None = None
    gap: bool = False

    def answer_by_counts(self, max_candidates: int | None, name: Name) -> Release:
        """Release them by noisy counts, one more if there is a gap: the difference of two counts.

        Args:
            max_candidates: the most candidates for which one unit counts, or None.
            name: names a drawn list with its counts, or several.

        Raises:
            InvalidArgument: if a mechanism is named.
            InvalidCandidates: if the candidates are in a table, or from the data.
        """
        labels = self.labels
        unit_query = self.unit_query.with_candidates(labels.size, max_candidates)
        if not isinstance(labels, Labels):
            raise InvalidCandidates(
                f"{spelling(method='counts')} adds noise to the count of every candidate: give "
                "public candidates in a list"
            )
        if "mechanism" in unit_query.terms:
            raise InvalidArgument(
                f"{spelling(method='counts')} adds noise of its own: leave out mechanism"
            )
        offer = self.offer(unit_query)
        mechanism = TopCounts(self.length) if offer is None else offer.mechanism(self.length)
        counting = unit_query.as_one_list()
        counting = replace(counting, terms={**counting.terms, "mechanism": mechanism})
        scores = count_scores(counting, self.data, self.column, labels)
        query = with_gap_in(self.query, self.gap).about({"noisy": True}, method="counts")
        settle = None if offer is None else partial(offer.settle, mechanism)
        return counting.answer(scores, labels, query, _draw_counted, name, settle)

    @property
    def length(self) -> int:
        """How many candidates are drawn: one more if there is a gap."""
        return self.k + self.gap

    def offer(self, unit_query: UnitQuery) -> CountsOffer | None:
        """Return the noisy counts of a query, of which the candidates are bounded; None without a parameter.

        Raises:
            InvalidArgument: if delta cannot be accepted.
        """
        all_groups = unit_query.as_one_list()
        terms, size = all_groups.terms, self.labels.size
        parameter = read_parameter(terms.get("epsilon"), terms.get("rho"), terms.get("scale"))
        if parameter is None:
            return None
        price = read_price(parameter, terms, all_groups.neighbors, self.delta)
        numbers = size * all_groups.group_count
        return CountsOffer(all_groups.moved_counts(size), numbers, price)


def _draw_counted(law: Any, size: int | None) -> Any:
    """Return a list with its counts, or so many."""
    lists = law.draws(1 if size is None else size, SystemBits())
    return lists[0] if size is None else lists


def naming_counted_lists(labels: Answers, k: int) -> Name:
    """Return the function that names a list of k with its counts, or several; one more drawn tells the gaps."""

    def name_one(pair: Any) -> Answer:
        indices, counts = pair
        gaps = [one - following for one, following in pairwise(counts)]
        return Answer(
            answers_at(indices[:k], labels), list(counts[:k]), gap=gaps if len(counts) > k else None
        )

    def name(pairs: Any, size: int | None) -> Answer:
        return name_one(pairs) if size is None else Answer.listed(map(name_one, pairs))

    return name


def naming_counted_values(labels: Answers) -> Name:
    """Return the function that names the first of a list with its count, or of several; a second tells the gap."""

    def name_one(pair: Any) -> Answer:
        [index, *_], [number, *others] = pair
        return Answer(labels[index], number, gap=number - others[0] if others else None)

    def name(pairs: Any, size: int | None) -> Answer:
        return name_one(pairs) if size is None else Answer.listed(map(name_one, pairs))

    return name
