"""Goldberg's median: closed form against its definition, her tables, and the sensitivity exhaustively."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import Grid
from discreet.errors import InvalidCandidates, UnknownName
from discreet.sampling.enclosures import NaturalRate, precision
from discreet.sampling.runs import RunLaw, Runs
from discreet.tables.engines.column import ArrayColumn, Rows
from discreet.tables.scores.median_distance import MedianDistance

HER_AGES = [1, 100, 102, 104, 105, 200, 365]


def score_of(data: Any, grid: Grid) -> MedianDistance:
    rows: Rows = (np.array(data, dtype=np.int64), None)
    return MedianDistance(ArrayColumn(*rows), grid)


def written_out(runs: Runs) -> list[int]:
    return [int(runs.tops.exact(c)) for c in range(len(runs)) for _ in range(int(runs.sizes[c]))]


def scores(data: Any, size: int) -> list[int]:
    return written_out(score_of(data, Grid(0, size - 1)).compute(Fraction(1)))


def by_definition(data: tuple[int, ...], candidate: int, size: int) -> int:
    """Search all databases of odd size near enough for the nearest that has this median."""
    own, best = Counter(data), 99
    for n in range(1, len(data) + 4, 2):
        for other in combinations_with_replacement(range(size), n):
            if sorted(other)[n // 2] == candidate:
                theirs = Counter(other)
                best = min(best, sum((own - theirs).values()) + sum((theirs - own).values()))
    return -best


@pytest.mark.parametrize("n", [1, 3])
def test_the_closed_form_is_the_definition(n: int) -> None:
    for data in combinations_with_replacement(range(4), n):
        assert scores(data, 4) == [by_definition(data, c, 4) for c in range(4)]


def test_her_first_table() -> None:
    table = dict(enumerate(scores(HER_AGES, 366)))
    assert [c for c, s in table.items() if s == 0] == [104]
    assert [c for c, s in table.items() if s == -2] == [102, 103, 105]
    assert [c for c, s in table.items() if s == -4] == [100, 101, *range(106, 201)]
    assert {table[c] for c in (*range(1, 100), *range(201, 366))} == {-6}


@pytest.mark.parametrize(
    ("epsilon", "golden"), [("1/2", 0.0102658591), (1, 0.0352423568), (2, 0.2606193663)]
)
def test_her_first_law(epsilon: Any, golden: float) -> None:
    score = score_of(np.array(HER_AGES), Grid(1, 365))
    runs = score.compute(Fraction(1))
    with precision(128):
        chances = RunLaw(runs, NaturalRate(Fraction(epsilon) / 2)).probabilities()
    [best] = [c for c in range(len(runs)) if runs.tops.exact(c) == 0]
    assert int(runs.sizes[best]) == 1
    assert abs(float(chances[best]) - golden) < 1e-10


def test_her_worst_case() -> None:
    """Four zeros and three times a million: 0 has score 0, every other point -2."""
    runs = score_of([0] * 4 + [10**6] * 3, Grid(0, 10**6)).compute(Fraction(1))
    assert len(runs) == 3
    with precision(128):
        chance = RunLaw(runs, NaturalRate(Fraction(1, 2))).probabilities()[0]
    assert abs(float(chance) - 2.718274e-06) < 1e-11


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_the_sensitivity_holds_and_is_attained(neighbors: Any) -> None:
    claimed = score_of([], Grid(0, 4)).sensitivity(neighbors)
    known = {
        data: scores(data, 5)
        for n in range(6)
        for data in combinations_with_replacement(range(5), n)
    }
    change = spread = 0
    for data, before in known.items():
        for i in range(len(data)):
            rest = data[:i] + data[i + 1 :]
            others = (
                [rest]
                if neighbors == "add_remove"
                else [tuple(sorted((*rest, x))) for x in range(5)]
            )
            for other in others:
                moved = [b - a for a, b in zip(before, known[other], strict=True)]
                change, spread = max(change, *map(abs, moved)), max(spread, max(moved) - min(moved))
    assert claimed.change == change
    assert claimed.spread == spread


def test_a_majority_is_the_median() -> None:
    data = [3] * 600 + [9] * 400
    for mechanism in ("exponential", "permute_and_flip"):
        release = discreet.median(
            data, candidates=Grid(0, 9), score="median_distance", epsilon=1, mechanism=mechanism
        )
        assert release.value == 3
    assert (
        discreet.median(
            {3: 600, 9: 400}, candidates=Grid(0, 9), score="median_distance", epsilon=1
        ).value
        == 3
    )
    assert (
        repr(score_of([], Grid(0, 9))) == "MedianDistance(candidates=Grid(0, 9, step 1; 10 points))"
    )


def test_what_is_no_score_is_refused() -> None:
    with pytest.raises(UnknownName, match="score must be one of rank, median_distance"):
        discreet.median([1], candidates=Grid(0, 9), score="mean", epsilon=1)  # type: ignore[call-overload]
    with pytest.raises(InvalidCandidates, match="median_distance needs a Grid"):
        discreet.median([1], candidates=[1, 2], score="median_distance", epsilon=1)


def test_small_databases_of_any_parity_are_lipschitz() -> None:
    for data in product(range(3), repeat=4):
        before = scores(data, 3)
        for x in range(3):
            after = scores((*data, x), 3)
            assert all(abs(a - b) <= 1 for a, b in zip(before, after, strict=True))
