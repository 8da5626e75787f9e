"""The probability with which a key is released, by its count: the optimal one, certified.

With x = e**epsilon, pi(0) = 0 and pi(n+1) = min(x pi(n) + delta, 1 - (1 - pi(n) - delta) / x, 1): no rule that is
(epsilon, delta)-DP releases a key of any count more often (Desfontaines, Voss, Gipson and Mandayam 2022). For
proofs, see docs/reference/mechanisms/private_keys.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import ClassVar, Protocol

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from ..errors import InvalidArgument
from .enclosures import ball, precision

LONGEST_TABLE = 2**17
"""The most counts that are told apart: a table with more probabilities is rejected."""

_RELATIVE = arb(2) ** -60
"""The relative radius of the balls of which doubles are made."""

_DIGITS = 192
_HALF = arb(0.5)


class ProbabilitiesByCount(Protocol):
    """Probabilities that do not fall with the count of a key: 0 at count 0, and from `size` on all alike.

    A key of count n >= 1 is released where M <= n, for a whole random number M, its noise. From `size` on M is as
    good as never larger. A draw takes any such table; whether it is private is for its mechanism to prove.
    """

    @property
    def size(self) -> int:
        """The least count from which on the probability is 1, or above 1 - 2**-64 and counts as this."""
        ...

    @property
    def lowest(self) -> int:
        """The least border that is kept in doubles: that M is no larger is impossible, or hardly ever so."""
        ...

    @property
    def likeliest_step(self) -> int:
        """The count at which the probability rises most: the mode of the noise."""
        ...

    def probability(self, count: int) -> arb:
        """Return a ball around the probability at a count from 0 to `size`, at the precision in force."""
        ...

    def complement(self, count: int) -> arb:
        """Return a ball around one minus it, of which the relative radius falls with the precision."""
        ...

    def border(self, step: int) -> arb:
        """Return a ball around P(M <= step), for any whole number: from 1 to `size` it is the probability."""
        ...

    def rise(self, step: int) -> arb:
        """Return a ball around P(M = step), for any whole number."""
        ...


@dataclass(frozen=True)
class OptimalProbabilities:
    """The largest probabilities of a key that are (epsilon, delta)-DP where one record changes one count by one.

    Args:
        epsilon: above zero.
        delta: above zero and below one.

    Raises:
        InvalidArgument: if more than `LONGEST_TABLE` counts would have a probability below one.
    """

    epsilon: Fraction
    delta: Fraction
    lowest: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and 0 < self.delta < 1):
            raise InvalidArgument(
                "private keys need an epsilon above 0, and a delta between 0 and 1"
            )
        refuse_long_table(self.size)

    @cached_property
    def turn(self) -> int:
        """The least count with a probability above (1 - delta) / (1 + x): there the second argument is less."""

        def steps() -> arb:
            x, delta = ball(self.epsilon).exp(), ball(self.delta)
            middle = (1 - delta) / (1 + x)
            return (middle / _unit(self.epsilon, self.delta)).log1p() / ball(self.epsilon)

        return 1 + _floor(steps)  # never whole: e**epsilon is no root of a polynomial

    @cached_property
    def size(self) -> int:
        """The least count of which the probability is 1."""
        if self.delta * 2 >= 1:  # where it is one half, the number of steps is exactly one
            return 2

        def steps() -> arb:
            at_turn = 1 - self._rise(self.turn)
            return (at_turn / _unit(self.epsilon, self.delta)).log1p() / ball(self.epsilon)

        return self.turn + 1 + _floor(steps)

    @cached_property
    def likeliest_step(self) -> int:
        """The count at which the probability rises most: the turn, or the one after it."""
        digits = 128
        while digits <= 2**12:
            with precision(digits):
                first = self.probability(self.turn) - self.probability(self.turn - 1)
                then = self.complement(self.turn) - self.complement(self.turn + 1)
                if first < then or first > then:
                    return self.turn if first > then else self.turn + 1
            digits *= 2
        return self.turn  # equal, as far as anybody can tell: both are right

    def probability(self, count: int) -> arb:
        """Return a ball around the probability at a count."""
        # The recursion in closed form; of the recursion, Coq: Keys.pi_private, Keys.pi_optimal
        return self._rise(count) if count <= self.turn else 1 - self.complement(count)

    def complement(self, count: int) -> arb:
        """Return a ball around one minus the probability at a count."""
        if count <= self.turn:
            return 1 - self._rise(count)
        if count >= self.size:
            return arb(0)
        epsilon, unit, height = self._constants()
        return height * (epsilon * (self.turn - count)).exp() - unit

    def border(self, step: int) -> arb:
        """Return a ball around P(M <= step), 0 below the first."""
        return self.probability(step) if step > 0 else arb(0)

    def rise(self, step: int) -> arb:
        """Return a ball around P(M = step)."""
        if not 1 <= step <= self.size:
            return arb(0)
        if step <= self.turn:
            return self.probability(step) - self.probability(step - 1)
        return self.complement(step - 1) - self.complement(step)

    def _constants(self) -> tuple[arb, arb, arb]:
        """Return balls around epsilon, the unit, and the rest to 1 at the turn with the unit added."""
        digits = ctx.prec
        if digits not in self._by_precision:
            unit, epsilon = _unit(self.epsilon, self.delta), ball(self.epsilon)
            height = 1 - unit * (epsilon * self.turn).expm1() + unit
            self._by_precision[digits] = epsilon, unit, height
        return self._by_precision[digits]

    @cached_property
    def _by_precision(self) -> dict[int, tuple[arb, arb, arb]]:
        """The numbers that all probabilities need, by the precision in force."""
        return {}

    def _rise(self, count: int) -> arb:
        """Return a ball around the probability at a count up to the turn."""
        epsilon, unit, _ = self._constants()
        return unit * (epsilon * count).expm1()


def refuse_long_table(size: int) -> None:
    """Raise if more counts would be told apart than a table may have."""
    if size > LONGEST_TABLE:
        raise InvalidArgument(
            f"a key would be certain of its answer from {size:,} records on only, and at most {LONGEST_TABLE:,} "
            "are served: take a larger epsilon, or fewer keys for each unit"
        )


def _unit(epsilon: Fraction, delta: Fraction) -> arb:
    """Return a ball around delta / (x - 1)."""
    return ball(delta) / ball(epsilon).expm1()


@lru_cache(maxsize=16)
def optimal_probabilities(epsilon: Fraction, delta: Fraction) -> OptimalProbabilities:
    """Return the optimal probabilities, of which the numbers are computed once."""
    return OptimalProbabilities(epsilon, delta)


@dataclass(frozen=True)
class DoubleTable:
    """Probabilities by count in doubles, all within 2**-50 of the real number, relatively.

    Attributes:
        probabilities: of counts 0, 1, ..., size.
        rates: -ln of one minus them, for counts 0, 1, ..., size - 1.
        borders: P(M <= m) for the steps lowest, lowest + 1, ..., size.
    """

    probabilities: NDArray[np.float64]
    rates: NDArray[np.float64]
    borders: NDArray[np.float64]


def _floor(real: Callable[[], arb]) -> int:
    """Return the floor of a computable real number that is not whole."""
    digits = 128
    while True:
        with precision(digits):
            value = real()
            whole = value.floor().unique_fmpz() if value.is_finite() else None
        if whole is not None:
            return int(whole)
        digits *= 2


def in_doubles(law: ProbabilitiesByCount) -> DoubleTable:
    """Return the table in doubles."""
    probabilities = np.array(_doubles(law.probability, range(law.size + 1)))
    below = _doubles(law.border, range(law.lowest, 1))
    return DoubleTable(
        probabilities,
        np.array(_doubles(partial(rate_of, law), range(law.size))),
        np.concatenate([below, probabilities[1:]]),
    )


def rate_of(law: ProbabilitiesByCount, count: int) -> arb:
    """Return a ball around -ln(1 - probability) at a count below the size, at the precision in force."""
    probability = law.probability(count)
    if probability < _HALF:
        return -(-probability).log1p()
    return -law.complement(count).log()


def _doubles(compute: Callable[[int], arb], counts: range) -> list[float]:
    """Return doubles within 2**-52 of computable real numbers, relatively; exact for zero and one."""
    with precision(_DIGITS):
        balls = [compute(count) for count in counts]
    return [
        float(value.mid()) if _is_sharp(value) else _double(compute, count)
        for count, value in zip(counts, balls, strict=True)
    ]


def _double(compute: Callable[[int], arb], count: int) -> float:
    """Return a double within 2**-52 of one computable real number, relatively."""
    digits = _DIGITS
    while True:
        digits *= 2
        with precision(digits):
            value = compute(count)
        if _is_sharp(value):
            return float(value.mid())


def _is_sharp(value: arb) -> bool:
    """Return whether the radius of a ball is small beside its middle."""
    return bool(value.is_finite() and value.rad() <= _RELATIVE * abs(value.mid()))
