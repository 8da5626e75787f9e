"""The verb best_price."""

import math
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from discreet.errors import InvalidArgument, InvalidCandidates, InvalidNumber, MissingColumn
from discreet.privacy.guarantees import BoundedRange
from discreet.selection.candidates import Grid
from discreet.tables.engines import index_counts
from discreet.tables.verbs.best_price import best_price
from tests.scripted_words import on_words
from tests.tables.scores.test_revenue import LADDER

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
    two = best_price(BIDS, candidates=LADDER, units=2, scale=2, neighbors="replace_one")
    assert two.guarantee == BoundedRange(Fraction(7, 2), "replace_one")
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


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "BIGINT", "INTEGER", "DECIMAL(9, 2)"])
@pytest.mark.parametrize("terms", [{}, {"supply": 30}, {"continuous": True}])
def test_a_file_gives_the_answers_of_memory_and_of_counts(
    kind: str, terms: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the same words, with ties, null and NaN, and bids below and above all prices."""
    not_a_number = "'NaN'::DOUBLE" if kind in ("DOUBLE", "FLOAT") else "-3"
    bids = f"CASE WHEN i % 7 = 0 THEN NULL WHEN i % 11 = 0 THEN {not_a_number} ELSE (i * i) % 97 / 4 - 2 END"
    file = str(tmp_path / "bids.parquet")
    duckdb.execute(f"COPY (SELECT ({bids})::{kind} AS bid FROM range(900) t(i)) TO '{file}'")
    rows = pl.read_parquet(file)["bid"].to_list()
    grid, words = Grid("0.5", 20, "0.25"), [2**64 // 61 * i for i in range(61)]

    def answers(data: object, column: str | None = None) -> Any:
        def ask() -> list[Any]:
            asked = partial(best_price, data, column, candidates=grid, epsilon=2, **terms)
            return [asked().value for _ in range(20)]

        return [on_words(words[i:] + words[:i], ask) for i in (0, 20, 40)]

    from_file = answers(file, "bid")
    assert from_file == answers(rows)
    monkeypatch.setattr(index_counts, "MOST_IN_MEMORY", 899)
    assert from_file == answers(file, "bid")
