"""Questions as sentences: exact where there are any, and the stored text where there might be two readings."""

import datetime as dt
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import DateGrid, Grid, Ledger
from discreet.base.messages import Message, translate, using_language
from discreet.mechanisms.accuracy import RECORDS, ROWS_IN_RANK, ErrorBound
from discreet.privacy.guarantees import ZCDP, ApproxDP, BoundedRange, NoGuarantee, PureDP
from discreet.selection.sentences import (
    at_most_percent,
    belief_percent,
    guarantee_in_words,
    question_in_words,
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
    (lambda: discreet.median([dt.date(2020, 5, 1)], candidates=DateGrid("2020-01-01", "2020-12-31"), epsilon=1),
     "median of numbers, 2020-01-01 to 2020-12-31 by 1 day"),
    (lambda: discreet.mode(TABLE, "1, 1 rows each", candidates=[1], epsilon=1),
     "mode of 1, 1 rows each, 1 candidates"),
])  # fmt: skip
def test_releases_are_asked_in_sentences(ask: Any, words: str) -> None:
    release = ask()
    assert question_in_words(release.query) == words
    assert words in release._repr_html_()


@pytest.mark.parametrize("text", [
    "", "select, 3 candidates", "a question of one's own", "mode of a, per b, by c",
    "mode of a, per b, c, 2 candidates", "quantile 1/2 of a, Grid(0, 1)",
    "check of a, per b, 3 rows each", "quantile 1/2 of a\nb, Grid(0, 9, step 1; 10 points)",
    "top 3 of a, b", "price for a, supply None",
])  # fmt: skip
def test_other_texts_are_shown_as_they_are(text: str) -> None:
    assert question_in_words(text) is text


@pytest.mark.parametrize(
    "name", ["Age (years)", "a {column}", "of city", "x (2 groups)", "数", "a,b", "top 3"]
)
def test_names_stay_whole(name: str) -> None:
    text = f"quantile 1/2 of {name}, Grid(0, 9, step 1; 10 points), per {name}, 2 rows each, by {name} (3 groups)"
    assert question_in_words(text) == (
        f"median of {name}, 0 to 9 by 1, at most 2 rows of each {name}, for each of 3 groups of {name}"
    )


def test_numbers_too_long_to_read_and_dates_stay() -> None:
    text = "median of a, {} to 2030-01-01 by 1 month"
    stored = "quantile 1/2 of a, Grid({}, 2030-01-01, step 1 month; 9 points)"
    for low in ("1e999999999", "1/0", "2020-01-01", "9" * 5000):
        assert question_in_words(stored.format(low)) == text.format(low)


def test_the_ledger_keeps_the_text_that_it_stored(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("staff", epsilon=1)
    ledger.session("staff").median([1, 2], candidates=Grid(0, 9), epsilon=1)
    (charged,) = (event for event in ledger.history("staff") if event.kind == "charged")
    assert charged.body["query"] == "quantile 1/2 of numbers, Grid(0, 9, step 1; 10 points)"


def test_sentences_are_translated() -> None:
    with using_language("zh"):
        text = "quantile 1/2 of pay, Grid(0, 90000, step 1; 90,001 points), per who, 1 rows each"
        assert (
            translate(question_in_words(text)) == "pay 的中位数，0 至 90,000，步长 1，每个 who 一行"
        )


@pytest.mark.parametrize(("error", "words"), [
    ("16.2", "has at most 16 records fewer than the most common one"),
    (16, "has at most 15 records fewer than the most common one"),
    ("1.5", "has at most 1 record fewer than the most common one"),
    (1, "is as good as the best one"),
    ("0.5", "is as good as the best one"),
    (0, "is as good as the best one"),
])  # fmt: skip
def test_errors_in_records_are_whole(error: Any, words: str) -> None:
    bound = ErrorBound(Fraction(error), Fraction(95, 100), RECORDS)
    shown = Message("the {column} shown", column="city")
    assert bound.in_words(shown) == f"in 95 of 100 answers the city shown {words}"


def test_other_errors_and_probabilities() -> None:
    bound = ErrorBound(Fraction("15.41"), Fraction("0.999"), ROWS_IN_RANK)
    assert str(bound) == "in 999 of 1,000 answers the answer is off by less than 15.5 rows in rank"
    assert str(ErrorBound(Fraction(0), Fraction(2, 3), ROWS_IN_RANK)).startswith(
        "in 2 of 3 answers"
    )


@pytest.mark.parametrize(("epsilon", "prior", "percent"), [
    ("1/2", "1/2", "62.3"), (1, "1/2", "73.2"), (5, "1/2", "99.4"), (1, "1/10", "23.2"),
    (10, "1/2", "99.996"), (40, "1/2", "99.9999999999999996"), (200, "1/2", "100.0"),
])  # fmt: skip
def test_beliefs_are_rounded_up(epsilon: Any, prior: Any, percent: str) -> None:
    assert belief_percent(Fraction(epsilon), Fraction(prior)) == percent


def test_probabilities_are_rounded_up_to_one_place() -> None:
    thousandths = [at_most_percent(Fraction(k, 1000)) for k in (0, 1, 731, 999, 1000)]
    assert thousandths == ["0.0", "0.1", "73.1", "99.9", "100.0"]
    assert at_most_percent(Fraction("0.7310000001")) == "73.2"


@pytest.mark.parametrize(("epsilon", "factor", "sure"), [
    ("1/1000", "1.01", "50.1"), ("0.1", "1.11", "52.5"), (1, "2.72", "73.2"), (3, "20.09", "95.3"),
])  # fmt: skip
def test_promises_are_rounded_up(epsilon: Any, factor: str, sure: str) -> None:
    first, second = guarantee_in_words(PureDP(Fraction(epsilon), "add_remove"))
    assert f"at most {factor} times" in first
    assert float(factor) >= math.exp(float(Fraction(epsilon)))
    assert f"at most {sure} % sure" in second
    assert float(sure) >= 100 / (1 + math.exp(-float(Fraction(epsilon))))


def test_promises_of_every_kind() -> None:
    one = Fraction(1)
    assert "replaced by another" in guarantee_in_words(BoundedRange(one, "replace_one"))[0]
    assert "protects nobody" in guarantee_in_words(PureDP(50 * one, "add_remove"))[1]
    (failing,) = guarantee_in_words(ApproxDP(one, one / 1000, "add_remove"))
    assert "2.72 times its chance on the other, plus 0.001." in failing
    (curve,) = guarantee_in_words(ZCDP(one / 2, "add_remove"))
    assert "plus 0.000001." in curve
    (nothing,) = guarantee_in_words(NoGuarantee("a reason", "add_remove"))
    assert nothing.startswith("Nothing is promised.")
    assert "a reason" in nothing


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("quantile 1/2 of pay, Decimals(3 digits; 1,107,001 points)", "median of pay, all decimals of 3 digits"),
        ("top 2 of city, by noisy counts", "the 2 most common values of city, by noisy counts"),
        (
            "mode of city, 3 candidates, by noisy counts",
            "most common value of city, 3 candidates, by noisy counts",
        ),
        (
            "bounds at 99/100 of pay, round numbers (1, 2 and 5 times powers of ten; 3,691 points), per who, "
            "2 rows each",
            "two numbers between which nearly all of pay are, round numbers, at most 2 rows of each who",
        ),
        ("profile of age, city, per who, 1 rows each", "profile of age, city, one row of each who"),
        ("profile of age", "profile of age"),
    ],
)  # fmt: skip
def test_questions_without_bounds_and_by_counts_are_sentences(text: str, sentence: str) -> None:
    assert question_in_words(text) == sentence
