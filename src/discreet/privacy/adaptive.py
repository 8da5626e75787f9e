"""The delta of many exponential mechanisms together, certified. Proofs: docs/losses.md.

Each answer has bounded range: its log-ratios lie in an interval of a known length epsilon. If every
score may depend on the answers before it, delta is a recursion over the answers (`delta_adaptive`); if
all scores were fixed beforehand and all epsilons are equal, it is a formula (`delta_nonadaptive`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, arb_poly, fmpz
from numpy.typing import NDArray

from ..enclosures import ball, precision, upper
from ..errors import InvalidNumber, shown
from ..numbers import float_up

Doubles = NDArray[np.float64]

BUDGET = 2 * 10**8
"""Most pairs of a point and a cell that the recursion may look at: about two seconds."""

_FINEST = 64
"""Cells in a typical epsilon: more would change delta by less than one part in a thousand."""

_COARSEST = 1.125
"""The grid may raise the sum of epsilon**2 by this factor: beyond, other bounds are better."""

_MOST_ANSWERS = 20_000
"""Longer sequences are left to `losses`: no grid within the budget would be fine enough."""

_MOST_EQUAL = 4096
"""Longest sequence the formula is evaluated for: about two seconds."""

_LARGEST, _LEAST = 64, Fraction(1, 2**64)
"""The largest of all epsilons must lie between them, so that all doubles are ordinary."""

_TINY = 2.0**-1000
"""Added to each bound: more than anything that underflows on the way to it."""

_BITS = 128


def delta_adaptive(epsilons: Sequence[Fraction], target: Fraction) -> Fraction | None:
    """Return an upper bound on delta at epsilon = `target`, each score chosen after the answers before.

    No bound below the exact value of this recursion holds for all adversaries; the result is above it by
    what a grid costs, which is of second order in its step.

    Args:
        epsilons: the bounded range of each answer, in the order of the answers, fixed beforehand.
        target: the epsilon at which delta is asked for, zero or more.

    Returns:
        A number that is certainly no less than delta, or None where no grid within the budget of work is
        fine enough: with many thousands of answers, or an epsilon above 64.

    Raises:
        InvalidNumber: if an epsilon or the target is negative.

    Source: the pairs of Dong, Durfee and Rogers (ICML 2020), with a recursion of our own.
    """
    spent = [epsilon for epsilon in epsilons if epsilon != 0]
    _check(spent, target)
    if target >= sum(spent):
        return Fraction(0)
    if len(spent) == 1:
        return delta_nonadaptive(spent[0], 1, target)
    grid = _choose(spent, target)
    if grid is None:
        return None
    left, right = _curve(grid)
    return _between(left, right, grid, target)


def delta_nonadaptive(epsilon: Fraction, n: int, target: Fraction) -> Fraction:
    """Return delta at epsilon = `target` of `n` answers whose scores were all fixed beforehand, rounded up.

    It holds for exponential mechanisms of one bounded range `epsilon`, answering independently. It does
    not hold if a score was chosen after an answer was seen: that is `delta_adaptive`.

    Args:
        epsilon: the bounded range of each answer.
        n: how many answers; beyond 4096 the result is 1, which is always true.
        target: the epsilon at which delta is asked for, zero or more.

    Raises:
        InvalidNumber: if an epsilon or the target is negative.

    Source: Dong, Durfee and Rogers, ICML 2020, theorem 3; proved anew in docs/losses.md.
    """
    _check([epsilon], target)
    if target >= n * epsilon:
        return Fraction(0)
    if n > _MOST_EQUAL:
        return Fraction(1)
    with precision(_BITS):
        binomials = [arb(fmpz(math.comb(n, i))) for i in range(n)]
        # Beyond this count of low losses the threshold is clipped, and its value is zero.
        counts = range(math.ceil(n - target / epsilon))
        return min(Fraction(1), max(upper(_tail(epsilon, n, target, c, binomials)) for c in counts))


def _check(epsilons: Sequence[Fraction], target: Fraction) -> None:
    for value, name in [*((epsilon, "epsilon") for epsilon in epsilons), (target, "target")]:
        if value < 0:
            raise InvalidNumber(f"{name} must be zero or more, got {shown(value)}")


def _tail(epsilon: Fraction, n: int, target: Fraction, most: int, binomials: list[arb]) -> arb:
    """Return P(N <= most) - exp(target) Q(N <= most) at its best loss; N counts low losses."""
    t = (target + (most + 1) * epsilon) / (n + 1)
    scale = 1 - ball(-epsilon).exp()
    low_q = (1 - ball(-t).exp()) / scale
    low_p = low_q * ball(t - epsilon).exp()
    head = arb_poly(binomials[: most + 1])
    p, q = (head(low / (1 - low)) * (1 - low) ** n for low in (low_p, low_q))
    return p - ball(target).exp() * q


# The recursion. A curve maps gamma to a bound on sup P(E) - gamma Q(E), and is kept at gamma = exp(m * step).


@dataclass(frozen=True, slots=True)
class _Grid:
    """Points exp(m * step); each epsilon is `cells` steps long; delta is wanted between `low` and low + 1."""

    step: Fraction
    cells: tuple[int, ...]
    low: int

    def windows(self) -> list[tuple[int, int]]:
        """Return for each number of answers given, from none to all, the first and last point needed.

        Where a curve is 1 - gamma or 0, it is known and not needed.
        """
        given = np.concatenate([[0], np.cumsum(self.cells)])
        reach = given[-1] - given
        first, last = np.maximum(self.low - given, -reach), np.minimum(self.low + 1 + given, reach)
        return list(zip(first.tolist(), last.tolist(), strict=True))

    def work(self) -> int:
        """Return the number of pairs of a point and a cell the recursion looks at."""
        widths = (last - first + 1 for first, last in self.windows())
        return sum(width * cells for width, cells in zip(widths, self.cells, strict=False))


def _choose(epsilons: list[Fraction], target: Fraction) -> _Grid | None:
    """Return the grid within the budget that raises the sum of squares least, or None if it is too coarse."""
    if len(epsilons) > _MOST_ANSWERS or not _LEAST <= max(epsilons) <= _LARGEST:
        return None
    units = {_common_part(epsilons), min(epsilons), max(epsilons)}
    grids = [grid for unit in units if (grid := _finest(unit, epsilons, target))]
    squares = float(sum(epsilon * epsilon for epsilon in epsilons))

    def raised(grid: _Grid) -> float:
        return float(grid.step) ** 2 * sum(c * c + 1 for c in grid.cells) / squares

    best = min(grids, key=raised, default=None)
    return best if best is not None and raised(best) <= _COARSEST else None


def _finest(unit: Fraction, epsilons: list[Fraction], target: Fraction) -> _Grid | None:
    """Return the finest grid within the budget whose step is a part of `unit`."""
    typical = math.sqrt(float(sum(epsilon * epsilon for epsilon in epsilons)) / len(epsilons))
    finest, distinct = math.ceil(_FINEST * float(unit) / typical), set(epsilons)

    def grid(parts: int) -> _Grid:
        step = unit / parts
        cells = {epsilon: math.ceil(epsilon / step) for epsilon in distinct}
        return _Grid(step, tuple(cells[e] for e in epsilons), math.floor(target / step))

    def fits(parts: int) -> bool:
        # The longest answer alone has this many pairs or more; larger numbers are not for numpy.
        if math.ceil(max(epsilons) * parts / unit) > math.isqrt(BUDGET):
            return False
        return grid(parts).work() <= BUDGET

    if not fits(1):
        return None
    coarse, fine = 1, finest + 1  # the first fits; the second does not, or is finer than need be
    while fine - coarse > 1:
        middle = (coarse + fine) // 2
        coarse, fine = (middle, fine) if fits(middle) else (coarse, middle)
    return grid(coarse)


def _common_part(epsilons: list[Fraction]) -> Fraction:
    """Return the largest fraction of which all are multiples."""
    denominator = math.lcm(*(epsilon.denominator for epsilon in epsilons))
    return Fraction(math.gcd(*(int(epsilon * denominator) for epsilon in epsilons)), denominator)


def _curve(grid: _Grid) -> tuple[float, float]:
    """Return bounds of the curve at both ends of the cell that holds the target."""
    windows = grid.windows()
    first, last = windows[-1]
    curve = _known(grid, first, last)  # after all answers it is known everywhere
    for (before, end), cells in zip(windows[-2::-1], grid.cells[::-1], strict=True):
        left, right = _known(grid, before - cells, first - 1), np.zeros(end + cells - last)
        curve = _one_more(np.concatenate([left, curve, right]), _Odds.of(grid.step, cells))
        first, last = before, end
    return float(curve[0]), float(curve[1])


def _known(grid: _Grid, first: int, last: int) -> Doubles:
    """Return bounds of 1 - gamma, but at least 0, from the point `first` to `last`."""
    exponents = np.minimum(np.arange(first, last + 1), 0) * float(grid.step)
    return np.asarray(-np.expm1(exponents) * (1 + 2.0**-42))


@dataclass(frozen=True, slots=True)
class _Odds:
    """What the recursion needs of an epsilon of several cells, for the losses 0, step, ..., epsilon.

    Attributes:
        high: P(loss t), rounded up.
        low: P(loss t - epsilon), rounded up.
        lift: exp(t) * tanh(step / 4) / (exp(epsilon) - 1), rounded up.
    """

    high: Doubles
    low: Doubles
    lift: Doubles

    @staticmethod
    @lru_cache(maxsize=64)
    def of(step: Fraction, cells: int) -> "_Odds":
        """Return the odds for epsilon = cells * step, from balls."""
        with precision(_BITS):
            decays = [ball(-j * step).exp() for j in range(cells + 1)]
            scale = 1 - decays[-1]
            high = [(1 - decay) / scale for decay in reversed(decays)]
            low = [(1 - decays[j]) * decays[cells - j] / scale for j in range(cells + 1)]
            unit = (ball(step) / 4).tanh() / scale
            lift = [unit * decay for decay in reversed(decays)]
            return _Odds(
                *(np.array([float_up(upper(x)) for x in row]) for row in (high, low, lift))
            )


def _one_more(after: Doubles, odds: _Odds) -> Doubles:
    """Return bounds of the curve with one more answer in front, from bounds of the curve after it.

    `after` begins and ends one epsilon further out, and does not increase.
    """
    cells = len(odds.high) - 1
    size = len(after) - 2 * cells
    best, line, high, low = np.zeros(size), np.zeros(size), np.empty(size), np.empty(size)
    value, slope = (
        after[cells : cells + size].copy(),
        (after[cells:][:size] - after[2 * cells :]) * odds.lift[0],
    )
    for j in range(1, cells + 1):
        above, below = after[cells - j :][:size], after[2 * cells - j :][:size]
        np.multiply(above, odds.high[j], out=high)
        np.multiply(below, odds.low[j], out=low)
        np.add(high, low, out=high)  # the value at this loss
        np.subtract(above, below, out=low)
        np.multiply(low, odds.lift[j], out=low)
        np.subtract(low, slope, out=slope)
        np.maximum(slope, 0, out=slope)  # how far the curve between two losses may bulge
        np.maximum(value, high, out=line)
        np.add(line, slope, out=line)
        np.maximum(best, line, out=best)
        value, high, slope, low = high, value, low, slope
    best = best * (1 + 2.0**-50) + after[:size] * (odds.lift[-1] * 2.0**-49) + _TINY
    return np.maximum.accumulate(np.minimum(best, 1)[::-1])[::-1]


def _between(left: float, right: float, grid: _Grid, target: Fraction) -> Fraction:
    """Return the height of the chord at exp(target), rounded up: the curve is convex."""
    with precision(_BITS):
        share = (ball(target - grid.low * grid.step).exp() - 1) / (ball(grid.step).exp() - 1)
        return min(Fraction(1), upper(arb(left) + (arb(right) - arb(left)) * share))
