"""The exact delta of keys by weights: known values, exact enumeration over all small tables, and mutants."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from flint import arb

from discreet.mechanisms import key_rules
from discreet.mechanisms.key_rules import best_weights, largest_weights
from discreet.privacy import ZCDP, GaussianDP, compose, gaussian_keys
from discreet.privacy.gaussian_dp import together
from discreet.privacy.gaussian_keys import GaussianThreshold, WeightedThreshold, chance_of_uneven
from discreet.sampling.enclosures import ball, lower, precision, upper
from discreet.sampling.gaussian_tails import total_weight, weight

F = Fraction
Sums = tuple[int, ...]
Unit = tuple[int, ...]

ONE_CASE = [
    ("11424", 1, 25, "7.80484168978e-7"), ("11424", 2, 17, "3.33301507328e-7"),
    ("11424", 3, 14, "4.03748562807e-7"), ("11424", 10, 8, "9.98781337833e-7"),
]  # fmt: skip
"""The delta at an epsilon of 1 of so many sums that move by so much."""


@pytest.mark.parametrize(("sigma_squared", "keys", "step", "value"), ONE_CASE)
def test_the_delta_of_sums_that_move_alike(
    sigma_squared: str, keys: int, step: int, value: str
) -> None:
    far = GaussianThreshold(F(sigma_squared), 10**5, keys, "add_remove", step)
    assert abs(far.delta_at(F(1)) / F(value) - 1) < F(1, 10**11)


OWN = [(565, "9.61446220751e-7"), (564, "1.01109945960e-6")]


@pytest.mark.parametrize(("least", "value"), OWN)
def test_the_delta_of_ten_own_keys(least: int, value: str) -> None:
    ten = GaussianThreshold(F(11424), least, 10, "add_remove", 8)
    assert abs(ten.parts[0].delta / F(value) - 1) < F(1, 10**11)


TOO_LARGE = [(2, 18, "1.13429655834e-6"), (7, 10, "2.42573368446e-6"), (9, 9, "3.54618000318e-6")]
"""Weights that are rounded to the nearest number or up, at ten keys and a grid of 8."""


@pytest.mark.parametrize(("keys", "step", "value"), TOO_LARGE)
def test_weights_that_are_rounded_up_are_seen(keys: int, step: int, value: str) -> None:
    rounded = GaussianThreshold(F(11424), 565, keys, "add_remove", step)
    assert abs(rounded.delta_at(F(1)) / F(value) - 1) < F(1, 10**11)
    assert not rounded.keeps(F(1), F(1, 10**6))
    weights = [*largest_weights(8, 10)]
    assert step == weights[keys - 1] + 1
    weights[keys - 1] = step
    weights[: keys - 1] = [max(w, step) for w in weights[: keys - 1]]
    assert not WeightedThreshold(F(11424), 565, tuple(weights)).keeps(F(1), F(1, 10**6))


LOWERED = (38, 33, 30, 27, 26, 24, 23, 22, 21, 21, 20, 19, 19, 18, 18, 17, 17, 16, 16, 16)


def test_a_mutant_that_lowers_no_weight() -> None:
    """At an epsilon of 10 one own key of a unit would be shown with 46 times delta, whatever the sum of squares."""
    epsilon, delta = F(10), F(1, 10**6)
    right = WeightedThreshold(F(2999, 2), 223, LOWERED)
    assert right.keeps(epsilon, delta)
    assert delta * (1 - F(1, 100)) < right.delta_at(epsilon) <= delta
    mutant = WeightedThreshold(F(2999, 2), 223, tuple(largest_weights(16, 20)))
    assert not mutant.keeps(epsilon, delta)
    assert abs(mutant.delta_at(epsilon) / F("4.56776873009e-5") - 1) < F(1, 10**11)
    for first, value in ((38, "9.45692658727e-7"), (39, "1.07456050596e-6")):
        one = GaussianThreshold(F(2999, 2), 223, 1, "add_remove", first)
        assert abs(one.delta_at(epsilon) / F(value) - 1) < F(1, 10**11)


@pytest.mark.parametrize(
    ("sigma_squared", "least", "weights"),
    [("30", 14, (4, 3, 2, 2)), ("3", 5, (2, 2, 1)), ("200", 40, (9, 7, 6, 5, 4))],
)
@pytest.mark.parametrize("epsilon", ["0", "1/2", "3"])
def test_units_of_any_number_of_keys_are_covered(
    sigma_squared: str, least: int, weights: tuple[int, ...], epsilon: str
) -> None:
    """Of equal weights the most keys alone are looked at."""
    threshold = WeightedThreshold(F(sigma_squared), least, weights)
    each = [
        GaussianThreshold(F(sigma_squared), least, keys, "add_remove", step)
        for keys, step in enumerate(weights, 1)
    ]
    assert threshold.delta_at(F(epsilon)) == max(one.delta_at(F(epsilon)) for one in each)
    assert len([*threshold._cases()]) == len({*weights})


# --- all tables of at most three units with at most three keys, and all their neighbours


KEYS, UNITS = 3, 3
BITS = 160


def units() -> list[Unit]:
    """Return all sets of keys, of which a unit holds one."""
    return [keys for size in range(KEYS + 1) for keys in combinations(range(KEYS), size)]


def sums_of(table: tuple[Unit, ...], weights: tuple[int, ...]) -> Sums:
    sums = [0] * KEYS
    for unit in table:
        for key in unit:
            sums[key] += weights[len(unit) - 1]
    return tuple(sums)


def neighbours(weights: tuple[int, ...]) -> Iterator[tuple[Sums, Sums]]:
    """Yield the sums of all pairs of neighbours, where one unit comes or goes; keys that do not move left out."""
    pairs = set()
    for size in range(UNITS):
        for table in combinations_with_replacement(units(), size):
            without = sums_of(table, weights)
            for unit in units()[1:]:
                pairs |= {(without, sums_of((*table, unit), weights))}
    for one, two in pairs:
        moved = sorted((a, b) for a, b in zip(one, two, strict=True) if a != b)
        there, here = zip(*moved, strict=True)
        yield there, here
        yield here, there


@cache
def law(sigma_squared: Fraction, least: int, sum_: int, last: int) -> tuple[arb, ...]:
    """Return balls around the probabilities of nothing, of each y from the threshold to `last`, and of more."""
    with precision(BITS):
        if sum_ == 0:
            return (arb(1), *[arb(0)] * (last - least + 2))
        whole = total_weight(sigma_squared)
        shown = [weight(y - sum_, sigma_squared) / whole for y in range(least, last + 1)]
        far = 20 + last - sum_
        rest = (
            sum((weight(x, sigma_squared) for x in range(last - sum_ + 1, far + 40)), arb(0))
            / whole
        )
        return (1 - sum(shown, arb(0)) - rest, *shown, rest)


def excess(threshold: WeightedThreshold, epsilon: Fraction, one: Sums, two: Sums, last: int) -> arb:
    """Return a ball around the largest P(S) - e**epsilon Q(S) of keys with their noisy sums."""
    laws = [
        [law(threshold.sigma_squared, threshold.least, s, last) for s in sums]
        for sums in (one, two)
    ]
    with precision(BITS):
        factor = ball(epsilon).exp()
        total = arb(0)
        for here, there in zip(product(*laws[0]), product(*laws[1]), strict=True):
            p, q = reduce(arb.__mul__, here), reduce(arb.__mul__, there)
            total += (p - factor * q).max(arb(0))
        return total


SMALL = [("3", 6, (3, 2, 1), "1"), ("2", 5, (2, 2, 1), "1/2"), ("1", 4, (2, 1, 1), "2")]


@pytest.mark.parametrize(("sigma_squared", "least", "weights", "epsilon"), SMALL)
def test_no_neighbours_of_all_small_tables_need_more(
    sigma_squared: str, least: int, weights: tuple[int, ...], epsilon: str
) -> None:
    """In balls, so no rounding decides; noisy sums are told, of which the lists of keys are a function."""
    threshold = WeightedThreshold(F(sigma_squared), least, weights)
    promise, worst = threshold.delta_at(F(epsilon)), F(0)
    for one, two in neighbours(weights):
        found = excess(threshold, F(epsilon), one, two, least + 5)
        worst = max(worst, lower(found))
        assert upper(found) <= promise
    assert worst > promise / 50


@pytest.mark.parametrize(
    ("weights", "keys"), [((5, 4, 3), 1), ((4, 3, 2), 2), ((4, 3), 1), ((2, 1), 2)]
)
@pytest.mark.parametrize(("sigma_squared", "least", "epsilon"), [("9", 12, "1"), ("16", 20, "2")])
def test_it_is_needed(
    sigma_squared: str, least: int, epsilon: str, weights: tuple[int, ...], keys: int
) -> None:
    """Of some number of keys: where others' sums are large the bound is reached, so it is exact."""
    step = weights[keys - 1]
    of_these = GaussianThreshold(F(sigma_squared), least, keys, "add_remove", step)
    promise = of_these.delta_at(F(epsilon))
    threshold = WeightedThreshold(F(sigma_squared), least, weights)
    assert promise <= threshold.delta_at(F(epsilon))
    large = least + 60
    worst = max(
        lower(excess(threshold, F(epsilon), *pair, large + 60))
        for start in product((0, large), repeat=keys)
        for moved in [tuple(s + step for s in start)]
        for pair in [(start, moved), (moved, start)]
    )
    assert promise * (1 - F(1, 10**6)) < worst <= promise


