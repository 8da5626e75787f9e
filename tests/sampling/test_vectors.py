"""Exact vectors: nothing is rounded, nothing is shown."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.base.numbers import nearest_double
from discreet.errors import InvalidScores
from discreet.sampling.enclosures import overflowing
from discreet.sampling.vectors import read_vector

finite = st.floats(allow_nan=False, allow_infinity=False)
wide_integers = st.integers(-(2**63), 2**63 - 1)


def wrapping() -> Fraction:
    """Return a fraction whose parts are numpy's, and wrap when multiplied."""
    parts: list[Any] = [np.int64(2**40 + 1), np.int64(2**40 - 1)]
    return Fraction(*parts)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], [1, 2]),
        ([2**53 + 1, 0.5], [2**53 + 1, Fraction(1, 2)]),
        ([2**64, -1], [2**64, -1]),
        ([0.1], [Fraction(0.1)]),
        ([Fraction(1, 3), Decimal("0.1")], [Fraction(1, 3), Fraction(1, 10)]),
        ((1, 2), [1, 2]),
        (range(3), [0, 1, 2]),
        (np.array([1, 2], dtype=np.int8), [1, 2]),
        (np.array([2**64 - 1, 0], dtype=np.uint64), [2**64 - 1, 0]),
        (np.array([0.1], dtype=np.float32), [Fraction(float(np.float32(0.1)))]),
        (np.array([1 / np.longdouble(3)]), [Fraction(*(1 / np.longdouble(3)).as_integer_ratio())]),
        (np.array([10**30, Fraction(1, 2)], dtype=object), [10**30, Fraction(1, 2)]),
        (pd.Series([1.5, 2.0]), [Fraction(3, 2), 2]),
        (pl.Series([1, 2**62 + 1]), [1, 2**62 + 1]),
        (np.arange(10)[::3], [0, 3, 6, 9]),
        ([wrapping()], [Fraction(2**40 + 1, 2**40 - 1)]),
        ([Decimal("1e400"), 0], [10**400, 0]),
        ([Decimal("0e-100000"), Decimal("-0e100000"), Decimal(1)], [0, 0, 1]),
        (np.array([1.5], dtype=">f8"), [Fraction(3, 2)]),
        (np.array([7], dtype=">i8"), [7]),
    ],
)
def test_every_number_is_kept_exactly(values: Any, expected: list[Any]) -> None:
    vector = read_vector(values)
    assert [vector.exact(i) for i in range(len(vector))] == expected
    assert read_vector(vector) is vector


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "must not be empty"),
        (np.array([]), "must not be empty"),
        (3.0, "one for each candidate, got a single float"),
        ("12", "one for each candidate, got a single str"),
        (np.array(3.0), "0 dimensions"),
        ([[1, 2], [3, 4]], "There is one of type list"),
        (np.ones((2, 2)), "2 dimensions"),
        (["a", "b"], "There is one of type str"),
        ([1, None], "There is one of type NoneType"),
        ([1, True], "There is one of type bool"),
        (np.array([True]), "array of type bool"),
        (np.array([1j]), "array of type complex128"),
        (np.array(["a"]), "array of type <U1"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "array of type datetime64"),
        ([1, float("nan")], "a NaN or an infinity"),
        ([Decimal("Infinity"), 1], "a NaN or an infinity"),
        ([Decimal("sNaN"), 1], "a NaN or an infinity"),
    ],
)
def test_what_is_no_row_of_numbers_is_refused(values: Any, message: str) -> None:
    with pytest.raises(InvalidScores, match=message):
        read_vector(values)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_best_refuses_floats_that_are_not_finite(bad: float) -> None:
    for values in ([bad], [bad, 1.0], [1.0, bad]):
        with pytest.raises(InvalidScores, match="a NaN or an infinity"):
            read_vector(values).best()


@given(
    st.lists(finite, min_size=1)
    | st.lists(wide_integers, min_size=1)
    | st.lists(st.fractions(), min_size=1)
)
def test_gaps_are_exact_to_one_rounding(values: list[Any]) -> None:
    vector = read_vector(values)
    best = vector.best()
    top = max(map(Fraction, values))
    with overflowing():
        gaps = vector.gaps(best)
    for i, gap in enumerate(gaps):
        exact = vector.exact_gap(i, best)
        assert exact == top - Fraction(values[i])
        if gap == np.inf:
            assert exact > Fraction(np.finfo(float).max)
        else:
            assert abs(Fraction(float(gap)) - exact) <= exact / 2**53


def test_gaps_of_unsigned_and_huge_integers() -> None:
    vector = read_vector(np.array([2**64 - 1, 0], dtype=np.uint64))
    assert vector.gaps(vector.best()).tolist() == [0, 2.0**64]
    vector = read_vector([10**400, 0])
    assert vector.gaps(vector.best()).tolist() == [0, np.inf]


def test_the_repr_shows_no_number() -> None:
    assert repr(read_vector([271828, 314159])) == "<Vector of 2 private numbers>"


def test_whether_numbers_are_integers_is_told_by_their_type() -> None:
    assert read_vector([1, 2]).integral
    assert not read_vector([1.0, 2.0]).integral
    assert not read_vector([Fraction(1)]).integral


def test_fractions_of_numpy_integers_do_not_wrap() -> None:
    near = [wrapping(), Fraction(1), Fraction(0)]
    vector = read_vector(near)
    assert np.allclose(vector.gaps(vector.best()), [0, 2**-39, 1], atol=1e-15)


def test_gaps_of_large_integers_are_subtracted_before_they_are_rounded() -> None:
    for values in (
        [2**62, 2**62 + 1],
        [-(2**63), 1 - 2**63],
        np.array([2**64 - 1, 2**64 - 2], np.uint64),
    ):
        vector = read_vector(values)
        assert sorted(vector.gaps(vector.best()).tolist()) == [0, 1]


@pytest.mark.parametrize(
    "values",
    [
        [0.1, -0.0, 5e-324],
        [2**53 + 1, -(2**53) - 1, 2**63 - 1],
        [2**64 - 1, 0],
        [Fraction(1, 3), 0, 10**400, -(10**400)],
        [2**200 + 1, Fraction(1, 10**400)],
    ],
)
def test_doubles_are_rounded_once(values: list[Any]) -> None:
    found = read_vector(values).doubles()
    assert found.dtype == np.float64
    assert found.tolist() == [nearest_double(Fraction(value)) for value in values]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "i"),
        ([2**64 - 1, 0], "O"),
        ([1.0, 2.5], "f"),
        ([1, 2.5], "f"),
        ([-(2**53), 0.5, 2**53], "f"),
        ([2**53 + 1, 0.5], "O"),
        ([-(2**53) - 1, 0.5], "O"),
        ([2**70, 0.5], "O"),
        ([2**64, 1], "O"),
        ([Fraction(1, 3), 1], "O"),
    ],
)
def test_numbers_are_stored_as_doubles_only_where_none_is_rounded(
    values: list[Any], kind: str
) -> None:
    stored = read_vector(values).values
    assert stored.dtype.kind == kind
    assert [*map(Fraction, stored.tolist())] == [*map(Fraction, values)]
