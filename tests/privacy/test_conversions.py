"""From Rényi curves to (epsilon, delta) and back, against exact pairs and against one another."""

from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidNumber
from discreet.privacy import ZCDP, BoundedRange, PureDP
from discreet.privacy.conversions import (
    delta_of_curve,
    epsilon_of_curve,
    least_epsilon,
    read_delta,
    read_epsilon,
    rho_for,
)
from discreet.sampling.enclosures import ball, precision

ADD: Any = "add_remove"
rhos = st.fractions(Fraction(1, 10**6), 20, max_denominator=10**6)
deltas = st.integers(1, 40).map(lambda k: Fraction(1, 2**k))


def gaussian(rho: Fraction) -> Any:
    return lambda excess: ball(rho) * (1 + excess)


@pytest.mark.parametrize(
    ("rho", "epsilon", "delta"),
    [(Fraction(1, 8), "1/2", 0.104285), (Fraction(1, 80), "3/10", 0.00524931),
     (Fraction(1, 16), "1/2", 0.0358488)],
)  # fmt: skip
def test_golden_deltas_of_zcdp(rho: Fraction, epsilon: str, delta: float) -> None:
    found = float(ZCDP(rho, ADD).delta_at(epsilon))
    assert delta * 0.99999 <= found <= delta * 1.00001


@given(rhos, deltas)
def test_epsilon_and_delta_are_inverse(rho: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_of_curve(gaussian(rho), delta)
    back = delta_of_curve(gaussian(rho), epsilon)
    assert back <= delta * (1 + Fraction(1, 2**10))
    if epsilon > 0:
        assert back >= delta * (1 - Fraction(1, 2**10))


@given(st.fractions(0, 20, max_denominator=1000), deltas)
def test_a_filter_never_lets_through_too_much(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_for(epsilon, delta)
    if rho > 0:
        assert epsilon_of_curve(gaussian(rho), delta) <= epsilon * (
            1 + Fraction(1, 2**20)
        ) + Fraction(1, 2**30)
        assert epsilon_of_curve(gaussian(rho * Fraction(101, 100)), delta) > epsilon


@given(rhos, deltas, st.fractions(Fraction(1, 2**10), 2**20))
def test_every_order_is_a_bound_and_none_is_better(
    rho: Fraction, delta: Fraction, excess: Fraction
) -> None:
    """The search finds what no order on a grid undercuts by more than its tolerance."""
    with precision(300):
        u = ball(excess)
        log = (1 + u) * (-1 / (1 + u)).log1p() - u.log()
        at_order = ball(rho) * (1 + u) + (log - ball(delta).log()) / u
        found = ball(epsilon_of_curve(gaussian(rho), delta))
        assert found <= at_order * (1 + arb(2) ** -20) + arb(2) ** -20 or found == 0


@given(st.fractions(Fraction(1, 20), 6, max_denominator=50), st.integers(0, 20))
def test_curves_bound_the_exact_delta(epsilon: Fraction, k: int) -> None:
    target = epsilon * k / 20
    for kind in (PureDP, BoundedRange):
        guarantee = kind(epsilon, ADD)
        assert delta_of_curve(guarantee.renyi, target) >= guarantee.delta_at(target)
        assert delta_of_curve(gaussian(guarantee.rho), target) >= guarantee.delta_at(target)


@pytest.mark.parametrize(
    "rho", [Fraction(1, 10**300), Fraction(1, 10**30), Fraction(10**30), Fraction(10**300)]
)
@pytest.mark.parametrize("delta", [Fraction(1, 10**300), Fraction(1, 2), 1 - Fraction(1, 10**100)])
def test_extremes_have_an_answer(rho: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_of_curve(gaussian(rho), delta)
    assert 0 <= epsilon <= rho * 10**6 + 10**6
    assert 0 <= rho_for(rho, delta) <= rho + 1000
    assert 0 <= delta_of_curve(gaussian(rho), rho) <= 1
    assert 0 <= delta_of_curve(gaussian(rho), Fraction(0)) <= 1
    wide = BoundedRange(rho, ADD)
    assert epsilon_of_curve(wide.renyi, delta) <= rho * 10**6 + 10**6
    assert 0 <= delta_of_curve(wide.renyi, rho / 2) <= 1


def test_bisection_finds_the_least() -> None:
    steps = {Fraction(k, 8): Fraction(8 - k, 8) for k in range(9)}

    def stairs(epsilon: Fraction) -> Fraction:
        return steps[max(place for place in steps if place <= epsilon)]

    found = least_epsilon(stairs, Fraction(3, 8), Fraction(1))
    assert Fraction(5, 8) <= found <= Fraction(5, 8) + Fraction(1, 2**39)
    assert least_epsilon(stairs, Fraction(1), Fraction(1)) == 0
    assert least_epsilon(lambda _: Fraction(1), Fraction(1, 2), Fraction(1, 3)) == Fraction(1, 3)


def test_public_numbers_are_checked() -> None:
    for bad in (-1, "x", float("nan"), None):
        with pytest.raises(InvalidNumber, match="epsilon"):
            read_epsilon(bad)
    for bad in (-1, 1, 2, "x", None):
        with pytest.raises(InvalidNumber, match="delta"):
            read_delta(bad)
    with pytest.raises(InvalidNumber, match="above zero"):
        rho_for(1, 0)