def test_a_unit_that_is_replaced_would_need_more() -> None:
    """A key that it has both times moves by a difference of weights: so there are no weights in that relation."""
    threshold = WeightedThreshold(F(30), 30, (4, 2))
    moved = excess(threshold, F(1), (34, 30), (32, 32), 80)
    one, two = (GaussianThreshold(F(30), 30, k, "add_remove", w) for k, w in ((1, 4), (2, 2)))
    assert lower(moved) > 0
    assert upper(excess(threshold, F(1), (64, 60), (60, 64), 110)) > max(
        one.delta_at(F(1)), two.delta_at(F(1))
    )


# --- parts, for many releases


@pytest.mark.parametrize(("sigma_squared", "least", "weights"), [case[:3] for case in SMALL])
def test_the_parts_hold_for_all_small_tables_at_every_epsilon(
    sigma_squared: str, least: int, weights: tuple[int, ...]
) -> None:
    threshold = WeightedThreshold(F(sigma_squared), least, weights)
    together = compose(*threshold.parts)
    pairs = [pair for pair in neighbours(weights) if len(pair[0]) < KEYS]
    for epsilon in (F(0), F(1, 2), F(2), F(5)):
        promise = together.delta_at(epsilon)
        assert threshold.delta_at(epsilon) <= promise
        assert all(upper(excess(threshold, epsilon, *pair, least + 4)) <= promise for pair in pairs)


