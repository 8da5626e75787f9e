"""The most common values of a column without public candidates: `candidates="private"` of `mode` and `top_k`."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any

from flint import arb

from ...base.doors import spelling
from ...base.numbers import count
from ...errors import InvalidArgument
from ...mechanisms.accuracy import ErrorBound
from ...mechanisms.contract import Calibrated, PrivacyParameter, calibrate, need_parameter
from ...mechanisms.key_shares import MOST_KEYS
from ...mechanisms.limited_domain import (
    MOST_DOMAIN_ROWS,
    DomainRounds,
    LimitedDomain,
    key_sensitivity,
)
from ...mechanisms.private_keys import PrivateKeys
from ...privacy.calibration import read_share
from ...privacy.contract import Guarantee
from ...privacy.sensitivity import Neighbors, Unit, read_neighbors, read_unit
from ...sampling.bits import SystemBits
from ...selection.answers import Answer, ListedAnswers
from ...selection.any_column import AnyColumn
from ...selection.bins import read_columns
from ...selection.question import Order, Query
from ...selection.question_sentences import Facts
from ...selection.released_values import ReleasedValue
from ...selection.releases import Release
from ...selection.terms import DEFAULTS, PersonTerms, check_names, read_payment
from ..engines.key_counts import FirstKeys, TableOfKeys
from ..engines.records import PRIVATE_GROUPS
from ..values.key_values import KeyValue, key_order
from .keys import CountedKeys, KeyAnswer, KeyLists, error_of_keys, of_largest, read_key_table
from .units import parameter_of

_ROWS_OF_AN_ANSWER, _FEW_ROWS_OF_AN_ANSWER = 1000, 10
"""Rows of a limited domain, for each answer: where a unit has few keys, and where it may have any number."""

_ANY_NUMBER = 10**9
"""More keys than a unit can have."""

_LISTED = ("gap", "method", "unsafe_candidates_from_data")
"""Arguments of verbs that are for listed candidates."""

_UNUSED = ("by", "groups", "mechanism", "max_groups", *_LISTED)

_TERMS = PersonTerms.__annotations__


@dataclass(frozen=True, slots=True)
class ByKeys:
    """The values of the largest released counts, among private keys with their counts.

    Attributes:
        keys: the mechanism.
        k: the most values.
    """

    keys: PrivateKeys
    k: int

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.keys.name

    @property
    def facts(self) -> Facts:
        """How values are drawn: a record adds to no more of them than are asked for."""
        return {"way": "private keys"}

    @property
    def worst_error(self) -> ErrorBound:
        """The count from which on a value is answered with one half or more, if it is one of the largest."""
        return error_of_keys(self.keys)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of all keys with their counts, of which the largest are a function."""
        return self.keys.guarantee

    @property
    def parameters(self) -> Mapping[str, object]:
        """The public parameters."""
        return {"keys": self.keys.parameters, "k": self.k}

    def prepare(self, table: TableOfKeys) -> Callable[[], list[list[Any]]]:
        """Count the keys, and return the function that draws them, and fetches those of the largest counts."""
        classes = table.open().classes(self.keys.sure)

        def draw() -> list[list[Any]]:
            law = self.keys.law(classes.sizes, with_counts=True)
            keys, counts = self._ranked(classes.fetch(law.draw(SystemBits()), self.k))
            return [[ReleasedValue.of(key) for key in keys], [*counts]]

        return draw

    def lists(self, table: TableOfKeys) -> KeyLists:
        """Count the keys, and return all answers, for study. Private."""
        classes = table.open().classes(self.keys.sure)
        return KeyLists(
            self.keys, classes, True, lambda pairs: self._ranked(of_largest(self.k, pairs))
        )

    def _ranked(self, pairs: CountedKeys) -> tuple[Sequence[KeyValue], Sequence[int]]:
        """Return keys and their released counts, the largest first; of equal ones the first in order."""
        in_order = sorted(pairs, key=lambda pair: (-pair[1], key_order(pair[0])))
        return [key for key, _ in in_order], [number for _, number in in_order]


