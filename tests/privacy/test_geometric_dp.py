"""The guarantee of geometric noise on several steps: its rho, its curves, and what the proof stands on."""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import pytest
from flint import acb, arb

from discreet import compose
from discreet.privacy import ApproxDP, GeometricDP, LaplaceDP, PureDP
from discreet.privacy.rho import geometric_rho, laplace_rho, pure_rho
from discreet.sampling.enclosures import ball, lower, precision, upper
from discreet.sampling.geometric import GeometricNoise

EPSILONS = [
    Fraction(1, 1000),
    Fraction(1, 10),
    Fraction(1, 2),
    Fraction(1),
    Fraction(3),
    Fraction(20),
]
STEPS = [1, 2, 3, 7, 40]


def losses(epsilon: Fraction, steps: int) -> list[tuple[Fraction, arb, arb]]:
    """The losses of the worst pair, with their probabilities on both sides."""
    eta = epsilon / steps
    noise = GeometricNoise(eta)
    inside = [
        (eta * (steps - 2 * j), noise.probability(j), noise.probability(j - steps))
        for j in range(1, steps)
    ]
    first = (epsilon, noise.up_to(0), noise.up_to(-steps))
    last = (-epsilon, noise.above(steps - 1), noise.above(-1))
    return [first, *inside, last]


@pytest.mark.parametrize(
    ("epsilon", "steps", "rho"),
    [
        (1, 1, "0.46211715726001"), (1, 2, "0.393469340287367"), (1, 3, "0.379435391619815"),
        (1, 10, "0.368931747607536"), ("1/2", 4, "0.107553454656108"), (2, 5, "1.15796974240046"),
    ],
)  # fmt: skip
def test_rho_has_its_known_values(epsilon: Any, steps: int, rho: str) -> None:
    least = GeometricDP(Fraction(epsilon), steps).rho
    assert abs(least - Fraction(rho)) < Fraction(1, 10**13)


@pytest.mark.parametrize(("epsilon", "steps"), list(product(EPSILONS, STEPS)))
def test_rho_is_the_divergence_of_the_worst_pair_and_holds_at_every_order(
    epsilon: Fraction, steps: int
) -> None:
    rho, promise = geometric_rho(epsilon, steps), GeometricDP(epsilon, steps)
    with precision(512):
        pair = losses(epsilon, steps)
        mean = sum((ball(loss) * p for loss, p, _ in pair), arb(0))
        assert lower(mean) <= rho <= upper(mean) * (1 + Fraction(1, 2**40))
        for excess in ("1e-4", "0.1", "1", "3", "40", "1000"):
            over = arb(excess)
            moment = sum((p * (over * ball(loss)).exp() for loss, p, _ in pair), arb(0))
            divergence = moment.log() / over
            assert divergence <= ball(rho) * (1 + over)
            curve = promise.renyi(over)
            assert curve.upper() >= divergence.lower()
            assert curve.upper() <= divergence.upper() + arb("1e-30")


