"""Reads numbers: exact in, and rounded against ourselves out.

Every number of a privacy statement is a `fractions.Fraction`. Arguments of other types become one here:
integers, fractions and decimals as they are, text such as ``"1/3"`` or ``"0.1"``, and a float as the
decimal it prints as, so that ``0.1`` means one tenth. Sensitivities are read upwards (`positive_up`).
"""

import math
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Decimal,
    localcontext,
)
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from ..errors import InvalidArgument, InvalidNumber, preview
from .arguments import exact_text
from .doors import fix

Number = int | float | str | Fraction | Decimal
"""The types of numbers that public functions accept, besides numpy's scalars."""

_MOST_DIGITS = 4_200
"""The longest numerator or denominator that is read: doubles have at most 325 digits, and Python spells 4,300."""

_PLAIN = (int, float, str, Fraction, Decimal)

_MOST_SHOWN = 30
"""The most digits of a number that people read."""

_FINEST_EXPONENT = -8192
"""Bounds are not told more finely than multiples of 2**-8192, which Python can still spell."""

_TOO_LONG = 10**_MOST_DIGITS


def fits(*values: Fraction | int, digits: int = _MOST_DIGITS) -> bool:
    """Return whether all numerators and denominators have at most so many digits."""
    longest: int = max(max(abs(value.numerator), value.denominator) for value in values)
    limit: int = _TOO_LONG if digits == _MOST_DIGITS else 10**digits
    return longest < limit


def exact(value: object, name: str) -> Fraction:
    """Return `value` as an exact fraction; a float means the decimal that it prints as.

    Raises:
        InvalidNumber: for anything that is no finite number; the message starts with `name`.
    """
    number = _read(value)
    if number is None:
        raise InvalidNumber(f"{name} must be {fix('a number')}, got {preview(value)}")
    return number


def positive(value: object, name: str) -> Fraction:
    """Return `value` as an exact fraction above zero."""
    number = exact(value, name)
    if number <= 0:
        raise InvalidNumber(f"{name} must be greater than zero, got {preview(value)}")
    return number


def not_negative(value: object, name: str) -> Fraction:
    """Return `value` as an exact fraction of at least zero."""
    number = exact(value, name)
    if number < 0:
        raise InvalidNumber(f"{name} must be at least zero, got {preview(value)}")
    return number


def positive_up(value: object, name: str) -> Fraction:
    """Return `value` as a fraction above zero that is no less than any reading of it.

    A float has two readings, its binary value and the decimal it prints as. A sensitivity that is
    too small breaks the promise, one that is too large by 2^-53 costs nothing, so take the larger.
    """
    number = positive(value, name)
    if not isinstance(value, Real) or isinstance(value, Integral | Fraction):
        return number
    binary = _binary(value)
    if binary is None:
        raise InvalidNumber(f"{name} must be a finite number, got {preview(value)}")
    return max(number, binary)


def count(value: object, name: str, most: int | None = None, *, least: int = 1) -> int:
    """Return `value` as an integer of at least one, or `least`, and at most `most`."""
    number = _plain_integer(value)
    if number is not None and least <= number < _TOO_LONG and (most is None or number <= most):
        return number
    bounds = f"of at least {least}" if most is None else f"from {least} to {most:,}"
    raise InvalidNumber(f"{name} must be a whole number {bounds}, got {preview(value)}")


def flag(value: object, name: str) -> bool:
    """Return `value` if it is True or False: a text such as "no" must not count as true."""
    if type(value) is bool or _is_of_numpy(value, "bool"):
        return bool(value)
    raise InvalidArgument(f"{name} must be True or False, got {preview(value)}")


