"""Rounds of bounded range with a delta: what follows, alone and in compositions."""

from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from discreet import compose
from discreet.errors import InvalidArgument, InvalidNumber
from discreet.privacy import (
    ApproxDP,
    ApproxRange,
    BoundedRange,
    MixedRange,
    Odometer,
    PureDP,
    compose_parallel,
)
from discreet.privacy.wording import in_brief
from discreet.sampling.enclosures import precision

TENTH, THIRD = Fraction(1, 10), Fraction(1, 3)
ROUNDS = ApproxRange(THIRD, Fraction(4), TENTH)
ONE = ApproxRange(THIRD, Fraction(1), TENTH)
NEAR = 1 + Fraction(1, 2**60)


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 5), Fraction(1), Fraction(4, 3)])
def test_the_delta_of_several_rounds_is_added(epsilon: Fraction) -> None:
    """1 - (1 - delta)(1 - C) would be less, and is proved of one round alone."""
    of_rounds = MixedRange(THIRD).repeated(4).delta_at(epsilon)
    for guarantee in (ROUNDS, compose(ROUNDS)):
        assert TENTH + of_rounds <= guarantee.delta_at(epsilon) <= (TENTH + of_rounds) * NEAR
    of_one = BoundedRange(THIRD).delta_at(epsilon)
    for guarantee in (ONE, compose(ONE)):
        exact = TENTH + (1 - TENTH) * of_one
        assert exact <= guarantee.delta_at(epsilon) <= exact * NEAR


def test_epsilon_and_delta_are_inverse() -> None:
    for guarantee in (ROUNDS, ONE, compose(ROUNDS), compose(ONE)):
        for delta in (Fraction(101, 1000), Fraction(1, 2)):
            least: Any = guarantee.approx(delta)
            assert guarantee.delta_at(least.epsilon) <= delta * NEAR
        with pytest.raises(InvalidArgument):
            guarantee.approx(Fraction(9, 100))
    assert ROUNDS.approx(TENTH).epsilon == Fraction(4, 3)


def test_several_deltas_add_up() -> None:
    loose = ApproxDP(Fraction(1), Fraction(1, 5))
    whole = compose(ROUNDS, ROUNDS, loose, PureDP(Fraction(1)))
    assert (whole.pure, whole.rho) == (None, None)
    assert whole.extra_delta == Fraction(1, 5)
    assert Fraction(2, 5) <= whole.slack <= Fraction(2, 5) * NEAR
    assert whole.core == compose([MixedRange(THIRD)] * 8, [PureDP(Fraction(1))] * 2)
    rest = whole.core.delta_at(1)
    exact = Fraction(1, 5) + Fraction(1, 5) + Fraction(4, 5) * rest
    assert exact <= whole.delta_at(1) <= exact * NEAR
    assert compose([ROUNDS] * 20).delta_at(0) == 1
    with pytest.raises(InvalidArgument, match="no distribution of losses"):
        whole.losses()


def test_other_neighbours_and_groups_take_epsilon_and_delta() -> None:
    plain = ApproxDP(Fraction(4, 3), TENTH)
    assert ROUNDS.group(3) == plain.group(3)
    assert ROUNDS.under("replace_one") == plain.under("replace_one")
    with precision(64):
        assert ROUNDS.ceiling(arb("0.1")).overlaps(plain.ceiling(arb("0.1")))  # type: ignore[union-attr]
    assert compose_parallel(ROUNDS, ROUNDS) == ROUNDS
    assert compose_parallel(ROUNDS, PureDP(Fraction(2))) == ApproxDP(Fraction(2), TENTH)


def test_an_odometer_adds_the_deltas() -> None:
    assert Odometer("add_remove").after(ROUNDS).after(ROUNDS).delta == Fraction(1, 5)


def test_in_words() -> None:
    assert str(ROUNDS) == "ε = 4/3, δ = 0.1, bounded range in 4 rounds (add/remove one record)"
    assert in_brief(ROUNDS, "user") == "ε = 4/3, δ = 0.1 (add/remove one user)"
    assert str(ONE) == "ε = 1/3, δ = 0.1, bounded range (add/remove one record)"


@pytest.mark.parametrize(
    "bad", [(THIRD, 0, TENTH), (THIRD, "3/2", TENTH), (THIRD, 2, 0), (0, 2, TENTH)]
)
def test_what_is_no_guarantee_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidNumber):
        ApproxRange(*bad)


def test_another_neighbouring_relation_is_refused() -> None:
    other: Any = "swap"
    with pytest.raises(InvalidArgument, match="neighbors"):
        ApproxRange(THIRD, Fraction(2), TENTH, other)
