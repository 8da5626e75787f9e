"""Values that a type declares serve every verb, and one candidate that looks like several is warned of."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import Ledger
from discreet.cli import run
from discreet.errors import InvalidArgument, InvalidCandidates
from discreet.selection.verb_calls import bill_of

LEVELS = ["lo", "mid", "hi"]
FRAME = pl.DataFrame(
    {"e": ["lo", "lo", "hi"] * 100, "x": [1.0, 2.0, 3.0] * 100},
    schema={"e": pl.Enum(LEVELS), "x": pl.Float64},
)

ASKED: dict[str, Callable[[Any], Any]] = {
    "mode": lambda data: discreet.mode(data, "e", epsilon=9).value,
    "counts": lambda data: [*discreet.counts(data, "e", epsilon=9).value],
    "top_k": lambda data: discreet.top_k(data, "e", k=2, epsilon=9).value,
    "count by": lambda data: [*discreet.count(data, by="e", epsilon=9).value],
    "mean by": lambda data: [
        *discreet.mean(data, "x", minimum=0, maximum=5, by="e", epsilon=9).value
    ],
    "median by": lambda data: [
        *discreet.median(data, "x", candidates=discreet.Grid(0, 5), by="e", epsilon=9).value
    ],
    "mode by": lambda data: [*discreet.mode(data, "e", by="e", epsilon=9).value],
}
ANSWERS: dict[str, Any] = {"mode": "lo", "top_k": ["lo", "hi"]}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("lazy", [False, True])
def test_the_categories_of_an_enum_serve_every_verb(name: str, lazy: bool) -> None:
    assert ASKED[name](FRAME.lazy() if lazy else FRAME) == ANSWERS.get(name, LEVELS)


def test_a_ledger_and_a_quote_see_them_too() -> None:
    ledger = Ledger()
    ledger.open("t", epsilon=20)
    session = ledger.session("t")
    assert session.top_k(FRAME, "e", k=1, epsilon=9).value == ["lo"]
    assert [*session.count(FRAME, by="e", epsilon=9).value] == LEVELS
    assert bill_of(discreet.count, FRAME, by="e", epsilon=1).guarantee.pure == 1
    with pytest.raises(InvalidArgument, match="by goes with groups"):  # a quote opens no data
        bill_of(discreet.count, FRAME.lazy(), by="e", epsilon=1)


@pytest.mark.parametrize(
    "data",
    [
        FRAME.with_columns(pl.col("e").cast(pl.Categorical)),
        FRAME.with_columns(pl.col("e").cast(pl.String)),
        FRAME.to_arrow(),
    ],
)
def test_categories_that_may_be_of_rows_serve_none(data: Any) -> None:
    with pytest.raises(InvalidCandidates, match=r"candidates are missing.*call select_top_k"):
        discreet.top_k(data, "e", k=1, epsilon=9)
    with pytest.raises(InvalidArgument, match="by goes with groups"):
        discreet.count(data, by="e", epsilon=9)


DRINKS = pl.DataFrame({"drink": ["tea", "coffee"] * 50})
ONE = ["coffee tea water", "tea,coffee", "tea; coffee", "tea\tcoffee"]


@pytest.mark.parametrize("one", ONE)
def test_one_candidate_that_looks_like_several_is_warned_of(one: str) -> None:
    """`--candidates "coffee tea water"` answered `coffee tea water`, and said nothing."""
    for ask in (
        lambda: discreet.mode(DRINKS, "drink", candidates=[one], epsilon=1),
        lambda: discreet.counts(DRINKS, "drink", candidates=[one], epsilon=1),
        lambda: discreet.top_k(DRINKS, "drink", k=1, candidates=[one], epsilon=1),
    ):
        with pytest.warns(UserWarning, match="there is one candidate only"):
            ask()


@pytest.mark.parametrize("candidates", [["tea"], ["green tea", "black tea"], [7]])
def test_other_candidates_are_not(candidates: list[Any]) -> None:
    data = pl.DataFrame({"drink": candidates * 9})
    discreet.counts(data, "drink", candidates=candidates, epsilon=1)


def test_the_command_line_warns_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DRINKS.write_csv(tmp_path / "t.csv")
    ask = ["mode", str(tmp_path / "t.csv"), "drink", "--candidates", "coffee tea"]
    with pytest.warns(UserWarning, match="there is one candidate only, 'coffee tea'"):
        assert run([*ask, "--epsilon", "1"]) == 0
    assert capsys.readouterr().out == "coffee tea\n"
