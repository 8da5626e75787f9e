"""The proved bound on sums of fast weights: it holds, it is nearly reached, and every table states all of it."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.mechanisms.peeling import rounds
from discreet.sampling import categorical_rows, kernel
from discreet.sampling.bits import SystemBits
from discreet.sampling.categorical import BLOCK, BlockWeights, VectorWeights, cumulate
from discreet.sampling.categorical_rows import WIDEST, CategoricalRows
from discreet.sampling.enclosures import (
    CUT_WEIGHT,
    WEIGHT_ERROR,
    NaturalRate,
    error_of_sums,
    fast_weights,
)
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
    left = 5 * BLOCK // rounds.BLOCK_SIZE
    return {
        "a list": (VectorWeights(short, HALF, 0), bound(WEIGHT_ERROR, 3 + 256, 600)),
        "blocks": (BlockWeights(long, HALF), bound(2 * WEIGHT_ERROR, BLOCK + 5 + 1, 5 * BLOCK)),
        "what remains": (
            rounds.Remaining(long, HALF),
            bound(2 * WEIGHT_ERROR, rounds.BLOCK_SIZE + left + 1, 5 * BLOCK),
        ),
        "runs": (RunWeights(runs, HALF), bound(4 * WEIGHT_ERROR + 1022 * 2.0**-49, 2, 2)),
    }


@pytest.mark.parametrize("name", tables())
def test_every_table_states_the_whole_bound(name: str) -> None:
    """Additions in an order that numpy chooses may lose less than they can; the bound must not count on it."""
    weights, proved = tables()[name]
    assert proved * (1 - 1e-9) <= weights.sums().error <= proved * (1 + 1e-9)


def lost_gaps(n: int) -> NDArray[np.float64]:
    """Gaps whose weights 2**-gap lose nearly all they can in every addition: just under half a unit of one."""
    gaps = np.full(n, 53 + 2.0**-40)
    gaps[0] = 0
    return gaps


@pytest.mark.skipif(kernel.active() is None, reason=f"no kernel: {kernel.load()}")
@pytest.mark.parametrize("n", LENGTHS)
def test_the_kernel_counts_the_additions_of_its_running_sums(n: int) -> None:
    fast: Any = kernel.active()
    numbers = -lost_gaps(n)
    ends, chain = fast.running_sums(numbers, 0.0, math.log(2))
    weights = fast.weights(-numbers, math.log(2))
    worst = worst_error(weights, ends)
    assert worst <= error_of_sums(0, chain, n)
    if n <= 256:  # nothing that the bound counts may be left out
        assert worst > 0.9 * (n - 1) * ROUNDING
    # By rows of 256: no sum goes through more additions than one row has, and one for each row before it.
    assert min(n, 256) + -(-n // 256) - 1 <= chain <= 256 + n // 256 + 1


@pytest.mark.parametrize("path", ["kernel", "numpy"])
@pytest.mark.parametrize("width", [1, 2, 300, WIDEST])
def test_rows_state_the_whole_bound(width: int, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of n numbers is summed in n additions."""
    stated = []

    def located(*arguments: Any) -> NDArray[np.int64]:
        stated.append(arguments[-1])
        return np.full(len(arguments[-4]), 0)

    if path == "numpy":
        monkeypatch.setattr(kernel, "active", lambda: None)
        monkeypatch.setattr(categorical_rows, "_locate", located)
    elif kernel.active() is None:
        pytest.skip(f"no kernel: {kernel.load()}")
    else:
        monkeypatch.setattr(kernel.Kernel, "locate_rows", located)
    CategoricalRows(np.zeros((3, width)), HALF).draw(SystemBits())
    proved = 2 * bound(WEIGHT_ERROR, width, width) + 8 * ROUNDING
    assert stated
    assert all(proved * (1 - 1e-9) <= slack <= proved * (1 + 1e-9) for slack in stated)


def test_additions_in_a_row_reach_its_bound() -> None:
    """Where rows are summed one by one, a row of n numbers loses nearly n roundings."""
    for n in (255, WIDEST):
        numbers = -lost_gaps(n)
        rate = NaturalRate(Fraction(math.log(2)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernel, "active", lambda: None)
            ends = CategoricalRows(numbers[None, :], rate)._ends[0]
            weights = fast_weights(-numbers, rate)
        worst = worst_error(weights, ends)
        assert 0.9 * (n - 1) * ROUNDING < worst <= error_of_sums(0, n, n)
