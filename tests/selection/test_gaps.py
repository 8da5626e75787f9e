"""The gap of verbs over candidates: what is released, what is refused, and that a ledger gives it again."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import CandidateTable, Ledger, distribution, mode, select_top_k, top_k
from discreet.errors import DiscreetError, InvalidArgument
from discreet.privacy import ApproxDP, LaplaceDP, LogisticDP

from ..tables.verbs.test_quotes import Closed

DRINKS = ["tea"] * 900 + ["coffee"] * 100
CANDIDATES = ["tea", "coffee", "milk"]


def test_mode_says_how_far_ahead_the_winner_is() -> None:
    release = mode(DRINKS, candidates=CANDIDATES, epsilon=1, gap=True)
    assert release.value == "tea"
    assert 700 < release.gap < 900
    assert isinstance(release.gap, Decimal)
    assert release.guarantee == LogisticDP(Fraction(1), "add_remove")
    flips = mode(DRINKS, candidates=CANDIDATES, epsilon=1, gap=True, mechanism="permute_and_flip")
    assert flips.guarantee == LaplaceDP(Fraction(1), "add_remove")


def test_every_group_has_its_gap() -> None:
    table = {"team": ["a"] * 50 + ["b"] * 50, "drink": ["tea"] * 50 + ["milk"] * 50}
    release = mode(
        table, "drink", candidates=CANDIDATES, by="team", groups=["a", "b"], epsilon=9, gap=True
    )
    assert release.value == {"a": "tea", "b": "milk"}
    assert release.gap.keys() == {"a", "b"}
    assert all(30 < gap < 70 for gap in release.gap.values())


def test_a_ledger_gives_the_same_gap_again(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "budget.db")
    book.open("drinks", epsilon=2)
    session = book.session("drinks")
    terms: dict[str, Any] = {"candidates": CANDIDATES, "epsilon": 1, "gap": True, "request": "one"}
    first, again = (session.mode(DRINKS, **terms) for _ in range(2))
    assert (first.charged, again.charged) == (True, False)
    assert (first.value, first.gap) == (again.value, again.gap)


def test_the_distribution_is_that_of_the_winner() -> None:
    with_gap, without = (
        distribution(mode, ["a", "b", "b"], candidates=["a", "b"], epsilon=1, gap=gap)
        for gap in (True, False)
    )
    assert with_gap.pmf() == without.pmf()


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"candidates": ["tea"]}, "two candidates"),
        ({"candidates": CANDIDATES, "mechanism": "base2"}, "no proof"),
        ({"unsafe_candidates_from_data": True}, "no proof"),
        ({"candidates": CANDIDATES, "gap": 2}, "gap"),
    ],
)
def test_what_has_no_gap_is_refused_before_anything_is_read(
    terms: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        mode(Closed(), "drink", epsilon=1, **{"gap": True, **terms})


def test_a_table_of_candidates_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "drinks.csv"
    file.write_text("drink\ntea\nmilk\n", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="in a list"):
        mode(str(file), "drink", candidates=CandidateTable(str(file), "drink"), epsilon=1, gap=True)


COUNTS = {"tea": 900, "coffee": 600, "milk": 300, "water": 100}
CUPS = [drink for drink, n in COUNTS.items() for _ in range(n)]


def test_every_round_of_peeling_has_its_gap() -> None:
    release = top_k(CUPS, k=2, candidates=list(COUNTS), epsilon=4, method="peeling", gap=True)
    assert release.value == ["tea", "coffee"]
    assert all(290 < gap < 310 for gap in release.gap)
    assert release.guarantee == LogisticDP(Fraction(2), "add_remove").repeated(2)
    scores = select_top_k(COUNTS, k=3, sensitivity=1, monotonic=True, epsilon=9, gap=True)
    assert scores.value == ["tea", "coffee", "milk"]
    assert [round(gap, -2) for gap in scores.gap] == [300, 300, 200]


def test_by_counts_a_gap_is_the_difference_of_released_counts() -> None:
    """Of the counts that are drawn, one more than answers: the last gap needs it."""
    release = top_k(CUPS, k=2, candidates=list(COUNTS), epsilon=1, method="counts", gap=True)
    plain = top_k(CUPS, k=2, candidates=list(COUNTS), epsilon=1, method="counts")
    assert release.guarantee == plain.guarantee
    assert release.value == ["tea", "coffee"]
    assert release.gap[0] == release.counts[0] - release.counts[1]
    assert len(release.counts) == len(release.gap) == 2
    assert plain.gap is None
    one = mode(CUPS, candidates=list(COUNTS), epsilon=1, method="counts", gap=True)
    assert (one.value, isinstance(one.counts, int)) == ("tea", True)
    assert 250 < one.gap < 350


def test_by_counts_a_ledger_gives_the_same_gaps_again(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "budget.db")
    book.open("cups", epsilon=2)
    session = book.session("cups")
    terms: dict[str, Any] = {"k": 2, "candidates": list(COUNTS), "epsilon": 1, "method": "counts"}
    first, again = (session.top_k(CUPS, **terms, gap=True, request="one") for _ in range(2))
    assert (first.value, first.counts, first.gap) == (again.value, again.counts, again.gap)
    with pytest.raises(DiscreetError, match="another question"):
        session.top_k(CUPS, **{**terms, "k": 3}, request="one")


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"method": "joint"}, "has no gaps"),
        ({"k": 4, "method": "peeling"}, "more candidates than k"),
        ({"k": 4, "method": "counts"}, "more candidates than k"),
        ({"k": 4}, "more candidates than k"),
    ],
)
def test_lists_without_gaps_are_refused_before_anything_is_read(
    terms: dict[str, Any], words: str
) -> None:
    arguments: dict[str, Any] = {"k": 2, "candidates": list(COUNTS), "epsilon": 1, **terms}
    with pytest.raises(InvalidArgument, match=words):
        top_k(Closed(), "drink", gap=True, **arguments)


def test_a_list_with_a_delta_has_gaps_too() -> None:
    """The rounds of a list with a delta are those of `LogisticDP`; no recursion of bounded ranges is taken."""
    arguments: dict[str, Any] = {"k": 3, "sensitivity": 1, "monotonic": True, "epsilon": 1}
    release = select_top_k(COUNTS, **arguments, delta="1e-6", gap=True)
    assert release.guarantee == ApproxDP(Fraction(1), Fraction(1, 10**6))
    assert len(release.gap) == 3
