"""Means if a record is replaced: all changes of one record, against the epsilon and the rho of the promise."""

import itertools
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet.mechanisms.accuracy import CONFIDENCE
from discreet.privacy import ZCDP, PureDP
from discreet.privacy.rho import geometric_rho
from discreet.selection.verb_calls import bill_of
from discreet.tables.verbs.mean_noise import MovesOfMean, ReplacedMean, ReplacedMeanByRho
from discreet.tables.verbs.sum_bounds import SumBounds
from discreet.tables.verbs.units import read_unit_query

from ...selection.test_payment import Unread

BOUNDS = [(0, 1), (0, 2), (-1, 2), (3, 6), (-5, -1), (0, 5)]
SETTINGS = [(1, 1), (2, 1), (2, 2), (3, 2)]
"""How many groups are listed, and in how many of them a unit counts at most."""


def mean_of(
    low: int, high: int, listed: int, groups: int, rows: int, epsilon: Any = 1
) -> ReplacedMean:
    """Return the mean of numbers between two whole ends, in one group without `by` or in several."""
    terms: Any = {"privacy_unit": "who", "max_contributions": rows, "neighbors": "replace_one"}
    if listed > 1:
        terms |= {
            "by": "town",
            "groups": [f"town {i}" for i in range(listed)],
            "max_groups": groups,
        }
    query = read_unit_query({**terms, "epsilon": epsilon}, bounded=True)
    bounds = SumBounds(low, high, Fraction(1)).from_middle()
    return ReplacedMean(bounds, query, Fraction(epsilon))


def changes(
    mean: MovesOfMean, listed: int, groups: int, rows: int
) -> set[tuple[tuple[int, int], ...]]:
    """Return by how much counts and sums move, in each group, for all units before and after."""
    values = [None, *range(mean.bounds.low, mean.bounds.high + 1)]
    of_a_group = {
        (sum(one is not None for one in some), sum(one or 0 for one in some))
        for some in itertools.combinations_with_replacement(values, rows)
    }
    units = [
        one
        for one in itertools.product(of_a_group, repeat=listed)
        if sum(number > 0 for number, _ in one) <= groups
    ]
    return {
        tuple((abs(n - m), abs(s - t)) for (n, s), (m, t) in zip(before, after, strict=True))
        for before, after in itertools.combinations(units, 2)
    }


def by_rho(low: int, high: int, listed: int, groups: int, rows: int) -> ReplacedMeanByRho:
    """Return the same mean with a rho."""
    mean = mean_of(low, high, listed, groups, rows)
    return ReplacedMeanByRho(mean.bounds, mean.unit_query, Fraction(2, 3))


def cost(mean: ReplacedMeanByRho, size: Fraction, total: Fraction) -> Fraction:
    """Return the largest rho of parts for a count and for a sum, as the proof adds them up over all t."""
    step = size + mean.reach**2 * total
    swap, moves = max(step, total), mean.groups
    return max(
        t * swap + 2 * (moves.groups - t) * step for t in range(moves.common, moves.groups + 1)
    )


@pytest.mark.parametrize(("listed", "groups"), SETTINGS)
@pytest.mark.parametrize("ends", BOUNDS)
def test_all_changes_of_a_unit_by_rho(ends: tuple[int, int], listed: int, groups: int) -> None:
    """The sum of squares of what moves costs rho at most, and it is reached, exactly."""
    for rows in (1, 2) if listed == 1 else (1,):
        mean = by_rho(*ends, listed, groups, rows)
        size, total = (one.noise.sigma_squared for one in mean.noises)
        worst = max(
            sum(n**2 / (2 * size) + s**2 / (2 * total) for n, s in one)
            for one in changes(mean, listed, groups, rows)
        )
        assert worst == mean.promise.rho == Fraction(2, 3), (rows, mean.shares)
        assert cost(mean, *mean.shares) == Fraction(2, 3)


@pytest.mark.parametrize(("listed", "groups"), [*SETTINGS, (5, 2), (4, 3)])
@pytest.mark.parametrize("ends", [(0, 1), (-1, 2), (0, 5), (0, 100)])
def test_no_other_shares_of_rho_have_a_smaller_error(
    ends: tuple[int, int], listed: int, groups: int
) -> None:
    """Of a mean at an end: all ratios of the two shares in steps of 7/100."""
    mean = by_rho(*ends, listed, groups, 1)
    size, total = mean.shares
    least = 1 / total + 1 / (4 * size)
    for ratio in (Fraction(k, 100) for k in range(1, 300, 7)):
        factor = mean.rho / cost(mean, ratio, Fraction(1))
        assert 1 / factor + 1 / (4 * factor * ratio) >= least * (1 - Fraction(1, 2**40))


def test_a_count_that_is_left_out_would_cost_more_than_rho() -> None:
    """A mutant: to take the sum alone, as if a record that comes did not move the count."""
    mean = by_rho(0, 2, 2, 1, 1)
    size, total = mean.shares
    assert cost(mean, size, total + size) > mean.rho


