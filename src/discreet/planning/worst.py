"""What the data cannot make worse: errors that a mechanism keeps whatever the scores are.

The gap vectors that are worst, and why: docs/planning.md. All constants are in units of spread / epsilon.
"""

from collections.abc import Callable
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from ..enclosures import ball, upper
from ..errors import InvalidArgument, InvalidNumber, UnknownName, shown
from ..mechanisms import Exponential, Mechanism, NoisyMax, PermuteAndFlip, read_mechanism
from ..numbers import Number, count, exact, positive, positive_up
from .enclosure import decimal, sharp

_DIGITS = 12
_STEPS = 100


class Worst(NamedTuple):
    """What one mechanism does on its worst scores, both as functions of the number of candidates."""

    mean: Callable[[int], Fraction]
    """No less than the mean error."""
    tail: Callable[[int, Fraction], Fraction]
    """No less than the error that is exceeded or met with probability at most beta."""


def worst_error(
    candidates: int,
    *,
    spread: Number,
    epsilon: Number,
    mechanism: str | Mechanism = "exponential",
    confidence: Number | None = None,
) -> Fraction:
    """Return the expected error on the worst of all scores, or one that holds with a given confidence.

    An error is by how much the answer's score is behind the best one. No data are needed.

    Args:
        candidates: how many there are, at least 1 and as many as one likes.
        spread: the largest change of a score difference: twice the sensitivity, or once if monotonic.
        epsilon: how much privacy an answer may cost.
        mechanism: exponential, permute_and_flip, or the noisy max with Gumbel or exponential noise, which
            equal them.
        confidence: if given, the probability with which the error is less than what is returned.

    Returns:
        The error in units of the score, rounded up to 12 digits: for the exponential mechanism and
        permute-and-flip no smaller number is true of all scores, but for that rounding.

    Raises:
        InvalidArgument: if an argument cannot be accepted.
    """
    constant = _constant(candidates, mechanism, confidence)
    return _up(constant * positive_up(spread, "spread") / positive(epsilon, "epsilon"))


def epsilon_for(
    error: Number,
    candidates: int,
    *,
    spread: Number,
    mechanism: str | Mechanism = "exponential",
    confidence: Number | None = None,
) -> Fraction:
    """Return the epsilon that keeps the error whatever the scores: the inverse of `worst_error`.

    Args:
        error: what the expected error must not exceed; with `confidence`, what the error must stay below.
        candidates: how many there are.
        spread: the largest change of a score difference: twice the sensitivity, or once if monotonic.
        mechanism: as for `worst_error`.
        confidence: with what probability the error must stay below `error`.

    Returns:
        The least such epsilon, rounded up to 12 digits.

    Raises:
        InvalidArgument: if an argument cannot be accepted, or any epsilon whatsoever keeps the error.
    """
    wanted = positive(error, "error")
    constant = _constant(candidates, mechanism, confidence)
    if constant == 0:
        raise InvalidArgument(
            f"a blind guess among {shown(candidates)} candidates is good enough already; ask for more"
        )
    return _up(constant * positive_up(spread, "spread") / wanted)


def _constant(candidates: int, mechanism: str | Mechanism, confidence: Number | None) -> Fraction:
    """Return the worst error in units of spread / epsilon."""
    worst, n = _worst(read_mechanism(mechanism)), count(candidates, "candidates")
    if confidence is None:
        return worst.mean(n)
    share = exact(confidence, "confidence")
    if not 0 < share < 1:
        raise InvalidNumber(f"confidence must be above 0 and below 1, got {shown(confidence)}")
    # A blind guess is wrong with probability 1 - 1 / n at most.
    return Fraction(0) if n * share <= 1 else worst.tail(n, 1 - share)


def _gibbs_mean(n: int) -> Fraction:
    """Return W((n - 1) / e), with Lambert's W: the largest of ln(1/p) (n-1) p / (1 + (n-1) p)."""
    return upper(sharp(lambda: ((n - 1) / arb(1).exp()).lambertw())) if n > 1 else Fraction(0)


def _gibbs_tail(n: int, beta: Fraction) -> Fraction:
    """Return ln((n - 1) (1 - beta) / beta), where n - 1 candidates together weigh beta / (1 - beta)."""
    return max(Fraction(0), upper(sharp(lambda: ball((n - 1) * (1 - beta) / beta).log())))


def _flips_mean(n: int) -> Fraction:
    """Return the largest of t * Q(t) over t > 0, whose logarithm is concave."""
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
    # A concave function is below its tangents.
    return upper(
        sharp(lambda: ball(t) * _lost(n, t) * (abs(_slope(n, t)) * ball(high - low)).exp())
    )


def _flips_tail(n: int, beta: Fraction) -> Fraction:
    """Return a t with Q(t) <= beta, nearly the least. The exponential mechanism's is no less."""
    low, high = Fraction(0), _gibbs_tail(n, beta) + Fraction(1, 2**_STEPS)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _keeps(n, middle, beta) else (middle, high)
    return high


def _keeps(n: int, t: Fraction, beta: Fraction) -> bool:
    """Return whether Q(t) is certainly at most beta."""
    return upper(sharp(lambda: _lost(n, t) / ball(beta))) <= 1


def _lost(n: int, t: Fraction) -> arb:
    """Return Q(t) = 1 - (1 - (1 - p)**n) / (n p), p = exp(-t): the best loses against n - 1 at gap t."""
    return 1 - _won(n, t)


def _won(n: int, t: Fraction) -> arb:
    p = (-ball(t)).exp()
    return -(n * (-p).log1p()).expm1() / (n * p)


def _slope(n: int, t: Fraction) -> arb:
    """Return the derivative of ln(t * Q(t)): 1 / t + ((1 - p)**(n - 1) - won) / Q."""
    p = (-ball(t)).exp()
    return 1 / ball(t) + (((n - 1) * (-p).log1p()).exp() - _won(n, t)) / _lost(n, t)


def _rises(n: int, t: Fraction) -> bool | None:
    """Return whether t * Q(t) rises at t; None if it is too flat to tell."""
    slope = sharp(lambda: _slope(n, t))
    return None if slope.contains(arb(0)) else bool(slope > 0)


def _up(value: Fraction) -> Fraction:
    return Fraction(decimal(value, _DIGITS, ROUND_CEILING))


_GIBBS, _FLIPS = Worst(_gibbs_mean, _gibbs_tail), Worst(_flips_mean, _flips_tail)
_KNOWN: list[tuple[Mechanism, Worst]] = [
    (Exponential(), _GIBBS),
    (NoisyMax("gumbel"), _GIBBS),
    (PermuteAndFlip(), _FLIPS),
    (NoisyMax("exponential"), _FLIPS),
]


def _worst(mechanism: Mechanism) -> Worst:
    """Return what is known of a mechanism."""
    for known, worst in _KNOWN:
        if mechanism == known:
            return worst
    names = ", ".join(known.name for known, _ in _KNOWN)
    raise UnknownName(
        f"the worst error is known for {names}; for others, compare on sample scores; got {mechanism}"
    )
