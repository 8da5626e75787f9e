"""The least rho of each kind is the supremum of its Rényi curve over the order, and the way back."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.dominating import of_laplace, of_logistic, of_pure, of_range
from discreet.privacy.rho import laplace_rho, largest_epsilon, logistic_rho, pure_rho, range_rho
from discreet.sampling.enclosures import ball, precision

KINDS: list[Any] = [(range_rho, of_range, 8), (pure_rho, of_pure, 2), (laplace_rho, of_laplace, 2),
                    (logistic_rho, of_logistic, 6)]  # fmt: skip
RHOS: list[Any] = [rho_of for rho_of, _, _ in KINDS]
ORDERS = [Fraction(2) ** k for k in range(-24, 40)]
EPSILONS = [Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(4),
            Fraction(20), Fraction(300)]  # fmt: skip


@pytest.mark.parametrize(("rho_of", "curve", "_"), KINDS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rho_is_the_supremum_over_all_orders(
    rho_of: Any, curve: Any, _: int, epsilon: Fraction
) -> None:
    """R_a / a is nowhere above rho, falls as a grows, and comes to rho as a comes to 1."""
    rho = rho_of(epsilon)
    with precision(400):
        ratios = [curve(ball(epsilon), ball(u)) / (1 + ball(u)) for u in ORDERS]
        assert not any(ratio > ball(rho) for ratio in ratios)
        assert all(not after > before for before, after in pairwise(ratios))
        assert ratios[0] > ball(rho * (1 - Fraction(1, 2**12)))


@given(st.fractions(Fraction(1, 20), 20, max_denominator=60), st.integers(0, 30))
def test_the_best_pair_gets_better_with_the_order(epsilon: Fraction, k: int) -> None:
    """The supremum over t of K_t(a) / (a (a - 1)) falls with a, by brute force over t."""
    with precision(300):
        e = ball(epsilon)

        def best(u: arb) -> float:
            found = 0.0
            for i in range(1, 128):
                t = e * i / 128
                q = ((-t).exp() - (-e).exp()) / (1 - (-e).exp())
                moment = q * ((1 + u) * t).exp() + (1 - q) * ((1 + u) * (t - e)).exp()
                found = max(found, float(moment.log() / (u * (1 + u))))
            return found

        assert best(arb(1.25) ** (k - 15)) * (1 + 1e-3) >= best(arb(1.25) ** (k - 14))


def test_golden_rhos() -> None:
    assert f"{float(range_rho(Fraction(1))):.5f}" == "0.12330"
    assert f"{float(pure_rho(Fraction(1))):.6f}" == "0.462117"
    assert f"{float(laplace_rho(Fraction(1))):.6f}" == "0.367879"


@pytest.mark.parametrize(("rho_of", "_", "divisor"), KINDS)
def test_small_large_and_short(rho_of: Any, _: Any, divisor: int) -> None:
    for epsilon in (Fraction(1, 10**300), Fraction(1, 2**48), Fraction(1, 2**24), Fraction(1, 3),
                    Fraction(10**3), Fraction(10**300)):  # fmt: skip
        for near in (
            epsilon,
            epsilon * (1 - Fraction(1, 2**60)),
            epsilon * (1 + Fraction(1, 2**60)),
        ):
            rho = rho_of(near)
            assert 0 < rho <= near
            assert rho <= near**2 / divisor * (1 + Fraction(1, 2**60))
            odd = rho.numerator >> ((rho.numerator & -rho.numerator).bit_length() - 1)
            assert rho == near or odd.bit_length() <= 66
            if near < Fraction(1, 2**20):
                assert rho > near**2 / divisor * (1 - Fraction(1, 2**18))


@given(st.fractions(Fraction(1, 2**60), 2**20), st.sampled_from(RHOS))
def test_rho_is_tight_to_forty_bits(epsilon: Fraction, rho_of: Any) -> None:
    """Against the formulas at 1000 bits."""
    with precision(1000):
        e = ball(epsilon)
        k = e / e.expm1()
        formulas = {
            range_rho: k - 1 - k.log(),
            pure_rho: e * (e / 2).tanh(),
            laplace_rho: e + (-e).expm1(),
            logistic_rho: e / (e / 2).tanh() - 2,
        }
        assert not formulas[rho_of] > ball(rho_of(epsilon))
        assert not ball(rho_of(epsilon)) > formulas[rho_of] * (1 + arb(2) ** -40)


@given(st.fractions(Fraction(1, 10**12), 10**6), st.sampled_from(RHOS))
def test_the_way_back_is_rounded_down(rho: Fraction, rho_of: Any) -> None:
    epsilon = largest_epsilon(rho_of, rho)
    assert rho_of(epsilon) <= rho
    assert rho_of(epsilon * (1 + Fraction(1, 2**46))) > rho


@pytest.mark.parametrize("rho_of", RHOS)
def test_short_epsilons_come_back_exactly(rho_of: Any) -> None:
    for epsilon in (
        Fraction(1),
        Fraction(3, 8),
        Fraction(1000),
        Fraction(1, 2**50),
        Fraction(7, 2**9),
    ):
        assert largest_epsilon(rho_of, rho_of(epsilon)) == epsilon
    for extreme in (Fraction(1, 10**300), Fraction(10**300)):
        assert 0 < rho_of(largest_epsilon(rho_of, extreme)) <= extreme
