"""The proof of the kernel's error, line by line of its table in docs/explanation/draw.md.

The coefficients are read from kernel.c. The polynomial is compared with 2**r by interval arithmetic, for all
|r| <= 1/2; rounding errors are bounded here in fractions, and again, sharper, by Gappa (proofs/kernel.gappa).
"""

import math
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import arb, arb_poly

from discreet.sampling import kernel
from discreet.sampling.enclosures import CUT_WEIGHT, WEIGHT_ERROR, ball, precision, upper

ROOT = Path(__file__).parents[2]
KERNEL = (ROOT / "src" / "discreet" / "sampling" / "kernel.c").read_text(encoding="utf-8")
GAPPA = ROOT / "proofs" / "kernel.gappa"
TABLE = (ROOT / "docs" / "explanation" / "draw.md").read_text(encoding="utf-8")
U = Fraction(1, 2**53)
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def coefficients() -> list[float]:
    """Return the coefficients that the kernel has, from that of r**0 on."""
    (block,) = re.findall(r"/\* coefficients \*/(.*?)/\* end of coefficients \*/", KERNEL, re.S)
    return [float.fromhex(line.strip(" ,")) for line in block.splitlines() if line.strip()]


def cut() -> float:
    """Return the largest exponent, to base 2, that the kernel does not cut."""
    (found,) = re.findall(r"double CUT = ([0-9.]+);", KERNEL)
    return float(found)


def stated(line: str) -> Fraction:
    """Return the bound in a line of the table of the docs."""
    (bound,) = re.findall(rf"^\| {re.escape(line)}.*\| (\S+)·10(\S+) \|$", TABLE, re.M)
    return Fraction(bound[0]) * Fraction(10) ** int(bound[1].translate(SUPERSCRIPTS))


def polynomial_error(numbers: list[float]) -> Fraction:
    """Return a bound on |M(r) / 2**r - 1| for |r| <= 1/2, M the polynomial with these coefficients.

    The difference to the series of 2**r is a polynomial but for a remainder. Developed around the middle of a short
    interval it is at most the sum of its coefficients' sizes times powers of half the length.
    """
    degree, pieces = 24, 64
    with precision(300):
        ln2, radius = arb(2).log(), arb(1) / (2 * pieces)
        series = arb_poly([ln2**i / math.factorial(i) for i in range(degree)])
        difference = arb_poly([arb(number) for number in numbers]) - series
        remainder = 2 * (ln2 / 2) ** degree / math.factorial(degree)
        worst = Fraction(0)
        for piece in range(pieces):
            middle = arb(2 * piece + 1) * radius - arb(0.5)
            around = difference(arb_poly([middle, 1]))
            size = sum((abs(c) * radius**i for i, c in enumerate(around.coeffs())), remainder)
            worst = max(worst, upper(size / arb(2) ** (middle - radius)))
    return worst


def half_ulp(largest: Fraction) -> Fraction:
    """Return the most that one rounding changes a number of at most this size."""
    return Fraction(2) ** (math.frexp(float(largest))[1] - 53)


def rounding_error(numbers: list[float], *, contracted: bool) -> Fraction:
    """Return a bound on |computed / M(r) - 1| for |r| <= 1/2: Horner's scheme in intervals, piece by piece.

    What holds with two roundings a step holds with one rounding in some steps too.
    """
    worst, pieces = Fraction(0), 32
    for piece in range(pieces):
        ends = (
            Fraction(2 * piece - pieces, 2 * pieces),
            Fraction(2 * piece + 2 - pieces, 2 * pieces),
        )
        low = high = Fraction(numbers[-1])
        error, r = Fraction(0), max(map(abs, ends))
        for number in numbers[-2::-1]:
            products = [x * y for x in (low, high) for y in ends]
            error *= r
            if not contracted:
                error += half_ulp(max(map(abs, products)) + error)
            low, high = min(products) + Fraction(number), max(products) + Fraction(number)
            error += half_ulp(max(abs(low), abs(high)) + error)
        worst = max(worst, error / low)
    return worst


