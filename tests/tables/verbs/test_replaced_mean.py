"""Means if a record is replaced: all changes of one record, against the epsilon and the rho of the promise."""

import itertools
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet.mechanisms.accuracy import CONFIDENCE
from discreet.privacy import PureDP
from discreet.privacy.rho import geometric_rho
from discreet.selection.verb_calls import bill_of
from discreet.tables.verbs.replaced_mean import ReplacedMean
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
    mean: ReplacedMean, listed: int, groups: int, rows: int
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
