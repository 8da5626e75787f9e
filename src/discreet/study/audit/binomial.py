"""Exact binomial confidence bounds (Clopper-Pearson), certified by ball arithmetic."""

from fractions import Fraction
from math import comb

from flint import arb

from ...sampling.enclosures import ball, precision

_DENOMINATOR_BITS = 40
"""A bound is given as a multiple of 2**-40, rounded outwards."""

_BINOMIAL_PRECISION = 80


def fair_tail(successes: int, trials: int) -> Fraction:
    """Return P(X >= successes) for X the number of heads of a fair coin, exactly."""
    return Fraction(sum(comb(trials, k) for k in range(successes, trials + 1)), 2**trials)


def at_least(successes: int, trials: int, risk: Fraction) -> Fraction:
    """Return a number that the probability of success is below with probability at most `risk`.

    It is the largest p with P(X >= successes) <= risk, rounded down: if the true probability is lower
    still, so many successes are rarer than `risk` (Clopper and Pearson 1934).
    """
    if successes == 0:
        return Fraction(0)
    below = Fraction(0)
    with precision(_BINOMIAL_PRECISION):
        limit = ball(risk)
        for step in range(1, _DENOMINATOR_BITS + 1):
            p = below + Fraction(1, 2**step)
            if _tail(successes, trials, p) <= limit:
                below = p
    return below


def at_most(successes: int, trials: int, risk: Fraction) -> Fraction:
    """Return a number that the probability of success is above with probability at most `risk`."""
    return 1 - at_least(trials - successes, trials, risk)


def _tail(successes: int, trials: int, p: Fraction) -> arb:
    """Return a ball around P(X >= successes), successes > 0: a regularised incomplete beta function of p."""
    return ball(p).beta_lower(successes, trials - successes + 1, 1)
