"""Numbers of an array counted on a grid: against sorting, and answers as where they are sorted."""

from fractions import Fraction
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import discreet
from discreet import Grid
from discreet.mechanisms.testing import SeededBits
from discreet.sampling.kernel_library import open_library
from discreet.selection.decimals import Decimals
from discreet.tables.engines import array_counts, index_counts
from discreet.tables.engines.array_counts import ArrayCounts
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.scores.rank import Rank
from discreet.tables.scores.rank_search import bracket

pytestmark = pytest.mark.skipif(isinstance(open_library(), str), reason="there is no kernel")

GRID = Grid(-50, 49, "0.01")
MANY = array_counts.COUNTED_FROM


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_counts, "COUNTED_FROM", 1)
    monkeypatch.setattr(array_counts, "_NUMBERS_PER_CELL", 1)


def counts_of(numbers: Any, grid: Any = GRID) -> ArrayCounts:
    counts = array_counts.array_counts(np.asarray(numbers), grid)
    assert counts is not None
    return counts


FLOATS = st.lists(
    st.floats(-60, 60) | st.sampled_from([0.005, -0.005, 3.0, np.inf, -np.inf, -0.0]), min_size=1
)
INTEGERS = st.lists(st.integers(-60, 60) | st.sampled_from([-(2**63), 2**63 - 1]), min_size=1)


