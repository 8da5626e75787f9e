"""The exact delta of keys by Gaussian thresholds: known values, brute force over neighbours, and mutants."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.privacy import DiscreteGaussianDP, compose, gaussian_keys
from discreet.privacy.gaussian_keys import GaussianThreshold, _OwnKeys
from discreet.privacy.sensitivity import Neighbors
from discreet.sampling.gaussian_tails import tail

F = Fraction
Counts = tuple[int, ...]

LARGEST = [
    ("4", 8, 3, "add_remove", "1", "0.0834639484279"), ("4", 8, 2, "replace_one", "1", "0.125103570121"),
    ("100", 16, 4, "replace_one", "1/100", "0.271227614798"),
    ("573/32", 22, 1, "add_remove", "1", "9.97292316729e-7"),
    ("107/2", 38, 3, "add_remove", "1", "9.97728497841e-7"),
    ("357/2", 71, 10, "add_remove", "1", "9.99275973119e-7"),
]  # fmt: skip

OWN = [
    ("4", 6, 1, "add_remove", "1", 1, 0, "0.0114921231684"),
    ("4", 8, 3, "add_remove", "1", 2, 0, "0.00823320711566"),
    ("4", 8, 3, "add_remove", "1", 0, 2, "0.00728076026045"),
    ("4", 8, 2, "replace_one", "1", 1, 1, "0.0384620512338"),
    ("100", 16, 4, "replace_one", "1/100", 4, 3, "0.271227614798"),
    ("100", 16, 4, "replace_one", "1/100", 4, 0, "0.267203894595"),
    ("100", 16, 4, "replace_one", "1/100", 0, 0, "0.108061444078"),
    ("2287/64", 30, 1, "replace_one", "1", 1, 0, "9.06815924883e-7"),
    ("573/32", 22, 1, "add_remove", "1", 1, 0, "5.99709554805e-7"),
    ("573/32", 21, 1, "add_remove", "1", 1, 0, "1.92908953082e-6"),
    ("2287/64", 31, 2, "add_remove", "1", 2, 0, "7.78657579200e-7"),
    ("107/2", 38, 3, "add_remove", "1", 3, 0, "8.86868049590e-7"),
    ("357/2", 71, 10, "add_remove", "1", 10, 0, "9.79652467606e-7"),
    ("357/2", 70, 10, "add_remove", "1", 10, 0, "1.46191206055e-6"),
    ("357", 103, 20, "add_remove", "1", 20, 0, "7.76195097976e-7"),
    ("1785/2", 166, 50, "add_remove", "1", 50, 0, "9.14671840348e-7"),
    ("1785/2", 165, 50, "add_remove", "1", 50, 0, "1.10553351469e-6"),
]  # fmt: skip


def is_near(found: Fraction, value: str) -> bool:
    """Whether a bound is the value, to the digits that are printed."""
    return abs(found / F(value) - 1) < F(1, 10**11)


@pytest.mark.parametrize(
    ("sigma_squared", "least", "keys", "relation", "epsilon", "value"), LARGEST
)
def test_the_largest_delta(
    sigma_squared: str, least: int, keys: int, relation: Neighbors, epsilon: str, value: str
) -> None:
    threshold = GaussianThreshold(F(sigma_squared), least, keys, relation)
    found = threshold.delta_at(F(epsilon))
    assert is_near(found, value)
    assert threshold.keeps(F(epsilon), found)
    assert not threshold.keeps(F(epsilon), found * (1 - F(1, 10**9)))


@pytest.mark.parametrize(
    ("sigma_squared", "least", "keys", "relation", "epsilon", "here", "there", "value"), OWN
)
def test_the_delta_of_so_many_own_keys(
    sigma_squared: str, least: int, keys: int, relation: Neighbors,
    epsilon: str, here: int, there: int, value: str,
) -> None:  # fmt: skip
    threshold = GaussianThreshold(F(sigma_squared), least, keys, relation)
    own = _OwnKeys(here, here, there, there)
    assert is_near(threshold._bound(own, F(epsilon)), value)
    assert threshold._bound(own, F(epsilon)) <= threshold.delta_at(F(epsilon))


def every(threshold: GaussianThreshold) -> Iterator[_OwnKeys]:
    for here, there in product(range(threshold.keys + 1), repeat=2):
        if threshold.neighbors == "replace_one" or 0 in (here, there):
            yield _OwnKeys(here, here, there, there)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(
    ("sigma_squared", "least", "keys"),
    [("4", 8, 3), ("100", 16, 4), ("1/3", 2, 5), ("12", 9, 7), ("2", 5, 6)],
)
@pytest.mark.parametrize("epsilon", ["0", "1/100", "1", "5"])
def test_the_largest_is_that_of_all_own_keys(
    sigma_squared: str, least: int, keys: int, relation: Neighbors, epsilon: str
) -> None:
    """Not at the corners alone: in between at (100, 16, 4) where a unit is replaced."""
    threshold = GaussianThreshold(F(sigma_squared), least, keys, relation)
    one_by_one = {own: threshold._bound(own, F(epsilon)) for own in every(threshold)}
    assert threshold.delta_at(F(epsilon)) == max(one_by_one.values())
    for own in _boxes(keys, relation):
        inside = [
            bound for one, bound in one_by_one.items()
            if own.here <= one.here <= own.most_here and own.there <= one.there <= own.most_there
        ]  # fmt: skip
        assert threshold._bound(own, F(epsilon)) >= max(inside)


def _boxes(keys: int, relation: Neighbors) -> list[_OwnKeys]:
    if relation == "replace_one":
        return [_OwnKeys(0, keys, 0, keys), _OwnKeys(1, 2, 0, keys), _OwnKeys(2, keys, 1, 1)]
    return [_OwnKeys(0, keys, 0, 0), _OwnKeys(0, 0, 1, keys), _OwnKeys(1, 2, 0, 0)]


@cache
def noise(sigma_squared: Fraction) -> tuple[int, NDArray[np.float64]]:
    """The probabilities of the noise, and how far they go: beyond it is less than 1e-20."""
    last = math.isqrt(int(100 * sigma_squared)) + 2
    weights = np.exp(-(np.arange(-last, last + 1) ** 2) / (2 * float(sigma_squared)))
    return last, weights / weights.sum()


@cache
def shown(sigma_squared: Fraction, least: int, count: int, most: int) -> NDArray[np.float64]:
    """The probabilities of nothing, and of all noisy counts from the threshold on, for counts up to `most`."""
    last, chances = noise(sigma_squared)
    law = np.zeros(most + last + 2)
    for number, chance in enumerate(chances, count - last):
        if count and number >= least:
            law[number - least + 1] += chance
    law[0] = 1 - law.sum()
    return law


def excess(
    threshold: GaussianThreshold, epsilon: float, one: Counts, two: Counts, most: int
) -> float:
    """The largest P(S) - e**epsilon Q(S) of keys with their noisy counts."""
    laws = [
        reduce(np.multiply.outer, (shown(threshold.sigma_squared, threshold.least, n, most) for n in some))
        for some in (one, two)
    ]  # fmt: skip
    return float(np.maximum(laws[0] - math.exp(epsilon) * laws[1], 0).sum())


KEYS = 3


def neighbours(keys: int, relation: Neighbors) -> set[tuple[Counts, Counts]]:
    """The counts of all neighbours among tables of at most three units, in both orders; those that differ."""
    units = [
        tuple(int(key in some) for key in range(KEYS))
        for size in range(keys + 1)
        for some in combinations(range(KEYS), size)
    ]
    pairs = set()
    for size in range(3):
        for others in combinations_with_replacement(units, size):
            rest = tuple(map(sum, zip((0,) * KEYS, *others, strict=True)))
            tables = [tuple(a + b for a, b in zip(rest, unit, strict=True)) for unit in units]
            if relation == "add_remove":
                pairs |= {(rest, table) for table in tables} | {(table, rest) for table in tables}
            else:
                pairs |= {(one, two) for one in tables for two in tables}
    return {
        tuple(zip(*sorted((a, b) for a, b in zip(*pair, strict=True) if a != b), strict=True))  # type: ignore[misc]
        for pair in pairs
        if pair[0] != pair[1]
    }


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("keys", [1, 2, 3])
@pytest.mark.parametrize(
    ("sigma_squared", "least", "epsilon"), [("1/2", 2, "1"), ("1", 3, "1/2"), ("2", 4, "2")]
)
def test_no_neighbours_of_all_small_tables_need_more(
    keys: int, relation: Neighbors, sigma_squared: str, least: int, epsilon: str
) -> None:
    """With counts, of which the answers without them are a function."""
    threshold = GaussianThreshold(F(sigma_squared), least, keys, relation)
    promise = float(threshold.delta_at(F(epsilon)))
    worst = max(
        excess(threshold, float(F(epsilon)), *pair, KEYS) for pair in neighbours(keys, relation)
    )
    assert promise / 50 < worst <= promise + 1e-12


SETTINGS = [("4", 6, "1"), ("4", 8, "1"), ("2", 4, "2"), ("9", 8, "1/2"), ("9", 9, "1/10")]


@pytest.mark.parametrize(("relation", "keys"), [("add_remove", 2), ("replace_one", 1)])
@pytest.mark.parametrize(("sigma_squared", "least", "epsilon"), SETTINGS)
def test_two_keys_of_all_counts_need_all_of_it(
    sigma_squared: str, least: int, epsilon: str, keys: int, relation: Neighbors
) -> None:
    """Where shared keys are shown for sure the bound is reached: it is exact."""
    threshold = GaussianThreshold(F(sigma_squared), least, keys, relation)
    promise = float(threshold.delta_at(F(epsilon)))
    counts = [*range(4), least, 60]
    directions = [(1, 1), (-1, -1)] if relation == "add_remove" else [(1, -1), (-1, 1)]
    worst = max(
        excess(threshold, float(F(epsilon)), one, two, 61)
        for one in product(counts, repeat=2)
        for moved in [*directions, (1, 0), (-1, 0)]
        for two in [tuple(n + d for n, d in zip(one, moved, strict=True))]
        if min(two) >= 0
    )
    assert worst == pytest.approx(promise, rel=1e-9)


def test_thresholds_that_charge_too_little_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The probability of a key of one unit taken as P(X >= t), and the counts of one unit that is replaced as k."""
    monkeypatch.setattr(gaussian_keys, "tail", lambda k, s: tail(k + 1, s))
    threshold = GaussianThreshold(F(2), 4, 2, "add_remove")
    low = threshold.delta_at(F(2))
    monkeypatch.undo()
    assert low < F(excess(threshold, 2, (1, 1), (0, 0), 2)) - F(1, 1000)
    one_moved = GaussianThreshold(F(9), 30, 1, "add_remove").delta_at(F(1, 2))
    replaced = GaussianThreshold(F(9), 30, 1, "replace_one")
    worst = excess(replaced, 0.5, (60, 60), (59, 61), 61)
    assert one_moved < F(worst) - F(1, 100)
    assert worst == pytest.approx(float(replaced.delta_at(F(1, 2))))


