"""Two digits where two do: bounds are rounded up, and a number is told from the claim that it is compared with."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.digits import against, two_digits

NUMBERS = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)


@given(NUMBERS)
def test_a_bound_is_rounded_up_and_near(value: Fraction) -> None:
    shown = Fraction(two_digits(value))
    assert value <= shown <= value * Fraction(11, 10)


@given(NUMBERS, NUMBERS)
def test_a_number_is_on_its_side_of_the_limit(value: Fraction, limit: Fraction) -> None:
    shown = Fraction(against(value, limit))
    if abs(value - limit) > limit / 10**25:
        assert (shown <= limit) == (value <= limit)
    assert abs(shown - value) <= value / 20


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [("0.38589", "1", "0.39"), ("1.098612", "1.0987", "1.0986"), ("1", "1", "1"), ("4500", "1", "4500"),
     ("1.000000000000000000000000000000000001", "1", "1"), ("0.00000001", "1", "1e-8")],
)  # fmt: skip
def test_examples(value: str, limit: str, shown: str) -> None:
    assert against(Fraction(value), Fraction(limit)) == shown
