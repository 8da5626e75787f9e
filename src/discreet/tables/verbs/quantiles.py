"""quantiles: several at once, for less than one after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from math import comb
from typing import Any, Literal, TypeVar, Unpack, get_args, overload

from ...base.arguments import choice, column_name, exact_text, read_sequence
from ...base.doors import spelling
from ...base.numbers import Number, exact, spell
from ...errors import InvalidArgument, InvalidNumber, preview
from ...mechanisms.accuracy import CONFIDENCE, RANKS_OF_QUANTILES, ErrorBound, bound_up
from ...mechanisms.contract import Calibrated, PrivacyParameter, calibrate
from ...mechanisms.exponential import Exponential
from ...mechanisms.joint.grid_records import GridRecords
from ...mechanisms.joint.joint_quantiles import JointQuantiles
from ...mechanisms.joint.tuple_law import JointLaw
from ...privacy.calibration import largest_share, read_share
from ...privacy.guarantees import ApproxDP, BoundedRange, Guarantee, MixedRange, SummedRange
from ...privacy.sensitivity import Neighbors
from ...sampling.bits import Bits, SystemBits
from ...sampling.runs import Runs
from ...selection.candidates import Grid
from ...selection.date_grid import AnyGrid, DateGrid, clock_of_candidates, number_grid
from ...selection.decimals import Decimals
from ...selection.question import Order, Query, answers_at, ask
from ...selection.releases import Release
from ...selection.terms import AnswerTerms, RecordTerms, Terms, read_payment
from ..engines.column import NOTHING, Numeric
from ..scores.rank import Rank
from ..scores.rank_search import distinct_indices
from ..scores.sorted_places import RankDraws, SortedPlaces
from ..scores.sorted_records import PARTS, Slice, SortedRecords, fitted_share
from .data_terms import takes_data_terms_without
from .private_groups import delta_of_method
from .quantile_errors import (
    error_at_once,
    error_by_parts,
    error_one_by_one,
    ranks_moved,
    shares_around,
)
from .quantile_lists import QuantileLists
from .record_needs import needed_records, refuse_ends, say_needs
from .units import UnitQuery, columns_of, read_unit_query

_T = TypeVar("_T")

DrawIndices = Callable[[], list[int]]

QuantilesMethod = Literal["recursive", "joint", "independent"]


@overload
def quantiles(
    data: object,
    column: str | None = None,
    *,
    alphas: Sequence[Number],
    candidates: Grid[_T] | DateGrid[_T],
    method: QuantilesMethod = "recursive",
    delta: Number | None = None,
    max_contributions: int = ...,
    **terms: Unpack[AnswerTerms],
) -> Release[list[_T]]: ...


@overload
def quantiles(
    data: object,
    column: str | None = None,
    *,
    alphas: Sequence[Number],
    candidates: AnyGrid | None = None,
    method: QuantilesMethod = "recursive",
    **terms: Unpack[RecordTerms],
) -> Release: ...


@takes_data_terms_without("rho", "scale", "mechanism")
def quantiles(  # what quantile takes, and how
    data: object,
    column: str | None = None,
    *,
    alphas: Sequence[Number],
    candidates: AnyGrid | None = None,
    method: QuantilesMethod = "recursive",
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release one value per alpha, in the order of the alphas.

    By recursion, the middle alpha is released first. It splits records and grid in two, and both halves continue
    with the alphas on their side. A record is in one part of a level, so a level costs as much as one quantile, and
    m alphas cost as much as the ceiling of log2(m + 1) levels. Records tied at the value may go either way.

    Args:
        alphas: the shares of the records below, between 0 and 1, ascending and distinct.
        candidates: the possible answers, a `Grid` of any size in units of the data, or a `DateGrid`, public. Not
            needed for a `Dataset` that declares the bounds of the column. Without them, the answers are among all
            decimals with three significant digits, and the number of records that this needs is shown before you
            pay.
        method: "recursive" works as described. "joint" is one exponential mechanism over all non-descending tuples,
            which is often more accurate, in time that grows with the square of the number of alphas. "independent"
            releases one value after the other.
        delta: the δ of all values together, a probability below 1 such as "1e-6". They are then (ε, δ)-DP, and a
            level (or a value, with "independent") gets as much as the library's bound on composition allows.
            Computing it takes up to a few seconds. Not with "joint", a privacy unit or groups. With
            groups="private", it is the δ of the groups.
        epsilon: the privacy parameter ε of all values together, a positive number without a unit. It is read
            exactly, so 0.1 is one tenth. You must pass it. It is divided among the rows of a privacy unit.
        **terms: the shared arguments, described in `RecordTerms`.

    Returns:
        The values, never descending. All of them together are epsilon-DP or, with a delta, (epsilon, delta)-DP.

    Side channels: those of `quantile`, once per alpha. Here an engine that counts on the grid sends at most two
    counts per point with records, and distinct numbers at borders. See docs/reference/tables.md. With the kernel,
    records in memory on a grid of fewer than 2**31 points are sorted in the same steps for all data. Otherwise the
    time depends on how many are equal.

    Source: Kaplan, Schnapp and Stemmer, ICML 2022, https://arxiv.org/abs/2110.05429. Proof:
    docs/reference/scores/of_tables.md#rank.
    """
    way = choice(method, "method", get_args(QuantilesMethod))
    grid = Decimals() if candidates is None else candidates
    column = None if column is None else column_name(column)
    others, delta = delta_of_method(terms)
    unit_query = read_unit_query(others, bounded=True)
    levels = _read_levels(alphas, grid, way, unit_query, delta)
    if candidates is None:
        _check_ends(levels)
        say_needs(levels.needed_records(grid.size, way), column, unit_query.records.by)
    guarantee, mechanism, draws_of = _method(way, levels, grid)
    columns = columns_of(unit_query, data, column, clock_of_candidates(grid))
    if not unit_query.plain:
        guarantee = unit_query.together(guarantee.group(unit_query.records.rows or 1))

    def ready(column: Numeric) -> DrawIndices:
        return draws_of(_sorted(column, grid))

    query = unit_query.asks(_query(levels, column, grid, way))
    details = partial(_details, levels, grid)
    unit = unit_query.records.unit
    has_lists = way != "joint" and unit_query.records.by is None
    lists = partial(_lists_of, levels, columns[0], grid, way) if has_lists else None
    public = query, guarantee, mechanism, details
    order = Order(
        *public, *read_payment(unit_query.terms), unit=unit, lists=lists, digits=getattr(grid, "digits", None),
        worst_error=partial(levels.error_below, grid.size, way, unit_query.group_count),
    )  # fmt: skip
    prepare = partial(unit_query.prepare, columns, ready)
    return order.deliver(prepare, unit_query.label(partial(_name, grid), None))


