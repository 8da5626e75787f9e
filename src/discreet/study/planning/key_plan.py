"""plan_keys: with which probability a key is answered, by its count, before anything is paid or read."""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN
from fractions import Fraction
from typing import TYPE_CHECKING

from ...base.error_boundary import error_boundaries, error_boundary
from ...base.messages import gettext, translate
from ...base.numbers import Number, count, decimal, flag, without_exponent
from ...base.text_tables import TextTable
from ...mechanisms.contract import need_parameter, read_parameter
from ...mechanisms.key_shares import MOST_KEYS
from ...mechanisms.private_keys import PrivateKeys
from ...privacy.guarantees import Guarantee
from ...privacy.sensitivity import Neighbors, read_neighbors
from ...sampling.enclosures import precision
from ...tables.verbs.keys import error_of_keys, read_limits
from .. import plots
from .enclosure import Enclosure

if TYPE_CHECKING:
    from ..plots.figure import Figure

_SHOWN = tuple(map(Fraction, ("1/1000", "1/100", "1/10", "1/2", "9/10", "99/100", "999/1000")))
"""Probabilities of which the least counts are shown."""

_DIGITS, _BITS = 3, 256

_MOST_POINTS = 400


@error_boundaries
@dataclass(frozen=True, slots=True, repr=False)
class KeyPlan:
    """The probability with which a key is answered, by its count: of public numbers alone. No data were read.

    `print` it for a table. Notebooks also show it as a table.

    Attributes:
        guarantee: the guarantee of all keys together, with or without their counts.
        even: the least count of a key that is answered with one half or more, if its records have `max_groups`
            keys or more.
        least_even: the same if its records have that key alone, which is less where there are weights.
        sure: the least count of a key that is always answered, or but for a probability below 2⁻⁶⁴.
        rule: "optimal" for the largest probability of each key, "gaussian" for noise and a threshold, or
            "weights" for the same where a record adds the more to its keys, the fewer they are.
    """

    guarantee: Guarantee
    even: int
    least_even: int
    sure: int
    rule: str
    _mechanism: PrivateKeys

    def probability(self, records: int, *, keys: int | None = None) -> Enclosure:
        """Return the probability that a key of so many records is answered, as a certified interval.

        Args:
            records: how many records have the key. A key of none is never answered.
            keys: how many keys these records have: `max_groups` or more by default. Other numbers change the
                probability where the rule is "weights".
        """
        mechanism, number = self._mechanism, count(records, "records", least=0)
        number_of_keys = mechanism.keys if keys is None else count(keys, "keys")
        with precision(_BITS):
            return Enclosure.of(
                mechanism.chance(number * mechanism.weight_of(number_of_keys)), 0, 1
            )

    @property
    def sentence(self) -> str:
        """Why a key may be missing, in words."""
        return error_of_keys(self._mechanism).in_words()

    def as_dict(self) -> dict[str, object]:
        """Return the guarantee, the counts and the probabilities of the table in plain values, ready for JSON."""
        return {
            "guarantee": self.guarantee.as_dict(), "rule": self.rule,
            "one_half_from": self.even, "one_half_from_with_one_key": self.least_even,
            "always_from": self.sure,
            "probabilities": {str(records): chance.as_dict() for records, chance in self._rows()},
        }  # fmt: skip

    def table(self) -> TextTable:
        """Return the counts at which the probability passes simple fractions, with their probabilities."""
        records = gettext("records of {keys} keys each", keys=self._mechanism.keys)
        head = (
            records if self.rule == "weights" else gettext("records"),
            gettext("answered with probability"),
        )
        rows = [(f"{records:,}", _spell(chance)) for records, chance in self._rows()]
        caption = f"{self.guarantee}: {translate(self.sentence)}"
        return TextTable(head, tuple(rows), caption)

    def plot(self) -> "Figure":
        """Return a picture of the probabilities by count as a matplotlib figure, which may be published."""
        step = max(1, self.sure // _MOST_POINTS)
        records = [*range(1, self.sure, step), self.sure]
        chances = [float(self.probability(number)) for number in records]
        name = translate(str(self.guarantee))
        x, y = gettext("records of a key"), gettext("probability that it is answered")
        return plots.lines({name: (list(map(float, records)), chances)}, x=x, y=y, at=self.even)

    def _rows(self) -> list[tuple[int, Enclosure]]:
        """Return some counts with their probabilities."""
        first = self._mechanism.minimum_count
        counts = {first, *(self._least(chance) for chance in _SHOWN)}
        if self.rule == "optimal":
            counts.add(self.sure)
        return [(records, self.probability(records)) for records in sorted(counts)]

    def _least(self, chance: Fraction) -> int:
        """Return the least count with at least that probability."""
        low, high = self._mechanism.minimum_count - 1, self.sure
        while high - low > 1:
            middle = (low + high) // 2
            if self.probability(middle).lower >= chance:
                high = middle
            else:
                low = middle
        return high

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table().html()


def _spell(chance: Enclosure) -> str:
    """Return a probability in a few digits; below 1 it is not written as 1."""
    near = Fraction(decimal(chance.lower, _DIGITS, ROUND_HALF_EVEN))
    rounding = ROUND_FLOOR if near == 1 and chance.lower < 1 else ROUND_HALF_EVEN
    return without_exponent(decimal(chance.lower, _DIGITS, rounding))


@error_boundary
def plan_keys(  # noqa: PLR0913  # the public numbers, each by its name
    epsilon: Number,
    delta: Number,
    *,
    max_groups: int = 1,
    minimum_count: int = 1,
    neighbors: Neighbors = "add_remove",
    with_counts: bool = False,
) -> KeyPlan:
    """Return the probability that `keys`, or `counts` with a delta, releases a key, by its count.

    It needs no data, and nothing is charged.

    Args:
        epsilon: the privacy parameter ε of all keys together, a positive number without a unit. It does not include
            the part for `other`.
        delta: the parameter δ, a probability above 0 and below 1.
        max_groups: the most keys for which one privacy unit counts.
        minimum_count: the least count of a key that may be released.
        neighbors: the neighbouring relation, "add_remove" (the default) or "replace_one".
        with_counts: whether counts are released as by `counts`. Then their noise also decides between the rules.

    Raises:
        InvalidArgument: if an argument is invalid, or epsilon is so small that more than 131,072 counts
            would have their own probability.
    """
    limits = read_limits(delta, minimum_count)
    parameter = need_parameter(read_parameter(epsilon, None, None))
    mechanism = PrivateKeys(
        parameter.value,
        limits.delta,
        count(max_groups, "max_groups", most=MOST_KEYS),
        read_neighbors(neighbors),
        limits.minimum_count,
        shows_counts=flag(with_counts, "with_counts"),
    )
    sure = -(-mechanism.sure // mechanism.weight_of(mechanism.keys))
    return KeyPlan(
        mechanism.guarantee, mechanism.even, mechanism.least_even, sure, mechanism.rule, mechanism
    )
