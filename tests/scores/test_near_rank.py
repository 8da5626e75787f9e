"""Records near a rank are those that sorting all of them gives, whatever the sample says."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.candidates import Grid
from discreet.sampling.vectors import ExactArray, Integers
from discreet.scores import near_rank
from discreet.scores.near_rank import _positions, records_around

GRID = Grid(-100, 100, "0.5")


def sorted_out(values: ExactArray, rank: int, width: int) -> tuple[list[int], int, int]:
    """Return the same by its definition: all indices in order."""
    indices = np.sort(GRID.nearest(values)).tolist()
    lower = sum(i < indices[rank] for i in indices)
    up_to = sum(i <= indices[rank] for i in indices)
    start, stop = max(0, lower - width), min(len(indices), up_to + width)
    return indices[start:stop], start, stop


def check(values: Any, rank: int, width: int) -> None:
    before = values.copy()
    found, start, stop = records_around(values, GRID.nearest, rank, width)
    assert (sorted(found.tolist()), start, stop) == sorted_out(values, rank, width)
    assert np.array_equal(values, before)


@pytest.fixture(autouse=True, scope="module")
def small_samples() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_rank, "MANY", 1)
        patch.setattr(near_rank, "_PART", 4)
        patch.setattr(near_rank, "_VALUES_AT_ONCE", 64)
        yield


FLOATS = st.lists(st.floats(-120, 120) | st.sampled_from([0.0, 0.25, 3.0, np.inf, -np.inf]))
INTEGERS = st.lists(st.integers(-120, 120))


@given(FLOATS | INTEGERS, st.integers(0, 2**31), st.integers(2, 30), st.booleans(), st.booleans())
def test_the_records_near_a_rank(
    few: list[Any], seed: int, width: int, ascending: bool, objects: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = np.resize(np.array(few or [1]), 700) + rng.integers(-9, 9, 700)
    values = np.sort(values) if ascending else values
    check(values.astype(object) if objects else values, int(rng.integers(700)), width)


@pytest.mark.parametrize("rank", [0, 1, 5_000, 9_998, 9_999])
@pytest.mark.parametrize(
    ("centre", "spread"), [(-90, 0), (0, 0), (80, 5), (-80, 5), (0, 2), (1, 9)]
)
def test_a_sample_that_misleads_takes_time_only(rank: int, centre: float, spread: float) -> None:
    """What lies between two sampled records may be other records, too few, or all of them."""
    rng = np.random.default_rng(rank)
    values = rng.normal(size=10_000) * 30
    values[_positions(2_500, 10_000)] = centre + spread * rng.uniform(-1, 1, 2_500)
    check(values, rank, 600)


@pytest.mark.parametrize("side", [-1, 1])
def test_too_few_records_on_one_side_are_noticed(side: int) -> None:
    """A sample that is much denser than the records about it: its margin holds less than the width."""
    values = np.where(np.arange(10_000) % 2, -100.0, np.linspace(0, 50, 10_000))
    values[_positions(2_500, 10_000)] = np.linspace(-50, 50, 2_500)
    rank = int(np.count_nonzero(values < 0))
    check(-side * values, rank if side < 0 else 10_000 - rank, 1_000)


@pytest.mark.parametrize("size", [1, 1_000, 2**16])
def test_positions_are_spread_evenly(size: int) -> None:
    total = 10**6 + 3
    places = np.sort(_positions(size, total))
    assert 0 <= places.min() <= places.max() < total
    even = (np.arange(size) + 0.5) / size * total
    assert np.abs(places - even).max() <= 5 * total / size


@pytest.mark.parametrize("step", ["1e-12", "0.05"])
def test_few_records_are_put_on_the_grid(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where hundreds share a point: a margin beyond the ties is taken out with them."""
    monkeypatch.setattr(near_rank, "MANY", 2**17)
    monkeypatch.setattr(near_rank, "_PART", 64)
    values, placed = np.random.default_rng(3).normal(size=2**18), list[int]()
    grid = Grid(-10, 10, step)

    def place(some: Any) -> Integers:
        placed.append(len(some))
        return grid.nearest(some)

    found, start, stop = records_around(values, place, 2**17, 500)
    assert sum(placed) < 2**18 // 2
    indices = np.sort(grid.nearest(values))
    assert sorted(found.tolist()) == indices[start:stop].tolist()
    ties = np.flatnonzero(indices == indices[2**17])
    assert (start, stop) == (ties[0] - 500, ties[-1] + 501)
