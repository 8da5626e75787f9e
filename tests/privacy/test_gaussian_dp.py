"""Gaussian noise: its curve, and losses above it."""

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet import compose
from discreet.errors import InvalidNumber
from discreet.privacy import ZCDP, GaussianDP, LossDistribution
from discreet.sampling.enclosures import precision

from .test_outside_kinds import normal


@given(
    st.fractions(Fraction(1, 50), 8, max_denominator=50), st.fractions(0, 12, max_denominator=20)
)
def test_the_curve_of_gaussian_noise(mu: Fraction, target: Fraction) -> None:
    """P(E) - e**s Q(E) for the event beyond where the log-ratio is s."""
    found, m, s = GaussianDP(mu).delta_at(target), float(mu), float(target)
    exact = normal(m / 2 - s / m) - math.exp(s) * normal(-m / 2 - s / m)
    assert math.isclose(found, max(exact, 0), rel_tol=1e-6, abs_tol=1e-12)
    rough = ZCDP(mu**2 / 2).delta_at(target)
    assert found <= rough


@given(st.fractions(Fraction(1, 20), 5, max_denominator=20), st.integers(1, 60))
def test_gaussian_epsilon_and_delta_are_inverse(mu: Fraction, k: int) -> None:
    delta = Fraction(1, 2**k)
    found = GaussianDP(mu).approx(delta).epsilon
    assert GaussianDP(mu).delta_at(found) <= delta
    if found:
        assert GaussianDP(mu).delta_at(found * (1 - Fraction(1, 2**20))) > delta


def test_gaussian_noise_composes_into_one() -> None:
    both = compose(GaussianDP(Fraction(3)), GaussianDP(Fraction(4)).repeated(1))
    assert both.rho == GaussianDP(Fraction(5)).rho == Fraction(25, 2)
    assert both.bounds("1e-6").winner == "single"
    assert both.approx("1e-6") == GaussianDP(Fraction(5)).approx("1e-6")
    four: Any = GaussianDP(Fraction(1, 3)).repeated(4)
    assert four.delta_at(1) == GaussianDP(Fraction(2, 3)).delta_at(1)
    two: Any = GaussianDP(Fraction(1)).repeated(2)
    exact = normal(math.sqrt(0.5) - math.sqrt(0.5)) - math.e * normal(-math.sqrt(2))
    assert math.isclose(two.delta_at(1), exact, rel_tol=1e-9)
    one = GaussianDP(Fraction(1, 2))
    assert (one.group(3).mu, one.under("replace_one").mu) == (Fraction(3, 2), Fraction(1))
    with precision(128):
        assert one.ceiling(one.ceiling(arb(0.1))).overlaps(one.group(2).ceiling(arb(0.1)))
    with pytest.raises(InvalidNumber, match="not epsilon-DP"):
        one.approx(0)


@pytest.mark.parametrize("mu", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_gaussian_losses_are_above_the_curve_and_close(mu: Fraction) -> None:
    losses = LossDistribution.gaussian(mu, mu / 64)
    for k in range(9):
        target = mu * k / 2
        exact, bound = GaussianDP(mu).delta_at(target), losses.delta(target)
        assert exact <= bound * (1 + Fraction(1, 2**60)) <= exact * Fraction(1001, 1000)
    elsewhere = losses.on(mu / 50)
    assert losses.on(losses.step) is losses
    for k in range(9):
        here, there = (bound.delta(mu * k / 2) for bound in (losses, elsewhere))
        assert here <= there <= here * Fraction(101, 100)
