"""Numbers for people: two significant digits where two do. JSON has more."""

from decimal import ROUND_HALF_EVEN
from fractions import Fraction

from ..numbers import decimal, rounded_up, without_exponent

_ALL_DIGITS = 30


def two_digits(value: Fraction) -> str:
    """Return a number rounded up to two significant digits."""
    return rounded_up(value, 2)


def against(value: Fraction, limit: Fraction) -> str:
    """Return a number rounded to the fewest digits, two or more, by which it is above a limit only if it is."""
    # The upper end of a certified interval is a little above the number.
    near, limit = _round(value, _ALL_DIGITS), _round(limit, _ALL_DIGITS)
    for digits in range(2, _ALL_DIGITS):
        rounding = _round(near, digits)
        if (rounding <= limit) == (near <= limit):
            return without_exponent(decimal(rounding, digits, ROUND_HALF_EVEN))
    return without_exponent(decimal(near, _ALL_DIGITS, ROUND_HALF_EVEN))


def _round(value: Fraction, digits: int) -> Fraction:
    return Fraction(decimal(value, digits, ROUND_HALF_EVEN))