def argument_error() -> Fraction:
    """Return a bound on |2**(change of y) - 1|: the rate, ln 2, their quotient, the gap and the product."""
    with precision(200):
        ln2 = abs(ball(Fraction(math.log(2))) / arb(2).log() - 1)
        assert ln2 < 0.31 * ball(U)
    relative = (1 + 2 * U) * (1 + U) ** 3 / (1 - Fraction("0.31") * U) - 1
    assert relative < Fraction("5.32") * U
    with precision(200):
        return upper(arb(2) ** (ball(Fraction(cut())) * ball(Fraction("5.32") * U)) - 1)


@pytest.fixture(scope="module")
def numbers() -> list[float]:
    return coefficients()


def test_the_polynomial_is_as_near_as_is_stated(numbers: list[float]) -> None:
    found = polynomial_error(numbers)
    assert (
        stated("series and coefficients") * Fraction("0.99")
        < found
        < stated("series and coefficients")
    )


def test_rounding_is_in_what_is_stated(numbers: list[float]) -> None:
    assert rounding_error(numbers, contracted=True) <= rounding_error(numbers, contracted=False)
    assert rounding_error(numbers, contracted=False) < stated("rounding of the polynomial")


def test_the_argument_is_as_near_as_is_stated() -> None:
    assert stated("argument") * Fraction("0.99") < argument_error() < stated("argument")


def test_the_sum_of_all_is_below_what_the_certificate_takes() -> None:
    parts = ["argument", "series and coefficients", "rounding of the polynomial"]
    total = math.prod((1 + stated(part) for part in parts), start=Fraction(1)) - 1
    assert total / (1 - total) <= stated("together")
    assert stated("together") < WEIGHT_ERROR / 2


def complement_error(numbers: list[float]) -> Fraction:
    """Return a bound on |r M(r) / (2**r - 1) - 1| for |r| <= 1/2, M of all coefficients but the first.

    (2**r - 1) / r grows with r, so that its least value in an interval is at the lower end.
    """
    degree, pieces = 24, 64
    with precision(300):
        ln2, radius = arb(2).log(), arb(1) / (2 * pieces)
        series = arb_poly([ln2 ** (i + 1) / math.factorial(i + 1) for i in range(degree)])
        difference = arb_poly([arb(number) for number in numbers[1:]]) - series
        remainder = 2 * ln2 * (ln2 / 2) ** degree / math.factorial(degree + 1)
        worst = Fraction(0)
        for piece in range(pieces):
            middle = arb(2 * piece + 1) * radius - arb(0.5)
            around, low = difference(arb_poly([middle, 1])), middle - radius
            size = sum((abs(c) * radius**i for i, c in enumerate(around.coeffs())), remainder)
            least = ln2 if low == 0 else (arb(2) ** low - 1) / low
            worst = max(worst, upper(size / least))
    return worst


def test_the_complement_is_as_near_as_is_stated(numbers: list[float]) -> None:
    line = stated("series without its constant")
    assert line * Fraction("0.99") < complement_error(numbers) < line
    rounding = rounding_error(numbers[1:], contracted=False)
    assert rounding + U * (1 + rounding) < stated("rounding without its constant")
    with precision(100):
        least = 1 - arb(2) ** arb(-0.5)
        assert ball(U / 2) / least + ball(U * (1 + 2 * U)) < ball(stated("difference"))
        # 2**-k * |q| for k >= 1, relative to what it is taken from: (2**(1/2) - 1) / 2 at most
        assert (arb(2) ** arb(0.5) - 1) / 2 / least < 1
    assert stated("falls") > (Fraction("5.31") + Fraction("6.31")) * U * (1 + 9 * U)
    assert stated("quotient") > (1 + U) ** 3 - 1


def test_the_sum_of_all_for_a_falling_run_is_below_what_the_certificate_takes() -> None:
    twice = ["series without its constant", "rounding without its constant", "difference"]
    parts = ["gap", "falls", "quotient", *twice, *twice]
    assert stated("gap") == stated("together")
    total = math.prod((1 / (1 - stated(part)) for part in parts), start=Fraction(1)) - 1
    assert total / (1 - total) <= stated("whole") < WEIGHT_ERROR


