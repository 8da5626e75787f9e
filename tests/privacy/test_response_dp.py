"""The guarantees of responses among several answers and of geometric noise, against the laws themselves."""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import pytest
from flint import acb, arb

import discreet
from discreet import compose
from discreet.errors import InvalidNumber
from discreet.privacy import ApproxDP, GeometricDP, LaplaceDP, PureDP, ResponseDP
from discreet.privacy.rho import (
    _before_contact,
    _is_before,
    _is_concave,
    geometric_rho,
    laplace_rho,
    pure_rho,
    response_rho,
)
from discreet.sampling.enclosures import ball, lower, precision, upper
from discreet.sampling.geometric import GeometricNoise

HALF = Fraction(1, 2)
EPSILONS = [Fraction(1, 1000), Fraction(1, 10), HALF, Fraction(1), Fraction(3), Fraction(20)]
ANSWERS = [2, 3, 6, 7, 20, 1000, 10**6]
ORDERS = ["1e-6", "0.01", "0.1", "0.5", "1", "2", "5", "8.4", "12", "40", "200", "1000", "20000"]

Law = list[arb]


def law(epsilon: Fraction, answers: int, truth: int | None) -> Law:
    """The probabilities of all answers; of few answers, as the rest are alike."""
    e = ball(epsilon).exp()
    weights = [e if place == truth else arb(1) for place in range(answers)]
    total = sum(weights, arb(0))
    return [weight / total for weight in weights]


def atoms(epsilon: Fraction, answers: int) -> list[tuple[arb, arb]]:
    """The pairs of masses of two truths: both truths, and all other answers together."""
    e = ball(epsilon).exp()
    z = e + answers - 1
    return [(e / z, 1 / z), (1 / z, e / z), ((answers - 2) / z, (answers - 2) / z)]


def divergence(pairs: list[tuple[arb, arb]], excess: arb) -> arb:
    moment = sum((p * (excess * (p / q).log()).exp() for p, q in pairs if p > 0), arb(0))
    return moment.log() / excess


@pytest.mark.parametrize(
    ("answers", "rho"),
    [
        (2, "0.12245933120185"), (3, "0.08889707140820"), (4, "0.06977416292830"),
        (6, "0.04878541634456"), (20, "0.02319410549192"),
    ],
)  # fmt: skip
def test_rho_has_its_known_values(answers: int, rho: str) -> None:
    """Of Harrison and Manurangsi up to 6 answers, and of the largest of 180 orders at 20."""
    assert abs(ResponseDP(HALF, answers).rho - Fraction(rho)) < Fraction(1, 10**13)


@pytest.mark.parametrize(("epsilon", "answers"), list(product(EPSILONS, ANSWERS)))
def test_rho_holds_at_every_order_and_is_reached(epsilon: Fraction, answers: int) -> None:
    rho, promise = response_rho(epsilon, answers), ResponseDP(epsilon, answers)
    assert rho <= pure_rho(epsilon)
    with precision(512):
        pairs = atoms(epsilon, answers)
        steepest = Fraction(0)
        spots = [ball(Fraction(21, 20) ** k / 50 / epsilon) for k in range(160)]
        for excess in [*map(arb, ORDERS), *(spot for spot in spots if spot > 0)]:
            exact = divergence(pairs, excess)
            assert exact <= ball(rho) * (1 + excess)
            assert promise.renyi(excess).upper() >= exact.lower()
            assert promise.renyi(excess).upper() <= exact.upper() + arb("1e-30")
            steepest = max(steepest, lower(exact / (1 + excess)))
        mean = sum(((p * (p / q).log()) for p, q in pairs if p > 0), arb(0))
        assert max(steepest, lower(mean)) * (1 + Fraction(1, 10**3)) >= rho


@pytest.mark.parametrize(
    ("epsilon", "answers"), [(HALF, 20), (Fraction(1, 100), 7), (Fraction(3), 10**6)]
)
def test_the_slope_is_taken_where_both_conditions_are_certain(
    epsilon: Fraction, answers: int
) -> None:
    """A point after the contact, or one taken for certain though it is not, would give too small a rho."""
    with precision(256):
        c = (answers - 2) * (-ball(epsilon) / 2).exp() / 2
        found = _before_contact(epsilon / 2, c)
        assert found is not None
        start = ball(epsilon / 2)
        assert _is_concave(ball(found), c)
        assert _is_before(ball(found), start, c)
        beyond = ball(found * (1 + Fraction(1, 2**60)))
        assert not _is_before(beyond, start, c)


