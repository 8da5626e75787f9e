"""From a Rényi curve to (epsilon, delta) and back, rounded outwards. Proofs: docs/explanation/composition.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from ..base.error_boundary import error_boundary
from ..base.lazy_names import flint
from ..base.numbers import Number, count, exact, float_up, short_down, short_up
from ..errors import InvalidNumber, preview
from ..sampling.enclosures import ball, precision, probability_above, upper

if TYPE_CHECKING:
    from flint import arb

Divergence: TypeAlias = "Callable[[arb], arb]"
"""From the excess of an order over 1 to a ball whose upper end bounds the divergence."""

_CONVERSION_BITS = 512
_ROUGH_BITS = 256
_ORDERS = (-40.0, 800.0)
"""Logarithms of the least and the largest excess of an order over 1 that are tried."""
_TRIALS = 38
_GOLDEN = 0.6180339887498949  # in no mode another one


def read_epsilon(value: object) -> Fraction:
    """Return an epsilon of zero or more."""
    number = exact(value, "epsilon")
    if number < 0:
        raise InvalidNumber(f"epsilon must not be negative, got {preview(value)}")
    return number


def read_delta(value: object) -> Fraction:
    """Return a delta from zero to below one."""
    number = exact(value, "delta")
    if not 0 <= number < 1:
        raise InvalidNumber(f"delta must be from 0 to below 1, got {preview(value)}")
    return number


def read_whole(value: object, name: str, most: int) -> int:
    """Return a whole number from one to `most`, also of a text, as a ledger keeps it."""
    number = exact(value, name)
    return count(int(number) if number.denominator == 1 else value, name, most=most)


def delta_of_curve(divergence: Divergence, epsilon: Fraction) -> Fraction:
    """Return a delta with (epsilon, delta)-DP: exp((a - 1)(R_a - epsilon)) (1 - 1/a)**a / (a - 1)."""

    def log_delta(excess: arb) -> arb:
        return excess * (divergence(excess) - ball(epsilon)) + log_factor(excess)

    log = _at_best_order(log_delta)
    if log >= 0:
        return Fraction(1)
    with precision(_CONVERSION_BITS):
        return probability_above(ball(log).exp())


def epsilon_of_curve(divergence: Divergence, delta: Fraction) -> Fraction:
    """Return an epsilon with (epsilon, delta)-DP, for a delta above zero."""

    def epsilon(excess: arb) -> arb:
        return divergence(excess) + (log_factor(excess) - ball(delta).log()) / excess

    return max(short_up(_at_best_order(epsilon)), Fraction(0))


@error_boundary
def divergence_at(divergence: Callable[[arb], arb | None], order: object) -> float:
    """Return the upper end of a divergence at an order above 1, as a float; infinity if there is none.

    Raises:
        InvalidNumber: if the order is not a number above 1.
    """
    number = exact(order, "order")
    if number <= 1:
        raise InvalidNumber(f"order must be above 1, got {preview(order)}")
    with precision(_CONVERSION_BITS):
        bound = divergence(ball(number - 1))
        return math.inf if bound is None or not bound.is_finite() else float_up(upper(bound))


def gaussian_delta(mu: arb, epsilon: arb) -> arb:
    """Return Phi(mu / 2 - epsilon / mu) - exp(epsilon) Phi(-mu / 2 - epsilon / mu), at the precision in force."""
    root, place = flint.arb(2).sqrt(), epsilon / mu
    upper_tail, lower_tail = ((place + shift) / root for shift in (-mu / 2, mu / 2))
    return (upper_tail.erfc() - epsilon.exp() * lower_tail.erfc()) / 2


def rho_for(epsilon: Number, delta: Number) -> Fraction:
    """Return the largest rho found for which rho-zCDP implies (epsilon, delta)-DP, rounded down.

    Args:
        epsilon: zero or more.
        delta: above zero and below one.
    """
    target, share = read_epsilon(epsilon), read_delta(delta)
    if share == 0:
        raise InvalidNumber("delta must be above zero: no rho implies epsilon-DP")

    def minus_rho(excess: arb) -> arb:
        room = ball(target) - (log_factor(excess) - ball(share).log()) / excess
        return -room / (1 + excess)

    return max(short_down(-_at_best_order(minus_rho)), Fraction(0))


@error_boundary
def least_epsilon(
    delta_of: Callable[[Fraction], Fraction], delta: Fraction, high: Fraction, steps: int = 40
) -> Fraction:
    """Return an epsilon with delta_of(epsilon) <= delta, the least but for high / 2**steps.

    `high` must be one already. It is returned if no smaller one is found.
    """
    if delta_of(Fraction(0)) <= delta:
        return Fraction(0)
    low, step = Fraction(0), short_up(high) / 2
    for _ in range(steps):
        middle = low + step
        if middle >= high or delta_of(middle) <= delta:
            high = min(high, middle)
        else:
            low = middle
        step /= 2
    return high


def log_factor(excess: arb) -> arb:
    """Return ln((1 - 1/a)**a / (a - 1)) for the order a = 1 + excess."""
    a = 1 + excess
    return a * (-1 / a).log1p() - excess.log()


@error_boundary
def _at_best_order(objective: Divergence) -> Fraction:
    """Return the upper end of the objective where it is least, as far as a search by golden section finds.

    Every order gives a true bound, so the search may err; the returned value is certified.
    """

    def rough(log: float) -> arb:
        height = objective(
            flint.arb(log).exp()
        )  # not finite where a curve is not, such as beyond its last order
        return height.upper() if height.is_finite() else flint.arb.pos_inf()

    with precision(_ROUGH_BITS):
        best = _golden_section(rough, *_ORDERS)
    with precision(_CONVERSION_BITS):
        return upper(objective(flint.arb(best).exp()))


def _golden_section(f: Callable[[float], arb], low: float, high: float) -> float:
    """Return about where f is least, if it falls first and rises then."""
    width = high - low
    lower_point, upper_point = high - _GOLDEN * width, low + _GOLDEN * width
    f_lower, f_upper = f(lower_point), f(upper_point)
    for _ in range(_TRIALS):
        if f_lower <= f_upper:
            high, upper_point, f_upper = upper_point, lower_point, f_lower
            lower_point = high - _GOLDEN * (high - low)
            f_lower = f(lower_point)
        else:
            low, lower_point, f_lower = lower_point, upper_point, f_upper
            upper_point = low + _GOLDEN * (high - low)
            f_upper = f(upper_point)
    return lower_point if f_lower <= f_upper else upper_point


def epsilon_of_gaussian(
    delta_of: Callable[[Fraction], Fraction], divergence: Divergence, delta: Fraction
) -> Fraction:
    """Return the least epsilon of Gaussian noise at a delta, but for a part in 2**40.

    Raises:
        InvalidNumber: if delta is zero.
    """
    if delta == 0:
        raise InvalidNumber("delta must be above zero: Gaussian noise is not epsilon-DP")
    return least_epsilon(delta_of, delta, epsilon_of_curve(divergence, delta))
