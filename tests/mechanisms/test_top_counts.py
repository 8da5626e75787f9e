"""The largest noisy counts: their law against enumeration, their promise, and the bound on their error."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest
from flint import arb

from discreet.errors import InvalidArgument, InvalidNumber
from discreet.mechanisms.accuracy import counts_list_error
from discreet.mechanisms.contract import Calibrated, PrivacyParameter, calibrate
from discreet.mechanisms.testing import SeededBits, bit_tree
from discreet.mechanisms.top_counts import TopCounts, best_top_counts, largest
from discreet.privacy.guarantees import DiscreteGaussianDP, PureDP
from discreet.privacy.rho import pure_rho
from discreet.privacy.sensitivity import Neighbors, sensitivity_of
from discreet.sampling.enclosures import lower, precision, upper
from discreet.sampling.gaussian import GaussianNoise
from discreet.sampling.geometric import GeometricNoise
from discreet.sampling.vectors import Vector, integers

ONE = sensitivity_of(1, "add_remove", monotonic=True)


def at(epsilon: str, k: int, moved: int = 1) -> Calibrated:
    parameter = PrivacyParameter("epsilon", Fraction(epsilon))
    return calibrate(TopCounts(k, moved), ONE, parameter)


def law_of(calibrated: Calibrated, counts: Sequence[int]) -> Any:
    return calibrated.law(Vector(integers(counts), integral=True))


def chance(counts: Sequence[int], listed: Sequence[int], noisy: Sequence[int], a: Any) -> Any:
    """Return the probability of a list with its noisy counts: a is a fraction or a ball."""

    def exactly(j: int) -> Any:
        return (1 - a) / (1 + a) * a ** abs(j)

    def up_to(j: int) -> Any:
        return 1 - a ** (j + 1) / (1 + a) if j >= 0 else a**-j / (1 + a)

    total = a**0
    for i, number in zip(listed, noisy, strict=True):
        total *= exactly(number - counts[i])
    for i in set(range(len(counts))) - set(listed):
        # It comes after the last of the list: its number is less, or equal and it stands behind.
        total *= up_to(noisy[-1] - counts[i] - (i < listed[-1]))
    return total


def answers(n: int, k: int, least: int, most: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield all lists with noisy counts in a range, in their order."""
    for listed in permutations(range(n), k):
        for noisy in product(range(most, least - 1, -1), repeat=k):
            pairs = [(-number, i) for number, i in zip(noisy, listed, strict=True)]
            if pairs == sorted(pairs):
                yield list(listed), list(noisy)


def test_equal_numbers_come_in_their_order() -> None:
    assert largest([3, 5, 5, 1, 5], 4) == [1, 2, 4, 0]
    assert largest([0, 0], 1) == [0]
    assert largest([-4, -9], 2) == [0, 1]


def test_the_formula_is_a_distribution() -> None:
    a = Fraction(1, 9)
    for k in (1, 2, 3):
        total = sum(chance([2, 0, 1], *one, a) for one in answers(3, k, -7, 9))
        assert 1 - Fraction(1, 10**6) < total < 1


@pytest.mark.parametrize(
    ("counts", "k", "depth"),
    [
        ((1,), 1, 14),
        ((3, 3), 1, 12),
        ((4, 3), 2, 12),
        pytest.param((3, 4, 3), 1, 18, marks=pytest.mark.proof),
    ],
)
def test_the_law_is_that_of_all_bit_strings(counts: tuple[int, ...], k: int, depth: int) -> None:
    law = law_of(at("2", k), counts)
    tree = bit_tree(lambda bits: tuple(map(tuple, law.draw(bits))), depth)
    decided = 0
    with precision(128):
        a = (-arb(2)).exp()
        for listed, noisy in answers(len(counts), k, 1, 8):
            decided += (tuple(listed), tuple(noisy)) in tree.masses
            outcome = tuple(listed), tuple(noisy)
            assert tree.admits(outcome, chance(counts, listed, noisy, a)), outcome
    assert decided > len(counts)
    assert tree.undecided < Fraction(3, 4)


def test_numbers_fall_in_the_order_of_the_list_also_below_zero() -> None:
    law = law_of(at("1/10", 3), [0, 0, 0])
    lists = [law.draw(SeededBits(seed)) for seed in range(60)]
    assert min(min(one.counts) for one in lists) < 0
    assert len({tuple(one.indices) for one in lists}) > 3
    for one in lists:
        assert one.counts == sorted(one.counts, reverse=True)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("k", [1, 3])
def test_the_promise_is_that_of_the_counts_whatever_k_is(k: int, neighbors: Neighbors) -> None:
    sensitivity = sensitivity_of(1, neighbors, monotonic=neighbors == "add_remove")
    for moved in (1, 4):
        mechanism = TopCounts(k, moved)
        epsilon, rho = Fraction(1, 3), Fraction(1, 50)
        by_epsilon = calibrate(mechanism, sensitivity, PrivacyParameter("epsilon", epsilon))
        assert by_epsilon.guarantee == PureDP(epsilon / moved, neighbors).repeated(moved)
        by_rho = calibrate(mechanism, sensitivity, PrivacyParameter("rho", rho))
        assert by_rho.guarantee.rho is not None
        assert moved * pure_rho(epsilon) > rho >= by_rho.guarantee.rho > rho * Fraction(99, 100)
        by_scale = calibrate(mechanism, sensitivity, PrivacyParameter("scale", Fraction(5)))
        assert by_scale.guarantee.pure == Fraction(moved, 5)
        assert by_scale.list_length == k


