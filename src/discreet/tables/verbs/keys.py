"""keys: the values of a column without a public list, without or with their counts."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, Unpack

import numpy as np
from flint import arb

from ...base.arguments import refuse_one_shot
from ...base.numbers import Number, count, exact
from ...errors import InvalidArgument, InvalidNumber, preview
from ...mechanisms.accuracy import RECORDS_OF_KEY, ErrorBound
from ...mechanisms.contract import PrivacyParameter, need_parameter, read_parameter
from ...mechanisms.key_shares import MOST_KEYS
from ...mechanisms.noisy_counts import calibrate_counts
from ...mechanisms.private_keys import DrawnKeys, PrivateKeys
from ...privacy.composition import with_parts
from ...privacy.guarantees import ApproxDP, Guarantee, PureDP
from ...privacy.sensitivity import Unit, read_neighbors, read_unit
from ...sampling.bits import Bits, SystemBits
from ...sampling.key_probabilities import LONGEST_TABLE
from ...sampling.vectors import Vector, integers
from ...selection.answers import Answer, ListedAnswers
from ...selection.any_column import AnyColumn
from ...selection.bins import column_facts, plain_column, read_columns
from ...selection.payment import Account
from ...selection.question import Order, Query
from ...selection.released_values import ReleasedValue
from ...selection.releases import Release
from ...selection.terms import KeyTerms, check_names, read_payment
from ..conditions.condition_readers import read_condition
from ..engines.key_counts import KeyClasses, KeyCounts, TableOfKeys
from ..values.key_values import KeyValue
from .data_terms import takes_data_terms

MOST_RELEASED = 1_000
"""The most keys that are released, unless another number is given."""

_MOST_ASKED = 1_000_000

_LEAST_DELTA = Fraction(1, 10**100)

_HALF = Fraction(1, 2)


@takes_data_terms
def keys(  # noqa: PLR0913  # the limits of the answer, each by its name
    data: object,
    column: AnyColumn = None,
    *,
    delta: Number,
    minimum_count: int = 1,
    most: int = MOST_RELEASED,
    other: Number | None = None,
    **terms: Unpack[KeyTerms],
) -> Release:
    """Release the values that a column holds, those of enough records, without a public list of them.

    Values of one or a few records are left out with high probability, because they could reveal a person. At ε = 1
    and δ = 10⁻⁶, a key with fewer than 14 records is released with a probability below one half, and a key with 28
    or more always. `discreet.plan_keys` shows these probabilities for any ε and δ, from public numbers alone. If a
    record has one key, they are the largest that differential privacy allows. If it has several, public numbers
    decide between this rule for every key and Gaussian noise with a threshold, which shows more from three keys on.
    Then the fewer keys a record has, the more it adds to them. See
    docs/reference/mechanisms/private_keys.md#weighted_keys.

    One row is one record. With `privacy_unit`, all rows of a unit are one record, which counts once for each of its
    keys, up to `max_groups` of them. A key is a text, an integer, a decimal, a boolean, a date, a time or a UUID.
    Null is left out unless you give `WithMissing(column)`. Texts of more than 256 bytes are left out. Columns of
    floats are rejected, so cast them.

    Args:
        data: a table, a path or several, a folder, or `discreet.scan_query(...)`, as for `mode`. You can also pass
            values in a list or a series, without `column`.
        column: the name of the column, or a list of several columns or `Bins`, which has tuples as its keys.
            Without it, the data are the values themselves.
        delta: the parameter δ, a probability above 0 and below 1. To be meaningful, it must be far below one over
            the number of records, such as "1e-8". It is the probability that a key of a single record is released.
        minimum_count: the least count of a key, 1 by default. A key with fewer records is never released.
        most: the most keys in the answer, 1,000 by default. If more are drawn, the answer has the first ones in
            order.
        other: the part of epsilon, between 0 and 1 such as "1/10", that is spent on the noisy number of records
            outside these keys, which is then in `release.other`. By default there is no such number.
        **terms: the shared arguments, described in `KeyTerms`.

    Returns:
        The keys in a sorted list. Text is sorted by its code points.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the file or the column is missing or cannot be read, or if its type cannot have keys.

    Side channels: the time to count, to draw, and to fetch the drawn keys. See
    docs/reference/mechanisms/private_keys.md.
    """
    limits = read_limits(delta, minimum_count, most, other)
    return release_keys("keys", data, column, limits, terms)


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """The arguments that verbs of private keys share, beside their terms.

    Attributes:
        delta: of all keys together.
        minimum_count: the least count of a key.
        most: the most keys that are released.
        other: the part of epsilon for the number of records outside the keys; None for no such number.
    """

    delta: Fraction
    minimum_count: int
    most: int
    other: Fraction | None


def read_limits(
    delta: object,
    minimum_count: object = 1,
    most: object = MOST_RELEASED,
    other: object = None,
) -> KeyLimits:
    """Return the arguments, read.

    Raises:
        InvalidArgument: if one cannot be accepted.
    """
    share = exact(delta, "delta")
    if not _LEAST_DELTA <= share < 1:
        raise InvalidNumber(
            "delta must be a probability above 0 and below 1 (at least 1e-100), got "
            f"{preview(delta)}"
        )
    part = None if other is None else exact(other, "other")
    if part is not None and not 0 < part < 1:
        raise InvalidNumber(
            "other must be the part of epsilon for the number of records outside the keys, "
            f'between 0 and 1, such as "1/10", got {preview(other)}'
        )
    least = count(minimum_count, "minimum_count", most=LONGEST_TABLE)
    return KeyLimits(share, least, count(most, "most", most=_MOST_ASKED), part)


def release_keys(
    verb: str, rows: object, column: AnyColumn, limits: KeyLimits, terms: Mapping[str, Any]
) -> Release:
    """Release the keys of a column, with their counts for the verb "counts"."""
    check_key_terms(terms)
    keeps_pairs = limits.other is not None
    table = read_key_table(
        rows, read_columns(column), read_key_unit(terms), terms, keeps_pairs=keeps_pairs
    )
    parameter = need_parameter(read_parameter(terms.get("epsilon"), None, None))
    neighbors = read_neighbors(terms.get("neighbors", "add_remove"))
    account, request = read_payment(terms)  # type: ignore[arg-type]
    part = Fraction(0) if limits.other is None else limits.other
    mechanism = PrivateKeys(
        parameter.value * (1 - part),
        limits.delta,
        table.most_keys,
        neighbors,
        limits.minimum_count,
        shows_counts=verb == "counts",
    )
    mechanism.compute_tables()
    question = KeyQuestion(table, mechanism, limits, parameter.value, verb == "counts")
    return question.release(verb, account, request)


def check_key_terms(terms: Mapping[str, Any]) -> None:
    """Raise for terms that other verbs have.

    Raises:
        InvalidArgument: for those that there are for counts of candidates.
        TypeError: for all others.
    """
    for name in ("rho", "scale", "by", "groups"):
        if terms.get(name) is not None:
            raise InvalidArgument(
                f"{name} is not for unlisted keys: they take epsilon and delta, and are one group"
            )
    names = [name for name in terms if terms[name] is not None or name in KeyTerms.__annotations__]
    check_names(dict.fromkeys(names), KeyTerms.__annotations__)


def read_key_unit(terms: Mapping[str, Any]) -> tuple[Unit | None, int]:
    """Return the privacy unit, and the most keys in which one counts."""
    unit = read_unit(terms.get("privacy_unit"))
    most_keys = count(terms.get("max_groups", 1), "max_groups", most=MOST_KEYS)
    if unit is None and most_keys > 1:
        raise InvalidArgument(
            "max_groups bounds in how many keys one user counts: name the column of users as privacy_unit"
        )
    return unit, most_keys


def read_key_table(
    rows: object,
    column: AnyColumn,
    of_unit: tuple[Unit | None, int],
    terms: Mapping[str, Any],
    *,
    keeps_pairs: bool = False,
) -> TableOfKeys:
    """Return the table of keys that a question is about, not opened.

    Args:
        rows: the data.
        column: the column, or None.
        of_unit: the privacy unit, and the most keys in which one counts.
        terms: the terms, of which the condition is read.
        keeps_pairs: whether units with other keys will be counted too.

    Raises:
        InvalidArgument: if the data can be read once only, or there is a unit or a condition and no table.
    """
    refuse_one_shot(rows, "the data")
    (unit, most_keys), where = of_unit, read_condition(terms.get("where"))
    if column is None and (unit, where) != (None, None):
        raise InvalidArgument("privacy units and where need a table: name its column")
    return TableOfKeys(rows, column, unit, most_keys, keeps_pairs=keeps_pairs, where=where)


def error_of_keys(mechanism: PrivateKeys) -> ErrorBound:
    """Return below which count a key is answered with less than one half for certain, which is said before paying.

    More records may be needed: if they have many keys, their weights are small, and `most` may cut a key.
    """
    return ErrorBound(Fraction(mechanism.least_even), _HALF, RECORDS_OF_KEY)


_MOST_TOGETHER = 1_000
"""The most answers that are worked out, where there is no end to released counts."""

CountedKeys = list[tuple[KeyValue, int]]
"""Keys with their counts, sorted by key."""

KeyAnswer = tuple[tuple[Any, ...], ...]
"""A drawn answer in its parts: the keys, and what is released besides."""

Cut = Callable[[CountedKeys], Sequence[Sequence[Any]]]
"""Makes the parts of an answer, of which keys are the first, of keys that were drawn with their released counts."""


@dataclass(frozen=True, slots=True, repr=False)
class KeyQuestion:
    """A question about the keys of a table, with everything public settled.

    Attributes:
        table: the table, not opened.
        mechanism: the mechanism that releases keys.
        limits: the public limits of the answer.
        epsilon: of the whole answer.
        with_counts: whether the counts of keys are released too.
    """

    table: TableOfKeys
    mechanism: PrivateKeys
    limits: KeyLimits
    epsilon: Fraction
    with_counts: bool

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the keys, together with that of the number of records outside them."""
        keys, neighbors = self.mechanism, self.mechanism.neighbors
        if self.limits.other is None:
            return keys.guarantee
        outside = PureDP(self._outside_epsilon, neighbors)
        whole = ApproxDP(keys.epsilon + outside.epsilon, keys.delta, neighbors)
        return with_parts(whole, keys.guarantee, outside)

    @property
    def _outside_epsilon(self) -> Fraction:
        """The epsilon of the number of records outside the keys; 0 where it is not asked for."""
        return self.epsilon * (self.limits.other or 0)

    def release(self, verb: str, account: Account | None, request: str | None) -> Release:
        """Charge, draw, fetch the drawn keys, and name the answer."""
        order = Order(
            self._query(verb),
            self.guarantee,
            self.mechanism.name,
            lambda: {"neighbors": self.mechanism.neighbors},
            account,
            request,
            unit=self.table.unit,
            worst_error=lambda: error_of_keys(self.mechanism),
            lists=self._lists if self.limits.other is None else None,
        )
        return order.deliver(self.prepare, self.name)

    def _lists(self) -> "KeyLists":
        """Count the keys, and return all answers, for study. Private."""
        classes = self.table.open().classes(self.mechanism.sure, self.mechanism.weights)
        return KeyLists(self.mechanism, classes, self.with_counts, self._cut)

    def _cut(self, pairs: CountedKeys) -> tuple[Sequence[KeyValue], Sequence[int], Sequence[int]]:
        """Return the answer of keys that were drawn, in its parts."""
        pairs = of_largest(self.limits.most, pairs)
        numbers = [number for _, number in pairs] if self.with_counts else []
        return [key for key, _ in pairs], numbers, []

    def prepare(self) -> Callable[[], list[list[Any]]]:
        """Count the keys, and return the function that draws. Private."""
        counts = self.table.open()
        classes = counts.classes(self.mechanism.sure, self.mechanism.weights)
        return lambda: self.draw(counts, classes, SystemBits())

    def draw(self, counts: KeyCounts, classes: KeyClasses, bits: Bits) -> list[list[Any]]:
        """Return the keys, their released counts if there are any, and the noisy number outside."""
        law = self.mechanism.law(classes.sizes, with_counts=self.with_counts)
        pairs = classes.fetch(law.draw(bits), self.limits.most)
        keys = [ReleasedValue.of(key) for key, _ in pairs]
        numbers = [number for _, number in pairs] if self.with_counts else []
        return [keys, numbers, self._outside(counts, [key for key, _ in pairs], bits)]

    def name(self, indices: Sequence[Sequence[Any]]) -> Answer:
        """Return the answer for the drawn keys."""
        values, numbers, outside = indices
        keys = [one.value for one in values]
        value = dict(zip(keys, numbers, strict=True)) if self.with_counts else keys
        return Answer(value, other=outside[0] if outside else None)

    def _outside(self, counts: KeyCounts, keys: Sequence[KeyValue], bits: Bits) -> list[int]:
        """Return the number of records outside the keys with fresh noise, if it was asked for.

        Given the keys it moves by one at most, whether a record comes, goes or is replaced.
        """
        if self.limits.other is None:
            return []
        share = PrivacyParameter("epsilon", self._outside_epsilon)
        noise: Any = calibrate_counts(1, self.mechanism.neighbors, share)
        number = Vector(integers([counts.units_outside(keys)]), integral=True)
        noisy: list[int] = noise.law(number).draw(bits)
        return noisy

    def _query(self, verb: str) -> Query:
        """Return the question in words, and in public values."""
        unit, limits, mechanism = self.table.unit, self.limits, self.mechanism
        where = self.table.where
        facts = {
            **column_facts(self.table.column), "least": limits.minimum_count, "most": limits.most,
            "most_keys": mechanism.keys, "where": None if where is None else str(where),
        }  # fmt: skip
        arguments = {
            "column": plain_column(self.table.column), "epsilon": self.epsilon, "most": limits.most,
            "other": limits.other, "keys": mechanism.parameters,
            **({} if where is None else {"where": where.description}),
        }  # fmt: skip
        return Query(verb, facts, arguments).per(unit)


