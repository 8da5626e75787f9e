"""exp(x) and exp(x) - 1 by the same operations for any x: each line of their bounds, and the bounds themselves."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from discreet.sampling import constant_time
from discreet.sampling.constant_time import (
    LOWEST,
    MULTIPLES,
    SERIES,
    replace_by_exp,
    replace_by_expm1,
)
from discreet.sampling.enclosures import (
    CUT_WEIGHT,
    FUNCTION_ERROR,
    HALF_ULP,
    WEIGHT_ERROR,
    ball,
    precision,
    upper,
)

REST = arb(1) / (2 * MULTIPLES)
SERIES_BOUND = 3.19e-15
"""Of the table in draw.md."""


Replace = Callable[[Any, Any, Any], None]


def of(numbers: NDArray[np.float64], replace: Replace = replace_by_expm1) -> NDArray[np.float64]:
    values, n = numbers.copy(), len(numbers)
    replace(values, np.empty(n, dtype=np.int64), np.empty(n))
    return values


def worst(numbers: NDArray[np.float64], replace: Replace = replace_by_expm1) -> Fraction:
    """Return the largest relative error."""
    with precision(200):
        exact = [ball(Fraction(number)) for number in numbers.tolist()]
        true = [one.exp() if replace is replace_by_exp else one.expm1() for one in exact]
        pairs = zip(of(numbers, replace).tolist(), true, strict=True)
        return max(upper(abs(ball(Fraction(value)) / one - 1)) for value, one in pairs)


def beside_every_multiple() -> NDArray[np.float64]:
    steps = np.arange(1, -2 * MULTIPLES * LOWEST) / (2 * MULTIPLES)
    return -np.concatenate([steps, np.nextafter(steps, 0), np.nextafter(steps, 99)])


def scattered() -> NDArray[np.float64]:
    generator = np.random.default_rng(1)
    sizes = 10.0 ** generator.uniform(-300, 2, 2000)
    return -np.concatenate([sizes, generator.random(4000) * 3, [5e-324, 1e300]])


@pytest.mark.parametrize("numbers", [beside_every_multiple, scattered])
def test_errors_are_far_below_the_bound(numbers: Callable[[], NDArray[np.float64]]) -> None:
    """Which allows for a table that is off by as much as is assumed of numpy."""
    error = worst(numbers())
    assert Fraction(HALF_ULP) < error < Fraction(SERIES_BOUND) + 6 * Fraction(HALF_ULP)


def test_the_ends() -> None:
    ends = np.array([0.0, -0.0, -math.inf, LOWEST, -65.0])
    assert of(ends).tolist() == [0, 0, -1, -1, -1]
    first, second, *others = of(ends, replace_by_exp).tolist()
    assert first == second == 1
    assert 0 < min(others) == max(others) < CUT_WEIGHT


@pytest.mark.parametrize("scale", [1 / 32, 1, 20])
def test_exponentials_are_far_below_their_bound(scale: float) -> None:
    """The table is of C's library, which is off by less than a unit in the last place."""
    numbers = -np.random.default_rng(2).random(3000) * 3 * scale
    assert Fraction(HALF_ULP) < worst(numbers, replace_by_exp) < 5 * Fraction(HALF_ULP)
    assert worst(beside_every_multiple(), replace_by_exp) < 5 * Fraction(HALF_ULP)


def test_the_line_of_the_series() -> None:
    with precision(200):
        left_out = REST**6 / math.factorial(len(SERIES) + 2) * REST.exp() / (1 - REST / 2)
        assert left_out + 2.1 * HALF_ULP < SERIES_BOUND < left_out + 2.2 * HALF_ULP
    for power, coefficient in enumerate(reversed(SERIES), 2):
        exact = Fraction(1, math.factorial(power))
        assert abs(Fraction(coefficient) - exact) <= exact * Fraction(HALF_ULP)


def test_the_lines_of_the_table_and_the_sums() -> None:
    with precision(200):
        tables, rests, products = [arb(0)], [arb(0)], [arb(0)]
        for number in range(1, round(-LOWEST * MULTIPLES) + 1):
            multiple = arb(-number) / MULTIPLES
            for rest in (-REST, REST):
                size = -(multiple + rest).expm1()
                tables.append(-multiple.expm1() * rest.exp() / size)
                rests.append(multiple.exp() * abs(rest.expm1()) / size)
                products.append(abs(multiple.expm1() * rest.expm1()) / size)
        assert 2.015 < max(tables) < 2.02
        assert max(rests) < 1
        assert max(products) < 0.04
        assert arb(LOWEST).exp() * 1.01 < CUT_WEIGHT
    assert SERIES_BOUND / 63 + 2 * HALF_ULP < 3 * HALF_ULP


def test_together() -> None:
    assert 2.02 * FUNCTION_ERROR + SERIES_BOUND + 2.1 * HALF_ULP < 2.1 * FUNCTION_ERROR
    decays = 2 * (4.02 * HALF_ULP * 64 + FUNCTION_ERROR) + 3 * HALF_ULP
    points = 2.1 * FUNCTION_ERROR + 6.03 * HALF_ULP
    heights = FUNCTION_ERROR + (6.03 + 3) * HALF_ULP
    assert 3 * WEIGHT_ERROR < decays + points + heights + 4 * HALF_ULP < 3.1 * WEIGHT_ERROR


def test_a_table_that_is_off_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = constant_time._tables()
    monkeypatch.setattr(constant_time, "_tables", lambda: tables * (1 + 2.0**-44))
    assert (
        FUNCTION_ERROR < worst(beside_every_multiple()) < Fraction(2.1) * Fraction(FUNCTION_ERROR)
    )


def test_a_shorter_series_would_not_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constant_time, "SERIES", SERIES[1:])
    assert worst(scattered()) > 2 * FUNCTION_ERROR
