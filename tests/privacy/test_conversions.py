"""From Rényi curves to (epsilon, delta) and back, against exact pairs and against one another."""

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any, NamedTuple, Self

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidNumber
from discreet.privacy import ZCDP, BoundedRange, PureDP
from discreet.privacy.conversions import (
    delta_of_curve,
    divergence_at,
    epsilon_of_curve,
    gaussian_delta,
    least_epsilon,
    read_delta,
    read_epsilon,
    rho_for,
)
from discreet.sampling.enclosures import ball, precision, upper

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


class WorstPair(NamedTuple):
    """P has the loss (2 a - 1) rho with probability `chance`, and another, a little below 0, else."""

    rho: arb
    order: arb
    share: arb
    """How much of exp(-(a - 1)**2 rho) the probability is."""

    @classmethod
    def at(cls, rho: Fraction, order: Fraction) -> Self:
        a, r = ball(order), ball(rho)
        return cls(r, a, 1 - 2 * (-a * (a - 1) * r).exp())

    @property
    def loss(self) -> arb:
        return (2 * self.order - 1) * self.rho

    @property
    def chance(self) -> arb:
        excess = self.order - 1
        return self.share * (-excess * excess * self.rho).exp()

    @property
    def opposite(self) -> arb:
        """Minus the other loss."""
        return (1 - self.chance * (-self.loss).exp()).log() - (1 - self.chance).log()

    def parts(self, b: arb) -> tuple[arb, arb]:
        """Return the two terms of E_P exp((b - 1) L) over exp(b (b - 1) rho)."""
        rest = (1 - self.chance).log() - (b - 1) * self.opposite - b * (b - 1) * self.rho
        beside = b - self.order
        return self.share * (-beside * beside * self.rho).exp(), rest.exp()

    def slope(self, b: arb) -> arb:
        first, second = self.parts(b)
        return -2 * (b - self.order) * self.rho * first - second * (
            self.opposite + (2 * b - 1) * self.rho
        )

    def is_within(self, low: Fraction, high: Fraction, depth: int = 0) -> bool:
        """Return whether the moments of all orders from one up to another are proved to be small enough."""
        middle, radius = (low + high) / 2, (high - low) / 2
        slope = self.slope(ball(low).union(ball(high)))
        if low == 1 and slope < 0:
            return True  # at 1 they are equal
        if sum(self.parts(ball(middle)), arb(0)) + abs(slope) * ball(radius) <= 1:
            return True
        halves = ((low, middle), (middle, high))
        return depth < 40 and all(self.is_within(*half, depth + 1) for half in halves)


@pytest.mark.parametrize(
    ("rho", "order", "delta", "share"),
    [
        ("1/200", "457/10", "1e-6", 0.9999),
        ("1/50", "154/10", "1e-3", 0.97),
        ("1/50", "24", "1e-6", 0.99995),
        ("1/5", "6", "1e-3", 0.99),
        ("1/5", "86/10", "1e-6", 0.99999),
        ("1", "45/10", "1e-6", 0.99999),
    ],
)
def test_nothing_better_follows_from_zcdp(rho: str, order: str, delta: str, share: float) -> None:
    """A pair of all Rényi divergences, in both directions, reaches the bound but for a small part."""
    with precision(192):
        pair = WorstPair.at(Fraction(rho), Fraction(order))
        assert pair.is_within(Fraction(1), Fraction(order))
        first, second = pair.parts(pair.order)
        assert first + second <= 1  # from the order on both fall
        assert pair.opposite <= pair.rho  # the other direction
        target = pair.loss + (1 - 1 / pair.order).log()
        reached = pair.chance * (1 - (target - pair.loss).exp())
        bound = delta_of_curve(gaussian(Fraction(rho)), upper(target))
        assert ball(bound) * ball(Fraction(share)) <= reached <= ball(bound)
        assert 0.5 < float(bound) / float(delta) < 2


def test_a_larger_pair_is_not_of_that_zcdp() -> None:
    with precision(192):
        pair = WorstPair.at(Fraction(1, 50), Fraction(24))._replace(share=arb(1))
        assert not pair.is_within(Fraction(23), Fraction(24), 30)


def test_a_divergence_is_asked_at_its_order() -> None:
    assert divergence_at(lambda excess: 1 + excess, 3) == 3
    assert divergence_at(gaussian(Fraction(1, 2)), "3/2") == 0.75
    assert divergence_at(lambda _: None, 2) == math.inf
    assert divergence_at(lambda _: arb.pos_inf(), 2) == math.inf
    for order in (1, "0.9"):
        with pytest.raises(InvalidNumber, match="above 1"):
            divergence_at(gaussian(Fraction(1)), order)


@pytest.mark.parametrize(("mu", "epsilon"), [(1, 0), (1, 1), (0.5, 2), (3, 0.25)])
def test_the_delta_of_gaussian_noise_is_its_hockey_stick(mu: float, epsilon: float) -> None:
    """P(Z < mu/2 - epsilon/mu) - exp(epsilon) P(Z < -mu/2 - epsilon/mu), by the standard library's normal law."""
    exact = NormalDist().cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * NormalDist().cdf(
        -mu / 2 - epsilon / mu
    )
    with precision(128):
        assert float(gaussian_delta(arb(mu), arb(epsilon))) == pytest.approx(exact, abs=1e-12)
