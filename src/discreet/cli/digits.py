"""Numbers for people: two significant digits where two do. JSON has more."""

from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from fractions import Fraction

from ..planning.enclosure import decimal

_MOST = 30


def two_digits(value: Fraction) -> str:
    """Return a number rounded up to two significant digits."""
    return _plain(decimal(value, 2, ROUND_CEILING))


def against(value: Fraction, limit: Fraction) -> str:
    """Return a number rounded to the fewest digits, two or more, by which it is above a limit only if it is."""
    # The upper end of a certified interval is a little above the number.
    near, limit = _rounded(value, _MOST), _rounded(limit, _MOST)
    for digits in range(2, _MOST):
        found = _rounded(near, digits)
        if (found <= limit) == (near <= limit):
            return _plain(decimal(found, digits, ROUND_HALF_EVEN))
    return _plain(decimal(near, _MOST, ROUND_HALF_EVEN))


def _rounded(value: Fraction, digits: int) -> Fraction:
    return Fraction(decimal(value, digits, ROUND_HALF_EVEN))


def _plain(text: str) -> str:
    """Return a decimal without an exponent, unless that is long."""
    number = Decimal(text)
    return f"{number.normalize():f}" if -7 < number.adjusted() < 12 else text
