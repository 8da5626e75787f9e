"""Narrowing down on a rank: all that is near is there, nothing is lost, and the passes are public."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet import Grid
from discreet.errors import UnreadableData
from discreet.mechanisms.permute_and_flip.run_race import RunRace
from discreet.mechanisms.testing import ScriptedBits, bit_tree
from discreet.sampling.enclosures import NaturalRate, precision
from discreet.sampling.runs import RunLaw, Runs
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.scores import rank_search as brackets
from discreet.tables.scores.median_distance import MedianDistance
from discreet.tables.scores.rank import Rank
from discreet.tables.scores.rank_search import Bracket, bracket, cell_widths

from ...columns import OnGrid

ALPHAS = [
    Fraction(0),
    Fraction(1),
    Fraction(1, 2),
    Fraction(1, 3),
    Fraction(9, 10),
    Fraction(99, 100),
]


class Listed:
    """Records as indices in a list, which answers as an engine must, and counts what it is asked."""

    def __init__(self, indices: Any) -> None:
        self.indices = sorted(indices)
        self.passes = self.cells = 0
        self.fetched = [0]

    def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]]:
        self.passes += 1
        assert all(a.stop <= b.start for a, b in pairwise(parts))
        answer = []
        for part in parts:
            counts = np.zeros(len(part), dtype=np.int64)
            for i in self.indices:
                if part.start <= i < part.stop:
                    counts[(i - part.start) // part.step] += 1
            answer.append(counts)
            self.cells += len(part)
        return answer

    def points(self, parts: Sequence[range]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        self.passes += 1
        there = [i for i in self.indices if any(p.start <= i < p.stop for p in parts)]
        self.fetched += [sum(part.start <= i < part.stop for i in there) for part in parts]
        array = np.empty(len(there), dtype=np.int64 if max(there, default=0) < 2**62 else object)
        array[:] = there
        return array[::-1], np.ones(len(there), dtype=np.int64)


def small_cells() -> Any:
    """Few cells in a pass, so that small grids take many passes."""
    return patch.multiple(brackets, FIRST=8, FURTHER=4)


@given(
    st.integers(1, 700),
    st.lists(st.tuples(st.integers(0, 699), st.integers(1, 9)), min_size=1, max_size=60),
    st.fractions(0, 1),
    st.integers(1, 20),
)
@example(512, [(i, 1) for i in range(130, 142)] + [(300, 10)], Fraction(3, 4), 4)  # 12 in one cell
@example(512, [(131, 30), (300, 10)], Fraction(9, 10), 4)  # 30 at one point
def test_all_that_is_near_is_there(
    size: int, data: list[tuple[int, int]], alpha: Fraction, width: int
) -> None:
    indices = sorted(min(i, size - 1) for i, times in data for _ in range(times))
    wanted = min(int(len(indices) * alpha), len(indices) - 1)
    with small_cells():
        source = Listed(indices)
        found = bracket(source, size, lambda n: wanted, width)
        passes = len(cell_widths(size))
        assert passes <= source.passes <= passes + (size > 8)
        assert source.cells <= 8 + (passes - 1) * 5 * 4 + passes
        assert len(source.fetched) <= 3
        assert max(source.fetched) <= 2 * width
    check_bracket(found, indices, wanted, size, width)


def check_bracket(found: Bracket, indices: list[int], wanted: int, size: int, width: int) -> None:
    """Raise unless all is there from `width` records below c - 1 to `width` above c + 1, and counted right."""
    first, end = found.bounds
    inside = [i for i in indices if first <= i < end]
    assert found.total == len(indices)
    assert found.below == sum(i < first for i in indices)
    assert np.repeat(found.points, found.counts).tolist() == inside
    c = indices[wanted]
    assert first <= max(c - 1, 0) <= min(c + 2, size) <= end
    if first > 0:
        assert found.below <= sum(i < c - 1 for i in indices) - width
    if end < size:
        assert found.below + len(inside) >= sum(i <= c + 1 for i in indices) + width


@pytest.mark.parametrize("c", [20, 23, 24, 31])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_both_neighbours_of_the_wanted_point_are_inside(c: int, width: int) -> None:
    """With no record or four on each point around c, wherever c is in its cell."""
    for around in itertools.product((0, 4), repeat=4):
        places = zip((-2, -1, 1, 2), around, strict=True)
        near = [c + i for i, times in places for _ in range(times)]
        indices = sorted([*near, *[2, 9, 13] * 2, *[40, 44, 61] * 2, c])
        wanted = indices.index(c)
        with small_cells():
            found = bracket(Listed(indices), 64, lambda n, wanted=wanted: wanted, width)  # type: ignore[misc]
        check_bracket(found, indices, wanted, 64, width)


@pytest.mark.parametrize(("size", "passes"), [
    (1, 1), (2**14, 1), (2**14 + 1, 2), (2**27, 2), (2**40, 3), (10**12 + 1, 3), (2**62, 5), (10**40, 11),
])  # fmt: skip
def test_the_number_of_passes_is_public(size: int, passes: int) -> None:
    assert len(cell_widths(size)) == passes
    for data in (
        [0],
        [size - 1] * 3,
        [size // 3] * 500 + [size // 2] * 10,
        range(0, size, -(-size // 99)),
    ):
        source = Listed(data)
        found = bracket(source, size, lambda n: n // 2, 5)
        assert source.passes <= passes + (passes > 1)
        assert source.cells <= 2**14 + (passes - 1) * 5 * (2**13 + 1)
        assert max(source.fetched) <= 10
        assert sum(found.counts) + found.below <= len(data)


def test_data_that_change_are_refused() -> None:
    class Growing(Listed):
        def histogram(self, parts: Sequence[range]) -> list[NDArray[np.int64]]:
            answer = super().histogram(parts)
            self.indices.append(500)
            return answer

    with small_cells(), pytest.raises(UnreadableData, match="changed"):
        bracket(Growing([500] * 5), 1000, lambda n: n // 2, 1)


def scored(source: Any, alpha: Fraction, size: int) -> Rank:
    column = OnGrid(source, np.array(source.indices, dtype=np.int64))
    return Rank(column, Grid(0, size - 1), alpha)


def written_out(runs: Runs) -> list[int]:
    return [int(runs.tops.exact(c)) for c in range(len(runs)) for _ in range(int(runs.sizes[c]))]


@given(
    st.lists(st.integers(0, 400) | st.integers(100, 110), max_size=200),
    st.sampled_from(ALPHAS),
    st.integers(1, 30),
)
def test_summaries_are_right_about_what_they_hold(
    data: list[int], alpha: Fraction, cutoff_gap: int
) -> None:
    score = scored(Listed(data), alpha, 401)
    points, counts = np.unique(np.array(data, dtype=np.int64), return_counts=True)
    full = written_out(score._whole((points, counts), 401))
    with small_cells():
        runs: Any = score.compute(Fraction(cutoff_gap))
        assert int(np.sum(runs.sizes)) == 401
        for c in range(len(runs)):
            held = full[int(runs.starts[c]) :][: int(runs.sizes[c])]
            if runs.summaries is not None and runs.summaries[c]:
                assert max(held) <= runs.tops.exact(c) <= max(full) - cutoff_gap
            else:
                assert set(held) == {int(runs.tops.exact(c))}
        if runs.whole is not None:
            assert written_out(runs.whole()) == full
            assert np.sum(runs.refine().sizes) == 401


def test_a_draw_near_a_summary_widens_the_bracket() -> None:
    """Words that fall on a summary are told by further passes, and the answer is that of the whole law."""
    data = np.repeat(np.arange(0, 1000, 10), 3)
    source = Listed(data.tolist())
    score, rate = scored(source, Fraction(1, 2), 1000), NaturalRate(Fraction(1))
    whole = RunLaw(score._whole(np.unique(data, return_counts=True), 1000), rate)
    with small_cells():
        runs, asked = score._in_bracket(source, 1000, Fraction(28)), source.passes
        near = RunLaw(runs, rate)
        assert source.passes == asked  # the summaries weigh little, but more than the words below
        for word in (0, 2**64 - 1, 1, 2**63, 2**63 + 12345, 5 * 2**60):
            before = source.passes
            script = f"{word:064b}" + "0110" * 200
            drawn = near.draw(ScriptedBits(script, width=64))
            assert drawn == whole.draw(ScriptedBits(script, width=64))
            assert (source.passes > before) == (word in (0, 1, 2**64 - 1))


def test_a_bracket_is_widened_until_what_is_left_is_nothing() -> None:
    """A rate far smaller than the reach was made for: the summaries weigh, so they are told at once."""
    data = list(range(0, 400, 3))
    source = Listed(data)
    score = scored(source, Fraction(1, 3), 400)
    with small_cells():
        runs = score._in_bracket(source, 400, Fraction(2))
        assert runs.summaries is not None
        tree = bit_tree(RunLaw(runs, NaturalRate(Fraction(1, 50))).draw, 12)
    whole = score._whole((np.array(data), np.ones(len(data), dtype=np.int64)), 400)
    with precision(128):
        chances = RunLaw(whole, NaturalRate(Fraction(1, 50))).probabilities()
    ends = np.cumsum([int(size) for size in whole.sizes])
    for c in (0, 50, 133):
        where = int(ends[c]) - 1
        assert tree.admits(where, chances[c] / int(whole.sizes[c]))


def test_permute_and_flip_takes_all_of_it() -> None:
    data = [3, 3, 50, 70, 399]
    score = scored(Listed(data), Fraction(1, 2), 400)
    with small_cells():
        runs = score._in_bracket(Listed(data), 400, Fraction(1))
        race = RunRace(runs, NaturalRate(Fraction(1)))
        whole = RunRace(
            score._whole(np.unique(data, return_counts=True), 400), NaturalRate(Fraction(1))
        )
        script = "0110100110010110" * 400
        assert race.draw(ScriptedBits(script, width=64)) == whole.draw(
            ScriptedBits(script, width=64)
        )


@given(st.lists(st.integers(0, 400) | st.integers(100, 110), max_size=200), st.integers(1, 30))
def test_median_distance_is_bracketed_as_well(data: list[int], cutoff_gap: int) -> None:
    rows = np.array(data, dtype=np.int64)
    full = written_out(MedianDistance(ArrayColumn(rows), Grid(0, 400)).compute(Fraction(1)))
    with small_cells():
        score = MedianDistance(OnGrid(Listed(data)), Grid(0, 400))
        runs = score.compute(Fraction(cutoff_gap))
        for c in range(len(runs)):
            held = full[int(runs.starts[c]) :][: int(runs.sizes[c])]
            if runs.summaries is not None and runs.summaries[c]:
                assert max(held) <= runs.tops.exact(c) <= max(full) - cutoff_gap
            else:
                assert set(held) == {int(runs.tops.exact(c))}
        assert sum(map(int, runs.sizes)) == 401
        if runs.whole is not None:
            assert written_out(runs.whole()) == full


@given(st.lists(st.integers(0, 30), max_size=5), st.sampled_from(ALPHAS))
def test_the_law_is_that_of_the_rows(data: list[int], alpha: Fraction) -> None:
    """The same runs, so the same law: a small database is in the bracket whole."""
    with small_cells():
        runs: Any = scored(Listed(data), alpha, 31).compute(Fraction(160))
    rows: Any = Rank(ArrayColumn(np.array(data, dtype=np.int64)), Grid(0, 30), alpha).compute(
        Fraction(160)
    )
    assert written_out(runs) == written_out(rows)
    assert list(map(int, runs.starts)) == list(map(int, rows.starts))
