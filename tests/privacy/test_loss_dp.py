"""Loss distributions from outside: what bounds the curve of no answer is refused, and never lowers other parts."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import compose
from discreet.errors import InvalidArgument
from discreet.privacy import LaplaceDP, LossDistribution, LossDP
from discreet.privacy.guarantees import read_guarantee
from discreet.privacy.pld import UNIT

F = Fraction


def turned(losses: LossDistribution) -> LossDistribution:
    """Return the losses with the other sign: those of Q/P, weighted by P."""
    lowest = -(losses.lowest + len(losses.masses) - 1)
    return LossDistribution(losses.step, lowest, losses.masses[::-1], losses.infinite)


@pytest.mark.parametrize(
    "losses",
    [
        LossDistribution(F(1, 10), -100, (UNIT,), 0),
        LossDistribution(F(1, 10), -1, (UNIT,), 0),
        LossDistribution(F(1, 10), -100, (UNIT - 2**100,), 2**100),
        turned(LossDistribution.gaussian(1, "1/64")),
        turned(LossDistribution.laplace(1, "1/16")),
        turned(LossDistribution.logistic("1/8", "1/16")),
    ],
)
def test_losses_of_no_answer_are_refused(losses: LossDistribution) -> None:
    """Such losses would subtract from those of other answers: 0 in all, beside Laplace noise of 2."""
    with pytest.raises(InvalidArgument, match="those of P/Q, weighted by P"):
        LossDP(losses)


@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(1, 9)), min_size=1, max_size=4),
    st.integers(0, 9),
)
def test_what_is_accepted_is_above_the_least_curve(
    parts: list[tuple[int, int]], beyond: int
) -> None:
    """Against the definition at many gamma; losses of ln 2 times a whole number are nearly exact."""
    step, total = F(693147180559945, 10**15), beyond + sum(m for _, m in parts)
    masses = [0] * 9
    for j, mass in parts:
        masses[j + 4] += -(-mass * UNIT // total)
    losses = LossDistribution(step, -4, tuple(masses), -(-beyond * UNIT // total))
    least = min(
        F(beyond, total)
        + sum((F(m, total) * max(1 - gamma / F(2) ** j, F(0)) for j, m in parts), F(0))
        + gamma
        for gamma in (F(k, 32) for k in range(33))
    )
    if least < 1 - F(1, 10**9):
        with pytest.raises(InvalidArgument, match="weighted by P"):
            LossDP(losses)
    elif least > 1 + F(1, 10**9) or least == 1 == min(F(2) ** j for j, _ in parts):
        assert LossDP(losses).losses is losses


def test_all_that_is_ours_is_accepted_and_what_is_made_of_it() -> None:
    made = [
        LossDistribution.gaussian(2, "1/32"), LossDistribution.laplace("1/3", "1/20"),
        LossDistribution.logistic(5, "1/7"), LossDistribution.pure(9, 1), LossDistribution.pure("1/9", 5),
    ]  # fmt: skip
    for losses in made:
        one = LossDP(losses)
        LossDP(losses.composed(5).on("1/16"))
        assert read_guarantee(one.under("replace_one").as_dict()) == one.under("replace_one")
        assert one.group(3).delta_at(1) >= one.delta_at(1)


def test_the_core_may_be_of_one_order_only() -> None:
    """P is sure of a, or of b half the time; Q is sure of b: a loss of ln 1/2, and an infinite one."""
    one = LossDP(LossDistribution(F(693147, 10**6), -1, (UNIT // 2,), UNIT // 2))
    whole = compose(one, LaplaceDP(F(1)))
    for target in ("0", "1/4", "1"):
        least = whole.bounds(epsilon=target).least
        assert least >= F(1, 2)
        alone: Any = LaplaceDP(F(1)).delta_at(F(target) + F(693147, 10**6))
        assert least >= F(1, 2) + alone / 2


def test_no_epsilon_follows_for_a_delta_below_the_mass_at_infinity() -> None:
    loose = LossDP(LossDistribution(F(1), 0, (UNIT // 2,), UNIT // 2))
    with pytest.raises(InvalidArgument, match=r"above the mass at infinity, got '0\.499'"):
        loose.approx("0.499")
    assert loose.approx("0.501").delta == F("0.501")


@pytest.mark.parametrize(
    "losses",
    [
        LossDistribution(0.5, 0, (UNIT,), 0),  # type: ignore[arg-type]
        LossDistribution(F(1), 0.0, (UNIT,), 0),  # type: ignore[arg-type]
        LossDistribution(F(1), 0, (float(UNIT),), 0),  # type: ignore[arg-type]
        LossDistribution(F(1), 0, (UNIT,), 0.0),  # type: ignore[arg-type]
    ],
)
def test_doubles_are_no_exact_losses(losses: LossDistribution) -> None:
    with pytest.raises(InvalidArgument, match="a step that is a Fraction, and whole numbers"):
        LossDP(losses)


@pytest.mark.parametrize("size", [2, 3])
def test_the_curve_of_a_group_is_near_its_definition(size: int) -> None:
    """The delta of several steps at s is delta(s / size) times the sum of e**(i s / size), i < size."""
    one = LossDP(LossDistribution.gaussian("1/4", "1/256"))
    many = one.group(size)
    for at in (Fraction(0), Fraction(1, 2), Fraction(1)):
        part = float(at / size)
        exact = float(one.delta_at(at / size)) * sum(math.exp(i * part) for i in range(size))
        assert exact * (1 - 1e-12) <= float(many.delta_at(at)) <= 1.01 * exact + 1e-6


def test_far_losses_of_a_group_stay_finite() -> None:
    far = LossDP(LossDistribution.pure(30, "1/4"))
    assert far.group(2).slack == 0
    assert 60 <= (far.group(2).pure or 0) <= 61
