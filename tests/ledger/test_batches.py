"""Batches: splits are exact, and nothing is asked before it is known what everything costs."""

from dataclasses import replace
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

import discreet
from discreet import Batch, Grid
from discreet.base.digests import digest
from discreet.errors import Exhausted, InvalidArgument, InvalidNumber, UnknownName
from discreet.ledger import Ledger
from discreet.selection import question as selection

from ..tables.verbs.test_quotes import ROWS, TABLE

PEOPLE = pd.DataFrame({"drink": ["tea", "tea", "milk"], "age": [3, 5, 9]})


class Unread:
    """Data that must not be looked at."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"private data were looked at: {name}")


def batch(data: Any = PEOPLE) -> Batch:
    return (
        Batch()
        .add("drink", discreet.mode, data, "drink", candidates=["tea", "milk"])
        .add("age", discreet.median, data, "age", candidates=Grid(0, 10))
        .add("tail", discreet.quantile, data, "age", alpha="0.9", candidates=Grid(0, 10))
    )


def epsilons(split: Batch) -> dict[str, Fraction | None]:
    return {name: bill.guarantee.pure for name, bill in split.bills().items()}


def test_equal_shares_add_up_exactly() -> None:
    assert epsilons(batch().split(epsilon=1)) == dict.fromkeys(
        ("drink", "age", "tail"), Fraction(1, 3)
    )


def test_weights() -> None:
    found = epsilons(batch().split(epsilon="0.1", weights={"age": 2, "tail": "1/2"}))
    assert found == {"drink": Fraction(2, 70), "age": Fraction(4, 70), "tail": Fraction(1, 70)}
    assert sum(found.values()) == Fraction(1, 10)  # type: ignore[arg-type]


def test_a_budget_in_rho() -> None:
    bills = batch().split(rho="0.3").bills().values()
    for bill in bills:
        assert bill.guarantee.rho is not None
        assert Fraction(1, 10) - Fraction(1, 2**30) < bill.guarantee.rho <= Fraction(1, 10)


def test_many_answers_share_their_share() -> None:
    several = Batch().add("five", discreet.select, [1, 2], sensitivity=1, size=5).split(epsilon=1)
    assert epsilons(several) == {"five": Fraction(1)}


def test_shares_for_wanted_errors() -> None:
    split = batch().split_by_error({"drink": 5, "age": 10, "tail": 20})
    found = epsilons(split)
    # drink: spread 1, ln(2 / 0.05) / 5; age: spread 2 of a score that is twice the rank, ln(11 / 0.05) / 10.
    assert float(found["drink"] or 0) == pytest.approx(3.688879 / 5, rel=1e-5)
    assert float(found["age"] or 0) == pytest.approx(5.393628 / 10, rel=1e-5)
    half = batch().split_by_error({"drink": 5, "age": 10, "tail": 20}, epsilon="0.5")
    shares = epsilons(half)
    assert sum(shares.values()) == Fraction(1, 2)  # type: ignore[arg-type]
    total = sum(found.values())  # type: ignore[arg-type]
    assert shares["age"] == found["age"] / total / 2  # type: ignore[operator]
    surer = epsilons(
        batch().split_by_error({"drink": 5, "age": 10, "tail": 20}, confidence="0.999")
    )
    assert surer["age"] > found["age"]  # type: ignore[operator]


def test_the_wanted_error_is_kept_in_the_worst_case() -> None:
    """All others tied just beyond the error: they have at most 1 - confidence together."""
    n, error = 50, 5
    split = Batch().add("one", discreet.select, dict.fromkeys(range(n), 0), sensitivity=1)
    [bill] = split.split_by_error({"one": error}, confidence="0.9").bills().values()
    assert bill.guarantee.pure is not None
    scores = [0] + [-error] * (n - 1)
    law = discreet.distribution(scores, sensitivity=1, epsilon=bill.guarantee.pure).pmf()
    assert 1 - law[0] <= 0.1


def test_nothing_is_looked_at_before_a_plan_runs() -> None:
    split = batch(Unread()).split(epsilon=1)
    assert "most common value of drink, 2 candidates" in str(split)
    assert repr(split) == "Batch(drink, age, tail)"
    assert repr(Batch()) == "Batch(no questions)"


def test_a_plan_runs_if_everything_can_be_paid() -> None:
    ledger = Ledger()
    ledger.open("people", epsilon=1)
    answers = batch().split(epsilon=1).run(ledger.session("people"))
    assert list(answers) == ["drink", "age", "tail"]
    assert ledger.budgets()[0].remaining.epsilon == 0
    assert batch().split(epsilon=90).run()["drink"].value == "tea"


def test_a_plan_that_is_too_dear_pays_nothing() -> None:
    ledger = Ledger()
    ledger.open("people", epsilon=1)
    with pytest.raises(Exhausted):
        batch(Unread()).split(epsilon="1.000001").run(ledger.session("people"))
    assert ledger.budgets()[0].spent.epsilon == 0


def test_the_cost_of_all() -> None:
    assert batch().split(epsilon=1).cost().pure == 1
    assert "ε = 1" in str(batch().split(epsilon=1).cost())


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="Take another name"):
        batch().add("age", discreet.select, [1])
    with pytest.raises(InvalidArgument, match="epsilon or rho"):
        batch().split()
    with pytest.raises(InvalidArgument, match="epsilon or rho"):
        batch().split(epsilon=1, rho=1)
    with pytest.raises(UnknownName, match=r"'agee'. The questions are drink, age, tail"):
        batch().split(epsilon=1, weights={"agee": 1})
    with pytest.raises(InvalidNumber, match=r"weights\['age'\]"):
        batch().split(epsilon=1, weights={"age": 0})
    with pytest.raises(InvalidArgument, match="errors are missing for age, tail"):
        batch().split_by_error({"drink": 1})
    with pytest.raises(InvalidNumber, match="confidence must be below 1"):
        batch().split_by_error({"drink": 1, "age": 1, "tail": 1}, confidence=1)
    with pytest.raises(InvalidArgument, match="no questions"):
        Batch().split(epsilon=1)
    several = Batch().add("q", discreet.quantiles, [1, 2], alphas=["0.5"], candidates=Grid(0, 3))
    with pytest.raises(InvalidArgument, match="several quantiles take epsilon"):
        several.split_by_error({"q": 1})
    noise = Batch().add("n", discreet.geometric, 3, sensitivity=1)
    with pytest.raises(InvalidArgument, match="Split by weights"):
        noise.split_by_error({"n": 1})
    smooth = Batch().add("p", discreet.best_price, [1], candidates=Grid(0, 3), continuous=True)
    with pytest.raises(InvalidArgument, match="Split by weights"):
        smooth.split_by_error({"p": 1})
    with pytest.raises(InvalidArgument, match="is not a verb"):
        Batch().add("x", lambda **_: discreet.select([1], sensitivity=1, epsilon=1)).bills()


def test_a_batch_without_questions_costs_nothing() -> None:
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=1)
    assert Batch().run(ledger.session("people")) == {}
    assert len(ledger.history()) == 1


def test_every_verb_answers_in_a_batch_and_again_with_the_same_bytes(tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "people.csv")
    ledger = Ledger()
    ledger.open("people", epsilon=100)
    questions = Batch()
    for name, verb in ROWS.items():
        for source, data in (("frame", TABLE), ("file", tmp_path / "people.csv")):
            request = f"{name} of a {source}"
            questions = questions.add(request, verb, data, request=request)
    questions = questions.split(epsilon=50)
    first = questions.run(ledger.session("people"))
    assert all(release.charged for release in first.values())
    kinds = [event.kind for event in ledger.history()[1:]]
    assert kinds == ["charged"] * len(first) + ["answered"] * len(first)
    again = questions.run(ledger.session("people"))
    plain = {name: replace(release, charged=False).as_dict() for name, release in first.items()}
    assert plain == {name: release.as_dict() for name, release in again.items()}
    session = ledger.session("people")  # and each verb by itself gives what the batch gave
    alone = {name: one.ask(ledger=session) for name, one in questions.questions.items()}
    assert plain == {name: release.as_dict() for name, release in alone.items()}
    assert ledger.budgets()[0].spent.epsilon == 50
    ledger.verify()


def test_a_question_of_a_batch_is_settled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    digests: list[object] = []

    def note(description: Any) -> str:
        digests.append(description)
        return digest(description)

    monkeypatch.setattr(selection, "digest", note)
    ledger = Ledger()
    ledger.open("people", epsilon=10)
    questions = Batch()
    for number in range(3):
        questions = questions.add(str(number), discreet.select, [number, 0], sensitivity=1)
    releases = questions.split(epsilon=3).run(ledger.session("people"))
    assert len(digests) == 3
    assert all(release.charged and release.value in (0, 1) for release in releases.values())


def test_what_a_function_of_your_own_does_with_the_answer_is_done() -> None:
    def shout(**terms: Any) -> Any:
        return str(discreet.select({"tea": 100, "milk": 0}, sensitivity=1, **terms)).upper()

    ledger = Ledger()
    ledger.open("people", epsilon=10)
    named_alike = wraps(discreet.select)(shout)
    questions = Batch().add("drink", shout, epsilon=4).add("again", named_alike, epsilon=4)
    answers = questions.run(ledger.session("people"))
    assert all(str(answer).startswith("TEA") for answer in answers.values())


def test_a_function_that_buys_twice_pays_twice() -> None:
    def both(**terms: Any) -> Any:
        discreet.select([100, 0], sensitivity=1, **terms)
        return discreet.select([100, 0], sensitivity=1, **terms)

    ledger = Ledger()
    ledger.open("people", epsilon=10)
    Batch().add("both", both, epsilon=1).run(ledger.session("people"))
    assert ledger.budgets()[0].spent.epsilon == 2


def test_a_batch_that_is_refused_by_one_question_asks_none() -> None:
    ledger = Ledger()
    ledger.open("people", epsilon=10)
    questions = batch(Unread()).split(epsilon=1).add("none", cast(Any, lambda **_: None))
    with pytest.raises(InvalidArgument, match="is not a verb"):
        questions.run(ledger.session("people"))
    assert len(ledger.history()) == 1
