"""Discrete Gaussian noise for an epsilon and a delta: known parameters, and that each of them holds."""

from fractions import Fraction
from itertools import pairwise

import pytest

from discreet.privacy.gaussian_calibration import _parameter, least_sigma_squared
from discreet.privacy.gaussian_cells import delta_of_cells

F = Fraction
KNOWN = [
    (F(1), F(1, 10**6), 1, 1, F(573, 32)), (F(1), F(1, 10**6), 2, 1, F(2287, 64)),
    (F(1), F(1, 10**6), 3, 1, F(107, 2)), (F(1), F(1, 10**6), 5, 1, F(357, 4)),
    (F(1), F(1, 10**6), 10, 1, F(357, 2)), (F(1), F(1, 10**6), 20, 1, F(357)),
    (F(1), F(1, 10**6), 50, 1, F(1785, 2)), (F(1), F(1, 10**8), 5, 1, F(1041, 8)),
    (F(1), F(1, 10**6), 1, 7, F(3499, 4)), (F(1, 10), F(1, 10**5), 1, 1, F(1891, 2)),
    (F(1), F(1, 10**6), 1, 1000, F(17850368)), (F(10), F(1, 10**6), 20, 16, F(2999, 2)),
    (F(5), F(1, 10**6), 20, 16, F(4918)),
]  # fmt: skip
EXTREMES = [
    (F(1, 10**6), F(1, 10**30), 3, 10**20), (F(40), F(1, 10**9), 7, 1), (F(300), F(1, 10**6), 10, 1),
    (F(10**6), F(1, 10**6), 1, 1), (F(0), F(1, 100), 2, 3), (F(2), F(1, 10**200), 1, 1), (F(30), F(1, 2), 100, 5),
]  # fmt: skip


@pytest.mark.parametrize(("epsilon", "delta", "cells", "steps", "parameter"), KNOWN)
def test_the_noise_of_a_promise_is_known(
    epsilon: Fraction, delta: Fraction, cells: int, steps: int, parameter: Fraction
) -> None:
    assert least_sigma_squared(epsilon, delta, cells, steps) == parameter


@pytest.mark.parametrize(
    ("epsilon", "delta", "cells", "steps"), [*(one[:4] for one in KNOWN), *EXTREMES]
)
def test_the_promise_holds_and_a_little_less_noise_would_not_do(
    epsilon: Fraction, delta: Fraction, cells: int, steps: int
) -> None:
    parameter = least_sigma_squared(epsilon, delta, cells, steps)
    assert delta_of_cells(parameter, cells, steps, epsilon) <= delta
    assert delta_of_cells(parameter * F(2047, 2048), cells, steps, epsilon) > delta


def test_the_grid_has_twelve_significant_bits() -> None:
    places = [_parameter(place) for place in range(-4096, 4097)]
    assert _parameter(0) == 1
    assert _parameter(2048 * 7) == 128
    assert all(F(1) < b / a <= 1 + F(1, 2048) for a, b in pairwise(places))
    significant = [one.numerator // (one.numerator & -one.numerator) for one in places]
    assert max(significant) < 2**12
