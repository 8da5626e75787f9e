"""Curves that reach far, on grids that are fine: lists stay short, and bounds stay true."""

import math
from fractions import Fraction
from typing import Any

import pytest

from discreet import compose
from discreet.errors import InvalidNumber
from discreet.privacy import (
    ZCDP,
    BoundedRange,
    LogisticDP,
    LossDistribution,
    LossDP,
    PureDP,
    RenyiDP,
)
from discreet.privacy.convolution import mu_of, serves

F = Fraction
LONGEST = 2**20


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a list that would not fit into memory fail before it is made."""
    plain: Any = LossDistribution.of_curve.__func__  # type: ignore[attr-defined]

    def checked(cls: Any, delta: Any, top: Any, step: Any, every: int = 1) -> Any:
        assert 2 * F(top) / F(step) <= LONGEST
        return plain(cls, delta, top, step, every)

    monkeypatch.setattr(LossDistribution, "of_curve", classmethod(checked))


@pytest.mark.parametrize(
    ("curve", "epsilon"),
    [
        (RenyiDP({2: "1e-8"}), "1e-4"),
        (RenyiDP({2: "1e-6"}), "1e-3"),
        (RenyiDP({1.0000001: 0.1}), 1),
        (ZCDP(2 * 10**6), 1),  # type: ignore[arg-type]
    ],
)
def test_a_curve_that_reaches_far_beside_small_answers(curve: Any, epsilon: Any) -> None:
    """These aborted the process, or raised though a bound is known."""
    whole = compose(curve, PureDP(epsilon))
    assert not serves(whole.parts)
    found = whole.bounds("1e-6")
    assert found.least == found.values["renyi"] >= curve.approx("1e-6").epsilon
    assert whole.delta_at(1) >= curve.delta_at(1) * F(999, 1000)


def test_losses_that_are_far_apart_beside_many_small_answers() -> None:
    wide = [0] * 70_000
    wide[0] = wide[-1] = 2**128
    one = LossDP(LossDistribution(F(1, 64), 0, tuple(wide), 0))
    many: Any = PureDP("1e-4").repeated(10**5)  # type: ignore[arg-type]
    whole = compose(one, many)
    assert whole.bounds("1e-6").least > 1000
    assert not serves(whole.parts)


@pytest.mark.proof
def test_groups_of_losses_have_a_coarser_step() -> None:
    one = LossDP(LossDistribution.gaussian("1/4", "1/16"))
    near, far = one.group(2), one.group(3 * 10**3)
    assert near.losses.step == F(1, 16) < far.losses.step
    assert len(far.losses.masses) < LONGEST
    assert far.delta_at(10) >= one.delta_at("1/100")
    assert one.group(10**9).delta_at(1) == 1


def test_the_length_of_a_list_is_checked_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with pytest.raises(InvalidNumber, match="step must be at least top"):
        LossDistribution.of_curve(lambda _: F(0), 69, "1e-6", 10**6)


def test_ranges_are_weighed_by_what_they_are_convolved_with() -> None:
    small = BoundedRange(Fraction(1, 10))
    by_recursion = mu_of(((small, 400), (PureDP(Fraction(1, 1000)), 1)))
    by_logistic = mu_of(((small, 400),))
    assert by_recursion is not None
    assert by_logistic is not None
    assert abs(by_recursion - 1) < 0.01 < by_logistic - by_recursion


def test_ranges_alone_are_weighed_by_the_logistic_pair() -> None:
    """Its rho is less than that of the worst answers to questions that depend on earlier ones."""
    one = BoundedRange(Fraction(2))
    alone, with_pure = mu_of(((one, 400),)), mu_of(((LogisticDP(Fraction(2)), 400),))
    assert alone == with_pure
    assert alone is not None
    beside = mu_of(((one, 400), (PureDP(Fraction(1, 10**6)), 1)))
    assert beside is not None
    assert beside == pytest.approx(math.sqrt(2 * 400 * float(one.rho)))
