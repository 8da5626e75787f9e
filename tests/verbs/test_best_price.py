"""The verb best_price."""

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.candidates import Grid
from discreet.errors import InvalidArgument, InvalidCandidates, InvalidNumber, MissingColumn
from discreet.privacy.guarantees import BoundedRange
from discreet.verbs.best_price import best_price
from tests.scores.test_revenue import LADDER

BIDS = [1] * 300 + [3.01] * 50


def test_the_verb_takes_what_holds_numbers(tmp_path: Path) -> None:
    frame = pl.DataFrame({"bid": [*map(float, BIDS), None, math.nan]})
    frame.write_csv(tmp_path / "bids.csv")
    for bids, column in (
        (BIDS, None),
        (np.array(BIDS), None),
        (frame, "bid"),
        (str(tmp_path / "bids.csv"), "bid"),
    ):
        answer = best_price(bids, column, candidates=LADDER, epsilon=40)
        assert Decimal("0.8") < answer.value <= 1
        assert answer.guarantee == BoundedRange(Fraction(40), "add_remove")
    with pytest.raises(MissingColumn):
        best_price(frame, "price", candidates=LADDER, epsilon=1)


def test_the_verb_and_its_terms() -> None:
    assert best_price(BIDS, candidates=LADDER, scale=2).guarantee == BoundedRange(
        Fraction(7, 4), "add_remove"
    )
    two = best_price(BIDS, candidates=LADDER, units=2, scale=2, neighbors="replace_one", size=3)
    assert two.guarantee == BoundedRange(Fraction(7, 2), "replace_one").repeated(3)
    assert len(two.value) == 3
    assert best_price(BIDS, candidates=LADDER, supply=10, epsilon=9999).value == Decimal("3.01")
    fine = Grid(0, "3.5", Fraction(1, 2**60))
    assert 0 <= best_price(BIDS, candidates=fine, continuous=True, epsilon=1).value < 3.5
    assert best_price([], candidates=Grid(1, 2), epsilon=1).value in (1, 2)


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (InvalidCandidates, {"candidates": Grid(-1, 1)}),
        (InvalidCandidates, {"candidates": Grid(0, 0)}),
        (InvalidCandidates, {"candidates": [1, 2]}),
        (InvalidCandidates, {"candidates": Grid(1, 1), "continuous": True}),
        (InvalidArgument, {"continuous": "no"}),
        (InvalidNumber, {"supply": 0}),
        (InvalidNumber, {"units": 1.5}),
        (InvalidNumber, {"scale": -1}),
        (InvalidArgument, {"mechanism": "noisy_max"}),
        (InvalidArgument, {"epsilon": None}),
    ],
)
def test_what_is_public_is_checked_first(error: type[Exception], arguments: dict[str, Any]) -> None:
    terms: dict[str, Any] = {"candidates": LADDER, "epsilon": None if "scale" in arguments else 1}
    with pytest.raises(error):
        best_price(object(), **{**terms, **arguments})


def test_mechanisms_that_need_steps_are_refused_before_a_bid_is_read() -> None:
    class Untouchable:
        def __iter__(self) -> Any:
            raise AssertionError("private data were read")

    for mechanism in ("permute_and_flip", "noisy_max"):
        with pytest.raises(InvalidArgument, match="needs"):
            best_price(Untouchable(), candidates=Grid(0, 9), epsilon=1, mechanism=mechanism)
