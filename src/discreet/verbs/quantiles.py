"""quantiles: several at once, for less than one after the other."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal, TypeVar, Unpack, get_args, overload

from ..arguments import choice, column_name
from ..candidates import Grid
from ..errors import InvalidArgument
from ..mechanisms.contract import PrivacyParameter
from ..mechanisms.joint.joint_quantiles import JointQuantiles
from ..mechanisms.joint.tuple_law import JointLaw
from ..numbers import Number, exact
from ..privacy.calibration import read_share
from ..privacy.guarantees import Guarantee
from ..releases import Release
from ..sampling.bits import SystemBits
from ..scores.rank_search import distinct_indices
from ..scores.sorted_records import SortedRecords
from ..selection import Order, Query, answers_at
from ..tables.column import Numeric
from ..terms import AnswerTerms, RecordTerms, Terms, read_payment, takes_terms_without
from .quantile_levels import Levels
from .units import UnitQuery, columns_of, read_unit_query, refuse_missing

_T = TypeVar("_T")

Draw = Callable[[], list[int]]

QuantilesMethod = Literal["recursive", "joint", "independent"]


@overload
def quantiles(
    data: object,
    column: str | None = None,
    *,
    alphas: Sequence[Number],
    candidates: Grid[_T],
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
    candidates: Grid | None = None,
    method: QuantilesMethod = "recursive",
    delta: Number | None = None,
    **terms: Unpack[RecordTerms],
) -> Release: ...


@takes_terms_without("rho", "scale", "mechanism", "size")
def quantiles(  # noqa: PLR0913  # what quantile takes, and how
    data: object,
    column: str | None = None,
    *,
    alphas: Sequence[Number],
    candidates: Grid | None = None,
    method: QuantilesMethod = "recursive",
    delta: Number | None = None,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release one value per alpha, in the order of the alphas.

    By recursion, the middle alpha is released first; it splits records and grid in two, and both halves
    go on with the alphas on their side. A record is in one part of a level, so a level costs as much
    as one quantile, and m alphas cost as much as the ceiling of log2(m + 1) levels. Records that are tied at
    the value may go both ways.

    Args:
        alphas: the shares of the records below, between 0 and 1, ascending and distinct.
        candidates: the possible answers, a `Grid` of any size in units of the data; public. May be left out for a
            `Dataset` that declares the bounds of the column.
        method: "recursive" as described; "joint", one exponential mechanism over all non-descending
            tuples, often nearer, in time that grows with the square of the number of alphas; or
            "independent", one after the other.
        delta: the δ of all values together, a probability below 1 such as "1e-6". They are then (ε, δ)-DP, and each
            level (or each value, with "independent") has as much as the library's bound on composition
            allows. Finding it takes up to a few seconds. Not with "joint", a privacy unit or groups.
        epsilon: the privacy parameter ε of all values together, a positive number without a unit; exact: 0.1 is
            one tenth. It has no default. Among the rows of a privacy unit it is divided.
        **terms: the shared arguments, described in `RecordTerms`.

    Returns:
        The values, never descending. The guarantee is epsilon-DP for all of them together, or with a delta
        (epsilon, delta)-DP.

    Side channels: those of `quantile`, once per alpha. Here an engine that counts on the grid sends at
    most two counts per point with records, and distinct numbers at borders: docs/reference/tables.md.

    Source: Kaplan, Schnapp and Stemmer, ICML 2022, https://arxiv.org/abs/2110.05429. Proof:
    docs/reference/scores/rank.md.
    """
    way = choice(method, "method", get_args(QuantilesMethod))
    candidates = refuse_missing(candidates)
    column = None if column is None else column_name(column)
    unit_query = read_unit_query(terms, bounded=True)
    levels = Levels.read(alphas, candidates, _of_one_row(unit_query))
    if delta is not None:
        levels = levels.allowing(_read_delta(delta, way, unit_query), way)
    guarantee, mechanism, draws_of = _method(way, levels, candidates)
    columns = columns_of(unit_query, data, column)
    if not unit_query.plain:
        guarantee = unit_query.together(guarantee.group(unit_query.records.rows or 1))

    def prepare() -> Callable[[], object]:
        ready = [draws_of(_sorted(one, candidates)) for one in columns]
        return ready[0] if unit_query.records.by is None else partial(_by_group, ready)

    def name(indices: Any, _: int | None) -> object:
        return answers_at(indices, candidates)

    query = unit_query.asks(_query(levels, column, candidates, way))
    details = partial(_details, levels, candidates)
    account, request = read_payment(unit_query.terms)
    unit = unit_query.records.unit
    order = Order(query, guarantee, mechanism, details, account, request, unit=unit)
    return order.deliver(prepare, unit_query.label(name, None))


def _query(levels: "Levels", column: str | None, candidates: Grid, method: str) -> Query:
    """Return the query, in words and in public values."""
    shares = ", ".join(map(str, levels.alphas))
    words = f"quantiles {shares} of {column or 'numbers'}, {method}, {candidates!r}"
    public = {"column": column, "alphas": levels.alphas, "method": method}
    return Query("quantiles", words, public)


def _details(levels: "Levels", candidates: Grid) -> dict[str, object]:
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
            'method="joint" draws all values at once, so delta gains nothing: leave it out'
        )
    if not unit_query.plain:
        raise InvalidArgument(
            "delta is for records without groups and units of several: leave out delta, or by and privacy_unit"
        )
    return read_share(delta)


def _sorted(column: Numeric, candidates: Grid) -> SortedRecords:
    """Return the records on the grid, sorted once for all alphas."""
    source = column.on_grid(candidates)
    if source is not None:
        return SortedRecords.of(*distinct_indices(*source.occupancy(candidates.nearest)))
    values, counts = column.numbers()
    indices = candidates.nearest(values)
    if counts is not None:
        return SortedRecords.of(*distinct_indices(indices, counts))
    return SortedRecords.at(indices, candidates.size)


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
    method: str, levels: "Levels", candidates: Grid
) -> tuple[Guarantee, str, Callable[[SortedRecords], Draw]]:
    """Return the guarantee, the mechanism, and a function from the records to one that draws."""
    if method == "joint":
        parameter = PrivacyParameter("epsilon", levels.total)
        calibrated = JointQuantiles(levels.alphas, candidates.size).calibrate(
            levels.neighbors, parameter
        )
        joint: Any = calibrated.law  # of two arguments, indices and counts
        return calibrated.guarantee, "joint_quantiles", partial(_jointly, joint)
    if method == "independent":
        independent = partial(partial, levels.independent, candidates.size)
        return levels.guarantee_of_each, "exponential", independent
    return levels.guarantee, "exponential", partial(partial, levels.recursive, candidates.size)


def _jointly(law: Callable[..., JointLaw], records: SortedRecords) -> Draw:
    """Return a function that draws all quantiles of the records at once, from a distribution computed once."""
    distribution = law(records.points, records.counts)
    return lambda: distribution.draw(SystemBits())


def _by_group(draws: Sequence[Draw]) -> list[list[int]]:
    """Return the quantiles of all groups, in order."""
    return [draw() for draw in draws]
