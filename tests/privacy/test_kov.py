"""Many randomised responses: the exact privacy loss, by enumeration."""

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.kov import Responses
from discreet.sampling.enclosures import ball, precision

small = st.fractions(Fraction(1, 10), 3, max_denominator=10)


def enumerated(epsilons: list[Fraction], target: Fraction) -> arb:
    """Return the sum over all answers of (P - e**target Q) where it is positive."""
    total = arb(0)
    for truths in product((True, False), repeat=len(epsilons)):
        p, q = arb(1), arb(1)
        for epsilon, truth in zip(epsilons, truths, strict=True):
            honest = ball(epsilon).exp() / (1 + ball(epsilon).exp())
            p *= honest if truth else 1 - honest
            q *= 1 - honest if truth else honest
        term = p - ball(target).exp() * q
        total += term if term > 0 else arb(0)
    return total


@given(
    st.lists(st.tuples(small, st.integers(1, 3)), min_size=1, max_size=3),
    st.fractions(0, 6, max_denominator=7),
)
def test_every_answer_enumerated(kinds: list[tuple[Fraction, int]], target: Fraction) -> None:
    responses = Responses.of(kinds)
    assert responses is not None
    with precision(200):
        exact = enumerated([epsilon for epsilon, n in kinds for _ in range(n)], target)
        said = ball(responses.delta(target))
        assert not said < exact
        assert said <= exact * (1 + arb(2) ** -60) + arb(2) ** -180


@pytest.mark.parametrize(
    ("n", "epsilon", "target", "delta"),
    [(1, "1", "1/2", 0.287649), (10, "1/10", "3/10", 0.0350971), (50, "1/10", "1/2", 0.124778)],
)
def test_golden_deltas(n: int, epsilon: str, target: str, delta: float) -> None:
    responses = Responses.of([(Fraction(epsilon), n)])
    assert responses is not None
    assert delta * 0.99999 <= float(responses.delta(Fraction(target))) <= delta * 1.00002


def test_a_million_need_few_terms() -> None:
    for epsilon in (Fraction(1, 10**4), Fraction(1, 10), Fraction(50), Fraction(10**300)):
        responses = Responses.of([(epsilon, 10**6)])
        assert responses is not None
        assert len(responses.losses) < 2**15
        with precision(300):
            assert responses.rest < arb(2) ** -200
            whole = responses.chances[0] + responses.rest
            assert not whole < 1  # nothing is lost
            assert whole < 1 + arb(2) ** -190
        deltas = [responses.delta(Fraction(k)) for k in range(0, 200, 20)]
        assert deltas == sorted(deltas, reverse=True)


def test_the_normal_limit() -> None:
    """10**6 responses of 1/1000: the loss is normal with mean 1/2 and variance 1, nearly."""
    responses = Responses.of([(Fraction(1, 1000), 10**6)])
    assert responses is not None

    def phi(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    for target in (0.0, 1.0, 3.0):
        normal = phi(0.5 - target) - math.exp(target) * phi(-0.5 - target)
        assert math.isclose(float(responses.delta(Fraction(target))), normal, rel_tol=2e-2)


def test_sharp_responses_are_not_forgotten_beside_others() -> None:
    """One of epsilon 300 has a single likely loss; it still counts when others follow."""
    both = Responses.of([(Fraction(300), 1), (Fraction(1), 1)])
    assert both is not None
    assert both.delta(Fraction(290)) > Fraction(99, 100)


def test_too_many_different_losses_have_no_bound() -> None:
    assert Responses.of([(Fraction(1, k), 50) for k in range(3, 9)]) is None


def test_responses_of_epsilon_zero_say_nothing() -> None:
    """Their losses are all 0, and count once: the others keep their probabilities."""
    with_them = Responses.of([(Fraction(0), 10), (Fraction(1), 1)])
    without = Responses.of([(Fraction(1), 1)])
    assert with_them is not None
    assert without is not None
    assert with_them.losses == without.losses
    for target in (Fraction(0), Fraction(1, 2)):
        assert with_them.delta(target) == without.delta(target)
    nothing = Responses.of([(Fraction(0), 10**9)])
    assert nothing is not None
    assert nothing.delta(Fraction(0)) == 0


def test_huge_numbers_of_responses_are_declined_before_they_are_listed() -> None:
    for n in (10**12, 10**30, 10**400):
        assert Responses.of([(Fraction(1, 1000), n)]) is None
