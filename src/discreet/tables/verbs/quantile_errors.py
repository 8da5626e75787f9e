"""How far in rank any of several quantiles may be off, from public numbers alone.

The rank of a value is any number between the records below it and those not above it, on the grid. For proofs, see
docs/how-to/planning.md#the-ranks-of-several-quantiles.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb

from ...mechanisms.joint.joint_quantiles import JointQuantiles
from ...mechanisms.worst_case import EXPONENTIAL_ERROR
from ...privacy.sensitivity import Neighbors
from ...selection.candidates import Grid
from ..engines.column import NOTHING
from ..scores import sorted_records
from ..scores.rank import Rank
from ..scores.sorted_records import fitted_share


def ranks_moved(share: Fraction, neighbors: Neighbors) -> Fraction:
    """Return how many ranks a difference of two scores of a quantile changes between neighbours."""
    spread = Rank(NOTHING, Grid(0, 0), share).sensitivity(neighbors).spread
    return spread / share.denominator


def shares_around(alphas: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Return the alphas on either side of the part that an alpha divides, 0 and 1 being around all."""
    around, places = (Fraction(0), *alphas, Fraction(1)), _places_around(len(alphas))
    return [(around[low], around[high]) for _, (low, high) in sorted(places.items())]


def _places_around(number: int) -> dict[int, tuple[int, int]]:
    """Return by the place of an alpha, from 1 on, the places around the part that it divides, wider parts first."""
    places, parts = dict[int, tuple[int, int]](), [(0, number + 1)]
    for low, high in parts:
        if high - low > 1:
            middle = (low + high + 1) // 2
            places[middle] = low, high
            parts += [(low, middle), (middle, high)]
    return places


def error_at_once(
    alphas: tuple[Fraction, ...], size: int, rate: tuple[Fraction, Neighbors], chance: Fraction
) -> Fraction:
    """Return by how many ranks values drawn at once are off by less than, but for that chance.

    The cut of a value is off by half of the way of the offsets, which is that of the best list and how far the
    score is behind it. The best list has a cut within half a record of each wanted rank.
    """
    epsilon, neighbors = rate
    change = JointQuantiles(alphas, size).sensitivity(neighbors).spread
    lists = comb(size + len(alphas) - 1, len(alphas))
    behind = EXPONENTIAL_ERROR.below(lists, 1 - chance) * change / epsilon
    return (len(alphas) + behind) / 2


def error_one_by_one(
    alphas: tuple[Fraction, ...], size: int, rate: tuple[Fraction, Neighbors], chance: Fraction
) -> Fraction | None:
    """Return by how many ranks values drawn one by one and sorted are off by less than, but for that chance."""
    if any(fitted_share(alpha) != alpha for alpha in alphas):
        return None
    epsilon, neighbors = rate
    behind = EXPONENTIAL_ERROR.below(size, 1 - chance / len(alphas)) / epsilon
    return behind * max(ranks_moved(alpha, neighbors) for alpha in alphas)


def error_by_parts(
    alphas: tuple[Fraction, ...], size: int, epsilon: Fraction, chance: Fraction
) -> Fraction | None:
    """Return by how many ranks values drawn from parts of the records are off by less than, but for that chance.

    None if a share of a part is rounded, which moves the rank by a share of all records.

    Args:
        alphas: the shares of the records below the values.
        size: how many points the grid has.
        epsilon: that of one value, under "add_remove".
        chance: of a larger error.
    """
    around, off = (
        (Fraction(0), *alphas, Fraction(1)),
        {0: Fraction(0), len(alphas) + 1: Fraction(0)},
    )
    for place, (low, high) in _places_around(len(alphas)).items():
        is_last = (low, high) == (place - 1, place + 1)  # it cuts nothing
        share = (around[place] - around[low]) / (around[high] - around[low])
        if fitted_share(share) != share:
            return None
        points = size if is_last else size * sorted_records.PARTS
        behind = EXPONENTIAL_ERROR.below(points, 1 - chance / len(alphas)) / epsilon
        # A cut is a whole number of records, and the wanted one may be half a record from it.
        own = behind * ranks_moved(share, "add_remove") + (0 if is_last else Fraction(1, 2))
        off[place] = (1 - share) * off[low] + share * off[high] + own
    return max(off.values())
