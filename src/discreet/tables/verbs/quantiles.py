"""quantiles: several at once, for less than one after the other."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from typing import Any, Literal, TypeVar, Unpack, get_args, overload

from flint import arb

from ...base.arguments import choice
from ...base.doors import spelling
from ...base.numbers import Number, exact
from ...errors import InvalidArgument
from ...mechanisms.contract import Calibrated, PrivacyParameter
from ...mechanisms.joint.grid_records import GridRecords
from ...mechanisms.joint.joint_quantiles import JointQuantiles
from ...mechanisms.joint.tuple_law import JointLaw
from ...privacy.calibration import read_share
from ...privacy.guarantees import Guarantee
from ...privacy.sensitivity import Neighbors
from ...sampling.bits import SystemBits
from ...sampling.runs import Runs
from ...selection.answers import ListedAnswers
from ...selection.candidates import Grid
from ...selection.date_grid import AnyGrid, DateGrid, clock_of_candidates, number_grid
from ...selection.decimals import Decimals
from ...selection.question import Query
from ...selection.releases import Release
from ...selection.terms import AnswerTerms, RecordTerms, Terms
from ..engines.column import Numeric
from ..scores.rank_search import distinct_indices
from ..scores.sorted_places import SortedPlaces
from ..scores.sorted_records import PARTS, Slice, SortedRecords
from .data_terms import takes_data_terms_without
from .private_groups import delta_of_method
from .quantile_levels import Levels
from .record_needs import refuse_ends, say_needs
from .units import UnitQuery, column_or_none, columns_of, naming, read_unit_query

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
    column = column_or_none(column)
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

    query, details = _query(levels, column, grid, way), partial(_details, levels, grid)
    has_lists = way != "joint" and unit_query.records.by is None
    lists = partial(_lists_of, levels, columns[0], grid, way) if has_lists else None
    order = replace(
        unit_query.order(query, guarantee, mechanism, details),
        lists=lists,
        digits=getattr(grid, "digits", None),
        worst_error=partial(levels.error_below, grid.size, way, unit_query.group_count),
    )
    prepare = partial(unit_query.prepare, columns, ready)
    return order.deliver(prepare, unit_query.label(naming(grid), len(levels.alphas)))


def _read_levels(
    alphas: Sequence[Number], grid: AnyGrid, way: str, unit_query: UnitQuery, delta: object
) -> Levels:
    """Return the levels of the alphas, with the share that a delta allows if one is given."""
    levels = Levels.read(alphas, grid, _of_one_row(unit_query))
    return levels if delta is None else levels.allowing(_read_delta(delta, way, unit_query), way)


def _check_ends(levels: Levels) -> None:
    """Raise if the lowest or the highest alpha is an end, which has no answer without bounds."""
    refuse_ends(levels.alphas[0])
    refuse_ends(levels.alphas[-1])


def _lists_of(levels: Levels, column: Numeric, grid: AnyGrid, way: str) -> "QuantileLists":
    """Return the lists of values with their probabilities, which are private."""
    is_recursive = way == "recursive"
    values = levels.branches if is_recursive else levels.of_each
    return QuantileLists(values, _sorted(column, grid).whole(grid.size), is_recursive)


def _query(levels: Levels, column: str | None, candidates: AnyGrid, method: str) -> Query:
    """Return the query, in words and in public values."""
    shares = ", ".join(map(str, levels.alphas))
    facts = {"column": column, "shares": shares, **candidates.facts}
    public = {"column": column, "alphas": levels.alphas, "method": method}
    return Query("quantiles", facts, public)


def _details(levels: Levels, candidates: AnyGrid) -> dict[str, object]:
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
    method: str, levels: Levels, candidates: AnyGrid
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


AnswerIndices = tuple[int, ...]


@dataclass(frozen=True)
class QuantileLists(ListedAnswers):
    """The lists of quantiles that are drawn one by one from their parts of the records. Private.

    Attributes:
        values: by quantile its share of the records of its part, and its mechanism.
        whole: all records.
        is_recursive: whether a quantile cuts the records of those below and above it; else all are drawn from all
            records, and sorted.
    """

    values: Sequence[Any]
    whole: Slice
    is_recursive: bool

    def _number(self, most: int) -> int:
        """Return how many lists never descend."""
        points, k = self.whole.end, len(self.values)
        return math.comb(points + k - 1, k)

    def _chances(self) -> Mapping[AnswerIndices, arb]:
        together: dict[AnswerIndices, arb] = defaultdict(arb)
        lists = self._below(self.whole, 0, len(self.values)) if self.is_recursive else self._apart()
        for one, chance in lists:
            together[one] += chance
        return together

    def _apart(self) -> Iterator[tuple[AnswerIndices, arb]]:
        """Yield the sorted lists of independent values."""
        points = [list(_points(one, self.whole)) for one in self.values]
        for some in product(*points):
            yield (
                tuple(sorted(point for point, _ in some)),
                math.prod((p for _, p in some), start=arb(1)),
            )

    def _below(self, part: Slice, lowest: int, highest: int) -> Iterator[tuple[AnswerIndices, arb]]:
        """Yield the values for alphas[lowest:highest] from their part of the records, by recursion."""
        if lowest == highest:
            yield (), arb(1)
            return
        middle = (lowest + highest) // 2
        if highest - lowest == 1:
            yield from (((point,), chance) for point, chance in _points(self.values[middle], part))
            return
        for (before, after), chance in _cuts(self.values[middle], part):
            firsts = list(self._below(before, lowest, middle))
            lasts = list(self._below(after, middle + 1, highest))
            for (first, p), (last, q) in product(firsts, lasts):
                yield (*first, after.first, *last), chance * p * q


def _points(value: Any, part: Slice) -> Iterator[tuple[int, arb]]:
    """Yield the points of a part, with the probability that a quantile is there."""
    runs = _whole_runs(part.rank_scores(value.share, value.calibrated.cutoff_gap))
    for start, size, mass in _masses(runs, value.calibrated):
        for point in range(start, start + size):
            yield part.first + point, mass / size


def _cuts(value: Any, part: Slice) -> Iterator[tuple[tuple[Slice, Slice], arb]]:
    """Yield the cuts of a part, with their probabilities; the parts of one point in a run cut alike."""
    runs = _whole_runs(part.cut_scores(value.share, value.calibrated.cutoff_gap))
    for start, size, mass in _masses(runs, value.calibrated):
        end = start + size
        for point in range(start // PARTS, (end - 1) // PARTS + 1):
            first, last = max(start, point * PARTS), min(end, (point + 1) * PARTS)
            yield part.cut(first), mass * (last - first) / size


def _whole_runs(runs: Runs) -> Runs:
    return runs if runs.whole is None else runs.whole()


def _masses(runs: Runs, calibrated: Calibrated) -> Iterator[tuple[int, int, arb]]:
    """Yield the starts, the sizes and the probabilities of runs."""
    masses = calibrated.law(runs).probabilities()
    for start, size, mass in zip(runs.starts, runs.sizes, masses, strict=True):
        yield int(start), int(size), mass
