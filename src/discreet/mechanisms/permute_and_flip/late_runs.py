"""Runs in summaries, in the race of permute-and-flip: hardly ever one of their candidates arrives in time.

The best candidate arrives by the time 1, so who arrives later never is the first. A candidate of weight w arrives
by the time 1 with probability w. Proofs: docs/reference/mechanisms/permute_and_flip.md.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...sampling.bits import Bits, LazyUniform
from ...sampling.categorical import PreparedWeights
from ...sampling.enclosures import Rate, precision
from ...sampling.runs import Runs
from ...sampling.vectors import StoredNumber, Vector

_RARE = 30
"""Runs are left in summaries while one of their candidates arrives in time with probability below 2**-_RARE."""


class LatePart(NamedTuple):
    """A part of a run: its first place, as steps from the start of the run, and its size."""

    runs: Runs
    run: int
    steps: int
    size: int


def late_parts(runs: Runs, best: StoredNumber, rate: Rate, bits: Bits) -> list[LatePart]:
    """Return the parts in summaries of which a candidate arrives by the time 1: almost never any.

    Reads one word where there are summaries; more with probability 2**-30.
    """
    if runs.whole is None:
        return []
    u = LazyUniform(bits)
    while u.prefix == 0 and u.length < _RARE:
        u.extend()
    # *Summaries* in permute_and_flip.md: at 2**-30 or above there is none, whatever is in the summaries.
    if u.prefix << _RARE >= 1 << u.length:
        return []
    parts, late = list(_parts_of_summaries(runs)), list[LatePart]()
    # The runs after the one that was found get another uniform, until none is found.
    while (c := PreparedWeights(_InTime(parts, best, rate)).settle(u)) < len(parts):
        late.append(parts[c])
        parts, u = parts[c + 1 :], LazyUniform(bits)
    return late


class _InTime:
    """Which run is the first, in their order, of which a candidate arrives by the time 1; or none, which is last.

    Candidates arrive by the time 1 with probability w, independently.
    """

    def __init__(self, parts: list[LatePart], best: StoredNumber, rate: Rate) -> None:
        self._parts, self._best, self._rate = parts, best, rate

    def sums(self) -> None:
        """Return None: this is too rare for a pass in doubles."""

    def balls(self) -> Iterator[arb]:
        """Yield balls around the probabilities."""
        none_before = arb(1)
        for part in self._parts:
            gap = part.runs.tops.exact_gap(part.run, self._best)
            chance = chance_in_time(self._rate.decay(gap), part.size)
            # Run p is the first with probability q(p) times the product over those before it of (1 - q).
            yield none_before * chance
            none_before *= 1 - chance
        yield none_before


def within_reach(runs: Runs, rate: Rate) -> Runs:
    """Return the same runs with so little in summaries that hardly ever one of it arrives by the time 1.

    Where candidates are no neighbours, or sizes are no help, summaries are taken in full.
    """
    while runs.whole is not None:
        if runs.locate is not None or runs.summaries is None or not runs.summaries.any():
            return runs.whole()
        best = listed_runs(runs).best()
        with precision(64):
            decays = (
                int(runs.sizes[c]) * rate.decay(runs.tops.exact_gap(c, best))
                for c in np.flatnonzero(runs.summaries).tolist()
            )
            # A summary of m candidates of weight at most w has one in time with probability at most m w.
            if sum(decays, arb(0)) < arb(2) ** -(_RARE + 1):
                return runs
        runs = runs.refine()
    return runs


def listed_runs(runs: Runs) -> Runs:
    """Return the runs that are no summaries."""
    if runs.summaries is None or runs.whole is None:
        return runs
    there = ~runs.summaries
    tops = Vector(runs.tops.values[there], integral=runs.tops.integral)
    starts, sizes = (_select(column, there) for column in (runs.starts, runs.sizes))
    return Runs(starts, sizes, tops)


def _select(column: Any, there: NDArray[np.bool_]) -> Any:
    """Return the part of a list or an array that a mask leaves."""
    if isinstance(column, np.ndarray):
        return column[there]
    return [each for each, keep in zip(column, there.tolist(), strict=True) if keep]


def _parts_of_summaries(runs: Runs) -> Iterator[LatePart]:
    """Yield the parts of the runs in full that are in summaries."""
    assert runs.whole is not None
    assert runs.summaries is not None
    whole = runs.whole()
    for s in np.flatnonzero(runs.summaries).tolist():
        start = int(runs.starts[s])
        end = start + int(runs.sizes[s])
        for c in range(len(whole)):
            first = int(whole.starts[c])
            low, high = max(start, first), min(end, first + int(whole.sizes[c]))
            if low < high:
                yield LatePart(whole, c, low - first, high - low)


def chance_in_time(weight: arb, size: int) -> arb:
    """Return a ball around the probability that the first of `size` candidates arrives by the time 1."""
    return -(size * (-weight).log1p()).expm1()
