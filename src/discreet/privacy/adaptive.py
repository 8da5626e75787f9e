"""The certified delta of the composition of exponential mechanisms. For proofs, see docs/explanation/losses.md.

All answers have bounded range: their log-ratios lie in an interval of a known length epsilon. If
scores may depend on earlier answers, delta is a recursion over the answers (`delta_adaptive`), on a grid whose
step is chosen by its cost; if all scores were fixed beforehand and all epsilons are equal, it is a formula
(`delta_nonadaptive`).
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

from ..base.numbers import float_up
from ..errors import InvalidNumber, preview
from ..sampling.enclosures import ball, precision, upper

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


GridValues = NDArray[np.float64]

_MOST_EQUAL = 4096
"""Longest sequence the formula is evaluated for: about two seconds."""

_TINY = 2.0**-1000
"""Added to all bounds: more than anything that underflows on the way to it."""

_ADAPTIVE_BITS = 128


def delta_adaptive(epsilons: Sequence[Fraction], target: Fraction) -> Fraction | None:
    """Return an upper bound on delta at epsilon = `target`, under adaptively chosen scores.

    Even the order of the epsilons may be chosen on the way. No bound below the exact value of this
    recursion holds for all such adversaries; the result exceeds it by an error of second order in the step of
    the grid.

    Args:
        epsilons: the bounded ranges of the answers, fixed beforehand, in any order.
        target: the epsilon at which delta is asked for, zero or more.

    Returns:
        A number that is certainly no less than delta, or None if no grid within the budget of work is fine enough:
        with thousands of answers, with many different epsilons, or with one above 64.

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
    # *Adaptive answers of bounded range* in losses.md: no smaller bound holds for all such analysts.
    grid = choose_grid(spent, target, target)
    if grid is None:
        return None
    before, after = _curve(grid).tolist()
    return _between(before, after, grid, target)


