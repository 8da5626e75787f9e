"""Questions as sentences of facts: short, without candidates and groups, and in the language of the reader."""

import copy
import datetime as dt
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import DateGrid, Grid, Ledger
from discreet.base.messages import translate, using_language
from discreet.ledger.events import canonical_json
from discreet.selection.question_sentences import (
    LONGEST_FACT,
    facts_of,
    read_sentence,
    sentence_of,
    verb_of,
)

TABLE = {"salary": [1, 2], "city": ["a", "b"], "Employee ID": ["p", "q"], "1, 1 rows each": [1, 2]}
SALARIES = Grid(0, 300_000, 1000)
PERSON: dict[str, Any] = {"privacy_unit": "Employee ID", "epsilon": 1}


@pytest.mark.parametrize(("ask", "words"), [
    (lambda: discreet.median(TABLE, "salary", candidates=SALARIES, **PERSON),
     "median of salary, 0 to 300,000 by 1,000, one row of each Employee ID"),
    (lambda: discreet.median(TABLE, "salary", candidates=SALARIES, **PERSON, max_contributions=3),
     "median of salary, 0 to 300,000 by 1,000, at most 3 rows of each Employee ID"),
    (lambda: discreet.minimum(TABLE, "salary", candidates=Grid(1980, 2020), epsilon=1),
     "minimum of salary, 1980 to 2020 by 1"),
    (lambda: discreet.maximum([1, 2], candidates=Grid(0, 1, "0.01"), epsilon=1),
     "maximum of numbers, 0 to 1 by 0.01"),
    (lambda: discreet.quantile([1, 2], candidates=[-1, 1, 3], alpha=".9", epsilon=1),
     "quantile 9/10 of numbers, 3 candidates"),
    (lambda: discreet.median([1], candidates=Grid(0, 9), epsilon=1, score="median_distance"),
     "median of numbers, by distance, 0 to 9 by 1"),
    (lambda: discreet.quantiles([1], alphas=[0.25, 0.5], candidates=Grid(0, 9), epsilon=1),
     "quantiles 1/4, 1/2 of numbers, 0 to 9 by 1"),
    (lambda: discreet.mode(TABLE, "city", candidates=["a", "b"], **PERSON),
     "most common value of city, 2 candidates, per Employee ID"),
    (lambda: discreet.mode(["a"], candidates=["a"], epsilon=1), "most common of the values, 1 candidate"),
    (lambda: discreet.mode(TABLE, "salary", candidates=[1], by="city", groups=["a", "b"], epsilon=1),
     "most common value of salary, 1 candidate, for each of 2 groups of city"),
    (lambda: discreet.top_k(TABLE, "city", k=1, candidates=["a", "b"], epsilon=1),
     "most common value of city"),
    (lambda: discreet.count(TABLE, **PERSON), "number of records, per Employee ID"),
    (lambda: discreet.count(TABLE, "city", by="salary", groups=[1, 2], epsilon=1),
     "number of records with a value in city, for each of 2 groups of salary"),
    (lambda: discreet.counts(["a"], candidates=["a"], epsilon=1),
     "how many records hold each of the values, 1 candidate"),
    (lambda: discreet.counts(TABLE, "city", candidates=["a", "b"], max_candidates=1, **PERSON),
     "how many records hold each value of city, 2 candidates, at most 1 candidates of each Employee ID"),
    (lambda: discreet.keys(["a"], delta="1e-6", epsilon=1), "values that nobody listed, at most 1000 values"),
    (lambda: discreet.counts(TABLE, "city", delta="1e-6", minimum_count=5, most=9, max_groups=3, **PERSON),
     "how many records hold each value of city, at most 9 values, each of at least 5 records, "
     "at most 3 values of each Employee ID"),
    (lambda: discreet.sum(TABLE, "salary", minimum=0, maximum=90_000, step=1, **PERSON),
     "sum of salary, 0 to 90,000 by 1, one row of each Employee ID"),
    (lambda: discreet.mean([1.5], minimum=-1, maximum=1, epsilon=1), "mean of numbers, -1 to 1 by 0.00001"),
    (lambda: discreet.best_price([1], candidates=Grid(0, "3.5", ".01"), supply=5, units=2, epsilon=1),
     "best price for bids, 0 to 3.5 by 0.01, 5 to sell, at most 2 of each bidder"),
    (lambda: discreet.best_price(TABLE, "salary", candidates=Grid(0, 9), continuous=True, epsilon=1),
     "best price for salary, any number before it is rounded down, 0 to 9 by 1"),
    (lambda: discreet.median([1.5], epsilon=50), "median of numbers, all decimals of 3 digits"),
    (lambda: discreet.bounds(TABLE, "salary", q="0.99", max_contributions=2, **{**PERSON, "epsilon": 90}),
     "two numbers between which nearly all of salary are, round numbers, at most 2 rows of each Employee ID"),
    (lambda: discreet.top_k(TABLE, "city", k=2, candidates=["a", "b", "c"], method="counts", gap=True, epsilon=1),
     "the 2 most common values of city, by noisy counts, with gaps"),
    (lambda: discreet.mode(TABLE, "city", candidates=["a"], where="salary = 1", epsilon=1),
     "most common value of city, 1 candidate, where salary = 1"),
    (lambda: discreet.mean([1.5], bounds_share="1/10", epsilon=900), "mean of numbers, bounds for 1/10 of epsilon"),
    (lambda: discreet.select([1, 2], candidates=["a", "b"], sensitivity=1, epsilon=1), "select, 2 candidates"),
    (lambda: discreet.laplace(1, sensitivity=1, epsilon=1), "laplace"),
    (lambda: discreet.select_top_k([1, 2, 3], k=2, sensitivity=1, epsilon=1), "top 2 of scores"),
    (lambda: discreet.median([dt.date(2020, 5, 1)], candidates=DateGrid("2020-01-01", "2020-12-31"), epsilon=1),
     "median of numbers, 2020-01-01 to 2020-12-31 by 1 day"),
    (lambda: discreet.mode(TABLE, "1, 1 rows each", candidates=[1], epsilon=1),
     "most common value of 1, 1 rows each, 1 candidate"),
])  # fmt: skip
def test_releases_are_asked_in_sentences(ask: Any, words: str) -> None:
    release = ask()
    assert release.query == words
    assert words in release._repr_html_()


