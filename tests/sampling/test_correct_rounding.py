"""What the fast pass assumes of exponentials and logarithms, against correctly rounded ones (CORE-MATH, in crival).

They are a million times faster than balls, so there are many points, in every place of a vector register.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from discreet.sampling.enclosures import CUT, FUNCTION_ERROR, precision

ival = pytest.importorskip("ival")

Doubles = NDArray[np.float64]

ALLOWED = FUNCTION_ERROR / 100
"""What is demanded: 2.6 units in the last place, a hundredth of what is assumed."""

SMALLEST = math.ulp(0.0)
EDGES = [
    0.0,
    SMALLEST,
    2.0**-1022,
    2.0**-900,
    2.0**-54,
    2.0**-53,
    2.0**-52,
    math.log(2) / 2,
    math.log(2),
]


def beyond(found: Doubles, function: str, arguments: Doubles, allowed: float = ALLOWED) -> Any:
    """Return the arguments whose value is further from the real one than is allowed.

    The oracle gives the two doubles on either side of the real number.
    """
    real = getattr(ival, function)(ival.Interval(arguments))
    low, high = (
        end * (1 - np.sign(end) * way * allowed) for end, way in ((real.inf, 1), (real.sup, -1))
    )
    # Below the normal doubles a unit in the last place is no longer relative.
    return arguments[~((found >= low - SMALLEST) & (found <= high + SMALLEST))]


def exponents(n: int, seed: int) -> Doubles:
    """Return exponents of weights from -CUT to 0: uniform ones, small ones, the ends and what is beside them."""
    draws = np.random.default_rng(seed).random(n)
    halves = np.arange(0, 93, 0.5) * math.log(2)  # where the reduced argument changes its sign
    beside = np.concatenate([np.nextafter(halves, 0), halves, np.nextafter(halves, 100)])
    far: Doubles = np.concatenate([draws * CUT, draws**40, beside, [*EDGES, CUT]])
    return -far.clip(0, CUT)


def words(n: int, seed: int) -> Doubles:
    """Return uniform numbers as words give them: multiples of 2**-64 in (0, 1), small ones and those next to 1."""
    draws = np.random.default_rng(seed).random(n)
    return np.concatenate(
        [draws, draws**20 + 2.0**-64, 1 - draws * 2.0**-40, [2.0**-64, math.nextafter(1, 0)]]
    )


def spans(n: int, seed: int) -> Doubles:
    """Return exponents from small to large, as those of runs are."""
    sizes = np.random.default_rng(seed).uniform(-900, 10, n)
    return -np.concatenate([2.0**sizes, exponents(n, seed)[: n // 2] * -1, EDGES])


POINTS: dict[str, Callable[[int, int], Doubles]] = {
    "exp": exponents,
    "expm1": spans,
    "log": words,
    "log1p": lambda n, seed: np.maximum(-words(n, seed), -0.5),
}


def numpy_beyond(function: str, n: int, seed: int) -> Any:
    arguments = POINTS[function](n, seed)
    return beyond(getattr(np, function)(arguments), function, arguments).tolist()


def c_beyond(n: int, seed: int) -> Any:
    arguments = exponents(n, seed)
    return beyond(np.array([math.exp(x) for x in arguments.tolist()]), "exp", arguments).tolist()


@pytest.mark.parametrize("function", POINTS)
def test_numpy_is_as_near_as_is_assumed(function: str) -> None:
    assert numpy_beyond(function, 20_000, 1) == []


@pytest.mark.proof
@pytest.mark.parametrize("function", POINTS)
def test_numpy_is_as_near_as_is_assumed_at_many_points(function: str) -> None:
    for seed in range(5):
        assert numpy_beyond(function, 1_000_000, 100 + seed) == []


def test_the_exponential_of_c_is_as_near_as_is_assumed() -> None:
    assert c_beyond(20_000, 2) == []


@pytest.mark.proof
def test_the_exponential_of_c_is_as_near_as_is_assumed_at_many_points() -> None:
    for seed in range(5):
        assert c_beyond(1_000_000, 200 + seed) == []


def test_results_below_the_normal_doubles_are_near_too() -> None:
    """The draw cuts long before, so nothing stands on it."""
    arguments = -np.linspace(700, 760, 5_000)
    with np.errstate(under="ignore"):
        assert beyond(np.exp(arguments), "exp", arguments).tolist() == []


def test_every_lane_and_every_alignment_is_as_near() -> None:
    """Loops have other code for their beginning, their end, steps, and places off the multiples of eight bytes."""
    draws = exponents(200, 3)
    for length in [*range(1, 20), 31, 32, 33, 63, 64, 65]:
        for offset in (0, 1, 3, 4, 8, 12):
            raw = np.zeros(8 * length + 64, dtype=np.uint8)
            placed = raw[offset : offset + 8 * length].view(np.float64)
            placed[:] = draws[length : 2 * length]
            assert (
                beyond(np.exp(placed, out=placed), "exp", draws[length : 2 * length]).tolist() == []
            )
    for step in (1, 2, 3, 5, -1, -2):
        strided = draws.copy()[::step]
        arguments = strided.copy()
        assert beyond(np.exp(strided), "exp", arguments).tolist() == []
        assert beyond(np.exp(strided, out=strided), "exp", arguments).tolist() == []


@pytest.mark.parametrize("function", POINTS)
def test_the_oracle_and_balls_agree(function: str) -> None:
    arguments = POINTS[function](100, 4)
    real = getattr(ival, function)(ival.Interval(arguments))
    with precision(2500):
        for x, low, high in zip(
            arguments.tolist(), real.inf.tolist(), real.sup.tolist(), strict=True
        ):
            value = arb(x).expm1() if function == "expm1" else getattr(arb(x), function)()
            assert arb(low) <= value <= arb(high) or low == high
            assert low == high or math.nextafter(low, math.inf) == high


@pytest.mark.parametrize("function", POINTS)
def test_an_error_of_what_is_assumed_would_be_found(function: str) -> None:
    arguments = POINTS[function](1000, 5)
    found = getattr(np, function)(arguments)
    found[::7] *= 1 + FUNCTION_ERROR / 50
    wrong = set(beyond(found, function, arguments).tolist())
    assert wrong >= {
        x
        for x, y in zip(arguments[::7].tolist(), found[::7].tolist(), strict=True)
        if abs(y) > 2e-300
    }
