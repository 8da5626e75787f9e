"""Whom a budget protects: a row, or a person. Nothing is charged to a budget that protects others."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import Batch, Grid
from discreet.errors import InvalidArgument
from discreet.ledger import Ledger
from discreet.selection.above_threshold import AboveThreshold
from discreet.selection.payment import Bill
from discreet.selection.releases import Release
from discreet.selection.verb_calls import bill_of

from ..ledgers import answering, bill, untouched

VISITS = pl.DataFrame(
    {"person": ["ann", "ann", "bob"], "drink": ["tea", "milk", "tea"], "age": [1, 4, 2]}
)
DRINKS, GRID = ["tea", "milk"], Grid(0, 5)


def personal(epsilon: Any = 1, request: str | None = None, unit: str | None = "person") -> Bill:
    return replace(bill(epsilon, request), unit=unit)


def scored(_: Any, candidates: Any) -> list[int]:
    return list(range(len(candidates)))


def tried(_data: Any, _candidate: Any, _share: Any) -> tuple[int, None]:
    return 1, None


SUMS: dict[str, Any] = {"sensitivity": 1, "epsilon": 1}

ASKED: dict[str, Callable[..., Release]] = {
    "mode": lambda **t: discreet.mode(VISITS, "drink", candidates=DRINKS, epsilon=1, **t),
    "mode by": lambda **t: discreet.mode(
        VISITS, "drink", candidates=DRINKS, by="age", groups=[1, 2], epsilon=1, **t
    ),
    "median": lambda **t: discreet.median(VISITS, "age", candidates=GRID, epsilon=1, **t),
    "quantiles": lambda **t: discreet.quantiles(
        VISITS, "age", alphas=["1/2"], candidates=GRID, epsilon=1, **t
    ),
    "price": lambda **t: discreet.best_price(VISITS, "age", candidates=GRID, epsilon=1, **t),
    "top_k": lambda **t: discreet.top_k(VISITS, "drink", k=1, candidates=DRINKS, epsilon=1, **t),
    "top_k of scores": lambda **t: discreet.select_top_k([1, 2], k=1, **SUMS, **t),
    "select": lambda **t: discreet.select([1, 2], **SUMS, **t),
    "select_by": lambda **t: discreet.select_by(scored, VISITS, DRINKS, **SUMS, error=0, **t),
    "generalized": lambda **t: discreet.select_generalized([1, 2], [1, 2], epsilon=1, **t),
    "laplace": lambda **t: discreet.laplace(3, **SUMS, **t),
    "geometric": lambda **t: discreet.geometric(3, **SUMS, **t),
    "randomized_response": lambda **t: discreet.randomized_response(
        "tea", DRINKS, epsilon="1/2", **t
    ),
    "private_candidates": lambda **t: discreet.private_candidates(
        tried, VISITS, [1, 2], epsilon=1, **t
    ),
}


@pytest.mark.parametrize("verb", ASKED.values(), ids=ASKED)
def test_every_verb_says_whom_it_protects(verb: Callable[..., Release]) -> None:
    for unit in (None, "person"):
        ledger = Ledger()
        ledger.open("visits", epsilon=1, neighbors="replace_one", privacy_unit=unit)
        ledger.open("visits", analyst="a", epsilon=1, neighbors="replace_one", privacy_unit=unit)
        ledger.open("others", epsilon=9, privacy_unit="house" if unit else "person")
        terms: dict[str, Any] = {} if unit is None else {"privacy_unit": unit}
        if verb in (ASKED["private_candidates"], ASKED["randomized_response"]):
            assert bill_of(verb, **terms).unit == unit
        else:
            assert bill_of(verb, **terms, neighbors="replace_one").unit == unit
            terms["neighbors"] = "replace_one"
        with pytest.raises(InvalidArgument, match="the budget of others protects all rows"):
            verb(**terms, ledger=ledger.session("others"))
        assert [event.kind for event in ledger.history("others")] == ["opened"]
        if verb is ASKED["private_candidates"]:
            continue  # it costs 2 under replace_one
        assert verb(**terms, ledger=ledger.session("visits", "a")).unit == unit
        assert ledger.verify()


def test_a_name_of_a_column_is_read_the_same_everywhere() -> None:
    for verb in ASKED.values():
        for wrong in ("", 3):
            with pytest.raises(InvalidArgument, match="privacy_unit must be the name of a column"):
                verb(privacy_unit=wrong)
    with pytest.raises(InvalidArgument, match="privacy_unit must be the name of a column"):
        AboveThreshold(1, 1, 1, privacy_unit="")
    for wrong in ("", 3, " x", "a\nb"):
        with pytest.raises(InvalidArgument, match="privacy_unit must be a printable name"):
            Ledger().open("visits", epsilon=1, privacy_unit=wrong)  # type: ignore[arg-type]


def test_a_session_above_a_threshold_says_it_too() -> None:
    ledger = Ledger()
    ledger.open("visits", epsilon=1, privacy_unit="person")
    session = ledger.session("visits")
    with pytest.raises(InvalidArgument, match="protects all rows of one person"):
        AboveThreshold(1, 1, 1, ledger=session)
    AboveThreshold(1, 1, 1, ledger=session, privacy_unit="person")
    assert ledger.budgets()[0].remaining.epsilon == 0


@pytest.mark.parametrize(
    ("unit", "charged", "message"),
    [
        ("person", None, "protects all rows of one person, and this release one row: ask with "
         "privacy_unit='person', or pay from a budget that was opened for that"),
        (None, "person", "protects one row, and this release all rows of one person: ask without "
         "privacy_unit, or pay from a budget that was opened for that"),
        ("person", "house", "protects all rows of one person, and this release all rows of one house: ask "
         "with privacy_unit='person', or pay from a budget that was opened for that"),
    ],
)  # fmt: skip
def test_another_unit_is_refused_before_anything_is_looked_at(
    where: str, unit: str | None, charged: str | None, message: str
) -> None:
    ledger = Ledger(where)
    ledger.open("visits", epsilon=1, privacy_unit=unit)
    session = ledger.session("visits")
    with pytest.raises(InvalidArgument) as refused:
        session.buy(personal("1/3", unit=charged), untouched)
    assert str(refused.value) == f"the budget of visits {message}"
    with pytest.raises(InvalidArgument, match="the budget of visits protects"):
        session.quoted([personal("1/3", unit=charged)])
    assert len(ledger.history()) == 1
    session.buy(personal("1/3", unit=unit), answering(0))
    assert ledger.budgets()[0].spent.epsilon == Fraction(1, 3)
    assert Ledger(where).budgets()[0].unit == unit
    assert ledger.verify().events == 3


def test_a_share_protects_whom_the_whole_protects(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("visits", epsilon=1, privacy_unit="person")
    ledger.open("rows", epsilon=1)
    with pytest.raises(InvalidArgument, match="so a share of it takes privacy_unit='person'"):
        ledger.open("visits", analyst="a", epsilon=1)
    with pytest.raises(InvalidArgument, match="so a share of it takes no privacy_unit"):
        ledger.open("rows", analyst="a", epsilon=1, privacy_unit="person")
    ledger.open("visits", analyst="a", epsilon="1/2", privacy_unit="person")
    ledger.session("visits", "a").buy(personal("1/2"), answering(0))
    ledger.extend("visits", analyst="a", epsilon=1)
    assert [budget.unit for budget in ledger.budgets()] == [None, "person", "person"]
    assert ledger.verify().events == 6


def test_a_budget_is_opened_for_one_unit() -> None:
    ledger = Ledger()
    first = ledger.open("visits", epsilon=1, privacy_unit="person")
    assert ledger.open("visits", epsilon=1, privacy_unit="person") == first
    with pytest.raises(
        InvalidArgument,
        match=r"opened as ε = 1 \(add/remove one person\), not as ε = 1 \(add/remove one record\)",
    ):
        ledger.open("visits", epsilon=1)


def test_the_same_question_for_others_is_another_request() -> None:
    ledger = Ledger()
    ledger.open("rows", epsilon=2)
    session = ledger.session("rows")
    question: dict[str, Any] = {**SUMS, "ledger": session, "request": "monday"}
    discreet.select([1, 2], **question)
    with pytest.raises(discreet.errors.RequestConflict):
        discreet.select([1, 2], **question, privacy_unit="person")


def test_it_is_shown_and_exported(tmp_path: Path) -> None:
    ledger = Ledger()
    budget = ledger.open("visits", epsilon=1, privacy_unit="person")
    discreet.select([1, 2], **SUMS, privacy_unit="person", ledger=ledger.session("visits"))
    assert str(budget) == "visits: ε: 0 of 1 spent, 1 left (add/remove one person)"
    assert budget.as_dict()["privacy_unit"] == "person"
    opened, charged, _ = ledger.history()
    assert opened.body["privacy_unit"] == charged.body["privacy_unit"] == "person"
    assert charged.question == "select, per person"
    assert str(opened).endswith("opened visits per person")
    ledger.export(tmp_path / "events.csv")
    with (tmp_path / "events.csv").open(newline="") as file:
        bodies = [json.loads(row["body"]) for row in csv.DictReader(file)]
    assert [body.get("privacy_unit") for body in bodies] == ["person", "person", None]


def test_a_node_refuses_questions_that_protect_others() -> None:
    ledger = Ledger()
    ledger.open("visits", epsilon=1, privacy_unit="person")
    node = discreet.connect(datasets={"visits": VISITS}, ledger=ledger)
    asked: dict[str, Any] = {"candidates": DRINKS, "epsilon": 1}
    with pytest.raises(InvalidArgument, match="ask with privacy_unit='person'"):
        node.allow("visits", "rows", discreet.mode, "drink", **asked)
    node.allow("visits", "drink", discreet.mode, "drink", **asked, privacy_unit="person")
    assert node.ask("drink").unit == "person"
    assert node.budgets()[0].remaining.epsilon == 0


def test_a_plan_of_rows_and_persons_has_no_common_promise() -> None:
    of_rows = Batch().add("a", discreet.select, [1, 2], **SUMS)
    both = of_rows.add("b", discreet.select, [1, 2], **SUMS, privacy_unit="person")
    assert of_rows.cost().pure == 1
    with pytest.raises(
        InvalidArgument, match="some questions protect all rows of one person and others one row"
    ):
        both.cost()


# --- why none implies another


AGES = [*range(1, 21), 60]


def chances(rows: list[tuple[str, int]]) -> list[Any]:
    """The chances of each number to be the answer: the median of persons, one row each, at epsilon 1."""
    table = pl.DataFrame(rows, schema={"person": pl.String, "age": pl.Int64}, orient="row")
    law = discreet.distribution(
        discreet.median, table, "age", candidates=AGES, epsilon=1, privacy_unit="person"
    )
    return [law.probability(age) for age in AGES]


def test_one_row_of_a_person_may_tell_more_than_the_person() -> None:
    """The claim of docs/how-to/user_level_privacy.md: twice epsilon, and no less."""
    others, told = [("other", 50)], []
    for name in "abcdefgh":
        before, after, without = (
            chances([*others, *own]) for own in ([(name, 0)], [(name, 0), (name, 99)], [])
        )
        for ours, theirs in ((before, without), (after, without)):
            assert max(loss(ours, theirs), loss(theirs, ours)) <= 1
        told.append(max(loss(before, after), loss(after, before)))
    assert 1.8 < max(told) <= 2


def loss(ours: list[Any], theirs: list[Any]) -> float:
    return max(log(float(p) / float(q)) for p, q in zip(ours, theirs, strict=True))