@pytest.mark.parametrize("i", range(1, 12))
def test_a_wrong_coefficient_breaks_the_proof_of_the_complement(
    numbers: list[float], i: int
) -> None:
    changed = list(numbers)
    changed[i] += 2.0 ** (i - 45)
    assert complement_error(changed) > stated("series without its constant")


def test_weights_that_are_cut_are_below_their_bound() -> None:
    least = Fraction(cut()) * (1 - 6 * U)
    with precision(200):
        assert arb(2) ** -ball(least) < CUT_WEIGHT
    assert 2.0 ** -cut() <= CUT_WEIGHT


@pytest.mark.parametrize("i", range(12))
@pytest.mark.parametrize("sign", [1, -1])
def test_a_wrong_coefficient_breaks_the_proof(numbers: list[float], i: int, sign: int) -> None:
    """A change that makes a difference of 2**-45 at most; of a much smaller one the bound would still be true."""
    changed = list(numbers)
    changed[i] += sign * 2.0 ** (i - 45)
    assert changed[i] != numbers[i]
    assert polynomial_error(changed) > stated("series and coefficients")


@pytest.mark.parametrize("i", range(11))
def test_coefficients_in_a_wrong_order_break_the_proof(numbers: list[float], i: int) -> None:
    changed = list(numbers)
    changed[i], changed[i + 1] = changed[i + 1], changed[i]
    assert polynomial_error(changed) > stated("series and coefficients")


def test_gappa_is_given_the_coefficients_of_the_kernel(numbers: list[float]) -> None:
    given = re.findall(r"^c(\d+) = (\S+);$", GAPPA.read_text(encoding="utf-8"), re.M)
    assert [int(i) for i, _ in given] == list(range(len(numbers)))
    assert [float.fromhex(number) for _, number in given] == numbers


@pytest.mark.proof
def test_gappa_proves_the_rounding_errors() -> None:
    if (gappa := shutil.which("gappa")) is None:
        pytest.skip(
            "Gappa is not installed (Debian: apt-get install gappa), so proofs/kernel.gappa is not run"
        )
    proof = GAPPA.read_text(encoding="utf-8")
    claimed = re.findall(r"\|[sf][01] -/ m[01]\| <= (\S+)", proof)
    assert len(claimed) == 4
    assert all(Fraction(bound) <= stated("rounding of the polynomial") for bound in claimed)
    for text, proved in (
        (proof, True),
        (proof.replace(claimed[1], "1e-17"), False),
        (proof.replace(claimed[3], "1e-17"), False),
    ):
        run = subprocess.run(
            [gappa, "-Eno-auto-dichotomy"], input=text.encode(), capture_output=True
        )
        assert (run.returncode == 0) is proved


def computed(numbers: list[float], y: float, *, contracted: bool) -> float:
    """Return 2**-y by the operations that the proof is about."""
    k = round(y)
    r, p = k - y, numbers[-1]
    assert Fraction(r) == k - Fraction(y)
    for number in numbers[-2::-1]:
        exact = Fraction(p) * Fraction(r) + Fraction(number)
        p = exact.numerator / exact.denominator if contracted else p * r + number
    return math.ldexp(p, -k)


def test_the_kernel_does_what_is_proved(numbers: list[float]) -> None:
    """To the last bit, with one rounding or with two in each step."""
    fast = kernel.active()
    if fast is None:
        pytest.skip(f"no kernel: {kernel.load()}")
    draws = np.random.default_rng(6).random(120)
    halves = np.arange(0, 93, 0.5)
    beside = [np.nextafter(halves, 0), halves, np.nextafter(halves, 100), [5e-324, 1e-310, 1e-17]]
    arguments = np.concatenate([draws * cut(), draws**30, *beside])
    found = fast.weights(arguments.copy(), math.log(2))  # of which the kernel makes 1, to base 2
    for y, weight in zip(arguments.tolist(), found.tolist(), strict=True):
        assert weight in [computed(numbers, y, contracted=way) for way in (False, True)], y
