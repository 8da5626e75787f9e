"""Plain words of reports."""

import math
from fractions import Fraction
from typing import Any

import pytest

from discreet.privacy.guarantees import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    NoGuarantee,
    PureDP,
)
from discreet.reports import plain_words as words


@pytest.mark.parametrize(("epsilon", "factor", "sure"), [
    ("1/1000", "1.01", "50.03"), ("0.1", "1.11", "52.50"), (1, "2.72", "73.11"), (3, "20.09", "95.26"),
])  # fmt: skip
def test_promises_are_rounded_up(epsilon: Any, factor: str, sure: str) -> None:
    first, second = words.guarantee_in_words(PureDP(Fraction(epsilon), "add_remove"))
    assert f"at most {factor} times" in first
    assert float(factor) >= math.exp(float(Fraction(epsilon)))
    assert f"at most {sure} % sure" in second
    assert float(sure) >= 100 / (1 + math.exp(-float(Fraction(epsilon))))


def test_promises_of_every_kind() -> None:
    one = Fraction(1)
    assert "replaced by another" in words.guarantee_in_words(BoundedRange(one, "replace_one"))[0]
    assert "protects nobody" in words.guarantee_in_words(PureDP(50 * one, "add_remove"))[1]
    (failing,) = words.guarantee_in_words(ApproxDP(one, one / 1000, "add_remove"))
    assert "2.72 times its chance on the other, plus 0.001." in failing
    (curve,) = words.guarantee_in_words(ZCDP(one / 2, "add_remove"))
    assert "plus 0.000001." in curve
    (nothing,) = words.guarantee_in_words(NoGuarantee("a reason", "add_remove"))
    assert nothing.startswith("Nothing is promised.")
    assert "a reason" in nothing