def float_up(value: Fraction) -> float:
    """Return the least float that is no less than `value` (infinity beyond the largest)."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    top, below = nearest.as_integer_ratio()  # a fraction of it would take longer than the rest
    is_enough = top * value.denominator >= value.numerator * below
    return nearest if is_enough else math.nextafter(nearest, math.inf)


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
    """Return a power of two of which `value` is at least 2**(bits - 1) in size, or the least that is used."""
    length = value.numerator.bit_length() - value.denominator.bit_length()
    return Fraction(2) ** max(length - bits, _FINEST_EXPONENT)


def spell(value: Fraction) -> str:
    """Return `value` as people write it: exact if that is short, else rounded up after a "≤"."""
    return _few_digits(value) or f"≤ {decimal(value, 6, ROUND_CEILING)}"


def spell_down(value: Fraction) -> str:
    """Return `value`, of which there is at least so much: exact if that is short, else rounded down after a "≥"."""
    return _few_digits(value) or f"≥ {decimal(value, 6, ROUND_FLOOR)}"


def decimal(value: Fraction, digits: int, rounding: str) -> str:
    """Return a fraction as a decimal of that many significant digits."""
    with localcontext(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN):
        return f"{Decimal(value.numerator) / value.denominator:g}"


def rounded_up(value: Fraction, digits: int) -> str:
    """Return a number rounded up to so many significant digits, without an exponent unless that is long."""
    return without_exponent(decimal(value, digits, ROUND_CEILING))


def rounded_against(value: Fraction, limit: Fraction) -> str:
    """Return a number rounded to the fewest digits, two or more, by which it is above a limit only if it is."""
    # The upper end of a certified interval is a little above the number.
    near, limit = _rounded(value, _MOST_SHOWN), _rounded(limit, _MOST_SHOWN)
    for digits in range(2, _MOST_SHOWN):
        rounding = _rounded(near, digits)
        if (rounding <= limit) == (near <= limit):
            return without_exponent(decimal(rounding, digits, ROUND_HALF_EVEN))
    return without_exponent(decimal(near, _MOST_SHOWN, ROUND_HALF_EVEN))


def _rounded(value: Fraction, digits: int) -> Fraction:
    return Fraction(decimal(value, digits, ROUND_HALF_EVEN))


def without_exponent(text: str) -> str:
    """Return a decimal without an exponent, unless that is long."""
    number = Decimal(text)
    return f"{number.normalize():f}" if -7 < number.adjusted() < 12 else text


def _few_digits(value: Fraction) -> str | None:
    """Return the exact value in a few digits, or None."""
    if value.denominator == 1 and abs(value) < 10**12:
        return str(value.numerator)
    decimal = _terminating(value)
    if decimal is not None:
        return decimal
    if value.denominator < 1000 and value.numerator < 10**6:
        return f"{value.numerator}/{value.denominator}"
    return None


def _read(value: object) -> Fraction | None:
    """Return the exact value, or None if the object is no number."""
    try:
        number = _exactly(value)
    except Exception:  # of whatever methods the object has; what they say is not ours to tell
        return None
    return number if number is not None and fits(number) else None


def _exactly(value: object) -> Fraction | None:
    """Return the exact value as it stands now. Parts are read once, as Python's own numbers."""
    whole = _plain_integer(value)
    if whole is not None or isinstance(value, bool):
        return None if whole is None else Fraction(whole)
    if isinstance(value, Fraction):  # its parts may be numpy's, which wrap
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        ordinary = value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS
        return Fraction(value) if ordinary else None
    text = exact_text(value)
    if text is None and isinstance(value, Real):
        text = float.__repr__(value) if issubclass(type(value), float) else str(value)
    return None if text is None else _parse(text)


def _plain_integer(value: object) -> int | None:
    """Return an integer as Python's own, or None if it is none."""
    if type(value) is int:
        return value
    try:
        if isinstance(value, bool) or not isinstance(value, Integral):
            return None
        number: Any = value
        return int.__index__(number) if issubclass(type(value), int) else int(number)
    except Exception:  # of the object's own methods
        return None


def _binary(value: Any) -> Fraction | None:
    """Return the binary value of a float, of Python or of numpy, or None if it does not say it."""
    try:
        ratio = float.as_integer_ratio if isinstance(value, float) else type(value).as_integer_ratio
        numerator, denominator = ratio(value)
        return Fraction(int(numerator), int(denominator))
    except Exception:  # of the object's own methods
        return None


def _parse(text: str) -> Fraction | None:
    """Return the number that a text spells, or None."""
    _, _, exponent = text.lower().partition("e")
    if len(text) > 2 * _MOST_DIGITS or (exponent and abs(int(exponent)) > _MOST_DIGITS):
        return None
    return Fraction(text)


def is_plain(value: object) -> bool:
    """Return whether a number is of a class of Python's or numpy's own, with methods that do not change."""
    return type(value) in _PLAIN or type(value).__module__ == "numpy"


def _is_of_numpy(value: object, name: str) -> bool:
    """Return whether a value is of numpy's own class of that name."""
    return type(value).__module__ == "numpy" and type(value).__name__ == name


def _terminating(value: Fraction) -> str | None:
    """Return the exact decimal expansion if it has at most 12 digits after the point."""
    trillionths = value * 10**12
    if trillionths.denominator != 1 or not 0 <= value < 10**12:
        return None
    whole, part = divmod(trillionths.numerator, 10**12)
    return f"{whole}.{part:012d}".rstrip("0").rstrip(".")