def test_a_great_many_own_keys_take_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, right = list[_OwnKeys](), GaussianThreshold._bound

    def count_it(self: GaussianThreshold, own: _OwnKeys, epsilon: Fraction) -> Fraction:
        calls.append(own)
        return right(self, own, epsilon)

    monkeypatch.setattr(GaussianThreshold, "_bound", count_it)
    threshold = GaussianThreshold(F(17856), 803, 1000, "add_remove")
    assert threshold.keeps(F(1), F(12, 10**7))
    assert len(calls) < 60
    # What takes more bounds than are tried is not known to be kept.
    monkeypatch.setattr(gaussian_keys, "_MOST_BOUNDS", 1)
    assert not GaussianThreshold(F(100), 16, 4, "replace_one").keeps(F(1, 100), F(28, 100))


@pytest.mark.parametrize("cells", [1, 2, 3])
@pytest.mark.parametrize("sigma_squared", ["1/2", "9"])
def test_delta_at_an_epsilon_below_zero(sigma_squared: str, cells: int) -> None:
    """By the symmetry of both orders; against the sum over all noise."""
    for epsilon in (F(-1, 10), F(-2), F(0), F(1, 3)):
        threshold = GaussianThreshold(F(sigma_squared), 30, cells, "add_remove")
        exact = excess(threshold, float(epsilon), (60,) * cells, (61,) * cells, 61)
        found = gaussian_keys._delta_of_others(F(sigma_squared), cells, epsilon)
        assert float(found) == pytest.approx(exact, rel=1e-9)


