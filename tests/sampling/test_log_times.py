"""The kernel's logarithms of waiting times: the proof of their error, line by line.

The table is in docs/explanation/draw.md, *The logarithm*.
"""

import ctypes
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from discreet.sampling import kernel_library
from discreet.sampling.enclosures import ball, lower, precision, upper
from discreet.sampling.waiting_times import LOG_TIME_ERROR, log_time

from .test_kernel_error import KERNEL, U, half_ulp, stated

LOG2 = Fraction(math.log(2))
WORDS = 2**64
needs_kernel = pytest.mark.skipif(
    isinstance(kernel_library.open_library(), str), reason="no kernel"
)


def coefficients() -> list[float]:
    """Return the coefficients of artanh(s) / s in s**2, as the kernel has them."""
    (block,) = re.findall(r"ARTANH\[10\] = \{(.*?)\};", KERNEL, re.S)
    quotients = [line.strip().split(" / ") for line in block.split(",") if line.strip()]
    return [float(top) / float(below[0] if below else "1") for top, *below in quotients]


def largest_s() -> Fraction:
    """Return a bound on |f / (2 + f)| where 1 + f lies between the double next to 1 / sqrt(2) and its double."""
    (bits,) = re.findall(r"#define HALF_ROOT (0x\w+)", KERNEL)
    root = Fraction(float(np.array([int(bits, 16)], dtype=np.uint64).view(np.float64)[0]))
    assert abs(root**2 - Fraction(1, 2)) < 2 * U
    return max(abs((end - 1) / (end + 1)) for end in (root, 2 * root)) * (1 + 3 * U)


def polynomial_rounding(numbers: list[float], largest: Fraction) -> Fraction:
    """Return a bound on the relative rounding error of Horner's scheme for 0 <= z <= `largest`.

    There are two roundings a step, which change a number by half a unit each.
    """
    pieces, worst = 16, Fraction(0)
    for piece in range(pieces):
        low, high = (largest * end / pieces for end in (piece, piece + 1))
        least = most = Fraction(numbers[-1])
        error = Fraction(0)
        for number in numbers[-2::-1]:
            error = error * high + half_ulp(most * high + error * high) / 2
            least, most = least * low + Fraction(number), most * high + Fraction(number)
            error += half_ulp(most + error) / 2
        worst = max(worst, error / least)
    return worst


def near_one_error() -> Fraction:
    """Return a bound on the relative error of the logarithm near 1."""
    s, numbers = largest_s(), coefficients()
    z = s**2
    # artanh(s) / s = 1 + s**2 / 3 + ..., and its derivative by s**2 is at most 1 / 3 + 2 / 5 * z / (1 - z).
    slope = Fraction(1, 3) + Fraction(2, 5) * z / (1 - z)
    parts = [
        Fraction("1.04") * ((1 + U) / (1 - U) - 1),
        z**10 / 21 / (1 - z),
        U * z * slope,  # of the coefficients: the first is exact
        2 * U * z * slope,  # of z
        polynomial_rounding(numbers, z * (1 + 9 * U)),
        U,
    ]
    return math.prod((1 + part for part in parts), start=Fraction(1)) - 1


def test_artanh_makes_errors_hardly_larger() -> None:
    with precision(100):
        s = ball(largest_s())
        assert s < arb("0.1716")
        assert s / ((1 - s**2) * ((1 + s) / (1 - s)).log() / 2) < arb("1.04")


def test_the_coefficients_are_those_of_the_series() -> None:
    assert coefficients() == [1 / (2 * j + 1) for j in range(10)]


def test_the_logarithm_near_one_is_as_near_as_is_stated() -> None:
    line = stated("logarithm near 1")
    assert line * Fraction("0.95") < near_one_error() < line


def test_the_time_is_as_near_as_is_stated() -> None:
    near, ends = stated("logarithm near 1"), Fraction("2.01") * U
    assert ends > (1 + U) ** 2 - 1
    with precision(100):
        log = lower(-arb("0.75").log())
        assert ball(Fraction(1, 4)) / arb("0.75") / ball(log) < arb("1.16")
        assert abs(ball(LOG2) / arb(2).log() - 1) < ball(Fraction("0.31") * U)
        most = upper(arb(2).log() / 2) * (1 + 4 * U)
    early = (1 + Fraction("1.16") * ends) * (1 + near) - 1
    # T + `most` bounds k ln 2, and one rounding is of the result.
    late = (
        (ends * (1 + U) + near * most + Fraction("1.32") * U * most) / log
        + Fraction("1.32") * U
        + U
    )
    assert log > Fraction("0.287")
    assert most < Fraction("0.347")
    line = stated("time")
    assert early < late * (1 + 99 * U) < line
    assert line * Fraction("0.95") < late


def test_the_logarithm_of_the_time_is_as_near_as_is_stated() -> None:
    near = stated("logarithm near 1") * Fraction("0.347")
    products = Fraction("1.32") * U * 64 * Fraction("0.6932")
    with precision(100):
        most = upper(64 * arb(2).log()) + Fraction("0.347")
    found = stated("time") * (1 + stated("time")) + near + products + U * most
    line = stated("logarithm of the time")
    assert line * Fraction("0.95") < found < line
    # Besides: the delay, up to 64, within 4.02 u of itself, and the sum with it.
    assert line + (Fraction("4.02") * 64 + 109) * U < Fraction(LOG_TIME_ERROR) / 60


def log_times(words: NDArray[np.uint64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the kernel's logarithms of times at both ends of the cells of words."""
    library = ctypes.CDLL(str(next(Path(kernel_library.__file__).parent.glob("_kernel.*"))))
    starts, ends = np.empty(len(words)), np.empty(len(words))
    function = library.discreet_log_times
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
    function(words.ctypes.data, len(words), starts.ctypes.data, ends.ctypes.data)
    return starts, ends


@needs_kernel
def test_the_kernel_keeps_the_bound() -> None:
    """And its ends are infinite where they are of 0 and of 1."""
    rng, root = np.random.default_rng(1), math.isqrt(2**127)
    near = (2.0 ** rng.uniform(0, 64, 500)).astype(np.uint64)
    spots = [0, 1, 2, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 1, 2**63]
    spots += [
        (root >> shift) + step for shift in (0, 1, 2, 20) for step in (-(2**12), -1, 0, 1, 2**12)
    ]
    ends = np.array(spots, dtype=np.uint64)
    words = np.concatenate((near, ~near, ends, ~ends, rng.integers(0, WORDS, 500, dtype=np.uint64)))
    starts, stops = log_times(words)
    bound, worst = float(stated("logarithm of the time")), 0.0
    with precision(200):
        for i, word in enumerate(words.tolist()):
            for numerator, fast in ((word, starts[i]), (word + 1, stops[i])):
                if 0 < numerator < WORDS:
                    worst = max(worst, abs(float(log_time(numerator, 64) - arb(float(fast)))))
                else:
                    assert fast == (-np.inf if numerator == 0 else np.inf)
    assert bound / 5 < worst < bound
