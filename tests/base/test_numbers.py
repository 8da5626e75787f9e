"""Numbers are read exactly, and rounded against ourselves."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.base.numbers import (
    count,
    exact,
    float_up,
    positive,
    positive_up,
    root_below,
    rounded_against,
    rounded_up,
    spell,
)
from discreet.errors import InvalidNumber
from discreet.selection.verb_calls import bill_of

positive_fractions = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("1e-3", Fraction(1, 1000)),
        (Decimal("0.1"), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int64(3), Fraction(3)),
        (1e300, Fraction(10**300)),
        (5e-324, Fraction(5, 10**324)),
    ],
)
def test_exact_numbers_come_in_as_they_are_written(value: Any, expected: Fraction) -> None:
    assert exact(value, "epsilon") == expected


@pytest.mark.parametrize(
    "value",
    [True, np.bool_(True), "ten", "", "1/0", "nan", "inf", math.nan, math.inf, Decimal("NaN"), Decimal("Infinity"),
     None, 1j, [1], np.array([1]), "1e99999999", "1e99999x", Decimal("1e99999"), "9" * 20_000],
)  # fmt: skip
def test_what_is_no_finite_number_is_refused(value: Any) -> None:
    with pytest.raises(InvalidNumber, match=r"^epsilon must be a finite number") as caught:
        exact(value, "epsilon")
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("value", [0, -1, "0", -0.0, "-1/2"])
def test_positive_refuses_zero_and_below(value: Any) -> None:
    with pytest.raises(InvalidNumber, match=r"^epsilon must be greater than zero, got"):
        positive(value, "epsilon")


def test_a_float_sensitivity_is_read_upwards() -> None:
    assert positive_up(0.1, "s") == Fraction(0.1) > Fraction(1, 10)
    assert positive_up(0.3, "s") == Fraction(3, 10) > Fraction(0.3)
    assert positive_up(np.float32(0.1), "s") == Fraction(float(np.float32(0.1)))
    assert positive_up("0.1", "s") == positive_up(Decimal("0.1"), "s") == Fraction(1, 10)


@pytest.mark.parametrize("value", [0, -1, 1.0, "1", True, None])
def test_counts_are_whole_numbers_from_one(value: Any) -> None:
    with pytest.raises(InvalidNumber, match=r"^size must be a whole number of at least 1"):
        count(value, "size")
    assert count(np.int32(7), "size") == 7


@given(positive_fractions)
def test_float_up_is_the_least_float_not_below(value: Fraction) -> None:
    up = float_up(value)
    assert Fraction(up) >= value > Fraction(math.nextafter(up, -math.inf))


def test_float_up_beyond_the_largest_float() -> None:
    assert float_up(Fraction(10**400)) == math.inf
    assert float_up(-Fraction(10**400)) == -math.inf


@given(positive_fractions)
def test_root_below_is_below_and_close(value: Fraction) -> None:
    root = root_below(value)
    assert root**2 <= value < (root * (1 + Fraction(1, 2**60))) ** 2
    assert root_below(value**2) == value


@given(positive_fractions)
def test_spell_rounds_up_or_is_exact(value: Fraction) -> None:
    text = spell(value)
    if text.startswith("≤ "):
        shown = Fraction(text[2:])
        assert value <= shown <= value * (1 + Fraction(1, 10**5))
    else:
        assert Fraction(text) == value


def test_spell_is_short_where_it_can_be() -> None:
    assert [spell(Fraction(v)) for v in ("1", "1/2000", "1/3", "0.1")] == [
        "1",
        "0.0005",
        "1/3",
        "0.1",
    ]
    assert spell(Fraction(1) + Fraction(1, 2**70)) == "≤ 1.00001"


NUMBERS = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)


@given(NUMBERS)
def test_a_bound_is_rounded_up_and_near(value: Fraction) -> None:
    shown = Fraction(rounded_up(value, 2))
    assert value <= shown <= value * Fraction(11, 10)


@given(NUMBERS, NUMBERS)
def test_a_number_is_on_its_side_of_the_limit(value: Fraction, limit: Fraction) -> None:
    shown = Fraction(rounded_against(value, limit))
    if abs(value - limit) > limit / 10**25:
        assert (shown <= limit) == (value <= limit)
    assert abs(shown - value) <= value / 20


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [("0.38589", "1", "0.39"), ("1.098612", "1.0987", "1.0986"), ("1", "1", "1"), ("4500", "1", "4500"),
     ("1.000000000000000000000000000000000001", "1", "1"), ("0.00000001", "1", "1e-8")],
)  # fmt: skip
def test_numbers_beside_a_limit(value: str, limit: str, shown: str) -> None:
    assert rounded_against(Fraction(value), Fraction(limit)) == shown


VALUES = [1.5, 2.5]
ASKED: dict[str, tuple[Any, dict[str, Any]]] = {
    "median": (discreet.median, {"epsilon": "0.5"}),
    "quantile": (discreet.quantile, {"alpha": "0.25", "rho": "0.5"}),
    "sum": (discreet.sum, {"minimum": "-0.5", "maximum": "9.5", "step": "0.5", "scale": "2.5"}),
    "mean": (discreet.mean, {"minimum": "0", "maximum": "9.5", "epsilon": "1", "delta": "1e-8"}),
    "bounds": (discreet.bounds, {"q": "0.9", "epsilon": "8"}),
    "count": (discreet.count, {"epsilon": "0.125"}),
}


@pytest.mark.parametrize("verb", ASKED)
def test_a_decimal_is_the_number_that_it_spells(verb: str) -> None:
    """The same question, to every digit, with the text and with the decimal."""
    ask, texts = ASKED[verb]
    grid = {"candidates": discreet.Grid(0, 9, "0.5")} if verb in ("median", "quantile") else {}
    decimals = {name: Decimal(text) for name, text in texts.items()}
    bills = [bill_of(ask, VALUES, **terms, **grid) for terms in (texts, decimals)]
    assert bills[0].digest == bills[1].digest
    assert bills[0].guarantee == bills[1].guarantee
