"""Sums and means with Gaussian noise: their guarantee against all neighbours of small tables, in exact laws."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, product
from typing import Any

import pytest
from flint import arb, arb_poly, fmpz_poly

import discreet
from discreet.privacy import Composition, DiscreteGaussianDP, ReplacedSumsDP, gaussian_cells
from discreet.privacy.gaussian_cells import (
    Cells,
    delta_of_moves,
    least_common_parameter,
)
from discreet.sampling.enclosures import ball, lower, precision
from discreet.selection.verb_calls import bill_of

F = Fraction
GROUPS = 3
Move = tuple[tuple[Fraction, int], ...]
"""The numbers that move: the parameter of their noise, and by how many steps."""


@cache
def masses(sigma_squared: Fraction, multiple: int) -> fmpz_poly:
    """The law of a multiple of the noise from its least value on, rounded down to multiples of 2**-200."""
    last = math.isqrt(int(180 * sigma_squared)) + 1
    with precision(300):
        weights = [(-ball(F(j * j) / (2 * sigma_squared))).exp() for j in range(-last, last + 1)]
        whole = (sum(weights, arb(0)) * arb(1, "1e-30")).upper()
        chances = [0] * (2 * last * multiple + 1)
        chances[::multiple] = [math.floor(lower(one / whole) * 2**200) for one in weights]
    return fmpz_poly(chances)


@cache
def least_delta(move: Move, epsilon: Fraction) -> Fraction:
    """A bound from below, and hardly below, on the delta of neighbours: summed over all losses above epsilon."""
    rates = [step / sigma_squared for sigma_squared, step in move]
    bottom = math.lcm(*(rate.denominator for rate in rates))
    unit = F(math.gcd(*(int(rate * bottom) for rate in rates)), bottom)
    whole, lowest = fmpz_poly([1]), 0
    for (sigma_squared, _), rate in zip(move, rates, strict=True):
        part = masses(sigma_squared, int(rate / unit))
        whole, lowest = whole * part, lowest - part.degree() // 2
    rho = sum((F(step * step) / (2 * sigma_squared) for sigma_squared, step in move), F(0))
    first = max(math.floor((epsilon - rho) / unit) + 1, lowest)
    above = [int(one) for one in whole.coeffs()][first - lowest :]
    with precision(300):
        scale = arb(2) ** (200 * len(move))
        kept = arb_poly(fmpz_poly(above))((-ball(unit)).exp())
        inside = ball(epsilon - rho - first * unit).exp() * kept
        return lower((arb(sum(above)) - inside) / scale)


def units(low: int, high: int, most: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """All records: in each of up to so many groups it adds a row with a number. A row without one adds nothing."""
    kept = [(1, x) for x in range(low, high + 1)]
    for size in range(most + 1):
        for groups in combinations(range(GROUPS), size):
            for numbers in product(kept, repeat=size):
                rows = dict(zip(groups, numbers, strict=True))
                yield tuple(rows.get(group, (0, 0)) for group in range(GROUPS))


def differences(low: int, high: int, most: int, neighbors: str) -> set[tuple[tuple[int, int], ...]]:
    """How far the counts and the sums of neighbours are apart, in all groups: the other records cancel."""
    every = list(units(low, high, most))
    nothing = ((0, 0),) * GROUPS
    others = [nothing] if neighbors == "add_remove" else every
    return {
        tuple(sorted((abs(a[0] - b[0]), abs(a[1] - b[1])) for a, b in zip(*two, strict=True)))
        for two in product(every, others)
    }


def asked(verb: Any, low: int, high: int, most: int, **terms: Any) -> Any:
    """The guarantee of a question about groups."""
    groups = {"by": "g", "groups": range(GROUPS), "privacy_unit": "u", "max_groups": most}
    bounds = {"minimum": low, "maximum": high, "step": 1}
    return bill_of(verb, "no.csv", "v", **groups, **bounds, **terms).guarantee


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize(("low", "high"), [(-1, 2), (-1, 3), (0, 2), (-2, 2)])
@pytest.mark.parametrize("rho", [F(1, 2), F(3, 2)])
def test_no_neighbours_of_sums_have_a_larger_delta(
    low: int, high: int, most: int, neighbors: str, rho: Fraction
) -> None:
    promise = asked(discreet.sum, low, high, most, neighbors=neighbors, rho=rho)
    assert isinstance(promise, DiscreteGaussianDP | ReplacedSumsDP)
    assert promise.rho == rho
    for epsilon in (F(1, 2), F(2), F(7)):
        least = promise.delta_at(epsilon)
        worst = F(0)
        for difference in differences(low, high, most, neighbors):
            move = tuple((promise.sigma_squared, total) for _, total in difference if total)
            worst = max(worst, least_delta(move, epsilon)) if move else worst
        assert worst <= least
        # Where one number moves farther than another the bound counts moves that no record makes at once.
        is_mixed = isinstance(promise, ReplacedSumsDP) and (low, high) != (-2, 2)
        assert worst > least * F(10**6 - 1, 10**6) or is_mixed


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize(("low", "high"), [(-1, 1), (0, 3)])
def test_no_neighbours_of_means_have_a_larger_delta(low: int, high: int, most: int) -> None:
    middle = (low + high) // 2
    promise = asked(discreet.mean, low, high, most, neighbors="add_remove", rho=1)
    assert isinstance(promise, Composition)
    assert promise.rho is not None
    assert promise.rho <= 1
    count, total = _in_order(promise)
    for epsilon in (F(1, 2), F(3)):
        least = promise.delta_at(epsilon)
        for difference in differences(low - middle, high - middle, most, "add_remove"):
            move = tuple(
                pair for n, s in difference for pair in ((count, n), (total, s)) if pair[1]
            )
            assert not move or least_delta(move, epsilon) <= least


def _in_order(promise: Composition) -> tuple[Fraction, Fraction]:
    """The parameters of the noise of a count and of a sum, of which the second is the larger or equal one."""
    parts: Any = [part for part, n in promise.parts for _ in range(n)]
    return tuple(sorted(part.sigma_squared for part in parts))


MEANS = [(1, 1, 1), (3, 1, 2), (2, 2, 6)]


@pytest.mark.parametrize(("cells", "rows", "steps"), MEANS)
@pytest.mark.parametrize("epsilon", [F(2), F(5)])
def test_both_numbers_of_a_mean_together_have_the_delta_that_is_charged(
    cells: int, rows: int, steps: int, epsilon: Fraction
) -> None:
    """Unlike numbers by one law, or by their losses, and by sums over all noise."""
    for scale in (F(1, 3), F(2), F(9)):
        moves = (
            Cells(scale * rows**2, cells, rows), Cells(scale * steps**2, cells, steps),
        )  # fmt: skip
        move = tuple((one.sigma_squared, one.steps) for one in moves for _ in range(one.cells))
        exact, found = least_delta(move, epsilon), delta_of_moves(moves, epsilon)
        assert exact <= found <= exact * F(10**9 + 1, 10**9) + F(1, 10**28)


def test_the_noise_of_a_mean_is_calibrated_as_one() -> None:
    """Each part at half of epsilon and all of delta would have 2075/32, and only 2.97e-10 together."""
    moves = (Cells(F(1), 1, 1), Cells(F(10**10), 1, 10**5))
    factor = least_common_parameter(F(1), F(1, 10**6), (moves,))
    halves = least_common_parameter(F(1, 2), F(1, 10**6), (moves[:1],))
    assert halves == F(2075, 32)
    assert F(35) < factor < F(36)
    apart = tuple(one._replace(sigma_squared=halves * one.sigma_squared) for one in moves)
    assert abs(delta_of_moves(apart, F(1)) / F("2.97e-10") - 1) < F(1, 100)


def test_unlike_numbers_that_fit_no_grid_are_known_by_rho() -> None:
    moves = (Cells(F(1, 50), 2, 10**9 + 7), Cells(F(1, 51), 3, 10**9 + 9))
    assert delta_of_moves(moves, F(10**30)) < F(1, 10**9)
    assert delta_of_moves(moves, F(1)) == 1


def test_answers_with_gaussian_noise_compose_exactly() -> None:
    one, other = DiscreteGaussianDP(F(9), 2), DiscreteGaussianDP(F(36), 1, 2)
    both = discreet.compose(one, other)
    exact = delta_of_moves((Cells(F(9), 2, 1), Cells(F(36), 1, 2)), F(1))
    assert both.delta_at(1) == exact
    assert both.bounds(epsilon=1).winner == "single"
    assert abs(both.approx(exact).epsilon - 1) < F(1, 10**6)
    assert both.approx("1e-6").epsilon < both.bounds("1e-6").values["zcdp"]
    assert reduce(max, (part.delta_at(1) for part, _ in both.parts)) < exact


def test_each_kind_that_is_added_narrows_the_spread_as_worked_out_by_hand() -> None:
    moves = (Cells(F(4), 3, 1), Cells(F(9), 1, 3), Cells(F(16), 2, 2))
    # The rates are 1/4, 1/3 and 1/8, of which the common ones are 1/12 and then 1/24.
    one = 1 / (F(16) / 12 + F(9) / 9)
    two = 1 / (F(9) / (9 * 12 + 16 * 9) + F(4) / 32)
    assert list(gaussian_cells._spreads(moves)) == [2, 8, one, two]
    assert gaussian_cells._common_rate(moves) == F(1, 24)


@pytest.mark.parametrize("epsilon", [F(1, 2), F(3)])
def test_three_kinds_together_have_the_exact_delta(epsilon: Fraction) -> None:
    for scale in (F(1), F(8)):
        moves = (Cells(4 * scale, 1, 1), Cells(9 * scale, 1, 3), Cells(16 * scale, 1, 2))
        move = tuple((one.sigma_squared, one.steps) for one in moves)
        exact, found = least_delta(move, epsilon), delta_of_moves(moves, epsilon)
        assert exact <= found <= exact * F(10**6 + 1, 10**6) + F(1, 10**28)
