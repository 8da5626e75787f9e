"""The delta of many exponential mechanisms together, certified. Proofs: docs/losses.md.

Each answer has bounded range: its log-ratios lie in an interval of a known length epsilon. If every
score may depend on the answers before it, delta is a recursion over the answers (`delta_adaptive`); if
all scores were fixed beforehand and all epsilons are equal, it is a formula (`delta_nonadaptive`).
"""

import math
import operator
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce

import numpy as np
from flint import arb, arb_poly, fmpz
from numpy.typing import NDArray

from ..errors import InvalidNumber, shown
from ..numbers import float_up
from ..sampling.enclosures import ball, precision, upper

Doubles = NDArray[np.float64]

BUDGET = 2 * 10**8
"""Most pairs of a point and a cell that the recursion may look at: about two seconds."""

_CALL = 1000
"""A cell costs as much as that many points, however few it has."""

_FINEST = 64
"""Cells in a typical epsilon: more would change delta by less than one part in a thousand."""

_COARSEST = 1.125
"""The grid may raise the sum of epsilon**2 by this factor: beyond, other bounds are better."""

_MOST_ANSWERS = 20_000
"""Longer sequences are left to `losses`: no grid within the budget would be fine enough."""

_MOST_EQUAL = 4096
"""Longest sequence the formula is evaluated for: about two seconds."""

_LARGEST, _LEAST = 64, Fraction(1, 2**40)
"""The largest of all epsilons must lie between them, so that all doubles are ordinary."""

_TINY = 2.0**-1000
"""Added to each bound: more than anything that underflows on the way to it."""

_BITS = 128


def delta_adaptive(epsilons: Sequence[Fraction], target: Fraction) -> Fraction | None:
    """Return an upper bound on delta at epsilon = `target`, each score chosen after the answers before.

    Even the order of the epsilons may be chosen on the way. No bound below the exact value of this
    recursion holds for all such adversaries; the result is above it by what a grid costs, which is of second
    order in its step.

    Args:
        epsilons: the bounded range of each answer, fixed beforehand, in any order.
        target: the epsilon at which delta is asked for, zero or more.

    Returns:
        A number that is certainly no less than delta, or None where no grid within the budget of work is
        fine enough: with thousands of answers, with many different epsilons, or with one above 64.

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
    grid = _choose(spent, target, target)
    if grid is None:
        return None
    left, right = _curve(grid).tolist()
    return _between(left, right, grid, target)


def epsilon_adaptive(epsilons: Sequence[Fraction], delta: Fraction) -> Fraction | None:
    """Return an epsilon that holds with `delta`, each score chosen after the answers before.

    The least at which `delta_adaptive` could be `delta`, found at the price of one delta.

    Args:
        epsilons: the bounded range of each answer, fixed beforehand, in any order.
        delta: the delta that is allowed, zero or more.

    Returns:
        A number that is certainly enough, or None as `delta_adaptive`.

    Raises:
        InvalidNumber: if an epsilon or delta is negative.
    """
    spent = [epsilon for epsilon in epsilons if epsilon != 0]
    _check(spent, delta, "delta")
    total = sum(spent, Fraction(0))
    if delta == 0 or not spent:
        return total
    if delta >= 1:
        return Fraction(0)
    found = curve_adaptive(spent, delta)
    if found is None:
        return None
    step, curve = found
    first = next((m for m, bound in enumerate(curve) if bound <= delta), None)
    if not first:
        return None if first is None else Fraction(0)
    return min((first - 1) * step + crossing(curve[first - 1], curve[first], delta, step), total)


def curve_adaptive(
    epsilons: Sequence[Fraction], least: Fraction
) -> tuple[Fraction, list[Fraction]] | None:
    """Return a step, and bounds on delta at its multiples from 0 to where delta is about `least`, or None."""
    if max(epsilons) > _LARGEST:
        return None
    grid = _choose(list(epsilons), Fraction(0), _enough(epsilons, least))
    return None if grid is None else (grid.step, [Fraction(d) for d in _curve(grid).tolist()])


def crossing(left: Fraction, right: Fraction, level: Fraction, step: Fraction) -> Fraction:
    """Return how far from ln gamma = 0 a chord in gamma falls to `level`, rounded up to 2**-64.

    It falls from `left`, above the level, to `right`, not above it, where ln gamma = step.
    """
    with precision(_BITS + 192):
        share = ball((left - level) / (left - right))
        at = (1 + share * (ball(step).exp() - 1)).log()
        return min(Fraction(math.ceil(upper(at) * 2**64), 2**64), step)


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


def _enough(epsilons: Sequence[Fraction], delta: Fraction) -> Fraction:
    """Return about what zero-concentrated privacy asks for: how far the curve is looked at."""
    rho = float(sum(epsilon * epsilon for epsilon in epsilons)) / 8
    log = math.log(delta.denominator) - math.log(delta.numerator)
    return min(sum(epsilons, Fraction(0)), Fraction(rho + 2 * math.sqrt(rho * log)))


def _check(epsilons: Sequence[Fraction], bound: Fraction, name: str = "target") -> None:
    for value, what in [*((epsilon, "epsilon") for epsilon in epsilons), (bound, name)]:
        if value < 0:
            raise InvalidNumber(f"{what} must be zero or more, got {shown(value)}")


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
    """Points exp(m * step), and the answers by size.

    Attributes:
        step: distance of two points.
        cells: the different epsilons, in steps.
        counts: how many answers have each of them.
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

    def window(self, left: int) -> tuple[int, int]:
        """Return the first and last point needed, while answers of `left` steps in all are to come.

        Further out the curve is 1 - gamma or 0, or nothing leads there from what is wanted.
        """
        given = self.total - left
        return max(self.low - given, -left), min(self.high + given, left)

    def work(self) -> int:
        """Return how many points and cells the recursion brings together, and what calls cost."""
        left = reduce(np.add.outer, [c * np.arange(n + 1) for c, n in self._kinds()])
        given = self.total - left
        widths = np.minimum(self.high + given, left) - np.maximum(self.low - given, -left) + 1
        steps = (
            size * int((widths.take(range(1, n + 1), axis) + _CALL).sum())
            for axis, (size, n) in enumerate(self._kinds())
        )
        return sum(steps)

    def _kinds(self) -> list[tuple[int, int]]:
        return list(zip(self.cells, self.counts, strict=True))


