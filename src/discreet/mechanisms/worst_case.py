"""The worst case of a mechanism: the errors that it keeps whatever the scores are.

The gap vectors that are worst, and why: docs/how-to/planning.md. All constants are in units of spread / epsilon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..base.lazy_names import flint
from ..sampling.enclosures import ball, sharp, upper

if TYPE_CHECKING:
    from flint import arb

_STEPS = 100


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The error of a mechanism on its worst scores, as functions of the number of candidates.

    Attributes:
        mean: no less than the mean error.
        tail: no less than the error that is exceeded or met with probability at most beta.
    """

    mean: Callable[[int], Fraction]
    tail: Callable[[int, Fraction], Fraction]

    def below(self, n: int, confidence: Fraction) -> Fraction:
        """Return an error that is not reached with that probability; 0 where a blind guess is right as often."""
        # A blind guess is wrong with probability 1 - 1 / n at most.
        return Fraction(0) if n * confidence <= 1 else self.tail(n, 1 - confidence)


def _gibbs_mean(n: int) -> Fraction:
    """Return W((n - 1) / e), with Lambert's W: the largest of ln(1/p) (n-1) p / (1 + (n-1) p)."""
    return upper(sharp(_lambert, n)) if n > 1 else Fraction(0)


def _lambert(n: int) -> arb:
    return ((n - 1) / flint.arb(1).exp()).lambertw()


def _gibbs_tail(n: int, beta: Fraction) -> Fraction:
    """Return ln((n - 1) (1 - beta) / beta), where n - 1 candidates together weigh beta / (1 - beta)."""
    return max(Fraction(0), upper(sharp(_log, (n - 1) * (1 - beta) / beta)))


def _log(value: Fraction) -> arb:
    return ball(value).log()


def _flips_mean(n: int) -> Fraction:
    """Return the largest of t * Q(t), of concave logarithm, over t > 0."""
    if n == 1:
        return Fraction(0)
    low, high = Fraction(0), Fraction(1)
    while _rises(n, high) is True:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        rising = _rises(n, middle)
        if rising is None:
            break
        low, high = (middle, high) if rising else (low, middle)
    t = (low + high) / 2
    return upper(sharp(_on_tangent, n, t, high - low))


def _on_tangent(n: int, t: Fraction, width: Fraction) -> arb:
    """Return a bound on s * Q(s) for all s at most `width` from t: a concave function is below its tangents."""
    return ball(t) * _loss_chance(n, t) * (abs(_slope(n, t)) * ball(width)).exp()


def _flips_tail(n: int, beta: Fraction) -> Fraction:
    """Return a t with Q(t) <= beta, nearly the least. The exponential mechanism's is no less."""
    low, high = Fraction(0), _gibbs_tail(n, beta) + Fraction(1, 2**_STEPS)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _keeps(n, middle, beta) else (middle, high)
    return high


def _keeps(n: int, t: Fraction, beta: Fraction) -> bool:
    """Return whether Q(t) is certainly at most beta."""
    return upper(sharp(_relative_loss, n, t, beta)) <= 1


def _relative_loss(n: int, t: Fraction, beta: Fraction) -> arb:
    return _loss_chance(n, t) / ball(beta)


def _loss_chance(n: int, t: Fraction) -> arb:
    """Return Q(t) = 1 - (1 - (1 - p)**n) / (n p), p = exp(-t): the best loses against n - 1 at gap t."""
    return 1 - _win_chance(n, t)


def _win_chance(n: int, t: Fraction) -> arb:
    p = (-ball(t)).exp()
    return -(n * (-p).log1p()).expm1() / (n * p)


def _slope(n: int, t: Fraction) -> arb:
    """Return the derivative of ln(t * Q(t)): 1 / t + ((1 - p)**(n - 1) - won) / Q."""
    p = (-ball(t)).exp()
    return 1 / ball(t) + (((n - 1) * (-p).log1p()).exp() - _win_chance(n, t)) / _loss_chance(n, t)


def _rises(n: int, t: Fraction) -> bool | None:
    """Return whether t * Q(t) rises at t, or None if it is too flat to tell."""
    slope = sharp(_slope, n, t)
    return None if slope.contains(flint.arb(0)) else bool(slope > 0)


EXPONENTIAL_ERROR = WorstCase(_gibbs_mean, _gibbs_tail)
"""Of the exponential mechanism, and of the noisy max with Gumbel noise, which is the same."""

FLIPS_ERROR = WorstCase(_flips_mean, _flips_tail)
"""Of permute-and-flip, and of the noisy max with exponential noise."""
