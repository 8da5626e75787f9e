"""Grids: points exactly, and numbers on the nearest point exactly."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Grid
from discreet.errors import InvalidArgument, InvalidCandidates
from discreet.selection.candidates import Labels

ODD_GRIDS = [
    Grid(0, 1, "0.1"), Grid(0, 10, 2), Grid(-5, 5, "1/3"), Grid("0.05", "0.95", "0.1"), Grid(0, 10**12, "0.001"),
    Grid(-(10**6), 10**6, "0.25"), Grid(0, 10**330, 10**329), Grid(-(10**310), 0, 10**309), Grid(0, 2**60, 1),
    Grid(0, "1e-310", "1e-311"), Grid(2**53 - 4, 2**53 + 4, "1/2"), Grid(0, 2**70, "1/2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("grid", "points"),
    [
        (Grid(0, 3), [0, 1, 2, 3]),
        (Grid("0.1", "0.3", "0.1"), [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")]),
        (Grid(-1, 0, "1/3"), [-1, Fraction(-2, 3), Fraction(-1, 3), 0]),
        (Grid(5, 5), [5]),
    ],
)
def test_grids_are_exact(grid: Grid, points: list[Any]) -> None:
    assert [grid[i] for i in range(grid.size)] == points
    for outside in (-1, grid.size):
        with pytest.raises(IndexError, match="the grid has"):
            grid[outside]


def test_grids_of_any_size() -> None:
    grid = Grid(-(10**30), 10**30, "0.001")
    assert grid.size == 2 * 10**33 + 1
    assert grid[10**33 + 1] == Decimal("0.001")
    assert (
        repr(Grid(0, 10**12, "0.5")) == "Grid(0, 1000000000000, step 1/2; 2,000,000,000,001 points)"
    )
    drawn = discreet.median([5] * 200, candidates=grid, epsilon=1)
    assert abs(drawn.value - 5) < 1


@pytest.mark.parametrize("bounds", [(1, 0, 1), (0, 1, "0.3"), (0, 1, 0), (0, 1, -1), ("a", 1, 1)])
def test_grids_that_do_not_fit_are_refused(bounds: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidArgument):
        Grid(*bounds)


@given(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**64), 2**64),
    st.integers(1, 1000),
    st.integers(0, 2**61),
)
def test_nearest_integers_are_exact(value: int, lo: int, step: int, steps: int) -> None:
    grid = Grid(lo, lo + step * steps, step)
    found = int(grid.nearest(np.array([value]))[0])
    off = abs(Fraction(value - lo, step) - found)
    assert off <= Fraction(1, 2) or found in (0, steps)
    if found == 0:
        assert value - lo <= Fraction(step, 2) or steps == 0
    if found == steps and steps:
        assert value - lo >= steps * step - Fraction(step, 2)


def test_nearest_of_everything_else() -> None:
    grid = Grid(0, 10, "0.5")
    assert grid.nearest(np.array([-np.inf, -1.0, 0.26, -0.0, 9.9, np.inf])).tolist() == [
        0,
        0,
        1,
        0,
        20,
        20,
    ]
    objects = np.array(
        [Decimal("0.26"), Fraction(1, 3), 10**400, float("inf"), -(10**400)], dtype=object
    )
    assert grid.nearest(objects).tolist() == [1, 1, 20, 20, 0]


@pytest.mark.parametrize(
    "grid", [*ODD_GRIDS, Grid(-(10**6), 10**6, "0.000002"), Grid(0, 1, "1/3000")]
)
def test_numbers_at_borders_between_points(grid: Grid) -> None:
    """Doubles next to a border are as near to the error of the fast pass as any; all in one block."""
    rng, edge = np.random.default_rng(1), 2**52
    steps = [int(u * grid.size // edge) for u in rng.integers(0, edge, 50).tolist()]
    borders = [grid.lo + (k - Fraction(1, 2)) * grid.step for k in steps]
    far = [Fraction(0), *(sign * Fraction(1, 10**k) for k in range(1, 20, 3) for sign in (1, -1))]
    near = [float(b + d * grid.step) for b in borders for d in far if abs(b) < 10**308]
    values = np.array(
        [x for y in near for x in (y, math.nextafter(y, 0), math.nextafter(y, 1e308))]
    )
    exact = [
        math.floor((Fraction(x) - grid.lo) / grid.step + Fraction(1, 2)) for x in values.tolist()
    ]
    expected = [min(max(i, 0), grid.size - 1) for i in exact]
    assert grid.nearest(values).tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.selection.candidates.BLOCK_OF_VALUES", 3)
        assert grid.nearest(values[:100]).tolist() == expected[:100]
    assert [int(grid.nearest(values[[i]])[0]) for i in range(len(expected[:200]))] == expected[:200]


NUMPYS: list[Any] = [np.int64(1), np.int64(3)]
COMPANY: list[Any] = [
    1, 2.5, Fraction(1, 2), Decimal(3), None, float("nan"), 10**30, np.float64(0.15), np.float32(2),
    np.longdouble(2), np.uint8(5), np.int64(2**62), Fraction(*NUMPYS),
]  # fmt: skip


@given(
    st.sampled_from(ODD_GRIDS),
    st.one_of(
        st.integers(-12, 12),
        st.integers(-(2**54), 2**54),
        st.floats(allow_nan=False),
        st.integers(-300, 300).map(lambda k: k / 20),
        st.integers(-30, 30).map(lambda k: Fraction(k, 6)),
    ),
)
def test_a_record_is_rounded_alike_in_any_company(grid: Grid, value: Any) -> None:
    """What the other records are, or how they are held, must not move a record."""
    from discreet.tables import engines as tables

    alone = int(grid.nearest(tables.numbers([value]))[0])
    if not (isinstance(value, float) and math.isinf(value)):
        exact = math.floor((Fraction(value) - grid.lo) / grid.step + Fraction(1, 2))
        assert alone == min(max(exact, 0), grid.size - 1)
    for other in COMPANY:
        assert int(grid.nearest(tables.numbers([value, other]))[0]) == alone
    held: Any
    if isinstance(value, int):
        for held in (np.array([value]), pl.Series([value, None]), pl.Series([value])):
            assert int(grid.nearest(tables.numbers(held))[0]) == alone
    elif isinstance(value, float):
        for held in (np.array([value]), pl.Series([value, None]), np.array([np.longdouble(value)])):
            assert int(grid.nearest(tables.numbers(held))[0]) == alone


def test_one_record_of_another_type_moves_nobody() -> None:
    """The bug this guards against told 50 records from 50 and one by a log-ratio of 25."""
    for data, more, grid in (([0.15] * 50, 1, Grid(0, 1, "0.1")), ([1] * 50, 2.5, Grid(0, 10, 2))):
        alone = discreet.median(data, candidates=grid, epsilon=8).value
        assert discreet.median([*data, more], candidates=grid, epsilon=8).value == alone


def test_extreme_records_are_no_warning() -> None:
    with np.errstate(all="raise"):
        for data in (
            [1e308, 1.0],
            [np.inf, 1.0],
            [-1e308, 5e-324],
            [np.float32(1.5), 2.0],
            [np.uint8(5), 300],
        ):
            for grid in ODD_GRIDS:
                discreet.median(data, candidates=grid, epsilon=1)


def test_labels_in_another_order_are_labels_like_those_given_so() -> None:
    labels = Labels([Decimal("0.5"), Decimal(2), Decimal("1.5")])
    turned = labels.in_order([2, 0, 1])
    again = Labels(turned.description)
    assert list(turned) == [Decimal("1.5"), Decimal("0.5"), Decimal(2)]
    given = {"_labels", "are_all", "are_finite", "is_declared"}
    assert all(getattr(turned, name) == getattr(again, name) for name in given)
    assert turned.quotients is None  # they are another way to compute with the same numbers


@pytest.mark.parametrize(
    "labels",
    [
        ["tea", "tea"],
        ["tea", "\ud800"],
        ["ä", "ä"],
        ["tea", 1, "tea"],
        ["tea", True, 1],
        ["x", ""] * 2,
    ],
)
def test_texts_are_distinct_and_can_be_written(labels: list[Any]) -> None:
    """Those in ASCII are compared together, and refused in the same words as others."""
    assert list(Labels(dict.fromkeys(["tea", "milk", ""]))) == ["tea", "milk", ""]
    assert list(Labels(["tea", "té", 1])) == ["tea", "té", 1]
    with pytest.raises(InvalidArgument, match=r"must be distinct|must be text in UTF-8"):
        Labels(labels)


@pytest.mark.parametrize("length", [10**12, 10**30], ids=["long", "more than Python counts"])
def test_a_range_too_long_to_list_is_refused(length: int) -> None:
    with pytest.raises(InvalidCandidates, match="must be at most 10,000,000"):
        discreet.mode([1, 2], candidates=range(length), epsilon=1)
