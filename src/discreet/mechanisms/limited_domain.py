"""Limited domain: the most common of keys without a public list, or no key (Durfee and Rogers 2019)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..base.numbers import count
from ..errors import InvalidArgument
from ..privacy.guarantees import ApproxRange
from ..privacy.rho import range_rho
from ..privacy.sensitivity import Neighbors, Sensitivity
from ..sampling.bits import Bits
from ..sampling.categorical import PreparedWeights, Sums, cumulate
from ..sampling.enclosures import (
    WEIGHT_ERROR,
    NaturalRate,
    ball,
    error_of_sums,
    fast_weights,
    has_fast_pass,
    overflowing,
    precision,
)
from ..sampling.vectors import Vector, integers
from .contract import Calibrated, PrivacyParameter, epsilon_of, need_parameter

MOST_DOMAIN_ROWS = 10**6
"""A domain of more rows is rejected: every round goes through all of them."""

_NOTHING_BITS = 128


@dataclass(frozen=True, slots=True)
class LimitedDomain:
    """Answer up to k times, without replacement, one of the most common keys, or no key, which ends the answer.

    Key i of the first `rows` has the weight exp(eta * count[i]), nothing exp(eta * (tau + s + T)), where tau is the
    count of the next key, s the spread, and exp(eta * T) = m (1 - delta) / delta for m = min(keys of a unit, rows).
    Where there are fewer keys, dummies of count 0, which nobody has, fill the rows: they answer nothing.

    Args:
        k: the most answers.
        rows: how many of the most common keys may be answered; public.
        delta: δ of all answers together.
        most_keys: the most keys to which one record adds. None for any number.

    Guarantee: `ApproxRange` of k rounds: (epsilon, delta)-DP, δ once for all rounds.

    Side channels: two words and a pass over `rows` numbers a round, which depends on the answer. More are read, and
    balls used, with probability below 2**-20 a round.

    Source: Durfee and Rogers, NeurIPS 2019, https://arxiv.org/abs/1905.04273. Proof:
    docs/reference/mechanisms/top_k.md#limited_domain.
    """

    k: int
    rows: int
    delta: Fraction
    most_keys: int | None = None
    name: ClassVar[str] = "limited_domain"
    takes_runs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InvalidArgument: if one of them cannot be accepted.
        """
        count(self.rows, "rows", most=MOST_DOMAIN_ROWS)
        count(self.k, "k", most=self.rows)
        if self.most_keys is not None:
            count(self.most_keys, "most_keys")
        if not 0 < self.delta < 1:
            raise InvalidArgument(
                "delta must be above 0 and below 1: without it a key that one record holds is never answered"
            )

    @property
    def parameters(self) -> Mapping[str, object]:
        """The numbers."""
        keys = {} if self.most_keys is None else {"most_keys": self.most_keys}
        return {"k": self.k, "rows": self.rows, "delta": self.delta, **keys}

    @property
    def odds(self) -> Fraction:
        """exp(eta * T) = m (1 - delta) / delta."""
        leaving = self.rows if self.most_keys is None else min(self.most_keys, self.rows)
        return leaving * (1 - self.delta) / self.delta

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """Return the spread that a scale divides: that of one round, for all of them."""
        return self.k * sensitivity.spread

    def calibrate(self, sensitivity: Sensitivity, parameter: PrivacyParameter | None) -> Calibrated:
        """Return the mechanism at the largest eta that keeps the wanted guarantee.

        Args:
            sensitivity: of counts to which a record adds one: see `key_sensitivity`.
            parameter: of all rounds together.
        """
        amount, spread = need_parameter(parameter), sensitivity.spread
        is_share = amount.kind != "scale"
        each = amount._replace(value=amount.value / self.k) if is_share else amount
        epsilon = epsilon_of(each, spread, range_rho)
        rate = NaturalRate(epsilon / spread)
        # Coq: LimitedDomain.limited_domain_private, LimitedDomain.limited_domain_replace_one
        guarantee = ApproxRange(epsilon, Fraction(self.k), self.delta, sensitivity.neighbors)

        def law(counts: Sequence[int]) -> DomainRounds:
            return DomainRounds(counts, self, rate, int(spread))

        return Calibrated(guarantee, law, list_length=self.k)  # type: ignore[arg-type]


