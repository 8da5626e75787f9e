"""Quantiles: scores against their definition, also near a rank; sensitivities exhaustively, laws by enumeration."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    InvalidCandidates,
    InvalidNumber,
    UnreadableData,
)
from discreet.mechanisms.testing import bit_tree
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import NaturalRate, lower, precision, upper
from discreet.sampling.runs import RunLaw, Runs
from discreet.sampling.vectors import ExactArray, Integers, Vector, read_vector
from discreet.selection.candidates import Grid, Labels
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.scores.rank import Rank, _positions, records_around

ALPHAS = [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)]
FAR = Fraction(10**9)


def by_definition(data: Any, candidate: Any, alpha: Fraction) -> int:
    p, q = alpha.as_integer_ratio()
    below, up_to = sum(x < candidate for x in data), sum(x <= candidate for x in data)
    return min(p * len(data) - q * int(below), q * int(up_to) - p * len(data))


def written_out(runs: Runs) -> list[int]:
    scores: list[int] = []
    for c in range(len(runs)):
        assert int(runs.starts[c]) == len(scores)
        scores += [int(runs.tops.exact(c))] * int(runs.sizes[c])
    return scores


def rank(data: Any, candidates: Any, alpha: Fraction) -> Rank:
    values = np.asarray(data)
    return Rank(ArrayColumn(values), candidates, alpha)


@given(st.lists(st.integers(-3, 12), max_size=12), st.sampled_from(ALPHAS), st.booleans())
def test_runs_are_the_definition(data: list[int], alpha: Fraction, large: bool) -> None:
    grid = Grid(0, 9)
    clipped = np.clip(np.array(data, dtype=np.int64), 0, 9)
    expected = [by_definition(clipped.tolist(), c, alpha) for c in range(10)]
    score = rank(np.array(data, dtype=np.int64), grid, alpha)
    computed: Any = score.compute(FAR)
    assert written_out(computed) == expected
    if large:
        whole: Any = score._near_the_quantile(clipped, Grid(0, 9), FAR)
        assert written_out(whole) == expected


@given(
    st.lists(st.integers(0, 400), min_size=100, max_size=400),
    st.sampled_from(ALPHAS),
    st.integers(1, 6),
)
def test_summaries_are_right_about_what_they_hold(
    data: list[int], alpha: Fraction, cutoff_gap: int
) -> None:
    indices = np.array(data, dtype=np.int64)
    score = rank(indices, Grid(0, 400), alpha)
    runs = score._near_the_quantile(indices, Grid(0, 400), Fraction(cutoff_gap))
    full = written_out(score._whole(np.unique(indices, return_counts=True), 401))
    assert int(runs.sizes.sum()) == 401  # type: ignore[union-attr]
    best = max(full)
    for c in range(len(runs)):
        start, size = int(runs.starts[c]), int(runs.sizes[c])
        held = full[start : start + size]
        if runs.summaries is not None and runs.summaries[c]:
            assert max(held) <= runs.tops.exact(c) <= best - cutoff_gap
        else:
            assert set(held) == {int(runs.tops.exact(c))}
    if runs.whole is not None:
        assert written_out(runs.whole()) == full


def test_summaries_are_used_and_are_the_same_law() -> None:
    """Words that fall on a summary are settled by the whole; the law is the same function of the word."""
    data = np.repeat(np.arange(100), 10) * 30
    score = rank(data, Grid(0, 3000), Fraction(1, 2))
    runs = score._near_the_quantile(data, Grid(0, 3000), Fraction(40))
    assert runs.summaries is not None
    assert runs.summaries.sum() == 2
    assert len(runs) < 50
    rate = NaturalRate(Fraction(1))
    near, full = (
        RunLaw(runs, rate),
        RunLaw(score._whole(np.unique(data, return_counts=True), 3001), rate),
    )
    from discreet.mechanisms.testing import ScriptedBits

    words = np.random.default_rng(4).integers(0, 2**64, 300, dtype=np.uint64).tolist()
    for word in [0, 1, 2**64 - 1, *words]:
        script = f"{word:064b}" + "01" * 200
        assert near.draw(ScriptedBits(script, width=64)) == full.draw(
            ScriptedBits(script, width=64)
        )


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_sensitivities_hold_and_are_tight(alpha: Fraction, neighbors: Any) -> None:
    """Every database of up to four records over five values, and every neighbour."""
    universe, candidates = range(5), range(5)
    claimed = rank([], Grid(0, 4), alpha).sensitivity(neighbors)
    spread = change = 0
    for n in range(5):
        for data in product(universe, repeat=n):
            before = [by_definition(data, c, alpha) for c in candidates]
            others = [data[:i] + data[i + 1 :] for i in range(n)]
            if neighbors == "replace_one":
                others = [(*rest, x) for rest in others for x in universe]
            for other in others:
                moved = [
                    by_definition(other, c, alpha) - b
                    for c, b in zip(candidates, before, strict=True)
                ]
                spread, change = max(spread, max(moved) - min(moved)), max(change, *map(abs, moved))
                assert not claimed.monotonic or min(moved) >= 0 or max(moved) <= 0
    assert claimed.change == change
    assert spread <= claimed.spread
    if alpha != Fraction(9, 10):  # four records are too few to see both ends of 9 and 1
        assert claimed.spread - spread <= claimed.change / 3


def test_constants_of_opendp() -> None:
    """map(1) = 7071 for 1/sqrt(2) rounded to four digits, and 1 for the median."""
    assert rank([], Grid(0, 1), Fraction(7071, 10000)).sensitivity("add_remove").change == 7071
    assert rank([], Grid(0, 1), Fraction(1, 2)).sensitivity("add_remove").change == 1


def test_opendps_score_vector() -> None:
    data, candidates = [0, 2, 2, 3, 5, 7, 7, 7], [-1, 2, 4, 7, 12, 22]
    vector: Any = rank(np.array(data), Labels(candidates), Fraction(1, 2)).compute(FAR)
    theirs = [8, 4, 0, 5, 8, 8]  # they count tied records in the middle; ours are as near or nearer
    assert [-int(vector.exact(i)) for i in range(6)] == [8, 2, 0, 2, 8, 8]
    assert all(-int(vector.exact(i)) <= theirs[i] for i in range(6))


@given(
    st.lists(st.floats(-5, 5), max_size=10) | st.lists(st.integers(-5, 5), max_size=10),
    st.lists(st.fractions(-6, 6, max_denominator=3), min_size=1, max_size=6, unique=True),
    st.sampled_from(ALPHAS),
)
def test_lists_of_candidates_are_compared_exactly(
    data: list[Any], candidates: list[Fraction], alpha: Fraction
) -> None:
    values = np.array(
        data, dtype=np.float64 if not data or isinstance(data[0], float) else np.int64
    )
    vector: Any = rank(values, Labels(candidates), alpha).compute(FAR)
    expected = [by_definition(data, c, alpha) for c in candidates]
    assert [int(vector.exact(i)) for i in range(len(candidates))] == expected


def test_a_float_that_is_no_candidate_is_beside_it() -> None:
    vector: Any = rank(np.array([0.1] * 3), Labels([Fraction(1, 10)]), Fraction(0)).compute(FAR)
    assert vector.exact(0) == 0  # 0.1 is above 1/10, so none is below
    vector = rank(np.array([0.3] * 3), Labels([Fraction(3, 10)]), Fraction(0)).compute(FAR)
    assert vector.exact(0) == -3


def test_the_law_on_a_grid_by_enumeration() -> None:
    data = [1, 1, 4, 6]
    runs: Any = rank(np.array(data), Grid(0, 7), Fraction(1, 2)).compute(FAR)
    law = RunLaw(runs, NaturalRate(Fraction(1, 2)))
    scores = [by_definition(data, c, Fraction(1, 2)) for c in range(8)]
    with precision(200):
        expected = Categorical(read_vector(scores), NaturalRate(Fraction(1, 2))).probabilities()
    tree = bit_tree(law.draw, 15)
    assert all(tree.admits(c, p) for c, p in enumerate(expected))


def test_scores_beyond_64_bits() -> None:
    alpha = Fraction(str(1 / math.sqrt(2)))
    assert alpha.denominator > 10**14
    data = np.arange(10**4)
    release = discreet.quantile(data, alpha=1 / math.sqrt(2), candidates=Grid(0, 10**4), epsilon=1)
    assert 6900 < release.value < 7250


# Verbs.


@pytest.mark.parametrize(
    "data",
    [[3.0] * 50, [3] * 50, np.full(50, 3), pl.Series([3] * 50), {3: 50}, {3: 50, None: 4, float("nan"): 9},
     [Decimal(3)] * 50, [3] * 50 + [None] * 20, [3.0] * 50 + [float("nan")] * 30, [3] * 49 + [2**70]],
)  # fmt: skip
def test_the_median_of_any_rows(data: Any) -> None:
    assert discreet.median(data, candidates=Grid(0, 9), epsilon=2).value == 3
    assert discreet.median(data, candidates=range(10), epsilon=2).value == 3


def test_the_verbs_are_quantiles() -> None:
    data = list(range(1000))
    assert 480 < discreet.median(data, candidates=Grid(0, 999), epsilon=1).value < 520
    assert (
        880 < discreet.quantile(data, alpha="0.9", candidates=Grid(0, 999), epsilon=10).value < 920
    )
    assert discreet.minimum(data, candidates=Grid(0, 999), epsilon=1).value < 50
    assert discreet.maximum(data, candidates=Grid(0, 999), epsilon=1).value > 950
    table = pl.DataFrame({"x": data})
    assert 480 < discreet.median(table, "x", candidates=Grid(0, 999), epsilon=1).value < 520


@pytest.mark.parametrize("data", [[], [None], {}, np.array([]), [float("nan")] * 3])
def test_no_records_make_all_candidates_equal(data: Any) -> None:
    drawn = discreet.simulate(discreet.median, data, candidates=Grid(1, 3), epsilon=1, size=300)
    assert {int(v) for v in drawn.values} == {1, 2, 3}


def test_records_outside_go_to_the_ends() -> None:
    for far in (-(10**6), -np.inf, -1e300):
        assert discreet.median([far] * 99, candidates=Grid(0, 9), epsilon=2).value == 0


def test_public_arguments_come_first() -> None:
    class Untouchable:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError("private data were touched")

        def __iter__(self) -> Any:
            raise AssertionError("private data were read")

    bad: list[tuple[Any, ...]] = [
        (Fraction(3, 2), Grid(0, 9), {}, InvalidNumber),
        ("half", Grid(0, 9), {}, InvalidNumber),
        (0.5, ["a", "b"], {}, InvalidCandidates),
        (0.5, [], {}, InvalidCandidates),
        (0.5, Grid(0, 9), {"epsilon": 0}, InvalidNumber),
        (0.5, Grid(0, 9), {"mechanism": "noisy_max"}, InvalidArgument),
    ]
    for alpha, candidates, terms, error in bad:
        with pytest.raises(error):
            discreet.quantile(
                Untouchable(), alpha=alpha, candidates=candidates, **{"epsilon": 1, **terms}
            )


def test_data_that_hold_no_numbers_are_refused() -> None:
    cases: list[tuple[Any, str | None]] = [
        (np.array(["a"]), None), (np.ones((2, 2)), None), (5, None), ({1: -1}, None), ({1: 0.5}, None),
        (pl.DataFrame({"x": ["a"]}), "x"), ("missing.csv", None), (pl.DataFrame({"x": [1]}), None), ({1: 1}, "x"),
        (np.array(["2020-01-01"], dtype="M8[D]"), None),
    ]  # fmt: skip
    for data, column in cases:
        with pytest.raises(DiscreetError):
            discreet.median(data, column, candidates=Grid(0, 9), epsilon=1)
    assert issubclass(UnreadableData, DiscreetError)


def test_a_million_records_on_a_huge_grid() -> None:
    data = np.random.default_rng(1).normal(size=10**6)
    grid = Grid(-(10**6), 10**6, "0.000001")
    assert abs(float(discreet.median(data, candidates=grid, epsilon=1).value)) < 0.01
    runs = rank(data, grid, Fraction(1, 2)).compute(Fraction(320))
    assert isinstance(runs, Runs)
    assert len(runs) < 6000
    tied = np.concatenate((np.zeros(600_000), np.abs(data[:400_000])))
    assert abs(float(discreet.median(tied, candidates=grid, epsilon=1).value)) < 0.01
    assert isinstance(rank(data, Labels([0, 1]), Fraction(1, 2)).compute(FAR), Vector)


def test_bounds_are_fractions_of_the_law() -> None:
    """A median over 10**12 points: the probability of the best run, certified."""
    runs: Any = rank(np.array([5] * 100), Grid(0, 10**12), Fraction(1, 2)).compute(Fraction(10**9))
    with precision(200):
        chance = RunLaw(runs, NaturalRate(Fraction(1, 2))).probabilities()[1]
    assert lower(chance) < upper(chance)
    truth = 1 / (1 + 10**12 * math.exp(-100))
    assert math.isclose(float(chance), truth, rel_tol=1e-12)
    assert RunLaw(runs, NaturalRate(Fraction(1, 2))).draw(SystemBits()) == 5


def test_ties_that_make_summaries_too_good_are_told_in_full() -> None:
    """Just above the centre's many ties are others, which the summary would rank as high."""
    data = np.repeat([5, 10, 11], [1000, 4001, 5000])
    score = rank(data, Grid(0, 99), Fraction(1, 2))
    runs = score._near_the_quantile(data, Grid(0, 99), Fraction(1))
    assert runs.summaries is None
    assert written_out(runs) == [by_definition(data, c, Fraction(1, 2)) for c in range(100)]


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
        patch.setattr("discreet.tables.scores.rank.MANY", 1)
        patch.setattr("discreet.tables.scores.rank._PART", 4)
        patch.setattr("discreet.tables.scores.rank._VALUES_AT_ONCE", 64)
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
    monkeypatch.setattr("discreet.tables.scores.rank.MANY", 2**17)
    monkeypatch.setattr("discreet.tables.scores.rank._PART", 64)
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