def epsilon_adaptive(epsilons: Sequence[Fraction], delta: Fraction) -> Fraction | None:
    """Return an epsilon that holds with `delta`, under adaptively chosen scores.

    The least at which `delta_adaptive` could be `delta`, found at the price of one delta.

    Args:
        epsilons: the bounded ranges of the answers, fixed beforehand, in any order.
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
    grid_curve = curve_adaptive(spent, delta)
    if grid_curve is None:
        return None
    step, curve = grid_curve
    # *epsilon at a given delta*: the first point at most delta, and the one before, hold the answer between them.
    first = next((m for m, bound in enumerate(curve) if bound <= delta), None)
    if not first:
        return None if first is None else Fraction(0)
    return min((first - 1) * step + crossing(curve[first - 1], curve[first], delta, step), total)


def curve_adaptive(
    epsilons: Sequence[Fraction], least: Fraction
) -> tuple[Fraction, list[Fraction]] | None:
    """Return a step, and bounds on delta at its multiples from 0 to where delta is about `least`, or None."""
    if max(epsilons) > LARGEST:
        return None
    grid = choose_grid(list(epsilons), Fraction(0), _enough(epsilons, least))
    return None if grid is None else (grid.step, [Fraction(d) for d in _curve(grid).tolist()])


def crossing(before: Fraction, after: Fraction, level: Fraction, step: Fraction) -> Fraction:
    """Return how far from ln gamma = 0 a chord in gamma falls to `level`, rounded up to 2**-64.

    It falls from `left`, above the level, to `right`, not above it, where ln gamma = step.
    """
    with precision(_ADAPTIVE_BITS + 192):
        share = ball((before - level) / (before - after))
        at = (1 + share * (ball(step).exp() - 1)).log()
        return min(Fraction(math.ceil(upper(at) * 2**64), 2**64), step)


def delta_nonadaptive(epsilon: Fraction, n: int, target: Fraction) -> Fraction:
    """Return delta at epsilon = `target` of `n` answers with scores fixed beforehand, rounded up.

    It holds for exponential mechanisms of one bounded range `epsilon`, answering independently. It does
    not hold if a score was chosen after an answer was seen: that is `delta_adaptive`.

    Args:
        epsilon: the bounded range of the answers.
        n: how many answers; beyond 4096 the result is 1, which is always true.
        target: the epsilon at which delta is asked for, zero or more.

    Raises:
        InvalidNumber: if an epsilon or the target is negative.

    Source: Dong, Durfee and Rogers, ICML 2020, theorem 3; proved anew in docs/explanation/losses.md.
    """
    _check([epsilon], target)
    if target >= n * epsilon:
        return Fraction(0)
    if n > _MOST_EQUAL:
        return Fraction(1)
    with precision(_ADAPTIVE_BITS):
        binomials = [arb(fmpz(math.comb(n, i))) for i in range(n)]
        # *The best t*: only the c with t_c < epsilon; beyond, the value is zero.
        counts = range(math.ceil(n - target / epsilon))
        return min(Fraction(1), max(upper(_tail(epsilon, n, target, c, binomials)) for c in counts))


def _enough(epsilons: Sequence[Fraction], delta: Fraction) -> Fraction:
    """Return about the epsilon that zCDP gives at `delta`: the end of the computed part of the curve."""
    rho = float(sum(epsilon * epsilon for epsilon in epsilons)) / 8
    log = math.log(delta.denominator) - math.log(delta.numerator)
    return min(sum(epsilons, Fraction(0)), Fraction(rho + 2 * math.sqrt(rho * log)))


def _check(epsilons: Sequence[Fraction], bound: Fraction, name: str = "target") -> None:
    for value, what in [*((epsilon, "epsilon") for epsilon in epsilons), (bound, name)]:
        if value < 0:
            raise InvalidNumber(f"{what} must be zero or more, got {preview(value)}")


def _tail(epsilon: Fraction, n: int, target: Fraction, most: int, binomials: list[arb]) -> arb:
    """Return P(N <= most) - exp(target) Q(N <= most) at its best loss; N counts low losses."""
    # *The best t* in losses.md: the best common loss for this event; losses are t (high) and t - epsilon (low).
    t = (target + (most + 1) * epsilon) / (n + 1)
    # The mean of exp(loss) under Q is 1, which fixes the probability of a low loss.
    scale = 1 - ball(-epsilon).exp()
    low_q = (1 - ball(-t).exp()) / scale
    low_p = low_q * ball(t - epsilon).exp()
    # P(N <= most) of a binomial N, as a polynomial in the odds of a low loss.
    head = arb_poly(binomials[: most + 1])
    p, q = (head(low / (1 - low)) * (1 - low) ** n for low in (low_p, low_q))
    return p - ball(target).exp() * q


# The recursion. A curve maps gamma to a bound on sup P(E) - gamma Q(E), and is kept at gamma = exp(m * step).


def _curve(grid: LossGrid) -> GridValues:
    """Return bounds of the curve at the points from `low` to `high`.

    The state of the recursion is the number of answers to come, by size. The adversary chooses the size of the
    next one, so a state takes the pointwise maximum over all sizes.
    """
    # Without answers to come the curve is max(1 - gamma, 0): the best event is all or nothing.
    level = {(0,) * len(grid.counts): _closed_form_points(grid, 0, 0)}
    # Invariant: `level` maps all states with equally many answers to come to bounds of their curves.
    for _ in range(sum(grid.counts)):
        longer: dict[tuple[int, ...], GridValues] = {}
        for come, curve in level.items():
            for kind, most in enumerate(grid.counts):
                if come[kind] < most:
                    more = (*come[:kind], come[kind] + 1, *come[kind + 1 :])
                    # Weights are not negative, so a larger curve after the answer only raises the bound.
                    bounds = _one_more(_widen(grid, come, curve, kind), grid, kind)
                    longer[more] = np.maximum(longer.get(more, bounds), bounds)
        level = longer
    (curve,) = level.values()  # the only state with all answers to come
    return curve


def _widen(grid: LossGrid, come: tuple[int, ...], curve: GridValues, kind: int) -> GridValues:
    """Return the curve as far out as one more answer of that kind needs it, not increasing."""
    remaining, size = sum(map(operator.mul, come, grid.cells)), grid.cells[kind]
    (first, last), (before, end) = grid.window(remaining), grid.window(remaining + size)
    # With `left` steps to come no loss exceeds them: the curve is 1 - gamma below -left, and 0 above left.
    parts = [
        _closed_form_points(grid, before - size, first - 1),
        curve,
        np.zeros(end + size - last),
    ]
    # Rounding may have broken monotonicity. The running maximum from the right only raises bounds.
    return np.asarray(np.maximum.accumulate(np.concatenate(parts)[::-1])[::-1])


def _closed_form_points(grid: LossGrid, first: int, last: int) -> GridValues:
    """Return bounds of 1 - gamma, but at least 0, from the point `first` to `last`."""
    # The factor covers the relative errors of the exponents (2.01 * 2**-53) and of expm1 (2**-44).
    exponents = np.minimum(np.arange(first, last + 1), 0) * float(grid.step)
    return np.asarray(-np.expm1(exponents) * (1 + 2.0**-42))


@dataclass(frozen=True, slots=True)
class _Odds:
    """The weights of the recursion for an epsilon of several cells, at the losses 0, step, ..., epsilon.

    Attributes:
        high: P(loss t), rounded up.
        low: P(loss t - epsilon), rounded up.
        lift: exp(t) * tanh(step / 4) / (exp(epsilon) - 1), rounded up.
    """

    high: GridValues
    low: GridValues
    lift: GridValues

    @staticmethod
    @lru_cache(maxsize=64)
    def of(step: Fraction, cells: int) -> "_Odds":
        """Return the odds for epsilon = cells * step, from balls."""
        with precision(_ADAPTIVE_BITS):
            # P(loss t) = (e**epsilon - e**t) / (e**epsilon - 1), as the mean of exp(-loss) under P is 1.
            decays = [ball(-j * step).exp() for j in range(cells + 1)]
            scale = 1 - decays[-1]
            high = [(1 - decay) / scale for decay in reversed(decays)]
            low = [(1 - decays[j]) * decays[cells - j] / scale for j in range(cells + 1)]
            unit = (ball(step) / 4).tanh() / scale
            lift = [unit * decay for decay in reversed(decays)]
            return _Odds(
                *(np.array([float_up(upper(x)) for x in row]) for row in (high, low, lift))
            )


def _one_more(after: GridValues, grid: LossGrid, kind: int) -> GridValues:
    """Return bounds of the curve before an answer from bounds of the curve after it.

    At gamma this is the maximum over the loss t of pi(t) f(gamma e**-t) + (1 - pi(t)) f(gamma e**(epsilon - t)),
    bounded cell by cell: docs/explanation/losses.md, "The recursion on a grid".

    `after` begins and ends one epsilon further out, and does not increase.
    """
    cells, odds = grid.cells[kind], _Odds.of(grid.step, grid.cells[kind])
    size = len(after) - 2 * cells
    best, line, high, low = np.zeros(size), np.zeros(size), np.empty(size), np.empty(size)
    # At loss 0 the weight of the high loss is 1: the value is the curve itself.
    value = after[cells:][:size].copy()
    # G_j = lift_j (A_j - B_j), with A and B the curve at gamma e**-t and gamma e**(epsilon - t), t = j steps.
    slope = (value - after[2 * cells :]) * odds.lift[0]
    # Invariant: `value` and `slope` are V and G at the left end of the cell; `best` bounds all cells so far.
    for j in range(1, cells + 1):
        above, below = after[cells - j :][:size], after[2 * cells - j :][:size]
        np.multiply(above, odds.high[j], out=high)
        np.multiply(below, odds.low[j], out=low)
        np.add(high, low, out=high)  # V at the right end
        np.subtract(above, below, out=low)
        np.multiply(low, odds.lift[j], out=low)
        # kappa D = G_(j+1) - G_j is how far the mean may exceed its chord within the cell.
        np.subtract(low, slope, out=slope)
        np.maximum(slope, 0, out=slope)
        # Within the cell the mean is at most max(V_j, V_(j+1)) + max(kappa D, 0).
        np.maximum(value, high, out=line)
        np.add(line, slope, out=line)
        np.maximum(best, line, out=best)
        value, high, slope, low = high, value, low, slope  # the right end is the next left end
    # The rounding errors of a cell: at most 8u of the sum and 16u lift_J M, with u = 2**-53 and M = `after`.
    best = best * (1 + 2.0**-50) + after[:size] * (odds.lift[-1] * 2.0**-49) + _TINY
    return np.asarray(np.minimum(best, 1))


def _between(before: float, after: float, grid: LossGrid, target: Fraction) -> Fraction:
    """Return the height of the chord at exp(target), rounded up: the curve is convex."""
    with precision(_ADAPTIVE_BITS):
        # *The recursion on a grid*: the bound at a target between two points is the chord's.
        share = (ball(target - grid.low * grid.step).exp() - 1) / (ball(grid.step).exp() - 1)
        return min(Fraction(1), upper(arb(before) + (arb(after) - arb(before)) * share))