@pytest.mark.parametrize("steps", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("eta", [Fraction(1, 100), Fraction(1), Fraction(5)])
def test_the_moments_have_imaginary_zeros_alone(eta: Fraction, steps: int) -> None:
    """The step of the proof on which it stands: W changes its sign `steps` times between 0 and i pi."""
    with precision(256):
        weight = 1 / ball(eta).expm1()

        def at(k: Fraction) -> arb:
            z = acb(0, arb.pi() * ball(k))
            terms = sum(((z * (2 * j - steps)).exp() for j in range(steps + 1)), acb(0))
            whole: arb = (terms + 2 * weight * (z * steps).cosh()).real
            return whole

        signs = [at(Fraction(k, steps)) > 0 for k in range(steps + 1)]
        assert all(a != b for a, b in pairwise(signs))


@pytest.mark.parametrize(("epsilon", "steps"), list(product(EPSILONS[1:5], STEPS)))
def test_delta_is_that_of_the_worst_pair_for_every_shift(epsilon: Fraction, steps: int) -> None:
    promise = GeometricDP(epsilon, steps)
    with precision(256):
        for share in (0, Fraction(1, 7), Fraction(1, 2), Fraction(9, 10)):
            target = epsilon * share
            factor = ball(target).exp()
            for shift in range(1, steps + 1):
                pair = losses(epsilon * shift / steps, shift)
                worst = sum((arb.max(p - factor * q, arb(0)) for _, p, q in pair), arb(0))
                delta = ball(promise.delta_at(target))
                assert worst.lower() <= delta
                if shift == steps:
                    assert delta <= worst.upper() + arb("1e-15")
    assert promise.delta_at(epsilon) == 0
    assert promise.approx(0) == ApproxDP(epsilon, Fraction(0))
    some = promise.approx("1/20")
    assert promise.delta_at(some.epsilon) <= Fraction(1, 20)


def least_delta(shifts: tuple[int, ...], a: Fraction, factor: Fraction) -> Fraction:
    """The exact delta at the logarithm of a factor of numbers that move so far, with noise of weights a**|k|.

    That of one number has 0 to `shift` as clipped noise, and so on: their sum tells the loss.
    """
    law = {0: Fraction(1)}
    for shift in shifts:
        first, last = (1 / (1 + a), a**shift / (1 + a)) if shift else (Fraction(1), Fraction(0))
        inner = [(1 - a) / (1 + a) * a**j for j in range(1, shift)]
        one = [first, *inner, last] if shift else [first]
        law = {
            n: sum((law.get(n - j, Fraction(0)) * p for j, p in enumerate(one)), Fraction(0))
            for n in range(max(law) + len(one))
        }
    whole = sum(shifts)
    return sum(
        (p * max(Fraction(0), 1 - factor * a ** (whole - 2 * n)) for n, p in law.items()),
        Fraction(0),
    )


FACTORS = [Fraction(k, 8) for k in (1, 5, 8, 9, 12, 16, 25, 40, 100, 700)]


@pytest.mark.parametrize("a", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_moves_that_are_spread_less_evenly_tell_more(a: Fraction) -> None:
    """The step of *Groups of records*: of two numbers the one that moves farther moves one farther still."""
    for low, high in product(range(1, 7), range(1, 7)):
        if low <= high + 1:
            for factor in FACTORS:
                near, far = (
                    least_delta(two, a, factor) for two in ((low, high), (low - 1, high + 1))
                )
                assert near <= far, (low, high, factor)


@pytest.mark.parametrize("a", [Fraction(1, 4), Fraction(3, 4)])
@pytest.mark.parametrize(("records", "cells"), [(2, 2), (3, 2), (2, 3), (4, 2)])
def test_records_that_move_any_cells_by_one(records: int, cells: int, a: Fraction) -> None:
    """No places of so many records have a larger delta than the same cells moved by all of them."""
    for factor in FACTORS:
        promise = least_delta((records,) * cells, a, factor)
        for moves in combinations_with_replacement(range(records + 1), cells + 2):
            if sum(moves) <= records * cells:
                assert least_delta(moves, a, factor) <= promise


def test_it_lies_between_laplace_noise_and_pure_privacy() -> None:
    for epsilon, steps in product(EPSILONS, STEPS):
        rho = geometric_rho(epsilon, steps)
        assert laplace_rho(epsilon) <= rho * (1 + Fraction(1, 2**40))
        assert rho <= pure_rho(epsilon)
        assert geometric_rho(epsilon, steps + 1) <= rho
    assert GeometricDP(Fraction(1), 1).rho == PureDP(Fraction(1)).rho
    tiny = Fraction(1, 10**60)
    assert geometric_rho(tiny, 9) <= tiny**2 / 2 * (1 + Fraction(1, 2**40))
    assert LaplaceDP(Fraction(1)).rho < GeometricDP(Fraction(1), 10**6).rho


def test_steps_of_the_relation_multiply() -> None:
    promise = GeometricDP(Fraction(1, 2), 3)
    assert promise.group(4) == GeometricDP(Fraction(2), 12)
    assert promise.under("replace_one") == GeometricDP(Fraction(1), 6, "replace_one")
    assert promise.pure == Fraction(1, 2)
    assert promise.core == promise
    assert str(promise) == "ε = 0.5, as geometric noise on 3 steps (add/remove one record)"


def test_sums_use_its_rho_and_lose_nothing_of_pure_privacy() -> None:
    many, pure = (
        compose([GeometricDP(Fraction(1, 10), 9)] * 200),
        compose([PureDP(Fraction(1, 10))] * 200),
    )
    assert many.rho is not None
    assert pure.rho is not None
    assert many.rho < pure.rho
    assert many.approx("1e-6").epsilon <= pure.approx("1e-6").epsilon
    assert many.pure == 20
