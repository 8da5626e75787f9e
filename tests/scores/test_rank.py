"""Quantiles: scores against their definition, sensitivities exhaustively, laws by enumeration."""

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
from discreet import Grid
from discreet.candidates import Labels
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    InvalidCandidates,
    InvalidNumber,
    UnreadableData,
)
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import Categorical
from discreet.sampling.enclosures import NaturalRate, lower, precision, upper
from discreet.sampling.runs import RunLaw, Runs
from discreet.sampling.vectors import Vector, read_vector
from discreet.scores.rank import Rank
from discreet.tables.column import ArrayColumn
from discreet.testing import bit_tree

ALPHAS = [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)]
FAR = Fraction(10**9)


def by_definition(data: Any, candidate: Any, alpha: Fraction) -> int:
    p, q = alpha.as_integer_ratio()
    below, above = sum(x < candidate for x in data), sum(x > candidate for x in data)
    return -abs((q - p) * int(below) - p * int(above))


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
        whole: Any = score._near_the_quantile(clipped, FAR, 10)
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
    runs = score._near_the_quantile(indices, Fraction(cutoff_gap), 401)
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
    runs = score._near_the_quantile(data, Fraction(40), 3001)
    assert runs.summaries is not None
    assert runs.summaries.sum() == 2
    assert len(runs) < 50
    rate = NaturalRate(Fraction(1))
    near, full = (
        RunLaw(runs, rate),
        RunLaw(score._whole(np.unique(data, return_counts=True), 3001), rate),
    )
    from discreet.testing import ScriptedBits

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
    assert [-int(vector.exact(i)) for i in range(6)] == [8, 4, 0, 5, 8, 8]


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


# Grids.


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
    drawn = discreet.median(data, candidates=Grid(1, 3), epsilon=1, size=300)
    assert {int(v) for v in drawn.value} == {1, 2, 3}


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
    truth = 1 / (1 + 10**12 * math.exp(-50))
    assert math.isclose(float(chance), truth, rel_tol=1e-12)
    assert RunLaw(runs, NaturalRate(Fraction(1, 2))).draw(SystemBits()) == 5


def test_ties_that_make_summaries_too_good_are_told_in_full() -> None:
    """Just above the centre's many ties are others, which the summary would rank above them."""
    data = np.repeat([5, 10, 11, 50], [1000, 5000, 1000, 3000])
    score = rank(data, Grid(0, 99), Fraction(1, 2))
    runs = score._near_the_quantile(data, Fraction(1), 100)
    assert runs.summaries is None
    assert written_out(runs) == [by_definition(data, c, Fraction(1, 2)) for c in range(100)]


ODD_GRIDS = [
    Grid(0, 1, "0.1"), Grid(0, 10, 2), Grid(-5, 5, "1/3"), Grid("0.05", "0.95", "0.1"), Grid(0, 10**12, "0.001"),
    Grid(-(10**6), 10**6, "0.25"), Grid(0, 10**330, 10**329), Grid(-(10**310), 0, 10**309), Grid(0, 2**60, 1),
    Grid(0, "1e-310", "1e-311"), Grid(2**53 - 4, 2**53 + 4, "1/2"), Grid(0, 2**70, "1/2"),
]  # fmt: skip
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
    from discreet import tables

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
