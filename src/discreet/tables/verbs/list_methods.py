"""The methods of ordered lists: which there are, and the best of them by public numbers at the same charge."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil
from typing import Literal, get_args

from ...base.arguments import choice
from ...mechanisms import Exponential
from ...mechanisms.accuracy import CONFIDENCE, answers_in_words
from ...mechanisms.contract import PrivacyParameter
from ...mechanisms.joint.joint_top_k import JointTopK
from ...mechanisms.noisy_counts import counts_sensitivity
from ...mechanisms.peeling import Peeling
from ...mechanisms.top_counts import TopCounts, best_top_counts
from ...privacy.sensitivity import Sensitivity
from ...selection.account import adds_epsilons
from ...selection.question import Order
from .noisy_numbers import NoisePrice

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