def test_other_scores_than_counts_are_refused() -> None:
    for wrong in (sensitivity_of(2, "add_remove"), sensitivity_of("1/2", "add_remove")):
        with pytest.raises(InvalidArgument, match="change by 1"):
            calibrate(TopCounts(1), wrong, PrivacyParameter("epsilon", Fraction(1)))
    with pytest.raises(InvalidNumber):
        law_of(at("1", 3), [1, 2])


@pytest.mark.parametrize("eta", ["1/20", "1", "4"])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (2, 2), (5, 3), (50, 20)])
def test_the_error_is_the_least_that_the_pairs_keep(eta: str, n: int, k: int) -> None:
    error, rate = (
        counts_list_error(GeometricNoise(Fraction(eta)), n, k, Fraction(19, 20)),
        float(Fraction(eta)),
    )
    pairs = sum(n - place for place in range(1, k + 1))

    def passed(least: int) -> Any:
        a = 2.718281828459045**-rate
        each = [((1 - a) / (1 + a)) * a ** abs(j) for j in range(-700, 701)]
        tails = [0.0]
        for one in reversed(each):
            tails.append(tails[-1] + one)
        tails.reverse()
        return sum(one * tails[min(max(i + least, 0), len(each))] for i, one in enumerate(each))

    assert pairs * passed(error) <= 1 / 20 * (1 + 1e-9)
    assert pairs * passed(error - 1) > 1 / 20 * (1 - 1e-9)
    assert counts_list_error(GeometricNoise(Fraction(eta)), 1, 1, Fraction(19, 20)) == 0


def test_lists_keep_their_bound() -> None:
    """On counts that are the worst there are: all but k are behind by just that many records."""
    n, k, parameter = 6, 2, PrivacyParameter("epsilon", Fraction(1, 2))
    bound = int(TopCounts(k).error_below(n, ONE, parameter, Fraction(19, 20)))
    law = law_of(at("1/2", k), [bound] * k + [0] * (n - k))
    lists = law.draws(2000, SeededBits(1))
    missed = sum(max(one.indices) >= k for one in lists)
    assert 10 < missed < 2000 / 20


def test_no_float_decides_the_bound() -> None:
    with precision(256):
        a = (-arb(1) / 7).exp()
        exact = (
            ((1 - a) / (1 + a)) ** 2 * a**9 * ((8 + 2 / (1 - a**2)) / (1 - a) + a / (1 - a) ** 2)
        )
        assert upper(exact) - lower(exact) < Fraction(1, 10**60)
    just_above, just_below = 1 - lower(exact), 1 - upper(exact) - Fraction(1, 10**50)
    assert counts_list_error(GeometricNoise(Fraction(1, 7)), 2, 1, just_below) == 9
    assert (
        counts_list_error(GeometricNoise(Fraction(1, 7)), 2, 1, just_above + Fraction(1, 10**50))
        == 10
    )


@pytest.mark.parametrize(
    "noise", [GaussianNoise(Fraction(1, 4)), GaussianNoise(Fraction(3)), GaussianNoise(Fraction(20)),
              GeometricNoise(Fraction(1, 2)), GeometricNoise(Fraction(3))],
)  # fmt: skip
@pytest.mark.parametrize("least", [1, 2, 7, 20])
def test_the_chance_of_a_difference_is_that_of_all_pairs(noise: Any, least: int) -> None:
    with precision(200):
        reach = noise.reach(80)
        pairs = [noise.probability(j) * noise.up_to(j - least) for j in range(-reach, reach + 1)]
        exact, found = sum(pairs, arb(0)), noise.apart(least)
        assert exact <= found + arb(10) ** -30
        assert found <= exact + arb(10) ** -30


def test_gaussian_counts_keep_their_promise_and_their_bound() -> None:
    rho = PrivacyParameter("rho", Fraction(1, 50))
    mechanism = TopCounts(2, 3, "gaussian")
    assert calibrate(mechanism, ONE, rho).guarantee == DiscreteGaussianDP(Fraction(75), 3)
    assert best_top_counts(2, 3, 6, "add_remove", rho) == mechanism
    n, k = 6, 2
    bound = int(mechanism.error_below(n, ONE, rho, Fraction(19, 20)))
    law = law_of(calibrate(mechanism, ONE, rho), [bound] * k + [0] * (n - k))
    lists = law.draws(2000, SeededBits(1))
    assert 10 < sum(max(one.indices) >= k for one in lists) < 2000 / 20
    one, millionth = PrivacyParameter("epsilon", Fraction(1)), Fraction(1, 10**6)
    wide = TopCounts(2, 20, "gaussian", millionth)
    assert calibrate(wide, ONE, one).guarantee == DiscreteGaussianDP(Fraction(357), 20)
    assert best_top_counts(2, 20, 60, "add_remove", one, millionth) == wide
    assert best_top_counts(2, 8, 60, "add_remove", one, millionth) == TopCounts(2, 8)
    assert wide.parameters == {"k": 2, "moved": 20, "delta": millionth}
    assert TopCounts(2, 20, "gaussian").parameters == {"k": 2, "moved": 20}
    few = law_of(
        calibrate(TopCounts(2, 1, "gaussian"), ONE, PrivacyParameter("rho", Fraction(1))), [3, 2, 1]
    )
    with precision(128):
        chances = few.probabilities()
        assert sum(chances, arb(0)).contains(arb(1))
        drawn = [tuple(one.indices) for one in few.draws(4000, SeededBits(3))]
        for listed, chance_of in zip(permutations(range(3), 2), chances, strict=True):
            assert abs(drawn.count(listed) / 4000 - float(chance_of)) < 0.035
