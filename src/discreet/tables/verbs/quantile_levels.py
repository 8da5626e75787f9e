"""The levels of several quantiles: how each is drawn, and their promise, from public numbers.

How far in rank a value may be off is told too. The rank of a value is any number between the records below it and
those not above it, on the grid. For proofs, see docs/how-to/planning.md#the-ranks-of-several-quantiles.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb
from typing import Any

from ...base.arguments import exact_text, read_sequence
from ...base.numbers import Number, exact, spell
from ...errors import InvalidArgument, InvalidNumber, preview
from ...mechanisms.accuracy import CONFIDENCE, RANKS_OF_QUANTILES, ErrorBound, bound_up
from ...mechanisms.contract import Calibrated, PrivacyParameter, calibrate
from ...mechanisms.exponential import Exponential
from ...mechanisms.joint.joint_quantiles import JointQuantiles
from ...mechanisms.worst_case import EXPONENTIAL_ERROR
from ...privacy.calibration import largest_share
from ...privacy.guarantees import ApproxDP, BoundedRange, Guarantee, MixedRange, SummedRange
from ...privacy.sensitivity import Neighbors
from ...sampling.bits import Bits, SystemBits
from ...sampling.runs import Runs
from ...selection.candidates import Grid
from ...selection.date_grid import AnyGrid
from ...selection.question import ask
from ...selection.terms import Terms
from ..engines.column import NOTHING
from ..scores import sorted_records
from ..scores.rank import Rank
from ..scores.sorted_places import RankDraws, SortedPlaces
from ..scores.sorted_records import Slice, SortedRecords, fitted_share
from .record_needs import needed_records

_MOST_QUANTILES = 1000
"""More quantiles than that are better asked as a histogram."""


@lru_cache(maxsize=256)
def _share(
    kind: Callable[[Fraction, Neighbors], Guarantee],
    answers: int,
    together: ApproxDP,
    *,
    adaptive: bool,
) -> Fraction:
    """Return the epsilon of one of so many answers of a kind, kept for the next call."""

    def guarantee(share: Fraction) -> Guarantee:
        return kind(share, together.neighbors)

    return largest_share(guarantee, answers, together.epsilon, together.delta, adaptive=adaptive)


def _read_epsilon(candidates: AnyGrid, terms: Terms) -> tuple[Fraction, Neighbors]:
    """Return the epsilon of all values together and the neighbouring relation, after a check of all terms."""
    question = ask(Rank(NOTHING, candidates, Fraction(1, 2)), terms)
    if terms.get("epsilon") is None:
        raise InvalidArgument("several quantiles take epsilon, not rho or scale")
    guarantee: Any = question.calibrated.guarantee
    return guarantee.epsilon, guarantee.neighbors


@lru_cache(maxsize=256, typed=True)
def _plain_epsilon(epsilon: Any, neighbors: Any) -> tuple[Fraction, Neighbors]:
    """Return the same for terms that say no more, kept for the next call."""
    return _read_epsilon(Grid(0, 1), {"epsilon": epsilon, "neighbors": neighbors})


def _read_plain(terms: Terms) -> tuple[Fraction, Neighbors] | None:
    """Return the same from the cache, or None for terms that say more or are of types of any behaviour."""
    epsilon, neighbors = terms.get("epsilon"), terms.get("neighbors", "add_remove")
    names = terms.keys() - ({"privacy_unit"} if terms.get("privacy_unit") is None else ())
    plain = type(epsilon) in _PLAIN_TYPES and type(neighbors) in _PLAIN_TYPES
    return _plain_epsilon(epsilon, neighbors) if plain and names <= _PLAIN_TERMS else None


_PLAIN_TERMS = {"epsilon", "neighbors"}
_PLAIN_TYPES = {int, float, str, Fraction}
"""Types whose values cannot change, and whose equality is Python's own."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The public side of the recursion: the alphas, the epsilon of all answers, and the neighbouring relation."""

    alphas: tuple[Fraction, ...]
    total: Fraction
    neighbors: Neighbors
    delta: Fraction | None = None
    share: Fraction | None = None
    """The epsilon of a level (or of a value, if they are independent) that a delta allows."""

    def allowing(self, delta: Fraction, method: str) -> "Levels":
        """Return the levels with the share that a delta allows."""
        recursive = method == "recursive"
        together = ApproxDP(self.total, delta, self.neighbors)
        kind: Any = self._kind if recursive else BoundedRange
        answers = self.depth if recursive else len(self.alphas)
        share = _share(kind, answers, together, adaptive=recursive)
        return replace(self, delta=delta, share=share)

    @property
    def depth(self) -> int:
        """How many levels there are."""
        return len(self.alphas).bit_length()

    @property
    def epsilon(self) -> Fraction:
        """The epsilon of one answer, under add_remove.

        A record replaced may leave one part and enter another, so one part may cost half of the level.
        """
        level = self.total / self.depth if self.share is None else self.share
        return level / (2 if self.neighbors == "replace_one" else 1)

    @property
    def guarantee(self) -> Guarantee:
        """A bounded range per level, composed adaptively; or (epsilon, delta)-DP at a given delta."""
        if self.delta is not None:
            return ApproxDP(self.total, self.delta, self.neighbors)
        return self._kind(self.total / self.depth, self.neighbors).repeated(self.depth)

    @property
    def guarantee_of_each(self) -> Guarantee:
        """A bounded range per value, all of the same records; or (epsilon, delta)-DP at a given delta."""
        if self.delta is not None:
            return ApproxDP(self.total, self.delta, self.neighbors)
        return BoundedRange(self._one_of_all, self.neighbors).repeated(len(self.alphas))

    @property
    def _kind(self) -> type[MixedRange | SummedRange]:
        """The kind of the guarantee of a level.

        A record replaced may change two parts of a level: two ranges, one after the other.
        """
        is_parted = self.neighbors == "replace_one" and self.depth > 1
        return SummedRange if is_parted else MixedRange

    @property
    def _one_of_all(self) -> Fraction:
        """The epsilon of one of several independent values."""
        return self.total / len(self.alphas) if self.share is None else self.share

    @classmethod
    def read(cls, alphas: Sequence[Number], candidates: object, terms: Terms) -> "Levels":
        """Return the levels for the arguments of a caller.

        Raises:
            InvalidArgument: if it cannot be accepted.
        """
        shares = tuple(
            exact(alpha, "alpha") for alpha in read_sequence(alphas, "alphas", _MOST_QUANTILES)
        )
        rising = all(low < high for low, high in pairwise(shares))
        if not shares or not rising or shares[0] < 0 or shares[-1] > 1:
            raise InvalidNumber(
                "alphas must rise from 0 to 1, such as 0.25, 0.5, 0.75, got "
                f"{', '.join(map(spell, shares[:9])) or 'none'}"
            )
        if not isinstance(candidates, AnyGrid):
            raise InvalidArgument(
                "candidates of several quantiles must be a Grid, or a DateGrid, got "
                f"{preview(candidates)}"
            )
        if exact_text(terms.get("mechanism", "exponential")) != "exponential":
            raise InvalidArgument(
                "several quantiles take the exponential mechanism. Leave out mechanism"
            )
        epsilon, neighbors = _read_plain(terms) or _read_epsilon(candidates, terms)
        return cls(shares, epsilon, neighbors)

    def needed_records(self, size: int, method: str) -> int:
        """Return about how many records keep all values among them, on so many points: see `record_needs`.

        The value of an alpha is beyond the records of its part where it is by the distance of the alpha from the
        nearer end of the part in ranks off, of all records.
        """
        if method == "joint":
            cells = [b - a for a, b in pairwise((Fraction(0), *self.alphas, Fraction(1)))]
            change = JointQuantiles(self.alphas, size).sensitivity(self.neighbors).spread
            tuples = comb(size + len(self.alphas) - 1, len(self.alphas))
            return needed_records(tuples, self.total, change, min(cells))
        return max(self.needed_by_alpha(size, method))

    def needed_by_alpha(self, size: int, method: str) -> list[int]:
        """Return about how many records keep the value of each alpha among them, drawn by parts or one by one."""
        by_parts = method == "recursive"
        ends = (
            shares_around(self.alphas)
            if by_parts
            else [(Fraction(0), Fraction(1))] * len(self.alphas)
        )
        epsilon = self.epsilon if by_parts else self._one_of_all
        return [
            needed_records(
                size,
                epsilon,
                ranks_moved(
                    (alpha - below) / (above - below), "add_remove" if by_parts else self.neighbors
                ),
                min(alpha - below, above - alpha),
            )
            for alpha, (below, above) in zip(self.alphas, ends, strict=True)
        ]

    def error_below(self, size: int, method: str, lists: int) -> ErrorBound | None:
        """Return a bound on how far in rank any value of so many lists is off; None where none is known."""
        chance = (1 - CONFIDENCE) / lists
        if method == "recursive":
            error = error_by_parts(self.alphas, size, self.epsilon, chance)
        elif method == "joint":
            error = error_at_once(self.alphas, size, (self.total, self.neighbors), chance)
        else:
            rate = self._one_of_all, self.neighbors
            error = error_one_by_one(self.alphas, size, rate, chance)
        return None if error is None else bound_up(error, RANKS_OF_QUANTILES)

    def recursive(self, size: int, records: SortedRecords) -> list[int]:
        """Return the quantiles by recursion."""
        values = self.branches
        answers, bits = values.at_once(records, size, sorted_records.PARTS)
        if answers is not None:
            return answers
        return _release(values, records.whole(size), (0, len(values)), bits)

    def independent(self, size: int, records: SortedRecords) -> list[int]:
        """Return the quantiles one by one at equal shares of epsilon, in ascending order."""
        values = self.of_each
        answers, bits = values.at_once(records, size, 0)
        if answers is not None:
            return sorted(answers)
        whole = records.whole(size)
        return sorted(one.draw(whole.rank_scores, bits) for one in values)

    @property
    def of_each(self) -> "_Values":
        """How the value of an alpha is drawn from all records."""
        return _values_of_each(self.alphas, self._one_of_all, self.neighbors)

    @property
    def branches(self) -> "_Values":
        """How the value of an alpha is drawn from its part of the records."""
        return _branches(self.alphas, self.epsilon)


