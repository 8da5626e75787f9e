"""Counts of any size: from 0 to far beyond 64 bits, every score is the number it is defined to be."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Grid
from discreet.errors import UnreadableData
from discreet.mechanisms import Base2
from discreet.sampling.runs import Runs
from discreet.sampling.vectors import Vector, integers
from discreet.selection.verb_calls import delivery_of
from discreet.tables.engines.column import ArrayColumn
from discreet.tables.scores.counts import Counts
from discreet.tables.scores.revenue import Revenue

from ...columns import Counted

GRID = Grid(0, 6)
POINTS = range(7)
EDGES = [2**62 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, 2**5000]
Ask = Callable[..., Any]


def rank(histogram: dict[int, int], alpha: Fraction) -> list[int]:
    """Return the score of each point, by its definition."""
    p, q = alpha.as_integer_ratio()
    below = [sum(n for x, n in histogram.items() if x < c) for c in POINTS]
    up_to = [sum(n for x, n in histogram.items() if x <= c) for c in POINTS]
    n = sum(histogram.values())
    return [min(p * n - q * b, q * u - p * n) for b, u in zip(below, up_to, strict=True)]


def distance(histogram: dict[int, int], _: Fraction) -> list[int]:
    """Return the score of each point, by its definition."""
    found = []
    for c in POINTS:
        less = sum(n for x, n in histogram.items() if x < c)
        more = sum(n for x, n in histogram.items() if x > c)
        found.append(-max(0, abs(less - more) - histogram.get(c, 0) + 1))
    return found


def scores_of(ask: Ask, *args: Any, **terms: Any) -> list[Fraction]:
    """Return the scores that a verb draws by, written out."""
    question: Any = delivery_of(ask, *args, epsilon=1, **terms).order.question
    scores = question.score.compute(question.calibrated.cutoff_gap)
    if isinstance(scores, Vector):
        return [scores.exact(i) for i in range(len(scores))]
    runs: Runs = scores if scores.whole is None else scores.whole()
    found = {
        runs.index(c, k): runs.tops.exact(c)
        for c in range(len(runs))
        for k in range(int(runs.sizes[c]))
    }
    return [found[i] for i in sorted(found)]


HISTOGRAMS = st.dictionaries(
    st.sampled_from(POINTS),
    st.one_of(st.integers(0, 9), st.sampled_from(EDGES), st.integers(2**61, 2**66)),
    max_size=7,
)


@given(HISTOGRAMS, st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)]))
def test_scores_of_histograms_are_their_definition(
    histogram: dict[int, int], alpha: Fraction
) -> None:
    wanted = rank(histogram, alpha)
    assert scores_of(discreet.quantile, histogram, alpha=alpha, candidates=GRID) == wanted
    assert scores_of(discreet.quantile, histogram, alpha=alpha, candidates=list(POINTS)) == wanted
    half: Any = {"score": "median_distance"}
    assert scores_of(discreet.median, histogram, candidates=GRID, **half) == distance(
        histogram, alpha
    )


@pytest.mark.parametrize("n", [1, *EDGES[:-1]], ids=int.bit_length)
@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize("score", ["rank", "median_distance"])
def test_large_histograms_are_small_ones_on_a_larger_scale(
    n: int, mechanism: Any, score: Any
) -> None:
    """Scores scale with the counts (but for the 1 in a distance), so at a smaller eta the law is the same.

    A scale is in records. One of them moves a rank of the median by 2, as its alpha is 1/2, and a distance by 1.
    """
    histogram, law = {1: 4 * n, 5: 2 * n, 6: 3 * n}, discreet.distribution
    eta = Fraction(1, 3 * n)
    shift = 1 if score == "median_distance" else 0
    wanted = {"rank": rank, "median_distance": distance}[score](histogram, Fraction(1, 2))
    seen = law(
        discreet.median, histogram, candidates=GRID, score=score, mechanism=mechanism, scale=1 / eta
    )
    if mechanism == "exponential":
        one_record = 2 if score == "rank" else 1
        weights = [float((eta * (s + shift) / one_record).limit_denominator(10**6)) for s in wanted]
        masses = np.exp(weights)
        assert list(seen.pmf().values()) == pytest.approx(
            (masses / masses.sum()).tolist(), rel=1e-4
        )
    small = {1: 4, 5: 2, 6: 3}
    if score == "rank":
        same = law(discreet.median, small, candidates=GRID, mechanism=mechanism, scale=3)
        assert list(seen.pmf().values()) == pytest.approx(list(same.pmf().values()), rel=1e-12)
    assert (
        discreet.median(
            histogram, candidates=GRID, score=score, mechanism=mechanism, epsilon=1
        ).value
        in POINTS
    )


@pytest.mark.parametrize("n", EDGES[:-1], ids=int.bit_length)
def test_one_record_more_in_a_large_histogram_keeps_the_promise(n: int) -> None:
    """The log-ratio was infinite where a sum had wrapped around."""
    for verb, more in ((discreet.median, {}), (discreet.median, {"score": "median_distance"})):
        ask: Any = verb
        before = discreet.distribution(ask, {1: n, 5: n}, candidates=GRID, epsilon=1, **more)
        after = discreet.distribution(ask, {1: n + 1, 5: n}, candidates=GRID, epsilon=1, **more)
        for c, (p, q) in enumerate(zip(before.pmf().values(), after.pmf().values(), strict=True)):
            assert p == pytest.approx(q, rel=math.e), c
            assert (p == 0) == (q == 0)


def test_base_two_rounds_all_scores_of_rank_alike() -> None:
    """That scores are whole numbers does not depend on how many records there are."""
    for n in (1, 2**70):
        drawn = discreet.median(
            {0: n, 2: n, 6: n}, candidates=list(POINTS), mechanism=Base2(), epsilon=9
        )
        assert drawn.value in POINTS
        question: Any = delivery_of(
            discreet.median, {0: n}, candidates=list(POINTS), mechanism=Base2(), epsilon=1
        ).order.question
        assert question.score.compute(Fraction(1)).integral
        assert question.score.compute(Fraction(1)).values.dtype == (object if n > 1 else int)


@pytest.mark.parametrize("counts", [
    [-1], [True], [np.True_], [1.0], [np.float64(2)], ["1"], [None], [Fraction(2)], [2**70, -1], [2**63, 0.5],
])  # fmt: skip
def test_what_is_no_count_is_refused(counts: list[Any]) -> None:
    with pytest.raises(UnreadableData, match="whole numbers of at least 0"):
        discreet.median(dict(enumerate(counts)), candidates=GRID, epsilon=1)


@pytest.mark.parametrize("kind", [int, np.int8, np.uint64, np.int64])
def test_counts_may_be_integers_of_any_kind(kind: Any) -> None:
    histogram = {1: kind(3), 4: kind(0), float("nan"): kind(9)}
    assert scores_of(discreet.median, histogram, candidates=GRID) == rank({1: 3}, Fraction(1, 2))
    mixed = {1: kind(3), 4: 2**70}
    assert scores_of(discreet.median, mixed, candidates=GRID) == rank(
        {1: 3, 4: 2**70}, Fraction(1, 2)
    )


@given(
    st.lists(
        st.one_of(st.integers(0, 9), st.sampled_from([n + s for n in EDGES for s in (-1, 0, 1)]))
    )
)
def test_integers_hold_twice_their_sum(values: list[int]) -> None:
    array = integers(values)
    assert array.tolist() == values
    assert 2 * int(array.sum()) == 2 * sum(values)
    assert (array.dtype == object) == (sum(values) >= 2**62)
    assert [int(n) for n in np.cumsum(array)[-1:]] == [sum(values)][: len(values)]


def test_counts_of_candidates_of_any_size() -> None:
    for counts in ([0, 2**63], [2**62, 2**62], [5, 10**40]):
        scores = Counts(Counted(counts), [1, 2]).compute(Fraction(1))
        assert scores.integral
        assert [scores.exact(i) for i in range(2)] == counts
        assert scores.exact_gap(0, scores.best()) == max(counts) - counts[0]


def prices(lo: int, step: int, bids: Sequence[int]) -> Any:
    rows = np.empty(len(bids), dtype=object)
    rows[:] = bids
    return Revenue(ArrayColumn(rows), Grid(lo, lo + 4 * step, step)).compute(Fraction(1))


@pytest.mark.parametrize("lo", [0, 1, 2**62, 2**63, 2**64 + 1])
@pytest.mark.parametrize("step", [1, 2, 2**61, 2**63])
@pytest.mark.parametrize("bids", [[], [0], [2**70], [2**62, 2**65, 2**65]])
def test_revenue_is_exact_for_prices_of_any_size(lo: int, step: int, bids: list[int]) -> None:
    runs, grid = prices(lo, step, bids), Grid(lo, lo + 4 * step, step)
    unit = Revenue(ArrayColumn(np.zeros(0)), grid).unit
    found = {
        runs.index(c, k): (runs.tops.exact(c) - k * runs.slopes.exact(c)) * unit
        for c in range(len(runs))
        for k in range(int(runs.sizes[c]))
    }
    wanted = [price * sum(bid >= price for bid in bids) for price in range(lo, lo + 5 * step, step)]
    assert [found[i] for i in range(5)] == wanted