def _choose(epsilons: list[Fraction], low: Fraction, high: Fraction) -> _Grid | None:
    """Return the grid within the budget that raises the sum of squares least, or None if it is too coarse."""
    if len(epsilons) > _MOST_ANSWERS or not _LEAST <= max(epsilons) <= _LARGEST:
        return None
    times = Counter(epsilons)
    units = {_common_part(times), min(times), max(times)}
    grids = [grid for unit in units if (grid := _finest(unit, times, (low, high)))]
    squares = float(sum(n * epsilon**2 for epsilon, n in times.items()))

    def raised(grid: _Grid) -> float:
        sizes = zip(grid.cells, grid.counts, strict=True)
        return float(grid.step) ** 2 * sum(n * (size**2 + 1) for size, n in sizes) / squares

    best = min(grids, key=raised, default=None)
    return best if best is not None and raised(best) <= _COARSEST else None


def _finest(
    unit: Fraction, times: Mapping[Fraction, int], wanted: tuple[Fraction, Fraction]
) -> _Grid | None:
    """Return the finest grid within the budget whose step is a part of `unit`."""
    mean = float(sum(n * epsilon**2 for epsilon, n in times.items()) / sum(times.values()))
    # The first number of parts must fit; the second does not, or is finer than need be.
    coarse, fine = 1, math.ceil(_FINEST * float(unit) / math.sqrt(mean)) + 1
    if not _fits(found := _grid(unit, times, wanted)):
        return None
    while fine - coarse > 1:
        middle = (coarse + fine) // 2
        if _fits(grid := _grid(unit / middle, times, wanted)):
            found, coarse = grid, middle
        else:
            fine = middle
    return found


def _grid(
    step: Fraction, times: Mapping[Fraction, int], wanted: tuple[Fraction, Fraction]
) -> _Grid:
    """Return the grid of that step: each epsilon is rounded up to it."""
    sizes: Counter[int] = Counter()
    for epsilon, n in times.items():
        sizes[math.ceil(epsilon / step)] += n
    low, high = (math.floor(at / step) for at in wanted)
    return _Grid(step, tuple(sizes), tuple(sizes.values()), low, high + 1)


def _fits(grid: _Grid) -> bool:
    # Larger numbers would be far beyond the budget, and are not for numpy.
    states = math.prod(n + 1 for n in grid.counts)
    return max(grid.cells) < 2**20 > states and len(grid.cells) < 32 and grid.work() <= BUDGET


def _common_part(epsilons: Collection[Fraction]) -> Fraction:
    """Return the largest fraction of which all are multiples."""
    denominator = math.lcm(*(epsilon.denominator for epsilon in epsilons))
    return Fraction(math.gcd(*(int(epsilon * denominator) for epsilon in epsilons)), denominator)


def _curve(grid: _Grid) -> Doubles:
    """Return bounds of the curve at the points from `low` to `high`.

    What is still to come is told by how many answers of each size; whoever comes first of them is chosen
    by the adversary.
    """
    level = {(0,) * len(grid.counts): _known(grid, 0, 0)}  # nothing to come
    for _ in range(sum(grid.counts)):
        longer: dict[tuple[int, ...], Doubles] = {}
        for come, curve in level.items():
            for kind, most in enumerate(grid.counts):
                if come[kind] < most:
                    more = (*come[:kind], come[kind] + 1, *come[kind + 1 :])
                    bounds = _one_more(_widened(grid, come, curve, kind), grid, kind)
                    longer[more] = np.maximum(longer.get(more, bounds), bounds)
        level = longer
    (curve,) = level.values()
    return curve


def _widened(grid: _Grid, come: tuple[int, ...], curve: Doubles, kind: int) -> Doubles:
    """Return the curve as far out as one more answer of that kind needs it, not increasing."""
    left, size = sum(map(operator.mul, come, grid.cells)), grid.cells[kind]
    (first, last), (before, end) = grid.window(left), grid.window(left + size)
    parts = [_known(grid, before - size, first - 1), curve, np.zeros(end + size - last)]
    return np.asarray(np.maximum.accumulate(np.concatenate(parts)[::-1])[::-1])


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


def _one_more(after: Doubles, grid: _Grid, kind: int) -> Doubles:
    """Return bounds of the curve with one more answer in front, from bounds of the curve after it.

    `after` begins and ends one epsilon further out, and does not increase.
    """
    cells, odds = grid.cells[kind], _Odds.of(grid.step, grid.cells[kind])
    size = len(after) - 2 * cells
    best, line, high, low = np.zeros(size), np.zeros(size), np.empty(size), np.empty(size)
    value = after[cells:][:size].copy()
    slope = (value - after[2 * cells :]) * odds.lift[0]
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
    return np.asarray(np.minimum(best, 1))


def _between(left: float, right: float, grid: _Grid, target: Fraction) -> Fraction:
    """Return the height of the chord at exp(target), rounded up: the curve is convex."""
    with precision(_BITS):
        share = (ball(target - grid.low * grid.step).exp() - 1) / (ball(grid.step).exp() - 1)
        return min(Fraction(1), upper(arb(left) + (arb(right) - arb(left)) * share))