@dataclass(frozen=True, slots=True, repr=False)
class KeyLists(ListedAnswers):
    """The answers of private keys, each key decided by itself. Private.

    Attributes:
        mechanism: the mechanism.
        classes: the keys in classes of equal counts, as the mechanism tells them apart.
        with_counts: whether released counts decide and are in the answer.
        cut: makes the answer of the keys that were drawn, sorted by key.
    """

    mechanism: PrivateKeys
    classes: KeyClasses
    with_counts: bool
    cut: Cut

    @property
    def is_complete(self) -> bool:
        """Whether there is an end to released counts: with Gaussian noise there is none."""
        return not self.with_counts or self.mechanism.threshold is None

    def _number(self, most: int) -> int:
        """Return how many answers there are, but for hardly likely counts; of too many keys their number."""
        keys = sum(self.classes.sizes)
        return keys if keys > most else math.prod(map(len, self._outcomes()))

    def _chances(self) -> dict[KeyAnswer, arb]:
        together = defaultdict[KeyAnswer, arb](arb)
        for some in product(*self._outcomes()):
            pairs = [(one.key, one.number) for one in some if one.number is not None]
            values, *others = self.cut(pairs)
            answer = (tuple(map(ReleasedValue.of, values)), *map(tuple, others))
            together[answer] += math.prod((one.chance for one in some), start=arb(1))
        return together

    def _outcomes(self) -> list[list["_Outcome"]]:
        """Return the outcomes of all keys."""
        return [[*self._outcomes_of(key, count)] for key, count in self._keys()]

    def _outcomes_of(self, key: KeyValue, count: int) -> Iterator["_Outcome"]:
        """Yield the outcomes of a key of that count."""
        mechanism, law = self.mechanism, self.mechanism.probabilities
        chance = mechanism.chance(count, with_counts=self.with_counts)
        if chance != 1:
            yield _Outcome(key, None, 1 - chance)
        if count < mechanism.minimum_count:
            return
        if not self.with_counts:
            yield _Outcome(key, 0, chance)
            return
        first, last = law.lowest + 1, min(count - mechanism.minimum_count + 1, law.size)
        if not self.is_complete:  # those near the likeliest one
            last = min(last, law.likeliest_step + self._width // 2)
            first = max(first, last - self._width + 1)
        for step in range(first, last + 1):
            number = count + law.likeliest_step - step
            yield _Outcome(key, number, mechanism.chance_of(count, number))

    @property
    def _width(self) -> int:
        """The released counts that are worked out of a key, where there is no end to them."""
        keys = max(1, sum(self.classes.sizes))
        return max(1, math.floor(math.pow(_MOST_TOGETHER, 1 / keys)) - 1)

    def _keys(self) -> CountedKeys:
        """Return all keys with their counts."""
        sizes = self.classes.sizes
        classes = np.repeat(np.arange(1, len(sizes) + 1, dtype=np.int64), sizes)
        places = np.concatenate([np.arange(size, dtype=np.int64) for size in sizes])
        return self.classes.fetch(DrawnKeys(classes, places, np.zeros_like(places)))


class _Outcome(NamedTuple):
    """An outcome of a key: its released count, None where it is not released, and how probable that is."""

    key: KeyValue
    number: int | None
    chance: arb


def of_largest(most: int, pairs: CountedKeys) -> CountedKeys:
    """Return those of the largest released counts, at most so many, in their order; of equal ones the first."""
    places = sorted(range(len(pairs)), key=lambda place: (-pairs[place][1], place))[:most]
    return [pairs[place] for place in sorted(places)]
