"""The grid of the adaptive recursion: its points, its cost, and the choice of its step.

Proofs: docs/explanation/losses.md.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

LONGEST_WORK = 2 * 10**8
"""Most pairs of a point and a cell that the recursion may look at: about two seconds."""

_CALL = 1000
"""A cell costs as much as that many points, however few it has."""

_FINEST = 64
"""Cells in a typical epsilon: more would change delta by less than one part in a thousand."""

_COARSEST = 1.125
"""The grid may raise the sum of epsilon**2 by this factor: beyond, other bounds are better."""

_MOST_ANSWERS = 20_000
"""Longer sequences are left to `losses`: no grid within the budget would be fine enough."""

LARGEST, _LEAST = 64, Fraction(1, 2**40)
"""The largest of all epsilons must lie between them, so that all doubles are ordinary."""


@dataclass(frozen=True, slots=True)
class LossGrid:
    """The points exp(m * step) of the recursion, and the answers by size.

    Attributes:
        step: distance of two points.
        cells: the different epsilons, in steps.
        counts: how many answers have them.
        low: the first point at which delta is wanted.
        high: the last one.
    """

    step: Fraction
    cells: tuple[int, ...]
    counts: tuple[int, ...]
    low: int
    high: int

    @property
    def total(self) -> int:
        """The sum of all epsilons, in steps."""
        return sum(size * n for size, n in zip(self.cells, self.counts, strict=True))

    def window(self, remaining: int) -> tuple[int, int]:
        """Return the first and last point needed, while answers of `left` steps in all are to come.

        Further out the curve is 1 - gamma or 0, or does not affect the wanted points.
        """
        past = self.total - remaining
        return max(self.low - past, -remaining), min(self.high + past, remaining)

    def work(self) -> int:
        """Return the cost of the recursion: pairs of points and cells, with the overhead of calls."""
        # The steps to come, in all states, as an array with one axis per size.
        remaining = reduce(np.add.outer, [c * np.arange(n + 1) for c, n in self._kinds()])
        past = self.total - remaining
        widths = (
            np.minimum(self.high + past, remaining) - np.maximum(self.low - past, -remaining) + 1
        )
        # All states with at least one answer of a size take one step for that size.
        steps = (
            size * int((widths.take(range(1, n + 1), axis) + _CALL).sum())
            for axis, (size, n) in enumerate(self._kinds())
        )
        return sum(steps)

    def _kinds(self) -> list[tuple[int, int]]:
        return list(zip(self.cells, self.counts, strict=True))


def choose_grid(epsilons: list[Fraction], low: Fraction, high: Fraction) -> LossGrid | None:
    """Return the grid within the budget that raises the sum of squares least, or None if it is too coarse."""
    if len(epsilons) > _MOST_ANSWERS or not _LEAST <= max(epsilons) <= LARGEST:
        return None
    times = Counter(epsilons)
    # A step that divides an epsilon does not round it; the candidates divide all, the least or the largest.
    units = {_common_part(times), min(times), max(times)}
    grids = [grid for unit in units if (grid := _finest(unit, times, (low, high)))]
    squares = float(sum(n * epsilon**2 for epsilon, n in times.items()))

    # Rounded up, an answer contributes (size * step)**2 to the sum, and its chords about step**2 more.
    def coarseness(grid: LossGrid) -> float:
        sizes = zip(grid.cells, grid.counts, strict=True)
        return float(grid.step) ** 2 * sum(n * (size**2 + 1) for size, n in sizes) / squares

    best = min(grids, key=coarseness, default=None)
    return best if best is not None and coarseness(best) <= _COARSEST else None


def _finest(
    unit: Fraction, times: Mapping[Fraction, int], ends: tuple[Fraction, Fraction]
) -> LossGrid | None:
    """Return the finest grid within the budget with a step that is a part of `unit`."""
    mean = float(sum(n * epsilon**2 for epsilon, n in times.items()) / sum(times.values()))
    # The first number of parts must fit; the second does not, or is finer than need be.
    coarse, fine = 1, math.ceil(_FINEST * float(unit) / math.sqrt(mean)) + 1
    if not _fits(finest := _grid(unit, times, ends)):
        return None
    # Invariant: `coarse` parts fit the budget, `fine` do not or are not needed.
    while fine - coarse > 1:
        middle = (coarse + fine) // 2
        if _fits(grid := _grid(unit / middle, times, ends)):
            finest, coarse = grid, middle
        else:
            fine = middle
    return finest


def _grid(
    step: Fraction, times: Mapping[Fraction, int], ends: tuple[Fraction, Fraction]
) -> LossGrid:
    """Return the grid of that step, to which all epsilons are rounded up."""
    sizes: Counter[int] = Counter()
    for epsilon, n in times.items():
        sizes[math.ceil(epsilon / step)] += n
    low, high = (math.floor(at / step) for at in ends)
    return LossGrid(step, tuple(sizes), tuple(sizes.values()), low, high + 1)


def _fits(grid: LossGrid) -> bool:
    # Larger numbers would be far beyond the budget, and are not for numpy.
    states = math.prod(n + 1 for n in grid.counts)
    return max(grid.cells) < 2**20 > states and len(grid.cells) < 32 and grid.work() <= LONGEST_WORK


def _common_part(epsilons: Collection[Fraction]) -> Fraction:
    """Return the largest fraction of which all are multiples."""
    denominator = math.lcm(*(epsilon.denominator for epsilon in epsilons))
    return Fraction(math.gcd(*(int(epsilon * denominator) for epsilon in epsilons)), denominator)
