"""The exact delta of cells with discrete Gaussian noise, against sums over all noise, and against brute force."""

import math
from fractions import Fraction
from functools import cache, reduce
from itertools import pairwise, product

import pytest
from flint import arb

from discreet.privacy import gaussian_cells
from discreet.privacy.gaussian_cells import _parameter, delta_of_cells, least_sigma_squared
from discreet.privacy.pld import UNIT
from discreet.sampling.enclosures import ball, lower, precision, upper

F = Fraction


@cache
def law(sigma_squared: Fraction, multiple: int = 1) -> dict[int, arb]:
    """The law of a multiple of the noise, without what is below 10**-110."""
    last = math.isqrt(int(510 * sigma_squared)) + 1
    weights = {j: (-ball(j * j / (2 * sigma_squared))).exp() for j in range(-last, last + 1)}
    whole = sum(weights.values(), arb(0))
    if multiple == 0:
        return {0: arb(1)}
    return {multiple * j: one / whole for j, one in weights.items()}


def added(one: dict[int, arb], two: dict[int, arb]) -> dict[int, arb]:
    sums: dict[int, arb] = {}
    for (a, p), (b, q) in product(one.items(), two.items()):
        sums[a + b] = sums.get(a + b, arb(0)) + p * q
    return sums


def exact_delta(sigma_squared: Fraction, moves: tuple[int, ...], epsilon: Fraction) -> arb:
    """The delta of numbers that move by these steps: P(s) (1 - e**(epsilon - loss)) summed over larger losses."""
    with precision(400):
        sums = reduce(added, (law(sigma_squared, move) for move in moves))
        half = F(sum(move * move for move in moves), 2)
        losses = {s: (s + half) / sigma_squared for s in sums}
        parts = (
            p * -(ball(epsilon - losses[s])).expm1() for s, p in sums.items() if losses[s] > epsilon
        )
        return sum(parts, arb(0))


KNOWN = [
    (F(4), F(1), 1, 1, "0.00724877684595"), (F(4), F(1), 2, 1, "0.0379694447235"),
    (F(4), F(1), 1, 2, "0.119611605352"), (F(1), F(1, 2), 1, 1, "0.203982813763"),
    (F(1, 4), F(1), 1, 1, "0.603204869167"), (F(1, 4), F(0), 2, 1, "0.808875440275"),
    (F(573, 32), F(1), 1, 1, "9.97292316729e-7"), (F(25), F(1), 5, 1, "0.00319288308426"),
    (F(100), F(1), 1, 10, "0.126643362075"), (F(357, 2), F(1), 10, 1, "9.99275973119e-7"),
    (F(2), F(3), 2, 1, "0.00120734978761"), (F(11424), F(1), 1, 25, "7.80484168978e-7"),
    (F(11424), F(1), 2, 17, "3.33301507328e-7"), (F(11424), F(1), 10, 8, "9.98781337833e-7"),
    (F(357, 2), F(1), 20, 1, "2.17803906691e-4"), (F(107, 2), F(1), 3, 1, "9.97728497841e-7"),
]  # fmt: skip


@pytest.mark.parametrize(("sigma_squared", "epsilon", "cells", "steps", "value"), KNOWN)
def test_delta_has_its_known_values(
    sigma_squared: Fraction, epsilon: Fraction, cells: int, steps: int, value: str
) -> None:
    found = delta_of_cells(sigma_squared, cells, steps, epsilon)
    assert abs(found / F(value) - 1) < F(1, 10**11)


@pytest.mark.parametrize("sigma_squared", [F(1, 4), F(1), F(7, 3), F(4), F(573, 32)])
@pytest.mark.parametrize(
    ("cells", "steps"), [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (1, 5), (4, 1)]
)
def test_delta_is_not_below_the_exact_one_and_hardly_above(
    sigma_squared: Fraction, cells: int, steps: int
) -> None:
    for epsilon in (F(0), F(1, 10), F(1), F(3), F(10), F(cells * steps**2, 2) / sigma_squared):
        exact = exact_delta(sigma_squared, (steps,) * cells, epsilon)
        found = delta_of_cells(sigma_squared, cells, steps, epsilon)
        assert lower(exact) - F(1, 10**100) <= found
        assert found <= upper(exact) * (1 + F(1, 10**15)) + F(1, 10**28)


