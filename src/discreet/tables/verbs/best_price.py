"""best_price: the price with the highest revenue."""

from typing import TypeVar, Unpack, overload

from ...base.numbers import count, positive
from ...errors import InvalidArgument
from ...selection.candidates import Grid
from ...selection.question import Query, draw
from ...selection.releases import Release
from ...selection.terms import AnswerTerms, RecordTerms
from ..scores.revenue import Revenue
from .data_terms import takes_data_terms
from .units import column_or_none, naming, read_unit_query, refuse_missing

_T = TypeVar("_T")


@overload
def best_price(
    data: object,
    column: str | None = None,
    *,
    candidates: Grid[_T],
    supply: int | None = None,
    units: int = 1,
    continuous: bool = False,
    max_contributions: int = ...,
    **terms: Unpack[AnswerTerms],
) -> Release[_T]: ...


@overload
def best_price(
    data: object,
    column: str | None = None,
    *,
    candidates: Grid | None = None,
    supply: int | None = None,
    units: int = 1,
    continuous: bool = False,
    **terms: Unpack[RecordTerms],
) -> Release: ...


@takes_data_terms
def best_price(  # noqa: PLR0913  # what is sold takes two numbers more than other verbs
    data: object,
    column: str | None = None,
    *,
    candidates: Grid | None = None,
    supply: int | None = None,
    units: int = 1,
    continuous: bool = False,
    **terms: Unpack[RecordTerms],
) -> Release:
    """Release a price with high revenue: the price times the bids at or above it, at most `supply` of them.

    One bid is one record, and is compared with the prices by itself. A bid below the lowest price buys nothing, a
    bid above the highest counts as the highest, and a missing bid or NaN is ignored.

    Args:
        data: the bids, as numbers in an array, a series or a list, or a table or the path of a file, with `column`.
            Private.
        column: the name of the column of bids. Without it, the data are the bids.
        candidates: the possible prices, in units of the bids and not below zero, such as `Grid(0, "3.5", "0.01")`.
            They are public, and the grid can be as fine as you like. Not needed for a `Dataset` that declares the
            bounds of the column.
        supply: the number of units for sale. By default it is unlimited.
        units: the most units that one bidder may want, 1 by default, with one row per unit. The cost grows by this
            factor, and you must have limited the rows of a bidder to it. Or leave it out and pass the column of
            bidders as `privacy_unit`, with `max_contributions`.
        continuous: False by default. True to draw any real price from `candidates.lo` to `candidates.hi`, and
            release it rounded down to the grid. Bids are rounded down to the grid first.
        **terms: the shared arguments, described in `RecordTerms`.

    Raises:
        InvalidArgument: if a public argument is invalid. No private data were read.
        UnreadableData: if the bids are not a sequence of numbers, or the column is missing.

    Side channels: those of the mechanism. Time and memory depend on the number of bids and on the
    type of the numbers. They also depend on the number of distinct bids, unless the bids are floats or integers in
    memory, or at most 2**24 of them in a file or in DuckDB, which discreet loads into memory. An engine that counts
    on the grid sends at most two counts for every price that a bidder reaches, and the distinct bids that equal a
    price. See docs/reference/tables.md.
    """
    column = column_or_none(column)
    candidates = refuse_missing(candidates)
    unit_query = read_unit_query(terms, bounded=True)
    if unit_query.records.rows is not None:
        if count(units, "units") != 1:
            raise InvalidArgument(
                "with a privacy_unit, max_contributions says the units. Leave out units"
            )
        units = unit_query.records.rows
    bounded = unit_query.records.rows is not None
    scores = [
        Revenue(one, candidates, supply, units, continuous, per_person=bounded)
        for one in unit_query.columns(data, column)
    ]
    scale = unit_query.terms.get("scale")
    if scale is not None:
        unit_query.terms["scale"] = positive(scale, "scale") / scores[0].unit
    facts = {
        "column": column, **candidates.facts, "supply": scores[0].supply, "units": scores[0].units,
        "continuous": True if continuous else None,
    }  # fmt: skip
    query = Query("price", facts, {"column": column})
    return unit_query.answer(scores, candidates, query, draw, naming(candidates))