@dataclass(frozen=True, slots=True)
class _Value:
    """How one value is drawn: the quantile of a slice, and the exponential mechanism for it. Public."""

    share: Fraction
    calibrated: Calibrated

    def draw(self, scores: Callable[[Fraction, Fraction], Runs], bits: Bits) -> int:
        """Return a draw of the mechanism from the scores for its share of the records."""
        return self.calibrated.law(scores(self.share, self.calibrated.cutoff_gap)).draw(bits)


def _release(values: Sequence[_Value], part: Slice, ends: tuple[int, int], bits: Bits) -> list[int]:
    """Return the values for the alphas from one up to another, from their part of the records."""
    lowest, highest = ends
    if lowest == highest:
        return []
    middle = (lowest + highest) // 2
    if highest - lowest == 1:
        return [part.first + values[middle].draw(part.rank_scores, bits)]
    # Coq: Rank.level_parts
    before, after = part.cut(values[middle].draw(part.cut_scores, bits))
    return [
        *_release(values, before, (lowest, middle), bits),
        after.first,
        *_release(values, after, (middle + 1, highest), bits),
    ]


@lru_cache(maxsize=256)
def _branches(alphas: tuple[Fraction, ...], epsilon: Fraction) -> "_Values":
    """Return how the values of alphas are drawn from parts of the records, kept for the next call.

    The share of an alpha is the one relative to the alphas on either side of its part.
    """
    shares = [
        fitted_share((alpha - below) / (above - below))
        for alpha, (below, above) in zip(alphas, shares_around(alphas), strict=True)
    ]
    return _values(shares, epsilon, "add_remove")


