"""The gap of verbs over candidates: what is released, what is refused, and that a ledger gives it again."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import CandidateTable, Ledger, distribution, mode
from discreet.errors import InvalidArgument
from discreet.privacy import LaplaceDP, LogisticDP

from .test_quotes import Closed

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
