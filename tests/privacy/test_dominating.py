"""The Rényi curves: golden numbers, the worst pairs by brute force, and extreme orders."""

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.dominating import (
    LAPLACE,
    LOGISTIC,
    RANGE,
    RESPONSE,
    divergence,
    of_laplace,
    of_pure,
    of_range,
)
from discreet.privacy.rho import range_rho
from discreet.sampling.enclosures import ball, precision, upper

epsilons = st.fractions(Fraction(1, 50), 12, max_denominator=100)
orders = st.fractions(Fraction(1, 50), 80, max_denominator=50)


@pytest.mark.parametrize(
    ("order", "value"),
    [(2, "0.2402290139"), (4, "0.4295334408"), (8, "0.6354593986"), (16, "0.7812007596"),
     (32, "0.8712493418")],
)  # fmt: skip
def test_golden_curve_of_a_bounded_range(order: int, value: str) -> None:
    with precision(200):
        assert f"{float(of_range(arb(1), arb(order - 1))):.10f}" == value
    assert order != 2 or f"{float(of_laplace(arb(1), arb(1))):.7f}" == "0.6191236"


def moment(p: list[arb], q: list[arb], a: arb) -> arb:
    """Return the sum of p**a * q**(1 - a)."""
    return sum((x**a * y ** (1 - a) for x, y in zip(p, q, strict=True)), arb(0))


@given(epsilons, orders, st.lists(st.integers(0, 64), min_size=2, max_size=5),
       st.lists(st.integers(1, 9), min_size=5, max_size=5))  # fmt: skip
def test_no_law_of_that_range_is_worse(
    epsilon: Fraction, excess: Fraction, places: list[int], weights: list[int]
) -> None:
    """Any log-ratios within epsilon, on any number of answers."""
    with precision(300):
        a = 1 + ball(excess)
        losses = [ball(epsilon) * k / 64 for k in places]
        q = [arb(w) for w in weights[: len(losses)]]
        p = [w * loss.exp() for w, loss in zip(q, losses, strict=True)]
        p, q = [x / sum(p, arb(0)) for x in p], [x / sum(q, arb(0)) for x in q]
        exact = moment(p, q, a).log() / (a - 1)
        assert not exact > of_range(ball(epsilon), ball(excess))
        assert not exact > of_pure(ball(epsilon), ball(excess))


@given(epsilons, orders)
def test_the_curves_are_those_of_their_worst_pairs(epsilon: Fraction, excess: Fraction) -> None:
    with precision(300):
        e, a = ball(epsilon), 1 + ball(excess)
        p = e.exp() / (1 + e.exp())
        response = moment([p, 1 - p], [1 - p, p], a).log() / (a - 1)
        assert response.overlaps(of_pure(e, ball(excess)))
        # Laplace noise: the integral over x < 0, 0 < x < epsilon and x > epsilon.
        outer = ((a - 1) * e).exp() + (-a * e).exp()
        inner = ((a - 1) * e).exp() * (1 - ((1 - 2 * a) * e).exp()) / (2 * a - 1)
        assert (((outer + inner) / 2).log() / (a - 1)).overlaps(of_laplace(e, ball(excess)))
        # A bounded range: its own best t is attained.
        whole, part = 1 - (-a * e).exp(), 1 - (-(a - 1) * e).exp()
        t = e + ((a - 1) * whole / (a * part)).log()
        q = ((-t).exp() - (-e).exp()) / (1 - (-e).exp())
        pair = q * (a * t).exp() + (1 - q) * (a * (t - e)).exp()
        assert (pair.log() / (a - 1)).overlaps(of_range(e, ball(excess)))


@pytest.mark.parametrize("curve", [of_range, of_pure, of_laplace])
def test_extreme_orders_and_epsilons_have_a_bound(curve: Any) -> None:
    sizes = [
        Fraction(1, 10**300),
        Fraction(1, 10**9),
        Fraction(1),
        Fraction(10**9),
        Fraction(10**300),
    ]
    for epsilon in sizes:
        for excess in sizes:
            with precision(256):
                rho = min(epsilon**2 / 2, epsilon)
                bound = upper(divergence(curve, epsilon, rho, ball(excess)))
            assert 0 < bound <= min(rho * (1 + excess), epsilon) * (1 + Fraction(1, 2**60))


def test_where_digits_are_short_rho_speaks() -> None:
    epsilon = Fraction(1, 10**30)
    with precision(64):
        bound = divergence(of_range, epsilon, range_rho(epsilon), arb(1))
        assert upper(bound) <= epsilon**2 / 4 * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 3), Fraction(9, 10)])
def test_deltas_of_pairs_are_their_hockey_stick(epsilon: Fraction, share: Fraction) -> None:
    """P - exp(target) Q over the losses above the target: of two answers, of a number with Laplace noise."""
    e, t, target = math.exp(epsilon), math.exp(share * epsilon), share * epsilon
    response = (e - t) / (1 + e)
    assert float(RESPONSE.delta(epsilon, target)) == pytest.approx(response)
    laplace = 1 - math.exp((target - epsilon) / 2)
    assert float(LAPLACE.delta(epsilon, target)) == pytest.approx(laplace)
    # Of two losses that are epsilon apart: the larger is a, with probability p of it where the means of exp agree.
    worst = 0.0
    for k in range(1, 2000):
        a = float(epsilon) * k / 2000
        q = (1 - math.exp(a - float(epsilon))) / (math.exp(a) - math.exp(a - float(epsilon)))
        worst = max(worst, q * (math.exp(a) - t))
    assert float(RANGE.delta(epsilon, target)) == pytest.approx(worst, abs=1e-6)
    for pair in (RESPONSE, LAPLACE, RANGE, LOGISTIC):
        again = pair.target(epsilon, pair.delta(epsilon, target))
        assert float(again) == pytest.approx(float(target), abs=1e-12)
        assert pair.delta(epsilon, epsilon) == 0
