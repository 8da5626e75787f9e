"""Whole numbers with geometric noise, for counts, sums and means."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

from flint import arb

from ...errors import InvalidArgument
from ...mechanisms.accuracy import CONFIDENCE, ErrorBound
from ...mechanisms.contract import (
    Calibrated,
    PrivacyParameter,
    calibrate,
    identity_of,
    need_parameter,
)
from ...mechanisms.count_noise import CountNoise, NoiseChoice, choose_noise, compare_noise
from ...mechanisms.noisy_counts import LARGEST_COUNT, NoisyCounts, NoisyCountsLaw
from ...privacy.calibration import read_share
from ...privacy.composition import compose
from ...privacy.guarantees import ApproxDP, Guarantee
from ...privacy.sensitivity import Neighbors, Sensitivity
from ...privacy.weak_promises import LARGEST_QUIET_DELTA, refuse_large_delta, say_weakness
from ...sampling.bits import Bits, SystemBits
from ...sampling.vectors import Vector, integers
from ...selection.answers import refuse_too_many
from ...selection.payment import adds_epsilons, currency_of
from ...selection.question import Query
from ...selection.releases import Release
from ...selection.terms import PersonTerms, check_names
from ..engines.records import is_private
from .private_groups import delta_of_method
from .units import UnitQuery, parameter_of

_PARAMETERS = ("epsilon", "rho", "scale")
"""The terms that say how much privacy; those of a group are not divided here, as all groups are one list."""


class NoiseTerms(NamedTuple):
    """The terms of a verb of noisy numbers.

    Attributes:
        parameter: the privacy parameter of the whole release.
        delta: the δ of its noise, not read; or None.
        of_units: those of the privacy unit and the groups.
    """

    parameter: PrivacyParameter
    delta: object
    of_units: Mapping[str, Any]

    def price(self, unit_query: UnitQuery, step: Fraction = Fraction(1)) -> "NoisePrice":
        """Return the price of the noise of answers in steps, in which a scale is told too."""
        parameter = unit_query.for_answers(self.parameter)
        if parameter.kind == "scale":
            parameter = PrivacyParameter("scale", parameter.value / step)
        return read_price(parameter, self.of_units, unit_query.neighbors, self.delta)


def read_terms(terms: Mapping[str, Any], names: Sequence[str]) -> NoiseTerms:
    """Return the terms of a verb of noisy numbers, which take the privacy parameter of the whole release.

    Args:
        terms: the terms that were given.
        names: those that the verb takes.

    Raises:
        TypeError: if there is a term of another name.
        InvalidArgument: if there is no privacy parameter, or it cannot be accepted.
    """
    shared, delta = delta_of_method(terms)
    check_names(shared, names)
    parameter = need_parameter(parameter_of(shared))
    if not is_private(shared.get("groups")):  # which take a part of it
        shared = {name: one for name, one in shared.items() if name not in _PARAMETERS}
    return NoiseTerms(parameter, delta, shared)


def names_of_terms(kind: type, *without: str) -> list[str]:
    """Return the names of the terms of a kind that verbs of numbers take."""
    return [name for name in kind.__annotations__ if name not in ("mechanism", "size", *without)]


COUNT_TERMS = names_of_terms(PersonTerms)
"""The terms of counts. There is one mechanism, and one answer."""


@dataclass(frozen=True, slots=True)
class ListNoise:
    """The noise of one list of whole numbers, with everything public settled.

    Attributes:
        mechanism: the noise, and where its answers are cut.
        sensitivity: how far the lists of neighbours may be apart.
        parameter: the privacy parameter of this list.
    """

    mechanism: CountNoise
    sensitivity: Sensitivity
    parameter: PrivacyParameter

    @property
    def calibrated(self) -> Calibrated:
        """The mechanism, calibrated."""
        return calibrate(self.mechanism, self.sensitivity, self.parameter)

    @property
    def noise(self) -> Any:
        """The noise of one number."""
        return self.mechanism.noise(self.sensitivity, self.parameter)

    @property
    def scale(self) -> Fraction:
        """About how far off a number is, rounded up."""
        return self.mechanism.scale(self.sensitivity, self.parameter)

    def geometric(self) -> "ListNoise":
        """Return geometric noise at the same price."""
        mechanism = NoisyCounts(self.mechanism.least, self.mechanism.largest)
        return replace(self, mechanism=mechanism)

    def error(self, size: int, probability: Fraction = CONFIDENCE) -> int:
        """Return the most by which any of so many numbers is off, in 95 of 100 answers."""
        return self.mechanism.error(self.sensitivity, self.parameter, size, probability)

    @property
    def details(self) -> dict[str, object]:
        """All that decides its distribution, in plain values for a digest."""
        return {
            "mechanism": identity_of(self.mechanism),
            "sensitivity": self.sensitivity.as_dict(),
            "privacy_parameter": {self.parameter.kind: self.parameter.value},
        }

    def draw(self, numbers: Sequence[int], bits: Bits) -> list[int]:
        """Return the numbers with noise. The numbers are private."""
        return self.law(numbers).draw(bits)

    def law(self, numbers: Sequence[int]) -> NoisyCountsLaw:
        """Return the distribution of the numbers with noise. They are private."""
        law: Any = self.calibrated.law(Vector(integers(numbers), integral=True))
        return law  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class NoisePrice:
    """How much privacy the noise of a release may cost, and in which unit it is counted.

    Attributes:
        parameter: the privacy parameter of all numbers.
        neighbors: the neighbouring relation.
        delta: the δ that the noise may use, if any, where the account can pay for it.
        currency: the unit that the account counts, if there is one.
    """

    parameter: PrivacyParameter
    neighbors: Neighbors
    delta: Fraction | None = None
    currency: str | None = None

    def noise(self, sensitivity: Sensitivity, size: int, largest: int = LARGEST_COUNT) -> ListNoise:
        """Return the noise of the smaller variance that the account can pay for.

        Args:
            sensitivity: how many numbers move between neighbours, and by how much.
            size: how many numbers there are.
            largest: where they are cut, on both sides.
        """
        if not self.pays_gaussian:
            return ListNoise(NoisyCounts(-largest, largest), sensitivity, self.parameter)
        mechanism = choose_noise(sensitivity, self.parameter, self.delta, size, largest)
        return ListNoise(mechanism, sensitivity, self.parameter)

    @property
    def pays_gaussian(self) -> bool:
        """Whether the account can pay for Gaussian noise, which has no epsilon of its own."""
        with_both = self.delta is not None and self.currency == "epsilon and delta"
        return self.currency in (None, "rho") or with_both

    def part(self, parts: int) -> "NoisePrice":
        """Return one of so many equal parts, without its delta."""
        share = PrivacyParameter(self.parameter.kind, self.parameter.value / parts)
        return replace(self, parameter=share, delta=None)

    def choice(self, noise: ListNoise) -> NoiseChoice | None:
        """Return which noise a list has and why; None where the price leaves no choice."""
        return self.choice_of(noise.mechanism.name, noise.sensitivity)

    def choice_of(self, name: str, sensitivity: Sensitivity) -> NoiseChoice | None:
        """Return why the noise of a name was taken, by the sensitivity of a list; None where there is no choice."""
        if not self.pays_gaussian:
            return None
        return compare_noise(name, sensitivity, self.parameter, self.delta)

    def charge(self, guarantee: Guarantee) -> Guarantee:
        """Return a guarantee in the unit that the account counts.

        With a delta that is used, an account of epsilon and delta is charged with both as they were asked for.
        """
        is_as_asked = guarantee.pure is not None or not adds_epsilons(self.currency)
        if self.delta is None or is_as_asked:
            return guarantee
        return ApproxDP(self.parameter.value, self.delta, self.neighbors)


def read_price(
    parameter: PrivacyParameter,
    terms: Mapping[str, Any],
    neighbors: Neighbors,
    delta: object = None,
) -> NoisePrice:
    """Return the price of the noise of a release.

    Raises:
        InvalidArgument: if delta goes with no epsilon, or is not above zero, or is too large to protect people.
    """
    currency = currency_of(terms.get("ledger"))
    if delta is None:
        return NoisePrice(parameter, neighbors, None, currency)
    if parameter.kind != "epsilon":
        raise InvalidArgument(
            "delta goes with epsilon here: Gaussian noise at a rho needs none, and a scale has none"
        )
    promise = ApproxDP(parameter.value, read_share(delta), neighbors)
    refuse_large_delta(promise)
    if promise.delta > LARGEST_QUIET_DELTA:
        say_weakness(promise)
    return NoisePrice(parameter, neighbors, promise.delta, currency)


_FARTHEST = 48
"""Noise of a probability below exp(-_FARTHEST) is left out."""


@dataclass(frozen=True, slots=True)
class NoisyNumber:
    """A number and its noise. Private.

    Attributes:
        law: the distribution of the list in which it is.
        index: its place there.
        number: the number without noise.
    """

    law: NoisyCountsLaw
    index: int
    number: int

    def near(self, reach: int) -> range:
        """Return the answers within a distance of the number, without those that are hardly ever reached."""
        reach = min(reach, self.law.noise.reach(_FARTHEST))
        return range(self.law.cut(self.number - reach), self.law.cut(self.number + reach) + 1)

    def chance(self, answer: int) -> arb:
        """Return a ball around the probability of an answer, at the precision in force."""
        return self.law.probability(self.index, answer)


@dataclass(frozen=True, slots=True)
class NoisyLists:
    """Lists of noisy numbers, of one question or of its groups. Private.

    Their answers are without end, so those nearest to the numbers are worked out, as many as there may be.

    Attributes:
        groups: the numbers by group.
        is_grouped: whether an answer has a list for every group.
    """

    groups: Sequence[Sequence[NoisyNumber]]
    is_grouped: bool

    @property
    def is_complete(self) -> bool:
        """Never: there are too many."""
        return False

    def answers(self, most: int) -> list[Any]:
        """Return the lists of answers near the numbers; raise if there are too many numbers for any to be near."""
        numbers = [number for group in self.groups for number in group]
        refuse_too_many(3 ** len(numbers), most)
        reach = (math.floor(most ** (1 / max(1, len(numbers)))) - 1) // 2
        return [self._nested(one) for one in product(*(number.near(reach) for number in numbers))]

    def chances(self, answers: Sequence[Any]) -> list[arb]:
        """Return balls around the probabilities of some answers, at the precision in force."""
        numbers = [number for group in self.groups for number in group]
        caches: list[dict[int, arb]] = [{} for _ in numbers]
        chances = []
        for answer in answers:
            flat = [one for group in answer for one in group] if self.is_grouped else answer
            chance = arb(1)
            for number, chances_of, one in zip(numbers, caches, flat, strict=True):
                if one not in chances_of:
                    chances_of[one] = number.chance(one)
                chance *= chances_of[one]
            chances.append(chance)
        return chances

    def _nested(self, flat: tuple[int, ...]) -> Any:
        """Return an answer as it is drawn: a list, or one for every group."""
        if not self.is_grouped:
            return flat
        values = iter(flat)
        return tuple(tuple(next(values) for _ in group) for group in self.groups)


@dataclass(frozen=True, slots=True, repr=False)
class NoisyNumbers:
    """A question that is answered by lists of whole numbers with noise.

    Attributes:
        unit_query: the privacy unit and the groups.
        noises: the noise of the lists.
        columns: the records of every group; of groups that are drawn one, which stands for each of them.
        numbers: reads the numbers of one group: a list of numbers for every noise. Private.
        worst_error: returns a bound on the error of one number, or None.
        price: how much privacy the noise may cost, where it was chosen by that; or None.
        choice: returns which noise was taken and why, where there was a choice; or None.
        promise: the guarantee of all answers, where it is not that of the lists one by one; or None.
        shows: decides by the noisy numbers of a group whether it is in the answer; or None, and all are.
    """

    unit_query: UnitQuery
    noises: Sequence[ListNoise]
    columns: Sequence[Any]
    numbers: Callable[[Any], Sequence[Sequence[int]]]
    worst_error: Callable[[], ErrorBound | None]
    price: NoisePrice | None = None
    choice: Callable[[], NoiseChoice | None] | None = None
    promise: Guarantee | None = None
    shows: Callable[[Any], bool] | None = None

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of all lists together."""
        if self.promise is not None:
            return self.unit_query.with_groups(self.promise)
        each = [noise.calibrated.guarantee for noise in self.noises]
        answers = each[0] if len(each) == 1 else reduce(compose, each)
        return self.unit_query.with_groups(answers)

    def release(
        self,
        query: Query,
        name: Callable[[Any], object],
        **public: object,
    ) -> Release:
        """Charge, draw and name the answer.

        Args:
            query: the question.
            name: returns the answer of one group for its drawn numbers.
            public: all else that decides the distribution, in plain values.
        """

        def details() -> Mapping[str, object]:
            return {**public, "noise": [noise.details for noise in self.noises]}

        guarantee = self.guarantee if self.price is None else self.price.charge(self.guarantee)
        name_of_noise = self.noises[0].mechanism.name
        order = replace(
            self.unit_query.order(query, guarantee, name_of_noise, details),
            worst_error=self.worst_error,
            lists=self._lists if self.unit_query.drawing is None else None,
        )
        if self.choice is not None:
            order = replace(order, noise=self.choice)
        label = self.unit_query.label(lambda one, _: name(one), None, self.shows)
        return order.deliver(self._prepare, label)

    def _lists(self) -> NoisyLists:
        """Read the numbers, and return their lists with noise, for study. Private."""
        groups = [
            [
                NoisyNumber(noise.law(numbers), index, number)
                for noise, numbers in zip(self.noises, lists, strict=True)
                for index, number in enumerate(numbers)
            ]
            for lists in map(self.numbers, self.columns)
        ]
        return NoisyLists(groups, self.unit_query.records.by is not None)

    def _prepare(self) -> Callable[[], list[Any]]:
        """Read the numbers, and return the function that draws."""
        if self.unit_query.drawing is not None:
            return self.unit_query.prepare(self.columns, self._ready)
        by_group = [self.numbers(column) for column in self.columns]

        def draw() -> list[Any]:
            return self._draw(by_group, SystemBits())

        return draw

    def _ready(self, column: Any) -> Callable[[], list[Any]]:
        """Read the numbers of one group, and return the function that draws its answer."""
        numbers = self.numbers(column)

        def draw() -> list[Any]:
            [answer] = self._noisy([numbers], SystemBits())
            return answer

        return draw

    def _draw(self, by_group: Sequence[Sequence[Sequence[int]]], bits: Bits) -> list[Any]:
        """Return the noisy numbers by group; without groups those of all."""
        answers = self._noisy(by_group, bits)
        return answers if self.unit_query.records.by is not None else answers[0]

    def _noisy(self, by_group: Sequence[Sequence[Sequence[int]]], bits: Bits) -> list[list[int]]:
        """Return the noisy numbers of groups, one list after the other."""
        answers: list[list[int]] = [[] for _ in by_group]
        for i, noise in enumerate(self.noises):
            lists = [group[i] for group in by_group]
            noisy = iter(noise.draw([n for one in lists for n in one], bits))
            for answer, one in zip(answers, lists, strict=True):
                answer += [next(noisy) for _ in one]
        return answers
