"""select with a mask and a base measure: the law of select_rows, and public values by candidate."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import Ledger, distribution, select, select_rows
from discreet.errors import InvalidArgument, InvalidScores
from discreet.selection.measures import values_in_order
from discreet.selection.verb_calls import bill_of

NEVER = float("-inf")
SCORES = [3, 1, 2]
TERMS: dict[str, Any] = {"sensitivity": 1, "epsilon": 2}
MEASURES: dict[str, dict[str, Any]] = {
    "mask": {"mask": [True, False, True]},
    "base_measure": {"base_measure": [1, 2, "1/3"]},
    "log_base_measure": {"log_base_measure": [0.0, NEVER, 1.5]},
    "mask and measure": {"mask": [True, False, True], "base_measure": [1, 5, 2]},
}


def _law(verb: Any, *args: Any, **terms: Any) -> list[float]:
    law = distribution(verb, *args, **terms)
    return [float((low + high) / 2) for low, high in zip(law.lower, law.upper, strict=True)]


@pytest.mark.parametrize("name", MEASURES)
def test_the_law_is_the_score_s_times_the_measure(name: str) -> None:
    """By hand: weight * exp(epsilon * score / 2)."""
    given = MEASURES[name]
    weights = np.exp(np.array(given.get("log_base_measure", [0.0] * 3)))
    weights *= np.array([float(Fraction(one)) for one in given.get("base_measure", [1] * 3)])
    weights *= np.array(given.get("mask", [True] * 3)) * np.exp(np.array(SCORES, dtype=float))
    assert _law(select, SCORES, **TERMS, **given) == pytest.approx(
        weights / weights.sum(), rel=1e-12
    )


@pytest.mark.parametrize("name", MEASURES)
def test_values_by_candidate_are_those_of_a_list(name: str) -> None:
    names, given = ["z", "a", "m"], MEASURES[name]
    mapped = {key: dict(zip(names, values, strict=True)) for key, values in given.items()}
    turned = {key: dict(reversed(values.items())) for key, values in mapped.items()}
    by_list = _law(select, SCORES, **TERMS, **given)
    assert _law(select, SCORES, candidates=names, **TERMS, **turned) == by_list
    assert _law(select, dict(zip(names, SCORES, strict=True)), **TERMS, **turned) == by_list


@pytest.mark.parametrize("name", MEASURES)
def test_a_ledger_keeps_values_with_their_candidates(name: str, tmp_path: Path) -> None:
    """Scores are put in the order of their names where a ledger pays, and public lists with them."""
    scores = {"z": 60_000, "a": 0, "m": -60_000}
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("votes", epsilon=10)
    session = ledger.session("votes")
    given = MEASURES[name]
    assert session.select(scores, **TERMS, **given).value == "z"
    only: dict[str, Any] = {"mask": [False, True, False]}
    assert session.select(scores, **TERMS, **only).value == "a"
    assert session.select(scores, **TERMS, mask={"m": False, "z": False, "a": True}).value == "a"


def test_the_answer_is_that_of_one_row() -> None:
    given = MEASURES["mask and measure"]
    rows = select_rows([[600, 900, 0]], **TERMS, **given)
    assert select([600, 900, 0], **TERMS, **given).value == rows.value[0] == 0
    assert select([600, 900, 0], **TERMS, **given).guarantee == rows.guarantee


def test_scores_that_may_not_be_answered_are_not_looked_at() -> None:
    for scores in ([99, NEVER, 0], np.array([99.0, NEVER, 0.0]), {"a": 99, "b": None, "c": 0}):
        names: Any = ["a", "b", "c"]
        answer = select(scores, **TERMS, mask=[True, False, True])
        assert answer.value in (0, names[0])


def test_what_is_asked_is_in_the_digest() -> None:
    bills = [bill_of(select, SCORES, **TERMS, **given) for given in ({}, *MEASURES.values())]
    assert len({bill.digest for bill in bills}) == len(bills)
    assert len({bill.guarantee for bill in bills}) == 1


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"mask": {"a": True}}, InvalidArgument, "the scores have no names"),
        ({"mask": [False] * 3}, InvalidArgument, "at least one candidate"),
        ({"mask": [1, 0, 1]}, InvalidArgument, "True or False"),
        ({"mask": [True] * 2}, InvalidScores, "for 2 candidates, but there are 3 scores"),
        ({"mask": [True] * 3, "gap": True}, InvalidArgument, "a gap has no proof"),
        ({"base_measure": [1] * 3, "log_base_measure": [0] * 3}, InvalidArgument, "not both"),
        ({"base_measure": [1] * 3, "mechanism": "permute_and_flip"}, InvalidArgument, "alone"),
        ({"candidates": list("abc"), "mask": {"a": True}}, InvalidArgument, "2 candidates have"),
        ({"candidates": list("abc"), "mask": [True]}, InvalidArgument, "for 1"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    given: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        select(SCORES, **TERMS, **given)


def test_values_of_a_set_have_no_order() -> None:
    assert values_in_order("sensitivities", {1, 2}, None, [0, 1]) == {1, 2}


def test_no_private_number_is_in_a_refusal() -> None:
    with pytest.raises(InvalidScores) as caught:
        select([123456789, 1, 2], **TERMS, mask=[True, False])
    assert "123456789" not in str(caught.value)


def test_one_token_of_a_vocabulary_is_quick() -> None:
    logits = np.linspace(-9, 0, 2**17).astype(np.float32)
    release = discreet.select(
        np.zeros(2**17), spread=1, epsilon=1, log_base_measure=logits, mask=logits > -5
    )
    assert logits[release.value] > -5
