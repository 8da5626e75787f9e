"""Low bits: the doubles that Laplace noise can reach from 0 are not those it can reach from 1."""

import math
from bisect import bisect_left
from fractions import Fraction

from flint import arb

from ...sampling.enclosures import NaturalRate
from .. import audit
from .floats import FINE
from .result import AttackResult

TRIES = 1000
_WINDOW = 64
"""Steps looked at around the place that bisection finds, should a logarithm be off by its last bit."""


def unsafe_laplace(value: float, sign: int, k: int) -> float:
    """Return value + sign * noise, with noise = -ln((k + 1) / 2**53): Laplace of scale 1 in doubles."""
    return value - sign * math.log((k + 1) * 2.0**-53)


def is_reachable(answer: float, value: float) -> bool:
    """Return whether any sign and any k lead from the value to exactly this answer."""
    return any(_reaches(answer, value, sign) for sign in (1, -1) if sign * (answer - value) >= 0)


def _reaches(answer: float, value: float, sign: int) -> bool:
    place = bisect_left(
        range(FINE), -sign * answer, key=lambda k: -sign * unsafe_laplace(value, sign, k)
    )
    near = range(max(0, place - _WINDOW), min(FINE, place + _WINDOW))
    return any(unsafe_laplace(value, sign, k) == answer for k in near)


def telling() -> list[float]:
    """Return those of 1,000 answers, evenly spread over the noise on 0, that no noise on 1 leads to."""
    ks = [(2 * i + 1) * FINE // TRIES for i in range(TRIES // 2)]
    answers = [unsafe_laplace(0.0, sign, k) for k in ks for sign in (1, -1)]
    return [answer for answer in answers if not is_reachable(answer, 1.0)]


class NoiseSide:
    """The distribution of whether 0 or 1 with our noise of scale 1 is at most 0: all that the answer tells of them.

    Among the answers at most 0, and among those above, the two have the same distribution.
    """

    def __init__(self, value: int) -> None:
        self._value = value

    def probabilities(self) -> list[arb]:
        """Return balls around the probabilities of an answer at most 0, and above."""
        decay = NaturalRate(Fraction(1)).decay(Fraction(1))
        likelier, other = 1 / (1 + decay), decay / (1 + decay)
        return [other, likelier] if self._value else [likelier, other]


def low_bits_attack() -> AttackResult:
    """Run the attack and return its result."""
    answers = telling()
    once = Fraction(int(bool(answers)), 2 * FINE)
    return AttackResult(
        name="low_bits",
        claim="The Laplace mechanism: a double plus -ln(uniform), with a random sign.",
        naive=(
            f"{len(answers) / TRIES:.0%} of {TRIES:,} answers for the value 0 cannot come from 1, whatever "
            f"the uniform: {answers[0]!r} is one."
        ),
        ours="Noise is drawn on a grid, the same for all values, with its exact distribution.",
        naive_audit=audit.laws([once, 1 - once], [0, 1], epsilon=1),
        our_audit=audit.laws(NoiseSide(0), NoiseSide(1), epsilon=1),
        source="Mironov, CCS 2012",
    )
