"""Exact numbers over one denominator: none is rounded, and what does not fit is left to slower ways."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.base.numbers import float_up
from discreet.sampling.quotients import Quotients, read_quotients

SHORT = st.integers(1 - 2**53, 2**53 - 1)
NUMBERS = (
    st.integers(-(2**12), 2**12)
    | st.decimals(-9999, 9999, places=3)
    | st.fractions(-99, 99, max_denominator=9)
    | st.integers(-999, 999).map(lambda k: k / 8)
)


def read(numbers: Any) -> Quotients | None:
    return read_quotients(numbers, {*map(type, numbers)})


@given(st.lists(NUMBERS, min_size=1, max_size=30))
def test_numbers_of_all_types_stay_what_they_are(numbers: list[Any]) -> None:
    quotients = read(numbers)
    assert quotients is not None
    assert [*quotients] == [Fraction(one) for one in numbers]
    assert quotients.fractions().tolist() == [*quotients]
    assert len(quotients) == len(numbers)
    assert quotients.are_distinct() == (len({*numbers}) == len(numbers))


@given(st.lists(SHORT, min_size=1, max_size=9), st.integers(1, 2**53 - 1))
@example([2**53 - 1, 1 - 2**53, 0, 1], 1)
@example([2**53 - 1, 1, -1], 2**53 - 1)
@example([2**52 + 1, -(2**52) - 1], 2)
@example([1, -1, 3], 2**52)
def test_the_least_doubles_and_integers_above_are_exact(tops: list[int], bottom: int) -> None:
    quotients = Quotients(np.array(tops, dtype=np.int64), bottom)
    exact = [Fraction(top, bottom) for top in tops]
    doubles, are_doubles = quotients.doubles_up()
    assert doubles.tolist() == [float_up(one) for one in exact]
    assert are_doubles.tolist() == [Fraction(float_up(one)) == one for one in exact]
    integers, are_integers = quotients.integers_up()
    assert integers.tolist() == [math.ceil(one) for one in exact]
    assert are_integers.tolist() == [one.denominator == 1 for one in exact]


@given(st.lists(st.decimals(allow_nan=True, allow_infinity=True), min_size=1, max_size=5))
def test_decimals_are_read_exactly_or_not_at_all(numbers: list[Decimal]) -> None:
    quotients = read(numbers)
    assert quotients is None or [*quotients] == [Fraction(one) for one in numbers]


WITH_ODD_HASHES = [Decimal(-1), Decimal(-2), Decimal("-0"), Decimal("3e2")]


@pytest.mark.parametrize("has_long_hashes", [True, False])
@given(
    places=st.integers(0, 15),
    tops=st.lists(st.integers(1 - 2**53, 2**53 - 1), max_size=9),
)
@example(places=0, tops=[2**53 - 1, 1 - 2**53])
@example(places=15, tops=[2**53 - 1, 1 - 2**53, 1, 0, -1, -2])
def test_decimals_of_as_many_places_as_fit_are_read(
    has_long_hashes: bool, places: int, tops: list[int]
) -> None:
    """By their hashes and by products; -1 and -2 have one hash."""
    numbers = [Decimal(top).scaleb(-places) for top in tops]
    numbers += [one for one in WITH_ODD_HASHES if abs(one) * 10**places < 2**53] + [Decimal(0)]
    numbers = [one for one in numbers if max(0, one.adjusted()) + places <= 15]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.sampling.quotients._HAS_LONG_HASHES", has_long_hashes)
        quotients = read(numbers)
    assert quotients is not None
    assert [*quotients] == [Fraction(one) for one in numbers]


TOO_LONG: dict[str, list[Any]] = {
    "a long integer": [2**53],
    "a longer integer": [10**30],
    "an integer beyond C": [-(2**63)],
    "a long float": [2.0**53],
    "a small float": [2.0**-60],
    "a float of many places": [0.1],
    "an infinity": [1.5, math.inf],
    "a float that is NaN": [1.5, math.nan],
    "a large decimal": [Decimal("1e400000")],
    "two large decimals": [Decimal("1e999999"), Decimal("2e999999")],
    "a small decimal": [Decimal("1e-400000"), Decimal(1)],
    "a decimal of many places": [Decimal("1e-16")],
    "a decimal of many figures": [Decimal("1.2345678901234567890123456789")],
    "a zero with an exponent": [Decimal("0e5000")],
    "an infinite decimal": [Decimal("inf"), Decimal(1)],
    "two infinite decimals": [Decimal("inf"), Decimal("-inf")],
    "a decimal that is NaN": [Decimal("nan"), Decimal(1)],
    "a signaling NaN": [Decimal(1), Decimal("snan")],
    "a long denominator": [Fraction(1, 2**53)],
    "a longer denominator": [Fraction(1, 10**40)],
    "many denominators": [Fraction(1, p) for p in (65521, 65519, 65497, 65479)],
    "products": [Fraction(2**52 + 1, 2), Fraction(1, 3)],
    "decimals and thirds": [Decimal("1e-15"), Fraction(1, 3 * 7 * 11)],
    "truth": [True, 2],
    "a text": ["1", 2],
    "nothing": [None],
    "a number of numpy": [np.int64(3)],
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_what_is_not_finite_or_does_not_fit_is_not_read(name: str) -> None:
    numbers = TOO_LONG[name]
    assert read(numbers) is None
    if len({*map(type, numbers)} - {int}) == 1:
        assert read([5, *numbers]) is None, "among others"


def test_the_context_of_the_caller_rounds_nothing() -> None:
    from decimal import localcontext

    numbers = [Decimal("1.23456"), Decimal("-9.5"), Decimal("1e3")]
    with localcontext(prec=2, Emax=2, Emin=-2):
        quotients = read(numbers)
    assert quotients is not None
    assert [*quotients] == [Fraction(one) for one in numbers]
    with localcontext() as context:
        context.clear_traps()
        assert read([Decimal("1e-18"), Decimal(10**18)]) is None


def test_parts_of_a_fraction_may_be_of_numpy() -> None:
    parts: list[Any] = [np.int64(2), np.int64(6)]
    quotients = read([Fraction(*parts), Fraction(1, 2)])
    assert quotients is not None
    assert [*quotients] == [Fraction(1, 3), Fraction(1, 2)]