def _read_levels(
    alphas: Sequence[Number], grid: AnyGrid, way: str, unit_query: UnitQuery, delta: object
) -> "Levels":
    """Return the levels of the alphas, with the share that a delta allows if one is given."""
    levels = Levels.read(alphas, grid, _of_one_row(unit_query))
    return levels if delta is None else levels.allowing(_read_delta(delta, way, unit_query), way)


def _check_ends(levels: "Levels") -> None:
    """Raise if the lowest or the highest alpha is an end, which has no answer without bounds."""
    refuse_ends(levels.alphas[0])
    refuse_ends(levels.alphas[-1])


def _name(grid: AnyGrid, indices: Any, _: int | None) -> object:
    """Return the values at the indices, in any group."""
    return answers_at(indices, grid)


def _lists_of(levels: "Levels", column: Numeric, grid: AnyGrid, way: str) -> QuantileLists:
    """Return the lists of values with their probabilities, which are private."""
    is_recursive = way == "recursive"
    values = levels.branches if is_recursive else levels.of_each
    return QuantileLists(values, _sorted(column, grid).whole(grid.size), is_recursive)


def _query(levels: "Levels", column: str | None, candidates: AnyGrid, method: str) -> Query:
    """Return the query, in words and in public values."""
    shares = ", ".join(map(str, levels.alphas))
    facts = {"column": column, "shares": shares, **candidates.facts}
    public = {"column": column, "alphas": levels.alphas, "method": method}
    return Query("quantiles", facts, public)


