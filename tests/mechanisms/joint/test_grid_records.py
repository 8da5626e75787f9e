"""Records on a grid by their ranks, and the places that they make of it."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.joint.grid_records import GridPlaces, GridRecords

from .test_joint_quantiles import SOME_DATA, Data, ends_of


def records_of(data: Data, size: int, *, counted: bool) -> GridRecords:
    """Return records by their points, or by distinct points with numbers."""
    dtype: Any = np.int64 if size < 2**62 else object
    if not counted:
        return GridRecords(np.array(data, dtype=dtype), size)
    points, counts = np.unique(np.array(data, dtype=dtype), return_counts=True)
    return GridRecords.of(points, counts, size)


@given(SOME_DATA, st.integers(10, 12))
def test_places_are_the_grid(data: Data, size: int) -> None:
    points, counts = np.unique(np.array(data, dtype=np.int64), return_counts=True)
    places = GridPlaces.of(points, counts, size)
    listed = [
        (x, Fraction(low, 2), Fraction(high, 2))
        for start, many, low, high in zip(*(of.tolist() for of in places), strict=True)
        for x in range(start, start + many)
    ]
    assert listed == [(x, *ends_of(data, x)) for x in range(size)]


@given(SOME_DATA, st.sampled_from([10, 2**62]), st.booleans())
def test_records_by_rank(data: Data, size: int, counted: bool) -> None:
    """Before all records is the point below the grid, and after them those above it."""
    records = records_of(data, size, counted=counted)
    assert records.number == len(data)
    line = [-1, *data, size, size + 1]
    for first in range(-1, len(data) + 1):
        assert records.point(first) == line[first + 1]
        for stop in range(first + 1, len(data) + 3):
            assert records.between(first, stop).tolist() == line[first + 1 : stop + 1]


@given(SOME_DATA, st.integers(10, 12), st.booleans())
def test_the_place_of_a_cut(data: Data, size: int, counted: bool) -> None:
    """The points that satisfy a cut are those of its place, and the two ways to tell the places agree."""
    records = records_of(data, size, counted=counted)
    for slot in range(2 * len(data) + 1):
        start, number = records.place(slot)
        those = [
            x
            for x in range(size)
            if ends_of(data, x)[0] <= Fraction(slot, 2) <= ends_of(data, x)[1]
        ]
        assert those == list(range(start, start + number))
    for start, number, low, high in zip(*records.places, strict=True):
        assert {records.place(slot) for slot in range(low, high + 1)} == {(start, number)}


@given(SOME_DATA, st.booleans())
def test_the_numbers_of_records_of_all_points(data: Data, counted: bool) -> None:
    numbers = records_of(data, 11, counted=counted).numbers()
    assert numbers.tolist() == [data.count(x) for x in range(11)]


def test_grids_of_any_size_have_exact_points() -> None:
    records = records_of((3, 2**70, 2**70), 2**71, counted=False)
    assert records.place(0) == (0, 3)
    assert records.place(2) == (4, 2**70 - 4)
    assert records.place(4) == (2**70, 1)
    assert records.place(6) == (2**70 + 1, 2**70 - 1)


@pytest.mark.parametrize("counted", [False, True])
def test_no_records_leave_one_place(counted: bool) -> None:
    assert records_of((), 9, counted=counted).place(0) == (0, 9)
