"""Slices of sorted records: their scores against the definition, their cuts, and what one record changes."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Grid
from discreet.sampling.enclosures import NaturalRate, precision
from discreet.sampling.runs import RunLaw, Runs
from discreet.tables.engines.column import NOTHING
from discreet.tables.scores import sorted_records
from discreet.tables.scores.rank import Rank
from discreet.tables.scores.sorted_records import PARTS, Slice, SortedRecords, fitted_share

FAR = Fraction(10**9)
SHARES = [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)]
SIZE = 7


@pytest.fixture
def few_parts(monkeypatch: pytest.MonkeyPatch) -> int:
    """Divide points in five parts."""
    monkeypatch.setattr(sorted_records, "PARTS", 5)
    return 5


def sorted_of(data: Any, dtype: Any = np.int64) -> SortedRecords:
    points, counts = np.unique(np.array(data, dtype=np.int64), return_counts=True)
    return SortedRecords.of(points.astype(dtype), counts.astype(dtype))


@st.composite
def slices(draw: Any) -> tuple[Slice, list[int]]:
    """Return a slice of some records, and its records."""
    data = sorted(draw(st.lists(st.integers(0, SIZE - 1), max_size=14)))
    low = draw(st.integers(0, len(data)))
    high = draw(st.integers(low, len(data)))
    held = data[low:high]
    first = draw(st.integers(0, held[0] if held else SIZE - 1))
    end = 1 + draw(st.integers(held[-1] if held else first, SIZE - 1))
    records = sorted_of(data, draw(st.sampled_from([np.int64, object])))
    return Slice(records, low, high, first, end), held


def held_by(part: Slice) -> Counter[int]:
    """Return the records in a slice."""
    counts = np.diff(np.clip(part.records.totals, part.low, part.high))
    return Counter(np.repeat(part.records.points, counts).tolist())


def written_out(runs: Runs) -> list[int]:
    scores: list[int] = []
    for c in range(len(runs)):
        assert int(runs.starts[c]) == len(scores)
        scores += [int(runs.tops.exact(c))] * int(runs.sizes[c])
    return scores


def rank_score(held: list[int], point: int, share: Fraction) -> Fraction:
    """Return the score of a point by its definition."""
    wanted = share * len(held)
    less, not_more = sum(x < point for x in held), sum(x <= point for x in held)
    return share.denominator * min(wanted - less, not_more - wanted)


def cut_score(held: list[int], part: int, parts: int, share: Fraction) -> Fraction:
    """Return the score of a part by its definition."""
    return -share.denominator * abs(cut_at(held, part, parts) - share * len(held))


def cut_at(held: list[int], part: int, parts: int) -> int:
    """Return how many records are below a cut, by its definition."""
    point, step = divmod(part, parts)
    return sum(x < point for x in held) + step * (held.count(point) + 1) // parts


@given(slices(), st.sampled_from(SHARES))
def test_rank_scores_are_the_definition(given_slice: Any, share: Fraction) -> None:
    part, held = given_slice
    expected = [rank_score(held, i, share) for i in range(part.first, part.end)]
    assert written_out(part.rank_scores(share, FAR)) == expected


@given(slices(), st.sampled_from(SHARES))
def test_cut_scores_are_the_definition(given_slice: Any, share: Fraction) -> None:
    part, held = given_slice
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_records, "PARTS", 5)
        parts = range(5 * part.first, 5 * part.end)
        expected = [cut_score(held, i, 5, share) for i in parts]
        assert written_out(part.cut_scores(share, FAR)) == expected
        for i in parts:
            before, after = part.cut(i - 5 * part.first)
            cut = cut_at(held, i, 5)
            assert (before.high - part.low, after.low - part.low) == (cut, cut)
            assert (before.first, before.end, after.first, after.end) == (
                part.first, i // 5 + 1, i // 5, part.end,
            )  # fmt: skip
            assert all(x <= i // 5 for x in held[:cut])
            assert all(x >= i // 5 for x in held[cut:])


@given(
    st.lists(st.integers(0, 60), min_size=20, max_size=200),
    st.sampled_from([*SHARES, fitted_share(Fraction("0.0333333333333333333"))]),
    st.integers(1, 4),
    st.booleans(),
)
def test_summaries_are_right_about_what_they_hold(
    data: list[int], share: Fraction, ranks: int, cuts: bool
) -> None:
    part = sorted_of(data).whole(61)
    scores: Any = part.cut_scores if cuts else part.rank_scores
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_records, "PARTS", 3)
        runs, full = scores(share, ranks * share.denominator), scores(share, FAR * 2**40)
        told = full if runs.whole is None else runs.whole()
    assert full.whole is None
    every = written_out(full)
    assert written_out(told) == every
    for start, size, top, summary in zip(
        runs.starts, runs.sizes, map(runs.tops.exact, range(len(runs))),
        [False] * len(runs) if runs.summaries is None else runs.summaries, strict=True,
    ):  # fmt: skip
        held = every[int(start) : int(start) + int(size)]
        assert max(held) <= top if summary else set(held) == {top}
    assert sum(map(int, runs.sizes)) == len(every)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.one_in(2)
def test_one_record_moves_one_part_by_one(share: Fraction, few_parts: int) -> None:
    """Every dataset of up to three records on four points, one record more, and every part."""
    claimed = Rank(NOTHING, Grid(0, 3), share).sensitivity("add_remove")
    for n, more in product(range(4), range(4)):
        for data in combinations_with_replacement(range(4), n):
            before, after = sorted_of(data).whole(4), sorted_of((*data, more)).whole(4)
            moved = [
                [b - a for a, b in zip(written_out(x), written_out(y), strict=True)]
                for x, y in (
                    (before.cut_scores(share, FAR), after.cut_scores(share, FAR)),
                    (before.rank_scores(share, FAR), after.rank_scores(share, FAR)),
                )
            ]
            for changes in moved:
                assert max(changes) - min(changes) <= claimed.spread
                assert max(map(abs, changes)) <= (claimed.change or 0)
                assert not claimed.monotonic or min(changes) >= 0 or max(changes) <= 0
            for part in range(4 * few_parts):
                old, new = before.cut(part), after.cut(part)
                grown = [held_by(y) - held_by(x) for x, y in zip(old, new, strict=True)]
                assert sorted(grown, key=Counter.total) == [Counter(), Counter([more])]
                assert not any(held_by(x) - held_by(y) for x, y in zip(old, new, strict=True))


@pytest.mark.parametrize("share", SHARES)
def test_one_record_replaced_keeps_to_the_sensitivity_of_ranks(share: Fraction) -> None:
    claimed = Rank(NOTHING, Grid(0, 3), share).sensitivity("replace_one")
    for rest in (r for n in range(4) for r in combinations_with_replacement(range(4), n)):
        scores = [
            written_out(sorted_of((*rest, x)).whole(4).rank_scores(share, FAR)) for x in range(4)
        ]
        for a, b in product(scores, scores):
            changes = [y - x for x, y in zip(a, b, strict=True)]
            assert max(changes) - min(changes) <= claimed.spread
            assert not claimed.monotonic or min(changes) >= 0 or max(changes) <= 0


def test_more_records_at_a_point_than_it_has_parts() -> None:
    """Neither time nor memory grows with them: the window is widened until some part is in it."""
    points, counts = np.array([3]), np.array([PARTS * 5000])
    runs = SortedRecords.of(points, counts).whole(9).cut_scores(Fraction(1, 2), Fraction(10))
    part = RunLaw(runs, NaturalRate(Fraction(1))).draws(3, _bits())
    assert all(abs(p - 3 * PARTS - PARTS // 2) < 10 for p in part)
    assert len(runs) < 10**5


def _bits() -> Any:
    from discreet.sampling.bits import SystemBits

    return SystemBits()


def test_counts_and_points_beyond_64_bits() -> None:
    points, counts = np.array([2**70, 2**71], dtype=object), np.array([2**70, 1], dtype=object)
    part = SortedRecords.of(points, counts).whole(2**72)
    best = part.rank_scores(Fraction(1, 2), Fraction(10))
    with precision(200):
        chance = RunLaw(best, NaturalRate(Fraction(1))).probabilities()
    assert sum(map(int, best.sizes)) == 2**72
    assert float(sum(chance, start=chance[0] * 0)) == 1
    before, after = part.cut(2**70 * PARTS + PARTS // 2)
    assert (before.high, after.low) == (2**69, 2**69)


def test_shares_with_long_denominators_are_rounded() -> None:
    assert fitted_share(Fraction(1, 3)) == Fraction(1, 3)
    share = Fraction("0.033333333333333333")
    assert abs(fitted_share(share) - share) <= Fraction(1, 2**41)
    assert fitted_share(share).denominator <= 2**40


@given(st.lists(st.integers(0, 50), max_size=60), st.sampled_from([51, 2000, 2**40]))
def test_records_are_sorted(data: list[int], size: int) -> None:
    found = SortedRecords.at(np.array(data, dtype=np.int64), size)
    points, counts = np.unique(np.array(data, dtype=np.int64), return_counts=True)
    assert (found.points.tolist(), found.counts.tolist()) == (points.tolist(), counts.tolist())
    assert found.totals.tolist() == [0, *np.cumsum(counts).tolist()]
    assert found.points.dtype == found.totals.dtype == np.int64