def _details(levels: "Levels", candidates: AnyGrid) -> dict[str, object]:
    """Return the rest of the description that decides the distribution, for a digest."""
    return {
        "candidates": candidates.description,
        "privacy_parameter": {"epsilon": levels.total},
        **({} if levels.delta is None else {"delta": levels.delta}),
    }


def _read_delta(delta: object, method: str, unit_query: UnitQuery) -> Fraction:
    """Return the delta of all values together.

    Raises:
        InvalidArgument: if it is none, or nothing is known or gained by it.
    """
    if method == "joint":
        raise InvalidArgument(
            f"{spelling(method='joint')} draws all values at once, so delta gains nothing: leave "
            "it out"
        )
    if not unit_query.plain:
        raise InvalidArgument(
            "delta is for records without groups and units of several: leave out delta, or by and privacy_unit"
        )
    return read_share(delta)


def _sorted(column: Numeric, candidates: AnyGrid) -> SortedRecords:
    """Return the records on the grid, sorted once for all alphas."""
    grid = number_grid(candidates, column)
    source = column.on_grid(grid)
    if source is not None:
        return SortedRecords.of(*distinct_indices(*source.occupancy(grid.nearest)))
    values, counts = column.numbers()
    if counts is not None:
        return SortedRecords.of(*distinct_indices(grid.nearest(values), counts))
    places = SortedPlaces.on(grid, values)
    return SortedRecords.at(grid.nearest(values), grid.size) if places is None else places


def _of_one_row(unit_query: UnitQuery) -> Terms:
    """Return the terms at which one row that comes or goes costs its share of epsilon.

    A unit comes with `rows` rows, and one replaced is one that goes and one that comes. The privacy unit is
    left out: the guarantee for a unit follows by group privacy from the one for a row.
    """
    terms: Terms = {**unit_query.terms, "privacy_unit": None}
    epsilon = terms.get("epsilon")
    if unit_query.plain or epsilon is None:
        return terms
    rows = unit_query.records.rows or 1
    steps = 2 if terms.get("neighbors") == "replace_one" else 1
    return {
        **terms,
        "epsilon": exact(epsilon, "epsilon") / (rows * steps),
        "neighbors": "add_remove",
    }


def _method(
    method: str, levels: "Levels", candidates: AnyGrid
) -> tuple[Guarantee, str, Callable[[SortedRecords], DrawIndices]]:
    """Return the guarantee, the mechanism, and a function from the records to one that draws."""
    if method == "joint":
        public = levels.alphas, candidates.size, levels.neighbors, levels.total
        calibrated = _joint_calibration(*public)
        joint: Any = calibrated.law
        return calibrated.guarantee, "joint_quantiles", partial(_jointly, joint, candidates.size)
    if method == "independent":
        independent = partial(partial, levels.independent, candidates.size)
        return levels.guarantee_of_each, "exponential", independent
    return levels.guarantee, "exponential", partial(partial, levels.recursive, candidates.size)


@lru_cache(maxsize=256)
def _joint_calibration(
    alphas: tuple[Fraction, ...], size: int, neighbors: Neighbors, epsilon: Fraction
) -> Calibrated:
    """Return the mechanism of all quantiles at once, kept for the next call."""
    parameter = PrivacyParameter("epsilon", epsilon)
    return JointQuantiles(alphas, size).calibrate(neighbors, parameter)


def _jointly(law: Callable[..., JointLaw], size: int, records: SortedRecords) -> DrawIndices:
    """Return a function that draws all quantiles of the records at once, from a distribution computed once."""
    if isinstance(records, SortedPlaces):
        distribution = law(GridRecords(records.ascending, size))
    else:
        distribution = law(records.points, records.counts)
    return lambda: distribution.draw(SystemBits())


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
        answers, bits = values.at_once(records, size, PARTS)
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
