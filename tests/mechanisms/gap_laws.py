"""What the tests of gaps share: the mechanisms, and the law of winner and gap from shifted scores.

That candidate i wins by more than x is that it wins after its score is x lower: P(i, G > x; s) = P(i; s - x e_i).
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb

from discreet.mechanisms import Exponential, NoisyMax, PermuteAndFlip
from discreet.mechanisms.contract import PrivacyParameter, calibrate
from discreet.mechanisms.gap import WithGap
from discreet.privacy.sensitivity import Sensitivity
from discreet.sampling.vectors import read_vector

UNIT_SPREAD = Sensitivity(Fraction(1), "add_remove")

KINDS: dict[str, Any] = {
    "exponential": Exponential(),
    "permute_and_flip": PermuteAndFlip(),
    "laplace": NoisyMax(),
}


def gap_law(mechanism: Any, scores: Sequence[Any], epsilon: Fraction = Fraction(1)) -> Any:
    """Return the law of [index, steps] for scores of spread 1."""
    calibrated = calibrate(WithGap(mechanism), UNIT_SPREAD, PrivacyParameter("epsilon", epsilon))
    return calibrated.law(read_vector(scores))


def winners(mechanism: Any, scores: Sequence[Any], epsilon: Fraction = Fraction(1)) -> list[arb]:
    """Return balls around the probabilities of the answers without gaps."""
    calibrated = calibrate(mechanism, UNIT_SPREAD, PrivacyParameter("epsilon", epsilon))
    return calibrated.law(read_vector(scores)).probabilities()


def tail(mechanism: Any, scores: Sequence[Fraction], i: int, least: Fraction) -> arb:
    """Return a ball around the probability that i wins by more than `least`."""
    return winners(mechanism, [s - least * (j == i) for j, s in enumerate(scores)])[i]


def cells(mechanism: Any, scores: Sequence[Fraction], ends: Sequence[Fraction]) -> list[list[arb]]:
    """Return balls around P(winner, gap from an end to the next), the last cell without an end."""
    rows = []
    for i in range(len(scores)):
        tails = [tail(mechanism, scores, i, end) for end in ends] + [arb(0)]
        rows.append([one - other for one, other in pairwise(tails)])
    return rows