def twice(law: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities of two answers."""
    return np.multiply.outer(law, law)


PARTS = [("1/2", 2, 2), ("1", 3, 3), ("2", 3, 1), ("9", 12, 2)]


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("sigma_squared", "least", "keys"), PARTS)
def test_the_parts_hold_for_all_small_tables_at_every_epsilon(
    sigma_squared: str, least: int, keys: int, relation: Neighbors
) -> None:
    threshold = GaussianThreshold(F(sigma_squared), least, keys, relation)
    together = compose(*threshold.parts)
    pairs = sorted(neighbours(min(keys, 2), relation))
    for epsilon in (F(0), F(1, 10), F(1), F(3), F(8)):
        promise = float(together.delta_at(epsilon))
        assert threshold.delta_at(epsilon) <= together.delta_at(epsilon)
        assert (
            max(excess(threshold, float(epsilon), *pair, KEYS) for pair in pairs) <= promise + 1e-12
        )


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("sigma_squared", "least"), [("1/2", 2), ("2", 4), ("4", 6)])
def test_two_answers_of_own_and_shared_keys(
    sigma_squared: str, least: int, relation: Neighbors
) -> None:
    """By enumeration of both answers together, in both directions; without a delta for own keys it would fail."""
    threshold = GaussianThreshold(F(sigma_squared), least, 1, relation)
    two = compose(*threshold.parts, *threshold.parts)
    noise_alone = compose(threshold.parts[1], threshold.parts[1])
    failed = False
    for epsilon in (F(0), F(1, 2), F(2), F(5)):
        promise, less = float(two.delta_at(epsilon)), float(noise_alone.delta_at(epsilon))
        for one, other in ((0, 1), (1, 0), (1, 2), (2, 1), (40, 41), (41, 40)):
            laws = [twice(shown(threshold.sigma_squared, least, n, 42)) for n in (one, other)]
            worst = float(np.maximum(laws[0] - math.exp(float(epsilon)) * laws[1], 0).sum())
            assert worst <= promise + 1e-12
            failed |= worst > less + 1e-9
    assert failed


def test_the_parts_of_a_threshold() -> None:
    threshold = GaussianThreshold(F(357, 2), 71, 10, "replace_one")
    own, counts = threshold.parts
    assert is_near(own.delta, "9.79652467606e-7")
    assert (own.epsilon, counts) == (F(0), DiscreteGaussianDP(F(357, 2), 20, 1, "replace_one"))
    assert {own.neighbors, counts.neighbors} == {"replace_one"}


@pytest.mark.parametrize(("least", "step", "even"), [(7, 1, 7), (7, 3, 3), (6, 3, 2), (1, 5, 1)])
def test_a_key_is_as_likely_as_not_from_the_threshold_on_in_units(
    least: int, step: int, even: int
) -> None:
    assert GaussianThreshold(F(10), least, 2, "add_remove", step).even == even