def test_the_verb_takes_gaussian_noise_by_rho() -> None:
    terms: Any = {"minimum": 0, "maximum": 100, "step": 1, "neighbors": "replace_one"}
    bill: Any = bill_of(discreet.mean, Unread(), "v", rho=1, **terms)
    assert bill.guarantee == ZCDP(Fraction(1), "replace_one")
    assert bill.mechanism == "gaussian"
    assert bill.noise.as_dict() == {"name": "gaussian", "geometric": "119", "gaussian": "70.8"}
    large: Any = bill_of(discreet.mean, Unread(), "v", rho=20, **terms)
    assert large.mechanism == "geometric"
    assert large.guarantee.rho <= 20
    assert large.noise.as_dict() == {"name": "geometric", "geometric": "12.9", "gaussian": "15.9"}


def test_a_delta_is_compared_with_the_noise_that_epsilon_buys() -> None:
    terms: Any = {"minimum": 0, "maximum": 100, "step": 1, "neighbors": "replace_one", "epsilon": 1}
    with_delta: Any = bill_of(discreet.mean, Unread(), "v", **terms, delta="1e-6")
    assert with_delta.guarantee == bill_of(discreet.mean, Unread(), "v", **terms).guarantee
    assert with_delta.noise.name == "geometric"
    assert with_delta.noise.geometric < 150


@pytest.mark.parametrize(("listed", "groups"), SETTINGS)
@pytest.mark.parametrize("ends", BOUNDS)
def test_all_changes_of_a_unit(ends: tuple[int, int], listed: int, groups: int) -> None:
    """The largest loss is epsilon, exactly, and no sum of the rho of moved numbers is above the promise."""
    for rows in (1, 2) if listed == 1 else (1,):
        mean = mean_of(*ends, listed, groups, rows, "1/3")
        eta_of_size, eta_of_total = (
            one.mechanism.rate(one.sensitivity, one.parameter)  # type: ignore[union-attr]
            for one in mean.noises
        )
        moves = changes(mean, listed, groups, rows)
        losses = [sum(n * eta_of_size + s * eta_of_total for n, s in one) for one in moves]
        assert max(losses) == Fraction(1, 3)
        rho = max(
            sum(
                (geometric_rho(n * eta_of_size, n) if n else Fraction(0))
                + (geometric_rho(s * eta_of_total, s) if s else Fraction(0))
                for n, s in one
            )
            for one in moves
        )
        assert mean.promise.pure == Fraction(1, 3)
        assert mean.promise.rho is not None
        assert rho <= mean.promise.rho
        assert rho > mean.promise.rho * Fraction(99, 100)


def test_shares() -> None:
    """A1 and A3 of an independent computation; halves of the sum's noise where the middle is a point."""
    for width, total, size in (
        (1, "0.613511790436", "0.386488209564"),
        (3, "0.821700873685", "0.452199417543"),
        (2, "1.000000000000", "0.500000000000"),
    ):
        mean = mean_of(0, width, 1, 1, 1)
        shares = [f"{float(one.parameter.value):.12f}" for one in mean.noises]
        assert shares == [size, total]


def test_equal_ends_have_noise_too() -> None:
    """The sum is 0 whatever the data are; its noise changes nothing, and costs nothing."""
    mean = mean_of(7, 7, 1, 1, 1)
    assert all(one.error(1) > 0 for one in mean.noises)
    assert mean.promise.pure == 1


def test_groups_of_a_unit_taken_once_would_cost_twice() -> None:
    """A mutant: to divide by the groups that it is in, though it may leave one and enter another."""
    mean = mean_of(0, 2, 2, 1, 1)
    etas = [2 * one.mechanism.rate(one.sensitivity, one.parameter) for one in mean.noises]  # type: ignore[union-attr]
    moves = changes(mean, 2, 1, 1)
    assert max(sum(n * etas[0] + s * etas[1] for n, s in one) for one in moves) == 2


def test_the_verb_asks_for_it() -> None:
    terms: Any = {"minimum": 0, "maximum": 100, "step": 1, "epsilon": 1}
    bill = bill_of(discreet.mean, Unread(), "v", neighbors="replace_one", **terms)
    assert bill.guarantee == mean_of(0, 100, 1, 1, 1).promise
    assert str(bill.guarantee) == "ε = 1 (replace one record)"
    private: Any = {"by": "town", "groups": "private", "delta": "1e-8", "privacy_unit": "who"}
    drawn = bill_of(discreet.mean, Unread(), "v", neighbors="replace_one", **terms, **private)
    whole: Any = drawn.guarantee
    assert whole.promises[0].epsilon == 1
    bought = bill_of(
        discreet.mean, Unread(), "v", bounds_share="1/10", epsilon=1, neighbors="replace_one"
    )
    assert bought.guarantee.pure == 1
    assert PureDP(Fraction(9, 10), "replace_one") in [part for part, _ in bought.guarantee.parts]  # type: ignore[attr-defined]
    assert (
        mean_of(0, 100, 1, 1, 1)
        .noises[1]
        .mechanism.error(
            mean_of(0, 100, 1, 1, 1).noises[1].sensitivity,
            mean_of(0, 100, 1, 1, 1).noises[1].parameter,
            1,
            CONFIDENCE,
        )
        < 400
    )