@dataclass(frozen=True, slots=True, repr=False)
class DomainLists(ListedAnswers):
    """The answers of limited domain: lists of the most common keys. Private.

    Attributes:
        first: the most common keys.
        rows: how many of them may be answered.
        most: the most answers.
        law: the distribution of their places.
    """

    first: FirstKeys
    rows: int
    most: int
    law: DomainRounds

    def _number(self, most: int) -> int:
        """Return how many lists there are."""
        keys = self._keys
        return sum(math.perm(keys, length) for length in range(min(self.most, keys) + 1))

    @property
    def _keys(self) -> int:
        return min(len(self.first.counts), self.rows)

    def _chances(self) -> dict[KeyAnswer, arb]:
        names = [ReleasedValue.of(key) for key in self.first.fetch(range(self._keys))]
        return {
            (tuple(names[place] for place in places), ()): self.law.probability(places)
            for places in self._places()
        }

    def _places(self) -> Iterator[tuple[int, ...]]:
        for length in range(min(self.most, self._keys) + 1):
            yield from permutations(range(self._keys), length)


@dataclass(frozen=True, slots=True)
class ByDomain:
    """Values drawn one after another from the most common ones, or none.

    Attributes:
        domain: the mechanism.
        neighbors: the neighbouring relation.
        parameter: the privacy parameter of the whole answer.
    """

    domain: LimitedDomain
    neighbors: Neighbors
    parameter: PrivacyParameter

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.domain.name

    @property
    def facts(self) -> Facts:
        """How values are drawn: a record may add to more of them than are asked for, or there is no epsilon."""
        kind = "" if self.parameter.kind == "epsilon" else f" for {self.parameter.kind}"
        return {"way": f"limited domain{kind}", "first": self.domain.rows}

    @property
    def worst_error(self) -> None:
        """None: of limited domain none is known."""
        return

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of all rounds."""
        return self._calibrated.guarantee

    @property
    def parameters(self) -> Mapping[str, object]:
        """The public parameters."""
        return {**self.domain.parameters, "privacy_parameter": self.parameter._asdict()}

    def prepare(self, table: TableOfKeys) -> Callable[[], list[list[Any]]]:
        """Count the most common keys, and return the function that draws ranks, and fetches their keys."""
        first, law = self._first(table)

        def draw() -> list[list[Any]]:
            ranks = law.draw(SystemBits())
            return [[ReleasedValue.of(key) for key in first.fetch(ranks)], []]

        return draw

    def lists(self, table: TableOfKeys) -> DomainLists:
        """Count the most common keys, and return all answers, for study. Private."""
        first, law = self._first(table)
        return DomainLists(first, self.domain.rows, self.domain.k, law)

    def _first(self, table: TableOfKeys) -> tuple[FirstKeys, DomainRounds]:
        """Count the most common keys, and return them with the distribution of their ranks. Private."""
        first = table.open().first(self.domain.rows + 1)
        law: Any = self._calibrated.law(first.counts.tolist())
        return first, law

    @property
    def _calibrated(self) -> Calibrated:
        return calibrate(self.domain, key_sensitivity(self.neighbors), self.parameter)


ValuesMechanism = ByKeys | ByDomain
"""How the most common values are released."""


def release_private_values(
    query: Query,
    table: tuple[object, AnyColumn],
    k: int,
    max_candidates: object,
    terms: Mapping[str, Any],
) -> Release:
    """Release up to k of the most common values: a list for "top_k", one of them or None for "mode".

    Args:
        query: the query in words.
        table: the data, and the column or None.
        k: the most values.
        max_candidates: the most values for which a privacy unit counts, or None.
        terms: the other arguments of the verb: its shared terms, and those that are for listed candidates alone.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
    """
    _refuse_unused(terms)
    keys, most_keys = _read_table(*table, max_candidates, terms)
    neighbors = read_neighbors(terms.get("neighbors", "add_remove"))
    parameter, delta = need_parameter(parameter_of(terms)), _read_delta(terms.get("delta"))
    mechanism = choose_mechanism(parameter, delta, k, most_keys, neighbors)
    account, request = read_payment(terms)  # type: ignore[arg-type]
    order = Order(
        _say(query, keys, most_keys, mechanism),
        mechanism.guarantee,
        mechanism.name,
        lambda: {"neighbors": neighbors, "parameters": mechanism.parameters},
        account,
        request,
        unit=keys.unit,
        worst_error=lambda: mechanism.worst_error,
        lists=partial(mechanism.lists, keys),
    )
    name = name_one if query.verb == "mode" else name_list
    return order.deliver(partial(mechanism.prepare, keys), name)


def _read_table(
    data: object, column: AnyColumn, max_candidates: object, terms: Mapping[str, Any]
) -> tuple[TableOfKeys, int | None]:
    """Return the table, not opened, and the most keys to which a record adds; None for any number."""
    unit = read_unit(terms.get("privacy_unit"))
    most_keys = _read_most_keys(unit, max_candidates)
    bound = _ANY_NUMBER if most_keys is None else most_keys
    return read_key_table(data, read_columns(column), (unit, bound), terms), most_keys


def choose_mechanism(
    parameter: PrivacyParameter,
    delta: Fraction,
    k: int,
    most_keys: int | None,
    neighbors: Neighbors,
) -> ValuesMechanism:
    """Return private keys with their counts where a record adds to at most k of them, else limited domain.

    *When it is taken* in top_k.md: the former costs as much as most_keys rounds and gives everything, the
    latter k rounds. Private keys need an epsilon.
    """
    if most_keys is not None and most_keys <= k and parameter.kind == "epsilon":
        keys = PrivateKeys(parameter.value, delta, most_keys, neighbors, shows_counts=True)
        keys.compute_tables()
        return ByKeys(keys, k)
    few = most_keys is not None and most_keys <= _FEW_ROWS_OF_AN_ANSWER * k
    rows = k * (_ROWS_OF_AN_ANSWER if few else _FEW_ROWS_OF_AN_ANSWER)
    domain = LimitedDomain(
        count(k, "k", most=MOST_DOMAIN_ROWS), min(rows, MOST_DOMAIN_ROWS), delta, most_keys
    )
    way = ByDomain(domain, neighbors, parameter)
    if way.guarantee.neighbors != neighbors:  # calibrated now, before anything private
        raise ArithmeticError("limited domain is calibrated for another relation")
    return way


def name_list(parts: Sequence[Sequence[Any]]) -> Answer:
    """Return a list of values, with their counts if there are any."""
    values, counts = parts
    return Answer([one.value for one in values], list(counts) or None)


def name_one(parts: Sequence[Sequence[Any]]) -> Answer:
    """Return the value, with its count if there is one; None where no value was drawn."""
    values, counts = parts
    return Answer(values[0].value if values else None, counts[0] if counts else None)


def _say(
    query: Query, table: TableOfKeys, most_keys: int | None, mechanism: ValuesMechanism
) -> Query:
    """Return the query with its privacy unit, and with the mechanism that was chosen."""
    unit, where = table.unit, table.where
    facts = {
        **mechanism.facts, "most_keys": most_keys, "where": None if where is None else str(where)
    }  # fmt: skip
    condition = {} if where is None else {"where": where.description}
    asked = query.about(facts, candidates=PRIVATE_GROUPS, most_keys=most_keys, **condition)
    return asked.per(unit)


def _read_most_keys(unit: Unit | None, max_candidates: object) -> int | None:
    """Return the most keys to which a record adds; None for any number.

    Raises:
        InvalidArgument: if it is bounded where a row is a record, which holds one value.
    """
    if unit is None:
        if max_candidates is not None:
            raise InvalidArgument(
                "max_candidates bounds for how many values one user counts: name the column of users as "
                "privacy_unit"
            )
        return 1
    return (
        None if max_candidates is None else count(max_candidates, "max_candidates", most=MOST_KEYS)
    )


def _read_delta(delta: object) -> Fraction:
    if delta is None:
        raise InvalidArgument(
            f"{spelling(candidates='private')} needs delta, a probability far below one over the "
            f"number of records, such as {spelling(delta='1e-8')}: a value that one record alone "
            "has is answered with at most that"
        )
    return read_share(delta)


def _refuse_unused(terms: Mapping[str, Any]) -> None:
    """Raise for terms of candidates that are listed."""
    for name in _UNUSED:
        default = DEFAULTS.get(name, False)
        if terms.get(name) is not None and terms[name] != default:
            raise InvalidArgument(
                f"{name} is not for {spelling(candidates='private')}: leave it out"
            )
    check_names({name: term for name, term in terms.items() if name not in _LISTED}, _TERMS)
