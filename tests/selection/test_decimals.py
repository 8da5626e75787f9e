"""Decimals: points, borders and the nearest point of every number, by brute force."""

import math
import random
from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from discreet import Decimals
from discreet.errors import InvalidNumber


def test_they_are_zero_and_all_decimals_of_so_many_digits_in_the_range_of_doubles() -> None:
    one_digit = Decimals(1)
    points = [one_digit.point(i) for i in range(one_digit.size)]
    positive = [m * Fraction(10) ** e for e in range(-307, 308) for m in range(1, 10)]
    assert points == [*(-one for one in reversed(positive)), Fraction(0), *positive]
    assert Decimals().size == 1_107_001
    assert Decimals()[0] == -Decimal("9.99e307")
    assert Decimals()[Decimals().size - 1] == Decimal("9.99e307")
    assert all(math.isfinite(float(point)) for point in points)


@pytest.mark.parametrize("digits", [1, 3, 9])
def test_a_point_is_the_decimal_that_it_is_written_as(digits: int) -> None:
    decimals = Decimals(digits)
    random.seed(digits)
    for index in [random.randrange(decimals.size) for _ in range(300)]:
        assert Fraction(decimals[index]) == decimals.point(index)
        assert decimals.nearest(np.array([decimals.point(index)], dtype=object)) == [index]
        assert decimals.point(index - 1 if index else 0) <= decimals.point(index)
    assert str(decimals[decimals.zero]) == "0"


def test_points_are_written_without_an_exponent_where_it_is_not_needed() -> None:
    decimals = Decimals()
    [index] = decimals.nearest(np.array([31_415]))
    assert str(decimals[index]) == "31400"
    [index] = decimals.nearest(np.array([-0.0314159]))
    assert str(decimals[index]) == "-0.0314"


def _near(decimals: Decimals) -> list[Fraction]:
    """Return numbers at, just below and just above borders, points and powers of ten."""
    random.seed(decimals.digits)
    places = [1, 2, decimals.size - 1, *(decimals.zero + i for i in range(-3, 4))]
    for power in range(0, 615, 123):
        middle = decimals.zero + power * decimals.per_power
        places += [i for i in range(middle - 2, middle + 4) if 0 < i < decimals.size]
    places += [random.randrange(1, decimals.size) for _ in range(20)]
    near = []
    for place in places:
        for exact in (decimals.border(place), decimals.point(place)):
            double = float(exact)
            near += [
                exact, exact * (1 + Fraction(1, 10**30)), exact * (1 - Fraction(1, 10**30)),
                *(Fraction(d) for d in (double, math.nextafter(double, 0), math.nextafter(double, 1e308))),
            ]  # fmt: skip
    return near


def _expected(decimals: Decimals, number: Fraction) -> int:
    """Return the index by bisection of the borders alone."""
    return bisect_right(range(1, decimals.size), number, key=decimals.border)


@pytest.mark.parametrize("digits", [1, 3, 9])
def test_a_number_has_the_index_of_the_last_border_that_is_not_above_it(digits: int) -> None:
    decimals = Decimals(digits)
    numbers = _near(decimals)
    expected = [_expected(decimals, number) for number in numbers]
    assert decimals.nearest(np.array(numbers, dtype=object)).tolist() == expected
    doubles = [float(number) for number in numbers]
    expected = [_expected(decimals, Fraction(double)) for double in doubles]
    assert decimals.nearest(np.array(doubles)).tolist() == expected


@pytest.mark.parametrize("digits", [1, 2, 9])
def test_integers_of_64_bits_are_placed_exactly(digits: int) -> None:
    decimals = Decimals(digits)
    middles = [(2 * m + 1) * 10**e // 2 for m in (1, 9, 95, 12345678) for e in range(1, 11)]
    numbers = [n + d for n in middles for d in (-1, 0, 1)]
    numbers += [0, 1, 2**53 + 1, 2**63 - 1]
    signed = [sign * n for n in numbers for sign in (1, -1) if n < 2**63]
    expected = [_expected(decimals, Fraction(n)) for n in signed]
    assert decimals.nearest(np.array(signed, dtype=np.int64)).tolist() == expected
    assert decimals.nearest(np.array([2**64 - 1], dtype=np.uint64)) == [
        _expected(decimals, Fraction(2**64 - 1))
    ]


def test_numbers_beyond_all_points_go_to_the_ends_and_the_smallest_to_zero() -> None:
    decimals = Decimals(2)
    last = decimals.size - 1
    numbers = np.array([-math.inf, -1.7e308, 1.7e308, math.inf, 5e-324, -5e-324, 4e-308, 6e-308])
    zero = decimals.zero
    expected = [0, 0, last, last, zero, zero, zero, zero + 1]
    assert decimals.nearest(numbers).tolist() == expected
    beyond = np.array([10**400, -(10**400), Fraction(1, 10**400)], dtype=object)
    assert decimals.nearest(beyond).tolist() == [last, 0, zero]


@pytest.mark.parametrize("digits", [0, 10, 2.5, "three", None])
def test_digits_are_a_whole_number_from_1_to_9(digits: object) -> None:
    with pytest.raises(InvalidNumber, match="digits must be a whole number from 1 to 9"):
        Decimals(digits)  # type: ignore[arg-type]


def test_totals_are_sums_of_points() -> None:
    decimals = Decimals(1)
    sums = [0, *accumulate(map(decimals.point, range(decimals.size)))]
    for index in (0, 1, 777, *range(decimals.zero - 20, decimals.zero + 21), decimals.size):
        assert decimals.total(index) == sums[index]


def test_an_index_beyond_the_points_is_refused() -> None:
    for index in (-1, Decimals(1).size):
        with pytest.raises(IndexError, match="there are 11,071 decimals"):
            Decimals(1)[index]
