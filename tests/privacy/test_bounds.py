"""Slow accountants are asked wherever they may be the least, and each part is convolved by its best curve."""

from fractions import Fraction
from typing import Any

import pytest

from discreet import compose
from discreet.privacy import (
    BoundedRange,
    GaussianDP,
    LaplaceDP,
    LossDistribution,
    LossDP,
    MixedRange,
    PureDP,
    SummedRange,
)
from discreet.privacy.adaptive import epsilon_adaptive
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


def test_ranges_are_weighed_by_what_they_are_convolved_with() -> None:
    small = BoundedRange(F(1, 10))
    by_recursion = mu_of(((small, 400), (PureDP(F(1, 1000)), 1)))
    by_logistic = mu_of(((small, 400),))
    assert by_recursion is not None
    assert by_logistic is not None
    assert abs(by_recursion - 1) < 0.01 < by_logistic - by_recursion


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
