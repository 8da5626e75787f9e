"""Rényi curves: tables above them, groups, and what no curve can be."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import compose
from discreet.errors import InvalidArgument, InvalidNumber
from discreet.privacy import ZCDP, BoundedRange, PureDP, RenyiDP
from discreet.privacy.renyi_dp import ORDERS
from discreet.sampling.enclosures import precision


def test_a_curve_is_read_against_ourselves() -> None:
    curve = RenyiDP({2: 0.1, 8: "1/2", "1.9": 0.09, "2": 0.2, 64: math.inf})
    binary = Fraction(
        *(0.1).as_integer_ratio()
    )  # above one tenth; that of 0.09 is below its decimal
    points = (
        (Fraction(19, 10), Fraction(9, 100)),
        (Fraction(2), binary),
        (Fraction(8), Fraction(1, 2)),
    )
    assert curve.curve == points
    float_order = RenyiDP([(1.9, 1)]).curve[0][0]
    assert float_order == Fraction(1.9) < Fraction(19, 10)
    assert curve.renyi_divergence(8) == 0.5
    assert curve.renyi_divergence(9) == math.inf
    assert curve.renyi_divergence("1.5") < 0.0901  # a straight line to 0 at the order 1
    assert (curve.pure, curve.rho) == (None, None)
    asked = RenyiDP(lambda order: order / 2)
    assert len(asked.curve) > 100
    assert math.isclose(
        asked.approx("1e-6").epsilon, ZCDP(Fraction(1, 2)).approx("1e-6").epsilon, rel_tol=1e-2
    )
    for bad in ({}, {1: 1}, {2: -1}, {2: "x"}, 3, {"x": 1}, [(2, 1, 3)], {64: math.inf}):
        with pytest.raises(InvalidArgument):
            RenyiDP(bad)
    for guarantee in (curve, ZCDP(Fraction(1)), PureDP(Fraction(1)), compose(curve)):
        with pytest.raises(InvalidNumber, match="order must be above 1"):
            guarantee.renyi_divergence(1)


@settings(max_examples=20)
@given(
    st.lists(st.integers(2, 200), min_size=1, max_size=6, unique=True),
    st.sampled_from(["1e-3", "1e-9"]),
)
def test_a_table_of_a_curve_is_above_it(orders: list[int], delta: str) -> None:
    """Some orders of a bounded range: never less than all of them, group by group as well."""
    whole: Any = BoundedRange(Fraction(1))
    size = 2
    table = RenyiDP({order: whole.renyi_divergence(order) for order in orders})
    assert table.approx(delta).epsilon >= whole.approx(delta).epsilon
    with precision(128):
        for excess in (0.01, 1.0, 2.5, 30.0):
            assert not table.renyi(arb(excess)) < whole.renyi(arb(excess))
        if max(orders) > size:
            further = table.group(size)
            for excess in (0.01, 1.0, 2.5, 30.0):
                assert not further.renyi(arb(excess)) < whole.group(size).renyi(arb(excess))


def test_groups_of_a_zcdp_table_are_those_of_zcdp() -> None:
    table = RenyiDP({order: order / 8 for order in range(2, 400)})
    three = table.group(3)
    assert math.isclose(three.renyi_divergence(20), 20 * 9 / 8, rel_tol=0.02)
    assert three.renyi_divergence(20) >= 20 * 9 / 8
    assert table.under("replace_one").neighbors == "replace_one"
    with pytest.raises(InvalidArgument, match="Give larger ones"):
        RenyiDP({2: 1}).group(5)


def test_a_bound_that_its_neighbours_undercut_is_not_used() -> None:
    """(order - 1) times the divergence is convex: 1 and 15 at the orders 2 and 4 are at most 8 at 3."""
    assert RenyiDP({2: 1, 3: 5, 4: 5}).renyi_divergence(3) == 4
    assert RenyiDP({2: 1, 3: 5}).renyi_divergence(3) == 5


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        ({2: math.inf}, "finite Rényi divergence for one order"),
        ({1: 0.1}, "an order must be above 1, got 1"),
        ({"x": 1}, "order must be a finite number .* got 'x'"),
        ({2: 3, 8: "1/2"}, "do not fall with the order, but that of 8 is given as 0.5 and that of 2 as 3"),
        ({2: 1, 3: 5, 4: 1}, "not the epsilons of some delta"),
        (lambda order: 1 / order, "do not fall"),
        ([(2, 1, 3)], "curve must map orders"),
        (3, "curve must map orders .* got 3"),
    ],
)  # fmt: skip
def test_what_no_curve_can_be_is_said(curve: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        RenyiDP(curve)


def test_a_function_is_asked_at_orders_that_are_close() -> None:
    """Between two of them the divergence is taken at the larger: so they may not be far apart."""
    assert [*ORDERS] == sorted({*ORDERS})
    assert (ORDERS[0], ORDERS[-1]) == (Fraction(17, 16), Fraction(2**20))
    for order, following in pairwise(ORDERS):
        assert following - order <= (Fraction(1, 16) if order < 5 else 1 if order < 64 else order)
