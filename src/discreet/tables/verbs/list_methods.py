"""The most common candidates in order: the methods, the best by public numbers, and lists by noisy counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from math import ceil
from typing import Any, Literal, NamedTuple, get_args

from ...base.arguments import choice
from ...base.doors import spelling
from ...base.numbers import Number
from ...errors import InvalidArgument, InvalidCandidates
from ...mechanisms import Exponential
from ...mechanisms.accuracy import CONFIDENCE, answers_in_words
from ...mechanisms.contract import PrivacyParameter
from ...mechanisms.joint.joint_top_k import JointTopK
from ...mechanisms.noisy_counts import counts_sensitivity
from ...mechanisms.peeling import Peeling
from ...mechanisms.top_counts import TopCounts, best_top_counts
from ...privacy.sensitivity import Sensitivity
from ...selection.answers import Answer
from ...selection.any_column import AnyColumn
from ...selection.candidates import Answers, Labels, LabelsFromData
from ...selection.gaps import with_gap_in
from ...selection.payment import adds_epsilons
from ...selection.question import Order, Query, answers_at
from ...selection.releases import Release
from ...selection.scores.contract import Score
from ...selection.select_top_k import draw_list
from ..engines.candidate_table import CandidateTable
from ..scores.counts import ClassCounts, Counts
from .noisy_numbers import NoisePrice, read_price
from .units import Name, UnitQuery, parameter_of

TopKMethod = Literal["peeling", "joint", "counts"]
"""A method for lists of the most common candidates."""


def read_method(method: object) -> TopKMethod:
    """Return the method of a name."""
    return choice(method, "method", get_args(TopKMethod))  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class CountsOffer:
    """The noisy counts of lists of the most common candidates, with everything public settled.

    Attributes:
        moved: how many counts of all lists together may differ between neighbours.
        numbers: how many counts there are.
        price: how much privacy their noise may cost.
    """

    moved: int
    numbers: int
    price: NoisePrice

    @property
    def sensitivity(self) -> Sensitivity:
        """How far the counts of neighbours may be apart."""
        return counts_sensitivity(self.moved, self.price.neighbors)

    def mechanism(self, k: int) -> TopCounts:
        """Return the k largest of each list, with the smaller noise that the account can pay for."""
        price = self.price
        if not price.pays_gaussian:
            return TopCounts(k, self.moved)
        return best_top_counts(
            k, self.moved, self.numbers, price.neighbors, price.parameter, price.delta
        )

    def settle(self, mechanism: TopCounts, order: Order) -> Order:
        """Return the order in the unit that the account counts, with the reason for its noise."""
        choice = partial(self.price.choice_of, mechanism.name, self.sensitivity)
        return replace(order, guarantee=self.price.charge(order.guarantee), noise=choice)


_PREFERRED: tuple[TopKMethod, ...] = ("counts", "peeling", "joint")


@dataclass(frozen=True, slots=True)
class PublicNumbers:
    """The public numbers of a list of the most common candidates.

    Attributes:
        candidates: The number of candidates.
        k: the length of the list.
        counts: the noisy counts of all lists together; None where they are not offered.
        sensitivity: of the counts as scores.
        parameter: the privacy parameter of one list.
        are_rows: whether a record is a row, which holds one value.
        currency: the unit that the account counts, or None.
        delta: the δ of the rounds of one list, or None.
    """

    candidates: int
    k: int
    counts: CountsOffer | None
    sensitivity: Sensitivity
    parameter: PrivacyParameter
    are_rows: bool
    currency: str | None = None
    delta: Fraction | None = None


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """The method that is best by public numbers, and why.

    Attributes:
        method: its name.
        errors: by method that was compared, by fewer than how many records a place of the list is behind, in 95 of
            100 answers, whatever the data are.
        reason: why it was chosen, as a sentence.
    """

    method: TopKMethod
    errors: Mapping[TopKMethod, int]
    reason: str


@lru_cache(maxsize=256)
def choose_method(public: PublicNumbers) -> MethodChoice:
    """Return the method with the least bound on its error at the same charge; "peeling" where none is compared.

    Of equal ones noisy counts, which tell the counts too, then peeling.
    """
    mechanism = Exponential()  # one that is named is obeyed
    options: dict[TopKMethod, Peeling | JointTopK | TopCounts] = {
        "peeling": Peeling(mechanism, public.k, public.delta)
    }
    currency = "epsilon" if adds_epsilons(public.currency) else public.currency
    if currency not in (None, public.parameter.kind) or public.parameter.kind == "scale":
        return MethodChoice("peeling", {}, _unlike_charges(public))
    if public.delta is None:
        options["joint"] = JointTopK(mechanism, public.k, public.are_rows)
    if public.counts is not None:
        options["counts"] = public.counts.mechanism(public.k)
    errors = {method: _error(option, public) for method, option in options.items()}
    bounds = {method: ceil(error) for method, error in errors.items() if error is not None}
    if "peeling" not in bounds:
        return MethodChoice("peeling", {}, "peeling: no bound on its error is known")
    best = min(bounds, key=lambda method: (bounds[method], _PREFERRED.index(method)))
    return MethodChoice(best, bounds, _comparison(best, bounds))


def _error(mechanism: Peeling | JointTopK | TopCounts, public: PublicNumbers) -> Fraction | None:
    """Return the bound on the error of a method, or None where it is refused or none is known."""
    if isinstance(mechanism, JointTopK) and not mechanism.is_quick(public.candidates):
        return None
    sensitivity, parameter = public.sensitivity, public.parameter
    if public.counts is not None and isinstance(mechanism, TopCounts):
        sensitivity, parameter = public.counts.sensitivity, public.counts.price.parameter
    return mechanism.error_below(public.candidates, sensitivity, parameter, CONFIDENCE)


def _comparison(best: TopKMethod, bounds: Mapping[TopKMethod, int]) -> str:
    if len(bounds) == 1:
        return f"{best}: no other method serves here"
    others = ", ".join(f"{method} {error:,}" for method, error in bounds.items() if method != best)
    return (
        f"{best}: in {answers_in_words(CONFIDENCE)} every place of the list is less than {bounds[best]:,} records "
        f"behind what should be there, whatever the data are ({others})"
    )


def _unlike_charges(public: PublicNumbers) -> str:
    return (
        f"peeling: at the same {public.parameter.kind} the methods are charged unlike amounts of "
        f"{public.currency or 'epsilon'}, so none was preferred"
    )


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
        return counting.answer(scores, labels, query, draw_list, name, settle)

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
        parameter = parameter_of(terms)
        if parameter is None:
            return None
        price = read_price(parameter, terms, all_groups.neighbors, self.delta)
        numbers = size * all_groups.group_count
        return CountsOffer(all_groups.moved_counts(size), numbers, price)


def naming_counted_lists(labels: Answers, k: int) -> Name:
    """Return the function that names a list of k with its counts, or several; one more drawn tells the gaps."""

    def name_one(pair: Any) -> Answer:
        indices, counts = pair
        gaps = [one - following for one, following in pairwise(counts)]
        return Answer(
            answers_at(indices[:k], labels), list(counts[:k]), gap=gaps if len(counts) > k else None
        )

    return _one_or_several(name_one)


def naming_counted_values(labels: Answers) -> Name:
    """Return the function that names the first of a list with its count, or of several; a second tells the gap."""

    def name_one(pair: Any) -> Answer:
        [index, *_], [number, *others] = pair
        return Answer(labels[index], number, gap=number - others[0] if others else None)

    return _one_or_several(name_one)


def _one_or_several(name_one: Callable[[Any], Answer]) -> Name:
    """Return the function that names one draw, or several."""

    def name(pairs: Any, size: int | None) -> Answer:
        return name_one(pairs) if size is None else Answer.listed(map(name_one, pairs))

    return name
