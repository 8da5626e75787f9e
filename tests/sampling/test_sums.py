"""The proved bound on sums of fast weights: it holds, it is nearly reached, and every table states all of it."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.mechanisms import peeling
from discreet.sampling.categorical import (
    BLOCK,
    BlockWeights,
    VectorWeights,
    cumulate,
    error_of_sums,
)
from discreet.sampling.enclosures import CUT_WEIGHT, WEIGHT_ERROR, NaturalRate
from discreet.sampling.runs import Runs, RunWeights
from discreet.sampling.vectors import read_vector

ROUNDING = 2.0**-53
HALF = NaturalRate(Fraction(1, 2))
LENGTHS = [2, 3, 255, 256, 257, 512, 513, 1000, 2**14, 2**16]
_SCALE = 2**200


def worst_error(weights: NDArray[np.float64], ends: NDArray[np.float64]) -> float:
    """Return the largest |running sum - its real number|, relative to the last, by exact arithmetic."""
    real, worst = 0, 0
    for weight, end in zip(weights.tolist(), ends.tolist(), strict=True):
        real += int(Fraction(weight) * _SCALE)
        worst = max(worst, abs(int(Fraction(end) * _SCALE) - real))
    return worst / (float(ends[-1]) * _SCALE)


def lost(n: int) -> NDArray[np.float64]:
    """Weights of which every addition loses nearly all that it can: just under half a unit of the first."""
    weights = np.full(n, ROUNDING * (1 - 2.0**-50))
    weights[0] = 1
    return weights


@pytest.mark.parametrize("n", LENGTHS)
def test_additions_are_in_the_bound(n: int) -> None:
    """With weights that are no approximations, the error is that of the additions alone."""
    for weights in (lost(n), lost(n)[::-1].copy(), np.random.default_rng(n).random(n)):
        ends, chain = cumulate(weights.copy())
        assert worst_error(weights, ends) <= error_of_sums(0, chain, n)
    ends, chain = cumulate(lost(n))
    assert n <= chain if n <= 512 else chain == -(-n // 256) + 256
    if n <= 512:  # the bound is nearly reached, so none of its additions may be left out
        assert (
            worst_error(lost(n), ends) > 0.9 * (n - 1) * ROUNDING > 0.4 * error_of_sums(0, chain, n)
        )


def bound(weight: float, additions: int, n: int) -> float:
    """Return A of docs/explanation/draw.md."""
    return 1.001 * (weight + additions * ROUNDING) + 4 * n * CUT_WEIGHT


def tables() -> dict[str, tuple[Any, float]]:
    """Return every table of fast weights, with the bound of the proof on it."""
    short, long = read_vector([0] * 600), read_vector(np.zeros(5 * BLOCK, dtype=np.int64))
    runs = Runs([0, 7], [7, 3 * 2**1020], read_vector([0, 0]))
    left = 5 * BLOCK // peeling._BLOCK
    return {
        "a list": (VectorWeights(short, HALF, 0), bound(WEIGHT_ERROR, 3 + 256, 600)),
        "blocks": (BlockWeights(long, HALF), bound(2 * WEIGHT_ERROR, BLOCK + 5 + 1, 5 * BLOCK)),
        "what remains": (
            peeling.Remaining(long, HALF),
            bound(2 * WEIGHT_ERROR, peeling._BLOCK + left + 1, 5 * BLOCK),
        ),
        "runs": (RunWeights(runs, HALF), bound(4 * WEIGHT_ERROR + 1022 * 2.0**-49, 2, 2)),
    }


@pytest.mark.parametrize("name", tables())
def test_every_table_states_the_whole_bound(name: str) -> None:
    """Additions in an order that numpy chooses may lose less than they can; the bound must not count on it."""
    weights, proved = tables()[name]
    assert proved * (1 - 1e-9) <= weights.sums().error <= proved * (1 + 1e-9)