@pytest.mark.parametrize(
    "name",
    ["Age (years)", "a {column}", "of city", "x (2 groups)", "数", "a,b", "top 3", "a, per b"],
)
def test_names_stay_whole(name: str) -> None:
    facts = {"verb": "quantile", "share": "1/2", "column": name, "range": ("0", "9", "1"), "unit": name, "rows": 2,
             "by": name, "groups": 3}  # fmt: skip
    assert sentence_of(facts) == (
        f"median of {name}, 0 to 9 by 1, at most 2 rows of each {name}, for each of 3 groups of {name}"
    )


def test_numbers_too_long_to_read_and_dates_stay() -> None:
    for low in ("1e999999999", "1/0", "2020-01-01", "9" * 150):
        sentence = sentence_of({"verb": "quantile", "share": "1/2", "column": "a",
                                "range": (low, "2030-01-01", "1 month", "Europe/Zurich")})  # fmt: skip
        assert sentence == f"median of a, {low} to 2030-01-01 by 1 month, Europe/Zurich"


def test_a_ledger_holds_the_facts_and_their_length_has_a_limit(tmp_path: Path) -> None:
    long = "x" * 10_000
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("staff", epsilon=3)
    session = ledger.session("staff")
    session.median([1, 2], candidates=Grid(0, 9), epsilon=1)
    table = {long: ["SECRET ONE", "SECRET TWO"]}
    session.mode(
        table,
        long,
        candidates=["SECRET ONE", "SECRET TWO"],
        by=long,
        groups=["SECRET ONE"],
        epsilon=1,
    )
    first, second = (event for event in ledger.history("staff") if event.kind == "charged")
    assert first.body["asked"] == {"verb": "quantile", "share": "1/2", "range": ["0", "9", "1"]}
    assert first.question == "median of numbers, 0 to 9 by 1"
    assert "SECRET" not in canonical_json(second.body)
    assert len(canonical_json(second.body["asked"])) < 4 * LONGEST_FACT
    assert second.question.startswith(
        f"most common value of {'x' * (LONGEST_FACT - 1)}…, 2 candidates"
    )
    assert second.body["asked"]["groups"] == 1


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
NAMES = ["verb", "column", "k", "share", "candidates", "range", "unit", "rows", "by", "groups", "half", "where",
         "way", "most", "least", "supply", "units", "words", "continuous"]  # fmt: skip
VERBS = ["mode", "top_k", "quantile", "quantiles", "price", "sql", "select_rows", "keys", "x"]


@given(st.dictionaries(st.sampled_from(NAMES), plain) | plain, st.none() | st.sampled_from(VERBS))
def test_facts_of_anybody_make_some_sentence(facts: Any, verb: str | None) -> None:
    """Those of an edited ledger or of a foreign server too: whatever they are, nothing fails or grows."""
    if isinstance(facts, dict) and verb is not None:
        facts["verb"] = verb
    sentence = read_sentence(facts)
    assert len(sentence) < 20 * LONGEST_FACT
    with using_language("zh"):
        translate(sentence)
    assert read_sentence(json.loads(json.dumps(facts_of(sentence)))) == sentence


def test_a_text_of_somebodys_own_is_its_own_sentence() -> None:
    text = "a question of {one's} own"
    assert read_sentence(facts_of(text)) == text
    assert verb_of(text) == ""
    assert facts_of("x" * 999)["words"] == f"{'x' * (LONGEST_FACT - 1)}…"


def test_sentences_are_copied_with_their_facts() -> None:
    sentence = sentence_of({"verb": "mode", "column": "city", "candidates": 3})
    for again in (copy.deepcopy(sentence), pickle.loads(pickle.dumps(sentence))):
        assert (again, facts_of(again)) == (sentence, facts_of(sentence))


def test_sentences_are_translated() -> None:
    facts = {"verb": "quantile", "share": "1/2", "column": "pay", "range": ("0", "90000", "1"), "unit": "who",
             "rows": 1}  # fmt: skip
    with using_language("zh"):
        assert translate(sentence_of(facts)) == "pay 的中位数，0 至 90,000，步长 1，每个 who 一行"