@pytest.mark.parametrize("answers", [2, 3, 4, 5])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), HALF, Fraction(2)])
def test_all_pairs_of_values_keep_the_promise(epsilon: Fraction, answers: int) -> None:
    """Every truth and no candidate at all, in both orders: delta, every event, and three orders."""
    promise = ResponseDP(epsilon, answers)
    with precision(256):
        values: list[int | None] = [*range(answers), None]
        for a, b in product(values, repeat=2):
            p, q = law(epsilon, answers, a), law(epsilon, answers, b)
            for target in (Fraction(0), epsilon / 3, epsilon, 2 * epsilon):
                rest = [x - ball(target).exp() * y for x, y in zip(p, q, strict=True)]
                exact = sum((x for x in rest if x > 0), arb(0))
                assert lower(exact) <= promise.delta_at(target)
            for event in product([0, 1], repeat=answers):
                chance = sum((y * i for y, i in zip(q, event, strict=True)), arb(0))
                most = promise.ceiling(chance)
                assert not sum((x * i for x, i in zip(p, event, strict=True)), arb(0)) > most
            for excess in map(arb, ("0.1", "1", "7")):
                exact = divergence(list(zip(p, q, strict=True)), excess)
                assert exact.lower() <= promise.renyi(excess).upper()


@pytest.mark.parametrize("answers", [2, 3, 20])
def test_delta_and_epsilon_are_those_of_two_truths_and_inverse(answers: int) -> None:
    promise = ResponseDP(Fraction(2), answers)
    with precision(256):
        (p, q), *_ = atoms(Fraction(2), answers)
        for target in (Fraction(0), HALF, Fraction(19, 10)):
            delta = promise.delta_at(target)
            assert abs(delta - upper(p - ball(target).exp() * q)) < Fraction(1, 10**18)
            assert abs(promise.approx(delta).epsilon - target) < Fraction(1, 10**15)
    assert promise.delta_at(2) == 0
    assert promise.approx(0) == ApproxDP(Fraction(2), Fraction(0))
    assert promise.approx("0.9").epsilon == 0
    tiny = ResponseDP(Fraction(1, 10**40), answers)
    assert tiny.approx("1e-300").epsilon <= tiny.epsilon


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(2)])
def test_two_answers_are_pure(epsilon: Fraction) -> None:
    two, pure = ResponseDP(epsilon, 2), PureDP(epsilon)
    assert two.rho == pure.rho
    assert abs(two.delta_at(epsilon / 2) - pure.delta_at(epsilon / 2)) < Fraction(1, 10**15)


def test_many_answers_cost_less_together() -> None:
    one = ResponseDP(HALF, 6)
    many, pure = compose([one] * 50), compose([PureDP(HALF)] * 50)
    assert many.epsilon_at("1e-6") < Fraction(7, 10) * pure.epsilon_at("1e-6")
    with precision(512):  # against the exact sum of three losses, n times
        (up, _), (down, _), (same, _) = atoms(HALF, 6)
        masses = {0: arb(1)}
        for _ in range(8):
            longer: dict[int, arb] = {}
            for k, mass in masses.items():
                for step, share in ((1, up), (-1, down), (0, same)):
                    longer[k + step] = longer.get(k + step, arb(0)) + mass * share
            masses = longer
        exact = sum(
            (m * (1 - (1 - ball(HALF) * k).exp()) for k, m in masses.items() if k > 2), arb(0)
        )
        found = compose([one] * 8).delta_at(1)
    assert lower(exact) <= found <= upper(exact) * Fraction(101, 100)


def test_farther_off_only_epsilon_is_claimed() -> None:
    one = ResponseDP(HALF, 6)
    assert one.group(1) == one
    assert one.group(3) == PureDP(3 * HALF)
    assert one.under("replace_one") == PureDP(Fraction(1), "replace_one")
    assert ResponseDP(HALF, 6, "replace_one").under("replace_one").answers == 6  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad", [0, 1, -3, "x", 2.5, 10**400])
def test_what_is_no_number_of_answers_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidNumber):
        ResponseDP(HALF, bad)


def test_randomized_response_says_so_and_takes_rho_at_its_own_price() -> None:
    answer = discreet.randomized_response("a", ["a", "b", "c"], epsilon="1/2")
    assert answer.guarantee == ResponseDP(HALF, 3, "replace_one")
    assert "ε = 0.5, as a response among 3 answers" in str(answer.guarantee)
    large: Any = discreet.randomized_response("a", list(range(20)), rho="1/100").guarantee
    assert (
        large.rho <= Fraction(1, 100) < response_rho(large.epsilon * (1 + Fraction(1, 2**40)), 20)
    )
    assert large.epsilon > Fraction(3, 10)
    for few in (["a"], ["a", "b"]):
        guarantee = discreet.randomized_response("a", few, epsilon=1).guarantee
        assert guarantee == PureDP(Fraction(1), "replace_one")


EPSILONS_OF_STEPS = [
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
def test_rho_of_steps_has_its_known_values(epsilon: Any, steps: int, rho: str) -> None:
    least = GeometricDP(Fraction(epsilon), steps).rho
    assert abs(least - Fraction(rho)) < Fraction(1, 10**13)


@pytest.mark.parametrize(("epsilon", "steps"), list(product(EPSILONS_OF_STEPS, STEPS)))
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


@pytest.mark.parametrize(("epsilon", "steps"), list(product(EPSILONS_OF_STEPS[1:5], STEPS)))
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
    for epsilon, steps in product(EPSILONS_OF_STEPS, STEPS):
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
