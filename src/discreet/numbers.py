"""The one door for numbers: exact in, rounded against ourselves out.

Every number of a privacy statement is a `fractions.Fraction`. What a person writes becomes one here:
integers, fractions and decimals as they are, text such as ``"1/3"`` or ``"0.1"``, and a float as the
decimal it prints as, so that ``0.1`` means one tenth. Sensitivities are read upwards (`positive_up`).
"""

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, cast

from .errors import InvalidArgument, InvalidNumber, shown

Number = int | float | str | Fraction | Decimal
"""What the public functions accept where they ask for a number; numpy's scalars are welcome too."""

_MOST_DIGITS = 10_000
"""Longest number read from text or a decimal: beyond it, exactness would cost more than it is worth."""


def exact(value: Any, name: str) -> Fraction:
    """Return `value` as an exact fraction; a float means the decimal that it prints as.

    Raises:
        InvalidNumber: for anything that is no finite number; the message starts with `name`.
    """
    number = _read(value)
    if number is None:
        raise InvalidNumber(
            f"{name} must be a finite number (int, float, Fraction, Decimal, or text such as '0.1' "
            f"or '1/3'), got {shown(value)}"
        )
    return number


def positive(value: Any, name: str) -> Fraction:
    """Return `value` as an exact fraction above zero."""
    number = exact(value, name)
    if number <= 0:
        raise InvalidNumber(f"{name} must be greater than zero, got {shown(value)}")
    return number


def positive_up(value: Any, name: str) -> Fraction:
    """Return `value` as a fraction above zero that is no less than any reading of it.

    A float has two readings, its binary value and the decimal it prints as. A sensitivity that is
    too small breaks the promise, one that is too large by 2^-53 costs nothing, so take the larger.
    """
    number = positive(value, name)
    if isinstance(value, Real) and not isinstance(value, Integral | Fraction):
        numerator, denominator = cast(Any, value).as_integer_ratio()
        number = max(number, Fraction(int(numerator), int(denominator)))
    return number


def count(value: Any, name: str, most: int | None = None) -> int:
    """Return `value` as an integer of at least one, and at most `most`."""
    if not isinstance(value, bool) and isinstance(value, Integral):
        number = int(value)
        if number >= 1 and (most is None or number <= most):
            return number
    bounds = "of at least 1" if most is None else f"from 1 to {most:,}"
    raise InvalidNumber(f"{name} must be a whole number {bounds}, got {shown(value)}")


def flag(value: Any, name: str) -> bool:
    """Return `value` if it is True or False: a text such as "no" must not count as true."""
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return bool(value)
    raise InvalidArgument(f"{name} must be True or False, got {shown(value)}")


def float_up(value: Fraction) -> float:
    """Return the least float that is no less than `value` (infinity beyond the largest)."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def nearest_double(value: int | Fraction) -> float:
    """Return the double nearest to a number that is not negative, or infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def root_below(value: Fraction) -> Fraction:
    """Return a fraction r with r * r <= value: the root, or a number within 2**-60 of it relatively."""
    product = value.numerator * value.denominator
    root = math.isqrt(product)
    if root * root == product:
        return Fraction(root, value.denominator)
    shift = max(0, 64 - root.bit_length())
    return Fraction(math.isqrt(product << (2 * shift)), value.denominator << shift)


def root_above(value: Fraction) -> Fraction:
    """Return a fraction r with r * r >= value: the root, or a number within 2**-60 of it relatively."""
    below = root_below(value)
    return below if below * below == value else below * (1 + Fraction(1, 2**60))


def short_up(value: Fraction, bits: int = 64) -> Fraction:
    """Return the least multiple of a unit of about that many bits that is no less than `value`."""
    unit = _unit(value, bits)
    return math.ceil(value / unit) * unit


def short_down(value: Fraction, bits: int = 64) -> Fraction:
    """Return the largest multiple of a unit of about that many bits that is no more than `value`."""
    unit = _unit(value, bits)
    return math.floor(value / unit) * unit


def _unit(value: Fraction, bits: int) -> Fraction:
    """Return a power of two of which `value` is at least 2**(bits - 1) in size."""
    length = value.numerator.bit_length() - value.denominator.bit_length()
    return Fraction(2) ** (length - bits)


def spell(value: Fraction) -> str:
    """Return `value` as people write it: exact if that is short, else rounded up after a "≤"."""
    return _short(value) or f"≤ {_rounded(value, ROUND_CEILING)}"


def spell_down(value: Fraction) -> str:
    """Return `value`, of which there is at least so much: exact if that is short, else rounded down after a "≥"."""
    return _short(value) or f"≥ {_rounded(value, ROUND_FLOOR)}"


def _short(value: Fraction) -> str | None:
    """Return the exact value in a few digits, or None."""
    if value.denominator == 1 and abs(value) < 10**12:
        return str(value.numerator)
    decimal = _terminating(value)
    if decimal is not None:
        return decimal
    if value.denominator < 1000 and value.numerator < 10**6:
        return f"{value.numerator}/{value.denominator}"
    return None


def _read(value: Any) -> Fraction | None:
    """Return the exact value, or None if there is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Fraction):
        return Fraction(
            int(value.numerator), int(value.denominator)
        )  # its parts may be numpy's, which wrap
    if isinstance(value, Decimal):
        ordinary = value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS
        return Fraction(value) if ordinary else None
    if isinstance(value, Integral):
        return Fraction(int(value))
    return _parse(str(value)) if isinstance(value, str | Real) else None


def _parse(text: str) -> Fraction | None:
    """Return the number that `text` spells, or None."""
    _, _, exponent = text.lower().partition("e")
    try:
        if len(text) > _MOST_DIGITS or (exponent and abs(int(exponent)) > _MOST_DIGITS):
            return None
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def _terminating(value: Fraction) -> str | None:
    """Return the exact decimal expansion if it has at most 12 digits after the point."""
    scaled = value * 10**12
    if scaled.denominator != 1 or not 0 <= value < 10**12:
        return None
    whole, part = divmod(scaled.numerator, 10**12)
    return f"{whole}.{part:012d}".rstrip("0").rstrip(".")


def _rounded(value: Fraction, rounding: str) -> str:
    """Return the next decimal of six significant digits in that direction."""
    with localcontext(prec=6, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN):
        return f"{Decimal(value.numerator) / value.denominator:g}"
