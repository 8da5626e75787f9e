"""The privacy losses of a composition of any kinds, convolved.

For proofs, see docs/explanation/losses.md, "Several bounds at once".

Kinds of one epsilon, Gaussian noise and `LossDP` have distributions of their own. Guarantees known only by their
Rényi curve only is one curve together, which is made into a distribution.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce

from flint import arb

from ..base.numbers import root_above
from ..sampling.enclosures import precision, upper
from .adaptive import curve_adaptive
from .contract import Guarantee, Part, Parts
from .conversions import delta_of_curve, epsilon_of_curve
from .gaussian_dp import DiscreteGaussianDP, GaussianDP, ReplacedSumsDP
from .loss_dp import LossDP
from .parts import RANGES, curve_of, merge, renyi_of
from .pld import UNIT, LossDistribution, common_step
from .response_dp import ResponseDP
from .rho import logistic_rho

_MOST_CONVOLVED = 10**6
"""Answers up to which privacy losses are convolved: beyond, the error of the grid exceeds the gain."""

_MOST_KINDS = 100
"""Different guarantees up to which they are convolved, at some hundredths of a second apiece."""

_LEAST, _LARGEST, _MOST_STEPS = Fraction(1, 2**64), Fraction(64), 2**14
"""The least epsilon and step of a grid of losses, the largest epsilon on it, and the most steps in that."""

_LONGEST, _FURTHEST = 2**17, Fraction(2**20)
"""The most steps, and the largest loss, of guarantees given as losses or curves: longer lists take too long."""

_NEGLIGIBLE = Fraction(1, 2**100)
"""Where the delta of a curve is that, its losses count as infinite."""

_SMALL_SHARE = 1 / 4
"""The most that one answer may be of the sum of all rhos for the sum of their losses to be about normal."""

_PLACES = 256
"""Places at which a Rényi curve is converted."""

_MOST_ROUNDS, _MOST_CELLS = 10_000, 31
"""Answers, and different epsilons, up to which the adaptive recursion is asked. It may still decline."""

_OnGrid = Callable[[Fraction], LossDistribution]
"""From the step of a grid to a distribution of losses."""

_LOGISTIC = ("bounded_range", "mixed_range", "summed_range", "logistic_dp")


def serves(core: Parts) -> bool:
    """Return whether all parts fit a grid, and more is known of one than its Rényi curve."""
    return any(_law(part) is not None for part, _ in core) and fits_grid(core)


def fits_grid(core: Parts) -> bool:
    """Return whether there are not too many parts for a grid, and none is too large or too small for it."""
    if sum(n for _, n in core) > _MOST_CONVOLVED or len(core) > _MOST_KINDS:
        return False
    step = _step(core)
    largest, longest = min(_LARGEST, _MOST_STEPS * step), min(_FURTHEST, _LONGEST * step)
    sizes = [_size(part) for part, _ in core if _law(part) is not None]
    ordinary = step >= _LEAST and all(_LEAST <= size <= largest for size in sizes)
    spans = (_span(part) for part, _ in core if isinstance(part, LossDP))
    return ordinary and all(span <= longest for span in spans) and _reach(core) <= longest


def mu_of(core: Parts) -> float | None:
    """Return the mu of Gaussian noise that many answers are about as bad as, by their distributions.

    None if not known, or if one answer outweighs the others: its losses are not those of Gaussian noise.
    """
    by_recursion = _by_recursion(core) is not None
    rhos = [(_rho(part, by_recursion), n) for part, n in core]
    with_rho = [(float(rho), n) for rho, n in rhos if rho is not None]
    sum_ = sum(n * rho for rho, n in with_rho)
    if len(with_rho) < len(rhos) or max(rho for rho, _ in with_rho) > _SMALL_SHARE * sum_:
        return None
    return math.sqrt(2 * sum_)


def adaptive_epsilons(parts: Parts) -> tuple[Fraction, ...] | None:
    """Return the epsilons of all answers, if the adaptive recursion may serve them."""
    ranges = parts and all(part.kind in RANGES for part, _ in parts)
    if not ranges or len(parts) > _MOST_CELLS or sum(n for _, n in parts) > _MOST_ROUNDS:
        return None
    return tuple(e for part, n in parts if (e := part.pure) for _ in range(n))


def convolve(core: Parts) -> LossDistribution:
    """Return a bound on the privacy losses of all answers together, where `serves` says so."""
    step = _step(core)
    recursion = _recursion(core, step)
    distributions = [] if recursion is None else [recursion]
    rest: list[Part] = []
    for part, n in core:
        law = _law(part)
        if law is None:
            rest.append((part, n))
        elif recursion is None or part.kind not in RANGES:
            distributions.append(law(step).composed(n))
    if rest:
        distributions.append(_of_curve(merge(tuple(rest)), step))
    return reduce(LossDistribution.combined, distributions)


def _law(part: Guarantee) -> _OnGrid | None:
    """Return the distribution of the losses of one answer, or None if only its Rényi curve is known."""
    if isinstance(part, LossDP):
        return part.losses.on
    if isinstance(part, GaussianDP):
        return partial(LossDistribution.gaussian, part.mu)
    if isinstance(part, DiscreteGaussianDP | ReplacedSumsDP):
        return part.losses
    epsilon = part.pure
    if not epsilon:
        return None
    if isinstance(part, ResponseDP):
        return partial(LossDistribution.of_curve, part.delta_at, epsilon)
    kinds = dict.fromkeys(_LOGISTIC, LossDistribution.logistic)
    law = {**kinds, "laplace_dp": LossDistribution.laplace}.get(part.kind, LossDistribution.pure)
    return partial(law, epsilon)


def _size(part: Guarantee) -> Fraction:
    """Return about the epsilon of an answer with losses that vary as much, to choose a grid by."""
    if isinstance(part, GaussianDP):
        return part.mu * Fraction(7, 4)
    if isinstance(part, DiscreteGaussianDP | ReplacedSumsDP):
        return root_above(2 * part.rho) * Fraction(7, 4)
    if isinstance(part, LossDP):
        return 128 * part.losses.step
    if part.pure:
        return part.pure
    with precision(64):
        divergence = part.renyi(arb(1))
        if divergence is None or not divergence.is_finite():
            return Fraction(1)
        return Fraction(math.sqrt(3 * upper(divergence)))


def _span(part: LossDP) -> Fraction:
    """Return how far apart the losses of an answer are."""
    return len(part.losses.masses) * part.losses.step


def _step(core: Parts) -> Fraction:
    return common_step((max(_size(part), _LEAST), n) for part, n in core)


def _by_recursion(core: Parts) -> tuple[Fraction, ...] | None:
    """Return the epsilons of the ranges beside other kinds, which the recursion may serve. None without others."""
    ranges = tuple((part, n) for part, n in core if part.kind in RANGES)
    return None if len(ranges) == len(core) else adaptive_epsilons(ranges)


def _rho(part: Guarantee, by_recursion: bool) -> Fraction | None:
    """Return about the rho of the distribution that is convolved; of other kinds, the known rho."""
    if isinstance(part, LossDP):
        return _mean(part.losses)  # that of Gaussian noise is its rho
    if part.pure and part.kind in _LOGISTIC and not (by_recursion and part.kind in RANGES):
        return logistic_rho(part.pure)
    return part.rho


def _mean(losses: LossDistribution) -> Fraction:
    sum_ = sum(j * mass for j, mass in enumerate(losses.masses, losses.lowest))
    return max(losses.step * sum_ / UNIT, Fraction(0))


def _recursion(core: Parts, step: Fraction) -> LossDistribution | None:
    """Return the losses of the ranges beside other kinds, by the recursion, or None if it does not serve them."""
    epsilons = _by_recursion(core)
    points = curve_adaptive(epsilons, _NEGLIGIBLE) if epsilons else None
    if points is None:
        return None
    pace, deltas = points
    top = pace * (len(deltas) - 1)
    if top > min(_FURTHEST, _LONGEST * step):
        return None

    def delta(at: Fraction) -> Fraction:
        return deltas[int(at / pace)]

    return LossDistribution.of_curve(delta, top, pace).on(step)


def _of_curve(rest: Parts, step: Fraction) -> LossDistribution:
    """Return one distribution for all guarantees that are known only by their Rényi curves."""
    curve, top = curve_of(rest), max(_reach(rest), step)
    every = max(1, math.ceil(top / step / _PLACES))
    return LossDistribution.of_curve(partial(delta_of_curve, curve), top, step, every)


def _reach(core: Parts) -> Fraction:
    """Return the loss from which those known by a Rényi curve count as infinite: far out for low orders."""
    rest = tuple((part, n) for part, n in core if _law(part) is None)
    if not rest:
        return Fraction(0)
    with precision(64):
        if renyi_of(rest, arb(1)) is None:
            return 2 * _FURTHEST  # a kind of one's own, of which nothing is known
    return epsilon_of_curve(curve_of(rest), _NEGLIGIBLE)