@given(FLOATS | INTEGERS, st.integers(1, 20), st.integers(0, 3))
def test_a_bracket_holds_the_records_near_a_rank(few: list[Any], width: int, share: int) -> None:
    values = np.array(few)
    indices: Any = np.sort(GRID.nearest(values))
    near = bracket(counts_of(values), GRID.size, lambda n: (n - 1) * share // 3, width)
    first, end = near.bounds
    inside = indices[(indices >= first) & (indices < end)]
    assert np.repeat(near.points, near.counts).tolist() == inside.tolist()
    assert (near.below, near.total) == (int((indices < first).sum()), len(values))


@given(FLOATS)
def test_points_are_those_of_the_parts(few: list[float]) -> None:
    indices = GRID.nearest(np.array(few)).tolist()
    parts = [range(0, 4000, 4000), range(5000, GRID.size, 1)]
    points, counts = counts_of(few).points(parts)
    inside = sorted(i for i in indices if any(part.start <= i < part.stop for part in parts))
    assert np.repeat(points, counts).tolist() == inside


def test_numbers_that_are_not_one_after_another_are_counted() -> None:
    both = np.arange(20.0)
    [counts] = counts_of(both[::-2]).histogram(
        [range(0, GRID.size, counts_of(both[::-2]).widths[0])]
    )
    assert counts.sum() == 10


def test_batches_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(size=1000) * 9
    whole = bracket(counts_of(values), GRID.size, lambda n: n // 2, 30)
    monkeypatch.setattr(array_counts, "_NUMBERS_AT_ONCE", 7)
    parts = bracket(counts_of(values), GRID.size, lambda n: n // 2, 30)
    assert (whole.points.tolist(), whole.counts.tolist()) == (
        parts.points.tolist(),
        parts.counts.tolist(),
    )


@pytest.mark.parametrize("number", [2, 3, 50])
def test_threads_count_parts(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    values = np.random.default_rng(1).normal(size=1000) * 9
    alone = counts_of(values)
    monkeypatch.setattr(array_counts, "FOR_A_THREAD", 1)
    monkeypatch.setattr(array_counts, "threads", lambda: number)
    counts = counts_of(values)
    assert (len(alone.passes.spans), len(counts.passes.spans)) == (1, number)
    one, other = (bracket(some, GRID.size, lambda n: n // 2, 30) for some in (alone, counts))
    assert (one.points.tolist(), one.counts.tolist()) == (
        other.points.tolist(),
        other.counts.tolist(),
    )
    assert (one.below, one.total, one.bounds) == (other.below, other.total, other.bounds)


def test_more_numbers_than_a_count_holds_are_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counts of several parts are added up in 32 bits."""
    monkeypatch.setattr(array_counts, "FOR_A_THREAD", 1)
    monkeypatch.setattr(array_counts, "threads", lambda: 4)
    monkeypatch.setattr(array_counts, "MOST_IN_A_WORD", 9)
    sizes = [len(counts_of(np.zeros(n)).passes.spans) for n in (9, 10)]
    assert sizes == [4, 1]


@pytest.mark.parametrize("numbers", [
    np.array([1, 2], dtype=object), np.array([1.0], dtype=np.float32), np.zeros(0), np.array([1], dtype=np.uint64),
])  # fmt: skip
def test_other_types_are_sorted(numbers: NDArray[Any]) -> None:
    assert array_counts.array_counts(numbers, GRID) is None


@pytest.mark.parametrize(
    "grid", [Decimals(3).cells, Grid(0, 2**60), Grid(0, 1, Fraction(1, 3**40))], ids=str
)
def test_on_other_grids_numbers_are_sorted(grid: Any) -> None:
    assert array_counts.array_counts(np.array([1.0]), grid) is None


def test_few_numbers_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_counts, "COUNTED_FROM", MANY)
    assert array_counts.array_counts(np.zeros(MANY - 1), GRID) is None
    assert array_counts.array_counts(np.zeros(MANY), GRID) is not None


@pytest.mark.parametrize(("numbers", "passes"), [(MANY, 3), (10**6, 3), (10**7, 2)])
def test_passes_depend_on_how_many_numbers_there_are(
    monkeypatch: pytest.MonkeyPatch, numbers: int, passes: int
) -> None:
    monkeypatch.setattr(array_counts, "_NUMBERS_PER_CELL", 2**3)
    sizes = [
        len(counts_of(values, Grid(0, 10**12)).widths)
        for values in (np.zeros(numbers), np.arange(numbers) * 1e5)
    ]
    assert sizes == [passes, passes]


@pytest.mark.parametrize("alpha", ["0", "1/2", "99/100", "1"])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("shape", ["distinct", "equal", "few", "outside"])
def test_answers_are_those_of_sorted_numbers(
    monkeypatch: pytest.MonkeyPatch, alpha: str, neighbors: Any, shape: str
) -> None:
    chance = np.random.default_rng(5)
    values = {
        "distinct": chance.normal(size=3000) * 20, "equal": np.full(500, 7.0),
        "few": chance.integers(0, 3, 900) * 1.0, "outside": np.where(chance.random(400) < 0.5, -99.0, 99.0),
    }[shape]  # fmt: skip
    ask = partial(
        discreet.quantile, values, alpha=alpha, candidates=GRID, epsilon="1/2", neighbors=neighbors
    )
    for seed in range(4):
        answers = []
        for many in (1, MANY):
            monkeypatch.setattr(array_counts, "COUNTED_FROM", many)
            with patch("discreet.selection.question.SystemBits", partial(SeededBits, seed)):
                answers.append(ask().value)
        assert answers[0] == answers[1]


def test_a_draw_far_from_the_rank_is_settled_by_all_points() -> None:
    values = np.repeat(np.arange(40.0), 30)
    runs: Any = Rank(ArrayColumn(values), GRID, Fraction(1, 2)).compute(Fraction(40))
    assert runs.summaries.sum() == 2
    scores = [int(runs.whole().tops.exact(i)) for i in range(len(runs.whole()))]
    assert int(runs.whole().sizes.sum()) == GRID.size
    assert max(scores) == max(int(runs.tops.exact(i)) for i in range(len(runs)))


def test_as_many_passes_are_made_whatever_the_numbers_are(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    count = index_counts.IndexPasses._count

    def counting(self: Any, *arguments: Any) -> Any:
        seen.append(arguments[-1])
        return count(self, *arguments)

    monkeypatch.setattr(index_counts.IndexPasses, "_count", counting)
    chance = np.random.default_rng(2)
    passes = []
    for values in (np.full(2000, 3.0), chance.random(2000), np.floor(chance.random(2000) * 3)):
        seen.clear()
        discreet.median(values, candidates=GRID, epsilon=1)
        passes.append(len(seen))
    assert len({*passes}) == 1 < passes[0]
