"""Privacy by epsilon and delta: what follows from it, and what an event is at most."""

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from discreet.errors import InvalidArgument, InvalidNumber
from discreet.privacy import ApproxDP, PureDP
from discreet.privacy.approx_dp import NoGuarantee
from discreet.sampling.enclosures import ball, precision, upper


def test_what_follows_from_epsilon_and_delta() -> None:
    pure, approximate = ApproxDP(Fraction(1), Fraction(0)), ApproxDP(Fraction(1), Fraction(1, 100))
    assert pure.pure == 1
    assert approximate.pure is None
    assert pure.rho == PureDP(Fraction(1)).rho
    assert approximate.rho is None
    with precision(64):
        assert approximate.renyi(arb(1)) is None
        assert upper(pure.renyi(arb(1)) or arb(0)) == upper(PureDP(Fraction(1)).renyi(arb(1)))
    assert approximate.core == PureDP(Fraction(1))
    assert ApproxDP(Fraction(0), Fraction(1, 9)).core is None


def test_the_delta_at_which_epsilon_is_asked_is_that_of_the_guarantee_or_more() -> None:
    promise = ApproxDP(Fraction(1), Fraction(1, 100))
    assert promise.approx("0.01") == promise
    assert promise.approx("0.02").epsilon < 1
    assert promise.delta_at(1) == Fraction(1, 100)
    least = promise.approx("0.02").epsilon
    assert (
        promise.delta_at(least) <= Fraction(2, 100) < promise.delta_at(least - Fraction(1, 10**9))
    )
    with pytest.raises(InvalidNumber, match="at least that of"):
        promise.approx("0.0099")


@pytest.mark.parametrize("chance", ["0", "1e-9", "0.3", "0.7", "1"])
def test_an_event_is_so_likely_on_a_neighbour_at_most(chance: str) -> None:
    """By the definition, for the event and for its complement; and the worst pair reaches it."""
    e, delta, p = math.e, 0.01, float(chance)
    exact = min(1, e * p + delta, 1 - (1 - delta - p) / e)
    with precision(128):
        found = ApproxDP(Fraction(1), Fraction(1, 100)).ceiling(ball(Fraction(chance)))
    assert min(1.0, float(found)) == pytest.approx(exact)


def test_it_promises_nothing() -> None:
    nothing = NoGuarantee("the candidates were taken from the data")
    assert nothing.neighbors == "add_remove"
    for epsilon in (0, "1/2", 10**6):
        assert nothing.delta_at(epsilon) == Fraction(1)
    silent: Any = nothing
    answers = [silent.pure, silent.rho, silent.renyi(arb(1)), silent.ceiling(arb("0.5"))]
    assert answers == [None] * 4
    assert nothing.repeated(7) is nothing.group(3) is nothing
    assert nothing.under("replace_one") == NoGuarantee(nothing.reason, "replace_one")
    with pytest.raises(
        InvalidArgument, match="no epsilon holds at any delta: no privacy guarantee"
    ):
        nothing.approx("1e-6")


def test_public_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument):
        NoGuarantee("why", "some")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        NoGuarantee("why").delta_at(-1)
