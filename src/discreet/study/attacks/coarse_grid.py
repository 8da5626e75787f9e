"""A coarse grid: exact weights, and a sampler that cannot reach the smallest (base 2, as published)."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from ...mechanisms.base2 import Base2, Base2Eta
from ...mechanisms.testing import bit_tree
from ...sampling.categorical import Categorical
from ...sampling.enclosures import DyadicRate
from ...sampling.vectors import read_vector
from .. import audit
from .result import AttackResult

COSTS, NEIGHBOR = [0, 15], [1, 14]
ETA = Base2Eta(1, 1, 1)

_PRECISION = 16
"""The output of the published code for these costs."""


def unsafe_point(costs: Sequence[int], k: int) -> int | None:
    """Return a candidate of weight 2**-cost for the chance bits `k`, or None if the sampler tries again.

    Both defects of the published sampler are kept: its grid is coarser than the weights, and the lowest
    point counts for the first candidate besides its own share.
    """
    ends = list(accumulate(Fraction(1, 2**cost) for cost in costs))
    point = k * Fraction(2) ** (math.ceil(math.log2(ends[-1])) - _PRECISION + 2)
    return next((i for i, end in enumerate(ends) if point <= end), None)


def counts(costs: Sequence[int]) -> list[int]:
    """Return how many of all bit strings lead to the candidates, in order."""
    answers = [unsafe_point(costs, k) for k in range(2 ** (_PRECISION - 1))]
    return [answers.count(i) for i in range(len(costs))]


def encloses(costs: Sequence[int], i: int) -> bool:
    """Return whether enumerating 40 bits of our draw encloses the true probability of candidate i."""
    law = Categorical(read_vector([-cost for cost in costs]), DyadicRate(1, 1, 1))
    truth = Fraction(1, 2 ** costs[i]) / sum(Fraction(1, 2**cost) for cost in costs)
    tree = bit_tree(law.draw, 40)
    mass = tree.masses.get(i, Fraction(0))
    return mass <= truth <= mass + tree.undecided


def coarse_grid_attack() -> AttackResult:
    """Run the attack and return its result."""
    first, second = counts(COSTS), counts(NEIGHBOR)
    laws = [[Fraction(c, sum(strings)) for c in strings] for strings in (first, second)]
    scores = [[-cost for cost in costs] for costs in (COSTS, NEIGHBOR)]
    is_enclosed = all(encloses(costs, 1) for costs in (COSTS, NEIGHBOR))
    return AttackResult(
        name="coarse_grid",
        claim="The base-2 mechanism with exact weights, by its published sampler.",
        naive=(
            f"Candidate 1 has {first[1]} of {sum(first)} strings of bits, for the neighbour "
            f"{second[1]} of {sum(second)}. The truth is 1/32769 and 1/8193."
        ),
        ours=f"Enumerating 40 bits {'encloses' if is_enclosed else 'MISSES'} both true probabilities.",
        naive_audit=audit.laws(*laws, epsilon=ETA.epsilon(2)),
        our_audit=audit.exact(*scores, sensitivity=1, mechanism=Base2(ETA)),
        source="the archived code of Ilvento 2020, python/expmech.py",
    )