@pytest.mark.parametrize("sigma_squared", [F(1, 2), F(2), F(6)])
@pytest.mark.parametrize(("cells", "steps"), [(1, 3), (2, 1), (2, 2), (3, 1)])
def test_no_cells_that_move_less_have_a_larger_delta(
    sigma_squared: Fraction, cells: int, steps: int
) -> None:
    for moves in product(range(steps + 1), repeat=cells):
        for epsilon in (F(0), F(1, 3), F(1), F(5, 2)):
            exact = exact_delta(sigma_squared, moves, epsilon)
            assert lower(exact) <= delta_of_cells(sigma_squared, cells, steps, epsilon)


def test_directions_do_not_matter() -> None:
    sigma_squared, epsilon = F(2), F(1, 2)
    with precision(200):
        noise = law(sigma_squared)
        for signs in product((1, -1), repeat=2):
            excess = arb(0)
            for y in product(range(-12, 13), repeat=2):
                here = noise[y[0]] * noise[y[1]]
                there = noise[y[0] - signs[0]] * noise[y[1] - signs[1]]
                excess += arb.max(here - ball(epsilon).exp() * there, arb(0))
            found = delta_of_cells(sigma_squared, 2, 1, epsilon)
            assert abs(excess - ball(found)) < 1e-12


@pytest.mark.parametrize("cells", [2, 5, 40])
def test_the_law_of_a_sum_and_the_sum_of_laws_agree(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above parameter 4 by one law, below by convolution: here both ways, at the same parameters."""
    for sigma_squared, epsilon in ((F(4), F(1)), (F(9, 2), F(2)), (F(12), F(1, 2))):
        by_law = delta_of_cells(sigma_squared, cells, 1, epsilon)
        monkeypatch.setattr(gaussian_cells, "_SMOOTH", 100)
        by_sums = delta_of_cells(sigma_squared, cells, 1, epsilon)
        monkeypatch.undo()
        assert abs(by_law - by_sums) <= by_law / 10**11 + F(1, 10**25)


@pytest.mark.parametrize("sigma_squared", [F(2, 3), F(1), F(2)])
@pytest.mark.parametrize("cells", [2, 3])
def test_the_factors_of_the_law_of_a_sum_hold_below_the_parameter_where_it_is_used(
    sigma_squared: Fraction, cells: int
) -> None:
    """At small parameters they are felt: of two cells some chances are near the ends of what is allowed."""
    with precision(300):
        sums = reduce(added, [law(sigma_squared)] * cells)
        one = law(cells * sigma_squared)
        moves = (gaussian_cells.Cells(sigma_squared, cells, 1),)
        factors = gaussian_cells._off(moves, 300)
        ratios = [sums[s] / one[s] for s in range(-6, 7)]
        assert all(factors.contains(ratio) for ratio in ratios)
        farthest = arb(0)
        for ratio in ratios:
            farthest = arb.max(farthest, abs(ratio.log()))
        assert farthest > factors.log().rad() / 3 or cells > 2


def test_a_great_many_cells_with_little_noise_are_known_by_rho_alone() -> None:
    few, many = gaussian_cells._MOST_CONVOLVED, gaussian_cells._MOST_CONVOLVED + 1
    epsilon = F(few, 6) + 400
    exact, rough = (delta_of_cells(F(3), cells, 1, epsilon) for cells in (few, many))
    assert 0 < exact < rough < 1
    assert delta_of_cells(F(3), 2**60, 1, epsilon) == 1


def test_noise_beyond_the_masses_counts_as_infinite_loss_or_as_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With so little of the noise in the masses that it would be seen."""
    monkeypatch.setattr(gaussian_cells, "_NATS", 2)
    one = gaussian_cells.Cells(F(2), 1, 1)
    few = gaussian_cells._losses_on.__wrapped__(one, F(1, 4))
    assert few.infinite > 0
    assert sum(few.masses) + few.infinite >= UNIT
    for epsilon in (F(0), F(1)):
        exact = exact_delta(F(2), (1, 1), epsilon)
        rough = gaussian_cells._losses_on.__wrapped__(one._replace(cells=2), F(1, 4)).delta(epsilon)
        assert lower(exact) < rough


KNOWN_PARAMETERS = [
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


@pytest.mark.parametrize(("epsilon", "delta", "cells", "steps", "parameter"), KNOWN_PARAMETERS)
def test_the_noise_of_a_promise_is_known(
    epsilon: Fraction, delta: Fraction, cells: int, steps: int, parameter: Fraction
) -> None:
    assert least_sigma_squared(epsilon, delta, cells, steps) == parameter


@pytest.mark.parametrize(
    ("epsilon", "delta", "cells", "steps"), [*(one[:4] for one in KNOWN_PARAMETERS), *EXTREMES]
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
