"""Guarantees as sentences, with all numbers rounded up, and bounds on errors in words."""

import math
from fractions import Fraction
from typing import Any

import pytest

from discreet.base.messages import Message
from discreet.mechanisms.accuracy import RECORDS, ROWS_IN_RANK, ErrorBound
from discreet.privacy.guarantees import ZCDP, ApproxDP, BoundedRange, NoGuarantee, PureDP
from discreet.selection.sentences import at_most_percent, belief_percent, guarantee_in_words


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
    assert "protects no one" in guarantee_in_words(PureDP(50 * one, "add_remove"))[1]
    (failing,) = guarantee_in_words(ApproxDP(one, one / 1000, "add_remove"))
    assert "2.72 times that on the other, plus 0.001." in failing
    (curve,) = guarantee_in_words(ZCDP(one / 2, "add_remove"))
    assert "plus 0.000001." in curve
    (nothing,) = guarantee_in_words(NoGuarantee("a reason", "add_remove"))
    assert nothing.startswith("Nothing is promised.")
    assert "a reason" in nothing
