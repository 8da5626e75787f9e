"""How many records are beside the numbers of a list: exactly, whatever the types are, and all at once."""

import cProfile
import math
import pstats
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.candidates import Labels
from discreet.sampling.arrays import objects
from discreet.scores.list_counts import count_beside
from discreet.tables.kinds import ColumnType
from discreet.tables.meanings import rungs

NEAR = [2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 3, -3, 0, 7]
WORDS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(NEAR) | st.integers(-9, 9)
DOUBLES = (
    st.floats(allow_nan=False)
    | st.sampled_from([2.0**63, -(2.0**63), 2.0**53, 0.1, 0.5, -0.0, 9.3e18])
    | st.integers(-9, 9).map(lambda k: k / 2)
)
FINITE = DOUBLES.filter(math.isfinite)
LISTS = {
    "doubles": st.lists(FINITE, min_size=1, max_size=12, unique=True),
    "words": st.lists(WORDS, min_size=1, max_size=12, unique=True),
    "both": st.lists(FINITE | st.integers(-9, 9), min_size=1, max_size=12, unique=True),
    "long": st.lists(st.integers(-(2**70), 2**70) | FINITE, min_size=1, max_size=9, unique=True),
    "fractions": st.lists(st.fractions(-9, 9), min_size=1, max_size=9, unique=True),
}
RECORDS: dict[str, st.SearchStrategy[Any]] = {
    "doubles": st.lists(DOUBLES, max_size=20).map(np.array),
    "words": st.lists(WORDS, max_size=20).map(lambda xs: np.array(xs, dtype=np.int64)),
    "long words": st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=20).map(
        lambda xs: np.array(xs, dtype=np.uint64)
    ),
    "objects": st.lists(st.integers(-(2**70), 2**70) | st.fractions(-9, 9), max_size=20).map(
        objects
    ),
}


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("numbers", LISTS)
@given(data=st.data())
def test_counts_are_those_of_comparing_one_by_one(records: str, numbers: str, data: Any) -> None:
    values, listed = data.draw(RECORDS[records]), data.draw(LISTS[numbers])
    weights = data.draw(st.none() | st.just(np.arange(len(values)) + 1))
    less, more, total = count_beside(values, weights, rungs(Labels(listed)))
    times = [1] * len(values) if weights is None else weights.tolist()
    rows = list(zip(values.tolist(), times, strict=True))
    exact = [Fraction(one) for one in listed]
    assert less.tolist() == [sum(t for x, t in rows if x < one) for one in exact]
    assert more.tolist() == [sum(t for x, t in rows if x > one) for one in exact]
    assert total == sum(times)


@pytest.mark.parametrize("layout", ["<d", "<f"])
@given(listed=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9, unique=True))
def test_declared_numbers_mean_the_nearest_of_their_type(layout: str, listed: list[float]) -> None:
    ladder = rungs(
        Labels(listed, is_declared=True), ColumnType("x", "float", "float", layout=layout)
    )
    if layout == "<d":
        assert ladder.floating.tolist() == [Fraction(one) for one in listed]
    else:
        expected = [Fraction(float(np.float32(repr(one)))) for one in listed]
        assert ladder.floating.tolist() == expected
    among_integers = rungs(Labels(listed, is_declared=True), ColumnType("x", "integer", "int"))
    assert among_integers.exact.tolist() == [Fraction(repr(one)) for one in listed]


def test_a_long_list_is_looked_at_as_a_whole_and_not_number_by_number() -> None:
    listed = [k / 8 for k in range(50_000)]
    data = np.arange(1000.0)
    discreet.median(data, candidates=listed, epsilon=1)
    profile = cProfile.Profile()
    profile.enable()
    discreet.median(data, candidates=listed, epsilon=1)
    profile.disable()
    calls: Any = pstats.Stats(profile)
    assert calls.total_calls < 20_000