@pytest.mark.parametrize(("sigma_squared", "least", "weights"), [case[:3] for case in SMALL])
def test_parts_of_rounded_noise_hold_for_all_small_tables(
    sigma_squared: str, least: int, weights: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other parts, with noise that is rounded so coarsely that the chance of it counts."""
    monkeypatch.setattr(gaussian_keys, "_GRAIN", F(1, 4))
    monkeypatch.setattr(gaussian_keys, "_LEAST_SMOOTH", F(0))
    test_the_parts_hold_for_all_small_tables_at_every_epsilon(sigma_squared, least, weights)


def test_the_parts_of_weights() -> None:
    threshold = best_weights(F(1), F(1, 10**6), 10)
    assert threshold is not None
    own, sums = threshold.parts
    assert own.epsilon == 0
    assert own.neighbors == sums.neighbors == "add_remove"
    squares = max(j * threshold.weights[j - 1] ** 2 for j in range(1, 11))
    left = threshold.sigma_squared - 2
    assert isinstance(sums, GaussianDP)
    assert squares / left <= sums.mu**2 <= squares / left * (1 + F(1, 2**50))
    exact = max(one.parts[0].delta for one in threshold._cases())
    assert exact < own.delta < exact * (1 + F(1, 10**8)) < F(1, 10**6)
    assert compose(own, sums).delta_at(F(1)) > F(1, 10**6)  # so they are no single release's price
    assert key_rules.GRIDS[0] == threshold.weights[-1]
    [few] = [WeightedThreshold(F(99), 60, (16,)).parts[1]]
    assert few == ZCDP(F(256, 198))


# --- discrete Gaussian noise as continuous noise that is rounded


def chances(sigma_squared: float, far: int) -> Any:
    """The law of discrete Gaussian noise on -far, ..., far."""
    law = np.exp(-(np.arange(-far, far + 1) ** 2) / (2 * sigma_squared))
    return law / law.sum()


@pytest.mark.parametrize(("sigma_squared", "spread"), [("1", "1/4"), ("3", "1/3"), ("1/3", "3/10")])
def test_noise_that_is_rounded_has_nearly_the_law(sigma_squared: str, spread: str) -> None:
    """By sums over a fine grid of the continuous noise, and of all numbers to which it is rounded."""
    s, v, far = float(F(sigma_squared)), float(F(spread)), 12
    y = np.linspace(-15, 15, 2**15)
    numbers = np.arange(-far, far + 1)
    near = np.exp(-((np.arange(-30, 31)[:, None] - y) ** 2) / (2 * v))
    density = np.exp(-(y**2) / (2 * (s - v)))
    kernel = np.exp(-((numbers[:, None] - y) ** 2) / (2 * v)) / near.sum(axis=0)
    rounded = (kernel * density).sum(axis=1) / density.sum()
    least = float((chances(s, far) / rounded)[6:-6].min())
    kept = 1 - float(chance_of_uneven(F(spread)))
    assert kept < least
    assert spread != "3/10" or 1 - least > (1 - kept) / 3


def losses_of(sigma_squared: float, moves: tuple[int, ...]) -> dict[float, float]:
    """The losses of numbers that move, and their chances."""
    law, far = {0.0: 1.0}, 40
    for by in moves:
        one = enumerate(chances(sigma_squared, far), -far)
        each = [((2 * by * x + by * by) / (2 * sigma_squared), p) for x, p in one if p > 1e-16]
        wider: dict[float, float] = {}
        for loss, p in law.items():
            for more, q in each:
                key = round(loss + more, 9)
                wider[key] = wider.get(key, 0.0) + p * q
        law = wider
    return law


MOVES = [(1,), (3,), (2, 2), (1, -2), (1, 1, 1)]


@pytest.mark.parametrize("spread", ["1/4", "1/2", "1"])
@pytest.mark.parametrize("sigma_squared", ["2", "5"])
def test_rounded_noise_bounds_all_moves_and_two_releases(sigma_squared: str, spread: str) -> None:
    """Whatever moves, by its length alone; and the second release may have another unit's moves."""
    s, v = F(sigma_squared), F(spread)
    loose = 3 * chance_of_uneven(v)
    for first, second in [*((one, ()) for one in MOVES), ((3,), (2, 2)), ((2, 2), (1, 1, 1))]:
        squares = [F(sum(by * by for by in moves)) for moves in (first, second) if moves]
        sums = together(sum(squares, F(0)) / (s - v), "add_remove")
        kept = float(1 - loose) ** len(squares)
        law = losses_of(float(s), (*first, *second))
        for epsilon in (0.0, 0.7, 2.0, 5.0):
            delta = sum(p * max(0.0, -np.expm1(epsilon - loss)) for loss, p in law.items())
            promise = 1 - kept * (1 - float(sums.delta_at(F(epsilon))))
            assert delta <= promise + 1e-12, (first, second, epsilon)
