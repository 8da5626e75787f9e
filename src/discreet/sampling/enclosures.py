"""Certified reals: a weight once as a double with a proved error, once as a ball.

A weight is ``base ** (-gap)``, written as the decay of a `Rate` over a gap >= 0. The fast pass computes
it in doubles, and `WEIGHT_ERROR` and `CUT_WEIGHT` bound how far from the real number it may be; the
proof is in docs/explanation/draw.md. The slow pass encloses the same real number in a ball of any precision.

The floating-point assumption, tested against balls in tests/sampling/test_enclosures.py: IEEE-754 addition,
subtraction and multiplication of doubles, rounded to nearest, and `exp`, `expm1`, `log` and `log1p` whose
relative error is at most `FUNCTION_ERROR`: 256 units in the last place, where known libraries stay
below one.
"""

from __future__ import annotations

from _thread import RLock  # `threading` takes as long to import as two of our modules
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, ParamSpec, Protocol

import numpy as np

from ..base.lazy_names import flint
from ..base.numbers import nearest_double, short_up
from . import kernel

if TYPE_CHECKING:
    from flint import arb, fmpq
    from numpy.typing import NDArray

_P = ParamSpec("_P")

FUNCTION_ERROR = 2.0**-44
"""Assumed bound on the relative error of numpy's exp and log of a double."""

CUT = 64.0
"""Exponents are cut here: all that is lighter than exp(-CUT) counts as anything from 0 to `CUT_WEIGHT`."""

WEIGHT_ERROR = 2.0**-43
"""Proved bound on the relative error of a fast weight that was not cut."""

CUT_WEIGHT = 2.0**-92
"""Proved bound on a weight that was cut, and on its fast weight."""

HALF_ULP = 2.0**-53
"""The largest relative error of one rounding."""

_FLOOR = np.full(2**14, -CUT)

_ORDINARY = 2.0**900
"""The fast pass serves rates between 1/_ORDINARY and _ORDINARY. Others go to balls at once."""

_FINEST_PRECISION = 2**16
"""Bounds are given out as multiples of 2**-_FINEST_PRECISION."""

_flint_context = RLock()


class Rate(Protocol):
    """How fast weights fall: the weight at a gap g is exp(-rate * g)."""

    @property
    def double(self) -> float:
        """The rate as a double, relative error at most 2**-52."""

    def decay(self, gap: Fraction) -> arb:
        """Return a ball around exp(-rate * gap), at the precision in force."""

    def exponent(self, gap: Fraction) -> arb:
        """Return a ball around rate * gap, at the precision in force."""


class NaturalRate:
    """Weights exp(-eta * gap) for a rational eta."""

    __slots__ = ("double", "eta")

    def __init__(self, eta: Fraction) -> None:
        self.eta = eta
        self.double = nearest_double(eta)

    def decay(self, gap: Fraction) -> arb:
        """Return a ball around exp(-eta * gap)."""
        return (-self.exponent(gap)).exp()

    def exponent(self, gap: Fraction) -> arb:
        """Return a ball around eta * gap."""
        return flint.arb(_rational(self.eta) * _rational(gap))


