"""Tails of the discrete Gaussian law, against sums in decimals, which are another library's."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from flint import arb

from discreet.sampling import gaussian_tails
from discreet.sampling.enclosures import precision
from discreet.sampling.gaussian_tails import _order, _smooth_tail, tail, tail_weight, total_weight

F = Fraction


def sum_of_weights(first: int, sigma_squared: Fraction) -> Decimal:
    """The weights from `first` on, to 60 digits of the first of them."""
    sum_, j = Decimal(0), first
    while True:
        one = (-Decimal(j * j) * sigma_squared.denominator / (2 * sigma_squared.numerator)).exp()
        if one <= sum_ * Decimal(10) ** -70:
            return sum_
        sum_, j = sum_ + one, j + 1


@pytest.mark.parametrize(
    ("sigma_squared", "k", "value"),
    [
        (F(1, 4), 1, "0.106714646479"), (F(4), 5, "0.0114921231684"), (F(100), 40, "3.88078892859e-5"),
        (F(1, 1000), 1, "7.12457640674e-218"), (F(10**20), 10**10, "0.158655253944"),
        (F(10**20), 3 * 10**10, "0.00134989803185"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("bits", [64, 192, 1024])
def test_tails_have_their_known_values(
    sigma_squared: Fraction, k: int, value: str, bits: int
) -> None:
    with precision(bits):
        found = tail(k, sigma_squared)
        assert abs(found / arb(value) - 1) < 1e-11
        assert found.rel_accuracy_bits() > bits - 24


@pytest.mark.parametrize(
    "sigma_squared", [F(1, 90), F(1, 3), F(9, 4), F(40), F(75), F(130), F(1001, 2), F(5000)]
)
def test_tails_enclose_sums_in_decimals(sigma_squared: Fraction) -> None:
    root = math.sqrt(sigma_squared)
    places = {1, 2, 5, *(math.ceil(share * root) for share in (0.3, 1, 2.5, 6, 9, 20, 40))}
    with localcontext() as context:
        context.prec = 90
        context.Emin = -(10**9)
        whole = 1 + 2 * sum_of_weights(1, sigma_squared)
        for k in places:
            exact = sum_of_weights(k, sigma_squared) / whole
            for bits in (80, 256):
                with precision(bits):
                    decimals = arb(str(exact))
                    decimals += arb(0, (decimals * arb(2) ** -190).upper())
                    assert tail(k, sigma_squared).overlaps(decimals)
                    assert tail(1 - k, sigma_squared).overlaps(1 - decimals)


@pytest.mark.parametrize("k", [10**6, 10**7, 10**9])
def test_far_tails_are_bounded_from_above(k: int) -> None:
    with precision(64):
        rough = tail(k, F(10**8))
    with precision(256):
        exact = tail_weight(k, F(10**8)) / total_weight(F(10**8))
        assert rough.overlaps(exact)
        assert exact <= rough.upper() <= exact * arb("1.001")


@pytest.mark.parametrize("sigma_squared", [F(1), F(2), F(4), F(25), F(100)])
@pytest.mark.parametrize("bits", [1, 8, 20])
def test_the_formula_for_wide_noise_is_off_by_less_than_its_bound(
    sigma_squared: Fraction, bits: int
) -> None:
    """Also where it is not used: the bound is proved for all parameters, and two terms or more."""
    if bits > 2 * sigma_squared:
        bits = 1
    with precision(256):
        for k in (1, 2, 3, 7, 20):
            rough = _smooth_tail(k, sigma_squared, bits)
            assert rough.overlaps(tail_weight(k, sigma_squared) / total_weight(sigma_squared))
    assert _order(sigma_squared, bits) >= 2


def test_both_sums_of_all_weights_agree() -> None:
    for sigma_squared in (F(20), F(31), F(100)):
        with precision(64):
            smooth = total_weight(sigma_squared)
        with precision(512):
            assert smooth.overlaps(total_weight(sigma_squared))
            assert smooth.rel_accuracy_bits() > 50


@pytest.mark.parametrize("sigma_squared", [F(1, 2), F(9), F(300)])
def test_what_a_sum_leaves_out_is_in_the_ball(
    sigma_squared: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a guard so small that it would be seen."""
    for k in (1, 4):
        with precision(512):
            exact = tail_weight(k, sigma_squared)
        with precision(64):
            monkeypatch.setattr(gaussian_tails, "_GUARD", -50)
            rough = tail_weight(k, sigma_squared)
            monkeypatch.undo()
        assert rough.contains(exact)
        assert rough.rel_accuracy_bits() < 30
