"""The floating-point assumption and the bounds derived from it, against balls."""

import math
import threading
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from discreet.sampling.enclosures import (
    CUT,
    CUT_WEIGHT,
    FUNCTION_ERROR,
    WEIGHT_ERROR,
    DyadicRate,
    NaturalRate,
    Rate,
    ball,
    fast_weights,
    has_fast_pass,
    lower,
    overflowing,
    precision,
    probability_above,
    upper,
)

etas = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)
dyadic = st.tuples(st.integers(1, 40), st.integers(1, 3)).flatmap(
    lambda yz: st.builds(DyadicRate, st.integers(1, 2 ** yz[0] - 1), st.just(yz[0]), st.just(yz[1]))
)


def exact(value: float) -> arb:
    return arb(fmpq(*Fraction(value).as_integer_ratio()))


@pytest.mark.parametrize("spread", [1e-300, 1e-8, 1.0, CUT])
def test_the_exponential_keeps_the_assumed_error(spread: float) -> None:
    exponents = -np.abs(np.random.default_rng(1).normal(size=20_000)) * spread
    exponents = np.concatenate((np.maximum(exponents, -CUT), [0.0, -CUT, -5e-324, -math.ulp(1.0)]))
    with precision(128):
        for exponent, value in zip(exponents.tolist(), np.exp(exponents).tolist(), strict=True):
            true = exact(exponent).exp()
            assert abs(exact(value) - true) < FUNCTION_ERROR / 100 * true, exponent


def test_the_logarithm_keeps_the_assumed_error() -> None:
    draws = np.random.default_rng(2).random(20_000)
    arguments = np.concatenate(
        (draws, draws**9, 1 - draws * 2.0**-40, [2.0**-63, math.nextafter(1, 0)])
    )
    with precision(128):
        for argument, value in zip(arguments.tolist(), np.log(arguments).tolist(), strict=True):
            true = exact(argument).log()
            assert abs(exact(value) - true) < FUNCTION_ERROR / 100 * abs(true), argument


def check_weight(gap: Fraction, rate: Rate) -> None:
    try:
        double = float(gap)
    except OverflowError:
        double = math.inf
    with overflowing():
        fast = float(fast_weights(np.array([double]), rate)[0])
    with precision(256):
        true = rate.decay(gap)
        assert abs(exact(fast) - true) <= WEIGHT_ERROR * exact(fast) + arb(CUT_WEIGHT)


@given(st.fractions(min_value=0, max_value=10**9), etas)
def test_fast_weights_keep_the_proved_error(gap: Fraction, eta: Fraction) -> None:
    check_weight(gap, NaturalRate(eta))


@given(st.floats(0, 100), st.floats(0.01, 1))
def test_fast_weights_keep_the_proved_error_where_it_is_largest(
    exponent: float, eta: float
) -> None:
    check_weight(Fraction(exponent) / Fraction(eta), NaturalRate(Fraction(eta)))


@given(st.integers(0, 10**4), dyadic)
def test_fast_weights_of_base_two_keep_the_proved_error(gap: int, rate: DyadicRate) -> None:
    check_weight(Fraction(gap), rate)


@pytest.mark.parametrize("gap", [0, 10**6, 10**300, 10**400])
def test_far_weights_are_kept_as_an_enclosure(gap: int) -> None:
    check_weight(Fraction(gap), NaturalRate(Fraction(1, 2)))


def test_weights_of_base_two_become_exact() -> None:
    with precision(200):
        assert DyadicRate(3, 2, 2).decay(Fraction(10)).is_exact()
        assert DyadicRate(3, 2, 2).decay(Fraction(10)) == arb(fmpq(3**20, 4**20))


@given(st.one_of(dyadic, etas.map(NaturalRate)), st.integers(0, 40))
def test_a_weight_is_the_exponential_of_minus_its_exponent(rate: Rate, gap: int) -> None:
    with precision(256):
        exponent = rate.exponent(Fraction(gap))
        assert (-exponent).exp().overlaps(rate.decay(Fraction(gap)))
        assert exponent.rad() <= (abs(exponent) + 1) * arb(2) ** -200


@given(etas)
def test_rates_are_close_to_their_doubles(eta: Fraction) -> None:
    assert abs(Fraction(NaturalRate(eta).double) - eta) <= eta / 2**52


@given(dyadic)
def test_rates_of_base_two_are_close_to_their_doubles(rate: DyadicRate) -> None:
    with precision(512):
        true = rate.z * (rate.y * arb(2).log() - arb(rate.x).log())
        assert abs(exact(rate.double) - true) <= true / 2**52


@pytest.mark.parametrize(
    "eta", [Fraction(1, 10**300), Fraction(10**300), Fraction(10**400), Fraction(1, 10**400)]
)
def test_rates_beyond_doubles_have_no_fast_pass(eta: Fraction) -> None:
    assert not has_fast_pass(NaturalRate(eta))
    assert has_fast_pass(NaturalRate(Fraction(1, 10**200)))


def test_bounds_are_outside_the_ball() -> None:
    with precision(30):
        third = ball(Fraction(1, 3))
    assert lower(third) < Fraction(1, 3) < upper(third)
    assert upper(third) - lower(third) < Fraction(1, 2**28)
    assert lower(arb(3)) == upper(arb(3)) == 3


@pytest.mark.parametrize(
    ("middle", "radius", "found"),
    [
        ("0", "1e1000000000000000000000", 1),
        ("-1e1000000000000000000000", "1e1000000000000000000000", 1),
        ("1e1000000000000000000000", "1", 1),
        ("-1e1000000000000000000000", "1", 0),
        ("0.5", "0.75", 1),
        ("0.5", "0.25", Fraction(3, 4)),
        ("-0.5", "0.25", 0),
        ("0", "0.125", Fraction(1, 8)),
        ("nan", "0", 1),
    ],
)
def test_a_probability_is_written_out_only_between_zero_and_one(
    middle: str, radius: str, found: Fraction
) -> None:
    """The other ends of such balls have more digits than memory holds."""
    assert found <= probability_above(arb(middle, radius)) <= found + Fraction(1, 2**29)


def test_precision_is_put_back_and_is_kept_apart_between_threads() -> None:
    before = flint.ctx.prec
    seen = []

    def other() -> None:
        with precision(999):
            seen.append(flint.ctx.prec)

    with precision(300):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(timeout=0.05)
        assert flint.ctx.prec == 300
    thread.join()
    assert seen == [999]
    assert flint.ctx.prec == before


@pytest.mark.parametrize("gap", [Fraction(1, 2), Fraction(7, 3)])
def test_a_dyadic_rate_refuses_a_gap_that_is_not_whole(gap: Fraction) -> None:
    """The fast pass would count its fraction, so that two answers would follow from the same bits."""
    with precision(64), pytest.raises(ValueError, match="whole numbers"):
        DyadicRate(1, 1, 1).decay(gap)
    with precision(64):
        assert DyadicRate(1, 1, 1).decay(Fraction(2)) == arb(1) / 4