def key_sensitivity(neighbors: Neighbors) -> Sensitivity:
    """Return the sensitivity of counts of keys, to every one of which a record may add one."""
    if neighbors == "replace_one":
        return Sensitivity(Fraction(2), neighbors, Fraction(1))
    return Sensitivity(Fraction(1), neighbors, Fraction(1), monotonic=True)


class DomainRounds:
    """The distribution of the places of the answers among the most common keys: up to k, until no key comes."""

    __slots__ = ("_first", "_keys", "_rounds")

    def __init__(
        self, counts: Sequence[int], domain: LimitedDomain, rate: NaturalRate, spread: int
    ) -> None:
        """Put the slots together; no bit is read before `draw`.

        Args:
            counts: those of the most common keys, falling, and of the next one, if there are so many.
            domain: the public numbers.
            rate: counts are multiplied by it.
            spread: how much higher than tau + T nothing is: the spread of the counts.
        """
        rows, falling = domain.rows, [int(number) for number in counts]
        next_count = falling[rows] if len(falling) > rows else 0
        # *Dummies* in top_k.md#limited_domain: keys of count 0, which answer nothing, up to the number of rows.
        keys = integers(falling[:rows] + [0] * (rows - len(falling)))
        nothing = Nothing(next_count + spread, domain.odds)
        self._keys, self._rounds = min(len(falling), rows), domain.k
        self._first = _Slots(Vector(keys, integral=True), nothing, rate, np.arange(rows + 1))

    def draw(self, bits: Bits) -> list[int]:
        """Return the places of the answers in their order."""
        slots, answers = self._first, list[int]()
        for _ in range(self._rounds):
            slot = PreparedWeights(slots).draw(bits)
            if not slots.places[slot] < self._keys:
                break
            answers.append(int(slots.places[slot]))
            slots = slots.without(slot)
        return answers

    def draws(self, size: int, bits: Bits) -> list[list[int]]:
        """Return `size` independent lists."""
        return [self.draw(bits) for _ in range(size)]

    def probability(self, answers: Sequence[int]) -> arb:
        """Return a ball around the probability of a list: of k places, or fewer and then no key."""
        slots, chance = self._first, arb(1)
        for place in answers:
            slot = slots.places.tolist().index(place)
            chance *= PreparedWeights(slots).probabilities()[slot]
            slots = slots.without(slot)
        if len(answers) < self._rounds:
            chances = zip(slots.places, PreparedWeights(slots).probabilities(), strict=True)
            chance *= sum((one for place, one in chances if not place < self._keys), arb(0))
        return chance


@dataclass(frozen=True, slots=True)
class Nothing:
    """The last slot, of weight odds * exp(eta * score).

    Attributes:
        score: a count.
        odds: a public weight.
    """

    score: int
    odds: Fraction


class _Slots:
    """The weights of the keys that are left in a round, and of no key, all relative to the best key.

    Attributes:
        places: the places of the keys, and one beyond all of them for nothing.
    """

    __slots__ = ("_counts", "_nothing", "_rate", "places")

    def __init__(
        self, counts: Vector, nothing: Nothing, rate: NaturalRate, places: NDArray[np.intp]
    ) -> None:
        self._counts, self._nothing, self._rate = counts, nothing, rate
        self.places = places

    def without(self, slot: int) -> "_Slots":
        """Return the slots without one of the keys."""
        counts: Any = np.delete(self._counts.values, slot)
        rest = Vector(counts, integral=True)
        return _Slots(rest, self._nothing, self._rate, np.delete(self.places, slot))

    def sums(self) -> Sums | None:
        """Return their cumulated sums in doubles."""
        with precision(_NOTHING_BITS):
            nothing = float(self._weight_of_nothing().mid())
        if not has_fast_pass(self._rate) or not math.isfinite(nothing):
            return None
        with overflowing():
            weights = fast_weights(self._counts.gaps(self._counts.best()), self._rate)
        ends, chain = cumulate(np.append(weights, nothing))
        # The best key weighs 1, so the error of what was cut is within that of the bound.
        return Sums(ends, error_of_sums(WEIGHT_ERROR, chain, len(ends)))

    def balls(self) -> Iterator[arb]:
        """Yield balls around the weights."""
        best = self._counts.best()
        for i in range(len(self._counts)):
            yield self._rate.decay(self._counts.exact_gap(i, best))
        yield self._weight_of_nothing()

    def _weight_of_nothing(self) -> arb:
        behind = Fraction(int(self._counts.best()) - self._nothing.score)
        return ball(self._nothing.odds) * self._rate.decay(behind)
