"""How much every one of several answers may have, so that all together are (epsilon, delta)-DP."""

import math
from collections.abc import Callable
from fractions import Fraction

from ..base.numbers import positive
from ..errors import InvalidNumber, preview
from .composition import Composition
from .contract import Guarantee

_STEPS = 8
"""Bounds on delta that are computed, each of which takes up to a second or two."""

_FINE = 2.0**-9
"""Relative distance from the largest that is good enough."""

_NEAR = Fraction(95, 100)
"""A bound of that share of delta is good enough, too."""

_SHARE_BITS = 16


def read_share(delta: object) -> Fraction:
    """Return the delta of several answers together, which must be above 0 and below 1.

    Raises:
        InvalidArgument: if it is not.
    """
    share = positive(delta, "delta")
    if share >= 1:
        raise InvalidNumber(f"delta must be below 1, got {preview(delta)}")
    return share


def largest_share(
    guarantee: Callable[[Fraction], Guarantee],
    answers: int,
    epsilon: Fraction,
    delta: Fraction,
    *,
    adaptive: bool,
) -> Fraction:
    """Return an epsilon for every one of several answers with which all together are (epsilon, delta)-DP.

    It is at least epsilon / answers, and near the largest of which the bounds of the library say so. What
    decides is the certified bound at the number returned, not how it was found.

    Args:
        guarantee: the guarantee of one answer, given its epsilon.
        answers: how many there are.
        epsilon: of all together.
        delta: of all together, above zero and below 1.
        adaptive: whether an answer may depend on those before.
    """

    def delta_of(share: Fraction) -> Fraction:
        together = Composition(((guarantee(share), answers),))
        return together.bounds(epsilon=epsilon, adaptive=adaptive).least

    return _search(delta_of, answers, epsilon, delta)


def _search(
    delta_of: Callable[[Fraction], Fraction], answers: int, epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return the largest share found with a delta that is small enough.

    The root of -ln(delta) is nearly linear in 1 / share, as for Gaussian noise, so few steps lead there.
    """
    least, depth = epsilon / answers, math.sqrt(-math.log(delta))
    best, worst, points = least, math.inf, list[tuple[float, float]]()
    share = max(float(least), _guess(answers, float(epsilon), float(delta)))
    for _ in range(_STEPS):
        epsilon_tried = max(least, _round_share(share))
        bound = delta_of(epsilon_tried)
        if bound <= delta:
            best = max(best, epsilon_tried)
        else:
            worst = min(worst, float(epsilon_tried))
        if worst <= float(best) * (1 + _FINE) or _NEAR * delta <= bound <= delta:
            break
        points = [*points[-1:], (1 / float(epsilon_tried), _depth(bound))]
        share = _next(points, depth, float(best), worst)
    return best


def _guess(answers: int, epsilon: float, delta: float) -> float:
    """Return the share by zero-concentrated differential privacy, from which the search starts."""
    log = -math.log(delta)
    rho = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2
    return math.sqrt(8 * rho / answers)


def _depth(bound: Fraction) -> float:
    """Return the root of -ln(bound), of no less than 1e-300."""
    return math.sqrt(-math.log(max(float(bound), 1e-300))) if bound < 1 else 0.0


def _next(points: list[tuple[float, float]], depth: float, best: float, worst: float) -> float:
    """Return the share to try next: on the line through the last two, or between the known bounds."""
    middle = math.sqrt(best * worst) if worst < math.inf else 1.25 * best
    if len(points) < 2 or points[0][1] == points[1][1]:
        return middle
    (x, y), (x2, y2) = points
    inverse = x2 + (depth - y2) * (x - x2) / (y - y2)
    guess = (1 - _FINE / 4) / inverse if inverse > 0 else middle
    return guess if best < guess < worst else middle


def _round_share(share: float) -> Fraction:
    """Return a fraction of few bits that is not above the share."""
    mantissa, exponent = math.frexp(share)
    return Fraction(math.floor(mantissa * 2**_SHARE_BITS)) * Fraction(2) ** (exponent - _SHARE_BITS)
