"""Bounds in whole steps: their sensitivity, the sums between them, and means of noisy numbers."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.tables.column import ArrayColumn
from discreet.verbs.sum_bounds import SumBounds, default_step, name_of_mean, read_bounds
from discreet.verbs.units import read_unit_query


def test_ends_are_rounded_half_up() -> None:
    assert read_bounds(0, 1, "2/5") == SumBounds(0, 3, Fraction(2, 5))
    assert read_bounds("-1/2", "1/2", 1) == SumBounds(0, 1, Fraction(1))
    assert read_bounds(0, 120, None).step == Fraction(1, 1000)
    with pytest.raises(InvalidArgument, match="missing"):
        read_bounds(None, 1, None)


def test_the_middle_is_a_point() -> None:
    bounds = SumBounds(0, 3, Fraction(1, 3))
    assert bounds.middle == 1
    assert bounds.from_middle() == SumBounds(-1, 2, Fraction(1, 3))


def test_sensitivity_is_never_zero() -> None:
    alone = read_unit_query({})
    assert SumBounds(0, 0, Fraction(1)).sensitivity(alone).spread == 1
    replaced = read_unit_query({"neighbors": "replace_one"})
    assert SumBounds(0, 0, Fraction(1)).sensitivity(replaced).spread == 1
    assert SumBounds(-2, 5, Fraction(1)).sensitivity(alone).spread == 5
    assert SumBounds(-2, 5, Fraction(1)).sensitivity(replaced).spread == 7


def test_totals_are_exact() -> None:
    column = ArrayColumn(np.array([0.5, 2.0, 9.0]))
    bounds = SumBounds(1, 4, Fraction(1))
    assert bounds.total(column) == [1 + 2 + 4]
    assert bounds.size_and_total(column) == [[3], [-1 + 0 + 2]]


def test_a_mean_is_cut_to_the_bounds_and_rounded() -> None:
    name = name_of_mean(SumBounds(0, 10, Fraction(1)))
    assert name([3, 1]).value == Decimal("5.333")
    assert name([3, 1]).counts == 3
    assert name([1, 99]).value == 10
    assert name([1, -99]).value == 0
    assert name([0, 5]).value is None
    constant = name_of_mean(SumBounds(7, 7, Fraction(1, 2)))
    assert constant([2, 5]).value == Decimal("3.5")


def test_the_default_step_is_a_power_of_ten() -> None:
    for width in (Fraction(1, 10**40), Fraction(7), Fraction(10**300)):
        assert 10**5 <= width / default_step(width) < 10**6