class DyadicRate:
    """Weights (x / 2**y) ** (z * gap) for whole gaps: rational numbers, so their balls become exact."""

    __slots__ = ("double", "x", "y", "z")

    def __init__(self, x: int, y: int, z: int) -> None:
        self.x, self.y, self.z = x, y, z
        with precision(2 * y + 128):  # the two logarithms may agree in their first y bits
            self.double = float((z * (y * flint.arb(2).log() - flint.arb(x).log())).mid())

    def decay(self, gap: Fraction) -> arb:
        """Return a ball around (x / 2**y) ** (z * gap), of radius zero once the precision reaches it.

        Raises:
            ValueError: if the gap is not whole: the fast pass would count its fraction, and this would not, so the
                answer would no longer be a function of the bits.
        """
        if gap.denominator != 1:
            raise ValueError("gaps of a dyadic rate must be whole numbers")
        base = flint.arb(flint.fmpq(self.x, 1 << self.y))
        return base ** flint.fmpz(self.z * int(gap))

    def exponent(self, gap: Fraction) -> arb:
        """Return a ball around z * gap * (y ln 2 - ln x)."""
        return self.z * ball(gap) * (self.y * flint.arb(2).log() - flint.arb(self.x).log())


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Make balls at that many bits inside the block.

    python-flint keeps one precision for the whole process. Any precision gives true enclosures, so another thread
    that changes it can cost time, but never exactness. The lock separates our own threads.
    """
    with _flint_context, flint.ctx.workprec(bits):
        yield


def has_fast_pass(rate: Rate) -> bool:
    """Return whether the rate is ordinary enough for doubles."""
    return 1 / _ORDINARY <= rate.double <= _ORDINARY


def fast_weights(gaps: NDArray[np.float64], rate: Rate) -> NDArray[np.float64]:
    """Return exp(-rate * gap) for all gaps, in place, in doubles.

    A weight differs from its real number by at most WEIGHT_ERROR times itself plus CUT_WEIGHT.
    """
    fast = kernel.active()
    if fast is not None and gaps.flags.forc:
        return fast.weights(gaps, rate.double)
    np.multiply(gaps, -rate.double, out=gaps)
    # Against an array numpy compares several numbers at once, against a scalar it does not.
    floor = _FLOOR[: len(gaps)] if len(gaps) <= len(_FLOOR) else -CUT
    np.maximum(gaps, floor, out=gaps)
    return exponential(gaps)


def error_of_sums(weight_error: float, chain: int, n: int) -> float:
    """Return a bound on |fast sum - real sum| / (fast total), as derived in docs/explanation/draw.md."""
    return 1.001 * (weight_error + chain * HALF_ULP) + 4 * n * CUT_WEIGHT


def overflowing() -> np.errstate:
    """Return the context of the fast pass: its bounds cover all that over- or underflows in it.

    Whatever the caller told numpy to do about such things would depend on private numbers.
    """
    return np.errstate(all="ignore")


def exponential(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace exponents by their exponentials, relative error at most FUNCTION_ERROR."""
    return np.exp(exponents, out=exponents)


def cut_exponential(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace exponents from -CUT to 0 by their exponentials, relative error at most FUNCTION_ERROR."""
    fast = kernel.active()
    if fast is None or not exponents.flags.forc:
        return exponential(exponents)
    return fast.weights(np.negative(exponents, out=exponents), 1.0)


def lower(ball: arb) -> Fraction:
    """Return a fraction no greater than any number in the ball."""
    return -_rounded_up(ball.mid(), sign=-1) - _rounded_up(ball.rad())


def upper(ball: arb) -> Fraction:
    """Return a fraction no less than any number in the ball."""
    return _rounded_up(ball.mid()) + _rounded_up(ball.rad())


def probability_above(ball: arb) -> Fraction:
    """Return a short fraction no less than a probability that lies in the ball, 1 where the ball reaches that.

    A ball that says nothing may have ends of more digits than memory holds, so only one in between is written out.
    """
    top = ball.upper()
    if not top < 1:
        return Fraction(1)
    return short_up(upper(top)) if top > 0 else Fraction(0)


def ball(value: Fraction) -> arb:
    """Return a ball around a fraction, at the precision in force."""
    return flint.arb(_rational(value))


def _rational(number: Fraction) -> fmpq:
    return flint.fmpq(number.numerator, number.denominator)


def laplace_quantile(v: arb) -> arb:
    """Return ln(2 v) below one half and -ln(2 (1 - v)) above; the ends are infinite."""
    if v <= 0 or v >= 1:
        return flint.arb.pos_inf() if v >= 1 else flint.arb.neg_inf()
    return (2 * v).log() if v <= flint.arb(0.5) else -(2 * (1 - v)).log()


def _rounded_up(point: arb, sign: int = 1) -> Fraction:
    """Return sign * point for a ball of radius zero, rounded up to a multiple of 2**-_FINEST_PRECISION.

    Exponents of balls may have hundreds of digits; written out, such a number would fill the memory.
    """
    mantissa, exponent = (int(part) for part in point.man_exp())
    mantissa *= sign
    if exponent >= -_FINEST_PRECISION:
        return Fraction(mantissa) * Fraction(2) ** exponent
    shift = min(-exponent - _FINEST_PRECISION, mantissa.bit_length() + 1)
    return Fraction(-(-mantissa >> shift), 1 << _FINEST_PRECISION)


def sharp(compute: Callable[_P, arb], *arguments: _P.args, **keywords: _P.kwargs) -> arb:
    """Return compute(...) at a precision that leaves a relative or absolute error of 2**-80."""
    digits = 192
    while True:
        with precision(digits):
            value = compute(*arguments, **keywords)
            size = flint.arb.max(abs(value.mid()), flint.arb(1))
            if value.is_finite() and value.rad() <= flint.arb(2) ** -80 * size:
                return value
        digits *= 2
