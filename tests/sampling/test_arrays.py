"""Lists of numbers are read by type, and give what reading them one by one gives."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import discreet
from discreet.errors import InvalidScores
from discreet.sampling.arrays import objects
from discreet.sampling.vectors import read_vector
from discreet.selection.candidates import Grid
from discreet.tables.engines import count
from discreet.tables.engines.memory import _in_order
from discreet.tables.scores.list_counts import count_beside
from discreet.tables.scores.revenue import _highest_paid, places
from discreet.tables.values.meanings import Rungs
from discreet.tables.values.numeric import from_list, present, python_number

FLOATS = st.floats(allow_nan=False) | st.sampled_from([0.5, -0.0, 1e17, 2.0**53, 3.01, math.inf])
LONG = [10**17 + 1, 2**63, -(2**63), -(2**63) - 1, 2**53 + 1, 3]
INTEGERS = st.integers(-(2**70), 2**70) | st.sampled_from(LONG)
OTHERS = st.sampled_from(
    [
        Decimal("0.1"),
        Decimal("-Infinity"),
        Fraction(1, 3),
        np.float64(0.25),
        np.float32(0.1),
        np.int64(7),
        np.uint64(2**64 - 1),
        np.int8(-3),
    ]
)
NOTHING = st.sampled_from(
    [None, True, False, math.nan, "1", Decimal("NaN"), np.float64("nan"), np.bool_(1), 1j, b""]
)
MIXED = FLOATS | INTEGERS | OTHERS
VALUES = st.one_of(
    st.lists(FLOATS),
    st.lists(INTEGERS),
    st.lists(st.integers(-(2**63), 2**63 - 1)),
    st.lists(FLOATS | INTEGERS),
    st.lists(st.floats().map(np.float64)),
    st.lists(FLOATS | NOTHING),
    st.lists(MIXED | NOTHING),
)
GRIDS = [
    Grid(-3, 3, "0.5"),
    Grid(10**17, 10**17 + 9),
    Grid(0, 10**30, Fraction(1, 3)),
    Grid(-(2**63), 2**63, 2**16),
]


def read(values: list[Any]) -> list[Any]:
    """Return the numbers of a list as they were read before there were types: one by one."""
    return [number for value in values if (number := python_number(value)) is not None]


@given(VALUES)
@example([np.float64("nan"), np.float64(1)])
@example([1, math.nan, 0.5])
def test_the_same_as_one_by_one(values: list[Any]) -> None:
    found, expected = from_list(values), read(values)
    assert found.tolist() == expected
    assert [*map(type, found.tolist())] == [*map(type, expected)]
    there = [python_number(value) is not None for value in values]
    assert present(values)[0].tolist() == there


@pytest.mark.parametrize("grid", GRIDS)
@given(values=st.lists(MIXED))
def test_the_nearest_points(grid: Grid[Any], values: list[Any]) -> None:
    numbers = objects(read(values))
    assert grid.nearest(numbers).tolist() == [grid._index(number) for number in numbers]


@pytest.mark.parametrize("prices", [Grid(0, 4, "0.01"), Grid(1, 2**60), Grid(0, 1, Fraction(1, 3))])
@given(values=st.lists(MIXED))
def test_the_highest_prices(prices: Grid[Any], values: list[Any]) -> None:
    numbers = objects(read(values))
    expected = [max(-1, _highest_paid(prices, number)) for number in numbers]
    assert places(prices, numbers).tolist() == expected


@given(st.lists(MIXED), st.lists(st.integers(0, 3), min_size=50, max_size=50), st.booleans())
def test_below_and_above(values: list[Any], weights: list[int], counted: bool) -> None:
    ladder = [Fraction(-3), Fraction(1, 3), Fraction(0.5), Fraction(3), *map(Fraction, LONG)]
    numbers = read(values)[:50]
    times = weights[: len(numbers)] if counted else [1] * len(numbers)
    below = [sum(t for x, t in zip(numbers, times, strict=True) if x < rung) for rung in ladder]
    above = [sum(t for x, t in zip(numbers, times, strict=True) if x > rung) for rung in ladder]
    counts = np.array(times, dtype=np.int64) if counted else None
    rungs = Rungs(objects(ladder), objects(ladder))
    less, more, total = count_beside(objects(numbers), counts, rungs)
    assert (less.tolist(), more.tolist(), total) == (below, above, sum(times))


@given(st.lists(MIXED, min_size=1) | st.lists(FLOATS | INTEGERS, min_size=1))
def test_scores_keep_their_values(values: list[Any]) -> None:
    if any(isinstance(v, float | Decimal) and math.isinf(v) for v in values):
        with pytest.raises(InvalidScores, match="infinity"):
            read_vector(values).best()
        return
    vector = read_vector(values)
    expected = [Fraction(*v.as_integer_ratio()) if v % 1 else Fraction(int(v)) for v in values]
    assert [vector.exact(i) for i in range(len(values))] == expected


def test_integers_among_floats_are_not_rounded() -> None:
    values = [10**17 + 1] * 60 + [0.5, 1e18]
    assert float(10**17 + 1) == 10**17
    grid = Grid(10**17, 10**17 + 4)
    assert discreet.median(values, candidates=grid, epsilon=1000).value == 10**17 + 1
    listed = [grid[i] for i in range(grid.size)]
    assert discreet.median(values, candidates=listed, epsilon=1000).value == 10**17 + 1
    assert discreet.select(values, sensitivity=1, epsilon=1).value == 61
    for long in (10**17 + 1, 2**53 + 1, -(2**53) - 1):
        assert read_vector([long, 0.5]).exact(0) == long


@given(
    st.lists(st.sampled_from([1, 2, 0, None]))
    | st.lists(st.sampled_from([1.0, 0.5, -0.0, 0.0, math.nan, None]))
    | st.lists(st.sampled_from(["a", "", "1", None]))
    | st.lists(st.just(True))
)
def test_objects_of_one_type_are_counted_as_any_others(values: list[Any]) -> None:
    candidates = [0, 1, 2, 0.5, True, "a", "1"]
    expected = [
        sum(v == c and isinstance(v, bool) == isinstance(c, bool) for v in values)
        for c in candidates
    ]
    assert count(values, None, candidates) == expected
    assert count([*values, ("of", "another type"), True], None, candidates) == [
        n + (c is True) for n, c in zip(expected, candidates, strict=True)
    ]


@given(VALUES)
def test_the_order_of_the_numbers_in_a_column(values: list[Any]) -> None:
    codes, numbers = _in_order(*present(values))
    assert numbers.tolist() == sorted({*read(values)})
    found = [None if code < 0 else numbers[code] for code in codes.tolist()]
    assert found == [python_number(value) for value in values]


def test_common_lists_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_by_one(*_: object) -> None:
        raise AssertionError("a number was read by itself")

    monkeypatch.setattr("discreet.tables.values.numeric.python_number", one_by_one)
    monkeypatch.setattr("discreet.sampling.vectors._score", one_by_one)
    monkeypatch.setattr(Grid, "_index", one_by_one)
    monkeypatch.setattr("discreet.tables.scores.revenue._highest_paid", one_by_one)
    grid = Grid(0, 3, "0.3")
    for values in ([0.5, 2.2], [1, 2], [1, 0.5], [None, 0.5, 1, math.nan], [np.float64(0.5), 1.0]):
        assert discreet.median(values, candidates=grid, epsilon=1).value <= 3
        assert discreet.best_price(values, candidates=grid, epsilon=1).value >= 0
    assert discreet.select([1, 0.5], sensitivity=1, epsilon=1).value < 2
