"""Slow accountants are asked wherever they may be the least, and each part is convolved by its best curve."""

import math
from fractions import Fraction
from typing import Any

import pytest

from discreet import compose
from discreet.privacy import (
    GaussianDP,
    LaplaceDP,
    LossDistribution,
    LossDP,
    MixedRange,
    PureDP,
    SummedRange,
)
from discreet.privacy.adaptive import epsilon_adaptive
from discreet.privacy.bounds import Accountant, Looseness, where_promising
from discreet.privacy.convolution import mu_of

F = Fraction


def test_losses_are_weighed_by_their_mean() -> None:
    """By the largest loss they would look so bad that beyond 200 answers they are not convolved."""
    one = LossDP(LossDistribution.gaussian("1/10", "1/64"))
    mu = mu_of(((one, 400),))
    assert mu is not None
    assert abs(mu - 2) < 0.1
    whole: Any = one.repeated(201)
    assert "combined" in whole.bounds("1e-6").values


def test_no_estimate_if_one_answer_outweighs_the_others() -> None:
    small: Any = PureDP(F(1, 1000))
    assert mu_of(((small, 1000), (PureDP(F(1)), 1))) is None
    assert mu_of(((small, 1000), (GaussianDP(F(1)), 1))) is None
    assert mu_of(((small, 1000),)) is not None
    assert "logistic" in compose(small.repeated(1000), PureDP(F(1))).bounds(epsilon="3/2").values


@pytest.mark.parametrize("beside", [PureDP, LaplaceDP, SummedRange])
@pytest.mark.one_in(3)
def test_one_other_promise_does_not_switch_off_the_recursion(beside: Any) -> None:
    ranges: Any = MixedRange(F(1, 10)).repeated(20)
    alone, tiny = epsilon_adaptive([F(1, 10)] * 20, F(1, 10**6)), F(1, 1000)
    assert alone is not None
    found = compose(ranges, beside(tiny)).bounds("1e-6")
    assert found.winner == "logistic"
    assert alone <= found.least <= (alone + tiny) * F(101, 100)


def test_what_is_missed_is_taken_from_delta_before_the_core_gets_the_rest() -> None:
    """The delta of the whole is extra + slack + (1 - slack) * core; the core's is what is left of it."""
    loose = Looseness(F(1, 10), F(1, 20))
    assert loose.delta_of_core(F(1, 4)) == F(1, 9)
    assert loose.delta_of_core(F(3, 20)) == 0
    assert loose.delta_of_core(F(3, 20) - F(1, 10**9)) is None
    for core in (F(0), F(1, 9), F(1, 2)):
        whole = loose.delta(core)
        left = loose.delta_of_core(whole)
        assert left is not None
        assert 0 <= left - core < F(1, 10**12)
    assert Looseness(F(0)).delta(F(1, 3)) == F(1, 3)


@pytest.mark.parametrize("unit", ["delta", "epsilon"])
def test_a_slow_accountant_is_asked_unless_it_looks_far_worse(unit: Any) -> None:
    """Gaussian noise of mu = 1 has a delta of 0.13 at epsilon = 1: far from 1/100, and near to 1/10."""
    asked: list[Fraction] = []

    def answer(at: Fraction, _bound: Fraction | None) -> Fraction:
        asked.append(at)
        return F(1, 7)

    slow = where_promising(Accountant(answer, answer), 1.0)
    ask = getattr(slow, unit)

    def at(epsilon: Fraction, delta: Fraction) -> Fraction | None:
        found: Fraction | None = ask(*((epsilon, delta) if unit == "delta" else (delta, epsilon)))
        return found

    assert ask(F(1), None) == F(1, 7)
    assert at(F(1), F(1, 10)) == F(1, 7)
    assert len(asked) == 2
    assert at(F(1), F(1, 100)) is None
    assert len(asked) == 2


def test_what_only_epsilon_is_known_of_has_the_optimum_of_randomised_responses() -> None:
    """By Kairouz, Oh and Viswanath (2017)."""
    pair: Any = PureDP(F(1)).repeated(2)
    e = math.e
    # Of two responses the loss is 2, 0 or -2: delta at 0 is P - Q over the loss of 2.
    exact = (e**2 - 1) / (1 + e) ** 2
    found = pair.bounds(epsilon=0).values["kov"]
    assert 0 <= float(found) - exact < 1e-9
    mixed = compose(PureDP(F(1)), GaussianDP(F(1))).bounds("1e-6").values
    assert "kov" not in mixed
    assert "basic" not in mixed