@lru_cache(maxsize=256)
def _values_of_each(
    alphas: tuple[Fraction, ...], epsilon: Fraction, neighbors: Neighbors
) -> "_Values":
    """Return how the values of alphas are drawn from all records, kept for the next call."""
    return _values([*map(fitted_share, alphas)], epsilon, neighbors)


class _Values(tuple[_Value, ...]):
    """How several values are drawn; kept for the next call, so that one object stands for one way. Public."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def at_once(
        self, records: SortedRecords, size: int, parts: int
    ) -> tuple[list[int] | None, Bits]:
        """Return the values in one call of C, or None where that is open, and the source of bits from there."""
        bits = SystemBits()
        if not isinstance(records, SortedPlaces):
            return None, bits
        draws = _rank_draws(self, size, parts)
        return (None, bits) if draws is None else records.draw(draws, bits)


@lru_cache(maxsize=256)
def _rank_draws(values: _Values, size: int, parts: int) -> RankDraws | None:
    """Return how values on so many points are drawn in C, kept for the next call."""
    shares, rates = zip(*((one.share, one.calibrated.rate) for one in values), strict=True)
    return RankDraws.of(shares, rates, size, parts)


def _values(shares: Sequence[Fraction], epsilon: Fraction, neighbors: Neighbors) -> _Values:
    """Return how the values of some shares are drawn at that epsilon."""
    parameter = PrivacyParameter("epsilon", epsilon)
    return _Values(
        _Value(
            share,
            calibrate(
                Exponential(), Rank(NOTHING, Grid(0, 0), share).sensitivity(neighbors), parameter
            ),
        )
        for share in shares
    )


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
